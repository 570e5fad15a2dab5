// Makes filters with our policy and no LevelDB, in a string of which the compiler writes out all: nothing that
// this file imports says which kind it is. The second filter is appended to a string that is no longer short.

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdio>
#include <string>

#include "leveldb_bloom.h"

constexpr int kKeys = 100;

static bool AreFound(const leveldb::FilterPolicy* policy, const leveldb::Slice* keys, int n,
                     const leveldb::Slice& filter) {
  int found = 0;
  for (int i = 0; i < n; i++) found += policy->KeyMayMatch(keys[i], filter);
  return found == n;
}

extern "C" void run() {
  static const char bytes[kKeys + 8] = "keys that overlap";
  leveldb::Slice keys[kKeys];
  for (int i = 0; i < kKeys; i++) keys[i] = leveldb::Slice(bytes + i, 8);
  const leveldb::FilterPolicy* const policy = leveldb::NewBloomFilterPolicy(10);
  std::string filters;
  policy->CreateFilter(keys, kKeys, &filters);
  const std::size_t first = filters.size();
  policy->CreateFilter(keys, 2, &filters);
  const bool found = AreFound(policy, keys, kKeys, leveldb::Slice(filters.data(), first)) &&
                     AreFound(policy, keys, 2, leveldb::Slice(filters.data() + first, filters.size() - first));
  std::printf("%zu and %zu bytes, the keys are %s, %zu policy\n", first, filters.size() - first,
              found ? "found" : "lost", leveldb_bloom_live_policies());
  delete policy;
}

int main() { run(); }
