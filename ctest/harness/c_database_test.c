/* The kinds of policy in a database, from C: c_database_test FOLDER
 *
 * FOLDER is created and, if all goes well, removed. */

#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <leveldb/c.h>
#include <leveldb_bloom.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { kKeys = 2000 };

static char folder[1000];

static void Path(char* path, size_t size, const char* name) {
  CheckCondition(snprintf(path, size, "%s/%s", folder, name) < (int)size);
}

/* The whole number in the field of that name of the only line of statistics. */
static unsigned long Statistic(const char* line, const char* name) {
  char field[100];
  const char* found;
  snprintf(field, sizeof(field), "\"%s\":", name);
  found = strstr(line, field);
  CheckCondition(found != NULL);
  return strtoul(found + strlen(field), NULL, 10);
}

static void CheckStatistics(const char* route) {
  char path[1100], line[1000], expected[100];
  FILE* file;
  Path(path, sizeof(path), "statistics");
  file = fopen(path, "r");
  CheckCondition(file != NULL);
  CheckCondition(fgets(line, sizeof(line), file) != NULL);
  fprintf(stderr, "%s", line);
  snprintf(expected, sizeof(expected), "\"route\":\"%s\"", route);
  CheckCondition(strstr(line, expected) != NULL);
  CheckCondition(Statistic(line, "filters") > 0);
  CheckCondition(Statistic(line, "keys") >= kKeys);
  /* Every key that is there, and most of those that are not. */
  CheckCondition(Statistic(line, "queries") > kKeys);
  CheckCondition(Statistic(line, "negatives") > kKeys * 95 / 100);
  CheckCondition(Statistic(line, "negatives") <= kKeys);
  CheckCondition(fgets(line, sizeof(line), file) == NULL);
  fclose(file);
  remove(path);
}

static void CheckNoError(char* error) {
  if (error != NULL) fprintf(stderr, "%s\n", error);
  CheckCondition(error == NULL);
}

static size_t Key(char* key, int number, const char* suffix) {
  return (size_t)sprintf(key, "key%06d%s", number, suffix);
}

static leveldb_t* Open(const leveldb_options_t* options, const char* path) {
  char* error = NULL;
  leveldb_t* database = leveldb_open(options, path, &error);
  CheckNoError(error);
  CheckCondition(database != NULL);
  return database;
}

/* Of a database whose comparator takes no account of case; NULL if the bytes decide. */
static leveldb_comparator_t* comparator = NULL;

/* Returns how many of `kKeys` keys with that suffix are found: in capitals where that is the same. */
static int Found(leveldb_t* database, const char* suffix) {
  leveldb_readoptions_t* options = leveldb_readoptions_create();
  int found = 0, i;
  for (i = 0; i < kKeys; i++) {
    char key[100];
    char* error = NULL;
    size_t value_length = 0;
    const size_t key_length = Key(key, i, suffix);
    char asked[100];
    char* value;
    size_t at;
    for (at = 0; at < key_length; at++) {
      asked[at] = comparator == NULL ? key[at] : (char)toupper((unsigned char)key[at]);
    }
    value = leveldb_get(database, options, asked, key_length, &value_length, &error);
    CheckNoError(error);
    if (value != NULL) {
      CheckCondition(value_length == key_length && memcmp(key, value, key_length) == 0);
      found++;
    }
    leveldb_free(value);
  }
  leveldb_readoptions_destroy(options);
  return found;
}

/* Writes `kKeys` keys and looks for them and for as many others, with the policy. */
static void UseDatabase(leveldb_filterpolicy_t* policy, int expected) {
  leveldb_options_t* options = leveldb_options_create();
  leveldb_writeoptions_t* write_options = leveldb_writeoptions_create();
  leveldb_t* database;
  char path[1100];
  char* error = NULL;
  int i;

  Path(path, sizeof(path), "database");
  CheckCondition(policy != NULL);
  leveldb_options_set_create_if_missing(options, 1);
  leveldb_options_set_filter_policy(options, policy);
  if (comparator != NULL) leveldb_options_set_comparator(options, comparator);
  database = Open(options, path);
  for (i = 0; i < kKeys; i++) {
    char key[100];
    const size_t length = Key(key, i, "");
    leveldb_put(database, write_options, key, length, key, length, &error);
    CheckNoError(error);
  }
  leveldb_compact_range(database, NULL, 0, NULL, 0);
  leveldb_close(database);

  database = Open(options, path);
  CheckCondition(Found(database, "") == expected);
  CheckCondition(Found(database, "-absent") == 0);
  leveldb_close(database);
  leveldb_filterpolicy_destroy(policy);
  leveldb_writeoptions_destroy(write_options);

  leveldb_options_set_filter_policy(options, NULL);
  leveldb_destroy_db(options, path, &error);
  CheckNoError(error);
  leveldb_options_destroy(options);
}

