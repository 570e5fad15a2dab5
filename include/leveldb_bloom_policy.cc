// leveldb::NewBloomFilterPolicy on leveldb_bloom, and leveldb_bloom::NewRibbonFilterPolicy, for those who build LevelDB themselves: compile
// this file in place of util/bloom.cc, with LevelDB's own flags and headers, and link
// libleveldb_bloom.a. C++11; exceptions and RTTI may be off.
//
// Unlike the object the library makes for a LevelDB it does not know, this one is compiled with
// the std::string it appends to.

#include <cstddef>
#include <string>
#include <type_traits>

// These forks have their own headers elsewhere: leveldb/db.h would be that of an installed LevelDB.
#ifdef __has_include
#if __has_include("db/replay_iterator.h") && \
    (__has_include("hyperleveldb/db.h") || __has_include("pebblesdb/db.h"))
#error "HyperLevelDB's and PebblesDB's bloom policies have another name; keep util/bloom.cc"
#endif
#endif

#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/slice.h"
#include "leveldb_bloom.h"
#include "leveldb_bloom_policy.h"

// Tells leveldb_bloom_active that the NewBloomFilterPolicy it finds in the link is this one.
extern "C" {
extern const char leveldb_bloom_compiled_in;
const char leveldb_bloom_compiled_in = 1;
}

namespace leveldb {

namespace {

// Forks of older ones, such as Basho's, find no keys with filters that are not in their format.
static_assert(kMajorVersion > 1 || kMinorVersion >= 18,
              "LevelDB's bloom policy had another name before 1.18; keep util/bloom.cc");

// A list of Slices is passed as it is. Slice's members are private, so their order cannot be checked
// here; it has been {const char* data_; size_t size_;} since the first LevelDB.
static_assert(std::is_standard_layout<Slice>::value &&
                  sizeof(Slice) == sizeof(leveldb_bloom_slice) &&
                  alignof(Slice) == alignof(leveldb_bloom_slice),
              "leveldb::Slice is not a pointer and a size");

// clang's -fsanitize=cfi stops calls by pointer of functions that it has not compiled. The callbacks
// are the library's, and their table cannot be written to.
#ifdef __clang__
#define LEVELDB_BLOOM_CALLS_LIBRARY __attribute__((no_sanitize("cfi-icall")))
#else
#define LEVELDB_BLOOM_CALLS_LIBRARY
#endif

class LeveldbBloomPolicy : public FilterPolicy {
 public:
  explicit LeveldbBloomPolicy(leveldb_bloom_policy* policy)
      : policy_(policy), callbacks_(leveldb_bloom_vtable()) {}

  ~LeveldbBloomPolicy() override { leveldb_bloom_policy_destroy(policy_); }

  LeveldbBloomPolicy(const LeveldbBloomPolicy&) = delete;
  LeveldbBloomPolicy& operator=(const LeveldbBloomPolicy&) = delete;

  LEVELDB_BLOOM_CALLS_LIBRARY
  const char* Name() const override { return callbacks_->name(policy_); }

  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    const size_t num_keys = n > 0 ? static_cast<size_t>(n) : 0;
    const size_t init_size = dst->size();
    const size_t size = leveldb_bloom_filter_size(policy_, num_keys);
    dst->resize(init_size + size);
    if (size == 0 ||
        leveldb_bloom_fill_filter(policy_, reinterpret_cast<const leveldb_bloom_slice*>(keys),
                                  num_keys, &(*dst)[init_size], size) != LEVELDB_BLOOM_OK) {
      // No filter can be made. LevelDB takes an empty one for "no keys"; a number of probes above 30
      // means "any key".
      dst->resize(init_size);
      dst->append("\0\x1f", 2);
    }
  }

  // Through the callbacks rather than leveldb_bloom_key_may_match: they know the policy, which
  // counts if LEVELDB_BLOOM_STATS asked it to.
  LEVELDB_BLOOM_CALLS_LIBRARY
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return callbacks_->key_may_match(policy_, key.data(), key.size(), filter.data(),
                                     filter.size()) != 0;
  }

 private:
  leveldb_bloom_policy* const policy_;  // NULL if there was no memory.
  const struct leveldb_bloom_vtable* const callbacks_;
};

}  // namespace

const FilterPolicy* NewBloomFilterPolicy(int bits_per_key) {
  return new LeveldbBloomPolicy(leveldb_bloom_policy_create_default(bits_per_key));
}

}  // namespace leveldb

const leveldb::FilterPolicy* leveldb_bloom::NewRibbonFilterPolicy(int bits_per_key) {
  return new leveldb::LeveldbBloomPolicy(leveldb_bloom_policy_create_ribbon(bits_per_key));
}
