//! Many keys in one piece of memory: concatenated, with offsets or of one length.

use core::fmt;
use core::iter::FusedIterator;

/// Keys that lie one behind the other, as columnar formats keep them. Borrowed: nothing is copied.
///
/// ```
/// use leveldb_bloom::{FilterPolicy, FlatKeys};
///
/// let policy = FilterPolicy::new(10);
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

/// Shows how many keys there are, and in how many bytes, not what they are.
impl fmt::Debug for FlatKeys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FlatKeys");
        shown.field("num_keys", &self.num_keys).field("bytes", &self.data.len());
        shown.finish_non_exhaustive()
    }
}

/// Offsets are negative, decrease, or lie outside the data; or the data has not the length of all
/// keys together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidOffsets;

impl fmt::Display for InvalidOffsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the offsets or the length do not describe keys in the data")
    }
}

impl core::error::Error for InvalidOffsets {}

impl<'a> FlatKeys<'a> {
    /// Key `i` is `data[offsets[i]..offsets[i + 1]]`: the layout of Arrow's `Binary` and `Utf8`,
    /// slices of such arrays included (the first offset need not be 0). No offsets are no keys.
    ///
    /// # Errors
    /// [`InvalidOffsets`] unless all keys lie in `data`.
    pub fn with_offsets32(data: &'a [u8], offsets: &'a [i32]) -> Result<Self, InvalidOffsets> {
        check(data, offsets)?;
        let num_keys = offsets.len().saturating_sub(1);
        Ok(FlatKeys { data, layout: Layout::Offsets32(offsets), num_keys })
    }

    /// [`with_offsets32`](Self::with_offsets32) with 64 bits: Arrow's `LargeBinary` and
    /// `LargeUtf8`.
    ///
    /// # Errors
    /// [`InvalidOffsets`] unless all keys lie in `data`.
    pub fn with_offsets64(data: &'a [u8], offsets: &'a [i64]) -> Result<Self, InvalidOffsets> {
        check(data, offsets)?;
        let num_keys = offsets.len().saturating_sub(1);
        Ok(FlatKeys { data, layout: Layout::Offsets64(offsets), num_keys })
    }

    /// `num_keys` keys of `key_len` bytes each, as in a numpy array of dtype `S16`. With a `key_len`
    /// of 0 the data is empty and all keys are the empty key.
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

    /// The keys in order.
    ///
    /// ```
    /// use leveldb_bloom::{FilterBuilder, FilterPolicy, FlatKeys};
    ///
    /// let keys = FlatKeys::fixed(b"helloworld", 5, 2)?;
    /// let mut builder = FilterBuilder::new(FilterPolicy::new(10));
    /// builder.extend(keys.iter());
    /// let filter = builder.finish()?;
    /// assert!(keys.iter().all(|key| leveldb_bloom::key_may_match(key, &filter)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = &'a [u8]> + FusedIterator + Clone + use<'a> {
        let keys = *self;
        // Never `None`: the constructors have checked the offsets, or the length.
        (0..self.num_keys).map(move |i| keys.get(i).unwrap_or(&[]))
    }
}

/// Whether offsets are those of keys in `data`.
fn check<O: Copy + PartialOrd + TryInto<usize>>(
    data: &[u8],
    offsets: &[O],
) -> Result<(), InvalidOffsets> {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else { return Ok(()) };
    match (first.try_into(), last.try_into()) {
        (Ok(_), Ok(last)) if last <= data.len() && rises(offsets) => Ok(()),
        _ => Err(InvalidOffsets),
    }
}

/// `is_sorted`, which in the standard library keeps a panic that a C library must not have.
fn rises<O: PartialOrd>(offsets: &[O]) -> bool {
    offsets.iter().zip(offsets.iter().skip(1)).all(|(offset, next)| offset <= next)
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
        let keys = FlatKeys::fixed(b"", 0, 3).unwrap();
        assert_eq!(keys.iter().collect::<Vec<_>>(), [b"", b"", b""]);
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
