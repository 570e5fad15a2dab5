#!/usr/bin/env bash
# Looks for wrong uses of memory; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/memory.sh [--help] [address | valgrind | miri]...

  address    AddressSanitizer and LeakSanitizer: the Rust tests, and the C test with the C library,
             both instrumented
  valgrind   memcheck: the C test with the release library, with AVX2 and with the portable kernel
             (valgrind has no AVX-512)
  miri       Rust's interpreter, which sees undefined behaviour: most tests of the portable kernel, and
             those of flat keys. Installs a nightly toolchain

Without arguments all of them. Guard pages around keys and filters are a part of the kernels' tests, and
the fuzz targets run with AddressSanitizer, too.
TEXT
}

address() {
  local host work=$target/address
  host=$(rustc -vV | sed -n 's/^host: //p')
  # The stable compiler has sanitizers, too.
  export RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=allocator_may_return_null=1
  cargo test --locked --quiet --target "$host" --target-dir "$work" -p leveldb-bloom --lib --tests
  cargo build --locked --quiet --target "$host" --target-dir "$work" -p leveldb-bloom-static
  cc -std=c99 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Iinclude \
    ctest/harness/c_test.c "$work/$host/debug/libleveldb_bloom.a" -ldl -pthread -o "$work/c_test"
  # Or it was built without the sanitizer.
  nm -C "$work/$host/debug/libleveldb_bloom.a" 2>/dev/null | grep -c 'U __asan_report_load' >/dev/null
  "$work/c_test" | tail -1
}

valgrind() {
  local program=$target/release/c_test
  ensure_packages valgrind
  cargo build --locked --quiet --release -p leveldb-bloom-shared
  cc -std=c99 -g -Iinclude ctest/harness/c_test.c "$target/release/libleveldb_bloom.so" \
    "-Wl,-rpath,$target/release" -ldl -pthread -o "$program"
  for kernel in $(grep -o -m 1 -w avx2 /proc/cpuinfo) portable; do
    LEVELDB_BLOOM_KERNEL=$kernel command valgrind --quiet --error-exitcode=9 --leak-check=full \
      --show-leak-kinds=definite --errors-for-leak-kinds=definite "$program" | tail -1
  done
}

miri() {
  # Of one day, so that everybody sees the same.
  local nightly=nightly-2026-10-30
  rustup run $nightly cargo miri --version >/dev/null 2>&1 ||
    rustup toolchain install $nightly --profile minimal --component miri,rust-src
  export MIRIFLAGS=-Zmiri-disable-isolation CARGO_PROFILE_TEST_OPT_LEVEL=0
  # What is left out takes minutes each.
  rustup run $nightly cargo miri test --locked --quiet --target-dir "$target/miri" -p leveldb-bloom \
    --lib -- kernel::tests::portable:: keys:: --skip hash_every --skip far --skip every_filter_size \
    --skip huge --skip ends_of_pages | tee "$target/miri.log"
  grep -q '^test result: ok\. [1-9]' "$target/miri.log"
}

checks=()
for argument in "$@"; do
  case $argument in
    -h | --help)
      usage
      exit 0
      ;;
    address | valgrind | miri) checks+=("$argument") ;;
    *) fail "scripts/memory.sh: unknown check $argument; see --help" ;;
  esac
done
[ ${#checks[@]} -gt 0 ] || checks=(address valgrind miri)
ensure_rust
ensure_packages build-essential
for check in "${checks[@]}"; do
  step "$check"
  ("$check")
done
