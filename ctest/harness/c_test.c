/* Every function of leveldb_bloom.h from C, with no LevelDB in the process.
 *
 * c_test --overrun and c_test --leak do what a memory checker must find: they prove that it sees
 * the memory that the library gives. c_test --kernel prints which kernel the library chooses, and
 * c_test --no-policy calls what needs no policy, twice. */

#define _POSIX_C_SOURCE 200112L /* setenv */

#include <dlfcn.h>
#include <leveldb_bloom.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const char* const keys[] = {"hello", "world"};
static const size_t key_lengths[] = {5, 5};
static const char golden[] = "\x11\x40\x00\x41\x44\x10\x40\x10\x06";
static const size_t golden_length = 9;

/* Here and below, dlerror: the library looks for names that are not there, which is its own matter. */
static void TestActive(void) {
  StartPhase("active");
  CheckCondition(strcmp(leveldb_bloom_active(), "leveldb_bloom (no LevelDB found)") == 0);
  CheckCondition(leveldb_bloom_active() == leveldb_bloom_active());
  CheckCondition(dlerror() == NULL);
}

/* The name is one of four, and the environment may choose. */
static void TestKernel(void) {
  static const char *const kKernels[] = {"avx512", "avx2", "neon", "portable"};
  struct leveldb_bloom_policy *policy = leveldb_bloom_policy_create(10);
  const char *asked = getenv("LEVELDB_BLOOM_KERNEL");
  int known = 0;
  size_t i;
  StartPhase("kernel");
  CheckCondition(policy != NULL);
  for (i = 0; i < sizeof(kKernels) / sizeof(kKernels[0]); i++) {
    known += strcmp(leveldb_bloom_kernel(policy), kKernels[i]) == 0;
  }
  CheckCondition(known == 1);
  CheckCondition(asked == NULL || strcmp(leveldb_bloom_kernel(policy), asked) == 0);
  CheckCondition(leveldb_bloom_kernel(NULL) == NULL);
  leveldb_bloom_policy_destroy(policy);
}

static void TestPolicy(void) {
  static const int kBits[] = {-2147483647 - 1, -1, 0, 1, 10, 44, 45, 2147483647};
  size_t i;
  StartPhase("policy");
  for (i = 0; i < sizeof(kBits) / sizeof(kBits[0]); i++) {
    struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(kBits[i]);
    CheckCondition(policy != NULL);
    leveldb_bloom_policy_destroy(policy);
  }
  leveldb_bloom_policy_destroy(NULL);
}

static void TestFilterSize(void) {
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  StartPhase("filter_size");
  CheckCondition(leveldb_bloom_filter_size(policy, 0) == 9);
  CheckCondition(leveldb_bloom_filter_size(policy, 2) == 9);
  CheckCondition(leveldb_bloom_filter_size(policy, 7) == 10);
  CheckCondition(leveldb_bloom_filter_size(policy, 1000) == 1251);
  CheckCondition(leveldb_bloom_filter_size(policy, SIZE_MAX) == 0);
  CheckCondition(leveldb_bloom_filter_size(NULL, 1) == 0);
  leveldb_bloom_policy_destroy(policy);
}

static void TestCreateFilter(void) {
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  size_t length = 0;
  char* filter;

  StartPhase("create_filter");
  filter = leveldb_bloom_create_filter(policy, keys, key_lengths, 2, &length);
  CheckCondition(filter != NULL);
  CheckCondition(length == golden_length);
  CheckCondition(memcmp(filter, golden, length) == 0);
  leveldb_bloom_free(filter);

  StartPhase("create_filter, free");
  filter = leveldb_bloom_create_filter(policy, keys, key_lengths, 2, &length);
  CheckCondition(filter != NULL);
  free(filter);

  StartPhase("create_filter, odd arguments");
  CheckCondition(leveldb_bloom_create_filter(NULL, keys, key_lengths, 2, &length) == NULL);
  CheckCondition(length == 0);
  CheckCondition(leveldb_bloom_create_filter(policy, NULL, key_lengths, 2, &length) == NULL);
  CheckCondition(leveldb_bloom_create_filter(policy, keys, NULL, 2, &length) == NULL);
  CheckCondition(leveldb_bloom_create_filter(policy, keys, key_lengths, 2, NULL) == NULL);
  length = 1;
  CheckCondition(leveldb_bloom_create_filter(policy, keys, key_lengths, SIZE_MAX, &length) == NULL);
  CheckCondition(length == 0);
  leveldb_bloom_free(NULL);
  leveldb_bloom_policy_destroy(policy);
}

