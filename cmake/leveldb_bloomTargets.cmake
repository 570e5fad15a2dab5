# The imported targets, for the build tree and for an installed copy alike. Whoever includes this
# file says where things are:
#
#   leveldb_bloom_libdir, leveldb_bloom_includedir, and on Windows leveldb_bloom_bindir
#   leveldb_bloom_version, leveldb_bloom_soversion
#   leveldb_bloom_scope       GLOBAL or empty
#
# leveldb_bloom::shared, leveldb_bloom::static
#     The two libraries.
# leveldb_bloom::leveldb_bloom
#     One of them: the static one if BUILD_SHARED_LIBS is set and false.
# leveldb_bloom::override
#     The same one, linked in front of everything, so that it and not LevelDB defines
#     leveldb_filterpolicy_create_bloom and leveldb::NewBloomFilterPolicy. For the executable;
#     where it stands in target_link_libraries does not matter. (From behind a static library's PRIVATE
#     it gets there only where policy CMP0099 is NEW, which is with cmake_minimum_required(VERSION 3.17).)
#     On Linux alone; other systems' libraries have none of LevelDB's names.
# leveldb_bloom::source
#     leveldb_bloom_policy.cc, to compile into a LevelDB that leaves out util/bloom.cc. Link it
#     PRIVATE: everything that it is linked to compiles the file. LevelDB's own CMakeLists.txt
#     links without such keywords, which then nobody else may use; ctest/originals in our
#     sources shows what to write there.

if(TARGET leveldb_bloom::leveldb_bloom)
  return()
endif()

# How each system names a shared library of a version, and what programs remember of it.
set(_leveldb_bloom_shared "${leveldb_bloom_libdir}/libleveldb_bloom.so.${leveldb_bloom_version}")
set(_leveldb_bloom_soname "libleveldb_bloom.so.${leveldb_bloom_soversion}")
if(WIN32)
  set(_leveldb_bloom_shared "${leveldb_bloom_bindir}/leveldb_bloom.dll")
elseif(APPLE)
  set(_leveldb_bloom_shared "${leveldb_bloom_libdir}/libleveldb_bloom.${leveldb_bloom_version}.dylib")
  set(_leveldb_bloom_soname "@rpath/libleveldb_bloom.${leveldb_bloom_soversion}.dylib")
elseif(ANDROID)
  set(_leveldb_bloom_shared "${leveldb_bloom_libdir}/libleveldb_bloom.so")
  set(_leveldb_bloom_soname "libleveldb_bloom.so")
endif()
set(_leveldb_bloom_a "${leveldb_bloom_libdir}/libleveldb_bloom.a")

# With and without a configuration: who maps theirs to Release (CMAKE_MAP_IMPORTED_CONFIG_DEBUG, say)
# would find neither.
add_library(leveldb_bloom::shared SHARED IMPORTED ${leveldb_bloom_scope})
set_target_properties(leveldb_bloom::shared PROPERTIES
  LEVELDB_BLOOM_VERSION "${leveldb_bloom_version}"
  IMPORTED_CONFIGURATIONS RELEASE
  IMPORTED_LOCATION "${_leveldb_bloom_shared}"
  IMPORTED_LOCATION_RELEASE "${_leveldb_bloom_shared}"
  INTERFACE_INCLUDE_DIRECTORIES "${leveldb_bloom_includedir}")
if(WIN32)
  set_target_properties(leveldb_bloom::shared PROPERTIES
    IMPORTED_IMPLIB "${leveldb_bloom_libdir}/libleveldb_bloom.dll.a"
    IMPORTED_IMPLIB_RELEASE "${leveldb_bloom_libdir}/libleveldb_bloom.dll.a")
else()
  set_target_properties(leveldb_bloom::shared PROPERTIES
    IMPORTED_SONAME "${_leveldb_bloom_soname}"
    IMPORTED_SONAME_RELEASE "${_leveldb_bloom_soname}")
endif()

