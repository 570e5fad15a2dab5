/* What the library offers beyond LevelDB's own names, from C: flat keys, many filters, the builder,
 * sizing, a look inside, lifetimes, keys that are transformed, versions. Each is compared with the
 * filter that leveldb_bloom_fill_filter makes, which c_test.c and the golden values hold.
 *
 * c_api_test --use-after-destroy, --query-after-destroy, --use-transformed-after-destroy and
 * --destroy-again do what LEVELDB_BLOOM_CHECK reports; --create-and-destroy does nothing wrong. */

#include <errno.h>
#include <leveldb_bloom.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* More than one group of every kernel, and not a whole number of bytes in a bitmap. */
#define KEYS 1003
#define KEY_LENGTH 7
#define FILTER_LENGTH ((KEYS * 10 + 7) / 8 + 1)

static char data[KEYS * KEY_LENGTH];
static int32_t offsets32[KEYS + 1];
static int64_t offsets64[KEYS + 1];
static struct leveldb_bloom_slice slices[KEYS];
static char expected[FILTER_LENGTH];

static void SetUp(void) {
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  uint32_t state = 1;
  size_t i;
  StartPhase("set up");
  for (i = 0; i < sizeof(data); i++) {
    state = state * 1664525 + 1013904223;
    data[i] = (char)(state >> 24);
  }
  for (i = 0; i <= KEYS; i++) {
    offsets32[i] = (int32_t)(i * KEY_LENGTH);
    offsets64[i] = (int64_t)(i * KEY_LENGTH);
  }
  for (i = 0; i < KEYS; i++) {
    slices[i].data = data + i * KEY_LENGTH;
    slices[i].size = KEY_LENGTH;
  }
  CheckCondition(leveldb_bloom_filter_size(policy, KEYS) == FILTER_LENGTH);
  CheckCondition(leveldb_bloom_fill_filter(policy, slices, KEYS, expected, FILTER_LENGTH) ==
                 LEVELDB_BLOOM_OK);
  leveldb_bloom_policy_destroy(policy);
}

static void TestFlatFilters(void) {
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  static const int32_t kFalling[] = {0, 7, 5}, kNegative[] = {-1, 7, 9};
  static const struct leveldb_bloom_slice kNowhere = {NULL, 1}, kEndless = {data, SIZE_MAX};
  static const int64_t kBeyond[] = {0, 7, KEYS * KEY_LENGTH + 1}, kHuge[] = {0, INT64_MAX, 0};
  char filter[FILTER_LENGTH];
  size_t keys;

  StartPhase("flat filters");
  memset(filter, 0xff, sizeof(filter));
  CheckCondition(leveldb_bloom_fill_filter_offsets32(policy, data, sizeof(data), offsets32, KEYS,
                                                     filter, sizeof(filter)) == LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);
  memset(filter, 0xff, sizeof(filter));
  CheckCondition(leveldb_bloom_fill_filter_offsets64(policy, data, sizeof(data), offsets64, KEYS,
                                                     filter, sizeof(filter)) == LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);
  memset(filter, 0xff, sizeof(filter));
  CheckCondition(leveldb_bloom_fill_filter_fixed(policy, data, KEY_LENGTH, KEYS, filter,
                                                 sizeof(filter)) == LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);

  StartPhase("flat filters of few keys");
  for (keys = 0; keys < 300; keys++) {
    char few[FILTER_LENGTH];
    const size_t length = leveldb_bloom_filter_size(policy, keys);
    CheckCondition(leveldb_bloom_fill_filter(policy, slices, keys, few, length) ==
                   LEVELDB_BLOOM_OK);
    CheckCondition(leveldb_bloom_fill_filter_offsets32(policy, data, sizeof(data), offsets32, keys,
                                                       filter, length) == LEVELDB_BLOOM_OK);
    CheckCondition(memcmp(filter, few, length) == 0);
    CheckCondition(leveldb_bloom_fill_filter_fixed(policy, data, KEY_LENGTH, keys, filter,
                                                   length) == LEVELDB_BLOOM_OK);
    CheckCondition(memcmp(filter, few, length) == 0);
  }

  StartPhase("flat filters, odd arguments");
  memcpy(filter, expected, sizeof(filter));
#define INVALID(call) CheckCondition((call) == LEVELDB_BLOOM_INVALID_ARGUMENT)
  INVALID(leveldb_bloom_fill_filter_offsets32(NULL, data, sizeof(data), offsets32, KEYS, filter,
                                              sizeof(filter)));
  INVALID(leveldb_bloom_fill_filter_offsets32(policy, NULL, sizeof(data), offsets32, KEYS, filter,
                                              sizeof(filter)));
  INVALID(leveldb_bloom_fill_filter_offsets32(policy, data, sizeof(data), NULL, KEYS, filter,
                                              sizeof(filter)));
  INVALID(leveldb_bloom_fill_filter_offsets32(policy, data, sizeof(data), offsets32, KEYS, NULL,
                                              sizeof(filter)));
  INVALID(leveldb_bloom_fill_filter_offsets32(policy, data, sizeof(data), offsets32, KEYS, filter,
                                              sizeof(filter) - 1));
  INVALID(leveldb_bloom_fill_filter_offsets32(policy, data, sizeof(data) - 1, offsets32, KEYS,
                                              filter, sizeof(filter)));
  INVALID(leveldb_bloom_fill_filter_offsets32(
      policy, data, sizeof(data), (const int32_t*)(const void*)((const char*)offsets32 + 1), KEYS,
      filter, sizeof(filter)));
  INVALID(leveldb_bloom_fill_filter_offsets32(policy, data, sizeof(data), kFalling, 2, filter, 9));
  INVALID(leveldb_bloom_fill_filter_offsets32(policy, data, sizeof(data), kNegative, 2, filter, 9));
  INVALID(leveldb_bloom_fill_filter_offsets64(policy, data, sizeof(data), kBeyond, 2, filter, 9));
  INVALID(leveldb_bloom_fill_filter_offsets64(policy, data, sizeof(data), kHuge, 2, filter, 9));
  INVALID(leveldb_bloom_fill_filter_offsets64(policy, data, sizeof(data), offsets64, SIZE_MAX,
                                              filter, 9));
  INVALID(leveldb_bloom_fill_filter_fixed(policy, data, SIZE_MAX, 2, filter, 9));
  INVALID(leveldb_bloom_fill_filter_fixed(policy, NULL, KEY_LENGTH, 2, filter, 9));
  CheckCondition(leveldb_bloom_fill_filter_fixed(policy, data, 0, SIZE_MAX, filter, 9) ==
                 LEVELDB_BLOOM_TOO_LARGE);
  CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);
  INVALID(leveldb_bloom_fill_filter(policy, &kNowhere, 1, filter, 9));
  INVALID(leveldb_bloom_fill_filter(policy, &kEndless, 1, filter, 9));
  CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);
  CheckCondition(leveldb_bloom_fill_filter_offsets32(policy, NULL, 0, NULL, 0, filter, 9) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, "\0\0\0\0\0\0\0\0\6", 9) == 0);
  leveldb_bloom_policy_destroy(policy);
}

