// A plain LevelDB program: it loads keys, compacts them, and looks keys up in the reopened
// database, counting how often LevelDB reads from a table file. It is linked to libleveldb only,
// and takes whatever bloom filter policy leveldb::NewBloomFilterPolicy gives it in this process.
//
//     demo FOLDER KEYS LOOKUPS BITS_PER_KEY RESULTS
//
// BITS_PER_KEY 0 is for no filter at all. Appends lines of "name value" to the file RESULTS.

#include <dlfcn.h>
#include <fcntl.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "demo: %s\n", why.c_str());
  std::exit(1);
}

void Check(const leveldb::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

// Key and value number `i`. Scrambling (the end of SplitMix64, a bijection) makes keys that come
// in random order, never repeat, and, above the last one loaded, lie between those loaded.
uint64_t Scramble(uint64_t i) {
  i += 0x9e3779b97f4a7c15;
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9;
  i = (i ^ (i >> 27)) * 0x94d049bb133111eb;
  return i ^ (i >> 31);
}

std::string Key(uint64_t i) {
  std::string key(16, '0');
  uint64_t rest = Scramble(i);
  for (auto digit = key.rbegin(); digit != key.rend(); ++digit, rest >>= 4) {
    *digit = "0123456789abcdef"[rest & 15];
  }
  return key;
}

std::string Value(uint64_t i) {
  constexpr size_t kSize = 100;
  std::string value;
  for (uint64_t word = Scramble(~i); value.size() < kSize; word = Scramble(word)) {
    value.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  value.resize(kSize);
  return value;
}

// An Env whose RandomAccessFiles, which are the table files, count their reads. LevelDB maps tables
// into memory where it can, so counting system calls would miss most of them.
class CountingEnv final : public leveldb::EnvWrapper {
 public:
  CountingEnv() : EnvWrapper(leveldb::Env::Default()) {}

  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** file) override {
    leveldb::Status status = target()->NewRandomAccessFile(name, file);
    if (status.ok()) *file = new CountingFile(*file, &reads_);
    return status;
  }

  uint64_t reads() const { return reads_; }

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

  std::atomic<uint64_t> reads_{0};
};

struct Arguments {
  std::string folder;
  uint64_t keys;
  uint64_t lookups;
  int bits_per_key;
  std::string results;
};

// An open database, with a policy of its own that ends with it.
class Database {
 public:
  Database(const Arguments& arguments, leveldb::Env* env)
      : policy_(arguments.bits_per_key == 0
                    ? nullptr
                    : leveldb::NewBloomFilterPolicy(arguments.bits_per_key)),
        no_cache_(leveldb::NewLRUCache(0)) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.env = env;
    options.filter_policy = policy_.get();
    // Every lookup reads what it needs again, as in a database much larger than its cache.
    options.block_cache = no_cache_.get();
    // One memtable for all: when LevelDB starts a new one on its own, what the background thread
    // merges depends on its timing, and two runs of the same program write different files.
    options.write_buffer_size = size_t{1} << 30;
    leveldb::DB* db;
    Check(leveldb::DB::Open(options, arguments.folder, &db));
    db_.reset(db);
  }

  leveldb::DB* operator->() const { return db_.get(); }

  // The file that holds the policy's code.
  std::string PolicyFile() const {
    if (policy_ == nullptr) return "none";
    // An object with virtual functions begins with the address of their table.
    void* functions;
    std::memcpy(&functions, static_cast<const void*>(policy_.get()), sizeof(functions));
    Dl_info info;
    return dladdr(functions, &info) == 0 ? "unknown" : info.dli_fname;
  }

 private:
  // In this order, so that the database goes first.
  std::unique_ptr<const leveldb::FilterPolicy> policy_;
  std::unique_ptr<leveldb::Cache> no_cache_;
  std::unique_ptr<leveldb::DB> db_;
};

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

// A phase of the run: its clock, and its line on stdout. On a terminal the line shows how far it
// is; elsewhere there is a line now and then.
class Phase {
 public:
  Phase(std::string name, uint64_t total)
      : name_(std::move(name)), total_(total), interval_(terminal_ ? 0.1 : 5) {
    if (terminal_) Print("...");
  }

  void Progress(uint64_t done) {
    // Reading the clock for every key would show in the times.
    if (done % 1024 != 0 || Seconds() < next_) return;
    next_ = Seconds() + interval_;
    Print(Grouped(done) + " of " + Grouped(total_));
  }

