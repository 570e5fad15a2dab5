// Without memory the library says so, or makes a filter that matches everything; it never makes
// one that loses keys, and never ends the process.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "doors.h"
#include "failing_malloc.h"
#include "keys.h"
#include "statistics.h"

namespace harness {
namespace {

// Too many for a filter on the stack.
constexpr int kKeys = 3000;

class AllocationTest : public testing::Test {
 protected:
  AllocationTest() {
    const FailingMalloc seen = WithFailingMalloc(kForever, 0, [] { std::free(std::malloc(1)); });
    EXPECT_EQ(1, seen.asked) << "this malloc is not in use";
  }

  static std::vector<std::string> NumberKeys() {
    std::vector<std::string> keys;
    for (int i = 0; i < kKeys; i++) keys.push_back(NumberKey(i));
    return keys;
  }

  // Without the bytes of a long filter in a failure's message.
  testing::AssertionResult IsExpected(const Slice& filter) {
    if (filter == Slice(expected_)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "another filter, of " << filter.size() << " bytes";
  }

  void ExpectMatchesEverything(const Slice& filter) {
    ASSERT_GE(filter.size(), 2u);
    EXPECT_GT(static_cast<uint8_t>(filter[filter.size() - 1]), 30);
    for (const Slice& key : {slices_[0], slices_[kKeys - 1], Slice(""), Slice("absent")}) {
      EXPECT_EQ(1, leveldb_bloom_key_may_match(key.data(), key.size(), filter.data(),
                                               filter.size()));
    }
  }

  // `create`, with memory failing; NULL leaves no statistics, because nobody had the policy.
  template <class Create>
  static auto CreateWhileFailing(const Statistics* statistics, long succeed, long fail,
                                 const Create& create, FailingMalloc* seen) {
    if (statistics != nullptr) std::filesystem::remove(statistics->path());
    decltype(create()) policy = nullptr;
    *seen = WithFailingMalloc(succeed, fail, [&] { policy = create(); });
    if (policy == nullptr && statistics != nullptr) {
      EXPECT_FALSE(std::filesystem::exists(statistics->path())) << ReadFile(statistics->path());
    }
    return policy;
  }

  const std::vector<std::string> strings_ = NumberKeys();
  const std::vector<Slice> slices_ = Slices(strings_);
  const KeyArrays arrays_{slices_};
  const std::string expected_ = BufferDoor(10).Filter(slices_);
};

// Lets each call of malloc in turn be the one that fails, alone or with all after it, until none
// fails: `work` is told how many calls succeed before.
template <class Work>
void FailEachCall(const Work& work) {
  for (long fail : {1L, kForever}) {
    for (long succeed = 0;; succeed++) {
      ASSERT_LT(succeed, 1000) << "no end of calls";
      SCOPED_TRACE("fails after " + std::to_string(succeed) + (fail == 1 ? ", once" : ", always"));
      if (!work(succeed, fail)) {
        ASSERT_GT(succeed, 0) << "nothing was ever asked for";
        break;
      }
    }
  }
}

TEST_F(AllocationTest, PolicyCreate) {
  for (bool counting : {false, true}) {
    std::unique_ptr<Statistics> statistics(counting ? new Statistics : nullptr);
    leveldb_bloom_policy_destroy(leveldb_bloom_policy_create(10));
    FailEachCall([&](long succeed, long fail) {
      FailingMalloc seen;
      leveldb_bloom_policy* policy = CreateWhileFailing(
          statistics.get(), succeed, fail, [] { return leveldb_bloom_policy_create(10); }, &seen);
      if (policy == nullptr) {
        EXPECT_GT(seen.failed, 0);
        EXPECT_EQ(0, seen.living) << "memory is lost";
        return true;
      }
      // Perhaps without what is only good to have; it must work.
      size_t length = 0;
      char* filter = leveldb_bloom_create_filter(policy, arrays_.keys.data(),
                                                 arrays_.lengths.data(), kKeys, &length);
      EXPECT_TRUE(IsExpected(Slice(filter, length)));
      leveldb_bloom_free(filter);
      leveldb_bloom_policy_destroy(policy);
      return seen.failed > 0;
    });
  }
}

TEST_F(AllocationTest, PolicyCreateReportsNoMemory) {
  leveldb_bloom_policy* policy = leveldb_bloom_policy_create(1);
  leveldb_bloom_policy_destroy(policy);
  WithFailingMalloc(0, kForever, [&] { policy = leveldb_bloom_policy_create(10); });
  EXPECT_EQ(nullptr, policy);
}

TEST_F(AllocationTest, CreateFilter) {
  leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  for (size_t count : {0, 1, kKeys}) {
    size_t length = 77;
    char* filter = nullptr;
    const FailingMalloc seen = WithFailingMalloc(0, kForever, [&] {
      filter = leveldb_bloom_create_filter(policy, arrays_.keys.data(), arrays_.lengths.data(),
                                           count, &length);
    });
    EXPECT_EQ(nullptr, filter);
    EXPECT_EQ(0u, length);
    EXPECT_EQ(1, seen.failed);
    EXPECT_EQ(0, seen.living);
  }
  leveldb_bloom_policy_destroy(policy);
}

TEST_F(AllocationTest, TheRestAllocatesNothing) {
  leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  std::unique_ptr<const FilterPolicy> object(leveldb::NewBloomFilterPolicy(10));
  std::string filter(expected_.size(), '\0'), data;
  std::vector<uint8_t> results(kKeys);
  std::vector<int32_t> offsets32 = {0};
  for (const std::string& key : strings_) {
    data += key;
    offsets32.push_back(static_cast<int32_t>(data.size()));
  }
  const std::vector<int64_t> offsets64(offsets32.begin(), offsets32.end());
  // One filter with a byte a bit, one without.
  const size_t kFew = 20;
  std::string few(leveldb_bloom_filter_size(policy, kFew), '\0'), expected_few = few;
  ASSERT_EQ(LEVELDB_BLOOM_OK,
            leveldb_bloom_fill_filter_fixed(policy, data.data(), 4, kFew, &expected_few[0],
                                            expected_few.size()));
  // And one that is too large for it.
  leveldb_bloom_policy* many_bits = leveldb_bloom_policy_create(20);
  std::string large(leveldb_bloom_filter_size(many_bits, kKeys), '\0');
  leveldb_bloom_builder* builder = leveldb_bloom_builder_create(10);
  ASSERT_EQ(LEVELDB_BLOOM_OK,
            leveldb_bloom_builder_add_fixed(builder, data.data(), 4, kKeys));
  const FailingMalloc seen = WithFailingMalloc(0, kForever, [&] {
    for (const size_t keys : {size_t{kKeys}, kFew}) {
      const std::string& expected = keys == kFew ? expected_few : expected_;
      std::string& memory = keys == kFew ? few : filter;
      char* const to = &memory[0];
      const size_t length = memory.size();
      const auto expect_filled = [&](int status) {
        EXPECT_EQ(LEVELDB_BLOOM_OK, status);
        EXPECT_TRUE(memory == expected);
        std::memset(to, 0, length);
      };
      expect_filled(leveldb_bloom_fill_filter_offsets32(policy, data.data(), data.size(),
                                                        offsets32.data(), keys, to, length));
      expect_filled(leveldb_bloom_fill_filter_offsets64(policy, data.data(), data.size(),
                                                        offsets64.data(), keys, to, length));
      expect_filled(leveldb_bloom_fill_filter_fixed(policy, data.data(), 4, keys, to, length));
    }
    EXPECT_EQ(expected_.size(), leveldb_bloom_builder_filter_size(builder, 0));
    EXPECT_EQ(size_t{kKeys}, leveldb_bloom_builder_num_keys(builder));
    EXPECT_EQ(LEVELDB_BLOOM_OK,
              leveldb_bloom_builder_finish(builder, 0, &filter[0], filter.size()));
    leveldb_bloom_builder_destroy(builder);
    EXPECT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_union(&filter[0], filter.size(), expected_.data(),
                                                    expected_.size()));
    EXPECT_TRUE(filter == expected_);

    size_t matches = 0;
    const auto expect_answered = [&](int status) {
      EXPECT_EQ(LEVELDB_BLOOM_OK, status);
      EXPECT_EQ(size_t{kKeys}, matches);
      matches = 0;
    };
    for (uint8_t* bitmap : {results.data(), static_cast<uint8_t*>(nullptr)}) {
      uint8_t* const bytes = bitmap == nullptr ? results.data() : nullptr;
      expect_answered(leveldb_bloom_keys_may_match_offsets32(
          data.data(), data.size(), offsets32.data(), kKeys, filter.data(), filter.size(), bytes,
          bitmap, &matches));
      expect_answered(leveldb_bloom_keys_may_match_offsets64(
          data.data(), data.size(), offsets64.data(), kKeys, filter.data(), filter.size(), bytes,
          bitmap, &matches));
      expect_answered(leveldb_bloom_keys_may_match_fixed(data.data(), 4, kKeys, filter.data(),
                                                         filter.size(), bytes, bitmap, &matches));
    }
    // Any bytes are a filter.
    EXPECT_LE(leveldb_bloom_filters_may_match(
                  "\0\0\0\0", 4, reinterpret_cast<const leveldb_bloom_slice*>(slices_.data()),
                  kKeys, results.data()),
              size_t{kKeys});
    EXPECT_EQ(1, leveldb_bloom_hash_may_match(leveldb_bloom_hash("\0\0\0\0", 4), filter.data(),
                                              filter.size()));
    struct leveldb_bloom_info info;
    EXPECT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_inspect(filter.data(), filter.size(), &info));
    uint64_t positions[30];
    EXPECT_EQ(6u, leveldb_bloom_positions("\0\0\0\0", 4, filter.data(), filter.size(), positions,
                                          30));
    EXPECT_LT(0, leveldb_bloom_bits_per_key_for(0.01, kKeys));
    EXPECT_LT(0.0, leveldb_bloom_false_positive_rate(10, kKeys));
    EXPECT_NE(nullptr, leveldb_bloom_validate(1000));
    EXPECT_NE(nullptr, leveldb_bloom_kernel(policy));

    EXPECT_EQ(expected_.size(), leveldb_bloom_filter_size(policy, kKeys));
    const auto fill = [&](const leveldb_bloom_policy* with, std::string* filled) {
      EXPECT_EQ(LEVELDB_BLOOM_OK,
                leveldb_bloom_fill_filter(
                    with, reinterpret_cast<const leveldb_bloom_slice*>(slices_.data()), kKeys,
                    &(*filled)[0], filled->size()));
    };
    fill(policy, &filter);
    fill(many_bits, &large);
    EXPECT_EQ(1, leveldb_bloom_key_may_match("\0\0\0\0", 4, filter.data(), filter.size()));
    EXPECT_EQ(size_t{kKeys},
              leveldb_bloom_keys_may_match(arrays_.keys.data(), arrays_.lengths.data(), kKeys,
                                           filter.data(), filter.size(), results.data()));
    EXPECT_EQ(1, table->key_may_match(policy, "\0\0\0\0", 4, filter.data(), filter.size()));
    EXPECT_TRUE(object->KeyMayMatch(slices_[0], filter));
    EXPECT_NE(nullptr, object->Name());
    leveldb_bloom_policy_destroy(policy);
    object.reset();
  });
  EXPECT_EQ(0, seen.asked);
  EXPECT_TRUE(IsExpected(filter));
  size_t length = 0;
  char* created = leveldb_bloom_create_filter(many_bits, arrays_.keys.data(),
                                              arrays_.lengths.data(), kKeys, &length);
  EXPECT_EQ(large, std::string(created, length));
  leveldb_bloom_free(created);
  leveldb_bloom_policy_destroy(many_bits);
}

TEST_F(AllocationTest, Builder) {
  leveldb_bloom_builder_destroy(leveldb_bloom_builder_create(10));
  FailEachCall([&](long succeed, long fail) {
    leveldb_bloom_builder* builder = nullptr;
    std::vector<int> statuses(kKeys);
    const FailingMalloc seen = WithFailingMalloc(succeed, fail, [&] {
      builder = leveldb_bloom_builder_create(10);
      for (int i = 0; i < kKeys; i++) {
        statuses[i] = leveldb_bloom_builder_add(builder, slices_[i].data(), slices_[i].size());
      }
    });
    if (builder == nullptr) {
      EXPECT_EQ(LEVELDB_BLOOM_INVALID_ARGUMENT, statuses[0]);
      return true;
    }
    // The keys that it did not take can be given again.
    size_t taken = 0;
    for (int i = 0; i < kKeys; i++) {
      if (statuses[i] == LEVELDB_BLOOM_OK) {
        taken++;
        continue;
      }
      EXPECT_EQ(LEVELDB_BLOOM_NO_MEMORY, statuses[i]);
      EXPECT_EQ(LEVELDB_BLOOM_OK,
                leveldb_bloom_builder_add(builder, slices_[i].data(), slices_[i].size()));
    }
    // Where there is no memory for room to grow, there may be some for what is needed.
    EXPECT_EQ(taken < kKeys, seen.failed > 0 && fail == kForever);
    std::string filter(expected_.size(), '\0');
    EXPECT_EQ(LEVELDB_BLOOM_OK,
              leveldb_bloom_builder_finish(builder, 0, &filter[0], filter.size()));
    EXPECT_TRUE(IsExpected(filter));
    leveldb_bloom_builder_destroy(builder);
    return seen.failed > 0;
  });
}

// A canonical form that does not fit in the first buffer.
size_t Long(void*, const char* key, size_t length, char* buffer, size_t buffer_length) {
  if (buffer_length >= 1000) {
    std::memset(buffer, 'x', 1000);
    std::memcpy(buffer, key, length);
  }
  return 1000;
}

TEST_F(AllocationTest, Transform) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  const size_t living = leveldb_bloom_live_policies();
  int state = 0;
  const auto create = [&] {
    return leveldb_bloom_policy_create_transformed(
        10, "harness.Long", Long, [](void* s) { ++*static_cast<int*>(s); }, &state);
  };
  int made = 0;
  FailEachCall([&](long succeed, long fail) {
    leveldb_bloom_policy* policy = nullptr;
    const FailingMalloc seen = WithFailingMalloc(succeed, fail, [&] { policy = create(); });
    if (policy == nullptr) {
      EXPECT_EQ(made, state) << "the state is still the caller's";
      EXPECT_EQ(0, seen.living) << "memory is lost";
      return true;
    }
    made++;
    leveldb_bloom_policy_destroy(policy);
    EXPECT_EQ(made, state);
    return seen.failed > 0;
  });

