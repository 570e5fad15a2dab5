// Policies of every kind, together in one process with LevelDB: who may destroy them, several at
// once, several databases, many threads.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <thread>
#include <typeinfo>

#include <leveldb/c.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>

#include "doors.h"
#include "keys.h"
#include "statistics.h"
#include "stock.h"

namespace harness {
namespace {

// LevelDB's own library; in a program that is linked with it, that very one.
const Stock& TheStock() {
  static const Stock stock(HARNESS_LEVELDB_FILE);
  return stock;
}

// A policy of callbacks that are not ours: the filter is the keys, one after the other.
struct CustomState {
  std::atomic<int> filters{0}, queries{0}, destroyed{0};

  static void Destroy(void* state) { static_cast<CustomState*>(state)->destroyed++; }

  static char* Create(void* state, const char* const* keys, const size_t* lengths, int count,
                      size_t* filter_length) {
    static_cast<CustomState*>(state)->filters++;
    std::string filter;
    for (int i = 0; i < count; i++) filter.append(keys[i], lengths[i]).append(1, '\n');
    char* memory = static_cast<char*>(std::malloc(filter.size() + 1));
    std::memcpy(memory, filter.data(), filter.size());
    *filter_length = filter.size();
    return memory;
  }

  static uint8_t Match(void* state, const char* key, size_t length, const char* filter,
                       size_t filter_length) {
    static_cast<CustomState*>(state)->queries++;
    const std::string wanted = std::string(key, length) + '\n';
    return std::string(filter, filter_length).find(wanted) != std::string::npos;
  }

  static const char* Name(void*) { return "harness.Keys"; }

