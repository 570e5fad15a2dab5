# LEVELDB_SOURCE_DIR: LevelDB's sources, as the crate leveldb-sys carries them, where cargo unpacked
# them.

set(leveldb_sys 2.0.9)
set(manifest "${CMAKE_CURRENT_BINARY_DIR}/leveldb_source")
file(WRITE "${manifest}/lib.rs" "")
file(WRITE "${manifest}/Cargo.toml" "[package]
name = \"leveldb-source\"
version = \"0.0.0\"

[lib]
path = \"lib.rs\"

[dependencies]
leveldb-sys = { version = \"=${leveldb_sys}\", default-features = false }

[workspace]
")
find_program(ROUTES_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" REQUIRED)
execute_process(COMMAND "${ROUTES_CARGO}" metadata --format-version 1
  WORKING_DIRECTORY "${manifest}" OUTPUT_VARIABLE metadata RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR
    NOT metadata MATCHES "\"manifest_path\":\"([^\"]*leveldb-sys-${leveldb_sys})/")
  message(FATAL_ERROR "cargo cannot get leveldb-sys ${leveldb_sys}. Name a folder with LevelDB's "
    "sources with -DLEVELDB_SOURCE_DIR=PATH.")
endif()
set(LEVELDB_SOURCE_DIR "${CMAKE_MATCH_1}/deps/leveldb-1.22")
