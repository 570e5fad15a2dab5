#!/usr/bin/env bash
# The C library for other systems; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# name | CMake's system | zig's target | Debian's packages | runner | tests that cannot run
table='
linux-x86_64   | Linux   | x86_64-linux-gnu.2.17  |                                                | env                                    |
linux-aarch64  | Linux   | aarch64-linux-gnu.2.17 | qemu-user libc6-arm64-cross                    | qemu-aarch64 -L /usr/aarch64-linux-gnu |
musl-x86_64    | Linux   | x86_64-linux-musl      | musl                                           | env                                    |
musl-aarch64   | Linux   | aarch64-linux-musl     | qemu-user                                      | qemu-aarch64                           | shared
windows-x86_64 | Windows |                        |                                                | wine                                   |
macos-x86_64   | Darwin  | x86_64-macos           |                                                |                                        |
macos-aarch64  | Darwin  | aarch64-macos          |                                                |                                        |
freebsd-x86_64 | FreeBSD | x86_64-freebsd         |                                                |                                        |
android-aarch64| Android | aarch64-linux-android  | clang lld                                      |                                        |
'

usage() {
  cat <<'TEXT'
usage: scripts/systems.sh [--quick] [--help] [SYSTEM...]

Builds the C library for each system named, or for all, by CMake and a toolchain file; installs it
into target/systems/SYSTEM/tree; looks at the symbols of both libraries; and builds against it, by
find_package, ctest/systems: the C test, and a LevelDB from its sources whose databases have our
filters, by callbacks and by leveldb_bloom_policy.cc.

  run here    windows-x86_64 (mingw-w64; by wine)   musl-x86_64   linux-x86_64
              linux-aarch64   musl-aarch64 (emulated by qemu; there not with musl's shared library)
  built, and looked at, but not run
              macos-x86_64   macos-aarch64   freebsd-x86_64   android-aarch64 (the libraries alone)

For Linux they need glibc 2.17 or newer, or musl. With musl and for Windows the tree has the command
too, which reads the databases, and on x86-64 the Rust tests run. All but Windows and Android is
compiled by zig, which comes from PyPI; Debian's clang links for Android, without the NDK.

  --quick   the libraries, their symbols and the C test; no LevelDB, command or Rust tests
TEXT
}

quick=
names=()
for argument in "$@"; do
  case $argument in
    -h | --help)
      usage
      exit 0
      ;;
    --quick) quick=1 ;;
    *)
      grep -q "^$argument *|" <<<"$table" || fail "scripts/systems.sh: unknown $argument; see --help"
      names+=("$argument")
      ;;
  esac
done

ensure_rust
ensure_packages cmake ninja-build build-essential file llvm
work=$target/systems
mkdir -p "$work"

# toolchain: writes $folder/toolchain.cmake, for the row in the variables of the loop below.
toolchain() {
  if [ "$system" = Windows ]; then
    cp cmake/toolchains/mingw.cmake "$folder/toolchain.cmake"
    return
  fi
  local tool
  if [ "$system" = Android ]; then
    android_toolchain
    return
  fi
  for tool in cc c++; do
    printf '#!/bin/sh\nexec cargo-zigbuild zig %s -- -target %s "$@"\n' $tool "$compiler" >"$folder/$tool"
    chmod +x "$folder/$tool"
  done
  cat >"$folder/toolchain.cmake" <<TEXT
set(CMAKE_SYSTEM_NAME $system)
set(CMAKE_SYSTEM_PROCESSOR ${compiler%%-*})
set(CMAKE_C_COMPILER "$folder/cc")
set(CMAKE_CXX_COMPILER "$folder/c++")
TEXT
  # CMake asks the machine that it runs on for its version, and without an answer has no @rpath.
  [ "$system" != Darwin ] || {
    echo "set(CMAKE_PROJECT_INCLUDE $folder/rpath.cmake)" >>"$folder/toolchain.cmake"
    echo 'set(CMAKE_SHARED_LIBRARY_RUNTIME_C_FLAG "-Wl,-rpath,")' >"$folder/rpath.cmake"
  }
}

