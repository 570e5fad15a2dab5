//! Filters made key by key, or in parts.

use alloc::boxed::Box;
use core::ffi::{c_char, c_int};
use core::iter;

use leveldb_bloom::{Encoding, FilterBuilder, FilterInfo};

use crate::door::{self, Keys, array_mut, bytes};
use crate::memory;
use crate::policy;
use crate::status::{
    self, LEVELDB_BLOOM_INVALID_ARGUMENT, LEVELDB_BLOOM_MISMATCH, LEVELDB_BLOOM_NO_MEMORY,
    LEVELDB_BLOOM_OK, LEVELDB_BLOOM_TOO_LARGE, Result,
};

/// Collects keys as they come, four bytes each (twelve for ribbon filters), and makes their filter. For
/// one thread at a time.
pub struct Builder(FilterBuilder);

impl Builder {
    /// For so many keys, or for those added if that is 0.
    fn filter_len(&self, total_keys: usize) -> Option<usize> {
        self.0.policy().filter_len(self.total(total_keys))
    }

    fn total(&self, total_keys: usize) -> usize {
        if total_keys == 0 { self.0.num_keys() } else { total_keys }
    }
}

/// Creates a builder with no key yet.
///
/// Many builders, in many threads or on many machines, can each make a part of one filter: let each
/// finish with the same `total_keys`, and unite the parts with leveldb_bloom_union. The result is,
/// byte for byte, the filter of all keys at once.
///
/// \param bits_per_key As for leveldb_bloom_policy_create.
/// \return The builder, for the caller to destroy; NULL if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_builder_create(bits_per_key: c_int) -> Option<Box<Builder>> {
    create(bits_per_key, Encoding::Bloom)
}

/// leveldb_bloom_builder_create for ribbon filters (see leveldb_bloom_policy_create_ribbon). They
/// cannot be united.
///
/// \param bits_per_key As for leveldb_bloom_policy_create_ribbon.
/// \return As leveldb_bloom_builder_create.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_builder_create_ribbon(bits_per_key: c_int) -> Option<Box<Builder>> {
    create(bits_per_key, Encoding::Ribbon)
}

fn create(bits_per_key: c_int, encoding: Encoding) -> Option<Box<Builder>> {
    memory::boxed(|| Builder(FilterBuilder::new(policy::core(bits_per_key, encoding))))
}

/// Destroys a builder.
///
/// \param builder May be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_builder_destroy(builder: Option<Box<Builder>>) {
    drop(builder);
}

/// Adds a key.
///
/// \param builder The builder.
/// \param key The key.
/// \param key_length Its length.
/// \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `builder` is NULL, or `key` is NULL
/// with a length; or LEVELDB_BLOOM_NO_MEMORY. The keys added before are kept in any case.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_add(
    builder: Option<&mut Builder>,
    key: *const c_char,
    key_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise.
    add(builder, unsafe { bytes(key, key_length) }.map(iter::once))
}

/// Adds keys that lie one behind the other (see leveldb_bloom_fill_filter_offsets32).
///
/// \param builder The builder.
/// \param data The bytes of all keys.
/// \param data_length The number of bytes.
/// \param offsets Where the keys are.
/// \param num_keys The number of keys.
/// \return As leveldb_bloom_builder_add. All keys are added, or none if it is not LEVELDB_BLOOM_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_add_offsets32(
    builder: Option<&mut Builder>,
    data: *const c_char,
    data_length: usize,
    offsets: *const i32,
    num_keys: usize,
) -> c_int {
    // SAFETY: the C caller's promise.
    let keys = unsafe { Keys::offsets32(data, data_length, offsets, num_keys) };
    add(builder, keys.map(Keys::iter))
}

/// leveldb_bloom_builder_add_offsets32 with offsets of 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_add_offsets64(
    builder: Option<&mut Builder>,
    data: *const c_char,
    data_length: usize,
    offsets: *const i64,
    num_keys: usize,
) -> c_int {
    // SAFETY: the C caller's promise.
    let keys = unsafe { Keys::offsets64(data, data_length, offsets, num_keys) };
    add(builder, keys.map(Keys::iter))
}

/// leveldb_bloom_builder_add_offsets32 for keys of `key_length` bytes each. Each takes four bytes,
/// with a `key_length` of 0 too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_add_fixed(
    builder: Option<&mut Builder>,
    data: *const c_char,
    key_length: usize,
    num_keys: usize,
) -> c_int {
    // SAFETY: the C caller's promise.
    let keys = unsafe { Keys::fixed(data, key_length, num_keys) };
    add(builder, keys.map(Keys::iter))
}

