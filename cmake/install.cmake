# What `cmake --install` puts where.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/leveldb_bloom")
set(generated "${PROJECT_BINARY_DIR}/installed")

# Two components: what programs need to run, and what one needs to build them.
set(shared_dir "${CMAKE_INSTALL_LIBDIR}")
if(WIN32)
  set(shared_dir "${CMAKE_INSTALL_BINDIR}")
endif()
install(FILES ${runtime_files} DESTINATION "${shared_dir}" COMPONENT runtime)
install(FILES ${development_files} DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
# For `cmake --install --strip`; CMake strips only what it has built itself.
set(stripped)
if(NOT WIN32 AND NOT APPLE)
  set(stripped "runtime:${shared_dir}/${shared_name}:--strip-unneeded"
    "development:${CMAKE_INSTALL_LIBDIR}/libleveldb_bloom.a:--strip-debug")
endif()
foreach(triple IN LISTS stripped)
  string(REPLACE ":" ";" triple "${triple}")
  list(GET triple 0 component)
  list(GET triple 1 file)
  list(GET triple 2 how)
  # Relative to the prefix, unless it is a path of its own.
  if(NOT IS_ABSOLUTE "${file}")
    string(PREPEND file "\${CMAKE_INSTALL_PREFIX}/")
  endif()
  install(CODE "if(CMAKE_INSTALL_DO_STRIP)
    execute_process(COMMAND \"${CMAKE_STRIP}\" ${how} --remove-section=.comment
      --enable-deterministic-archives
      \"\$ENV{DESTDIR}${file}\"
      RESULT_VARIABLE result)
    if(result)
      message(FATAL_ERROR \"${CMAKE_STRIP}: \${result}\")
    endif()
  endif()" COMPONENT ${component})
endforeach()
install(FILES include/leveldb_bloom.h include/leveldb_bloom.cdef.h include/leveldb_bloom_policy.h
  include/leveldb_bloom_policy.cc
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
if(LEVELDB_BLOOM_COMMAND)
  install(PROGRAMS "${command_dir}/leveldb-bloom${CMAKE_EXECUTABLE_SUFFIX}" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
  install(DIRECTORY "${command_dir}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT command)
  install(FILES "${command_dir}/leveldb-bloom.bash" RENAME leveldb-bloom
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT command)
  install(FILES "${command_dir}/_leveldb-bloom"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" COMPONENT command)
  install(FILES "${command_dir}/leveldb-bloom.fish"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT command)
endif()
# That of a project that we are a part of is for its own.
set(doc_dir "${CMAKE_INSTALL_DOCDIR}")
if(NOT top_level)
  set(doc_dir "${CMAKE_INSTALL_DATAROOTDIR}/doc/leveldb_bloom")
endif()
install(FILES LICENSE DESTINATION "${doc_dir}" COMPONENT license)

configure_package_config_file(cmake/leveldb_bloomConfig.cmake.in
  "${generated}/leveldb_bloomConfig.cmake"
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${generated}/leveldb_bloomConfigVersion.cmake"
  COMPATIBILITY SameMajorVersion)
install(FILES "${generated}/leveldb_bloomConfig.cmake"
  "${generated}/leveldb_bloomConfigVersion.cmake" cmake/leveldb_bloomComponents.cmake
  cmake/leveldb_bloomTargets.cmake
  DESTINATION "${package_dir}" COMPONENT development)

# The directories as seen from the .pc file, so that the tree can be moved. In /usr pkg-config must
# know them for the system's, which it leaves out: they would be in front of other packages' own.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(pc_prefix "/usr")
  set(pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  set(pc_dir "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
  file(RELATIVE_PATH pc_prefix "${pc_dir}" "${CMAKE_INSTALL_PREFIX}")
  file(RELATIVE_PATH pc_libdir "${pc_dir}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  file(RELATIVE_PATH pc_includedir "${pc_dir}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
  string(PREPEND pc_prefix "\${pcfiledir}/")
  string(PREPEND pc_libdir "\${pcfiledir}/")
  string(PREPEND pc_includedir "\${pcfiledir}/")
endif()
set(pc_private)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(pc_private "-lpthread -ldl")
endif()
configure_file(cmake/leveldb_bloom.pc.in "${generated}/leveldb_bloom.pc" @ONLY)
install(FILES "${generated}/leveldb_bloom.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT development)
