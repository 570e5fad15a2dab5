# `cpack`: libleveldb-bloom1, what programs need to run, and libleveldb-bloom-dev, what one needs to
# build them; with LEVELDB_BLOOM_COMMAND, leveldb-bloom as well, the command. Configured with the prefix /usr, which is where packages belong, and the only one for
# which CMake knows Debian's library directories.

# Who builds the packages says so in DEBFULLNAME and DEBEMAIL, Debian's own variables.
set(maintainer_name "The leveldb-bloom maintainers")
set(maintainer_mail "maintainers@leveldb-bloom.invalid")
if(DEFINED ENV{DEBFULLNAME})
  set(maintainer_name "$ENV{DEBFULLNAME}")
endif()
if(DEFINED ENV{DEBEMAIL})
  set(maintainer_mail "$ENV{DEBEMAIL}")
endif()

set(runtime_package libleveldb-bloom${PROJECT_VERSION_MAJOR})
set(development_package libleveldb-bloom-dev)
set(debian_release 1)
set(command_package leveldb-bloom)
set(components runtime development)
if(LEVELDB_BLOOM_COMMAND)
  list(APPEND components command)
endif()
set(debian_dir "${PROJECT_BINARY_DIR}/debian")

# The copyright file in Debian's format: the licence's paragraphs indented, empty lines as dots.
file(READ LICENSE license)
string(REGEX MATCH "^Copyright ([^\n]+)\n" license_owner "${license}")
set(license_owner "${CMAKE_MATCH_1}")
string(REGEX REPLACE "^Copyright [^\n]+\n+" "" license "${license}")
string(REGEX REPLACE "\n+$" "" license "${license}")
string(REPLACE "\n\n" "\n.\n" license "${license}")
string(REPLACE "\n" "\n " license "${license}")
file(WRITE "${debian_dir}/copyright"
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: leveldb-bloom

Files: *
Copyright: ${license_owner}
License: BSD-3-Clause
 ${license}
Comment: The libraries contain what they use of Rust's own core library and of
 the crate libc, both by the Rust project's developers, MIT or Apache-2.0.
")

# The changelog of the packages; that of the sources is CHANGELOG.md. Its date is the sources' and not
# today's: dpkg installs the packages of two architectures side by side only if the files that both have are
# the same. (git gives the files of an archive the time of their commit.)
set(source_date "$ENV{SOURCE_DATE_EPOCH}")
if(source_date STREQUAL "" AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(COMMAND git -c "safe.directory=${PROJECT_SOURCE_DIR}" log -1 --format=%ct
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE source_date ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT source_date MATCHES "^[0-9]+$")
  file(TIMESTAMP CHANGELOG.md source_date "%s" UTC)
endif()
set(environment_date "$ENV{SOURCE_DATE_EPOCH}")
set(ENV{SOURCE_DATE_EPOCH} "${source_date}")
string(TIMESTAMP release_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(ENV{SOURCE_DATE_EPOCH} "${environment_date}")
file(WRITE "${debian_dir}/changelog"
"leveldb-bloom (${PROJECT_VERSION}-${debian_release}) unstable; urgency=medium

  * Packaged by CPack.

 -- ${maintainer_name} <${maintainer_mail}>  ${release_date}
")

# Every symbol has been there since the first version.
file(STRINGS ctest/symbols.txt symbols)
list(TRANSFORM symbols PREPEND " ")
list(TRANSFORM symbols APPEND "@Base 1.0.0\n")
string(JOIN "" symbols ${symbols})
file(WRITE "${debian_dir}/symbols"
  "libleveldb_bloom.so.${PROJECT_VERSION_MAJOR} ${runtime_package} #MINVER#\n"
  "* Build-Depends-Package: ${development_package}\n${symbols}")

file(WRITE "${debian_dir}/shlibs"
  "libleveldb_bloom ${PROJECT_VERSION_MAJOR} ${runtime_package} (>= 1.0.0)\n")

# Debian wants both changelogs compressed, and the same bytes every time.
find_program(GZIP_PROGRAM gzip REQUIRED)
foreach(pair "${debian_dir}/changelog:changelog.Debian.gz"
    "${PROJECT_SOURCE_DIR}/CHANGELOG.md:changelog.gz")
  string(REGEX MATCH "^(.*):(.*)$" pair "${pair}")
  execute_process(COMMAND "${GZIP_PROGRAM}" --best --no-name --stdout "${CMAKE_MATCH_1}"
    OUTPUT_FILE "${debian_dir}/${CMAKE_MATCH_2}" RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "${GZIP_PROGRAM}: ${result}")
  endif()
endforeach()
foreach(component ${components})
  install(FILES "${debian_dir}/copyright" "${debian_dir}/changelog.Debian.gz"
    "${debian_dir}/changelog.gz"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${${component}_package}" COMPONENT ${component}
    EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
# As they are: a name may have quotes in it.
set(CPACK_VERBATIM_VARIABLES TRUE)
set(CPACK_PACKAGE_NAME leveldb-bloom)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)
# Since CMake 3.19; before, `umask 022` does it.
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/modes.cmake")
set(CPACK_COMPONENTS_ALL ${components})

# Empty: each package's description begins with its own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${debian_release})
set(CPACK_DEBIAN_PACKAGE_SOURCE leveldb-bloom)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${maintainer_name} <${maintainer_mail}>")
# CMake knows it since 3.31.
set(CPACK_DEBIAN_PACKAGE_MULTIARCH same)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(about
"A filter made by LevelDB is read by this library and the other way round.
Linked or preloaded in front of LevelDB it takes the place of LevelDB's own
bloom filter; its other functions need no database.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtime_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "LevelDB's bloom filter as a library of its own\n${about}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${debian_dir}/shlibs;${debian_dir}/symbols")
# The trigger is Debian's way to have ldconfig run. From 4.4 on CPack writes it itself, and makes one that
# it is given executable; before, its own scripts come along all the same.
if(CMAKE_VERSION VERSION_LESS 4.4)
  file(WRITE "${debian_dir}/triggers" "activate-noawait ldconfig\n")
  list(APPEND CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${debian_dir}/triggers")
endif()

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME ${development_package})
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
  "LevelDB's bloom filter as a library of its own (development files)\n${about}
.
Header, static library, CMake package and pkg-config file.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${runtime_package} (= ${PROJECT_VERSION}-${debian_release})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS libleveldb-dev)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME ${command_package})
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION database)
set(CPACK_DEBIAN_COMMAND_DESCRIPTION
"what the bloom filters of a LevelDB database hold and cost
Shows, verifies and dumps databases of LevelDB's format, also beside a running
program, and advises on their filters. It only reads.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)

include(CPack)
