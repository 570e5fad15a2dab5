//! The second encoding: a ribbon filter, in the last bytes that LevelDB reserved. docs/ribbon.md is
//! its specification.
//!
//! ```text
//! mod      how a key becomes a row, how a filter's bytes are read, queries
//! solve    the system of equations that makes a filter
//! info     what a filter's bytes say, for those who look at them
//! ```
//!
//! A filter has r columns of bits. A key chooses some of the bits, the same in every column: its
//! row. In each column the sum of these bits, modulo 2, is a bit of the key's hash.

mod info;
mod solve;

use core::ops::{BitAnd, BitXor, Shl, Shr};

use xxhash_rust::xxh3::xxh3_64;

pub use info::{Ribbon, RibbonColumn, RibbonProbe};
pub(crate) use solve::{MOST_ON_STACK, solve, zeros};

/// The most result bits that a filter can have. It has a false-positive rate of 2^-13, 0.012 %.
pub const MAX_RIBBON_BITS_PER_KEY: i32 = 13;

/// The smallest filters have so many bytes besides the last: fewer would not be read in one word.
const MIN_BYTES: usize = 8;

/// How many systems are tried.
const SEEDS: u8 = 16;

/// The most keys of a ribbon filter.
const MOST_KEYS: usize = (1 << 31) - 1;

/// The hash by which a ribbon filter knows a key: XXH3 with 64 bits and seed 0.
#[inline(always)]
pub(crate) fn hash(key: &[u8]) -> u64 {
    xxh3_64(key)
}

/// The length in bytes of a filter of `num_keys` keys with `r` result bits. `None` where there is
/// none: for no keys, and for 2^31 and more.
// Out of line: see `FilterPolicy::fill_ribbon`.
#[inline(never)]
pub(crate) fn filter_len(num_keys: usize, r: u32) -> Option<usize> {
    if !(1..=MOST_KEYS).contains(&num_keys) {
        return None;
    }
    let n = num_keys as u64;
    let bytes = |slots: u64| (slots * u64::from(r)).div_ceil(8);
    // Every slot beyond the number of keys makes it likelier that the first system can be solved.
    let slots = match n {
        ..=6 => n,
        // One more, if it costs no more than a byte.
        7..=32 => n + u64::from(bytes(n + 1) <= bytes(n) + 1),
        33..=64 => (n + 2).min(Dense::WIDEST),
        _ => n + 2 + n * (5 + u64::from(n.ilog2())) / 512,
    };
    let least = if slots > Dense::WIDEST { u128::BYTES } else { MIN_BYTES };
    usize::try_from(bytes(slots)).ok()?.max(least).checked_add(1)
}

/// What the last byte and the length of a filter say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The number of columns, 1 to 13, and of bits of the hash that they must give.
    pub(crate) r: u32,
    pub(crate) seed: u8,
    /// The length of each column in bits, up to 2^32 - 1.
    pub(crate) slots: u64,
}

impl Layout {
    /// Of `bytes` bytes before the last. `None` if there are too few, or too many.
    #[inline(always)]
    fn new(bytes: usize, r: u32, seed: u8) -> Option<Layout> {
        let slots = bytes as u64 * 8 / u64::from(r.max(1));
        let least = if slots > Dense::WIDEST { u128::BYTES } else { MIN_BYTES };
        (bytes >= least && slots <= u32::MAX.into()).then_some(Layout { r, seed, slots })
    }
}

/// Whether a last byte is that of a ribbon filter.
#[inline(always)]
pub(crate) fn is_ribbon(last: u8) -> bool {
    (0x20..0xf0).contains(&last)
}

fn last_byte(r: u32, seed: u8) -> u8 {
    ((r + 1) << 4) as u8 | seed
}

/// The layout and the columns of a ribbon filter; `None` for other bytes.
#[inline(always)]
pub(crate) fn parse(filter: &[u8]) -> Option<(Layout, &[u8])> {
    let (&last, columns) = filter.split_last()?;
    if !is_ribbon(last) {
        return None;
    }
    Some((Layout::new(columns.len(), u32::from(last >> 4) - 1, last & 15)?, columns))
}

/// Whether a filter whose last byte [is a ribbon's](is_ribbon) may hold the key.
#[inline(always)]
pub(crate) fn may_match(key: &[u8], filter: &[u8]) -> bool {
    match parse(filter) {
        Some((layout, columns)) => {
            let h = hash(key);
            if layout.slots <= Dense::WIDEST {
                holds(Dense::of(h, layout), h, layout, columns)
            } else {
                holds(Band::of(h, layout), h, layout, columns)
            }
        }
        // As LevelDB answers for such lengths.
        None => filter.len() >= 2,
    }
}

