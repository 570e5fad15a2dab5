# leveldb_bloom_libraries: has cargo build both C libraries and puts them into lib/ of the build
# tree, under the names they are installed with.

# PATH first, as the user has put it.
find_program(LEVELDB_BLOOM_CARGO cargo PATHS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin"
  DOC "The cargo that builds leveldb_bloom")
if(NOT LEVELDB_BLOOM_CARGO)
  message(FATAL_ERROR "leveldb_bloom is written in Rust and needs cargo to build. Install it "
    "(https://rustup.rs) or name it with -DLEVELDB_BLOOM_CARGO=/path/to/cargo.")
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

include("${CMAKE_CURRENT_LIST_DIR}/target.cmake")

set(cargo_dir "${PROJECT_BINARY_DIR}/cargo")
set(cargo_libraries "${cargo_dir}/${cargo_target}/release")
set(lib_dir "${PROJECT_BINARY_DIR}/lib")
file(MAKE_DIRECTORY "${lib_dir}")
# What cargo calls the shared library, what it is called here, and the links to it, each to the one before.
set(cargo_shared libleveldb_bloom.so)
get_filename_component(shared_name "${found}" NAME)
set(shared_links libleveldb_bloom.so.${PROJECT_VERSION_MAJOR} libleveldb_bloom.so)
if(WIN32)
  set(cargo_shared leveldb_bloom.dll)
  set(shared_links)
elseif(APPLE)
  set(cargo_shared libleveldb_bloom.dylib)
  set(shared_links libleveldb_bloom.${PROJECT_VERSION_MAJOR}.dylib libleveldb_bloom.dylib)
elseif(ANDROID)
  set(shared_links)
endif()

# The user's configuration of cargo may have panics unwind, which needs the standard library.
set(cargo_environment "CARGO_TARGET_DIR=${cargo_dir}" CARGO_PROFILE_RELEASE_PANIC=abort)

# Rust links and compiles C with the cc in PATH, unless it is told of another: for another machine, and
# where there is none, of CMake's compiler.
string(TOUPPER "CARGO_TARGET_${cargo_target}_LINKER" cargo_linker)
string(REPLACE "-" "_" cargo_linker "${cargo_linker}")
find_program(LEVELDB_BLOOM_CC cc NO_DEFAULT_PATH PATHS ENV PATH
  DOC "What Rust links leveldb_bloom with, and compiles its C, where it is told of no other")
mark_as_advanced(LEVELDB_BLOOM_CC)
string(REPLACE "-" "_" cargo_cc "CC_${cargo_target}")
if(cargo_target STREQUAL cargo_host)
  set(cargo_cc CC)
endif()
if(NOT LEVELDB_BLOOM_CC OR CMAKE_CROSSCOMPILING OR NOT cargo_target STREQUAL cargo_host)
  foreach(name ${cargo_cc} ${cargo_linker})
    if(NOT DEFINED ENV{${name}})
      list(APPEND cargo_environment "${name}=${CMAKE_C_COMPILER}")
    endif()
  endforeach()
endif()
# What a toolchain file says of a compiler for many machines.
set(cargo_flags)
set(cargo_cflags)
foreach(pair CMAKE_C_COMPILER_TARGET:--target= CMAKE_SYSROOT:--sysroot=)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 variable)
  list(GET pair 1 option)
  if(CMAKE_CROSSCOMPILING AND ${variable})
    list(APPEND cargo_flags "-Clink-arg=${option}${${variable}}")
    list(APPEND cargo_cflags "${option}${${variable}}")
  endif()
endforeach()
if(cargo_cflags)
  string(REPLACE "-" "_" name "CFLAGS_${cargo_target}")
  list(JOIN cargo_cflags " " cargo_cflags)
  list(APPEND cargo_environment "${name}=$ENV{CFLAGS} ${cargo_cflags}")
