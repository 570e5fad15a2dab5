// A LevelDB of which there is what others know it by, and a bloom policy of another name: OLD, as before
// 1.18, or FORK, with a second one, as Basho's. WRAPPED, its policy is the one that the process has for C.
// With MORE functions in the class of its policies. GUARDED, WRAPPED with a table of those functions that is
// as large as clang's AddressSanitizer makes it. APART, OLD without what tells its string.

#include <leveldb/c.h>
#include <leveldb/db.h>
#include <leveldb/slice.h>

#include <string>

#if defined(MORE) || defined(GUARDED)
namespace leveldb {
class FilterPolicy {
 public:
  virtual ~FilterPolicy();
  virtual const char *Name() const = 0;
  virtual void CreateFilter(const Slice *, int, std::string *) const = 0;
  virtual bool KeyMayMatch(const Slice &, const Slice &) const = 0;
  virtual void Another() const {}
#ifdef GUARDED
  virtual void Second() const {}
  virtual void Third() const {}
  virtual void Fourth() const {}
  virtual void Fifth() const {}
#endif
};
}  // namespace leveldb
#else
#include <leveldb/filter_policy.h>
#endif

// Nobody whom a linker would know has it.
#pragma weak leveldb_filterpolicy_create_bloom

namespace leveldb {

FilterPolicy::~FilterPolicy() = default;

#ifndef APART
Status DestroyDB(const std::string &, const Options &) { return Status(); }
#endif

namespace {

class OtherPolicy : public FilterPolicy {
 public:
  const char *Name() const override { return "leveldb.BuiltinBloomFilter"; }
  void CreateFilter(const Slice *, int, std::string *) const override {}
  bool KeyMayMatch(const Slice &, const Slice &) const override { return true; }
};

}  // namespace

const FilterPolicy *NewBloomFilterPolicy([[maybe_unused]] int bits_per_key) {
#if defined(WRAPPED) || defined(GUARDED)
  return reinterpret_cast<const FilterPolicy *>(leveldb_filterpolicy_create_bloom(bits_per_key));
#else
  return new OtherPolicy;
#endif
}

#ifdef FORK
const FilterPolicy *NewBloomFilterPolicy2(int) { return new OtherPolicy; }
#endif

}  // namespace leveldb

extern "C" {
int leveldb_major_version() { return 1; }
#if defined(OLD) || defined(APART)
int leveldb_minor_version() { return 17; }
#else
int leveldb_minor_version() { return 18; }
#endif
}
