// Random filters and queries, to LevelDB's own library and to ours: every byte and every answer. And the
// corpus of tests/corpus.rs, which every machine's Rust tests compare with.
//
// LEVELDB_BLOOM_SEED sets another seed, LEVELDB_BLOOM_CASES another number of cases.

#include <gtest/gtest.h>

#include <cstdlib>

#include "doors.h"
#include "keys.h"
#include "stock.h"

namespace harness {
namespace {

uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  size_t Below(uint64_t n) { return static_cast<size_t>(Next() % n); }
  std::string Bytes(size_t count) {
    std::string bytes;
    while (bytes.size() < count) bytes += static_cast<char>(Next());
    return bytes;
  }

 private:
  uint64_t state_;
};

constexpr int kMostBits = 120;
constexpr size_t kLongestKey = 300;

// Keys are pieces of these bytes. The first half is as random bytes are, the second as numbers are.
const std::string& Pool() {
  static const std::string pool = [] {
    Random random(1);
    std::string bytes = random.Bytes(1 << 16);
    for (int i = 0; i < 1 << 16; i++) bytes += static_cast<char>(random.Below(4) ? '0' + random.Below(10) : 0);
    return bytes;
  }();
  return pool;
}

Slice Key(Random* random) {
  const size_t longest[] = {9, 33, 65, kLongestKey};
  const size_t length = random->Below(longest[random->Below(4)]);
  return Slice(Pool().data() + random->Below(Pool().size() - length), length);
}

// A filter as a broken disk or another program might give it.
std::vector<std::string> Damaged(const std::string& filter, Random* random) {
  std::string other_probes = filter, flipped = filter;
  other_probes.back() = static_cast<char>(random->Next());
  flipped[random->Below(filter.size())] ^= static_cast<char>(1 << random->Below(8));
  return {filter.substr(0, random->Below(filter.size())), random->Bytes(random->Below(3)),
          random->Bytes(random->Below(200)), std::string(1 + random->Below(20), '\xff') + other_probes.back(),
          other_probes, flipped};
}

class DifferentialTest : public testing::TestWithParam<DoorKind> {
 protected:
  const Stock stock_{HARNESS_LEVELDB_FILE};
};

TEST_P(DifferentialTest, RandomCases) {
  const uint64_t seed = Setting("LEVELDB_BLOOM_SEED", 301), cases = Setting("LEVELDB_BLOOM_CASES", 4000);
  for (uint64_t i = 0; i < cases; i++) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", case " + std::to_string(i));
    Random random(seed << 32 | i);
    const int bits_per_key = static_cast<int>(random.Below(kMostBits));
    const size_t most_keys[] = {20, 20, 200, 2000}, count = random.Below(most_keys[i % 4]) * (i % 500 ? 1 : 20);
    std::vector<Slice> keys;
    while (keys.size() < count) keys.push_back(Key(&random));
    const std::unique_ptr<const FilterPolicy> original(stock_.NewBloomFilterPolicy(bits_per_key));
    const std::unique_ptr<Door> door = GetParam().open(bits_per_key);

    std::string expected = random.Bytes(random.Below(40)), made = expected;
    const size_t before = made.size();
    original->CreateFilter(keys.data(), static_cast<int>(keys.size()), &expected);
    door->AppendFilter(keys, &made);
    ASSERT_EQ(ToHex(expected), ToHex(made)) << bits_per_key << " bits, " << count << " keys";

    const std::string filter = expected.substr(before);
    std::vector<std::string> filters = Damaged(filter, &random);
    filters.push_back(filter);
    std::vector<Slice> queries = {Key(&random), Key(&random), Key(&random)};
    if (count > 0) queries.push_back(keys[random.Below(count)]);
    for (const std::string& of : filters) {
      // Functions without a policy read it.
      if (!GetParam().counts_queries && IsRibbon(of)) continue;
      for (const Slice& key : queries) {
        ASSERT_EQ(original->KeyMayMatch(key, of), door->KeyMayMatch(key, of))
            << "key " << ToHex(key) << ", filter " << ToHex(of);
      }
    }
  }
}

// Each number of probes that a filter's last byte can say.
TEST_P(DifferentialTest, EveryLastByte) {
  const std::unique_ptr<const FilterPolicy> original(stock_.NewBloomFilterPolicy(10));
  CountedDoor door(GetParam(), 10);
  for (size_t length = 1; length <= 4; length++) {
    for (int probes = 0; probes < 256; probes++) {
      for (char fill : {'\0', '\xff', '\x5a', '\x01'}) {
        const std::string filter = std::string(length - 1, fill) + static_cast<char>(probes);
        for (const char* key : {"", "a", "hello", "\xc3\x97"}) {
          ASSERT_EQ(original->KeyMayMatch(key, filter), door.KeyMayMatch(key, filter))
              << "key " << ToHex(key) << ", filter " << ToHex(filter);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Doors, DifferentialTest, testing::ValuesIn(Doors()), DoorName);

TEST(CorpusTest, TheHashIsTheOriginals) {
  const Stock stock(HARNESS_LEVELDB_FILE);
  Random random(1);
  const std::string bytes = random.Bytes(4096);
  const auto slice = [&](size_t length) {
    return Slice(bytes.data() + random.Below(4096 - 400), length);
  };
  // FNV-1a, 64 bits.
  uint64_t digest = 0xcbf29ce484222325;
  const auto add = [&](char byte) { digest = (digest ^ static_cast<uint8_t>(byte)) * 0x100000001b3; };
  for (size_t i = 0; i < 3000; i++) {
    const size_t bits_per_key[] = {10, 10, 10, 0, 1, 5, 15, 20, 43, 44, 100, random.Below(200)};
    const size_t num_keys[] = {random.Below(8), random.Below(100), random.Below(1000)};
    const size_t longest = std::vector<size_t>{17, 5, 64, 400}[i % 4];
    std::vector<Slice> keys;
    while (keys.size() < num_keys[i % 3]) {
      const size_t length = i % 2 == 0 ? longest - 1 : random.Below(longest);
      keys.push_back(slice(length));
    }
    const std::unique_ptr<const FilterPolicy> policy(
        stock.NewBloomFilterPolicy(static_cast<int>(bits_per_key[i % 12])));
    std::string filter;
    policy->CreateFilter(keys.data(), static_cast<int>(keys.size()), &filter);
    for (char byte : filter) add(byte);
    for (int j = 0; j < 20; j++) {
      const size_t length = random.Below(20);
      add(policy->KeyMayMatch(slice(length), filter) ? 1 : 0);
    }
  }
  EXPECT_EQ(HARNESS_CORPUS_HASH, digest);
}

}  // namespace
}  // namespace harness
