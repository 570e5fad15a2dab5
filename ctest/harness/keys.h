// Keys and filters as text, and the keys that LevelDB's own filter tests use.

#ifndef LEVELDB_BLOOM_HARNESS_KEYS_H_
#define LEVELDB_BLOOM_HARNESS_KEYS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <leveldb/slice.h>

namespace harness {

inline std::string ToHex(const leveldb::Slice& bytes) {
  static const char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (size_t i = 0; i < bytes.size(); i++) {
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

inline std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// Four bytes, the low one first.
inline std::string NumberKey(uint32_t number) {
  std::string key;
  for (int shift = 0; shift < 32; shift += 8) {
    key += static_cast<char>(number >> shift);
  }
  return key;
}

// A last byte of the second encoding, which LevelDB takes for "any key".
inline bool IsRibbon(const leveldb::Slice& filter) {
  const uint8_t last = filter.empty() ? 0 : static_cast<uint8_t>(filter[filter.size() - 1]);
  return last >= 32 && last < 240;
}

inline std::vector<leveldb::Slice> Slices(const std::vector<std::string>& keys) {
  return std::vector<leveldb::Slice>(keys.begin(), keys.end());
}

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_KEYS_H_
