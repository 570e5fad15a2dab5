//! Every name of the library's own that C can call, a few lines each, and the reference a C
//! programmer reads: include/leveldb_bloom.h is generated from this file.
//!
//! Both C libraries include it; LevelDB's own names, which a shared and a static library must
//! define in different ways, are in shared/lib.rs and static/leveldb_names.c.

#![allow(non_camel_case_types, reason = "the names are C's")]

#[cfg(not(target_os = "linux"))]
compile_error!("the C libraries are for Linux; the crate leveldb-bloom builds anywhere");

use core::ffi::{c_char, c_int, c_void};

use bloom::ffi::abi::{Callbacks, Slice};
use bloom::ffi::builder::Builder;
use bloom::ffi::inside::{self, sizing, version};
use bloom::ffi::policy::Policy;
use bloom::ffi::{flat, functions, leveldb, lifetime, shared, status, vtable};

/// LevelDB's policy object; the same as in <leveldb/c.h>.
pub struct leveldb_filterpolicy_t {
    _opaque: [u8; 0],
}

/// A bloom filter policy: how many bits to spend on a key. Immutable, so that any number of
/// threads may use one at once.
pub struct leveldb_bloom_policy {
    _opaque: [u8; 0],
}

/// A key, or a filter, with the layout of leveldb::Slice.
#[repr(C)]
pub struct leveldb_bloom_slice {
    /// The key's bytes; may be anything when `size` is 0.
    pub data: *const c_char,
    /// The number of bytes.
    pub size: usize,
}

/// The four callbacks that leveldb_filterpolicy_create takes, in its order. Their `state` is a
/// leveldb_bloom_policy, which the created policy then owns and destroys:
///
///     const struct leveldb_bloom_vtable *bloom = leveldb_bloom_vtable();
///     leveldb_filterpolicy_t *policy = leveldb_filterpolicy_create(
///         leveldb_bloom_policy_create(10), bloom->destructor, bloom->create_filter,
///         bloom->key_may_match, bloom->name);
///
/// They work with every LevelDB from 1.18 on that has a C API, wherever and however it is loaded, but
/// not with Basho's, which would not find keys, nor with one built with clang's CFI and without
/// -fsanitize-cfi-cross-dso, which stops at callbacks. Where a filter cannot be made (no memory, or a
/// size that cannot be represented) create_filter returns one that matches every key, because
/// LevelDB would take an empty one for "no keys". A NULL state behaves as a policy that could not be
/// made: its filters match every key too.
#[repr(C)]
pub struct leveldb_bloom_vtable {
    /// Destroys the state.
    pub destructor: Option<unsafe extern "C" fn(state: *mut c_void)>,
    /// Creates a filter, which LevelDB frees with C's free.
    pub create_filter: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            key_array: *const *const c_char,
            key_length_array: *const usize,
            num_keys: c_int,
            filter_length: *mut usize,
        ) -> *mut c_char,
    >,
    /// Asks a filter: 0 if it certainly does not hold the key.
    pub key_may_match: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            key: *const c_char,
            length: usize,
            filter: *const c_char,
            filter_length: usize,
        ) -> u8,
    >,
    /// The policy's name, which LevelDB stores in its tables: "leveldb.BuiltinBloomFilter2".
    pub name: Option<unsafe extern "C" fn(state: *mut c_void) -> *const c_char>,
}

const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<leveldb_bloom_vtable>() == size_of::<Callbacks>());
    assert!(offset_of!(leveldb_bloom_vtable, destructor) == offset_of!(Callbacks, destructor));
    assert!(
        offset_of!(leveldb_bloom_vtable, create_filter) == offset_of!(Callbacks, create_filter)
    );
    assert!(
        offset_of!(leveldb_bloom_vtable, key_may_match) == offset_of!(Callbacks, key_may_match)
    );
    assert!(offset_of!(leveldb_bloom_vtable, name) == offset_of!(Callbacks, name));
    assert!(size_of::<leveldb_bloom_slice>() == size_of::<Slice>());
    assert!(offset_of!(leveldb_bloom_slice, data) == offset_of!(Slice, data));
    assert!(offset_of!(leveldb_bloom_slice, size) == offset_of!(Slice, size));
};

