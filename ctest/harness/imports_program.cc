// No LevelDB but its headers, and nothing that exports a name: which string this program has is told
// by what it imports, whatever tables its linker wrote.

#include <cstdio>
#include <cstring>
#include <string>

#include "leveldb/filter_policy.h"
#include "leveldb/slice.h"

int main() {
#ifdef BY_ADDRESS
  const leveldb::FilterPolicy* (*const volatile create)(int) = leveldb::NewBloomFilterPolicy;
  const leveldb::FilterPolicy* policy = create(10);
#else
  const leveldb::FilterPolicy* policy = leveldb::NewBloomFilterPolicy(10);
#endif
  const leveldb::Slice keys[] = {"hello", "world"};
  std::string filter = "before ";
  policy->CreateFilter(keys, 2, &filter);
  delete policy;
  static const char expected[] = "before \x11\x40\x00\x41\x44\x10\x40\x10\x06";
  if (filter.size() != sizeof(expected) - 1 || std::memcmp(filter.data(), expected, filter.size()) != 0) {
    std::printf("another filter, of %zu bytes\n", filter.size());
    return 1;
  }
  return 0;
}
