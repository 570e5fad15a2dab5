// A library that makes policies in its constructor and in its destructor (MAKER), one that links it, whose
// constructor runs once, after the maker's (USER), one that links that (ROOT), and a program that loads the
// root, if it does not link it.
#include <cstdio>

#if defined MAKER

#include <leveldb/c.h>

static char *create_filter(void *, const char *const *, const size_t *, int, size_t *length) {
  *length = 0;
  return nullptr;
}
static unsigned char key_may_match(void *, const char *, size_t, const char *, size_t) { return 1; }
static const char *name(void *) { return "everything"; }
static void nothing(void *) {}

static leveldb_filterpolicy_t *bloom;

static void make_policies() {
  bloom = leveldb_filterpolicy_create_bloom(10);
  leveldb_filterpolicy_destroy(
      leveldb_filterpolicy_create(nullptr, nothing, create_filter, key_may_match, name));
}

__attribute__((constructor)) static void begin() {
  setvbuf(stdout, nullptr, _IONBF, 0);
  make_policies();
  puts("the maker is there");
}
__attribute__((destructor)) static void end() {
  leveldb_filterpolicy_destroy(bloom);
  make_policies();
  puts("the maker is gone");
}
void make() {}

#elif defined USER

void make();
__attribute__((constructor)) static void begin() { puts("the user is there"); }
__attribute__((destructor)) static void end() { puts("the user is gone"); }
void use() { make(); }

#elif defined ROOT

void use();
extern "C" void root() { use(); }

#else

#include <dlfcn.h>

#include "leveldb_bloom.h"

extern "C" __attribute__((weak)) void root();

int main(int argc, char **argv) {
  if (root != nullptr) {
    root();
  } else if (argc != 2 || dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == nullptr) {
    puts(argc == 2 ? dlerror() : "which library?");
    return 1;
  }
  auto live = reinterpret_cast<decltype(&leveldb_bloom_live_policies)>(
      dlsym(RTLD_DEFAULT, "leveldb_bloom_live_policies"));
  printf("%d policies\n", live == nullptr ? -1 : static_cast<int>(live()));
}

#endif
