// No LevelDB but its headers, and nothing that exports a name: which string this program has is told
// by what it imports, whatever tables its linker wrote.

#include <cstdio>
#include <cstring>
#include <string>

#include "leveldb/c.h"
#include "leveldb/filter_policy.h"
#include "leveldb/slice.h"
#include "leveldb_bloom.h"

int main() {
#ifdef BY_ADDRESS
  const leveldb::FilterPolicy* (*const volatile create)(int) = leveldb::NewBloomFilterPolicy;
  const leveldb::FilterPolicy* policy = create(10);
  // Nor is this one a LevelDB.
  const void* volatile create_custom = reinterpret_cast<void*>(leveldb_filterpolicy_create);
  const bool is_alone = std::strstr(leveldb_bloom_active(), "no LevelDB found") != nullptr;
  if (create_custom == nullptr || !is_alone) {
    std::printf("%s\n", leveldb_bloom_active());
    return 1;
  }
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
