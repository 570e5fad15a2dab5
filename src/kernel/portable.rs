//! Plain Rust, for every target.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these departures:
//! 1. Filters of up to 32 Kbit set a *byte* per bit in scratch memory, packed
//!    at the end (see `bits::BYTE_PER_BIT_MAX`).
//! 2. Positions come from two remainders by multiplication and from sums (see
//!    `bits`); arrays of 2^31 bits and more take the specification's way.
//! 3. A query asks for all k bits, without leaving at the first clear one:
//!    where it leaves is what a branch predictor cannot know.

use core::mem::MaybeUninit;

use super::Key;
use super::bits::{self, BYTE_PER_BIT_MAX, LANES, Modulus};
use super::{Kernel, scratch, through_a_branch};
use crate::filter::{Filter, MAX_PROBES};
use crate::hash::{BLOOM_SEED as SEED, M};
use crate::probe;

pub(super) const KERNEL: Kernel = Kernel {
    name: "portable",
    supported: || true,
    hash_keys,
    create,
    insert_hashes,
    may_match,
    keys_may_match,
    filters_may_match,
};

/// `hash::hash`, with the last word taken from the key's last four bytes and
/// no branch for whether there is one: keys of mixed lengths make a branch
/// guess wrong as often as not.
#[inline(always)]
pub(super) fn hash(key: &[u8]) -> u32 {
    let Some(last) = key.last_chunk() else {
        return crate::hash::bloom_hash(key);
    };
    let mut h = SEED ^ (key.len() as u32).wrapping_mul(M);
    let mut rest = key;
    while let Some((word, after)) = rest.split_first_chunk() {
        h = h.wrapping_add(u32::from_le_bytes(*word)).wrapping_mul(M);
        h ^= h >> 16;
        rest = after;
    }
    let tail = (u32::from_le_bytes(*last) >> 8) >> (24 - 8 * (key.len() % 4));
    let mixed = h.wrapping_add(tail).wrapping_mul(M);
    let mixed = mixed ^ (mixed >> 24);
    if key.len() % 4 == 0 { h } else { mixed }
}

pub(super) fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    for (key, h) in keys.iter().zip(hashes) {
        *h = hash(key.as_bytes());
    }
}

pub(super) fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    if keys.len() < FEW {
        return create_from_few(keys, k, array);
    }
    if array.len() <= BYTE_PER_BIT_MAX / 8 {
        if let Some(modulus) = Modulus::new(array.len()) {
            if create_by_bytes(keys, k, modulus, array) {
                return;
            }
        }
    }
    let array = bits::zeroed(array);
    insert(keys.iter().map(|key| hash(key.as_bytes())), k, array);
}

/// Fewer keys than this are not worth scratch memory, nor vectors.
pub(super) const FEW: usize = 6;

#[inline]
pub(super) fn create_from_few(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    if array.len() != 8 {
        return insert(keys.iter().map(|key| hash(key.as_bytes())), k, bits::zeroed(array));
    }
    // 64 bits, the fewest a policy makes: the remainder is the sum's last six bits.
    let mut all = 0u64;
    for key in keys {
        let mut sum = hash(key.as_bytes());
        let delta = sum.rotate_right(17);
        for _ in 0..k {
            all |= 1 << (sum % 64);
            sum = sum.wrapping_add(delta);
        }
    }
    for (out, byte) in array.iter_mut().zip(all.to_le_bytes()) {
        out.write(byte);
    }
}

fn create_by_bytes(keys: &[Key], k: u32, modulus: Modulus, array: &mut [MaybeUninit<u8>]) -> bool {
    scratch::with_zeroed(array.len() * 8, |bytes| {
        let mut rows = [[0; LANES]; MAX_PROBES as usize];
        let rows = rows.get_mut(..k as usize).unwrap_or(&mut []);
        let mut groups = keys.chunks_exact(LANES);
        for group in &mut groups {
            let mut hashes = [0; LANES];
            for (h, key) in hashes.iter_mut().zip(group) {
                *h = hash(key.as_bytes());
            }
            bits::positions_of(&hashes, modulus, rows);
            for &p in rows.iter().flatten() {
                // SAFETY: a position is less than the array's bits, of which
                // `bytes` has a byte each.
                unsafe { *bytes.get_unchecked_mut(p as usize) = 1 }
            }
        }
        for key in groups.remainder() {
            bits::each_position(hash(key.as_bytes()), k, modulus, |p| {
                // SAFETY: as above.
                unsafe { *bytes.get_unchecked_mut(p as usize) = 1 }
            });
        }
        pack(bytes, array);
    })
}

