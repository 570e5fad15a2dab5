// A C++ plugin asks what a policy is before it is asked for a filter: one of its own, SHARED with the
// process, or CUSTOM, of callbacks. PARTIAL, it has of a LevelDB the class of policies alone, and HOST, a
// function by which a LevelDB is known as well; then it says whether the policy's class is derived from
// that one.

#include <cxxabi.h>
#include <leveldb/c.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb_bloom.h>

#include <cstdio>
#include <memory>
#include <typeinfo>

#if defined PARTIAL || defined HOST
leveldb::FilterPolicy::~FilterPolicy() = default;

namespace {

const char *end(const leveldb::FilterPolicy &policy) {
  const auto *type = dynamic_cast<const abi::__si_class_type_info *>(&typeid(policy));
  const bool derived = type != nullptr && *type->__base_type == typeid(leveldb::FilterPolicy);
  return derived ? ", derived" : ", not derived";
}

}  // namespace
#else
static const char *end(const leveldb::FilterPolicy &) { return ""; }
#endif

#if defined HOST
leveldb::Status leveldb::DestroyDB(const std::string &, const leveldb::Options &) { return Status(); }
#endif

namespace {

struct Other : leveldb::FilterPolicy {};

const leveldb::FilterPolicy *create() {
#if defined SHARED
  return reinterpret_cast<const leveldb::FilterPolicy *>(leveldb_bloom_filterpolicy_shared(10));
#elif defined CUSTOM
  const struct leveldb_bloom_vtable *bloom = leveldb_bloom_vtable();
  return reinterpret_cast<const leveldb::FilterPolicy *>(
      leveldb_filterpolicy_create(leveldb_bloom_policy_create(10), bloom->destructor,
                                  bloom->create_filter, bloom->key_may_match, bloom->name));
#else
  return leveldb::NewBloomFilterPolicy(10);
#endif
}

}  // namespace

extern "C" void run() {
  std::unique_ptr<const leveldb::FilterPolicy> policy(create());
  const bool is_other = dynamic_cast<const Other *>(policy.get()) != nullptr;
  const leveldb::FilterPolicy &it = *policy;
  std::printf("a %s, %s%s\n", typeid(it).name(), is_other ? "an Other" : "no Other",
              end(it));
}
