// A plain LevelDB program for demo.sh and end_to_end.sh: loads keys, compacts them, and looks keys up
// in the reopened database, counting how often LevelDB reads from a table file. Linked to libleveldb
// only: NewBloomFilterPolicy is what the process has.
//
//   database FOLDER KEYS LOOKUPS BITS_PER_KEY VALUE_BYTES random|ordered WRITE_BUFFER_MIB [get]
//
// With "get" the database is there, and nothing is loaded. BITS_PER_KEY 0 is for no filter. Ordered keys are 8-byte big-endian numbers, of which every other
// one is stored; random keys have 16 bytes. Prints lines of "name value"; seconds are processor time.

#include <dlfcn.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace {

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "database: %s\n", why.c_str());
  std::exit(1);
}

void Check(const leveldb::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

// The end of SplitMix64: one to one, so that keys never repeat.
uint64_t Scramble(uint64_t i) {
  i += 0x9e3779b97f4a7c15;
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9;
  i = (i ^ (i >> 27)) * 0x94d049bb133111eb;
  return i ^ (i >> 31);
}

// Key number `i`: of even numbers those that are stored, of odd ones others between them.
std::string Key(uint64_t i, bool ordered) {
  const uint64_t words[] = {ordered ? __builtin_bswap64(i) : Scramble(i), Scramble(~i)};
  return std::string(reinterpret_cast<const char*>(words), ordered ? 8 : 16);
}

// The second half repeats the first, so that it compresses as db_bench's values do.
std::string Value(uint64_t i, size_t size) {
  std::string value;
  for (uint64_t word = Scramble(~i); value.size() < size / 2; word = Scramble(word)) {
    value.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  value.resize(size / 2);
  return (value + value + std::string(1, 'x')).substr(0, size);
}

// Counts the reads of table files. LevelDB maps them into memory, so system calls would not show.
class CountingEnv final : public leveldb::EnvWrapper {
 public:
  CountingEnv() : EnvWrapper(leveldb::Env::Default()) {}

  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** file) override {
    leveldb::Status status = target()->NewRandomAccessFile(name, file);
    if (status.ok()) *file = new CountingFile(*file, &reads);
    return status;
  }

  std::atomic<uint64_t> reads{0};

 private:
  class CountingFile final : public leveldb::RandomAccessFile {
   public:
    CountingFile(leveldb::RandomAccessFile* file, std::atomic<uint64_t>* reads)
        : file_(file), reads_(reads) {}

    leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result,
                         char* scratch) const override {
      reads_->fetch_add(1, std::memory_order_relaxed);
      return file_->Read(offset, n, result, scratch);
    }

   private:
    const std::unique_ptr<leveldb::RandomAccessFile> file_;
    std::atomic<uint64_t>* const reads_;
  };
};

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval time) { return time.tv_sec + time.tv_usec * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The file with the policy's code.
std::string FileOf(const leveldb::FilterPolicy* policy) {
  Dl_info file;
  if (policy == nullptr) return "none";
  void* code = (*reinterpret_cast<void* const* const*>(policy))[4];
  return dladdr(code, &file) != 0 ? file.dli_fname : "unknown";
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_get = argc == 9 && std::strcmp(argv[8], "get") == 0;
  if (argc != 8 && !only_get) Fail("see the comment in scripts/database.cc");
  const std::string folder = argv[1];
  const uint64_t keys = std::strtoull(argv[2], nullptr, 10);
  const uint64_t lookups = std::strtoull(argv[3], nullptr, 10);
  const int bits = std::atoi(argv[4]);
  const size_t value_bytes = std::strtoull(argv[5], nullptr, 10);
  const bool ordered = std::strcmp(argv[6], "ordered") == 0;

  CountingEnv env;
  // No cache: every lookup reads, as in a database that is much larger than its cache.
  const std::unique_ptr<leveldb::Cache> no_cache(leveldb::NewLRUCache(0));
  const auto open = [&](const leveldb::FilterPolicy* policy) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.env = &env;
    options.filter_policy = policy;
    options.block_cache = no_cache.get();
    options.write_buffer_size = std::strtoull(argv[7], nullptr, 10) << 20;
    leveldb::DB* db;
    Check(leveldb::DB::Open(options, folder, &db));
    return std::unique_ptr<leveldb::DB>(db);
  };
  const std::unique_ptr<const leveldb::FilterPolicy> policy(
      bits == 0 ? nullptr : leveldb::NewBloomFilterPolicy(bits));
  std::printf("policy %s\n", FileOf(policy.get()).c_str());

  double start = CpuSeconds();
  if (!only_get) {
    const auto db = open(policy.get());
    for (uint64_t n = 0; n < keys; ++n) {
      // In an order of their own, which is not that of the keys.
      const uint64_t i = 2 * (n * 2654435761 % keys);
      Check(db->Put(leveldb::WriteOptions(), Key(i, ordered), Value(i, value_bytes)));
    }
    db->CompactRange(nullptr, nullptr);
  }
  if (!only_get) std::printf("load_seconds %.3f\n", CpuSeconds() - start);

  const auto db = open(policy.get());
  for (const uint64_t odd : {0, 1}) {
    const auto key = [&](uint64_t n) { return Key(2 * (n * (keys / lookups)) + odd, ordered); };
    // Opens the tables, which reads their indexes and filters.
    for (uint64_t n = 0; n < lookups; ++n) {
      const std::string begin = key(n), end = begin + '\0';
      const leveldb::Range range(begin, end);
      uint64_t size;
      db->GetApproximateSizes(&range, 1, &size);
    }
    const uint64_t reads = env.reads;
    uint64_t found = 0;
    std::string value;
    start = CpuSeconds();
    for (uint64_t n = 0; n < lookups; ++n) {
      const leveldb::Status status = db->Get(leveldb::ReadOptions(), key(n), &value);
      if (!status.IsNotFound()) {
        Check(status);
        ++found;
      }
    }
    const char* kind = odd == 1 ? "missing" : "present";
    std::printf("%s_seconds %.3f\n%s_reads %llu\n%s_found %llu\n", kind, CpuSeconds() - start, kind,
                static_cast<unsigned long long>(env.reads - reads), kind,
                static_cast<unsigned long long>(found));
  }
}
