//! Ribbon filters for those who look at them: their parts, and what becomes of a key.

use super::{Band, Layout, MOST_DENSE, MOST_KEYS, dense, filter_len, hash, parse, sum, sum_groups};

/// A ribbon filter's parts.
///
/// ```
/// use leveldb_bloom::{FilterPolicy, Ribbon};
///
/// let filter = FilterPolicy::ribbon(10).create_filter(&["hello", "world"])?;
/// let ribbon = Ribbon::parse(&filter).unwrap();
/// assert_eq!((ribbon.result_bits(), ribbon.seed(), ribbon.slots()), (10, 0, 6));
/// let probe = ribbon.probe(b"hello");
/// assert!(probe.slots().eq([0, 1, 2, 4, 5]));
/// assert_eq!(probe.slots().fold(0, |sum, slot| sum ^ ribbon.slot(slot)), probe.sum);
/// assert_eq!(probe.sum, probe.wanted);
/// # Ok::<(), leveldb_bloom::FilterTooLarge>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ribbon<'a> {
    layout: Layout,
    bytes: &'a [u8],
}

impl<'a> Ribbon<'a> {
    /// Reads a filter. `None` if it is LevelDB's own, or matches every key, or none, for its last byte
    /// or its length.
    #[must_use]
    pub fn parse(filter: &'a [u8]) -> Option<Self> {
        parse(filter).map(|(layout, bytes)| Ribbon { layout, bytes })
    }

    /// The number of bits of a slot, r, 1 to 13. One absent key in 2^r matches.
    #[must_use]
    pub fn result_bits(&self) -> u32 {
        self.layout.r
    }

    /// Which of 16 systems of equations was solved, 0 to 15.
    #[must_use]
    pub fn seed(&self) -> u8 {
        self.layout.seed
    }

    /// The number of slots, which is at least the number of different keys.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.layout.slots
    }

    /// What a slot holds: r bits. 0 if there is no such slot.
    #[must_use]
    pub fn slot(&self, slot: u64) -> u16 {
        let (r, group) = (u64::from(self.layout.r), slot / 8);
        (0..if slot < self.slots() { r } else { 0 })
            .filter(|i| {
                let bit = if group < self.layout.groups() {
                    8 * (group * r + i) + slot % 8
                } else {
                    8 * group * r + slot % 8 * r + i
                };
                let byte = self.bytes.get((bit / 8) as usize);
                byte.is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
            })
            .fold(0, |value, i| value | 1 << i)
    }

    /// The most keys for which a policy makes a filter of this length and so many bits a slot. 0 if it
    /// makes none.
    #[must_use]
    pub fn most_keys(&self) -> u64 {
        let fits = |keys: usize| {
            filter_len(keys, self.layout.r).is_some_and(|len| len <= self.bytes.len() + 1)
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
    pub fn probe(&self, key: &[u8]) -> RibbonProbe {
        let (hash, layout) = (hash(key), self.layout);
        let (first, row, tail) = if layout.slots <= MOST_DENSE {
            (0, dense(hash, layout).into(), 0)
        } else {
            let Band { first, bits, tail, .. } = Band::of(hash, layout);
            (8 * first, bits, tail)
        };
        RibbonProbe {
            hash,
            sum: sum(hash, layout, self.bytes, sum_groups) as u16,
            wanted: layout.result(hash) as u16,
            first,
            row,
            tail,
            tail_slot: 8 * layout.groups(),
        }
    }
}

/// What a query reads of a [`Ribbon`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RibbonProbe {
    /// The key's hash, XXH3 with 64 bits.
    pub hash: u64,
    /// The sum of the row's slots, bit by bit and modulo 2.
    pub sum: u16,
    /// What the sum is for every key of the filter: the hash's lowest bits. With another sum the
    /// filter does not hold the key.
    pub wanted: u16,
    first: u64,
    row: u128,
    tail: u64,
    tail_slot: u64,
}

impl RibbonProbe {
    /// The slots of the key's row, in order.
    pub fn slots(&self) -> impl Iterator<Item = u64> + use<> {
        let RibbonProbe { first, row, tail, tail_slot, .. } = *self;
        let row = (0..128).filter(move |i| row >> i & 1 == 1).map(move |i| first + i);
        let tail = (0..8).filter(move |i| tail >> i & 1 == 1).map(move |i| tail_slot + i);
        row.chain(tail)
    }
}
