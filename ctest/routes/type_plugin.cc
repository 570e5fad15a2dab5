// A C++ plugin of a C program asks what a policy is before it is asked for a filter.

#include <leveldb/filter_policy.h>

#include <cstdio>
#include <memory>
#include <typeinfo>

namespace {

struct Other : leveldb::FilterPolicy {};

}  // namespace

extern "C" void run() {
  std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  const bool is_other = dynamic_cast<const Other *>(policy.get()) != nullptr;
  std::printf("a %s, %s\n", typeid(*policy).name(), is_other ? "an Other" : "no Other");
}
