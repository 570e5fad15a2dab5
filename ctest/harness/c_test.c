/* Every function of leveldb_bloom.h from C99, with no LevelDB in the process: what each does with good
 * input. (bad_input_test.cc has the rest.)
 *
 * c_test --overrun and c_test --leak do what a memory checker must find; c_test --kernel prints which
 * kernel the library chooses. */

#include <errno.h>
#include <leveldb_bloom.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in leveldb_bloom.h. */
#if defined(__linux__) && !defined(__ANDROID__)
#define LEVELDBS_NAMES
#endif

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);      \
      exit(1);                                                             \
    }                                                                      \
  } while (0)
#define CHECK_OK(call) CHECK((call) == LEVELDB_BLOOM_OK)

/* More than one group of every kernel, and not a whole number of bytes in a bitmap. */
enum { KEYS = 1003, KEY_LENGTH = 7, LENGTH = (KEYS * 10 + 7) / 8 + 1 };

static char data[KEYS * KEY_LENGTH];
static int32_t offsets32[KEYS + 1];
static int64_t offsets64[KEYS + 1];
static struct leveldb_bloom_slice slices[KEYS];
static const char *keys[KEYS];
static size_t key_lengths[KEYS];

/* The filter of all keys at 10 bits each, which the other functions must make too. */
static char expected[LENGTH];
static struct leveldb_bloom_policy *policy;

static const char golden[] = "\x11\x40\x00\x41\x44\x10\x40\x10\x06";

static void set_up(void) {
  uint32_t state = 1;
  size_t i;
  for (i = 0; i < sizeof data; i++) {
    state = state * 1664525 + 1013904223;
    data[i] = (char)(state >> 24);
  }
  for (i = 0; i <= KEYS; i++) {
    offsets32[i] = (int32_t)(i * KEY_LENGTH);
    offsets64[i] = (int64_t)(i * KEY_LENGTH);
  }
  for (i = 0; i < KEYS; i++) {
    keys[i] = slices[i].data = data + i * KEY_LENGTH;
    key_lengths[i] = slices[i].size = KEY_LENGTH;
  }
  policy = leveldb_bloom_policy_create(10);
  CHECK(leveldb_bloom_filter_size(policy, KEYS) == LENGTH);
  CHECK_OK(leveldb_bloom_fill_filter(policy, slices, KEYS, expected, LENGTH));
}

static void test_names(void) {
  int status, other;
#ifdef LEVELDBS_NAMES
  CHECK(strcmp(leveldb_bloom_active(), "leveldb_bloom (no LevelDB found)") == 0);
#endif
  CHECK(strcmp(leveldb_bloom_version(), LEVELDB_BLOOM_VERSION) == 0);
  CHECK(leveldb_bloom_version_number() == LEVELDB_BLOOM_VERSION_NUMBER);
  CHECK(leveldb_bloom_kernel(policy) != NULL);
  for (status = 0; status < 5; status++) {
    CHECK(strlen(leveldb_bloom_status_message(status)) > 3);
    for (other = 0; other < status; other++) {
      CHECK(strcmp(leveldb_bloom_status_message(status), leveldb_bloom_status_message(other)) != 0);
    }
  }
}

/* LevelDB's own names. Only LevelDB can use the policies; here they come and go. */
static void count_destroyed(void *state) { ++*(int *)state; }

#ifdef LEVELDBS_NAMES
static void test_filterpolicies(void) {
  const struct leveldb_bloom_vtable *table = leveldb_bloom_vtable();
  struct leveldb_filterpolicy_t *filterpolicy = leveldb_filterpolicy_create_bloom(10);
  int destroyed = 0;
  CHECK(filterpolicy != NULL);
  leveldb_filterpolicy_destroy(filterpolicy);
  filterpolicy = leveldb_filterpolicy_create(&destroyed, count_destroyed, table->create_filter,
                                             table->key_may_match, table->name);
  CHECK(filterpolicy != NULL && destroyed == 0);
  leveldb_filterpolicy_destroy(filterpolicy);
  CHECK(destroyed == 1);
  filterpolicy = leveldb_bloom_filterpolicy_shared(10);
  CHECK(filterpolicy != NULL && filterpolicy == leveldb_bloom_filterpolicy_shared(10));
  CHECK(filterpolicy != leveldb_bloom_filterpolicy_shared(11));
  leveldb_filterpolicy_destroy(filterpolicy);
  filterpolicy = leveldb_bloom_filterpolicy_create_ribbon(10);
  CHECK(filterpolicy != NULL);
  leveldb_filterpolicy_destroy(filterpolicy);
}
#endif

