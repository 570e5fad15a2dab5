//! What a filter's bytes mean: its size, its number of probes, and how to read one that somebody
//! else wrote.

use core::fmt;

/// The most probes a filter may ask for. A stored count above it is reserved for encodings of the
/// future, and such a filter matches every key.
pub const MAX_PROBES: u32 = 30;

/// The fewest bits a filter has, because very short ones would answer yes too often.
const MIN_BITS: usize = 64;

/// The length in bytes of the smallest filter, its number of probes included.
#[cfg(leveldb_bloom_c_interface)]
pub(crate) const SMALLEST: usize = MIN_BITS / 8 + 1;

/// A filter of this many keys and bits per key does not fit in memory, or in a `usize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterTooLarge;

impl fmt::Display for FilterTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bloom filter would not fit in memory")
    }
}

impl core::error::Error for FilterTooLarge {}

/// The memory that a filter was to fill is not as long as the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongFilterLength;

impl fmt::Display for WrongFilterLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the memory for the bloom filter is not as long as filter_len says")
    }
}

impl core::error::Error for WrongFilterLength {}

/// The number of probes, k, that LevelDB derives from bits per key: 0.69 * `bits_per_key` (about ln
/// 2 times), rounded down, at least 1 and at most [`MAX_PROBES`]. Zero and below behave as 0.
#[must_use]
pub fn probes_for(bits_per_key: i32) -> u32 {
    // LevelDB computes trunc(bits_per_key * 0.69) in double precision. Integers give the same for
    // every i32 (tested against it below).
    let k = i64::from(bits_per_key) * 69 / 100;
    k.clamp(1, i64::from(MAX_PROBES)) as u32
}

/// The length in bytes of a filter for `num_keys` keys, its last byte (the number of probes)
/// included. Zero bits per key and below behave as 0. `None` if the number of bits does not fit in
/// a `usize`.
#[must_use]
pub fn filter_len(num_keys: usize, bits_per_key: i32) -> Option<usize> {
    filter_len_of(num_keys, bits_per_key.max(0) as u32)
}

/// [`filter_len`] for bits per key that are known not to be negative.
#[inline(always)]
pub(crate) fn filter_len_of(num_keys: usize, bits_per_key: u32) -> Option<usize> {
    let bits = num_keys.checked_mul(usize::try_from(bits_per_key).ok()?)?;
    Some(bits.max(MIN_BITS).checked_add(7)? / 8 + 1)
}

/// A filter's bytes, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter<'a> {
    /// Too short to hold a bit: matches nothing, as LevelDB says.
    Never,
    /// Asks for no probe, or for more than there can be: matches everything.
    Always,
    /// The bits, at least one byte of them, and the number of probes, 1..=30.
    Probe { array: &'a [u8], k: u32 },
}

impl<'a> Filter<'a> {
    /// Reads any bytes at all; nothing is malformed.
    #[inline(always)]
    pub(crate) fn parse(filter: &'a [u8]) -> Self {
        if filter.len() < 2 {
            return Filter::Never;
        }
        match filter.split_last() {
            Some((&k, array)) if (1..=MAX_PROBES).contains(&k.into()) => {
                Filter::Probe { array, k: k.into() }
            }
            _ => Filter::Always,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_as_the_double_precision_original() {
        let original = |bits: i32| ((f64::from(bits) * 0.69) as i64).clamp(1, 30) as u32;
        for bits in (-1000..=1_000_000).chain([i32::MIN, i32::MAX]) {
            assert_eq!(probes_for(bits), original(bits), "bits_per_key {bits}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(filter_len(0, 10), Some(9));
        assert_eq!(filter_len(6, 10), Some(9));
        assert_eq!(filter_len(7, 10), Some(10));
        assert_eq!(filter_len(1, 44), Some(9));
        assert_eq!(filter_len(1, 100), Some(14));
        assert_eq!(filter_len(1000, 0), Some(9));
        assert_eq!(filter_len(1000, i32::MIN), Some(9));
        assert_eq!(filter_len(1, i32::MAX), Some((1 << 28) + 1));
        assert_eq!(filter_len(usize::MAX, 1), None);
        assert_eq!(filter_len(usize::MAX / 2, 3), None);
        assert_eq!(filter_len(usize::MAX - 7, 1), Some(usize::MAX / 8 + 1));
    }

    #[test]
    fn any_bytes_can_be_read() {
        assert_eq!(Filter::parse(&[]), Filter::Never);
        assert_eq!(Filter::parse(&[6]), Filter::Never);
        assert_eq!(Filter::parse(&[0, 6]), Filter::Probe { array: &[0], k: 6 });
        assert_eq!(Filter::parse(&[0, 0]), Filter::Always);
        assert_eq!(Filter::parse(&[0, 30]), Filter::Probe { array: &[0], k: 30 });
        assert_eq!(Filter::parse(&[0, 31]), Filter::Always);
        assert_eq!(Filter::parse(&[0, 255]), Filter::Always);
    }
}
