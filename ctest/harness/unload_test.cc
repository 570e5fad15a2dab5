// The library loaded and unloaded, with policies that live on: it stays, since nobody can know when
// the last of them ends.

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include "stock.h"

namespace harness {
namespace {

// So that LevelDB is in the program, and its string can be found.
__attribute__((used)) const auto host = &leveldb::DestroyDB;

using New = leveldb::FilterPolicy* (*)(int);

New Load(void** handle) {
  *handle = dlopen(HARNESS_SHARED_FILE, RTLD_NOW | RTLD_LOCAL);
  if (*handle == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<New>(dlsym(*handle, "_ZN7leveldb20NewBloomFilterPolicyEi"));
}

TEST(UnloadTest, PoliciesLiveOn) {
  const std::unique_ptr<const leveldb::FilterPolicy> stock(leveldb::NewBloomFilterPolicy(10));
  const std::vector<leveldb::Slice> keys = {"hello", "world"};
  std::string expected;
  stock->CreateFilter(keys.data(), 2, &expected);

  std::vector<std::unique_ptr<const leveldb::FilterPolicy>> policies;
  for (int i = 0; i < 1000; i++) {
    void* handle;
    const New create = Load(&handle);
    ASSERT_NE(reinterpret_cast<New>(&leveldb::NewBloomFilterPolicy), create);
    policies.emplace_back(create(10));
    EXPECT_EQ(std::filesystem::canonical(HARNESS_SHARED_FILE), FileOfFilters(policies.back().get()));
    ASSERT_EQ(0, dlclose(handle));
    std::string filter;
    policies.back()->CreateFilter(keys.data(), 2, &filter);
    EXPECT_EQ(expected, filter);
    if (i % 3 == 0) policies.erase(policies.begin());
  }
  for (const auto& policy : policies) EXPECT_TRUE(policy->KeyMayMatch("hello", expected));
}

}  // namespace
}  // namespace harness
