#!/usr/bin/env bash
# Shows the library at work in a real LevelDB: scripts/demo.sh --help says how.

usage() {
  cat <<'END'
Usage: scripts/demo.sh [--keys N] [--bits N] [--keep]

Builds the library and a small LevelDB program (scripts/demo/demo.cc), and runs that three times:

  1. without a filter,
  2. with the bloom filter policy of the installed libleveldb,
  3. with ours: the same program, but LD_PRELOAD puts our library in front of libleveldb.

Each run loads the keys, compacts them, reopens the database with nothing cached, and asks for
keys that exist and for as many that do not. A table shows what the filter saves and what it
costs, and every claim is checked: the exit status is 0 only if all hold.

Needs a Rust toolchain. On Debian, run as root, it installs what else is missing (a C++ compiler
and LevelDB); otherwise it says what to install. Takes about half a minute after the build.

  --keys N   load N keys, 1000 to 5000000 (default 1000000), of 16 bytes with values of 100;
             asks for 100000 of them, or all if there are fewer
  --bits N   bits per key for the filters, 1 to 100 (default 10)
  --keep     keep the three databases, and say where they are
  --help     this text

The databases are written below $TMPDIR (or /tmp), about 600 MB for a million keys.
END
}

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# So that awk and sort mean the same everywhere.
export LC_ALL=C

keys=1000000
bits=10
keep=false

while [ $# -gt 0 ]; do
  case $1 in
    --keys=* | --bits=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
  esac
  case $1 in
    --keys)
      keys=$(number --keys "${2-}" 1000 5000000)
      shift
      ;;
    --bits)
      bits=$(number --bits "${2-}" 1 100)
      shift
      ;;
    --keep) keep=true ;;
    -h | --help)
      usage
      exit
      ;;
    *) fail "Unknown argument $1. See --help." ;;
  esac
  shift
done
lookups=$((keys < 100000 ? keys : 100000))