/// Done.
pub const LEVELDB_BLOOM_OK: c_int = 0;
/// A pointer was NULL where there must be something, or a length or an offset was not what it must
/// be.
pub const LEVELDB_BLOOM_INVALID_ARGUMENT: c_int = 1;
/// The filter's size cannot be represented.
pub const LEVELDB_BLOOM_TOO_LARGE: c_int = 2;
/// There is no memory.
pub const LEVELDB_BLOOM_NO_MEMORY: c_int = 3;
/// Two filters are not of the same length and number of probes.
pub const LEVELDB_BLOOM_MISMATCH: c_int = 4;

const _: () = assert!(
    LEVELDB_BLOOM_OK == status::OK
        && LEVELDB_BLOOM_INVALID_ARGUMENT == status::INVALID_ARGUMENT
        && LEVELDB_BLOOM_TOO_LARGE == status::TOO_LARGE
        && LEVELDB_BLOOM_NO_MEMORY == status::NO_MEMORY
        && LEVELDB_BLOOM_MISMATCH == status::MISMATCH
);

/// Creates a policy that spends about `bits_per_key` bits on a key; 10 gives about 1 % of false
/// positives. Zero and below behave as 0: one probe, and filters of 64 bits whatever they hold.
/// Above 44 the number of probes stays at 30 and only the size grows. NULL if there is no memory.
///
/// The caller owns it until leveldb_bloom_policy_destroy, or until it is given to
/// leveldb_filterpolicy_create as the state of the callbacks.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_policy_create(bits_per_key: c_int) -> *mut leveldb_bloom_policy {
    Policy::create(bits_per_key).cast()
}

/// Destroys a policy that nobody uses any more. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_policy_destroy(policy: *mut leveldb_bloom_policy) {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { Policy::destroy(policy.cast()) }
}

/// A policy for a database whose comparator calls keys of different bytes equal (one that ignores
/// case or trailing spaces, say): keys go through `transform` first, in filters and in queries. Use
/// it as the state of the callbacks:
///
///     static size_t to_lower(void *state, const char *key, size_t key_length, char *buffer,
///                            size_t buffer_length) {
///       size_t i;
///       for (i = 0; i < key_length && i < buffer_length; i++) {
///         buffer[i] = key[i] >= 'A' && key[i] <= 'Z' ? key[i] + 32 : key[i];
///       }
///       return key_length;
///     }
///
///     state = leveldb_bloom_policy_create_transformed(10, "example.LowerCaseBloom", to_lower,
///                                                     NULL, NULL);
///
/// `transform` writes the canonical form of a key to `buffer` if it fits, and returns the form's
/// length in any case; if that is more than `buffer_length`, it is called once more, with room for
/// so much. All keys that the comparator calls equal must have the same canonical form. It may be
/// called by any thread, by several at once, and must not throw. `destructor`, unless NULL, is
/// called with `state` when the policy is destroyed. Where there is no canonical form (no memory,
/// or a length beyond `buffer_length` again), queries answer 1 and filters cannot be made.
///
/// Only functions that are given the policy know the transform. leveldb_bloom_key_may_match and all
/// others that take no policy, and builders, use the bytes as they are, and would not find the keys
/// of its filters. Use the callback, `leveldb_bloom_vtable()->key_may_match(policy, ...)`, or pass
/// canonical forms.
///
/// `name` is copied. LevelDB stores it in its tables and ignores filters with another name, so
/// choose a new one whenever `transform` changes. NULL, with `state` left to the caller, if `name`
/// is NULL, empty, or a name of LevelDB's own filters (which hold whole keys), if `transform` is
/// NULL, or if there is no memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_policy_create_transformed(
    bits_per_key: c_int,
    name: *const c_char,
    transform: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            key: *const c_char,
            key_length: usize,
            buffer: *mut c_char,
            buffer_length: usize,
        ) -> usize,
    >,
    destructor: Option<unsafe extern "C" fn(state: *mut c_void)>,
    state: *mut c_void,
) -> *mut leveldb_bloom_policy {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { Policy::create_transformed(bits_per_key, name, transform, destructor, state).cast() }
}