/* Keys of no length: as many as one likes, in no time and no memory. */
static void TestNoLength(void) {
  struct leveldb_bloom_policy *policy = leveldb_bloom_policy_create(10),
                              *none = leveldb_bloom_policy_create(0);
  const struct leveldb_bloom_slice empty[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
  static const size_t kCounts[] = {0, 1, 7, 8, 9, 16, 1000};
  char filter[FILTER_LENGTH], same[FILTER_LENGTH];
  uint8_t results[1001], bitmap[127];
  size_t i, j, matches;

  StartPhase("keys of no length");
  CheckCondition(leveldb_bloom_fill_filter_fixed(policy, NULL, 0, 3, filter, 9) == LEVELDB_BLOOM_OK);
  CheckCondition(leveldb_bloom_fill_filter(policy, empty, 3, same, 9) == LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, same, 9) == 0);
  CheckCondition(leveldb_bloom_fill_filter_fixed(policy, NULL, 0, 0, same, 9) == LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(same, "\0\0\0\0\0\0\0\0\6", 9) == 0);
  for (i = 0; i < sizeof(kCounts) / sizeof(*kCounts); i++) {
    const size_t count = kCounts[i];
    int hit;
    for (hit = 0; hit < 2; hit++) {
      memset(results, 9, sizeof(results));
      memset(bitmap, 0x5a, sizeof(bitmap));
      CheckCondition(leveldb_bloom_keys_may_match_fixed(data, 0, count, hit ? filter : same, 9,
                                                        results, bitmap, &matches) ==
                     LEVELDB_BLOOM_OK);
      CheckCondition(matches == (hit ? count : 0));
      for (j = 0; j < count; j++) {
        CheckCondition(results[j] == hit && (bitmap[j / 8] >> (j % 8) & 1) == hit);
      }
      CheckCondition(results[count] == 9 && bitmap[(count + 7) / 8] == 0x5a);
      CheckCondition(count % 8 == 0 || bitmap[count / 8] >> (count % 8) == 0);
    }
  }

  StartPhase("more keys of no length than memory has bytes");
  errno = 77;
  CheckCondition(leveldb_bloom_fill_filter_fixed(none, NULL, 0, SIZE_MAX, filter, 9) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(leveldb_bloom_fill_filter(none, empty, 1, same, 9) == LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, same, 9) == 0);
  CheckCondition(leveldb_bloom_keys_may_match_fixed(NULL, 0, SIZE_MAX, filter, 9, NULL, NULL,
                                                    &matches) == LEVELDB_BLOOM_OK);
  CheckCondition(matches == SIZE_MAX);
  INVALID(leveldb_bloom_keys_may_match_fixed(NULL, 0, SIZE_MAX, filter, 9, results, NULL, &matches));
  CheckCondition(matches == SIZE_MAX && results[0] == 1);
  CheckCondition(leveldb_bloom_fill_filter_fixed(policy, NULL, 0, SIZE_MAX, filter, 9) ==
                 LEVELDB_BLOOM_TOO_LARGE);
  CheckCondition(errno == 77);
  leveldb_bloom_policy_destroy(policy);
  leveldb_bloom_policy_destroy(none);
}

