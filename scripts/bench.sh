#!/usr/bin/env bash
# Times our filter against stock LevelDB's; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/bench.sh [OPTION...]

Times LevelDB's filter as Debian's libleveldb has it ("stock") and as we have it: every kernel of
this machine through the Rust library, and the C library ("drop-in"), that is, the policy as LevelDB
calls it, and for batches and many filters the C functions. LevelDB has no call for these, and stock is
queried one by one. "ribbon" is the second encoding, whose filters are others.

  --rows TEXT          only rows whose name contains it
  --quick              without the rows that need much memory, and with fewer rounds
  --rounds N           rounds of each row (101), or as many as take ten seconds
  --library NAME=FILE  another libleveldb_bloom.so, say an earlier one; may be repeated. NAME:KERNEL
                       has it use that kernel
  --no-peers           without other people's libraries
  --markdown           the table in Markdown
  --readme FILE        writes that table to FILE: between its lines <!-- bench --> and <!-- /bench -->,
                       or as the whole file if it has none

A row shows the time of one key, query or filter (the median), stock's time divided by it (2 is twice
as fast), and how far the rounds are apart: half of them lie within so many percent.

All sides run in one process, in turns of 0.3 ms in random order, so that what disturbs the machine
disturbs all of them. Time is what the thread had of the processor. Filters' lengths and the numbers of
matches must be stock's; scripts/verify.sh compares bytes.

Peers: rusty-leveldb and goleveldb make LevelDB's filters; fastbloom and RocksDB (FastLocalBloom) have
formats of their own.
TEXT
}

peers=1
readme=
arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --no-peers) peers= ;;
    --quick) arguments+=(--quick --rounds 15) ;;
    --markdown) arguments+=("$1") ;;
    --readme) readme=$(output_file "${2-}") && shift ;;
    --library) arguments+=("$1" "${2%%=*}=$(output_file "${2#*=}")") && shift ;;
    --rows | --rounds) arguments+=("$1" "${2-}") && shift ;;
    *) fail "scripts/bench.sh: unknown argument $1; see --help" ;;
  esac
  shift
done

# Only the figures go to stdout.
exec 3>&1 >&2
ensure_rust
ensure_packages g++ libleveldb-dev
build=$target/bench
mkdir -p "$build"
cargo build --release --locked --quiet
cargo build --release --locked --quiet --package leveldb-bloom-bench
bench=("$target/release/leveldb-bloom-bench" --kernels
  --library "drop-in=$target/release/libleveldb_bloom.so")
if [ -n "$peers" ]; then
  ensure_packages librocksdb-dev golang-go golang-github-syndtr-goleveldb-dev
  g++ -std=c++17 -O2 -shared -fPIC -fno-rtti scripts/bench/rocksdb.cc -o "$build/rocksdb.so" -lrocksdb
  GO111MODULE=off GOPATH=/usr/share/gocode \
    go build -buildmode=c-shared -o "$build/goleveldb.so" scripts/bench/goleveldb.go
  bench+=(--peer rusty-leveldb --peer fastbloom --peer "RocksDB=$build/rocksdb.so"
    --peer "goleveldb=$build/goleveldb.so")
fi
if [ -z "$readme" ]; then
  exec "${bench[@]}" "${arguments[@]}" >&3
fi

{
  printf '\n%s, %s.\n' "$(date -u +%F)" "$(awk -F ': ' '/^model name/ { name = $2 }
    /^cpu family/ { family = $2 } /^model\t/ { model = $2 }
    END { print name " (family " family ", model " model ")" }' /proc/cpuinfo)"
  printf "Time of one key, query or filter, and stock's divided by it.\n\n"
  "${bench[@]}" "${arguments[@]}" --markdown
  printf '\n'
} >"$build/table.md"
if grep -q '^<!-- bench -->$' "$readme" 2>/dev/null; then
  sed -i -e "/^<!-- bench -->\$/r $build/table.md" -e '/^<!-- bench -->$/,/^<!-- \/bench -->$/ {
    /^<!-- \/\?bench -->$/!d }' "$readme"
else
  { printf '# How fast\n\nWritten by `scripts/bench.sh --readme`.\n' && cat "$build/table.md"; } >"$readme"
fi
