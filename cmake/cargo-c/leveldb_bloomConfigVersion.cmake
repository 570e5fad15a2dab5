# Where `cargo cinstall` has installed: this file is in PREFIX/share/cmake/leveldb_bloom, the only
# place cargo-c has for it, and is copied as it is. leveldb_bloom.pc knows the version, and lies in
# the folder with the libraries.

get_filename_component(leveldb_bloom_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_path(leveldb_bloom_found pkgconfig/leveldb_bloom.pc NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
  PATHS "${leveldb_bloom_prefix}/lib/${CMAKE_LIBRARY_ARCHITECTURE}" "${leveldb_bloom_prefix}/lib"
    "${leveldb_bloom_prefix}/lib64")
set(leveldb_bloom_libdir "${leveldb_bloom_found}")
unset(leveldb_bloom_found CACHE)
set(leveldb_bloom_includedir "${leveldb_bloom_prefix}/include")
file(STRINGS "${leveldb_bloom_libdir}/pkgconfig/leveldb_bloom.pc" leveldb_bloom_version
  REGEX "^Version: ")
string(REPLACE "Version: " "" leveldb_bloom_version "${leveldb_bloom_version}")

# The same rule as in the copy that `cmake --install` installs, from the same source.
include(CMakePackageConfigHelpers)
set(leveldb_bloom_rule "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/leveldb_bloomConfigVersion.cmake")
write_basic_package_version_file("${leveldb_bloom_rule}" VERSION ${leveldb_bloom_version}
  COMPATIBILITY SameMajorVersion)
include("${leveldb_bloom_rule}")