/// A policy with the name "leveldb.BuiltinBloomFilter", which goleveldb and some ports to Java give
/// to this same filter: to read and write their databases, as the state of the callbacks. NULL if
/// there is no memory.
///
/// Not for data that LevelDB itself wrote under this name before 1.18. There, on most machines,
/// keys were hashed differently if any of the one to three bytes after their last whole group of
/// four is 0x80 or above; such keys would not be found.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_policy_create_goleveldb(
    bits_per_key: c_int,
) -> *mut leveldb_bloom_policy {
    Policy::create_goleveldb(bits_per_key).cast()
}

/// The one policy of that many bits per key that the whole process shares: it lives as long as the
/// process, and leveldb_bloom_policy_destroy and the callbacks' destructor leave it alone. The same
/// pointer each time. NULL if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_policy_shared(bits_per_key: c_int) -> *mut leveldb_bloom_policy {
    shared::shared_policy(bits_per_key).cast()
}

/// The same for leveldb_options_set_filter_policy: a policy that lives as long as the process, so
/// that no database can outlive it; the same pointer each time. leveldb_filterpolicy_destroy and
/// C++'s delete do nothing to it, however often. For one LevelDB library, which has to stay loaded.
/// NULL if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_filterpolicy_shared(
    bits_per_key: c_int,
) -> *mut leveldb_filterpolicy_t {
    leveldb::shared_filter_policy(bits_per_key, crate::link()).cast()
}

/// How many bloom policies of this library were created, by whatever function, and are not
/// destroyed yet. Not counted are shared ones, and policies of your own callbacks
/// (leveldb_filterpolicy_create), which may be LevelDB's objects; but a leveldb_bloom_policy used
/// as the state of one is.
///
/// The environment variable LEVELDB_BLOOM_CHECK finds who destroys a policy too early or twice. If
/// it is "report" or "abort" when a policy is created, the policy stays in memory when it is
/// destroyed (which valgrind and LeakSanitizer call a leak), and the first filter or query that it
/// is asked for afterwards, and each further destruction, is reported on stderr; "abort" then ends
/// the process. Any other value is refused, once, on stderr, and nothing is checked.
///
/// A policy that is the state of an object of LevelDB's (made by leveldb_filterpolicy_create with
/// our callbacks, or in a LevelDB that was built with leveldb_bloom_policy.cc) is checked only
/// where its own pointer is given to the functions here or to the callbacks. The object is
/// LevelDB's to free, and what it is asked for afterwards does not reach the check.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_live_policies() -> usize {
    lifetime::live_policies()
}

/// The callbacks for leveldb_filterpolicy_create. Never NULL; the table lives as long as the
/// process.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_vtable() -> *const leveldb_bloom_vtable {
    (&raw const vtable::VTABLE).cast()
}

/// The length in bytes of the policy's filter for `num_keys` keys, its last byte (the number of
/// probes) included. 0 if `policy` is NULL or the size cannot be represented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_filter_size(
    policy: *const leveldb_bloom_policy,
    num_keys: usize,
) -> usize {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { policy.cast::<Policy>().as_ref() }.map_or(0, |policy| policy.filter_size(num_keys))
}

/// Creates the filter for `num_keys` keys and stores its length in `*filter_length`. The caller
/// frees it with leveldb_bloom_free or C's free. Key i has `key_lengths[i]` bytes at `keys[i]`; a
/// key of length 0 may be NULL. Keys may come in any order and more than once.
///
/// NULL, and a length of 0, if the filter cannot be made: `policy` is NULL, an array is NULL while
/// `num_keys` is not 0, a key is NULL with a length, the size cannot be represented, or there is no
/// memory. NULL also if `filter_length` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_create_filter(
    policy: *const leveldb_bloom_policy,
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: usize,
    filter_length: *mut usize,
) -> *mut c_char {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { functions::create_filter(policy.cast(), keys, key_lengths, num_keys, filter_length) }
}

