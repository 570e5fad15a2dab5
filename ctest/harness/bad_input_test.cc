// Odd input, through every door: each has the answer that leveldb_bloom.h promises.

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "counted_door.h"
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

// What takes the place of a filter that cannot be made.
void ExpectMatchesEverything(const std::string& filter) {
  ASSERT_GE(filter.size(), 2u);
  EXPECT_GT(static_cast<uint8_t>(filter.back()), 30);
  for (const char* key : {"", "a", "hello", "\xc3\x97"}) {
    EXPECT_EQ(1, leveldb_bloom_key_may_match(key, std::strlen(key), filter.data(), filter.size()));
  }
}

class BadInputTest : public testing::TestWithParam<DoorKind> {};

TEST_P(BadInputTest, BitsPerKey) {
  const struct {
    int bits_per_key;
    uint8_t probes;
  } kRows[] = {{INT_MIN, 1}, {-1000, 1}, {-1, 1}, {0, 1},   {1, 1},   {2, 1},
               {3, 2},       {43, 29},   {44, 30}, {45, 30}, {100, 30}};
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.bits_per_key);
    CountedDoor door(GetParam(), row.bits_per_key);
    for (size_t count : {0, 1, 2, 100}) {
      const std::vector<std::string> keys(count, "key");
      const std::string filter = door.Filter(Slices(keys));
      const size_t bits = std::max<size_t>(64, count * std::max(row.bits_per_key, 0));
      ASSERT_EQ((bits + 7) / 8 + 1, filter.size());
      EXPECT_EQ(row.probes, static_cast<uint8_t>(filter.back()));
      EXPECT_EQ(count != 0, door.KeyMayMatch("key", filter));
    }
  }
}

TEST_P(BadInputTest, NegativeBitsPerKeyAreZero) {
  CountedDoor negative(GetParam(), -7);
  CountedDoor zero(GetParam(), 0);
  std::vector<std::string> keys;
  for (int i = 0; i < 200; i++) {
    EXPECT_EQ(ToHex(zero.Filter(Slices(keys))), ToHex(negative.Filter(Slices(keys))));
    keys.push_back(NumberKey(i));
  }
}

TEST_P(BadInputTest, MostBitsPerKey) {
  CountedDoor door(GetParam(), INT_MAX);
  EXPECT_EQ("00000000000000001e", ToHex(door.Filter({})));
  const std::string filter = door.Filter({"a"});
  ASSERT_EQ((size_t{1} << 28) + 1, filter.size());
  EXPECT_EQ(30, filter.back());
  EXPECT_TRUE(door.KeyMayMatch("a", filter));
  EXPECT_FALSE(door.KeyMayMatch("b", filter));
}

TEST_P(BadInputTest, NullKeysOfNoLength) {
  CountedDoor door(GetParam(), 10);
  EXPECT_EQ("080004000200118006", ToHex(door.Filter({kNull})));
  EXPECT_EQ(ToHex(door.Filter({"", "a", ""})), ToHex(door.Filter({kNull, "a", kNull})));
  EXPECT_TRUE(door.KeyMayMatch(kNull, FromHex("080004000200118006")));
  EXPECT_FALSE(door.KeyMayMatch(kNull, FromHex("000000000000000006")));
}

TEST_P(BadInputTest, NullFilterOfNoLength) {
  CountedDoor door(GetParam(), 10);
  EXPECT_FALSE(door.KeyMayMatch("a", kNull));
  EXPECT_FALSE(door.KeyMayMatch(kNull, kNull));
}

// What cannot be is no bytes: NULL with a length, and more than any object has.
TEST_P(BadInputTest, LengthsThatCannotBe) {
  CountedDoor door(GetParam(), 10);
  const std::string of_no_bytes = FromHex("080004000200118006");
  const std::string of_none = FromHex("000000000000000006");
  for (size_t length : {size_t{1}, size_t{9}, SIZE_MAX / 2 + 1, SIZE_MAX - 1, SIZE_MAX}) {
    SCOPED_TRACE(length);
    std::vector<Slice> slices = {Slice(nullptr, length)};
    if (length > SIZE_MAX / 2) slices.push_back(Slice(of_no_bytes.data(), length));
    for (const Slice& none : slices) {
      EXPECT_TRUE(door.KeyMayMatch(none, of_no_bytes));
      EXPECT_FALSE(door.KeyMayMatch(none, of_none));
      EXPECT_FALSE(door.KeyMayMatch("", none));
      EXPECT_FALSE(door.KeyMayMatch(none, none));
    }
  }
}

