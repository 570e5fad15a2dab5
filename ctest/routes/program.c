#define _GNU_SOURCE
#include "program.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leveldb_bloom.h"

/* A strong reference would pull the library into programs that the linker must leave it out of. */
#pragma weak leveldb_bloom_active

enum { KEYS = 10000 };

void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fflush(stdout);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

void *load(const char *file, int flags) {
  void *handle = dlopen(file, RTLD_NOW | flags);
  if (handle == NULL) die("%s", dlerror());
  return handle;
}

void *find(void *handle, const char *name) {
  void *address = dlsym(handle, name);
  if (address == NULL) die("%s", dlerror());
  return address;
}

struct leveldb_api loaded_leveldb(void *handle) {
  struct leveldb_api leveldb;
#define LOAD(name) leveldb.name = (__typeof__(leveldb.name))find(handle, "leveldb_" #name);
  LEVELDB_FUNCTIONS(LOAD)
#undef LOAD
  return leveldb;
}

void print_active(void) {
  __typeof__(leveldb_bloom_active) *active = leveldb_bloom_active;
  /* The linker may have resolved the weak reference to nothing before the library was preloaded. */
  if (active == NULL) active = (__typeof__(active))dlsym(RTLD_DEFAULT, "leveldb_bloom_active");
  printf("active: %s\n", active == NULL ? "absent" : active());
}

void print_maker(const void *policy) {
  /* A C++ object begins with the address of its class's virtual functions. */
  const void *table;
  Dl_info info;
  memcpy(&table, policy, sizeof table);
  if (dladdr(table, &info) == 0) return; /* A static program has no modules. */
  const char *name = strrchr(info.dli_fname, '/');
  name = name == NULL ? info.dli_fname : name + 1;
  const char *end = strstr(name, ".so");
  printf("made by: %.*s\n", (int)(end == NULL ? strlen(name) : (size_t)(end - name)), name);
}

static void check(const struct leveldb_api *leveldb, char *error) {
  if (error == NULL) return;
  fprintf(stderr, "LevelDB: %s\n", error);
  leveldb->free(error);
  exit(1);
}

static leveldb_t *open_database(const struct leveldb_api *leveldb,
                                const leveldb_filterpolicy_t *policy, const char *path) {
  char *error = NULL;
  leveldb_options_t *options = leveldb->options_create();
  leveldb->options_set_create_if_missing(options, 1);
  leveldb->options_set_filter_policy(options, (leveldb_filterpolicy_t *)policy);
  /* One memtable for all keys: files written in the background differ from run to run. */
  leveldb->options_set_write_buffer_size(options, 64 << 20);
  leveldb_t *database = leveldb->open(options, path, &error);
  check(leveldb, error);
  leveldb->options_destroy(options);
  return database;
}

/* Even numbers are in the database, odd ones are not. */
static size_t name_key(char *key, int number) { return (size_t)sprintf(key, "key-%08d", number); }

static void fill(const struct leveldb_api *leveldb, leveldb_t *database) {
  leveldb_writeoptions_t *options = leveldb->writeoptions_create();
  for (int i = 0; i < KEYS; i++) {
    char key[32], *error = NULL;
    size_t length = name_key(key, 2 * i);
    leveldb->put(database, options, key, length, key, length, &error);
    check(leveldb, error);
  }
  leveldb->writeoptions_destroy(options);
  leveldb->compact_range(database, NULL, 0, NULL, 0);
}

static void read_all(const struct leveldb_api *leveldb, leveldb_t *database) {
  leveldb_readoptions_t *options = leveldb->readoptions_create();
  for (int i = 0; i < 2 * KEYS; i++) {
    char key[32], *error = NULL;
    size_t value_length = 0, length = name_key(key, i);
    char *value = leveldb->get(database, options, key, length, &value_length, &error);
    check(leveldb, error);
    if ((value != NULL) != (i % 2 == 0))
      die("%s is %s", key, value == NULL ? "lost" : "there, and was never put");
    if (value != NULL && (value_length != length || memcmp(value, key, length) != 0))
      die("%s has another value", key);
    leveldb->free(value);
  }
  leveldb->readoptions_destroy(options);
}

void use_database(const struct leveldb_api *leveldb, const leveldb_filterpolicy_t *policy,
                  const char *directory, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  leveldb_t *database = open_database(leveldb, policy, path);
  fill(leveldb, database);
  leveldb->close(database);
  database = open_database(leveldb, policy, path);
  read_all(leveldb, database);
  leveldb->close(database);
}

/* The custom filter is the set of the keys' last bytes, behind a mark. */
enum { MARK = 'f' };

struct calls {
  int destroyed, filters, queries;
};

static void destructor(void *state) { ((struct calls *)state)->destroyed++; }

static char *create_filter(void *state, const char *const *keys, const size_t *lengths,
                           int num_keys, size_t *filter_length) {
  ((struct calls *)state)->filters++;
  char *filter = malloc(257);
  size_t length = 0;
  filter[length++] = MARK;
  for (int i = 0; i < num_keys; i++) {
    char last = keys[i][lengths[i] - 1];
    if (memchr(filter + 1, last, length - 1) == NULL) filter[length++] = last;
  }
  *filter_length = length;
  return filter;
}

static uint8_t key_may_match(void *state, const char *key, size_t length, const char *filter,
                             size_t filter_length) {
  ((struct calls *)state)->queries++;
  if (filter_length == 0 || filter[0] != MARK) die("not the filter that was made");
  return memchr(filter + 1, key[length - 1], filter_length - 1) != NULL;
}

static const char *name_of(void *state) {
  (void)state;
  return "custom";
}

void use_custom(const struct leveldb_api *leveldb, __typeof__(leveldb_filterpolicy_create) *create,
                __typeof__(leveldb_filterpolicy_destroy) *destroy, const char *directory,
                const char *name) {
  struct calls calls = {0, 0, 0};
  leveldb_filterpolicy_t *policy =
      create(&calls, destructor, create_filter, key_may_match, name_of);
  if (policy == NULL) die("no policy");
  print_maker(policy);
  use_database(leveldb, policy, directory, name);
  if (calls.filters == 0 || calls.queries == 0) die("the callbacks were not called");
  if (calls.destroyed != 0) die("destroyed too early");
  destroy(policy);
  if (calls.destroyed != 1) die("destroyed %d times", calls.destroyed);
}