  leveldb_bloom_policy* policy = create();
  size_t length = 0, small = 0;
  char* filter = nullptr;
  char* expected = leveldb_bloom_create_filter(policy, arrays_.keys.data(), arrays_.lengths.data(),
                                               20, &length);
  ASSERT_NE(nullptr, expected);
  EXPECT_EQ(0, table->key_may_match(policy, "absent", 6, expected, length));
  // Nobody can say that a key is absent whose form cannot be had.
  const auto ask = [&] {
    EXPECT_EQ(1, table->key_may_match(policy, "absent", 6, expected, length));
  };
  EXPECT_EQ(1, WithFailingMalloc(0, kForever, ask).failed);
  // The filter fits, a form does not; the filter that takes its place does.
  WithFailingMalloc(1, 1, [&] {
    filter = table->create_filter(policy, arrays_.keys.data(), arrays_.lengths.data(), 20, &small);
  });
  ExpectMatchesEverything(Slice(filter, small));
  std::free(filter);
  leveldb_bloom_free(expected);
  leveldb_bloom_policy_destroy(policy);
  EXPECT_EQ(living, leveldb_bloom_live_policies());
}

TEST_F(AllocationTest, Shared) {
  int bits_per_key = 320;
  FailEachCall([&](long succeed, long fail) {
    // One that was made once is there for ever.
    bits_per_key += 8;
    leveldb_bloom_policy* policy = nullptr;
    const FailingMalloc seen = WithFailingMalloc(
        succeed, fail, [&] { policy = leveldb_bloom_policy_shared(bits_per_key); });
    if (policy == nullptr) {
      EXPECT_EQ(0, seen.living) << "memory is lost";
      return true;
    }
    size_t length = 0;
    leveldb_bloom_free(leveldb_bloom_create_filter(policy, arrays_.keys.data(),
                                                   arrays_.lengths.data(), 20, &length));
    EXPECT_EQ(20u * bits_per_key / 8 + 1, length);
    return seen.failed > 0;
  });
}

