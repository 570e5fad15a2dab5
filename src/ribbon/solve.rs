//! Gaussian elimination over bits.
//!
//! Which slots are free, and so zero, does not depend on the order of the keys: a slot is free if it
//! is not the lowest slot of any sum of rows. So the filter is the same for keys in any order.

use alloc::vec::Vec;

use super::{Band, Dense, Layout, MOST_KEYS, Row, SEEDS, Word, last_byte};

/// So many keys need no memory but the stack.
pub(crate) const MOST_ON_STACK: usize = 64;

/// Writes the ribbon filter of keys with these hashes over all of `filter`, with `r` result bits or, if
/// no such system can be solved, with fewer and so with more slots. False, and the filter as it was, if
/// there is none of this length, or no memory.
#[inline(always)]
pub(crate) fn solve(hashes: &[u64], r: u32, filter: &mut [u8]) -> bool {
    let Some((last, columns)) = filter.split_last_mut() else { return false };
    if hashes.is_empty() || hashes.len() > MOST_KEYS {
        return false;
    }
    // Loops rather than closures, which would not be compiled for a kernel's processors.
    for r in (1..=r).rev() {
        let Some(layout) = Layout::new(columns.len(), r, 0) else { continue };
        let seed = if layout.slots <= Dense::WIDEST {
            dense(hashes, layout, columns)
        } else {
            banded(hashes, layout, columns)
        };
        if let Some(seed) = seed {
            *last = last_byte(r, seed);
            return true;
        }
    }
    false
}

/// A number for each key, or for each slot.
type Sixty4 = [u64; MOST_ON_STACK];

/// Systems of up to 64 keys and slots. No step depends on a bit by way of a branch, which a processor
/// could not guess.
#[inline(always)]
fn dense(hashes: &[u64], layout: Layout, columns: &mut [u8]) -> Option<u8> {
    let n = hashes.len();
    if n > MOST_ON_STACK {
        return None;
    }
    let (mut rows, mut values, mut pivots) = ([0; 64], [0; 64], [0; 64]);
    for seed in 0..SEEDS {
        let layout = Layout { seed, ..layout };
        for ((row, value), &h) in rows.iter_mut().zip(&mut values).zip(hashes) {
            let Row { start, bits } = Dense::of(h, layout);
            (*row, *value) = (bits << start, result(h, layout));
        }
        if eliminate(&mut rows, &mut values, &mut pivots, n) {
            let slots = substitute(&rows, &mut values, &pivots, n);
            write(&transpose(&slots, layout), layout, columns);
            return Some(seed);
        }
    }
    None
}

/// The bits of a hash that the columns must give.
#[inline(always)]
fn result(h: u64, layout: Layout) -> u64 {
    h & ((1 << layout.r) - 1)
}

/// Clears each row's lowest bit, its pivot, in all later rows (and in some earlier ones). False if a
/// row is the sum of others, but its value is not.
#[inline(always)]
fn eliminate(rows: &mut Sixty4, values: &mut Sixty4, pivots: &mut Sixty4, n: usize) -> bool {
    for i in 0..n {
        let (row, value) = (rows[i & 63], values[i & 63]);
        if row == 0 {
            if value != 0 {
                return false;
            }
            continue;
        }
        let pivot = row & row.wrapping_neg();
        pivots[i & 63] = pivot;
        // A number of rows that the compiler does not know is one for which it takes vectors.
        let some = (i & !7)..n.next_multiple_of(8);
        let (Some(rs), Some(vs)) = (rows.get_mut(some.clone()), values.get_mut(some)) else {
            return false;
        };
        for (r, v) in rs.iter_mut().zip(vs) {
            let mask = if *r & pivot == pivot { !0 } else { 0 };
            *r ^= mask & row;
            *v ^= mask & value;
        }
        (rows[i & 63], values[i & 63]) = (row, value);
    }
    true
}

/// The value of each slot: the last pivot's is known, and is taken out of the rows before it.
#[inline(always)]
fn substitute(rows: &Sixty4, values: &mut Sixty4, pivots: &Sixty4, n: usize) -> Sixty4 {
    let mut slots = [0; 64];
    for i in (0..n).rev() {
        let (value, pivot) = (values[i & 63], pivots[i & 63]);
        if rows[i & 63] == 0 {
            continue;
        }
        slots[pivot.trailing_zeros() as usize & 63] = value;
        let some = ..(i + 1).next_multiple_of(8);
        let (Some(rs), Some(vs)) = (rows.get(some), values.get_mut(some)) else { return slots };
        for (r, v) in rs.iter().zip(vs) {
            *v ^= if *r & pivot == pivot { value } else { 0 };
        }
    }
    slots
}

/// The columns of these slots, 16 of them.
#[inline(always)]
fn transpose(slots: &Sixty4, layout: Layout) -> [u64; 16] {
    let mut columns = [0; 16];
    let blocks = slots.chunks_exact(8).take(layout.slots.div_ceil(8) as usize);
    for (block, slots) in blocks.enumerate() {
        for (columns, from) in columns.chunks_exact_mut(8).zip([0, 8]) {
            if from >= layout.r {
                break;
            }
            let mut bytes = 0;
            for slot in slots.iter().rev() {
                bytes = bytes << 8 | (*slot >> from & 0xff);
            }
            let bytes = transpose_bytes(bytes).to_le_bytes();
            for (column, byte) in columns.iter_mut().zip(bytes) {
                *column |= u64::from(byte) << (8 * block);
            }
        }
    }
    columns
}

