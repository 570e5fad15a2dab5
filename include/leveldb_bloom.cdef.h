/* The declarations of leveldb_bloom.h without a preprocessor, for LuaJIT's ffi.cdef, Python's cffi
 * and whatever else parses C by itself, and knows size_t and stdint.h's types. Beside the
 * declarations of LevelDB's own C API cffi takes them with override=True. Generated from
 * leveldb_bloom.h, which explains them. */

enum {
  LEVELDB_BLOOM_VERSION_NUMBER = 10000,
  LEVELDB_BLOOM_OK = 0,
  LEVELDB_BLOOM_INVALID_ARGUMENT = 1,
  LEVELDB_BLOOM_TOO_LARGE = 2,
  LEVELDB_BLOOM_NO_MEMORY = 3,
  LEVELDB_BLOOM_MISMATCH = 4,
  LEVELDB_BLOOM_ENCODING_BLOOM = 0,
  LEVELDB_BLOOM_ENCODING_RIBBON = 1
};

struct leveldb_bloom_builder;

struct leveldb_filterpolicy_t;

struct leveldb_bloom_policy;

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

struct leveldb_bloom_info {
  uint64_t bits;
  uint64_t bits_set;
  uint32_t probes;
  uint32_t encoding;
  double fill;
  double estimated_keys;
  double false_positive_rate;
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

struct leveldb_filterpolicy_t *leveldb_bloom_filterpolicy_create_ribbon(int bits_per_key);

struct leveldb_filterpolicy_t *leveldb_bloom_filterpolicy_shared(int bits_per_key);

const char *leveldb_bloom_active(void);

struct leveldb_bloom_policy *leveldb_bloom_policy_create(int bits_per_key);

struct leveldb_bloom_policy *leveldb_bloom_policy_create_ribbon(int bits_per_key);

struct leveldb_bloom_policy *leveldb_bloom_policy_create_default(int bits_per_key);

void leveldb_bloom_policy_destroy(struct leveldb_bloom_policy *policy);

struct leveldb_bloom_policy *leveldb_bloom_policy_create_transformed(int bits_per_key,
                                                                     const char *name,
                                                                     size_t (*transform)(void *state,
                                                                                         const char *key,
                                                                                         size_t key_length,
                                                                                         char *buffer,
                                                                                         size_t buffer_length),
                                                                     void (*destructor)(void *state),
                                                                     void *state);

struct leveldb_bloom_policy *leveldb_bloom_policy_create_goleveldb(int bits_per_key);

struct leveldb_bloom_policy *leveldb_bloom_policy_shared(int bits_per_key);

const char *leveldb_bloom_kernel(const struct leveldb_bloom_policy *policy);

const struct leveldb_bloom_vtable *leveldb_bloom_vtable(void);

size_t leveldb_bloom_filter_size(const struct leveldb_bloom_policy *policy, size_t num_keys);

char *leveldb_bloom_create_filter(const struct leveldb_bloom_policy *policy,
                                  const char *const *keys,
                                  const size_t *key_lengths,
                                  size_t num_keys,
                                  size_t *filter_length);

void leveldb_bloom_free(void *memory);

int leveldb_bloom_fill_filter(const struct leveldb_bloom_policy *policy,
                              const struct leveldb_bloom_slice *keys,
                              size_t num_keys,
                              char *filter,
                              size_t filter_length);

int leveldb_bloom_fill_filter_offsets32(const struct leveldb_bloom_policy *policy,
                                        const char *data,
                                        size_t data_length,
                                        const int32_t *offsets,
                                        size_t num_keys,
                                        char *filter,
                                        size_t filter_length);

int leveldb_bloom_fill_filter_offsets64(const struct leveldb_bloom_policy *policy,
                                        const char *data,
                                        size_t data_length,
                                        const int64_t *offsets,
                                        size_t num_keys,
                                        char *filter,
                                        size_t filter_length);

int leveldb_bloom_fill_filter_fixed(const struct leveldb_bloom_policy *policy,
                                    const char *data,
                                    size_t key_length,
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

int leveldb_bloom_keys_may_match_offsets32(const char *data,
                                           size_t data_length,
                                           const int32_t *offsets,
                                           size_t num_keys,
                                           const char *filter,
                                           size_t filter_length,
                                           uint8_t *results,
                                           uint8_t *bitmap,
                                           size_t *matches);

int leveldb_bloom_keys_may_match_offsets64(const char *data,
                                           size_t data_length,
                                           const int64_t *offsets,
                                           size_t num_keys,
                                           const char *filter,
                                           size_t filter_length,
                                           uint8_t *results,
                                           uint8_t *bitmap,
                                           size_t *matches);

int leveldb_bloom_keys_may_match_fixed(const char *data,
                                       size_t key_length,
                                       size_t num_keys,
                                       const char *filter,
                                       size_t filter_length,
                                       uint8_t *results,
                                       uint8_t *bitmap,
                                       size_t *matches);

size_t leveldb_bloom_filters_may_match(const char *key,
                                       size_t key_length,
                                       const struct leveldb_bloom_slice *filters,
                                       size_t num_filters,
                                       uint8_t *results);

uint8_t leveldb_bloom_hash_may_match(uint32_t hash,
                                     const char *filter,
                                     size_t filter_length);

uint32_t leveldb_bloom_hash(const char *key,
                            size_t key_length);

struct leveldb_bloom_builder *leveldb_bloom_builder_create(int bits_per_key);

struct leveldb_bloom_builder *leveldb_bloom_builder_create_ribbon(int bits_per_key);

void leveldb_bloom_builder_destroy(struct leveldb_bloom_builder *builder);

int leveldb_bloom_builder_add(struct leveldb_bloom_builder *builder,
                              const char *key,
                              size_t key_length);

int leveldb_bloom_builder_add_offsets32(struct leveldb_bloom_builder *builder,
                                        const char *data,
                                        size_t data_length,
                                        const int32_t *offsets,
                                        size_t num_keys);

int leveldb_bloom_builder_add_offsets64(struct leveldb_bloom_builder *builder,
                                        const char *data,
                                        size_t data_length,
                                        const int64_t *offsets,
                                        size_t num_keys);

int leveldb_bloom_builder_add_fixed(struct leveldb_bloom_builder *builder,
                                    const char *data,
                                    size_t key_length,
                                    size_t num_keys);

size_t leveldb_bloom_builder_num_keys(const struct leveldb_bloom_builder *builder);

size_t leveldb_bloom_builder_filter_size(const struct leveldb_bloom_builder *builder,
                                         size_t total_keys);

int leveldb_bloom_builder_finish(struct leveldb_bloom_builder *builder,
                                 size_t total_keys,
                                 char *filter,
                                 size_t filter_length);

int leveldb_bloom_union(char *into,
                        size_t into_length,
                        const char *from,
                        size_t from_length);

int leveldb_bloom_inspect(const char *filter,
                          size_t filter_length,
                          struct leveldb_bloom_info *info);

size_t leveldb_bloom_positions(const char *key,
                               size_t key_length,
                               const char *filter,
                               size_t filter_length,
                               uint64_t *positions,
                               size_t capacity);

double leveldb_bloom_false_positive_rate(int bits_per_key,
                                         size_t num_keys);

int leveldb_bloom_bits_per_key_for(double false_positive_rate,
                                   size_t num_keys);

const char *leveldb_bloom_validate(int bits_per_key);

const char *leveldb_bloom_status_message(int status);

const char *leveldb_bloom_version(void);

int leveldb_bloom_version_number(void);
