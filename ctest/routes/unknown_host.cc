// See unknown_host.h. WITH_CREATE it also has leveldb_filterpolicy_create.

#include "unknown_host.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

// Not laid out as any std::string: who takes it for one writes to address 1.
class Text {
 public:
  void Append(const char* data, size_t size) {
    if (full) throw std::bad_alloc();
    data_ = static_cast<char*>(std::realloc(data_, size_ + size));
    std::memcpy(data_ + size_, data, size);
    size_ += size;
  }
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  ~Text() { std::free(data_); }

  static bool full;

 private:
  const uintptr_t no_pointer_ = 1;
  const uintptr_t no_size_ = ~uintptr_t{0};
  char* data_ = nullptr;
  size_t size_ = 0;
};

bool Text::full = false;

}  // namespace

namespace leveldb {

struct Slice {
  const char* data;
  size_t size;
};

// The layout that every leveldb::FilterPolicy has.
class FilterPolicy {
 public:
  virtual ~FilterPolicy() {}
  virtual const char* Name() const = 0;
  virtual void CreateFilter(const Slice* keys, int n, Text* dst) const = 0;
  virtual bool KeyMayMatch(const Slice& key, const Slice& filter) const = 0;
};

}  // namespace leveldb

using leveldb::FilterPolicy;
using leveldb::Slice;

namespace {

int living = 0;

class HostsPolicy : public FilterPolicy {
 public:
  HostsPolicy() { living++; }
  ~HostsPolicy() override { living--; }
};

// LevelDB's filter of "hello" and "world" at 9 bits a key, and the ribbon filter; the host's own has one
// bit more than LevelDB's, by which it is told from ours.
const char kBloom[] = "\x11\x40\x00\x41\x44\x10\x40\x10\x06";
const char kOriginal[] = "\x13\x40\x00\x41\x44\x10\x40\x10\x06";
const char kRibbon[] = "\xbe\x87\x02\x00\x00\x00\x00\x00\xa0";
const size_t kSize = sizeof kBloom - 1;

class OriginalPolicy : public HostsPolicy {
 public:
  const char* Name() const override { return "leveldb.BuiltinBloomFilter2"; }
  void CreateFilter(const Slice*, int, Text* dst) const override { dst->Append(kOriginal, kSize); }
  bool KeyMayMatch(const Slice& key, const Slice&) const override {
    return std::memcmp(key.data, "absent", key.size) != 0;
  }
};

}  // namespace

// With default visibility, so that an earlier definition is used instead.
namespace leveldb {
const FilterPolicy* NewBloomFilterPolicy(int) { return new OriginalPolicy; }
}  // namespace leveldb

extern "C" const FilterPolicy* leveldb_filterpolicy_create_bloom(int bits_per_key) {
  return leveldb::NewBloomFilterPolicy(bits_per_key);
}

#ifdef WITH_CREATE

typedef char* CreateFn(void*, const char* const*, const size_t*, int, size_t*);
typedef uint8_t MatchFn(void*, const char*, size_t, const char*, size_t);

class CallbackPolicy : public HostsPolicy {
 public:
  CallbackPolicy(void* state, void (*destructor)(void*), CreateFn* create, MatchFn* match,
                 const char* (*name)(void*))
      : state_(state), destructor_(destructor), create_(create), match_(match), name_(name) {}
  ~CallbackPolicy() override { destructor_(state_); }
  const char* Name() const override { return name_(state_); }
  void CreateFilter(const Slice* keys, int n, Text* dst) const override {
    const char* pointers[2];
    size_t lengths[2], length = 0;
    for (int i = 0; i < n; i++) {
      pointers[i] = keys[i].data;
      lengths[i] = keys[i].size;
    }
    char* filter = create_(state_, pointers, lengths, n, &length);
    dst->Append(filter, length);
    std::free(filter);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return match_(state_, key.data, key.size, filter.data, filter.size) != 0;
  }

 private:
  void* const state_;
  void (*const destructor_)(void*);
  CreateFn* const create_;
  MatchFn* const match_;
  const char* (*const name_)(void*);
};

extern "C" FilterPolicy* leveldb_filterpolicy_create(void* state, void (*destructor)(void*),
                                                     CreateFn* create, MatchFn* match,
                                                     const char* (*name)(void*)) {
  return new CallbackPolicy(state, destructor, create, match, name);
}

#endif

static const Slice kKeys[] = {{"hello", 5}, {"world", 5}};

void* unknown_host_policy(int bits_per_key) {
  return const_cast<FilterPolicy*>(leveldb_filterpolicy_create_bloom(bits_per_key));
}

int unknown_host_use(void* object, const char** made_by) {
  const FilterPolicy* policy = static_cast<const FilterPolicy*>(object);
  *made_by = "other bytes";
  for (int round = 0; round < 3; round++) {
    Text text;
    text.Append("before", 6);
    policy->CreateFilter(kKeys, 2, &text);
    if (std::memcmp(text.data(), "before", 6) != 0) return 1;
    const Slice filter = {text.data() + 6, text.size() - 6};
    if (filter.size != kSize) return 2;
    if (std::memcmp(filter.data, kBloom, kSize) == 0) *made_by = "bloom";
    if (std::memcmp(filter.data, kRibbon, kSize) == 0) *made_by = "ribbon";
    if (std::memcmp(filter.data, kOriginal, kSize) == 0) *made_by = "original";
    for (const Slice& key : kKeys)
      if (!policy->KeyMayMatch(key, filter)) return 3;
    if (policy->KeyMayMatch(Slice{"absent", 6}, filter)) return 4;
  }
  return 0;
}

int unknown_host_throws(void* object) {
  const FilterPolicy* policy = static_cast<const FilterPolicy*>(object);
  Text text;
  bool thrown = false;
  Text::full = true;
  try {
    policy->CreateFilter(kKeys, 2, &text);
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  Text::full = false;
  if (text.size() != 0) return 0;
  policy->CreateFilter(kKeys, 2, &text);
  return thrown && text.size() == kSize;
}

void unknown_host_delete(void* policy) { delete static_cast<FilterPolicy*>(policy); }

int unknown_host_living(void) { return living; }
