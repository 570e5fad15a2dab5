// Policies of every kind in a process with LevelDB: who may destroy them, databases, threads, small stacks.

#include <gtest/gtest.h>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cstring>
#include <functional>
#include <thread>

#include <leveldb/c.h>
#include <leveldb/comparator.h>
#include <leveldb/db.h>

#include "doors.h"
#include "keys.h"
#include "stock.h"

namespace harness {
namespace {

// LevelDB's own library, whatever this program is linked with.
const Stock& TheStock() {
  static const Stock stock(HARNESS_LEVELDB_FILE);
  return stock;
}

const FilterPolicy* Object(leveldb_filterpolicy_t* policy) {
  return reinterpret_cast<const FilterPolicy*>(policy);
}

std::string FilterOf(const FilterPolicy* policy, const std::vector<std::string>& keys) {
  std::string filter;
  policy->CreateFilter(Slices(keys).data(), static_cast<int>(keys.size()), &filter);
  return filter;
}

// The ways to end a policy.
struct Destroyer {
  const char* name;
  std::function<void(leveldb_filterpolicy_t*)> destroy;
};

class DestroyTest : public testing::TestWithParam<Destroyer> {
 protected:
  void Destroy(const FilterPolicy* policy) {
    GetParam().destroy(reinterpret_cast<leveldb_filterpolicy_t*>(const_cast<FilterPolicy*>(policy)));
  }
  // The route of the one policy that was destroyed.
  std::string Route(Statistics* statistics) {
    const std::vector<Line> lines = statistics->Take();
    return lines.size() == 1 ? lines[0].Text("route") : "not one line";
  }
};

TEST_P(DestroyTest, Ours) {
  for (const bool used : {true, false}) {
    Statistics statistics;
    const FilterPolicy* const policies[] = {leveldb::NewBloomFilterPolicy(10),
                                            Object(leveldb_filterpolicy_create_bloom(10))};
    for (const FilterPolicy* policy : policies) {
      if (used) {
        EXPECT_EQ("114000414410401006", ToHex(FilterOf(policy, {"hello", "world"})));
      }
      Destroy(policy);
      EXPECT_EQ(used ? "append-cxx11" : "none", Route(&statistics));
    }
  }
}

TEST_P(DestroyTest, OfCallbacks) {
  Statistics statistics;
  const FilterPolicy* policy = Object(PolicyOfCallbacks(10));
  EXPECT_EQ("114000414410401006", ToHex(FilterOf(policy, {"hello", "world"})));
  Destroy(policy);
  EXPECT_EQ("callbacks", Route(&statistics));
}

TEST_P(DestroyTest, LevelDBsOwn) {
  const FilterPolicy* policy = TheStock().NewBloomFilterPolicy(10);
  EXPECT_EQ("114000414410401006", ToHex(FilterOf(policy, {"hello", "world"})));
  Destroy(policy);
}

// They live as long as the process.
TEST_P(DestroyTest, Shared) {
  leveldb_filterpolicy_t* const policy = leveldb_bloom_filterpolicy_shared(10);
  for (int i = 0; i < 3; i++) {
    Destroy(Object(policy));
    EXPECT_EQ(policy, leveldb_bloom_filterpolicy_shared(10));
    EXPECT_EQ("114000414410401006", ToHex(FilterOf(Object(policy), {"hello", "world"})));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Destroyers, DestroyTest,
    testing::Values(
        Destroyer{"Delete", [](leveldb_filterpolicy_t* policy) { delete Object(policy); }},
        Destroyer{"OfC", leveldb_filterpolicy_destroy},
        Destroyer{"OfLevelDB", [](leveldb_filterpolicy_t* policy) {
          TheStock().Find<decltype(&leveldb_filterpolicy_destroy)>("leveldb_filterpolicy_destroy")(policy);
        }}),
    [](const auto& info) { return std::string(info.param.name); });

// Databases.

class WithoutCase : public leveldb::Comparator {
 public:
  static std::string Lower(const Slice& key) {
    std::string lower = key.ToString();
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    return lower;
  }
  int Compare(const Slice& a, const Slice& b) const override { return Lower(a).compare(Lower(b)); }
  const char* Name() const override { return "harness.WithoutCase"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

struct Kind {
  const char* name;
  const FilterPolicy* (*open)();
  const char* route;
  const leveldb::Comparator* comparator;
  const char* encoding = "bloom";
};

class DatabaseTest : public testing::TestWithParam<Kind> {};

constexpr int kKeys = 3000;

TEST_P(DatabaseTest, FindsEveryKey) {
  const Kind& kind = GetParam();
  Statistics statistics;
  std::unique_ptr<const FilterPolicy> policy(kind.open());
  TemporaryFolder folder;
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = policy.get();
  if (kind.comparator != nullptr) options.comparator = kind.comparator;
  std::unique_ptr<leveldb::DB> database;
  const auto open = [&] {
    database.reset();
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open(options, folder.Path("database"), &opened).ok());
    database.reset(opened);
  };
  open();
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "Key" + std::to_string(i);
    ASSERT_TRUE(database->Put({}, key, "value of " + key).ok());
  }
  database->CompactRange(nullptr, nullptr);
  // From now on everything comes from the tables; read it from several threads at once.
  open();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; thread++) {
    threads.emplace_back([&, thread] {
      for (int i = thread; i < kKeys; i += 4) {
        const std::string number = std::to_string(i);
        std::string value;
        const char* const prefix = kind.comparator != nullptr ? "KEY" : "Key";
        if (!database->Get({}, prefix + number, &value).ok() || value != "value of Key" + number) wrong++;
        if (!database->Get({}, "Key" + number + "-absent", &value).IsNotFound()) wrong++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, wrong);
  database.reset();
  policy.reset();
  const std::vector<Line> lines = statistics.Take();
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ(kind.route, lines[0].Text("route"));
  EXPECT_EQ(kind.encoding, lines[0].Text("encoding"));
  EXPECT_GE(lines[0].Number("keys"), size_t{kKeys});
  EXPECT_GE(lines[0].Number("queries"), size_t{2 * kKeys - 100});
  EXPECT_GT(lines[0].Number("negatives"), size_t{kKeys} * 95 / 100);
  EXPECT_LE(lines[0].Number("negatives"), size_t{kKeys});
}

size_t Lower(void*, const char* key, size_t length, char* buffer, size_t room) {
  if (length <= room) std::memcpy(buffer, WithoutCase::Lower(Slice(key, length)).data(), length);
  return length;
}

const WithoutCase kWithoutCase;
INSTANTIATE_TEST_SUITE_P(
    Kinds, DatabaseTest,
    testing::Values(
        Kind{"Bloom", [] { return leveldb::NewBloomFilterPolicy(10); }, "append-cxx11", nullptr},
        Kind{"Callbacks", [] { return Object(PolicyOfCallbacks(10)); }, "callbacks", nullptr},
        Kind{"Goleveldb", [] { return Object(PolicyOf(leveldb_bloom_policy_create_goleveldb(10))); },
             "callbacks", nullptr},
        Kind{"Ribbon", [] { return leveldb_bloom::NewRibbonFilterPolicy(10); }, "append-cxx11", nullptr, "ribbon"},
        Kind{"RibbonByEnvironment", [] {
          const RibbonEnvironment environment;
          return Object(leveldb_filterpolicy_create_bloom(10));
        }, "append-cxx11", nullptr, "ribbon"},
        Kind{"RibbonCallbacks", [] { return Object(PolicyOf(leveldb_bloom_policy_create_ribbon(10))); },
             "callbacks", nullptr, "ribbon"},
        Kind{"Transformed", [] {
          return Object(PolicyOf(leveldb_bloom_policy_create_transformed(10, "harness.Lower", Lower, nullptr,
                                                                         nullptr)));
        }, "callbacks", &kWithoutCase}),
    [](const auto& info) { return std::string(info.param.name); });

// Each thread creates, uses and destroys policies of its own, and all use two together that nobody has used
// before.
TEST(ThreadsTest, PoliciesOfTheirOwnAndTogether) {
  constexpr int kThreads = 8, kRounds = 200;
  std::vector<std::string> keys, expected;
  for (int i = 0; i < 50; i++) keys.push_back(NumberKey(i));
  for (int bits = 0; bits < 40; bits++) {
    std::unique_ptr<const FilterPolicy> original(TheStock().NewBloomFilterPolicy(bits));
    expected.push_back(FilterOf(original.get(), keys));
  }
  Statistics statistics;
  std::unique_ptr<const FilterPolicy> together(leveldb::NewBloomFilterPolicy(10));
  std::unique_ptr<const FilterPolicy> callbacks(Object(PolicyOfCallbacks(10)));
  std::atomic<int> wrong{0}, ready{0};
  const auto use = [&](const FilterPolicy* policy, int bits) {
    const std::string filter = FilterOf(policy, keys);
    wrong += filter != expected[bits];
    for (const std::string& key : keys) wrong += !policy->KeyMayMatch(key, filter);
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; thread++) {
    threads.emplace_back([&, thread] {
      for (ready++; ready < kThreads;) std::this_thread::yield();
      for (int round = 0; round < kRounds; round++) {
        use(together.get(), 10);
        use(callbacks.get(), 10);
        const int bits = (thread * 7 + round) % 40;
        std::unique_ptr<const FilterPolicy> own(leveldb::NewBloomFilterPolicy(bits));
        use(own.get(), bits);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, wrong);
  EXPECT_EQ(size_t{kThreads} * kRounds, statistics.Take().size());
  together.reset();
  callbacks.reset();
  for (const Line& line : statistics.Take()) {
    EXPECT_EQ(uint64_t{kThreads} * kRounds, line.Number("filters"));
    EXPECT_EQ(uint64_t{kThreads} * kRounds * keys.size(), line.Number("queries"));
  }
}

TEST(ThreadsTest, ShareOnePolicy) {
  constexpr int kThreads = 8, kPolicies = 50;
  const leveldb_bloom_policy* shared[kThreads][kPolicies];
  std::vector<std::thread> threads;
  for (auto& own : shared) {
    threads.emplace_back([&own] {
      for (int i = 0; i < kPolicies; i++) own[i] = leveldb_bloom_policy_shared(200 + i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& own : shared) EXPECT_TRUE(std::equal(own, own + kPolicies, shared[0]));
}

// 16 KB, or the least that the C library gives on this machine. The first policy of the thread is made there.
TEST(StackTest, SixteenKilobytesAreEnough) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const auto smallest = static_cast<size_t>(sysconf(_SC_THREAD_STACK_MIN));
  ASSERT_EQ(0, pthread_attr_setstacksize(&attributes, std::max<size_t>(16384, smallest)));
  static std::vector<std::string> keys;
  for (int i = 0; i < 3000; i++) keys.push_back(NumberKey(i));
  static const std::vector<Slice> slices = Slices(keys);
  static bool works = false;
  std::vector<DoorKind> doors = Doors();
  for (const DoorKind& ribbon : RibbonDoors()) doors.push_back(ribbon);
  for (static DoorKind kind : doors) {
    SCOPED_TRACE(kind.name);
    const auto run = [](void*) -> void* {
      const std::unique_ptr<Door> door = kind.open(10);
      works = true;
      for (size_t count : {1, 20, 400, 1000, 3000}) {
        const std::vector<Slice> some(slices.begin(), slices.begin() + static_cast<long>(count));
        const std::string filter = door->Filter(some);
        works = works && door->KeyMayMatch(some[count / 2], filter) && !door->KeyMayMatch("absent", filter);
      }
      return nullptr;
    };
    pthread_t thread;
    works = false;
    ASSERT_EQ(0, pthread_create(&thread, &attributes, run, nullptr));
    pthread_join(thread, nullptr);
    EXPECT_TRUE(works);
  }
}

}  // namespace
}  // namespace harness
