//! The readable kernel, for every machine: the specification in so many words.
//!
//! ```text
//! insert:    for every key, for each of its k positions: set the bit
//! may_match: for each of the key's k positions: if the bit is clear, no; else yes
//! ```

#![forbid(unsafe_code)]

use super::{Kernel, Key};
use crate::filter::Filter;
use crate::hash::bloom_hash;
use crate::probe::Positions;

pub(super) static KERNEL: Kernel = Kernel { name: "portable", insert, may_match };

/// A bit array's length in bits. 64-bit arithmetic even where `usize` has 32: there LevelDB
/// divides by zero for an array of 2^29 bytes.
fn bits_of(array: &[u8]) -> u64 {
    array.len() as u64 * 8
}

/// Bit p is bit p % 8, least significant first, of byte p / 8.
fn place(position: u64) -> (usize, u8) {
    ((position / 8) as usize, 1 << (position % 8))
}

fn insert(keys: &[Key<'_>], k: u32, array: &mut [u8]) {
    let bits = bits_of(array);
    for key in keys {
        for position in Positions::new(bloom_hash(key.bytes()), k, bits) {
            let (byte, mask) = place(position);
            if let Some(byte) = array.get_mut(byte) {
                *byte |= mask;
            }
        }
    }
}

fn may_match(key: &[u8], filter: &[u8]) -> bool {
    match Filter::parse(filter) {
        Filter::Empty => false,
        Filter::Unknown => true,
        Filter::Bits(array, k) => {
            Positions::new(bloom_hash(key), k, bits_of(array)).all(|position| {
                let (byte, mask) = place(position);
                array.get(byte).is_none_or(|byte| byte & mask != 0)
            })
        }
    }
}
