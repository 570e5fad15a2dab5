/* A C program that knows nothing of this library: workload DIRECTORY. */

#include <stdlib.h>

#include "database.h"
#include "proof.h"

int main(int argc, char **argv) {
  static const struct leveldb leveldb = LINKED_LEVELDB;
  if (argc != 2) die("usage: %s DIRECTORY", argv[0]);
  leveldb_filterpolicy_t *policy = leveldb_filterpolicy_create_bloom(10);
  print_active();
  print_maker(policy);
  char *directory = path_in(argv[1], "database");
  use_database(&leveldb, policy, directory);
  free(directory);
  leveldb_filterpolicy_destroy(policy);
  return 0;
}
