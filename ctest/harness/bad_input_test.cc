// Odd input, through every door and to every function: each has the answer that leveldb_bloom.h promises.

#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <cstring>

#include "doors.h"
#include "keys.h"

namespace harness {
namespace {

// Bytes in memory of exactly their size, so that a memory checker sees one read too many.
class Exact {
 public:
  explicit Exact(const std::string& bytes) : bytes_(new char[bytes.size()]), size_(bytes.size()) {
    std::memcpy(bytes_.get(), bytes.data(), size_);
  }
  operator Slice() const { return Slice(bytes_.get(), size_); }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

const Slice kNull(nullptr, 0);
const std::string kNoKeys = FromHex("000000000000000006");
const std::string kEmptyKey = FromHex("080004000200118006");
const std::string kHelloWorld = FromHex("114000414410401006");

// What takes the place of a filter that cannot be made.
void ExpectMatchesEverything(const Slice& filter) {
  ASSERT_GE(filter.size(), 2u);
  EXPECT_GT(static_cast<uint8_t>(filter[filter.size() - 1]), 30);
  for (const char* key : {"", "a", "hello", "\xc3\x97"}) {
    EXPECT_EQ(1, leveldb_bloom_key_may_match(key, std::strlen(key), filter.data(), filter.size()));
  }
}

class BadInputTest : public testing::TestWithParam<DoorKind> {};

TEST_P(BadInputTest, BitsPerKey) {
  const struct {
    int bits_per_key;
    uint8_t probes;
  } kRows[] = {{INT_MIN, 1}, {-1, 1},  {0, 1},   {1, 1},   {2, 1},
               {3, 2},       {43, 29}, {44, 30}, {45, 30}, {100, 30}};
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.bits_per_key);
    CountedDoor door(GetParam(), row.bits_per_key);
    for (size_t count : {0, 1, 2, 100}) {
      const std::string filter = door.Filter(std::vector<Slice>(count, "key"));
      const size_t bits = std::max<size_t>(64, count * std::max(row.bits_per_key, 0));
      ASSERT_EQ((bits + 7) / 8 + 1, filter.size());
      EXPECT_EQ(row.probes, static_cast<uint8_t>(filter.back()));
      EXPECT_EQ(count != 0, door.KeyMayMatch("key", filter));
    }
  }
}

TEST_P(BadInputTest, MostBitsPerKey) {
  CountedDoor door(GetParam(), INT_MAX);
  EXPECT_EQ("00000000000000001e", ToHex(door.Filter({})));
  const std::string filter = door.Filter({"a"});
  ASSERT_EQ((size_t{1} << 28) + 1, filter.size());
  EXPECT_TRUE(door.KeyMayMatch("a", filter));
  EXPECT_FALSE(door.KeyMayMatch("b", filter));
}

TEST_P(BadInputTest, NullOfNoLength) {
  CountedDoor door(GetParam(), 10);
  EXPECT_EQ(ToHex(kEmptyKey), ToHex(door.Filter({kNull})));
  EXPECT_EQ(ToHex(door.Filter({"", "a", ""})), ToHex(door.Filter({kNull, "a", kNull})));
  EXPECT_TRUE(door.KeyMayMatch(kNull, kEmptyKey));
  EXPECT_FALSE(door.KeyMayMatch(kNull, kNoKeys));
  EXPECT_FALSE(door.KeyMayMatch("a", kNull));
  EXPECT_FALSE(door.KeyMayMatch(kNull, kNull));
}

// NULL with a length, and more bytes than any object has, are taken for no bytes.
TEST_P(BadInputTest, LengthsThatCannotBe) {
  CountedDoor door(GetParam(), 10);
  for (size_t length : {size_t{1}, size_t{9}, SIZE_MAX / 2 + 1, SIZE_MAX}) {
    SCOPED_TRACE(length);
    std::vector<Slice> slices = {Slice(nullptr, length)};
    if (length > SIZE_MAX / 2) slices.push_back(Slice("a", length));
    for (const Slice& none : slices) {
      EXPECT_TRUE(door.KeyMayMatch(none, kEmptyKey));
      EXPECT_FALSE(door.KeyMayMatch(none, kNoKeys));
      EXPECT_FALSE(door.KeyMayMatch("", none));
    }
  }
}

// Keys and filters of every small size, at the end of their memory.
TEST_P(BadInputTest, NothingBeyondTheEndIsRead) {
  CountedDoor door(GetParam(), 10);
  std::string key;
  for (int length = 0; length < 40; length++) {
    const Exact exact(key);
    EXPECT_TRUE(door.KeyMayMatch(exact, Exact(door.Filter({exact}))));
    for (int size = 2; size < 40; size++) {
      EXPECT_TRUE(door.KeyMayMatch(exact, Exact(std::string(size - 1, '\xff') + '\x1e')));
      EXPECT_FALSE(door.KeyMayMatch(exact, Exact(std::string(size - 1, '\0') + '\x1e')));
    }
    key += static_cast<char>(200 + length);
  }
}

INSTANTIATE_TEST_SUITE_P(Doors, BadInputTest, testing::ValuesIn(Doors()), DoorName);

// The object that LevelDB calls.

// 2^21 keys of INT_MAX bits: a size that can be said, but that no machine has.
constexpr size_t kTooMany = 1 << 21;

std::string FilterOfObject(int bits_per_key, const Slice* keys, int count) {
  std::unique_ptr<const FilterPolicy> policy(leveldb::NewBloomFilterPolicy(bits_per_key));
  std::string destination = "before";
  policy->CreateFilter(keys, count, &destination);
  EXPECT_EQ("before", destination.substr(0, 6));
  return destination.substr(6);
}

TEST(ObjectTest, NoKeysAndFewer) {
  const Slice key = "a";
  for (int count : {0, -1, INT_MIN}) {
    EXPECT_EQ(kNoKeys, FilterOfObject(10, nullptr, count)) << count;
    EXPECT_EQ(kNoKeys, FilterOfObject(10, &key, count)) << count;
  }
}

TEST(ObjectTest, WhatCannotBeMadeMatchesEverything) {
  for (int count : {1, 2, 1000, INT_MAX}) ExpectMatchesEverything(FilterOfObject(10, nullptr, count));
  const std::vector<Slice> keys(kTooMany);
  ExpectMatchesEverything(FilterOfObject(INT_MAX, keys.data(), kTooMany));
  const char* odd = reinterpret_cast<const char*>(keys.data()) + 1;
  ExpectMatchesEverything(FilterOfObject(10, reinterpret_cast<const Slice*>(odd), 2));
}

// Filters around the size that fits on the stack, of keys of one length and of mixed ones.
TEST(ObjectTest, AnySize) {
  const std::string bytes(64, 'b');
  for (int count : {1, 2, 7, 8, 33, 64, 65, 200, 500, 1000, 1598, 1599, 1600, 1999, 2000, 5000}) {
    for (int more : {0, 30}) {
      std::vector<std::string> keys;
      for (int i = 0; i < count; i++) {
        keys.push_back(std::to_string(1000000 + i) + bytes.substr(0, more * i / count));
      }
      EXPECT_EQ(ToHex(BufferDoor(10).Filter(Slices(keys))),
                ToHex(FilterOfObject(10, Slices(keys).data(), count)))
          << count << " keys";
    }
  }
}

// The callback table.

struct CallbacksTest : testing::Test {
  ~CallbacksTest() override {
    table->destructor(ten);
    table->destructor(most);
  }
  const struct leveldb_bloom_vtable* const table = leveldb_bloom_vtable();
  leveldb_bloom_policy* const ten = leveldb_bloom_policy_create(10);
  leveldb_bloom_policy* const most = leveldb_bloom_policy_create(INT_MAX);
};

TEST_F(CallbacksTest, WhatCannotBeMadeMatchesEverything) {
  const KeyArrays few({"a", "b"}), many(std::vector<Slice>(kTooMany, ""));
  const struct {
    leveldb_bloom_policy* state;
    const char* const* keys;
    const size_t* lengths;
    int count;
  } kCalls[] = {
      {nullptr, few.keys.data(), few.lengths.data(), 2},
      {nullptr, nullptr, nullptr, 0},
      {ten, nullptr, few.lengths.data(), 2},
      {ten, few.keys.data(), nullptr, 2},
      {ten, nullptr, nullptr, INT_MAX},
      {most, many.keys.data(), many.lengths.data(), kTooMany},
  };
  for (const auto& call : kCalls) {
    SCOPED_TRACE(&call - kCalls);
    size_t length = 0;
    char* filter = table->create_filter(call.state, call.keys, call.lengths, call.count, &length);
    ASSERT_NE(nullptr, filter);
    ExpectMatchesEverything(Slice(filter, length));
    std::free(filter);
    std::free(table->create_filter(call.state, call.keys, call.lengths, call.count, nullptr));
  }
}

TEST_F(CallbacksTest, NoKeysAndFewer) {
  for (int count : {0, -1, INT_MIN}) {
    size_t length = 77;
    char* filter = table->create_filter(ten, nullptr, nullptr, count, &length);
    EXPECT_EQ(kNoKeys, std::string(filter, length));
    std::free(filter);
  }
}

// A policy that could not be made says of no key that it is absent.
TEST_F(CallbacksTest, NullState) {
  EXPECT_STREQ("leveldb.BuiltinBloomFilter2", table->name(nullptr));
  EXPECT_EQ(1, table->key_may_match(nullptr, "hello", 5, kHelloWorld.data(), 9));
  EXPECT_EQ(1, table->key_may_match(nullptr, "x", 1, kHelloWorld.data(), 9));
  table->destructor(nullptr);
}

TEST_F(CallbacksTest, NullCallbacks) {
  if (kHasLevelDB) GTEST_SKIP() << "LevelDB's own function gets them";
  EXPECT_EQ(nullptr, leveldb_filterpolicy_create(nullptr, table->destructor, nullptr,
                                                 table->key_may_match, table->name));
  EXPECT_EQ(nullptr, leveldb_filterpolicy_create(nullptr, table->destructor, table->create_filter,
                                                 nullptr, table->name));
  EXPECT_EQ(nullptr, leveldb_filterpolicy_create(nullptr, table->destructor, table->create_filter,
                                                 table->key_may_match, nullptr));
}

// The library's own functions.

struct FunctionsTest : testing::Test {
  ~FunctionsTest() override {
    leveldb_bloom_policy_destroy(ten);
    leveldb_bloom_policy_destroy(none);
    leveldb_bloom_policy_destroy(most);
    leveldb_bloom_builder_destroy(builder);
    EXPECT_EQ(std::string(sizeof memory, '\x55'), std::string(memory, sizeof memory));
    EXPECT_EQ(7, results[0]);
    EXPECT_EQ(77u, matches);
  }
  char* Create(const leveldb_bloom_policy* policy, const char* const* keys, const size_t* lengths,
               size_t count) {
    size_t length = 77;
    char* filter = leveldb_bloom_create_filter(policy, keys, lengths, count, &length);
    EXPECT_EQ(0u, length);
    return filter;
  }

