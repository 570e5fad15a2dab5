#!/usr/bin/env bash
# The tests on other processors, under emulation; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# name | Rust target | Debian's name | GNU triplet | emulator | kernel that must be chosen, or can be told
architectures='
aarch64 | aarch64-unknown-linux-gnu      | arm64   | aarch64-linux-gnu     | qemu-aarch64             | neon
s390x   | s390x-unknown-linux-gnu        | s390x   | s390x-linux-gnu       | qemu-s390x               | portable
i686    | i686-unknown-linux-gnu         | i386    | i686-linux-gnu        | qemu-i386                | portable
armhf   | armv7-unknown-linux-gnueabihf  | armhf   | arm-linux-gnueabihf   | qemu-arm                 | portable
ppc64le | powerpc64le-unknown-linux-gnu  | ppc64el | powerpc64le-linux-gnu | qemu-ppc64le             | portable
riscv64 | riscv64gc-unknown-linux-gnu    | riscv64 | riscv64-linux-gnu     | qemu-riscv64             | portable
powerpc | powerpc-unknown-linux-gnu      | powerpc | powerpc-linux-gnu     | qemu-ppc                 | portable
wasm32  | wasm32-wasip1                  |         |                       | node                     | portable
musl    | x86_64-unknown-linux-musl      |         |                       | qemu-x86_64 -cpu Haswell | avx2
nehalem | x86_64-unknown-linux-gnu       | amd64   |                       | qemu-x86_64 -cpu Nehalem | portable
haswell | x86_64-unknown-linux-gnu       | amd64   |                       | qemu-x86_64 -cpu Haswell | avx2
avx512  | x86_64-unknown-linux-gnu       | amd64   |                       | scripts/cross/bochs.sh   | avx512
'

usage() {
  cat <<'TEXT'
usage: scripts/cross.sh [--quick] [--allow-missing] [--debian] [--help] [ARCHITECTURE...]

Builds the library for each architecture (all of them, unless some are named) and runs there:

  the core's tests, and with them the golden hash of a fixed corpus of filters (tests/corpus.rs)
  the C test against the static and the shared library

  aarch64   NEON                          armhf     32 bits
  s390x     big-endian                    i686      32 bits
  ppc64le, riscv64                        powerpc   32 bits, big-endian, without 64-bit atomics
  wasm32    in Node, without the C test
  nehalem   x86-64 without AVX            haswell   x86-64 with AVX2, without AVX-512
  avx512    x86-64 of the Ice Lake kind   musl      x86-64 with another C library

Each must choose the kernel that it should have, and not skip its tests. All but two run under
qemu's user emulation; wasm32 does in Node, and avx512, which qemu lacks, in bochs: a whole machine,
booted for each program (scripts/cross/bochs.sh), and so slow that the tests of the kernels that
others have are left out there. It needs Rust 1.89, and ppc64le and powerpc need 1.95.
Installs compilers and emulators itself (as root on Debian). Rust's standard library for a target
comes from `rustup target add`; where that cannot be had, from Debian's package rustc-web.

  --quick           without the longest tests for nehalem and haswell, if this machine has AVX2: its
                    own tests run them on the same code
  --debian          Debian's rustc-web even where rustup is there
  --allow-missing   an architecture that cannot be set up is said, and is no failure

Some ten minutes altogether: five for avx512, and a minute and a half for s390x, aarch64, nehalem and
haswell together.
Builds in target/.
RUSTUP_TOOLCHAIN=1.85.0 (or another) chooses the compiler.
TEXT
}

allow_missing=
quick=
debian=
chosen=()
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help)
      usage
      exit 0
      ;;
    --allow-missing) allow_missing=1 ;;
    --quick) quick=1 ;;
    --debian) debian=1 ;;
    *)
      awk -v name="$1" 'NF && $1 == name { found = 1 } END { exit !found }' <<<"$architectures" ||
        fail "scripts/cross.sh: unknown $1; see --help"
      chosen+=("$1")
      ;;
  esac
  shift
done

ensure_rust
# They would stand before those of a single target, which are set below.
unset RUSTFLAGS
built=$target work=$target/cross
mkdir -p "$work"

