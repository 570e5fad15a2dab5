#include "database.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

char *path_in(const char *directory, const char *name) {
  size_t size = strlen(directory) + strlen(name) + 2;
  char *path = malloc(size);
  if (path == NULL) die("no memory");
  snprintf(path, size, "%s/%s", directory, name);
  return path;
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

struct leveldb loaded_leveldb(void *handle) {
  struct leveldb leveldb;
#define LOAD(name) leveldb.name = (__typeof__(leveldb.name))find(handle, "leveldb_" #name);
  LEVELDB_FUNCTIONS(LOAD)
#undef LOAD
  return leveldb;
}

static void check(const struct leveldb *leveldb, char *error) {
  if (error == NULL) return;
  fprintf(stderr, "LevelDB: %s\n", error);
  leveldb->free(error);
  exit(1);
}

static leveldb_t *open_database(const struct leveldb *leveldb,
                                const leveldb_filterpolicy_t *policy, const char *directory,
                                int create) {
  char *error = NULL;
  leveldb_options_t *options = leveldb->options_create();
  leveldb->options_set_create_if_missing(options, (unsigned char)create);
  leveldb->options_set_filter_policy(options, (leveldb_filterpolicy_t *)policy);
  /* One memtable for all keys: files written in the background differ from run to run. */
  leveldb->options_set_write_buffer_size(options, 64 << 20);
  leveldb_t *database = leveldb->open(options, directory, &error);
  check(leveldb, error);
  leveldb->options_destroy(options);
  return database;
}

/* Even numbers are in the database, odd ones are not. */
static int name_key(char *key, size_t size, int number) {
  return snprintf(key, size, "key-%08d", number);
}

leveldb_t *fill_database(const struct leveldb *leveldb, const leveldb_filterpolicy_t *policy,
                         const char *directory) {
  leveldb_t *database = open_database(leveldb, policy, directory, 1);
  leveldb_writeoptions_t *options = leveldb->writeoptions_create();
  for (int i = 0; i < KEYS; i++) {
    char key[32], *error = NULL;
    int length = name_key(key, sizeof key, 2 * i);
    leveldb->put(database, options, key, (size_t)length, key, (size_t)length, &error);
    check(leveldb, error);
  }
  leveldb->writeoptions_destroy(options);
  leveldb->compact_range(database, NULL, 0, NULL, 0);
  return database;
}

leveldb_t *reopen_database(const struct leveldb *leveldb, const leveldb_filterpolicy_t *policy,
                           const char *directory) {
  return open_database(leveldb, policy, directory, 0);
}

void read_database(const struct leveldb *leveldb, leveldb_t *database) {
  leveldb_readoptions_t *options = leveldb->readoptions_create();
  for (int i = 0; i < 2 * KEYS; i++) {
    char key[32], *error = NULL;
    size_t value_length = 0;
    int length = name_key(key, sizeof key, i);
    char *value = leveldb->get(database, options, key, (size_t)length, &value_length, &error);
    check(leveldb, error);
    int expected = i % 2 == 0;
    int found = value != NULL && value_length == (size_t)length &&
                memcmp(value, key, value_length) == 0;
    if (found != expected || (value != NULL) != expected)
      die("%s is %s", key, expected ? "lost" : "there, and was never put");
    leveldb->free(value);
  }
  leveldb->readoptions_destroy(options);
}

void use_database(const struct leveldb *leveldb, const leveldb_filterpolicy_t *policy,
                  const char *directory) {
  leveldb->close(fill_database(leveldb, policy, directory));
  leveldb_t *database = reopen_database(leveldb, policy, directory);
  read_database(leveldb, database);
  leveldb->close(database);
}
