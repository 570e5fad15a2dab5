// LEVELDB_BLOOM_STATS: what is written, where, and when not.

#include <gtest/gtest.h>

#include <fcntl.h>
#include <leveldb_bloom.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "child.h"
#include "statistics.h"

namespace harness {
namespace {

constexpr char kVariable[] = "LEVELDB_BLOOM_STATS";

class StatisticsTest : public testing::Test {
 protected:
  std::string file() const { return folder_.Path("statistics"); }

  static ChildResult Run(const std::string& destination, const std::string& how, int count) {
    return RunChild({HARNESS_STATISTICS_PROGRAM, how, std::to_string(count)},
                    {{kVariable, destination}});
  }

  static void ExpectSilent(const ChildResult& result) {
    EXPECT_EQ(0, result.status);
    EXPECT_EQ("not secure\n", result.output);
    EXPECT_EQ("", result.errors);
  }

  // A line for each of the policies 1 to `count`, whatever their order, with what the program did; of those
  // that did it late also one before, in which there is nothing.
  static void ExpectLines(const std::string& text, pid_t pid, int count, bool late = false) {
    std::set<uint64_t> seen, idle;
    for (const StatisticsLine& line : StatisticsLines(text)) {
      const uint64_t number = line.Number("bits_per_key");
      if (late && line.Text("route") == "none") {
        for (const char* name : {"filters", "keys", "filter_bytes", "queries", "negatives"}) {
          EXPECT_EQ(0u, line.Number(name)) << name;
        }
        EXPECT_EQ(0u, number % 2) << "made late";
        EXPECT_TRUE(idle.insert(number).second && seen.count(number) == 0) << number;
        continue;
      }
      EXPECT_TRUE(seen.insert(number).second) << "policy " << number << " was reported twice";
      EXPECT_EQ(static_cast<uint64_t>(pid), line.Number("pid"));
      EXPECT_EQ("callbacks", line.Text("route"));
      EXPECT_EQ(2u, line.Number("filters"));
      EXPECT_EQ(2 * number, line.Number("keys"));
      const uint64_t filter_bytes = (std::max<uint64_t>(64, number * number) + 7) / 8 + 1;
      EXPECT_EQ(2 * filter_bytes, line.Number("filter_bytes"));
      EXPECT_EQ(number % 4 == 0 ? 1u : 2u, line.Number("queries"));
      EXPECT_EQ(1u, line.Number("negatives"));
      EXPECT_EQ(HARNESS_VERSION, line.Text("version"));
      EXPECT_NE("", line.Text("kernel"));
    }
    EXPECT_EQ(static_cast<size_t>(count), seen.size());
    EXPECT_EQ(late ? static_cast<size_t>(count / 2) : 0, idle.size());
    if (!seen.empty()) {
      EXPECT_EQ(1u, *seen.begin());
      EXPECT_EQ(static_cast<uint64_t>(count), *seen.rbegin());
    }
  }