  leveldb_filterpolicy_t* Policy(
      decltype(&leveldb_filterpolicy_create) create = leveldb_filterpolicy_create) {
    return create(this, Destroy, Create, Match, Name);
  }
};

const FilterPolicy* Object(leveldb_filterpolicy_t* policy) {
  return reinterpret_cast<const FilterPolicy*>(policy);
}

std::string FilterOf(const FilterPolicy* policy, const std::vector<std::string>& keys) {
  const std::vector<Slice> slices = Slices(keys);
  std::string filter;
  policy->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
  return filter;
}

const char kHelloWorld[] = "114000414410401006";

// The ways to end a policy.
struct Destroyer {
  const char* name;
  std::function<void(leveldb_filterpolicy_t*)> destroy;
};

std::vector<Destroyer> Destroyers() {
  return {
      {"delete", [](leveldb_filterpolicy_t* policy) { delete Object(policy); }},
      {"leveldb_filterpolicy_destroy", leveldb_filterpolicy_destroy},
      {"leveldb_filterpolicy_destroy of LevelDB's own library",
       TheStock().Find<decltype(&leveldb_filterpolicy_destroy)>("leveldb_filterpolicy_destroy")},
  };
}

TEST(PoliciesTest, OursAnswer) {
  EXPECT_STREQ(kActive, leveldb_bloom_active());
}

TEST(PoliciesTest, OursEndInEveryWay) {
  for (const Destroyer& destroyer : Destroyers()) {
    for (bool from_cpp : {true, false}) {
      SCOPED_TRACE(std::string(destroyer.name) + (from_cpp ? ", C++" : ", C"));
      Statistics statistics;
      leveldb_filterpolicy_t* policy =
          from_cpp ? reinterpret_cast<leveldb_filterpolicy_t*>(
                         const_cast<FilterPolicy*>(leveldb::NewBloomFilterPolicy(10)))
                   : leveldb_filterpolicy_create_bloom(10);
      EXPECT_EQ(kHelloWorld, ToHex(FilterOf(Object(policy), {"hello", "world"})));
      EXPECT_EQ(0u, statistics.Take().size());
      destroyer.destroy(policy);
      const std::vector<StatisticsLine> lines = statistics.Take();
      ASSERT_EQ(1u, lines.size());
      EXPECT_EQ(1u, lines[0].Number("filters"));
      EXPECT_EQ("append-cxx11", lines[0].Text("route"));
    }
  }
}

// As a database does that is closed too late.
TEST(PoliciesTest, OursAreCheckedWhereLevelDBUsesThem) {
  // They are kept for good, and somebody has to say so to valgrind.
  static auto& kept = *new std::vector<const FilterPolicy*>;
  const auto capture = [] {
    testing::internal::CaptureStderr();
    // A file that is not appended to may be a database's.
    ASSERT_EQ(0, fcntl(STDERR_FILENO, F_SETFL, O_APPEND));
  };
  for (bool query : {false, true}) {
    SCOPED_TRACE(query ? "query" : "create");
    setenv("LEVELDB_BLOOM_CHECK", "report", 1);
    leveldb_filterpolicy_t* policy = leveldb_filterpolicy_create_bloom(10);
    const FilterPolicy* object = Object(policy);
    kept.push_back(object);
    unsetenv("LEVELDB_BLOOM_CHECK");
    const std::string filter = FilterOf(object, {"hello", "world"});
    capture();
    delete object;
    EXPECT_EQ("", testing::internal::GetCapturedStderr());
    capture();
    if (query) {
      EXPECT_TRUE(object->KeyMayMatch("hello", filter));
      EXPECT_FALSE(object->KeyMayMatch("foo", filter));
    } else {
      EXPECT_EQ(filter, FilterOf(object, {"hello", "world"}));
    }
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string what = query ? "asked for a key" : "asked to create a filter";
    EXPECT_EQ(0u, said.find("leveldb_bloom: a filter policy of 10 bits per key was " + what +
                            " when destroyed; "))
        << said;
    EXPECT_EQ(said.size() - 1, said.find('\n')) << said;
  }
}

// What C++ code may ask of any object with virtual functions.
TEST(PoliciesTest, OursHaveAType) {
  std::unique_ptr<const FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  std::unique_ptr<const FilterPolicy> another(leveldb::NewBloomFilterPolicy(20));
  std::unique_ptr<const FilterPolicy> original(TheStock().NewBloomFilterPolicy(10));
  const FilterPolicy &object = *policy, &other_object = *another, &original_object = *original;
  EXPECT_EQ(policy.get(), dynamic_cast<const void*>(policy.get()));
  EXPECT_TRUE(typeid(object) == typeid(other_object));
  EXPECT_FALSE(typeid(object) == typeid(original_object));
  EXPECT_FALSE(typeid(object) == typeid(FilterPolicy));
  struct Other : FilterPolicy {};
  EXPECT_EQ(nullptr, dynamic_cast<const Other*>(policy.get()));
}

TEST(PoliciesTest, OursEndUnused) {
  for (const Destroyer& destroyer : Destroyers()) {
    SCOPED_TRACE(destroyer.name);
    Statistics statistics;
    destroyer.destroy(leveldb_filterpolicy_create_bloom(10));
    EXPECT_EQ(1u, statistics.Take().size());
  }
}

// More than fits on a stack; a memory checker sees whether it was given back.
TEST(PoliciesTest, OursMakeLargeFilters) {
  std::vector<std::string> keys;
  for (int i = 0; i < 20000; i++) keys.push_back(NumberKey(i));
  std::unique_ptr<const FilterPolicy> original(TheStock().NewBloomFilterPolicy(10));
  Statistics statistics;
  std::unique_ptr<const FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  EXPECT_TRUE(FilterOf(original.get(), keys) == FilterOf(policy.get(), keys));
  policy.reset();
  const std::vector<StatisticsLine> lines = statistics.Take();
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ(1u, lines[0].Number("filters"));
  EXPECT_EQ(keys.size(), lines[0].Number("keys"));
}

// The destructor that no `delete` calls. The memory is C's, as the library's always is.
TEST(PoliciesTest, OursEndBeforeTheirMemory) {
  Statistics statistics;
  leveldb_filterpolicy_t* policy = leveldb_filterpolicy_create_bloom(10);
  Object(policy)->~FilterPolicy();
  EXPECT_EQ(1u, statistics.Take().size());
  std::free(policy);
}

TEST(PoliciesTest, CallbacksEndInEveryWay) {
  for (const Destroyer& destroyer : Destroyers()) {
    SCOPED_TRACE(destroyer.name);
    Statistics statistics;
    leveldb_filterpolicy_t* policy = CreatePolicyOfCallbacks(10, leveldb_filterpolicy_create);
    EXPECT_EQ(kHelloWorld, ToHex(FilterOf(Object(policy), {"hello", "world"})));
    destroyer.destroy(policy);
    const std::vector<StatisticsLine> lines = statistics.Take();
    ASSERT_EQ(1u, lines.size());
    EXPECT_EQ(1u, lines[0].Number("filters"));
    EXPECT_EQ("callbacks", lines[0].Text("route"));
  }
}

TEST(PoliciesTest, CustomOnesEndInEveryWay) {
  const auto create_of_stock =
      TheStock().Find<decltype(&leveldb_filterpolicy_create)>("leveldb_filterpolicy_create");
  for (const Destroyer& destroyer : Destroyers()) {
    for (auto create : {&leveldb_filterpolicy_create, create_of_stock}) {
      SCOPED_TRACE(destroyer.name);
      CustomState state;
      leveldb_filterpolicy_t* policy = state.Policy(create);
      EXPECT_STREQ("harness.Keys", Object(policy)->Name());
      const std::string filter = FilterOf(Object(policy), {"hello", "world"});
      EXPECT_EQ("hello\nworld\n", filter);
      EXPECT_TRUE(Object(policy)->KeyMayMatch("world", filter));
      EXPECT_FALSE(Object(policy)->KeyMayMatch("x", filter));
      EXPECT_EQ(1, state.filters);
      EXPECT_EQ(2, state.queries);
      EXPECT_EQ(0, state.destroyed);
      destroyer.destroy(policy);
      EXPECT_EQ(1, state.destroyed);
    }
  }
}

// A custom policy must be the host's own object: only the host knows its string.
TEST(PoliciesTest, CustomOnesAreTheHosts) {
  CustomState state;
  leveldb_filterpolicy_t* policy = state.Policy();
  EXPECT_EQ(FileOf(reinterpret_cast<const void*>(&leveldb::DB::Open)),
            FileOfFilters(Object(policy)));
  leveldb_filterpolicy_destroy(policy);
  EXPECT_EQ(1, state.destroyed);
}

TEST(PoliciesTest, LevelDBsOwnEndInEveryWay) {
  Statistics statistics;
  for (const Destroyer& destroyer : Destroyers()) {
    SCOPED_TRACE(destroyer.name);
    const FilterPolicy* policy = TheStock().NewBloomFilterPolicy(10);
    EXPECT_EQ(kHelloWorld, ToHex(FilterOf(policy, {"hello", "world"})));
    destroyer.destroy(
        reinterpret_cast<leveldb_filterpolicy_t*>(const_cast<FilterPolicy*>(policy)));
  }
  EXPECT_EQ(0u, statistics.Take().size());
}

// Databases, and what they ask their policies.

constexpr int kKeys = 3000;

class Database {
 public:
  explicit Database(const FilterPolicy* policy) : policy_(policy) {
    options_.create_if_missing = true;
    options_.filter_policy = policy;
    Open();
  }

