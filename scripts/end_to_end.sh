#!/usr/bin/env bash
# Times LevelDB with its own filter policy and with ours; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/end_to_end.sh [OPTION...]

What our filter policy is worth to a whole LevelDB: Debian's libleveldb fills a database in random
order, compacts it, and reads absent and present keys from its cache; with its own policy ("stock"),
with ours, and without one ("none"), 10 bits per key, keys of 16 and values of 100 bytes that compress
to half, as those of LevelDB's db_bench. Sets up what it needs on Debian (as root; otherwise it says
what to install).

  --keys N      keys in each database (1,000,000: some 300 MB under target/, and half a gigabyte of
                memory); 100,000 at least, for the sampling timer
  --rounds N    times each database is written anew, compacted and read (9), and as often again for
                the sampling timer
  --json        one JSON document on stdout, and nothing else
  --plot FILE   also a plot, as .svg or .png, relative to the folder you call from
  --readme      writes the README's figures and docs/bench/end_to_end.svg
  --help        this text

Reading the table
  CPU time      what all threads of the process took for one key, in microseconds: the median. A
                busy machine changes it less than the time on the wall
  x             stock's divided by ours, round by round, the median, and between which values half of
                all rounds lie. 1.05: ours takes 5 % less. (Of a round's 15 turns of reads the median
                counts: where its database and cache happen to lie is common to them. Both policies
                read one database, in turn)
  filter        the share of that time spent in the filter policy, by a sampling timer, with stock's
                and with ours (--json has the numbers of samples). What is not there cannot be won
  instructions  stock's divided by ours, counted by callgrind with 100,000 keys, of reads when the
                cache is warm; it knows no AVX-512, so ours runs its AVX2 kernel there

The sides take turns in one process, in any order; stock's and ours write a database each.
TEXT
}

keys=1000000
rounds=9
plot=
report=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --json | --readme) report+=("$1") ;;
    --keys | --rounds | --plot)
      [ $# -ge 2 ] || fail "$1 needs a value; see --help"
      case $1 in
        --keys) keys=$(number "$1" "$2" 100000 100000000) ;;
        --rounds) rounds=$(number "$1" "$2" 1 1000) ;;
        --plot) plot=$(output_file "$2") ;;
      esac
      shift
      ;;
    *) fail "scripts/end_to_end.sh: unknown argument $1; see --help" ;;
  esac
  shift
done
case $plot in
  "") ;;
  *.svg | *.png) report+=(--plot "$plot") ;;
  *) fail "--plot writes .svg or .png, not $plot" ;;
esac

[[ ${report[*]} != *--readme* ]] || [ "$(grep -cE '^<!-- end to end: (begin|end) -->$' README.md)" = 2 ] ||
  fail "README.md has no place for the figures: <!-- end to end: begin --> and <!-- end to end: end -->"

build=$target/end_to_end
library=$target/release/libleveldb_bloom.so
# stdout is for the figures.
{
  ensure_rust
  ensure_packages g++ libleveldb-dev valgrind python3 python3-matplotlib
  mkdir -p "$build/databases"
  trap 'rm -rf "$build/databases"' EXIT
  cargo build --release --locked --quiet
  g++ -std=c++17 -O2 -g -Wall -Wextra scripts/bench/end_to_end.cc -o "$build/end_to_end" -lleveldb -ldl
  # What is measured is the library as it comes.
  unset LEVELDB_BLOOM_KERNEL LEVELDB_BLOOM_STATS LEVELDB_BLOOM_CHECK
  "$build/end_to_end" "$build/databases" "$library" "$keys" "$rounds" >"$build/samples"

  step "instructions"
  ! grep -q '^kernel avx512' "$build/samples" || export LEVELDB_BLOOM_KERNEL=avx2
  # instructions PHASE SIDE PASSES
  instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$build/end_to_end" "$build/databases" \
      "$library" 100000 "$@" >"$build/valgrind" 2>&1 || { cat "$build/valgrind" >&2; return 1; }
    awk '/Collected/ { print $NF }' "$build/valgrind"
  }
  : >"$build/instructions"
  for side in stock ours none; do
    for phase in fill compact read-absent read-present; do
      count=$(instructions "$phase" "$side" 1)
      case $phase in
        read-*)
          twice=$(instructions "$phase" "$side" 2)
          count=$((twice - count))
          ;;
      esac
      printf '%s %s %s\n' "$phase" "$side" "$count" >>"$build/instructions"
    done
  done
} >&2
/usr/bin/python3 scripts/bench/end_to_end.py "${report[@]}" --keys "$keys" \
  "$build/samples" "$build/instructions"
