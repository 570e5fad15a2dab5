/* A policy of the user's own callbacks. Linked with a LevelDB: custom DIRECTORY. Compiled with
 * LOADED and linked with none: custom LEVELDB DIRECTORY, which loads that file with RTLD_LOCAL, and
 * takes the policy's functions from there and, where it has them, from the global scope.
 *
 * The filter is the set of the keys' last bytes, behind a mark. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "proof.h"

enum { MARK = 'f' };

struct state {
  int destroyed, filters, queries;
};

static void destructor(void *state) { ((struct state *)state)->destroyed++; }

static char *create_filter(void *state, const char *const *keys, const size_t *lengths,
                           int num_keys, size_t *filter_length) {
  ((struct state *)state)->filters++;
  char *filter = malloc(257);
  if (filter == NULL) die("no memory");
  size_t length = 0;
  filter[length++] = MARK;
  for (int i = 0; i < num_keys; i++) {
    char last = keys[i][lengths[i] - 1];
    if (memchr(filter + 1, last, length - 1) == NULL) filter[length++] = last;
  }
  *filter_length = length;
  return filter;
}

static uint8_t key_may_match(void *state, const char *key, size_t length, const char *filter,
                             size_t filter_length) {
  ((struct state *)state)->queries++;
  if (filter_length == 0 || filter[0] != MARK) die("not the filter that was made");
  return memchr(filter + 1, key[length - 1], filter_length - 1) != NULL;
}

static const char *name(void *state) {
  (void)state;
  return "custom";
}

typedef __typeof__(leveldb_filterpolicy_create) create_fn;
typedef __typeof__(leveldb_filterpolicy_destroy) destroy_fn;

static void use(const struct leveldb *leveldb, create_fn *create, destroy_fn *destroy,
                const char *directory, const char *database) {
  struct state state = {0, 0, 0};
  char *path = path_in(directory, database);
  leveldb_filterpolicy_t *policy =
      create(&state, destructor, create_filter, key_may_match, name);
  if (policy == NULL) die("no policy");
  print_maker(policy);
  use_database(leveldb, policy, path);
  if (state.filters == 0 || state.queries == 0) die("the callbacks were not called");
  if (state.destroyed != 0) die("destroyed too early");
  destroy(policy);
  if (state.destroyed != 1) die("destroyed %d times", state.destroyed);
  free(path);
}

#ifndef LOADED

int main(int argc, char **argv) {
  static const struct leveldb leveldb = LINKED_LEVELDB;
  if (argc != 2) die("usage: %s DIRECTORY", argv[0]);
  print_module("created by", dlsym(RTLD_DEFAULT, "leveldb_filterpolicy_create"));
  use(&leveldb, leveldb_filterpolicy_create, leveldb_filterpolicy_destroy, argv[1], "database");
  return 0;
}

#else

int main(int argc, char **argv) {
  if (argc != 3) die("usage: %s LEVELDB DIRECTORY", argv[0]);
  struct leveldb leveldb = loaded_leveldb(load(argv[1], RTLD_LOCAL));
  create_fn *own_create = leveldb.filterpolicy_create;
  destroy_fn *own_destroy = leveldb.filterpolicy_destroy;
  use(&leveldb, own_create, own_destroy, argv[2], "own");

  create_fn *create = (create_fn *)dlsym(RTLD_DEFAULT, "leveldb_filterpolicy_create");
  if (create == NULL) return 0;
  destroy_fn *destroy = (destroy_fn *)find(RTLD_DEFAULT, "leveldb_filterpolicy_destroy");
  print_module("created by", (const void *)create);
  use(&leveldb, own_create, destroy, argv[2], "destroyed-globally");
  use(&leveldb, create, own_destroy, argv[2], "created-globally");
  use(&leveldb, create, destroy, argv[2], "global");
  return 0;
}

#endif
