#!/usr/bin/env bash
# Builds and tests what others install; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/packages.sh [--help] [cinstall | debian | conan | vcpkg]...

Builds and tests the packages, all of them or those named:

  cinstall   `cargo cinstall`: the files and symbols of `cmake --install`, and the consumers of ctest/
             built and run against them. Builds cargo-c the first time, which takes ten minutes
  debian     `cpack`: three .deb packages that lintian accepts, installed into a fresh Debian 12
             (debootstrap, as root), where a consumer is built and run, and removed again
  conan      `conan create packaging/conan`, with its test package
  vcpkg      the port in packaging/vcpkg, with stand-ins for vcpkg's functions, and a consumer
TEXT
}

# build_with_cmake FOLDER OPTION...
build_with_cmake() {
  quietly cmake -S . -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release "${@:2}"
  quietly cmake --build "$1"
}

# listing TREE: files and symbols. cargo-c has the CMake package in share/.
listing() {
  cd "$1"
  find . ! -type d -printf '%P\n' | sed 's,^share/cmake/,lib/cmake/,' | sort
  sha256sum include/*
  readelf --dynamic --wide lib/libleveldb_bloom.so | grep -o -E 'SONAME.*|NODELETE|NEEDED.*'
  nm --dynamic --defined-only --format=posix lib/libleveldb_bloom.so | cut -d ' ' -f 1,2
  nm --defined-only --format=posix lib/libleveldb_bloom.a 2>/dev/null |
    grep -E '^(leveldb_|_ZN7leveldb)[^.]* [TW] ' | cut -d ' ' -f 1,2 | sort
  PKG_CONFIG_PATH=$PWD/lib/pkgconfig pkg-config --modversion --static --libs-only-l leveldb_bloom |
    tr ' ' '\n' | sort -u
}

cinstall() {
  ensure_ctest_packages
  ensure_packages libssl-dev
  cargo_tool cargo-c 0.10.24+cargo-0.98.0
  local built=$work/cinstall way
  rm -rf "$built"/*-tree
  for way in shared:cdylib static:staticlib; do
    quietly cargo cinstall --locked --manifest-path "capi/${way%:*}/Cargo.toml" \
      --library-type "${way#*:}" --target-dir "$built/cargo" --libdir lib --prefix "$built/cargo-tree"
  done
  build_with_cmake "$built/cmake" -DCMAKE_INSTALL_LIBDIR=lib
  quietly cmake --install "$built/cmake" --prefix "$built/cmake-tree"
  diff -u <(listing "$built/cmake-tree") <(listing "$built/cargo-tree") ||
    fail "cmake and cargo-c install different files"
  quietly cmake -S . -B "$built/ctest" -G Ninja -DCMAKE_INSTALL_LIBDIR=lib \
    -DLEVELDB_BLOOM_BUILD_TESTS=ON "-DLEVELDB_BLOOM_INSTALLED=$built/cargo-tree"
  # Without the test that would install a copy first.
  ctest --test-dir "$built/ctest" --output-on-failure --no-tests=error -R '^consumers.consumers$' --fixture-exclude-any .
}

debian() {
  ensure_packages build-essential cmake ninja-build lintian debootstrap
  local built=$work/debian system=$work/bookworm
  build_with_cmake "$built" -DCMAKE_INSTALL_PREFIX=/usr -DLEVELDB_BLOOM_COMMAND=ON
  rm -f "$built"/*.deb
  (cd "$built" && quietly cpack)
  lintian --allow-root --fail-on error --tag-display-limit 0 "$built"/*.deb
  [ -e "$system/ready" ] || {
    rm -rf "$system"
    quietly debootstrap --variant=minbase \
      --include=gcc,libc6-dev,make,pkg-config,libleveldb-dev bookworm "$system"
    touch "$system/ready"
  }
  rm -rf "$system/test"
  mkdir "$system/test"
  cp -r "$built"/*.deb ctest/consumers "$system/test"
  # A run that failed may have left them.
  chroot "$system" dpkg --purge leveldb-bloom libleveldb-bloom-dev libleveldb-bloom1 >/dev/null 2>&1
  quietly chroot "$system" sh -euxc '
    cd /test
    dpkg -i ./*.deb
    cc -o database consumers/database.c $(pkg-config --cflags --libs leveldb_bloom) -lleveldb
    ./database
    make -f consumers/pkg_config/Makefile CC=cc
    leveldb-bloom size --keys 1000
    dpkg -L leveldb-bloom | grep -q man1/leveldb-bloom-size.1.gz
    # With the runtime package alone, programs still run.
    dpkg --remove libleveldb-bloom-dev leveldb-bloom
    ./database
    dpkg --purge libleveldb-bloom1
    test -z "$(find /usr /etc -path "*leveldb_bloom*")"
  '
}

conan() {
  ensure_packages build-essential cmake
  ensure_venv "$work/conan" 'conan==2.*'
  export CONAN_HOME=$work/conan-home
  rm -rf "$CONAN_HOME"
  quietly "$work/conan/bin/conan" profile detect
  quietly "$work/conan/bin/conan" create packaging/conan \
    -c "tools.cmake.cmake_layout:test_folder=$work/conan-test"
}

vcpkg() {
  ensure_packages build-essential cmake ninja-build
  local built=$work/vcpkg
  quietly cmake "-DPORT_DIR=$root/packaging/vcpkg/leveldb-bloom" "-DWORK_DIR=$built" \
    -P scripts/packages/vcpkg.cmake
  rm -rf "$built/consumer"
  quietly cmake -S ctest/consumers/find_package -B "$built/consumer" "-DCMAKE_PREFIX_PATH=$built/package"
  quietly cmake --build "$built/consumer"
  ctest --test-dir "$built/consumer" --output-on-failure --no-tests=error
}

parts=()
for part in "$@"; do
  case $part in
    -h | --help)
      usage
      exit 0
      ;;
    cinstall | debian | conan | vcpkg) parts+=("$part") ;;
    *) fail "scripts/packages.sh: unknown package $part; see --help" ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(cinstall debian conan vcpkg)
ensure_rust
work=$target/packages
mkdir -p "$work"
for part in "${parts[@]}"; do
  step "$part"
  "$part"
done
