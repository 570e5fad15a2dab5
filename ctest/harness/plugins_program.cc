// Loads plugins, each apart from the others, and has each write a table, the first one last again.

#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  for (int i = 1; i <= argc; i++) {
    const char* file = argv[i < argc ? i : 1];
    void* plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::printf("%s\n", dlerror());
      return 1;
    }
    auto* table = reinterpret_cast<size_t (*)()>(dlsym(plugin, "table"));
    const size_t bytes = table();
    if (bytes != 7 + 3 * 9) {
      std::printf("%s: a table of %zu bytes\n", file, bytes);
      return 1;
    }
  }
  return 0;
}