  TemporaryFolder folder_;
};

TEST_F(StatisticsTest, UnsetOrEmptyWritesNothing) {
  for (const char* destination : {kUnset, ""}) {
    for (const char* how : {"destroy", "leave", "late"}) ExpectSilent(Run(destination, how, 3));
  }
}

// Nor does it make a system call that a program would not make without it, once it is loaded.
TEST_F(StatisticsTest, UnsetEndsInASandbox) {
  const ChildResult result = Run(kUnset, "sandbox", 3);
  if (result.status == 8) GTEST_SKIP() << "this system has no seccomp";
  ExpectSilent(result);
  EXPECT_EQ(-1, Run(file(), "sandbox", 3).status) << "the sandbox lets lines out";
}

TEST_F(StatisticsTest, Stderr) {
  for (const std::string how : {"destroy", "leave", "late", "quick", "cut"}) {
    SCOPED_TRACE(how);
    const ChildResult result = Run("stderr", how, 12);
    EXPECT_EQ(0, result.status);
    EXPECT_EQ("not secure\n", result.output);
    ExpectLines(result.errors, result.pid, 12, how == "late");
  }
}

// What stderr was at first is known to the first policy of all.
TEST_F(StatisticsTest, StderrBeforeConstructors) {
  Child child({"/bin/sh", "-c", "exec \"$0\" destroy 1 2>\"$1\"", HARNESS_STATISTICS_PROGRAM, file()},
              {{kVariable, "stderr"}, {"STATISTICS_EARLY", "1"}});
  const ChildResult result = child.Wait();
  ExpectSilent(result);
  ExpectLines(ReadFile(file()), result.pid, 2);
}

// A program that has closed stderr, or never had it, gives its number to the next file it opens:
// LevelDB's log, for one. What programs redirect their messages to is another matter.
TEST_F(StatisticsTest, StderrsNumberOfAnotherFile) {
  const std::string other = folder_.Path("other"), how = "destroy", create = " 3 \"$2\" \"$3\" ";
  const auto run = [&](int flags, const std::string& redirection, const char* variable) {
    std::ofstream(other, std::ios::trunc);
    Child child({"/bin/sh", "-c", "exec \"$0\" \"$1\"" + create + redirection,
                 HARNESS_STATISTICS_PROGRAM, how, other, std::to_string(flags)},
                {{variable, "stderr"}});
    const ChildResult result = child.Wait();
    ExpectSilent(result);
    return std::make_pair(result.pid, ReadFile(other));
  };
  for (const char* redirection : {"", "2>&-"}) {
    SCOPED_TRACE(redirection);
    for (const char* variable : {kVariable, "LEVELDB_BLOOM_KERNEL", "LEVELDB_BLOOM_CHECK"}) {
      SCOPED_TRACE(variable);
      for (int flags : {O_WRONLY, O_RDWR, O_WRONLY | O_CLOEXEC, O_WRONLY | O_APPEND | O_CLOEXEC}) {
        EXPECT_EQ("", run(flags, redirection, variable).second) << flags;
      }
      EXPECT_NE("", run(O_WRONLY | O_APPEND, redirection, variable).second);
    }
    const auto [pid, lines] = run(O_WRONLY | O_APPEND, redirection, kVariable);
    ExpectLines(lines, pid, 3);
  }
}

// File systems give a file that they make the number of one that is gone, as stderr's is once it is deleted
// and the program has closed it.
TEST_F(StatisticsTest, StderrsNumberAndItsFilesNumber) {
  const std::string other = folder_.Path("other"), gone = folder_.Path("gone");
  // What happens in the same few milliseconds has one time.
  const std::string run =
      "exec 2>\"$3\"; rm \"$3\"; stat -Lc %i /dev/stderr; sleep 0.1; exec \"$0\" destroy 3 \"$1\" \"$2\"";
  for (int i = 0; i < 10; i++) {
    std::filesystem::remove(other);
    Child child({"/bin/sh", "-c", run, HARNESS_STATISTICS_PROGRAM, other,
                 std::to_string(O_WRONLY | O_CREAT | O_CLOEXEC), gone},
                {{kVariable, "stderr"}});
    const ChildResult result = child.Wait();
    EXPECT_EQ(0, result.status);
    struct statx made;
    ASSERT_EQ(0, statx(AT_FDCWD, other.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &made));
    if ((made.stx_mask & STATX_BTIME) == 0) GTEST_SKIP() << "this system does not say when it made a file";
    // Another program may have made a file meanwhile.
    if (result.output != std::to_string(made.stx_ino) + "\nnot secure\n") continue;
    EXPECT_EQ("", ReadFile(other));
    return;
  }
  GTEST_SKIP() << "this file system gives no file the number of another";
}

// As a shell does it, without appending.
TEST_F(StatisticsTest, StderrRedirectedToAFile) {
  Child child({"/bin/sh", "-c", "exec \"$0\" destroy 3 2>\"$1\"", HARNESS_STATISTICS_PROGRAM, file()},
              {{kVariable, "stderr"}});
  const ChildResult result = child.Wait();
  ExpectSilent(result);
  ExpectLines(ReadFile(file()), result.pid, 3);
}

TEST_F(StatisticsTest, FileIsAppendedTo) {
  const std::string before = "what was there\n";
  std::ofstream(file()) << before;
  std::string expected = before;
  for (const std::string how : {"destroy", "leave", "late"}) {
    SCOPED_TRACE(how);
    const ChildResult result = Run(file(), how, 12);
    ExpectSilent(result);
    const std::string now = ReadFile(file());
    ASSERT_EQ(expected, now.substr(0, expected.size()));
    ExpectLines(now.substr(expected.size()), result.pid, 12, how == "late");
    expected = now;
  }
}

// Whatever the program leaves to its files' modes.
TEST_F(StatisticsTest, FileIsNotForOthersToWrite) {
  const mode_t before = umask(0);
  const ChildResult result = Run(file(), "destroy", 1);
  umask(before);
  ExpectSilent(result);
  struct stat written;
  ASSERT_EQ(0, stat(file().c_str(), &written));
  EXPECT_EQ(0644u, written.st_mode & 07777u);
}

// What all lines say together is what was done, once.
TEST_F(StatisticsTest, ChildrenOfForkWriteWhatTheyDid) {
  EXPECT_EQ(0, Run(file(), "fork", 3).status);
  std::map<uint64_t, int> lines, filters, queries;
  for (const StatisticsLine& line : StatisticsLines(ReadFile(file()))) {
    const uint64_t number = line.Number("bits_per_key");
    lines[number]++;
    filters[number] += static_cast<int>(line.Number("filters"));
    queries[number] += static_cast<int>(line.Number("queries"));
  }
  EXPECT_EQ((std::map<uint64_t, int>{{1, 3}, {2, 3}, {3, 3}}), lines);
  EXPECT_EQ((std::map<uint64_t, int>{{1, 2}, {2, 2}, {3, 2}}), filters);
  EXPECT_EQ((std::map<uint64_t, int>{{1, 4}, {2, 2}, {3, 2}}), queries);
}

// While a host's own handlers of fork run, whether before or after ours, its other threads go on.
TEST_F(StatisticsTest, PoliciesEndWhileForkWaits) {
  for (const std::string how : {"lock", "first"}) {
    SCOPED_TRACE(how);
    const ChildResult result = Run(folder_.Path(how), how.c_str(), 3);
    ExpectSilent(result);
    ExpectLines(ReadFile(folder_.Path(how)), result.pid, 3, false);
  }
}

TEST_F(StatisticsTest, FileThatCannotBeWritten) {
  for (const std::string& path : {folder_.Path("no/such/folder"), folder_.Path("")}) {
    for (const char* how : {"destroy", "leave", "late"}) ExpectSilent(Run(path, how, 3));
  }
}

// How the program ends that does as `prepare` says before it begins, with no signal handled.
template <typename Prepare>
int StatusAfter(const Prepare& prepare, const char* how) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    // What the program itself writes has no limit there.
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    prepare();
    execl(HARNESS_STATISTICS_PROGRAM, HARNESS_STATISTICS_PROGRAM, how, "3", nullptr);
    _exit(127);
  }
  int status = -1;
  EXPECT_EQ(child, waitpid(child, &status, 0));
  return status;
}

