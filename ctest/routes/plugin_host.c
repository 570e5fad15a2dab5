/* Loads a plugin with RTLD_LOCAL and runs it:
 *
 *   plugin_host PLUGIN
 *
 * Where it is linked to a LevelDB, that is in the global scope, and the plugin's own is not. */

#include <dlfcn.h>
#include <stdio.h>

#ifdef WITH_LEVELDB
#include <leveldb/c.h>
#endif

int main(int count, char **arguments) {
  if (count != 2) return 2;
#ifdef WITH_LEVELDB
  printf("LevelDB %d.%d\n", leveldb_major_version(), leveldb_minor_version());
#endif
  void *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  void (*run)(void);
  *(void **)&run = dlsym(plugin, "run");
  if (run == NULL) return 1;
  run();
  return 0;
}