// The callback cannot say that there is no memory, since LevelDB would take its word for an empty
// filter.
TEST_F(AllocationTest, Callback) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  leveldb_bloom_policy* state = leveldb_bloom_policy_create(10);
  size_t length = 0;
  char* filter = nullptr;
  auto create = [&] {
    filter = table->create_filter(state, arrays_.keys.data(), arrays_.lengths.data(), kKeys,
                                  &length);
  };

  // Only the filter does not fit: a small piece of memory can still be had.
  WithFailingMalloc(0, 1, create);
  ExpectMatchesEverything(Slice(filter, length));
  std::free(filter);

  // Nothing can be had: what was put aside when the policy was made.
  WithFailingMalloc(0, kForever, create);
  ExpectMatchesEverything(Slice(filter, length));
  std::free(filter);

  // That is gone: it waits.
  for (long calls : {3, 10}) {
    const FailingMalloc seen = WithFailingMalloc(0, calls, create);
    EXPECT_EQ(calls, seen.failed);
    ExpectMatchesEverything(Slice(filter, length));
    std::free(filter);
  }

  // And is as it was when there is memory again.
  create();
  EXPECT_TRUE(IsExpected(Slice(filter, length)));
  std::free(filter);
  table->destructor(state);
}

TEST_F(AllocationTest, CallbackWithoutAReserve) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  leveldb_bloom_policy* state = nullptr;
  // What is put aside is allocated after the policy.
  WithFailingMalloc(1, 1, [&] { state = leveldb_bloom_policy_create(10); });
  ASSERT_NE(nullptr, state);
  size_t length = 0;
  char* filter = nullptr;
  const FailingMalloc seen = WithFailingMalloc(0, 5, [&] {
    filter = table->create_filter(state, arrays_.keys.data(), arrays_.lengths.data(), kKeys,
                                  &length);
  });
  EXPECT_EQ(5, seen.failed);
  ExpectMatchesEverything(Slice(filter, length));
  std::free(filter);
  table->destructor(state);
}

