#!/usr/bin/env bash
# The tests on other processors, under emulation; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# name | Rust target | compiler | Debian's packages | runner | kernel
table='
aarch64 | aarch64-unknown-linux-gnu     | aarch64-linux-gnu-gcc     | gcc-aarch64-linux-gnu libc6-dev-arm64-cross       | qemu-aarch64 -L /usr/aarch64-linux-gnu         | portable
s390x   | s390x-unknown-linux-gnu       | s390x-linux-gnu-gcc       | gcc-s390x-linux-gnu libc6-dev-s390x-cross         | qemu-s390x -L /usr/s390x-linux-gnu             | portable
armhf   | armv7-unknown-linux-gnueabihf | arm-linux-gnueabihf-gcc   | gcc-arm-linux-gnueabihf libc6-dev-armhf-cross     | qemu-arm -L /usr/arm-linux-gnueabihf           | portable
i686    | i686-unknown-linux-gnu        | i686-linux-gnu-gcc        | gcc-i686-linux-gnu libc6-dev-i386-cross           | /usr/i686-linux-gnu/lib/ld-linux.so.2 --library-path /usr/i686-linux-gnu/lib | portable
powerpc | powerpc-unknown-linux-gnu     | powerpc-linux-gnu-gcc     | gcc-powerpc-linux-gnu libc6-dev-powerpc-cross     | qemu-ppc -L /usr/powerpc-linux-gnu             | portable
ppc64le | powerpc64le-unknown-linux-gnu | powerpc64le-linux-gnu-gcc | gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross | qemu-ppc64le -L /usr/powerpc64le-linux-gnu     | portable
riscv64 | riscv64gc-unknown-linux-gnu   | riscv64-linux-gnu-gcc     | gcc-riscv64-linux-gnu libc6-dev-riscv64-cross     | qemu-riscv64 -L /usr/riscv64-linux-gnu         | portable
wasm32  | wasm32-wasip1                 |                           | nodejs                                            | node --no-warnings scripts/cross/wasi.mjs      | portable
nehalem | x86_64-unknown-linux-gnu      | cc                        | gcc                                               | qemu-x86_64 -cpu Nehalem                       | portable
haswell | x86_64-unknown-linux-gnu      | cc                        | gcc                                               | qemu-x86_64 -cpu Haswell                       | avx2
avx512  | x86_64-unknown-linux-gnu      | cc                        | gcc                                               | scripts/cross/bochs.sh                         | avx512
'

usage() {
  cat <<'TEXT'
usage: scripts/cross.sh [--help] [NAME...]

Builds the library for each processor named, or for all, and runs the core's tests there, with the
golden hash of a corpus of filters (tests/corpus.rs), and the C test with the static and the shared
library:

  aarch64   s390x (big-endian)   armhf, i686 (32 bits)   powerpc (32 bits, big-endian)   ppc64le
  riscv64   wasm32 (in Node, without the C test)
  nehalem, haswell, avx512: x86-64 without AVX, with AVX2, with AVX-512

Each must choose the kernel that it should. qemu runs them, but for i686; it has no AVX-512, so avx512 runs in bochs,
a whole machine and slow, without the tests of other kernels. Rust's standard libraries come from
`rustup target add`. avx512 needs Rust 1.89; ppc64le and powerpc need 1.95.
TEXT
}

case ${1-} in
  -h | --help)
    usage
    exit 0
    ;;
esac
for name in "$@"; do
  grep -q "^$name " <<<"$table" || fail "scripts/cross.sh: unknown $name; see --help"
done

ensure_rust
unset RUSTFLAGS
work=$target/cross
mkdir -p "$work"

# test_one: runs the tests for the row in the variables of the loop below.
test_one() {
  local variable libraries=$target/$triple/release skip=() way program
  # shellcheck disable=SC2086 # lists of words
  ensure_packages $packages qemu-user
  [[ $runner != *bochs* ]] || quietly "$runner" --set-up
  rustup --quiet target add "$triple"
  variable=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$triple")
  runner=${runner/scripts/$root/scripts}
  export "${variable}_RUNNER=$runner"
  # Debian's cross compilers.
  [[ $compiler != *-* ]] || export "${variable}_LINKER=$compiler"
  # Too slow for what this machine's own tests run on the same code.
  [ "$name" != avx512 ] || skip=(--skip kernel::tests::avx2 --skip kernel::tests::portable --skip huge
    --skip sizing::tests)
  cargo test --locked --quiet -p leveldb-bloom --target "$triple" --lib --tests -- --show-output \
    "${skip[@]}" >"$log" 2>&1 || return 1
  if [ "$name" = avx512 ]; then
    # bochs' processor is Intel's, where AVX-512 is used only by name.
    export LEVELDB_BLOOM_KERNEL=avx512
    grep -q '^hash of the corpus, avx512: ' "$log" || return 1
  else
    grep -qx "kernel chosen here: $kernel" "$log" || return 1
  fi
  [ "$name" != wasm32 ] || return 0

  cargo build --locked --quiet --release --target "$triple" \
    -p leveldb-bloom-shared -p leveldb-bloom-static >>"$log" 2>&1 || return 1
  for way in a so; do
    program=$work/c_test-$name-$way
    "$compiler" -std=c99 -O1 -Iinclude ctest/harness/c_test.c "$libraries/libleveldb_bloom.$way" \
      "-Wl,-rpath,$libraries" -ldl -pthread -o "$program" >>"$log" 2>&1 || return 1
    # shellcheck disable=SC2086 # a command with arguments
    $runner "$program" >>"$log" 2>&1 || return 1
    # shellcheck disable=SC2086
    [ "$($runner "$program" --kernel 2>/dev/null)" = "$kernel" ] || return 1
  done
}

failed=()
while IFS='|' read -r name triple compiler packages runner kernel; do
  read -r name <<<"$name"
  read -r triple <<<"$triple"
  read -r compiler <<<"$compiler"
  read -r runner <<<"$runner"
  read -r kernel <<<"$kernel"
  [ -n "$name" ] || continue
  [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
  step "$name"
  log=$work/$name.log
  SECONDS=0
  # In the background: in a condition the shell would go on after an error.
  (test_one) </dev/null &
  if wait $!; then
    echo "passed with the kernel $kernel, $SECONDS s"
  else
    cat "$log"
    failed+=("$name")
  fi
done <<<"$table"
[ ${#failed[@]} -eq 0 ] || fail "failed: ${failed[*]}"
