//! Many keys in one piece of memory: concatenated, with offsets or of one length.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;
use core::slice;

/// Keys that lie one behind the other, as columnar formats keep them. Borrowed; nothing is copied.
///
/// ```
/// use leveldb_bloom::{BloomFilterPolicy, FlatKeys};
///
/// let policy = BloomFilterPolicy::new(10);
/// let keys = FlatKeys::with_offsets32(b"helloworld", &[0, 5, 10])?;
/// let filter = policy.create_filter_from(keys.iter())?;
/// assert_eq!(filter, policy.create_filter(&["hello", "world"])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct FlatKeys<'a> {
    data: &'a [u8],
    layout: Layout<'a>,
    num_keys: usize,
}

#[derive(Clone, Copy)]
enum Layout<'a> {
    Offsets32(&'a [i32]),
    Offsets64(&'a [i64]),
    Fixed(usize),
}

/// How many keys there are, and in how many bytes, not what they are.
impl fmt::Debug for FlatKeys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FlatKeys");
        shown.field("num_keys", &self.num_keys).field("bytes", &self.data.len());
        shown.finish_non_exhaustive()
    }
}

/// Offsets are negative, decrease, or lie outside the data; or the data is not as long as all keys
/// of one length together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidOffsets;

impl fmt::Display for InvalidOffsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the data does not hold keys at these offsets, or of this length")
    }
}

impl core::error::Error for InvalidOffsets {}

impl<'a> FlatKeys<'a> {
    /// Key `i` is `data[offsets[i]..offsets[i + 1]]`: the layout of Arrow's `Binary` and `Utf8`,
    /// slices of such arrays included (the first offset need not be 0). No offsets are no keys.
    ///
    /// # Errors
    /// [`InvalidOffsets`], so that no key can lie outside `data`.
    pub fn with_offsets32(data: &'a [u8], offsets: &'a [i32]) -> Result<Self, InvalidOffsets> {
        check(data, offsets)?;
        let num_keys = offsets.len().saturating_sub(1);
        Ok(FlatKeys { data, layout: Layout::Offsets32(offsets), num_keys })
    }

    /// [`with_offsets32`](Self::with_offsets32) with 64 bits: Arrow's `LargeBinary` and
    /// `LargeUtf8`.
    ///
    /// # Errors
    /// [`InvalidOffsets`], so that no key can lie outside `data`.
    pub fn with_offsets64(data: &'a [u8], offsets: &'a [i64]) -> Result<Self, InvalidOffsets> {
        check(data, offsets)?;
        let num_keys = offsets.len().saturating_sub(1);
        Ok(FlatKeys { data, layout: Layout::Offsets64(offsets), num_keys })
    }

    /// `num_keys` keys of `key_len` bytes each, as in a numpy array of dtype `S16`. With a
    /// `key_len` of 0 any number of keys needs no data, but each of them still takes its time when
    /// they are iterated.
    ///
    /// ```
    /// let keys = leveldb_bloom::FlatKeys::fixed(b"helloworld", 5, 2)?;
    /// assert_eq!(keys.get(1), Some(&b"world"[..]));
    /// # Ok::<(), leveldb_bloom::InvalidOffsets>(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidOffsets`] if `data` is not as long as the keys together.
    pub fn fixed(data: &'a [u8], key_len: usize, num_keys: usize) -> Result<Self, InvalidOffsets> {
        match key_len.checked_mul(num_keys) {
            Some(len) if len == data.len() => {
                Ok(FlatKeys { data, layout: Layout::Fixed(key_len), num_keys })
            }
            _ => Err(InvalidOffsets),
        }
    }

    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.num_keys
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.num_keys == 0
    }

    /// Key `i`; `None` if there is no such key.
    #[must_use]
    #[inline]
    pub fn get(&self, i: usize) -> Option<&'a [u8]> {
        if i >= self.num_keys {
            return None;
        }
        let range = match self.layout {
            Layout::Offsets32(offsets) => {
                let (start, end) = (*offsets.get(i)?, *offsets.get(i + 1)?);
                usize::try_from(start).ok()?..usize::try_from(end).ok()?
            }
            Layout::Offsets64(offsets) => {
                let (start, end) = (*offsets.get(i)?, *offsets.get(i + 1)?);
                usize::try_from(start).ok()?..usize::try_from(end).ok()?
            }
            Layout::Fixed(key_len) => {
                let start = i.checked_mul(key_len)?;
                start..start.checked_add(key_len)?
            }
        };
        self.data.get(range)
    }

    /// Whether all keys are empty because their length was given as 0. Of such keys there can be
    /// any number in no memory at all, so whoever goes through them should go once.
    #[cfg(leveldb_bloom_c_interface)]
    pub(crate) fn have_no_length(&self) -> bool {
        matches!(self.layout, Layout::Fixed(0))
    }

    /// The keys in order.
    #[must_use]
    #[inline]
    pub fn iter(&self) -> FlatKeysIter<'a> {
        let (begin, ends) = match self.layout {
            Layout::Offsets32([begin, ends @ ..]) => {
                (*begin as usize, Ends::Offsets32(ends.iter()))
            }
            Layout::Offsets64([begin, ends @ ..]) => {
                (*begin as usize, Ends::Offsets64(ends.iter()))
            }
            Layout::Fixed(key_len) => (0, Ends::Fixed { key_len, keys: 0..self.num_keys }),
            _ => (0, Ends::Fixed { key_len: 0, keys: 0..0 }),
        };
        FlatKeysIter { rest: self.data.get(begin..).unwrap_or(&[]), begin, ends }
    }
}

