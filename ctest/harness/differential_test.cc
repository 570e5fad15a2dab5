// Random filters and questions, to LevelDB's own library and to ours: every byte and every answer.
//
// The default seed is fixed. LEVELDB_BLOOM_SEED or --seed=N sets another, LEVELDB_BLOOM_CASES or
// --cases=N the number of cases, --case=N runs that one only (a failure says which it was).

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "doors.h"
#include "keys.h"
#include "statistics.h"
#include "stock.h"

namespace harness {
namespace {

uint64_t seed = 301;
uint64_t cases = 24000;
uint64_t only_case = UINT64_MAX;

constexpr int kMaxBitsPerKey = 120;
constexpr size_t kMaxKeys = 20000;
constexpr size_t kMaxKeyLength = 300;

class Random {
 public:
  Random(uint64_t seed, uint64_t stream) : engine_(Sequence(seed, stream)) {}

  // 0 to `limit`, both included.
  size_t UpTo(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit)(engine_); }

  // 0 to `limit`, mostly small.
  size_t Skewed(size_t limit) {
    const size_t die = UpTo(99);
    return UpTo(die < 60 ? limit / 1000 : die < 85 ? limit / 100 : die < 98 ? limit / 10 : limit);
  }

  std::string Bytes(size_t count) {
    std::string bytes(count, '\0');
    for (char& byte : bytes) byte = static_cast<char>(UpTo(255));
    return bytes;
  }

 private:
  static std::mt19937_64 Sequence(uint64_t seed, uint64_t stream) {
    std::seed_seq sequence{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                           static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)};
    return std::mt19937_64(sequence);
  }

  std::mt19937_64 engine_;
};

// Keys are pieces of these bytes, so that a case does not have to make millions of them.
const std::string& Pool() {
  static const std::string pool = [] {
    Random random(1, 0);
    // The first half is as random bytes are, the second as text and small numbers are.
    std::string bytes = random.Bytes(1 << 19);
    for (int i = 0; i < 1 << 19; i++) {
      bytes += random.UpTo(3) == 0 ? '\0' : static_cast<char>('0' + random.UpTo(42));
    }
    return bytes;
  }();
  return pool;
}

Slice RandomKey(Random* random) {
  static const size_t kLengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64};
  size_t length;
  switch (random->UpTo(3)) {
    case 0:
      length = random->UpTo(kMaxKeyLength);
      break;
    case 1:
      length = kLengths[random->UpTo(sizeof(kLengths) / sizeof(kLengths[0]) - 1)];
      break;
    default:
      length = random->UpTo(24);
  }
  return Slice(Pool().data() + random->UpTo(Pool().size() - length), length);
}

struct Case {
  explicit Case(Random* random) {
    bits_per_key = static_cast<int>(random->UpTo(kMaxBitsPerKey));
    const size_t count = random->Skewed(kMaxKeys);
    keys.reserve(count);
    while (keys.size() < count) {
      const bool again = !keys.empty() && random->UpTo(20) == 0;
      keys.push_back(again ? keys[random->UpTo(keys.size() - 1)] : RandomKey(random));
    }
    if (random->UpTo(1) == 0) destination = random->Bytes(random->UpTo(40));
  }

  int bits_per_key;
  std::vector<Slice> keys;
  // What is there before the filter.
  std::string destination;
};

// Filters as a broken disk or another program might give them.
std::vector<std::string> Corrupted(const std::string& filter, Random* random) {
  std::vector<std::string> corrupted;
  corrupted.push_back(filter.substr(0, random->UpTo(filter.size())));
  corrupted.push_back(filter.substr(filter.size() - random->UpTo(filter.size())));
  corrupted.push_back(random->Bytes(random->UpTo(3)));
  corrupted.push_back(random->Bytes(random->UpTo(200)));
  std::string any_probes = filter;
  any_probes.back() = static_cast<char>(random->UpTo(255));
  corrupted.push_back(any_probes);
  std::string full(1 + random->UpTo(20), '\xff');
  full += static_cast<char>(random->UpTo(32));
  corrupted.push_back(full);
  std::string flipped = filter;
  for (size_t i = random->UpTo(8); i > 0; i--) {
    char* byte = &flipped[random->UpTo(flipped.size() - 1)];
    *byte = static_cast<char>(*byte ^ 1 << random->UpTo(7));
  }
  corrupted.push_back(flipped);
  return corrupted;
}

