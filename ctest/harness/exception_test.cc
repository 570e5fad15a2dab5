// A string of the host's that cannot grow throws std::bad_alloc; this must pass through our
// CreateFilter as it does through LevelDB's own, and leave the policy as it was.

#include <gtest/gtest.h>

#include <thread>

#include "doors.h"
#include "failing_new.h"
#include "keys.h"
#include "statistics.h"

namespace harness {
namespace {

class ExceptionTest : public testing::TestWithParam<size_t> {
 protected:
  ExceptionTest() {
    for (size_t i = 0; i < GetParam(); i++) strings_.push_back(NumberKey(static_cast<uint32_t>(i)));
    keys_ = Slices(strings_);
    expected_ = BufferDoor(10).Filter(keys_);
  }

  bool Throws(const FilterPolicy& policy, std::string* destination) {
    return ThrowsBadAlloc([&] {
      policy.CreateFilter(keys_.data(), static_cast<int>(keys_.size()), destination);
    });
  }

  // One policy of ours made `filters` filters.
  void CheckStatistics(uint64_t filters) {
    std::vector<StatisticsLine> lines = statistics_.Take();
    ASSERT_EQ(1u, lines.size());
    EXPECT_EQ(filters, lines[0].Number("filters"));
    EXPECT_EQ("append-cxx11", lines[0].Text("route"));
  }

  std::unique_ptr<const FilterPolicy> NewPolicy() {
    // What `expected_` came from.
    statistics_.Take();
    return std::unique_ptr<const FilterPolicy>(leveldb::NewBloomFilterPolicy(10));
  }

  Statistics statistics_;
  std::vector<std::string> strings_;
  std::vector<Slice> keys_;
  std::string expected_;
};

TEST_P(ExceptionTest, PassesThrough) {
  auto policy = NewPolicy();
  // The first filter, when the way to the string is still to be found, and later ones.
  std::string destination(20, 'x');
  destination.shrink_to_fit();
  const std::string before = destination;
  for (int round = 0; round < 3; round++) {
    EXPECT_TRUE(Throws(*policy, &destination));
    EXPECT_EQ(before, destination);
  }
  std::string filter;
  policy->CreateFilter(keys_.data(), static_cast<int>(keys_.size()), &filter);
  EXPECT_EQ(ToHex(expected_), ToHex(filter));
  EXPECT_TRUE(Throws(*policy, &destination));
  policy->CreateFilter(keys_.data(), static_cast<int>(keys_.size()), &destination);
  EXPECT_EQ(ToHex(before + expected_), ToHex(destination));
  EXPECT_TRUE(policy->KeyMayMatch(keys_[0], expected_));
  policy.reset();
  CheckStatistics(6);
}

// Nothing else in CreateFilter needs the host's memory.
TEST_P(ExceptionTest, NoneWhereThereIsRoom) {
  auto policy = NewPolicy();
  std::string destination = "x";
  destination.reserve(expected_.size() + 1);
  EXPECT_FALSE(Throws(*policy, &destination));
  EXPECT_EQ(ToHex("x" + expected_), ToHex(destination));
  policy.reset();
  CheckStatistics(1);
}

TEST_P(ExceptionTest, InManyThreads) {
  auto policy = NewPolicy();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; round++) {
        std::string destination(20, 'x');
        destination.shrink_to_fit();
        EXPECT_TRUE(Throws(*policy, &destination));
        policy->CreateFilter(keys_.data(), static_cast<int>(keys_.size()), &destination);
        EXPECT_EQ(20 + expected_.size(), destination.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  policy.reset();
  CheckStatistics(400);
}

// Filters that are built on the stack, and on the heap.
INSTANTIATE_TEST_SUITE_P(Keys, ExceptionTest, testing::Values(20, 1598, 1599, 1600, 20000));

}  // namespace
}  // namespace harness
