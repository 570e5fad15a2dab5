// Makes filters with our policy and no LevelDB: only the string itself, empty or short, shows what kind it is.

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <string>

int main() {
  const std::string golden("\x11\x40\x00\x41\x44\x10\x40\x10\x06", 9);
  const leveldb::Slice keys[] = {"hello", "world"};
  const leveldb::FilterPolicy *policy = leveldb::NewBloomFilterPolicy(10);
  std::string filters, expected;
  // The last ones are appended to a string that is no longer short.
  for (int i = 0; i < 5; i++) {
    policy->CreateFilter(keys, 2, &filters);
    expected += golden;
  }
  const bool answers = policy->KeyMayMatch("hello", golden) && !policy->KeyMayMatch("absent", golden);
  delete policy;
  return answers && filters == expected ? 0 : 1;
}
