// Databases written with LevelDB's own filter and with ours are the same files, and each is read
// by the other. The two are different programs: one is linked with LevelDB alone.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "child.h"
#include "statistics.h"

namespace harness {
namespace {

struct Program {
  const char* path;
  const char* filters_of;
  bool ours;
};

const Program kStock = {HARNESS_DATABASE_STOCK, HARNESS_LEVELDB_FILE, false};
const Program kOurs = {HARNESS_DATABASE_OURS, HARNESS_SHARED_FILE, true};

constexpr char kPolicyName[] = "filter.leveldb.BuiltinBloomFilter2";

class DatabaseTest : public testing::TestWithParam<std::tuple<int, int, bool>> {
 protected:
  int bits_per_key() const { return std::get<0>(GetParam()); }

  // Runs the program, which checks every answer of the database's; returns what it said last.
  std::string Use(const Program& program, const std::string& command, const std::string& folder) {
    const auto& [bits, value_size, snappy] = GetParam();
    const ChildResult result = RunChild(
        {program.path, command, folder_.Path(folder), std::to_string(bits),
         std::to_string(value_size), snappy ? "1" : "0"},
        {{"LEVELDB_BLOOM_STATS", statistics_path()}});
    EXPECT_EQ(0, result.status) << result.errors;
    EXPECT_EQ("", result.errors);
    const std::string expected =
        "filters of " + std::filesystem::canonical(program.filters_of).string() +
        "\nleveldb_bloom is " + (program.ours ? "there" : "not there") + "\n";
    EXPECT_EQ(expected, result.output.substr(0, expected.size()));
    return result.output.substr(std::min(expected.size(), result.output.size()));
  }

  // What our library counted since this was last called: one policy, or none.
  std::vector<StatisticsLine> TakeStatistics() {
    std::vector<StatisticsLine> lines = StatisticsLines(ReadFile(statistics_path()));
    std::filesystem::remove(statistics_path());
    return lines;
  }

  std::map<std::string, std::string> Tables(const std::string& folder) {
    std::map<std::string, std::string> tables;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.Path(folder))) {
      if (entry.path().extension() == ".ldb") {
        tables[entry.path().filename().string()] = ReadFile(entry.path().string());
      }
    }
    return tables;
  }

 private:
  std::string statistics_path() const { return folder_.Path("statistics"); }

  TemporaryFolder folder_;
};

TEST_P(DatabaseTest, SameFilesAndEachReadsTheOthers) {
  const std::string written = Use(kStock, "write", "stock");
  EXPECT_EQ(0u, TakeStatistics().size()) << "LevelDB's own is not alone";
  EXPECT_EQ(written, Use(kOurs, "write", "ours"));
  const uint64_t count = std::stoull(written);
  ASSERT_GE(count, 3000u);

  std::vector<StatisticsLine> lines = TakeStatistics();
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ("append-cxx11", lines[0].Text("route"));
  EXPECT_EQ(static_cast<uint64_t>(bits_per_key()), lines[0].Number("bits_per_key"));
  // There is a filter for each 2 KB of a table's data, and one more where that ends.
  EXPECT_GT(lines[0].Number("filters"), 100u);
  EXPECT_GE(lines[0].Number("keys"), count);
  EXPECT_GE(lines[0].Number("filter_bytes"), count * bits_per_key() / 8);
  EXPECT_EQ(0u, lines[0].Number("queries"));

  const std::map<std::string, std::string> expected = Tables("stock"), made = Tables("ours");
  ASSERT_FALSE(expected.empty());
  std::set<std::string> expected_names, made_names;
  for (const auto& table : expected) expected_names.insert(table.first);
  for (const auto& table : made) made_names.insert(table.first);
  ASSERT_EQ(expected_names, made_names);
  uint64_t size = 0;
  for (const auto& [name, bytes] : expected) {
    EXPECT_TRUE(bytes == made.at(name)) << name << " differs";
    EXPECT_NE(std::string::npos, bytes.find(kPolicyName)) << name << " has no filters";
    size += bytes.size();
  }
  const auto& [bits, value_size, snappy] = GetParam();
  if (!snappy) {
    EXPECT_GT(size, count * value_size);
  } else if (value_size > 100) {
    EXPECT_LT(size, count * value_size) << "nothing was compressed";
  }

  const std::string read = Use(kStock, "read", "stock");
  EXPECT_EQ(read, Use(kStock, "read", "ours"));
  EXPECT_EQ(0u, TakeStatistics().size());
  EXPECT_EQ(read, Use(kOurs, "read", "ours"));
  EXPECT_EQ(read, Use(kOurs, "read", "stock"));
  EXPECT_EQ(std::to_string(count) + " found, " + std::to_string(count) + " absent\n", read);

  // Of the absent keys only those before the first or after the last of a table are not asked for.
  lines = TakeStatistics();
  ASSERT_EQ(2u, lines.size());
  const double share = bits_per_key() == 1 ? 0.3 : bits_per_key() == 10 ? 0.97 : 0.998;
  for (const StatisticsLine& line : lines) {
    EXPECT_EQ(0u, line.Number("filters"));
    EXPECT_GE(line.Number("queries"), 2 * count - 100);
    EXPECT_LE(line.Number("queries"), 2 * count);
    EXPECT_GE(line.Number("negatives"), static_cast<uint64_t>(count * share) - 100);
    EXPECT_LE(line.Number("negatives"), count);
  }
}

std::string CaseName(const testing::TestParamInfo<DatabaseTest::ParamType>& info) {
  const auto& [bits, value_size, snappy] = info.param;
  return "Bits" + std::to_string(bits) + "Values" + std::to_string(value_size) +
         (snappy ? "Snappy" : "Plain");
}

INSTANTIATE_TEST_SUITE_P(Databases, DatabaseTest,
                         testing::Combine(testing::Values(1, 10, 20),
                                          testing::Values(20, 200, 1024), testing::Bool()),
                         CaseName);

}  // namespace
}  // namespace harness