add_library(leveldb_bloom::static STATIC IMPORTED ${leveldb_bloom_scope})
set_target_properties(leveldb_bloom::static PROPERTIES
  IMPORTED_CONFIGURATIONS RELEASE
  IMPORTED_LOCATION "${_leveldb_bloom_a}"
  IMPORTED_LOCATION_RELEASE "${_leveldb_bloom_a}"
  IMPORTED_LINK_INTERFACE_LANGUAGES C
  IMPORTED_LINK_INTERFACE_LANGUAGES_RELEASE C
  INTERFACE_INCLUDE_DIRECTORIES "${leveldb_bloom_includedir}")
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # Not Threads::Threads, which is only known in the directories that looked for it.
  set_property(TARGET leveldb_bloom::static PROPERTY
    INTERFACE_LINK_LIBRARIES "-lpthread;${CMAKE_DL_LIBS}")
endif()

# CMake writes link options in front of all objects and libraries. One option each, because CMake
# removes repeated ones, and the path in quotes, because it may have a comma or a space in it. The first
# definition on the line counts; --no-as-needed keeps the library although nothing has asked for it
# yet, and -u does the same for the archive. mold takes a definition of another archive all the same,
# because ours are weak, unless it is told to take all of ours: a megabyte, for mold alone.
get_property(_leveldb_bloom_options DIRECTORY PROPERTY LINK_OPTIONS)
set(_leveldb_bloom_linker
  "${CMAKE_LINKER_TYPE} ${CMAKE_EXE_LINKER_FLAGS} ${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS} ${_leveldb_bloom_options}")
if(NOT DEFINED BUILD_SHARED_LIBS OR BUILD_SHARED_LIBS)
  set(_leveldb_bloom_kind shared)
  set(_leveldb_bloom_first
    "SHELL:LINKER:--push-state,--no-as-needed \"$<TARGET_FILE:leveldb_bloom::shared>\" LINKER:--pop-state")
elseif(_leveldb_bloom_linker MATCHES "MOLD|=mold")
  set(_leveldb_bloom_kind static)
  set(_leveldb_bloom_first
    "SHELL:LINKER:--whole-archive \"$<TARGET_FILE:leveldb_bloom::static>\" LINKER:--no-whole-archive")
else()
  set(_leveldb_bloom_kind static)
  set(_leveldb_bloom_first
    "SHELL:LINKER:-u,_ZN7leveldb20NewBloomFilterPolicyEi \"$<TARGET_FILE:leveldb_bloom::static>\"")
endif()

add_library(leveldb_bloom::leveldb_bloom INTERFACE IMPORTED ${leveldb_bloom_scope})
set_target_properties(leveldb_bloom::leveldb_bloom PROPERTIES
  INTERFACE_LINK_LIBRARIES leveldb_bloom::${_leveldb_bloom_kind})

# The library is named again among the libraries: from there come the run path, the include
# directory and the order of the build.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_library(leveldb_bloom::override INTERFACE IMPORTED ${leveldb_bloom_scope})
  set_target_properties(leveldb_bloom::override PROPERTIES
    INTERFACE_LINK_OPTIONS "${_leveldb_bloom_first}"
    INTERFACE_LINK_LIBRARIES leveldb_bloom::${_leveldb_bloom_kind})
endif()

add_library(leveldb_bloom::source INTERFACE IMPORTED ${leveldb_bloom_scope})
set_target_properties(leveldb_bloom::source PROPERTIES
  INTERFACE_SOURCES "${leveldb_bloom_includedir}/leveldb_bloom_policy.cc"
  INTERFACE_LINK_LIBRARIES leveldb_bloom::static)

unset(_leveldb_bloom_shared)
unset(_leveldb_bloom_soname)
unset(_leveldb_bloom_a)
unset(_leveldb_bloom_kind)
unset(_leveldb_bloom_linker)
unset(_leveldb_bloom_options)
unset(_leveldb_bloom_first)
