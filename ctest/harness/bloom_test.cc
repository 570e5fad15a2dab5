// What LevelDB's own bloom_test asks of a bloom filter, in our words and through every door.
//
// LEVELDB_BLOOM_VERBOSE=1 prints the table of false-positive rates, 2 the small filters too.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "counted_door.h"
#include "keys.h"

namespace harness {
namespace {

int Verbose() {
  const char* verbose = std::getenv("LEVELDB_BLOOM_VERBOSE");
  return verbose == nullptr ? 0 : std::atoi(verbose);
}

constexpr int kBitsPerKey = 10;

class BloomTest : public testing::TestWithParam<DoorKind> {
 protected:
  void Add(const std::string& key) { keys_.push_back(key); }

  void Build() {
    filter_ = door_.Filter(Slices(keys_));
    keys_.clear();
    if (Verbose() >= 2) Dump();
  }

  size_t FilterSize() const { return filter_.size(); }
  bool Matches(const std::string& key) const { return door_.KeyMayMatch(key, filter_); }

  // Asks for keys that were never added.
  double FalsePositiveRate() const {
    constexpr int kAsked = 10000;
    int matches = 0;
    for (int i = 0; i < kAsked; i++) {
      matches += Matches(NumberKey(i + 1000000000));
    }
    return matches / static_cast<double>(kAsked);
  }

 private:
  // One character for each bit: 1, or . for 0.
  void Dump() const {
    std::string bits;
    for (size_t i = 0; i + 1 < filter_.size(); i++) {
      for (int bit = 0; bit < 8; bit++) {
        bits += (filter_[i] >> bit & 1) != 0 ? '1' : '.';
      }
    }
    std::printf("filter(%s), %d probes\n", bits.c_str(), filter_.empty() ? 0 : filter_.back());
  }

  CountedDoor door_{GetParam(), kBitsPerKey};
  std::vector<std::string> keys_;
  std::string filter_;
};

TEST_P(BloomTest, EmptyFilter) {
  EXPECT_FALSE(Matches("hello"));
  EXPECT_FALSE(Matches("world"));
  Build();
  EXPECT_FALSE(Matches("hello"));
  EXPECT_FALSE(Matches("world"));
}

TEST_P(BloomTest, Small) {
  Add("hello");
  Add("world");
  Build();
  EXPECT_TRUE(Matches("hello"));
  EXPECT_TRUE(Matches("world"));
  EXPECT_FALSE(Matches("x"));
  EXPECT_FALSE(Matches("foo"));
}

// 1 to 9, then 10, 20 to 90, and so on.
int NextLength(int length) {
  int step = 1;
  while (length >= step * 10) step *= 10;
  return length + step;
}

TEST_P(BloomTest, VaryingLengths) {
  int mediocre = 0, good = 0;
  if (Verbose() >= 1) {
    std::printf("   keys    bytes  bits/key  false positives  expected\n");
  }
  for (int length = 1; length <= 10000; length = NextLength(length)) {
    SCOPED_TRACE(length);
    for (int i = 0; i < length; i++) {
      Add(NumberKey(i));
    }
    Build();
    const size_t room_for_small_filters = 40;
    EXPECT_LE(FilterSize(), length * kBitsPerKey / 8u + room_for_small_filters);

    for (int i = 0; i < length; i++) {
      ASSERT_TRUE(Matches(NumberKey(i))) << "key " << i;
    }

    const double rate = FalsePositiveRate();
    if (Verbose() >= 1) {
      const double bits = (FilterSize() - 1) * 8.0, probes = 6;
      const double expected = std::pow(1 - std::exp(-probes * length / bits), probes);
      std::printf("%7d %8zu %9.1f %15.2f%% %8.2f%%\n", length, FilterSize(), bits / length,
                  rate * 100, expected * 100);
    }
    EXPECT_LE(rate, 0.02);
    (rate > 0.0125 ? mediocre : good)++;
  }
  EXPECT_LE(mediocre, good / 5);
}

TEST_P(BloomTest, EveryLengthOfKey) {
  std::string key;
  for (int length = 0; length < 70; length++) {
    Add(key);
    key += static_cast<char>(0x80 + length);
  }
  Build();
  key.clear();
  for (int length = 0; length < 70; length++) {
    EXPECT_TRUE(Matches(key)) << length;
    key += static_cast<char>(0x80 + length);
  }
  EXPECT_LE(FalsePositiveRate(), 0.02);
}

INSTANTIATE_TEST_SUITE_P(Doors, BloomTest, testing::ValuesIn(Doors()), DoorName);

}  // namespace
}  // namespace harness
