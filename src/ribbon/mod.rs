//! The second encoding: a ribbon filter, in the last bytes that LevelDB reserved. docs/ribbon.md is
//! its specification.
//!
//! ```text
//! mod      how a key becomes a row, how a filter's bytes are read, queries
//! solve    the system of equations that makes a filter
//! info     what a filter's bytes say, for those who look at them
//! ```
//!
//! A filter has slots of r bits. A key chooses some of the slots: its row. Their sum, bit by bit and
//! modulo 2, is r bits of the key's hash.

mod info;
mod solve;

use xxhash_rust::xxh3::xxh3_64;

use crate::kernel::AtLeast;

pub use info::{Ribbon, RibbonProbe};
pub(crate) use solve::{MOST_ON_STACK, solve, zeros};

/// The most result bits that a filter can have. It has a false-positive rate of 2^-13, 0.012 %.
pub const MAX_RIBBON_BITS_PER_KEY: i32 = 13;

/// The smallest filters have so many bytes besides the last: fewer would not be read in one word.
const MIN_BYTES: usize = 8;

/// How many systems are tried.
const SEEDS: u8 = 16;

/// The most keys of a ribbon filter.
const MOST_KEYS: usize = (1 << 31) - 1;

/// The most slots for which a row is one word.
const MOST_DENSE: u64 = 64;

/// The most groups of eight slots from which a row takes slots.
const BAND: u64 = 15;

/// 1 in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

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
        33..=64 => (n + 2).min(MOST_DENSE),
        _ => n + (n / 22).max(n * u64::from(n.ilog2()) / 400).max(3),
    };
    usize::try_from(bytes(slots)).ok()?.max(MIN_BYTES).checked_add(1)
}

/// What the last byte and the length of a filter say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The number of bits of a slot, and of the hash that they must give: 1 to 13.
    r: u32,
    seed: u8,
    /// The number of slots, up to 2^32 - 1.
    slots: u64,
}

impl Layout {
    /// Of `bytes` bytes before the last. `None` if there are too few, or too many.
    #[inline(always)]
    fn new(bytes: usize, r: u32, seed: u8) -> Option<Layout> {
        let slots = bytes as u64 * 8 / u64::from(r.max(1));
        (bytes >= MIN_BYTES && slots <= u32::MAX.into()).then_some(Layout { r, seed, slots })
    }

    /// The number of groups of eight slots. A group is r bytes, one for each bit of its slots.
    #[inline(always)]
    fn groups(self) -> u64 {
        self.slots / 8
    }

    /// The number of slots behind the groups, each of r bits.
    #[inline(always)]
    fn tail(self) -> u64 {
        self.slots % 8
    }