  leveldb_bloom_policy* const ten = leveldb_bloom_policy_create(10);
  leveldb_bloom_policy* const none = leveldb_bloom_policy_create(0);
  leveldb_bloom_policy* const most = leveldb_bloom_policy_create(INT_MAX);
  leveldb_bloom_builder* const builder = leveldb_bloom_builder_create(10);
  const KeyArrays two{{"hello", "world"}};
  const char* const* const keys = two.keys.data();
  const size_t* const lengths = two.lengths.data();
  const std::vector<Slice> slices{"hello", "world"};
  const int32_t offsets32[3] = {0, 5, 10};
  const int64_t offsets64[3] = {0, 5, 10};
  const char* const data = "helloworld";
  // What no call here may write.
  char memory[20] = {0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55,
                     0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55};
  uint8_t results[3] = {7, 7, 7};
  size_t matches = 77;
};

#define EXPECT_INVALID(call) EXPECT_EQ(LEVELDB_BLOOM_INVALID_ARGUMENT, call)
#define EXPECT_TOO_LARGE(call) EXPECT_EQ(LEVELDB_BLOOM_TOO_LARGE, call)

TEST_F(FunctionsTest, NothingToDestroyOrFree) {
  leveldb_bloom_policy_destroy(nullptr);
  leveldb_bloom_builder_destroy(nullptr);
  leveldb_bloom_free(nullptr);
  leveldb_filterpolicy_destroy(nullptr);
  EXPECT_EQ(nullptr, leveldb_bloom_kernel(nullptr));
}

TEST_F(FunctionsTest, FilterSize) {
  EXPECT_EQ(0u, leveldb_bloom_filter_size(nullptr, 10));
  for (size_t count : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 10 + 1}) {
    EXPECT_EQ(0u, leveldb_bloom_filter_size(ten, count)) << count;
    EXPECT_EQ(0u, leveldb_bloom_builder_filter_size(builder, count)) << count;
  }
  const size_t most_keys = (SIZE_MAX - 7) / 10;
  EXPECT_EQ((most_keys * 10 + 7) / 8 + 1, leveldb_bloom_filter_size(ten, most_keys));
  EXPECT_EQ((size_t{1} << 28) + 1, leveldb_bloom_filter_size(most, 1));
  EXPECT_EQ(9u, leveldb_bloom_filter_size(none, SIZE_MAX));
  EXPECT_EQ(0u, leveldb_bloom_builder_filter_size(nullptr, 1));
}

