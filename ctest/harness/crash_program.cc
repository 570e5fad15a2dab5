// What faults_test kills, starves and reads afterwards:
//
//   crash_program write FOLDER COUNTER [LIMIT]   puts keys from where COUNTER stands, until it is
//                                                killed or a write fails; no file may become longer
//                                                than LIMIT bytes
//   crash_program read FOLDER COUNT              gets each of the first COUNT keys, and as many that
//                                                were never put; says how many of each are there
//
// The files are small, so that LevelDB compacts all the time. The counter file holds the number of
// keys that LevelDB has said to be written.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

namespace {

std::string KeyOf(uint64_t number, bool present) {
  char key[17];
  std::snprintf(key, sizeof(key), "%016llx",
                static_cast<unsigned long long>((2 * number + !present) * 0x9e3779b97f4a7c15));
  return key;
}

int Fail(const leveldb::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

int Write(leveldb::DB* db, const char* counter_path) {
  const int counter = open(counter_path, O_RDWR | O_CREAT, 0600);
  uint64_t count = 0;
  if (counter < 0 || pread(counter, &count, sizeof(count), 0) < 0) return 1;
  const std::string value(100, 'v');
  while (true) {
    const leveldb::Status status = db->Put(leveldb::WriteOptions(), KeyOf(count, true), value);
    if (!status.ok()) return Fail(status);
    count++;
    if (pwrite(counter, &count, sizeof(count), 0) != sizeof(count)) return 1;
  }
}

int Read(leveldb::DB* db, uint64_t count) {
  uint64_t found = 0, invented = 0;
  std::string value;
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  for (uint64_t i = 0; i < count; i++) {
    found += db->Get(options, KeyOf(i, true), &value).ok();
    invented += db->Get(options, KeyOf(i, false), &value).ok();
  }
  std::string tables;
  for (char level = '0'; level <= '6'; level++) {
    std::string files;
    db->GetProperty(std::string("leveldb.num-files-at-level") + level, &files);
    tables += ' ' + files;
  }
  std::printf("found %llu invented %llu tables%s\n", static_cast<unsigned long long>(found),
              static_cast<unsigned long long>(invented), tables.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  if (argc > 4) {
    const rlimit limit = {std::strtoull(argv[4], nullptr, 10), std::strtoull(argv[4], nullptr, 10)};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  const std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = policy.get();
  options.write_buffer_size = 64 << 10;
  options.max_file_size = 64 << 10;
  leveldb::DB* db;
  const leveldb::Status status = leveldb::DB::Open(options, argv[2], &db);
  if (!status.ok()) return Fail(status);
  const std::unique_ptr<leveldb::DB> owner(db);
  return std::strcmp(argv[1], "write") == 0 ? Write(db, argv[3])
                                            : Read(db, std::strtoull(argv[3], nullptr, 10));
}