TEST_P(BadInputTest, ShortFiltersOfAnyProbes) {
  CountedDoor door(GetParam(), 10);
  for (int probes = 0; probes < 256; probes++) {
    SCOPED_TRACE(probes);
    const std::string last(1, static_cast<char>(probes));
    const bool everything = probes == 0 || probes > 30;
    for (const char* key : {"", "a", "hello", "\xc3\x97\xff\x80\x81"}) {
      const Exact exact_key(key);
      EXPECT_FALSE(door.KeyMayMatch(exact_key, Exact(last)));
      EXPECT_EQ(everything, door.KeyMayMatch(exact_key, Exact(std::string(1, '\0') + last)));
      EXPECT_TRUE(door.KeyMayMatch(exact_key, Exact("\xff" + last)));
      EXPECT_EQ(everything, door.KeyMayMatch(exact_key, Exact(std::string(2, '\0') + last)));
      EXPECT_TRUE(door.KeyMayMatch(exact_key, Exact("\xff\xff" + last)));
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

// 2^21 keys of INT_MAX bits: a size that can be said, but that no machine has.
constexpr size_t kTooMany = 1 << 21;

// The object that LevelDB calls.
class ObjectTest : public testing::Test {
 protected:
  std::string CreateFilter(int bits_per_key, const Slice* keys, int count) {
    std::unique_ptr<const FilterPolicy> policy(leveldb::NewBloomFilterPolicy(bits_per_key));
    std::string destination = "before";
    policy->CreateFilter(keys, count, &destination);
    EXPECT_EQ("before", destination.substr(0, 6));
    policy.reset();
    const std::vector<StatisticsLine> lines = statistics_.Take();
    EXPECT_EQ(1u, lines.size());
    for (const StatisticsLine& line : lines) {
      EXPECT_EQ(1u, line.Number("filters")) << "ours was not asked";
      EXPECT_EQ("append-cxx11", line.Text("route"));
    }
    const std::string filter = destination.substr(6);
    EXPECT_EQ(ToHex(filter), ToHex(LaterFilter(bits_per_key, keys, count)));
    return filter;
  }

  Statistics statistics_;

 private:
  // By a policy that counts nothing and has made another filter before, as nearly all of LevelDB's are.
  std::string LaterFilter(int bits_per_key, const Slice* keys, int count) {
    const size_t before = leveldb_bloom_live_policies();
    statistics_.Count(false);
    std::unique_ptr<const FilterPolicy> policy(leveldb::NewBloomFilterPolicy(bits_per_key));
    statistics_.Count(true);
    EXPECT_EQ(before + 1, leveldb_bloom_live_policies()) << "not ours";
    const Slice other = "other";
    std::string destination;
    policy->CreateFilter(&other, 1, &destination);
    destination = "before";
    policy->CreateFilter(keys, count, &destination);
    EXPECT_EQ("before", destination.substr(0, 6));
    return destination.substr(6);
  }
};

// Of keys of one length and of mixed lengths, in filters around the size that fits on the stack.
TEST_F(ObjectTest, AnySize) {
  const std::string bytes(64, 'b');
  for (int count = 1; count < 2010; count++) {
    // Of 2,000 bytes are the filters of 1,999 keys at 8 bits, and 1,599 at 10.
    if (count > 70 && count % 97 != 0 && (count < 1590 || count > 1610) && count < 1990) continue;
    SCOPED_TRACE(count);
    for (size_t more : {0, 30}) {
      std::vector<std::string> keys;
      for (int i = 0; i < count; i++) {
        keys.push_back(std::to_string(1000000 + i) + bytes.substr(0, more * i / count));
      }
      const std::vector<Slice> slices(keys.begin(), keys.end());
      for (int bits_per_key : {8, 10}) {
        leveldb_bloom_policy* policy = leveldb_bloom_policy_create(bits_per_key);
        const KeyArrays arrays(slices);
        size_t length;
        char* expected = leveldb_bloom_create_filter(policy, arrays.keys.data(),
                                                     arrays.lengths.data(), count, &length);
        ASSERT_NE(nullptr, expected);
        leveldb_bloom_policy_destroy(policy);
        statistics_.Take();
        EXPECT_EQ(ToHex(Slice(expected, length)),
                  ToHex(CreateFilter(bits_per_key, slices.data(), count)));
        std::free(expected);
      }
    }
  }
}

TEST_F(ObjectTest, KeysThatAreNotAligned) {
  const std::vector<Slice> keys(3, "a");
  const char* odd = reinterpret_cast<const char*>(keys.data()) + 1;
  ExpectMatchesEverything(CreateFilter(10, reinterpret_cast<const Slice*>(odd), 2));
}

TEST_F(ObjectTest, NoKeysAndFewer) {
  const Slice key = "a";
  for (int count : {0, -1, -1000, INT_MIN}) {
    SCOPED_TRACE(count);
    EXPECT_EQ("000000000000000006", ToHex(CreateFilter(10, nullptr, count)));
    EXPECT_EQ("000000000000000006", ToHex(CreateFilter(10, &key, count)));
    // The filter of any number of keys would fit on the stack.
    EXPECT_EQ("000000000000000001", ToHex(CreateFilter(0, &key, count)));
  }
}

TEST_F(ObjectTest, NullWhereKeysShouldBe) {
  for (int count : {1, 2, 1000, INT_MAX}) {
    SCOPED_TRACE(count);
    ExpectMatchesEverything(CreateFilter(10, nullptr, count));
  }
}

TEST_F(ObjectTest, MoreThanThereIsMemory) {
  const std::vector<Slice> keys(kTooMany);
  ExpectMatchesEverything(CreateFilter(INT_MAX, keys.data(), kTooMany));
}

TEST(CallbacksTest, NoKeysAndFewer) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  leveldb_bloom_policy* state = leveldb_bloom_policy_create(10);
  const char* const key = "a";
  const size_t key_length = 1;
  for (int count : {0, -1, -1000, INT_MIN}) {
    SCOPED_TRACE(count);
    for (bool arrays : {false, true}) {
      size_t length = 77;
      char* filter = table->create_filter(state, arrays ? &key : nullptr,
                                          arrays ? &key_length : nullptr, count, &length);
      ASSERT_NE(nullptr, filter);
      EXPECT_EQ("000000000000000006", ToHex(Slice(filter, length)));
      std::free(filter);
    }
  }
  table->destructor(state);
}

TEST(CallbacksTest, WhatCannotBeMadeMatchesEverything) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  leveldb_bloom_policy* ten = leveldb_bloom_policy_create(10);
  leveldb_bloom_policy* most = leveldb_bloom_policy_create(INT_MAX);
  const KeyArrays few({"a", "b"});
  const KeyArrays many(std::vector<Slice>(kTooMany, ""));
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
    ExpectMatchesEverything(std::string(filter, length));
    std::free(filter);
    // Nobody can use a filter of unknown length, but to ask for one is no crash.
    std::free(table->create_filter(call.state, call.keys, call.lengths, call.count, nullptr));
  }
  table->destructor(ten);
  table->destructor(most);
}

