/* A program that uses the library without any LevelDB. Its argument says which of the two
 * libraries it should have: shared or static. */

#include <dlfcn.h>

#include "proof.h"

int main(int argc, char **argv) {
  static const char golden[] = "\x11\x40\x00\x41\x44\x10\x40\x10\x06";
  const char *const keys[] = {"hello", "world"};
  const size_t lengths[] = {5, 5};
  const struct leveldb_bloom_vtable *callbacks = leveldb_bloom_vtable();
  struct leveldb_bloom_policy *policy;
  size_t length = 0;
  char *filter;
  void *shared = dlopen("libleveldb_bloom.so.1", RTLD_LAZY | RTLD_NOLOAD);

  EXPECT(argc == 2);
  EXPECT((shared != NULL) == (strcmp(argv[1], "shared") == 0));

  proof_begin(argv[0]);
  policy = leveldb_bloom_policy_create(10);
  filter = leveldb_bloom_create_filter(policy, keys, lengths, 2, &length);
  EXPECT(length == 9 && memcmp(filter, golden, 9) == 0);
  EXPECT(callbacks->key_may_match(policy, "hello", 5, filter, length) == 1);
  EXPECT(callbacks->key_may_match(policy, "x", 1, filter, length) == 0);
  EXPECT(leveldb_bloom_key_may_match("world", 5, filter, length) == 1);
  leveldb_bloom_free(filter);
  leveldb_bloom_policy_destroy(policy);
  proof_end();
  EXPECT(proof_count("filters") == 1 && proof_count("keys") == 2);
  EXPECT(proof_count("queries") == 2 && proof_count("negatives") == 1);
  return 0;
}