  void Fill() {
    for (int i = 0; i < kKeys; i++) {
      const std::string key = "key" + std::to_string(i);
      ASSERT_TRUE(database_->Put({}, key, "value of " + key).ok());
    }
    database_->CompactRange(nullptr, nullptr);
    // From now on everything comes from the tables.
    Open();
  }

  // Every key and as many that are not there, from several threads at once. Counts what is wrong.
  int Check(int threads) {
    std::atomic<int> wrong{0};
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; thread++) {
      running.emplace_back([&, thread] {
        for (int i = thread; i < kKeys; i += threads) {
          const std::string key = "key" + std::to_string(i);
          std::string value;
          if (!database_->Get({}, key, &value).ok() || value != "value of " + key) wrong++;
          if (!database_->Get({}, key + "-absent", &value).IsNotFound()) wrong++;
        }
      });
    }
    for (std::thread& thread : running) thread.join();
    return wrong;
  }

 private:
  void Open() {
    database_.reset();
    leveldb::DB* database = nullptr;
    const leveldb::Status status =
        leveldb::DB::Open(options_, folder_.Path("database"), &database);
    if (!status.ok()) throw std::runtime_error(status.ToString());
    database_.reset(database);
  }

  TemporaryFolder folder_;
  // Destroyed after the database.
  std::unique_ptr<const FilterPolicy> policy_;
  leveldb::Options options_;
  std::unique_ptr<leveldb::DB> database_;
};

TEST(PoliciesTest, SeveralDatabasesAtOnce) {
  Statistics statistics;
  std::map<uint64_t, double> expected_negatives = {
      {1, 0.2}, {5, 0.85}, {10, 0.97}, {20, 0.999}, {50, 0.999}};
  CustomState custom_state;
  std::vector<std::unique_ptr<Database>> databases;
  for (const auto& [bits, negatives] : expected_negatives) {
    databases.push_back(
        std::make_unique<Database>(leveldb::NewBloomFilterPolicy(static_cast<int>(bits))));
  }
  databases.push_back(
      std::make_unique<Database>(Object(CreatePolicyOfCallbacks(7, leveldb_filterpolicy_create))));
  databases.push_back(std::make_unique<Database>(Object(custom_state.Policy())));
  databases.push_back(std::make_unique<Database>(TheStock().NewBloomFilterPolicy(10)));

  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (const auto& database : databases) {
    threads.emplace_back([&] {
      database->Fill();
      wrong += database->Check(2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, wrong);
  EXPECT_GT(custom_state.filters, 0);
  EXPECT_GT(custom_state.queries, kKeys);
  EXPECT_EQ(0, custom_state.destroyed);

  databases.clear();
  EXPECT_EQ(1, custom_state.destroyed);
  const std::vector<StatisticsLine> lines = statistics.Take();
  ASSERT_EQ(expected_negatives.size() + 1, lines.size());
  for (const StatisticsLine& line : lines) {
    const uint64_t bits = line.Number("bits_per_key");
    SCOPED_TRACE(bits);
    EXPECT_EQ(bits == 7 ? "callbacks" : "append-cxx11", line.Text("route"));
    EXPECT_GE(line.Number("keys"), kKeys);
    EXPECT_GE(line.Number("queries"), kKeys);
    EXPECT_GT(line.Number("negatives"), kKeys * (bits == 7 ? 0.9 : expected_negatives[bits]));
    EXPECT_LE(line.Number("negatives"), kKeys);
  }
}

TEST(PoliciesTest, OnePolicyForSeveralDatabases) {
  Statistics statistics;
  auto policy = std::unique_ptr<const FilterPolicy>(leveldb::NewBloomFilterPolicy(10));
  constexpr int kDatabases = 3;
  TemporaryFolder folder;
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = policy.get();
  for (int i = 0; i < kDatabases; i++) {
    const std::string path = folder.Path(std::to_string(i));
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open(options, path, &opened).ok());
    std::unique_ptr<leveldb::DB> database(opened);
    for (int key = 0; key < 100; key++) {
      ASSERT_TRUE(database->Put({}, NumberKey(key), "value").ok());
    }
    database->CompactRange(nullptr, nullptr);
    std::string value;
    for (int key = 0; key < 100; key++) {
      EXPECT_TRUE(database->Get({}, NumberKey(key), &value).ok());
    }
  }
  policy.reset();
  const std::vector<StatisticsLine> lines = statistics.Take();
  ASSERT_EQ(1u, lines.size());
  EXPECT_GE(lines[0].Number("keys"), 100u * kDatabases);
  EXPECT_EQ(100u * kDatabases, lines[0].Number("queries"));
}

// Many threads: each creates, uses and destroys policies of its own, and all use one together.
TEST(PoliciesTest, ManyThreads) {
  constexpr int kThreads = 8, kRounds = 300;
  Statistics statistics;
  std::vector<std::string> keys;
  for (int i = 0; i < 50; i++) keys.push_back(NumberKey(i));
  std::map<int, std::string> expected;
  for (int bits = 0; bits < 40; bits++) {
    std::unique_ptr<const FilterPolicy> policy(TheStock().NewBloomFilterPolicy(bits));
    expected[bits] = FilterOf(policy.get(), keys);
  }

  // Two that nobody has used yet, so that all threads look for their string at once.
  auto together = std::unique_ptr<const FilterPolicy>(leveldb::NewBloomFilterPolicy(10));
  auto callbacks = std::unique_ptr<const FilterPolicy>(
      Object(CreatePolicyOfCallbacks(10, leveldb_filterpolicy_create)));
  std::atomic<int> wrong{0}, ready{0};
  auto use = [&](const FilterPolicy* policy, int bits) {
    const std::string filter = FilterOf(policy, keys);
    if (filter != expected[bits]) wrong++;
    for (const std::string& key : keys) {
      if (!policy->KeyMayMatch(key, filter)) wrong++;
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; thread++) {
    threads.emplace_back([&, thread] {
      for (ready++; ready < kThreads;) std::this_thread::yield();
      for (int round = 0; round < kRounds; round++) {
        use(together.get(), 10);
        use(callbacks.get(), 10);
        const int bits = (thread * 7 + round) % 40;
        if (round % 2 == 0) {
          std::unique_ptr<const FilterPolicy> own(leveldb::NewBloomFilterPolicy(bits));
          use(own.get(), bits);
        } else {
          leveldb_filterpolicy_t* own = leveldb_filterpolicy_create_bloom(bits);
          use(Object(own), bits);
          leveldb_filterpolicy_destroy(own);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, wrong);

  const std::vector<StatisticsLine> own = statistics.Take();
  EXPECT_EQ(size_t{kThreads} * kRounds, own.size());
  for (const StatisticsLine& line : own) {
    ASSERT_EQ(1u, line.Number("filters"));
    ASSERT_EQ(keys.size(), line.Number("queries"));
    ASSERT_EQ("append-cxx11", line.Text("route"));
  }
  together.reset();
  callbacks.reset();
  const std::vector<StatisticsLine> shared = statistics.Take();
  ASSERT_EQ(2u, shared.size());
  for (const StatisticsLine& line : shared) {
    EXPECT_EQ(uint64_t{kThreads} * kRounds, line.Number("filters"));
    EXPECT_EQ(uint64_t{kThreads} * kRounds * keys.size(), line.Number("queries"));
  }
}

}  // namespace
}  // namespace harness