static void TestFillFilter(void) {
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  const struct leveldb_bloom_slice slices[] = {{"hello", 5}, {"world", 5}};
  char* filter = malloc(golden_length);
  size_t count;

  StartPhase("fill_filter");
  CheckCondition(filter != NULL);
  memset(filter, 0xff, golden_length);
  CheckCondition(leveldb_bloom_fill_filter(policy, slices, 2, filter, golden_length) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, golden, golden_length) == 0);
  CheckCondition(leveldb_bloom_fill_filter(NULL, slices, 2, filter, golden_length) ==
                 LEVELDB_BLOOM_INVALID_ARGUMENT);
  CheckCondition(leveldb_bloom_fill_filter(policy, slices, 2, filter, golden_length - 1) ==
                 LEVELDB_BLOOM_INVALID_ARGUMENT);
  CheckCondition(leveldb_bloom_fill_filter(policy, slices, SIZE_MAX, filter, golden_length) ==
                 LEVELDB_BLOOM_TOO_LARGE);
  CheckCondition(memcmp(filter, golden, golden_length) == 0);
  free(filter);

  /* A key of no length may be NULL; one that has a length and is not there would be lost. */
  StartPhase("fill_filter, NULL with and without a length");
  for (count = 1; count <= 600; count++) {
    const size_t length = leveldb_bloom_filter_size(policy, count);
    struct leveldb_bloom_slice* missing = calloc(count, sizeof(*missing));
    char* expected = malloc(length);
    filter = malloc(length);
    CheckCondition(missing != NULL && expected != NULL && filter != NULL);
    CheckCondition(leveldb_bloom_fill_filter(policy, missing, count, expected, length) ==
                   LEVELDB_BLOOM_OK);
    memcpy(filter, expected, length);
    missing[count / 2].size = 9;
    CheckCondition(leveldb_bloom_fill_filter(policy, missing, count, filter, length) ==
                   LEVELDB_BLOOM_INVALID_ARGUMENT);
    missing[count / 2].size = 0;
    missing[count - 1].size = SIZE_MAX;
    CheckCondition(leveldb_bloom_fill_filter(policy, missing, count, filter, length) ==
                   LEVELDB_BLOOM_INVALID_ARGUMENT);
    CheckCondition(memcmp(filter, expected, length) == 0);
    free(missing);
    free(expected);
    free(filter);
  }
  leveldb_bloom_policy_destroy(policy);
}

static void TestKeyMayMatch(void) {
  static const char kReserved[] = "\0\x1f";
  StartPhase("key_may_match");
  CheckCondition(leveldb_bloom_key_may_match("hello", 5, golden, golden_length) == 1);
  CheckCondition(leveldb_bloom_key_may_match("world", 5, golden, golden_length) == 1);
  CheckCondition(leveldb_bloom_key_may_match("x", 1, golden, golden_length) == 0);
  CheckCondition(leveldb_bloom_key_may_match("foo", 3, golden, golden_length) == 0);
  CheckCondition(leveldb_bloom_key_may_match(NULL, 0, golden, golden_length) == 0);
  CheckCondition(leveldb_bloom_key_may_match("hello", 5, NULL, 0) == 0);
  CheckCondition(leveldb_bloom_key_may_match("hello", 5, golden, 1) == 0);
  CheckCondition(leveldb_bloom_key_may_match("x", 1, kReserved, 2) == 1);
}

static void TestKeysMayMatch(void) {
  static const char* const asked[] = {"x", "hello", NULL, "world"};
  static const size_t asked_lengths[] = {1, 5, 0, 5};
  uint8_t results[] = {9, 9, 9, 9};
  StartPhase("keys_may_match");
  CheckCondition(leveldb_bloom_keys_may_match(asked, asked_lengths, 4, golden, golden_length,
                                              results) == 2);
  CheckCondition(results[0] == 0 && results[1] == 1 && results[2] == 0 && results[3] == 1);
  CheckCondition(leveldb_bloom_keys_may_match(asked, asked_lengths, 4, golden, golden_length,
                                              NULL) == 2);
  CheckCondition(leveldb_bloom_keys_may_match(NULL, asked_lengths, 4, golden, golden_length,
                                              results) == 0);
  CheckCondition(results[1] == 1);
}

