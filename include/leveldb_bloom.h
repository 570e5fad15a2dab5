/**
 * \file
 * LevelDB's built-in bloom filter, byte for byte, as a library of its own. Filters made here are read
 * by LevelDB and the other way round. Ways to use them:
 *
 *   - leveldb_filterpolicy_create_bloom, LevelDB's own name, on Linux: link or preload this library
 *     in front of libleveldb, and existing programs use it unchanged;
 *   - leveldb_bloom_vtable: callbacks for any LevelDB's leveldb_filterpolicy_create;
 *   - the *_create_ribbon functions: a second encoding, for keys to which LevelDB's filter is blind;
 *   - leveldb_bloom_create_filter and its siblings: filters without a database, from arrays of
 *     pointers, from flat memory (offsets or keys of one length), or key by key with a builder;
 *   - leveldb_bloom_inspect, leveldb_bloom_positions: what a filter's bytes say.
 *
 * Ownership: what a function named *_create returns belongs to the caller, and is given back with
 * its *_destroy (or leveldb_bloom_free for filters). A policy must live until the last database
 * that uses it is closed; a shared one always does. errno changes only through malloc, or where an
 * environment variable makes the library write; looking for LevelDB clears dlerror's message.
 *
 * Threads: everything here may be called from any thread. A policy is immutable; any number of
 * threads may use one while none destroys it. Making a policy or a builder reads the environment, and
 * so does the first query without a policy; no other thread may change it at the same time.
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
 * and key_may_match of the callbacks) treat it as empty. Each function says what else may be NULL.
 *
 * When not to use a filter policy: with a comparator that treats keys of different bytes as
 * equal, such as one that ignores case or trailing spaces. The filter knows the exact bytes, and a
 * database would no longer find such keys.
 *
 * With the environment variable LEVELDB_BLOOM_STATS set to "stderr" or a file's path when a policy
 * is created, the policy appends lines of JSON there: when it is created, when it is first used, and
 * when it is destroyed or the process exits. They say what it made and answered, and how its filters
 * reached the database. Otherwise the library only writes that it refuses a value of
 * LEVELDB_BLOOM_KERNEL or LEVELDB_BLOOM_ENCODING, that ribbon filters are not made where they were
 * asked for, or why it stops a program that it cannot serve.
 *
 * Generated from the Rust sources in capi/; change those.
 */

#ifndef LEVELDB_BLOOM_H
#define LEVELDB_BLOOM_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; leveldb_bloom_version says that of the library in use. */
#define LEVELDB_BLOOM_VERSION "1.0.0"
#define LEVELDB_BLOOM_VERSION_NUMBER 10000

/**
 * Done.
 */
#define LEVELDB_BLOOM_OK 0

/**
 * A pointer was NULL, or a length or an offset was not what it must be.
 */
#define LEVELDB_BLOOM_INVALID_ARGUMENT 1

/**
 * The filter's size cannot be represented.
 */
#define LEVELDB_BLOOM_TOO_LARGE 2

/**
 * There is no memory.
 */
#define LEVELDB_BLOOM_NO_MEMORY 3

/**
 * Two filters do not have the same length and number of probes, or are ribbon filters.
 */
#define LEVELDB_BLOOM_MISMATCH 4

/**
 * A filter of LevelDB's own encoding.
 */
#define LEVELDB_BLOOM_ENCODING_BLOOM 0

/**
 * A ribbon filter.
 */
#define LEVELDB_BLOOM_ENCODING_RIBBON 1

/**
 * Collects keys as they come, four bytes each (twelve for ribbon filters), and makes their filter. For
 * one thread at a time.
 */
struct leveldb_bloom_builder;

/**
 * LevelDB's policy object; the same as in <leveldb/c.h>.
 */
struct leveldb_filterpolicy_t;

/**
 * A filter policy: how many bits to spend on a key, and how filters are written. Immutable, so that
 * any number of threads may use one at once.
 */
struct leveldb_bloom_policy;

