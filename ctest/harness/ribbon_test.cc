// Ribbon filters through every door: the bytes of docs/ribbon.md, who reads them, and odd input.

#include <gtest/gtest.h>

#include <climits>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>

#include "doors.h"
#include "keys.h"

namespace harness {
namespace {

// Eight bytes, the high one first: keys in order, which LevelDB's own filter hardly tells apart.
std::string BigEndian(uint64_t number) {
  std::string key;
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(number >> shift);
  return key;
}

std::vector<std::string> Numbers(uint64_t first, uint64_t count, uint64_t step = 1) {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < count; i++) keys.push_back(BigEndian(first + i * step));
  return keys;
}

uint32_t Crc32(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

// An example of docs/ribbon.md.
struct Example {
  int bits_per_key;
  std::vector<std::string> keys;
  std::string filter;
};

std::string Specification() {
  std::ifstream file(HARNESS_RIBBON_SPECIFICATION);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The examples' table: bits per key, keys (`text`, "the empty key", "numbers 1 to 9", "none"), `00 11 ..`.
std::vector<Example> Examples() {
  const std::regex row(R"(\n\| (\d+) \| ([^|]+) \| `([0-9a-f ]+)`)"), text("`([^`]+)`|the empty key"),
      range(R"(numbers (\d+) to (\d+))");
  const std::string page = Specification();
  std::vector<Example> examples;
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it) {
    const std::string keys = (*it)[2];
    Example example{std::stoi((*it)[1]), {}, std::regex_replace((*it)[3].str(), std::regex(" "), "")};
    std::smatch numbers;
    if (std::regex_match(keys, numbers, range)) {
      const uint64_t first = std::stoull(numbers[1]);
      example.keys = Numbers(first, std::stoull(numbers[2]) - first + 1);
    }
    for (std::sregex_iterator key(keys.begin(), keys.end(), text); key != end; ++key) {
      example.keys.push_back((*key)[1]);
    }
    examples.push_back(example);
  }
  return examples;
}

const std::string kHelloWorld = [] {
  for (const Example& example : Examples()) {
    if (example.keys == std::vector<std::string>{"hello", "world"}) return FromHex(example.filter);
  }
  return std::string();
}();

std::string Filter(int bits_per_key, const std::vector<std::string>& keys) {
  return BufferDoor(leveldb_bloom_policy_create_ribbon(bits_per_key)).Filter(Slices(keys));
}

class RibbonTest : public testing::TestWithParam<DoorKind> {};

TEST_P(RibbonTest, Name) {
  EXPECT_STREQ("leveldb.BuiltinBloomFilter2", CountedDoor(GetParam(), 10).Name());
}

TEST_P(RibbonTest, Filters) {
  const std::vector<Example> examples = Examples();
  ASSERT_EQ(8u, examples.size());
  for (const Example& example : examples) {
    SCOPED_TRACE(example.filter);
    std::vector<std::string> keys = example.keys;
    CountedDoor door(GetParam(), example.bits_per_key);
    // Filters are appended.
    std::string destination("begin\0\xff", 7);
    const std::string begin = ToHex(destination);
    door.AppendFilter(Slices(keys), &destination);
    EXPECT_EQ(begin + example.filter, ToHex(destination));
    door.AppendFilter(Slices(keys), &destination);
    EXPECT_EQ(begin + example.filter + example.filter, ToHex(destination));
    for (const std::string& key : keys) EXPECT_TRUE(door.KeyMayMatch(key, FromHex(example.filter)));
    // Any order gives the same bits.
    std::reverse(keys.begin(), keys.end());
    EXPECT_EQ(example.filter, ToHex(door.Filter(Slices(keys))));
  }
}

// More keys than are solved on the stack, and than a filter on the stack has room for.
TEST_P(RibbonTest, ManyKeys) {
  CountedDoor door(GetParam(), 10);
  const std::string filter = door.Filter(Slices(Numbers(0, 1000)));
  const std::string page = Specification();
  std::smatch crc;
  ASSERT_TRUE(std::regex_search(page, crc, std::regex("numbers 0 to 999[^#]+CRC-32 is ([0-9a-f]{8})")));
  EXPECT_EQ(std::stoul(crc[1], nullptr, 16), Crc32(filter));
  for (uint64_t count : {63, 64, 65, 100, 1500, 1600, 5000}) {
    SCOPED_TRACE(count);
    const std::vector<std::string> keys = Numbers(0, count, 2);
    const std::string even = door.Filter(Slices(keys));
    ASSERT_TRUE(IsRibbon(even));
    uint64_t absent = 0;
    for (const std::string& key : keys) {
      ASSERT_TRUE(door.KeyMayMatch(key, even));
      std::string neighbour = key;
      neighbour.back()++;
      absent += door.KeyMayMatch(neighbour, even);
    }
    // One in 1,024.
    EXPECT_LE(absent, 3 + count / 300);
  }
}

// It reads LevelDB's own filters, too.
TEST_P(RibbonTest, BothAreRead) {
  CountedDoor door(GetParam(), 10);
  const std::string of_leveldb = FromHex("114000414410401006");
  for (const std::string& filter : {of_leveldb, kHelloWorld}) {
    EXPECT_TRUE(door.KeyMayMatch("hello", filter));
    EXPECT_TRUE(door.KeyMayMatch("world", filter));
    EXPECT_FALSE(door.KeyMayMatch("absent", filter));
  }
}

TEST_P(RibbonTest, BitsPerKey) {
  const std::vector<std::string> keys = Numbers(0, 20);
  for (const auto& [bits_per_key, as] : {std::pair(INT_MIN, 1), {-1, 1}, {0, 1}, {1, 1}, {2, 2}, {12, 12},
                                         {13, 13}, {14, 13}, {44, 13}, {INT_MAX, 13}}) {
    SCOPED_TRACE(bits_per_key);
    const std::string expected = Filter(as, keys);
    CountedDoor door(GetParam(), bits_per_key);
    const std::string filter = door.Filter(Slices(keys));
    EXPECT_EQ(ToHex(expected), ToHex(filter));
    EXPECT_TRUE(IsRibbon(filter));
    for (const std::string& key : keys) EXPECT_TRUE(door.KeyMayMatch(key, filter));
  }
}

TEST_P(RibbonTest, OddKeysAndFilters) {
  CountedDoor door(GetParam(), 10);
  const Slice null(nullptr, 0);
  EXPECT_EQ(ToHex(door.Filter({"", "a", ""})), ToHex(door.Filter({null, "a", null})));
  EXPECT_TRUE(door.KeyMayMatch(null, door.Filter({""})));
  EXPECT_FALSE(door.KeyMayMatch("a", null));
  // NULL with a length, and more bytes than any object has, are taken for no bytes.
  for (size_t length : {size_t{1}, size_t{9}, SIZE_MAX / 2 + 1, SIZE_MAX}) {
    EXPECT_EQ(door.KeyMayMatch("", kHelloWorld), door.KeyMayMatch(Slice(nullptr, length), kHelloWorld));
    EXPECT_FALSE(door.KeyMayMatch("", Slice(nullptr, length)));
  }
  // The same key often, and equal keys alone.
  for (size_t count : {2, 64, 65, 1000}) {
    const std::string filter = door.Filter(std::vector<Slice>(count, "key"));
    EXPECT_TRUE(door.KeyMayMatch("key", filter));
    EXPECT_FALSE(door.KeyMayMatch("absent", filter));
  }
}

// Any last byte behind any number of bytes, at the end of their memory.
TEST_P(RibbonTest, NothingBeyondTheEndIsRead) {
  CountedDoor door(GetParam(), 10);
  for (size_t size = 0; size < 40; size++) {
    for (int last = 0; last < 256; last++) {
      const std::unique_ptr<char[]> filter(new char[size + 1]);
      std::memset(filter.get(), '\xa5', size);
      filter[size] = static_cast<char>(last);
      const bool answer = door.KeyMayMatch("hello", Slice(filter.get(), size + 1));
      const bool is_reserved = last == 0 || last == 31 || last >= 240;
      if (is_reserved || (last > 31 && size < 8)) {
        EXPECT_EQ(size > 0, answer) << size << ", " << last;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Doors, RibbonTest, testing::ValuesIn(RibbonDoors()), DoorName);

// To policies of LevelDB's own encoding a ribbon filter may hold any key, as to LevelDB.
class BloomTest : public testing::TestWithParam<DoorKind> {};

TEST_P(BloomTest, KnowsNoRibbon) {
  const std::unique_ptr<Door> door = GetParam().open(10);
  EXPECT_TRUE(door->KeyMayMatch("hello", kHelloWorld));
  EXPECT_EQ(GetParam().counts_queries, door->KeyMayMatch("absent", kHelloWorld));
}

INSTANTIATE_TEST_SUITE_P(Doors, BloomTest, testing::ValuesIn(Doors()), DoorName);

// The variable is for LevelDB's own names.
TEST(RibbonEnvironmentTest, ChangesNoOtherPolicy) {
  const RibbonEnvironment environment;
  leveldb_bloom_policy* const policies[] = {leveldb_bloom_policy_create(10),
                                            leveldb_bloom_policy_create_goleveldb(10)};
  for (leveldb_bloom_policy* policy : policies) {
    EXPECT_EQ("114000414410401006", ToHex(BufferDoor(policy).Filter({"hello", "world"})));
  }
}

// Each in a process of its own, because it is said once in a process.
TEST(RibbonEnvironmentTest, RefusesWhatItDoesNotKnow) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  for (const char* value : {"Ribbon", "ribbon ", "xor", "1"}) {
    const std::string said = std::string("^leveldb_bloom: there is no encoding LEVELDB_BLOOM_ENCODING=") + value +
                             "; using bloom, and there are: bloom ribbon\n$";
    EXPECT_EXIT(({
      setenv("LEVELDB_BLOOM_ENCODING", value, 1);
      bool is_bloom = true;
      for (int i = 0; i < 3; i++) {
        const PolicyDoor door(leveldb::NewBloomFilterPolicy(10));
        is_bloom = is_bloom && ToHex(door.Filter({"hello", "world"})) == "114000414410401006";
      }
      std::_Exit(is_bloom ? 0 : 1);
    }), testing::ExitedWithCode(0), said);
  }
}

TEST(RibbonFunctionsTest, Builder) {
  leveldb_bloom_builder* const builder = leveldb_bloom_builder_create_ribbon(10);
  for (uint64_t count : {0, 1, 6, 20, 64, 65, 1000}) {
    const std::vector<std::string> keys = Numbers(0, count);
    for (const std::string& key : keys) {
      ASSERT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_builder_add(builder, key.data(), key.size()));
    }
    std::string filter(leveldb_bloom_builder_filter_size(builder, 0), '\xa5');
    ASSERT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_builder_finish(builder, 0, &filter[0], filter.size()));
    EXPECT_EQ(ToHex(Filter(10, keys)), ToHex(filter)) << count;
  }
  leveldb_bloom_builder_destroy(builder);
}

// Flat keys, and answers for many keys and many filters.
TEST(RibbonFunctionsTest, FlatKeysAndLists) {
  leveldb_bloom_policy* const policy = leveldb_bloom_policy_create_ribbon(10);
  std::string data;
  std::vector<int32_t> offsets32 = {0};
  std::vector<int64_t> offsets64 = {0};
  for (const std::string& key : Numbers(0, 1000)) {
    data += key;
    offsets32.push_back(static_cast<int32_t>(data.size()));
    offsets64.push_back(static_cast<int64_t>(data.size()));
  }
  for (size_t count : {0, 1, 20, 64, 65, 1000}) {
    SCOPED_TRACE(count);
    const std::string expected = Filter(10, Numbers(0, count));
    std::string filter(expected.size(), '\xa5');
    char* const to = &filter[0];
    const auto expect_filter = [&](int status) {
      EXPECT_EQ(LEVELDB_BLOOM_OK, status);
      EXPECT_EQ(ToHex(expected), ToHex(filter));
      std::memset(to, 0xa5, filter.size());
    };
    expect_filter(leveldb_bloom_fill_filter_fixed(policy, data.data(), 8, count, to, filter.size()));
    expect_filter(leveldb_bloom_fill_filter_offsets32(policy, data.data(), data.size(), offsets32.data(), count,
                                                      to, filter.size()));
    expect_filter(leveldb_bloom_fill_filter_offsets64(policy, data.data(), data.size(), offsets64.data(), count,
                                                      to, filter.size()));
    size_t matches = 0;
    std::vector<uint8_t> results(1000);
    ASSERT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_keys_may_match_fixed(data.data(), 8, 1000, expected.data(),
                                                                   expected.size(), results.data(), nullptr, &matches));
    EXPECT_GE(matches, count);
    EXPECT_LE(matches, count + 5);
    for (size_t i = 0; i < count; i++) ASSERT_EQ(1, results[i]);
    // Beside a filter of LevelDB's own and one that matches everything.
    const std::vector<Slice> filters = {expected, FromHex("114000414410401006"), "\xff\x1f"};
    EXPECT_EQ(count > 0 ? 2u : 1u, leveldb_bloom_filters_may_match(data.data(), 8, AsC(filters), 3, nullptr));
  }
  // However many empty keys there are, they are one.
  for (size_t count : {1, 2, 64, 65, 1000}) {
    std::string filter(leveldb_bloom_filter_size(policy, count), '\xa5');
    EXPECT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_fill_filter_fixed(policy, nullptr, 0, count, &filter[0], filter.size()));
    EXPECT_EQ(ToHex(Filter(10, std::vector<std::string>(count))), ToHex(filter));
  }
  leveldb_bloom_policy_destroy(policy);
}

