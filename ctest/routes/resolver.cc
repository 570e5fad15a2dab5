// A policy and a filter that a program makes while the loader asks it which of two functions one name stands
// for (IFUNC): before anything of the C library that waits for the program's own data, as messages in a
// language do.

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdio>
#include <string>

#include "leveldb_bloom.h"

extern "C" __attribute__((weak)) decltype(leveldb_bloom_live_policies) leveldb_bloom_live_policies;

static size_t size, policies;
static bool found;

extern "C" {
static int Chosen() { return found ? 1 : 0; }
static int (*Choose())() {
  const leveldb::FilterPolicy* const policy = leveldb::NewBloomFilterPolicy(10);
  const leveldb::Slice keys[] = {"hello", "world"};
  std::string filter;
  policy->CreateFilter(keys, 2, &filter);
  size = filter.size();
  found = policy->KeyMayMatch(keys[0], filter) && policy->KeyMayMatch(keys[1], filter);
  policies = leveldb_bloom_live_policies == nullptr ? 0 : leveldb_bloom_live_policies();
  delete policy;
  return Chosen;
}
int Choice() __attribute__((ifunc("Choose")));
}

int main() {
  const bool are_found = Choice() == 1;
  std::printf("%zu bytes, the keys are %s, %zu policies\n", size, are_found ? "found" : "lost", policies);
}
