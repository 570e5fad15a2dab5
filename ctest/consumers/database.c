/* An ordinary C program with a LevelDB database. Nothing in it asks for leveldb_bloom, except for
 * the proof: how it is linked decides whose filter it has; compiled with CALLBACKS, it has ours. With an
 * argument it leaves the database. */

#include <leveldb/c.h>

#include "proof.h"

enum { KEYS = 5000 };

static size_t key(char *buffer, const char *kind, int i) {
  return (size_t)sprintf(buffer, "%s%06d", kind, i);
}

static void check(char *error) {
  if (error != NULL) {
    fprintf(stderr, "%s\n", error);
    exit(1);
  }
}

int main(int argc, char **argv) {
  leveldb_options_t *options = leveldb_options_create();
  leveldb_readoptions_t *reading = leveldb_readoptions_create();
  leveldb_writeoptions_t *writing = leveldb_writeoptions_create();
  leveldb_filterpolicy_t *policy;
  leveldb_t *db;
  char path[4096], name[32], *error = NULL;
  size_t length;
  int i;

  proof_begin(argv[0]);
  snprintf(path, sizeof path, "%s.db", argv[0]);
#ifdef CALLBACKS
  policy = leveldb_filterpolicy_create(leveldb_bloom_policy_create(10), leveldb_bloom_vtable()->destructor,
                                       leveldb_bloom_vtable()->create_filter,
                                       leveldb_bloom_vtable()->key_may_match, leveldb_bloom_vtable()->name);
#else
  policy = leveldb_filterpolicy_create_bloom(10);
#endif
  leveldb_options_set_create_if_missing(options, 1);
  leveldb_options_set_filter_policy(options, policy);
  leveldb_destroy_db(options, path, &error);
  check(error);
  db = leveldb_open(options, path, &error);
  check(error);
  for (i = 0; i < KEYS; i++) {
    length = key(name, "key", i);
    leveldb_put(db, writing, name, length, name, length, &error);
    check(error);
  }
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  for (i = 0; i < KEYS; i++) {
    size_t value_length = 0;
    char *value;
    length = key(name, "key", i);
    value = leveldb_get(db, reading, name, length, &value_length, &error);
    check(error);
    EXPECT(value != NULL && value_length == length && memcmp(value, name, length) == 0);
    leveldb_free(value);
    /* Between the keys, so that only the filter can tell. */
    length += (size_t)sprintf(name + length, "x");
    value = leveldb_get(db, reading, name, length, &value_length, &error);
    check(error);
    EXPECT(value == NULL);
  }
  leveldb_close(db);
  if (argc == 1) leveldb_destroy_db(options, path, &error);
  check(error);
  leveldb_filterpolicy_destroy(policy);
  leveldb_options_destroy(options);
  leveldb_readoptions_destroy(reading);
  leveldb_writeoptions_destroy(writing);

  proof_end();
  EXPECT(proof_route_is(ROUTE));
  EXPECT(proof_count("filters") > 0 && proof_count("keys") == KEYS);
  EXPECT(proof_count("queries") >= 2 * KEYS - 10);
  EXPECT(proof_count("negatives") > KEYS * 95 / 100);
  return 0;
}