/**
 * The four callbacks that leveldb_filterpolicy_create takes, in its order. Their `state` is a
 * leveldb_bloom_policy, which the created policy then owns and destroys:
 *
 *     const struct leveldb_bloom_vtable *bloom = leveldb_bloom_vtable();
 *     leveldb_filterpolicy_t *policy = leveldb_filterpolicy_create(
 *         leveldb_bloom_policy_create(10), bloom->destructor, bloom->create_filter,
 *         bloom->key_may_match, bloom->name);
 *
 * They work with every LevelDB from 1.18 on that has a C API, wherever and however it is loaded. They
 * do not work with Basho's, which would not find keys, nor with one that was built with clang's CFI
 * but without -fsanitize-cfi-cross-dso, which stops at callbacks.
 *
 * Where a filter cannot be made, create_filter returns one that matches every key, because LevelDB
 * would take an empty one for "no keys". If there is no memory even for that, it ends the process.
 * With a NULL state, from a policy that could not be made, filters match every key too.
 */
struct leveldb_bloom_vtable {
  /**
   * Destroys the state.
   */
  void (*destructor)(void *state);
  /**
   * Creates a filter, which LevelDB frees with C's free.
   */
  char *(*create_filter)(void *state,
                         const char *const *key_array,
                         const size_t *key_length_array,
                         int num_keys,
                         size_t *filter_length);
  /**
   * Queries a filter: 0 if it certainly does not hold the key.
   */
  uint8_t (*key_may_match)(void *state,
                           const char *key,
                           size_t length,
                           const char *filter,
                           size_t filter_length);
  /**
   * The policy's name, which LevelDB stores in its tables: "leveldb.BuiltinBloomFilter2".
   */
  const char *(*name)(void *state);
};

/**
 * A key, or a filter, with the layout of leveldb::Slice.
 */
struct leveldb_bloom_slice {
  /**
   * The bytes; may be anything if `size` is 0.
   */
  const char *data;
  /**
   * The number of bytes.
   */
  size_t size;
};

/**
 * What the bytes of a filter say.
 */
