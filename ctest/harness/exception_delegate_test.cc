// std::bad_alloc where the host's string cannot be seen, and a policy that the host makes appends
// for us: while that is made, and while it appends.

#include <gtest/gtest.h>

#include <dlfcn.h>

#include "doors.h"
#include "failing_new.h"
#include "keys.h"
#include "statistics.h"

namespace harness {
namespace {

using HostCreateFilter = size_t (*)(const FilterPolicy*, const Slice*, int, std::string*);

TEST(ExceptionDelegateTest, PassesThrough) {
  void* host = dlopen(HARNESS_HIDDEN_HOST, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(nullptr, host) << dlerror();
  const auto create_filter =
      reinterpret_cast<HostCreateFilter>(dlsym(host, "HiddenHostCreateFilter"));
  ASSERT_NE(nullptr, create_filter);
  EXPECT_STREQ("leveldb_bloom (decided when LevelDB calls)", leveldb_bloom_active());

  Statistics statistics;
  const std::vector<Slice> keys = {"hello", "world"};
  auto policy = std::unique_ptr<const FilterPolicy>(leveldb::NewBloomFilterPolicy(10));
  std::string destination(20, 'x');
  destination.shrink_to_fit();
  const std::string before = destination;
  auto create = [&] { create_filter(policy.get(), keys.data(), 2, &destination); };

  // The host's policy is not made; then it is there, but cannot append.
  EXPECT_TRUE(ThrowsBadAlloc(create));
  create();
  EXPECT_EQ(ToHex(before) + "114000414410401006", ToHex(destination));
  destination = before;
  destination.shrink_to_fit();
  for (int round = 0; round < 3; round++) {
    EXPECT_TRUE(ThrowsBadAlloc(create));
    EXPECT_EQ(before, destination);
  }
  create();
  EXPECT_EQ(ToHex(before) + "114000414410401006", ToHex(destination));
  EXPECT_TRUE(policy->KeyMayMatch("hello", Slice(destination.data() + 20, 9)));

  policy.reset();
  const std::vector<StatisticsLine> lines = statistics.Take();
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ("delegate", lines[0].Text("route"));
  EXPECT_EQ(2u, lines[0].Number("filters"));
  EXPECT_EQ(1u, lines[0].Number("queries"));
}

}  // namespace
}  // namespace harness
