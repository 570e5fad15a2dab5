// The doors into the library: every way in which a program can make and query a filter. The same
// tests run through all of them.

#ifndef LEVELDB_BLOOM_HARNESS_DOORS_H_
#define LEVELDB_BLOOM_HARNESS_DOORS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <leveldb_bloom.h>
#include <leveldb_bloom_policy.h>

#include "statistics.h"

namespace harness {

using leveldb::FilterPolicy;
using leveldb::Slice;

// How this program was linked: see way.cc.
extern const bool kHasLevelDB;

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

inline const leveldb_bloom_slice* AsC(const std::vector<Slice>& slices) {
  static_assert(sizeof(Slice) == sizeof(leveldb_bloom_slice), "one layout");
  return reinterpret_cast<const leveldb_bloom_slice*>(slices.data());
}

// The callback table, called as LevelDB's C API would.
class CallbacksDoor : public Door {
 public:
  explicit CallbacksDoor(leveldb_bloom_policy* policy) : policy_(NotNull(policy)) {}
  explicit CallbacksDoor(int bits_per_key) : CallbacksDoor(leveldb_bloom_policy_create(bits_per_key)) {}
  ~CallbacksDoor() override { table_->destructor(policy_); }

  void AppendFilter(const std::vector<Slice>& keys, std::string* destination) const override {
    const KeyArrays arrays(keys);
    size_t length = 0;
    char* filter = NotNull(table_->create_filter(policy_, arrays.keys.data(), arrays.lengths.data(),
                                                 static_cast<int>(keys.size()), &length));
    destination->append(filter, length);
    std::free(filter);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return table_->key_may_match(policy_, key.data(), key.size(), filter.data(), filter.size()) != 0;
  }
  const char* Name() const override { return table_->name(policy_); }

 protected:
  const struct leveldb_bloom_vtable* const table_ = leveldb_bloom_vtable();
  leveldb_bloom_policy* const policy_;
};

// leveldb_bloom_create_filter, leveldb_bloom_key_may_match and leveldb_bloom_keys_may_match.
class FunctionsDoor : public CallbacksDoor {
 public:
  using CallbacksDoor::CallbacksDoor;

  void AppendFilter(const std::vector<Slice>& keys, std::string* destination) const override {
    const KeyArrays arrays(keys);
    size_t length = 0;
    char* filter = NotNull(leveldb_bloom_create_filter(
        policy_, arrays.keys.data(), arrays.lengths.data(), keys.size(), &length));
    destination->append(filter, length);
    leveldb_bloom_free(filter);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    const uint8_t one =
        leveldb_bloom_key_may_match(key.data(), key.size(), filter.data(), filter.size());
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
};

// leveldb_bloom_fill_filter, over memory that was not zeroed.
class BufferDoor : public FunctionsDoor {
 public:
  using FunctionsDoor::FunctionsDoor;

