# cargo_target: the machine to build for, as Rust calls it.

set(LEVELDB_BLOOM_RUST_TARGET "" CACHE STRING
  "The machine to build leveldb_bloom for, as Rust calls it; empty: what CMake builds for")
set(for_another "For another machine, use a toolchain file (-DCMAKE_TOOLCHAIN_FILE=...), or name it with "
  "-DLEVELDB_BLOOM_RUST_TARGET=... (rustc --print target-list).")
string(CONCAT for_another ${for_another})

if(LEVELDB_BLOOM_RUST_TARGET)
  set(cargo_target "${LEVELDB_BLOOM_RUST_TARGET}")
  return()
endif()

if(CMAKE_CROSSCOMPILING)
  # CMake's names of processors are whatever a toolchain file says.
  string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" machine)
  string(REGEX REPLACE "^(amd64|x64)$" "x86_64" machine "${machine}")
  string(REGEX REPLACE "^arm64.*$" "aarch64" machine "${machine}")
  string(REGEX REPLACE "^(i[3-6]86|x86)$" "i686" machine "${machine}")
  string(REGEX REPLACE "^armv?7.*$" "armv7" machine "${machine}")
  string(REGEX REPLACE "^riscv64$" "riscv64gc" machine "${machine}")
  string(REGEX REPLACE "^(powerpc|ppc)64(le|el)$" "powerpc64le" machine "${machine}")
  set(cargo_target)
  if(ANDROID)
    set(cargo_target ${machine}-linux-android)
    if(machine STREQUAL "armv7")
      string(APPEND cargo_target eabi)
    endif()
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    include(CheckSymbolExists)
    check_symbol_exists(__GLIBC__ features.h LEVELDB_BLOOM_GLIBC)
    set(cargo_target ${machine}-unknown-linux-musl)
    if(LEVELDB_BLOOM_GLIBC)
      set(cargo_target ${machine}-unknown-linux-gnu)
    endif()
    if(machine STREQUAL "armv7")
      string(APPEND cargo_target eabihf)
    endif()
  elseif(MINGW)
    set(cargo_target ${machine}-pc-windows-gnu)
  elseif(APPLE)
    set(cargo_target ${machine}-apple-darwin)
  elseif(CMAKE_SYSTEM_NAME MATCHES "^(FreeBSD|NetBSD|OpenBSD)$")
    string(TOLOWER ${machine}-unknown-${CMAKE_SYSTEM_NAME} cargo_target)
  endif()
  if(NOT machine OR NOT cargo_target)
    message(FATAL_ERROR "leveldb_bloom: what Rust calls ${CMAKE_SYSTEM_NAME} on "
      "'${CMAKE_SYSTEM_PROCESSOR}' is not known here. Name it with -DLEVELDB_BLOOM_RUST_TARGET=... "
      "(rustc --print target-list).")
  endif()
  return()
endif()

set(cargo_target "${cargo_host}")
# A compiler or a flag such as -m32 may be for another machine, and CMake does not call that
# cross-compiling.
set(cargo_pointer 4)
if(cargo_host MATCHES "^([^-]*64|s390x)" AND NOT cargo_host MATCHES "(x32|ilp32|abin32)$")
  set(cargo_pointer 8)
endif()
if(CMAKE_SIZEOF_VOID_P AND NOT CMAKE_SIZEOF_VOID_P EQUAL cargo_pointer)
  message(FATAL_ERROR "cargo builds leveldb_bloom for ${cargo_host}, with pointers of ${cargo_pointer} "
    "bytes, and ${CMAKE_C_COMPILER} with its flags has pointers of ${CMAKE_SIZEOF_VOID_P}. ${for_another}")
endif()
# Where CMake knows the compiler's machine, it is by Debian's names.
set(machines "${CMAKE_C_LIBRARY_ARCHITECTURE}" "${cargo_host}")
list(TRANSFORM machines REPLACE "-.*" "")
list(TRANSFORM machines REPLACE "^i[3-6]86$" "i686")
list(TRANSFORM machines REPLACE "^(arm|riscv64).*" "\\1")
if(CMAKE_C_LIBRARY_ARCHITECTURE AND NOT CMAKE_C_LIBRARY_ARCHITECTURE MATCHES "x32$")
  list(GET machines 0 c_machine)
  list(GET machines 1 rust_machine)
  if(NOT c_machine STREQUAL rust_machine)
    message(FATAL_ERROR "cargo builds leveldb_bloom for ${cargo_host}, and ${CMAKE_C_COMPILER} with its flags "
      "for ${CMAKE_C_LIBRARY_ARCHITECTURE}. ${for_another}")
  endif()
endif()
