// A program that asks a policy for filters by itself, and a library with a copy of ours that is in
// nobody's way.

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>

extern "C" size_t copy_one();

int main() {
  const leveldb::FilterPolicy* policy = leveldb::NewBloomFilterPolicy(10);
  const leveldb::Slice keys[] = {"hello", "world"};
  std::string filter;
  errno = 77;
  policy->CreateFilter(keys, 2, &filter);
  if (errno != 77) std::printf("errno became %d\n", errno);
  const bool found = policy->KeyMayMatch(keys[0], filter) && policy->KeyMayMatch(keys[1], filter);
  std::printf("%zu bytes, the keys are %s; a filter of 100 keys has %zu\n", filter.size(),
              found ? "found" : "lost", copy_one());
  delete policy;
  return 0;
}
