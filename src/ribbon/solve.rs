//! Gaussian elimination over bits.
//!
//! Which slots are free, and so zero, does not depend on the order of the keys: a slot is free if it
//! is not the lowest slot of any sum of rows. So the filter is the same for keys in any order.

use alloc::vec::Vec;

use super::{Band, Layout, MOST_DENSE, MOST_KEYS, SEEDS, dense, last_byte};

/// So many keys need no memory but the stack.
pub(crate) const MOST_ON_STACK: usize = 64;

/// Writes the ribbon filter of keys with these hashes over all of `filter`, with `r` result bits or, if
/// no such system can be solved, with fewer and so with more slots. False, and the filter as it was, if
/// there is none of this length, or no memory.
#[inline(always)]
pub(crate) fn solve(hashes: &[u64], r: u32, filter: &mut [u8]) -> bool {
    let Some((last, bytes)) = filter.split_last_mut() else { return false };
    if hashes.is_empty() || hashes.len() > MOST_KEYS {
        return false;
    }
    // Loops rather than closures, which would not be compiled for a kernel's processors.
    for r in (1..=r).rev() {
        let Some(layout) = Layout::new(bytes.len(), r, 0) else { continue };
        if layout.slots < hashes.len() as u64 {
            continue;
        }
        let seed = if layout.slots <= MOST_DENSE {
            solve_dense(hashes, layout, bytes)
        } else {
            solve_band(hashes, layout, bytes)
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
fn solve_dense(hashes: &[u64], layout: Layout, bytes: &mut [u8]) -> Option<u8> {
    let n = hashes.len();
    let (mut rows, mut values) = ([0; 64], [0; 64]);
    let (mut reduced, mut sums) = ([0; 64], [0; 64]);
    for seed in 0..SEEDS {
        let layout = Layout { seed, ..layout };
        for ((row, value), &h) in rows.iter_mut().zip(&mut values).zip(hashes) {
            (*row, *value) = (dense(h, layout), layout.result(h));
        }
        if eliminate(&mut rows, &mut values, &mut reduced, &mut sums, n) {
            write(&substitute(&reduced, &mut sums, n), layout, bytes);
            return Some(seed);
        }
    }
    None
}

/// Moves each row, with the earlier rows' lowest bits cleared in it, to `reduced`, and its value. (A row
/// that stayed among the others would have to be written there alone, and a processor waits where it
/// reads such words as a vector.) False if a row is the sum of others, but its value is not.
#[inline(always)]
fn eliminate(
    rows: &mut Sixty4,
    values: &mut Sixty4,
    reduced: &mut Sixty4,
    sums: &mut Sixty4,
    n: usize,
) -> bool {
    for i in 0..n {
        let (row, value) = (rows[i & 63], values[i & 63]);
        (reduced[i & 63], sums[i & 63]) = (row, value);
        if row == 0 {
            if value != 0 {
                return false;
            }
            continue;
        }
        let pivot = row & row.wrapping_neg();
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
    }
    true
}

/// The value of each slot: the last row's is known, and is taken out of the rows before it.
#[inline(always)]
fn substitute(rows: &Sixty4, values: &mut Sixty4, n: usize) -> Sixty4 {
    let mut slots = [0; 64];
    for i in (0..n).rev() {
        let (row, value) = (rows[i & 63], values[i & 63]);
        if row == 0 {
            continue;
        }
        let pivot = row & row.wrapping_neg();
        slots[pivot.trailing_zeros() as usize & 63] = value;
        let some = ..(i + 1).next_multiple_of(8);
        let (Some(rs), Some(vs)) = (rows.get(some), values.get_mut(some)) else { return slots };
        for (r, v) in rs.iter().zip(vs) {
            *v ^= if *r & pivot == pivot { value } else { 0 };
        }
    }
    slots
}

/// Writes the slots over all of `bytes`.
#[inline(always)]
fn write(slots: &Sixty4, layout: Layout, bytes: &mut [u8]) {
    let (slots, tail) = slots.split_at(8 * layout.groups().min(8) as usize);
    let (groups, rest) = bytes.split_at_mut(bytes.len().min(slots.len() / 8 * layout.r as usize));
    for (group, slots) in groups.chunks_exact_mut(layout.r as usize).zip(slots.chunks_exact(8)) {
        write_group(slots, group);
    }
    write_tail(tail, layout, rest);
}

/// Writes a group of eight slots: a byte for each of their bits.
#[inline(always)]
fn write_group(slots: &[u64], group: &mut [u8]) {
    for (bytes, from) in group.chunks_mut(8).zip([0, 8]) {
        let mut word = 0;
        for slot in slots.iter().rev() {
            word = word << 8 | ((*slot >> from) & 0xff);
        }
        let word = transpose(word).to_le_bytes();
        for (byte, b) in bytes.iter_mut().zip(word) {
            *byte = b;
        }
    }
}

/// Writes the slots behind the groups, one after the other.
#[inline(always)]
fn write_tail(slots: &[u64], layout: Layout, bytes: &mut [u8]) {
    let mut bits = 0;
    for slot in slots.iter().take(layout.tail() as usize).rev() {
        bits = bits << layout.r | u128::from(*slot);
    }
    for (byte, b) in bytes.iter_mut().zip(bits.to_le_bytes()) {
        *byte = b;
    }
}

/// Exchanges bit i of byte j and bit j of byte i.
#[inline(always)]
fn transpose(mut x: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swapped = (x ^ (x >> shift)) & mask;
        x ^= swapped ^ (swapped << shift);
    }
    x
}

/// Systems of any number of keys, in memory of 32 bytes a slot.
#[inline(always)]
fn solve_band(hashes: &[u64], layout: Layout, bytes: &mut [u8]) -> Option<u8> {
    let slots = usize::try_from(layout.slots).ok()?;
    let mut rows = zeros(slots)?;
    for seed in 0..SEEDS {
        let layout = Layout { seed, ..layout };
        if insert_all(hashes, layout, &mut rows) {
            substitute_band(&rows, layout, bytes);
            return Some(seed);
        }
        rows.fill(Equation::default());
    }
    None
}

/// Memory of zeros, if there is so much.
pub(crate) fn zeros<T: Clone + Default>(len: usize) -> Option<Vec<T>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len).ok()?;
    // Never. Without this the compiler keeps code to grow, and a panic.
    if zeros.capacity() - zeros.len() < len {
        return None;
    }
    zeros.resize(len, T::default());
    Some(zeros)
}

