/* LevelDB's built-in bloom filter, byte for byte, as a library of its own.
 *
 * Generated from capi/exports.rs and capi/shared/lib.rs (this comment from capi/shared/tests/header.rs):
 * change those.
 *
 * Filters made here are read by LevelDB and the other way round. Ways to use them:
 *
 *   - leveldb_filterpolicy_create_bloom, LevelDB's own name: link or preload this library in front
 *     of libleveldb and existing programs use it unchanged;
 *   - leveldb_bloom_vtable: callbacks for any LevelDB's leveldb_filterpolicy_create;
 *   - leveldb_bloom_create_filter and its siblings: filters without a database, from arrays of
 *     pointers, from flat memory (offsets or keys of one length), or key by key with a builder;
 *   - leveldb_bloom_inspect, leveldb_bloom_positions: what a filter's bytes say.
 *
 * Ownership: what a function named *_create returns belongs to the caller, and is given back with
 * its *_destroy (or leveldb_bloom_free for filters). A policy must live until the last database
 * that uses it is closed; a shared one always does. errno changes only through malloc, or where an
 * environment variable makes the library write; looking for the host clears dlerror's message.
 *
 * Threads: everything here may be called from any thread. A policy is immutable; any number of
 * threads may use one while none destroys it. Making a policy or a builder reads the environment, and
 * so does the first query without a policy, or for what is active; no other thread may change it
 * meanwhile.
 *
 * Odd input gets an answer, never a crash: NULL policies, negative numbers of bits or keys, sizes
 * that overflow and filters of any bytes are described at each function. A pointer that is not NULL
 * must point to as many readable (or writable) elements as the call says, aligned as C aligns them.
 * What a call writes must not overlap what it reads, nor anything else that it writes.
 *
 * NULL with a length of 0 is an empty key, an empty filter, or no data at all. NULL with another
 * length, and a length that no object can have, is an invalid argument wherever there is a way to
 * say so: LEVELDB_BLOOM_INVALID_ARGUMENT, or NULL from leveldb_bloom_create_filter, and nothing is
 * written. The functions that only answer (leveldb_bloom_key_may_match and _keys_may_match,
 * leveldb_bloom_filters_may_match, leveldb_bloom_hash and _hash_may_match, leveldb_bloom_positions,
 * and key_may_match of the callbacks) treat it as empty. Each function says what else may be NULL;
 * with no keys, nothing of theirs is looked at.
 *
 * When not to use a bloom filter policy: with a comparator that calls keys of different bytes
 * equal, such as one that ignores case or trailing spaces. The filter knows the exact bytes, and a
 * database would no longer find such keys.
 *
 * With the environment variable LEVELDB_BLOOM_STATS set to "stderr" or a file's path when a policy
 * is created, the policy appends a line of JSON there when it is destroyed, or when the process
 * returns from main or calls exit or quick_exit (a Go program does neither), and another of what it
 * does after that: what it made, what it was asked, and how it reached the database.
 * LEVELDB_BLOOM_CHECK reports the use of destroyed policies (see leveldb_bloom_live_policies).
 * Otherwise the library only writes that it refuses a value of one of its variables, or why it stops
 * a program that it cannot serve. */

#ifndef LEVELDB_BLOOM_H
#define LEVELDB_BLOOM_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; leveldb_bloom_version says that of the library in use. */
#define LEVELDB_BLOOM_VERSION "1.0.0"
#define LEVELDB_BLOOM_VERSION_NUMBER 10000

/*
 Done.
 */
#define LEVELDB_BLOOM_OK 0

/*
 A pointer was NULL where there must be something, or a length or an offset was not what it must
 be.
 */
#define LEVELDB_BLOOM_INVALID_ARGUMENT 1

/*
 The filter's size cannot be represented.
 */
#define LEVELDB_BLOOM_TOO_LARGE 2

/*
 There is no memory.
 */
#define LEVELDB_BLOOM_NO_MEMORY 3

/*
 Two filters are not of the same length and number of probes.
 */
#define LEVELDB_BLOOM_MISMATCH 4

/*
 Collects keys as they come, four bytes each, and makes their filter. For one thread at a time.
 */