/* One rule for all functions: see the beginning of the header. */
static void TestNullWithALength(void) {
  static const size_t kLengths[] = {1, 9, SIZE_MAX / 2 + 1, SIZE_MAX};
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  struct leveldb_bloom_builder* builder = leveldb_bloom_builder_create(10);
  static const char kEmpty[] = "\x08\x00\x04\x00\x02\x00\x11\x80\x06";
  static const int32_t kOffsets32[] = {0, 1};
  static const int64_t kOffsets64[] = {0, 1};
  char filter[9];
  size_t i;

  StartPhase("NULL with a length");
  memset(filter, 0x55, sizeof(filter));
  errno = 77;
  for (i = 0; i < sizeof(kLengths) / sizeof(*kLengths); i++) {
    const size_t length = kLengths[i];
    /* Nothing is at NULL, nor can so much be anywhere. */
    const char* const place = length > SIZE_MAX / 2 ? "a" : NULL;
    const struct leveldb_bloom_slice slice = {place, length};
    struct leveldb_bloom_info info;
    uint8_t result = 7;
    size_t matches = 77, made = 77;
    uint64_t positions[30];

    INVALID(leveldb_bloom_fill_filter(policy, &slice, 1, filter, 9));
    INVALID(leveldb_bloom_fill_filter_offsets32(policy, place, length, kOffsets32, 1, filter, 9));
    INVALID(leveldb_bloom_fill_filter_offsets64(policy, place, length, kOffsets64, 1, filter, 9));
    INVALID(leveldb_bloom_fill_filter_fixed(policy, place, length, 1, filter, 9));
    INVALID(leveldb_bloom_keys_may_match_offsets32(place, length, kOffsets32, 1, kEmpty, 9, &result,
                                                   &result, &matches));
    INVALID(leveldb_bloom_keys_may_match_offsets64(place, length, kOffsets64, 1, kEmpty, 9, &result,
                                                   &result, &matches));
    INVALID(leveldb_bloom_keys_may_match_fixed(place, length, 1, kEmpty, 9, &result, &result,
                                               &matches));
    INVALID(leveldb_bloom_keys_may_match_offsets32("a", 1, kOffsets32, 1, place, length, &result,
                                                   NULL, &matches));
    INVALID(leveldb_bloom_keys_may_match_offsets64("a", 1, kOffsets64, 1, place, length, &result,
                                                   NULL, &matches));
    INVALID(leveldb_bloom_keys_may_match_fixed("a", 1, 1, place, length, &result, NULL, &matches));
    INVALID(leveldb_bloom_builder_add(builder, place, length));
    INVALID(leveldb_bloom_builder_add_offsets32(builder, place, length, kOffsets32, 1));
    INVALID(leveldb_bloom_builder_add_offsets64(builder, place, length, kOffsets64, 1));
    INVALID(leveldb_bloom_builder_add_fixed(builder, place, length, 1));
    INVALID(leveldb_bloom_inspect(place, length, &info));
    INVALID(leveldb_bloom_union(filter, 9, place, length));
    INVALID(leveldb_bloom_union((char*)(uintptr_t)place, length, kEmpty, 9));
    CheckCondition(leveldb_bloom_create_filter(policy, &place, &length, 1, &made) == NULL);
    CheckCondition(made == 0);
    CheckCondition(result == 7 && matches == 77 && filter[0] == 0x55);
    CheckCondition(leveldb_bloom_builder_num_keys(builder) == 0);
    {
      /* LevelDB would take NULL for an empty filter. */
      char* const all = table->create_filter(policy, &place, &length, 1, &made);
      CheckCondition(made == 2 && memcmp(all, "\0\x1f", 2) == 0);
      leveldb_bloom_free(all);
    }

    CheckCondition(leveldb_bloom_key_may_match(place, length, kEmpty, 9) == 1);
    CheckCondition(leveldb_bloom_key_may_match("", 0, place, length) == 0);
    CheckCondition(table->key_may_match(policy, place, length, kEmpty, 9) == 1);
    CheckCondition(table->key_may_match(policy, "", 0, place, length) == 0);
    CheckCondition(leveldb_bloom_keys_may_match(&place, &length, 1, kEmpty, 9, &result) == 1);
    CheckCondition(leveldb_bloom_keys_may_match(&place, &made, 0, place, length, &result) == 0);
    CheckCondition(leveldb_bloom_filters_may_match("", 0, &slice, 1, &result) == 0 && result == 0);
    CheckCondition(leveldb_bloom_hash(place, length) == 0xbc9f1d34);
    CheckCondition(leveldb_bloom_hash_may_match(0xbc9f1d34, place, length) == 0);
    CheckCondition(leveldb_bloom_positions(place, length, kEmpty, 9, positions, 30) == 6);
    CheckCondition(leveldb_bloom_positions("", 0, place, length, positions, 30) == 0);
  }
  CheckCondition(errno == 77);
  leveldb_bloom_builder_destroy(builder);
  leveldb_bloom_policy_destroy(policy);
}

static void TestFlatQueries(void) {
  /* The filter of every second key, asked for all. */
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  const size_t half = (KEYS + 1) / 2;
  struct leveldb_bloom_slice even[(KEYS + 1) / 2];
  char filter[FILTER_LENGTH];
  const size_t length = leveldb_bloom_filter_size(policy, half);
  uint8_t results[KEYS + 1], bitmap[KEYS / 8 + 2];
  size_t i, way, matches = 0, ones = 0;

  StartPhase("flat queries");
  for (i = 0; i < half; i++) even[i] = slices[2 * i];
  CheckCondition(leveldb_bloom_fill_filter(policy, even, half, filter, length) == LEVELDB_BLOOM_OK);
  for (way = 0; way < 3; way++) {
    int status = -1;
    memset(results, 9, sizeof(results));
    memset(bitmap, 0xff, sizeof(bitmap));
    matches = 0;
    if (way == 0) {
      status = leveldb_bloom_keys_may_match_offsets32(data, sizeof(data), offsets32, KEYS, filter,
                                                      length, results, bitmap, &matches);
    } else if (way == 1) {
      status = leveldb_bloom_keys_may_match_offsets64(data, sizeof(data), offsets64, KEYS, filter,
                                                      length, results, bitmap, &matches);
    } else {
      status = leveldb_bloom_keys_may_match_fixed(data, KEY_LENGTH, KEYS, filter, length, results,
                                                  bitmap, &matches);
    }
    CheckCondition(status == LEVELDB_BLOOM_OK);
    ones = 0;
    for (i = 0; i < KEYS; i++) {
      const uint8_t answer = leveldb_bloom_key_may_match(slices[i].data, KEY_LENGTH, filter, length);
      CheckCondition(results[i] == answer);
      CheckCondition((bitmap[i / 8] >> (i % 8) & 1) == answer);
      CheckCondition(answer == 1 || i % 2 == 1);
      CheckCondition(leveldb_bloom_hash_may_match(
                         leveldb_bloom_hash(slices[i].data, KEY_LENGTH), filter, length) == answer);
      ones += answer;
    }
    CheckCondition(matches == ones && ones >= half && ones < KEYS);
    /* Nothing beyond the last key, but the bits of its byte. */
    CheckCondition(results[KEYS] == 9);
    CheckCondition(bitmap[KEYS / 8] >> (KEYS % 8) == 0);
    CheckCondition(bitmap[KEYS / 8 + 1] == 0xff);
  }

  StartPhase("flat queries, odd arguments");
  CheckCondition(leveldb_bloom_keys_may_match_offsets32(data, sizeof(data), offsets32, KEYS, filter,
                                                        length, NULL, NULL, NULL) ==
                 LEVELDB_BLOOM_OK);
  matches = 77;
  INVALID(leveldb_bloom_keys_may_match_offsets32(data, sizeof(data), NULL, KEYS, filter, length,
                                                 results, bitmap, &matches));
  INVALID(leveldb_bloom_keys_may_match_offsets64(data, 1, offsets64, KEYS, filter, length, results,
                                                 bitmap, &matches));
  INVALID(leveldb_bloom_keys_may_match_fixed(data, SIZE_MAX, KEYS, filter, length, results, bitmap,
                                             &matches));
  CheckCondition(matches == 77 && results[0] == 1);
  CheckCondition(leveldb_bloom_keys_may_match_fixed(NULL, 0, 3, filter, 0, results, bitmap,
                                                    &matches) == LEVELDB_BLOOM_OK);
  CheckCondition(matches == 0 && results[0] == 0 && bitmap[0] == 0);
  leveldb_bloom_policy_destroy(policy);
}

