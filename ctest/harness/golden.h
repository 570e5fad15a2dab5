// What golden_values.h is made of. Bytes are in hexadecimal.

#ifndef LEVELDB_BLOOM_HARNESS_GOLDEN_H_
#define LEVELDB_BLOOM_HARNESS_GOLDEN_H_

#include <cstdint>
#include <string>
#include <vector>

namespace harness {

struct GoldenFilter {
  int bits_per_key;
  std::vector<std::string> keys;
  std::string filter;
};

struct GoldenHash {
  std::string key;
  uint32_t hash;
};

struct GoldenAnswer {
  std::string key;
  std::string filter;
  bool may_match;
};

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_GOLDEN_H_
