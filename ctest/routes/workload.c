/* A C program that knows nothing of leveldb_bloom: workload [custom] DIRECTORY. With "custom" its
 * filter policy is one of its own callbacks. */

#include <string.h>

#include "program.h"

int main(int argc, char **argv) {
  static const struct leveldb_api leveldb = LINKED_LEVELDB;
  if (argc == 3 && strcmp(argv[1], "custom") == 0) {
    use_custom(&leveldb, leveldb_filterpolicy_create, leveldb_filterpolicy_destroy, argv[2],
               "database");
    return 0;
  }
  if (argc != 2) die("usage: %s [custom] DIRECTORY", argv[0]);
  leveldb_filterpolicy_t *policy = leveldb_filterpolicy_create_bloom(10);
  print_active();
  print_maker(policy);
  use_database(&leveldb, policy, argv[1], "database");
  leveldb_filterpolicy_destroy(policy);
  return 0;
}