    /// The bits of a hash that the row's sum must be.
    #[inline(always)]
    fn result(self, h: u64) -> u64 {
        h & ((1 << self.r) - 1)
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

/// The layout and the slots of a ribbon filter; `None` for other bytes.
#[inline(always)]
fn parse(filter: &[u8]) -> Option<(Layout, &[u8])> {
    let (&last, slots) = filter.split_last()?;
    if !is_ribbon(last) {
        return None;
    }
    Some((Layout::new(slots.len(), u32::from(last >> 4) - 1, last & 15)?, slots))
}

/// Whether a filter whose last byte [is a ribbon's](is_ribbon) may hold the key. A kernel has its own
/// [`sum_groups`].
#[inline(always)]
pub(crate) fn may_match(
    key: &[u8],
    filter: &[u8],
    sum_groups: impl Fn(u128, &[u8], usize) -> u64,
) -> bool {
    match parse(filter) {
        Some((layout, slots)) => {
            let h = hash(key);
            sum(h, layout, slots, sum_groups) == layout.result(h)
        }
        // As LevelDB answers for such lengths.
        None => filter.len() >= 2,
    }
}

/// [`may_match`] for the usual filters and keys. `otherwise` answers for others, out of line: the hash
/// of a long key is a call, around which registers would have to be saved.
#[inline(always)]
pub(crate) fn short_may_match(
    key: &[u8],
    filter: &[u8],
    sum_groups: impl Fn(u128, &[u8], usize) -> u64,
    otherwise: impl FnOnce(&[u8], &[u8]) -> bool,
) -> bool {
    match parse(filter) {
        Some((layout, slots)) if layout.slots <= MOST_DENSE && key.len() <= 16 => {
            let h = hash(key);
            sum(h, layout, slots, sum_groups) == layout.result(h)
        }
        _ => otherwise(key, filter),
    }
}

/// The row of a key in a filter of more than [`MOST_DENSE`] slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Band {
    /// The first group.
    first: u64,
    /// The number of groups.
    groups: u64,
    /// The bits of these groups' slots, 120 at most.
    bits: u128,
    /// The bits of the slots behind the groups.
    tail: u64,
}

impl Band {
    #[inline(always)]
    fn of(h: u64, layout: Layout) -> Self {
        let groups = layout.groups().min(BAND);
        let low = mix(h, layout.seed, 0xa076_1d64_78bd_642f);
        let high = mix(h, layout.seed, 0xe703_7ed1_a0b4_28db);
        let place = mix(h, layout.seed, 0x8ebc_6af0_9c88_c6e3);
        let bits = u128::from(high) << 64 | u128::from(low);
        Band {
            first: ((place >> 32) * (layout.groups() - groups + 1)) >> 32,
            groups,
            bits: bits & ((1 << (8 * groups)) - 1),
            tail: (high >> 56) & ((1 << layout.tail()) - 1),
        }
    }
}

/// The row of a key in a filter of at most [`MOST_DENSE`] slots: a bit for each.
#[inline(always)]
fn dense(h: u64, layout: Layout) -> u64 {
    mix(h, layout.seed, 0xa076_1d64_78bd_642f) & (!0 >> (64 - layout.slots))
}

/// 64 bits of the hash and the seed: the halves of a product.
#[inline(always)]
fn mix(h: u64, seed: u8, factor: u64) -> u64 {
    let h = h ^ u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let product = u128::from(h) * u128::from(factor);
    product as u64 ^ (product >> 64) as u64
}

/// The sum of the slots that a key's row has. There is no branch on a bit of it: which of them is
/// wrong for an absent key, a processor cannot guess.
#[inline(always)]
fn sum(
    h: u64,
    layout: Layout,
    slots: &[u8],
    sum_groups: impl Fn(u128, &[u8], usize) -> u64,
) -> u64 {
    let r = layout.r as usize;
    let (row, first, groups, tail) = if layout.slots <= MOST_DENSE {
        let (row, groups) = (dense(h, layout), layout.groups());
        // A shift by 64 is none.
        (row.into(), 0, groups, row >> (4 * groups) >> (4 * groups))
    } else {
        let row = Band::of(h, layout);
        (row.bits, row.first, row.groups, row.tail)
    };
    let groups = slots.get(first as usize * r..).and_then(|from| from.get(..groups as usize * r));
    layout.result(sum_groups(row, groups.unwrap_or(&[]), r) ^ sum_tail(tail, layout, slots))
}

/// The sum of groups' slots where the row has ones. Of the sum only the lowest `r` bits count.
#[inline(always)]
pub(crate) fn sum_groups(row: u128, mut groups: &[u8], r: usize) -> u64 {
    // A byte for each bit of the slots: the first eight, and the last eight.
    let (mut low, mut high) = (0, 0);
    let (mut bits, mut next) = (row as u64, (row >> 64) as u64);
    let mut number = 0;
    while let Some((group, rest)) = groups.split_at_checked(r) {
        let first = match groups.first_chunk() {
            Some(first) => u64::from_le_bytes(*first),
            None => group.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        let last = group.last_chunk().map_or(0, |last| u64::from_le_bytes(*last));
        let chosen = (bits & 0xff) * ONES;
        low ^= first & chosen;
        high ^= last & chosen;
        groups = rest;
        bits >>= 8;
        number += 1;
        if number == 8 {
            (bits, next) = (next, 0);
        }
    }
    parities(low) | parities(high) << r.saturating_sub(8)
}

/// The sum of each byte's bits modulo 2.
#[inline(always)]
fn parities(mut bytes: u64) -> u64 {
    for shift in [4, 2, 1] {
        bytes ^= bytes >> shift;
    }
    // Brings the lowest bits of the bytes into the highest byte.
    (bytes & ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The sum of the slots behind the groups where these bits are ones.
#[inline(always)]
fn sum_tail(bits: u64, layout: Layout, slots: &[u8]) -> u64 {
    let Some(words) = AtLeast::new(slots) else { return 0 };
    let (place, r) = (layout.groups() as usize * layout.r as usize, layout.r);
    let masks = &MASKS[r as usize & 15];
    // What is left of a word that was read before (or behind) the place where it should begin.
    let word = |(word, from): ([u8; 8], usize), bits: u32| {
        let skip = 8 * (place as isize - from as isize) + bits as isize;
        u64::from_le_bytes(word).wrapping_shr(skip as u32)
    };
    // Four slots fit in a word, and what is behind them in the last one. (Where no slot is left, the
    // words are anything.)
    let four = word(words.read(place), 0) & masks[bits as usize & 15];
    let three = word(words.read(slots.len()), 4 * r) & masks[(bits >> 4) as usize & 15];
    let two = (four ^ three) ^ ((four ^ three) >> (2 * r));
    two ^ two >> r
}

/// For each r, and for each choice of four slots of r bits, ones where these are in a word.
static MASKS: [[u64; 16]; 16] = {
    let mut masks = [[0; 16]; 16];
    // Loops over ranges cannot run in the compiler.
    let mut i = 0;
    while i < 16 * 16 * 4 {
        let (r, chosen, slot) = (i / 64, i / 4 % 16, i % 4);
        if chosen >> slot & 1 == 1 {
            masks[r][chosen] |= ((1 << r) - 1) << (slot * r);
        }
        i += 1;
    }
    masks
};
