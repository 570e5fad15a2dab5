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
    let found = (1..=r).rev().find_map(|r| {
        let layout = Layout::new(columns.len(), r, 0)?;
        let seed = if layout.slots <= Dense::WIDEST {
            dense(hashes, layout, columns)
        } else {
            banded(hashes, layout, columns)
        };
        Some(last_byte(r, seed?))
    });
    found.inspect(|found| *last = *found).is_some()
}

/// A number for each key, or for each slot.
type Sixty4 = [u64; MOST_ON_STACK];

/// Systems of up to 64 keys and slots. No step depends on a bit by way of a branch, which a processor
/// could not guess.
#[inline(always)]
fn dense(hashes: &[u64], layout: Layout, columns: &mut [u8]) -> Option<u8> {
    if hashes.len() > MOST_ON_STACK {
        return None;
    }
    let (mut rows, mut values, mut pivots) = ([0; 64], [0; 64], [0; 64]);
    let seed = (0..SEEDS).find(|&seed| {
        let layout = Layout { seed, ..layout };
        for ((row, value), &h) in rows.iter_mut().zip(&mut values).zip(hashes) {
            let Row { start, bits } = Dense::of(h, layout);
            (*row, *value) = (bits << start, h & ((1 << layout.r) - 1));
        }
        eliminate(&mut rows, &mut values, &mut pivots, hashes.len())
    })?;
    let slots = substitute(&rows, &mut values, &pivots, hashes.len());
    write(&transpose(&slots), layout, columns);
    Some(seed)
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
        let pivot = row.trailing_zeros();
        pivots[i & 63] = pivot.into();
        let blocks = rows.chunks_exact_mut(8).zip(values.chunks_exact_mut(8));
        for (rows, values) in blocks.take(n.div_ceil(8)).skip(i / 8) {
            for (r, v) in rows.iter_mut().zip(values) {
                let mask = 0u64.wrapping_sub((*r >> pivot) & 1);
                *r ^= mask & row;
                *v ^= mask & value;
            }
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
        let (value, pivot) = (values[i & 63], pivots[i & 63] & 63);
        if rows[i & 63] == 0 {
            continue;
        }
        slots[pivot as usize] = value;
        let blocks = rows.chunks_exact(8).zip(values.chunks_exact_mut(8));
        for (rows, values) in blocks.take(i / 8 + 1) {
            for (r, v) in rows.iter().zip(values) {
                *v ^= 0u64.wrapping_sub((*r >> pivot) & 1) & value;
            }
        }
    }
    slots
}

/// The columns of 64 slots, 16 of them.
#[inline(always)]
fn transpose(slots: &Sixty4) -> [u64; 16] {
    let mut columns = [0; 16];
    for (block, slots) in slots.chunks_exact(8).enumerate() {
        let bytes = |from: u32| {
            slots.iter().rev().fold(0, |bytes: u64, slot| bytes << 8 | (slot >> from & 0xff))
        };
        for (columns, from) in columns.chunks_exact_mut(8).zip([0, 8]) {
            let bytes = transpose_bytes(bytes(from)).to_le_bytes();
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

/// Systems of any number of keys, in memory of 18 bytes a slot.
#[inline(always)]
fn banded(hashes: &[u64], layout: Layout, columns: &mut [u8]) -> Option<u8> {
    let slots = usize::try_from(layout.slots).ok()?;
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    rows.try_reserve_exact(slots).ok()?;
    values.try_reserve_exact(slots).ok()?;
    values.resize(slots, 0);
    let seed = (0..SEEDS).find(|&seed| {
        let layout = Layout { seed, ..layout };
        rows.clear();
        rows.resize(slots, 0);
        hashes.iter().all(|&h| {
            insert(Band::of(h, layout), (h & ((1 << layout.r) - 1)) as u16, &mut rows, &mut values)
        })
    })?;
    columns.fill(0);
    // The solution's bits of the slots behind the present one, nearest first.
    let mut known = [0u128; 16];
    for (slot, (row, value)) in rows.iter().zip(&values).enumerate().rev() {
        for (column, known) in known.iter_mut().take(layout.r as usize).enumerate() {
            let bit = ((*row >> 1 & *known).parity() ^ u32::from(value >> column)) & (*row as u32);
            *known = *known << 1 | u128::from(bit & 1);
            let at = column as u64 * layout.slots + slot as u64;
            if let Some(byte) = columns.get_mut((at / 8) as usize) {
                *byte |= ((bit & 1) as u8) << (at % 8);
            }
        }
    }
    Some(seed)
}

/// Adds a row to a system in which the row at each slot begins there, with a bit. False if it is the
/// sum of others, but its value is not.
#[inline(always)]
fn insert(row: Band, value: u16, rows: &mut [u128], values: &mut [u16]) -> bool {
    let (mut bits, mut slot, mut value) = (row.bits, row.start as usize, value);
    while bits != 0 {
        let zeros = bits.trailing_zeros();
        (bits, slot) = (bits >> zeros, slot + zeros as usize);
        let (Some(other), Some(other_value)) = (rows.get_mut(slot), values.get_mut(slot)) else {
            return false;
        };
        if *other == 0 {
            (*other, *other_value) = (bits, value);
            return true;
        }
        (bits, value) = (bits ^ *other, value ^ *other_value);
    }
    value == 0
}
