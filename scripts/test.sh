#!/usr/bin/env bash
# Every test of leveldb-bloom; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--quick | CTEST OPTION...] [--help]

Sets up what is missing (as root on Debian; otherwise it says what to install) and runs what a change must pass:

  scripts               CONTRIBUTING.md names each; none has a pipe that may end in SIGPIPE
  rustfmt, clippy       formatting and lints, warnings denied
  cargo test            the core, every kernel this machine has, the generated header, doctests
  verify.sh --quick     every kernel through every door against stock LevelDB, answer by answer
  supply_chain.sh       --quick: dependencies, the package, the oldest Rust
  cross.sh              ARM and big-endian, and the choice of kernels on x86-64, under qemu
  ctest                 the C and C++ library against real LevelDBs (ctest/)
  demo.sh               on fewer keys: that all it claims holds
  benchmark             each quick row once: that it still runs, and that all sides agree with stock

and beside what follows verify.sh, so that its output is the last:

  hosts.sh              wallets, Ceph, games: other people's programs with the library preloaded
  ffi.sh                the library from other languages, with their real runtimes
  fuzz.sh               5 seconds of each fuzz target, with AddressSanitizer
  test_inspector.sh     the command leveldb-bloom on databases of many writers
  page.sh               the page that shows the bits, in a headless Chromium

  --quick               only the Rust part: no packages, half a minute
  CTEST OPTION...       handed to ctest, e.g. `-R preload` or `-L harness`; what follows is left out.
                        Which tests: -R, -E, -L and -LE with a pattern, -I with numbers, --rerun-failed;
                        how: -j N, --timeout SECONDS, --repeat HOW, --stop-on-failure, -V, -VV, -N

The build tree is target/cmake.
TEXT
}

quick=
# ctest ignores what it does not know, and would run every test instead of those meant.
chosen=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --quick) quick=1 ;;
    -R | -E | -L | -LE | -I | -j | --timeout | --repeat)
      [ $# -ge 2 ] || fail "$1 needs a value; see --help"
      chosen+=("$1" "$2")
      shift
      ;;
    -j[0-9]* | -V | -VV | -N | --rerun-failed | --stop-on-failure | --output-on-failure) chosen+=("$1") ;;
    *) fail "scripts/test.sh: unknown argument $1; see --help" ;;
  esac
  shift