static void TestManyFilters(void) {
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  struct leveldb_bloom_slice filters[KEYS + 3];
  char filter[KEYS][9];
  uint8_t results[KEYS + 3];
  size_t i, ones = 0;

  StartPhase("many filters");
  for (i = 0; i < KEYS; i++) {
    CheckCondition(leveldb_bloom_fill_filter(policy, &slices[i % 5], 1, filter[i], 9) ==
                   LEVELDB_BLOOM_OK);
    filters[i].data = filter[i];
    filters[i].size = 9;
  }
  /* An empty filter, one that is not there, and one that matches everything. */
  filters[KEYS].data = NULL;
  filters[KEYS].size = 0;
  filters[KEYS + 1].data = NULL;
  filters[KEYS + 1].size = 99;
  filters[KEYS + 2].data = "\0\x1f";
  filters[KEYS + 2].size = 2;
  for (i = 0; i < KEYS; i++) {
    ones += leveldb_bloom_key_may_match(slices[3].data, KEY_LENGTH, filter[i], 9);
  }
  CheckCondition(ones >= KEYS / 5 && ones < KEYS / 2);
  CheckCondition(leveldb_bloom_filters_may_match(slices[3].data, KEY_LENGTH, filters, KEYS + 3,
                                                 results) == ones + 1);
  for (i = 0; i < KEYS; i++) {
    CheckCondition(results[i] ==
                   leveldb_bloom_key_may_match(slices[3].data, KEY_LENGTH, filter[i], 9));
  }
  CheckCondition(results[KEYS] == 0 && results[KEYS + 1] == 0 && results[KEYS + 2] == 1);
  CheckCondition(leveldb_bloom_filters_may_match(slices[3].data, KEY_LENGTH, filters, KEYS, NULL) ==
                 ones);
  results[0] = 9;
  CheckCondition(leveldb_bloom_filters_may_match(slices[3].data, KEY_LENGTH, NULL, KEYS, results) ==
                 0);
  CheckCondition(results[0] == 9);
  CheckCondition(leveldb_bloom_filters_may_match(NULL, 0, filters, 0, results) == 0);

  StartPhase("hash");
  CheckCondition(leveldb_bloom_hash(NULL, 0) == 0xbc9f1d34);
  CheckCondition(leveldb_bloom_hash("\x62", 1) == 0xef1345c4);
  CheckCondition(leveldb_bloom_hash_may_match(0, NULL, 0) == 0);
  CheckCondition(leveldb_bloom_hash_may_match(0, "\0\x1f", 2) == 1);
  leveldb_bloom_policy_destroy(policy);
}

