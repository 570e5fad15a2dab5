// Says what the policy that a program gets calls its filters.

#include <leveldb/filter_policy.h>

#include <cstdio>

int main() {
  const leveldb::FilterPolicy* policy = leveldb::NewBloomFilterPolicy(10);
  std::puts(policy->Name());
  delete policy;
  return 0;
}