/// Writes the filter for `num_keys` keys over the `filter_length` bytes at `filter`, which must be
/// as many as leveldb_bloom_filter_size says. Allocates nothing; a filter of half a kilobyte to
/// four therefore takes up to 1.7 times as long as with leveldb_bloom_create_filter (3,000 keys,
/// AVX2, AMD EPYC of the third generation, 2026-11-25).
///
/// Returns LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `policy` or `filter` is NULL,
/// `keys` is NULL while `num_keys` is not 0, a key is NULL with a length, or the filter has another
/// length; or LEVELDB_BLOOM_TOO_LARGE, if the size cannot be represented, even where `keys` or
/// `filter` is NULL. In both of these cases `filter` is unchanged.
///
/// With a transformed policy what is allocated depends on the transform, and
/// LEVELDB_BLOOM_NO_MEMORY is returned if it gave no canonical form of a key; `filter` then matches
/// every key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_fill_filter(
    policy: *const leveldb_bloom_policy,
    keys: *const leveldb_bloom_slice,
    num_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    match unsafe { policy.cast::<Policy>().as_ref() } {
        // SAFETY: the C caller's promise, as the header asks for it.
        Some(policy) => unsafe { policy.fill_filter(keys.cast(), num_keys, filter, filter_length) },
        None => status::INVALID_ARGUMENT,
    }
}

/// leveldb_bloom_fill_filter for keys that lie one behind the other: key i is `data[offsets[i]]` up
/// to, not including, `data[offsets[i + 1]]`, as in Arrow's Binary and Utf8. There are
/// `num_keys` + 1 offsets, the first of which need not be 0.
///
/// LEVELDB_BLOOM_INVALID_ARGUMENT also if the offsets are NULL, unaligned, negative or decreasing,
/// or if one is beyond `data_length`. With no keys, `data` and `offsets` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_fill_filter_offsets32(
    policy: *const leveldb_bloom_policy,
    data: *const c_char,
    data_length: usize,
    offsets: *const i32,
    num_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        let keys = flat::offsets32(data, data_length, offsets, num_keys);
        flat::fill_filter(policy.cast(), keys, filter, filter_length)
    }
}

/// leveldb_bloom_fill_filter_offsets32 with offsets of 64 bits: Arrow's LargeBinary and LargeUtf8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_fill_filter_offsets64(
    policy: *const leveldb_bloom_policy,
    data: *const c_char,
    data_length: usize,
    offsets: *const i64,
    num_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        let keys = flat::offsets64(data, data_length, offsets, num_keys);
        flat::fill_filter(policy.cast(), keys, filter, filter_length)
    }
}

/// leveldb_bloom_fill_filter for keys of `key_length` bytes each that lie one behind the other, as
/// in a numpy array of dtype S16. All bytes count, those of zero at a key's end too. With a
/// `key_length` of 0 all are the empty key, and it takes no longer for many of them than for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_fill_filter_fixed(
    policy: *const leveldb_bloom_policy,
    data: *const c_char,
    key_length: usize,
    num_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        let keys = flat::fixed(data, key_length, num_keys);
        flat::fill_filter(policy.cast(), keys, filter, filter_length)
    }
}

/// 1 if the key may be among those the filter was made from, 0 if it certainly is not. Any bytes
/// may be given as a filter: fewer than two match nothing, and a last byte (the number of probes)
/// above 30 or of 0 matches everything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_key_may_match(
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { functions::key_may_match(key, key_length, filter, filter_length) }
}

/// leveldb_bloom_key_may_match for many keys and one filter: stores 0 or 1 for key i in
/// `results[i]`, unless `results` is NULL, and returns the number of ones. If an array of keys is
/// NULL while `num_keys` is not 0, returns 0 and stores nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_keys_may_match(
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: usize,
    filter: *const c_char,
    filter_length: usize,
    results: *mut u8,
) -> usize {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        functions::keys_may_match(keys, key_lengths, num_keys, filter, filter_length, results)
    }
}

