// What goes wrong around the library, and must not go wrong in it: fork, signals, small stacks, many
// threads, a process killed in the middle of a compaction, a disk that is full.

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "child.h"
#include "doors.h"
#include "keys.h"
#include "statistics.h"

namespace harness {
namespace {

constexpr int kKeys = 3000;

class FaultsTest : public testing::Test {
 public:
  FaultsTest() {
    for (int i = 0; i < kKeys; i++) strings_.push_back(NumberKey(i));
    slices_ = Slices(strings_);
    for (size_t count : {0, 1, 20, 400, 1000, kKeys}) {
      expected_[count] = BufferDoor(10).Filter(First(count));
    }
  }

  std::vector<Slice> First(size_t count) const {
    return std::vector<Slice>(slices_.begin(), slices_.begin() + static_cast<long>(count));
  }

  // Everything that a host does with a policy, right to the bit.
  bool Works(const Door& door) const {
    for (const auto& [count, filter] : expected_) {
      if (door.Filter(First(count)) != filter) return false;
      for (size_t i = 0; i < count; i += 7) {
        if (!door.KeyMayMatch(slices_[i], filter)) return false;
      }
    }
    return !door.KeyMayMatch("absent", expected_.at(20));
  }

  std::vector<std::string> strings_;
  std::vector<Slice> slices_;
  std::map<size_t, std::string> expected_;
};

using DoorOf = std::unique_ptr<const Door>;

std::vector<DoorOf> AllDoors() {
  std::vector<DoorOf> doors;
  doors.emplace_back(new PolicyDoor(leveldb::NewBloomFilterPolicy(10)));
  doors.emplace_back(new PolicyDoor(leveldb_filterpolicy_create_bloom(10)));
  doors.emplace_back(new PolicyDoor(leveldb_bloom_filterpolicy_shared(10)));
  doors.emplace_back(new CallbacksDoor(10));
  doors.emplace_back(new BufferDoor(10));
  return doors;
}

TEST_F(FaultsTest, OursAnswer) { EXPECT_STREQ(kActive, leveldb_bloom_active()); }

int ExitStatusOf(pid_t child) {
  int status = -1;
  for (int milliseconds = 0; waitpid(child, &status, WNOHANG) == 0; milliseconds++) {
    if (milliseconds == 30000) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -2;
    }
    usleep(1000);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(FaultsTest, ForkBetweenCreateAndUse) {
  const std::vector<DoorOf> doors = AllDoors();
  const pid_t child = fork();
  if (child == 0) {
    bool all = true;
    for (const DoorOf& door : doors) all = all && Works(*door);
    _exit(all ? 0 : 1);
  }
  for (const DoorOf& door : doors) EXPECT_TRUE(Works(*door));
  EXPECT_EQ(0, ExitStatusOf(child));
}

leveldb_bloom_policy* across_fork = nullptr;

// A program that closes its database before fork and opens it again on both sides.
TEST_F(FaultsTest, HandlersOfForkMayCreateAndDestroy) {
  const auto close = [] {
    leveldb_bloom_policy_destroy(across_fork);
    across_fork = nullptr;
  };
  const auto open = [] { across_fork = leveldb_bloom_policy_create(10); };
  const pid_t program = fork();
  if (program == 0) {
    // Nothing may stay behind that waits for ever.
    setpgid(0, 0);
    signal(SIGALRM, [](int) { kill(0, SIGKILL); });
    alarm(10);
    pthread_atfork(close, open, open);
    setenv("LEVELDB_BLOOM_STATS", "/dev/null", 1);
    open();
    const pid_t child = fork();
    if (child == 0) _exit(across_fork != nullptr ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    _exit(status == 0 && across_fork != nullptr ? 0 : 1);
  }
  EXPECT_EQ(0, ExitStatusOf(program));
}

// A handler that forks while it interrupts what it knows nothing of. It waits for nobody.
TEST_F(FaultsTest, ForkInAHandlerOfASignal) {
  static volatile sig_atomic_t forks = 0;
  const pid_t program = fork();
  if (program == 0) {
    setpgid(0, 0);
    signal(SIGALRM, [](int) { kill(0, SIGKILL); });
    alarm(20);
    setenv("LEVELDB_BLOOM_STATS", "/dev/null", 1);
    signal(SIGPROF, [](int) {
      const int before = errno;
      const pid_t child = fork();
      if (child == 0) _exit(0);
      int status = -1;
      forks = forks + (waitpid(child, &status, 0) == child && status == 0);
      errno = before;
    });
    const itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &often, nullptr);
    std::vector<leveldb_bloom_policy*> policies(3000);
    while (forks < 30) {
      for (auto& policy : policies) policy = leveldb_bloom_policy_create(10);
      // The oldest first: the list of those that count is gone through for each.
      for (auto& policy : policies) leveldb_bloom_policy_destroy(policy);
    }
    _exit(0);
  }
  EXPECT_EQ(0, ExitStatusOf(program));
}

// Every namespace of processes has a process 1, which may be the child of another's.
TEST_F(FaultsTest, ForkIntoAnotherNamespaceOfProcesses) {
  constexpr int kForbidden = 77;
  const pid_t program = fork();
  if (program == 0) {
    if (unshare(CLONE_NEWPID) != 0) _exit(kForbidden);
    const pid_t first = fork();
    if (first != 0) _exit(ExitStatusOf(first));
    // Its end is that of all processes in its namespace.
    signal(SIGALRM, [](int) { _exit(3); });
    alarm(20);
    setenv("LEVELDB_BLOOM_STATS", "/dev/null", 1);
    std::vector<leveldb_bloom_policy*> policies(3000);
    for (auto& policy : policies) policy = leveldb_bloom_policy_create(10);
    // The oldest first: the list of those that count is gone through for each.
    std::thread([&] {
      for (;;) {
        for (auto& policy : policies) {
          leveldb_bloom_policy_destroy(policy);
          policy = leveldb_bloom_policy_create(10);
        }
      }
    }).detach();
    const int own = open("/proc/self/ns/pid", O_RDONLY);
    for (int i = 0; i < 30; i++) {
      if (setns(own, CLONE_NEWPID) != 0 || unshare(CLONE_NEWPID) != 0) _exit(kForbidden);
      const pid_t child = fork();
      if (child == 0) {
        leveldb_bloom_policy_destroy(leveldb_bloom_policy_create(10));
        _exit(getpid() == 1 ? 0 : 1);
      }
      int status = -1;
      if (waitpid(child, &status, 0) != child || status != 0) _exit(2);
    }
    _exit(0);
  }
  const int status = ExitStatusOf(program);
  if (status == kForbidden) GTEST_SKIP() << "this process may not make namespaces of processes";
  EXPECT_EQ(0, status);
}

// A child has one thread, and none of the locks that others held.
TEST_F(FaultsTest, ForkWhileOthersCreateAndDestroy) {
  for (bool counting : {false, true}) {
    SCOPED_TRACE(counting ? "counting" : "");
    std::unique_ptr<Statistics> statistics(counting ? new Statistics : nullptr);
    std::atomic<bool> done{false};
    std::vector<std::thread> others;
    for (int i = 0; i < 3; i++) {
      others.emplace_back([&] {
        // The oldest first: the list of those that count is gone through for each.
        std::vector<leveldb_bloom_policy*> policies(300);
        while (!done) {
          for (auto& policy : policies) policy = leveldb_bloom_policy_create(10);
          for (auto& policy : policies) leveldb_bloom_policy_destroy(policy);
        }
      });
    }
    for (int i = 0; i < 100; i++) {
      const pid_t child = fork();
      if (child == 0) {
        leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
        leveldb_bloom_policy_shared(100 + i);
        leveldb_bloom_policy_destroy(policy);
        _exit(0);
      }
      const int status = ExitStatusOf(child);
      EXPECT_EQ(0, status);
      if (status != 0) break;
    }
    done = true;
    for (std::thread& other : others) other.join();
  }
}

std::atomic<int> signals{0}, wrong{0};
char signal_filter[26];
leveldb_bloom_policy* signal_policy = nullptr;
const leveldb_bloom_slice* signal_keys = nullptr;
const char* signal_expected = nullptr;

void OnSignal(int) {
  signals++;
  const bool right =
      leveldb_bloom_fill_filter(signal_policy, signal_keys, 20, signal_filter,
                                sizeof(signal_filter)) == LEVELDB_BLOOM_OK &&
      std::memcmp(signal_filter, signal_expected, sizeof(signal_filter)) == 0 &&
      leveldb_bloom_key_may_match(signal_keys[3].data, signal_keys[3].size, signal_filter,
                                  sizeof(signal_filter)) == 1;
  wrong += !right;
}

// What takes no memory may be called by a signal handler, in the middle of anything.
TEST_F(FaultsTest, SignalHandlersMayAsk) {
  signal_policy = leveldb_bloom_policy_create(10);
  signal_keys = reinterpret_cast<const leveldb_bloom_slice*>(slices_.data());
  signal_expected = expected_[20].data();
  ASSERT_EQ(sizeof(signal_filter), expected_[20].size());
  struct sigaction action = {}, before;
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, &before);
  const itimerval often = {{0, 100}, {0, 100}}, never = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  const std::vector<DoorOf> doors = AllDoors();
  while (signals < 2000) {
    for (const DoorOf& door : doors) EXPECT_TRUE(Works(*door));
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(0, wrong);
  leveldb_bloom_policy_destroy(signal_policy);
}

// 16 KB, or what the C library asks for at least on this machine.
TEST_F(FaultsTest, SmallStack) {
  for (const DoorOf& door : AllDoors()) {
    struct Work {
      const FaultsTest* test;
      const Door* door;
      std::atomic<bool> works{false};
    } work{this, door.get()};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    const size_t smallest = static_cast<size_t>(sysconf(_SC_THREAD_STACK_MIN));
    ASSERT_EQ(0, pthread_attr_setstacksize(&attributes, std::max<size_t>(16384, smallest)));
    pthread_t thread;
    const auto run = [](void* argument) -> void* {
      Work* const work = static_cast<Work*>(argument);
      leveldb_bloom_policy_destroy(leveldb_bloom_policy_create(10));
      leveldb_filterpolicy_destroy(leveldb_filterpolicy_create_bloom(10));
      work->works = work->test->Works(*work->door);
      return nullptr;
    };
    ASSERT_EQ(0, pthread_create(&thread, &attributes, run, &work));
    pthread_join(thread, nullptr);
    EXPECT_TRUE(work.works);
    pthread_attr_destroy(&attributes);
  }
}

TEST_F(FaultsTest, SixtyFourThreads) {
  const size_t living = leveldb_bloom_live_policies();
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; i++) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 5; j++) {
        for (const DoorOf& door : AllDoors()) failed += !Works(*door);
        // The first ones to ask for these, at about the same time.
        failed += leveldb_bloom_policy_shared(200 + j) != leveldb_bloom_policy_shared(200 + j);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, failed);
  EXPECT_EQ(living, leveldb_bloom_live_policies());
}

uint64_t CountIn(const std::string& file) {
  const std::string bytes = ReadFile(file);
  uint64_t count = 0;
  if (bytes.size() == sizeof(count)) std::memcpy(&count, bytes.data(), sizeof(count));
  return count;
}

// All keys, by LevelDB with its own policy and with ours, in turn first.
void ExpectAllRead(const std::string& folder, uint64_t count, bool ours_first, int* tables) {
  for (int turn = 0; turn < 2; turn++) {
    const bool ours = (turn == 0) == ours_first;
    SCOPED_TRACE(ours ? "read by ours" : "read by stock");
    TemporaryFolder statistics;
    const ChildResult read =
        RunChild({ours ? HARNESS_CRASH_OURS : HARNESS_CRASH_STOCK, "read", folder,
                  std::to_string(count)},
                 {{"LEVELDB_BLOOM_STATS", statistics.Path("lines")}});
    ASSERT_EQ(0, read.status) << read.errors;
    unsigned long long found = 0, invented = 0;
    int level[7] = {};
    ASSERT_EQ(9, sscanf(read.output.c_str(), "found %llu invented %llu tables %d %d %d %d %d %d %d",
                        &found, &invented, &level[0], &level[1], &level[2], &level[3], &level[4],
                        &level[5], &level[6]));
    EXPECT_EQ(count, found) << "keys are lost";
    EXPECT_EQ(0u, invented);
    for (int i = 1; i < 7; i++) *tables += level[i];
    const std::string lines = ReadFile(statistics.Path("lines"));
    if (!ours) {
      EXPECT_EQ("", lines);
    }
    // Fewer keys may all be in memory still, where no filter is asked.
    if (ours && count > 1000) {
      EXPECT_GT(StatisticsLine(lines.substr(0, lines.find('\n'))).Number("queries"), 0u);
    }
  }
}

TEST_F(FaultsTest, KilledInTheMiddleOfCompactions) {
  std::mt19937 random(1);
  int tables = 0;
  for (int database = 0; database < 5; database++) {
    TemporaryFolder folder;
    uint64_t count = 0;
    for (int round = 0; round < 20; round++) {
      SCOPED_TRACE("database " + std::to_string(database) + ", round " + std::to_string(round));
      const pid_t writer = fork();
      if (writer == 0) {
        unsetenv("LEVELDB_BLOOM_STATS");
        execl(HARNESS_CRASH_OURS, HARNESS_CRASH_OURS, "write", folder.Path("db").c_str(),
              folder.Path("counter").c_str(), nullptr);
        _exit(127);
      }
      // Some hundred keys or thousand, however busy the machine is, and any point of the work on them.
      const uint64_t wanted = count + 200 + random() % 1000;
      int patience = 60000;
      while (CountIn(folder.Path("counter")) < wanted && patience-- > 0) usleep(1000);
      usleep(random() % 5000);
      kill(writer, SIGKILL);
      int status;
      waitpid(writer, &status, 0);
      ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
      ASSERT_GE(CountIn(folder.Path("counter")), wanted) << "no such keys in a minute";
      count = CountIn(folder.Path("counter"));
      ExpectAllRead(folder.Path("db"), count, round % 2 == 1, &tables);
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(count, 5000u) << "the writer was hardly ever there";
  }
  EXPECT_GT(tables, 0) << "nothing was ever compacted";
}

// The kernel refuses to make any file longer: of the log, of a table, of the manifest.
TEST_F(FaultsTest, FilesThatCannotGrow) {
  int all_tables = 0;
  for (const char* limit : {"20000", "40000", "60000", "66000", "70000", "90000"}) {
    SCOPED_TRACE(limit);
    TemporaryFolder folder;
    const ChildResult written = RunChild(
        {HARNESS_CRASH_OURS, "write", folder.Path("db"), folder.Path("counter"), limit});
    EXPECT_EQ(1, written.status);
    EXPECT_NE(std::string::npos, written.errors.find("File too large")) << written.errors;
    int tables = 0;
    const uint64_t count = CountIn(folder.Path("counter"));
    EXPECT_GT(count, 100u);
    ExpectAllRead(folder.Path("db"), count, true, &tables);
    all_tables += tables;
  }
  EXPECT_GT(all_tables, 0) << "nothing was ever compacted";
}

// A file system of a few megabytes, in a namespace of its own; that takes root.
TEST_F(FaultsTest, DiskFull) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.Path("disk"));
  const std::string script =
      "mount -t tmpfs -o size=3m none '" + folder.Path("disk") + "' || exit 77; '" HARNESS_CRASH_OURS
      "' write '" + folder.Path("disk/db") + "' '" + folder.Path("counter") +
      "'; cp -r '" + folder.Path("disk/db") + "' '" + folder.Path("db") + "'";
  const ChildResult apart = RunChild({"/usr/bin/unshare", "--mount", "true"});
  const ChildResult written = RunChild({"/usr/bin/unshare", "--mount", "sh", "-c", script});
  if (apart.status != 0 || written.status == 77) {
    GTEST_SKIP() << "no file system can be mounted here: " << written.errors;
  }
  EXPECT_NE(std::string::npos, written.errors.find("No space left on device")) << written.errors;
  int tables = 0;
  const uint64_t count = CountIn(folder.Path("counter"));
  EXPECT_GT(count, 5000u);
  ExpectAllRead(folder.Path("db"), count, true, &tables);
  EXPECT_GT(tables, 0) << "it was full before the first compaction";
}

}  // namespace
}  // namespace harness
