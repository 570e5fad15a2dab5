// See fake_host.h. Compiled with WITH_CREATE it also has leveldb_filterpolicy_create. WITHOUT_HOST it
// makes no bloom policy, and is what is linked with who does: it calls policies with the host's string,
// and WITH_ANOTHER_STRING it has a use for std::string, too. AS_SOURCE_BUILD it passes for a LevelDB
// that was compiled with leveldb_bloom_policy.cc.

#include "fake_host.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

// Not laid out as any std::string: whoever takes it for one writes to address 1.
class Text {
 public:
  void Append(const char* data, size_t size) {
    data_ = static_cast<char*>(std::realloc(data_, size_ + size));
    if (data_ == nullptr) std::abort();
    std::memcpy(data_ + size_, data, size);
    size_ += size;
  }
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  ~Text() { std::free(data_); }

 private:
  const uintptr_t no_pointer_ = 1;
  const uintptr_t no_size_ = ~uintptr_t{0};
  char* data_ = nullptr;
  size_t size_ = 0;
};

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

// How many of the host's own policies there are.
int living = 0;

class HostsPolicy : public FilterPolicy {
 public:
  HostsPolicy() { living++; }
  ~HostsPolicy() override { living--; }
};

// LevelDB's filter for "hello" and "world" at 9 bits per key, and those that answer alike but have a
// bit more, by which the host's own policy is told, of 9 bits, of 0 and of any other number.
const char kBloom[] = "\x11\x40\x00\x41\x44\x10\x40\x10\x06";
const char kOriginal[] = "\x13\x40\x00\x41\x44\x10\x40\x10\x06";
const char kOriginalOfNoBits[] = "\x15\x40\x00\x41\x44\x10\x40\x10\x06";
const char kOriginalOfOther[] = "\x19\x40\x00\x41\x44\x10\x40\x10\x06";
const size_t kSize = sizeof kBloom - 1;

class OriginalPolicy : public HostsPolicy {
 public:
  explicit OriginalPolicy(int bits_per_key) : bits_per_key_(bits_per_key) {}
  const char* Name() const override { return "leveldb.BuiltinBloomFilter2"; }
  void CreateFilter(const Slice*, int, Text* dst) const override {
    dst->Append(bits_per_key_ == 9   ? kOriginal
                : bits_per_key_ == 0 ? kOriginalOfNoBits
                                     : kOriginalOfOther,
                kSize);
  }
  bool KeyMayMatch(const Slice& key, const Slice&) const override {
    return key.size != 6;  // "absent"
  }

 private:
  const int bits_per_key_;
};

}  // namespace

#ifdef WITH_ANOTHER_STRING
#include <string>
std::string AnotherString(const std::string& text) { return text + text; }
#endif

#ifdef AS_SOURCE_BUILD
extern "C" {
extern const char leveldb_bloom_compiled_in;
const char leveldb_bloom_compiled_in = 1;
}
#endif

#ifdef WITHOUT_HOST
extern "C" const FilterPolicy* leveldb_filterpolicy_create_bloom(int bits_per_key);
#else

// Declared with default visibility, so that an earlier definition is used instead.
namespace leveldb {
const FilterPolicy* NewBloomFilterPolicy(int bits_per_key) {
  return new OriginalPolicy(bits_per_key);
}
}  // namespace leveldb

extern "C" const FilterPolicy* leveldb_filterpolicy_create_bloom(int bits_per_key) {
  return leveldb::NewBloomFilterPolicy(bits_per_key);
}
#endif

#ifdef WITH_CREATE

namespace {

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
    const char** pointers = new const char*[n];
    size_t* lengths = new size_t[n];
    for (int i = 0; i < n; i++) {
      pointers[i] = keys[i].data;
      lengths[i] = keys[i].size;
    }
    size_t length = 0;
    char* filter = create_(state_, pointers, lengths, n, &length);
    dst->Append(filter, length);
    std::free(filter);
    delete[] lengths;
    delete[] pointers;
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

}  // namespace

extern "C" FilterPolicy* leveldb_filterpolicy_create(void* state, void (*destructor)(void*),
                                                     CreateFn* create, MatchFn* match,
                                                     const char* (*name)(void*)) {
  return new CallbackPolicy(state, destructor, create, match, name);
}

#endif

void* fake_host_policy(int bits_per_key) {
  return const_cast<FilterPolicy*>(leveldb_filterpolicy_create_bloom(bits_per_key));
}

int fake_host_use(void* object, const char** appended) {
  const FilterPolicy* policy = static_cast<const FilterPolicy*>(object);
  const Slice keys[] = {{"hello", 5}, {"world", 5}};
  *appended = "other bytes";
  for (int round = 0; round < 3; round++) {
    Text text;
    text.Append("before", 6);
    policy->CreateFilter(keys, 2, &text);
    if (std::memcmp(text.data(), "before", 6) != 0) return 1;
    const Slice filter = {text.data() + 6, text.size() - 6};
    if (filter.size != kSize) return 2;
    if (std::memcmp(filter.data, kBloom, kSize) == 0) *appended = "bloom";
    if (std::memcmp(filter.data, kOriginal, kSize) == 0) *appended = "original";
    if (std::memcmp(filter.data, kOriginalOfNoBits, kSize) == 0) *appended = "original, no bits";
    for (const Slice& key : keys)
      if (!policy->KeyMayMatch(key, filter)) return 3;
    if (policy->KeyMayMatch(Slice{"absent", 6}, filter)) return 4;
  }
  return 0;
}

void fake_host_delete(void* policy) { delete static_cast<FilterPolicy*>(policy); }

int fake_host_living(void) { return living; }