TEST_F(AllocationTest, NullState) {
  size_t length = 0;
  char* filter = nullptr;
  WithFailingMalloc(0, 5, [&] {
    filter = leveldb_bloom_vtable()->create_filter(nullptr, arrays_.keys.data(),
                                                   arrays_.lengths.data(), kKeys, &length);
  });
  ExpectMatchesEverything(Slice(filter, length));
  std::free(filter);
}

// The object that LevelDB calls, made and used while any one call of malloc fails. The string has
// room, so that the host needs no memory of its own.
TEST_F(AllocationTest, Object) {
  for (bool counting : {false, true}) {
    std::unique_ptr<Statistics> statistics(counting ? new Statistics : nullptr);
    auto create = [&] { return leveldb_filterpolicy_create_bloom(10); };
    leveldb_filterpolicy_destroy(create());
    FailEachCall([&](long succeed, long fail) {
      FailingMalloc seen;
      leveldb_filterpolicy_t* policy =
          CreateWhileFailing(statistics.get(), succeed, fail, create, &seen);
      if (policy == nullptr) {
        EXPECT_GT(seen.failed, 0);
        return true;
      }
      PolicyDoor door(policy);
      EXPECT_TRUE(IsExpected(door.Filter(slices_)));
      return seen.failed > 0;
    });
  }
}

