# LD_PRELOAD under programs that know nothing of this library.

route_test(preload.c PRELOAD ROUTES append-cxx11
  SAYS ${active_cxx11} "made by: libleveldb_bloom" COMMAND $<TARGET_FILE:routes_c>)
route_test(preload.cxx PRELOAD ROUTES append-cxx11
  SAYS ${active_cxx11} "made by: libleveldb_bloom" COMMAND $<TARGET_FILE:routes_cxx>)

# A host that is a part of its program: out of our reach, and undisturbed.
program(c_static C PARTS workload_c database LINK ${archives_c})
route_test(preload.static-leveldb PRELOAD
  SAYS "active: leveldb_bloom (no LevelDB found)" COMMAND $<TARGET_FILE:routes_c_static>)

part(many many.c)
program(many_program C PARTS many database LINK "${ROUTES_LEVELDB}" -lpthread)
route_test(preload.many-threads PRELOAD POLICIES 6 ROUTES append-cxx11 SAYS ${active_cxx11}
  COMMAND $<TARGET_FILE:routes_many_program>)

part(wrapper wrapper.cc)
program(wrapper_program CXX PARTS wrapper LINK "${ROUTES_LEVELDB}")
route_test(preload.wrapped PRELOAD ROUTES append-cxx11
  SAYS ${active_cxx11} "made by: libleveldb_bloom" COMMAND $<TARGET_FILE:routes_wrapper_program>)

# The user's own callbacks, in the object that the host makes for them, or in ours where the host is
# not in sight.
part(custom custom.c)
program(custom_program C PARTS custom database LINK "${ROUTES_LEVELDB}")
route_test(preload.custom PRELOAD FILTER_NAME custom
  SAYS "created by: libleveldb_bloom" "made by: libleveldb"
  COMMAND $<TARGET_FILE:routes_custom_program>)
part(custom_loaded custom.c)
target_compile_definitions(routes_custom_loaded PRIVATE LOADED)
program(custom_loaded_program C PARTS custom_loaded database LINK ${CMAKE_DL_LIBS})
route_test(preload.custom-loaded PRELOAD FILTER_NAME custom
  SAYS "created by: libleveldb_bloom" "made by: libleveldb_bloom"
  COMMAND $<TARGET_FILE:routes_custom_loaded_program> "${ROUTES_LEVELDB}")
route_test(preload.custom-loaded-wheel PRELOAD FILTER_NAME custom
  SAYS "created by: libleveldb_bloom" "made by: libleveldb_bloom"
  FIXTURE wheel ENVIRONMENT ${wheel_environment}
  COMMAND $<TARGET_FILE:routes_custom_loaded_program> "${wheel_host}")
route_test(preload.custom-loaded-libcxx PRELOAD FILTER_NAME custom
  SAYS "created by: libleveldb_bloom" "made by: libleveldb_bloom"
  COMMAND $<TARGET_FILE:routes_custom_loaded_program> $<TARGET_FILE:routes_libcxx_host>)

# Python.
set(run_plyvel "${ROUTES_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/workload_plyvel.py")
set(run_two "${ROUTES_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/two_leveldbs.py")
route_test(preload.plyvel-debian PRELOAD ROUTES append-cxx11
  SAYS ${active_cxx11} "plyvel: /usr/lib/python3/dist-packages/plyvel" COMMAND ${run_plyvel})
execute_process(COMMAND "${ROUTES_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/fetch.py" importable
  RESULT_VARIABLE not_importable)
if(not_importable)
  message(STATUS "left out: the tests that import plyvel's wheel, of which PyPI has none for this Python")
else()
  route_test(preload.plyvel-wheel PRELOAD ROUTES append-copy-on-write
    SAYS "active: leveldb_bloom (append-copy-on-write)" "plyvel: ${wheel}/plyvel"
    FIXTURE wheel ENVIRONMENT "PYTHONPATH=${wheel}" COMMAND ${run_plyvel})
  route_test(preload.two-leveldbs.wheel-and-debian PRELOAD ROUTES append-cxx11 append-copy-on-write
    FIXTURE wheel ENVIRONMENT "PYTHONPATH=${wheel}" COMMAND ${run_two} "${ROUTES_LEVELDB}")
endif()
route_test(preload.two-leveldbs.debian-and-wheel PRELOAD ROUTES append-cxx11 append-copy-on-write
  FIXTURE wheel ENVIRONMENT ${wheel_environment} COMMAND ${run_two} "${wheel_host}")

# Node.js.
foreach(package leveldown classic-level)
  route_test(preload.${package} PRELOAD ROUTES append-copy-on-write FIXTURE npm
    COMMAND "${ROUTES_NODE}" "${CMAKE_CURRENT_SOURCE_DIR}/workload.js"
      "${npm}/node_modules/${package}")
endforeach()

