# The module that a caller is in is found, whatever it is called by and wherever it lies.

# The string is that of whoever calls, whatever the program is called by; the copy has none. (dladdr calls
# the program by its first argument, as if it were a file: a pipe that nobody writes to, a library.)
add_executable(routes_caller caller.cc)
target_link_libraries(routes_caller
  PRIVATE -Wl,--no-as-needed leveldb_bloom::shared routes_copy_one)
function(caller_test name called_by)
  add_test(NAME routes.caller.${name}
    COMMAND bash -c "rm -f pipe && mkfifo pipe && exec -a \"$0\" \"$1\""
      ${called_by} $<TARGET_FILE:routes_caller>)
  set_tests_properties(routes.caller.${name} PROPERTIES LABELS routes TIMEOUT 60
    PASS_REGULAR_EXPRESSION "^9 bytes, the keys are found. a filter of 100 keys has 126\n$")
endfunction()
caller_test(path $<TARGET_FILE:routes_caller>)
caller_test(pipe ./pipe)
caller_test(library libc.so.6)
set_tests_properties(routes.caller.path routes.caller.pipe routes.caller.library
  PROPERTIES RESOURCE_LOCK routes_pipe)

# A caller that has no LevelDB, and imports nothing of its string: what the string looks like tells.
function(shows_nothing_test name called_by says)
  set(program "${CMAKE_CURRENT_BINARY_DIR}/routes_shows_nothing_${name}")
  add_custom_command(OUTPUT "${program}"
    COMMAND ${ARGN} -std=c++20 -O2 "-I${include_dir}" "${CMAKE_CURRENT_SOURCE_DIR}/shows_nothing.cc"
      $<TARGET_FILE:leveldb_bloom::shared> "-Wl,-rpath,$<TARGET_FILE_DIR:leveldb_bloom::shared>"
      -o "${program}"
    DEPENDS shows_nothing.cc "${include_dir}/leveldb_bloom.h" leveldb_bloom::shared
    VERBATIM)
  add_custom_target(routes_shows_nothing_${name}_built ALL DEPENDS "${program}")
  add_test(NAME routes.shows_nothing.${name}
    COMMAND sh -c [["$1" -D "$2" | grep -E "basic_string|_ZNK?Ss|St3__1" && exit 1; shift 2; "$@"]] sh
      "${CMAKE_NM}" "${program}" ${called_by} "${program}")
  set_tests_properties(routes.shows_nothing.${name} PROPERTIES LABELS routes TIMEOUT 60
    PASS_REGULAR_EXPRESSION "^${says}126 and 9 bytes, the keys are found, 1 policy\n$")
endfunction()
shows_nothing_test(gcc "" "" "${ROUTES_GXX}")
shows_nothing_test(clang "" "" "${ROUTES_CLANGXX}")
shows_nothing_test(libcxx "" "" "${ROUTES_CLANGXX}" -stdlib=libc++)
shows_nothing_test(plugin $<TARGET_FILE:routes_plugin_host_alone> "no LevelDB\n"
  "${ROUTES_GXX}" -shared -fPIC)

# Two libraries that were linked for one place: the second lies below it.
if(CMAKE_SIZEOF_VOID_P EQUAL 8)
  foreach(which one two)
    add_library(routes_high_${which} SHARED copy.c)
    target_compile_definitions(routes_high_${which} PRIVATE NAME=copy_${which})
    target_link_libraries(routes_high_${which}
      PRIVATE leveldb_bloom::shared -Wl,-Ttext-segment=0x7fffffff0000)
  endforeach()
  add_executable(routes_high high.c)
  target_link_libraries(routes_high PRIVATE -Wl,--no-as-needed routes_high_one routes_high_two
    leveldb_bloom::shared "${ROUTES_LEVELDB}")
  add_test(NAME routes.below_its_address COMMAND routes_high)
  set_tests_properties(routes.below_its_address PROPERTIES LABELS routes TIMEOUT 60
    PASS_REGULAR_EXPRESSION "^leveldb_bloom .append-cxx11., 126\n$"
    SKIP_REGULAR_EXPRESSION "no module is so low")
