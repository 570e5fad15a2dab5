# Plugins, loaded with RTLD_LOCAL.

function(plugin_host name)
  add_executable(routes_${name} plugin_host.c)
  target_compile_options(routes_${name} PRIVATE -Wall -Wextra -Werror)
  set_target_properties(routes_${name} PROPERTIES C_STANDARD 11)
  target_link_libraries(routes_${name} PRIVATE ${CMAKE_DL_LIBS})
endfunction()
plugin_host(plugin_host)
plugin_host(plugin_host_leveldb)
target_compile_definitions(routes_plugin_host_leveldb PRIVATE WITH_LEVELDB)
target_link_libraries(routes_plugin_host_leveldb PRIVATE "${ROUTES_LEVELDB}")

function(plugin name)
  add_library(routes_${name} MODULE ${name}.cc)
  target_compile_options(routes_${name} PRIVATE -Wall -Wextra -Werror)
  set_target_properties(routes_${name} PROPERTIES CXX_STANDARD 17)
endfunction()
plugin(type_plugin)
target_link_libraries(routes_type_plugin PRIVATE "${ROUTES_LEVELDB}")
plugin(old_string_plugin)
target_compile_definitions(routes_old_string_plugin PRIVATE _GLIBCXX_USE_CXX11_ABI=0)
target_link_libraries(routes_old_string_plugin PRIVATE leveldb_bloom::static -Wl,-Bsymbolic)

# plugin_test(NAME HOST PLUGIN OUTPUT)
function(plugin_test name host plugin output)
  add_test(NAME routes.plugin.${name}
    COMMAND $<TARGET_FILE:routes_${host}> $<TARGET_FILE:routes_${plugin}>)
  set_tests_properties(routes.plugin.${name} PROPERTIES LABELS routes TIMEOUT 60
    PASS_REGULAR_EXPRESSION "${output}")
endfunction()
plugin_test(type plugin_host type_plugin "^a N13leveldb_bloom12FilterPolicyE, no Other\n$")
set_tests_properties(routes.plugin.type PROPERTIES
  ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>)
set(found "9 bytes, the keys are found\n$")
plugin_test(old_string plugin_host old_string_plugin "^${found}")
plugin_test(old_string.leveldb plugin_host_leveldb old_string_plugin "^LevelDB [0-9.]+\n${found}")