# LevelDBs that were built otherwise than Debian's.
program(c_on_lto C PARTS workload_c database LINK routes_lto_host)
program(cxx_on_lto CXX PARTS workload_cxx LINK routes_lto_host)
foreach(language c cxx)
  route_test(preload.lto.${language} PRELOAD ROUTES append-cxx11
    SAYS ${active_cxx11} "made by: libleveldb_bloom"
    COMMAND $<TARGET_FILE:routes_${language}_on_lto>)
endforeach()
program(c_on_libcxx C PARTS workload_c database LINK routes_libcxx_host)
# With the compiler and the library of its host.
set(cxx_on_libcxx "${CMAKE_CURRENT_BINARY_DIR}/routes_cxx_on_libcxx")
add_custom_command(OUTPUT "${cxx_on_libcxx}"
  COMMAND "${ROUTES_CLANGXX}" -std=c++17 -O2 -stdlib=libc++ "-I${LEVELDB_SOURCE_DIR}/include"
    "${CMAKE_CURRENT_SOURCE_DIR}/workload.cc" $<TARGET_OBJECTS:routes_proof>
    $<TARGET_FILE:routes_libcxx_host> "-Wl,-rpath,$<TARGET_FILE_DIR:routes_libcxx_host>"
    -o "${cxx_on_libcxx}"
  DEPENDS workload.cc routes_proof $<TARGET_OBJECTS:routes_proof> routes_libcxx_host_build
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(routes_cxx_on_libcxx_program ALL DEPENDS "${cxx_on_libcxx}")
route_test(preload.libcxx.c PRELOAD ROUTES append-libc++
  SAYS "active: leveldb_bloom (append-libc++)" "made by: libleveldb_bloom"
  COMMAND $<TARGET_FILE:routes_c_on_libcxx>)
route_test(preload.libcxx.cxx PRELOAD ROUTES append-libc++
  SAYS "active: leveldb_bloom (append-libc++)" "made by: libleveldb_bloom"
  COMMAND "${cxx_on_libcxx}")

# Hosts that nobody recognises: theirs if that is all there is, ours if they have a C API.
part(fake_user fake_host_user.c)
part(fake_user_by_address fake_host_user.c)
target_compile_definitions(routes_fake_user_by_address PRIVATE BY_ADDRESS)
set_target_properties(routes_fake_user_by_address PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_compile_options(routes_fake_user_by_address PRIVATE -fno-pie)
part(fake_user_loaded fake_host_user.c)
target_compile_definitions(routes_fake_user_loaded PRIVATE LOADED)
set(libdl ${CMAKE_DL_LIBS})
program(on_fake_bare C PARTS fake_user database LINK routes_fake_bare ${libdl})
program(on_fake_bare_by_address C PARTS fake_user_by_address database
  LINK routes_fake_bare ${libdl} -no-pie)
program(on_fake_create C PARTS fake_user database LINK routes_fake_create ${libdl})
program(on_fake_linked C PARTS fake_user database LINK routes_fake_linked routes_fake_create ${libdl})
# The program itself calls policies with the string of the host that it links.
part(fake_caller fake_host.cc)
target_compile_definitions(routes_fake_caller PRIVATE WITHOUT_HOST WITH_ANOTHER_STRING)
foreach(host bare create)
  program(calls_fake_${host} CXX PARTS fake_user fake_caller database LINK routes_fake_${host} ${libdl})
endforeach()
program(fake_loaded C PARTS fake_user_loaded database LINK ${libdl})
# Built from source, with the policy of leveldb_bloom_policy.cc: the shared one has to find its string.
part(fake_user_shared fake_host_user.c)
target_compile_definitions(routes_fake_user_shared PRIVATE SHARED)
part(fake_source fake_host.cc)
target_compile_definitions(routes_fake_source PRIVATE WITH_CREATE AS_SOURCE_BUILD)
program(on_fake_source CXX PARTS fake_user_shared fake_source database LINK leveldb_bloom::static ${libdl})
route_test(source.unknown-host-shared NO_DATABASES ROUTES delegate
  SAYS "active: leveldb_bloom (source build)" "filter: bloom"
  CONTROL $<TARGET_FILE:routes_on_fake_create>
  COMMAND $<TARGET_FILE:routes_on_fake_source>)
route_test(preload.unknown-host PRELOAD NO_DATABASES
  SAYS "active: original (a LevelDB whose std::string is not known)"
    "made by: libroutes_fake_bare" "filter: original" "negative: original, no bits"
  COMMAND $<TARGET_FILE:routes_on_fake_bare>)
route_test(preload.unknown-host-by-address PRELOAD NO_DATABASES
  SAYS "active: original (a LevelDB whose std::string is not known)"
    "made by: libroutes_fake_bare" "filter: original" "negative: original, no bits"
  COMMAND $<TARGET_FILE:routes_on_fake_bare_by_address>)
route_test(preload.unknown-host-with-c-api PRELOAD NO_DATABASES ROUTES delegate
  SAYS "active: leveldb_bloom (delegate)" "made by: libleveldb_bloom" "filter: bloom"
  COMMAND $<TARGET_FILE:routes_on_fake_create>)
route_test(preload.unknown-host-linked PRELOAD NO_DATABASES ROUTES delegate
  SAYS "active: leveldb_bloom (delegate)" "made by: libleveldb_bloom" "filter: bloom"
  COMMAND $<TARGET_FILE:routes_on_fake_linked>)
route_test(preload.unknown-host-called PRELOAD NO_DATABASES
  SAYS "active: original (a LevelDB whose std::string is not known)"
    "made by: libroutes_fake_bare" "filter: original" "negative: original, no bits"
  COMMAND $<TARGET_FILE:routes_calls_fake_bare>)
# The LevelDB beside it is known, so that a policy is ours.
route_test(preload.unknown-host-called-beside PRELOAD NO_DATABASES ROUTES original
  SAYS "made by: libleveldb_bloom" "filter: original" "negative: original, no bits"
  ENVIRONMENT "LEVELDB_BESIDE=${ROUTES_LEVELDB}"
  COMMAND $<TARGET_FILE:routes_calls_fake_bare>)
route_test(preload.unknown-host-with-c-api-called PRELOAD NO_DATABASES ROUTES delegate
  SAYS "active: leveldb_bloom (delegate)" "made by: libleveldb_bloom" "filter: bloom"
  COMMAND $<TARGET_FILE:routes_calls_fake_create>)
route_test(preload.unknown-host-loaded PRELOAD NO_DATABASES ROUTES original
  SAYS "filter: original"
  COMMAND $<TARGET_FILE:routes_fake_loaded> preloaded $<TARGET_FILE:routes_fake_bare>)
route_test(preload.unknown-host-with-c-api-loaded PRELOAD NO_DATABASES ROUTES delegate
  SAYS "active: leveldb_bloom (decided when LevelDB calls)" "filter: bloom"
  COMMAND $<TARGET_FILE:routes_fake_loaded> preloaded $<TARGET_FILE:routes_fake_create>)

# A LevelDB whose policy has another name, and perhaps another format: its own filters are what it can
# read. One whose policy is that of the process is as any other.
foreach(kind OLD FORK MORE APART WRAPPED GUARDED)
  string(TOLOWER ${kind} name)
  add_library(routes_${name}_policy SHARED other_policy.cc)
  target_compile_definitions(routes_${name}_policy PRIVATE ${kind})
  add_executable(routes_${name}_policy_name policy_name.cc)
  target_link_libraries(routes_${name}_policy_name PRIVATE routes_${name}_policy ${CMAKE_DL_LIBS})
  set_target_properties(routes_${name}_policy routes_${name}_policy_name PROPERTIES CXX_STANDARD 17)
  add_test(NAME routes.preload.${name}-policy COMMAND routes_${name}_policy_name active)
  set_tests_properties(routes.preload.${name}-policy PROPERTIES LABELS routes TIMEOUT 60
    ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>)
endforeach()
# Nor can it do without them where another LevelDB is loaded, by a plugin, say. But one of another string
# could do nothing with its policies, and nothing tells which of the two asks.
function(policy_beside name which library)
  add_test(NAME routes.preload.${name}-policy-beside-${which}
    COMMAND routes_${name}_policy_name active "${library}")
  set_tests_properties(routes.preload.${name}-policy-beside-${which} PROPERTIES LABELS routes TIMEOUT 60
    ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>)
endfunction()
set(originals)
foreach(name old fork more)
  policy_beside(${name} debian "${ROUTES_LEVELDB}")
  list(APPEND originals routes.preload.${name}-policy routes.preload.${name}-policy-beside-debian)
endforeach()
# Nor where it has its functions that take a string elsewhere.
policy_beside(apart debian "${ROUTES_LEVELDB}")
list(APPEND originals routes.preload.apart-policy-beside-debian)
policy_beside(old libcxx $<TARGET_FILE:routes_libcxx_host>)
set_tests_properties(${originals} PROPERTIES
  PASS_REGULAR_EXPRESSION "^leveldb.BuiltinBloomFilter\noriginal .a LevelDB before 1.18, or a fork: another policy")
set_tests_properties(routes.preload.apart-policy PROPERTIES
  PASS_REGULAR_EXPRESSION "^leveldb.BuiltinBloomFilter\noriginal .a LevelDB whose std::string is not known")
set_tests_properties(routes.preload.old-policy-beside-libcxx PROPERTIES
  PASS_REGULAR_EXPRESSION "^leveldb.BuiltinBloomFilter2\nleveldb_bloom .append-")
# One that comes behind another is not the process's.
add_test(NAME routes.preload.fork-policy-behind-debian COMMAND routes_fork_policy_name active)
set_tests_properties(routes.preload.fork-policy-behind-debian PROPERTIES LABELS routes TIMEOUT 60 ENVIRONMENT
  "LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>:${ROUTES_LEVELDB}:$<TARGET_FILE:routes_fork_policy>")
set_tests_properties(routes.preload.wrapped-policy routes.preload.guarded-policy
  routes.preload.fork-policy-behind-debian PROPERTIES
  PASS_REGULAR_EXPRESSION "^leveldb.BuiltinBloomFilter2\nleveldb_bloom .append-cxx11")