/// The equation of a key, or the sum of some. Where there is none all are zeros.
#[derive(Clone, Copy, Default)]
struct Equation {
    /// The row from the word of 64 slots on in which it begins.
    row: [u64; 3],
    /// The bits of the slots behind the groups.
    tail: u16,
    value: u16,
}

/// Adds all keys' equations to a system in which the equation at each slot begins there. False if a
/// row is the sum of others, but its value is not.
#[inline(always)]
fn insert_all(hashes: &[u64], layout: Layout, rows: &mut [Equation]) -> bool {
    for &h in hashes {
        let Band { first, bits, tail, .. } = Band::of(h, layout);
        let (mut word, shift) = (first as usize / 8, first % 8 * 8);
        let beyond = (bits >> 64) as u64 >> 1 >> (63 - shift);
        let bits = bits << shift;
        let mut row = [bits as u64, (bits >> 64) as u64, beyond];
        let (mut tail, mut value) = (tail as u16, layout.result(h) as u16);
        loop {
            let slot = if row[0] != 0 {
                64 * word + row[0].trailing_zeros() as usize
            } else if row[1] | row[2] != 0 {
                (word, row) = (word + 1, [row[1], row[2], 0]);
                continue;
            } else if tail != 0 {
                8 * layout.groups() as usize + tail.trailing_zeros() as usize
            } else if value != 0 {
                return false;
            } else {
                break;
            };
            let Some(other) = rows.get_mut(slot) else { return false };
            if other.row[0] == 0 && other.tail == 0 {
                *other = Equation { row, tail, value };
                break;
            }
            row = [row[0] ^ other.row[0], row[1] ^ other.row[1], row[2] ^ other.row[2]];
            (tail, value) = (tail ^ other.tail, value ^ other.value);
        }
    }
    true
}

/// Writes the slots over all of `bytes`, from the last slot to the first.
#[inline(always)]
fn substitute_band(rows: &[Equation], layout: Layout, bytes: &mut [u8]) {
    let Some((rows, tail)) = rows.split_at_checked(8 * layout.groups() as usize) else { return };
    // The slots behind the groups, and the sums of all sets of them.
    let (mut last, mut sums) = ([0; 8], [0; 128]);
    for (slot, row) in tail.iter().enumerate().rev() {
        if row.tail == 0 {
            continue;
        }
        let mut value = row.value;
        for (later, bit) in last.iter().zip(0..8) {
            value ^= if bit > slot && row.tail >> bit & 1 == 1 { *later as u16 } else { 0 };
        }
        last[slot & 7] = value.into();
    }
    for set in 1..128_usize {
        sums[set] = sums[set & (set - 1)] ^ last[set.trailing_zeros() as usize & 7] as u16;
    }
    let r = layout.r as usize;
    let (groups, rest) = bytes.split_at_mut(bytes.len().min(rows.len() / 8 * r));
    write_tail(&last, layout, rest);

    // For each bit of a slot, the 64 slots at hand and the 128 after them.
    let mut known = [[0; 3]; 16];
    for (rows, groups) in rows.chunks(64).zip(groups.chunks_mut(8 * r)).rev() {
        for known in &mut known {
            *known = [0, known[0], known[1]];
        }
        for (slot, Equation { row, tail, value }) in rows.iter().enumerate().rev() {
            if row[0] == 0 {
                continue;
            }
            let value = value ^ sums[usize::from(tail & 127)];
            for (bit, known) in known.iter_mut().take(r).enumerate() {
                let sum = (row[0] & known[0]) ^ (row[1] & known[1]) ^ (row[2] & known[2]);
                let one = (sum.count_ones() ^ u32::from(value >> bit)) & 1;
                known[0] |= u64::from(one) << slot;
            }
        }
        for (i, group) in groups.chunks_mut(r).enumerate() {
            for (byte, known) in group.iter_mut().zip(&known) {
                *byte = (known[0] >> (8 * i)) as u8;
            }
        }
    }
}
