//! Querying filters. A filter says itself how it was made, so that no policy is needed, and both
//! encodings are read.

use core::ffi::{c_char, c_int};
use core::mem::MaybeUninit;
use core::slice;

use leveldb_bloom::Key;

use crate::diagnosis::kernel::{self, without_policy};
use crate::door::{self, Keys, PART, Raw, Slice, array, array_mut, bytes, bytes_or_empty};
use crate::status::{LEVELDB_BLOOM_INVALID_ARGUMENT, LEVELDB_BLOOM_OK};

/// Queries a filter for a key. The functions without a policy read both encodings, LevelDB's own and
/// ribbon, except for leveldb_bloom_hash_may_match.
///
/// \param key The key.
/// \param key_length Its length.
/// \param filter The filter, which may be any bytes: fewer than two match nothing. A last byte of 1 to 30
/// is the number of probes, and one of 32 to 239 that of a ribbon filter; others match everything.
/// \param filter_length Its length.
/// \return 1 if the key may be among those that the filter was made from, 0 if it certainly is not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_key_may_match(
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    // SAFETY: the C caller's promise.
    unsafe {
        let Some(policy) = kernel::chosen() else {
            return first_query((key, key_length), (filter, filter_length));
        };
        let answer = |key: &[u8], filter: &[u8]| policy.key_may_match(key, filter).into();
        door::query((key, key_length), (filter, filter_length), answer)
    }
}

/// Out of line, so that other queries need no room on the stack.
///
/// # Safety
/// As leveldb_bloom_key_may_match.
#[cold]
#[inline(never)]
unsafe fn first_query(key: Raw, filter: Raw) -> u8 {
    let policy = without_policy();
    // SAFETY: the caller's promise.
    unsafe { door::query(key, filter, |key, filter| policy.key_may_match(key, filter).into()) }
}

/// Queries a filter for many keys.
///
/// \param keys Key i has `key_lengths[i]` bytes at `keys[i]`.
/// \param key_lengths The lengths of the keys.
/// \param num_keys The number of keys.
/// \param filter The filter, as for leveldb_bloom_key_may_match.
/// \param filter_length Its length.
/// \param results Receives 0 or 1 for each key; may be NULL.
/// \return The number of ones. If an array of keys is NULL while `num_keys` is not 0, returns 0 and
/// stores nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_keys_may_match(
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: usize,
    filter: *const c_char,
    filter_length: usize,
    results: *mut u8,
) -> usize {
    // SAFETY: the C caller's promise.
    let (keys, filter, results) = unsafe {
        let Some(keys) = Keys::arrays(keys, key_lengths, num_keys) else { return 0 };
        (keys, bytes_or_empty(filter, filter_length), array_mut(results, num_keys))
    };
    query_keys(keys, filter, results, None)
}

/// leveldb_bloom_keys_may_match for keys that lie one behind the other (see
/// leveldb_bloom_fill_filter_offsets32).
///
/// \param data The bytes of all keys.
/// \param data_length The number of bytes.
/// \param offsets Where the keys are.
/// \param num_keys The number of keys.
/// \param filter The filter.
/// \param filter_length Its length.
/// \param results Receives a byte of 0 or 1 for each key; may be NULL.
/// \param bitmap Receives a bit for each key: that of key i is bit i % 8, least significant first, of
/// byte i / 8. The rest of the last byte becomes 0. May be NULL.
/// \param matches Receives the number of ones; may be NULL.
/// \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, with nothing written, if the keys are
/// not valid, `filter` is NULL with a length, or `results` or `bitmap` would need more bytes than an
/// object can have.
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
    // SAFETY: the C caller's promise.
    unsafe {
        let keys = Keys::offsets32(data, data_length, offsets, num_keys);
        query_flat(keys, filter, filter_length, results, bitmap, matches)
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
    // SAFETY: the C caller's promise.
    unsafe {
        let keys = Keys::offsets64(data, data_length, offsets, num_keys);
        query_flat(keys, filter, filter_length, results, bitmap, matches)
    }
}

/// leveldb_bloom_keys_may_match_offsets32 for keys of `key_length` bytes each. With a `key_length`
/// of 0 all are the empty key, and every answer is the same.
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
    // SAFETY: the C caller's promise.
    unsafe {
        let keys = Keys::fixed(data, key_length, num_keys);
        query_flat(keys, filter, filter_length, results, bitmap, matches)
    }
}

/// Queries many filters for one key, as a read does that looks through many tables. The key is hashed
/// once for many filters.
///
/// \param key The key.
/// \param key_length Its length.
/// \param filters The filters, each as for leveldb_bloom_key_may_match.
/// \param num_filters The number of filters.
/// \param results Receives 0 or 1 for each filter; may be NULL.
/// \return The number of ones. If `filters` is NULL, returns 0 and stores nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_filters_may_match(
    key: *const c_char,
    key_length: usize,
    filters: *const Slice,
    num_filters: usize,
    results: *mut u8,
) -> usize {
    // SAFETY: the C caller's promise.
    let (key, all, filters, results) = unsafe {
        let all = array(filters, num_filters).unwrap_or(&[]);
        let filters = Keys::slices(filters, all.len());
        (bytes_or_empty(key, key_length), all, filters, array_mut(results, all.len()))
    };
    let (policy, mut answers) = (without_policy(), Answers::new(results, None));
    let query = |list: &[Key]| {
        answers.take(list.len(), |answers| policy.filters_may_match(key, list, answers));
    };
    match filters {
        Some(Keys::List(filters)) => filters.chunks(PART).for_each(query),
        _ => {
            // SAFETY: the C caller's promise.
            let filters =
                all.iter().map(|it| Key::new(unsafe { bytes_or_empty(it.data, it.size) }));
            door::in_lists(filters, query);
        }
    }
    answers.ones
}