/* A filter of our own, which a database believes. */
static int fake_destroyed, fake_filters;
static uint8_t fake_answer;

static void FakeDestroy(void* state) {
  CheckCondition(state == &fake_destroyed);
  fake_destroyed++;
}

static char* FakeCreate(void* state, const char* const* key_array, const size_t* key_lengths,
                        int num_keys, size_t* filter_length) {
  char* filter = malloc(4);
  (void)state, (void)key_array, (void)key_lengths, (void)num_keys;
  CheckCondition(filter != NULL);
  memcpy(filter, "fake", 4);
  *filter_length = 4;
  fake_filters++;
  return filter;
}

static uint8_t FakeMatch(void* state, const char* key, size_t length, const char* filter,
                         size_t filter_length) {
  (void)state, (void)key, (void)length;
  CheckCondition(filter_length == 4 && memcmp(filter, "fake", 4) == 0);
  return fake_answer;
}

static const char* FakeName(void* state) {
  (void)state;
  return "TestFilter";
}

static void TestCustom(int answer) {
  StartPhase(answer ? "custom filter, always yes" : "custom filter, always no");
  fake_destroyed = fake_filters = 0;
  fake_answer = (uint8_t)answer;
  UseDatabase(
      leveldb_filterpolicy_create(&fake_destroyed, FakeDestroy, FakeCreate, FakeMatch, FakeName),
      answer ? kKeys : 0);
  CheckCondition(fake_filters > 0);
  CheckCondition(fake_destroyed == 1);
}

static int CompareWithoutCase(void* state, const char* a, size_t a_length, const char* b,
                              size_t b_length) {
  size_t at;
  (void)state;
  for (at = 0; at < a_length && at < b_length; at++) {
    const int difference = tolower((unsigned char)a[at]) - tolower((unsigned char)b[at]);
    if (difference != 0) return difference;
  }
  return (a_length > b_length) - (a_length < b_length);
}

static const char* NameOfComparator(void* state) {
  (void)state;
  return "harness.WithoutCase";
}

static void DestroyComparator(void* state) { (void)state; }

static size_t WithoutCase(void* state, const char* key, size_t key_length, char* buffer,
                          size_t buffer_length) {
  size_t at;
  (void)state;
  for (at = 0; at < key_length && at < buffer_length; at++) {
    buffer[at] = (char)tolower((unsigned char)key[at]);
  }
  return key_length;
}

/* A policy for LevelDB that has `policy` for its state. */
static leveldb_filterpolicy_t* Through(const struct leveldb_bloom_vtable* table,
                                       struct leveldb_bloom_policy* policy) {
  return leveldb_filterpolicy_create(policy, table->destructor, table->create_filter,
                                     table->key_may_match, table->name);
}

int main(int argc, char** argv) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  char statistics[1100];

  StartPhase("setup");
  CheckCondition(argc == 2);
  snprintf(folder, sizeof(folder), "%s.%ld", argv[1], (long)getpid());
  CheckCondition(mkdir(folder, 0700) == 0);
  CheckCondition(strcmp(leveldb_bloom_active(), "leveldb_bloom (append-cxx11)") == 0);
  Path(statistics, sizeof(statistics), "statistics");

  StartPhase("bloom");
  setenv("LEVELDB_BLOOM_STATS", statistics, 1);
  UseDatabase(leveldb_filterpolicy_create_bloom(10), kKeys);
  CheckStatistics("append-cxx11");

  StartPhase("callbacks");
  UseDatabase(Through(table, leveldb_bloom_policy_create(10)), kKeys);
  CheckStatistics("callbacks");

  StartPhase("goleveldb's name");
  UseDatabase(Through(table, leveldb_bloom_policy_create_goleveldb(10)), kKeys);
  CheckStatistics("callbacks");

  StartPhase("a comparator that takes no account of case");
  comparator = leveldb_comparator_create(NULL, DestroyComparator, CompareWithoutCase,
                                         NameOfComparator);
  UseDatabase(Through(table, leveldb_bloom_policy_create_transformed(
                                 10, "harness.BloomWithoutCase", WithoutCase, NULL, NULL)),
              kKeys);
  CheckStatistics("callbacks");
  leveldb_comparator_destroy(comparator);
  comparator = NULL;
  unsetenv("LEVELDB_BLOOM_STATS");

  TestCustom(1);
  TestCustom(0);

  StartPhase("cleanup");
  CheckCondition(rmdir(folder) == 0);
  fprintf(stderr, "PASS\n");
  return 0;
}