TEST_F(FunctionsTest, CreateFilter) {
  EXPECT_EQ(nullptr, Create(nullptr, keys, lengths, 2));
  EXPECT_EQ(nullptr, Create(nullptr, nullptr, nullptr, 0));
  EXPECT_EQ(nullptr, Create(ten, nullptr, lengths, 2));
  EXPECT_EQ(nullptr, Create(ten, keys, nullptr, 2));
  EXPECT_EQ(nullptr, leveldb_bloom_create_filter(ten, keys, lengths, 2, nullptr));
  for (size_t count : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8 + 1, SIZE_MAX / 16 + 1}) {
    EXPECT_EQ(nullptr, Create(ten, keys, lengths, count)) << count;
    EXPECT_EQ(nullptr, Create(none, keys, lengths, count)) << count;
  }
  const KeyArrays many(std::vector<Slice>(kTooMany, ""));
  EXPECT_EQ(nullptr, Create(most, many.keys.data(), many.lengths.data(), kTooMany));
}

// One key among many that is NULL with a length, or longer than an object can be.
TEST_F(FunctionsTest, OneOddKey) {
  for (size_t count : {1, 2, 7, 64, 65, 129, 1000, 4097}) {
    for (size_t odd : {size_t{0}, count / 2, count - 1}) {
      SCOPED_TRACE(std::to_string(odd) + " of " + std::to_string(count));
      std::vector<Slice> some(count, "key");
      std::string filter(leveldb_bloom_filter_size(ten, count), '\x55');
      const std::string untouched = filter;
      for (const Slice& key : {Slice(nullptr, 9), Slice("a", SIZE_MAX), Slice("a", SIZE_MAX / 2 + 1)}) {
        some[odd] = key;
        const KeyArrays arrays(some);
        EXPECT_EQ(nullptr, Create(ten, arrays.keys.data(), arrays.lengths.data(), count));
        EXPECT_INVALID(leveldb_bloom_fill_filter(ten, AsC(some), count, &filter[0], filter.size()));
        EXPECT_EQ(untouched, filter);
      }
    }
  }
}

