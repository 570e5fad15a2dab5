#!/usr/bin/env bash
# Times our filter against stock LevelDB's; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/bench.sh [--scale | --shapes | --instructions | --readme FILE] [OPTION...]

Times LevelDB's filter as Debian's libleveldb has it ("stock") and as we have it: with every kernel
of this machine through the Rust library, and through the drop-in policy as LevelDB calls it. Sets
up what it needs on Debian (as root; otherwise it says what to install).

  (nothing)         the table: creating and asking filters, and what other libraries take
  --scale           how the cost of a key grows: with keys in a filter (up to 100 million, which
                    takes some 10 GB of memory and half an hour), bits a key, and bytes of a key
  --shapes          filters of 2,760 shapes: 1 to 1,000 keys of 0 to 100 bytes at 0 to 44 bits a key, made
                    and asked through the drop-in policy with every kernel; lists what is slower than
                    stock. Where a process finds that, four more measure it, and the middle one counts:
                    where in memory things lie differs, and changes a query of a few nanoseconds. A
                    second copy of stock's own library (stock-copy) shows by how much. Takes some ten
                    minutes
  --instructions    instructions instead of time: the same on every run, however busy the machine
  --readme FILE     all but the shapes, then from them FILE (docs/bench/PROCESSOR.md), the plots beside it, and
                    the README's figures, which are a part of FILE's

  --rows TEXT       only rows of the table, curves of --scale or shapes whose names contain it, e.g.
                    --rows batch, --scale --rows 'bits a key' or --shapes --rows '3 keys of 8 bytes'
  --sides A,B       who besides stock: portable, avx2, avx512, neon, drop-in-KERNEL,
                    callbacks-KERNEL (the callback table, in a policy of LevelDB's C API),
                    source-KERNEL (leveldb_bloom_policy.cc), and stock-copy; e.g.
                    --sides avx512,drop-in-avx2
  --no-peers        without other people's libraries
  --quick           fewer rounds, no rows that take long to make ready, up to a million keys: a
                    rough picture in about a minute
  --rounds N        instead of 201, and of fewer where a row takes more than ten seconds
  --json            one JSON document on stdout, and nothing else
  --plot FILE       also a plot of the ratios (with --scale: of the times), as .svg or .png;
                    the ticks on the bars are what the project wants of each
  --document FILE   also the table in Markdown; both FILEs are relative to the folder you call from
  --help            this text

Reading the table
  ns each           median time for one key, query or filter (the row says which), in nanoseconds
  x                 stock's time divided by this one: 2 is twice as fast, below 1 is slower than
                    stock. Taken round by round, then the median; so it is not quite the quotient
                    of the two medians
  quartiles         half of all rounds lie between these two. Where they are far apart the machine
                    was disturbed, and the median means little: run it again
  target            what the project wants of x, on an EPYC of the fifth generation; others miss
                    some. "Not below 1" is wanted everywhere

All sides run in one process, in turns of 0.3 ms (or once, where the work takes longer: up to a second
with 10 million keys), in a different order each round: whatever slows the machine for a while (a lower
clock, others at its caches) then meets all sides of a round, and leaves their ratio as it is. Two runs
one after the other would compare the weather. Time is what the thread had of the processor, not what
passed. Before anything is timed, filters and answers are compared with stock's, and the run fails if a
byte differs; or if a policy's statistics do not say that it is ours, with the kernel of its name.

Absent keys are 40,000 different ones or more: branch predictors learn shorter lists by heart, and
stock would look faster than it is. (With --scale keys of two bytes are 35,000, and those of more than
200 as many as 8 MB hold: the hash is most of their time.) A chain asks for a key that depends on the
answer before: what a query costs a program that waits for it. Where each key is asked of one of many
filters, these are 5 MB, as those of a large database, which no core has in a cache of its own. LevelDB
has no call for many keys or many filters; there stock is asked one by one. Nor has it keys that are
"owned" (in memory of their own), "flat" (one behind the other, with offsets) or given to a "builder":
there the others are given them as ever. A query "by hash" is of a key that was hashed before, as for
many filters.

Peers: rusty-leveldb (the same format, in Rust; only where keys lie one after the other, as it wants
them), goleveldb (LevelDB's filter in Go), and for speed only, since their formats are others,
fastbloom and RocksDB's cache-local filter (FastLocalBloom; Debian's librocksdb uses no AVX2).

Instructions are counted by callgrind, which knows no AVX-512, and by single steps, which know all.
The last documents are kept in target/bench.
TEXT
}

mode=table
plot=
document=
peers=1
json=
arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --scale | --shapes | --instructions) mode=${1#--} ;;
    --no-peers) peers= ;;
    --quick) arguments+=("$1") ;;
    --json)
      json=1
      arguments+=("$1")
      ;;
    --rows | --sides | --rounds | --plot | --document | --readme)
      [ $# -ge 2 ] || fail "$1 needs a value; see --help"
      case $1 in
        --plot) plot=$(output_file "$2") ;;
        --document) document=$(output_file "$2") ;;
        --readme)
          mode=readme
          document=$(output_file "$2")
          ;;
        --rounds)
          rounds=$(number "$1" "$2" 1 1000000)
          arguments+=("$1" "$rounds")
          ;;
        *) arguments+=("$1" "$2") ;;
      esac
      shift
      ;;
    *) fail "scripts/bench.sh: unknown argument $1; see --help" ;;
  esac
  shift
