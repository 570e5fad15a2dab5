// LevelDB itself, with its own filter policy, with ours, and with none: see scripts/end_to_end.sh.
//
//   end_to_end FOLDER LIBRARY KEYS ROUNDS             times all phases; one line a sample on stdout
//   end_to_end FOLDER LIBRARY KEYS PHASE SIDE PASSES  runs one phase, for an instruction counter; reads
//                                                     all keys as often as PASSES says
//
// The first line is `kernel NAME`, that of our policy. A sample is `phase side round turn keys
// cpu_seconds marked in_filter in_all`: each round writes its databases anew, and reads them in turns.
// Marked rounds are not for their times, but for how often a sampling timer found the process in the
// filter policy, and how often anywhere.

#include <dlfcn.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "end_to_end: %s\n", message.c_str());
  std::exit(1);
}

void Check(const leveldb::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

thread_local volatile bool in_filter = false;
std::atomic<long> samples_in_filter{0}, samples_in_all{0};

void Sample(int) {
  samples_in_all.fetch_add(1, std::memory_order_relaxed);
  if (in_filter) samples_in_filter.fetch_add(1, std::memory_order_relaxed);
}

// Says where a thread is, to whoever interrupts it.
class Marked : public leveldb::FilterPolicy {
 public:
  explicit Marked(const leveldb::FilterPolicy* policy) : policy_(policy) {}
  const char* Name() const override { return policy_->Name(); }
  void CreateFilter(const leveldb::Slice* keys, int n, std::string* dst) const override {
    in_filter = true;
    policy_->CreateFilter(keys, n, dst);
    in_filter = false;
  }
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    in_filter = true;
    const bool answer = policy_->KeyMayMatch(key, filter);
    in_filter = false;
    return answer;
  }

 private:
  const leveldb::FilterPolicy* const policy_;
};

// The policy of a database that several sides read: it does as the one whose turn it is.
class InTurn : public leveldb::FilterPolicy {
 public:
  void Set(const leveldb::FilterPolicy* policy) { policy_ = policy; }
  const char* Name() const override { return policy_->Name(); }
  void CreateFilter(const leveldb::Slice* keys, int n, std::string* dst) const override {
    policy_->CreateFilter(keys, n, dst);
  }
  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    return policy_->KeyMayMatch(key, filter);
  }

 private:
  const leveldb::FilterPolicy* policy_ = nullptr;
};

constexpr int kBitsPerKey = 10;

struct Side {
  std::string name;
  std::unique_ptr<const leveldb::FilterPolicy> policy, marked;

  const leveldb::FilterPolicy* Policy(bool is_marked) const {
    return (is_marked ? marked : policy).get();
  }
};

template <class Function>
Function* Find(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr) Fail(dlerror());
  return reinterpret_cast<Function*>(found);
}

void* Load(const char* library) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) Fail(dlerror());
  return handle;
}

const char* KernelName(void* library) {
  void* const policy = Find<void*(int)>(library, "leveldb_bloom_policy_create")(kBitsPerKey);
  const char* const name = Find<const char*(void*)>(library, "leveldb_bloom_kernel")(policy);
  Find<void(void*)>(library, "leveldb_bloom_policy_destroy")(policy);
  return name;
}

std::vector<Side> Sides(void* library) {
  const auto create =
      Find<leveldb::FilterPolicy*(int)>(library, "_ZN7leveldb20NewBloomFilterPolicyEi");
  std::vector<Side> sides(3);
  sides[0].name = "stock";
  sides[0].policy.reset(leveldb::NewBloomFilterPolicy(kBitsPerKey));
  sides[1].name = "ours";
  sides[1].policy.reset(create(kBitsPerKey));
  sides[2].name = "none";
  const auto file_of = [](const void* address) {
    Dl_info file;
    return dladdr(address, &file) != 0 ? file.dli_fname : "";
  };
  const char* const stock = file_of(*reinterpret_cast<void* const*>(sides[0].policy.get()));
  const char* const ours = file_of(*reinterpret_cast<void* const*>(sides[1].policy.get()));
  if (std::strcmp(stock, ours) == 0) Fail("both policies are the same");
  if (std::strcmp(stock, file_of(reinterpret_cast<void*>(&leveldb::DB::Open))) != 0) {
    Fail("the policy that should be LevelDB's own is another library's: by LD_PRELOAD?");
  }
  for (Side& side : sides) {
    if (side.policy) side.marked.reset(new Marked(side.policy.get()));
  }
  return sides;
}

