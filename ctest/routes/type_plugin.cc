// A C++ plugin of a C program asks what a policy is before it is asked for a filter: one of its own,
// SHARED with the process, or CUSTOM, of callbacks.

#include <leveldb/c.h>
#include <leveldb/filter_policy.h>
#include <leveldb_bloom.h>

#include <cstdio>
#include <memory>
#include <typeinfo>

namespace {

struct Other : leveldb::FilterPolicy {};

const leveldb::FilterPolicy *create() {
#if defined SHARED
  return reinterpret_cast<const leveldb::FilterPolicy *>(leveldb_bloom_filterpolicy_shared(10));
#elif defined CUSTOM
  const struct leveldb_bloom_vtable *bloom = leveldb_bloom_vtable();
  return reinterpret_cast<const leveldb::FilterPolicy *>(
      leveldb_filterpolicy_create(leveldb_bloom_policy_create(10), bloom->destructor,
                                  bloom->create_filter, bloom->key_may_match, bloom->name));
#else
  return leveldb::NewBloomFilterPolicy(10);
#endif
}

}  // namespace

extern "C" void run() {
  std::unique_ptr<const leveldb::FilterPolicy> policy(create());
  const bool is_other = dynamic_cast<const Other *>(policy.get()) != nullptr;
  std::printf("a %s, %s\n", typeid(*policy).name(), is_other ? "an Other" : "no Other");
}
