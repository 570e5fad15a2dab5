// Runs a program and keeps what it wrote.

#ifndef LEVELDB_BLOOM_HARNESS_CHILD_H_
#define LEVELDB_BLOOM_HARNESS_CHILD_H_

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "temporary_folder.h"

namespace harness {

struct ChildResult {
  pid_t pid;
  // The exit status; -1 where a signal ended it.
  int status;
  std::string output, errors;
};

// A value that is empty stays in the environment as such; this one takes the variable out.
constexpr char kUnset[] = "\x01unset";

using Environment = std::vector<std::pair<std::string, std::string>>;

// Started, and not yet waited for.
class Child {
 public:
  // Neither a preloaded library nor what ours reads is passed on unless `environment` says so.
  explicit Child(std::vector<std::string> arguments, const Environment& environment = {})
      : pid_(fork()) {
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ != 0) return;
    for (const char* name : {"LEVELDB_BLOOM_STATS", "LEVELDB_BLOOM_KERNEL", "LEVELDB_BLOOM_CHECK",
                             "LD_PRELOAD"}) {
      unsetenv(name);
    }
    for (const auto& [name, value] : environment) {
      value == kUnset ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
    }
    Redirect(folder_.Path("output"), STDOUT_FILENO);
    Redirect(folder_.Path("errors"), STDERR_FILENO);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }

  ChildResult Wait() {
    int status;
    if (waitpid(pid_, &status, 0) != pid_) throw std::runtime_error("waitpid");
    const int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return {pid_, exit_status, ReadFile(folder_.Path("output")), ReadFile(folder_.Path("errors"))};
  }

 private:
  static void Redirect(const std::string& file, int descriptor) {
    const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (opened < 0 || dup2(opened, descriptor) < 0) _exit(126);
    close(opened);
  }

  TemporaryFolder folder_;
  const pid_t pid_;
};

inline ChildResult RunChild(std::vector<std::string> arguments,
                            const Environment& environment = {}) {
  return Child(std::move(arguments), environment).Wait();
}

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_CHILD_H_
