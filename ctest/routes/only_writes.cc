// A program that writes filters and opens no database, and what it has of a LevelDB for that: the function by
// which its string is known, where the program is wholly static and shows nothing else of it.

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdint>
#include <string>

namespace leveldb {

FilterPolicy::~FilterPolicy() = default;

void PutFixed32(std::string* dst, uint32_t value) {
  const char bytes[] = {static_cast<char>(value), 0, 0, 0};
  dst->append(bytes, sizeof bytes);
}

}  // namespace leveldb

int main() {
  const leveldb::FilterPolicy* policy = leveldb::NewBloomFilterPolicy(10);
  const leveldb::Slice keys[] = {"hello", "world"};
  std::string filters = "before ", expected = filters;
  for (uint32_t i = 0; i < 3; i++) {
    policy->CreateFilter(keys, 2, &filters);
    leveldb::PutFixed32(&filters, i);
    expected.append("\x11\x40\x00\x41\x44\x10\x40\x10\x06", 9);
    leveldb::PutFixed32(&expected, i);
  }
  const leveldb::Slice filter(filters.data() + 7, 9);
  const bool answers = policy->KeyMayMatch("hello", filter) && !policy->KeyMayMatch("absent", filter);
  delete policy;
  return answers && filters == expected ? 0 : 1;
}
