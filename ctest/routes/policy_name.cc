// Says what the policy that a program gets calls its filters, and with an argument, which is active. With
// another, the file of a library, once that is loaded for itself.

#include <dlfcn.h>
#include <leveldb/filter_policy.h>

#include <cstdio>

extern "C" __attribute__((weak)) const char* leveldb_bloom_active();

int main(int count, char** arguments) {
  if (count > 2 && dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const leveldb::FilterPolicy* policy = leveldb::NewBloomFilterPolicy(10);
  std::puts(policy->Name());
  delete policy;
  if (count > 1) std::puts(leveldb_bloom_active == nullptr ? "absent" : leveldb_bloom_active());
  return 0;
}
