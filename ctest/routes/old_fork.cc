// A LevelDB that has what LevelDBs are known by, and a bloom policy of another name or class: OLD as
// before 1.18, FORK with a second policy as Basho's, MORE with more virtual functions.

#include <leveldb/db.h>
#include <leveldb/slice.h>

#include <string>

#ifdef MORE
namespace leveldb {
class FilterPolicy {
 public:
  virtual ~FilterPolicy();
  virtual const char *Name() const = 0;
  virtual void CreateFilter(const Slice *, int, std::string *) const = 0;
  virtual bool KeyMayMatch(const Slice &, const Slice &) const = 0;
  virtual void Another() const {}
};
}  // namespace leveldb
#else
#include <leveldb/filter_policy.h>
#endif

namespace leveldb {

FilterPolicy::~FilterPolicy() = default;

Status DestroyDB(const std::string &, const Options &) { return Status(); }

class OtherPolicy : public FilterPolicy {
 public:
  const char *Name() const override { return "leveldb.BuiltinBloomFilter"; }
  void CreateFilter(const Slice *, int, std::string *) const override {}
  bool KeyMayMatch(const Slice &, const Slice &) const override { return true; }
};

const FilterPolicy *NewBloomFilterPolicy(int) { return new OtherPolicy; }
#ifdef FORK
const FilterPolicy *NewBloomFilterPolicy2(int) { return new OtherPolicy; }
#endif

}  // namespace leveldb

extern "C" {
int leveldb_major_version() { return 1; }
#ifdef OLD
int leveldb_minor_version() { return 17; }
#else
int leveldb_minor_version() { return 18; }
#endif
}
