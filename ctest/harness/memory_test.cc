// Without memory the library says so, or makes a filter that matches every key; it never makes one that
// loses keys. Where the host's string cannot grow, its std::bad_alloc passes through.

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <new>
#include <thread>

#include "doors.h"
#include "keys.h"

// A malloc and an operator new that fail when they are told to, for the whole process.

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void __libc_free(void* memory);
}

namespace {

// For the current thread.
struct Memory {
  // So many calls of malloc succeed, then so many fail; all that follow succeed.
  long succeed, fail;
  long failed;
  // Given and not freed.
  long living;
  // Whether operator new throws.
  bool throws;
};
constexpr long kForever = 1L << 60;
constexpr Memory kEnough = {kForever, 0, 0, 0, false};
thread_local Memory memory = kEnough;

bool Fails() {
  if (memory.succeed > 0) {
    memory.succeed--;
    return false;
  }
  if (memory.fail <= 0) return false;
  memory.fail--;
  memory.failed++;
  return true;
}

// What happened while malloc failed `fail` times after `succeed` calls.
template <class Work>
Memory WithFailingMalloc(long succeed, long fail, const Work& work) {
  memory = {succeed, fail, 0, 0, false};
  work();
  return std::exchange(memory, kEnough);
}

}  // namespace

extern "C" {
void* malloc(size_t size) {
  if (Fails()) return nullptr;
  memory.living++;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  if (Fails()) return nullptr;
  memory.living++;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  if (Fails()) return nullptr;
  if (old == nullptr) memory.living++;
  return __libc_realloc(old, size);
}
void free(void* old) {
  if (old != nullptr) memory.living--;
  __libc_free(old);
}
}

