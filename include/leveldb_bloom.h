/* LevelDB's built-in bloom filter, byte for byte, as a library of its own.
 *
 * Generated from capi/exports.rs and capi/shared/lib.rs: change those.
 *
 * Filters made here are read by LevelDB and the other way round. Three ways to use them:
 *
 *   - leveldb_filterpolicy_create_bloom, LevelDB's own name: link or preload this library in front
 *     of libleveldb and existing programs use it unchanged;
 *   - leveldb_bloom_vtable: callbacks for any LevelDB's leveldb_filterpolicy_create;
 *   - leveldb_bloom_create_filter and its siblings: filters without a database.
 *
 * Ownership: what a function named *_create returns belongs to the caller, and is given back with
 * its *_destroy (or leveldb_bloom_free for filters). A policy must live until the last database
 * that uses it is closed.
 *
 * Threads: everything here may be called from any thread. A policy is immutable; any number of
 * threads may use one while none destroys it.
 *
 * Odd input gets an answer, never a crash: NULL policies, negative numbers of bits or keys, sizes
 * that overflow and filters of any bytes are spoken of at each function. A pointer that is not NULL
 * must point to as many readable (or writable) elements as the call says.
 *
 * When not to use a bloom filter policy: with a comparator that calls keys of different bytes
 * equal, such as one that ignores case or trailing spaces. The filter knows the exact bytes, and a
 * database would no longer find such keys.
 *
 * With the environment variable LEVELDB_BLOOM_STATS set to "stderr" or a file's path when a policy
 * is created, the policy appends one line of JSON there when it is destroyed (or the process
 * exits): what it made, what it was asked, and how it reached the database. Otherwise the library
 * writes nothing. */

#ifndef LEVELDB_BLOOM_H
#define LEVELDB_BLOOM_H

#include <stddef.h>
#include <stdint.h>

/*
 Done.
 */
#define LEVELDB_BLOOM_OK 0

/*
 A pointer was NULL where there must be something, or a length was not the expected one.
 */
#define LEVELDB_BLOOM_INVALID_ARGUMENT 1

/*
 The filter's size cannot be represented.
 */
#define LEVELDB_BLOOM_TOO_LARGE 2

/*
 A bloom filter policy: how many bits to spend on a key. Immutable, so that any number of
 threads may use one at once.
 */
struct leveldb_bloom_policy;

/*
 LevelDB's policy object; the same as in <leveldb/c.h>.
 */
struct leveldb_filterpolicy_t;

/*
 The four callbacks that leveldb_filterpolicy_create takes, in its order. Their `state` is a
 leveldb_bloom_policy, which the created policy then owns and destroys:

     const struct leveldb_bloom_vtable *bloom = leveldb_bloom_vtable();
     leveldb_filterpolicy_t *policy = leveldb_filterpolicy_create(
         leveldb_bloom_policy_create(10), bloom->destructor, bloom->create_filter,
         bloom->key_may_match, bloom->name);

 They work with every LevelDB that has a C API, wherever and however it is loaded. Where a filter
 cannot be made (no memory, or a size that cannot be represented) create_filter returns one that
 matches every key, because LevelDB would take an empty one for "no keys". A NULL state behaves
 as a policy that could not be made: its filters match every key too.
 */
struct leveldb_bloom_vtable {
  /*
   Destroys the state.
   */
  void (*destructor)(void *state);
  /*
   Creates a filter, which LevelDB frees with C's free.
   */
  char *(*create_filter)(void *state,
                         const char *const *key_array,
                         const size_t *key_length_array,
                         int num_keys,
                         size_t *filter_length);
  /*
   Asks a filter: 0 if it certainly does not hold the key.
   */
  uint8_t (*key_may_match)(void *state,
                           const char *key,
                           size_t length,
                           const char *filter,
                           size_t filter_length);
  /*
   The policy's name, which LevelDB stores in its tables: "leveldb.BuiltinBloomFilter2".
   */
  const char *(*name)(void *state);
};

/*
 A key, laid out as leveldb::Slice.
 */
struct leveldb_bloom_slice {
  /*
   The key's bytes; may be anything when `size` is 0.
   */
  const char *data;
  /*
   Their number.
   */
  size_t size;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 LevelDB's bloom filter policy, for leveldb_options_set_filter_policy. The caller owns it, and it
 must outlive the database: destroy it with leveldb_filterpolicy_destroy after leveldb_close.

 Any `bits_per_key` is fine: zero and below behave as 0 (one probe, filters of 64 bits). NULL if
 there is no memory, which LevelDB takes for "no filter".