/// The keys in order.
///
/// ```
/// use leveldb_bloom::{BloomFilterPolicy, FilterBuilder, FlatKeys};
///
/// let keys = FlatKeys::fixed(b"helloworld", 5, 2)?;
/// let mut builder = FilterBuilder::new(BloomFilterPolicy::new(10));
/// builder.extend(&keys);
/// let filter = builder.finish()?;
/// for key in &keys {
///     assert!(leveldb_bloom::key_may_match(key, &filter));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<'a> IntoIterator for &FlatKeys<'a> {
    type Item = &'a [u8];
    type IntoIter = FlatKeysIter<'a>;

    #[inline]
    fn into_iter(self) -> FlatKeysIter<'a> {
        self.iter()
    }
}

/// The keys in order.
impl<'a> IntoIterator for FlatKeys<'a> {
    type Item = &'a [u8];
    type IntoIter = FlatKeysIter<'a>;

    #[inline]
    fn into_iter(self) -> FlatKeysIter<'a> {
        self.iter()
    }
}

/// The keys of [`FlatKeys::iter`] that are left.
#[derive(Clone)]
pub struct FlatKeysIter<'a> {
    rest: &'a [u8],
    /// The offset at which the rest begins.
    begin: usize,
    ends: Ends<'a>,
}

/// How many keys are left, and in how many bytes, not what they are.
impl fmt::Debug for FlatKeysIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FlatKeysIter");
        shown.field("num_keys", &self.len()).field("bytes", &self.rest.len());
        shown.finish_non_exhaustive()
    }
}

/// Where keys end.
#[derive(Clone)]
enum Ends<'a> {
    Offsets32(slice::Iter<'a, i32>),
    Offsets64(slice::Iter<'a, i64>),
    Fixed { key_len: usize, keys: Range<usize> },
}

impl<'a> Iterator for FlatKeysIter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let end = match &mut self.ends {
            Ends::Offsets32(ends) => *ends.next()? as usize,
            Ends::Offsets64(ends) => *ends.next()? as usize,
            Ends::Fixed { key_len, keys } => {
                keys.next()?;
                self.begin + *key_len
            }
        };
        // Never `None`: the constructors have checked the offsets, or the length.
        let (key, rest) = self.rest.split_at_checked(end.wrapping_sub(self.begin))?;
        (self.rest, self.begin) = (rest, end);
        Some(key)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.ends {
            Ends::Offsets32(ends) => ends.size_hint(),
            Ends::Offsets64(ends) => ends.size_hint(),
            Ends::Fixed { keys, .. } => keys.size_hint(),
        }
    }
}

impl ExactSizeIterator for FlatKeysIter<'_> {}

impl FusedIterator for FlatKeysIter<'_> {}

