/* A library that uses filters alone, and has our archive in it for that. */

#include "leveldb_bloom.h"

size_t NAME(void) {
  struct leveldb_bloom_policy *policy = leveldb_bloom_policy_create(10);
  size_t size = leveldb_bloom_filter_size(policy, 100);
  leveldb_bloom_policy_destroy(policy);
  return size;
}