// The line is lost then, and nothing else: no signal ends the program, and nothing is waited for.
TEST_F(StatisticsTest, PipesThatNobodyReads) {
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  close(ends[0]);
  const auto to_pipe = [&] {
    dup2(ends[1], STDERR_FILENO);
    setenv(kVariable, "stderr", 1);
  };
  for (const char* how : {"destroy", "leave", "late"}) EXPECT_EQ(0, StatusAfter(to_pipe, how)) << how;
  close(ends[1]);
  ASSERT_EQ(0, mkfifo(file().c_str(), 0600));
  for (const char* how : {"destroy", "leave", "late"}) ExpectSilent(Run(file(), how, 3));
}

TEST_F(StatisticsTest, FilesLargerThanTheProgramMayWrite) {
  const auto to_file = [this] {
    rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 0;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(126);
    setenv(kVariable, file().c_str(), 1);
  };
  for (const char* how : {"destroy", "leave", "late"}) EXPECT_EQ(0, StatusAfter(to_file, how)) << how;
  struct stat written;
  ASSERT_EQ(0, stat(file().c_str(), &written));
  EXPECT_EQ(0, written.st_size);
}

// A program that keeps SIGPIPE for later gets its own, and none of ours.
TEST_F(StatisticsTest, SignalsOfTheProgramAreLeftToIt) {
  const auto pending = [] {
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, SIGPIPE) == 1;
  };
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  close(ends[0]);
  const pid_t child = fork();
  ASSERT_LE(0, child);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    setenv(kVariable, "stderr", 1);
    sigset_t set, blocked;
    leveldb_bloom_policy_destroy(leveldb_bloom_policy_create(10));
    sigprocmask(SIG_BLOCK, nullptr, &blocked);
    if (sigismember(&blocked, SIGPIPE) == 1) _exit(4);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    leveldb_bloom_policy_destroy(leveldb_bloom_policy_create(10));
    if (pending()) _exit(1);
    raise(SIGPIPE);
    leveldb_bloom_policy_destroy(leveldb_bloom_policy_create(10));
    if (!pending()) _exit(2);
    sigprocmask(SIG_BLOCK, nullptr, &blocked);
    _exit(sigismember(&blocked, SIGPIPE) == 1 ? 0 : 3);
  }
  close(ends[1]);
  int status;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status));
}