void* operator new(size_t size) {
  void* const made = memory.throws ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
// With one of a pair inlined and the other not, gcc would take them for different allocators'.
__attribute__((noinline)) void operator delete(void* old) noexcept { std::free(old); }
__attribute__((noinline)) void operator delete(void* old, size_t) noexcept { std::free(old); }

namespace harness {
namespace {

// Too many for a filter on the stack.
constexpr int kKeys = 3000;

std::vector<std::string> NumberKeys(int count) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; i++) keys.push_back(NumberKey(static_cast<uint32_t>(i)));
  return keys;
}

struct MemoryTest : testing::Test {
  void ExpectMatchesEverything(const Slice& filter) {
    ASSERT_GE(filter.size(), 2u);
    EXPECT_GT(static_cast<uint8_t>(filter[filter.size() - 1]), 30);
    for (const Slice& key : {slices[0], Slice(""), Slice("absent")}) {
      EXPECT_EQ(1, leveldb_bloom_key_may_match(key.data(), key.size(), filter.data(), filter.size()));
    }
  }

  const std::vector<std::string> strings = NumberKeys(kKeys);
  const std::vector<Slice> slices = Slices(strings);
  const KeyArrays arrays{slices};
  const std::string expected = BufferDoor(10).Filter(slices);
  const struct leveldb_bloom_vtable* const table = leveldb_bloom_vtable();
};

// Lets each call of malloc in turn fail, alone or with all after it, until `work` succeeds without a failure.
// `work` gets how many calls succeed before and how many fail then, and returns whether one failed.
void FailEachCall(const std::function<bool(long, long)>& work) {
  for (long fail : {1L, kForever}) {
    for (long succeed = 0;; succeed++) {
      SCOPED_TRACE("fails after " + std::to_string(succeed) + (fail == 1 ? ", once" : ", always"));
      ASSERT_LT(succeed, 1000) << "no end of calls";
      if (!work(succeed, fail)) {
        ASSERT_GT(succeed, 0) << "there was no call";
        break;
      }
    }
  }
}

// NULL, and nothing lost; or a policy that works, whether it counts or not.
class CreateTest : public MemoryTest, public testing::WithParamInterface<bool> {
 protected:
  template <class Policy>
  void FailEachCallOf(const std::function<Policy*()>& create, const std::function<void(Policy*)>& use) {
    std::unique_ptr<Statistics> statistics(GetParam() ? new Statistics : nullptr);
    use(create());
    FailEachCall([&](long succeed, long fail) {
      Policy* policy = nullptr;
      const Memory seen = WithFailingMalloc(succeed, fail, [&] { policy = create(); });
      if (policy != nullptr) {
        use(policy);
      } else {
        EXPECT_GT(seen.failed, 0);
        EXPECT_EQ(0, seen.living) << "memory is lost";
      }
      return seen.failed > 0;
    });
  }
};

TEST_P(CreateTest, Policy) {
  FailEachCallOf<leveldb_bloom_policy>(
      [] { return leveldb_bloom_policy_create(10); },
      [&](leveldb_bloom_policy* policy) {
        size_t length = 0;
        char* filter = leveldb_bloom_create_filter(policy, arrays.keys.data(), arrays.lengths.data(), kKeys,
                                                   &length);
        EXPECT_TRUE(Slice(expected) == Slice(filter, length));
        leveldb_bloom_free(filter);
        leveldb_bloom_policy_destroy(policy);
      });
}

TEST_P(CreateTest, ObjectOfLevelDB) {
  FailEachCallOf<const FilterPolicy>(
      [] { return leveldb::NewBloomFilterPolicy(10); },
      [&](const FilterPolicy* policy) { EXPECT_TRUE(expected == PolicyDoor(policy).Filter(slices)); });
}

TEST_P(CreateTest, TransformedPolicy) {
  static int destroyed;
  destroyed = 0;
  int made = 0;
  const auto length_of = [](void*, const char*, size_t length, char*, size_t) { return length; };
  FailEachCallOf<leveldb_bloom_policy>(
      [&] {
        return leveldb_bloom_policy_create_transformed(10, "harness.Length", length_of,
                                                       [](void*) { destroyed++; }, nullptr);
      },
      [&](leveldb_bloom_policy* policy) {
        EXPECT_EQ(made++, destroyed) << "the state of a policy that was not made is the caller's";
        leveldb_bloom_policy_destroy(policy);
        EXPECT_EQ(made, destroyed);
      });
}

TEST_P(CreateTest, SharedPolicy) {
  // One that was made once is there for ever.
  static int bits_per_key = 320;
  FailEachCallOf<leveldb_bloom_policy>(
      [] { return leveldb_bloom_policy_shared(++bits_per_key); },
      [&](leveldb_bloom_policy* policy) {
        EXPECT_EQ((20 * static_cast<size_t>(bits_per_key) + 7) / 8 + 1, leveldb_bloom_filter_size(policy, 20));
      });
}

INSTANTIATE_TEST_SUITE_P(Counting, CreateTest, testing::Bool());

TEST_F(MemoryTest, CreateFilterReportsIt) {
  leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  for (size_t count : {0, 1, kKeys}) {
    size_t length = 77;
    char* filter = nullptr;
    const Memory seen = WithFailingMalloc(0, kForever, [&] {
      filter = leveldb_bloom_create_filter(policy, arrays.keys.data(), arrays.lengths.data(), count, &length);
    });
    EXPECT_EQ(nullptr, filter);
    EXPECT_EQ(0u, length);
    EXPECT_GT(seen.failed, 0);
    EXPECT_EQ(0, seen.living);
  }
  leveldb_bloom_policy_destroy(policy);
}

TEST_F(MemoryTest, BuilderKeepsWhatItHas) {
  FailEachCall([&](long succeed, long fail) {
    leveldb_bloom_builder* builder = nullptr;
    std::vector<int> statuses(kKeys);
    const Memory seen = WithFailingMalloc(succeed, fail, [&] {
      builder = leveldb_bloom_builder_create(10);
      for (int i = 0; i < kKeys; i++) {
        statuses[i] = leveldb_bloom_builder_add(builder, slices[i].data(), slices[i].size());
      }
    });
    if (builder == nullptr) return true;
    // The keys that it did not take can be given again.
    for (int i = 0; i < kKeys; i++) {
      if (statuses[i] == LEVELDB_BLOOM_OK) continue;
      EXPECT_EQ(LEVELDB_BLOOM_NO_MEMORY, statuses[i]);
      leveldb_bloom_builder_add(builder, slices[i].data(), slices[i].size());
    }
    std::string filter(expected.size(), '\0');
    EXPECT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_builder_finish(builder, 0, &filter[0], filter.size()));
    EXPECT_TRUE(expected == filter);
    leveldb_bloom_builder_destroy(builder);
    return seen.failed > 0;
  });
}

