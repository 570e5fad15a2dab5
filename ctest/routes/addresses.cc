// A program that is not position-independent and takes the addresses of both of LevelDB's names: it has
// entries of its own for them, which are what the process knows them by.
#include <cstdio>

#include <leveldb/c.h>
#include <leveldb/filter_policy.h>

#include "leveldb_bloom.h"

int main() {
  leveldb_filterpolicy_t *(*volatile create)(int) = leveldb_filterpolicy_create_bloom;
  const leveldb::FilterPolicy *(*volatile make)(int) = leveldb::NewBloomFilterPolicy;
  leveldb_filterpolicy_destroy(create(10));
  delete make(10);
  leveldb_options_destroy(leveldb_options_create());
  puts(leveldb_bloom_active());
}