TEST(CallbacksTest, NullState) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  EXPECT_STREQ("leveldb.BuiltinBloomFilter2", table->name(nullptr));
  const std::string filter = FromHex("114000414410401006");
  EXPECT_EQ(1, table->key_may_match(nullptr, "hello", 5, filter.data(), filter.size()));
  EXPECT_EQ(0, table->key_may_match(nullptr, "x", 1, filter.data(), filter.size()));
  EXPECT_EQ(0, table->key_may_match(nullptr, nullptr, 0, nullptr, 0));
  table->destructor(nullptr);
}

// The same for an object of the host's that holds our callbacks.
TEST(CallbacksTest, InAnObjectOfTheHost) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  const PolicyDoor without_state(leveldb_filterpolicy_create(
      nullptr, table->destructor, table->create_filter, table->key_may_match, table->name));
  ExpectMatchesEverything(without_state.Filter({"a", "b"}));
  EXPECT_FALSE(without_state.KeyMayMatch("a", kNull));

  const PolicyDoor most(CreatePolicyOfCallbacks(INT_MAX, leveldb_filterpolicy_create));
  ExpectMatchesEverything(most.Filter(std::vector<Slice>(kTooMany)));
}

TEST(CallbacksTest, NullCallbacks) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  // LevelDB takes them as they are, and programs that never destroy a policy rely on it.
  static leveldb_filterpolicy_t* volatile never_destroyed;
  never_destroyed = leveldb_filterpolicy_create(nullptr, nullptr, table->create_filter,
                                                table->key_may_match, table->name);
  EXPECT_TRUE(never_destroyed != nullptr);
