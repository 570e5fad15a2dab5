//! What a filter's bytes say, and filters united, for C; also sizing and the library's version.

use core::ffi::{c_char, c_int};

use super::memory::{self, bytes};
use super::status;
use crate::filter::Filter;
use crate::hash::bloom_hash;
use crate::sizing::FilterInfo;
use crate::{Positions, builder};

/// Reads a filter; `None` where it is NULL with a length.
///
/// # Safety
/// `filter` is as `memory::bytes` asks.
#[must_use]
pub unsafe fn inspect(filter: *const c_char, filter_length: usize) -> Option<FilterInfo> {
    // SAFETY: the caller's promise.
    let filter = unsafe { bytes(filter, filter_length) };
    (filter.len() == filter_length).then(|| FilterInfo::of(filter))
}

/// The hash of a key.
///
/// # Safety
/// `key` is as `memory::bytes` asks.
#[must_use]
pub unsafe fn hash(key: *const c_char, key_length: usize) -> u32 {
    // SAFETY: the caller's promise.
    bloom_hash(unsafe { bytes(key, key_length) })
}

/// Asks a filter for a key of this hash: 1 or 0.
///
/// # Safety
/// `filter` is as `memory::bytes` asks.
#[must_use]
pub unsafe fn hash_may_match(hash: u32, filter: *const c_char, filter_length: usize) -> u8 {
    // SAFETY: the caller's promise.
    crate::hash_may_match(hash, unsafe { bytes(filter, filter_length) }).into()
}

/// Writes the positions that a query for the key reads, up to `capacity` of them; returns how many
/// there are.
///
/// # Safety
/// `key` and `filter` are as `memory::bytes` asks; `positions` is NULL or has room for `capacity`.
pub unsafe fn positions(
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
    positions: *mut u64,
    capacity: usize,
) -> usize {
    // SAFETY: the caller's promise.
    let (hash, filter, places) = unsafe {
        (
            hash(key, key_length),
            bytes(filter, filter_length),
            memory::array_mut(positions, capacity),
        )
    };
    let Filter::Probe { array, k } = Filter::parse(filter) else { return 0 };
    let positions = Positions::new(hash, k, array.len() as u64 * 8);
    for (place, position) in places.iter_mut().zip(positions) {
        *place = position;
    }
    k as usize
}

/// Adds the keys of one filter to another of the same shape; a [`status`].
///
/// # Safety
/// `into` is NULL or can be written; `from` is as `memory::bytes` asks. They are the same or do not
/// overlap.
pub unsafe fn union(
    into: *mut c_char,
    into_length: usize,
    from: *const c_char,
    from_length: usize,
) -> c_int {
    if !memory::is_readable(into, into_length) || !memory::is_readable(from, from_length) {
        return status::INVALID_ARGUMENT;
    }
    // Fewer than two bytes have no bits to unite.
    if into_length != from_length || into_length < 2 {
        return status::MISMATCH;
    }
    if into.cast_const() == from {
        return status::OK;
    }
    // SAFETY: the caller's promise that the two do not overlap, now that they are seen not to be
    // the same.
    let (into, from) =
        unsafe { (memory::array_mut(into.cast::<u8>(), into_length), bytes(from, from_length)) };
    match builder::union(into, from) {
        Ok(()) => status::OK,
        Err(_) => status::MISMATCH,
    }
}

/// How many bits to spend.
pub mod sizing {
    use core::ffi::{c_char, c_int};
    use core::ptr;

    pub use crate::sizing::false_positive_rate;

    /// 0 where no number of bits up to 44 gives the rate.
    #[must_use]
    pub fn bits_per_key_for(false_positive_rate: f64, num_keys: usize) -> c_int {
        crate::sizing::bits_per_key_for(false_positive_rate, num_keys).unwrap_or(0)
    }

    /// NULL where there is nothing to say against it.
    #[must_use]
    pub fn validate(bits_per_key: c_int) -> *const c_char {
        match crate::sizing::validate(bits_per_key) {
            Ok(()) => ptr::null(),
            Err(unwise) => unwise.as_c_str().as_ptr(),
        }
    }
}

/// The library's version.
pub mod version {
    use core::ffi::{CStr, c_int};

    /// As Cargo.toml says it.
    pub const TEXT: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("a version has no NUL"),
        };

    /// 10203 for 1.2.3.
    pub const NUMBER: c_int = number([
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR"),
        env!("CARGO_PKG_VERSION_PATCH"),
    ]);

    const fn number([major, minor, patch]: [&str; 3]) -> c_int {
        part(major) * 10_000 + part(minor) * 100 + part(patch)
    }

    const fn part(text: &str) -> c_int {
        match c_int::from_str_radix(text, 10) {
            Ok(part) => part,
            Err(_) => panic!("a version is made of numbers"),
        }
    }

    #[test]
    fn a_number_that_can_be_compared() {
        assert_eq!(number(["1", "2", "3"]), 10_203);
        assert!(number(["1", "99", "99"]) < number(["2", "0", "0"]));
    }
}