fn check<O: Copy + PartialOrd + TryInto<usize>>(
    data: &[u8],
    offsets: &[O],
) -> Result<(), InvalidOffsets> {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else { return Ok(()) };
    let mut rest = offsets;
    // Two pairs at a time: pair by pair, the check and 256 queries took 1.08 times as long, and
    // with vectors 1.02 times, with more instructions (AMD EPYC of the fourth generation,
    // 2026-11-24).
    while let [a, b, c, ..] = rest {
        if a > b || b > c {
            return Err(InvalidOffsets);
        }
        rest = &rest[2..];
    }
    let rising = rest.windows(2).all(|two| two[0] <= two[1]);
    match (first.try_into(), last.try_into()) {
        (Ok(_), Ok(last)) if rising && last <= data.len() => Ok(()),
        _ => Err(InvalidOffsets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn the_three_layouts_give_the_same_keys() {
        let wanted: [&[u8]; 4] = [b"ab", b"", b"c", b"defg"];
        let keys = FlatKeys::with_offsets32(b"abcdefg", &[0, 2, 2, 3, 7]).unwrap();
        assert_eq!(keys.iter().collect::<Vec<_>>(), wanted);
        let keys = FlatKeys::with_offsets64(b"abcdefg", &[0, 2, 2, 3, 7]).unwrap();
        assert_eq!(keys.iter().collect::<Vec<_>>(), wanted);
        assert_eq!((keys.len(), keys.get(3), keys.get(4)), (4, Some(wanted[3]), None));
        assert!(!keys.is_empty());

        let keys = FlatKeys::fixed(b"abcdef", 2, 3).unwrap();
        assert_eq!(keys.iter().collect::<Vec<_>>(), [b"ab", b"cd", b"ef"]);
        #[cfg(leveldb_bloom_c_interface)]
        assert!(!keys.have_no_length());
        let keys = FlatKeys::fixed(b"", 0, 3).unwrap();
        assert_eq!(keys.iter().collect::<Vec<_>>(), [b"", b"", b""]);
        #[cfg(leveldb_bloom_c_interface)]
        assert!(keys.have_no_length());
    }

    #[test]
    fn what_is_left_is_known() {
        let offsets = [1, 1, 2, 4, 4, 4];
        let wide = offsets.map(i64::from);
        let wanted: [&[u8]; 5] = [b"", b"b", b"cd", b"", b""];
        for keys in [
            FlatKeys::with_offsets32(b"abcdefg", &offsets).unwrap(),
            FlatKeys::with_offsets64(b"abcdefg", &wide).unwrap(),
        ] {
            let mut left = keys.iter();
            for (i, key) in wanted.into_iter().enumerate() {
                assert_eq!((left.len(), keys.get(i)), (wanted.len() - i, Some(key)));
                assert_eq!(left.next(), Some(key));
            }
            assert_eq!((left.len(), left.next(), keys.get(5)), (0, None, None));
        }
        for (key_len, num_keys) in [(0, 3), (2, 3), (3, 2), (6, 1), (1, 6)] {
            let keys =
                FlatKeys::fixed(&b"abcdef"[..key_len * num_keys], key_len, num_keys).unwrap();
            let mut left = keys.iter();
            for i in 0..num_keys {
                assert_eq!(left.len(), num_keys - i);
                assert_eq!((left.next(), left.clone().count()), (keys.get(i), num_keys - i - 1));
            }
            assert_eq!((left.len(), left.next(), keys.get(num_keys)), (0, None, None));
        }
    }

    #[test]
    fn a_slice_of_an_array_starts_anywhere() {
        let keys = FlatKeys::with_offsets32(b"abcdefg", &[2, 3]).unwrap();
        assert_eq!(keys.iter().collect::<Vec<_>>(), [b"c"]);
        assert!(FlatKeys::with_offsets32(b"abc", &[1]).unwrap().is_empty());
        for none in [FlatKeys::with_offsets32(b"abc", &[]), FlatKeys::with_offsets64(b"", &[])] {
            let none = none.unwrap();
            assert!(none.is_empty());
            assert_eq!((none.iter().len(), none.iter().next()), (0, None));
        }
    }

    #[test]
    fn offsets_outside_the_data_are_refused() {
        for offsets in [&[0, 4][..], &[-1, 2], &[2, 1], &[0, 3, 2, 3], &[0, i32::MAX], &[4]] {
            assert_eq!(FlatKeys::with_offsets32(b"abc", offsets).err(), Some(InvalidOffsets));
            let offsets: Vec<i64> = offsets.iter().map(|&offset| offset.into()).collect();
            assert_eq!(FlatKeys::with_offsets64(b"abc", &offsets).err(), Some(InvalidOffsets));
        }
        for offsets in [[0, i64::MAX], [i64::MIN, 0], [1 << 32, (1 << 32) + 1]] {
            assert_eq!(FlatKeys::with_offsets64(b"abc", &offsets).err(), Some(InvalidOffsets));
        }
        for n in 2..12 {
            for falls in 1..n {
                let mut offsets: Vec<i32> = (10..10 + n).collect();
                offsets[..falls as usize].iter_mut().for_each(|offset| *offset += n);
                assert!(FlatKeys::with_offsets32(&[0; 99], &offsets).is_err(), "{offsets:?}");
                offsets.sort_unstable();
                assert!(FlatKeys::with_offsets32(&[0; 99], &offsets).is_ok(), "{offsets:?}");
            }
        }
        // The last two would be 1 and 3 bytes, if they were counted in a word that wraps.
        let most = usize::MAX;
        for (len, keys) in [(2, 1), (2, 2), (0, 1), (most, 2), (most, most), (most, most - 2)] {
            assert!(FlatKeys::fixed(b"abc", len, keys).is_err(), "{keys} keys of {len}");
        }
    }
}
