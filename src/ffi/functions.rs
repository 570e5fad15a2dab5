//! The C functions that take no policy, or one that may be NULL.

use core::ffi::{c_char, c_void};
use core::ptr;

use super::abi::Slice;
use super::choice;
use super::memory::{self, KeyArrays, bytes};
use super::policy::Policy;
use crate::kernel::Key;
use crate::policy::{answer_in_groups, write_each};

/// [`Policy::create_filter`] of a policy that may be NULL.
///
/// # Safety
/// `policy` is NULL or living; the rest as there.
pub unsafe fn create_filter(
    policy: *const Policy,
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: usize,
    filter_length: *mut usize,
) -> *mut c_char {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(policy) = policy.as_ref() {
            return policy.create_filter(keys, key_lengths, num_keys, filter_length);
        }
        if !filter_length.is_null() {
            filter_length.write(0);
        }
        ptr::null_mut()
    }
}

/// 1 if the filter may hold the key, 0 if it certainly does not.
///
/// # Safety
/// Both pointers are as `memory::bytes` asks.
pub unsafe fn key_may_match(
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    if let Some(kernel) = choice::chosen() {
        // SAFETY: the caller's promise.
        let usual = unsafe { memory::two_bytes((key, key_length), (filter, filter_length)) };
        if let Some((key, filter)) = usual {
            return kernel.may_match(Key::new(key), filter).into();
        }
    }
    // SAFETY: the caller's promise.
    unsafe { key_may_match_out_of_line(key, key_length, filter, filter_length) }
}

/// [`key_may_match`] for any arguments, also before the process has chosen a kernel. Out of line,
/// as a policy's is.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn key_may_match_out_of_line(
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    // SAFETY: the caller's promise.
    let (key, filter) = unsafe { (bytes(key, key_length), bytes(filter, filter_length)) };
    choice::for_process().may_match(Key::new(key), filter).into()
}

/// Asks for many keys; writes 0 or 1 each to `results` (unless it is NULL) and returns the ones.
///
/// # Safety
/// The arrays are as `KeyArrays::new` asks, `filter` as `memory::bytes` does, and `results` is NULL
/// or has room for `num_keys`.
pub unsafe fn keys_may_match(
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: usize,
    filter: *const c_char,
    filter_length: usize,
    results: *mut u8,
) -> usize {
    // SAFETY: the caller's promise.
    let (keys, filter, results) = unsafe {
        let Some(keys) = KeyArrays::new(keys, key_lengths, num_keys) else {
            return 0;
        };
        (keys, bytes(filter, filter_length), memory::array_mut(results, num_keys))
    };
    let kernel = choice::for_process();
    answer_in_groups(
        keys.iter(),
        |group, answers| kernel.keys_may_match(group, filter, answers),
        write_each(results, u8::from),
    )
}

/// Asks many filters for one key, as [`keys_may_match`] asks one for many.
///
/// # Safety
/// `key` is as `memory::bytes` asks; `filters` is NULL or names `num_filters` filters; `results` is
/// NULL or has room for as many answers.
pub unsafe fn filters_may_match(
    key: *const c_char,
    key_length: usize,
    filters: *const Slice,
    num_filters: usize,
    results: *mut u8,
) -> usize {
    // SAFETY: the caller's promise.
    let (key, filters, results) = unsafe {
        (
            Key::new(bytes(key, key_length)),
            memory::array(filters, num_filters),
            memory::array_mut(results, num_filters),
        )
    };
    let kernel = choice::for_process();
    answer_in_groups(
        // SAFETY: the caller's promise.
        filters.iter().map(|filter| Key::new(unsafe { filter.bytes() })),
        |group, answers| kernel.filters_may_match(key, group, answers),
        write_each(results, u8::from),
    )
}

/// Frees what [`Policy::create_filter`] returned. NULL is fine.
///
/// # Safety
/// `memory` is NULL or came from there and was not freed.
pub unsafe fn free(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { memory::free(memory) }
}