TEST_F(FunctionsTest, FillFilter) {
  EXPECT_INVALID(leveldb_bloom_fill_filter(nullptr, AsC(slices), 2, memory, 9));
  EXPECT_INVALID(leveldb_bloom_fill_filter(ten, nullptr, 2, memory, 9));
  EXPECT_INVALID(leveldb_bloom_fill_filter(ten, AsC(slices), 2, nullptr, 9));
  for (size_t length : {size_t{0}, size_t{8}, size_t{10}, SIZE_MAX}) {
    EXPECT_INVALID(leveldb_bloom_fill_filter(ten, AsC(slices), 2, memory, length));
    EXPECT_INVALID(leveldb_bloom_fill_filter_fixed(ten, data, 5, 2, memory, length));
    EXPECT_INVALID(leveldb_bloom_fill_filter_offsets32(ten, data, 10, offsets32, 2, memory, length));
    EXPECT_INVALID(leveldb_bloom_fill_filter_offsets64(ten, data, 10, offsets64, 2, memory, length));
  }
  for (size_t count : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 10 + 1}) {
    EXPECT_TOO_LARGE(leveldb_bloom_fill_filter(ten, AsC(slices), count, memory, 9));
    EXPECT_TOO_LARGE(leveldb_bloom_fill_filter(ten, nullptr, count, nullptr, 9));
    EXPECT_TOO_LARGE(leveldb_bloom_fill_filter_fixed(ten, data, 0, count, memory, 9));
  }
  EXPECT_INVALID(leveldb_bloom_fill_filter(none, AsC(slices), SIZE_MAX / 16 + 1, memory, 9));
}

