/* Ours and another Rust library, both static. Each must keep its own runtime: a panic of the other
 * is caught by the other. */

#include "../proof.h"

unsigned other_sum(unsigned count);

int main(int argc, char **argv) {
  static const char golden[] = "\x11\x40\x00\x41\x44\x10\x40\x10\x06";
  const char *const keys[] = {"hello", "world"};
  const size_t lengths[] = {5, 5};
  struct leveldb_filterpolicy_t *drop_in;
  struct leveldb_bloom_policy *policy;
  size_t length = 0;
  char *filter;

  (void)argc;
  EXPECT(other_sum(100) == 5050);
  EXPECT(other_sum(1000) == 0);

  /* LevelDB's names, so that the part of the archive with the weak ones is in the program. */
  drop_in = leveldb_filterpolicy_create_bloom(10);
  EXPECT(drop_in != NULL);
  leveldb_filterpolicy_destroy(drop_in);

  proof_begin(argv[0]);
  policy = leveldb_bloom_policy_create(10);
  filter = leveldb_bloom_create_filter(policy, keys, lengths, 2, &length);
  EXPECT(length == 9 && memcmp(filter, golden, 9) == 0);
  leveldb_bloom_free(filter);
  leveldb_bloom_policy_destroy(policy);
  proof_end();
  EXPECT(proof_count("filters") == 1 && proof_count("keys") == 2);

  EXPECT(other_sum(1000) == 0);
  return 0;
}
