# cmake -DBUILD_DIR=... -DINSTALLED_DIR=... -DVERSION=... -DSOVERSION=... -DLIBDIR=... -DNM=...
# -P install.cmake: installs to somewhere and moves it. Then each component by itself, stripped.
cmake_minimum_required(VERSION 3.16)

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

# The files in a folder, and links to files.
function(list_files output folder)
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE "${folder}" "${folder}/*")
  list(SORT files)
  set(${output} "${files}" PARENT_SCOPE)
endfunction()

set(stage "${INSTALLED_DIR}-stage")
file(REMOVE_RECURSE "${stage}" "${INSTALLED_DIR}")
set(ENV{DESTDIR} "${stage}")
run(ignored "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix /opt/leveldb_bloom)
file(RENAME "${stage}/opt/leveldb_bloom" "${INSTALLED_DIR}")

list_files(files "${INSTALLED_DIR}")
foreach(wanted leveldb_bloom.h leveldb_bloom.cdef.h leveldb_bloom_policy.cc libleveldb_bloom.so libleveldb_bloom.a
    leveldb_bloomConfig.cmake leveldb_bloomConfigVersion.cmake leveldb_bloom.pc LICENSE)
  if(NOT "/${files};" MATCHES "/${wanted};")
    message(SEND_ERROR "not installed: ${wanted}")
  endif()
endforeach()

# Whoever did not ask for it has the libraries as they were built.
set(shared "${LIBDIR}/libleveldb_bloom.so.${VERSION}")
set(archive "${LIBDIR}/libleveldb_bloom.a")
foreach(library "${shared}" "${archive}")
  get_filename_component(name "${library}" NAME)
  execute_process(RESULT_VARIABLE result COMMAND "${CMAKE_COMMAND}" -E compare_files
    "${BUILD_DIR}/lib/${name}" "${INSTALLED_DIR}/${library}")
  if(result)
    message(SEND_ERROR "not as it was built: ${library}")
  endif()
endforeach()

# What find_package makes of a later version of the same major one, where an earlier is asked for.
set(rules "${LIBDIR}/cmake/leveldb_bloom/leveldb_bloomConfigVersion.cmake")
file(READ "${INSTALLED_DIR}/${rules}" text)
set(later "${SOVERSION}.999.0")
string(REPLACE "\"${VERSION}\"" "\"${later}\"" text "${text}")
file(WRITE "${stage}/rules.cmake" "${text}")
set(PACKAGE_FIND_VERSION ${VERSION})
set(PACKAGE_FIND_VERSION_MAJOR ${SOVERSION})
set(PACKAGE_FIND_VERSION_COUNT 3)
include("${stage}/rules.cmake")
if(NOT PACKAGE_VERSION STREQUAL later OR NOT PACKAGE_VERSION_COMPATIBLE)
  message(SEND_ERROR "${PACKAGE_VERSION} is not taken for ${VERSION}")
endif()

# What programs get from the .pc file of the copy that was moved. That a program links wholly static shows
# nothing of what the archive needs from glibc 2.34 on, which has that of itself.
find_program(PKG_CONFIG pkg-config)
if(NOT PKG_CONFIG)
  message(FATAL_ERROR "pkg-config is not installed")
endif()
set(ENV{PKG_CONFIG_PATH} "${INSTALLED_DIR}/${LIBDIR}/pkgconfig")
run(said "${PKG_CONFIG}" --modversion leveldb_bloom)
if(NOT said STREQUAL VERSION)
  message(SEND_ERROR "pkg-config has version '${said}' and not ${VERSION}")
endif()
run(said "${PKG_CONFIG}" --static --libs leveldb_bloom)
if(NOT said MATCHES "-lleveldb_bloom -lpthread -ldl *$")
  message(SEND_ERROR "pkg-config links the archive with '${said}'")
endif()
run(said "${PKG_CONFIG}" --variable=prefix leveldb_bloom)
get_filename_component(said "${said}" REALPATH)
get_filename_component(expected "${INSTALLED_DIR}" REALPATH)
if(NOT said STREQUAL expected)
  message(SEND_ERROR "pkg-config has the prefix '${said}' and not ${expected}")
endif()

# The components, stripped: one below DESTDIR, and one without it. Programs run with the first alone; no
# file is in both, which two packages could not have, and only the licence in neither.
file(REMOVE_RECURSE "${stage}")
run(ignored "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix /opt/leveldb_bloom --strip
  --component runtime)
file(RENAME "${stage}/opt/leveldb_bloom" "${stage}/runtime")
unset(ENV{DESTDIR})
run(ignored "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${stage}/development" --strip
  --component development)
list_files(runtime "${stage}/runtime")
list_files(development "${stage}/development")
if(NOT runtime STREQUAL "${LIBDIR}/libleveldb_bloom.so.${SOVERSION};${shared}")
  message(SEND_ERROR "the component runtime is: ${runtime}")
endif()
set(rest ${files})
list(REMOVE_ITEM rest ${runtime})
list(FILTER rest EXCLUDE REGEX "/LICENSE$")
if(NOT development STREQUAL rest)
  message(SEND_ERROR "the component development is: ${development}\nand not: ${rest}")
endif()

# Of the shared library nothing is left but what the loader needs, and of the archive all that a program
# can link.
run(symbols "${NM}" "${stage}/runtime/${shared}")
if(symbols)
  message(SEND_ERROR "--strip left symbols in the shared library")
endif()
foreach(options "--dynamic;--defined-only" "--dynamic;--undefined-only")
  run(before "${NM}" ${options} --format=posix "${BUILD_DIR}/lib/libleveldb_bloom.so")
  run(after "${NM}" ${options} --format=posix "${stage}/runtime/${shared}")
  if(NOT before OR NOT after STREQUAL before)
    message(SEND_ERROR "--strip changed what the shared library shows the loader (nm ${options})")
  endif()
endforeach()
run(before "${NM}" --extern-only --format=just-symbols "${BUILD_DIR}/lib/libleveldb_bloom.a")
run(after "${NM}" --extern-only --format=just-symbols "${stage}/development/${archive}")
if(NOT before MATCHES "leveldb_filterpolicy_create_bloom" OR NOT after STREQUAL before)
  message(SEND_ERROR "--strip changed the symbols of the archive")
endif()
file(STRINGS "${BUILD_DIR}/lib/libleveldb_bloom.a" before LIMIT_COUNT 1 REGEX "\\.debug_info")
file(STRINGS "${stage}/development/${archive}" after LIMIT_COUNT 1 REGEX "\\.debug_info")
if(NOT before)
  message(SEND_ERROR "the archive has no debug information that --strip could remove")
endif()
if(after)
  message(SEND_ERROR "--strip left debug information in the archive")
endif()
