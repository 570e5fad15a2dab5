/* A library with a LevelDB that nobody else sees, and our archive in front of it or not. NAME is its
 * function, "only_ours" for a library that has the archive and no LevelDB. */

#ifdef ONLY_OURS
const char *leveldb_bloom_active(void);
const char *NAME(void) { return leveldb_bloom_active(); }
#else
#include "program.h"

#define TEXT(name) #name
#define NAME_OF(name) TEXT(name)

void NAME(const char *directory) {
  static const struct leveldb_api leveldb = LINKED_LEVELDB;
  leveldb_filterpolicy_t *policy = leveldb_filterpolicy_create_bloom(10);
  print_maker(policy);
  use_database(&leveldb, policy, directory, NAME_OF(NAME));
  leveldb_filterpolicy_destroy(policy);
}
#endif
