/* Whether making a policy and asking what is active leave a message for dlerror, which a program might take
 * for its own. Compiled with LIBRARY: a library that stands in for dlsym, as tools do that put functions of
 * their own in place of others, and gives itself to who looks for that. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef LIBRARY

void *dlsym(void *handle, const char *name) {
  static void *(*original)(void *, const char *);
  void *(*const self)(void *, const char *) = dlsym;
  if (original == NULL) *(void **)&original = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return strcmp(name, "dlsym") == 0 ? *(void **)&self : original(handle, name);
}

#else

#include <leveldb/c.h>

#include "leveldb_bloom.h"

__attribute__((weak)) const char *leveldb_bloom_active(void);

static const char *message(void) {
  const char *const message = dlerror();
  return message == NULL ? "no message" : message;
}

int main(void) {
  leveldb_filterpolicy_t *const policy = leveldb_filterpolicy_create_bloom(10);
  puts(message());
  leveldb_filterpolicy_destroy(policy);
  if (leveldb_bloom_active == NULL) return 1;
  puts(leveldb_bloom_active());
  puts(message());
  return 0;
}

#endif
