# The LevelDBs that programs run on, beside Debian's.

# leveldb_host(NAME CMAKE_OPTION...): LevelDB's sources built as a shared library, linked as
# routes_NAME_host. Without Snappy, whose functions take a std::string too.
function(leveldb_host name)
  set(build_dir "${CMAKE_CURRENT_BINARY_DIR}/${name}_host")
  ExternalProject_Add(routes_${name}_host_build
    SOURCE_DIR "${LEVELDB_SOURCE_DIR}"
    PREFIX "${build_dir}/prefix"
    BINARY_DIR "${build_dir}"
    CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DLEVELDB_BUILD_TESTS=OFF
      -DLEVELDB_BUILD_BENCHMARKS=OFF -DHAVE_SNAPPY=OFF -DHAVE_CRC32C=OFF -DHAVE_TCMALLOC=OFF
      -DHAVE_CLANG_THREAD_SAFETY=OFF ${ARGN}
    BUILD_COMMAND "${CMAKE_COMMAND}" --build . --target leveldb --parallel 2
    INSTALL_COMMAND ""
    BUILD_BYPRODUCTS "${build_dir}/libleveldb.so")
  add_library(routes_${name}_host SHARED IMPORTED)
  set_target_properties(routes_${name}_host PROPERTIES
    IMPORTED_LOCATION "${build_dir}/libleveldb.so")
  add_dependencies(routes_${name}_host routes_${name}_host_build)
endfunction()
leveldb_host(libcxx "-DCMAKE_C_COMPILER=${ROUTES_CLANG}" "-DCMAKE_CXX_COMPILER=${ROUTES_CLANGXX}"
  -DCMAKE_CXX_FLAGS=-stdlib=libc++)
# Without a PLT, calls are bound by another table of relocations.
leveldb_host(lto "-DCMAKE_CXX_COMPILER=${ROUTES_GXX}"
  "-DCMAKE_CXX_FLAGS=-flto=auto -fno-plt -Wno-alloc-size-larger-than")

# As C++20, whose strings have no members but inline ones, and hidden: a program with it shows nothing
# of LevelDB and imports no member of its string. In these sources a name is written as C++17 has it.
file(GLOB sources CONFIGURE_DEPENDS "${LEVELDB_SOURCE_DIR}/db/*.cc" "${LEVELDB_SOURCE_DIR}/table/*.cc"
  "${LEVELDB_SOURCE_DIR}/util/*.cc")
list(FILTER sources EXCLUDE REGEX "test|db_bench|fault_injection|leveldbutil|windows")
add_library(routes_cxx20_host STATIC ${sources})
target_include_directories(routes_cxx20_host PRIVATE "${LEVELDB_SOURCE_DIR}"
  "${LEVELDB_SOURCE_DIR}/include")
target_compile_options(routes_cxx20_host PRIVATE -w)
target_compile_definitions(routes_cxx20_host PRIVATE LEVELDB_PLATFORM_POSIX=1 LEVELDB_IS_BIG_ENDIAN=0
  HAVE_FDATASYNC=1 HAVE_CRC32C=0 HAVE_SNAPPY=0 memory_order_relaxed=relaxed)
part(workload_cxx20 workload.cc)
set_target_properties(routes_cxx20_host routes_workload_cxx20 PROPERTIES CXX_STANDARD 20
  CXX_VISIBILITY_PRESET hidden)
program(cxx20 CXX PARTS workload_cxx20 LINK leveldb_bloom::shared routes_cxx20_host -lpthread)
program(cxx20_control CXX PARTS workload_cxx20 LINK routes_cxx20_host -lpthread)

# A host that nobody recognises, and one that has a C API at least. Its calls must be able to reach
# an earlier definition, which clang would optimise away.
foreach(host bare create linked alone with_archive)
  add_library(routes_fake_${host} SHARED fake_host.cc)
  target_compile_options(routes_fake_${host} PRIVATE -Wall -Wextra -Werror -fno-rtti
    -fsemantic-interposition)
  set_target_properties(routes_fake_${host} PROPERTIES CXX_STANDARD 17)
endforeach()
target_compile_definitions(routes_fake_create PRIVATE WITH_CREATE)
# A library that is linked with it, and calls policies with its string.
target_compile_definitions(routes_fake_linked PRIVATE WITHOUT_HOST WITH_ANOTHER_STRING)
target_link_libraries(routes_fake_linked PRIVATE routes_fake_create)
# One that is linked with no LevelDB at all.
target_compile_definitions(routes_fake_alone PRIVATE WITHOUT_HOST)
target_link_libraries(routes_fake_alone PRIVATE leveldb_bloom::shared)
# One whose bloom policy is that of our archive.
target_compile_definitions(routes_fake_with_archive
  PRIVATE WITHOUT_HOST WITH_CREATE WITH_ANOTHER_STRING)
target_link_libraries(routes_fake_with_archive PRIVATE leveldb_bloom::static)

# From the registries, when the tests run.
set(wheel "${CMAKE_CURRENT_BINARY_DIR}/wheel")
set(npm "${CMAKE_CURRENT_BINARY_DIR}/npm")
foreach(kind wheel npm)
  add_test(NAME routes.fetch.${kind}
    COMMAND "${ROUTES_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/fetch.py" ${kind} "${${kind}}")
  set_tests_properties(routes.fetch.${kind} PROPERTIES LABELS routes FIXTURES_SETUP routes_${kind}
    TIMEOUT 300)
endforeach()
set(wheel_host "${wheel}/plyvel.libs/libleveldb.so")
# The wheel's LevelDB finds its Snappy only when the wheel's Python module loads it.
set(wheel_environment "LD_LIBRARY_PATH=${wheel}/plyvel.libs")