static void test_callbacks(void) {
  const struct leveldb_bloom_vtable *table = leveldb_bloom_vtable();
  struct leveldb_bloom_policy *state = leveldb_bloom_policy_create(10);
  size_t length = 0;
  char *filter = table->create_filter(state, keys, key_lengths, KEYS, &length);
  CHECK(table == leveldb_bloom_vtable());
  CHECK(strcmp(table->name(state), "leveldb.BuiltinBloomFilter2") == 0);
  CHECK(length == LENGTH && memcmp(filter, expected, LENGTH) == 0);
  CHECK(table->key_may_match(state, keys[0], KEY_LENGTH, filter, length) == 1);
  CHECK(table->key_may_match(state, "absent", 6, filter, length) == 0);
  free(filter);
  table->destructor(state);
}

static void test_create_filter(void) {
  static const char *const two[] = {"hello", "world"};
  static const size_t lengths[] = {5, 5};
  size_t length = 0;
  char *filter = leveldb_bloom_create_filter(policy, two, lengths, 2, &length);
  CHECK(length == 9 && memcmp(filter, golden, 9) == 0);
  leveldb_bloom_free(filter);
  /* The memory is C's. */
  filter = leveldb_bloom_create_filter(policy, keys, key_lengths, KEYS, &length);
  CHECK(length == LENGTH && memcmp(filter, expected, LENGTH) == 0);
  free(filter);
}

static void test_fill_filter(void) {
  char filter[LENGTH], few[LENGTH];
  size_t count;
  for (count = 0; count <= KEYS; count += count < 300 ? 1 : 37) {
    const size_t length = leveldb_bloom_filter_size(policy, count);
    CHECK_OK(leveldb_bloom_fill_filter(policy, slices, count, few, length));
    memset(filter, 0xff, length);
    CHECK_OK(leveldb_bloom_fill_filter_offsets32(policy, data, sizeof data, offsets32, count, filter, length));
    CHECK(memcmp(filter, few, length) == 0);
    memset(filter, 0xff, length);
    CHECK_OK(leveldb_bloom_fill_filter_offsets64(policy, data, sizeof data, offsets64, count, filter, length));
    CHECK(memcmp(filter, few, length) == 0);
    memset(filter, 0xff, length);
    CHECK_OK(leveldb_bloom_fill_filter_fixed(policy, data, KEY_LENGTH, count, filter, length));
    CHECK(memcmp(filter, few, length) == 0);
  }
  /* All keys of no length are one. */
  CHECK_OK(leveldb_bloom_fill_filter_fixed(policy, NULL, 0, 6, filter, 9));
  CHECK(memcmp(filter, "\x08\x00\x04\x00\x02\x00\x11\x80\x06", 9) == 0);
}

/* The filter of every second key, queried for all. */
static void test_queries(void) {
  enum { HALF = (KEYS + 1) / 2 };
  struct leveldb_bloom_slice even[HALF];
  char filter[LENGTH];
  const size_t length = leveldb_bloom_filter_size(policy, HALF);
  uint8_t results[KEYS + 1], bitmap[KEYS / 8 + 2];
  size_t i, way, ones;
  for (i = 0; i < HALF; i++) even[i] = slices[2 * i];
  CHECK_OK(leveldb_bloom_fill_filter(policy, even, HALF, filter, length));
  for (way = 0; way < 4; way++) {
    size_t matches = 0;
    memset(results, 9, sizeof results);
    memset(bitmap, 0xff, sizeof bitmap);
    if (way == 0) {
      CHECK_OK(leveldb_bloom_keys_may_match_offsets32(data, sizeof data, offsets32, KEYS, filter, length,
                                                      results, bitmap, &matches));
    } else if (way == 1) {
      CHECK_OK(leveldb_bloom_keys_may_match_offsets64(data, sizeof data, offsets64, KEYS, filter, length,
                                                      results, bitmap, &matches));
    } else if (way == 2) {
      CHECK_OK(leveldb_bloom_keys_may_match_fixed(data, KEY_LENGTH, KEYS, filter, length, results, bitmap,
                                                  &matches));
    } else {
      matches = leveldb_bloom_keys_may_match(keys, key_lengths, KEYS, filter, length, results);
    }
    for (i = ones = 0; i < KEYS; i++) {
      const uint8_t answer = leveldb_bloom_key_may_match(keys[i], KEY_LENGTH, filter, length);
      const uint32_t hash = leveldb_bloom_hash(keys[i], KEY_LENGTH);
      CHECK(answer == 1 || i % 2 == 1);
      CHECK(results[i] == answer);
      CHECK(way == 3 || (bitmap[i / 8] >> (i % 8) & 1) == answer);
      CHECK(leveldb_bloom_hash_may_match(hash, filter, length) == answer);
      ones += answer;
    }
    CHECK(matches == ones && ones < KEYS);
    /* Nothing beyond the last key, but the bits of its byte. */
    CHECK(results[KEYS] == 9 && bitmap[KEYS / 8 + 1] == 0xff);
    CHECK(way == 3 || bitmap[KEYS / 8] >> (KEYS % 8) == 0);
  }
}