static void TestBuilder(void) {
  struct leveldb_bloom_builder *builder = leveldb_bloom_builder_create(10),
                               *other = leveldb_bloom_builder_create(10);
  char filter[FILTER_LENGTH], part[FILTER_LENGTH];
  size_t i;

  StartPhase("builder");
  CheckCondition(builder != NULL && other != NULL);
  CheckCondition(leveldb_bloom_builder_filter_size(builder, 0) == 9);
  for (i = 0; i < KEYS; i++) {
    CheckCondition(leveldb_bloom_builder_add(builder, slices[i].data, KEY_LENGTH) ==
                   LEVELDB_BLOOM_OK);
  }
  CheckCondition(leveldb_bloom_builder_num_keys(builder) == KEYS);
  CheckCondition(leveldb_bloom_builder_filter_size(builder, 0) == FILTER_LENGTH);
  memset(filter, 0xff, sizeof(filter));
  CheckCondition(leveldb_bloom_builder_finish(builder, 0, filter, sizeof(filter)) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);
  CheckCondition(leveldb_bloom_builder_num_keys(builder) == 0);

  StartPhase("builder, parts");
  CheckCondition(leveldb_bloom_builder_add_offsets32(builder, data, sizeof(data), offsets32, 300) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(leveldb_bloom_builder_add_offsets64(builder, data, sizeof(data), offsets64 + 300,
                                                     200) == LEVELDB_BLOOM_OK);
  CheckCondition(leveldb_bloom_builder_add_fixed(other, data + 500 * KEY_LENGTH, KEY_LENGTH,
                                                 KEYS - 500) == LEVELDB_BLOOM_OK);
  CheckCondition(leveldb_bloom_builder_num_keys(builder) == 500);
  CheckCondition(leveldb_bloom_builder_filter_size(builder, KEYS) == FILTER_LENGTH);
  CheckCondition(leveldb_bloom_builder_finish(builder, KEYS, filter, sizeof(filter)) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(leveldb_bloom_builder_finish(other, KEYS, part, sizeof(part)) == LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, expected, sizeof(filter)) != 0);
  CheckCondition(memcmp(part, expected, sizeof(filter)) != 0);
  CheckCondition(leveldb_bloom_union(filter, sizeof(filter), part, sizeof(part)) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);
  CheckCondition(leveldb_bloom_union(filter, sizeof(filter), filter, sizeof(filter)) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);

  StartPhase("builder, odd arguments");
  INVALID(leveldb_bloom_builder_add(NULL, "a", 1));
  INVALID(leveldb_bloom_builder_add(builder, NULL, 1));
  INVALID(leveldb_bloom_builder_add_offsets32(NULL, data, sizeof(data), offsets32, 1));
  INVALID(leveldb_bloom_builder_add_offsets32(builder, data, 1, offsets32, 1));
  INVALID(leveldb_bloom_builder_add_offsets64(builder, data, 1, offsets64, 1));
  INVALID(leveldb_bloom_builder_add_fixed(builder, data, SIZE_MAX, SIZE_MAX));
  CheckCondition(leveldb_bloom_builder_add_fixed(builder, NULL, 0, SIZE_MAX) ==
                 LEVELDB_BLOOM_NO_MEMORY);
  CheckCondition(leveldb_bloom_builder_num_keys(builder) == 0);
  CheckCondition(leveldb_bloom_builder_add(builder, NULL, 0) == LEVELDB_BLOOM_OK);
  CheckCondition(leveldb_bloom_builder_add_offsets32(builder, NULL, 0, NULL, 0) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(leveldb_bloom_builder_num_keys(builder) == 1);
  INVALID(leveldb_bloom_builder_finish(NULL, 0, filter, 9));
  INVALID(leveldb_bloom_builder_finish(builder, 0, NULL, 9));
  INVALID(leveldb_bloom_builder_finish(builder, 0, filter, 10));
  CheckCondition(leveldb_bloom_builder_finish(builder, SIZE_MAX, filter, 9) ==
                 LEVELDB_BLOOM_TOO_LARGE);
  CheckCondition(leveldb_bloom_builder_finish(builder, SIZE_MAX, NULL, 9) ==
                 LEVELDB_BLOOM_TOO_LARGE);
  CheckCondition(leveldb_bloom_builder_finish(builder, 0, filter, 9) == LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, "\x08\x00\x04\x00\x02\x00\x11\x80\x06", 9) == 0);
  CheckCondition(leveldb_bloom_builder_num_keys(NULL) == 0);
  CheckCondition(leveldb_bloom_builder_filter_size(NULL, 1) == 0);
  CheckCondition(leveldb_bloom_builder_filter_size(builder, SIZE_MAX) == 0);
  INVALID(leveldb_bloom_union(NULL, 9, filter, 9));
  INVALID(leveldb_bloom_union(filter, 9, NULL, 9));
  memcpy(filter, "\1\2\3\4\5\6\7\10\6", 9);
  CheckCondition(leveldb_bloom_union(filter, 9, expected, FILTER_LENGTH) == LEVELDB_BLOOM_MISMATCH);
  CheckCondition(leveldb_bloom_union(filter, 9, "\377\377\377\377\377\377\377\377\7", 9) ==
                 LEVELDB_BLOOM_MISMATCH);
  CheckCondition(memcmp(filter, "\1\2\3\4\5\6\7\10\6", 9) == 0);
  memcpy(filter, "\1\6", 2);
  CheckCondition(leveldb_bloom_union(filter, 2, "\202\6", 2) == LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, "\203\6", 2) == 0);
  CheckCondition(leveldb_bloom_union(filter, 1, filter, 1) == LEVELDB_BLOOM_MISMATCH);
  CheckCondition(leveldb_bloom_union(filter, 0, part, 0) == LEVELDB_BLOOM_MISMATCH);
  CheckCondition(leveldb_bloom_union(NULL, 0, NULL, 0) == LEVELDB_BLOOM_MISMATCH);
  leveldb_bloom_builder_destroy(builder);
  leveldb_bloom_builder_destroy(other);
  leveldb_bloom_builder_destroy(NULL);
}

static void TestSizing(void) {
  double rate;
  StartPhase("sizing");
  rate = leveldb_bloom_false_positive_rate(10, 1000);
  CheckCondition(rate > 0.008 && rate < 0.009);
  rate = leveldb_bloom_false_positive_rate(20, 50000000);
  CheckCondition(rate > 0.0115 && rate < 0.0118);
  CheckCondition(leveldb_bloom_false_positive_rate(2147483647, SIZE_MAX) == 1);
  CheckCondition(leveldb_bloom_false_positive_rate(-1, 0) == 0);
  CheckCondition(leveldb_bloom_bits_per_key_for(0.01, 1000) == 10);
  CheckCondition(leveldb_bloom_bits_per_key_for(0.001, 50000000) == 0);
  CheckCondition(leveldb_bloom_bits_per_key_for(-1, 1) == 0);
  CheckCondition(leveldb_bloom_validate(10) == NULL);
  CheckCondition(strstr(leveldb_bloom_validate(0), "10 is usual") != NULL);
  CheckCondition(strstr(leveldb_bloom_validate(1 << 30), "for each key") != NULL);
}

