//! The filter block: one filter for each 2 KiB of data blocks.
//!
//! ```text
//! filter 0 ... filter n-1 | offset of filter 0 ... offset of filter n-1 | offset of the offsets | base_lg
//! ```
//!
//! A data block that begins at byte b has filter number b >> base_lg. Blocks are usually longer
//! than 2 KiB, so that there are slots in which no block begins: their filters are empty.

use alloc::string::String;

use crate::bytes::u32_at;
use crate::{BlockHandle, Error, Kind, Part};

/// The `base_lg` that LevelDB writes: a filter for each 2 KiB.
pub const FILTER_BASE_LG: u8 = 11;

/// A filter block that a table names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterName {
    /// The policy's name: [`leveldb_bloom::POLICY_NAME`] for what this library makes. Bytes that
    /// are not UTF-8 are replaced.
    pub policy: String,
    /// Where the filter block is.
    pub handle: BlockHandle,
}

/// Whether filters under LevelDB's name are of another format, as Riak's LevelDB has them: of so many keys so many miss,
/// which are nearly all.
#[must_use]
pub fn is_another_format(keys: u64, missed: u64) -> bool {
    keys > 1 && missed.saturating_mul(10) >= keys.saturating_mul(9)
}

/// The contents of a filter block.
#[derive(Clone, Copy, Debug)]
pub struct Filters<'a> {
    filters: &'a [u8],
    /// The offset of each filter, and then of the end of the last.
    offsets: &'a [u8],
    base_lg: u8,
}

impl<'a> Filters<'a> {
    /// Reads the contents of the filter block at `offset` of the file.
    ///
    /// # Errors
    /// Where the offsets of the filters do not fit or are not in order. LevelDB would do without
    /// these filters, and say nothing.
    pub fn parse(contents: &'a [u8], offset: u64) -> Result<Self, Error> {
        let malformed = |inside: usize, expected| Error {
            part: Part::Filter,
            offset,
            inside: Some(inside as u64),
            kind: Kind::Expected(expected),
        };
        let short = || malformed(0, "at least 5 bytes, with base_lg in the last");
        let (&base_lg, words) = contents.split_last().ok_or_else(short)?;
        let end = words.len().checked_sub(4).ok_or_else(short)?;
        if base_lg > 63 {
            return Err(malformed(words.len(), "a base_lg of at most 63"));
        }
        let start = u32_at(words, end).map_or(usize::MAX, |start| start as usize);
        let (filters, offsets) = words
            .split_at_checked(start)
            .filter(|(_, offsets)| offsets.len() >= 4)
            .ok_or_else(|| malformed(end, "the offset of the filters' offsets, before itself"))?;
        if offsets.len() % 4 != 0 {
            return Err(malformed(end, "offsets of 4 bytes each between there and here"));
        }
        let mut before = 0;
        for (i, offset) in offsets.chunks_exact(4).enumerate() {
            let offset = u32_at(offset, 0).unwrap_or(0);
            if offset < before || offset as usize > filters.len() {
                return Err(malformed(
                    start + 4 * i,
                    "offsets of filters in order and before here",
                ));
            }
            before = offset;
        }
        Ok(Filters { filters, offsets, base_lg })
    }

    /// How many filters there are, empty ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        (self.offsets.len() / 4).saturating_sub(1)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// There is a filter for each 2 to the power of this many bytes; 11 in LevelDB.
    #[must_use]
    pub fn base_lg(&self) -> u8 {
        self.base_lg
    }

    /// The filter with this number, without bytes if no block begins there. `None` beyond the last.
    #[must_use]
    pub fn filter(&self, number: usize) -> Option<&'a [u8]> {
        self.filters.get(self.range(number)?)
    }

    /// Where that filter is in the filter block's contents.
    #[must_use]
    pub fn range(&self, number: usize) -> Option<core::ops::Range<usize>> {
        let at = number.checked_mul(4)?;
        let (start, end) = (u32_at(self.offsets, at)?, u32_at(self.offsets, at.checked_add(4)?)?);
        Some(start as usize..end as usize)
    }

    /// The number of the filter for a data block that begins at `block_offset` of the file, whether
    /// or not there is one.
    #[must_use]
    pub fn number_for(&self, block_offset: u64) -> u64 {
        block_offset >> self.base_lg
    }

    /// The filter for a data block that begins at `block_offset` of the file. `None` beyond the
    /// last filter, where LevelDB reads the block.
    #[must_use]
    pub fn filter_for(&self, block_offset: u64) -> Option<&'a [u8]> {
        self.filter(usize::try_from(self.number_for(block_offset)).ok()?)
    }

    /// Whether a Get would read the data block at `block_offset` for `user_key`, where the filters are
    /// LevelDB's own or ribbon filters. (LevelDB by itself takes the latter for a match for every key.)
    #[must_use]
    pub fn may_match(&self, block_offset: u64, user_key: &[u8]) -> bool {
        self.filter_for(block_offset)
            .is_none_or(|filter| leveldb_bloom::key_may_match(user_key, filter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn block(filters: &[u8], offsets: &[u32], start: u32, base_lg: u8) -> Vec<u8> {
        let mut block = filters.to_vec();
        for offset in offsets.iter().chain([&start]) {
            block.extend(offset.to_le_bytes());
        }
        block.push(base_lg);
        block
    }

    #[test]
    fn filters_by_number_and_by_offset() {
        let contents = block(b"aaabb", &[0, 3, 3], 5, 11);
        let filters = Filters::parse(&contents, 0).unwrap();
        assert_eq!(filters.len(), 3);
        assert_eq!(filters.filter(0), Some(&b"aaa"[..]));
        assert_eq!(filters.filter(1), Some(&b""[..]));
        assert_eq!(filters.filter(2), Some(&b"bb"[..]));
        assert_eq!(filters.filter(3), None);
        assert_eq!(filters.filter(usize::MAX), None);
        assert_eq!(filters.filter_for(2047), Some(&b"aaa"[..]));
        assert_eq!(filters.filter_for(4096), Some(&b"bb"[..]));
        assert_eq!(filters.filter_for(u64::MAX), None);
        assert!(!filters.may_match(2048, b"key"));
        assert!(filters.may_match(6144, b"key"));
        assert!(!filters.is_empty() && filters.base_lg() == 11);
        let none = block(b"", &[], 0, 11);
        let none = Filters::parse(&none, 0).unwrap();
        assert_eq!((none.is_empty(), none.len()), (true, 0));
        // One for a whole file, of whatever size.
        let one = block(b"aaa", &[0], 3, 63);
        let one = Filters::parse(&one, 0).unwrap();
        assert_eq!((one.base_lg(), one.filter_for(i64::MAX as u64)), (63, Some(&b"aaa"[..])));
    }

    #[test]
    fn damage_says_where() {
        let cases: [(Vec<u8>, u64); 8] = [
            (b"".to_vec(), 0),
            (b"\0\0\0\x0b".to_vec(), 0),
            (block(b"", &[], 0, 64), 4),
            (block(b"aaa", &[0], 8, 11), 7),
            (block(b"aaa", &[0], 2, 11), 7),
            (block(b"aaa", &[0, 2, 1], 3, 11), 11),
            (block(b"aaa", &[3, 1], 3, 11), 7),
            (block(b"aaa", &[4], 3, 11), 3),
        ];
        for (contents, inside) in cases {
            let error = Filters::parse(&contents, 7).unwrap_err();
            assert_eq!((error.offset, error.inside), (7, Some(inside)), "{error}");
        }
    }
}