static void test_many_filters(void) {
  struct leveldb_bloom_slice filters[KEYS + 2];
  static char filter[KEYS][9];
  uint8_t results[KEYS + 2];
  size_t i, ones = 0;
  for (i = 0; i < KEYS; i++) {
    CHECK_OK(leveldb_bloom_fill_filter(policy, &slices[i % 5], 1, filter[i], 9));
    filters[i].data = filter[i];
    filters[i].size = 9;
    ones += leveldb_bloom_key_may_match(keys[3], KEY_LENGTH, filter[i], 9);
  }
  /* An empty filter, and one that matches everything. */
  filters[KEYS].data = NULL;
  filters[KEYS].size = 0;
  filters[KEYS + 1].data = "\0\x1f";
  filters[KEYS + 1].size = 2;
  CHECK(ones >= KEYS / 5 && ones < KEYS / 2);
  CHECK(leveldb_bloom_filters_may_match(keys[3], KEY_LENGTH, filters, KEYS + 2, results) == ones + 1);
  for (i = 0; i < KEYS; i++) {
    CHECK(results[i] == leveldb_bloom_key_may_match(keys[3], KEY_LENGTH, filter[i], 9));
  }
  CHECK(results[KEYS] == 0 && results[KEYS + 1] == 1);
}

/* A filter key by key, and in two parts. */
static void test_builder(void) {
  struct leveldb_bloom_builder *builder = leveldb_bloom_builder_create(10),
                               *other = leveldb_bloom_builder_create(10);
  char filter[LENGTH], part[LENGTH];
  size_t i;
  CHECK(leveldb_bloom_builder_filter_size(builder, 0) == 9);
  for (i = 0; i < KEYS; i++) CHECK_OK(leveldb_bloom_builder_add(builder, keys[i], KEY_LENGTH));
  CHECK(leveldb_bloom_builder_num_keys(builder) == KEYS);
  CHECK(leveldb_bloom_builder_filter_size(builder, 0) == LENGTH);
  CHECK_OK(leveldb_bloom_builder_finish(builder, 0, filter, LENGTH));
  CHECK(memcmp(filter, expected, LENGTH) == 0);
  CHECK(leveldb_bloom_builder_num_keys(builder) == 0);

  CHECK_OK(leveldb_bloom_builder_add_offsets32(builder, data, sizeof data, offsets32, 300));
  CHECK_OK(leveldb_bloom_builder_add_offsets64(builder, data, sizeof data, offsets64 + 300, 200));
  CHECK_OK(leveldb_bloom_builder_add_fixed(other, keys[500], KEY_LENGTH, KEYS - 500));
  CHECK_OK(leveldb_bloom_builder_finish(builder, KEYS, filter, LENGTH));
  CHECK_OK(leveldb_bloom_builder_finish(other, KEYS, part, LENGTH));
  CHECK(memcmp(filter, expected, LENGTH) != 0 && memcmp(part, expected, LENGTH) != 0);
  CHECK_OK(leveldb_bloom_union(filter, LENGTH, part, LENGTH));
  CHECK(memcmp(filter, expected, LENGTH) == 0);
  leveldb_bloom_builder_destroy(builder);
  leveldb_bloom_builder_destroy(other);
}