done
[ -z "$quick" ] || [ ${#chosen[@]} -eq 0 ] || fail "--quick runs nothing of ctest: ${chosen[*]}"

# The tests set what they are about.
unset LEVELDB_BLOOM_STATS LEVELDB_BLOOM_KERNEL LEVELDB_BLOOM_CHECK
ensure_rust
if [ -z "$quick" ] && [[ $(rustc --version) =~ ^rustc\ 1\.([0-9]+)\. ]] && ((BASH_REMATCH[1] < 95)); then
  printf 'The test "symbols" would find the library too large: this is no rustc 1.95 or newer.\n' >&2
fi
can_preload "$root"
command -v cc >/dev/null || ensure_packages build-essential
step "scripts"
for script in scripts/*.sh; do
  [ "$script" != scripts/common.sh ] || continue
  grep -q "$script" CONTRIBUTING.md || fail "CONTRIBUTING.md does not say when $script runs"
  # By a link of the script alone, say: it would test nothing, and succeed.
  [[ $(<"$script") == *$'\nset -e\n. '*/common.sh\"$'\n'* ]] || fail "$script would go on without common.sh"
done
# What they build is for this machine and with their own flags, or they say why not.
home=$target/cargo-home
mkdir -p "$home"
printf '[build]\ntarget = "wasm32-unknown-unknown"\n' >"$home/config.toml"
said=$(CARGO_HOME=$home bash -c '. scripts/common.sh && ensure_rust' 2>&1) &&
  fail "The scripts would test what cargo built before it was configured for another machine"
[[ $said == *build.target*$home/config.toml* ]] || fail "$said"
said=$(CARGO_ENCODED_RUSTFLAGS=-g bash -c '. scripts/common.sh && ensure_rust && env')
[[ $said != *CARGO_ENCODED_RUSTFLAGS* ]] || fail "CARGO_ENCODED_RUSTFLAGS would stand before what the scripts set"
printf '#!/bin/sh\necho cargo 1.65.0\n' >"$home/cargo"
chmod +x "$home/cargo"
said=$(PATH=$home:$PATH bash -c '. scripts/common.sh && ensure_rust' 2>&1) && fail "Debian 12's cargo is taken"
[[ $said == *'cargo 1.65.0'*rustup* ]] || fail "$said"
said=$(bash -c '. scripts/common.sh && can_preload /a:b' 2>&1) && fail "A path is preloaded that is none for the loader"
[[ $said == *LD_PRELOAD* ]] || fail "$said"
said=$(scripts/fuzz.sh --planted --document "$home/document" 2>&1) && fail "fuzz.sh: a document of no runs"
[[ $said == *--planted* && ! -e $home/document ]] || fail "$said"
# Under pipefail, a reader that stops early fails the script whenever the writer is not yet done.
early=$(grep -nE '[^|]\| +(head|grep -[a-zA-Z]*[qm]|(awk|sed) .*(exit|[0-9;]q))' scripts/*.sh) &&
  fail "These may die of SIGPIPE; let the reader read to the end:
$early"
if [ -z "$quick" ]; then
  # While nothing needs them.
  (ensure_ctest_packages) >"$target/packages.log" 2>&1 &
  packages=$!
fi
step "rustfmt"
cargo fmt --all --check
cargo fmt --manifest-path fuzz/Cargo.toml --check
step "clippy"
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
step "cargo test"
cargo test --locked --quiet
cargo test --locked --quiet -p leveldb-bloom-table -p leveldb-bloom-inspector
[ -z "$quick" ] || exit 0

wait "$packages" || fail "$(cat "$target/packages.log")"
cat "$target/packages.log"

step "all crates in one build"
# Others have the crate libc leave to std what the C library has no std for.
cargo build --workspace --locked --quiet
python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' \
  "$target/debug/libleveldb_bloom.so"

step "the library's own name beside it"
# In the folders of cargo's next releases, too.
RUSTC_BOOTSTRAP=1 cargo -Zbuild-dir-new-layout build --locked --quiet -p leveldb-bloom-shared \
  --target-dir "$target/new-layout"
for folder in "$target" "$target/new-layout"; do
  [ -e "$folder/debug/libleveldb_bloom.so.1" ] ||
    fail "What is linked with the library in $folder/debug does not find it: there is no libleveldb_bloom.so.1"
done

step "verify"
scripts/verify.sh --quick

# Half of their time these wait: for the network, for each other's processes, for a browser. The page
# is the last, as it is what a busy machine could be too slow for.
beside=$target/beside.log
if [ ${#chosen[@]} -eq 0 ]; then
  setsid bash -c 'scripts/hosts.sh && scripts/ffi.sh && scripts/fuzz.sh --seconds 5 &&
    scripts/test_inspector.sh && scripts/page.sh --test' >"$beside" 2>&1 </dev/null &
  others=$!
  # With all that they have begun.
  trap 'kill -- "-$others" 2>/dev/null || true' EXIT
fi

scripts/supply_chain.sh --quick
scripts/cross.sh --quick aarch64 s390x nehalem haswell

step "cmake"
mkdir -p target
# Debug information, which nobody looks at in what passes, would take as long again as half of the build
# (220 s in place of 147; 2 cores of an Intel Xeon of the second generation, 2026-11-28).
cmake -S . -B target/cmake -G Ninja -DCMAKE_BUILD_TYPE=Release -DLEVELDB_BLOOM_BUILD_TESTS=ON \
  >target/cmake-configure.log || { cat target/cmake-configure.log; exit 1; }
sed -n 's/^-- \(left out: \)/\1/p' target/cmake-configure.log
cmake --build target/cmake
step "ctest"
ctest --test-dir target/cmake --output-on-failure --no-tests=error -j "$(nproc)" "${chosen[@]}"
if [ ${#chosen[@]} -gt 0 ]; then
  step "left out, as ctest was given ${chosen[*]}: its other tests, and what follows it"
  exit 0
fi

step "demo"
scripts/demo.sh --keys 100000 >target/demo.log || fail "$(cat target/demo.log)"

step "benchmark"
scripts/bench.sh --quick --rounds 1 --no-peers >target/bench.log
scripts/bench.sh --quick --rounds 1 --no-peers --rows 20 --sides source-portable,callbacks-portable \
  >target/bench.log
scripts/bench.sh --quick --rounds 2 --no-peers --rows 'filter of 4, absent' --sides portable --json |
  python3 scripts/bench/report_test.py
# A policy that is LevelDB's own gives equal filters and answers, and would be timed under our name.
stock=$(stock_leveldb)
said=$("$target/release/leveldb-bloom-bench" --calls "$target/bench/calls.so" --stock "$stock" \
  --drop-in "$target/release/libleveldb_bloom.so" --source "$stock" --sides source-portable \
  --quick --rounds 1 --rows 'filter of 4, absent' table 2>&1) &&
  fail "The benchmark takes LevelDB's own policy for ours"
[[ $said == *"source-portable is not ours"* ]] || fail "$said"

step "hosts.sh, ffi.sh, fuzz.sh, test_inspector.sh and page.sh: what they said meanwhile"
wait "$others" || fail "$(cat "$beside")
The last of them failed."
trap - EXIT
cat "$beside"