/// leveldb_bloom_keys_may_match for keys that lie one after another (see
/// leveldb_bloom_fill_filter_offsets32). `results`, `bitmap` and `matches` may each be NULL.
/// `results` receives a byte of 0 or 1 for each key; `bitmap` a bit for each, that of key i as bit
/// i % 8, least significant first, of byte i / 8, and zeros in the rest of the last byte;
/// `*matches` the number of ones.
///
/// Returns LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, with nothing written, if the keys
/// are not valid, `filter` is NULL with a length, or `results` or `bitmap` would need more bytes
/// than an object can have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_keys_may_match_offsets32(
    data: *const c_char,
    data_length: usize,
    offsets: *const i32,
    num_keys: usize,
    filter: *const c_char,
    filter_length: usize,
    results: *mut u8,
    bitmap: *mut u8,
    matches: *mut usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        let keys = flat::offsets32(data, data_length, offsets, num_keys);
        flat::keys_may_match(keys, filter, filter_length, results, bitmap, matches)
    }
}

/// leveldb_bloom_keys_may_match_offsets32 with offsets of 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_keys_may_match_offsets64(
    data: *const c_char,
    data_length: usize,
    offsets: *const i64,
    num_keys: usize,
    filter: *const c_char,
    filter_length: usize,
    results: *mut u8,
    bitmap: *mut u8,
    matches: *mut usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        let keys = flat::offsets64(data, data_length, offsets, num_keys);
        flat::keys_may_match(keys, filter, filter_length, results, bitmap, matches)
    }
}

/// leveldb_bloom_keys_may_match_offsets32 for keys of `key_length` bytes each. With a `key_length`
/// of 0 all are the empty key: it is asked for once, and every answer is the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_keys_may_match_fixed(
    data: *const c_char,
    key_length: usize,
    num_keys: usize,
    filter: *const c_char,
    filter_length: usize,
    results: *mut u8,
    bitmap: *mut u8,
    matches: *mut usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        let keys = flat::fixed(data, key_length, num_keys);
        flat::keys_may_match(keys, filter, filter_length, results, bitmap, matches)
    }
}

/// leveldb_bloom_key_may_match for one key and many filters, as a read does that looks through many
/// tables: the key is hashed once. Stores 0 or 1 for filter i in `results[i]`, unless `results` is
/// NULL, and returns the number of ones. If `filters` is NULL, returns 0 and stores nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_filters_may_match(
    key: *const c_char,
    key_length: usize,
    filters: *const leveldb_bloom_slice,
    num_filters: usize,
    results: *mut u8,
) -> usize {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { functions::filters_may_match(key, key_length, filters.cast(), num_filters, results) }
}

/// The hash of a key, by which a filter knows it: LevelDB's Hash with the seed 0xbc9f1d34.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_hash(key: *const c_char, key_length: usize) -> u32 {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { inside::hash(key, key_length) }
}

/// leveldb_bloom_key_may_match for a key of this hash (see leveldb_bloom_hash). For callers that
/// ask many filters for the same key, one after another.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_hash_may_match(
    hash: u32,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { inside::hash_may_match(hash, filter, filter_length) }
}

/// Collects keys as they come, four bytes each, and makes their filter. For one thread at a time.
pub struct leveldb_bloom_builder {
    _opaque: [u8; 0],
}

/// Creates a builder with no key yet; the caller destroys it. NULL if there is no memory.
///
/// Many builders, in many threads or on many machines, can each make a part of one filter: let each
/// finish with the same `total_keys`, and unite the parts with leveldb_bloom_union. The result is,
/// byte for byte, the filter of all keys at once.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_builder_create(bits_per_key: c_int) -> *mut leveldb_bloom_builder {
    Builder::create(bits_per_key).cast()
}

