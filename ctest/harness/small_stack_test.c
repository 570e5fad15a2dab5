/* What the first call of a process takes of the stack, which checks the kernel, and what filters take.
 * README.md says how much, for those who have little. */

#include <leveldb_bloom.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 1 << 18, PATTERN = 0xa5, MANY = 200 };

static const struct {
  const char *name;
  int most;
} calls[] = {{"nothing", 0},
             {"a policy", 11776},
             {"a policy of LevelDB's", 11776},
             {"a query", 11776},
             {"what is active", 11776},
             {"filters", 11776},
             {"a query for many keys", 14336},
             {"a query of many filters", 14336}};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* Filters of every number of keys that some kernel makes in a way of its own, short and long ones. */
static void make_filters(void) {
  static const size_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 20, 33, 64, 65, 200, 410, 1000, 3300};
  static const size_t lengths[] = {0, 4, 16, 64, 200};
  enum { MOST_KEYS = 3300 };
  static const char bytes[256];
  static const char *keys[MOST_KEYS];
  static size_t key_lengths[MOST_KEYS];
  size_t number, length, i;
  int bits;
  for (bits = 0; bits <= 20; bits += 10) {
    struct leveldb_bloom_policy *const policy = leveldb_bloom_policy_create(bits);
    for (length = 0; length < sizeof lengths / sizeof lengths[0]; length++) {
      for (i = 0; i < MOST_KEYS; i++) {
        keys[i] = bytes + i % 56;
        key_lengths[i] = lengths[length];
      }
      for (number = 0; number < sizeof numbers / sizeof numbers[0]; number++) {
        size_t filter_length;
        leveldb_bloom_free(leveldb_bloom_vtable()->create_filter(
            policy, keys, key_lengths, (int)numbers[number], &filter_length));
      }
    }
    leveldb_bloom_policy_destroy(policy);
  }
}

static void *make(void *call) {
  static const char filter[9] = {0, 0, 0, 0, 0, 0, 0, 0, 6};
  static const char *keys[MANY];
  static struct leveldb_bloom_slice filters[MANY];
  static size_t key_lengths[MANY];
  static uint8_t results[MANY];
  switch (*(int *)call) {
    case 0:
      break;
    case 1:
      leveldb_bloom_policy_destroy(leveldb_bloom_policy_create(10));
      break;
    case 2:
      leveldb_filterpolicy_destroy(leveldb_filterpolicy_create_bloom(10));
      break;
    case 3:
      leveldb_bloom_key_may_match("a", 1, filter, sizeof filter);
      break;
    case 4:
      leveldb_bloom_active();
      break;
    case 5:
      make_filters();
      break;
    case 6:
      leveldb_bloom_keys_may_match(keys, key_lengths, MANY, filter, sizeof filter, results);
      break;
    default:
      leveldb_bloom_filters_may_match("a", 1, filters, MANY, results);
  }
  return NULL;
}

/* How many bytes of its stack a thread writes that makes this call; -1 without a thread. */
static int written(int call) {
  pthread_attr_t attributes;
  pthread_t thread;
  int left = 0;
  unsigned char *const stack =
      mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return -1;
  memset(stack, PATTERN, STACK);
  if (pthread_attr_init(&attributes) != 0 ||
      pthread_attr_setstack(&attributes, stack, STACK) != 0 ||
      pthread_create(&thread, &attributes, make, &call) != 0 || pthread_join(thread, NULL) != 0) {
    return -1;
  }
  while (left < STACK && stack[left] == PATTERN) left++;
  return STACK - left;
}

int main(void) {
  int call, failed = 0;
  for (call = 1; call < CALLS; call++) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
      /* Twice: the first thread of a process does more. */
      const int before = written(0) < 0 ? -1 : written(0), after = written(call);
      printf("%s: %d bytes\n", calls[call].name, after - before);
      fflush(stdout);
      _exit(before < 0 || after - before < 1000 || after - before > calls[call].most);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
      fprintf(stderr, "%s: status %d\n", calls[call].name, status);
      failed = 1;
    }
  }
  return failed;
}
