// LevelDB itself, with its own filter policy, with ours, and with none: see scripts/end_to_end.sh.
//
//   end_to_end FOLDER LIBRARY KEYS ROUNDS      times all phases; one line a sample on stdout
//   end_to_end FOLDER LIBRARY KEYS PHASE SIDE  runs one phase once, for an instruction counter
//
// A sample is `phase side round seconds cpu_seconds share`. The share is that of CPU time spent in
// the filter policy, from a sampling timer, in rounds of their own (a negative one elsewhere).

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
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

constexpr int kBitsPerKey = 10;

struct Side {
  std::string name;
  std::unique_ptr<const leveldb::FilterPolicy> policy, marked;
};

std::vector<Side> Sides(const char* library) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) Fail(dlerror());
  const auto create = reinterpret_cast<leveldb::FilterPolicy* (*)(int)>(
      dlsym(handle, "_ZN7leveldb20NewBloomFilterPolicyEi"));
  if (create == nullptr) Fail(dlerror());
  std::vector<Side> sides(3);
  sides[0].name = "stock";
  sides[0].policy.reset(leveldb::NewBloomFilterPolicy(kBitsPerKey));
  sides[1].name = "ours";
  sides[1].policy.reset(create(kBitsPerKey));
  sides[2].name = "none";
  Dl_info stock, ours;
  dladdr(*reinterpret_cast<void* const*>(sides[0].policy.get()), &stock);
  dladdr(*reinterpret_cast<void* const*>(sides[1].policy.get()), &ours);
  if (std::strcmp(stock.dli_fname, ours.dli_fname) == 0) Fail("both policies are the same");
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

class Run {
 public:
  Run(std::string folder, uint64_t keys) : folder_(std::move(folder)), keys_(keys) {
    std::mt19937_64 random(1);
    value_.resize(100);
    for (char& c : value_) c = static_cast<char>(random());
  }

  std::string Path(const Side& side) const { return folder_ + "/" + side.name; }

  leveldb::DB* Open(const Side& side, bool marked) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.filter_policy = (marked ? side.marked : side.policy).get();
    // All of it, so that reads measure LevelDB and not the disk.
    if (!cache_) cache_.reset(leveldb::NewLRUCache(size_t{1} << 30));
    options.block_cache = cache_.get();
    leveldb::DB* db;
    Check(leveldb::DB::Open(options, Path(side), &db));
    return db;
  }

  void Fill(const Side& side, bool marked) {
    Check(leveldb::DestroyDB(Path(side), leveldb::Options()));
    const std::unique_ptr<leveldb::DB> db(Open(side, marked));
    for (uint64_t i = 0; i < keys_; i++) {
      Check(db->Put(leveldb::WriteOptions(), Key(i, true), value_));
    }
  }

  void Compact(const Side& side, bool marked) {
    const std::unique_ptr<leveldb::DB> db(Open(side, marked));
    db->CompactRange(nullptr, nullptr);
  }

  void Read(leveldb::DB* db, bool present, uint64_t first, uint64_t count) {
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
  std::string value_;
  std::unique_ptr<leveldb::Cache> cache_;
};

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

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
void Time(const char* phase, const Side& side, int round, bool marked, const Work& work) {
  StartSampling(marked);
  const double start = Seconds(), cpu_start = CpuSeconds();
  work();
  const double seconds = Seconds() - start, cpu_seconds = CpuSeconds() - cpu_start;
  const long in = samples_in_filter, all = samples_in_all;
  StartSampling(false);
  const double share = marked && all > 0 ? static_cast<double>(in) / static_cast<double>(all) : -1;
  std::printf("%s %s %d %.6f %.6f %.6f\n", phase, side.name.c_str(), round, seconds, cpu_seconds,
              share);
  std::fflush(stdout);
}

void Progress(const char* phase, int round, int rounds) {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r%s: %d of %d      ", phase, round, rounds);
}

void TimeAll(Run* run, std::vector<Side>* sides, int rounds) {
  // Odd rounds are the marked ones, whose times do not count.
  for (int round = 0; round < 2 * rounds; round++) {
    const bool marked = round % 2 == 1;
    if (marked && round > 3) continue;
    Progress("fill and compact", round / 2 + 1, rounds);
    for (const Side& side : *sides) {
      if (marked && !side.marked) continue;
      Time("fill", side, round, marked, [&] { run->Fill(side, marked); });
      Time("compact", side, round, marked, [&] { run->Compact(side, marked); });
    }
    std::rotate(sides->begin(), sides->begin() + 1, sides->end());
  }
  for (const bool marked : {false, true}) {
    std::vector<std::unique_ptr<leveldb::DB>> open;
    for (const Side& side : *sides) {
      open.emplace_back(run->Open(side, marked));
      run->Read(open.back().get(), true, 0, run->keys());
      run->Read(open.back().get(), false, 0, run->keys());
    }
    for (const bool present : {false, true}) {
      const char* const phase = present ? "read-present" : "read-absent";
      // Small turns, so that what disturbs one side disturbs the others as well.
      const uint64_t turn = marked ? 200000 : 20000;
      const int turns = marked ? 20 : rounds * 15;
      for (int round = 0; round < turns; round++) {
        Progress(phase, round + 1, turns);
        for (size_t i = 0; i < sides->size(); i++) {
          const size_t which = (i + static_cast<size_t>(round)) % sides->size();
          const Side& side = (*sides)[which];
          if (marked && !side.marked) continue;
          Time(phase, side, round, marked, [&] {
            run->Read(open[which].get(), present, static_cast<uint64_t>(round) * turn, turn);
          });
        }
      }
    }
  }
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r%60s\r", "");
}

void RunOnce(Run* run, const Side& side, const std::string& phase) {
  if (phase == "fill") return run->Fill(side, false);
  if (phase == "compact") return run->Compact(side, false);
  if (phase != "read-absent" && phase != "read-present") Fail("there is no phase " + phase);
  const std::unique_ptr<leveldb::DB> db(run->Open(side, false));
  run->Read(db.get(), phase == "read-present", 0, run->keys());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) Fail("FOLDER LIBRARY KEYS ROUNDS, or FOLDER LIBRARY KEYS PHASE SIDE");
  struct sigaction action = {};
  action.sa_handler = Sample;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);

  std::vector<Side> sides = Sides(argv[2]);
  Run run(argv[1], std::strtoull(argv[3], nullptr, 10));
  if (argc == 5) {
    TimeAll(&run, &sides, std::atoi(argv[4]));
    return 0;
  }
  for (const Side& side : sides) {
    if (side.name == argv[5]) {
      RunOnce(&run, side, argv[4]);
      return 0;
    }
  }
  Fail(std::string("there is no side ") + argv[5]);
}