static void TestInside(void) {
  struct leveldb_bloom_info info;
  uint64_t positions[30];
  size_t i, count;

  StartPhase("inside");
  CheckCondition(leveldb_bloom_inspect(expected, sizeof(expected), &info) == LEVELDB_BLOOM_OK);
  CheckCondition(info.probes == 6 && info.bits == (FILTER_LENGTH - 1) * 8 && info.reserved == 0);
  CheckCondition(info.fill > 0.4 && info.fill < 0.5);
  CheckCondition(info.fill == (double)info.bits_set / (double)info.bits);
  CheckCondition(info.estimated_keys > KEYS * 0.97 && info.estimated_keys < KEYS * 1.03);
  CheckCondition(info.false_positive_rate > 0.007 && info.false_positive_rate < 0.01);
  CheckCondition(leveldb_bloom_inspect(NULL, 0, &info) == LEVELDB_BLOOM_OK);
  CheckCondition(info.bits == 0 && info.probes == 0 && info.false_positive_rate == 0);
  CheckCondition(leveldb_bloom_inspect("\0\x1f", 2, &info) == LEVELDB_BLOOM_OK);
  CheckCondition(info.probes == 31 && info.false_positive_rate == 1);
  INVALID(leveldb_bloom_inspect(expected, sizeof(expected), NULL));
  INVALID(leveldb_bloom_inspect(NULL, 1, &info));

  StartPhase("positions");
  count = leveldb_bloom_positions(slices[0].data, KEY_LENGTH, expected, sizeof(expected), positions,
                                  30);
  CheckCondition(count == 6);
  for (i = 0; i < count; i++) {
    CheckCondition(positions[i] < (FILTER_LENGTH - 1) * 8);
    CheckCondition(((unsigned char)expected[positions[i] / 8] >> (positions[i] % 8) & 1) == 1);
  }
  CheckCondition(positions[0] ==
                 leveldb_bloom_hash(slices[0].data, KEY_LENGTH) % ((FILTER_LENGTH - 1) * 8));
  positions[1] = 77;
  CheckCondition(leveldb_bloom_positions("a", 1, expected, sizeof(expected), positions, 1) == 6);
  CheckCondition(positions[1] == 77);
  CheckCondition(leveldb_bloom_positions("a", 1, expected, sizeof(expected), NULL, 30) == 6);
  CheckCondition(leveldb_bloom_positions("a", 1, "\0\x1f", 2, positions, 30) == 0);
  CheckCondition(leveldb_bloom_positions("a", 1, NULL, 0, positions, 30) == 0);
}

static void TestLifetime(void) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  const size_t living = leveldb_bloom_live_policies();
  struct leveldb_bloom_policy *shared, *policy;
  struct leveldb_filterpolicy_t *shared_filterpolicy, *filterpolicy;
  char filter[FILTER_LENGTH];
  int i;

  StartPhase("shared policies");
  shared = leveldb_bloom_policy_shared(10);
  shared_filterpolicy = leveldb_bloom_filterpolicy_shared(10);
  CheckCondition(shared != NULL && shared_filterpolicy != NULL);
  CheckCondition(shared != leveldb_bloom_policy_shared(11));
  CheckCondition(shared_filterpolicy != leveldb_bloom_filterpolicy_shared(11));
  CheckCondition(leveldb_bloom_policy_shared(0) == leveldb_bloom_policy_shared(-5));
  for (i = 0; i < 3; i++) {
    CheckCondition(leveldb_bloom_policy_shared(10) == shared);
    CheckCondition(leveldb_bloom_filterpolicy_shared(10) == shared_filterpolicy);
    leveldb_bloom_policy_destroy(shared);
    table->destructor(shared);
    leveldb_filterpolicy_destroy(shared_filterpolicy);
    CheckCondition(leveldb_bloom_fill_filter(shared, slices, KEYS, filter, sizeof(filter)) ==
                   LEVELDB_BLOOM_OK);
    CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);
  }
  CheckCondition(leveldb_bloom_live_policies() == living);

  StartPhase("live policies");
  policy = leveldb_bloom_policy_create(10);
  CheckCondition(leveldb_bloom_live_policies() == living + 1);
  filterpolicy = leveldb_filterpolicy_create_bloom(10);
  CheckCondition(leveldb_bloom_live_policies() == living + 2);
  leveldb_bloom_policy_destroy(policy);
  leveldb_filterpolicy_destroy(filterpolicy);
  CheckCondition(leveldb_bloom_live_policies() == living);
  /* Of a policy of callbacks, the state counts, if it is one of ours. */
  filterpolicy = leveldb_filterpolicy_create(leveldb_bloom_policy_create(10), table->destructor,
                                             table->create_filter, table->key_may_match, table->name);
  CheckCondition(leveldb_bloom_live_policies() == living + 1);
  leveldb_filterpolicy_destroy(filterpolicy);
  CheckCondition(leveldb_bloom_live_policies() == living);
  filterpolicy = leveldb_filterpolicy_create(NULL, table->destructor, table->create_filter,
                                             table->key_may_match, table->name);
  CheckCondition(filterpolicy != NULL && leveldb_bloom_live_policies() == living);
  leveldb_filterpolicy_destroy(filterpolicy);
}

/* What is before the first '#' counts, in lower case; "grow" in the state has it ask for more room
 * than any key needs, "liar" for ever more. */
static size_t Canonical(void* state, const char* key, size_t key_length, char* buffer,
                        size_t buffer_length) {
  const char* mode = (const char*)state;
  size_t i, length = 0;
  while (length < key_length && key[length] != '#') length++;
  if (strcmp(mode, "liar") == 0) return buffer_length + 1;
  if (strcmp(mode, "grow") == 0) {
    memset(buffer, 0, buffer_length);
    length = 1000;
  }
  for (i = 0; i < length && i < buffer_length && i < key_length && key[i] != '#'; i++) {
    buffer[i] = (char)(key[i] >= 'A' && key[i] <= 'Z' ? key[i] + 32 : key[i]);
  }
  return length;
}

