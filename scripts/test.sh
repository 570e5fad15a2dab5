#!/usr/bin/env bash
# Every test that a change must pass; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--quick] [--help]

Runs everything that a change must pass, with any Rust from 1.85 on; a quarter of an hour on two
processors. On Debian, as root, it installs what is missing.

  --quick   formatting, lints and the Rust tests: no packages, half a minute
TEXT
}

case ${1-} in
  -h | --help)
    usage
    exit 0
    ;;
  --quick | "") ;;
  *) fail "scripts/test.sh: unknown argument $1; see --help" ;;
esac
# The tests set what they are about.
unset "${!LEVELDB_BLOOM_@}" LD_PRELOAD
ensure_rust

# Tools of ours that users do not get need a newer Rust than the library.
tools=(--exclude leveldb-bloom-bench --exclude leveldb-bloom-compare)
step "formatting and lints"
cargo fmt --all --check
cargo clippy --workspace "${tools[@]}" --all-targets --locked --quiet -- -D warnings
step "Rust tests"
cargo test --workspace "${tools[@]}" --locked --quiet
[ "${1-}" != --quick ] || exit 0

ensure_ctest_packages
ensure_packages shellcheck
step "scripts"
shellcheck scripts/*.sh scripts/*/*.sh .ci/run
cargo fmt --manifest-path fuzz/Cargo.toml --check

step "C and C++, with real LevelDBs"
quietly cmake -S . -B "$target/cmake" -G Ninja -DCMAKE_BUILD_TYPE=Release -DLEVELDB_BLOOM_BUILD_TESTS=ON
quietly cmake --build "$target/cmake"
ctest --test-dir "$target/cmake" --output-on-failure --no-tests=error -j "$(nproc)"

step "stock LevelDB, answer by answer"
scripts/verify.sh
scripts/fuzz.sh --seconds 5
step "demonstration and benchmark"
quietly scripts/demo.sh --keys 100000
cargo clippy -p leveldb-bloom-compare --locked --quiet -- -D warnings
# The benchmark's peers need a newer Rust than the library.
[[ $(rustc --version) < 'rustc 1.89' ]] || quietly scripts/bench.sh --quick --rounds 1
step "other processors, dependencies, the oldest Rust"
scripts/cross.sh aarch64 s390x nehalem haswell
scripts/supply_chain.sh --quick
step "other languages and other people's programs"
scripts/ffi.sh
scripts/hosts.sh
step "the command and the page"
scripts/test_inspector.sh
scripts/page.sh --test
step "all tests passed"
