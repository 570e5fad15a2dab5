//! Keys concatenated in one buffer, from C, and what is done with them.
//!
//! What many exports call is kept out of line: a call is for many keys, so that copies in each
//! would only make the library larger.

use core::ffi::{c_char, c_int};

use super::choice;
use super::memory::{self, bytes};
use super::policy::Policy;
use super::status;
use crate::kernel::{Key, in_groups};
use crate::keys::FlatKeys;
use crate::policy::{answer_in_groups, write_bits, write_each};

/// `num_keys` keys between `num_keys` + 1 offsets; `None` where an array is missing or the offsets
/// are not those of keys in `data`.
///
/// # Safety
/// `data` is as `memory::bytes` asks; `offsets` is NULL or names `num_keys` + 1 values, for 'a.
#[inline(never)]
pub unsafe fn offsets32<'a>(
    data: *const c_char,
    data_length: usize,
    offsets: *const i32,
    num_keys: usize,
) -> Option<FlatKeys<'a>> {
    // SAFETY: the caller's promise.
    let (data, offsets) = unsafe { arrays(data, data_length, offsets, num_keys)? };
    FlatKeys::with_offsets32(data, offsets).ok()
}

/// [`offsets32`] with 64 bits.
///
/// # Safety
/// As there.
#[inline(never)]
pub unsafe fn offsets64<'a>(
    data: *const c_char,
    data_length: usize,
    offsets: *const i64,
    num_keys: usize,
) -> Option<FlatKeys<'a>> {
    // SAFETY: the caller's promise.
    let (data, offsets) = unsafe { arrays(data, data_length, offsets, num_keys)? };
    FlatKeys::with_offsets64(data, offsets).ok()
}

/// `num_keys` keys of `key_length` bytes; `None` where they are missing.
///
/// # Safety
/// `data` is NULL or names `key_length` * `num_keys` bytes, for 'a.
pub unsafe fn fixed<'a>(
    data: *const c_char,
    key_length: usize,
    num_keys: usize,
) -> Option<FlatKeys<'a>> {
    let len = key_length.checked_mul(num_keys)?;
    // SAFETY: the caller's promise.
    FlatKeys::fixed(unsafe { bytes(data, len) }, key_length, num_keys).ok()
}

/// # Safety
/// As [`offsets32`].
unsafe fn arrays<'a, O>(
    data: *const c_char,
    data_length: usize,
    offsets: *const O,
    num_keys: usize,
) -> Option<(&'a [u8], &'a [O])> {
    if num_keys == 0 {
        return Some((&[], &[]));
    }
    let num_offsets = num_keys.checked_add(1)?;
    // SAFETY: the caller's promise.
    let (data, offsets) =
        unsafe { (bytes(data, data_length), memory::array(offsets, num_offsets)) };
    (data.len() == data_length && offsets.len() == num_offsets).then_some((data, offsets))
}

/// Writes the keys' filter over `filter_length` bytes at `filter`; a [`status`].
///
/// # Safety
/// `policy` is NULL or living; `filter` is NULL or can be written.
pub unsafe fn fill_filter(
    policy: *const Policy,
    keys: Option<FlatKeys<'_>>,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let (Some(policy), Some(keys)) = (unsafe { policy.as_ref() }, keys) else {
        return status::INVALID_ARGUMENT;
    };
    // One empty key sets the bits of all.
    let distinct = if keys.have_no_length() { 1 } else { usize::MAX };
    let listed = keys.iter().take(distinct).map(Key::new);
    let insert = |filter: &mut [u8]| {
        let mut done = true;
        in_groups(listed, |group| done = done && policy.insert_group(group, filter));
        done
    };
    // SAFETY: the caller's promise.
    unsafe { policy.fill_with(keys.len(), filter, filter_length, insert) }
}

/// Asks a filter for the keys; a [`status`]. `results`, `bitmap` and `matches` may each be NULL.
///
/// # Safety
/// `filter` is as `memory::bytes` asks. Unless NULL, `results` has room for a byte per key,
/// `bitmap` for a bit per key, and `matches` for one number.
pub unsafe fn keys_may_match(
    keys: Option<FlatKeys<'_>>,
    filter: *const c_char,
    filter_length: usize,
    results: *mut u8,
    bitmap: *mut u8,
    matches: *mut usize,
) -> c_int {
    let Some(keys) = keys else {
        return status::INVALID_ARGUMENT;
    };
    let (no_results, no_bitmap) = (results.is_null(), bitmap.is_null());
    // SAFETY: the caller's promise.
    let (filter, results, bitmap) = unsafe {
        (
            bytes(filter, filter_length),
            memory::array_mut(results, keys.len()),
            memory::array_mut(bitmap, keys.len().div_ceil(8)),
        )
    };
    if filter.len() != filter_length
        || !(no_results || results.len() == keys.len())
        || !(no_bitmap || bitmap.len() == keys.len().div_ceil(8))
    {
        return status::INVALID_ARGUMENT;
    }
    let kernel = choice::for_process();
    if keys.have_no_length() {
        let answer = kernel.may_match(Key::new(&[]), filter);
        results.fill(answer.into());
        bitmap.fill(if answer { 0xff } else { 0 });
        if let (Some(last), 1..) = (bitmap.last_mut(), keys.len() % 8) {
            *last &= (1 << (keys.len() % 8)) - 1;
        }
        let ones = if answer { keys.len() } else { 0 };
        // SAFETY: the caller's promise.
        unsafe { write_matches(matches, ones) };
        return status::OK;
    }
    let (mut write_results, mut bitmap) = (write_each(results, u8::from), bitmap.iter_mut());
    let ones = answer_in_groups(
        keys.iter().map(Key::new),
        |group, answers| kernel.keys_may_match(group, filter, answers),
        |answers| {
            write_results(answers);
            write_bits(answers, &mut bitmap);
        },
    );
    // SAFETY: the caller's promise.
    unsafe { write_matches(matches, ones) };
    status::OK
}

/// # Safety
/// `matches` is NULL or can be written.
unsafe fn write_matches(matches: *mut usize, ones: usize) {
    if !matches.is_null() {
        // SAFETY: not NULL, and the caller's promise.
        unsafe { matches.write_unaligned(ones) };
    }
}