// A key that costs next to nothing to make, so that what is measured is LevelDB. Present keys are
// even numbers, absent ones odd, shuffled by a multiplication that is one to one.
class Key {
 public:
  Key(uint64_t i, bool present) {
    words_[0] = (2 * i + (present ? 0 : 1)) * 0x9e3779b97f4a7c15;
    words_[1] = words_[0] * 0xc2b2ae3d27d4eb4f;
  }
  operator leveldb::Slice() const {
    return leveldb::Slice(reinterpret_cast<const char*>(words_), sizeof(words_));
  }

 private:
  uint64_t words_[2];
};

// Values that compress to half their size, as those of LevelDB's db_bench do: each is fifty random
// bytes, twice. Snappy makes next to nothing of values that are all alike, and LevelDB then puts more
// keys into a filter.
class Values {
 public:
  Values() {
    std::mt19937_64 random(1);
    for (std::string& value : values_) {
      value.resize(50);
      for (char& c : value) c = static_cast<char>(random());
      value += value;
    }
  }
  const std::string& operator[](uint64_t i) const { return values_[i % values_.size()]; }

 private:
  // So many that a block of the database seldom has one twice.
  std::array<std::string, 4000> values_;
};

class Run {
 public:
  Run(std::string folder, uint64_t keys) : folder_(std::move(folder)), keys_(keys) {}

  std::string Path(const Side& side) const { return folder_ + "/" + side.name; }

  // A database with a cache of its own.
  class Database {
   public:
    Database(const Run& run, const Side& side, const leveldb::FilterPolicy* policy)
        // Room for all of it, so that reads measure LevelDB and not the disk.
        : cache_(leveldb::NewLRUCache(run.keys_ * 256)) {
      leveldb::Options options;
      options.create_if_missing = true;
      options.filter_policy = policy;
      options.block_cache = cache_.get();
      leveldb::DB* db;
      Check(leveldb::DB::Open(options, run.Path(side), &db));
      db_.reset(db);
    }
    leveldb::DB* operator->() const { return db_.get(); }

   private:
    std::unique_ptr<leveldb::Cache> cache_;
    std::unique_ptr<leveldb::DB> db_;
  };

  void Fill(const Side& side, bool marked) {
    Check(leveldb::DestroyDB(Path(side), leveldb::Options()));
    const Database db(*this, side, side.Policy(marked));
    for (uint64_t i = 0; i < keys_; i++) {
      Check(db->Put(leveldb::WriteOptions(), Key(i, true), values_[i]));
    }
  }

  void Compact(const Side& side, bool marked) {
    const Database db(*this, side, side.Policy(marked));
    db->CompactRange(nullptr, nullptr);
  }

  void Read(const Database& db, bool present, uint64_t first, uint64_t count) const {
    std::string value;
    for (uint64_t i = first; i < first + count; i++) {
      // Any order but that in which they were written.
      const uint64_t key = i * 2654435761 % keys_;
      const leveldb::Status status = db->Get(leveldb::ReadOptions(), Key(key, present), &value);
      if (status.ok() != present) Fail("a key is " + std::string(present ? "lost" : "invented"));
    }
  }

  uint64_t keys() const { return keys_; }