// What cannot be had of a ribbon.
TEST(RibbonFunctionsTest, OtherFunctions) {
  std::string into = kHelloWorld;
  EXPECT_EQ(LEVELDB_BLOOM_MISMATCH, leveldb_bloom_union(&into[0], 9, kHelloWorld.data(), 9));
  EXPECT_EQ(LEVELDB_BLOOM_MISMATCH, leveldb_bloom_union(&into[0], 9, into.data(), 9));
  EXPECT_EQ(kHelloWorld, into);
  uint64_t positions[30] = {77};
  EXPECT_EQ(0u, leveldb_bloom_positions("hello", 5, kHelloWorld.data(), 9, positions, 30));
  EXPECT_EQ(77u, positions[0]);
  for (const char* key : {"hello", "absent"}) {
    const uint32_t hash = leveldb_bloom_hash(key, std::strlen(key));
    EXPECT_EQ(1, leveldb_bloom_hash_may_match(hash, kHelloWorld.data(), 9));
  }
}

TEST(RibbonFunctionsTest, Inspect) {
  leveldb_bloom_info info;
  const std::string filter = Filter(10, Numbers(0, 1000));
  ASSERT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_inspect(filter.data(), filter.size(), &info));
  EXPECT_EQ(uint32_t{LEVELDB_BLOOM_ENCODING_RIBBON}, info.encoding);
  EXPECT_EQ(10u, info.probes);
  EXPECT_EQ(1000, info.estimated_keys);
  EXPECT_EQ(1.0 / 1024, info.false_positive_rate);
  EXPECT_EQ((filter.size() - 1) * 8, info.bits);
  EXPECT_GT(info.bits_set, 0u);
  const std::string of_leveldb = FromHex("114000414410401006");
  ASSERT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_inspect(of_leveldb.data(), 9, &info));
  EXPECT_EQ(uint32_t{LEVELDB_BLOOM_ENCODING_BLOOM}, info.encoding);
  // Too short for a ribbon: it matches everything.
  ASSERT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_inspect("\x01\xb0", 2, &info));
  EXPECT_EQ(uint32_t{LEVELDB_BLOOM_ENCODING_BLOOM}, info.encoding);
  EXPECT_EQ(1, info.false_positive_rate);
}

}  // namespace
}  // namespace harness