TEST_F(MemoryTest, FillingAndQueriesWorkWithoutIt) {
  std::string data, filter(expected.size(), '\0');
  std::vector<int32_t> offsets = {0};
  for (const std::string& key : strings) offsets.push_back(static_cast<int32_t>((data += key).size()));
  std::vector<uint8_t> results(kKeys);
  leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  const PolicyDoor object(leveldb::NewBloomFilterPolicy(10));
  int status = 0;
  size_t matches = 0;
  bool answers = true;
  WithFailingMalloc(0, kForever, [&] {
    char* const to = &filter[0];
    const size_t length = filter.size();
    status |= leveldb_bloom_fill_filter(policy, AsC(slices), kKeys, to, length);
    status |= leveldb_bloom_fill_filter_fixed(policy, data.data(), 4, kKeys, to, length);
    status |= leveldb_bloom_fill_filter_offsets32(policy, data.data(), data.size(), offsets.data(), kKeys, to,
                                                  length);
    status |= leveldb_bloom_keys_may_match_offsets32(data.data(), data.size(), offsets.data(), kKeys, to, length,
                                                     results.data(), nullptr, &matches);
    answers = matches == kKeys && answers;
    answers = answers && kKeys == leveldb_bloom_keys_may_match(arrays.keys.data(), arrays.lengths.data(), kKeys,
                                                               to, length, results.data());
    // Any bytes are a filter.
    leveldb_bloom_filters_may_match("a", 1, AsC(slices), kKeys, results.data());
    answers = answers && table->key_may_match(policy, "\0\0\0\0", 4, to, length) == 1;
    answers = answers && object.KeyMayMatch(slices[0], filter) && object.Name() != nullptr;
    leveldb_bloom_policy_destroy(policy);
  });
  EXPECT_EQ(LEVELDB_BLOOM_OK, status);
  EXPECT_TRUE(answers);
  EXPECT_TRUE(expected == filter);
}

// The callback cannot report it: LevelDB would take an empty filter for one of no keys.
TEST_F(MemoryTest, CallbackMatchesEverything) {
  for (leveldb_bloom_policy* state : {leveldb_bloom_policy_create(10), static_cast<leveldb_bloom_policy*>(nullptr)}) {
    size_t length = 0;
    char* filter = nullptr;
    const auto create = [&] {
      filter = table->create_filter(state, arrays.keys.data(), arrays.lengths.data(), kKeys, &length);
    };
    // Only the filter does not fit: a small piece of memory can still be had.
    if (state != nullptr) {
      WithFailingMalloc(0, 1, create);
      ExpectMatchesEverything(Slice(filter, length));
      std::free(filter);
    }
    EXPECT_DEATH(WithFailingMalloc(0, kForever, create), "leveldb_bloom: there is no memory for a filter");
    table->destructor(state);
  }
}

TEST_F(MemoryTest, TransformOfNoMemoryMatches) {
  // A form that does not fit in the first buffer.
  const auto longer = [](void*, const char* key, size_t length, char* buffer, size_t room) {
    if (room >= 1000) std::memcpy(std::memset(buffer, 'x', 1000), key, length);
    return size_t{1000};
  };
  leveldb_bloom_policy* policy =
      leveldb_bloom_policy_create_transformed(10, "harness.Long", longer, nullptr, nullptr);
  size_t length = 0;
  char* filter = table->create_filter(policy, arrays.keys.data(), arrays.lengths.data(), 20, &length);
  EXPECT_EQ(0, table->key_may_match(policy, "absent", 6, filter, length));
  int answer = 0;
  WithFailingMalloc(0, kForever, [&] { answer = table->key_may_match(policy, "absent", 6, filter, length); });
  EXPECT_EQ(1, answer);
  std::free(filter);
  // The filter fits, a form does not.
  WithFailingMalloc(1, 1, [&] {
    filter = table->create_filter(policy, arrays.keys.data(), arrays.lengths.data(), 20, &length);
  });
  ExpectMatchesEverything(Slice(filter, length));
  std::free(filter);
  leveldb_bloom_policy_destroy(policy);
}

