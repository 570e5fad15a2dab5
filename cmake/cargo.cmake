# leveldb_bloom_libraries: has cargo build both C libraries and puts them into lib/ of the build
# tree, under the names they are installed with.

# PATH first, as the user has put it.
find_program(LEVELDB_BLOOM_CARGO cargo PATHS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin"
  DOC "The cargo that builds leveldb_bloom")
if(NOT LEVELDB_BLOOM_CARGO)
  message(FATAL_ERROR "leveldb_bloom is written in Rust and needs cargo to build. Install it "
    "(https://rustup.rs) or name it with -DLEVELDB_BLOOM_CARGO=/path/to/cargo.")
endif()

if(CMAKE_CROSSCOMPILING)
  message(FATAL_ERROR "leveldb_bloom's CMake build is for the machine it runs on. For another one, "
    "build capi/shared or capi/static with cargo build --target.")
endif()

execute_process(COMMAND "${LEVELDB_BLOOM_CARGO}" --version --verbose
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE cargo_version RESULT_VARIABLE cargo_result)
if(cargo_result)
  message(FATAL_ERROR "${LEVELDB_BLOOM_CARGO} --version --verbose: ${cargo_result}. Name another "
    "cargo with -DLEVELDB_BLOOM_CARGO=/path/to/cargo.")