// What lies one behind the other: every function that takes such keys checks them alike.
TEST_F(FunctionsTest, FlatKeys) {
  const auto expect_invalid32 = [&](const char* bytes, size_t length, const int32_t* offsets, size_t count) {
    EXPECT_INVALID(leveldb_bloom_fill_filter_offsets32(ten, bytes, length, offsets, count, memory, 9));
    EXPECT_INVALID(leveldb_bloom_builder_add_offsets32(builder, bytes, length, offsets, count));
    EXPECT_INVALID(leveldb_bloom_keys_may_match_offsets32(bytes, length, offsets, count, kHelloWorld.data(), 9,
                                                          results, results, &matches));
  };
  const auto expect_invalid64 = [&](const char* bytes, size_t length, const int64_t* offsets, size_t count) {
    EXPECT_INVALID(leveldb_bloom_fill_filter_offsets64(ten, bytes, length, offsets, count, memory, 9));
    EXPECT_INVALID(leveldb_bloom_builder_add_offsets64(builder, bytes, length, offsets, count));
    EXPECT_INVALID(leveldb_bloom_keys_may_match_offsets64(bytes, length, offsets, count, kHelloWorld.data(), 9,
                                                          results, results, &matches));
  };
  const auto expect_invalid_fixed = [&](const char* bytes, size_t key_length, size_t count) {
    EXPECT_INVALID(leveldb_bloom_fill_filter_fixed(ten, bytes, key_length, count, memory, 9));
    EXPECT_INVALID(leveldb_bloom_builder_add_fixed(builder, bytes, key_length, count));
    EXPECT_INVALID(leveldb_bloom_keys_may_match_fixed(bytes, key_length, count, kHelloWorld.data(), 9, results,
                                                      results, &matches));
  };
  const int32_t falling[] = {0, 7, 5}, negative[] = {-1, 5, 10};
  const int64_t beyond[] = {0, 5, 11}, huge[] = {0, INT64_MAX, 0};
  const auto unaligned = reinterpret_cast<const int32_t*>(reinterpret_cast<const char*>(offsets32) + 1);
  for (const int32_t* offsets : {static_cast<const int32_t*>(nullptr), falling, negative, unaligned}) {
    expect_invalid32(data, 10, offsets, 2);
  }
  for (const int64_t* offsets : {static_cast<const int64_t*>(nullptr), beyond, huge}) {
    expect_invalid64(data, 10, offsets, 2);
  }
  expect_invalid32(data, 9, offsets32, 2);
  expect_invalid64(data, 10, offsets64, SIZE_MAX);
  expect_invalid_fixed(data, SIZE_MAX, 2);
  // NULL with a length, and more bytes than an object has.
  for (size_t length : {size_t{1}, size_t{10}, SIZE_MAX / 2 + 1, SIZE_MAX}) {
    const char* const place = length > SIZE_MAX / 2 ? "a" : nullptr;
    expect_invalid32(place, length, offsets32, 1);
    expect_invalid64(place, length, offsets64, 1);
    expect_invalid_fixed(place, length, 1);
    EXPECT_INVALID(leveldb_bloom_builder_add(builder, place, length));
  }
  EXPECT_EQ(0u, leveldb_bloom_builder_num_keys(builder));
}