  void AppendFilter(const std::vector<Slice>& keys, std::string* destination) const override {
    const size_t start = destination->size();
    const size_t length = leveldb_bloom_filter_size(policy_, keys.size());
    destination->resize(start + length, '\xa5');
    if (leveldb_bloom_fill_filter(policy_, AsC(keys), keys.size(), &(*destination)[start],
                                  length) != LEVELDB_BLOOM_OK) {
      throw std::runtime_error("fill_filter");
    }
  }
};

inline leveldb_filterpolicy_t* PolicyOf(leveldb_bloom_policy* state) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  return leveldb_filterpolicy_create(NotNull(state), table->destructor, table->create_filter,
                                     table->key_may_match, table->name);
}

inline leveldb_filterpolicy_t* PolicyOfCallbacks(int bits_per_key) {
  return PolicyOf(leveldb_bloom_policy_create(bits_per_key));
}

// While this lives, LevelDB's own names make ribbon filters.
class RibbonEnvironment {
 public:
  RibbonEnvironment() { setenv("LEVELDB_BLOOM_ENCODING", "ribbon", 1); }
  ~RibbonEnvironment() { unsetenv("LEVELDB_BLOOM_ENCODING"); }
};

struct DoorKind {
  const char* name;
  std::unique_ptr<Door> (*open)(int bits_per_key);
  const char* route;
  // Queries that name no policy cannot be counted. They read both encodings.
  bool counts_queries;
  bool is_ribbon = false;
};

inline std::ostream& operator<<(std::ostream& out, const DoorKind& kind) { return out << kind.name; }

inline std::vector<DoorKind> Doors() {
  using Opened = std::unique_ptr<Door>;
  std::vector<DoorKind> doors = {
      {"Cpp", [](int bits) -> Opened {
         return std::make_unique<PolicyDoor>(leveldb::NewBloomFilterPolicy(bits));
       }, "append-cxx11", true},
      {"C", [](int bits) -> Opened {
         return std::make_unique<PolicyDoor>(leveldb_filterpolicy_create_bloom(bits));
       }, "append-cxx11", true},
      {"Functions", [](int bits) -> Opened { return std::make_unique<FunctionsDoor>(bits); },
       "callbacks", false},
      {"Buffer", [](int bits) -> Opened { return std::make_unique<BufferDoor>(bits); },
       "buffer", false},
      {"Callbacks", [](int bits) -> Opened { return std::make_unique<CallbacksDoor>(bits); },
       "callbacks", true},
  };
  if (kHasLevelDB) {
    doors.push_back({"PolicyOfCallbacks", [](int bits) -> Opened {
      return std::make_unique<PolicyDoor>(PolicyOfCallbacks(bits));
    }, "callbacks", true});
  }
  return doors;
}

// The same ways to ribbon filters.
inline std::vector<DoorKind> RibbonDoors() {
  using Opened = std::unique_ptr<Door>;
  std::vector<DoorKind> doors = {
      {"RibbonCpp", [](int bits) -> Opened {
         return std::make_unique<PolicyDoor>(leveldb_bloom::NewRibbonFilterPolicy(bits));
       }, "append-cxx11", true, true},
      {"RibbonC", [](int bits) -> Opened {
         return std::make_unique<PolicyDoor>(leveldb_bloom_filterpolicy_create_ribbon(bits));
       }, "append-cxx11", true, true},
      {"RibbonByEnvironment", [](int bits) -> Opened {
         const RibbonEnvironment environment;
         return std::make_unique<PolicyDoor>(leveldb::NewBloomFilterPolicy(bits));
       }, "append-cxx11", true, true},
      {"RibbonByDefault", [](int bits) -> Opened {
         const RibbonEnvironment environment;
         return std::make_unique<CallbacksDoor>(leveldb_bloom_policy_create_default(bits));
       }, "callbacks", true, true},
      {"RibbonFunctions", [](int bits) -> Opened {
         return std::make_unique<FunctionsDoor>(leveldb_bloom_policy_create_ribbon(bits));
       }, "callbacks", false, true},
      {"RibbonBuffer", [](int bits) -> Opened {
         return std::make_unique<BufferDoor>(leveldb_bloom_policy_create_ribbon(bits));
       }, "buffer", false, true},
      {"RibbonCallbacks", [](int bits) -> Opened {
         return std::make_unique<CallbacksDoor>(leveldb_bloom_policy_create_ribbon(bits));
       }, "callbacks", true, true},
  };
  if (kHasLevelDB) {
    doors.push_back({"RibbonPolicyOfCallbacks", [](int bits) -> Opened {
      return std::make_unique<PolicyDoor>(PolicyOf(leveldb_bloom_policy_create_ribbon(bits)));
    }, "callbacks", true, true});
  }
  return doors;
}

// A door that compares its own count with the library's when it is closed: another filter that
// answered in our place would be found out.
class CountedDoor : public Door {
 public:
  CountedDoor(const DoorKind& kind, int bits_per_key)
      : kind_(kind), bits_per_key_(bits_per_key), door_(kind.open(bits_per_key)) {}

  ~CountedDoor() override {
    door_.reset();
    SCOPED_TRACE(kind_.name);
    const std::vector<Line> lines = statistics_.Take();
    EXPECT_EQ(1u, lines.size()) << "one policy of the library";
    for (const Line& line : lines) {
      const int bits = kind_.is_ribbon ? std::min(std::max(bits_per_key_, 1), 13) : std::max(bits_per_key_, 0);
      EXPECT_EQ(bits, static_cast<int>(line.Number("bits_per_key")));
      EXPECT_EQ(kind_.is_ribbon ? "ribbon" : "bloom", line.Text("encoding"));
      EXPECT_EQ(filters_, line.Number("filters"));
      EXPECT_EQ(keys_, line.Number("keys"));
      EXPECT_EQ(filter_bytes_, line.Number("filter_bytes"));
      EXPECT_EQ(kind_.counts_queries ? queries_ : 0, line.Number("queries"));
      EXPECT_EQ(kind_.counts_queries ? negatives_ : 0, line.Number("negatives"));
      EXPECT_EQ(filters_ == 0 ? "none" : kind_.route, line.Text("route"));
    }
  }

  void AppendFilter(const std::vector<Slice>& keys, std::string* destination) const override {
    const size_t before = destination->size();
    door_->AppendFilter(keys, destination);
    filters_++;
    keys_ += keys.size();
    filter_bytes_ += destination->size() - before;
  }

  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    const bool answer = door_->KeyMayMatch(key, filter);
    queries_++;
    negatives_ += !answer;
    return answer;
  }

  const char* Name() const override { return door_->Name(); }

 private:
  // Before the door: a policy counts if the environment says so when it is made.
  Statistics statistics_;
  const DoorKind kind_;
  const int bits_per_key_;
  std::unique_ptr<Door> door_;
  mutable uint64_t filters_ = 0, keys_ = 0, filter_bytes_ = 0, queries_ = 0, negatives_ = 0;
};

inline std::string DoorName(const testing::TestParamInfo<DoorKind>& info) { return info.param.name; }

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_DOORS_H_
