// The hash of a key, read out of a filter policy that only makes and answers filters.

#ifndef LEVELDB_BLOOM_HARNESS_OBSERVED_HASH_H_
#define LEVELDB_BLOOM_HARNESS_OBSERVED_HASH_H_

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <leveldb/slice.h>

namespace harness {

// Bits in a filter. A filter with one probe holds one bit of one key: hash % bits. No two 32-bit
// hashes agree on both remainders, because the least common multiple is more than 2^32.
constexpr uint32_t kObservedBits[] = {1 << 19, 8 * ((1 << 14) - 1)};

// The only hash with these remainders.
inline uint32_t HashOfRemainders(const uint32_t remainders[2]) {
  for (uint64_t hash = remainders[0]; hash <= UINT32_MAX; hash += kObservedBits[0]) {
    if (hash % kObservedBits[1] == remainders[1]) return static_cast<uint32_t>(hash);
  }
  throw std::runtime_error("no hash has these remainders");
}

// From what the policy makes; it must have one bit per key. As many copies of the key as the
// filter shall have bits.
inline uint32_t HashOfCreatedFilters(
    const leveldb::Slice& key,
    const std::function<std::string(const std::vector<leveldb::Slice>&)>& create) {
  uint32_t remainders[2];
  for (int i = 0; i < 2; i++) {
    const std::string filter = create(std::vector<leveldb::Slice>(kObservedBits[i], key));
    if (filter.size() != kObservedBits[i] / 8 + 1 || filter.back() != 1) {
      throw std::runtime_error("not a filter of one bit per key");
    }
    const size_t byte = filter.find_first_not_of('\0');
    uint32_t bit = 0;
    while ((filter[byte] >> bit & 1) == 0) bit++;
    remainders[i] = static_cast<uint32_t>(byte * 8 + bit);
  }
  return HashOfRemainders(remainders);
}

// From what it answers: halves the bits that are set until one is left.
inline uint32_t HashOfAnswers(
    const leveldb::Slice& key,
    const std::function<bool(const leveldb::Slice& key, const leveldb::Slice& filter)>& ask) {
  uint32_t remainders[2];
  for (int i = 0; i < 2; i++) {
    uint32_t first = 0, end = kObservedBits[i];
    while (end - first > 1) {
      const uint32_t middle = first + (end - first) / 2;
      std::string filter(kObservedBits[i] / 8 + 1, '\0');
      for (uint32_t bit = first; bit < middle; bit++) {
        filter[bit / 8] = static_cast<char>(filter[bit / 8] | 1 << bit % 8);
      }
      filter.back() = 1;
      (ask(key, filter) ? end : first) = middle;
    }
    remainders[i] = first;
  }
  return HashOfRemainders(remainders);
}

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_OBSERVED_HASH_H_