/// Destroys a builder. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_destroy(builder: *mut leveldb_bloom_builder) {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { Builder::destroy(builder.cast()) }
}

/// Adds a key. Returns LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `builder` is NULL,
/// or `key` is NULL with a length; or LEVELDB_BLOOM_NO_MEMORY. The keys added before are kept in
/// any case.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_add(
    builder: *mut leveldb_bloom_builder,
    key: *const c_char,
    key_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        match builder.cast::<Builder>().as_mut() {
            Some(builder) => builder.add(key, key_length),
            None => status::INVALID_ARGUMENT,
        }
    }
}

/// Adds keys that lie one behind the other (see leveldb_bloom_fill_filter_offsets32); all of them,
/// or none where the status is not LEVELDB_BLOOM_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_add_offsets32(
    builder: *mut leveldb_bloom_builder,
    data: *const c_char,
    data_length: usize,
    offsets: *const i32,
    num_keys: usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        match builder.cast::<Builder>().as_mut() {
            Some(builder) => builder.add_all(flat::offsets32(data, data_length, offsets, num_keys)),
            None => status::INVALID_ARGUMENT,
        }
    }
}

/// leveldb_bloom_builder_add_offsets32 with offsets of 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_add_offsets64(
    builder: *mut leveldb_bloom_builder,
    data: *const c_char,
    data_length: usize,
    offsets: *const i64,
    num_keys: usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        match builder.cast::<Builder>().as_mut() {
            Some(builder) => builder.add_all(flat::offsets64(data, data_length, offsets, num_keys)),
            None => status::INVALID_ARGUMENT,
        }
    }
}

/// leveldb_bloom_builder_add_offsets32 for keys of `key_length` bytes each. Each takes four bytes,
/// with a `key_length` of 0 too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_add_fixed(
    builder: *mut leveldb_bloom_builder,
    data: *const c_char,
    key_length: usize,
    num_keys: usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        match builder.cast::<Builder>().as_mut() {
            Some(builder) => builder.add_all(flat::fixed(data, key_length, num_keys)),
            None => status::INVALID_ARGUMENT,
        }
    }
}

/// The number of keys added. 0 if `builder` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_num_keys(
    builder: *const leveldb_bloom_builder,
) -> usize {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { builder.cast::<Builder>().as_ref() }.map_or(0, Builder::num_keys)
}

/// The length in bytes of the filter that leveldb_bloom_builder_finish writes for `total_keys`. 0
/// if `builder` is NULL or the size cannot be represented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_filter_size(
    builder: *const leveldb_bloom_builder,
    total_keys: usize,
) -> usize {
    // SAFETY: the C caller's promise, as the header asks for it.
    let builder = unsafe { builder.cast::<Builder>().as_ref() };
    builder.map_or(0, |builder| builder.filter_size(total_keys))
}

/// Writes the filter of the keys added over the `filter_length` bytes at `filter`, which must be as
/// many as leveldb_bloom_builder_filter_size says. It has the length of a filter for `total_keys`
/// keys, or, if that is 0, for the keys added. If more than `total_keys` were added, the filter is
/// fuller than it should be, but holds all of them. Afterwards the builder has no keys.
///
/// Returns LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `builder` or `filter` is NULL or
/// the length is another; or LEVELDB_BLOOM_TOO_LARGE, even where `filter` is NULL. In both of these
/// cases the builder keeps its keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_finish(
    builder: *mut leveldb_bloom_builder,
    total_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe {
        match builder.cast::<Builder>().as_mut() {
            Some(builder) => builder.finish(total_keys, filter, filter_length),
            None => status::INVALID_ARGUMENT,
        }
    }
}

/// Adds the keys of the filter `from` to the filter `into`. Both must have the same length and
/// number of probes, as filters of one policy for the same number of keys have. Returns
/// LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_MISMATCH, with `into` unchanged, if they differ or have fewer
/// than two bytes, which hold no bits; or LEVELDB_BLOOM_INVALID_ARGUMENT, if one is NULL with a
/// length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_union(
    into: *mut c_char,
    into_length: usize,
    from: *const c_char,
    from_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { inside::union(into, into_length, from, from_length) }
}