// A file that is opened there gets descriptor 0.
TEST_F(StatisticsTest, ProgramsWithoutStandardInput) {
  Child child({"/bin/sh", "-c", "exec \"$0\" destroy 2 <&-", HARNESS_STATISTICS_PROGRAM},
              {{kVariable, file()}});
  const ChildResult result = child.Wait();
  ExpectSilent(result);
  ExpectLines(ReadFile(file()), result.pid, 2);
}

// A thread that is to end goes on until it comes to where it may; that is not where a line is written.
TEST_F(StatisticsTest, ThreadsDoNotEndWhereALineIsWritten) {
  static bool destroyed = false;
  setenv(kVariable, file().c_str(), 1);
  pthread_t thread;
  const auto run = [](void*) -> void* {
    leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
    pthread_cancel(pthread_self());
    leveldb_bloom_policy_destroy(policy);
    destroyed = true;
    pthread_testcancel();
    return nullptr;
  };
  ASSERT_EQ(0, pthread_create(&thread, nullptr, run, nullptr));
  void* result = nullptr;
  ASSERT_EQ(0, pthread_join(thread, &result));
  unsetenv(kVariable);
  EXPECT_EQ(PTHREAD_CANCELED, result);
  EXPECT_TRUE(destroyed);
  EXPECT_EQ(1u, StatisticsLines(ReadFile(file())).size());
}