struct Counts {
  uint64_t filters = 0, keys = 0, filter_bytes = 0, queries = 0, negatives = 0;
};

bool operator==(const Counts& a, const Counts& b) {
  return a.filters == b.filters && a.keys == b.keys && a.filter_bytes == b.filter_bytes &&
         a.queries == b.queries && a.negatives == b.negatives;
}

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.filters << " filters of " << counts.keys << " keys in "
             << counts.filter_bytes << " bytes; " << counts.queries << " queries, "
             << counts.negatives << " negatives";
}

// One of our ways in, with a policy for each number of bits.
class Candidate {
 public:
  explicit Candidate(const DoorKind& kind) : kind_(kind) {
    for (int bits = 0; bits <= kMaxBitsPerKey; bits++) doors_.push_back(kind.open(bits));
  }

  const DoorKind& kind() const { return kind_; }
  const Door& door(int bits_per_key) const { return *doors_[bits_per_key]; }

  // What it was asked, in all; from the statistics of all its policies.
  Counts Close(Statistics* statistics) {
    doors_.clear();
    Counts counts;
    const std::vector<StatisticsLine> lines = statistics->Take();
    EXPECT_EQ(kMaxBitsPerKey + 1u, lines.size());
    for (const StatisticsLine& line : lines) {
      counts.filters += line.Number("filters");
      counts.keys += line.Number("keys");
      counts.filter_bytes += line.Number("filter_bytes");
      counts.queries += line.Number("queries");
      counts.negatives += line.Number("negatives");
      if (line.Number("filters") != 0) {
        EXPECT_EQ(kind_.route, line.Text("route"));
      }
    }
    return counts;
  }

 private:
  const DoorKind kind_;
  std::vector<std::unique_ptr<Door>> doors_;
};

class DifferentialTest : public testing::Test {
 protected:
  static const Stock& stock() {
    static const Stock stock(HARNESS_LEVELDB_FILE);
    return stock;
  }

  DifferentialTest() {
    for (int bits = 0; bits <= kMaxBitsPerKey; bits++) {
      originals_.emplace_back(stock().NewBloomFilterPolicy(bits));
    }
  }

  // Our callbacks in an object of LevelDB's own library.
  static std::unique_ptr<Door> OpenInStock(int bits_per_key) {
    return std::make_unique<PolicyDoor>(CreatePolicyOfCallbacks(
        bits_per_key,
        stock().Find<decltype(&leveldb_filterpolicy_create)>("leveldb_filterpolicy_create")));
  }

  void Compare(uint64_t number) {
    Random random(seed, number);
    const Case test(&random);
    const FilterPolicy& original = *originals_[test.bits_per_key];

    std::string expected = test.destination;
    original.CreateFilter(test.keys.data(), static_cast<int>(test.keys.size()), &expected);
    for (const Candidate& candidate : candidates_) {
      std::string made = test.destination;
      candidate.door(test.bits_per_key).AppendFilter(test.keys, &made);
      ASSERT_TRUE(expected == made)
          << candidate.kind() << ": bits per key " << test.bits_per_key << ", "
          << test.keys.size() << " keys\n expected " << ToHex(expected) << "\n made     "
          << ToHex(made);
    }
    const std::string filter = expected.substr(test.destination.size());
    expected_.filters++;
    expected_.keys += test.keys.size();
    expected_.filter_bytes += filter.size();

    std::vector<Slice> asked = {RandomKey(&random), RandomKey(&random), RandomKey(&random)};
    for (size_t i = std::min<size_t>(test.keys.size(), 3); i > 0; i--) {
      asked.push_back(test.keys[random.UpTo(test.keys.size() - 1)]);
      ASSERT_TRUE(original.KeyMayMatch(asked.back(), filter));
    }
    std::vector<std::string> filters = Corrupted(filter, &random);
    filters.push_back(filter);
    for (const std::string& ask : filters) {
      for (const Slice& key : asked) {
        const bool answer = original.KeyMayMatch(key, ask);
        expected_.queries++;
        expected_.negatives += !answer;
        for (const Candidate& candidate : candidates_) {
          ASSERT_EQ(answer, candidate.door(test.bits_per_key).KeyMayMatch(key, ask))
              << candidate.kind() << ": key " << ToHex(key) << ", filter " << ToHex(ask);
        }
      }
    }
  }

