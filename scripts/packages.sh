#!/usr/bin/env bash
# Builds and tests what others install; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

all=(cinstall debian conan vcpkg)

usage() {
  cat <<'TEXT'
usage: scripts/packages.sh [--help] [PART...]

Builds and tests the packages, all of them or the parts named:

  cinstall   `cargo cinstall`: the same files as `cmake --install`, and every consumer of
             ctest/consumers built and run against them. Builds cargo-c the first time, which takes
             some ten minutes.
  debian     `cpack`: two .deb packages; lintian finds no error; installed into a fresh Debian 12
             (debootstrap, as root), where a consumer is compiled and run, and removed again.
  conan      `conan create packaging/conan`, with its test package.
  vcpkg      the port in packaging/vcpkg, run with stand-ins for vcpkg's functions, and a consumer.

Everything is built under target/packages; what was built or downloaded there is used again.
TEXT
}

case "${1-}" in
  -h | --help)
    usage
    exit 0
    ;;
esac
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=("${all[@]}")
for part in "${parts[@]}"; do
  is_one_of "$part" "${all[@]}" || fail "scripts/packages.sh: unknown part $part; see --help"
done

work=$target/packages
mkdir -p "$work"
# Quiet unless it fails: what is built here is built elsewhere with all its output.
quietly() {
  "$@" >"$work/log" 2>&1 || {
    cat "$work/log"
    fail "failed: $*"
  }
}

# build_with_cmake FOLDER OPTION...
build_with_cmake() {
  quietly cmake -S . -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release "${@:2}"
  quietly cmake --build "$1"
}

cinstall() {
  ensure_ctest_packages
  ensure_packages libssl-dev
  local cargo_c=0.10.24+cargo-0.98.0 built=$work/cinstall tree=$work/cinstall/tree
  if [ "$("$work/cargo-c/bin/cargo-cinstall" --version 2>/dev/null)" != "cargo-c $cargo_c" ]; then
    step "cargo install cargo-c (some ten minutes)"
    quietly cargo install cargo-c --locked --version "$cargo_c" --root "$work/cargo-c" \
      --target-dir "$work/cargo-c-build"
    rm -rf "$work/cargo-c-build"
  fi
  export PATH=$work/cargo-c/bin:$PATH

  step "cargo cinstall"
  local options=(--locked --target-dir "$built/cargo" --libdir lib)
  rm -rf "$tree" "$built/wrong" "$built/shared-only"
  quietly cargo cinstall --manifest-path capi/shared/Cargo.toml --library-type cdylib \
    "${options[@]}" --prefix "$tree"
  cp -a "$tree" "$built/shared-only"
  quietly cargo cinstall --manifest-path capi/static/Cargo.toml --library-type staticlib \
    "${options[@]}" --prefix "$tree"
  # Without --library-type there would be an archive that no program with LevelDB can link.
  if cargo cinstall "${options[@]}" --prefix "$built/wrong" >"$work/log" 2>&1; then
    fail "cargo cinstall without --library-type was not refused"
  fi
  grep -q -e 'static-needs=--library-type=staticlib' "$work/log" ||
    fail "cargo cinstall without --library-type failed for another reason: see $work/log"

  step "the same files as cmake --install"
  build_with_cmake "$built/cmake" -DCMAKE_INSTALL_LIBDIR=lib
  rm -rf "$built/cmake-tree"
  quietly cmake --install "$built/cmake" --prefix "$built/cmake-tree"
  same_tree "$built/cmake-tree" "$tree"

  step "the consumers"
  local consumers='^consumers\.(find_package|override|source|refused|two_rust|pkg_config|header)'
  quietly cmake -S . -B "$built/ctest" -G Ninja -DCMAKE_INSTALL_LIBDIR=lib \
    -DLEVELDB_BLOOM_BUILD_TESTS=ON "-DLEVELDB_BLOOM_INSTALLED=$tree"
  ctest --test-dir "$built/ctest" -j "$(nproc)" --output-on-failure --no-tests=error -R "$consumers"
  # A toolchain file may have CMake look only below a root, where this copy is not.
  rm -rf "$built/rooted"
  quietly cmake -S ctest/consumers/find_package -B "$built/rooted" "-DCMAKE_PREFIX_PATH=$tree" \
    -DCMAKE_FIND_ROOT_PATH=/nonexistent -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY
  # One of the two runs alone: find_package knows.
  rm -rf "$built/refused"
  if cmake -S ctest/consumers/find_package -B "$built/refused" \
    "-DCMAKE_PREFIX_PATH=$built/shared-only" >"$work/log" 2>&1; then
    fail "the component static was found where only the shared library is installed"
  fi
  grep -q 'leveldb_bloom has only: shared override --' <(tr -s '\n ' ' ' <"$work/log") ||
    fail "the component static was refused for another reason: see $work/log"
}