# android_toolchain: $folder/cc. Where the NDK is not to be had, a libc.so that says its name is enough to link with.
android_toolchain() {
  local stubs=$folder/stubs name
  printf '#!/bin/sh\nexec clang --target=%s29 -fuse-ld=lld -nostartfiles -L "%s" "$@"\n' "$compiler" "$stubs" >"$folder/cc"
  chmod +x "$folder/cc"
  mkdir -p "$stubs"
  for name in c m; do
    echo 'void free(void *memory) { (void)memory; }' |
      "$folder/cc" -shared -nostdlib -x c - "-Wl,-soname,lib$name.so" -o "$stubs/lib$name.so"
  done
}

# shared_library: the file.
shared_library() {
  case $system in
    Windows) echo "$tree/bin/leveldb_bloom.dll" ;;
    Darwin) echo "$tree/lib/libleveldb_bloom.dylib" ;;
    *) echo "$tree/lib/libleveldb_bloom.so" ;;
  esac
}

# exported: the functions of the shared library.
exported() {
  case $system in
    Windows) x86_64-w64-mingw32-objdump -p "$(shared_library)" | sed -n '/Ordinal\/Name Pointer/,/^$/s/.*] //p' | grep -v Table ;;
    Darwin) llvm-objdump --macho --exports-trie "$(shared_library)" | sed -n 's/^0x[^ ]* *_//p' |
      grep -vx -e __dso_handle -e _mh_dylib_header ;; # zig's own
    *) llvm-nm --dynamic --defined-only --just-symbol-name "$(shared_library)" ;;
  esac | sort
}

# names: the functions that both libraries must have.
names() {
  if [ "$system" = Linux ]; then
    cat ctest/symbols.txt
  else
    grep -v -e '^_ZN' -e filterpolicy -e '^leveldb_bloom_active$' ctest/symbols.txt
  fi | sort
}

# look: shows what was built, if it has the names that it should have and no others.
look() {
  file --brief "$(readlink -f "$(shared_library)")"
  case $system in
    Windows) x86_64-w64-mingw32-objdump -p "$(shared_library)" | sed -n 's/^\s*DLL Name: /needs /p' ;;
    Darwin) llvm-objdump --macho --dylibs-used "$(shared_library)" | sed -n 's/^\t/needs or is /p' ;;
    *) readelf -d --wide "$(shared_library)" | sed -n 's/.*(\(NEEDED\|SONAME\)).*\[\(.*\)\]/\1 \2/p' ;;
  esac
  diff -u <(names) <(exported) || return 1
  # In the archive there are Rust's own names, too.
  llvm-nm --defined-only --extern-only --just-symbol-name "$tree/lib/libleveldb_bloom.a" 2>/dev/null |
    sed 's/^_leveldb/leveldb/' | sort -u >"$folder/archive"
  [ -z "$(comm -23 <(names) "$folder/archive")" ] || return 1
}

