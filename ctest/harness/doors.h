// The doors into the library: every way in which a program can make and ask a filter. The same
// tests run through all of them.

#ifndef LEVELDB_BLOOM_HARNESS_DOORS_H_
#define LEVELDB_BLOOM_HARNESS_DOORS_H_

#include <cstdlib>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <leveldb_bloom.h>

namespace harness {

using leveldb::FilterPolicy;
using leveldb::Slice;

// What leveldb_bloom_active says where the doors below are ours.
#ifdef HARNESS_HOST
constexpr char kActive[] = "leveldb_bloom (append-cxx11)";
// A linker takes nothing from an archive that nobody refers to: as a program with a database does.
__attribute__((used)) inline const auto host = &leveldb::DestroyDB;
#else
constexpr char kActive[] = "leveldb_bloom (no LevelDB found)";
#endif

class Door {
 public:
  virtual ~Door() = default;
  virtual void AppendFilter(const std::vector<Slice>& keys, std::string* destination) const = 0;
  virtual bool KeyMayMatch(const Slice& key, const Slice& filter) const = 0;
  virtual const char* Name() const = 0;

  std::string Filter(const std::vector<Slice>& keys) const {
    std::string filter;
    AppendFilter(keys, &filter);
    return filter;
  }
};

template <class Pointer>
Pointer NotNull(Pointer made) {
  if (made == nullptr) throw std::runtime_error("the policy was not created");
  return made;
}

// An object that LevelDB would call.
class PolicyDoor : public Door {
 public:
  explicit PolicyDoor(const FilterPolicy* policy) : policy_(NotNull(policy)) {}
  explicit PolicyDoor(leveldb_filterpolicy_t* policy)
      : PolicyDoor(reinterpret_cast<const FilterPolicy*>(policy)) {}

  void AppendFilter(const std::vector<Slice>& keys, std::string* destination) const override {
    policy_->CreateFilter(keys.data(), static_cast<int>(keys.size()), destination);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return policy_->KeyMayMatch(key, filter);
  }
  const char* Name() const override { return policy_->Name(); }

 private:
  std::unique_ptr<const FilterPolicy> policy_;
};

// Keys as C passes them.
struct KeyArrays {
  explicit KeyArrays(const std::vector<Slice>& slices) {
    for (const Slice& key : slices) {
      keys.push_back(key.data());
      lengths.push_back(key.size());
    }
  }
  std::vector<const char*> keys;
  std::vector<size_t> lengths;
};

// leveldb_bloom_create_filter and leveldb_bloom_key_may_match.
class FunctionsDoor : public Door {
 public:
  explicit FunctionsDoor(int bits_per_key)
      : policy_(NotNull(leveldb_bloom_policy_create(bits_per_key))) {}
  ~FunctionsDoor() override { leveldb_bloom_policy_destroy(policy_); }

  void AppendFilter(const std::vector<Slice>& keys, std::string* destination) const override {
    const KeyArrays arrays(keys);
    size_t length = 0;
    char* filter = NotNull(leveldb_bloom_create_filter(
        policy_, arrays.keys.data(), arrays.lengths.data(), keys.size(), &length));
    destination->append(filter, length);
    leveldb_bloom_free(filter);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    const uint8_t one = leveldb_bloom_key_may_match(key.data(), key.size(), filter.data(),
                                                    filter.size());
    const char* const keys[] = {key.data(), key.data()};
    const size_t lengths[] = {key.size(), key.size()};
    uint8_t answers[] = {7, 7};
    const size_t ones =
        leveldb_bloom_keys_may_match(keys, lengths, 2, filter.data(), filter.size(), answers);
    if (one > 1 || answers[0] != one || answers[1] != one || ones != 2u * one) {
      throw std::runtime_error("key_may_match and keys_may_match differ");
    }
    return one != 0;
  }
  const char* Name() const override { return leveldb_bloom_vtable()->name(policy_); }

 protected:
  leveldb_bloom_policy* const policy_;
};

// leveldb_bloom_fill_filter, over memory that was not zeroed.
class BufferDoor : public FunctionsDoor {
 public:
  using FunctionsDoor::FunctionsDoor;

  void AppendFilter(const std::vector<Slice>& keys, std::string* destination) const override {
    const size_t start = destination->size();
    const size_t length = leveldb_bloom_filter_size(policy_, keys.size());
    destination->resize(start + length, '\xa5');
    static_assert(sizeof(Slice) == sizeof(leveldb_bloom_slice), "one layout");
    const int status = leveldb_bloom_fill_filter(
        policy_, reinterpret_cast<const leveldb_bloom_slice*>(keys.data()), keys.size(),
        &(*destination)[start], length);
    if (status != LEVELDB_BLOOM_OK) throw std::runtime_error("fill_filter");
  }
};

// The callback table, called as LevelDB's C API would.
class CallbacksDoor : public Door {
 public:
  explicit CallbacksDoor(int bits_per_key)
      : state_(NotNull(leveldb_bloom_policy_create(bits_per_key))) {}
  ~CallbacksDoor() override { table_->destructor(state_); }

  void AppendFilter(const std::vector<Slice>& keys, std::string* destination) const override {
    const KeyArrays arrays(keys);
    size_t length = 0;
    char* filter = NotNull(table_->create_filter(state_, arrays.keys.data(), arrays.lengths.data(),
                                                 static_cast<int>(keys.size()), &length));
    destination->append(filter, length);
    // As LevelDB does.
    std::free(filter);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return table_->key_may_match(state_, key.data(), key.size(), filter.data(), filter.size()) != 0;
  }
  const char* Name() const override { return table_->name(state_); }

 private:
  const struct leveldb_bloom_vtable* const table_ = leveldb_bloom_vtable();
  leveldb_bloom_policy* const state_;
};

struct DoorKind {
  const char* name;
  std::unique_ptr<Door> (*open)(int bits_per_key);
  // What the statistics call the way once a filter was made, and whether they count its queries
  // (those that name no policy cannot be counted).
  const char* route;
  bool counts_queries;
};

inline std::ostream& operator<<(std::ostream& out, const DoorKind& kind) {
  return out << kind.name;
}

inline leveldb_filterpolicy_t* CreatePolicyOfCallbacks(
    int bits_per_key, decltype(&leveldb_filterpolicy_create) create) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  return create(NotNull(leveldb_bloom_policy_create(bits_per_key)), table->destructor,
                table->create_filter, table->key_may_match, table->name);
}

inline std::vector<DoorKind> Doors() {
  using Opened = std::unique_ptr<Door>;
  return {
      {"Factory",
       [](int bits) -> Opened {
         return std::make_unique<PolicyDoor>(leveldb::NewBloomFilterPolicy(bits));
       },
       "append-cxx11", true},
      {"FactoryOfC",
       [](int bits) -> Opened {
         return std::make_unique<PolicyDoor>(leveldb_filterpolicy_create_bloom(bits));
       },
       "append-cxx11", true},
      {"Functions",
       [](int bits) -> Opened { return std::make_unique<FunctionsDoor>(bits); },
       "callbacks", false},
      {"Buffer",
       [](int bits) -> Opened { return std::make_unique<BufferDoor>(bits); },
       "buffer", false},
      {"Callbacks",
       [](int bits) -> Opened { return std::make_unique<CallbacksDoor>(bits); },
       "callbacks", true},
      {"PolicyOfCallbacks",
       [](int bits) -> Opened {
         return std::make_unique<PolicyDoor>(
             CreatePolicyOfCallbacks(bits, leveldb_filterpolicy_create));
       },
       "callbacks", true},
  };
}

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_DOORS_H_