#ifndef HARNESS_HOST
  // The state is the caller's then.
  int destroyed = 0;
  const auto destroy = [](void* state) { ++*static_cast<int*>(state); };
  EXPECT_EQ(nullptr, leveldb_filterpolicy_create(&destroyed, destroy, nullptr,
                                                 table->key_may_match, table->name));
  EXPECT_EQ(nullptr, leveldb_filterpolicy_create(&destroyed, destroy, table->create_filter,
                                                 nullptr, table->name));
  EXPECT_EQ(nullptr, leveldb_filterpolicy_create(&destroyed, destroy, table->create_filter,
                                                 table->key_may_match, nullptr));
  EXPECT_EQ(0, destroyed);
#endif
}

// A uint8_t of another's callback: whatever is not 0 is a yes.
TEST(CallbacksTest, AnyNumberButZeroIsAYes) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  static uint8_t answer;
  const auto match = [](void*, const char*, size_t, const char*, size_t) { return answer; };
  const PolicyDoor door(leveldb_filterpolicy_create(nullptr, table->destructor,
                                                    table->create_filter, match, table->name));
  for (int number = 0; number < 256; number++) {
    answer = static_cast<uint8_t>(number);
    EXPECT_EQ(number != 0, door.KeyMayMatch("key", "filter")) << number;
  }
}

#ifndef HARNESS_HOST
// LevelDB's own object would read from there.
TEST(CallbacksTest, NoFilterHasNoLength) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  const auto create = [](void*, const char* const*, const size_t*, int, size_t* length) {
    *length = 5;
    return static_cast<char*>(nullptr);
  };
  const PolicyDoor door(leveldb_filterpolicy_create(nullptr, table->destructor, create,
                                                    table->key_may_match, table->name));
  std::string destination = "before";
  door.AppendFilter({"key"}, &destination);
  EXPECT_EQ("before", destination);
}
#endif

// The library's own functions.
class FunctionsTest : public testing::Test {
 protected:
  ~FunctionsTest() override { leveldb_bloom_policy_destroy(ten_); }

  void ExpectNoFilter(const leveldb_bloom_policy* policy, const char* const* keys,
                      const size_t* lengths, size_t count) {
    size_t length = 77;
    EXPECT_EQ(nullptr, leveldb_bloom_create_filter(policy, keys, lengths, count, &length));
    EXPECT_EQ(0u, length);
    EXPECT_EQ(nullptr, leveldb_bloom_create_filter(policy, keys, lengths, count, nullptr));
  }

  leveldb_bloom_policy* const ten_ = leveldb_bloom_policy_create(10);
  const KeyArrays two_{{"hello", "world"}};
  const char* const* const keys_ = two_.keys.data();
  const size_t* const lengths_ = two_.lengths.data();
};

TEST_F(FunctionsTest, NothingToDestroyOrFree) {
  leveldb_bloom_policy_destroy(nullptr);
  leveldb_bloom_free(nullptr);
  leveldb_filterpolicy_destroy(nullptr);
}

