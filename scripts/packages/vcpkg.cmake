# cmake -DPORT_DIR=... -DWORK_DIR=... -P vcpkg.cmake: runs a portfile with stand-ins for the
# functions of vcpkg that it calls. They do less than vcpkg's, and fail where those would.
cmake_minimum_required(VERSION 3.16)

file(READ "${PORT_DIR}/vcpkg.json" manifest)
file(READ "${PORT_DIR}/../../../Cargo.toml" cargo)
string(JSON PORT GET "${manifest}" name)
string(JSON version GET "${manifest}" version)
if(NOT cargo MATCHES "\\[workspace\\.package\\]\nversion = \"${version}\"")
  message(FATAL_ERROR "vcpkg.json has version ${version}, Cargo.toml another")
endif()
set(CURRENT_PACKAGES_DIR "${WORK_DIR}/package")
set(build_dir "${WORK_DIR}/build")
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "${ARGN}: ${result}")
  endif()
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  run("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${build_dir}" -G Ninja
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}"
    -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run("${CMAKE_COMMAND}" --build "${build_dir}")
  run("${CMAKE_COMMAND}" --install "${build_dir}")
endfunction()

# vcpkg moves the package one folder up, and corrects the line that leads back to the prefix.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
  set(installed "${CURRENT_PACKAGES_DIR}/share/${arg_PACKAGE_NAME}")
  file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share")
  file(RENAME "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}" "${installed}")
  file(GLOB config "${installed}/*Config.cmake")
  file(READ "${config}" text)
  string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/../../../" "\${CMAKE_CURRENT_LIST_DIR}/../../" fixed
    "${text}")
  if(fixed STREQUAL text)
    message(FATAL_ERROR "${config}: nothing that leads from lib/cmake/NAME to the prefix")
  endif()
  file(WRITE "${config}" "${fixed}")
endfunction()

function(vcpkg_fixup_pkgconfig)
  file(GLOB found "${CURRENT_PACKAGES_DIR}/lib/pkgconfig/*.pc")
  if(NOT found)
    message(FATAL_ERROR "no .pc file")
  endif()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(INSTALL ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
endfunction()

# As vcpkg does: the portfile's own folder is the current one.
include("${PORT_DIR}/portfile.cmake")
