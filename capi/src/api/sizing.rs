//! How many bits to spend; the version; the texts of statuses.

use core::ffi::{c_char, c_int};
use core::ptr;

use crate::status;

/// The expected false-positive rate of a filter of LevelDB's own encoding, for keys that are not numbers
/// in order. (Of a ribbon filter it is 2^-bits_per_key for any keys.) Includes what the textbook's formula leaves out: at
/// least 64 bits, at most 30 probes, small filters, and a hash of 32 bits, because of which no number
/// of bits helps with tens of millions of keys in one filter.
///
/// The real rate is higher in a few cases: up to a third more with few keys and 16 bits or fewer;
/// several times as high with fewer than ten keys and more than 16 bits, with 20,000 to some million
/// keys at certain sizes, and where the number of bits shares a divisor of 51 or more with 2^32 - 1.
///
/// \param bits_per_key As for leveldb_bloom_policy_create.
/// \param num_keys The number of different keys.
/// \return The rate, from 0 to 1; 1 if such a filter cannot be made.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_false_positive_rate(bits_per_key: c_int, num_keys: usize) -> f64 {
    leveldb_bloom::false_positive_rate(bits_per_key, num_keys)
}

/// The fewest bits per key that give a false-positive rate, by leveldb_bloom_false_positive_rate, and so
/// in LevelDB's own encoding. More
/// are not always better: with one or two keys, or hundreds of millions, 44 bits have more false
/// positives than 10.
///
/// \param false_positive_rate The rate that is wanted at most.
/// \param num_keys The number of different keys.
/// \return The bits per key, from 1 on; 0 if no number up to 44 gives the rate. From there on the
/// number of probes stays the same, and more bits help only filters of up to some thousand keys.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_bits_per_key_for(
    false_positive_rate: f64,
    num_keys: usize,
) -> c_int {
    leveldb_bloom::bits_per_key_for(false_positive_rate, num_keys).unwrap_or(0)
}

/// Says why a number of bits per key is hardly useful. Every number works all the same.
///
/// \param bits_per_key The number.
/// \return A sentence, which lives as long as the process; NULL if the number is sensible.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_validate(bits_per_key: c_int) -> *const c_char {
    match leveldb_bloom::validate(bits_per_key) {
        Ok(()) => ptr::null(),
        Err(unwise) => unwise.as_c_str().as_ptr(),
    }
}

/// A sentence about a status.
///
/// \param status What a function returned.
/// \return The sentence, which lives as long as the process. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_status_message(status: c_int) -> *const c_char {
    status::message(status).as_ptr()
}

/// The version of the library in use. LEVELDB_BLOOM_VERSION is that of this header.
///
/// \return The version, such as "1.2.3".
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of the library in use as a number. LEVELDB_BLOOM_VERSION_NUMBER is that of this header.
/// A library can be replaced by any other of the same major version that is not older than the header
/// that a program was compiled with.
///
/// \return The number, such as 10203 for 1.2.3.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_version_number() -> c_int {
    const fn part(text: &str) -> c_int {
        match c_int::from_str_radix(text, 10) {
            Ok(part) => part,
            Err(_) => panic!("a part of a version is a number"),
        }
    }
    const {
        part(env!("CARGO_PKG_VERSION_MAJOR")) * 10_000
            + part(env!("CARGO_PKG_VERSION_MINOR")) * 100
            + part(env!("CARGO_PKG_VERSION_PATCH"))
    }
}