static void TestVtable(void) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  struct leveldb_bloom_policy* state = leveldb_bloom_policy_create(10);
  size_t length = 0;
  char* filter;

  StartPhase("vtable");
  CheckCondition(table != NULL);
  CheckCondition(table == leveldb_bloom_vtable());
  CheckCondition(strcmp(table->name(state), "leveldb.BuiltinBloomFilter2") == 0);
  filter = table->create_filter(state, keys, key_lengths, 2, &length);
  CheckCondition(filter != NULL);
  CheckCondition(length == golden_length);
  CheckCondition(memcmp(filter, golden, length) == 0);
  CheckCondition(table->key_may_match(state, "hello", 5, filter, length) == 1);
  CheckCondition(table->key_may_match(state, "x", 1, filter, length) == 0);
  free(filter);

  filter = table->create_filter(state, NULL, NULL, -1, &length);
  CheckCondition(filter != NULL);
  CheckCondition(length == 9);
  free(filter);

  filter = table->create_filter(NULL, keys, key_lengths, 2, &length);
  CheckCondition(filter != NULL);
  CheckCondition(table->key_may_match(NULL, "x", 1, filter, length) == 1);
  free(filter);
  table->destructor(state);
  table->destructor(NULL);
}

/* LevelDB's own names. Only LevelDB can use the policies; here they come and go. */
static void TestFilterPolicyCreateBloom(void) {
  static const int kBits[] = {-2147483647 - 1, 0, 10, 2147483647};
  size_t i;
  StartPhase("filterpolicy_create_bloom");
  for (i = 0; i < sizeof(kBits) / sizeof(kBits[0]); i++) {
    struct leveldb_filterpolicy_t* policy = leveldb_filterpolicy_create_bloom(kBits[i]);
    CheckCondition(policy != NULL);
    CheckCondition(dlerror() == NULL);
    leveldb_filterpolicy_destroy(policy);
  }
  leveldb_filterpolicy_destroy(NULL);
}

static void CountDestroyed(void* state) { ++*(int*)state; }

static void TestFilterPolicyCreate(void) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  struct leveldb_filterpolicy_t* policy;
  int destroyed = 0;

  StartPhase("filterpolicy_create");
  policy = leveldb_filterpolicy_create(&destroyed, CountDestroyed, table->create_filter,
                                       table->key_may_match, table->name);
  CheckCondition(policy != NULL);
  CheckCondition(dlerror() == NULL);
  CheckCondition(destroyed == 0);
  leveldb_filterpolicy_destroy(policy);
  CheckCondition(destroyed == 1);

  policy = leveldb_filterpolicy_create(leveldb_bloom_policy_create(10), table->destructor,
                                       table->create_filter, table->key_may_match, table->name);
  CheckCondition(policy != NULL);
  leveldb_filterpolicy_destroy(policy);
}

static int PlantedFault(const char* fault) {
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  size_t length = 0;
  char* filter = leveldb_bloom_create_filter(policy, keys, key_lengths, 2, &length);
  leveldb_bloom_policy_destroy(policy);
  if (strcmp(fault, "--overrun") == 0) {
    volatile char beyond = filter[length];
    (void)beyond;
    leveldb_bloom_free(filter);
    return 0;
  }
  if (strcmp(fault, "--leak") == 0) {
    /* Not in a register either, where a leak checker would still find it. */
    filter = NULL;
    TestFilterSize();
    return 0;
  }
  fprintf(stderr, "what is %s?\n", fault);
  return 2;
}

/* Of three policies, because a kernel that does not exist is to be told of once. */
static int PrintKernel(void) {
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  leveldb_bloom_policy_destroy(leveldb_bloom_policy_create(10));
  leveldb_bloom_policy_destroy(leveldb_bloom_policy_create(10));
  puts(leveldb_bloom_kernel(policy));
  leveldb_bloom_policy_destroy(policy);
  return 0;
}

/* The environment names the kernel of these, too, when the first of them is called: a name that is none
 * is told of then, and not later. */
static int AskWithoutAPolicy(void) {
  const int absent = leveldb_bloom_key_may_match("a", 1, "\0\6", 2);
  setenv("LEVELDB_BLOOM_KERNEL", "neon129", 1);
  if (absent != 0 || leveldb_bloom_key_may_match("a", 1, "\377\6", 2) != 1) return 1;
  puts("PASS");
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "--kernel") == 0) return PrintKernel();
  if (argc > 1 && strcmp(argv[1], "--no-policy") == 0) return AskWithoutAPolicy();
  if (argc > 1) return PlantedFault(argv[1]);
  TestActive();
  TestKernel();
  TestPolicy();
  TestFilterSize();
  TestCreateFilter();
  TestFillFilter();
  TestKeyMayMatch();
  TestKeysMayMatch();
  TestVtable();
  TestFilterPolicyCreateBloom();
  TestFilterPolicyCreate();
  fprintf(stderr, "PASS\n");
  return 0;
}
