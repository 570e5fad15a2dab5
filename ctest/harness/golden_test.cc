// The values of LevelDB's own library, through every door; and that they are still its values.

#include <gtest/gtest.h>

#include <algorithm>

#include "counted_door.h"
#include "golden_values.h"
#include "keys.h"
#include "observed_hash.h"

namespace harness {
namespace {

std::string Describe(const GoldenFilter& golden) {
  std::string text = "bits per key " + std::to_string(golden.bits_per_key) + ", keys";
  for (const std::string& key : golden.keys) text += " \"" + key + "\"";
  return text;
}

class GoldenTest : public testing::TestWithParam<DoorKind> {};

TEST_P(GoldenTest, Name) {
  EXPECT_STREQ("leveldb.BuiltinBloomFilter2", kGoldenName);
  EXPECT_STREQ(kGoldenName, CountedDoor(GetParam(), 10).Name());
}

TEST_P(GoldenTest, Filters) {
  for (const GoldenFilter& golden : kGoldenFilters) {
    SCOPED_TRACE(Describe(golden));
    std::vector<std::string> keys;
    for (const std::string& key : golden.keys) keys.push_back(FromHex(key));
    CountedDoor door(GetParam(), golden.bits_per_key);
    EXPECT_EQ(golden.filter, ToHex(door.Filter(Slices(keys))));
    for (const std::string& key : keys) {
      EXPECT_TRUE(door.KeyMayMatch(key, FromHex(golden.filter)));
    }
    // Any order and any repetition give the same bits.
    std::reverse(keys.begin(), keys.end());
    EXPECT_EQ(golden.filter, ToHex(door.Filter(Slices(keys))));
  }
}

TEST_P(GoldenTest, FiltersAreAppended) {
  for (const GoldenFilter& golden : kGoldenFilters) {
    SCOPED_TRACE(Describe(golden));
    std::vector<std::string> keys;
    for (const std::string& key : golden.keys) keys.push_back(FromHex(key));
    CountedDoor door(GetParam(), golden.bits_per_key);
    std::string destination("begin\0\xff", 7);
    const std::string begin = ToHex(destination);
    door.AppendFilter(Slices(keys), &destination);
    EXPECT_EQ(begin + golden.filter, ToHex(destination));
    door.AppendFilter(Slices(keys), &destination);
    EXPECT_EQ(begin + golden.filter + golden.filter, ToHex(destination));
  }
}

TEST_P(GoldenTest, HashesOfFilters) {
  for (const GoldenHash& golden : kGoldenHashes) {
    SCOPED_TRACE(golden.key);
    CountedDoor door(GetParam(), 1);
    EXPECT_EQ(golden.hash,
              HashOfCreatedFilters(FromHex(golden.key), [&](const std::vector<Slice>& keys) {
                return door.Filter(keys);
              }));
  }
}

TEST_P(GoldenTest, HashesOfAnswers) {
  for (const GoldenHash& golden : kGoldenHashes) {
    SCOPED_TRACE(golden.key);
    CountedDoor door(GetParam(), 10);
    EXPECT_EQ(golden.hash, HashOfAnswers(FromHex(golden.key), [&](const Slice& k, const Slice& f) {
                return door.KeyMayMatch(k, f);
              }));
  }
}

TEST_P(GoldenTest, Answers) {
  CountedDoor door(GetParam(), 10);
  for (const GoldenAnswer& golden : kGoldenAnswers) {
    EXPECT_EQ(golden.may_match, door.KeyMayMatch(FromHex(golden.key), FromHex(golden.filter)))
        << "key \"" << golden.key << "\", filter \"" << golden.filter << "\"";
  }
}

// What the format's description promises, in case the generated file is ever of something else.
TEST(GoldenValuesTest, HaveTheKnownOnes) {
  auto filter_of = [](int bits, const std::vector<std::string>& keys) {
    for (const GoldenFilter& golden : kGoldenFilters) {
      if (golden.bits_per_key == bits && golden.keys == keys) return golden.filter;
    }
    return std::string("none");
  };
  EXPECT_EQ("000000000000000006", filter_of(10, {}));
  EXPECT_EQ("114000414410401006", filter_of(10, {"68656c6c6f", "776f726c64"}));
  EXPECT_EQ("080004000200118006", filter_of(10, {""}));
  EXPECT_EQ("800018000120000406", filter_of(10, {"c397"}));
  EXPECT_EQ("000000000000010001", filter_of(0, {"61"}));
  EXPECT_EQ("000000000000010001", filter_of(1, {"61"}));
  EXPECT_EQ("78f0e0c1830f1f3c1e", filter_of(44, {"61"}));
  EXPECT_EQ("0b00000000c07f0000000000f81e", filter_of(100, {"61"}));
  auto hash_of = [](const std::string& key) {
    for (const GoldenHash& golden : kGoldenHashes) {
      if (golden.key == key) return golden.hash;
    }
    return 0u;
  };
  EXPECT_EQ(0xbc9f1d34, hash_of(""));
  EXPECT_EQ(0xef1345c4, hash_of("62"));
  EXPECT_EQ(0x5b663814u, hash_of("c397"));
  EXPECT_EQ(0x323c078fu, hash_of("e299a5"));
  EXPECT_EQ(0xed21633a, hash_of("e180b932"));
}

INSTANTIATE_TEST_SUITE_P(Doors, GoldenTest, testing::ValuesIn(Doors()), DoorName);

}  // namespace
}  // namespace harness
