//! The entries of a block.
//!
//! An entry is `shared length, unshared length, value length, unshared key bytes, value`, with the
//! three lengths as varints; `shared` bytes are those of the key before. Every 16th entry or so is
//! a restart point, which shares nothing. The offsets of the restart points and their number are
//! the end of the block.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::bytes::{Bytes, u32_at};
use crate::{Error, Kind, Part};

/// A block's contents, decompressed.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    entries: &'a [u8],
    restarts: &'a [u8],
    part: Part,
    offset: u64,
}

impl<'a> Block<'a> {
    pub(crate) const EMPTY: Block<'static> =
        Block { entries: &[], restarts: &[], part: Part::Data, offset: 0 };

    /// Reads a block's contents, which were found at `offset` of the file.
    ///
    /// # Errors
    /// Where the number of restart points does not fit.
    pub fn parse(contents: &'a [u8], part: Part, offset: u64) -> Result<Self, Error> {
        let malformed = |inside: usize, expected| Error {
            part,
            offset,
            inside: Some(inside as u64),
            kind: Kind::Expected(expected),
        };
        let end = contents.len().checked_sub(4).ok_or_else(|| {
            malformed(0, "at least 4 bytes, with the number of restart points in the last 4")
        })?;
        let count = u32_at(contents, end).map_or(usize::MAX, |count| count as usize);
        let start = count.checked_mul(4).and_then(|len| end.checked_sub(len)).ok_or_else(|| {
            malformed(end, "a number of restart points that the block has room for")
        })?;
        let (entries, rest) = contents.split_at(start);
        let restarts = rest.split_at(end - start).0;
        if restarts.is_empty() && !entries.is_empty() {
            return Err(malformed(end, "a restart point, since there are entries"));
        }
        Ok(Block { entries, restarts, part, offset })
    }

    /// The number of restart points.
    #[must_use]
    pub fn restart_points(&self) -> usize {
        self.restarts.len() / 4
    }

    /// Where the block begins in the file.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Its entries, in order.
    #[must_use]
    pub fn entries(&self) -> Entries<'a> {
        Entries { block: *self, rest: Bytes(self.entries), restart: 0, key: Vec::new() }
    }

    /// The length of its entries, as they are stored.
    #[must_use]
    pub fn entries_len(&self) -> usize {
        self.entries.len()
    }
}

/// An entry of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key, as stored.
    pub key: &'a [u8],
    /// At least so many of its first bytes are those of the key before.
    pub shared: usize,
    /// The value.
    pub value: &'a [u8],
    /// Where the entry begins in the block's contents.
    pub at: usize,
}

/// Walks over a block's entries. Not an [`Iterator`], because the key of an entry lies in a buffer
/// that the next one changes.
///
/// The walk takes the time of the block's bytes. All keys together may take far more room than
/// those: a key of a megabyte and a hundred thousand that share all but its end are a block that
/// LevelDB may write, and one that whoever wants to take our time makes. So look only at what is
/// behind [`Entry::shared`], as [`Comparison`] does, or give up at [`MAX_EXPANSION`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    block: Block<'a>,
    rest: Bytes<'a>,
    /// The number of restart points passed.
    restart: usize,
    key: Vec<u8>,
}

/// Whoever looks at whole keys gives up where they take this many times the room of their block.
/// LevelDB has no such limit.
pub const MAX_EXPANSION: u64 = 1024;

/// Of a shorter key what it shares with the one before is not worth a look.
const SHORT: usize = 64;

/// Compares one key with those of a block, one after another.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'k> {
    key: &'k [u8],
    /// At least so many of its first bytes are those of the key that it was compared with last.
    same: usize,
}

impl<'k> Comparison<'k> {
    /// Of `key` with the keys of a block, from its first entry on.
    #[must_use]
    pub fn with(key: &'k [u8]) -> Self {
        Comparison { key, same: 0 }
    }

    /// How `other` compares with the key: that of the next entry, or all of it but the 8 bytes of
    /// LevelDB's own, where `shared` is the entry's. This takes the time of the bytes that are not
    /// shared.
    pub fn next(&mut self, other: &[u8], shared: usize) -> Ordering {
        if other.len() < SHORT {
            self.same = 0;
            return other.cmp(self.key);
        }
        let from = self.known(other, shared);
        let (rest, others) =
            (self.key.get(from..).unwrap_or(&[]), other.get(from..).unwrap_or(&[]));
        let more = rest.iter().zip(others).take_while(|(a, b)| a == b).count();
        self.same = from + more;
        others.get(more).cmp(&rest.get(more))
    }

    /// How many bytes need not be compared again.
    fn known(&self, other: &[u8], shared: usize) -> usize {
        self.same.min(shared).min(other.len())
    }
}