endif()
if(cargo_target MATCHES "-musl")
  # Otherwise musl's shared libraries cannot be had, and the archive would have a C library in it.
  list(APPEND cargo_flags "-Ctarget-feature=-crt-static")
endif()
if(cargo_flags)
  # The environment's flags would hide any that cargo is given in another way.
  list(JOIN cargo_flags " " cargo_flags)
  set(cargo_flags "RUSTFLAGS=$ENV{RUSTFLAGS} ${cargo_flags}")
endif()

# A target rather than a command with dependencies: cargo knows best what has changed, and says so
# at once when nothing has. The target is named because the user's configuration of cargo may name
# another, by which cargo builds for that machine, and into a directory of its name.
set(copied "${cargo_shared}:${shared_name}" libleveldb_bloom.a:libleveldb_bloom.a)
if(WIN32)
  list(APPEND copied libleveldb_bloom.dll.a:libleveldb_bloom.dll.a)
endif()
set(commands)
set(byproducts)
foreach(pair IN LISTS copied)
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 from)
  list(GET pair 1 to)
  list(APPEND commands COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${cargo_libraries}/${from}" "${lib_dir}/${to}")
  list(APPEND byproducts "${lib_dir}/${to}")
endforeach()
# What programs need to run, and what one needs to build them; install.cmake installs both.
list(GET byproducts 0 runtime_files)
list(SUBLIST byproducts 1 -1 development_files)
set(to ${shared_name})
foreach(link IN LISTS shared_links)
  list(APPEND commands COMMAND "${CMAKE_COMMAND}" -E create_symlink ${to} "${lib_dir}/${link}")
  set(to ${link})
endforeach()
if(shared_links)
  list(GET shared_links 0 link)
  list(APPEND runtime_files "${lib_dir}/${link}")
  list(APPEND development_files "${lib_dir}/${to}")
endif()
add_custom_target(leveldb_bloom_libraries ALL
  COMMAND "${CMAKE_COMMAND}" -E env ${cargo_environment} ${cargo_flags}
    "${LEVELDB_BLOOM_CARGO}" build --release --locked --target ${cargo_target}
    -p leveldb-bloom-shared -p leveldb-bloom-static
  ${commands}
  BYPRODUCTS ${byproducts}
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  COMMENT "Building leveldb_bloom with cargo"
  USES_TERMINAL VERBATIM)

# The command, with its man pages and the shells' completions, which it writes itself.
if(LEVELDB_BLOOM_COMMAND)
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(FATAL_ERROR "LEVELDB_BLOOM_COMMAND runs the command, for its man pages: name an emulator of "
      "the other machine with -DCMAKE_CROSSCOMPILING_EMULATOR=..., or build the command alone with "
      "cargo build --release --target ${cargo_target} -p leveldb-bloom-inspector.")
  endif()
  set(command_name leveldb-bloom${CMAKE_EXECUTABLE_SUFFIX})
  set(command_dir "${PROJECT_BINARY_DIR}/command")
  file(MAKE_DIRECTORY "${command_dir}")
  add_custom_target(leveldb_bloom_command ALL
    COMMAND "${CMAKE_COMMAND}" -E env ${cargo_environment} CARGO_PROFILE_RELEASE_STRIP=symbols
      "${LEVELDB_BLOOM_CARGO}" build --release --locked --target ${cargo_target} -p leveldb-bloom-inspector
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${cargo_libraries}/${command_name}" "${command_dir}/${command_name}"
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "${command_dir}/${command_name}" man "${command_dir}/man"
    COMMAND find "${command_dir}/man" -name "*.1" -exec gzip -9nf {} +
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "${command_dir}/${command_name}" completions bash > "${command_dir}/leveldb-bloom.bash"
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "${command_dir}/${command_name}" completions zsh > "${command_dir}/_leveldb-bloom"
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "${command_dir}/${command_name}" completions fish > "${command_dir}/leveldb-bloom.fish"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Building the command leveldb-bloom with cargo"
    USES_TERMINAL VERBATIM)
endif()