struct leveldb_bloom_builder;

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

 They work with every LevelDB from 1.18 on that has a C API, wherever and however it is loaded, but
 not with Basho's, which would not find keys, nor with one built with clang's CFI and without
 -fsanitize-cfi-cross-dso, which stops at callbacks. Where a filter cannot be made (no memory, or a
 size that cannot be represented) create_filter returns one that matches every key, because
 LevelDB would take an empty one for "no keys". A NULL state behaves as a policy that could not be
 made: its filters match every key too.
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
 A key, or a filter, with the layout of leveldb::Slice.
 */
struct leveldb_bloom_slice {
  /*
   The key's bytes; may be anything when `size` is 0.
   */
  const char *data;
  /*
   The number of bytes.
   */
  size_t size;
};

/*
 What the bytes of a filter say.
 */
struct leveldb_bloom_info {
  /*
   The number of bits.
   */
  uint64_t bits;
  /*
   How many of them are set.
   */
  uint64_t bits_set;
  /*
   The number of probes, k. A filter with 0 probes or more than 30 matches every key; but one
   of fewer than two bytes, which has no bits, matches none.
   */
  uint32_t probes;
  /*
   0.
   */
  uint32_t reserved;
  /*
   bits_set / bits; 0 if there are none.
   */
  double fill;
  /*
   About how many different keys were added. Infinite if the filter matches every key.
   */
  double estimated_keys;
  /*
   The expected rate of false positives, from the fill.
   */
  double false_positive_rate;
};

/* leveldb/c.h declares some of this, too. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"

#ifdef __cplusplus
/* A function may have a struct's name; g++ says that this hides a constructor. */
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#endif /* __cplusplus */

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
 A policy of your own callbacks, as in <leveldb/c.h>. Where the process has one LevelDB, the
 arguments go to its definition as they are; where it has several, the policy is ours, and finds
 the one that uses it when it is used. NULL from us, with `state` left to the caller, if a
 callback other than the destructor is NULL, or if there is no memory.
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
 A policy for a database whose comparator calls keys of different bytes equal (one that ignores
 case or trailing spaces, say): keys go through `transform` first, in filters and in queries. Use
 it as the state of the callbacks:

     static size_t to_lower(void *state, const char *key, size_t key_length, char *buffer,
                            size_t buffer_length) {
       size_t i;
       for (i = 0; i < key_length && i < buffer_length; i++) {
         buffer[i] = key[i] >= 'A' && key[i] <= 'Z' ? key[i] + 32 : key[i];
       }
       return key_length;
     }

     state = leveldb_bloom_policy_create_transformed(10, "example.LowerCaseBloom", to_lower,
                                                     NULL, NULL);

 `transform` writes the canonical form of a key to `buffer` if it fits, and returns the form's
 length in any case; if that is more than `buffer_length`, it is called once more, with room for
 so much. All keys that the comparator calls equal must have the same canonical form. It may be
 called by any thread, by several at once, and must not throw. `destructor`, unless NULL, is
 called with `state` when the policy is destroyed. Where there is no canonical form (no memory,
 or a length beyond `buffer_length` again), queries answer 1 and filters cannot be made.

 Only functions that are given the policy know the transform. leveldb_bloom_key_may_match and all
 others that take no policy, and builders, use the bytes as they are, and would not find the keys
 of its filters. Use the callback, `leveldb_bloom_vtable()->key_may_match(policy, ...)`, or pass
 canonical forms.

 `name` is copied. LevelDB stores it in its tables and ignores filters with another name, so
 choose a new one whenever `transform` changes. NULL, with `state` left to the caller, if `name`
 is NULL, empty, or a name of LevelDB's own filters (which hold whole keys), if `transform` is
 NULL, or if there is no memory.
 */
struct leveldb_bloom_policy *leveldb_bloom_policy_create_transformed(int bits_per_key,
                                                                     const char *name,
                                                                     size_t (*transform)(void *state,
                                                                                         const char *key,
                                                                                         size_t key_length,
                                                                                         char *buffer,
                                                                                         size_t buffer_length),
                                                                     void (*destructor)(void *state),
                                                                     void *state);