 private:
  const std::string folder_;
  const uint64_t keys_;
  const Values values_;
};

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval time) { return time.tv_sec + time.tv_usec * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void StartSampling(bool on) {
  samples_in_filter = samples_in_all = 0;
  const itimerval timer = {{0, on ? 1000 : 0}, {0, on ? 1000 : 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

template <class Work>
void Time(const char* phase, const Side& side, int round, int turn, uint64_t keys, bool marked,
          const Work& work) {
  StartSampling(marked);
  const double start = CpuSeconds();
  work();
  const double seconds = CpuSeconds() - start;
  const long in = samples_in_filter, all = samples_in_all;
  StartSampling(false);
  std::printf("%s %s %d %d %llu %.6f %d %ld %ld\n", phase, side.name.c_str(), round, turn,
              static_cast<unsigned long long>(keys), seconds, marked, in, all);
  std::fflush(stdout);
}

// One round: every side's database written and compacted, the sides in any order; then those of one
// filtered side, by all of them, and the one without filters read. Two databases of the same keys do not
// lie in memory alike, which alone makes some hundredths of difference.
void TimeRound(Run* run, std::vector<const Side*> sides, int round, bool marked,
               std::mt19937_64* random) {
  const uint64_t keys = run->keys();
  const auto shuffle = [&] { std::shuffle(sides.begin(), sides.end(), *random); };
  shuffle();
  for (const Side* side : sides) {
    Time("fill", *side, round, 0, keys, marked, [&] { run->Fill(*side, marked); });
    Time("compact", *side, round, 0, keys, marked, [&] { run->Compact(*side, marked); });
  }
  shuffle();
  InTurn policy;
  std::map<bool, std::unique_ptr<Run::Database>> open;
  const auto database = [&](const Side& side) -> const Run::Database& {
    const bool filtered = side.policy != nullptr;
    if (filtered) policy.Set(side.Policy(marked));
    std::unique_ptr<Run::Database>& db = open[filtered];
    if (!db) db = std::make_unique<Run::Database>(*run, side, filtered ? &policy : nullptr);
    return *db;
  };
  for (const Side* side : sides) {
    for (const bool present : {true, false}) run->Read(database(*side), present, 0, keys);
  }
  // Small turns, so that what disturbs one side disturbs the others as well; but the timer needs time.
  const uint64_t count = marked ? 200000 : 20000;
  const int turns = marked ? 10 : 15;
  for (const bool present : {false, true}) {
    const char* const phase = present ? "read-present" : "read-absent";
    // Nobody reads what another has just brought into the processor's cache.
    uint64_t first = 0;
    for (int turn = 0; turn < turns; turn++) {
      shuffle();
      for (const Side* side : sides) {
        Time(phase, *side, round, turn, count, marked,
             [&] { run->Read(database(*side), present, first, count); });
        first += count;
      }
    }
  }
}

void TimeAll(Run* run, const std::vector<Side>& sides, int rounds) {
  std::vector<const Side*> all, with_filter;
  for (const Side& side : sides) {
    all.push_back(&side);
    if (side.marked) with_filter.push_back(&side);
  }
  std::mt19937_64 random(1);
  // As many: the timer ticks no faster than the kernel, mostly 250 times a second.
  const int marked_rounds = rounds;
  for (int round = 0; round < rounds + marked_rounds; round++) {
    if (isatty(STDERR_FILENO)) {
      std::fprintf(stderr, "\rround %d of %d      ", round + 1, rounds + marked_rounds);
    }
    const bool marked = round >= rounds;
    TimeRound(run, marked ? with_filter : all, round, marked, &random);
  }
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r%60s\r", "");
}

void RunOnce(Run* run, const Side& side, const std::string& phase, int passes) {
  if (phase == "fill") return run->Fill(side, false);
  if (phase == "compact") return run->Compact(side, false);
  if (phase != "read-absent" && phase != "read-present") Fail("there is no phase " + phase);
  const Run::Database db(*run, side, side.Policy(false));
  for (int pass = 0; pass < passes; pass++) run->Read(db, phase == "read-present", 0, run->keys());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 7) {
    Fail("FOLDER LIBRARY KEYS ROUNDS, or FOLDER LIBRARY KEYS PHASE SIDE PASSES");
  }
  struct sigaction action = {};
  action.sa_handler = Sample;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);

  void* const library = Load(argv[2]);
  const std::vector<Side> sides = Sides(library);
  Run run(argv[1], std::strtoull(argv[3], nullptr, 10));
  if (argc == 5) {
    std::printf("kernel %s\n", KernelName(library));
    TimeAll(&run, sides, std::atoi(argv[4]));
    return 0;
  }
  for (const Side& side : sides) {
    if (side.name == argv[5]) {
      RunOnce(&run, side, argv[4], std::atoi(argv[6]));
      return 0;
    }
  }
  Fail(std::string("there is no side ") + argv[5]);
}
