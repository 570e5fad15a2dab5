// golden_values.h is what LevelDB's own library gives, and the generator takes it from nobody else.

#include <gtest/gtest.h>

#include "child.h"

namespace harness {
namespace {

std::string PrintedFrom() {
  return "printed from " + std::filesystem::canonical(HARNESS_LEVELDB_FILE).string();
}

TEST(GoldenGeneratorTest, PrintsTheCommittedFile) {
  const std::string committed = ReadFile(HARNESS_GOLDEN_VALUES);
  ASSERT_NE("", committed);
  const ChildResult generated = RunChild({HARNESS_GOLDEN_GENERATOR});
  ASSERT_EQ(0, generated.status) << generated.errors;
  EXPECT_EQ(PrintedFrom() + "\n", generated.errors);
  EXPECT_EQ(committed, generated.output);
}

// With ours in front of everything in the process, LevelDB's own still answers.
TEST(GoldenGeneratorTest, OursInFrontIsNotAsked) {
  TemporaryFolder folder;
  const std::string statistics = folder.Path("statistics");
  const ChildResult generated =
      RunChild({HARNESS_GOLDEN_GENERATOR},
          {{"LD_PRELOAD", HARNESS_SHARED_FILE}, {"LEVELDB_BLOOM_STATS", statistics}});
  ASSERT_EQ(0, generated.status) << generated.errors;
  EXPECT_EQ(PrintedFrom() + ", beside leveldb_bloom\n", generated.errors);
  EXPECT_EQ(ReadFile(HARNESS_GOLDEN_VALUES), generated.output);
  EXPECT_EQ("", ReadFile(statistics));
}

TEST(GoldenGeneratorTest, RefusesOurs) {
  const ChildResult generated = RunChild({HARNESS_GOLDEN_GENERATOR, HARNESS_SHARED_FILE});
  EXPECT_EQ(1, generated.status);
  EXPECT_EQ("", generated.output);
  EXPECT_NE(std::string::npos, generated.errors.find("leveldb_open")) << generated.errors;
}

}  // namespace
}  // namespace harness
