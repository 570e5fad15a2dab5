// A plugin with our archive and a LevelDB of its own, of which it has what a filter needs, and no
// filter policy. Its string is the old one, whatever the string of a LevelDB is that the program has.
// HIDDEN, it has nothing by which a LevelDB is known; SHARED, its policy is got by a name that no LevelDB
// has. BEFORE is what the string has before the filter.

#include <cstddef>
#include <cstdio>
#include <string>
#include <typeinfo>

#ifndef BEFORE
#define BEFORE "before"
#endif

namespace leveldb {

struct Options {};

struct Status {
  void *state = nullptr;
};

struct Slice {
  const char *data;
  size_t size;
};

class FilterPolicy {
 public:
  virtual ~FilterPolicy();
  virtual const char *Name() const = 0;
  virtual void CreateFilter(const Slice *keys, int n, std::string *dst) const = 0;
  virtual bool KeyMayMatch(const Slice &key, const Slice &filter) const = 0;
};

FilterPolicy::~FilterPolicy() = default;

#ifndef HIDDEN
Status DestroyDB(const std::string &, const Options &) { return Status(); }
#endif

const FilterPolicy *NewBloomFilterPolicy(int bits_per_key);

}  // namespace leveldb

extern "C" const leveldb::FilterPolicy *leveldb_bloom_filterpolicy_shared(int bits_per_key);

extern "C" void run() {
#ifdef SHARED
  const leveldb::FilterPolicy *policy = leveldb_bloom_filterpolicy_shared(10);
#else
  const leveldb::FilterPolicy *policy = leveldb::NewBloomFilterPolicy(10);
#endif
  const leveldb::Slice keys[] = {{"hello", 5}, {"world", 5}};
  std::string *filter = new std::string(BEFORE);
  const size_t before = filter->size();
  policy->CreateFilter(keys, 2, filter);
  const leveldb::Slice made = {filter->data() + before, filter->size() - before};
  const bool found = policy->KeyMayMatch(keys[0], made) && policy->KeyMayMatch(keys[1], made);
  std::printf("a %s: %zu bytes, the keys are %s\n", typeid(*policy).name(), made.size,
              found ? "found" : "lost");
  delete filter;
  delete policy;
}
