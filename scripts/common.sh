# Shared by the scripts beside it; sourced, not run.
# shellcheck shell=bash

set -euo pipefail
unset CDPATH

# Before the script leaves the folder that relative paths start from.
caller=$PWD
[ -z "${CARGO_TARGET_DIR-}" ] || CARGO_TARGET_DIR=$(realpath -m "$CARGO_TARGET_DIR")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# Where cargo builds, and the scripts too.
target=${CARGO_TARGET_DIR:-$root/target}

step() { printf '\n== %s\n' "$*"; }

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# number OPTION VALUE: VALUE, if it is a number above 0.
number() {
  [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || fail "$1 takes a number. See --help."
  printf '%s' "$2"
}

# output_file FILE: its absolute path.
output_file() {
  local file
  file=$(cd "$caller" && realpath -m -- "$1")
  [ -d "$(dirname "$file")" ] || fail "There is no folder $(dirname "$file")."
  printf '%s\n' "$file"
}

# quietly COMMAND...: shows its output only if it fails.
quietly() {
  local log
  log=$(mktemp)
  "$@" >"$log" 2>&1 || {
    cat "$log"
    fail "failed: $*"
  }
  rm "$log"
}

# ensure_packages PACKAGE...: installs the Debian packages that are missing, or says which.
ensure_packages() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *'ok installed' ]] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    fail "Please install what is missing and run this again:
    sudo apt-get install ${missing[*]}"
  fi
  step "installing ${missing[*]}"
  # One at a time: several apt-get would get in each other's way.
  mkdir -p /run/lock
  (
    flock 9
    apt-get update -qq 9>&-
    DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get -o DPkg::Lock::Timeout=600 \
      install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 9>&-
  ) 9>/run/lock/leveldb-bloom-packages
}

ensure_node() {
  # Debian's npm brings hundreds of packages; any other will do.
  { command -v node && command -v npm; } >/dev/null || ensure_packages nodejs npm
}

# ensure_ctest_packages: what ctest/ needs.
ensure_ctest_packages() {
  ensure_packages build-essential binutils cmake ninja-build pkg-config clang libclang-rt-dev lld \
    mold musl-tools libc++-dev libc++abi-dev libleveldb-dev libsnappy-dev libgtest-dev abigail-tools \
    file python3 python3-venv python3-pip python3-plyvel python3-pytest valgrind
  # Debian 13 has gold in a package of its own.
  command -v ld.gold >/dev/null || ensure_packages binutils-gold
  ensure_node
}

# ensure_venv FOLDER PACKAGE...: a Python environment with these packages.
ensure_venv() {
  ensure_packages python3 python3-venv
  "$1/bin/python" -m pip --version >/dev/null 2>&1 || /usr/bin/python3 -m venv --clear "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}

# ensure_wheel_tools: zig, `cargo zigbuild` and what makes wheels.
ensure_wheel_tools() {
  local tools=$target/bindings/python/tools
  ensure_venv "$tools" -r "$root/bindings/python/requirements-build.txt"
  export PATH=$tools/bin:$PATH
}

# ensure_cross_tools: mingw-w64, and what zig needs for the other of x86-64 and aarch64.
ensure_cross_tools() {
  local other=arm64
  [ "$(uname -m)" != aarch64 ] || other=amd64
  ensure_packages gcc-mingw-w64-x86-64-posix "libgcc-s1-$other-cross"
}

# ensure_wine: mingw-w64 and wine, with a library that Debian 12's lacks.
ensure_wine() {
  ensure_packages g++-mingw-w64-x86-64-posix wine wine64
  export WINEPREFIX=$target/wine WINEDEBUG=-all
  [ ! -e "$WINEPREFIX/ready" ] || return 0
  rm -rf "$WINEPREFIX"
  quietly wine wineboot --init
  local library=$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll
  [ -e "$library" ] ||
    x86_64-w64-mingw32-gcc -shared scripts/bcryptprimitives.c -ladvapi32 -o "$library"
  touch "$WINEPREFIX/ready"
}

# cargo_tool NAME VERSION [OPTION...]: a program for developers, built once.
cargo_tool() {
  [[ $(cargo install --list --root "$target/tools" 2>/dev/null) == *"$1 v$2:"* ]] ||
    quietly cargo install --locked --debug --root "$target/tools" "${@:3}" "$1@$2"
  export PATH=$target/tools/bin:$PATH
}

# ensure_rust: cargo must be there, and must build for this machine into $target, where the scripts
# look.
ensure_rust() {
  command -v cargo >/dev/null || fail "This needs Rust 1.85 or newer: see https://rustup.rs."
  local version
  version=$(cargo --version)
  if [[ $version =~ ^cargo\ 1\.([0-9]+)\. ]] && ((BASH_REMATCH[1] < 85)); then
    fail "This needs Rust 1.85 or newer, and $(command -v cargo) is $version: see https://rustup.rs."
  fi
  unset CARGO_BUILD_TARGET CARGO_BUILD_TARGET_DIR CARGO_ENCODED_RUSTFLAGS
  export CARGO_TARGET_DIR=$target
}
