// What test_databases.py kills, and reads afterwards:
//
//   crash write DIRECTORY          puts keys, and prints the number of each that LevelDB has taken
//   crash read COUNT DIRECTORY     reads the first COUNT keys, and as many that were never put
//
// The files are small, so that LevelDB compacts all the time.

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "program.h"

namespace {

std::string Key(unsigned long number, char kind) {
  char key[32];
  std::snprintf(key, sizeof key, "%016lx%c", number * 0x9e3779b97f4a7c15, kind);
  return key;
}

void Check(const leveldb::Status& status) {
  if (!status.ok()) die("LevelDB: %s", status.ToString().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) die("usage: see crash.cc");
  const std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  leveldb::Options options;
  options.create_if_missing = argc == 3;
  options.filter_policy = policy.get();
  options.write_buffer_size = options.max_file_size = 64 << 10;
  leveldb::DB* opened;
  Check(leveldb::DB::Open(options, std::string(argv[argc - 1]) + "/database", &opened));
  const std::unique_ptr<leveldb::DB> database(opened);
  std::string value(100, 'v');
  if (argc == 3) {
    for (unsigned long i = 0;; i++) {
      Check(database->Put(leveldb::WriteOptions(), Key(i, 'p'), value));
      std::printf("%lu\n", i);
      std::fflush(stdout);
    }
  }
  leveldb::ReadOptions reading;
  reading.verify_checksums = true;
  for (unsigned long i = 0; i < std::strtoul(argv[2], nullptr, 10); i++) {
    Check(database->Get(reading, Key(i, 'p'), &value));
    if (!database->Get(reading, Key(i, 'a'), &value).IsNotFound()) die("%lu was never put", i);
  }
  return 0;
}
