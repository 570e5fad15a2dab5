// leveldb::FilterPolicy called through its virtual functions, as LevelDB calls it. The loops are
// here so that a call costs what it costs there.

#include <dlfcn.h>
#include <leveldb/c.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <leveldb_bloom.h>

#include <cstdint>
#include <string>

using leveldb::FilterPolicy;
using leveldb::Slice;

extern "C" {

// A policy of the library in that file, which uses its own definitions first. NULL if there is none.
const FilterPolicy* calls_policy(const char* file, int bits_per_key) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) return nullptr;
  void* create = dlsym(library, "_ZN7leveldb20NewBloomFilterPolicyEi");
  if (create == nullptr) return nullptr;
  return reinterpret_cast<const FilterPolicy* (*)(int)>(create)(bits_per_key);
}

// What the C API of the LevelDB in `leveldb` makes of the callbacks of our library in `file`: it lists
// the keys for them, and appends the filter. NULL if there is none.
const FilterPolicy* calls_callbacks_policy(const char* leveldb, const char* file, int bits_per_key) {
  void* host = dlopen(leveldb, RTLD_NOW | RTLD_LOCAL);
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (host == nullptr || library == nullptr) return nullptr;
  const auto make = reinterpret_cast<decltype(&leveldb_filterpolicy_create)>(
      dlsym(host, "leveldb_filterpolicy_create"));
  const auto vtable =
      reinterpret_cast<decltype(&leveldb_bloom_vtable)>(dlsym(library, "leveldb_bloom_vtable"));
  const auto state = reinterpret_cast<decltype(&leveldb_bloom_policy_create)>(
      dlsym(library, "leveldb_bloom_policy_create"));
  if (make == nullptr || vtable == nullptr || state == nullptr) return nullptr;
  const auto* const bloom = vtable();
  // LevelDB's c.cc derives it from FilterPolicy, and from nothing else.
  return reinterpret_cast<const FilterPolicy*>(make(state(bits_per_key), bloom->destructor,
                                                    bloom->create_filter, bloom->key_may_match,
                                                    bloom->name));
}

void calls_destroy(const FilterPolicy* policy) { delete policy; }

// Makes filters of `per` keys each. The last goes to `out` unless that is NULL; returns its length.
size_t calls_create(const FilterPolicy* policy, const Slice* keys, size_t n, size_t per,
                    uint8_t* out) {
  std::string filter;
  for (size_t i = 0; i + per <= n; i += per) {
    filter.clear();
    policy->CreateFilter(keys + i, static_cast<int>(per), &filter);
  }
  if (out != nullptr) filter.copy(reinterpret_cast<char*>(out), filter.size());
  return filter.size();
}

size_t calls_query(const FilterPolicy* policy, const Slice* keys, size_t n, const Slice* filter) {
  const Slice asked = *filter;
  size_t ones = 0;
  for (size_t i = 0; i < n; i++) ones += policy->KeyMayMatch(keys[i], asked);
  return ones;
}

// Which key is next depends on the answer before.
size_t calls_chain(const FilterPolicy* policy, const Slice* keys, size_t n, const Slice* filter) {
  const Slice asked = *filter;
  size_t next = 0, ones = 0;
  for (size_t done = 0; done < n; done++) {
    const size_t yes = policy->KeyMayMatch(keys[next], asked);
    ones += yes;
    next += 1 + yes;
    if (next >= n) next -= n;
  }
  return ones;
}

size_t calls_filters(const FilterPolicy* policy, const Slice* keys, size_t n, const Slice* filters,
                     size_t num_filters) {
  size_t ones = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < num_filters; j++) ones += policy->KeyMayMatch(keys[i], filters[j]);
  }
  return ones;
}

// Each key is asked of the filter that is listed with it.
size_t calls_one_of_many(const FilterPolicy* policy, const Slice* keys, size_t n,
                         const Slice* filters) {
  size_t ones = 0;
  for (size_t i = 0; i < n; i++) ones += policy->KeyMayMatch(keys[i], filters[i]);
  return ones;
}

}  // extern "C"
