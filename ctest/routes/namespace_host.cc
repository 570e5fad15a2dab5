// Runs the workload of a library in another namespace of the loader than the program's:
//
//   namespace_host LIBRARY DIRECTORY
//
// That namespace has a C and a C++ library of its own. What the program's are asked for meanwhile would be
// freed by another allocator than it came from.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "database.h"

static int asked = 0;

void *operator new(size_t size) {
  asked++;
  if (void *memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

int main(int argc, char **argv) {
  if (argc != 3) die("usage: %s LIBRARY DIRECTORY", argv[0]);
  void *library = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
  if (library == nullptr) die("%s", dlerror());
  auto *workload = reinterpret_cast<int (*)(int, char **)>(find(library, "workload"));
  auto *flush = reinterpret_cast<int (*)(std::FILE *)>(find(library, "fflush"));
  char *arguments[] = {argv[0], argv[2], nullptr};
  if (workload(2, arguments) != 0) die("the workload failed");
  flush(nullptr);
  std::printf("memory of the program's: %d times\n", asked);
  return 0;
}