/*
 A policy with the name "leveldb.BuiltinBloomFilter", which goleveldb and some ports to Java give
 to this same filter: to read and write their databases, as the state of the callbacks. NULL if
 there is no memory.

 Not for data that LevelDB itself wrote under this name before 1.18. There, on most machines,
 keys were hashed differently if any of the one to three bytes after their last whole group of
 four is 0x80 or above; such keys would not be found.
 */
struct leveldb_bloom_policy *leveldb_bloom_policy_create_goleveldb(int bits_per_key);

/*
 The one policy of that many bits per key that the whole process shares: it lives as long as the
 process, and leveldb_bloom_policy_destroy and the callbacks' destructor leave it alone. The same
 pointer each time. NULL if there is no memory.
 */
struct leveldb_bloom_policy *leveldb_bloom_policy_shared(int bits_per_key);

/*
 The same for leveldb_options_set_filter_policy: a policy that lives as long as the process, so
 that no database can outlive it; the same pointer each time. leveldb_filterpolicy_destroy and
 C++'s delete do nothing to it, however often. For one LevelDB library, which has to stay loaded.
 NULL if there is no memory.
 */
struct leveldb_filterpolicy_t *leveldb_bloom_filterpolicy_shared(int bits_per_key);

/*
 How many bloom policies of this library were created, by whatever function, and are not
 destroyed yet. Not counted are shared ones, and policies of your own callbacks
 (leveldb_filterpolicy_create), which may be LevelDB's objects; but a leveldb_bloom_policy used
 as the state of one is.

 The environment variable LEVELDB_BLOOM_CHECK finds who destroys a policy too early or twice. If
 it is "report" or "abort" when a policy is created, the policy stays in memory when it is
 destroyed (which valgrind and LeakSanitizer call a leak), and the first filter or query that it
 is asked for afterwards, and each further destruction, is reported on stderr; "abort" then ends
 the process. Any other value is refused, once, on stderr, and nothing is checked.

 A policy that is the state of an object of LevelDB's (made by leveldb_filterpolicy_create with
 our callbacks, or in a LevelDB that was built with leveldb_bloom_policy.cc) is checked only
 where its own pointer is given to the functions here or to the callbacks. The object is
 LevelDB's to free, and what it is asked for afterwards does not reach the check.
 */
size_t leveldb_bloom_live_policies(void);

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
 `num_keys` is not 0, a key is NULL with a length, the size cannot be represented, or there is no
 memory. NULL also if `filter_length` is NULL.
 */
char *leveldb_bloom_create_filter(const struct leveldb_bloom_policy *policy,
                                  const char *const *keys,
                                  const size_t *key_lengths,
                                  size_t num_keys,
                                  size_t *filter_length);

/*
 Writes the filter for `num_keys` keys over the `filter_length` bytes at `filter`, which must be
 as many as leveldb_bloom_filter_size says. Allocates nothing; a filter of half a kilobyte to
 four therefore takes up to 1.7 times as long as with leveldb_bloom_create_filter (3,000 keys,
 AVX2, AMD EPYC of the third generation, 2026-11-25).

 Returns LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `policy` or `filter` is NULL,
 `keys` is NULL while `num_keys` is not 0, a key is NULL with a length, or the filter has another
 length; or LEVELDB_BLOOM_TOO_LARGE, if the size cannot be represented, even where `keys` or
 `filter` is NULL. In both of these cases `filter` is unchanged.

 With a transformed policy what is allocated depends on the transform, and
 LEVELDB_BLOOM_NO_MEMORY is returned if it gave no canonical form of a key; `filter` then matches
 every key.
 */
int leveldb_bloom_fill_filter(const struct leveldb_bloom_policy *policy,
                              const struct leveldb_bloom_slice *keys,
                              size_t num_keys,
                              char *filter,
                              size_t filter_length);

/*
 leveldb_bloom_fill_filter for keys that lie one behind the other: key i is `data[offsets[i]]` up
 to, not including, `data[offsets[i + 1]]`, as in Arrow's Binary and Utf8. There are
 `num_keys` + 1 offsets, the first of which need not be 0.

 LEVELDB_BLOOM_INVALID_ARGUMENT also if the offsets are NULL, unaligned, negative or decreasing,
 or if one is beyond `data_length`. With no keys, `data` and `offsets` may be NULL.
 */