/// The expected false-positive rate, from 0 to 1, of a filter for `num_keys` different keys; 1 if
/// such a filter cannot be made. Includes what the textbook's formula leaves out: at least 64 bits,
/// at most 30 probes, small filters, and a hash of 32 bits, because of which no number of bits
/// helps with tens of millions of keys in one filter (1.16 % at 50 million).
///
/// The real rate is higher in four cases. With 20,000 to some million keys: mostly up to 1.5 times,
/// but for one size in twenty up to three times below 16 bits (2.7 times at 15 bits and 100,000
/// keys) and up to seven from there on (5.4 times at 20 bits and 371,000 keys, five where the
/// number of bits is a power of two, 2^20 or more). At 16 bits and fewer with up to some twenty
/// keys: up to a third more. At more than 16 bits with few keys: 1.5 times with some twenty, twice
/// with ten, six times with fewer (eight times with one key of 100 bits). Where the number of bits
/// shares a divisor of 51 or more with 2^32 - 1: 3.5 times at 10 bits and 52,428 keys, and up to
/// 140 times, at 30 bits and 17,476 keys.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_false_positive_rate(bits_per_key: c_int, num_keys: usize) -> f64 {
    sizing::false_positive_rate(bits_per_key, num_keys)
}

/// The fewest bits per key, from 1 on, that give a false-positive rate of at most
/// `false_positive_rate` in a filter of `num_keys` keys, by leveldb_bloom_false_positive_rate. 0 if
/// no number up to 44 does. From there on the number of probes stays the same, and more bits help
/// only filters of up to some thousand keys: of 100 keys, 44 bits each let one absent key in 30,000
/// pass, and 100 bits a tenth of that. More are not always better: with one or two keys, or 300
/// million and more, 44 bits have more false positives than 10.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_bits_per_key_for(
    false_positive_rate: f64,
    num_keys: usize,
) -> c_int {
    sizing::bits_per_key_for(false_positive_rate, num_keys)
}

/// A sentence that says why this number of bits per key is hardly useful, or NULL if it is
/// sensible. It lives as long as the process. Every number works all the same.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_validate(bits_per_key: c_int) -> *const c_char {
    sizing::validate(bits_per_key)
}

/// What the bytes of a filter say.
#[repr(C)]
pub struct leveldb_bloom_info {
    /// The number of bits.
    pub bits: u64,
    /// How many of them are set.
    pub bits_set: u64,
    /// The number of probes, k. A filter with 0 probes or more than 30 matches every key; but one
    /// of fewer than two bytes, which has no bits, matches none.
    pub probes: u32,
    /// 0.
    pub reserved: u32,
    /// bits_set / bits; 0 if there are none.
    pub fill: f64,
    /// About how many different keys were added. Infinite if the filter matches every key.
    pub estimated_keys: f64,
    /// The expected rate of false positives, from the fill.
    pub false_positive_rate: f64,
}

/// Reads any bytes as a filter into `*info`. LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT if
/// `info` is NULL, or `filter` is NULL with a length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_inspect(
    filter: *const c_char,
    filter_length: usize,
    info: *mut leveldb_bloom_info,
) -> c_int {
    // SAFETY: the C caller's promise, as the header asks for it.
    match unsafe { inside::inspect(filter, filter_length) } {
        Some(read) if !info.is_null() => {
            let read = leveldb_bloom_info {
                bits: read.bits,
                bits_set: read.bits_set,
                probes: read.probes,
                reserved: 0,
                fill: read.fill,
                estimated_keys: read.estimated_keys,
                false_positive_rate: read.false_positive_rate,
            };
            // SAFETY: not NULL, and the C caller's promise.
            unsafe { info.write_unaligned(read) };
            status::OK
        }
        _ => status::INVALID_ARGUMENT,
    }
}

