# This library and LevelDB on one link line, in either order, with each linker. The line is run by
# the test, so that one that fails is a failed test with that name.

set(objects_c $<TARGET_OBJECTS:routes_proof> $<TARGET_OBJECTS:routes_workload_c>
  $<TARGET_OBJECTS:routes_database>)
set(objects_cxx $<TARGET_OBJECTS:routes_proof> $<TARGET_OBJECTS:routes_workload_cxx>)
set(objects_tables $<TARGET_OBJECTS:routes_proof> $<TARGET_OBJECTS:routes_workload_tables>)
set(compiler_c "${CMAKE_C_COMPILER}")
set(compiler_cxx "${CMAKE_CXX_COMPILER}")
set(compiler_tables "${CMAKE_CXX_COMPILER}")

set(ours_shared $<TARGET_FILE:leveldb_bloom::shared>
  -Wl,-rpath,$<TARGET_FILE_DIR:leveldb_bloom::shared>)
set(ours_static $<TARGET_FILE:leveldb_bloom::static>)
# What leveldb_bloom_active says where LevelDB comes first and somebody asks.
string(CONCAT original "active: original "
  "(another definition of leveldb_filterpolicy_create_bloom comes first)")

# link_test(NAME LANGUAGE LINKER [FIRST what stands before the objects, as LDFLAGS do] LINE LIBRARY...
#   EXPECT route_test's ROUTES and SAYS)
function(link_test name language linker)
  cmake_parse_arguments(arg "" "" "FIRST;LINE;EXPECT" ${ARGN})
  route_test(link.${name}.${linker}.${language} LINK ${arg_EXPECT}
    CONTROL $<TARGET_FILE:routes_${language}>
    COMMAND ${compiler_${language}} ${arg_FIRST} ${objects_${language}} -fuse-ld=${linker}
      ${arg_LINE})
endfunction()

foreach(linker bfd gold lld)
  foreach(language c cxx)
    set(variant ${language} ${linker})
    set(ours ROUTES append-cxx11 SAYS ${active_cxx11})

    link_test(shared ${variant} EXPECT ${ours} "made by: libleveldb_bloom"
      LINE -Wl,--no-as-needed ${ours_shared} "${ROUTES_LEVELDB}")
    link_test(shared-as-needed ${variant} EXPECT ${ours} "made by: libleveldb_bloom"
      LINE -Wl,--as-needed ${ours_shared} "${ROUTES_LEVELDB}")
    link_test(shared-second ${variant} EXPECT SAYS ${original} "made by: libleveldb"
      LINE -Wl,--no-as-needed "${ROUTES_LEVELDB}" ${ours_shared})
    link_test(shared-second-as-needed ${variant} EXPECT SAYS "active: absent" "made by: libleveldb"
      LINE -Wl,--as-needed "${ROUTES_LEVELDB}" ${ours_shared})
    link_test(shared-before-objects ${variant} EXPECT ${ours} "made by: libleveldb_bloom"
      FIRST -Wl,--as-needed -Wl,--push-state,--no-as-needed ${ours_shared} -Wl,--pop-state
      LINE "${ROUTES_LEVELDB}")
    link_test(shared-with-static-leveldb ${variant} EXPECT ${ours}
      LINE ${ours_shared} ${archives_${language}})

    link_test(static ${variant} EXPECT ${ours}
      LINE ${ours_static} ${archives_${language}})
    link_test(static-before-objects ${variant} EXPECT ${ours}
      FIRST -Wl,-u,_ZN7leveldb20NewBloomFilterPolicyEi ${ours_static}
      LINE ${archives_${language}})
    link_test(static-with-shared-leveldb ${variant} EXPECT ${ours}
      LINE ${ours_static} "${ROUTES_LEVELDB}")
    # A program that needs functions which Rust's part of the archive has too.
    link_test(static-wide-float ${variant} EXPECT ${ours}
      LINE $<TARGET_OBJECTS:routes_wide_float> ${ours_static} ${archives_${language}})
    # As much of the C++ library in the program as can be; for C, what -static-libstdc++ does.
    link_test(static-libstdcxx ${variant} EXPECT ${ours}
      LINE ${ours_static} ${archives} -static-libstdc++ -static-libgcc
        -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic -lm -lpthread)
    link_test(wholly-static ${variant} EXPECT ${ours}
      LINE -static ${ours_static} ${archives_${language}})
    # Nothing of ours is in the program, unless it asks for something that only we have.
    link_test(static-second ${variant} EXPECT SAYS "active: absent"
      LINE ${archives_${language}} ${ours_static})
    link_test(static-second-asked ${variant} EXPECT SAYS ${original}
      LINE -Wl,-u,leveldb_bloom_active ${archives_${language}} ${ours_static})
  endforeach()