/* Ribbon filters, from every function that makes them. */
static void test_ribbon(void) {
  static const struct leveldb_bloom_slice hello_world[] = {{"hello", 5}, {"world", 5}};
  struct leveldb_bloom_policy *ribbon = leveldb_bloom_policy_create_ribbon(10),
                              *by_default = leveldb_bloom_policy_create_default(10);
  struct leveldb_bloom_builder *builder = leveldb_bloom_builder_create_ribbon(10);
  struct leveldb_bloom_info info;
  const size_t length = leveldb_bloom_filter_size(ribbon, KEYS);
  char *filter = malloc(length), *built = malloc(length), small[9];
  size_t i;
  CHECK_OK(leveldb_bloom_fill_filter(ribbon, hello_world, 2, small, 9));
  CHECK(memcmp(small, golden, 9) != 0 && leveldb_bloom_key_may_match("absent", 6, small, 9) == 0);
  CHECK_OK(leveldb_bloom_fill_filter(by_default, hello_world, 2, small, 9));
  CHECK(memcmp(small, golden, 9) == 0);
  CHECK_OK(leveldb_bloom_fill_filter(ribbon, slices, KEYS, filter, length));
  CHECK_OK(leveldb_bloom_inspect(filter, length, &info));
  CHECK(info.encoding == LEVELDB_BLOOM_ENCODING_RIBBON && info.probes == 10);
  for (i = 0; i < KEYS; i++) {
    CHECK_OK(leveldb_bloom_builder_add(builder, keys[i], KEY_LENGTH));
    CHECK(leveldb_bloom_key_may_match(keys[i], KEY_LENGTH, filter, length) == 1);
  }
  CHECK(leveldb_bloom_key_may_match("absent", 6, filter, length) == 0);
  CHECK(leveldb_bloom_builder_filter_size(builder, 0) == length);
  CHECK_OK(leveldb_bloom_builder_finish(builder, 0, built, length));
  CHECK(memcmp(filter, built, length) == 0);
  CHECK(leveldb_bloom_union(filter, length, built, length) == LEVELDB_BLOOM_MISMATCH);
  leveldb_bloom_builder_destroy(builder);
  leveldb_bloom_policy_destroy(by_default);
  leveldb_bloom_policy_destroy(ribbon);
  free(filter);
  free(built);
}

static void test_sizing(void) {
  const double rate = leveldb_bloom_false_positive_rate(10, 1000);
  CHECK(rate > 0.008 && rate < 0.009);
  CHECK(leveldb_bloom_bits_per_key_for(0.01, 1000) == 10);
  CHECK(leveldb_bloom_bits_per_key_for(0.001, 50000000) == 0);
  CHECK(leveldb_bloom_validate(10) == NULL);
  CHECK(leveldb_bloom_validate(0) != NULL);
}

static void test_inside(void) {
  struct leveldb_bloom_info info;
  uint64_t positions[30];
  size_t i;
  CHECK_OK(leveldb_bloom_inspect(expected, LENGTH, &info));
  CHECK(info.encoding == LEVELDB_BLOOM_ENCODING_BLOOM && info.probes == 6);
  CHECK(info.bits == (LENGTH - 1) * 8 && info.fill > 0.4 && info.fill < 0.5);
  {
    /* Assigned, because i686 computes with more bits than a double has. */
    const double fill = (double)info.bits_set / (double)info.bits;
    CHECK(info.fill == fill);
  }
  CHECK(info.estimated_keys > KEYS * 0.97 && info.estimated_keys < KEYS * 1.03);
  CHECK(info.false_positive_rate > 0.007 && info.false_positive_rate < 0.01);
  CHECK_OK(leveldb_bloom_inspect("\0\x1f", 2, &info));
  CHECK(info.probes == 31 && info.false_positive_rate == 1);
  CHECK(leveldb_bloom_positions(keys[0], KEY_LENGTH, expected, LENGTH, positions, 30) == 6);
  CHECK(positions[0] == leveldb_bloom_hash(keys[0], KEY_LENGTH) % ((LENGTH - 1) * 8));
  for (i = 0; i < 6; i++) CHECK(expected[positions[i] / 8] >> (positions[i] % 8) & 1);
  positions[1] = 77;
  CHECK(leveldb_bloom_positions("a", 1, expected, LENGTH, positions, 1) == 6 && positions[1] == 77);
}

static void test_shared(void) {
  struct leveldb_bloom_policy *shared = leveldb_bloom_policy_shared(10);
  char filter[LENGTH];
  CHECK(shared != NULL && shared == leveldb_bloom_policy_shared(10));
  CHECK(shared != leveldb_bloom_policy_shared(11));
  CHECK(leveldb_bloom_policy_shared(0) == leveldb_bloom_policy_shared(-5));
  leveldb_bloom_policy_destroy(shared);
  leveldb_bloom_vtable()->destructor(shared);
  CHECK_OK(leveldb_bloom_fill_filter(shared, slices, KEYS, filter, LENGTH));
  CHECK(memcmp(filter, expected, LENGTH) == 0);
}

