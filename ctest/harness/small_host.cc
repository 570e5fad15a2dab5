// What of a LevelDB matters to a filter policy: the C API's object for callbacks, a function that has
// its string in its name, and something that makes tables. Built with either string of libstdc++.

#include <cstdlib>
#include <string>
#include <vector>

#include "leveldb/filter_policy.h"
#include "leveldb/slice.h"

namespace leveldb {
struct Options;
FilterPolicy::~FilterPolicy() = default;
void DestroyDB(const std::string&, const Options&) {}
}  // namespace leveldb

struct leveldb_filterpolicy_t : leveldb::FilterPolicy {
  void* state;
  void (*destructor)(void*);
  char* (*create)(void*, const char* const*, const size_t*, int, size_t*);
  unsigned char (*match)(void*, const char*, size_t, const char*, size_t);
  const char* (*name)(void*);

  ~leveldb_filterpolicy_t() override { destructor(state); }
  const char* Name() const override { return name(state); }
  void CreateFilter(const leveldb::Slice* keys, int n, std::string* dst) const override {
    std::vector<const char*> pointers;
    std::vector<size_t> lengths;
    for (int i = 0; i < n; i++) {
      pointers.push_back(keys[i].data());
      lengths.push_back(keys[i].size());
    }
    size_t length = 0;
    char* filter = create(state, pointers.data(), lengths.data(), n, &length);
    dst->append(filter, length);
    std::free(filter);
  }
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    return match(state, key.data(), key.size(), filter.data(), filter.size()) != 0;
  }
};

extern "C" leveldb_filterpolicy_t* leveldb_filterpolicy_create(
    void* state, void (*destructor)(void*),
    char* (*create)(void*, const char* const*, const size_t*, int, size_t*),
    unsigned char (*match)(void*, const char*, size_t, const char*, size_t),
    const char* (*name)(void*)) {
  auto* policy = new leveldb_filterpolicy_t;
  policy->state = state;
  policy->destructor = destructor;
  policy->create = create;
  policy->match = match;
  policy->name = name;
  return policy;
}

// A table of three filters, after whatever came before them. Returns its bytes.
extern "C" size_t small_host_table(leveldb_filterpolicy_t* policy) {
  std::string table = "before ";
  const leveldb::Slice keys[] = {"hello", "world"};
  for (int i = 0; i < 3; i++) policy->CreateFilter(keys, 2, &table);
  const std::string filter("\x11\x40\x00\x41\x44\x10\x40\x10\x06", 9);
  const bool right = table == "before " + filter + filter + filter;
  delete policy;
  return right ? table.size() : 0;
}