// The object that LevelDB calls, from its first filter on; the string has room.
TEST_F(MemoryTest, ObjectMatchesEverything) {
  std::string destination = "before";
  destination.reserve(10000);
  for (size_t count : {size_t{20}, size_t{kKeys}}) {
    const std::vector<Slice> some(slices.begin(), slices.begin() + static_cast<long>(count));
    const std::string wanted = "before" + BufferDoor(10).Filter(some);
    FailEachCall([&](long succeed, long fail) {
      const PolicyDoor door(leveldb::NewBloomFilterPolicy(10));
      bool failed = false;
      for (int round = 0; round < 2; round++) {
        destination.resize(6);
        const Memory seen =
            WithFailingMalloc(succeed, fail, [&] { door.AppendFilter(some, &destination); });
        if (destination != wanted) {
          EXPECT_GT(seen.failed, 0);
          EXPECT_EQ("before", destination.substr(0, 6));
          ExpectMatchesEverything(Slice(destination.data() + 6, destination.size() - 6));
        }
        failed = failed || seen.failed > 0;
      }
      // A small filter needs no memory.
      return failed || (succeed == 0 && count == 20);
    });
  }
}

// LevelDB's filter stands in where memory for the equations is missing, and one that matches everything where
// none can be made.
TEST_F(MemoryTest, RibbonLosesNoKey) {
  std::string destination;
  destination.reserve(10000);
  for (size_t count : {size_t{20}, size_t{64}, size_t{65}, size_t{kKeys}}) {
    const std::vector<Slice> some(slices.begin(), slices.begin() + static_cast<long>(count));
    const std::string wanted = BufferDoor(leveldb_bloom_policy_create_ribbon(10)).Filter(some);
    FailEachCall([&](long succeed, long fail) {
      const PolicyDoor door(leveldb_bloom::NewRibbonFilterPolicy(10));
      bool failed = false;
      for (int round = 0; round < 2; round++) {
        destination.clear();
        const Memory seen = WithFailingMalloc(succeed, fail, [&] { door.AppendFilter(some, &destination); });
        EXPECT_TRUE(destination == wanted || seen.failed > 0);
        for (const Slice& key : some) {
          if (!door.KeyMayMatch(key, destination)) return ADD_FAILURE() << "a key is lost", false;
        }
        failed = failed || seen.failed > 0;
      }
      // A small filter needs no memory.
      return failed || (succeed == 0 && count <= 64);
    });
  }
}

// A string of the host's that cannot grow.

class ExceptionTest : public testing::TestWithParam<int> {
 protected:
  // A destructor on the exception's way must run.
  struct Witness {
    ~Witness() { ++*destroyed; }
    int* destroyed;
  };
  __attribute__((noinline)) void Create(const FilterPolicy& policy, std::string* to, int* destroyed) {
    const Witness witness{destroyed};
    policy.CreateFilter(keys_.data(), static_cast<int>(keys_.size()), to);
  }
  bool Throws(const FilterPolicy& policy, std::string* to) {
    int destroyed = 0;
    bool thrown = false;
    memory.throws = true;
    try {
      Create(policy, to, &destroyed);
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    memory.throws = false;
    EXPECT_EQ(1, destroyed);
    return thrown;
  }

  const std::vector<std::string> strings_ = NumberKeys(GetParam());
  const std::vector<Slice> keys_ = Slices(strings_);
  const std::string filter_ = BufferDoor(10).Filter(keys_);
};

TEST_P(ExceptionTest, PassesThroughInManyThreads) {
  Statistics statistics;
  std::unique_ptr<const FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; round++) {
        // The first time, the way to the string is still to be found.
        std::string destination(20, 'x');
        destination.shrink_to_fit();
        EXPECT_TRUE(Throws(*policy, &destination));
        EXPECT_EQ(std::string(20, 'x'), destination);
        policy->CreateFilter(keys_.data(), static_cast<int>(keys_.size()), &destination);
        EXPECT_TRUE(std::string(20, 'x') + filter_ == destination);
        // Nothing but the string's growth needs the host's memory.
        destination.resize(20);
        EXPECT_FALSE(Throws(*policy, &destination));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  policy.reset();
  const std::vector<Line> lines = statistics.Take();
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ("append-cxx11", lines[0].Text("route"));
}

// Filters that are built on the stack, and on the heap.
INSTANTIATE_TEST_SUITE_P(Keys, ExceptionTest, testing::Values(20, 1599, 20000));

}  // namespace
}  // namespace harness