TEST_F(FunctionsTest, FilterSize) {
  EXPECT_EQ(0u, leveldb_bloom_filter_size(nullptr, 10));
  EXPECT_EQ(9u, leveldb_bloom_filter_size(ten_, 0));
  EXPECT_EQ(9u, leveldb_bloom_filter_size(ten_, 6));
  EXPECT_EQ(10u, leveldb_bloom_filter_size(ten_, 7));
  EXPECT_EQ(126u, leveldb_bloom_filter_size(ten_, 100));
  for (size_t count : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 10 + 1, SIZE_MAX / 2}) {
    EXPECT_EQ(0u, leveldb_bloom_filter_size(ten_, count)) << count;
  }
  const size_t most_keys = (SIZE_MAX - 7) / 10;
  EXPECT_EQ((most_keys * 10 + 7) / 8 + 1, leveldb_bloom_filter_size(ten_, most_keys));

  leveldb_bloom_policy* most = leveldb_bloom_policy_create(INT_MAX);
  EXPECT_EQ((size_t{1} << 28) + 1, leveldb_bloom_filter_size(most, 1));
  EXPECT_EQ(0u, leveldb_bloom_filter_size(most, SIZE_MAX / INT_MAX + 1));
  leveldb_bloom_policy_destroy(most);

  leveldb_bloom_policy* none = leveldb_bloom_policy_create(-1);
  EXPECT_EQ(9u, leveldb_bloom_filter_size(none, SIZE_MAX));
  leveldb_bloom_policy_destroy(none);
}

TEST_F(FunctionsTest, CreateFilterOfNothing) {
  size_t length = 77;
  char* filter = leveldb_bloom_create_filter(ten_, nullptr, nullptr, 0, &length);
  EXPECT_EQ("000000000000000006", ToHex(Slice(filter, length)));
  leveldb_bloom_free(filter);
}

TEST_F(FunctionsTest, CreateFilterWithNull) {
  ExpectNoFilter(nullptr, keys_, lengths_, 2);
  ExpectNoFilter(nullptr, nullptr, nullptr, 0);
  ExpectNoFilter(ten_, nullptr, lengths_, 2);
  ExpectNoFilter(ten_, keys_, nullptr, 2);
  ExpectNoFilter(ten_, nullptr, nullptr, 1);
  EXPECT_EQ(nullptr, leveldb_bloom_create_filter(ten_, keys_, lengths_, 2, nullptr));
}

// So many slices, or pointers, that no memory holds them.
const size_t kMoreThanFit[] = {SIZE_MAX / 16 + 1, SIZE_MAX / 8 + 1, SIZE_MAX / 2, SIZE_MAX};

TEST_F(FunctionsTest, CreateFilterTooLarge) {
  for (size_t count : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 10 + 1}) {
    ExpectNoFilter(ten_, keys_, lengths_, count);
  }
  leveldb_bloom_policy* none = leveldb_bloom_policy_create(0);
  for (size_t count : kMoreThanFit) ExpectNoFilter(none, keys_, lengths_, count);
  leveldb_bloom_policy_destroy(none);

  leveldb_bloom_policy* most = leveldb_bloom_policy_create(INT_MAX);
  const KeyArrays many(std::vector<Slice>(kTooMany, ""));
  ExpectNoFilter(most, many.keys.data(), many.lengths.data(), kTooMany);
  leveldb_bloom_policy_destroy(most);
}

