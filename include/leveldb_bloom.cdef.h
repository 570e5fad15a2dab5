/* The declarations of leveldb_bloom.h without a preprocessor, for LuaJIT's ffi.cdef, Python's cffi
 * and whatever else parses C by itself. Generated from leveldb_bloom.h, which explains them. */

enum {
  LEVELDB_BLOOM_OK = 0,
  LEVELDB_BLOOM_INVALID_ARGUMENT = 1,
  LEVELDB_BLOOM_TOO_LARGE = 2
};

struct leveldb_bloom_policy;

struct leveldb_filterpolicy_t;

struct leveldb_bloom_vtable {
  void (*destructor)(void *state);
  char *(*create_filter)(void *state,
                         const char *const *key_array,
                         const size_t *key_length_array,
                         int num_keys,
                         size_t *filter_length);
  uint8_t (*key_may_match)(void *state,
                           const char *key,
                           size_t length,
                           const char *filter,
                           size_t filter_length);
  const char *(*name)(void *state);
};

struct leveldb_bloom_slice {
  const char *data;
  size_t size;
};

struct leveldb_filterpolicy_t *leveldb_filterpolicy_create_bloom(int bits_per_key);

struct leveldb_filterpolicy_t *leveldb_filterpolicy_create(void *state,
                                                           void (*destructor)(void*),
                                                           char *(*create_filter)(void*,
                                                                                  const char *const *key_array,
                                                                                  const size_t *key_length_array,
                                                                                  int num_keys,
                                                                                  size_t *filter_length),
                                                           uint8_t (*key_may_match)(void*,
                                                                                    const char *key,
                                                                                    size_t length,
                                                                                    const char *filter,
                                                                                    size_t filter_length),
                                                           const char *(*name)(void*));

void leveldb_filterpolicy_destroy(struct leveldb_filterpolicy_t *policy);

struct leveldb_bloom_policy *leveldb_bloom_policy_create(int bits_per_key);

void leveldb_bloom_policy_destroy(struct leveldb_bloom_policy *policy);

const struct leveldb_bloom_vtable *leveldb_bloom_vtable(void);

size_t leveldb_bloom_filter_size(const struct leveldb_bloom_policy *policy, size_t num_keys);

char *leveldb_bloom_create_filter(const struct leveldb_bloom_policy *policy,
                                  const char *const *keys,
                                  const size_t *key_lengths,
                                  size_t num_keys,
                                  size_t *filter_length);

int leveldb_bloom_fill_filter(const struct leveldb_bloom_policy *policy,
                              const struct leveldb_bloom_slice *keys,
                              size_t num_keys,
                              char *filter,
                              size_t filter_length);

uint8_t leveldb_bloom_key_may_match(const char *key,
                                    size_t key_length,
                                    const char *filter,
                                    size_t filter_length);

size_t leveldb_bloom_keys_may_match(const char *const *keys,
                                    const size_t *key_lengths,
                                    size_t num_keys,
                                    const char *filter,
                                    size_t filter_length,
                                    uint8_t *results);

void leveldb_bloom_free(void *memory);

const char *leveldb_bloom_kernel(const struct leveldb_bloom_policy *policy);

const char *leveldb_bloom_active(void);
