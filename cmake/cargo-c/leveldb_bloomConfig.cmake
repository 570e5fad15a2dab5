# find_package(leveldb_bloom CONFIG [COMPONENTS shared static override source]), where `cargo
# cinstall` has installed. `cmake --install` makes its own of ../leveldb_bloomConfig.cmake.in.

include("${CMAKE_CURRENT_LIST_DIR}/leveldb_bloomConfigVersion.cmake")
string(REGEX MATCH "^[0-9]+" leveldb_bloom_soversion "${leveldb_bloom_version}")
set(leveldb_bloom_scope)
include("${CMAKE_CURRENT_LIST_DIR}/leveldb_bloomComponents.cmake")