// Keys are looked at several at a time while they are listed; more than 4,096, and those of a
// transformed policy, are listed in groups.
TEST_F(FunctionsTest, CreateFilterWithOddKeys) {
  const auto same = [](void*, const char* key, size_t length, char* buffer, size_t room) {
    if (length <= room) std::memcpy(buffer, key, length);
    return length;
  };
  leveldb_bloom_policy* const transformed =
      leveldb_bloom_policy_create_transformed(10, "harness.SameKeys", same, nullptr, nullptr);
  for (size_t count : {1, 2, 3, 7, 64, 65, 128, 129, 1000, 4096, 4097, 4500}) {
    std::vector<std::string> keys;
    for (size_t i = 0; i < count; i++) keys.push_back("key " + std::to_string(i));
    for (size_t odd : {size_t{0}, count / 2, count - 1}) {
      std::vector<std::string> with_empty = keys;
      with_empty[odd].clear();
      const KeyArrays empty{Slices(with_empty)};
      size_t wanted_length = 0;
      char* wanted = leveldb_bloom_create_filter(ten_, empty.keys.data(), empty.lengths.data(),
                                                 count, &wanted_length);
      for (const leveldb_bloom_policy* policy : {ten_, transformed}) {
        SCOPED_TRACE(std::to_string(odd) + " of " + std::to_string(count) +
                     (policy == ten_ ? "" : ", transformed"));
        KeyArrays arrays{Slices(keys)};
        const auto expect_no_filter = [&] {
          ExpectNoFilter(policy, arrays.keys.data(), arrays.lengths.data(), count);
        };
        arrays.keys[odd] = nullptr;
        expect_no_filter();
        // Two, unless they are the same one.
        arrays.keys[0] = nullptr;
        expect_no_filter();

        arrays = KeyArrays(Slices(keys));
        arrays.keys[odd] = nullptr;
        arrays.lengths[odd] = 0;
        size_t length = 0;
        char* filter = leveldb_bloom_create_filter(policy, arrays.keys.data(),
                                                   arrays.lengths.data(), count, &length);
        EXPECT_EQ(Slice(wanted, wanted_length), Slice(filter, length));
        EXPECT_EQ(1, leveldb_bloom_key_may_match("", 0, filter, length));
        leveldb_bloom_free(filter);

        arrays.keys[odd] = keys[odd].data();
        for (size_t too_long : {SIZE_MAX / 2 + 1, SIZE_MAX}) {
          arrays.lengths[odd] = too_long;
          expect_no_filter();
        }
      }
      leveldb_bloom_free(wanted);
    }
  }
  leveldb_bloom_policy_destroy(transformed);
}

TEST_F(FunctionsTest, FillFilter) {
  const leveldb_bloom_slice keys[] = {{"hello", 5}, {"world", 5}};
  const leveldb_bloom_slice null_key = {nullptr, 0};
  const std::string untouched(20, '\x55');
  std::string memory = untouched;
  char* filter = &memory[0];

  const int invalid = LEVELDB_BLOOM_INVALID_ARGUMENT;
  EXPECT_EQ(invalid, leveldb_bloom_fill_filter(nullptr, keys, 2, filter, 9));
  EXPECT_EQ(invalid, leveldb_bloom_fill_filter(ten_, nullptr, 2, filter, 9));
  EXPECT_EQ(invalid, leveldb_bloom_fill_filter(ten_, keys, 2, nullptr, 9));
  for (size_t length : {size_t{0}, size_t{1}, size_t{8}, size_t{10}, SIZE_MAX}) {
    EXPECT_EQ(invalid, leveldb_bloom_fill_filter(ten_, keys, 2, filter, length)) << length;
  }
  for (size_t count : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 10 + 1}) {
    EXPECT_EQ(LEVELDB_BLOOM_TOO_LARGE, leveldb_bloom_fill_filter(ten_, keys, count, filter, 9));
    EXPECT_EQ(LEVELDB_BLOOM_TOO_LARGE, leveldb_bloom_fill_filter(ten_, nullptr, count, nullptr, 9));
  }
  leveldb_bloom_policy* none = leveldb_bloom_policy_create(0);
  for (size_t count : kMoreThanFit) {
    EXPECT_EQ(invalid, leveldb_bloom_fill_filter(none, keys, count, filter, 9));
  }
  leveldb_bloom_policy_destroy(none);
  EXPECT_EQ(ToHex(untouched), ToHex(memory));

  EXPECT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_fill_filter(ten_, keys, 2, filter, 9));
  EXPECT_EQ("114000414410401006" + ToHex(untouched.substr(9)), ToHex(memory));
  EXPECT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_fill_filter(ten_, &null_key, 1, filter, 9));
  EXPECT_EQ("080004000200118006" + ToHex(untouched.substr(9)), ToHex(memory));
  EXPECT_EQ(LEVELDB_BLOOM_OK, leveldb_bloom_fill_filter(ten_, nullptr, 0, filter, 9));
  EXPECT_EQ("000000000000000006" + ToHex(untouched.substr(9)), ToHex(memory));
}

