//! The layout of a filter: its size, its number of probes, and how to read any bytes as one.

use core::fmt;

/// The largest number of probes. LevelDB reserves larger values of a filter's last byte for new
/// encodings, and treats such a filter as a match for every key.
pub const MAX_PROBES: u32 = 30;

/// The smallest number of bits in a filter: fewer would match too often.
const MIN_BITS: usize = 64;

/// The filter does not fit in memory, or its number of bits not in a `usize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterTooLarge;

impl fmt::Display for FilterTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the filter does not fit in memory")
    }
}

impl core::error::Error for FilterTooLarge {}

/// The buffer for a filter has another length than the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongFilterLength;

impl fmt::Display for WrongFilterLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the buffer for the filter must have the length that filter_len returns")
    }
}

impl core::error::Error for WrongFilterLength {}

/// The number of probes, k: 0.69 * `bits_per_key` (ln 2 is about 0.69), rounded down, at least 1
/// and at most [`MAX_PROBES`]. Zero and below behave as 0.
#[must_use]
pub const fn probes_for(bits_per_key: i32) -> u32 {
    // LevelDB multiplies by 0.69 in double precision. For every i32 this gives the same.
    match bits_per_key as i64 * 69 / 100 {
        ..1 => 1,
        k @ 1..=30 => k as u32,
        _ => MAX_PROBES,
    }
}

/// The length in bytes of a filter for `num_keys` keys, including its last byte (the number of
/// probes). Zero bits per key and below behave as 0. `None` if the number of bits does not fit in a
/// `usize`.
#[must_use]
#[inline]
pub fn filter_len(num_keys: usize, bits_per_key: i32) -> Option<usize> {
    let bits = num_keys.checked_mul(usize::try_from(bits_per_key.max(0)).ok()?)?;
    Some(bits.max(MIN_BITS).checked_add(7)? / 8 + 1)
}

/// How a filter's bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter<'a> {
    /// Too short to hold a bit: matches no key.
    Never,
    /// 0 probes, or more than [`MAX_PROBES`]: matches every key.
    Always,
    /// The bits, at least one byte, and the number of probes, 1..=30.
    Probe { array: &'a [u8], k: u32 },
}

impl<'a> Filter<'a> {
    /// Reads any bytes; none are malformed.
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
