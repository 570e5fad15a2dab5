/* Runs libraries that have a LevelDB of their own: two that it is linked with, or one that it loads with
 * RTLD_LOCAL.
 *
 *   copies [LIBRARY] DIRECTORY */

#include <dlfcn.h>

#include "database.h"

typedef int workload_fn(int, char **);

static void run(workload_fn *workload, char *directory, char *name) {
  char *arguments[] = {"workload", directory, name, NULL};
  if (workload(3, arguments) != 0) die("%s failed", name);
}

#ifdef LOADED

int main(int argc, char **argv) {
  if (argc != 3) die("usage: %s LIBRARY DIRECTORY", argv[0]);
  run((workload_fn *)find(load(argv[1], RTLD_LOCAL), "embedded_one"), argv[2], "first");
  return 0;
}

#else

workload_fn embedded_one, embedded_two;

int main(int argc, char **argv) {
  if (argc != 2) die("usage: %s DIRECTORY", argv[0]);
  run(embedded_one, argv[1], "first");
  run(embedded_two, argv[1], "second");
  return 0;
}

#endif