done
case $plot in
  "" | *.svg | *.png) ;;
  *) fail "--plot writes .svg or .png, not $plot" ;;
esac
[ -z "$document" ] || [ "$mode" = table ] || [ "$mode" = readme ] || fail "--document is for the table"
[ -z "$plot" ] || [ "$mode" = table ] || [ "$mode" = scale ] || fail "--plot is for the table and --scale"
if [ "$mode" = readme ]; then
  [ ${#arguments[@]} -eq 0 ] && [ -n "$peers" ] || fail "--readme takes no other option: it writes what the README shows"
  [ "$(dirname "$document")" = "$root/docs/bench" ] || fail "--readme writes a file of docs/bench, which the README links"
  [ "$(grep -cE '^<!-- /?bench -->$' README.md)" = 2 ] ||
    fail "README.md has no place for the figures: <!-- bench --> and <!-- /bench -->"
fi
[ "$mode" = table ] || [ "$mode" = readme ] || peers=
[ "$mode" != instructions ] || [[ " ${arguments[*]} " != *" --"@(rows|quick|rounds)" "* ]] ||
  fail "--instructions counts the same few cases every time: it takes no --rows, --quick or --rounds"
[ -z "$json" ] || [ "$mode" != readme ] || fail "--readme writes files, and prints no JSON"

# stdout is for the figures.
{
  ensure_rust
  ensure_packages g++ libleveldb-dev
  [[ $mode != instructions && $mode != readme ]] || ensure_packages valgrind
  [[ -z $document ]] || ensure_packages python3
  [[ -z $plot && $mode != readme ]] || ensure_packages python3 python3-matplotlib

  build=$target/bench
  mkdir -p "$build"
  cargo build --release --locked --quiet
  cargo build --release --locked --quiet --package leveldb-bloom-bench
  shim=(g++ -std=c++17 -O2 -Wall -Wextra -shared -fPIC)
  "${shim[@]}" -Iinclude scripts/bench/calls.cc -o "$build/calls.so" -ldl
  "${shim[@]}" -Iinclude include/leveldb_bloom_policy.cc -o "$build/source.so" \
    "$target/release/libleveldb_bloom.a" -lleveldb
  stock=$(stock_leveldb)
  # Removed first: another run may have it loaded.
  cp -L --remove-destination "$stock" "$build/stock-copy.so"
  arguments+=(--calls "$build/calls.so" --stock "$stock" --stock-copy "$build/stock-copy.so"
    --drop-in "$target/release/libleveldb_bloom.so" --source "$build/source.so")

  # peer NAME PACKAGE... -- COMMAND...: builds $build/NAME.so, or says what will be missing.
  peer() {
    local name=$1 packages=()
    shift
    while [ "$1" != -- ]; do
      packages+=("$1")
      shift
    done
    shift
    if (ensure_packages "${packages[@]}") && "$@"; then
      arguments+=(--peer "$name" "$build/$name.so")
    else
      printf 'Not measured: %s (it needs %s)\n' "$name" "${packages[*]}"
    fi
  }
  if [ -n "$peers" ]; then
    arguments+=(--peers)
    peer rocksdb librocksdb-dev -- \
      "${shim[@]}" -fno-rtti scripts/bench/rocksdb.cc -o "$build/rocksdb.so" -lrocksdb
    peer goleveldb golang-go golang-github-syndtr-goleveldb-dev -- \
      env GO111MODULE=off GOPATH=/usr/share/gocode \
      go build -buildmode=c-shared -o "$build/goleveldb.so" scripts/bench/goleveldb.go
  fi
} >&2

measure() { "$target/release/leveldb-bloom-bench" "${arguments[@]}" --save "$build/$1.json" "$1"; }

report() { /usr/bin/python3 scripts/bench/report.py "$@"; }

if [ "$mode" = readme ]; then
  # Not where other runs store theirs: this takes an hour.
  build=$build/readme
  mkdir -p "$build"
  for one in table scale instructions; do
    step "$one"
    measure "$one"
  done
  report plot "$build/table.json" docs/bench/table.svg
  report plot "$build/scale.json" docs/bench/scale.svg
  report table "$build/table.json" "$build/instructions.json" "$document"
  report readme "$build/table.json" README.md
  step "README.md and docs/bench are written"
else
  measure "$mode"
  if [ -n "$plot" ]; then
    report plot "$build/$mode.json" "$plot"
    printf 'The plot is in %s\n' "$plot" >&2
  fi
  if [ -n "$document" ]; then
    report table "$build/table.json" "$document"
    printf 'The table is in %s\n' "$document" >&2
  fi
fi
