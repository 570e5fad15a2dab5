# Plugins, loaded with RTLD_LOCAL, by a program with a LevelDB in the global scope and by one without.
# They say whose policy they got: the type is ours.

part(plugin_host plugin_host.c)
program(plugin_host_alone C PARTS plugin_host database LINK ${CMAKE_DL_LIBS})
program(plugin_host_cxx CXX PARTS plugin_host database
  LINK ${CMAKE_DL_LIBS} -Wl,--no-as-needed -lstdc++)
program(plugin_host_leveldb C PARTS plugin_host database
  LINK ${CMAKE_DL_LIBS} -Wl,--no-as-needed "${ROUTES_LEVELDB}")

# plugin(NAME SOURCE)
function(plugin name source)
  add_library(routes_${name} MODULE ${source})
  target_compile_options(routes_${name} PRIVATE -Wall -Wextra -Werror)
  set_target_properties(routes_${name} PROPERTIES CXX_STANDARD 17)
endfunction()
foreach(kind OWN SHARED CUSTOM)
  plugin(type_plugin_${kind} type_plugin.cc)
  target_compile_definitions(routes_type_plugin_${kind} PRIVATE ${kind})
  target_link_libraries(routes_type_plugin_${kind} PRIVATE leveldb_bloom::shared "${ROUTES_LEVELDB}")
endforeach()
foreach(kind PARTIAL HOST)
  plugin(type_plugin_${kind} type_plugin.cc)
  target_compile_definitions(routes_type_plugin_${kind} PRIVATE ${kind})
  target_link_libraries(routes_type_plugin_${kind} PRIVATE leveldb_bloom::shared)
endforeach()
plugin(old_string_plugin old_string_plugin.cc)
target_compile_definitions(routes_old_string_plugin PRIVATE _GLIBCXX_USE_CXX11_ABI=0)
target_link_libraries(routes_old_string_plugin PRIVATE leveldb_bloom::static -Wl,-Bsymbolic)
# It links another LevelDB, too, whose string is the new one.
plugin(old_string_plugin_linked old_string_plugin.cc)
target_compile_definitions(routes_old_string_plugin_linked PRIVATE _GLIBCXX_USE_CXX11_ABI=0)
target_link_libraries(routes_old_string_plugin_linked
  PRIVATE leveldb_bloom::shared -Wl,--no-as-needed "${ROUTES_LEVELDB}")
plugin(old_string_plugin_hidden old_string_plugin.cc)
target_compile_definitions(routes_old_string_plugin_hidden
  PRIVATE _GLIBCXX_USE_CXX11_ABI=0 HIDDEN)
target_link_libraries(routes_old_string_plugin_hidden PRIVATE leveldb_bloom::shared)
plugin(old_string_plugin_hidden_static old_string_plugin.cc)
target_compile_definitions(routes_old_string_plugin_hidden_static
  PRIVATE _GLIBCXX_USE_CXX11_ABI=0 HIDDEN SHARED)
target_link_libraries(routes_old_string_plugin_hidden_static PRIVATE leveldb_bloom::static)

plugin(old_string_plugin_shared old_string_plugin.cc)
target_compile_definitions(routes_old_string_plugin_shared PRIVATE _GLIBCXX_USE_CXX11_ABI=0)
target_link_libraries(routes_old_string_plugin_shared PRIVATE leveldb_bloom::shared)
# Of whose C++ library nothing tells which string it uses: that shows only in the string, if it is short.
foreach(kind short long)
  plugin(own_${kind}_string_plugin old_string_plugin.cc)
  target_compile_definitions(routes_own_${kind}_string_plugin PRIVATE HIDDEN)
  target_link_libraries(routes_own_${kind}_string_plugin
    PRIVATE leveldb_bloom::shared -static-libstdc++ -static-libgcc -Wl,-u,_ZNSs6appendEPKcm)
