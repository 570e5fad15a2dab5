# cmake -DPROJECT_DIR=... -DWORK_DIR=... -DCARGO=... -DLEVELDB_SOURCE_DIR=... -DOPTIONS=...
# -P build.cmake: builds project/ for LEVELDB_SOURCE_DIR; if that is empty, for the LevelDB that
# the crate leveldb-sys carries, where cargo has unpacked it.
cmake_minimum_required(VERSION 3.16)

if(NOT LEVELDB_SOURCE_DIR)
  execute_process(
    COMMAND "${CARGO}" metadata --locked --format-version 1
      --manifest-path "${PROJECT_DIR}/../../leveldb-sys/Cargo.toml"
    OUTPUT_VARIABLE metadata RESULT_VARIABLE result)
  if(result OR NOT metadata MATCHES "\"manifest_path\":\"([^\"]*/leveldb-sys-[^/\"]*)/Cargo.toml\"")
    message(FATAL_ERROR "cargo could not get the crate leveldb-sys, whose LevelDB the tests are "
      "taken from. Name another copy of LevelDB's sources with -DLEVELDB_SOURCE_DIR=PATH.")
  endif()
  file(GLOB LEVELDB_SOURCE_DIR "${CMAKE_MATCH_1}/deps/leveldb-*")
endif()
if(NOT EXISTS "${LEVELDB_SOURCE_DIR}/util/bloom_test.cc")
  message(FATAL_ERROR "LEVELDB_SOURCE_DIR: no LevelDB sources in '${LEVELDB_SOURCE_DIR}'")
endif()
message(STATUS "LevelDB: ${LEVELDB_SOURCE_DIR}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "${ARGN}: ${result}")
  endif()
endfunction()

cmake_host_system_information(RESULT jobs QUERY NUMBER_OF_LOGICAL_CORES)
run("${CMAKE_COMMAND}" -S "${PROJECT_DIR}" -B "${WORK_DIR}" ${OPTIONS}
  "-DLEVELDB_SOURCE_DIR=${LEVELDB_SOURCE_DIR}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}" --parallel ${jobs})

# LevelDB's library has our file and not the one it stands for.
file(GLOB_RECURSE archive "${WORK_DIR}/leveldb/libleveldb.a")
execute_process(COMMAND "${AR}" t "${archive}" OUTPUT_VARIABLE members RESULT_VARIABLE result)
if(result OR NOT members MATCHES "(^|\n)leveldb_bloom_policy\\.cc\\.o\n"
    OR members MATCHES "(^|\n)bloom\\.cc\\.o\n")
  message(FATAL_ERROR "not the objects that libleveldb.a should have:\n${members}")
endif()