/// Stores up to `capacity` of the positions of the bits that a query of this filter for the key
/// reads in `positions`, unless that is NULL. Returns how many there are: k, at most 30; or 0 if
/// the filter matches every key, or none, without reading a bit. Position p is bit p % 8, least
/// significant first, of the filter's byte p / 8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_positions(
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
    positions: *mut u64,
    capacity: usize,
) -> usize {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { inside::positions(key, key_length, filter, filter_length, positions, capacity) }
}

/// A sentence about a status, which lives as long as the process. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_status_message(status: c_int) -> *const c_char {
    status::message(status).as_ptr()
}

/// The version of the library in use, as LEVELDB_BLOOM_VERSION says that of this header.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_version() -> *const c_char {
    version::TEXT.as_ptr()
}

/// The version of the library in use as a number: 10203 for 1.2.3. LEVELDB_BLOOM_VERSION_NUMBER is
/// that of this header. A library can be replaced by any other of the same major version that is
/// not older than the header a program was compiled with.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_version_number() -> c_int {
    version::NUMBER
}

/// Frees what leveldb_bloom_create_filter returned. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_free(memory: *mut c_void) {
    // SAFETY: the C caller's promise, as the header asks for it.
    unsafe { functions::free(memory) }
}

/// The name of the kernel that does the policy's work: "avx512", "avx2", "neon" or "portable". All
/// give the same bits. It is the one that the environment variable LEVELDB_BLOOM_KERNEL named when
/// the policy was created; otherwise the fastest that does not slow down what else the program
/// does. ("avx512" is only in a library that was built with Rust 1.89 or newer, and is not chosen
/// on Intel's processors, which lower a core's clock for it.) A name of a kernel that is not there
/// is refused, once, on stderr. NULL if `policy` is NULL; the string lives as long as the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_kernel(
    policy: *const leveldb_bloom_policy,
) -> *const c_char {
    // SAFETY: the C caller's promise, as the header asks for it.
    let policy = unsafe { policy.cast::<Policy>().as_ref() };
    policy.map_or(core::ptr::null(), Policy::kernel_name)
}

/// Which implementation leveldb_filterpolicy_create_bloom resolves to in this process, and how its
/// filters reach the host: "leveldb_bloom (...)" or "original (...)", with the way or the reason in
/// parentheses. Ask when LevelDB is loaded: before, it is "leveldb_bloom (no LevelDB found)". (It
/// stays that if this library is preloaded under a program with LevelDB in its executable, which
/// never calls us.) Looks through all loaded modules, which takes memory for a moment. Never NULL;
/// the string lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_active() -> *const c_char {
    leveldb::active(crate::link())
}

/// Nothing in the release build can panic (a test looks for what a panic would need). In a debug
/// build, with its overflow checks, one ends the process before it could unwind into C.
#[cfg(not(test))]
#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: takes nothing.
    unsafe { libc::abort() }
}

/// Where the crate's working memory comes from.
#[cfg(not(test))]
struct Malloc;

#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: Malloc = Malloc;

#[cfg(not(test))]
// SAFETY: `alloc` gives malloc's memory, which is aligned for anything up to a word, and NULL for a
// larger alignment. (The crate keeps bytes, keys and hashes in it.)
unsafe impl core::alloc::GlobalAlloc for Malloc {
    unsafe fn alloc(&self, layout: core::alloc::Layout) -> *mut u8 {
        if layout.align() > core::mem::align_of::<usize>() {
            return core::ptr::null_mut();
        }
        // SAFETY: malloc takes any size.
        unsafe { libc::malloc(layout.size()).cast() }
    }

    unsafe fn realloc(
        &self,
        memory: *mut u8,
        _layout: core::alloc::Layout,
        size: usize,
    ) -> *mut u8 {
        // SAFETY: `alloc` gave it, and nobody has given it back, by the caller's word.
        unsafe { libc::realloc(memory.cast(), size).cast() }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _layout: core::alloc::Layout) {
        // SAFETY: `alloc` gave it, and nobody has given it back, by the caller's word.
        unsafe { libc::free(memory.cast()) }
    }
}