TEST_F(FunctionsTest, Builder) {
  EXPECT_INVALID(leveldb_bloom_builder_add(nullptr, "a", 1));
  EXPECT_INVALID(leveldb_bloom_builder_add_offsets32(nullptr, data, 10, offsets32, 2));
  EXPECT_INVALID(leveldb_bloom_builder_add_offsets64(nullptr, data, 10, offsets64, 2));
  EXPECT_INVALID(leveldb_bloom_builder_add_fixed(nullptr, data, 5, 2));
  EXPECT_EQ(LEVELDB_BLOOM_NO_MEMORY, leveldb_bloom_builder_add_fixed(builder, nullptr, 0, SIZE_MAX));
  EXPECT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_builder_add(builder, nullptr, 0));
  EXPECT_EQ(1u, leveldb_bloom_builder_num_keys(builder));
  EXPECT_EQ(0u, leveldb_bloom_builder_num_keys(nullptr));
  EXPECT_INVALID(leveldb_bloom_builder_finish(nullptr, 0, memory, 9));
  EXPECT_INVALID(leveldb_bloom_builder_finish(builder, 0, nullptr, 9));
  EXPECT_INVALID(leveldb_bloom_builder_finish(builder, 0, memory, 10));
  EXPECT_TOO_LARGE(leveldb_bloom_builder_finish(builder, SIZE_MAX, memory, 9));
  EXPECT_TOO_LARGE(leveldb_bloom_builder_finish(builder, SIZE_MAX, nullptr, 9));
  // It keeps its keys.
  char filter[9];
  EXPECT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_builder_finish(builder, 0, filter, 9));
  EXPECT_EQ(kEmptyKey, std::string(filter, 9));
}

TEST_F(FunctionsTest, Union) {
  EXPECT_INVALID(leveldb_bloom_union(nullptr, 9, kEmptyKey.data(), 9));
  EXPECT_INVALID(leveldb_bloom_union(memory, 9, nullptr, 9));
  EXPECT_INVALID(leveldb_bloom_union(memory, 9, "a", SIZE_MAX));
  for (const std::string& from : {std::string(), FromHex("0106"), kEmptyKey + "6"}) {
    EXPECT_EQ(LEVELDB_BLOOM_MISMATCH, leveldb_bloom_union(memory, 9, from.data(), from.size()));
  }
  // Another number of probes, and fewer than two bytes.
  EXPECT_EQ(LEVELDB_BLOOM_MISMATCH, leveldb_bloom_union(memory, 9, kEmptyKey.data(), 9));
  EXPECT_EQ(LEVELDB_BLOOM_MISMATCH, leveldb_bloom_union(memory, 1, "\x55", 1));
  EXPECT_EQ(LEVELDB_BLOOM_MISMATCH, leveldb_bloom_union(nullptr, 0, nullptr, 0));
}

TEST_F(FunctionsTest, Queries) {
  const std::string everything = FromHex("001f");
  for (size_t count : {size_t{0}, size_t{2}, SIZE_MAX}) {
    EXPECT_EQ(0u, leveldb_bloom_keys_may_match(nullptr, lengths, count, everything.data(), 2, results));
    EXPECT_EQ(0u, leveldb_bloom_keys_may_match(keys, nullptr, count, everything.data(), 2, results));
    EXPECT_EQ(0u, leveldb_bloom_filters_may_match("a", 1, nullptr, count, results));
  }
  EXPECT_EQ(0u, leveldb_bloom_keys_may_match(keys, lengths, SIZE_MAX, everything.data(), 2, results));
  EXPECT_EQ(2u, leveldb_bloom_keys_may_match(keys, lengths, 2, everything.data(), 2, nullptr));
  // A filter that is NULL with a length is invalid where there is a status, else an empty one.
  for (size_t length : {size_t{1}, SIZE_MAX}) {
    EXPECT_INVALID(leveldb_bloom_keys_may_match_offsets32(data, 10, offsets32, 2, nullptr, length, results,
                                                          results, &matches));
    EXPECT_INVALID(leveldb_bloom_keys_may_match_offsets64(data, 10, offsets64, 2, nullptr, length, results,
                                                          results, &matches));
    EXPECT_INVALID(leveldb_bloom_keys_may_match_fixed(data, 5, 2, nullptr, length, results, results, &matches));
    const leveldb_bloom_slice filter = {nullptr, length};
    EXPECT_EQ(0u, leveldb_bloom_filters_may_match("a", 1, &filter, 1, nullptr));
    EXPECT_EQ(0, leveldb_bloom_hash_may_match(1, nullptr, length));
    EXPECT_EQ(0xbc9f1d34, leveldb_bloom_hash(nullptr, length));
  }
  // More answers than memory has bytes, unless nobody wants them.
  EXPECT_INVALID(leveldb_bloom_keys_may_match_fixed(nullptr, 0, SIZE_MAX, kEmptyKey.data(), 9, results, nullptr,
                                                    &matches));
  size_t all = 0;
  EXPECT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_keys_may_match_fixed(nullptr, 0, SIZE_MAX, kEmptyKey.data(), 9,
                                                                 nullptr, nullptr, &all));
  EXPECT_EQ(SIZE_MAX, all);
}