endforeach()

# Of LevelDB's archive such a program has nothing that opens a database.
foreach(linker bfd gold lld)
  set(variant tables ${linker})
  link_test(static-libstdcxx ${variant} EXPECT ${ours}
    LINE ${ours_static} ${archives_cxx} -static-libstdc++ -static-libgcc)
  link_test(wholly-static ${variant} EXPECT ${ours} LINE -static ${ours_static} ${archives_cxx})
endforeach()
# With each string that there is.
set(string_cxx11 "${ROUTES_GXX}")
set(string_copy-on-write "${ROUTES_GXX}" -D_GLIBCXX_USE_CXX11_ABI=0)
set(string_libc++ "${ROUTES_CLANGXX}" -stdlib=libc++)
set(more_libc++ -lc++abi)
foreach(string cxx11 copy-on-write libc++)
  route_test(link.wholly-static.only-writes.${string} LINK NO_DATABASES ROUTES append-${string}
    CONTROL "${CMAKE_COMMAND}" -E echo
    COMMAND ${string_${string}} -std=c++17 -O2 -static "${CMAKE_CURRENT_SOURCE_DIR}/only_writes.cc"
      ${ours_static} ${more_${string}} -lpthread)
endforeach()

# A fork in a shared library behind the LevelDB that is linked.
link_test(static-before-a-fork cxx bfd EXPECT ${ours}
  LINE ${ours_static} ${archives_cxx} -Wl,--no-as-needed $<TARGET_FILE:routes_fork_policy>
    -Wl,-rpath,$<TARGET_FILE_DIR:routes_fork_policy>)

# Hosts that nobody recognises, behind the archive in the program: what is linked as the LevelDB's own
# leveldb_filterpolicy_create is the archive's where that LevelDB has none.
foreach(host bare create)
  program(archive_on_fake_${host} C PARTS fake_user database
    LINK -Wl,-u,_ZN7leveldb20NewBloomFilterPolicyEi leveldb_bloom::static routes_fake_${host} ${libdl})
endforeach()
route_test(link.static-unknown-host NO_DATABASES
  SAYS "active: original (a LevelDB whose std::string is not known)"
    "made by: libroutes_fake_bare" "filter: original" "negative: original, no bits"
  CONTROL $<TARGET_FILE:routes_on_fake_bare> COMMAND $<TARGET_FILE:routes_archive_on_fake_bare>)
route_test(link.static-unknown-host-with-c-api NO_DATABASES ROUTES delegate
  SAYS "active: leveldb_bloom (delegate)" "made by: routes_archive_on_fake_create" "filter: bloom"
  CONTROL $<TARGET_FILE:routes_on_fake_create>
  COMMAND $<TARGET_FILE:routes_archive_on_fake_create>)

# The program hides its LevelDB, and its strings are known by other names than their members'.
route_test(link.hidden-cxx20 ROUTES append-cxx11
  SAYS "active: leveldb_bloom (no LevelDB found)" "made by: libleveldb_bloom"
  CONTROL $<TARGET_FILE:routes_cxx20_control> COMMAND $<TARGET_FILE:routes_cxx20>)

# The program hides its C++ library, and snappy brings another, whose strings do for it.
link_test(hidden-libstdcxx cxx bfd EXPECT ROUTES append-cxx11 SAYS ${active_cxx11}
  LINE ${ours_shared} "${ROUTES_LEVELDB_ARCHIVE}" "${ROUTES_SNAPPY}" -lpthread -static-libstdc++
    -static-libgcc -Wl,--exclude-libs,libstdc++.a)