/// leveldb_bloom_key_may_match for a key of which the hash is known. For callers that query many
/// filters for the same key, one after another. Knows LevelDB's own encoding only: a ribbon filter may
/// hold any key.
///
/// \param hash The key's leveldb_bloom_hash.
/// \param filter The filter.
/// \param filter_length Its length.
/// \return As leveldb_bloom_key_may_match.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_hash_may_match(
    hash: u32,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    // SAFETY: the C caller's promise.
    leveldb_bloom::hash_may_match(hash, unsafe { bytes_or_empty(filter, filter_length) }).into()
}

/// The hash by which a filter of LevelDB's own encoding knows a key: LevelDB's Hash with the seed 0xbc9f1d34.
///
/// \param key The key.
/// \param key_length Its length.
/// \return The hash.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_hash(key: *const c_char, key_length: usize) -> u32 {
    // SAFETY: the C caller's promise.
    leveldb_bloom::bloom_hash(unsafe { bytes_or_empty(key, key_length) })
}

/// # Safety
/// `filter` is as for `door::bytes`; `results`, `bitmap` and `matches` are each NULL or can be written.
unsafe fn query_flat(
    keys: Option<Keys<'_>>,
    filter: *const c_char,
    filter_length: usize,
    results: *mut u8,
    bitmap: *mut u8,
    matches: *mut usize,
) -> c_int {
    let query_flat = || -> Option<usize> {
        let keys = keys?;
        // SAFETY: the caller's promise.
        let (filter, results, bitmap) = unsafe {
            let room = |memory: *mut u8, len| match array_mut(memory, len) {
                // NULL is fine, a length that cannot be is not.
                None if !memory.is_null() => None,
                room => Some(room),
            };
            let bitmap = room(bitmap, keys.len().div_ceil(8))?;
            (bytes(filter, filter_length)?, room(results, keys.len())?, bitmap)
        };
        Some(query_keys(keys, filter, results, bitmap))
    };
    let Some(ones) = query_flat() else { return LEVELDB_BLOOM_INVALID_ARGUMENT };
    if !matches.is_null() {
        // SAFETY: not NULL, and the caller's promise.
        unsafe { matches.write_unaligned(ones) };
    }
    LEVELDB_BLOOM_OK
}

fn query_keys(keys: Keys<'_>, filter: &[u8], results: Room<'_>, bitmap: Room<'_>) -> usize {
    let policy = without_policy();
    if let Keys::Empty(num_keys) = keys {
        let answer = policy.key_may_match(&[], filter);
        results.unwrap_or(&mut []).fill(MaybeUninit::new(answer.into()));
        if let Some((last, bits)) = bitmap.and_then(<[_]>::split_last_mut) {
            let ones = if answer { 0xff } else { 0 };
            bits.fill(MaybeUninit::new(ones));
            last.write(ones >> (num_keys.wrapping_neg() % 8));
        }
        return if answer { num_keys } else { 0 };
    }
    let mut answers = Answers::new(results, bitmap);
    keys.in_lists(|list| {
        answers.take(list.len(), |answers| policy.keys_may_match(list, filter, answers));
    });
    answers.ones
}

/// Memory for answers; `None` where nobody wants them there.
type Room<'a> = Option<&'a mut [MaybeUninit<u8>]>;

/// Writes answers as bytes and as bits.
struct Answers<'a> {
    results: slice::IterMut<'a, MaybeUninit<u8>>,
    bitmap: slice::IterMut<'a, MaybeUninit<u8>>,
    /// How many were 1.
    ones: usize,
}

impl<'a> Answers<'a> {
    fn new(results: Room<'a>, bitmap: Room<'a>) -> Self {
        let iter = |room: Room<'a>| room.unwrap_or(&mut []).iter_mut();
        Answers { results: iter(results), bitmap: iter(bitmap), ones: 0 }
    }

    /// Takes as many answers, up to [`PART`] and whole bytes of the bitmap except for the last. `ask`
    /// returns how many are true.
    fn take(&mut self, len: usize, ask: impl FnOnce(&mut [bool]) -> usize) {
        let mut answers = [false; PART];
        let answers = answers.get_mut(..len).unwrap_or(&mut []);
        self.ones += ask(answers);
        for (answer, place) in answers.iter().zip(&mut self.results) {
            place.write((*answer).into());
        }
        for (eight, place) in answers.chunks(8).zip(&mut self.bitmap) {
            place.write(eight.iter().rev().fold(0, |bits, answer| bits << 1 | u8::from(*answer)));
        }
    }
}
