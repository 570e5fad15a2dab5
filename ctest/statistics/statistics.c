/* Makes policies whose statistics can be foretold: statistics destroy|leave|kill
 *
 * Policy i, of 1 to POLICIES, has i bits per key. Through the callbacks it makes the filter of i keys twice
 * and is queried for their key in a filter without bits and in that one. Then all are destroyed, or left at
 * the end of the program, which may kill itself. Policy 0 is made and not used. */

#define _POSIX_C_SOURCE 200809L

#include <leveldb_bloom.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POLICIES = 12 };

static int use(struct leveldb_bloom_policy *policy, int number) {
  static const char no_bits[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1};
  const struct leveldb_bloom_vtable *table = leveldb_bloom_vtable();
  const char *keys[POLICIES];
  size_t lengths[POLICIES], length;
  char *filter;
  int i, right;
  for (i = 0; i < number; i++) {
    keys[i] = "key";
    lengths[i] = 3;
  }
  free(table->create_filter(policy, keys, lengths, number, &length));
  filter = table->create_filter(policy, keys, lengths, number, &length);
  right = table->key_may_match(policy, "key", 3, no_bits, sizeof no_bits) == 0 &&
          table->key_may_match(policy, "key", 3, filter, length) == 1;
  free(filter);
  return right;
}

int main(int argc, char **argv) {
  struct leveldb_bloom_policy *policies[POLICIES + 1];
  int i;
  if (argc != 2) return 2;
  for (i = 0; i <= POLICIES; i++) {
    policies[i] = leveldb_bloom_policy_create(i);
    if (i > 0 && !use(policies[i], i)) return 1;
  }
  if (strcmp(argv[1], "destroy") == 0) {
    for (i = 0; i <= POLICIES; i++) leveldb_bloom_policy_destroy(policies[i]);
  }
  if (strcmp(argv[1], "kill") == 0) raise(SIGKILL);
  puts(leveldb_bloom_version());
  return 0;
}