 Do not use a bloom filter policy with a comparator that calls keys of different bytes equal
 (one that ignores case or trailing spaces, say): the filter knows the bytes, and LevelDB would
 not find such keys.
 */
struct leveldb_filterpolicy_t *leveldb_filterpolicy_create_bloom(int bits_per_key);

/*
 A policy of your own callbacks, as in <leveldb/c.h>. Passed on to LevelDB's definition where the
 process has one. NULL if a callback is NULL.
 */
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

/*
 Destroys any policy, ours or not, that nobody uses any more. NULL is fine.
 */
void leveldb_filterpolicy_destroy(struct leveldb_filterpolicy_t *policy);

/*
 Creates a policy that spends about `bits_per_key` bits on a key; 10 gives about 1 % of false
 positives. Zero and below behave as 0: one probe, and filters of 64 bits whatever they hold.
 Above 44 the number of probes stays at 30 and only the size grows. NULL if there is no memory.

 The caller owns it until leveldb_bloom_policy_destroy, or until it is given to
 leveldb_filterpolicy_create as the state of the callbacks.
 */
struct leveldb_bloom_policy *leveldb_bloom_policy_create(int bits_per_key);

/*
 Destroys a policy that nobody uses any more. NULL is fine.
 */
void leveldb_bloom_policy_destroy(struct leveldb_bloom_policy *policy);

/*
 The callbacks for leveldb_filterpolicy_create. Never NULL; the table lives as long as the
 process.
 */
const struct leveldb_bloom_vtable *leveldb_bloom_vtable(void);

/*
 The length in bytes of the policy's filter for `num_keys` keys, its last byte (the number of
 probes) included. 0 if `policy` is NULL or the size cannot be represented.
 */
size_t leveldb_bloom_filter_size(const struct leveldb_bloom_policy *policy, size_t num_keys);

/*
 Creates the filter for `num_keys` keys and stores its length in `*filter_length`. The caller
 frees it with leveldb_bloom_free or C's free. Key i has `key_lengths[i]` bytes at `keys[i]`; a
 key of length 0 may be NULL. Keys may come in any order and more than once.

 NULL, and a length of 0, if the filter cannot be made: `policy` is NULL, an array is NULL while
 `num_keys` is not 0, the size cannot be represented, or there is no memory. NULL also if
 `filter_length` is NULL.
 */
char *leveldb_bloom_create_filter(const struct leveldb_bloom_policy *policy,
                                  const char *const *keys,
                                  const size_t *key_lengths,
                                  size_t num_keys,
                                  size_t *filter_length);

/*
 Writes the filter for `num_keys` keys over the `filter_length` bytes at `filter`, which must be
 as many as leveldb_bloom_filter_size says. Allocates nothing.

 LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `policy` or `filter` is NULL, `keys` is
 NULL while `num_keys` is not 0, or the length is another; or LEVELDB_BLOOM_TOO_LARGE, if the size
 cannot be represented. `filter` is unchanged unless it is LEVELDB_BLOOM_OK.
 */
int leveldb_bloom_fill_filter(const struct leveldb_bloom_policy *policy,
                              const struct leveldb_bloom_slice *keys,
                              size_t num_keys,
                              char *filter,
                              size_t filter_length);

/*
 1 if the key may be among those the filter was made from, 0 if it certainly is not. Any bytes
 may be given as a filter: fewer than two match nothing, and a last byte (the number of probes)
 above 30 or of 0 matches everything. A key or filter of length 0 may be NULL; one that is NULL
 with a length, or has a length that no object can have, counts as empty.
 */
uint8_t leveldb_bloom_key_may_match(const char *key,
                                    size_t key_length,
                                    const char *filter,
                                    size_t filter_length);

/*
 leveldb_bloom_key_may_match for many keys and one filter: stores 0 or 1 for key i in
 `results[i]`, unless `results` is NULL, and returns the number of ones. If an array of keys is
 NULL while `num_keys` is not 0, returns 0 and stores nothing.
 */
size_t leveldb_bloom_keys_may_match(const char *const *keys,
                                    const size_t *key_lengths,
                                    size_t num_keys,
                                    const char *filter,
                                    size_t filter_length,
                                    uint8_t *results);

/*
 Frees what leveldb_bloom_create_filter returned. NULL is fine.
 */
void leveldb_bloom_free(void *memory);

/*
 The name of the kernel that does the policy's work: "avx512", "avx2", "neon" or "portable"; all
 give the same bits. It is the fastest that the machine has, or the one that the environment
 variable LEVELDB_BLOOM_KERNEL named when the policy was created. NULL if `policy` is NULL; the
 string lives as long as the process.
 */
const char *leveldb_bloom_kernel(const struct leveldb_bloom_policy *policy);

/*
 Which implementation leveldb_filterpolicy_create_bloom resolves to in this process, and how its
 filters reach the host: "leveldb_bloom (...)" or "original (...)", with the way or the reason in
 the parentheses. Never NULL; the string lives as long as the process.
 */
const char *leveldb_bloom_active(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LEVELDB_BLOOM_H */