/* The key, but no form of the empty one. */
static size_t Short(void* state, const char* key, size_t key_length, char* buffer,
                    size_t buffer_length) {
  (void)state;
  CheckCondition(key != NULL);
  if (key_length == 0) return buffer_length + 1;
  if (key_length <= buffer_length) memcpy(buffer, key, key_length);
  return key_length;
}

static int states_destroyed = 0;
static void DestroyState(void* state) {
  (void)state;
  states_destroyed++;
}

static size_t WhileTheStateLives(void* state, const char* key, size_t key_length, char* buffer,
                                 size_t buffer_length) {
  (void)state, (void)key, (void)key_length, (void)buffer, (void)buffer_length;
  CheckCondition(states_destroyed == 0);
  return 0;
}

static void TestTransform(void) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  const size_t living = leveldb_bloom_live_policies();
  static const char* const kKeys[] = {"HELLO#1", "World"};
  static const size_t kLengths[] = {7, 5};
  static const struct leveldb_bloom_slice kSlices[] = {{"HELLO#1", 7}, {"World", 5}};
  static const char kGolden[] = "\x11\x40\x00\x41\x44\x10\x40\x10\x06";
  char plain[] = "plain", grow[] = "grow", liar[] = "liar", name[] = "example.Canonical", buffer[9];
  struct leveldb_bloom_policy* policy;
  size_t length;
  char* filter;

  StartPhase("transform");
  policy = leveldb_bloom_policy_create_transformed(10, name, Canonical, DestroyState, plain);
  CheckCondition(policy != NULL);
  name[0] = '?';
  CheckCondition(strcmp(table->name(policy), "example.Canonical") == 0);
  filter = table->create_filter(policy, kKeys, kLengths, 2, &length);
  CheckCondition(length == 9 && memcmp(filter, kGolden, 9) == 0);
  CheckCondition(table->key_may_match(policy, "hello", 5, filter, length) == 1);
  CheckCondition(table->key_may_match(policy, "wOrLd#2", 7, filter, length) == 1);
  CheckCondition(table->key_may_match(policy, "absent", 6, filter, length) == 0);
  CheckCondition(table->key_may_match(policy, "hello", 5, NULL, 0) == 0);
  CheckCondition(table->key_may_match(policy, "hello", 5, "\x1f", 1) == 0);
  leveldb_bloom_free(filter);
  filter = leveldb_bloom_create_filter(policy, kKeys, kLengths, 2, &length);
  CheckCondition(length == 9 && memcmp(filter, kGolden, 9) == 0);
  leveldb_bloom_free(filter);
  CheckCondition(leveldb_bloom_fill_filter(policy, kSlices, 2, buffer, 9) == LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(buffer, kGolden, 9) == 0);
  CheckCondition(leveldb_bloom_fill_filter_fixed(policy, "A#Aa", 2, 2, buffer, 9) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(table->key_may_match(policy, "a", 1, buffer, 9) == 1);
  CheckCondition(table->key_may_match(policy, "AA", 2, buffer, 9) == 1);
  CheckCondition(leveldb_bloom_live_policies() == living + 1);
  leveldb_bloom_policy_destroy(policy);
  CheckCondition(states_destroyed == 1);

  StartPhase("transform, long forms");
  policy = leveldb_bloom_policy_create_transformed(10, "example.Long", Canonical, NULL, grow);
  filter = table->create_filter(policy, kKeys, kLengths, 2, &length);
  CheckCondition(filter != NULL && length == 9 && memcmp(filter, kGolden, 9) != 0);
  CheckCondition(table->key_may_match(policy, "hello", 5, filter, length) == 1);
  CheckCondition(table->key_may_match(policy, "absent", 6, filter, length) == 0);
  leveldb_bloom_free(filter);
  leveldb_bloom_policy_destroy(policy);

  /* It never gets a key's form, so it must not say that a key is absent. */
  StartPhase("transform, without an end");
  policy = leveldb_bloom_policy_create_transformed(10, "example.Liar", Canonical, NULL, liar);
  filter = table->create_filter(policy, kKeys, kLengths, 2, &length);
  CheckCondition(filter != NULL && (unsigned char)filter[length - 1] > 30);
  CheckCondition(table->key_may_match(policy, "hello", 5, filter, length) == 1);
  CheckCondition(table->key_may_match(policy, "hello", 5, "\0\0\0\0\0\0\0\0\6", 9) == 1);
  leveldb_bloom_free(filter);
  CheckCondition(leveldb_bloom_create_filter(policy, kKeys, kLengths, 2, &length) == NULL);
  CheckCondition(leveldb_bloom_fill_filter(policy, kSlices, 2, buffer, 9) ==
                 LEVELDB_BLOOM_NO_MEMORY);
  leveldb_bloom_policy_destroy(policy);

  /* All keys but one have a form; the filter that is left behind loses none of them. */
  StartPhase("transform, one key without a form");
  {
    static const size_t kWithout[] = {0, KEYS / 2, KEYS - 1};
    char many[FILTER_LENGTH];
    int32_t offsets[KEYS + 1];
    size_t i, way;
    policy = leveldb_bloom_policy_create_transformed(10, "example.Short", Short, NULL, NULL);
    for (way = 0; way < 6; way++) {
      const size_t without = kWithout[way / 2];
      int status;
      slices[without].size = 0;
      offsets[0] = without == 0 ? KEY_LENGTH : 0;
      for (i = 0; i < KEYS; i++) offsets[i + 1] = offsets[i] + (int32_t)slices[i].size;
      memset(many, 0, sizeof(many));
      status = way % 2 == 0
                   ? leveldb_bloom_fill_filter(policy, slices, KEYS, many, sizeof(many))
                   : leveldb_bloom_fill_filter_offsets32(policy, data, sizeof(data), offsets, KEYS,
                                                         many, sizeof(many));
      CheckCondition(status == LEVELDB_BLOOM_NO_MEMORY);
      slices[without].size = KEY_LENGTH;
      for (i = 0; i < KEYS; i++) {
        CheckCondition(table->key_may_match(policy, slices[i].data, KEY_LENGTH, many,
                                            sizeof(many)) == 1);
      }
    }
    leveldb_bloom_policy_destroy(policy);
  }

  StartPhase("transform, odd arguments");
#define REFUSED(name, transform) \
  CheckCondition(                \
      leveldb_bloom_policy_create_transformed(10, name, transform, DestroyState, plain) == NULL)
  REFUSED(NULL, Canonical);
  REFUSED("", Canonical);
  REFUSED("leveldb.BuiltinBloomFilter2", Canonical);
  REFUSED("leveldb.BuiltinBloomFilter", Canonical);
  REFUSED("example.Canonical", NULL);
  CheckCondition(states_destroyed == 1);
  CheckCondition(leveldb_bloom_live_policies() == living);
}

