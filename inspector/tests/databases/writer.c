// Writes a database with Debian's LevelDB:
//
//   writer FOLDER KEYS VALUE_BYTES COMPRESSION BITS_PER_KEY MODE
//
// COMPRESSION is 0 (none) or 1 (snappy); BITS_PER_KEY below 0 is no filter policy. MODE:
//   plain      key00000000, key00000001, ...
//   large      the same in blocks of 19 KiB
//   one        the same in one table, of at most 64 MiB
//   sharing    30,000 bytes before each key, in one block, which shares them
//   levels     the same three times over, with values that are deleted in between, not compacted
//   reverse    a comparator that sorts backwards
//   suffix     keys with 8 bytes of time at their end, filters made for what is before, named so
//   misnamed   the same, with the name of LevelDB's own policy
//   busy       writes and compacts until stdin is closed

#include <leveldb/c.h>
#include <leveldb_bloom.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(char *error) {
  if (error != NULL) {
    fprintf(stderr, "%s\n", error);
    exit(1);
  }
}

static int reversed(void *state, const char *a, size_t a_len, const char *b, size_t b_len) {
  (void)state;
  int order = memcmp(b, a, a_len < b_len ? a_len : b_len);
  return order != 0 ? order : (b_len > a_len) - (b_len < a_len);
}
static const char *reversed_name(void *state) {
  (void)state;
  return "test.Reversed";
}
static void nothing(void *state) { (void)state; }

enum { SUFFIX = 8 };
static const char *suffix_policy_name;

static char *create_without_suffix(void *policy, const char *const *keys, const size_t *lengths,
                                   int num_keys, size_t *filter_length) {
  size_t *shorter = malloc(sizeof *shorter * (size_t)num_keys);
  for (int i = 0; i < num_keys; i++) {
    shorter[i] = lengths[i] < SUFFIX ? 0 : lengths[i] - SUFFIX;
  }
  char *filter = leveldb_bloom_create_filter(policy, keys, shorter, (size_t)num_keys, filter_length);
  free(shorter);
  return filter;
}
static uint8_t matches_without_suffix(void *policy, const char *key, size_t length,
                                      const char *filter, size_t filter_length) {
  (void)policy;
  return leveldb_bloom_key_may_match(key, length < SUFFIX ? 0 : length - SUFFIX, filter,
                                     filter_length);
}
static const char *name_without_suffix(void *policy) {
  (void)policy;
  return suffix_policy_name;
}
static void destroy_bloom(void *policy) { leveldb_bloom_policy_destroy(policy); }

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: writer FOLDER KEYS VALUE_BYTES COMPRESSION BITS_PER_KEY MODE\n");
    return 2;
  }
  // The databases are what ours is compared with.
  if (strncmp(leveldb_bloom_active(), "original", strlen("original")) != 0) {
    fprintf(stderr, "the filters would not be LevelDB's own: %s\n", leveldb_bloom_active());
    return 1;
  }
  const char *folder = argv[1], *mode = argv[6];
  int keys = atoi(argv[2]), bits_per_key = atoi(argv[5]);
  size_t value_len = (size_t)atoi(argv[3]);
  leveldb_options_t *options = leveldb_options_create();
  leveldb_options_set_create_if_missing(options, 1);
  leveldb_options_set_compression(options, atoi(argv[4]));
  int with_suffix = strcmp(mode, "suffix") == 0 || strcmp(mode, "misnamed") == 0;
  if (with_suffix) {
    suffix_policy_name =
        strcmp(mode, "suffix") == 0 ? "test.WithoutTime" : "leveldb.BuiltinBloomFilter2";
    leveldb_options_set_filter_policy(
        options, leveldb_filterpolicy_create(leveldb_bloom_policy_create(bits_per_key),
                                             destroy_bloom, create_without_suffix,
                                             matches_without_suffix, name_without_suffix));
  } else if (bits_per_key >= 0) {
    leveldb_options_set_filter_policy(options, leveldb_filterpolicy_create_bloom(bits_per_key));
  }
  if (strcmp(mode, "reverse") == 0) {
    leveldb_options_set_comparator(
        options, leveldb_comparator_create(NULL, nothing, reversed, reversed_name));
  }
  if (strcmp(mode, "large") == 0) {
    leveldb_options_set_block_size(options, 19 << 10);
  }
  if (strcmp(mode, "one") == 0) {
    leveldb_options_set_write_buffer_size(options, 64 << 20);
    leveldb_options_set_max_file_size(options, 64 << 20);
  }
  size_t before = 0;
  if (strcmp(mode, "sharing") == 0) {
    before = 30000;
    leveldb_options_set_block_restart_interval(options, 100000);
    leveldb_options_set_block_size(options, 8 << 20);
    leveldb_options_set_write_buffer_size(options, (size_t)1 << 30);
  }
  int busy = strcmp(mode, "busy") == 0, levels = strcmp(mode, "levels") == 0;
  if (busy || levels) {
    leveldb_options_set_write_buffer_size(options, 64 << 10);
  }
  char *error = NULL;
  leveldb_t *db = leveldb_open(options, folder, &error);
  check(error);
  leveldb_writeoptions_t *write = leveldb_writeoptions_create();
  char *value = malloc(value_len + 1), *key = malloc(before + 64);
  memset(key, 'k', before);
  uint32_t random = 1;
  struct pollfd input = {.fd = 0, .events = POLLIN};
  for (int round = 0; busy ? poll(&input, 1, 0) == 0 : round < (levels ? 3 : 1); round++) {
    for (int i = 0; i < keys; i++) {
      size_t len = before + (size_t)snprintf(key + before, 64, "key%08d%s", i,
                                             with_suffix ? "@0000000" : "");
      if (with_suffix) {
        key[len - 1] = (char)('0' + i % 10);
      }
      if (levels && round == 1 && i % 3 == 0) {
        leveldb_delete(db, write, key, len, &error);
        check(error);
        continue;
      }
      for (size_t j = 0; j < value_len; j++) {
        random = random * 1103515245 + 12345;
        value[j] = j % 4 == 0 ? (char)('a' + (random >> 16) % 16) : 'x';
      }
      leveldb_put(db, write, key, len, value, value_len, &error);
      check(error);
    }
    if (busy) {
      leveldb_compact_range(db, NULL, 0, NULL, 0);
    }
  }
  if (!levels && !busy) {
    leveldb_compact_range(db, NULL, 0, NULL, 0);
  }
  leveldb_close(db);
  return 0;
}
