// The values of LevelDB's own library (golden_values.h), through every door.

#include <gtest/gtest.h>

#include "doors.h"
#include "golden_values.h"
#include "keys.h"

namespace harness {
namespace {

class GoldenTest : public testing::TestWithParam<DoorKind> {};

TEST_P(GoldenTest, Name) {
  EXPECT_STREQ("leveldb.BuiltinBloomFilter2", kGoldenName);
  EXPECT_STREQ(kGoldenName, CountedDoor(GetParam(), 10).Name());
}

TEST_P(GoldenTest, Filters) {
  for (const GoldenFilter& golden : kGoldenFilters) {
    SCOPED_TRACE(golden.filter);
    std::vector<std::string> keys;
    for (const std::string& key : golden.keys) keys.push_back(FromHex(key));
    CountedDoor door(GetParam(), golden.bits_per_key);
    // Filters are appended.
    std::string destination("begin\0\xff", 7);
    const std::string begin = ToHex(destination);
    door.AppendFilter(Slices(keys), &destination);
    EXPECT_EQ(begin + golden.filter, ToHex(destination));
    door.AppendFilter(Slices(keys), &destination);
    EXPECT_EQ(begin + golden.filter + golden.filter, ToHex(destination));
    for (const std::string& key : keys) EXPECT_TRUE(door.KeyMayMatch(key, FromHex(golden.filter)));
    // Any order gives the same bits.
    std::reverse(keys.begin(), keys.end());
    EXPECT_EQ(golden.filter, ToHex(door.Filter(Slices(keys))));
  }
}

TEST_P(GoldenTest, Answers) {
  CountedDoor door(GetParam(), 10);
  for (const GoldenAnswer& golden : kGoldenAnswers) {
    // Functions without a policy read it.
    if (!GetParam().counts_queries && IsRibbon(FromHex(golden.filter))) continue;
    EXPECT_EQ(golden.may_match, door.KeyMayMatch(FromHex(golden.key), FromHex(golden.filter)))
        << "key \"" << golden.key << "\", filter \"" << golden.filter << "\"";
  }
}

INSTANTIATE_TEST_SUITE_P(Doors, GoldenTest, testing::ValuesIn(Doors()), DoorName);

TEST(GoldenHashTest, Hashes) {
  for (const GoldenHash& golden : kGoldenHashes) {
    const std::string key = FromHex(golden.key);
    EXPECT_EQ(golden.hash, leveldb_bloom_hash(key.data(), key.size())) << golden.key;
  }
}

}  // namespace
}  // namespace harness