int leveldb_bloom_fill_filter_offsets32(const struct leveldb_bloom_policy *policy,
                                        const char *data,
                                        size_t data_length,
                                        const int32_t *offsets,
                                        size_t num_keys,
                                        char *filter,
                                        size_t filter_length);

/*
 leveldb_bloom_fill_filter_offsets32 with offsets of 64 bits: Arrow's LargeBinary and LargeUtf8.
 */
int leveldb_bloom_fill_filter_offsets64(const struct leveldb_bloom_policy *policy,
                                        const char *data,
                                        size_t data_length,
                                        const int64_t *offsets,
                                        size_t num_keys,
                                        char *filter,
                                        size_t filter_length);

/*
 leveldb_bloom_fill_filter for keys of `key_length` bytes each that lie one behind the other, as
 in a numpy array of dtype S16. All bytes count, those of zero at a key's end too. With a
 `key_length` of 0 all are the empty key, and it takes no longer for many of them than for one.
 */
int leveldb_bloom_fill_filter_fixed(const struct leveldb_bloom_policy *policy,
                                    const char *data,
                                    size_t key_length,
                                    size_t num_keys,
                                    char *filter,
                                    size_t filter_length);

/*
 1 if the key may be among those the filter was made from, 0 if it certainly is not. Any bytes
 may be given as a filter: fewer than two match nothing, and a last byte (the number of probes)
 above 30 or of 0 matches everything.
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
 leveldb_bloom_keys_may_match for keys that lie one after another (see
 leveldb_bloom_fill_filter_offsets32). `results`, `bitmap` and `matches` may each be NULL.
 `results` receives a byte of 0 or 1 for each key; `bitmap` a bit for each, that of key i as bit
 i % 8, least significant first, of byte i / 8, and zeros in the rest of the last byte;
 `*matches` the number of ones.

 Returns LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, with nothing written, if the keys
 are not valid, `filter` is NULL with a length, or `results` or `bitmap` would need more bytes
 than an object can have.
 */
int leveldb_bloom_keys_may_match_offsets32(const char *data,
                                           size_t data_length,
                                           const int32_t *offsets,
                                           size_t num_keys,
                                           const char *filter,
                                           size_t filter_length,
                                           uint8_t *results,
                                           uint8_t *bitmap,
                                           size_t *matches);

/*
 leveldb_bloom_keys_may_match_offsets32 with offsets of 64 bits.
 */
int leveldb_bloom_keys_may_match_offsets64(const char *data,
                                           size_t data_length,
                                           const int64_t *offsets,
                                           size_t num_keys,
                                           const char *filter,
                                           size_t filter_length,
                                           uint8_t *results,
                                           uint8_t *bitmap,
                                           size_t *matches);

/*
 leveldb_bloom_keys_may_match_offsets32 for keys of `key_length` bytes each. With a `key_length`
 of 0 all are the empty key: it is asked for once, and every answer is the same.
 */
int leveldb_bloom_keys_may_match_fixed(const char *data,
                                       size_t key_length,
                                       size_t num_keys,
                                       const char *filter,
                                       size_t filter_length,
                                       uint8_t *results,
                                       uint8_t *bitmap,
                                       size_t *matches);

/*
 leveldb_bloom_key_may_match for one key and many filters, as a read does that looks through many
 tables: the key is hashed once. Stores 0 or 1 for filter i in `results[i]`, unless `results` is
 NULL, and returns the number of ones. If `filters` is NULL, returns 0 and stores nothing.
 */
size_t leveldb_bloom_filters_may_match(const char *key,
                                       size_t key_length,
                                       const struct leveldb_bloom_slice *filters,
                                       size_t num_filters,
                                       uint8_t *results);

/*
 The hash of a key, by which a filter knows it: LevelDB's Hash with the seed 0xbc9f1d34.
 */
uint32_t leveldb_bloom_hash(const char *key, size_t key_length);

/*
 leveldb_bloom_key_may_match for a key of this hash (see leveldb_bloom_hash). For callers that
 ask many filters for the same key, one after another.
 */
uint8_t leveldb_bloom_hash_may_match(uint32_t hash, const char *filter, size_t filter_length);