/// Exchanges bit i of byte j and bit j of byte i.
#[inline(always)]
fn transpose_bytes(mut x: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swapped = (x ^ (x >> shift)) & mask;
        x ^= swapped ^ (swapped << shift);
    }
    x
}

/// Writes columns one behind the other.
#[inline(always)]
fn write(columns: &[u64; 16], layout: Layout, array: &mut [u8]) {
    let (mut words, mut next, mut bits) = (array.chunks_mut(8), 0u128, 0);
    for column in columns.iter().take(layout.r as usize) {
        next |= u128::from(*column) << bits;
        bits += layout.slots;
        if bits >= 64 {
            words.next().into_iter().for_each(|word| put(word, next as u64));
            (next, bits) = (next >> 64, bits - 64);
        }
    }
    for word in words {
        put(word, next as u64);
        next = 0;
    }
}

/// Writes a number over up to eight bytes.
#[inline(always)]
fn put(bytes: &mut [u8], number: u64) {
    match <&mut [u8; 8]>::try_from(&mut *bytes) {
        Ok(bytes) => *bytes = number.to_le_bytes(),
        Err(_) => bytes.iter_mut().zip(number.to_le_bytes()).for_each(|(byte, b)| *byte = b),
    }
}

/// Systems of any number of keys, in memory of some 26 bytes a slot.
#[inline(always)]
fn banded(hashes: &[u64], layout: Layout, columns: &mut [u8]) -> Option<u8> {
    let slots = usize::try_from(layout.slots).ok()?;
    let (mut rows, mut values) = (zeros(slots)?, zeros(slots)?);
    for seed in 0..SEEDS {
        let layout = Layout { seed, ..layout };
        if insert_all(hashes, layout, &mut rows, &mut values) {
            substitute_band(&rows, &values, layout, columns);
            return Some(seed);
        }
        rows.fill([0; 3]);
    }
    None
}

/// Memory of zeros, if there is so much.
pub(crate) fn zeros<T: Clone + Default>(len: usize) -> Option<Vec<T>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len).ok()?;
    // Never. Without this the compiler keeps code to grow, and a panic.
    if zeros.capacity() < len {
        return None;
    }
    zeros.resize(len, T::default());
    Some(zeros)
}

/// A row from the word of 64 slots on in which it begins.
type Words = [u64; 3];

/// Adds all keys' rows to a system in which the row at each slot begins there. False if a row is the
/// sum of others, but its value is not.
#[inline(always)]
fn insert_all(hashes: &[u64], layout: Layout, rows: &mut [Words], values: &mut [u16]) -> bool {
    for &h in hashes {
        let Row { start, bits } = Band::of(h, layout);
        let (mut word, shift) = (start as usize / 64, start % 64);
        let beyond = (bits >> 64) as u64 >> 1 >> (63 - shift);
        let bits = bits << shift;
        let mut row = [bits as u64, (bits >> 64) as u64, beyond];
        let mut value = result(h, layout) as u16;
        loop {
            if row[0] == 0 {
                if row[1] | row[2] != 0 {
                    (word, row) = (word + 1, [row[1], row[2], 0]);
                    continue;
                }
                if value != 0 {
                    return false;
                }
                break;
            }
            let slot = 64 * word + row[0].trailing_zeros() as usize;
            let (Some(other), Some(other_value)) = (rows.get_mut(slot), values.get_mut(slot))
            else {
                return false;
            };
            if other[0] == 0 {
                (*other, *other_value) = (row, value);
                break;
            }
            row = [row[0] ^ other[0], row[1] ^ other[1], row[2] ^ other[2]];
            value ^= *other_value;
        }
    }
    true
}

/// Writes the columns, from the last slot to the first.
#[inline(always)]
fn substitute_band(rows: &[Words], values: &[u16], layout: Layout, columns: &mut [u8]) {
    columns.fill(0);
    // The 64 slots at hand in each column, and the 128 after them.
    let mut known = [[0; 3]; 16];
    let words = rows.chunks(64).zip(values.chunks(64)).enumerate().rev();
    for (word, (rows, values)) in words {
        for known in &mut known {
            *known = [0, known[0], known[1]];
        }
        for (slot, (row, value)) in rows.iter().zip(values).enumerate().rev() {
            if row[0] == 0 {
                continue;
            }
            for (column, known) in known.iter_mut().take(layout.r as usize).enumerate() {
                let sum = (row[0] & known[0]) ^ (row[1] & known[1]) ^ (row[2] & known[2]);
                let bit = (sum.parity() ^ u32::from(*value >> column)) & 1;
                known[0] |= u64::from(bit) << slot;
            }
        }
        for (column, known) in known.iter().take(layout.r as usize).enumerate() {
            let bit = column as u64 * layout.slots + 64 * word as u64;
            let bytes = columns.get_mut((bit / 8) as usize..).unwrap_or(&mut []);
            let bits = u128::from(known[0]) << (bit % 8);
            for (byte, bits) in bytes.iter_mut().zip(bits.to_le_bytes()).take(9) {
                *byte |= bits;
            }
        }
    }
}