/// A bit for each byte, which are 0 or 1.
#[inline(always)]
pub(super) fn pack(bytes: &[u8], array: &mut [MaybeUninit<u8>]) {
    for (out, eight) in array.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut word = [0; 8];
        word.copy_from_slice(eight);
        // Byte i, 0 or 1, lands at bit 56 + i; no two products meet.
        let packed = u64::from_le_bytes(word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        out.write(packed as u8);
    }
}

pub(super) fn insert_hashes(hashes: &[u32], k: u32, array: &mut [u8]) {
    insert(hashes.iter().copied(), k, array);
}

#[inline(always)]
fn insert(hashes: impl Iterator<Item = u32>, k: u32, array: &mut [u8]) {
    if let Some(modulus) = Modulus::new(array.len()) {
        for h in hashes {
            bits::each_position(h, k, modulus, |p| {
                // SAFETY: a position is less than the array's bits.
                unsafe { bits::set_bit(array, p) }
            });
        }
    } else {
        for h in hashes {
            probe::insert(h, k, array);
        }
    }
}

/// Whether all bits of hash `h` are set.
#[inline(always)]
pub(super) fn contains(h: u32, k: u32, array: &[u8]) -> bool {
    match Modulus::new(array.len()) {
        Some(modulus) => contains_all(h, k, modulus, array),
        None => probe::contains(h, k, array),
    }
}

/// `contains` for a kernel with vectors, which a compiler would otherwise unroll into it by the
/// kilobyte.
#[cfg(all(target_arch = "x86_64", leveldb_bloom_avx512))]
#[inline(never)]
pub(super) fn contains_apart(h: u32, k: u32, array: &[u8]) -> bool {
    contains(h, k, array)
}

#[inline(always)]
pub(super) fn contains_all(h: u32, k: u32, modulus: Modulus, array: &[u8]) -> bool {
    let delta = h.rotate_right(17);
    let mut sum = h;
    let mut all = 1;
    for _ in 0..k {
        // A remainder a probe rather than sums of two: nothing waits.
        let p = modulus.rem(sum);
        // SAFETY: a position is less than the array's bits.
        all &= unsafe { *array.get_unchecked((p / 8) as usize) } >> (p % 8);
        sum = sum.wrapping_add(delta);
    }
    all & 1 != 0
}

pub(super) fn may_match(key: Key, filter: &[u8]) -> bool {
    match Filter::parse(filter) {
        Filter::Never => false,
        Filter::Always => true,
        Filter::Probe { array, k } => through_a_branch(contains(hash(key.as_bytes()), k, array)),
    }
}

pub(super) fn keys_may_match(keys: &[Key], filter: &[u8], results: &mut [u8]) -> usize {
    let mut ones = 0;
    match Filter::parse(filter) {
        Filter::Never => results.fill(0),
        Filter::Always => {
            results.fill(1);
            ones = results.len();
        }
        Filter::Probe { array, k } => match Modulus::new(array.len()) {
            Some(modulus) => {
                for (key, result) in keys.iter().zip(results) {
                    *result = contains_all(hash(key.as_bytes()), k, modulus, array).into();
                    ones += usize::from(*result);
                }
            }
            None => {
                for (key, result) in keys.iter().zip(results) {
                    *result = probe::contains(hash(key.as_bytes()), k, array).into();
                    ones += usize::from(*result);
                }
            }
        },
    }
    ones
}

pub(super) fn filters_may_match(key: Key, filters: &[Key], results: &mut [u8]) -> usize {
    let h = hash(key.as_bytes());
    let mut ones = 0;
    for (filter, result) in filters.iter().zip(results) {
        *result = match Filter::parse(filter.as_bytes()) {
            Filter::Never => 0,
            Filter::Always => 1,
            Filter::Probe { array, k } => contains(h, k, array).into(),
        };
        ones += usize::from(*result);
    }
    ones
}
