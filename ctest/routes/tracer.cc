// A library that looks at who makes policies, and hands on to whom the loader finds next.

#include <dlfcn.h>
#include <leveldb/filter_policy.h>

#include <cstdio>
#include <cstdlib>

const leveldb::FilterPolicy* leveldb::NewBloomFilterPolicy(int bits_per_key) {
  static int calls = 0;
  if (++calls > 1) {
    std::puts("traced twice");
    std::exit(1);
  }
  const auto next = reinterpret_cast<const FilterPolicy* (*)(int)>(
      dlsym(RTLD_NEXT, "_ZN7leveldb20NewBloomFilterPolicyEi"));
  return next(bits_per_key);
}