  // Ends the phase; returns its seconds.
  double Done(const std::string& what) {
    const double seconds = Seconds();
    char line[100];
    std::snprintf(line, sizeof(line), "%-44s %6.2f s", what.c_str(), seconds);
    Print(line);
    if (terminal_) std::putchar('\n');
    return seconds;
  }

 private:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  void Print(const std::string& text) const {
    std::printf(terminal_ ? "\r  %-16s %s\x1b[K" : "  %-16s %s\n", name_.c_str(), text.c_str());
    std::fflush(stdout);
  }

  const std::string name_;
  const uint64_t total_;
  const bool terminal_ = isatty(STDOUT_FILENO) == 1;
  const double interval_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double next_ = terminal_ ? 0 : interval_;
};

class Results {
 public:
  explicit Results(const std::string& path) : file_(path, std::ios::app) {}

  template <typename T>
  void Add(const std::string& name, const T& value) {
    file_ << name << ' ' << value << std::endl;
    if (!file_) Fail("cannot write the results");
  }

 private:
  std::ofstream file_;
};

void Load(const Arguments& arguments, leveldb::Env* env, Results* results) {
  const Database db(arguments, env);
  results->Add("policy_file", db.PolicyFile());

  // The first keys are compacted alone, so that the others find tables to be merged with: LevelDB
  // would otherwise move their memtable down as one huge table.
  const uint64_t first = arguments.keys / 100;
  Phase load("load", arguments.keys);
  for (uint64_t i = 0; i < arguments.keys; ++i) {
    if (i == first) db->CompactRange(nullptr, nullptr);
    Check(db->Put(leveldb::WriteOptions(), Key(i), Value(i)));
    load.Progress(i);
  }
  results->Add("load_seconds", load.Done(Grouped(arguments.keys) + " keys"));

  Phase compact("compact", 0);
  db->CompactRange(nullptr, nullptr);
  results->Add("compact_seconds", compact.Done("into tables of 2 MiB"));
}

// Makes the system forget the files' contents, so that they are read from the disk again.
void ForgetFiles(const std::string& folder, leveldb::Env* env) {
  std::vector<std::string> names;
  Check(env->GetChildren(folder, &names));
  for (const std::string& name : names) {
    const int file = open((folder + "/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    // What is not on the disk yet would stay.
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
  }
}

// Looks up `numbers` in a freshly opened database.
void LookUp(const Arguments& arguments, CountingEnv* env, const std::string& name,
            const std::vector<uint64_t>& numbers, Results* results) {
  ForgetFiles(arguments.folder, env);
  const Database db(arguments, env);

  // Asking for a position opens the tables, which reads their indexes and filters: once a table,
  // and not a lookup's own reads.
  for (const uint64_t i : numbers) {
    const std::string key = Key(i);
    const leveldb::Range range(key, key + '\0');
    uint64_t size;
    db->GetApproximateSizes(&range, 1, &size);
  }

  uint64_t found = 0;
  uint64_t done = 0;
  std::string value;
  Phase phase("get " + name, numbers.size());
  const uint64_t reads_before = env->reads();
  for (const uint64_t i : numbers) {
    const leveldb::Status status = db->Get(leveldb::ReadOptions(), Key(i), &value);
    if (!status.IsNotFound()) {
      Check(status);
      if (value != Value(i)) Fail("key " + Key(i) + " has another value than was stored");
      ++found;
    }
    phase.Progress(++done);
  }
  const uint64_t reads = env->reads() - reads_before;
  results->Add(name + "_seconds",
               phase.Done(Grouped(numbers.size()) + " keys, " + Grouped(found) + " found"));
  results->Add(name + "_found", found);
  results->Add(name + "_reads", reads);
}

// The library says so itself, where it is in the process.
std::string Active() {
  auto* active = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "leveldb_bloom_active"));
  return active == nullptr ? "not loaded" : active();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) Fail("usage: demo FOLDER KEYS LOOKUPS BITS_PER_KEY RESULTS");
  const Arguments arguments = {argv[1], std::strtoull(argv[2], nullptr, 10),
                               std::strtoull(argv[3], nullptr, 10), std::atoi(argv[4]), argv[5]};
  std::vector<uint64_t> present;
  std::vector<uint64_t> missing;
  for (uint64_t i = 0; i < arguments.lookups; ++i) {
    present.push_back(i * (arguments.keys / arguments.lookups));
    missing.push_back(arguments.keys + i);
  }

  CountingEnv env;
  Results results(arguments.results);
  results.Add("active", Active());
  Load(arguments, &env, &results);
  LookUp(arguments, &env, "present", present, &results);
  LookUp(arguments, &env, "missing", missing, &results);
  return 0;
}