# grouped NUMBER: with a comma at every thousand.
grouped() {
  local rest=$1 groups=''
  while [ ${#rest} -gt 3 ]; do
    groups=,${rest: -3}$groups
    rest=${rest:0:-3}
  done
  printf '%s' "$rest$groups"
}

# calculate FORMAT EXPRESSION: awk's arithmetic.
calculate() { awk "BEGIN { printf \"$1\", $2 }"; }

ensure_packages g++ libleveldb-dev
ensure_rust

step "building the library"
cargo build --release --locked --target-dir "$target"
library=$target/release/libleveldb_bloom.so
[ -e "$library" ] || fail "cargo did not make $library."

work=$(mktemp -d "${TMPDIR:-/tmp}/leveldb-bloom-demo.XXXXXX")
work=$(realpath "$work")
# Not with the databases: where those are, programs may not be allowed to run.
program=$target/release/demo.$$
# shellcheck disable=SC2317 # called by the trap
clean_up() {
  rm -f "$program"
  if $keep; then
    printf '\nKept: %s, with the databases none, stock and ours\n' "$work"
  else
    rm -rf "$work"
  fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

needed=$((keys * 600 / 1024 / 1024 + 1))
free=$(($(df -Pk "$work" | awk 'NR == 2 { print $4 }') / 1024))
[ "$free" -ge "$needed" ] || fail "$work has $free MB free, and this takes $needed MB.
Set TMPDIR to a roomier folder, or ask for fewer --keys."

step "building the program"
# LevelDB is built without RTTI, and so must be what derives from its classes. Before glibc 2.34 dlsym
# is in a library of its own.
g++ -std=c++17 -O2 -Wall -Wextra -fno-rtti scripts/demo/demo.cc -lleveldb -ldl -o "$program"
printf '  linked to     %s\n' \
  "$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | paste -sd ' ')"
printf '  databases in  %s\n' "$work"

declare -A result

# run NAME BITS PRELOAD: one run of the program, in a process of its own. Beside the library, because a
# path in LD_PRELOAD cannot have a space, and that of the project may have one.
run() {
  local name value
  (cd "$target/release" && LD_PRELOAD=$3 LEVELDB_BLOOM_STATS=$work/$1.stats \
    exec "$program" "$work/$1" "$keys" "$lookups" "$2" "$work/$1.results") ||
    fail "The program failed in this run."
  while read -r name value; do
    result[$1 $name]=$value
  done <"$work/$1.results"
  (cd "$work/$1" && sha256sum -- *.ldb) | sort >"$work/$1.sums"
  result[$1 bytes]=$(cat "$work/$1"/*.ldb | wc -c)
}

step "1 of 3: no filter"
run none 0 ''
step "2 of 3: the filter of libleveldb"
run stock "$bits" ''
step "3 of 3: our filter (LD_PRELOAD=$library)"
run ours "$bits" "./${library##*/}"

# statistic LINE FIELD: 0 where there is none. There is a line for each policy of the run: when it
# loads and compacts, when it gets present keys, when it gets missing ones.
statistic() {
  local value=''
  [ -e "$work/ours.stats" ] &&
    value=$(sed -n "$1s/.*\"$2\":\([0-9]*\).*/\1/p" "$work/ours.stats")
  printf '%s' "${value:-0}"
}
filters=$(statistic 1 filters)
filter_bytes=$(statistic 1 filter_bytes)
filter_keys=$(statistic 1 keys)

tables=$(wc -l <"$work/stock.sums")
identical=$(comm -12 "$work/stock.sums" "$work/ours.sums" | wc -l)

bits_spent=unknown
theory=unknown
if [ "$filter_keys" -gt 0 ]; then
  bits_spent=$(calculate %.2f "8 * $filter_bytes / $filter_keys")
  probes=$((bits * 69 / 100))
  probes=$((probes < 1 ? 1 : probes > 30 ? 30 : probes))
  # A filter's last byte holds the number of probes, and none of the bits.
  keys_per_bit="$filter_keys / (8 * ($filter_bytes - $filters))"
  theory=$(calculate '%.3f %%' "100 * (1 - exp(-$probes * $keys_per_bit)) ^ $probes")
fi

row() { printf '%-29s %13s %17s %22s\n' "$@"; }

# row_of TITLE FUNCTION NAME: what the function makes of each run's result of that name.
row_of() {
  row "$1" "$($2 "${result[none $3]}")" "$($2 "${result[stock $3]}")" "$($2 "${result[ours $3]}")"
}
per_lookup() { calculate %.4f "$1 / $lookups"; }
percentage() { calculate '%.3f %%' "100 * $1 / $lookups"; }
seconds() { calculate '%.2f s' "$1"; }
bare_bytes=${result[none bytes]}
added() { grouped "$(($1 - bare_bytes))"; }

step "$(grouped "$keys") keys, $bits bits per key"
row '' 'no filter' 'stock filter' 'our filter'
row 'who made the filters' - "${result[stock policy_file]##*/}" "${result[ours policy_file]##*/}"
row_of "present keys found, of $(grouped "$lookups")" grouped present_found
row_of "missing keys found, of $(grouped "$lookups")" grouped missing_found
row_of 'reads per present key' per_lookup present_reads
row_of 'reads per missing key' per_lookup missing_reads
row 'false positives' - "$(percentage "${result[stock missing_reads]}")" \
  "$(percentage "${result[ours missing_reads]}")"
row 'false positives in theory' - "$theory" "$theory"
row 'filter bytes made' - - "$(grouped "$filter_bytes")"
row 'filter bits per key' - - "$bits_spent"
row_of 'bytes of all table files' grouped bytes
row 'bytes that filters add' - "$(added "${result[stock bytes]}")" "$(added "${result[ours bytes]}")"
row "table files as stock's" - - "$identical of $tables"
row_of 'load' seconds load_seconds
row_of 'compact' seconds compact_seconds
row_of 'get present keys' seconds present_seconds
row_of 'get missing keys' seconds missing_seconds

cat <<END

who made the filters       the file with the policy's code, as seen from inside the program
present keys found         must be all: a filter may never hide a key
missing keys found         must be none: they were never stored
reads per key              real reads of table files, LevelDB's block cache being off
false positives            missing keys that the filter let through: the reads that are left
false positives in theory  (1 - e^(-kn/m))^k: k probes, n keys, m bits; small filters do worse
filter bytes made          for $(grouped "$filter_keys") keys: each when it was loaded and when compacted
filter bits per key        those bytes by those keys: whole bytes, at least 8, and one more for k
bytes that filters add     more than the filters alone: each has its place noted in the file
table files as stock's     those with the same SHA-256 as in the run with stock's filter
load, compact, get         time of a single run each: a rough picture, no benchmark

What the third run says of itself
  leveldb_bloom_active(): ${result[ours active]}
  LEVELDB_BLOOM_STATS, for loading and compacting, present keys, missing keys:
END
[ ! -e "$work/ours.stats" ] || cat "$work/ours.stats"

step "checks"
passed=true
# check CLAIM COMMAND...: the claim holds if the command succeeds.
check() {
  if "${@:2}"; then
    printf '  ok      %s\n' "$1"
  else
    printf '  FAILED  %s\n' "$1"
    passed=false
  fi
}

finds_what_it_should() {
  [ "${result[$1 present_found]}" -eq "$lookups" ] && [ "${result[$1 missing_found]}" -eq 0 ]
}
stock_filtered() {
  [[ ${result[stock policy_file]} == */libleveldb.so* && ${result[stock active]} == 'not loaded' &&
    ! -e $work/stock.stats ]]
}
we_filtered() {
  [[ ${result[ours policy_file]} == */libleveldb_bloom.so* &&
    ${result[ours active]} == 'leveldb_bloom ('* ]] &&
    [ "$filter_keys" -ge "$keys" ] && [ "$(statistic 2 queries)" -ge "$lookups" ]
}
# The library's count of what it let through against the program's count of reads.
reads_are_what_we_let_through() {
  [ "$(statistic 3 negatives)" -gt 0 ] &&
    [ $(($(statistic 3 queries) - $(statistic 3 negatives))) -eq "${result[ours missing_reads]}" ]
}
files_are_identical() {
  [ "$tables" -gt 0 ] && cmp -s "$work/stock.sums" "$work/ours.sums" &&
    [ "${result[ours bytes]}" -gt "${result[none bytes]}" ]
}
reads_are_saved() {
  [ "${result[ours missing_reads]}" -lt "${result[none missing_reads]}" ] &&
    [ "${result[ours missing_reads]}" -eq "${result[stock missing_reads]}" ]
}

check "without a filter every present key is found, and no missing one" finds_what_it_should none
check "with stock's filter every present key is found, and no missing one" \
  finds_what_it_should stock
check "with our filter every present key is found, and no missing one" finds_what_it_should ours
check "stock's filter was libleveldb's, with leveldb_bloom not in the process" stock_filtered
check "our filter was leveldb_bloom's: by its file, by its own word and by its counts" we_filtered
check "the reads for missing keys are those that leveldb_bloom let through, one for one" \
  reads_are_what_we_let_through
check "every table file, filters and all, is identical to stock's" files_are_identical
check "missing keys cost fewer reads than without a filter, and as many as with stock's" \
  reads_are_saved

$passed || fail "
The demo failed: see the lines that say FAILED."
printf '\nAll is well: %s missing keys took %s reads with our filter, and %s without.\n' \
  "$(grouped "$lookups")" "$(grouped "${result[ours missing_reads]}")" \
  "$(grouped "${result[none missing_reads]}")"