TEST_F(FunctionsTest, FiltersThatCannotBeMadeAreNotCounted) {
  const auto no_form = [](void*, const char*, size_t, char*, size_t room) { return room + 1; };
  const leveldb_bloom_slice key = {"hello", 5};
  char filter[9];
  Statistics statistics;
  leveldb_bloom_policy* const policy =
      leveldb_bloom_policy_create_transformed(10, "harness.NoForm", no_form, nullptr, nullptr);
  ExpectNoFilter(policy, keys_, lengths_, 2);
  EXPECT_EQ(LEVELDB_BLOOM_NO_MEMORY, leveldb_bloom_fill_filter(policy, &key, 1, filter, 9));
  EXPECT_EQ(LEVELDB_BLOOM_NO_MEMORY,
            leveldb_bloom_fill_filter_fixed(policy, "hello", 5, 1, filter, 9));
  leveldb_bloom_policy_destroy(policy);
  const std::vector<StatisticsLine> lines = statistics.Take();
  ASSERT_EQ(1u, lines.size());
  for (const char* count : {"filters", "keys", "filter_bytes"}) {
    EXPECT_EQ(0u, lines[0].Number(count)) << count;
  }
}

TEST_F(FunctionsTest, KeysMayMatch) {
  const std::string filter = FromHex("114000414410401006");
  const std::string everything = FromHex("001f");
  uint8_t results[] = {7, 7, 7};
  auto ask = [&](const char* const* keys, const size_t* lengths, size_t count,
                 const std::string& filter, uint8_t* results) {
    return leveldb_bloom_keys_may_match(keys, lengths, count, filter.data(), filter.size(),
                                        results);
  };
  EXPECT_EQ(0u, ask(nullptr, lengths_, 2, everything, results));
  EXPECT_EQ(0u, ask(keys_, nullptr, 2, everything, results));
  EXPECT_EQ(0u, ask(nullptr, nullptr, 2, everything, nullptr));
  EXPECT_EQ(0u, ask(nullptr, nullptr, 0, everything, results));
  EXPECT_EQ(0u, ask(keys_, lengths_, 0, everything, results));
  EXPECT_EQ(0u, ask(keys_, lengths_, SIZE_MAX, everything, results));
  EXPECT_EQ(7, results[0]);
  EXPECT_EQ(7, results[1]);

  EXPECT_EQ(2u, ask(keys_, lengths_, 2, filter, nullptr));
  EXPECT_EQ(2u, ask(keys_, lengths_, 2, filter, results));
  EXPECT_EQ(1, results[0]);
  EXPECT_EQ(1, results[1]);
  EXPECT_EQ(7, results[2]);
  EXPECT_EQ(0u, leveldb_bloom_keys_may_match(keys_, lengths_, 2, nullptr, 0, results));
  EXPECT_EQ(0, results[0]);
  EXPECT_EQ(0, results[1]);

  const KeyArrays mixed({kNull, "hello", "x"});
  EXPECT_EQ(1u, ask(mixed.keys.data(), mixed.lengths.data(), 3, filter, results));
  EXPECT_EQ(0, results[0]);
  EXPECT_EQ(1, results[1]);
  EXPECT_EQ(0, results[2]);
}

// No object has such a length, and nothing is at NULL: both are taken for no bytes.
TEST_F(FunctionsTest, LengthsThatCannotBe) {
  const std::string empty_key = FromHex("080004000200118006");
  for (size_t length : {size_t{1}, SIZE_MAX}) {
    EXPECT_EQ(1, leveldb_bloom_key_may_match(nullptr, length, empty_key.data(), empty_key.size()));
    EXPECT_EQ(0, leveldb_bloom_key_may_match("a", 1, nullptr, length));
  }
  EXPECT_EQ(1, leveldb_bloom_key_may_match("a", SIZE_MAX, empty_key.data(), empty_key.size()));
  EXPECT_EQ(0, leveldb_bloom_key_may_match("a", 1, "\xff\xff", SIZE_MAX));
}

TEST(ActiveTest, IsOurs) {
  EXPECT_STREQ(kActive, leveldb_bloom_active());
}

}  // namespace
}  // namespace harness
