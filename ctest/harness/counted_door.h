// A door that keeps count of what it was asked, and compares with the library's own count when it
// is closed: another filter that answered in our place would be found out.

#ifndef LEVELDB_BLOOM_HARNESS_COUNTED_DOOR_H_
#define LEVELDB_BLOOM_HARNESS_COUNTED_DOOR_H_

#include <gtest/gtest.h>

#include <algorithm>

#include "doors.h"
#include "statistics.h"

namespace harness {

class CountedDoor : public Door {
 public:
  CountedDoor(const DoorKind& kind, int bits_per_key)
      : kind_(kind), bits_per_key_(bits_per_key), door_(kind.open(bits_per_key)) {}

  ~CountedDoor() override {
    door_.reset();
    try {
      Check();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }

  void AppendFilter(const std::vector<Slice>& keys, std::string* destination) const override {
    const size_t before = destination->size();
    door_->AppendFilter(keys, destination);
    filters_++;
    keys_ += keys.size();
    filter_bytes_ += destination->size() - before;
  }

  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    const bool answer = door_->KeyMayMatch(key, filter);
    queries_++;
    negatives_ += !answer;
    return answer;
  }

  const char* Name() const override { return door_->Name(); }

 private:
  void Check() {
    SCOPED_TRACE(kind_.name);
    const std::vector<StatisticsLine> lines = statistics_.Take();
    ASSERT_EQ(1u, lines.size()) << "one policy of the library, destroyed once";
    const StatisticsLine& line = lines[0];
    EXPECT_EQ(std::max(bits_per_key_, 0), static_cast<int>(line.Number("bits_per_key")));
    EXPECT_EQ(filters_, line.Number("filters"));
    EXPECT_EQ(keys_, line.Number("keys"));
    EXPECT_EQ(filter_bytes_, line.Number("filter_bytes"));
    EXPECT_EQ(kind_.counts_queries ? queries_ : 0, line.Number("queries"));
    EXPECT_EQ(kind_.counts_queries ? negatives_ : 0, line.Number("negatives"));
    if (filters_ != 0) {
      EXPECT_EQ(kind_.route, line.Text("route"));
    }
  }

  // Before the door: a policy counts if the environment says so when it is made.
  Statistics statistics_;
  const DoorKind kind_;
  const int bits_per_key_;
  std::unique_ptr<Door> door_;
  mutable uint64_t filters_ = 0, keys_ = 0, filter_bytes_ = 0, queries_ = 0, negatives_ = 0;
};

inline std::string DoorName(const testing::TestParamInfo<DoorKind>& info) {
  return info.param.name;
}

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_COUNTED_DOOR_H_