# same_tree CMAKE_TREE CARGO_C_TREE: the same files, headers, links and symbols. The CMake package
# is in share/ where cargo-c installed it, and finds the libraries by itself; the .pc files are
# written by each in its own way and are compared by what they answer.
same_tree() {
  local tree file
  for tree in "$1" "$2"; do
    (
      cd "$tree"
      find . ! -type d -printf '%P\n' | sed 's,^share/cmake/,lib/cmake/,' | sort
      sha256sum include/* share/doc/leveldb_bloom/LICENSE
      cd lib
      for file in libleveldb_bloom.so libleveldb_bloom.so.1; do
        printf '%s is %s\n' "$file" "$(basename "$(readlink -e "$file")")"
      done
      readelf --dynamic --wide libleveldb_bloom.so | grep -o -E 'SONAME.*|NODELETE|NEEDED.*'
      nm --dynamic --defined-only --format=posix libleveldb_bloom.so | cut -d ' ' -f 1,2
      nm --defined-only --format=posix libleveldb_bloom.a 2>/dev/null |
        grep -E '^(leveldb_|_ZN7leveldb)[^.]* [TW] ' | cut -d ' ' -f 1,2 | sort
      export PKG_CONFIG_PATH=$tree/lib/pkgconfig
      pkg-config --modversion leveldb_bloom
      for file in -lleveldb_bloom -ldl -lpthread; do
        [[ " $(pkg-config --static --libs leveldb_bloom) " == *" $file "* ]] && echo "$file"
      done
      realpath --relative-to="$tree" "$(pkg-config --variable=libdir leveldb_bloom)" \
        "$(pkg-config --variable=includedir leveldb_bloom)"
    ) >"$work/$(basename "$tree").txt"
  done
  diff -u "$work/$(basename "$1").txt" "$work/$(basename "$2").txt" ||
    fail "$1 and $2 differ"
  [ "$(wc -l <"$work/$(basename "$1").txt")" -gt 40 ] || fail "nothing was compared"
}

debian() {
  ensure_packages build-essential cmake ninja-build lintian debootstrap
  local built=$work/debian root_dir=$work/bookworm
  step "cpack"
  local name='Zoë "Z" O'"'"'Neil' package
  DEBFULLNAME=$name DEBEMAIL=zoe@example.org build_with_cmake "$built" -DCMAKE_INSTALL_PREFIX=/usr
  rm -f "$built"/*.deb
  (cd "$built" && quietly cpack)
  for package in "$built"/*.deb; do
    [ "$(dpkg-deb --field "$package" Maintainer)" = "$name <zoe@example.org>" ] ||
      fail "$package is not by $name: $(dpkg-deb --field "$package" Maintainer)"
  done

  # dpkg installs the packages of two architectures side by side only if what both have is the same.
  cp "$built/debian/changelog.Debian.gz" "$work/changelog.Debian.gz"
  sleep 1
  DEBFULLNAME=$name DEBEMAIL=zoe@example.org quietly cmake "$built"
  cmp "$work/changelog.Debian.gz" "$built/debian/changelog.Debian.gz" ||
    fail "packages of the same sources, made at another time, have another changelog"

  step "lintian"
  # As root lintian warns of being root, and means it.
  lintian --allow-root --fail-on error --tag-display-limit 0 "$built"/*.deb

  step "a fresh Debian 12"
  [ "$(id -u)" -eq 0 ] || fail "debootstrap and chroot need root"
  if [ ! -e "$root_dir/ready" ]; then
    rm -rf "$root_dir"
    quietly debootstrap --variant=minbase \
      --include=gcc,libc6-dev,make,pkg-config,libleveldb-dev bookworm "$root_dir"
    touch "$root_dir/ready"
  fi
  rm -rf "$root_dir/test"
  mkdir "$root_dir/test"
  cp "$built"/*.deb "$root_dir/test"
  cp -r ctest/consumers "$root_dir/test"
  # A run that failed may have left them.
  chroot "$root_dir" dpkg --purge libleveldb-bloom-dev libleveldb-bloom1 >"$work/log" 2>&1
  quietly chroot "$root_dir" sh -euxc '
    cd /test
    ours() { find /usr /etc -path "*leveldb_bloom*" | sort; }
    test -z "$(ours)"
    dpkg -i ./*.deb
    dpkg --audit
    ldconfig -p | grep libleveldb_bloom.so.1

    # A program that asks for nothing but LevelDB, linked with the packages: the proof in it.
    cc -o database consumers/database.c $(pkg-config --cflags --libs leveldb_bloom) -lleveldb
    ./database
    ldd database | grep "libleveldb_bloom.so.1 => /"
    # Shared and static, by pkg-config; the Makefile asks each program which library it has.
    make -f consumers/pkg_config/Makefile CC=cc
    # With the runtime package alone, programs still run.
    dpkg --remove libleveldb-bloom-dev
    ./database

    dpkg --purge libleveldb-bloom1
    test -z "$(ours)"
    if ./database; then exit 1; fi
  '
  grep -E '^(active|stats):' "$work/log" || fail "the consumers did not say who answered"
}

conan() {
  ensure_packages build-essential cmake python3 python3-venv
  local venv=$work/conan
  if [ ! -x "$venv/bin/conan" ]; then
    step "conan from PyPI"
    quietly python3 -m venv "$venv"
    quietly "$venv/bin/pip" install --quiet 'conan==2.*'
  fi
  step "conan create"
  export CONAN_HOME=$work/conan-home
  rm -rf "$CONAN_HOME"
  quietly "$venv/bin/conan" profile detect
  quietly "$venv/bin/conan" create packaging/conan \
    -c "tools.cmake.cmake_layout:test_folder=$work/conan-test"
  # The consumers prove for themselves which library they have.
  local consumer
  for consumer in shared static leveldb_bloom; do
    grep -q -E " Test +#[0-9]+: $consumer \.+ +Passed " "$work/log" ||
      fail "conan's test package did not run its consumer $consumer: see $work/log"
  done
}

vcpkg() {
  ensure_packages build-essential cmake ninja-build
  local built=$work/vcpkg
  step "the port, with stand-ins for vcpkg"
  quietly cmake "-DPORT_DIR=$root/packaging/vcpkg/leveldb-bloom" "-DWORK_DIR=$built" \
    -P scripts/packages/vcpkg.cmake
  step "a consumer"
  rm -rf "$built/consumer"
  quietly cmake -S ctest/consumers/find_package -B "$built/consumer" \
    "-DCMAKE_PREFIX_PATH=$built/package"
  quietly cmake --build "$built/consumer"
  ctest --test-dir "$built/consumer" --output-on-failure --no-tests=error
}

for part in "${parts[@]}"; do
  "$part"
done
step "passed: ${parts[*]}"
