// Says what the policy that a program gets calls its filters, and with an argument, which is active.

#include <leveldb/filter_policy.h>

#include <cstdio>

extern "C" __attribute__((weak)) const char* leveldb_bloom_active();

int main(int count, char**) {
  const leveldb::FilterPolicy* policy = leveldb::NewBloomFilterPolicy(10);
  std::puts(policy->Name());
  delete policy;
  if (count > 1) std::puts(leveldb_bloom_active == nullptr ? "absent" : leveldb_bloom_active());
  return 0;
}