/*
 Creates a builder with no key yet; the caller destroys it. NULL if there is no memory.

 Many builders, in many threads or on many machines, can each make a part of one filter: let each
 finish with the same `total_keys`, and unite the parts with leveldb_bloom_union. The result is,
 byte for byte, the filter of all keys at once.
 */
struct leveldb_bloom_builder *leveldb_bloom_builder_create(int bits_per_key);

/*
 Destroys a builder. NULL is fine.
 */
void leveldb_bloom_builder_destroy(struct leveldb_bloom_builder *builder);

/*
 Adds a key. Returns LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `builder` is NULL,
 or `key` is NULL with a length; or LEVELDB_BLOOM_NO_MEMORY. The keys added before are kept in
 any case.
 */
int leveldb_bloom_builder_add(struct leveldb_bloom_builder *builder,
                              const char *key,
                              size_t key_length);

/*
 Adds keys that lie one behind the other (see leveldb_bloom_fill_filter_offsets32); all of them,
 or none where the status is not LEVELDB_BLOOM_OK.
 */
int leveldb_bloom_builder_add_offsets32(struct leveldb_bloom_builder *builder,
                                        const char *data,
                                        size_t data_length,
                                        const int32_t *offsets,
                                        size_t num_keys);

/*
 leveldb_bloom_builder_add_offsets32 with offsets of 64 bits.
 */
int leveldb_bloom_builder_add_offsets64(struct leveldb_bloom_builder *builder,
                                        const char *data,
                                        size_t data_length,
                                        const int64_t *offsets,
                                        size_t num_keys);

/*
 leveldb_bloom_builder_add_offsets32 for keys of `key_length` bytes each. Each takes four bytes,
 with a `key_length` of 0 too.
 */
int leveldb_bloom_builder_add_fixed(struct leveldb_bloom_builder *builder,
                                    const char *data,
                                    size_t key_length,
                                    size_t num_keys);

/*
 The number of keys added. 0 if `builder` is NULL.
 */
size_t leveldb_bloom_builder_num_keys(const struct leveldb_bloom_builder *builder);

/*
 The length in bytes of the filter that leveldb_bloom_builder_finish writes for `total_keys`. 0
 if `builder` is NULL or the size cannot be represented.
 */
size_t leveldb_bloom_builder_filter_size(const struct leveldb_bloom_builder *builder,
                                         size_t total_keys);

/*
 Writes the filter of the keys added over the `filter_length` bytes at `filter`, which must be as
 many as leveldb_bloom_builder_filter_size says. It has the length of a filter for `total_keys`
 keys, or, if that is 0, for the keys added. If more than `total_keys` were added, the filter is
 fuller than it should be, but holds all of them. Afterwards the builder has no keys.

 Returns LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `builder` or `filter` is NULL or
 the length is another; or LEVELDB_BLOOM_TOO_LARGE, even where `filter` is NULL. In both of these
 cases the builder keeps its keys.
 */
int leveldb_bloom_builder_finish(struct leveldb_bloom_builder *builder,
                                 size_t total_keys,
                                 char *filter,
                                 size_t filter_length);

/*
 Adds the keys of the filter `from` to the filter `into`. Both must have the same length and
 number of probes, as filters of one policy for the same number of keys have. Returns
 LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_MISMATCH, with `into` unchanged, if they differ or have fewer
 than two bytes, which hold no bits; or LEVELDB_BLOOM_INVALID_ARGUMENT, if one is NULL with a
 length.
 */
int leveldb_bloom_union(char *into, size_t into_length, const char *from, size_t from_length);

/*
 The expected false-positive rate, from 0 to 1, of a filter for `num_keys` different keys; 1 if
 such a filter cannot be made. Includes what the textbook's formula leaves out: at least 64 bits,
 at most 30 probes, small filters, and a hash of 32 bits, because of which no number of bits
 helps with tens of millions of keys in one filter (1.16 % at 50 million).

 The real rate is higher in four cases. With 20,000 to some million keys: mostly up to 1.5 times,
 but for one size in twenty up to three times below 16 bits (2.7 times at 15 bits and 100,000
 keys) and up to seven from there on (5.4 times at 20 bits and 371,000 keys, five where the
 number of bits is a power of two, 2^20 or more). At 16 bits and fewer with up to some twenty
 keys: up to a third more. At more than 16 bits with few keys: 1.5 times with some twenty, twice
 with ten, six times with fewer (eight times with one key of 100 bits). Where the number of bits
 shares a divisor of 51 or more with 2^32 - 1: 3.5 times at 10 bits and 52,428 keys, and up to
 140 times, at 30 bits and 17,476 keys.
 */
