// Any leveldb::FilterPolicy through its virtual functions, as LevelDB calls it. The loops are here
// so that a call costs what it costs in LevelDB.

#include <dlfcn.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdint>
#include <string>

using leveldb::FilterPolicy;
using leveldb::Slice;

extern "C" {

// What NewBloomFilterPolicy of that library makes; NULL if there is none. Others see the symbols of
// the host, LevelDB, as if the program were linked with it; any other library uses its own first.
const FilterPolicy* policy_new(const char* library, int bits_per_key, bool host) {
  void* handle =
      dlopen(library, RTLD_NOW | (host ? RTLD_GLOBAL : RTLD_LOCAL | RTLD_DEEPBIND));
  if (handle == nullptr) return nullptr;
  void* create = dlsym(handle, "_ZN7leveldb20NewBloomFilterPolicyEi");
  if (create == nullptr) return nullptr;
  return reinterpret_cast<const FilterPolicy* (*)(int)>(create)(bits_per_key);
}

void policy_delete(const FilterPolicy* policy) { delete policy; }

// The file with the code that answers queries: the fifth virtual function.
const char* policy_file(const FilterPolicy* policy) {
  Dl_info info;
  return dladdr((*reinterpret_cast<void* const* const*>(policy))[4], &info) ? info.dli_fname : "";
}

// Makes filters of `per` keys each. Copies the first `room` bytes of the last one to `out`, and
// returns its length.
size_t policy_create(const FilterPolicy* policy, const Slice* keys, size_t n, size_t per, char* out,
                     size_t room) {
  std::string filter;
  size_t i = 0;
  do {
    filter.clear();
    policy->CreateFilter(keys + i, static_cast<int>(per), &filter);
    i += per;
  } while (per > 0 && i + per <= n);
  if (room > 0) filter.copy(out, room);
  return filter.size();
}

// Queries one filter for many keys. Stores each answer unless `results` is NULL, and returns how
// many are true.
size_t policy_query(const FilterPolicy* policy, const Slice* keys, size_t n, const Slice* filter,
                    bool* results) {
  const Slice asked = *filter;
  size_t ones = 0;
  for (size_t i = 0; i < n; i++) {
    const bool answer = policy->KeyMayMatch(keys[i], asked);
    if (results != nullptr) results[i] = answer;
    ones += answer;
  }
  return ones;
}

// Queries each of many filters for each key.
size_t policy_query_all(const FilterPolicy* policy, const Slice* keys, size_t n,
                        const Slice* filters, size_t num_filters) {
  size_t ones = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < num_filters; j++) ones += policy->KeyMayMatch(keys[i], filters[j]);
  }
  return ones;
}

// Queries filters[i] for keys[i].
size_t policy_query_each(const FilterPolicy* policy, const Slice* keys, size_t n,
                         const Slice* filters) {
  size_t ones = 0;
  for (size_t i = 0; i < n; i++) ones += policy->KeyMayMatch(keys[i], filters[i]);
  return ones;
}

}  // extern "C"