/// The bits that a key chooses from each column: those of `bits`, from the slot `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row<W> {
    pub(crate) start: u64,
    pub(crate) bits: W,
}

type Dense = Row<u64>;
type Band = Row<u128>;

impl Dense {
    /// The most slots for which a row fits in a word, start and all.
    const WIDEST: u64 = 64;

    #[inline(always)]
    pub(crate) fn of(h: u64, layout: Layout) -> Self {
        let width = layout.slots.min(u64::WIDTH);
        let word = mix(h, layout.seed, 0xa076_1d64_78bd_642f);
        let start = ((word >> u64::WIDTH) * (layout.slots - width + 1)) >> (64 - u64::WIDTH);
        Row { start, bits: word & (!0 >> (64 - width)) }
    }
}

impl Band {
    #[inline(always)]
    pub(crate) fn of(h: u64, layout: Layout) -> Self {
        let width = layout.slots.min(u128::WIDTH);
        let low = mix(h, layout.seed, 0xa076_1d64_78bd_642f);
        let high = mix(h, layout.seed, 0xe703_7ed1_a0b4_28db);
        let place = mix(h, layout.seed, 0x8ebc_6af0_9c88_c6e3);
        let bits = u128::from(high) << 64 | u128::from(low);
        Row {
            start: ((place >> 32) * (layout.slots - width + 1)) >> 32,
            bits: bits & (!0 >> (128 - width)),
        }
    }
}

/// 64 bits of the hash and the seed: the halves of a product.
#[inline(always)]
fn mix(h: u64, seed: u8, factor: u64) -> u64 {
    let h = h ^ u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let product = u128::from(h) * u128::from(factor);
    product as u64 ^ (product >> 64) as u64
}

/// A word for the bits of a row: `u64` or `u128`.
pub(crate) trait Word:
    Copy
    + BitAnd<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    const BYTES: usize;
    /// The most bits that a word read at a whole byte has behind any bit of that byte.
    const WIDTH: u64 = 8 * Self::BYTES as u64 - 7;
    /// The little-endian number at `at`; 0 outside of the array.
    fn read(array: &[u8], at: usize) -> Self;
    /// The sum of all bits modulo 2, in the lowest bit.
    fn parity(self) -> u32;
}

impl Word for u64 {
    const BYTES: usize = 8;

    #[inline(always)]
    fn read(array: &[u8], at: usize) -> Self {
        array
            .get(at..)
            .and_then(|rest| rest.first_chunk())
            .map_or(0, |word| u64::from_le_bytes(*word))
    }

    #[inline(always)]
    fn parity(self) -> u32 {
        self.count_ones()
    }
}

impl Word for u128 {
    const BYTES: usize = 16;
    /// One less than there could be: a multiple of eight.
    const WIDTH: u64 = 120;

    #[inline(always)]
    fn read(array: &[u8], at: usize) -> Self {
        array
            .get(at..)
            .and_then(|rest| rest.first_chunk())
            .map_or(0, |word| u128::from_le_bytes(*word))
    }

    #[inline(always)]
    fn parity(self) -> u32 {
        (self as u64 ^ (self >> 64) as u64).count_ones()
    }
}

/// The word of a column's bits from `bit` on.
#[inline(always)]
pub(crate) fn window<W: Word>(columns: &[u8], bit: u64) -> W {
    // At the end a word is read that begins before the byte of the first bit.
    let at = ((bit / 8) as usize).min(columns.len() - W::BYTES);
    W::read(columns, at) >> (bit - 8 * at as u64) as u32
}

/// Whether the sum is right in every column.
#[inline(always)]
fn holds<W: Word>(row: Row<W>, h: u64, layout: Layout, columns: &[u8]) -> bool {
    let (mut bit, mut results, mut left) = (row.start, h as u32, layout.r);
    // Four columns before each branch: an absent key leaves after two, which a processor cannot guess.
    loop {
        let mut wrong = 0;
        for _ in 0..left.min(4) {
            wrong |= (window::<W>(columns, bit) & row.bits).parity() ^ results;
            (bit, results) = (bit + layout.slots, results >> 1);
        }
        if wrong & 1 != 0 {
            return false;
        }
        if left <= 4 {
            return true;
        }
        left -= 4;
    }
}