endif()
file(STRINGS Cargo.toml rust_version REGEX "^rust-version = ")
string(REGEX REPLACE "[^0-9.]" "" rust_version "${rust_version}")
if(cargo_version MATCHES "^cargo ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_LESS rust_version)
  message(FATAL_ERROR "leveldb_bloom needs Rust ${rust_version} or later, and ${LEVELDB_BLOOM_CARGO} "
    "is of ${CMAKE_MATCH_1}. Install a newer one (https://rustup.rs) or name it with "
    "-DLEVELDB_BLOOM_CARGO=/path/to/cargo.")
endif()
if(NOT cargo_version MATCHES "\nhost: ([^\n]+)\n")
  message(FATAL_ERROR "${LEVELDB_BLOOM_CARGO} --version --verbose does not say its host")
endif()
set(cargo_host "${CMAKE_MATCH_1}")

# A compiler or a flag such as -m32 may be for another machine, and CMake does not call that
# cross-compiling.
set(cargo_pointer 4)
if(cargo_host MATCHES "^([^-]*64|s390x)" AND NOT cargo_host MATCHES "(x32|ilp32|abin32)$")
  set(cargo_pointer 8)
endif()
if(CMAKE_SIZEOF_VOID_P AND NOT CMAKE_SIZEOF_VOID_P EQUAL cargo_pointer)
  message(FATAL_ERROR "leveldb_bloom's CMake build is for the machine it runs on: cargo builds for "
    "${cargo_host}, with pointers of ${cargo_pointer} bytes, and ${CMAKE_C_COMPILER} with its flags "
    "has pointers of ${CMAKE_SIZEOF_VOID_P}. For another machine, build capi/shared or capi/static "
    "with cargo build --target.")
endif()
# Where CMake knows the compiler's machine, it is by Debian's names.
set(machines "${CMAKE_C_LIBRARY_ARCHITECTURE}" "${cargo_host}")
list(TRANSFORM machines REPLACE "-.*" "")
list(TRANSFORM machines REPLACE "^i[3-6]86$" "i686")
list(TRANSFORM machines REPLACE "^(arm|riscv64).*" "\\1")
if(CMAKE_C_LIBRARY_ARCHITECTURE AND NOT CMAKE_C_LIBRARY_ARCHITECTURE MATCHES "x32$")
  list(GET machines 0 c_machine)
  list(GET machines 1 rust_machine)
  if(NOT c_machine STREQUAL rust_machine)
    message(FATAL_ERROR "leveldb_bloom's CMake build is for the machine it runs on: cargo builds for "
      "${cargo_host}, and ${CMAKE_C_COMPILER} with its flags for ${CMAKE_C_LIBRARY_ARCHITECTURE}. For "
      "another machine, build capi/shared or capi/static with cargo build --target.")
  endif()
endif()

set(cargo_dir "${PROJECT_BINARY_DIR}/cargo")
set(cargo_libraries "${cargo_dir}/${cargo_host}/release")
set(lib_dir "${PROJECT_BINARY_DIR}/lib")
set(shared_name "libleveldb_bloom.so.${PROJECT_VERSION}")
set(soname "libleveldb_bloom.so.${PROJECT_VERSION_MAJOR}")
file(MAKE_DIRECTORY "${lib_dir}")

# The user's configuration of cargo may have panics unwind, which needs the standard library.
set(cargo_environment "CARGO_TARGET_DIR=${cargo_dir}" CARGO_PROFILE_RELEASE_PANIC=abort)

# Rust links and compiles C with the cc in PATH, unless it is told of another: where there is none, of
# CMake's compiler.
string(TOUPPER "CARGO_TARGET_${cargo_host}_LINKER" cargo_linker)
string(REPLACE "-" "_" cargo_linker "${cargo_linker}")
find_program(LEVELDB_BLOOM_CC cc NO_DEFAULT_PATH PATHS ENV PATH
  DOC "What Rust links leveldb_bloom with, and compiles its C, where it is told of no other")
mark_as_advanced(LEVELDB_BLOOM_CC)
if(NOT LEVELDB_BLOOM_CC)
  foreach(name CC ${cargo_linker})
    if(NOT DEFINED ENV{${name}})
      list(APPEND cargo_environment "${name}=${CMAKE_C_COMPILER}")
    endif()
  endforeach()
endif()

# A target rather than a command with dependencies: cargo knows best what has changed, and says so
# at once when nothing has. The target is named because the user's configuration of cargo may name
# another, by which cargo builds for that machine, and into a directory of its name.
add_custom_target(leveldb_bloom_libraries ALL
  COMMAND "${CMAKE_COMMAND}" -E env ${cargo_environment}
    "${LEVELDB_BLOOM_CARGO}" build --release --locked --target ${cargo_host}
    -p leveldb-bloom-shared -p leveldb-bloom-static
  COMMAND "${CMAKE_COMMAND}" -E copy_if_different
    "${cargo_libraries}/libleveldb_bloom.so" "${lib_dir}/${shared_name}"
  COMMAND "${CMAKE_COMMAND}" -E copy_if_different
    "${cargo_libraries}/libleveldb_bloom.a" "${lib_dir}/libleveldb_bloom.a"
  COMMAND "${CMAKE_COMMAND}" -E create_symlink ${shared_name} "${lib_dir}/${soname}"
  COMMAND "${CMAKE_COMMAND}" -E create_symlink ${soname} "${lib_dir}/libleveldb_bloom.so"
  BYPRODUCTS "${lib_dir}/${shared_name}" "${lib_dir}/libleveldb_bloom.a"
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  COMMENT "Building leveldb_bloom with cargo"
  USES_TERMINAL VERBATIM)

# The command, with its man pages and the shells' completions, which it writes itself.
if(LEVELDB_BLOOM_COMMAND)
  set(command_dir "${PROJECT_BINARY_DIR}/command")
  file(MAKE_DIRECTORY "${command_dir}")
  add_custom_target(leveldb_bloom_command ALL
    COMMAND "${CMAKE_COMMAND}" -E env ${cargo_environment} CARGO_PROFILE_RELEASE_STRIP=symbols
      "${LEVELDB_BLOOM_CARGO}" build --release --locked --target ${cargo_host} -p leveldb-bloom-inspector
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${cargo_libraries}/leveldb-bloom" "${command_dir}/leveldb-bloom"
    COMMAND "${command_dir}/leveldb-bloom" man "${command_dir}/man"
    COMMAND find "${command_dir}/man" -name "*.1" -exec gzip -9nf {} +
    COMMAND "${command_dir}/leveldb-bloom" completions bash > "${command_dir}/leveldb-bloom.bash"
    COMMAND "${command_dir}/leveldb-bloom" completions zsh > "${command_dir}/_leveldb-bloom"
    COMMAND "${command_dir}/leveldb-bloom" completions fish > "${command_dir}/leveldb-bloom.fish"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Building the command leveldb-bloom with cargo"
    USES_TERMINAL VERBATIM)
endif()