TEST_F(AllocationTest, ObjectReportsNoMemory) {
  leveldb_filterpolicy_t* policy = leveldb_filterpolicy_create_bloom(1);
  leveldb_filterpolicy_destroy(policy);
  WithFailingMalloc(0, kForever, [&] { policy = leveldb_filterpolicy_create_bloom(10); });
  EXPECT_EQ(nullptr, policy);
}

TEST_F(AllocationTest, ObjectsFilters) {
  Statistics statistics;
  uint64_t made = 0;
  {
    PolicyDoor door(leveldb::NewBloomFilterPolicy(10));
    door.Filter(slices_);
    made++;
    std::string destination = "before";
    destination.reserve(10000);
    for (long fail : {1L, 2L, kForever}) {
      destination.resize(6);
      const FailingMalloc seen =
          WithFailingMalloc(0, fail, [&] { door.AppendFilter(slices_, &destination); });
      made++;
      EXPECT_EQ(1, seen.failed);
      EXPECT_EQ(0, seen.living);
      EXPECT_EQ("before", destination.substr(0, 6));
      ExpectMatchesEverything(Slice(destination.data() + 6, destination.size() - 6));
    }
    // Small ones need no memory.
    destination.resize(6);
    const std::vector<Slice> two = {"hello", "world"};
    const FailingMalloc seen =
        WithFailingMalloc(0, kForever, [&] { door.AppendFilter(two, &destination); });
    made++;
    EXPECT_EQ(0, seen.asked);
    EXPECT_EQ("114000414410401006", ToHex(destination.substr(6)));
    EXPECT_TRUE(IsExpected(door.Filter(slices_)));
    made++;
  }
  const std::vector<StatisticsLine> lines = statistics.Take();
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ(made, lines[0].Number("filters"));
  EXPECT_EQ("append-cxx11", lines[0].Text("route"));
}