endif()

# A LevelDB whose program headers nothing has mapped.
set(moved "${CMAKE_CURRENT_BINARY_DIR}/headers_at_end.so")
add_custom_command(OUTPUT "${moved}"
  COMMAND "${ROUTES_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/headers_at_end.py" "${ROUTES_LEVELDB}"
    "${moved}"
  DEPENDS headers_at_end.py "${ROUTES_LEVELDB}")
add_custom_target(routes_headers_at_end ALL DEPENDS "${moved}")
route_test(headers_at_end PRELOAD ROUTES append-cxx11 SAYS ${active_cxx11}
  CONTROL $<TARGET_FILE:routes_loaded_program> hosts-own none "${moved}"
  COMMAND $<TARGET_FILE:routes_loaded_program> hosts-own none "${moved}")

# Whoever makes a policy in a constructor or a destructor does not have others' run: dlopen runs those
# that have not run yet, or have been marked so again because the process ends.
add_library(routes_constructors_maker SHARED constructors.cc)
target_compile_definitions(routes_constructors_maker PRIVATE MAKER)
target_link_libraries(routes_constructors_maker PRIVATE "${ROUTES_LEVELDB}")
add_library(routes_constructors_user SHARED constructors.cc)
target_compile_definitions(routes_constructors_user PRIVATE USER)
# With the older kind of table alone.
target_link_libraries(routes_constructors_user
  PRIVATE routes_constructors_maker -Wl,--hash-style=sysv)
add_library(routes_constructors_root SHARED constructors.cc)
target_compile_definitions(routes_constructors_root PRIVATE ROOT)
target_link_libraries(routes_constructors_root PRIVATE routes_constructors_user)
foreach(way linked loaded)
  add_executable(routes_constructors_${way} constructors.cc)
  target_include_directories(routes_constructors_${way} PRIVATE "${include_dir}")
  target_link_libraries(routes_constructors_${way} PRIVATE ${CMAKE_DL_LIBS})
  add_test(NAME routes.constructors.${way}
    COMMAND routes_constructors_${way} $<TARGET_FILE:routes_constructors_root>)
  set_tests_properties(routes.constructors.${way} PROPERTIES LABELS routes TIMEOUT 60
    ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>
    PASS_REGULAR_EXPRESSION "^the maker is there\nthe user is there\n1 policies\nthe user is gone\n\
the maker is gone\n$")
endforeach()
target_link_libraries(routes_constructors_linked
  PRIVATE -Wl,--no-as-needed routes_constructors_root)

# Whose definition a program's own entry for it leads to.
function(addresses_test order says)
  add_executable(routes_addresses_${order} addresses.cc)
  target_include_directories(routes_addresses_${order} PRIVATE "${include_dir}")
  target_compile_options(routes_addresses_${order} PRIVATE -fno-pie)
  target_link_libraries(routes_addresses_${order} PRIVATE -no-pie -Wl,--no-as-needed ${ARGN})
  add_test(NAME routes.addresses.${order} COMMAND routes_addresses_${order})
  set_tests_properties(routes.addresses.${order} PROPERTIES LABELS routes TIMEOUT 60
    PASS_REGULAR_EXPRESSION "^${says}")
endfunction()
addresses_test(first "leveldb_bloom .append-cxx11." leveldb_bloom::shared "${ROUTES_LEVELDB}")
addresses_test(second "original .another definition" "${ROUTES_LEVELDB}" leveldb_bloom::shared)