// Of threads that ask for one at once, one has made it, and the others have for nothing.
TEST_F(StatisticsTest, SharedPoliciesThatNobodyHadWriteNothing) {
  setenv(kVariable, file().c_str(), 1);
  std::atomic<int> here{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++) {
    threads.emplace_back([&here] {
      for (int bits = 1; bits <= 2000; bits++) {
        // All at once, as far as that can be had.
        here++;
        while (here < 8 * bits) std::this_thread::yield();
        EXPECT_NE(nullptr, leveldb_bloom_policy_shared(bits));
        EXPECT_NE(nullptr, leveldb_bloom_filterpolicy_shared(bits));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  unsetenv(kVariable);
  // Those that are had write theirs at the end.
  EXPECT_FALSE(std::filesystem::exists(file()));
}

// One write a line is why lines of several processes do not mix. A socket keeps writes apart.
TEST_F(StatisticsTest, EachLineIsOneWrite) {
  int ends[2];
  ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
  const pid_t child = fork();
  ASSERT_LE(0, child);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    setenv(kVariable, "stderr", 1);
    execl(HARNESS_STATISTICS_PROGRAM, HARNESS_STATISTICS_PROGRAM, "destroy", "20", nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char written[1000];
  for (ssize_t size; (size = read(ends[0], written, sizeof(written))) > 0;) {
    EXPECT_EQ('\n', written[size - 1]);
    text.append(written, static_cast<size_t>(size));
  }
  close(ends[0]);
  int status;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  ExpectLines(text, child, 20);
}

TEST_F(StatisticsTest, LinesOfManyProcessesDoNotMix) {
  constexpr int kProcesses = 8, kPolicies = 50;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; i++) {
    children.push_back(std::make_unique<Child>(
        std::vector<std::string>{HARNESS_STATISTICS_PROGRAM, i % 2 == 0 ? "destroy" : "leave",
                                 std::to_string(kPolicies)},
        Environment{{kVariable, file()}}));
  }
  for (const auto& child : children) EXPECT_EQ(0, child->Wait().status);
  std::map<uint64_t, int> lines_of;
  for (const StatisticsLine& line : StatisticsLines(ReadFile(file()))) {
    lines_of[line.Number("pid")]++;
  }
  EXPECT_EQ(size_t{kProcesses}, lines_of.size());
  for (const auto& lines : lines_of) EXPECT_EQ(kPolicies, lines.second);
}

// A group other than our own that we may give a file to; our own where there is none.
gid_t OtherGroup() {
  if (geteuid() == 0) return 65534;
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, getgroups(0, nullptr))));
  if (getgroups(static_cast<int>(groups.size()), groups.data()) < 0) return getgid();
  for (gid_t group : groups) {
    if (group != getgid()) return group;
  }
  return getgid();
}

// A program that runs with rights that its caller does not have must not write where the caller's
// environment says. Set-group-ID is enough for that.
TEST_F(StatisticsTest, IgnoredUnderSecureExecution) {
  const gid_t group = OtherGroup();
  if (group == getgid()) {
    GTEST_SKIP() << "no program can be made secure here: the user is not root, and in one group";
  }
  const std::string copy = folder_.Path("program");
  std::filesystem::copy_file(HARNESS_STATISTICS_PROGRAM, copy);
  const std::vector<std::string> command = {copy, "destroy", "3"};
  const Environment environment = {{kVariable, file()}};

  // The copy as such writes.
  ChildResult result = RunChild(command, environment);
  if (result.status == 127) {
    GTEST_SKIP() << "no program can be made secure here: none runs in " << folder_.Path("");
  }
  ExpectSilent(result);
  ExpectLines(ReadFile(file()), result.pid, 3);
  std::filesystem::remove(file());

  ASSERT_EQ(0, chown(copy.c_str(), static_cast<uid_t>(-1), group));
  ASSERT_EQ(0, chmod(copy.c_str(), 02755));
  result = RunChild(command, environment);
  EXPECT_EQ(0, result.status);
  if (result.output == "not secure\n") {
    GTEST_SKIP() << "no program can be made secure here: " << folder_.Path("")
                 << " is mounted nosuid, or there are no new privileges";
  }
  ASSERT_EQ("secure\n", result.output);
  EXPECT_EQ("", result.errors);
  EXPECT_FALSE(std::filesystem::exists(file()));

  // Nor is anything else of ours read that a caller may set: these two would be refused.
  result = RunChild(command, {{kVariable, "stderr"},
                              {"LEVELDB_BLOOM_KERNEL", "neon128"},
                              {"LEVELDB_BLOOM_CHECK", "bogus"}});
  EXPECT_EQ("secure\n", result.output);
  EXPECT_EQ("", result.errors);
}

}  // namespace
}  // namespace harness
