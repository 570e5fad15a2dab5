#!/usr/bin/env bash
# Times our filter against stock LevelDB's; see --help.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1-}" in
  -h | --help)
    cat <<'TEXT'
usage: scripts/bench.sh [--help]

Times creating and asking filters (16-byte keys, 10 bits per key) with Debian's libleveldb and with
ours, through the virtual functions that LevelDB calls, in one process and in turn. Prints the
medians in nanoseconds a key, and stock's time divided by ours: above 1, ours is faster.

LEVELDB_BLOOM_KERNEL=portable (or avx2, avx512, neon) times that kernel. The machine should be
otherwise idle; ratios still move by some 10 % between runs.
TEXT
    exit 0
    ;;
  "") ;;
  *) fail "scripts/bench.sh: unknown argument $1; see --help" ;;
esac

ensure_rust
ensure_packages g++ libleveldb-dev
cargo build --release --locked --quiet
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
g++ -std=c++17 -O2 -Wall -Wextra scripts/bench/drop_in.cc -o "$build/drop_in" -ldl
stock=$(ldconfig -p | awk '/libleveldb\.so\./ { print $NF; exit }')
"$build/drop_in" "$stock" "${CARGO_TARGET_DIR:-target}/release/libleveldb_bloom.so"