impl core::fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl<'a> Entries<'a> {
    /// The next entry, `None` at the end.
    ///
    /// # Errors
    /// Where the bytes are not an entry. After an error there are no more entries.
    #[allow(clippy::should_implement_trait)]
    // Always: otherwise entries go through memory, and `leveldb-bloom verify` takes 1.14 times as
    // long for keys of 16 bytes (AMD EPYC of the fourth generation, 2026-11-27).
    #[inline(always)]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, Error> {
        let at = self.block.entries.len() - self.rest.0.len();
        match self.step(at) {
            Ok(None) => Ok(None),
            Ok(Some((shared, value))) => Ok(Some(Entry { key: &self.key, shared, value, at })),
            Err(kind) => {
                self.rest = Bytes(&[]);
                self.restart = usize::MAX;
                let Block { part, offset, .. } = self.block;
                Err(Error { part, offset, inside: Some(at as u64), kind })
            }
        }
    }

    #[inline]
    fn step(&mut self, at: usize) -> Result<Option<(usize, &'a [u8])>, Kind> {
        // LevelDB seeks by the restart points: each must be where an entry begins.
        let mut restarts = false;
        while let Some(restart) = self.next_restart() {
            if restart > at {
                break;
            }
            if restart < at {
                return Err(Kind::Expected("an entry at each restart point"));
            }
            restarts = true;
            self.restart += 1;
        }
        if self.rest.0.is_empty() {
            // Of a block without entries the one restart point is at their end.
            return match self.next_restart() {
                None if !restarts || at == 0 => Ok(None),
                _ => Err(Kind::Expected("restart points within the entries, in order")),
            };
        }
        if at == 0 && !restarts {
            return Err(Kind::Expected("the first restart point at the first entry"));
        }
        let mut lengths = || {
            let (shared, unshared) = (self.rest.varint32()?, self.rest.varint32()?);
            Some((shared as usize, unshared as usize, self.rest.varint32()? as usize))
        };
        let (shared, unshared, value) =
            lengths().ok_or(Kind::Expected("an entry's three lengths, each of at most 5 bytes"))?;
        if restarts && shared != 0 {
            return Err(Kind::Expected("no shared key bytes at a restart point"));
        }
        if shared > self.key.len() {
            return Err(Kind::Expected("no more shared key bytes than the key before has"));
        }
        let unshared = self
            .rest
            .take(unshared)
            .ok_or(Kind::Expected("a key that ends within the block's entries"))?;
        let value = self
            .rest
            .take(value)
            .ok_or(Kind::Expected("a value that ends within the block's entries"))?;
        self.key.truncate(shared);
        self.key.extend_from_slice(unshared);
        Ok(Some((shared, value)))
    }

    /// The length of the entries, those that were passed included.
    pub(crate) fn block_len(&self) -> usize {
        self.block.entries_len()
    }

    #[inline]
    fn next_restart(&self) -> Option<usize> {
        u32_at(self.block.restarts, self.restart.checked_mul(4)?).map(|restart| restart as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn block(entries: &[u8], restarts: &[u32]) -> Vec<u8> {
        let mut block = entries.to_vec();
        for restart in restarts {
            block.extend(restart.to_le_bytes());
        }
        block.extend((restarts.len() as u32).to_le_bytes());
        block
    }

    type Pair = (Vec<u8>, Vec<u8>);

    fn pairs(contents: &[u8]) -> Result<Vec<Pair>, Error> {
        let mut entries = Block::parse(contents, Part::Data, 100)?.entries();
        let mut found = Vec::new();
        while let Some(entry) = entries.next()? {
            found.push((entry.key.to_vec(), entry.value.to_vec()));
        }
        assert_eq!(entries.next(), Ok(None));
        Ok(found)
    }

    #[test]
    fn entries_with_shared_keys() {
        let contents = block(b"\0\x03\x01abcX\x02\x01\0d\0\x01\x02eYZ", &[0, 11]);
        let expected: [(&[u8], &[u8]); 3] = [(b"abc", b"X"), (b"abd", b""), (b"e", b"YZ")];
        let expected = expected.map(|(key, value)| (key.to_vec(), value.to_vec())).to_vec();
        assert_eq!(pairs(&contents).unwrap(), expected);
        assert_eq!(pairs(&block(b"", &[0])).unwrap(), vec![]);
        assert_eq!(pairs(&block(b"", &[])).unwrap(), vec![]);
    }

    #[test]
    fn what_a_block_says_of_itself() {
        for (entries, restarts) in
            [(&b""[..], &[][..]), (b"\0\x01\0a\0\x01\0b\0\x01\0c", &[0, 4, 8])]
        {
            let contents = block(entries, restarts);
            let block = Block::parse(&contents, Part::Data, 100).unwrap();
            let (points, len) = (block.restart_points(), block.entries_len());
            assert_eq!((points, len, block.offset()), (restarts.len(), entries.len(), 100));
            // Not a block's bytes, of which there may be millions.
            let text = alloc::format!("{:?}", block.entries());
            assert!(text.contains(&alloc::format!("{len} bytes")), "{text}");
        }
    }

    #[test]
    fn damage_says_where() {
        let cases: [(Vec<u8>, u64, &str); 13] = [
            (b"abc".to_vec(), 0, "number of restart points"),
            (b"\xff\xff\xff\xff".to_vec(), 0, "room for"),
            (b"\x02\0\0\0\x02\0\0\0".to_vec(), 4, "room for"),
            (block(b"\0\x01\0a", &[]), 4, "since there are entries"),
            (block(b"\0\x01\0a", &[4]), 0, "first restart point"),
            (block(b"\0\x01\0a\0\x01\0b", &[0, 5]), 8, "an entry at each"),
            (block(b"\0\x01\0a\x01\x01\0b", &[0, 4]), 4, "no shared"),
            (block(b"\0\x01\0a\x02\x01\0b", &[0]), 4, "no more shared"),
            (block(b"\0\x05\0a", &[0]), 0, "a key that ends"),
            (block(b"\0\x01\x05a", &[0]), 0, "a value that ends"),
            (block(b"\0\x80\x80\x80\x80\x80\x80\x80", &[0]), 0, "three lengths"),
            (block(b"\0\x01\0a", &[0, 9]), 4, "within the entries"),
            (block(b"\0\x01\0a", &[0, 4]), 4, "within the entries"),
        ];
        for (contents, inside, expected) in cases {
            let error = pairs(&contents).unwrap_err();
            assert_eq!((error.offset, error.inside), (100, Some(inside)), "{error}");
            assert!(alloc::format!("{error}").contains(expected), "{error}");
            let Ok(block) = Block::parse(&contents, Part::Data, 100) else { continue };
            let mut entries = block.entries();
            while entries.next().is_ok() {}
            assert_eq!(entries.next(), Ok(None), "after {expected}");
        }
    }

    /// By every way to a key of up to three letters, through any other.
    #[test]
    fn a_comparison_is_that_of_whole_keys() {
        let letters = [&b"a"[..], b"b", b"\x01\0\0"];
        let mut keys = vec![Vec::new()];
        for len in 1..=3 {
            let longest: Vec<_> = keys.iter().filter(|key| key.len() <= 3 * len).cloned().collect();
            keys.extend(longest.iter().flat_map(|key| letters.map(|it| [&key[..], it].concat())));
        }
        keys.sort();
        keys.dedup();
        assert!(keys.len() > 30, "{}", keys.len());
        let mut random = 1_u32;
        let mut any = |n: usize| {
            random = random.wrapping_mul(1_103_515_245).wrapping_add(12345);
            (random >> 16) as usize % n
        };
        // As stored, with bytes behind them that another key may share as well.
        let stored = |key: &[u8]| [key, b"\x01\0\0\0\0\0\0\0"].concat();
        // Some just too short for a look at what they share.
        let keys: Vec<_> = keys.iter().map(|key| [&[b'k'; SHORT - 3], &key[..]].concat()).collect();
        for key in &keys {
            let mut comparison = Comparison::with(key);
            let mut before: Vec<u8> = Vec::new();
            for _ in 0..1000 {
                let other = &keys[any(keys.len())];
                let now = stored(other);
                let most = now.iter().zip(&before).take_while(|(a, b)| a == b).count();
                // LevelDB shares all it can; nothing says that others do.
                let shared = if any(4) == 0 { any(most + 1) } else { most };
                assert_eq!(comparison.next(other, shared), other.cmp(key), "{key:?} {other:?}");
                before = now;
            }
        }
    }

    /// A block of 300 KB that has 4 GB of keys, of which all but the first's 128 KB need no second
    /// look.
    #[test]
    fn keys_that_share_all_but_their_ends_are_walked_over_at_once() {
        let mut entries = b"\0\x80\x80\x08\0".to_vec();
        entries.resize(entries.len() + (1 << 17), b'k');
        for _ in 0..1 << 15 {
            entries.extend(b"\x80\x80\x08\0\0");
        }
        let sought = vec![b'k'; 1 << 17];
        let contents = block(&entries, &[0]);
        let mut entries = Block::parse(&contents, Part::Data, 0).unwrap().entries();
        let mut comparison = Comparison::with(&sought);
        let (mut known, mut equal) = (0, 0);
        while let Some(entry) = entries.next().unwrap() {
            known += comparison.known(entry.key, entry.shared) as u64;
            equal += u64::from(comparison.next(entry.key, entry.shared).is_eq());
        }
        assert_eq!((equal, known), ((1 << 15) + 1, 1 << 32));
    }
}
