# Shared by the scripts beside it; sourced, not run.
# shellcheck shell=bash

set -euo pipefail
# cd would say where it went, and go elsewhere.
unset CDPATH

# Both before the script leaves the folder that paths are relative to.
caller=$PWD
[ -z "${CARGO_TARGET_DIR-}" ] || CARGO_TARGET_DIR=$(realpath -m "$CARGO_TARGET_DIR")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# Where cargo builds, and the scripts too.
target=${CARGO_TARGET_DIR:-$root/target}

# A heading, so that a long run can be followed.
step() { printf '\n== %s\n' "$*"; }

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# is_one_of WORD WORDS...
is_one_of() {
  local word=$1 other
  shift
  for other; do
    [ "$other" != "$word" ] || return 0
  done
  return 1
}

# number OPTION VALUE LOWEST HIGHEST: VALUE in plain digits, if it is in the range.
number() {
  [[ $2 =~ ^0*([0-9]{1,9})$ ]] || fail "$1 takes a number from $3 to $4. See --help."
  local value=${BASH_REMATCH[1]}
  ((value >= $3 && value <= $4)) || fail "$1 takes a number from $3 to $4. See --help."
  printf '%s' "$value"
}

# output_file FILE: its path, whatever folder the script is in. To be asked before a run of hours, whose
# result would have no place.
output_file() {
  local file
  [ -n "$1" ] || fail "The name of a file is missing. See --help."
  file=$(cd "$caller" && realpath -m -- "$1")
  [ -d "$(dirname "$file")" ] || fail "There is no folder $(dirname "$file") to write into."
  [ ! -d "$file" ] || fail "$file is a folder."
  printf '%s\n' "$file"
}

# What documents say of the machine, for the programs that write them too. Clouds give all generations
# of a processor one name; its family and model tell them apart.
PROCESSOR=$(awk -F ': ' '/^model name/ { name = $2 } /^cpu family/ { family = $2 }
  /^model\t/ { model = $2 } /^$/ { exit }
  END { if (name) print name (family ? " (family " family ", model " model ")" : "")
        else exit 1 }' /proc/cpuinfo 2>/dev/null || uname -m)
export PROCESSOR

# ensure_packages PACKAGE...: installs the Debian packages that are missing, or says which.
ensure_packages() {
  local missing=() package
  if ! command -v dpkg-query >/dev/null; then
    printf 'Without dpkg it is not known whether there is what Debian calls: %s\n' "$*" >&2
    return 0
  fi
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *'ok installed' ]] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if ! command -v apt-get >/dev/null; then
    fail "This needs the packages that Debian calls: ${missing[*]}. Please install them."
  fi
  if [ "$(id -u)" -ne 0 ]; then
    fail "Please install what is missing and run this again:
    sudo apt-get install ${missing[*]}"
  fi
  step "installing ${missing[*]}"
  # One at a time: in Debian's container images each apt-get deletes what others have downloaded.
  mkdir -p /run/lock
  (
    flock 9
    apt-get update -qq 9>&-
    DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get -o DPkg::Lock::Timeout=600 \
      install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 9>&-
  ) 9>/run/lock/leveldb-bloom-packages
}

# ensure_ctest_packages: what ctest/ needs: compilers and linkers, LevelDB and its bindings, and what
# looks at the results.
ensure_ctest_packages() {
  ensure_packages build-essential binutils cmake ninja-build pkg-config clang libclang-rt-dev lld \
    mold libc++-dev libc++abi-dev libleveldb-dev libsnappy-dev libgtest-dev abigail-tools \
    file python3 python3-venv python3-pip python3-plyvel valgrind
  # Debian 12 has gold in binutils, later ones in a package of its own.
  command -v ld.gold >/dev/null || ensure_packages binutils-gold
  # Debian's npm brings hundreds of packages; any other will do.
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    ensure_packages nodejs npm
  fi
}

# stock_leveldb: the path of the installed libleveldb. awk reads to the end: ldconfig would die of
# SIGPIPE, and with it the script.
stock_leveldb() {
  local path
  # Not in the PATH of all users.
  path=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p | awk '/libleveldb\.so\./ && !found++ { print $NF }')
  [ -n "$path" ] || fail "There is no libleveldb.so that ldconfig knows."
  printf '%s\n' "$path"
}

# ensure_venv FOLDER: a Python environment of its own, made anew where making it was interrupted. By
# Debian's Python, also where another one comes first in PATH.
ensure_venv() {
  "$1/bin/python" -m pip --version >/dev/null 2>&1 || /usr/bin/python3 -m venv --clear "$1"
}

# can_preload PATH: whether a library there can be.
can_preload() {
  [[ $1 != *[[:space:]:]* ]] ||
    fail "In $1 the tests cannot run: the loader splits LD_PRELOAD at spaces and colons"
}

# ensure_rust: cargo must be there; how to get it differs too much to do it unasked. It builds for this
# machine, and where the scripts look, whatever a user's environment or configuration says: they would
# test what was built before.
ensure_rust() {
  local rust_versions="1.85 or newer for scripts/demo.sh, 1.89 for scripts/test.sh --quick, 1.95 for scripts/test.sh"
  command -v cargo >/dev/null ||
    fail "This needs a Rust toolchain: $rust_versions. See https://rustup.rs. (Debian 12's cargo is too old.)"
  # Cargo would say of the project's files that it cannot read them.
  local version
  version=$(cargo --version)
  if [[ $version =~ ^cargo\ 1\.([0-9]+)\. ]] && ((BASH_REMATCH[1] < 85)); then
    fail "This needs a Rust toolchain: $rust_versions. $(command -v cargo) is
$version. See https://rustup.rs."
  fi
  unset CARGO_BUILD_TARGET CARGO_BUILD_TARGET_DIR
  # It would stand before the RUSTFLAGS that the scripts set: no sanitizer, no coverage, no planted fault.
  unset CARGO_ENCODED_RUSTFLAGS
  # This one nothing takes back. The option of cargo is no stable one.
  local configured
  configured=$(RUSTC_BOOTSTRAP=1 cargo -Zunstable-options config get --show-origin build.target 2>/dev/null) &&
    fail "Cargo's configuration names a machine to build for, and the scripts test what it builds where none is
named. Please take that out:
$configured"
  [ -n "${CARGO_TARGET_DIR-}" ] ||
    [[ $(cargo metadata --no-deps --format-version 1 2>/dev/null) == *"\"target_directory\":\"$root/target\""* ]] ||
    export CARGO_TARGET_DIR=$root/target
  # Cargo says "Permission denied", and not of what.
  { mkdir -p "$target" && [ -w "$target" ]; } 2>/dev/null ||
    fail "What is built goes into $target, which cannot be written. Set CARGO_TARGET_DIR to a folder that can."
}