// The way to the string is looked for when the first filter is made. Without memory too.
TEST_F(AllocationTest, ObjectsFirstFilter) {
  for (const std::vector<Slice>& keys : {std::vector<Slice>{"hello", "world"}, slices_}) {
    const std::string expected = BufferDoor(10).Filter(keys);
    Statistics statistics;
    uint64_t made = 0;
    for (long fail : {1L, kForever}) {
      bool failed = true;
      for (long succeed = 0; failed; succeed++) {
        ASSERT_LT(succeed, 1000);
        SCOPED_TRACE(succeed);
        std::string destination = "before";
        destination.reserve(10000);
        PolicyDoor door(leveldb::NewBloomFilterPolicy(10));
        const FailingMalloc seen =
            WithFailingMalloc(succeed, fail, [&] { door.AppendFilter(keys, &destination); });
        made++;
        failed = seen.failed > 0;
        ASSERT_EQ("before", destination.substr(0, 6));
        if (destination.substr(6) != expected) {
          EXPECT_TRUE(failed);
          ExpectMatchesEverything(Slice(destination.data() + 6, destination.size() - 6));
        }
      }
    }
    const std::vector<StatisticsLine> lines = statistics.Take();
    EXPECT_EQ(made, lines.size());
    for (const StatisticsLine& line : lines) {
      EXPECT_EQ(1u, line.Number("filters"));
      EXPECT_EQ("append-cxx11", line.Text("route"));
    }
  }
}

// A policy that cannot count for lack of memory works uncounted, and one that cannot write its
// line is destroyed as any other.
TEST_F(AllocationTest, Statistics) {
  Statistics statistics;
  leveldb_bloom_policy_destroy(leveldb_bloom_policy_create(10));
  EXPECT_EQ(1u, statistics.Take().size());
  leveldb_bloom_policy* policy = nullptr;
  WithFailingMalloc(1, 1, [&] { policy = leveldb_bloom_policy_create(10); });
  ASSERT_NE(nullptr, policy);
  leveldb_bloom_policy_destroy(policy);
  EXPECT_EQ(0u, statistics.Take().size());

  policy = leveldb_bloom_policy_create(10);
  WithFailingMalloc(0, kForever, [&] { leveldb_bloom_policy_destroy(policy); });
  EXPECT_EQ(1u, statistics.Take().size());
}

TEST_F(AllocationTest, Active) {
  const char* active = leveldb_bloom_active();
  for (long succeed = 0; succeed < 20; succeed++) {
    WithFailingMalloc(succeed, kForever, [] { leveldb_bloom_active(); });
  }
  EXPECT_STREQ(active, leveldb_bloom_active());
  EXPECT_STREQ(kActive, active);
}

}  // namespace
}  // namespace harness
