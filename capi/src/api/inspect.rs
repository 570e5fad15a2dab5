//! What a filter's bytes say.

use core::ffi::{c_char, c_int};

use leveldb_bloom::{Encoding, FilterInfo, MAX_PROBES, Positions, bloom_hash};

use crate::door::{array_mut, bytes, bytes_or_empty};
use crate::status::{LEVELDB_BLOOM_INVALID_ARGUMENT, LEVELDB_BLOOM_OK};

/// A filter of LevelDB's own encoding.
pub const LEVELDB_BLOOM_ENCODING_BLOOM: u32 = 0;
/// A ribbon filter.
pub const LEVELDB_BLOOM_ENCODING_RIBBON: u32 = 1;

/// What the bytes of a filter say.
#[repr(C)]
pub struct Info {
    /// The number of bits.
    pub bits: u64,
    /// How many of them are set.
    pub bits_set: u64,
    /// The number of probes, k. A filter with 0 probes or more than 30 matches every key; but one of
    /// fewer than two bytes, which has no bits, matches none. Of a ribbon filter, the number of bits in
    /// a slot, 1 to 13.
    pub probes: u32,
    /// LEVELDB_BLOOM_ENCODING_BLOOM or LEVELDB_BLOOM_ENCODING_RIBBON.
    pub encoding: u32,
    /// bits_set / bits; 0 if there are none.
    pub fill: f64,
    /// About how many different keys were added. Infinite if the filter matches every key. Of a ribbon
    /// filter, which does not tell, the most that one of its length is made for.
    pub estimated_keys: f64,
    /// The expected false-positive rate, from the fill. Of a ribbon filter, 2^-probes.
    pub false_positive_rate: f64,
}

/// Reads any bytes as a filter.
///
/// \param filter The filter.
/// \param filter_length Its length.
/// \param info Receives what they say.
/// \return LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT if `info` is NULL, or `filter` is NULL
/// with a length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_inspect(
    filter: *const c_char,
    filter_length: usize,
    info: *mut Info,
) -> c_int {
    // SAFETY: the C caller's promise.
    let (Some(filter), false) = (unsafe { bytes(filter, filter_length) }, info.is_null()) else {
        return LEVELDB_BLOOM_INVALID_ARGUMENT;
    };
    let FilterInfo {
        encoding,
        probes,
        bits,
        bits_set,
        fill,
        estimated_keys,
        false_positive_rate,
        ..
    } = FilterInfo::of(filter);
    let encoding = match encoding {
        Encoding::Bloom => LEVELDB_BLOOM_ENCODING_BLOOM,
        Encoding::Ribbon => LEVELDB_BLOOM_ENCODING_RIBBON,
    };
    let said = Info { bits, bits_set, probes, encoding, fill, estimated_keys, false_positive_rate };
    // SAFETY: not NULL, and the C caller's promise.
    unsafe { info.write_unaligned(said) };
    LEVELDB_BLOOM_OK
}

/// The positions of the bits that a query of a filter for a key reads. Position p is bit p % 8, least
/// significant first, of the filter's byte p / 8.
///
/// \param key The key.
/// \param key_length Its length.
/// \param filter The filter.
/// \param filter_length Its length.
/// \param positions Receives up to `capacity` positions; may be NULL.
/// \param capacity How many there is room for.
/// \return How many there are: k, at most 30; or 0 if the filter is a ribbon filter, or matches every
/// key, or none, without reading a bit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_positions(
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
    positions: *mut u64,
    capacity: usize,
) -> usize {
    // SAFETY: the C caller's promise.
    let (key, filter, places) = unsafe {
        let places = array_mut(positions, capacity).unwrap_or(&mut []);
        (bytes_or_empty(key, key_length), bytes_or_empty(filter, filter_length), places)
    };
    let Some((&k, array)) = filter.split_last() else { return 0 };
    let k = u32::from(k);
    if array.is_empty() || k > MAX_PROBES {
        return 0;
    }
    for (place, position) in
        places.iter_mut().zip(Positions::new(bloom_hash(key), k, array.len() as u64 * 8))
    {
        place.write(position);
    }
    k as usize
}
