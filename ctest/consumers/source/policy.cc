// The policy of leveldb_bloom_policy.cc: golden bytes, appending, and odd input.

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <leveldb_bloom_policy.h>

#include <climits>
#include <memory>
#include <string>
#include <vector>

#include "../proof.h"

namespace {

using leveldb::FilterPolicy;
using leveldb::Slice;

// Fails every key test with "yes".
const std::string kMatchAll("\0\x1f", 2);

std::unique_ptr<const FilterPolicy> Policy(int bits_per_key) {
  return std::unique_ptr<const FilterPolicy>(leveldb::NewBloomFilterPolicy(bits_per_key));
}

std::string Filter(int bits_per_key, const std::vector<Slice>& keys, int n) {
  std::string filter;
  Policy(bits_per_key)->CreateFilter(keys.data(), n, &filter);
  return filter;
}

void GoldenAndCounted(const char* program) {
  proof_begin(program);
  EXPECT(leveldb_bloom_active() == std::string("leveldb_bloom (source build)"));
  std::unique_ptr<const FilterPolicy> policy = Policy(10);
  EXPECT(std::string(policy->Name()) == "leveldb.BuiltinBloomFilter2");
  const std::vector<Slice> keys = {"hello", "world"};
  const std::string golden("\x11\x40\x00\x41\x44\x10\x40\x10\x06", 9);
  std::string filter = "before";
  policy->CreateFilter(keys.data(), 2, &filter);
  EXPECT(filter == "before" + golden);
  policy->CreateFilter(keys.data(), 2, &filter);
  EXPECT(filter == "before" + golden + golden);
  EXPECT(policy->KeyMayMatch("hello", golden));
  EXPECT(policy->KeyMayMatch("world", golden));
  EXPECT(!policy->KeyMayMatch("x", golden));
  EXPECT(!policy->KeyMayMatch("x", Slice()));
  policy.reset();
  proof_end();
  EXPECT(proof_route_is("buffer"));
  EXPECT(proof_count("filters") == 2 && proof_count("keys") == 4);
  EXPECT(proof_count("queries") == 4 && proof_count("negatives") == 2);
}

// By its own factory, and by the variable.
void Ribbon(const char* program) {
  const std::vector<Slice> keys = {"hello", "world"};
  for (bool by_environment : {false, true}) {
    proof_begin(program);
    if (by_environment) setenv("LEVELDB_BLOOM_ENCODING", "ribbon", 1);
    std::unique_ptr<const FilterPolicy> policy =
        by_environment ? Policy(10)
                       : std::unique_ptr<const FilterPolicy>(leveldb_bloom::NewRibbonFilterPolicy(10));
    unsetenv("LEVELDB_BLOOM_ENCODING");
    EXPECT(std::string(policy->Name()) == "leveldb.BuiltinBloomFilter2");
    std::string filter = "before";
    policy->CreateFilter(keys.data(), 2, &filter);
    EXPECT(filter.size() == 15 && filter.compare(0, 6, "before") == 0);
    filter.erase(0, 6);
    EXPECT(policy->KeyMayMatch("hello", filter));
    EXPECT(!policy->KeyMayMatch("absent", filter));
    // Keys that are not there.
    filter.clear();
    policy->CreateFilter(nullptr, 2, &filter);
    EXPECT(filter == kMatchAll);
    policy.reset();
    proof_end();
    EXPECT(proof_route_is("buffer") && proof_says("\"encoding\":\"ribbon\""));
    EXPECT(proof_count("filters") == 1 && proof_count("negatives") == 1);
  }
}

void OddInput() {
  const std::vector<Slice> keys = {"a", Slice(nullptr, 0)};
  const std::string empty("\0\0\0\0\0\0\0\0\x06", 9);
  EXPECT(Filter(10, {}, 0) == empty);
  EXPECT(Filter(10, {}, -1) == empty);
  EXPECT(Filter(10, {}, INT_MIN) == empty);
  EXPECT(Filter(1, {"a"}, 1) == std::string("\0\0\0\0\0\0\x01\0\x01", 9));
  EXPECT(Filter(0, {"a"}, 1) == Filter(1, {"a"}, 1));
  EXPECT(Filter(-1, {"a"}, 1) == Filter(0, {"a"}, 1));
  EXPECT(Filter(INT_MIN, {"a"}, 1) == Filter(0, {"a"}, 1));
  EXPECT(Filter(44, {"a"}, 1) == "\x78\xf0\xe0\xc1\x83\x0f\x1f\x3c\x1e");
  EXPECT(Filter(45, {"a"}, 1).back() == 30);
  EXPECT(Policy(10)->KeyMayMatch("", Filter(10, keys, 2)));
  EXPECT(Policy(INT_MIN)->KeyMayMatch("a", Filter(INT_MIN, keys, 2)));
  // Keys that are not there.
  EXPECT(Filter(10, {}, 2) == kMatchAll);
  EXPECT(Filter(10, {"a", Slice(nullptr, 9)}, 2) == kMatchAll);
}

}  // namespace

int main(int, char** argv) {
  GoldenAndCounted(argv[0]);
  Ribbon(argv[0]);
  unsetenv("LEVELDB_BLOOM_STATS");
  OddInput();
  return 0;
}
