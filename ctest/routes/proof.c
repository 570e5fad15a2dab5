#define _GNU_SOURCE
#include "proof.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "leveldb_bloom.h"

/* A strong reference would keep the library in programs that --as-needed or the order of archives
 * leaves it out of, which is what the tests are about. */
#pragma weak leveldb_bloom_active

void print_active(void) {
  __typeof__(leveldb_bloom_active) *active = leveldb_bloom_active;
  if (active == NULL) {
    /* The linker may have settled a weak reference that only a preloaded library defines. */
    active = (__typeof__(active))dlsym(RTLD_DEFAULT, "leveldb_bloom_active");
  }
  printf("active: %s\n", active == NULL ? "absent" : active());
}

void print_module(const char *label, const void *address) {
  Dl_info info;
  const char *name = "unknown";
  int length = (int)strlen(name);
  if (dladdr(address, &info) != 0 && info.dli_fname != NULL) {
    const char *slash = strrchr(info.dli_fname, '/');
    name = slash == NULL ? info.dli_fname : slash + 1;
    const char *end = strstr(name, ".so");
    length = (int)(end == NULL ? strlen(name) : (size_t)(end - name));
  }
  printf("%s: %.*s\n", label, length, name);
}

void print_maker(const void *policy) {
  /* A C++ object begins with the address of its class's virtual functions. */
  const void *table;
  memcpy(&table, policy, sizeof table);
  print_module("made by", table);
}