# debian_std ARCHITECTURE: Debian's standard library for another architecture, unpacked and not
# installed, with lists of packages of its own: this machine's stay as they are. Prints the sysroot.
debian_std() {
  local arch=$1 version apt=$work/apt-$1 sysroot=$work/std-$1
  if [ ! -d "$sysroot" ]; then
    mkdir -p "$apt/lists/partial" "$sysroot.new"
    : >"$apt/status"
    version=$(dpkg-query -W -f '${Version}' rustc-web)
    local options=(-qq -o "APT::Architecture=$arch" -o "APT::Architectures=$arch"
      -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status"
      -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=" -o "APT::Sandbox::User=root")
    # Not every mirror has every architecture of every archive.
    apt-get "${options[@]}" update >&2 || true
    (cd "$apt" && apt-get "${options[@]}" download "libstd-rust-web-dev=$version" \
      "libstd-rust-web-${version%.*}=$version" >&2) || return 1
    for package in "$apt"/*.deb; do dpkg-deb -x "$package" "$sysroot.new" || return 1; done
    mv "$sysroot.new" "$sysroot"
  fi
  echo "$sysroot/usr"
}

# is_rust MINOR: whether the compiler is that new; says so if not.
is_rust() {
  [ "$("${RUSTC:-rustc}" --version | cut -d . -f 2)" -ge "$1" ] || {
    echo "$name needs Rust 1.$1" >&2
    return 1
  }
}

# has_assembly: which stable Rust has for the PowerPC from 1.95 on.
has_assembly() { [[ $target != powerpc* ]] || is_rust 95; }

# debian_rust: Debian's compiler in place of rustup's.
debian_rust() {
  ensure_packages rustc-web || return 1
  export RUSTC=/usr/bin/rustc
}

# set_up: what the architecture in the variables below needs; says what is missing.
set_up() {
  local variable flags=
  # By tr's letters: in Turkish the capital of i is another.
  variable=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$target")
  if [ "$name" = wasm32 ]; then
    command -v node >/dev/null || ensure_packages nodejs || return 1
    export "${variable}_RUNNER=node --no-warnings $root/scripts/cross/wasi.mjs"
  elif [ "$name" = avx512 ]; then
    # The target is this machine's own, so its standard library is there.
    unset RUSTC
    [ -z "$debian" ] || debian_rust || return 1
    is_rust 89 || return 1
    ensure_packages gcc || return 1
    compiler=cc
    run=$root/$emulator
    "$run" --set-up || return 1
    export "${variable}_RUNNER=$run"
    return 0
  elif [ -z "$triplet" ]; then
    ensure_packages gcc qemu-user || return 1
    compiler=cc
    run=$emulator
    export "${variable}_RUNNER=$run"
    if [ "$name" = musl ]; then
      ensure_packages musl-tools || return 1
      compiler=musl-gcc
    fi
  else
    ensure_packages "gcc-$triplet" "libc6-dev-$debian_name-cross" qemu-user || return 1
    compiler=$triplet-gcc
    # The C library is named too, or the dynamic linker takes the one of an installed libc6 of this
    # architecture, which need not be the same version.
    run="$emulator -L /usr/$triplet -E LD_LIBRARY_PATH=/usr/$triplet/lib"
    export "${variable}_LINKER=$compiler" "${variable}_RUNNER=$run"
  fi
  if [ -z "$debian" ] && command -v rustup >/dev/null &&
    { [[ $(rustup target list --installed | tr '\n' ' ') == *"$target "* ]] || rustup target add "$target"; }; then
    unset RUSTC
    has_assembly
    return
  fi
  [ -n "$debian_name" ] || return 1
  debian_rust || return 1
  has_assembly || return 1
  if [ "$debian_name" != "$(dpkg --print-architecture)" ]; then
    flags=$(debian_std "$debian_name") || return 1
    flags="--sysroot $flags"
  fi
  export "${variable}_RUSTFLAGS=$flags"
}

# test_core: the Rust tests; sets $tests, $hash and $kernel from what they say.
test_core() {
  local log=$work/$name.log skipped=()
  if [ "$name" = avx512 ]; then
    skipped=(--skip kernel::tests::avx2 --skip kernel::tests::portable --skip kernel::tests::huge_key
      --skip kernel::tests::avx512_otherwise
      --skip huge_create --skip a_failed_kernel_is_not_used --skip sizing::tests::estimates)
  elif [ "$name" = musl ]; then
    # A program that is linked statically has no loader to ask.
    skipped=(--skip ffi::address --skip ffi::elf)
  elif [ -n "$quick" ] && is_one_of "$name" nehalem haswell && grep -qw avx2 /proc/cpuinfo; then
    # The long ones of the kernels that are this machine's, too; and sums, of no kernel at all.
    skipped=(--skip kernel::tests::huge_key --skip ::ends_of_pages --skip ::huge_create --skip ::far
      --skip ::hashes_at_multiples --skip ::hash_every_length --skip sizing::tests::estimates)
  fi
  cargo test --locked --quiet --package leveldb-bloom \
    --target "$target" --lib --tests -- --show-output "${skipped[@]}" >"$log" 2>&1 &&
    ! grep "skipped: .* no kernel $expected\$" "$log" || {
    cat "$log"
    return 1
  }
  tests=$(awk '/^test result: ok/ { n += $4 } END { print n }' "$log")
  kernel=$(sed -n 's/^kernel chosen here: //p' "$log")
  # The processor that bochs has is Intel's, which uses AVX-512 where it is told to.
  if [ "$name" = avx512 ] && [ "$kernel" = avx2 ]; then
    kernel=avx512
    export LEVELDB_BLOOM_KERNEL=avx512
  fi
  hash=$(sed -n "s/^hash of the corpus, $kernel: //p" "$log")
}

# test_c: the C test against both libraries; each must choose the same kernel as the core.
test_c() {
  local libraries=$built/$target/release program way feature
  # As the README says. (Rust's tests are linked statically, by its own means.)
  [ "$name" != musl ] ||
    export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=$compiler \
      CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS="-C target-feature=-crt-static"
  cargo build --locked --quiet --release --target "$target" || return 1
  for way in a so; do
    program=$work/c_test-$name-$way
    "$compiler" -std=c99 -Wall -Wextra -Werror -O1 -Iinclude ctest/harness/c_test.c \
      "$libraries/libleveldb_bloom.$way" "-Wl,-rpath,$libraries" -ldl -pthread -o "$program" &&
      $run "$program" >"$work/$name.log" 2>&1 || {
      cat "$work/$name.log"
      return 1
    }
    tests=$((tests + $(grep -c '^=== Test' "$work/$name.log")))
    [ "$($run "$program" --kernel 2>/dev/null)" = "$kernel" ] || return 1
  done
  # Haswell without what AVX2 includes, which the emulator then does not know either.
  [ "$name" = haswell ] || return 0
  for feature in sse3 ssse3 sse4.1 sse4.2; do
    [ "$($run,-$feature "$program" --kernel 2>/dev/null)" = portable ] || {
      echo "AVX2 without $feature: the kernel is not the portable one"
      return 1
    }
  done
}

table=()
failed=()
while IFS='|' read -r name target debian_name triplet emulator expected; do
  name=${name// /} target=${target// /} debian_name=${debian_name// /} triplet=${triplet// /}
  emulator=${emulator## } expected=${expected// /}
  emulator=${emulator%"${emulator##*[! ]}"}
  [ -n "$name" ] || continue
  [ ${#chosen[@]} -eq 0 ] || [[ " ${chosen[*]} " == *" $name "* ]] || continue
  step "$name"
  SECONDS=0
  unset LEVELDB_BLOOM_KERNEL
  tests=0 hash=- kernel=- result=passed
  # In a subshell, because what is missing ends the script elsewhere.
  if ! (set_up); then
    result=missing
    [ -n "$allow_missing" ] || failed+=("$name: cannot be set up")
  else
    set_up
    if ! test_core || [ "$tests" -eq 0 ] || { [ "$name" != wasm32 ] && ! test_c; }; then
      result=FAILED
      failed+=("$name: see above")
    elif [ "$kernel" != "$expected" ]; then
      result=FAILED
      failed+=("$name: the kernel is $kernel instead of $expected")
    fi
  fi
  echo "$result, $SECONDS s"
  table+=("$name|$target|$kernel|$tests|$hash|$result")
done <<<"$architectures"

step "results"
row='%-8s  %-30s  %-8s  %5s  %-16s  %s\n'
# shellcheck disable=SC2059
printf "$row" name target kernel tests "golden hash" result
for line in "${table[@]}"; do
  IFS='|' read -r -a fields <<<"$line"
  # shellcheck disable=SC2059
  printf "$row" "${fields[@]}"
done
[ ${#failed[@]} -eq 0 ] || fail "$(printf '%s\n' "${failed[@]}")"