/* The canonical form of a key: what is before the first '#', in lower case; padded to 1,000 bytes if *state. */
static size_t canonical(void *state, const char *key, size_t key_length, char *buffer, size_t room) {
  size_t i, length = 0;
  while (length < key_length && key[length] != '#') length++;
  if (*(int *)state) memset(buffer, 0, room);
  for (i = 0; i < length && i < room; i++) {
    buffer[i] = (char)(key[i] >= 'A' && key[i] <= 'Z' ? key[i] + 32 : key[i]);
  }
  return *(int *)state ? 1000 : length;
}

static void test_transform(void) {
  const struct leveldb_bloom_vtable *table = leveldb_bloom_vtable();
  static const char *const two[] = {"HELLO#1", "World"};
  static const size_t lengths[] = {7, 5};
  char name[] = "example.Canonical", filter_of_a[9];
  int padded, destroyed = 0;
  for (padded = 0; padded < 2; padded++) {
    size_t length = 0;
    struct leveldb_bloom_policy *transformed =
        leveldb_bloom_policy_create_transformed(10, name, canonical, NULL, &padded);
    char *filter = table->create_filter(transformed, two, lengths, 2, &length);
    /* It is copied. */
    name[0] = '?';
    CHECK(strcmp(table->name(transformed), "example.Canonical") == 0);
    name[0] = 'e';
    CHECK(length == 9 && (memcmp(filter, golden, 9) == 0) == !padded);
    CHECK(table->key_may_match(transformed, "hello", 5, filter, length) == 1);
    CHECK(table->key_may_match(transformed, "wOrLd#2", 7, filter, length) == 1);
    CHECK(table->key_may_match(transformed, "absent", 6, filter, length) == 0);
    free(filter);
    CHECK_OK(leveldb_bloom_fill_filter_fixed(transformed, "A#Aa", 2, 2, filter_of_a, 9));
    CHECK(table->key_may_match(transformed, "a", 1, filter_of_a, 9) == 1);
    CHECK(table->key_may_match(transformed, "AA#", 3, filter_of_a, 9) == 1);
    leveldb_bloom_policy_destroy(transformed);
  }
  leveldb_bloom_policy_destroy(
      leveldb_bloom_policy_create_transformed(10, "example.Other", canonical, count_destroyed, &destroyed));
  CHECK(destroyed == 1);
}

static void test_goleveldb(void) {
  struct leveldb_bloom_policy *goleveldb = leveldb_bloom_policy_create_goleveldb(10);
  char filter[LENGTH];
  CHECK(strcmp(leveldb_bloom_vtable()->name(goleveldb), "leveldb.BuiltinBloomFilter") == 0);
  CHECK_OK(leveldb_bloom_fill_filter(goleveldb, slices, KEYS, filter, LENGTH));
  CHECK(memcmp(filter, expected, LENGTH) == 0);
  leveldb_bloom_policy_destroy(goleveldb);
}

static int planted_fault(const char *fault) {
  size_t length = 0;
  char *filter = leveldb_bloom_create_filter(policy, keys, key_lengths, 2, &length);
  if (strcmp(fault, "--overrun") == 0) {
    volatile char beyond = filter[length];
    (void)beyond;
    leveldb_bloom_free(filter);
    return 0;
  }
  if (strcmp(fault, "--leak") == 0) {
    /* Not in a register either, where a leak checker would still find it. */
    filter = NULL;
    test_create_filter();
    return 0;
  }
  fprintf(stderr, "what is %s?\n", fault);
  return 2;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } tests[] = {
      {"names", test_names},
#ifdef LEVELDBS_NAMES
      {"filterpolicies", test_filterpolicies},
#endif
      {"callbacks", test_callbacks},
      {"create_filter", test_create_filter},
      {"fill_filter", test_fill_filter},
      {"queries", test_queries},
      {"many filters", test_many_filters},
      {"builder", test_builder},
      {"ribbon", test_ribbon},
      {"sizing", test_sizing},
      {"inside", test_inside},
      {"shared policies", test_shared},
      {"transformed keys", test_transform},
      {"goleveldb", test_goleveldb},
  };
  size_t i;
  set_up();
  if (argc > 1 && strcmp(argv[1], "--kernel") == 0) return puts(leveldb_bloom_kernel(policy)) < 0;
  if (argc > 1) return planted_fault(argv[1]);
  for (i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    fprintf(stderr, "=== Test %s\n", tests[i].name);
    errno = 77;
    tests[i].run();
    CHECK(errno == 77);
  }
  leveldb_bloom_policy_destroy(policy);
  fprintf(stderr, "PASS\n");
  return 0;
}