double leveldb_bloom_false_positive_rate(int bits_per_key, size_t num_keys);

/*
 The fewest bits per key, from 1 on, that give a false-positive rate of at most
 `false_positive_rate` in a filter of `num_keys` keys, by leveldb_bloom_false_positive_rate. 0 if
 no number up to 44 does. From there on the number of probes stays the same, and more bits help
 only filters of up to some thousand keys: of 100 keys, 44 bits each let one absent key in 30,000
 pass, and 100 bits a tenth of that. More are not always better: with one or two keys, or 300
 million and more, 44 bits have more false positives than 10.
 */
int leveldb_bloom_bits_per_key_for(double false_positive_rate, size_t num_keys);

/*
 A sentence that says why this number of bits per key is hardly useful, or NULL if it is
 sensible. It lives as long as the process. Every number works all the same.
 */
const char *leveldb_bloom_validate(int bits_per_key);

/*
 Reads any bytes as a filter into `*info`. LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT if
 `info` is NULL, or `filter` is NULL with a length.
 */
int leveldb_bloom_inspect(const char *filter,
                          size_t filter_length,
                          struct leveldb_bloom_info *info);

/*
 Stores up to `capacity` of the positions of the bits that a query of this filter for the key
 reads in `positions`, unless that is NULL. Returns how many there are: k, at most 30; or 0 if
 the filter matches every key, or none, without reading a bit. Position p is bit p % 8, least
 significant first, of the filter's byte p / 8.
 */
size_t leveldb_bloom_positions(const char *key,
                               size_t key_length,
                               const char *filter,
                               size_t filter_length,
                               uint64_t *positions,
                               size_t capacity);

/*
 A sentence about a status, which lives as long as the process. Never NULL.
 */
const char *leveldb_bloom_status_message(int status);

/*
 The version of the library in use, as LEVELDB_BLOOM_VERSION says that of this header.
 */
const char *leveldb_bloom_version(void);

/*
 The version of the library in use as a number: 10203 for 1.2.3. LEVELDB_BLOOM_VERSION_NUMBER is
 that of this header. A library can be replaced by any other of the same major version that is
 not older than the header a program was compiled with.
 */
int leveldb_bloom_version_number(void);

/*
 Frees what leveldb_bloom_create_filter returned. NULL is fine.
 */
void leveldb_bloom_free(void *memory);

/*
 The name of the kernel that does the policy's work: "avx512", "avx2", "neon" or "portable". All
 give the same bits. It is the one that the environment variable LEVELDB_BLOOM_KERNEL named when
 the policy was created; otherwise the fastest that does not slow down what else the program
 does. ("avx512" is only in a library that was built with Rust 1.89 or newer, and is not chosen
 on Intel's processors, which lower a core's clock for it.) A name of a kernel that is not there
 is refused, once, on stderr. NULL if `policy` is NULL; the string lives as long as the process.
 */
const char *leveldb_bloom_kernel(const struct leveldb_bloom_policy *policy);

/*
 Which implementation leveldb_filterpolicy_create_bloom resolves to in this process, and how its
 filters reach the host: "leveldb_bloom (...)" or "original (...)", with the way or the reason in
 parentheses. Ask when LevelDB is loaded: before, it is "leveldb_bloom (no LevelDB found)". (It
 stays that if this library is preloaded under a program with LevelDB in its executable, which
 never calls us.) Looks through all loaded modules, which takes memory for a moment. Never NULL;
 the string lives as long as the process.
 */
const char *leveldb_bloom_active(void);

#ifdef __cplusplus
}  /* extern "C" */
#endif  /* __cplusplus */

#pragma GCC diagnostic pop

#endif  /* LEVELDB_BLOOM_H */
