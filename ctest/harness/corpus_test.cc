// The fixed corpus of tests/corpus.rs, made and asked by LevelDB's own filter: the hash that every
// machine's Rust tests compare with is the original's.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/slice.h>

#include "stock.h"

namespace harness {
namespace {

// splitmix64.
class Random {
 public:
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  size_t Below(uint64_t n) { return static_cast<size_t>(Next() % n); }

 private:
  uint64_t state_ = 1;
};

// FNV-1a, 64 bits.
class Digest {
 public:
  void Add(const std::string& bytes) {
    for (const char byte : bytes) {
      value_ = (value_ ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    }
  }

  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

TEST(CorpusTest, TheHashIsTheOriginals) {
  const Stock stock(HARNESS_LEVELDB_FILE);
  Random random;
  std::string bytes;
  while (bytes.size() < 4096) bytes += static_cast<char>(random.Next());
  const auto slice = [&](size_t length) {
    return leveldb::Slice(bytes.data() + random.Below(4096 - 400), length);
  };
  Digest digest;
  for (size_t i = 0; i < 3000; i++) {
    const size_t bits_per_key[] = {10, 10, 10, 0, 1, 5, 15, 20, 43, 44, 100, random.Below(200)};
    const size_t num_keys[] = {random.Below(8), random.Below(100), random.Below(1000)};
    const size_t longest = std::vector<size_t>{17, 5, 64, 400}[i % 4];
    std::vector<leveldb::Slice> keys;
    while (keys.size() < num_keys[i % 3]) {
      const size_t length = i % 2 == 0 ? longest - 1 : random.Below(longest);
      keys.push_back(slice(length));
    }
    const std::unique_ptr<const leveldb::FilterPolicy> policy(
        stock.NewBloomFilterPolicy(static_cast<int>(bits_per_key[i % 12])));
    std::string filter;
    policy->CreateFilter(keys.data(), static_cast<int>(keys.size()), &filter);
    digest.Add(filter);
    for (int j = 0; j < 20; j++) {
      const size_t length = random.Below(20);
      digest.Add(std::string(1, policy->KeyMayMatch(slice(length), filter) ? 1 : 0));
    }
  }
  EXPECT_EQ(HARNESS_CORPUS_HASH, digest.value());
}

}  // namespace
}  // namespace harness
