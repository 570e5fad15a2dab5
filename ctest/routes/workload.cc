// A C++ program that knows nothing of leveldb_bloom:
//
//   workload [BITS_PER_KEY VALUE_SIZE COMPRESS(0|1) fill|read|both] DIRECTORY

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "program.h"

namespace {

constexpr int kKeys = 10000;

void Check(const leveldb::Status& status) {
  if (!status.ok()) die("LevelDB: %s", status.ToString().c_str());
}

std::string Value(const std::string& key, size_t size) {
  std::string value = "value of " + key;
  while (value.size() < size) value += value;
  return value;
}

void Fill(leveldb::DB* database, size_t value_size) {
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "key " + std::to_string(i);
    Check(database->Put(leveldb::WriteOptions(), key, Value(key, value_size)));
  }
  database->CompactRange(nullptr, nullptr);
}

void Read(leveldb::DB* database, size_t value_size) {
  std::string value;
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "key " + std::to_string(i);
    Check(database->Get(leveldb::ReadOptions(), key, &value));
    if (value != Value(key, value_size)) die("%s has another value", key.c_str());
    // Between the keys that are there, so that the filter is queried and not only the index.
    if (!database->Get(leveldb::ReadOptions(), key + "!", &value).IsNotFound())
      die("%s! is there, and was never put", key.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 6) die("usage: see workload.cc");
  const bool given = argc == 6;
  const size_t value_size = given ? std::strtoul(argv[2], nullptr, 10) : 0;
  const std::string how = given ? argv[4] : "both";
  const leveldb::FilterPolicy* policy =
      leveldb::NewBloomFilterPolicy(given ? std::atoi(argv[1]) : 10);
  print_active();
  print_maker(policy);

  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = policy;
  options.compression = given && std::atoi(argv[3]) == 0 ? leveldb::kNoCompression
                                                         : leveldb::kSnappyCompression;
  // One memtable for all keys: files written in the background differ from run to run.
  options.write_buffer_size = 64 << 20;
  for (const auto work : {Fill, Read}) {
    if (how == (work == Fill ? "read" : "fill")) continue;
    leveldb::DB* database = nullptr;
    Check(leveldb::DB::Open(options, std::string(argv[argc - 1]) + "/database", &database));
    work(database, value_size);
    delete database;
  }
  delete policy;
  return 0;
}
