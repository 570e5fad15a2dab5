//! Creating filters.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;

use crate::diagnosis::statistics::Route;
use crate::door::{Keys, Slice, array_mut};
use crate::memory;
use crate::policy::Policy;
use crate::status::{self, LEVELDB_BLOOM_INVALID_ARGUMENT, LEVELDB_BLOOM_TOO_LARGE};

/// The length of a filter.
///
/// \param policy May be NULL.
/// \param num_keys The number of keys.
/// \return The length in bytes, the last byte included. 0 if `policy` is NULL
/// or the size cannot be represented.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_filter_size(policy: Option<&Policy>, num_keys: usize) -> usize {
    policy.and_then(|policy| policy.core().filter_len(num_keys)).unwrap_or(0)
}

/// Creates a filter in memory of its own. Keys may come in any order and more than once.
///
/// \param policy The policy.
/// \param keys Key i has `key_lengths[i]` bytes at `keys[i]`, which may be NULL if there are none.
/// \param key_lengths The lengths of the keys.
/// \param num_keys The number of keys.
/// \param filter_length Receives the filter's length.
/// \return The filter, for the caller to free with leveldb_bloom_free or C's free. NULL, with a length
/// of 0, if it cannot be made: `policy` is NULL, an array is NULL while `num_keys` is not 0, a key is
/// NULL with a length, the size cannot be represented, or there is no memory. NULL also if
/// `filter_length` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_create_filter(
    policy: Option<&Policy>,
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: usize,
    filter_length: *mut usize,
) -> *mut c_char {
    if filter_length.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the C caller's promise.
    let keys = unsafe { Keys::arrays(keys, key_lengths, num_keys) }.filter(Keys::all_can_be);
    let made = match (policy, keys) {
        (Some(policy), Some(keys)) => policy.create(keys).ok(),
        _ => None,
    };
    let (filter, len) = made.map_or((ptr::null_mut(), 0), |made| (made.as_mut_ptr(), made.len()));
    // SAFETY: not NULL, and the C caller's promise.
    unsafe { filter_length.write(len) };
    filter.cast()
}

/// Frees what leveldb_bloom_create_filter returned.
///
/// \param memory May be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_free(memory: *mut c_void) {
    // SAFETY: the C caller's promise.
    unsafe { memory::free(memory) }
}

/// Writes a filter into memory of the caller's. A filter of 0.5 to 4 KB takes up to 32 KB of memory
/// meanwhile, if there is any, and so may one whose policy is transformed or makes ribbon filters;
/// others allocate nothing.
///
/// \param policy The policy.
/// \param keys The keys.
/// \param num_keys The number of keys.
/// \param filter Where the filter goes.
/// \param filter_length The length of that: it must be leveldb_bloom_filter_size(policy, num_keys).
/// \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `policy` or `filter` is NULL,
/// `keys` is NULL while `num_keys` is not 0, a key is NULL with a length, or the filter has another
/// length; or LEVELDB_BLOOM_TOO_LARGE, if the size cannot be represented, even where `keys` or `filter`
/// is NULL. In both cases `filter` is unchanged. Or LEVELDB_BLOOM_NO_MEMORY, if the policy's transform gave no canonical form of a key;
/// `filter` then matches every key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_fill_filter(
    policy: Option<&Policy>,
    keys: *const Slice,
    num_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    if policy.is_some_and(|policy| policy.core().filter_len(num_keys).is_none()) {
        return LEVELDB_BLOOM_TOO_LARGE;
    }
    // SAFETY: the C caller's promise.
    unsafe { fill(policy, Keys::slices(keys, num_keys), filter, filter_length) }
}

/// leveldb_bloom_fill_filter for keys that lie one behind the other, as in Arrow's Binary and Utf8.
///
/// \param policy The policy.
/// \param data The bytes of all keys. May be NULL if there are no keys.
/// \param data_length The number of bytes.
/// \param offsets Where the keys are: key i is `data[offsets[i]]` up to, not including,
/// `data[offsets[i + 1]]`. There are `num_keys` + 1 of them, and the first need not be 0. May be NULL
/// if there are no keys.
/// \param num_keys The number of keys.
/// \param filter Where the filter goes.
/// \param filter_length The length of that.
/// \return As leveldb_bloom_fill_filter; LEVELDB_BLOOM_INVALID_ARGUMENT also if the offsets are NULL,
/// unaligned, negative or decreasing, or if one is beyond `data_length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_fill_filter_offsets32(
    policy: Option<&Policy>,
    data: *const c_char,
    data_length: usize,
    offsets: *const i32,
    num_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise.
    unsafe {
        let keys = Keys::offsets32(data, data_length, offsets, num_keys);
        fill(policy, keys, filter, filter_length)
    }
}

/// leveldb_bloom_fill_filter_offsets32 with offsets of 64 bits: Arrow's LargeBinary and LargeUtf8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_fill_filter_offsets64(
    policy: Option<&Policy>,
    data: *const c_char,
    data_length: usize,
    offsets: *const i64,
    num_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise.
    unsafe {
        let keys = Keys::offsets64(data, data_length, offsets, num_keys);
        fill(policy, keys, filter, filter_length)
    }
}

/// leveldb_bloom_fill_filter for keys of one length that lie one behind the other, as in a numpy
/// array of dtype S16.
///
/// \param policy The policy.
/// \param data The bytes of all keys.
/// \param key_length The length of a key. All bytes count, zeros at a key's end too. With 0 all are
/// the empty key; many of them take no longer than one, but four bytes of memory are allocated.
/// \param num_keys The number of keys.
/// \param filter Where the filter goes.
/// \param filter_length The length of that.
/// \return As leveldb_bloom_fill_filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_fill_filter_fixed(
    policy: Option<&Policy>,
    data: *const c_char,
    key_length: usize,
    num_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise.
    unsafe {
        let keys = Keys::fixed(data, key_length, num_keys);
        fill(policy, keys, filter, filter_length)
    }
}

/// # Safety
/// `filter` is NULL or names `filter_length` bytes that can be written.
unsafe fn fill(
    policy: Option<&Policy>,
    keys: Option<Keys<'_>>,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let filter = unsafe { array_mut(filter.cast(), filter_length) };
    let (Some(policy), Some(keys)) = (policy, keys) else { return LEVELDB_BLOOM_INVALID_ARGUMENT };
    if policy.core().filter_len(keys.len()).is_none() {
        return LEVELDB_BLOOM_TOO_LARGE;
    }
    let Some(filter) = filter else { return LEVELDB_BLOOM_INVALID_ARGUMENT };
    status::number(policy.fill(keys, filter, Route::Buffer))
}