  Statistics statistics_;
  std::vector<std::unique_ptr<const FilterPolicy>> originals_;
  std::vector<Candidate> candidates_;
  Counts expected_;
};

TEST_F(DifferentialTest, TheTwoAreDifferentFiles) {
  using New = const FilterPolicy* (*)(int);
  const New ours = leveldb::NewBloomFilterPolicy;
  const New original = stock().Find<New>("_ZN7leveldb20NewBloomFilterPolicyEi");
  const std::string our_file = FileOf(reinterpret_cast<const void*>(ours));
  EXPECT_EQ(std::filesystem::canonical(HARNESS_SHARED_FILE).string(), our_file);
  EXPECT_EQ(std::filesystem::canonical(HARNESS_LEVELDB_FILE).string(),
            FileOf(reinterpret_cast<const void*>(original)));
  EXPECT_NE(our_file, stock().file());

  const std::unique_ptr<const FilterPolicy> policy(ours(10));
  EXPECT_EQ(our_file, FileOfFilters(policy.get()));
  EXPECT_EQ(stock().file(), FileOfFilters(originals_[10].get()));
  EXPECT_EQ(our_file, FileOf(reinterpret_cast<const void*>(leveldb_bloom_vtable()->create_filter)));
}

TEST_F(DifferentialTest, RandomCases) {
  for (const DoorKind& kind : Doors()) candidates_.emplace_back(kind);
  candidates_.emplace_back(DoorKind{"PolicyInStock", OpenInStock, "callbacks", true});

  const bool one = only_case != UINT64_MAX;
  const uint64_t first = one ? only_case : 0, end = one ? only_case + 1 : cases;
  std::printf("seed %" PRIu64 ", cases %" PRIu64 " to %" PRIu64 "\n", seed, first, end - 1);
  for (uint64_t i = first; i < end; i++) {
    Compare(i);
    ASSERT_FALSE(HasFailure()) << "to run it again: --seed=" << seed << " --case=" << i;
  }

  std::cout << expected_ << "\n";
  for (Candidate& candidate : candidates_) {
    SCOPED_TRACE(candidate.kind());
    Counts expected = expected_;
    if (!candidate.kind().counts_queries) expected.queries = expected.negatives = 0;
    EXPECT_EQ(expected, candidate.Close(&statistics_));
  }
}

// The last byte of a filter, every value of it, in short filters of all kinds.
TEST_F(DifferentialTest, EveryNumberOfProbes) {
  for (const DoorKind& kind : Doors()) candidates_.emplace_back(kind);
  for (size_t length = 0; length <= 4; length++) {
    for (int probes = 0; probes < 256; probes++) {
      for (char fill : {'\0', '\xff', '\x5a', '\x01'}) {
        std::string filter(length, fill);
        if (length != 0) filter.back() = static_cast<char>(probes);
        for (const char* key : {"", "a", "hello", "\xc3\x97"}) {
          const bool answer = originals_[10]->KeyMayMatch(key, filter);
          for (const Candidate& candidate : candidates_) {
            ASSERT_EQ(answer, candidate.door(10).KeyMayMatch(key, filter))
                << candidate.kind() << ": key " << ToHex(key) << ", filter " << ToHex(filter);
          }
        }
      }
    }
  }
}

bool Number(const char* text, const char* name, uint64_t* number) {
  if (text == nullptr || std::strncmp(text, name, std::strlen(name)) != 0) return false;
  *number = std::strtoull(text + std::strlen(name), nullptr, 10);
  return true;
}

}  // namespace
}  // namespace harness

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  harness::Number(std::getenv("LEVELDB_BLOOM_SEED"), "", &harness::seed);
  harness::Number(std::getenv("LEVELDB_BLOOM_CASES"), "", &harness::cases);
  for (int i = 1; i < argc; i++) {
    if (!harness::Number(argv[i], "--seed=", &harness::seed) &&
        !harness::Number(argv[i], "--cases=", &harness::cases) &&
        !harness::Number(argv[i], "--case=", &harness::only_case)) {
      std::fprintf(stderr, "%s: what is %s?\n", argv[0], argv[i]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
