# Several copies of this library in one process: none takes another for a LevelDB.

# Libraries that have the archive in them for what only it can.
foreach(which one two)
  add_library(routes_copy_${which} SHARED copy.c)
  target_compile_definitions(routes_copy_${which} PRIVATE NAME=copy_${which})
  target_compile_options(routes_copy_${which} PRIVATE -Wall -Wextra -Werror)
  target_link_libraries(routes_copy_${which} PRIVATE leveldb_bloom::static)
endforeach()
set(copies -Wl,--no-as-needed routes_copy_one routes_copy_two)

# The user's callbacks and LevelDB's own functions find their way through them.
program(custom_beside_copies C PARTS custom database LINK ${copies} "${ROUTES_LEVELDB}")
program(custom_with_copy C PARTS custom database
  LINK -Wl,-u,leveldb_bloom_active leveldb_bloom::static ${copies} "${ROUTES_LEVELDB}")
set(beside_copies_by libroutes_copy_one)
set(with_copy_by routes_custom_with_copy)
foreach(program beside_copies with_copy)
  route_test(copies.custom_${program} FILTER_NAME custom
    SAYS "created by: ${${program}_by}" "made by: libleveldb"
    CONTROL $<TARGET_FILE:routes_custom_program>
    COMMAND $<TARGET_FILE:routes_custom_${program}>)
endforeach()
program(c_beside_copies C PARTS workload_c database LINK ${copies} "${ROUTES_LEVELDB}")
route_test(copies.bloom ROUTES append-cxx11 SAYS ${active_cxx11} "made by: libroutes_copy_one"
  CONTROL $<TARGET_FILE:routes_c> COMMAND $<TARGET_FILE:routes_c_beside_copies>)

# Libraries with a LevelDB that nobody sees, with our archive and without.
foreach(which one two)
  foreach(kind ours stock)
    add_library(routes_embedded_${kind}_${which} SHARED embedded.cc $<TARGET_OBJECTS:routes_proof>)
    target_compile_definitions(routes_embedded_${kind}_${which} PRIVATE NAME=embedded_${which})
    target_compile_options(routes_embedded_${kind}_${which} PRIVATE -Wall -Wextra -Werror)
    set_target_properties(routes_embedded_${kind}_${which} PROPERTIES CXX_STANDARD 17)
  endforeach()
  target_link_libraries(routes_embedded_ours_${which} PRIVATE leveldb_bloom::static)
  foreach(kind ours stock)
    target_link_libraries(routes_embedded_${kind}_${which} PRIVATE ${archives_cxx}
      -Wl,--exclude-libs,libleveldb.a:libsnappy.a)
  endforeach()
endforeach()
part(copies copies.c)
part(copies_loaded copies.c)
target_compile_definitions(routes_copies_loaded PRIVATE LOADED)
foreach(kind ours stock)
  program(copies_${kind} C PARTS copies database
    LINK routes_embedded_${kind}_one routes_embedded_${kind}_two ${CMAKE_DL_LIBS})
endforeach()
program(copies_loads C PARTS copies_loaded database LINK ${CMAKE_DL_LIBS})
program(copies_loads_beside C PARTS copies_loaded database
  LINK -Wl,--no-as-needed leveldb_bloom::shared ${CMAKE_DL_LIBS})
route_test(copies.embedded POLICIES 2 ROUTES append-cxx11 SAYS "made by: libroutes_embedded_ours_one"
  CONTROL $<TARGET_FILE:routes_copies_stock> COMMAND $<TARGET_FILE:routes_copies_ours>)
set(control
  CONTROL $<TARGET_FILE:routes_copies_loads> $<TARGET_FILE:routes_embedded_stock_one>)
set(library $<TARGET_FILE:routes_embedded_ours_one>)
route_test(copies.loaded ROUTES append-cxx11 SAYS "made by: libroutes_embedded_ours_one"
  ${control} COMMAND $<TARGET_FILE:routes_copies_loads> ${library})
route_test(copies.preloaded PRELOAD ROUTES append-cxx11 SAYS "made by: libleveldb_bloom"
  ${control} COMMAND $<TARGET_FILE:routes_copies_loads> ${library})
route_test(copies.linked ROUTES append-cxx11 SAYS "made by: libleveldb_bloom"
  ${control} COMMAND $<TARGET_FILE:routes_copies_loads_beside> ${library})

# Copies that show nobody but LevelDB's C++ name, in a process without a LevelDB.
foreach(which one two)
  add_library(routes_only_name_${which} SHARED copy.c)
  target_compile_definitions(routes_only_name_${which} PRIVATE NAME=copy_${which})
  target_link_libraries(routes_only_name_${which} PRIVATE -Wl,-u,_ZN7leveldb20NewBloomFilterPolicyEi
    leveldb_bloom::static "-Wl,--version-script,${CMAKE_CURRENT_SOURCE_DIR}/only_name.map")
endforeach()
add_executable(routes_only_name policy_name.cc)
target_link_libraries(routes_only_name
  PRIVATE -Wl,--no-as-needed routes_only_name_one routes_only_name_two ${CMAKE_DL_LIBS})
add_test(NAME routes.copies.only_name COMMAND routes_only_name)
set_tests_properties(routes.copies.only_name PROPERTIES LABELS routes TIMEOUT 20
  PASS_REGULAR_EXPRESSION "^leveldb.BuiltinBloomFilter2\n$")

# Somebody before us who hands on to us, and a LevelDB behind us that we hand on to.
add_library(routes_tracer SHARED tracer.cc)
target_link_libraries(routes_tracer PRIVATE ${CMAKE_DL_LIBS})
route_test(copies.traced NO_DATABASES
  SAYS "active: original (a LevelDB whose std::string is not known)"
    "made by: libroutes_fake_bare" "filter: original"
  CONTROL $<TARGET_FILE:routes_on_fake_bare>
  COMMAND "${CMAKE_COMMAND}" -E env
    "LD_PRELOAD=$<TARGET_FILE:routes_tracer>:$<TARGET_FILE:leveldb_bloom::shared>"
    $<TARGET_FILE:routes_on_fake_bare>)
