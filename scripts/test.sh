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

# These need a newer Rust than the library, or Python; their own scripts check them, below.
others=(--exclude=leveldb-bloom-{bench,compare,python,node})
step "formatting and lints"
cargo fmt --all --check
cargo clippy --workspace "${others[@]}" --all-targets --locked --quiet -- -D warnings
step "Rust tests"
cargo test --workspace "${others[@]}" --locked --quiet
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

# Two at a time, the longest first: many of them wait for one compiler that uses one processor.
# one STEP: runs it, and shows what it said once it has ended.
one() {
  local log
  log=$(mktemp)
  SECONDS=0
  bash -euo pipefail -c "$1" </dev/null >"$log" 2>&1 || {
    printf '\n== %s: failed\n%s\n' "$1" "$(cat "$log")"
    # Has xargs start no other.
    return 255
  }
  printf '\n== %s: %s s\n%s\n' "$1" "$SECONDS" "$(tail -3 "$log")"
  rm "$log"
}
export -f one
step "everything else"
steps=(
  'scripts/fuzz.sh --seconds 5'
  'scripts/test_inspector.sh'
  'scripts/page.sh --test'
  'scripts/ffi.sh'
  'scripts/bindings.sh python --quick'
  'scripts/bindings.sh node --quick'
  'scripts/hosts.sh'
  'scripts/cross.sh aarch64 s390x'
  'scripts/systems.sh --quick windows-x86_64'
  'scripts/supply_chain.sh --quick'
  'scripts/docs.sh --quick'
  'scripts/verify.sh --queries 2e6'
  'cargo clippy -p leveldb-bloom-compare --locked --quiet -- -D warnings'
  'scripts/demo.sh --keys 100000'
)
# The benchmark's peers need a newer Rust than the library.
[[ $(rustc --version) < 'rustc 1.89' ]] || steps+=('scripts/bench.sh --quick --rounds 1')
printf '%s\0' "${steps[@]}" | xargs -0 -P 2 -I '{}' bash -c 'one "$1"' one '{}'
step "all tests passed"
