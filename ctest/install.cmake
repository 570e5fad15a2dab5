# cmake -DBUILD_DIR=... -DINSTALLED_DIR=... -P install.cmake: installs to somewhere and moves it.
cmake_minimum_required(VERSION 3.16)

set(stage "${INSTALLED_DIR}-stage")
file(REMOVE_RECURSE "${stage}" "${INSTALLED_DIR}")
set(ENV{DESTDIR} "${stage}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix /opt/leveldb_bloom
  RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "cmake --install failed: ${result}")
endif()
file(RENAME "${stage}/opt/leveldb_bloom" "${INSTALLED_DIR}")

file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE "${INSTALLED_DIR}" "${INSTALLED_DIR}/*")
foreach(wanted leveldb_bloom.h leveldb_bloom.cdef.h leveldb_bloom_policy.cc libleveldb_bloom.so libleveldb_bloom.a
    leveldb_bloomConfig.cmake leveldb_bloomConfigVersion.cmake leveldb_bloom.pc LICENSE)
  if(NOT "/${files};" MATCHES "/${wanted};")
    message(SEND_ERROR "not installed: ${wanted}")
  endif()
endforeach()
