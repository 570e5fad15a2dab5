// A C++ program with a filter policy of its own class, around a bloom policy: wrapper DIRECTORY.
// Filters are appended to LevelDB's string in a tail call, which hides the program, and to a string
// of the program's.

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <cstdio>
#include <memory>
#include <string>

#include "check.h"
#include "proof.h"

namespace {

constexpr int kKeys = 10000;

class Wrapper : public leveldb::FilterPolicy {
 public:
  explicit Wrapper(const leveldb::FilterPolicy* bloom) : bloom_(bloom) {}
  const char* Name() const override { return bloom_->Name(); }
  void CreateFilter(const leveldb::Slice* keys, int n, std::string* dst) const override {
    if (n % 2 != 0) return bloom_->CreateFilter(keys, n, dst);
    std::string filter("before");
    bloom_->CreateFilter(keys, n, &filter);
    dst->append(filter, 6, std::string::npos);
  }
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    return bloom_->KeyMayMatch(key, filter);
  }

 private:
  const std::unique_ptr<const leveldb::FilterPolicy> bloom_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const leveldb::FilterPolicy* bloom = leveldb::NewBloomFilterPolicy(10);
  print_active();
  print_maker(bloom);
  const Wrapper policy(bloom);
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = &policy;
  // One memtable for all keys: files written in the background differ from run to run.
  options.write_buffer_size = 64 << 20;
  leveldb::DB* opened = nullptr;
  Check(leveldb::DB::Open(options, std::string(argv[1]) + "/database", &opened));
  const std::unique_ptr<leveldb::DB> database(opened);
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "key " + std::to_string(i);
    Check(database->Put(leveldb::WriteOptions(), key, key));
  }
  database->CompactRange(nullptr, nullptr);
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "key " + std::to_string(i);
    std::string value;
    Check(database->Get(leveldb::ReadOptions(), key, &value));
    if (value != key || !database->Get(leveldb::ReadOptions(), key + "!", &value).IsNotFound()) {
      std::fprintf(stderr, "%s or %s! is wrong\n", key.c_str(), key.c_str());
      return 1;
    }
  }
  return 0;
}
