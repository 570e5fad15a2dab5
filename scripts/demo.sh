#!/usr/bin/env bash
# Shows the library at work in a real LevelDB; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/demo.sh [--keys N] [--bits N] [--value N] [--rounds N] [--help]

LevelDB's filter is blind to keys that are numbers in order. Runs a small LevelDB program
(scripts/database.cc) on three databases: without a filter, with the filter of the installed
libleveldb, and with our ribbon filters, by LD_PRELOAD and LEVELDB_BLOOM_ENCODING=ribbon. Each gets N
keys (1,000,000): every other big-endian number of 8 bytes. The numbers between them are missing. Keys
are loaded, compacted, and then looked up without a cache, in the databases by turns. Shows what the
filters save, and checks what it says: the exit status is 0 only if all of it holds.

  --keys N     1,000 to 5,000,000
  --bits N     bits per key (10)
  --value N    bytes of a value (1,000)
  --rounds N   of lookups (5); the medians are shown

Needs Rust; on Debian, as root, it installs what else is missing. Some minutes, and 600 MB for each
database, below $TMPDIR or /tmp.
TEXT
}

keys=1000000
bits=10
value=1000
rounds=5
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --keys) keys=$(number "$1" "${2-}") && shift ;;
    --bits) bits=$(number "$1" "${2-}") && shift ;;
    --value) value=$(number "$1" "${2-}") && shift ;;
    --rounds) rounds=$(number "$1" "${2-}") && shift ;;
    *) fail "scripts/demo.sh: unknown argument $1; see --help" ;;
  esac
  shift
done
((keys >= 1000 && keys <= 5000000)) || fail "--keys takes a number from 1000 to 5000000."
lookups=$((keys < 100000 ? keys : 100000))

ensure_packages g++ libleveldb-dev
ensure_rust
step "building"
cargo build --release --locked --quiet -p leveldb-bloom-shared
program=$target/release/demo-database
# LevelDB is built without RTTI, and so must be what derives from its classes.
g++ -std=c++17 -O2 -Wall -Wextra -fno-rtti scripts/database.cc -lleveldb -ldl -o "$program"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sides=(none stock ribbon)
declare -A setting=([none]='' [stock]='' [ribbon]='LD_PRELOAD=./libleveldb_bloom.so LEVELDB_BLOOM_ENCODING=ribbon')
# run SIDE DATABASE [get]: in the library's folder, because LD_PRELOAD takes no path with a space. Adds
# lines of "name value" to the side's results.
run() {
  # shellcheck disable=SC2086 # the settings are words
  (cd "$target/release" && env ${setting[$1]} "LEVELDB_BLOOM_STATS=$work/$1.stats" "$program" "$work/$2" \
    "$keys" "$lookups" "$([ "$1" = none ] && echo 0 || echo "$bits")" "$value" ordered 4 "${@:3}")
}
for side in "${sides[@]}"; do
  step "loading: $side"
  run "$side" "$side" >"$work/$side.results"
done
step "looking up, $rounds times in each"
for ((round = 0; round < rounds; round++)); do
  for side in "${sides[@]}"; do run "$side" "$side" get >>"$work/$side.results"; done
done

# of SIDE NAME: the median of what its runs said.
of() {
  sed -n "s/^$2 //p" "$work/$1.results" | sort -g | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}
row() { printf '%-28s %14s %14s %14s\n' "$@"; }
# row_of TITLE NAME [DIVISOR FORMAT]
row_of() {
  local side cells=()
  for side in "${sides[@]}"; do
    cells+=("$(awk "BEGIN { printf \"${4-%s}\", $(of "$side" "$2") / (${3-1}) }")")
  done
  row "$1" "${cells[@]}"
}
bytes() { cat "$work/$1"/*.ldb | wc -c; }

step "$keys big-endian numbers, values of $value bytes, $bits bits per key"
row '' 'no filter' "LevelDB's" 'ours, ribbon'
row_of 'reads, missing key' missing_reads "$lookups" %.4f
row_of 'microseconds, missing key' missing_seconds "$lookups/1e6" "%.2f"
row_of 'reads, present key' present_reads "$lookups" %.4f
row_of 'microseconds, present key' present_seconds "$lookups/1e6" "%.2f"
row 'bytes of table files' "$(bytes none)" "$(bytes stock)" "$(bytes ribbon)"
row_of 'seconds: load and compact' load_seconds 1 %.1f
echo
# Of the policy that loaded the keys.
grep -m 1 '"destroyed"' "$work/ribbon.stats"

step "checks"
passed=1
# check CLAIM COMMAND...
check() {
  if "${@:2}"; then echo "ok      $1"; else echo "FAILED  $1" && passed=; fi
}
all_lines() { [ "$(sed -n "s/^$2 //p" "$work/$1.results" | sort -u)" = "$3" ]; }
fewer() { [ "$(of "$1" missing_reads)" -lt "$2" ]; }
for side in "${sides[@]}"; do
  check "$side: all present keys are found" all_lines "$side" present_found "$lookups"
  check "$side: no missing key is found" all_lines "$side" missing_found 0
done
check "ribbon: the filter is libleveldb_bloom's" grep -q '^policy .*libleveldb_bloom' "$work/ribbon.results"
check "the statistics show ribbon filters, and answers with no" \
  grep -Eq '"encoding":"ribbon","filters":[1-9].*"negatives":[1-9]' "$work/ribbon.stats"
check "ribbon: a missing key in 200 takes a read" fewer ribbon $((lookups / 200))
check "ribbon: fewer reads for missing keys than with LevelDB's filter" fewer ribbon "$(of stock missing_reads)"
run stock ribbon get >"$work/back.results"
check "LevelDB itself finds all keys in the database with ribbon filters" all_lines back present_found "$lookups"
[ -n "$passed" ] || fail "The demo failed."

# share DIVIDEND DIVISOR FORMAT
share() { awk "BEGIN { printf \"$3\", $1 / $2 }"; }
reads() { share "$(of "$1" missing_reads)" "$lookups" %.4f; }
step "what this shows"
cat <<TEXT
A missing key took $(reads stock) useless reads with LevelDB's filter, and $(reads ribbon) with ours, of the same size.
Looking for one took $(share "$(of stock missing_seconds)" "$(of ribbon missing_seconds)" %.1f) times as much processor time with LevelDB's filter as with ours (medians of $rounds turns).
LevelDB itself finds every key in the database with our filters: nothing needs to be converted, here or back.
TEXT
