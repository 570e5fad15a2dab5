//! Ribbon filters for those who look at them: their parts, and what becomes of a key.

use super::{Band, Dense, Layout, MOST_KEYS, Row, Word, filter_len, hash, parse, window};

/// A ribbon filter's parts.
///
/// ```
/// use leveldb_bloom::{FilterPolicy, Ribbon};
///
/// let filter = FilterPolicy::ribbon(10).create_filter(&["hello", "world"])?;
/// let ribbon = Ribbon::parse(&filter).unwrap();
/// assert_eq!((ribbon.result_bits(), ribbon.seed(), ribbon.slots()), (10, 0, 6));
/// let probe = ribbon.probe(b"hello");
/// assert_eq!((probe.start, probe.row), (0, 0b110111));
/// assert!(probe.columns().all(|column| column.sum == column.wanted));
/// # Ok::<(), leveldb_bloom::FilterTooLarge>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ribbon<'a> {
    layout: Layout,
    columns: &'a [u8],
}

impl<'a> Ribbon<'a> {
    /// Reads a filter. `None` if it is LevelDB's own, or matches every key, or none, for its last byte
    /// or its length.
    #[must_use]
    pub fn parse(filter: &'a [u8]) -> Option<Self> {
        parse(filter).map(|(layout, columns)| Ribbon { layout, columns })
    }

    /// The number of columns, r, 1 to 13. One absent key in 2^r matches.
    #[must_use]
    pub fn result_bits(&self) -> u32 {
        self.layout.r
    }

    /// Which of 16 systems of equations was solved, 0 to 15.
    #[must_use]
    pub fn seed(&self) -> u8 {
        self.layout.seed
    }

    /// The number of bits in each column, which is at least the number of different keys.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.layout.slots
    }

    /// The number of slots, one after the other, from which a row takes bits.
    #[must_use]
    pub fn row_width(&self) -> u32 {
        let most = if self.layout.slots <= Dense::WIDEST { u64::WIDTH } else { u128::WIDTH };
        self.layout.slots.min(most) as u32
    }

    /// The most keys for which a policy makes a filter of this length and so many columns. 0 if it
    /// makes none.
    #[must_use]
    pub fn most_keys(&self) -> u64 {
        // The slots are more than the keys, and each number of keys has its length.
        let fits = |n: usize| {
            filter_len(n, self.layout.r).is_some_and(|len| len <= self.columns.len() + 1)
        };
        let (mut most, mut too_many) = (0, MOST_KEYS.min(self.layout.slots as usize) + 1);
        while too_many - most > 1 {
            let middle = most + (too_many - most) / 2;
            if fits(middle) { most = middle } else { too_many = middle }
        }
        most as u64
    }

    /// What a query for this key reads.
    #[must_use]
    pub fn probe(&self, key: &[u8]) -> RibbonProbe<'a> {
        let h = hash(key);
        let Row { start, bits } = if self.layout.slots <= Dense::WIDEST {
            let Row { start, bits } = Dense::of(h, self.layout);
            Row { start, bits: bits.into() }
        } else {
            Band::of(h, self.layout)
        };
        RibbonProbe { hash: h, start, row: bits, ribbon: *self }
    }
}

/// What a query reads of a [`Ribbon`].
#[derive(Clone, Copy, Debug)]
pub struct RibbonProbe<'a> {
    /// The key's hash, XXH3 with 64 bits.
    pub hash: u64,
    /// The first slot of the key's row.
    pub start: u64,
    /// Which slots the row has: bit i is slot `start` + i.
    pub row: u128,
    ribbon: Ribbon<'a>,
}

/// One column of a [`RibbonProbe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RibbonColumn {
    /// The column's bits from the row's first slot on, as many as a row is wide.
    pub bits: u128,
    /// The sum, modulo 2, of those that the row has.
    pub sum: bool,
    /// What the sum is for every key of the filter: the hash's bit. A column with another sum says
    /// that the filter does not hold the key.
    pub wanted: bool,
}

impl<'a> RibbonProbe<'a> {
    /// The columns in the order in which a query reads them. It ends at the first wrong sum.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = RibbonColumn> + use<'a> {
        let RibbonProbe { hash, start, row, ribbon: Ribbon { layout, columns } } = *self;
        let width = self.ribbon.row_width();
        (0..layout.r).map(move |column| {
            let bit = u64::from(column) * layout.slots + start;
            let word: u128 = if layout.slots <= Dense::WIDEST {
                window::<u64>(columns, bit).into()
            } else {
                window(columns, bit)
            };
            RibbonColumn {
                bits: word & (!0 >> (128 - width)),
                sum: (word & row).parity() & 1 == 1,
                wanted: hash >> column & 1 == 1,
            }
        })
    }
}