fn add<'k>(
    builder: Option<&mut Builder>,
    keys: Option<impl ExactSizeIterator<Item = &'k [u8]>>,
) -> c_int {
    let (Some(builder), Some(keys)) = (builder, keys) else {
        return LEVELDB_BLOOM_INVALID_ARGUMENT;
    };
    status::number(builder.0.try_extend(keys).map_err(|_| LEVELDB_BLOOM_NO_MEMORY))
}

/// The number of keys added.
///
/// \param builder May be NULL.
/// \return The number; 0 if `builder` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_builder_num_keys(builder: Option<&Builder>) -> usize {
    builder.map_or(0, |builder| builder.0.num_keys())
}

/// The length of the filter that leveldb_bloom_builder_finish writes.
///
/// \param builder May be NULL.
/// \param total_keys As for leveldb_bloom_builder_finish.
/// \return The length in bytes; 0 if `builder` is NULL or the size cannot be represented.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_builder_filter_size(
    builder: Option<&Builder>,
    total_keys: usize,
) -> usize {
    builder.and_then(|builder| builder.filter_len(total_keys)).unwrap_or(0)
}

/// Writes the filter of the keys added. Afterwards the builder has no keys.
///
/// \param builder The builder.
/// \param total_keys The filter has the length of one for so many keys, or, if this is 0, for the keys
/// added. If more than these were added, it is fuller than it should be, but holds all of them.
/// \param filter Where the filter goes.
/// \param filter_length The length of that: it must be leveldb_bloom_builder_filter_size(builder,
/// total_keys).
/// \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `builder` or `filter` is NULL or
/// the length is another; or LEVELDB_BLOOM_TOO_LARGE, if the size cannot be represented, even where
/// `filter` is NULL. In both cases the builder keeps its keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_builder_finish(
    builder: Option<&mut Builder>,
    total_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    let finish = || -> Result {
        let builder = builder.ok_or(LEVELDB_BLOOM_INVALID_ARGUMENT)?;
        let len = builder.filter_len(total_keys).ok_or(LEVELDB_BLOOM_TOO_LARGE)?;
        // SAFETY: the C caller's promise.
        let filter = unsafe { array_mut(filter.cast(), filter_length) };
        let filter = filter.filter(|filter| filter.len() == len);
        let filter = door::zeroed(filter.ok_or(LEVELDB_BLOOM_INVALID_ARGUMENT)?);
        let total = builder.total(total_keys);
        builder.0.finish_into(total, filter).map_err(|_| LEVELDB_BLOOM_INVALID_ARGUMENT)
    };
    status::number(finish())
}

/// Adds the keys of a filter to another one. Both must have the same length and number of probes, as
/// filters of one policy for the same number of keys have. Ribbon filters cannot be united.
///
/// \param into The filter that becomes the union.
/// \param into_length Its length.
/// \param from The other filter.
/// \param from_length Its length.
/// \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_MISMATCH, with `into` unchanged, if they differ, have
/// fewer than two bytes, which hold no bits, or are ribbon filters; or LEVELDB_BLOOM_INVALID_ARGUMENT, if one is NULL with a
/// length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_union(
    into: *mut c_char,
    into_length: usize,
    from: *const c_char,
    from_length: usize,
) -> c_int {
    // SAFETY: the C caller's promise. Only the same filter twice may overlap.
    unsafe {
        let (Some(_), Some(from_bytes)) = (bytes(into, into_length), bytes(from, from_length))
        else {
            return LEVELDB_BLOOM_INVALID_ARGUMENT;
        };
        if into_length != from_length || into_length < 2 {
            return LEVELDB_BLOOM_MISMATCH;
        }
        if into.cast_const() == from {
            let is_ribbon = FilterInfo::of(from_bytes).encoding == Encoding::Ribbon;
            return if is_ribbon { LEVELDB_BLOOM_MISMATCH } else { LEVELDB_BLOOM_OK };
        }
        let into = core::slice::from_raw_parts_mut(into.cast(), into_length);
        status::number(leveldb_bloom::union(into, from_bytes).map_err(|_| LEVELDB_BLOOM_MISMATCH))
    }
}
