// A plugin with a LevelDB that nobody else sees, and a policy by the callback table; or, HIDDEN, code
// that calls CreateFilter with a string of its own and has no LevelDB that anybody could find; with MAIN
// in a program.

#include <dlfcn.h>

#include <cstring>
#include <string>

#include "leveldb/filter_policy.h"
#include "leveldb/slice.h"
#include "leveldb_bloom.h"

extern "C" {
#ifdef HIDDEN
size_t table() {
  std::string bytes = "before ";
  const leveldb::Slice keys[] = {"hello", "world"};
  const leveldb::FilterPolicy* policy = leveldb::NewBloomFilterPolicy(10);
  for (int i = 0; i < 3; i++) policy->CreateFilter(keys, 2, &bytes);
  delete policy;
  const std::string filter("\x11\x40\x00\x41\x44\x10\x40\x10\x06", 9);
  return bytes == "before " + filter + filter + filter ? bytes.size() : 0;
}
#else
leveldb_filterpolicy_t* leveldb_filterpolicy_create(
    void*, void (*)(void*), char* (*)(void*, const char* const*, const size_t*, int, size_t*),
    uint8_t (*)(void*, const char*, size_t, const char*, size_t), const char* (*)(void*));
size_t small_host_table(leveldb_filterpolicy_t*);

size_t table() {
  // Its LevelDB comes behind us, or the test would be of nothing.
  Dl_info info = {};
  void* const create = reinterpret_cast<void*>(leveldb_filterpolicy_create);
  if (dladdr(create, &info) == 0 || std::strstr(info.dli_fname, "/libleveldb_bloom.so") == nullptr) {
    return 0;
  }
  const struct leveldb_bloom_vtable* bloom = leveldb_bloom_vtable();
  return small_host_table(leveldb_filterpolicy_create(
      leveldb_bloom_policy_create(10), bloom->destructor, bloom->create_filter,
      bloom->key_may_match, bloom->name));
}
#endif
}

#ifdef MAIN
int main() { return table() == 0; }
#endif
