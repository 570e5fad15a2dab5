//! Whether a kernel answers as another does, on keys and filters of fixed bytes.
//!
//! Asked of every kernel but the portable one before its first use: a processor that gets an
//! instruction wrong, or a system that does not keep a register, would lose keys for good.

use super::{Kernel, Key};

/// Half of them make a filter. More than a block that kernels have, and the half more than half of
/// one; neither are a number of eights.
const KEYS: usize = 91;
/// The most bytes of an array.
const ARRAY: usize = 101;
const FILTERS: usize = 3;

/// Bytes without a pattern that a kernel could get right by chance.
static BYTES: [u8; 64 + KEYS] = {
    let mut bytes = [0; 64 + KEYS];
    let mut state = 1u32;
    let mut i = 0;
    while i < bytes.len() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes[i] = (state >> 24) as u8;
        i += 1;
    }
    bytes
};

/// All that a kernel says about some keys.
#[derive(PartialEq)]
struct Answers {
    hashes: [u32; KEYS],
    created: [u8; ARRAY + 1],
    inserted: [u8; ARRAY],
    each: [bool; KEYS],
    batch: ([bool; KEYS], usize),
    filters: ([bool; FILTERS], usize),
}

/// What `kernel` makes of `keys`: half of them go into a filter with an array of so many bytes, which
/// is asked for all.
#[inline(never)]
fn answers(kernel: &Kernel, keys: &[Key; KEYS], bytes: usize) -> Answers {
    let mut answers = Answers {
        hashes: [0; KEYS],
        created: [0; ARRAY + 1],
        inserted: [0x10; ARRAY],
        each: [false; KEYS],
        batch: ([false; KEYS], 0),
        filters: ([false; FILTERS], 0),
    };
    kernel.hash_keys(keys, &mut answers.hashes);
    kernel.insert_hashes(&answers.hashes, 7, &mut answers.inserted);
    let filter = answers.created.get_mut(..=bytes).unwrap_or(&mut []);
    if let (Some((probes, array)), Some(half)) = (filter.split_last_mut(), keys.get(..KEYS / 2)) {
        kernel.create(half, 6, array);
        *probes = 6;
    }
    let filter = &*filter;
    for (key, answer) in keys.iter().zip(&mut answers.each) {
        *answer = kernel.may_match(*key, filter);
    }
    answers.batch.1 = kernel.keys_may_match(keys, filter, &mut answers.batch.0);
    let filters = [Key::new(filter), Key::new(&[0xff, 6]), Key::new(&[0; 10])];
    let [.., last] = keys;
    answers.filters.1 = kernel.filters_may_match(*last, &filters, &mut answers.filters.0);
    answers
}

/// Whether `kernel` says of keys of one length and of many, and of filters that fit in one register,
/// in two and in none, what `reference` says.
pub(super) fn agree(kernel: &Kernel, reference: &Kernel) -> bool {
    agree_on(kernel, reference, |_| 16, ARRAY)
        && agree_on(kernel, reference, |_| 27, 61)
        && agree_on(kernel, reference, |i| i * 7 % 61, 25)
}

#[inline(never)]
fn agree_on(kernel: &Kernel, reference: &Kernel, length: fn(usize) -> usize, bytes: usize) -> bool {
    let mut keys = [Key::new(&[]); KEYS];
    for (i, key) in keys.iter_mut().enumerate() {
        *key = Key::new(BYTES.get(i..i + length(i)).unwrap_or(&[]));
    }
    answers(kernel, &keys, bytes) == answers(reference, &keys, bytes)
}
