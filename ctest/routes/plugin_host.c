/* Loads plugins with RTLD_LOCAL, says whether the global scope has a LevelDB, and runs the last:
 *
 *   plugin_host PLUGIN... */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "database.h"

int main(int count, char **arguments) {
  if (count < 2) die("plugin_host PLUGIN...");
  void *plugin = NULL;
  for (int i = 1; i < count; i++) plugin = load(arguments[i], RTLD_LOCAL);
  puts(dlsym(RTLD_DEFAULT, "leveldb_open") == NULL ? "no LevelDB" : "LevelDB");
  ((void (*)(void))find(plugin, "run"))();
  return 0;
}
