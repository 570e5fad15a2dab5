#!/usr/bin/env bash
# Shows the library at work in a real LevelDB; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/demo.sh [--keys N] [--bits N] [--help]

Runs a small LevelDB program (scripts/database.cc) three times: without a filter, with the filter of
the installed libleveldb, and with ours, by LD_PRELOAD. Each run loads N keys (1,000,000) of 16 bytes
with values of 100, compacts them, reopens the database with no cache, and looks up keys that exist
and as many that do not. Shows what the filter saves, and checks what it says: the exit status is 0
only if all of it holds.

  --keys N   1,000 to 5,000,000
  --bits N   bits per key (10)

Needs Rust; on Debian, as root, it installs what else is missing. Half a minute after the build, and
300 MB for each database, below $TMPDIR or /tmp.
TEXT
}

keys=1000000
bits=10
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --keys) keys=$(number "$1" "${2-}") && shift ;;
    --bits) bits=$(number "$1" "${2-}") && shift ;;
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

declare -A result
# run NAME BITS PRELOAD: in the library's folder, because LD_PRELOAD takes no path with a space.
run() {
  local name value
  step "$1"
  (cd "$target/release" && LD_PRELOAD=$3 LEVELDB_BLOOM_STATS=$work/$1.stats "$program" \
    "$work/$1" "$keys" "$lookups" "$2" 100 random 1024) >"$work/$1.results"
  while read -r name value; do result[$1 $name]=$value; done <"$work/$1.results"
  result[$1 bytes]=$(cat "$work/$1"/*.ldb | wc -c)
  (cd "$work/$1" && sha256sum -- *.ldb) >"$work/$1.sums"
}
run none 0 ''
run stock "$bits" ''
run ours "$bits" ./libleveldb_bloom.so

step "$keys keys, $bits bits per key; $lookups lookups of each kind"
row() { printf '%-28s %14s %14s %20s\n' "$@"; }
row_of() { row "$1" "${result[none $2]}" "${result[stock $2]}" "${result[ours $2]}"; }
row '' 'no filter' "LevelDB's" ours
row 'who makes the filters' - "$(basename "${result[stock policy]}")" "$(basename "${result[ours policy]}")"
row_of 'present keys found' present_found
row_of 'missing keys found' missing_found
row_of 'reads for present keys' present_reads
row_of 'reads for missing keys' missing_reads
row_of 'bytes of table files' bytes
row_of 'seconds: load and compact' load_seconds
row_of 'seconds: get present keys' present_seconds
row_of 'seconds: get missing keys' missing_seconds
echo
cat "$work/ours.stats"

step "checks"
passed=1
# check CLAIM COMMAND...
check() {
  if "${@:2}"; then echo "ok      $1"; else echo "FAILED  $1" && passed=; fi
}
for name in none stock ours; do
  check "$name: all present keys are found" [ "${result[$name present_found]}" -eq "$lookups" ]
  check "$name: no missing key is found" [ "${result[$name missing_found]}" -eq 0 ]
done
check "our filter is libleveldb_bloom's" grep -q libleveldb_bloom <<<"${result[ours policy]}"
check "the statistics show filters and queries" \
  grep -Eq '"filters":[1-9].*"queries":[1-9]' "$work/ours.stats"
check "the table files are the same as with LevelDB's filter" cmp -s "$work/stock.sums" "$work/ours.sums"
check "missing keys take as many reads as with LevelDB's filter" \
  [ "${result[ours missing_reads]}" -eq "${result[stock missing_reads]}" ]
check "missing keys take fewer reads than without a filter" \
  [ "${result[ours missing_reads]}" -lt "${result[none missing_reads]}" ]
[ -n "$passed" ] || fail "The demo failed."