TEST_F(FunctionsTest, Inside) {
  leveldb_bloom_info info;
  uint64_t positions[30];
  EXPECT_INVALID(leveldb_bloom_inspect(kEmptyKey.data(), 9, nullptr));
  for (size_t length : {size_t{1}, SIZE_MAX}) {
    EXPECT_INVALID(leveldb_bloom_inspect(nullptr, length, &info));
    EXPECT_EQ(6u, leveldb_bloom_positions(nullptr, length, kEmptyKey.data(), 9, positions, 30));
    EXPECT_EQ(0u, leveldb_bloom_positions("a", 1, nullptr, length, positions, 30));
  }
  EXPECT_EQ(6u, leveldb_bloom_positions("a", 1, kEmptyKey.data(), 9, nullptr, 30));
  EXPECT_EQ(0u, leveldb_bloom_positions("a", 1, "\0\x1f", 2, positions, 30));
}

TEST_F(FunctionsTest, Sizing) {
  EXPECT_EQ(1, leveldb_bloom_false_positive_rate(INT_MAX, SIZE_MAX));
  EXPECT_EQ(0, leveldb_bloom_false_positive_rate(-1, 0));
  for (double rate : {-1.0, 0.0, std::nan("")}) EXPECT_EQ(0, leveldb_bloom_bits_per_key_for(rate, 1)) << rate;
  for (int bits : {INT_MIN, -1, 0, INT_MAX}) EXPECT_NE(nullptr, leveldb_bloom_validate(bits)) << bits;
  for (int status : {INT_MIN, -1, 99, INT_MAX}) EXPECT_NE(nullptr, leveldb_bloom_status_message(status));
}

TEST_F(FunctionsTest, TransformedPolicies) {
  const auto whole = [](void*, const char* key, size_t length, char* buffer, size_t room) {
    if (length <= room) std::memcpy(buffer, key, length);
    return length;
  };
  int destroyed = 0;
  const auto destroy = [](void* state) { ++*static_cast<int*>(state); };
  for (const char* name : {static_cast<const char*>(nullptr), "", "leveldb.BuiltinBloomFilter2",
                           "leveldb.BuiltinBloomFilter"}) {
    EXPECT_EQ(nullptr, leveldb_bloom_policy_create_transformed(10, name, whole, destroy, &destroyed));
  }
  EXPECT_EQ(nullptr, leveldb_bloom_policy_create_transformed(10, "harness.None", nullptr, destroy, &destroyed));
  EXPECT_EQ(0, destroyed) << "the state is still the caller's";

  // A form that never fits: nobody can say that a key is absent, and no filter can be made.
  const auto endless = [](void*, const char*, size_t, char*, size_t room) { return room + 1; };
  leveldb_bloom_policy* const policy =
      leveldb_bloom_policy_create_transformed(10, "harness.Endless", endless, destroy, &destroyed);
  char filter[9];
  EXPECT_EQ(nullptr, Create(policy, keys, lengths, 2));
  EXPECT_EQ(LEVELDB_BLOOM_NO_MEMORY, leveldb_bloom_fill_filter(policy, AsC(slices), 2, filter, 9));
  ExpectMatchesEverything(Slice(filter, 9));
  EXPECT_EQ(1, leveldb_bloom_vtable()->key_may_match(policy, "hello", 5, kNoKeys.data(), 9));
  leveldb_bloom_policy_destroy(policy);
  EXPECT_EQ(1, destroyed);
}

}  // namespace
}  // namespace harness