# Nor do those of the library that calls run again, while its destructors do.
function(last_database way)
  add_library(routes_last_database_${way}_library SHARED last_database.cc)
  target_compile_definitions(routes_last_database_${way}_library PRIVATE LIBRARY WAY="${way}")
  target_link_libraries(routes_last_database_${way}_library
    PRIVATE ${ARGN} "${ROUTES_LEVELDB_ARCHIVE}" "${ROUTES_SNAPPY}" -lpthread)
  add_executable(routes_last_database_${way} last_database.cc)
  target_link_libraries(routes_last_database_${way} PRIVATE routes_last_database_${way}_library)
  add_test(NAME routes.last_database.${way} COMMAND sh -c "\"$@\" 2>&1" sh
    $<TARGET_FILE:routes_last_database_${way}>)
  set_tests_properties(routes.last_database.${way} PROPERTIES LABELS routes TIMEOUT 60
    ENVIRONMENT LEVELDB_BLOOM_STATS=stderr
    PASS_REGULAR_EXPRESSION
      "^constructed\n{.*\"route\":\"append-cxx11\",\"bits_per_key\":10,\"filters\":1,.*}\ndestroyed\n$")
endfunction()
last_database(archive leveldb_bloom::static)
last_database(preloaded)
# All its names hidden: the string is that whose members it imports.
last_database(hidden leveldb_bloom::shared "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/last_database.map")
set_tests_properties(routes.last_database.preloaded PROPERTIES ENVIRONMENT
  "LEVELDB_BLOOM_STATS=stderr;LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>")

# A caller in no module.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  add_executable(routes_made_at_run_time made_at_run_time.cc)
  target_link_libraries(routes_made_at_run_time PRIVATE ${CMAKE_DL_LIBS})
  add_test(NAME routes.made_at_run_time COMMAND routes_made_at_run_time "${ROUTES_LEVELDB}")
  set_tests_properties(routes.made_at_run_time PROPERTIES LABELS routes TIMEOUT 60
    ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>
    PASS_REGULAR_EXPRESSION "^9 bytes, the keys are found\n$")
  # LevelDBs with different strings, of which nothing tells whose the caller's is.
  add_test(NAME routes.made_at_run_time_beside_two
    COMMAND sh -c [["$@"; echo "status $?"]] sh
      $<TARGET_FILE:routes_made_at_run_time> "${ROUTES_LEVELDB}" $<TARGET_FILE:routes_libcxx_host>)
  set_tests_properties(routes.made_at_run_time_beside_two PROPERTIES LABELS routes TIMEOUT 60
    ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>
    PASS_REGULAR_EXPRESSION "^leveldb_bloom: the caller's std::string cannot be found[^\n]*\n.*status 134\n$")
endif()

# No message is left for dlerror, even where another library stands in for dlsym.
add_executable(routes_message message.c)
target_include_directories(routes_message PRIVATE "${include_dir}")
target_link_libraries(routes_message PRIVATE "${ROUTES_LEVELDB}" ${CMAKE_DL_LIBS})
function(message_test name preloaded)
  add_test(NAME routes.message.${name} COMMAND routes_message)
  set_tests_properties(routes.message.${name} PROPERTIES LABELS routes TIMEOUT 60
    ENVIRONMENT "LD_PRELOAD=${preloaded}"
    PASS_REGULAR_EXPRESSION "^no message\nleveldb_bloom .append-cxx11.\nno message\n$")
endfunction()
message_test(alone $<TARGET_FILE:leveldb_bloom::shared>)
# On other processors glibc names another version of dlsym than the library asks for.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  add_library(routes_message_library SHARED message.c)
  target_compile_definitions(routes_message_library PRIVATE LIBRARY)
  target_link_libraries(routes_message_library PRIVATE ${CMAKE_DL_LIBS})
  message_test(beside_a_dlsym
    "$<TARGET_FILE:leveldb_bloom::shared> $<TARGET_FILE:routes_message_library>")
endif()

# A policy made before the program is linked.
add_executable(routes_resolver resolver.cc)
target_include_directories(routes_resolver PRIVATE "${include_dir}")
target_link_libraries(routes_resolver PRIVATE "${ROUTES_LEVELDB}")
add_test(NAME routes.resolver COMMAND routes_resolver)
set_tests_properties(routes.resolver PROPERTIES LABELS routes TIMEOUT 60
  ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>
  PASS_REGULAR_EXPRESSION "^9 bytes, the keys are found, 1 policies\n$")
