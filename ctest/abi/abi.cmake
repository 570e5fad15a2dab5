# cmake -DHEADER=... -DRECORD=... -DSYMBOLS=... -DWORK_DIR=... -P abi.cmake: the functions of the C
# header and their types, against the recorded ones.
#
# What is recorded is a library of C, made of the header's declarations with empty bodies: the types
# that a C program is compiled with, in debug information that differs neither with the version of
# rustc nor with what the real functions do inside. That the header says what the library does is
# capi/shared/tests/header.rs's to show, that the library has its functions is the test `symbols`'.
cmake_minimum_required(VERSION 3.16)

foreach(tool gcc abidw abidiff)
  find_program(${tool}_PATH ${tool})
  if(NOT ${tool}_PATH)
    message(FATAL_ERROR "${tool} is not installed (Debian: gcc, abigail-tools)")
  endif()
endforeach()

file(READ "${HEADER}" declarations)
# Functions are the only declarations at the top level that end so.
string(REGEX REPLACE "\\);(\n\n|\n$)" ") { __builtin_trap(); }\\1" definitions "${declarations}")
# Differs in every version, and nobody's program with it.
string(REGEX REPLACE "LEVELDB_BLOOM_VERSION_NUMBER = [0-9]+,?" "" definitions "${definitions}")
set(source "${WORK_DIR}/leveldb_bloom.c")
set(library "${WORK_DIR}/libleveldb_bloom.so")
set(current "${WORK_DIR}/leveldb_bloom.abi")
# The names of <stddef.h> and <stdint.h> without the C library's other types.
set(types "typedef __SIZE_TYPE__ size_t;\n")
foreach(type INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64)
  string(TOLOWER ${type}_t name)
  string(APPEND types "typedef __${type}_TYPE__ ${name};\n")
endforeach()
file(WRITE "${source}" "${types}\n${definitions}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "${ARGN}: ${result}")
  endif()
endfunction()
run("${gcc_PATH}" -std=c99 -g -gdwarf-4 -fno-eliminate-unused-debug-types -w -fPIC -shared -nostdlib
  "-ffile-prefix-map=${WORK_DIR}=." -Wl,-soname,libleveldb_bloom.so -o "${library}" "${source}")
run("${abidw_PATH}" --load-all-types --no-show-locs --no-comp-dir-path --no-corpus-path
  --no-architecture --no-elf-needed --type-id-style hash --out-file "${current}" "${library}")

# All functions that C can call are there, so that none is left out of the comparison.
execute_process(COMMAND nm --dynamic --defined-only --format=just-symbols "${library}"
  OUTPUT_VARIABLE recorded)
string(REGEX REPLACE "\n+$" "" recorded "${recorded}")
string(REPLACE "\n" ";" recorded "${recorded}")
file(STRINGS "${SYMBOLS}" expected REGEX "^leveldb_")
list(SORT recorded)
if(NOT recorded STREQUAL expected)
  message(FATAL_ERROR "the header declares\n${recorded}\nand symbols.txt lists\n${expected}")
endif()

if("$ENV{WRITE}" STREQUAL "1")
  run("${CMAKE_COMMAND}" -E copy "${current}" "${RECORD}")
endif()
execute_process(COMMAND "${abidiff_PATH}" --non-reachable-types "${RECORD}" "${current}" RESULT_VARIABLE result)
math(EXPR incompatible "${result} & 8")
if(incompatible)
  message(FATAL_ERROR "Programs that use the released library would break: this needs a new major "
    "version, which changes the SONAME, and a new record, by\n"
    "  WRITE=1 ctest --test-dir target/cmake -R '^abi$'")
elseif(result)
  message(FATAL_ERROR "The ABI is not the recorded one. Additions are fine, once they are recorded "
    "by\n  WRITE=1 ctest --test-dir target/cmake -R '^abi$'\n"
    "Whatever else abidiff names above breaks programs that use the library: look at it first.")
endif()
