// A C++ program that knows nothing of this library: workload DIRECTORY [DATABASE].

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <cstdio>
#include <memory>
#include <string>

#include "check.h"
#include "proof.h"

namespace {

constexpr int kKeys = 10000;

std::unique_ptr<leveldb::DB> Open(const leveldb::FilterPolicy* policy, const std::string& directory,
                                  bool create) {
  leveldb::Options options;
  options.create_if_missing = create;
  options.filter_policy = policy;
  // One memtable for all keys: files written in the background differ from run to run.
  options.write_buffer_size = 64 << 20;
  leveldb::DB* database = nullptr;
  Check(leveldb::DB::Open(options, directory, &database));
  return std::unique_ptr<leveldb::DB>(database);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  const std::string directory = std::string(argv[1]) + "/" + (argc == 3 ? argv[2] : "database");
  const leveldb::FilterPolicy* policy = leveldb::NewBloomFilterPolicy(10);
  print_active();
  print_maker(policy);

  std::unique_ptr<leveldb::DB> database = Open(policy, directory, true);
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "key " + std::to_string(i);
    Check(database->Put(leveldb::WriteOptions(), key, "value of " + key));
  }
  database->CompactRange(nullptr, nullptr);
  database.reset();

  database = Open(policy, directory, false);
  std::string value;
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "key " + std::to_string(i);
    Check(database->Get(leveldb::ReadOptions(), key, &value));
    if (value != "value of " + key) {
      std::fprintf(stderr, "%s has the value %s\n", key.c_str(), value.c_str());
      return 1;
    }
    // Between the keys that are there, so that the filter is asked and not only the index.
    if (!database->Get(leveldb::ReadOptions(), key + "!", &value).IsNotFound()) {
      std::fprintf(stderr, "%s! is there, and was never put\n", key.c_str());
      return 1;
    }
  }
  database.reset();
  delete policy;
  return 0;
}