endforeach()
target_compile_definitions(routes_own_long_string_plugin PRIVATE BEFORE="16 bytes before.")
# It shows its LevelDB, and hides the C++ library in it.
plugin(hidden_string_plugin old_string_plugin.cc)
target_compile_definitions(routes_hidden_string_plugin PRIVATE _GLIBCXX_USE_CXX11_ABI=0)
target_link_libraries(routes_hidden_string_plugin
  PRIVATE leveldb_bloom::shared -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
plugin(own_library_plugin own_library_plugin.cc)
target_link_libraries(routes_own_library_plugin
  PRIVATE leveldb_bloom::shared -static-libstdc++ -static-libgcc)

plugin(hidden_library_plugin hidden_library_plugin.cc)
target_link_libraries(routes_hidden_library_plugin PRIVATE "${ROUTES_LEVELDB_ARCHIVE}"
  "${ROUTES_SNAPPY}" -lpthread -static-libstdc++ -static-libgcc
  "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/hidden_library_plugin.map")

# plugin_test(NAME HOST PLUGIN LINE...)
function(plugin_test name host plugin)
  list(JOIN ARGN "\n" lines)
  add_test(NAME routes.plugin.${name}
    COMMAND $<TARGET_FILE:routes_${host}> $<TARGET_FILE:routes_${plugin}>)
  set_tests_properties(routes.plugin.${name} PROPERTIES LABELS routes TIMEOUT 60
    PASS_REGULAR_EXPRESSION "^${lines}\n$")
endfunction()
set(ours "a N13leveldb_bloom12FilterPolicyE")
foreach(kind OWN SHARED CUSTOM)
  plugin_test(type.${kind} plugin_host_alone type_plugin_${kind} "no LevelDB" "${ours}, no Other")
  set_tests_properties(routes.plugin.type.${kind} PROPERTIES
    ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>)
endforeach()
plugin_test(type.PARTIAL plugin_host_alone type_plugin_PARTIAL "no LevelDB"
  "${ours}, no Other, derived")
plugin_test(type.HOST plugin_host_alone type_plugin_HOST "no LevelDB" "${ours}, no Other, derived")
# One with another C++ library than its program has: the loader gives it the program's types.
set(libcxx_plugin "${CMAKE_CURRENT_BINARY_DIR}/type_plugin_libcxx.so")
add_custom_command(OUTPUT "${libcxx_plugin}"
  COMMAND "${ROUTES_CLANGXX}" -std=c++17 -O2 -stdlib=libc++ -fPIC -shared
    "-I${LEVELDB_SOURCE_DIR}/include" "-I${PROJECT_SOURCE_DIR}/include"
    "${CMAKE_CURRENT_SOURCE_DIR}/type_plugin.cc" -o "${libcxx_plugin}"
    $<TARGET_FILE:routes_libcxx_host> "-Wl,-rpath,$<TARGET_FILE_DIR:routes_libcxx_host>"
  DEPENDS type_plugin.cc routes_libcxx_host_build)
add_custom_target(routes_type_plugin_libcxx ALL DEPENDS "${libcxx_plugin}")
add_test(NAME routes.plugin.type.libcxx COMMAND routes_plugin_host_cxx "${libcxx_plugin}")
set_tests_properties(routes.plugin.type.libcxx PROPERTIES LABELS routes TIMEOUT 60
  ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>
  PASS_REGULAR_EXPRESSION "^no LevelDB\n${ours}, no Other\n$")
# Where we were first loaded with a LevelDB whose policy is another, by a plugin for itself.
foreach(kind old fork more)
  plugin(${kind}_policy_plugin policy_name.cc)
  target_link_libraries(routes_${kind}_policy_plugin
    PRIVATE -Wl,--no-as-needed leveldb_bloom::shared routes_${kind}_policy ${CMAKE_DL_LIBS})
  add_test(NAME routes.plugin.type.OWN.${kind} COMMAND routes_plugin_host_alone
    $<TARGET_FILE:routes_${kind}_policy_plugin> $<TARGET_FILE:routes_type_plugin_OWN>)
  set_tests_properties(routes.plugin.type.OWN.${kind} PROPERTIES LABELS routes TIMEOUT 60
    PASS_REGULAR_EXPRESSION "^no LevelDB\n${ours}, no Other\n$")
endforeach()
# Of a program that has a C++ library, and so the half of what a type needs.
plugin_test(type.HOST.cxx plugin_host_cxx type_plugin_HOST "no LevelDB" "${ours}, no Other, derived")
foreach(kind PARTIAL HOST HOST.cxx)
  set_tests_properties(routes.plugin.type.${kind} PROPERTIES
    ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>)
endforeach()
set(found "${ours}: 9 bytes, the keys are found")
plugin_test(old_string plugin_host_alone old_string_plugin "no LevelDB" "${found}")
plugin_test(old_string.linked plugin_host_alone old_string_plugin_linked "no LevelDB" "${found}")
plugin_test(old_string.leveldb plugin_host_leveldb old_string_plugin "LevelDB" "${found}")
# The global scope has a host with a C API and a string of its own.
plugin_test(old_string.hidden plugin_host_alone old_string_plugin_hidden "no LevelDB" "${found}")
set_tests_properties(routes.plugin.old_string.hidden PROPERTIES ENVIRONMENT
  "LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>:$<TARGET_FILE:routes_fake_create>")
plugin_test(old_string.hidden_static plugin_host_alone old_string_plugin_hidden_static "no LevelDB"
  "${found}")
set_tests_properties(routes.plugin.old_string.hidden_static PROPERTIES ENVIRONMENT
  "LD_PRELOAD=$<TARGET_FILE:routes_fake_create>")

# We see another plugin's C++ library, and it is not that of the caller's string.
plugin_test(old_string.shared plugin_host_alone old_string_plugin_shared "no LevelDB" "${found}")
add_test(NAME routes.plugin.another_library COMMAND routes_plugin_host_alone
  $<TARGET_FILE:routes_own_library_plugin> $<TARGET_FILE:routes_old_string_plugin_shared>)
set_tests_properties(routes.plugin.another_library PROPERTIES LABELS routes TIMEOUT 60
  PASS_REGULAR_EXPRESSION "^no LevelDB\n${found}\n$")
plugin_test(own_string.short plugin_host_alone own_short_string_plugin "no LevelDB" "${found}")
add_test(NAME routes.plugin.own_string.long COMMAND sh -c "\"$@\" 2>&1; true" sh
  $<TARGET_FILE:routes_plugin_host_alone> $<TARGET_FILE:routes_own_long_string_plugin>)
# Nor is it that of another plugin's LevelDB.
set(beside_alone)
set(beside_another $<TARGET_FILE:routes_type_plugin_OWN>)
foreach(beside alone another)
  add_test(NAME routes.plugin.hidden_string.${beside} COMMAND sh -c "\"$@\" 2>&1; true" sh
    $<TARGET_FILE:routes_plugin_host_alone> ${beside_${beside}}
    $<TARGET_FILE:routes_hidden_string_plugin>)
  list(APPEND stopped routes.plugin.hidden_string.${beside})
endforeach()
set_tests_properties(routes.plugin.own_string.long ${stopped} PROPERTIES LABELS routes TIMEOUT 60
  PASS_REGULAR_EXPRESSION "leveldb_bloom: the caller's std::string cannot be found")
# Its headers, which a tool has moved, do not say what it imports.
set(moved "${CMAKE_CURRENT_BINARY_DIR}/headers_at_end_plugin.so")
add_custom_command(OUTPUT "${moved}"
  COMMAND "${ROUTES_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/headers_at_end.py"
    $<TARGET_FILE:routes_old_string_plugin_hidden> "${moved}"
  DEPENDS headers_at_end.py routes_old_string_plugin_hidden)
add_custom_target(routes_headers_at_end_plugin ALL DEPENDS "${moved}")
foreach(beside alone another)
  add_test(NAME routes.plugin.headers_at_end.${beside}
    COMMAND routes_plugin_host_alone ${beside_${beside}} "${moved}")
  set_tests_properties(routes.plugin.headers_at_end.${beside} PROPERTIES LABELS routes TIMEOUT 60
    PASS_REGULAR_EXPRESSION "^no LevelDB\n${found}\n$")
endforeach()

# The original makes its filters; ours answers.
plugin_test(hidden_library plugin_host_alone hidden_library_plugin "no LevelDB"
  "${ours}: 100 keys are found")
set_tests_properties(routes.plugin.hidden_library PROPERTIES ENVIRONMENT
  "LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>")

# Its policies are called by another LevelDB, with the new string.
route_test(plugin.old_string.static_preloaded ROUTES append-cxx11
  CONTROL $<TARGET_FILE:routes_c>
  COMMAND "${CMAKE_COMMAND}" -E env "LD_PRELOAD=$<TARGET_FILE:routes_old_string_plugin>"
    $<TARGET_FILE:routes_c>)
