// A plugin with our archive (PLUGIN), whose policy is left when it is closed, and works on until the plugin's
// global objects are destroyed; and the program that closes it. With a file's name, that opens the file in
// stderr's place before, closed on exec as those of LevelDB, and fails if anything is written to it; with -, it
// has exec close stderr, as Node does.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef PLUGIN

#include <leveldb_bloom.h>

namespace {

struct leveldb_bloom_policy* policy;

void MakeFilter() {
  const char* const keys[] = {"hello", "world"};
  const size_t lengths[] = {5, 5};
  size_t length;
  free(leveldb_bloom_create_filter(policy, keys, lengths, 2, &length));
}

struct Last {
  ~Last() {
    for (int i = 0; i < 2; i++) MakeFilter();
  }
} last;

}  // namespace

extern "C" void run() {
  policy = leveldb_bloom_policy_create(10);
  MakeFilter();
}

#else

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char** arguments) {
  const bool marked = count > 2 && strcmp(arguments[2], "-") == 0;
  const bool closed = count > 2 && !marked;
  if (marked && fcntl(STDERR_FILENO, F_SETFD, FD_CLOEXEC) != 0) return 3;
  if (closed) {
    close(STDERR_FILENO);
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    if (open(arguments[2], flags, 0600) != STDERR_FILENO) return 3;
  }
  void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return fputs(dlerror(), stderr), 1;
  reinterpret_cast<void (*)()>(dlsym(plugin, "run"))();
  if (dlclose(plugin) != 0 || dlopen(arguments[1], RTLD_LAZY | RTLD_NOLOAD) != nullptr) return 2;
  if (closed) {
    struct stat file;
    return fstat(STDERR_FILENO, &file) == 0 && file.st_size == 0 ? 0 : 4;
  }
  fputs("closed\n", stderr);
}

#endif