static void TestNames(void) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create_goleveldb(10);
  char filter[FILTER_LENGTH];
  int status, other;

  StartPhase("goleveldb");
  CheckCondition(strcmp(table->name(policy), "leveldb.BuiltinBloomFilter") == 0);
  CheckCondition(strcmp(table->name(NULL), "leveldb.BuiltinBloomFilter2") == 0);
  CheckCondition(leveldb_bloom_fill_filter(policy, slices, KEYS, filter, sizeof(filter)) ==
                 LEVELDB_BLOOM_OK);
  CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);
  leveldb_bloom_policy_destroy(policy);

  StartPhase("versions");
  CheckCondition(strcmp(leveldb_bloom_version(), LEVELDB_BLOOM_VERSION) == 0);
  CheckCondition(leveldb_bloom_version_number() == LEVELDB_BLOOM_VERSION_NUMBER);

  StartPhase("status messages");
  for (status = -1; status <= 5; status++) {
    CheckCondition(strlen(leveldb_bloom_status_message(status)) > 3);
    for (other = 0; other < 5; other++) {
      CheckCondition((strcmp(leveldb_bloom_status_message(status),
                             leveldb_bloom_status_message(other)) == 0) == (status == other));
    }
  }
  CheckCondition(leveldb_bloom_status_message(-1) == leveldb_bloom_status_message(99));
}

/* To be run with LEVELDB_BLOOM_CHECK, which makes it harmless. */
static int Misuse(const char* what) {
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  struct leveldb_bloom_policy* policy = leveldb_bloom_policy_create(10);
  struct leveldb_filterpolicy_t* filterpolicy = leveldb_filterpolicy_create_bloom(11);
  char filter[FILTER_LENGTH];
  if (getenv("LEVELDB_BLOOM_CHECK") == NULL) return 2;
  if (strcmp(what, "--create-and-destroy") == 0) {
    leveldb_bloom_policy_destroy(policy);
    leveldb_filterpolicy_destroy(filterpolicy);
    CheckCondition(leveldb_bloom_live_policies() == 0);
    fprintf(stderr, "PASS\n");
    return 0;
  }
  CheckCondition(leveldb_bloom_live_policies() == 2);
  leveldb_bloom_policy_destroy(policy);
  leveldb_filterpolicy_destroy(filterpolicy);
  CheckCondition(leveldb_bloom_live_policies() == 0);
  if (strcmp(what, "--use-after-destroy") == 0) {
    CheckCondition(leveldb_bloom_fill_filter(policy, slices, KEYS, filter, sizeof(filter)) ==
                   LEVELDB_BLOOM_OK);
    CheckCondition(memcmp(filter, expected, sizeof(filter)) == 0);
    CheckCondition(table->key_may_match(policy, slices[0].data, KEY_LENGTH, filter,
                                        sizeof(filter)) == 1);
  } else if (strcmp(what, "--query-after-destroy") == 0) {
    CheckCondition(table->key_may_match(policy, slices[0].data, KEY_LENGTH, expected,
                                        FILTER_LENGTH) == 1);
    CheckCondition(table->key_may_match(policy, "absent", 6, expected, FILTER_LENGTH) == 0);
  } else if (strcmp(what, "--use-transformed-after-destroy") == 0) {
    policy = leveldb_bloom_policy_create_transformed(12, "example.Living", WhileTheStateLives,
                                                     DestroyState, NULL);
    leveldb_bloom_policy_destroy(policy);
    CheckCondition(states_destroyed == 1);
    CheckCondition(leveldb_bloom_fill_filter(policy, slices, 1, filter, 9) ==
                   LEVELDB_BLOOM_NO_MEMORY);
    CheckCondition(table->key_may_match(policy, "a", 1, "\0\6", 2) == 1);
  } else if (strcmp(what, "--destroy-again") == 0) {
    leveldb_filterpolicy_destroy(filterpolicy);
    leveldb_filterpolicy_destroy(filterpolicy);
    CheckCondition(leveldb_bloom_live_policies() == 0);
  } else {
    fprintf(stderr, "what is %s?\n", what);
    return 2;
  }
  fprintf(stderr, "PASS\n");
  return 0;
}

int main(int argc, char** argv) {
  SetUp();
  if (argc > 1) return Misuse(argv[1]);
  TestFlatFilters();
  TestFlatQueries();
  TestNoLength();
  TestNullWithALength();
  TestManyFilters();
  TestBuilder();
  errno = 77;
  TestSizing();
  TestInside();
  TestLifetime();
  CheckCondition(errno == 77);
  TestTransform();
  TestNames();
  fprintf(stderr, "PASS\n");
  return 0;
}
