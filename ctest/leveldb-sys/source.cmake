# LEVELDB_SOURCE_DIR: LevelDB's sources, unless it says where they are: those that the crate
# leveldb-sys carries, where cargo (CARGO) has unpacked it.

if(NOT LEVELDB_SOURCE_DIR)
  execute_process(
    COMMAND "${CARGO}" metadata --locked --format-version 1
      --manifest-path "${CMAKE_CURRENT_LIST_DIR}/Cargo.toml"
    OUTPUT_VARIABLE metadata RESULT_VARIABLE result)
  if(result OR NOT metadata MATCHES "\"manifest_path\":\"([^\"]*/leveldb-sys-[^/\"]*)/Cargo.toml\"")
    message(FATAL_ERROR "cargo could not get the crate leveldb-sys, whose LevelDB the tests build. "
      "Name another copy of LevelDB's sources with -DLEVELDB_SOURCE_DIR=PATH.")
  endif()
  file(GLOB LEVELDB_SOURCE_DIR "${CMAKE_MATCH_1}/deps/leveldb-*")
endif()
if(NOT EXISTS "${LEVELDB_SOURCE_DIR}/util/bloom_test.cc")
  message(FATAL_ERROR "LEVELDB_SOURCE_DIR: no LevelDB sources in '${LEVELDB_SOURCE_DIR}'")
endif()