# configured FOLDER SOURCE OPTION...: configures and builds.
configured() {
  cmake -S "$2" -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_TOOLCHAIN_FILE=$folder/toolchain.cmake" \
    "-DCMAKE_CROSSCOMPILING_EMULATOR=${runner// /;}" "${@:3}" && cmake --build "$1"
}

# on_databases: the command on what ctest/systems has written.
on_databases() {
  local suffix='' pair database found
  [ "$system" != Windows ] || suffix=.exe
  for pair in callbacks:bloom source:ribbon; do
    database=$folder/test/${pair%:*}$suffix.db
    $runner "$tree/bin/leveldb-bloom$suffix" verify "$database" || return 1
    found=$($runner "$tree/bin/leveldb-bloom$suffix" inspect --json "$database") || return 1
    python3 -c 'import json, sys
filters = json.loads(sys.argv[1])["total"]["bloom"]
print(filters["encodings"], filters["keys_checked"])
assert list(filters["encodings"]) == [sys.argv[2]] and filters["keys_checked"] == 5000' "$found" "${pair#*:}" || return 1
  done
}

build_and_test() {
  local options=()
  rm -rf "$tree" "$folder/test"
  mkdir -p "$folder"
  toolchain
  [[ -n $quick || $system-$name != *-musl* && $system != Windows ]] || options=(-DLEVELDB_BLOOM_COMMAND=ON)
  if [ "$system" = Android ]; then
    # CMake knows this system by its NDK alone.
    android || return 1
  else
    configured "$folder/build" . -DCMAKE_INSTALL_LIBDIR=lib "${options[@]}" &&
      cmake --install "$folder/build" --prefix "$tree" || return 1
  fi
  look >"$folder/look" || return 1
  [ "$system" != Android ] || return 0
  options=()
  [ -n "$quick" ] || options=("-DLEVELDB_SOURCE_DIR=$leveldb")
  configured "$folder/test" ctest/systems "-DCMAKE_PREFIX_PATH=$tree" "${options[@]}" || return 1
  [ -n "$runner" ] || return 0
  ctest --test-dir "$folder/test" --output-on-failure --no-tests=error -E "${skipped:-^$}" || return 1
  [ -z "$quick" ] || return 0
  [[ ! -e $tree/bin/leveldb-bloom && ! -e $tree/bin/leveldb-bloom.exe ]] || on_databases || return 1
  case $name in
    windows-x86_64)
      export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine
      cargo test --locked --quiet --target "$triple" -p leveldb-bloom -p leveldb-bloom-inspector || return 1
      ;;
    musl-x86_64) cargo test --locked --quiet --target "$triple" -p leveldb-bloom || return 1 ;;
  esac
}

android() {
  CARGO_TARGET_AARCH64_LINUX_ANDROID_LINKER=$folder/cc cargo build --release --locked --target "$triple" \
    -p leveldb-bloom-shared -p leveldb-bloom-static || return 1
  mkdir -p "$tree/lib" "$tree/include"
  cp "$target/$triple/release"/libleveldb_bloom.{a,so} "$tree/lib"
  cp include/* "$tree/include"
}

# The LevelDB in the crate leveldb-sys, where cargo has unpacked it.
[ -n "$quick" ] || leveldb=$(cargo metadata --locked --format-version=1 --quiet --manifest-path ctest/leveldb-sys/Cargo.toml |
  python3 -c 'import glob, json, os, sys
[crate] = [package for package in json.load(sys.stdin)["packages"] if package["name"] == "leveldb-sys"]
print(*glob.glob(os.path.dirname(crate["manifest_path"]) + "/deps/leveldb-*"))')
failed=()
while IFS='|' read -r name system compiler packages runner skipped; do
  for variable in name system compiler packages runner skipped; do
    read -r "${variable?}" <<<"${!variable}"
  done
  [ -n "$name" ] || continue
  [ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" $name "* ]] || continue
  step "$name"
  folder=$work/$name
  tree=$folder/tree
  mkdir -p "$folder"
  # shellcheck disable=SC2086 # a list of words
  ensure_packages $packages
  if [ "$system" = Windows ]; then
    ensure_wine
  elif [ "$system" != Android ]; then
    ensure_wheel_tools
  fi
  case $system in
    Windows) triple=x86_64-pc-windows-gnu ;;
    Darwin) triple=${compiler%%-*}-apple-darwin ;;
    FreeBSD) triple=${compiler%%-*}-unknown-freebsd ;;
    Android) triple=$compiler ;;
    Linux) triple=${compiler/-linux/-unknown-linux} triple=${triple%.2.17} ;;
  esac
  rustup --quiet target add "$triple"
  SECONDS=0
  # In the background: in a condition the shell would go on after an error.
  (build_and_test) </dev/null >"$folder/log" 2>&1 &
  if wait $!; then
    cat "$folder/look"
    if [ -n "$runner" ]; then echo "built and passed, $SECONDS s"; else echo "built, not run, $SECONDS s"; fi
  else
    cat "$folder/log" "$folder/look"
    failed+=("$name")
  fi
done <<<"$table"
[ ${#failed[@]} -eq 0 ] || fail "failed: ${failed[*]}"