struct leveldb_bloom_info {
  /**
   * The number of bits.
   */
  uint64_t bits;
  /**
   * How many of them are set.
   */
  uint64_t bits_set;
  /**
   * The number of probes, k. A filter with 0 probes or more than 30 matches every key; but one of
   * fewer than two bytes, which has no bits, matches none. Of a ribbon filter, the number of bits in
   * a slot, 1 to 13.
   */
  uint32_t probes;
  /**
   * LEVELDB_BLOOM_ENCODING_BLOOM or LEVELDB_BLOOM_ENCODING_RIBBON.
   */
  uint32_t encoding;
  /**
   * bits_set / bits; 0 if there are none.
   */
  double fill;
  /**
   * About how many different keys were added. Infinite if the filter matches every key. Of a ribbon
   * filter, which does not tell, the most that one of its length is made for.
   */
  double estimated_keys;
  /**
   * The expected false-positive rate, from the fill. Of a ribbon filter, 2^-probes.
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

/* LevelDB's own names, and what depends on them: on Linux, with glibc or musl. */
#if defined(__linux__) && !defined(__ANDROID__)

/**
 * LevelDB's bloom filter policy, for leveldb_options_set_filter_policy. The caller owns it, and it
 * must outlive the database: destroy it with leveldb_filterpolicy_destroy after leveldb_close.
 *
 * Do not use a bloom filter policy with a comparator that treats keys of different bytes as equal
 * (one that ignores case or trailing spaces, for example): the filter knows the bytes, and LevelDB
 * would not find such keys.
 *
 * With the environment variable LEVELDB_BLOOM_ENCODING=ribbon it is the policy of
 * leveldb_bloom_filterpolicy_create_ribbon, and so is leveldb::NewBloomFilterPolicy's. Another value
 * than this and "bloom" is refused, once, on stderr.
 *
 * \param bits_per_key As for leveldb_bloom_policy_create.
 * \return The policy; NULL if there is no memory, which LevelDB takes for "no filter".
 */
struct leveldb_filterpolicy_t *leveldb_filterpolicy_create_bloom(int bits_per_key);

/**
 * A policy of your own callbacks, as in <leveldb/c.h>. Where LevelDB's definition comes behind ours,
 * the arguments go to it as they are. Otherwise the policy is ours, and finds the LevelDB that uses
 * it when it is used.
 *
 * \param state Passed to the callbacks.
 * \param destructor Destroys the state.
 * \param create_filter Creates a filter in memory from C's malloc.
 * \param key_may_match Queries a filter.
 * \param name The policy's name.
 * \return The policy. NULL from us, with `state` left to the caller, if a callback other than the
 * destructor is NULL, or if there is no memory.
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

/**
 * Destroys any policy, ours or not, that nobody uses any more.
 *
 * \param policy May be NULL.
 */
void leveldb_filterpolicy_destroy(struct leveldb_filterpolicy_t *policy);

/**
 * leveldb_filterpolicy_create_bloom with ribbon filters (see leveldb_bloom_policy_create_ribbon).
 *
 * Where that function hands LevelDB's own policy back, because nothing is known of its std::string or
 * because it is a fork with other filters, this one does, too, and says so, once, on stderr. Its
 * filters are then LevelDB's.
 *
 * \param bits_per_key As for leveldb_bloom_policy_create_ribbon.
 * \return As leveldb_filterpolicy_create_bloom.
 */
struct leveldb_filterpolicy_t *leveldb_bloom_filterpolicy_create_ribbon(int bits_per_key);

/**
 * LevelDB's bloom filter policy that the whole process shares. It lives as long as the process, so
 * that no database can outlive it: leveldb_filterpolicy_destroy and C++'s delete do nothing to it. For
 * one LevelDB library, which has to stay loaded. Its encoding is the one that LEVELDB_BLOOM_ENCODING
 * named at the first call for this number of bits.
 *
 * \param bits_per_key As for leveldb_bloom_policy_create.
 * \return The same pointer for the same number of bits; NULL if there is no memory.
 */
struct leveldb_filterpolicy_t *leveldb_bloom_filterpolicy_shared(int bits_per_key);

/**
 * Which implementation leveldb_filterpolicy_create_bloom resolves to in this process, and how its
 * filters reach LevelDB. Call it when LevelDB is loaded: before, no LevelDB is found. Nor is one
 * found in an executable under which this library is preloaded, and which never calls us. It looks
 * through all loaded libraries, which takes memory for a moment.
 *
 * \return "leveldb_bloom (...)" or "original (...)", with the way or the reason in parentheses: a
 * string that lives as long as the process. Never NULL.
 */
const char *leveldb_bloom_active(void);

#endif

/**
 * Creates a policy that spends about `bits_per_key` bits on a key. The caller owns it until
 * leveldb_bloom_policy_destroy, or until it becomes the state of leveldb_filterpolicy_create.
 *
 * \param bits_per_key 10 gives about 1 % of false positives. Zero and below behave as 0: one probe,
 * and filters of 64 bits whatever they hold. Above 44 the number of probes stays at 30 and only the
 * size grows.
 * \return The policy; NULL if there is no memory.
 */
struct leveldb_bloom_policy *leveldb_bloom_policy_create(int bits_per_key);

/**
 * Creates a policy that writes ribbon filters, and reads these and LevelDB's own. Their false-positive
 * rate is 2^-bits_per_key, whatever the keys look like: LevelDB's own filters are blind to keys that
 * are numbers in order, and with 10 bits let 3 to 100 % of absent ones pass. The policy has LevelDB's
 * name. A database may hold filters of both kinds, and every LevelDB reads it: to one that does not
 * know the encoding such a filter may hold any key, so that it finds all keys, and reads more.
 *
 * Every function that takes a policy takes this one. LevelDB's own encoding is written for no keys,
 * and where a ribbon filter cannot be made: without memory for its equations (some 30 bytes a key, for
 * more than 64 keys), for 2^31 keys and more, and for one list of keys in very many.
 *
 * \param bits_per_key 10 gives 0.1 % of false positives, in the space of LevelDB's own filter. Below 1
 * acts as 1, and above 13 as 13.
 * \return The policy; NULL if there is no memory.
 */
struct leveldb_bloom_policy *leveldb_bloom_policy_create_ribbon(int bits_per_key);

/**
 * Creates a policy as LevelDB's own names make it in this process: with the encoding that the
 * environment variable LEVELDB_BLOOM_ENCODING names, "bloom" or "ribbon"; LevelDB's own where it is
 * not set. Another value is refused, once, on stderr.
 *
 * \param bits_per_key As for leveldb_bloom_policy_create, or leveldb_bloom_policy_create_ribbon.
 * \return The policy; NULL if there is no memory.
 */
struct leveldb_bloom_policy *leveldb_bloom_policy_create_default(int bits_per_key);

/**
 * Destroys a policy that nobody uses any more.
 *
 * \param policy May be NULL. A shared policy stays.
 */
void leveldb_bloom_policy_destroy(struct leveldb_bloom_policy *policy);

/**
 * Creates a policy for a database whose comparator treats keys of different bytes as equal, one
 * that ignores case for example. Keys go through `transform` first, in filters and in queries. Use
 * it as the state of the callbacks:
 *
 *     static size_t to_lower(void *state, const char *key, size_t key_length, char *buffer,
 *                            size_t buffer_length) {
 *       size_t i;
 *       for (i = 0; i < key_length && i < buffer_length; i++) {
 *         buffer[i] = key[i] >= 'A' && key[i] <= 'Z' ? key[i] + 32 : key[i];
 *       }
 *       return key_length;
 *     }
 *
 *     state = leveldb_bloom_policy_create_transformed(10, "example.LowerCaseBloom", to_lower,
 *                                                     NULL, NULL);
 *
 * Only functions that are given the policy know the transform. Builders, and functions that take no
 * policy, such as leveldb_bloom_key_may_match, use the bytes as they are and would not find the
 * keys of its filters: pass canonical forms to them, or call
 * `leveldb_bloom_vtable()->key_may_match(policy, ...)`. Its filters have LevelDB's own encoding.
 *
 * \param bits_per_key As for leveldb_bloom_policy_create.
 * \param name The policy's name, which is copied. LevelDB stores it in its tables and ignores
 * filters with another name, so choose a new one whenever `transform` changes.
 * \param transform Writes the canonical form of a key to `buffer` if it fits, and returns the form's
 * length in any case. If that is more than `buffer_length`, it is called once more, with that much
 * room. Keys that the comparator treats as equal must have the same canonical form. Any thread may
 * call it, several at once; it must not throw. Where there is no canonical form (no memory, or a
 * length beyond `buffer_length` again), queries answer 1 and filters cannot be made.
 * \param destructor Called with `state` when the policy is destroyed; may be NULL.
 * \param state Passed to `transform`.
 * \return The policy. NULL, with `state` left to the caller, if `name` is NULL, empty, or a name of
 * LevelDB's own filters (which hold whole keys), if `transform` is NULL, or if there is no memory.
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

/**
 * Creates a policy with the name "leveldb.BuiltinBloomFilter", which goleveldb and some ports to
 * Java give to this same filter. Use it as the state of the callbacks to read and write their
 * databases. Its filters have LevelDB's own encoding.
 *
 * Not for data that LevelDB itself wrote under this name before 1.18. There, on most machines, keys
 * had other hashes if one of the bytes after their last whole group of four is 0x80 or above; such
 * keys would not be found.
 *
 * \param bits_per_key As for leveldb_bloom_policy_create.
 * \return The policy; NULL if there is no memory.
 */
struct leveldb_bloom_policy *leveldb_bloom_policy_create_goleveldb(int bits_per_key);

/**
 * The policy that the whole process shares. It lives as long as the process:
 * leveldb_bloom_policy_destroy and the callbacks' destructor leave it alone.
 *
 * \param bits_per_key As for leveldb_bloom_policy_create.
 * \return The same pointer for the same number of bits; NULL if there is no memory.
 */
struct leveldb_bloom_policy *leveldb_bloom_policy_shared(int bits_per_key);

/**
 * The name of the kernel that does the policy's work. All kernels make the same bits.
 *
 * The environment variable LEVELDB_BLOOM_KERNEL, when the policy is created, chooses one by its
 * name. Otherwise it is the fastest that does not slow down what else the program does. A name that
 * this machine or build does not have is refused, once, on stderr.
 *
 * \param policy May be NULL.
 * \return "avx512", "avx2" or "portable", a string that lives as long as the process. NULL
 * if `policy` is NULL.
 */
const char *leveldb_bloom_kernel(const struct leveldb_bloom_policy *policy);

/**
 * The callbacks for leveldb_filterpolicy_create.
 *
 * \return The table, which lives as long as the process. Never NULL.
 */
const struct leveldb_bloom_vtable *leveldb_bloom_vtable(void);

/**
 * The length of a filter.
 *
 * \param policy May be NULL.
 * \param num_keys The number of keys.
 * \return The length in bytes, the last byte included. 0 if `policy` is NULL
 * or the size cannot be represented.
 */
size_t leveldb_bloom_filter_size(const struct leveldb_bloom_policy *policy, size_t num_keys);

/**
 * Creates a filter in memory of its own. Keys may come in any order and more than once.
 *
 * \param policy The policy.
 * \param keys Key i has `key_lengths[i]` bytes at `keys[i]`, which may be NULL if there are none.
 * \param key_lengths The lengths of the keys.
 * \param num_keys The number of keys.
 * \param filter_length Receives the filter's length.
 * \return The filter, for the caller to free with leveldb_bloom_free or C's free. NULL, with a length
 * of 0, if it cannot be made: `policy` is NULL, an array is NULL while `num_keys` is not 0, a key is
 * NULL with a length, the size cannot be represented, or there is no memory. NULL also if
 * `filter_length` is NULL.
 */
char *leveldb_bloom_create_filter(const struct leveldb_bloom_policy *policy,
                                  const char *const *keys,
                                  const size_t *key_lengths,
                                  size_t num_keys,
                                  size_t *filter_length);

/**
 * Frees what leveldb_bloom_create_filter returned.
 *
 * \param memory May be NULL.
 */
void leveldb_bloom_free(void *memory);

/**
 * Writes a filter into memory of the caller's. A filter of 0.5 to 4 KB takes up to 32 KB of memory
 * meanwhile, if there is any, and so may one whose policy is transformed or makes ribbon filters;
 * others allocate nothing.
 *
 * \param policy The policy.
 * \param keys The keys.
 * \param num_keys The number of keys.
 * \param filter Where the filter goes.
 * \param filter_length The length of that: it must be leveldb_bloom_filter_size(policy, num_keys).
 * \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `policy` or `filter` is NULL,
 * `keys` is NULL while `num_keys` is not 0, a key is NULL with a length, or the filter has another
 * length; or LEVELDB_BLOOM_TOO_LARGE, if the size cannot be represented, even where `keys` or `filter`
 * is NULL. In both cases `filter` is unchanged. Or LEVELDB_BLOOM_NO_MEMORY, if the policy's transform gave no canonical form of a key;
 * `filter` then matches every key.
 */
int leveldb_bloom_fill_filter(const struct leveldb_bloom_policy *policy,
                              const struct leveldb_bloom_slice *keys,
                              size_t num_keys,
                              char *filter,
                              size_t filter_length);

/**
 * leveldb_bloom_fill_filter for keys that lie one behind the other, as in Arrow's Binary and Utf8.
 *
 * \param policy The policy.
 * \param data The bytes of all keys. May be NULL if there are no keys.
 * \param data_length The number of bytes.
 * \param offsets Where the keys are: key i is `data[offsets[i]]` up to, not including,
 * `data[offsets[i + 1]]`. There are `num_keys` + 1 of them, and the first need not be 0. May be NULL
 * if there are no keys.
 * \param num_keys The number of keys.
 * \param filter Where the filter goes.
 * \param filter_length The length of that.
 * \return As leveldb_bloom_fill_filter; LEVELDB_BLOOM_INVALID_ARGUMENT also if the offsets are NULL,
 * unaligned, negative or decreasing, or if one is beyond `data_length`.
 */
int leveldb_bloom_fill_filter_offsets32(const struct leveldb_bloom_policy *policy,
                                        const char *data,
                                        size_t data_length,
                                        const int32_t *offsets,
                                        size_t num_keys,
                                        char *filter,
                                        size_t filter_length);

/**
 * leveldb_bloom_fill_filter_offsets32 with offsets of 64 bits: Arrow's LargeBinary and LargeUtf8.
 */
int leveldb_bloom_fill_filter_offsets64(const struct leveldb_bloom_policy *policy,
                                        const char *data,
                                        size_t data_length,
                                        const int64_t *offsets,
                                        size_t num_keys,
                                        char *filter,
                                        size_t filter_length);

/**
 * leveldb_bloom_fill_filter for keys of one length that lie one behind the other, as in a numpy
 * array of dtype S16.
 *
 * \param policy The policy.
 * \param data The bytes of all keys.
 * \param key_length The length of a key. All bytes count, zeros at a key's end too. With 0 all are
 * the empty key; many of them take no longer than one, but four bytes of memory are allocated.
 * \param num_keys The number of keys.
 * \param filter Where the filter goes.
 * \param filter_length The length of that.
 * \return As leveldb_bloom_fill_filter.
 */
int leveldb_bloom_fill_filter_fixed(const struct leveldb_bloom_policy *policy,
                                    const char *data,
                                    size_t key_length,
                                    size_t num_keys,
                                    char *filter,
                                    size_t filter_length);

/**
 * Queries a filter for a key. The functions without a policy read both encodings, LevelDB's own and
 * ribbon, except for leveldb_bloom_hash_may_match.
 *
 * \param key The key.
 * \param key_length Its length.
 * \param filter The filter, which may be any bytes: fewer than two match nothing. A last byte of 1 to 30
 * is the number of probes, and one of 32 to 239 that of a ribbon filter; others match everything.
 * \param filter_length Its length.
 * \return 1 if the key may be among those that the filter was made from, 0 if it certainly is not.
 */
uint8_t leveldb_bloom_key_may_match(const char *key,
                                    size_t key_length,
                                    const char *filter,
                                    size_t filter_length);

/**
 * Queries a filter for many keys.
 *
 * \param keys Key i has `key_lengths[i]` bytes at `keys[i]`.
 * \param key_lengths The lengths of the keys.
 * \param num_keys The number of keys.
 * \param filter The filter, as for leveldb_bloom_key_may_match.
 * \param filter_length Its length.
 * \param results Receives 0 or 1 for each key; may be NULL.
 * \return The number of ones. If an array of keys is NULL while `num_keys` is not 0, returns 0 and
 * stores nothing.
 */
size_t leveldb_bloom_keys_may_match(const char *const *keys,
                                    const size_t *key_lengths,
                                    size_t num_keys,
                                    const char *filter,
                                    size_t filter_length,
                                    uint8_t *results);

/**
 * leveldb_bloom_keys_may_match for keys that lie one behind the other (see
 * leveldb_bloom_fill_filter_offsets32).
 *
 * \param data The bytes of all keys.
 * \param data_length The number of bytes.
 * \param offsets Where the keys are.
 * \param num_keys The number of keys.
 * \param filter The filter.
 * \param filter_length Its length.
 * \param results Receives a byte of 0 or 1 for each key; may be NULL.
 * \param bitmap Receives a bit for each key: that of key i is bit i % 8, least significant first, of
 * byte i / 8. The rest of the last byte becomes 0. May be NULL.
 * \param matches Receives the number of ones; may be NULL.
 * \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, with nothing written, if the keys are
 * not valid, `filter` is NULL with a length, or `results` or `bitmap` would need more bytes than an
 * object can have.
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

/**
 * leveldb_bloom_keys_may_match_offsets32 with offsets of 64 bits.
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

/**
 * leveldb_bloom_keys_may_match_offsets32 for keys of `key_length` bytes each. With a `key_length`
 * of 0 all are the empty key, and every answer is the same.
 */
int leveldb_bloom_keys_may_match_fixed(const char *data,
                                       size_t key_length,
                                       size_t num_keys,
                                       const char *filter,
                                       size_t filter_length,
                                       uint8_t *results,
                                       uint8_t *bitmap,
                                       size_t *matches);

/**
 * Queries many filters for one key, as a read does that looks through many tables. The key is hashed
 * once for many filters.
 *
 * \param key The key.
 * \param key_length Its length.
 * \param filters The filters, each as for leveldb_bloom_key_may_match.
 * \param num_filters The number of filters.
 * \param results Receives 0 or 1 for each filter; may be NULL.
 * \return The number of ones. If `filters` is NULL, returns 0 and stores nothing.
 */
size_t leveldb_bloom_filters_may_match(const char *key,
                                       size_t key_length,
                                       const struct leveldb_bloom_slice *filters,
                                       size_t num_filters,
                                       uint8_t *results);

/**
 * leveldb_bloom_key_may_match for a key of which the hash is known. For callers that query many
 * filters for the same key, one after another. Knows LevelDB's own encoding only: a ribbon filter may
 * hold any key.
 *
 * \param hash The key's leveldb_bloom_hash.
 * \param filter The filter.
 * \param filter_length Its length.
 * \return As leveldb_bloom_key_may_match.
 */
uint8_t leveldb_bloom_hash_may_match(uint32_t hash,
                                     const char *filter,
                                     size_t filter_length);

/**
 * The hash by which a filter of LevelDB's own encoding knows a key: LevelDB's Hash with the seed 0xbc9f1d34.
 *
 * \param key The key.
 * \param key_length Its length.
 * \return The hash.
 */
uint32_t leveldb_bloom_hash(const char *key,
                            size_t key_length);

/**
 * Creates a builder with no key yet.
 *
 * Many builders, in many threads or on many machines, can each make a part of one filter: let each
 * finish with the same `total_keys`, and unite the parts with leveldb_bloom_union. The result is,
 * byte for byte, the filter of all keys at once.
 *
 * \param bits_per_key As for leveldb_bloom_policy_create.
 * \return The builder, for the caller to destroy; NULL if there is no memory.
 */
struct leveldb_bloom_builder *leveldb_bloom_builder_create(int bits_per_key);

/**
 * leveldb_bloom_builder_create for ribbon filters (see leveldb_bloom_policy_create_ribbon). They
 * cannot be united.
 *
 * \param bits_per_key As for leveldb_bloom_policy_create_ribbon.
 * \return As leveldb_bloom_builder_create.
 */
struct leveldb_bloom_builder *leveldb_bloom_builder_create_ribbon(int bits_per_key);

/**
 * Destroys a builder.
 *
 * \param builder May be NULL.
 */
void leveldb_bloom_builder_destroy(struct leveldb_bloom_builder *builder);

/**
 * Adds a key.
 *
 * \param builder The builder.
 * \param key The key.
 * \param key_length Its length.
 * \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `builder` is NULL, or `key` is NULL
 * with a length; or LEVELDB_BLOOM_NO_MEMORY. The keys added before are kept in any case.
 */
int leveldb_bloom_builder_add(struct leveldb_bloom_builder *builder,
                              const char *key,
                              size_t key_length);

/**
 * Adds keys that lie one behind the other (see leveldb_bloom_fill_filter_offsets32).
 *
 * \param builder The builder.
 * \param data The bytes of all keys.
 * \param data_length The number of bytes.
 * \param offsets Where the keys are.
 * \param num_keys The number of keys.
 * \return As leveldb_bloom_builder_add. All keys are added, or none if it is not LEVELDB_BLOOM_OK.
 */
int leveldb_bloom_builder_add_offsets32(struct leveldb_bloom_builder *builder,
                                        const char *data,
                                        size_t data_length,
                                        const int32_t *offsets,
                                        size_t num_keys);

/**
 * leveldb_bloom_builder_add_offsets32 with offsets of 64 bits.
 */
int leveldb_bloom_builder_add_offsets64(struct leveldb_bloom_builder *builder,
                                        const char *data,
                                        size_t data_length,
                                        const int64_t *offsets,
                                        size_t num_keys);

/**
 * leveldb_bloom_builder_add_offsets32 for keys of `key_length` bytes each. Each takes four bytes,
 * with a `key_length` of 0 too.
 */
int leveldb_bloom_builder_add_fixed(struct leveldb_bloom_builder *builder,
                                    const char *data,
                                    size_t key_length,
                                    size_t num_keys);

/**
 * The number of keys added.
 *
 * \param builder May be NULL.
 * \return The number; 0 if `builder` is NULL.
 */
size_t leveldb_bloom_builder_num_keys(const struct leveldb_bloom_builder *builder);

/**
 * The length of the filter that leveldb_bloom_builder_finish writes.
 *
 * \param builder May be NULL.
 * \param total_keys As for leveldb_bloom_builder_finish.
 * \return The length in bytes; 0 if `builder` is NULL or the size cannot be represented.
 */
size_t leveldb_bloom_builder_filter_size(const struct leveldb_bloom_builder *builder,
                                         size_t total_keys);

/**
 * Writes the filter of the keys added. Afterwards the builder has no keys.
 *
 * \param builder The builder.
 * \param total_keys The filter has the length of one for so many keys, or, if this is 0, for the keys
 * added. If more than these were added, it is fuller than it should be, but holds all of them.
 * \param filter Where the filter goes.
 * \param filter_length The length of that: it must be leveldb_bloom_builder_filter_size(builder,
 * total_keys).
 * \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `builder` or `filter` is NULL or
 * the length is another; or LEVELDB_BLOOM_TOO_LARGE, if the size cannot be represented, even where
 * `filter` is NULL. In both cases the builder keeps its keys.
 */
int leveldb_bloom_builder_finish(struct leveldb_bloom_builder *builder,
                                 size_t total_keys,
                                 char *filter,
                                 size_t filter_length);

/**
 * Adds the keys of a filter to another one. Both must have the same length and number of probes, as
 * filters of one policy for the same number of keys have. Ribbon filters cannot be united.
 *
 * \param into The filter that becomes the union.
 * \param into_length Its length.
 * \param from The other filter.
 * \param from_length Its length.
 * \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_MISMATCH, with `into` unchanged, if they differ, have
 * fewer than two bytes, which hold no bits, or are ribbon filters; or LEVELDB_BLOOM_INVALID_ARGUMENT, if one is NULL with a
 * length.
 */
int leveldb_bloom_union(char *into,
                        size_t into_length,
                        const char *from,
                        size_t from_length);

/**
 * Reads any bytes as a filter.
 *
 * \param filter The filter.
 * \param filter_length Its length.
 * \param info Receives what they say.
 * \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT if `info` is NULL, or `filter` is NULL
 * with a length.
 */
int leveldb_bloom_inspect(const char *filter,
                          size_t filter_length,
                          struct leveldb_bloom_info *info);

/**
 * The positions of the bits that a query of a filter for a key reads. Position p is bit p % 8, least
 * significant first, of the filter's byte p / 8.
 *
 * \param key The key.
 * \param key_length Its length.
 * \param filter The filter.
 * \param filter_length Its length.
 * \param positions Receives up to `capacity` positions; may be NULL.
 * \param capacity How many there is room for.
 * \return How many there are: k, at most 30; or 0 if the filter is a ribbon filter, or matches every
 * key, or none, without reading a bit.
 */
size_t leveldb_bloom_positions(const char *key,
                               size_t key_length,
                               const char *filter,
                               size_t filter_length,
                               uint64_t *positions,
                               size_t capacity);

/**
 * The expected false-positive rate of a filter of LevelDB's own encoding, for keys that are not numbers
 * in order. (Of a ribbon filter it is 2^-bits_per_key for any keys.) Includes what the textbook's formula leaves out: at
 * least 64 bits, at most 30 probes, small filters, and a hash of 32 bits, because of which no number
 * of bits helps with tens of millions of keys in one filter.
 *
 * The real rate is higher in a few cases: up to a third more with few keys and 16 bits or fewer;
 * several times as high with fewer than ten keys and more than 16 bits, with 20,000 to some million
 * keys at certain sizes, and where the number of bits shares a divisor of 51 or more with 2^32 - 1.
 *
 * \param bits_per_key As for leveldb_bloom_policy_create.
 * \param num_keys The number of different keys.
 * \return The rate, from 0 to 1; 1 if such a filter cannot be made.
 */
double leveldb_bloom_false_positive_rate(int bits_per_key,
                                         size_t num_keys);

/**
 * The fewest bits per key that give a false-positive rate, by leveldb_bloom_false_positive_rate, and so
 * in LevelDB's own encoding. More
 * are not always better: with one or two keys, or hundreds of millions, 44 bits have more false
 * positives than 10.
 *
 * \param false_positive_rate The rate that is wanted at most.
 * \param num_keys The number of different keys.
 * \return The bits per key, from 1 on; 0 if no number up to 44 gives the rate. From there on the
 * number of probes stays the same, and more bits help only filters of up to some thousand keys.
 */
int leveldb_bloom_bits_per_key_for(double false_positive_rate,
                                   size_t num_keys);

/**
 * Says why a number of bits per key is hardly useful. Every number works all the same.
 *
 * \param bits_per_key The number.
 * \return A sentence, which lives as long as the process; NULL if the number is sensible.
 */
const char *leveldb_bloom_validate(int bits_per_key);

/**
 * A sentence about a status.
 *
 * \param status What a function returned.
 * \return The sentence, which lives as long as the process. Never NULL.
 */
const char *leveldb_bloom_status_message(int status);

/**
 * The version of the library in use. LEVELDB_BLOOM_VERSION is that of this header.
 *
 * \return The version, such as "1.2.3".
 */
const char *leveldb_bloom_version(void);

/**
 * The version of the library in use as a number. LEVELDB_BLOOM_VERSION_NUMBER is that of this header.
 * A library can be replaced by any other of the same major version that is not older than the header
 * that a program was compiled with.
 *
 * \return The number, such as 10203 for 1.2.3.
 */
int leveldb_bloom_version_number(void);

#ifdef __cplusplus
}  /* extern "C" */
#endif  /* __cplusplus */

#pragma GCC diagnostic pop

#endif  /* LEVELDB_BLOOM_H */
