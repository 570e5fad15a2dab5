# Both libraries loaded with RTLD_LOCAL by a program that has neither.

set(ours $<TARGET_FILE:leveldb_bloom::shared>)

part(loaded loaded.c)
program(loaded_program C PARTS loaded database LINK ${CMAKE_DL_LIBS})

# The same with the address sanitizer in it.
add_executable(routes_loaded_asan loaded.c database.c proof.c)
target_include_directories(routes_loaded_asan PRIVATE "${include_dir}")
target_compile_options(routes_loaded_asan PRIVATE -fsanitize=address -g)
target_link_options(routes_loaded_asan PRIVATE -fsanitize=address)
target_link_libraries(routes_loaded_asan PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(routes_loaded_asan PROPERTIES C_STANDARD 11)

set(host_debian "${ROUTES_LEVELDB}")
set(route_debian append-cxx11)
set(host_wheel "${wheel_host}")
set(route_wheel append-copy-on-write)
set(host_libcxx $<TARGET_FILE:routes_libcxx_host>)
set(route_libcxx append-libc++)
set(host_lto $<TARGET_FILE:routes_lto_host>)
set(route_lto append-cxx11)

foreach(host debian wheel libcxx lto)
  set(more)
  if(host STREQUAL "wheel")
    set(more FIXTURE wheel ENVIRONMENT ${wheel_environment})
  endif()
  set(hosts_own "${host_${host}}")

  set(control CONTROL $<TARGET_FILE:routes_loaded_program> hosts-own none ${hosts_own})
  foreach(program program asan)
    set(suffix ${host})
    if(program STREQUAL "asan")
      set(suffix ${host}.asan)
    endif()
    set(run COMMAND $<TARGET_FILE:routes_loaded_${program}>)
    route_test(loaded.callbacks.${suffix} ROUTES callbacks ${more} ${control}
      ${run} callbacks ${ours} ${hosts_own})
    route_test(loaded.created.${suffix} POLICIES 2 ROUTES ${route_${host}}
      SAYS "active: leveldb_bloom (${route_${host}})" "made by: libleveldb_bloom" ${more} ${control}
      ${run} created ${ours} ${hosts_own})
    route_test(loaded.created-first.${suffix} ROUTES ${route_${host}}
      SAYS "active: leveldb_bloom (no LevelDB found)" "made by: libleveldb_bloom" ${more} ${control}
      ${run} created-first ${ours} ${hosts_own})
    route_test(loaded.closed.${suffix} POLICIES 2 ROUTES ${route_${host}}
      SAYS "made by: libleveldb_bloom" ${more} ${control}
      ${run} closed ${ours} ${hosts_own})
  endforeach()

  # Python's ctypes.
  set(run "${ROUTES_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/workload_ctypes.py")
  set(control CONTROL ${run} hosts-own none ${hosts_own})
  route_test(ctypes.callbacks.${host} ROUTES callbacks ${more} ${control}
    COMMAND ${run} callbacks ${ours} ${hosts_own})
  route_test(ctypes.created.${host} ROUTES ${route_${host}}
    SAYS "active: leveldb_bloom (${route_${host}})" ${more} ${control}
    COMMAND ${run} created ${ours} ${hosts_own})
  route_test(ctypes.created-first.${host} ROUTES ${route_${host}}
    SAYS "active: leveldb_bloom (no LevelDB found)" ${more} ${control}
    COMMAND ${run} created-first ${ours} ${hosts_own})

  # Preloaded, under a host that is loaded with RTLD_LOCAL, and one with RTLD_DEEPBIND, which does
  # not see us. A policy of the program's own works there too.
  set(control CONTROL $<TARGET_FILE:routes_loaded_program> hosts-own none ${hosts_own})
  set(run COMMAND $<TARGET_FILE:routes_loaded_program>)
  route_test(preload.loaded.${host} PRELOAD ROUTES ${route_${host}}
    SAYS "active: leveldb_bloom (${route_${host}})" ${more} ${control}
    ${run} hosts-own none ${hosts_own})
  route_test(preload.deep-bound.${host} PRELOAD SAYS "preloaded: libleveldb_bloom"
    "active: original (LevelDB is bound to its own definition, as RTLD_DEEPBIND does)"
    ${more} ${control} ${run} deep-bound none ${hosts_own})
  route_test(preload.deep-bound-created.${host} PRELOAD ROUTES ${route_${host}}
    SAYS "made by: libleveldb_bloom" ${more} ${control}
    ${run} deep-bound-created preloaded ${hosts_own})
endforeach()

# Two hosts with different strings, each with its own policy.
foreach(other wheel libcxx)
  set(more)
  if(other STREQUAL "wheel")
    set(more FIXTURE wheel ENVIRONMENT ${wheel_environment})
  endif()
  set(both ${host_debian} ${host_${other}})
  route_test(loaded.two-hosts.debian-and-${other} ROUTES append-cxx11 ${route_${other}} ${more}
    CONTROL $<TARGET_FILE:routes_loaded_program> hosts-own none ${both}
    COMMAND $<TARGET_FILE:routes_loaded_program> two-hosts ${ours} ${both})
endforeach()

set(both ${host_debian} ${host_lto})
route_test(preload.deep-bound-beside PRELOAD ROUTES append-cxx11 SAYS ${active_cxx11}
  CONTROL $<TARGET_FILE:routes_loaded_program> hosts-own none ${both}
  COMMAND $<TARGET_FILE:routes_loaded_program> deep-bound-beside none ${both})

# Both in another namespace of the loader; the program has this library, too, or has not.
part(namespace_host namespace_host.cc)
program(namespace_program CXX PARTS namespace_host database LINK ${CMAKE_DL_LIBS})
foreach(kind ours original)
  add_library(routes_namespace_${kind} MODULE workload.c
    $<TARGET_OBJECTS:routes_database> $<TARGET_OBJECTS:routes_proof>)
  target_include_directories(routes_namespace_${kind} PRIVATE "${include_dir}")
  target_compile_definitions(routes_namespace_${kind} PRIVATE main=workload)
endforeach()
target_link_libraries(routes_namespace_ours PRIVATE leveldb_bloom::shared "${ROUTES_LEVELDB}")
target_link_libraries(routes_namespace_original PRIVATE "${ROUTES_LEVELDB}")
foreach(copies one two)
  set(preload)
  if(copies STREQUAL "two")
    set(preload PRELOAD)
  endif()
  route_test(loaded.namespace.${copies} ${preload} ROUTES append-cxx11
    SAYS ${active_cxx11} "made by: libleveldb_bloom" "memory of the program's: 0 times"
    CONTROL $<TARGET_FILE:routes_namespace_program> $<TARGET_FILE:routes_namespace_original>
    COMMAND $<TARGET_FILE:routes_namespace_program> $<TARGET_FILE:routes_namespace_ours>)
endforeach()

# Hosts that nobody recognises.
route_test(loaded.unknown-host NO_DATABASES ROUTES original
  SAYS "made by: libleveldb_bloom" "filter: original"
  CONTROL $<TARGET_FILE:routes_fake_loaded> preloaded $<TARGET_FILE:routes_fake_bare>
  COMMAND $<TARGET_FILE:routes_fake_loaded> ${ours} $<TARGET_FILE:routes_fake_bare>)
route_test(loaded.unknown-host-with-c-api NO_DATABASES ROUTES delegate
  SAYS "made by: libleveldb_bloom" "filter: bloom"
  CONTROL $<TARGET_FILE:routes_fake_loaded> preloaded $<TARGET_FILE:routes_fake_create>
  COMMAND $<TARGET_FILE:routes_fake_loaded> ${ours} $<TARGET_FILE:routes_fake_create>)
# Its bloom policy is our archive's, and it has a use for another string.
route_test(loaded.unknown-host-with-archive NO_DATABASES ROUTES delegate SAYS "filter: bloom"
  CONTROL $<TARGET_FILE:routes_fake_loaded> preloaded $<TARGET_FILE:routes_fake_create>
  COMMAND $<TARGET_FILE:routes_fake_loaded> preloaded $<TARGET_FILE:routes_fake_with_archive>)
# A LevelDB that others loaded for themselves is not taken for the one that cannot be found.
route_test(loaded.no-host NO_DATABASES ENVIRONMENT "LEVELDB_BESIDE=${ROUTES_LEVELDB}"
  COMMAND $<TARGET_FILE:routes_fake_loaded> preloaded $<TARGET_FILE:routes_fake_alone>)
set_tests_properties(routes.loaded.no-host PROPERTIES PASS_REGULAR_EXPRESSION
  "the caller's std::string cannot be found.*FAILED: the program died of SIGABRT")

# That the sanitizer is there, and sees the memory that this library gave and took back.
add_test(NAME routes.loaded.asan-is-there
  COMMAND routes_loaded_asan use-after-free ${ours} none none)
set_tests_properties(routes.loaded.asan-is-there PROPERTIES LABELS routes
  PASS_REGULAR_EXPRESSION "AddressSanitizer: heap-use-after-free")
