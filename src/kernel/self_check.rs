//! The self-check: whether a kernel answers as another does, on fixed keys and filters.
//!
//! Every kernel but the portable one has to pass it before its first use: with a processor that
//! gets an instruction wrong, or a system that does not preserve a register, keys would be lost for
//! good.

use super::{Kernel, Key};

/// More than a block of the kernels, and no multiple of eight.
const KEYS: usize = 91;
/// Of which so many are put into a filter: more than half a block, or as many as the AVX-512 kernel
/// hashes between the setting of others' bits.
const HALF: usize = 45;
const MOST: usize = 83;
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

impl Answers {
    const NONE: Answers = Answers {
        hashes: [0; KEYS],
        created: [0; ARRAY + 1],
        inserted: [0; ARRAY],
        each: [false; KEYS],
        batch: ([false; KEYS], 0),
        filters: ([false; FILTERS], 0),
    };
}

/// What `kernel` makes of `keys`: the first `put` of them go into a filter with an array of so many
/// bytes, which is asked for all. (Written where the caller compares it: returned, it would be on
/// the stack twice while the kernel works.)
#[inline(never)]
fn answer(kernel: &Kernel, keys: &[Key; KEYS], put: usize, bytes: usize, answers: &mut Answers) {
    kernel.hash_keys(keys, &mut answers.hashes);
    answers.inserted.fill(0x10);
    kernel.insert_hashes(&answers.hashes, 7, &mut answers.inserted);
    let filter = answers.created.get_mut(..=bytes).unwrap_or(&mut []);
    if let (Some((probes, array)), Some(put)) = (filter.split_last_mut(), keys.get(..put)) {
        kernel.create(put, 6, array);
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
}

/// Whether `kernel` answers as `reference` does: for keys of one length, of one but for the first
/// (some processors' AVX-512 kernel leaves filters of keys of one length to the AVX2 kernel, and
/// this one not), and of mixed lengths, and with filters that fit in two registers of AVX2, in one,
/// and in none. (Not with such as are too large for a byte a bit: they would take up the stack of
/// whoever makes a process's first policy.)
pub(super) fn agree(kernel: &Kernel, reference: &Kernel) -> bool {
    agree_on(kernel, reference, |i| 16 - usize::from(i == 0), MOST, ARRAY)
        && agree_on(kernel, reference, |_| 27, HALF, 61)
        && agree_on(kernel, reference, |i| i * 7 % 61, HALF, 25)
}

#[inline(never)]
fn agree_on(
    kernel: &Kernel,
    reference: &Kernel,
    length: fn(usize) -> usize,
    put: usize,
    bytes: usize,
) -> bool {
    let mut keys = [Key::new(&[]); KEYS];
    for (i, key) in keys.iter_mut().enumerate() {
        *key = Key::new(BYTES.get(i..i + length(i)).unwrap_or(&[]));
    }
    let mut all = [Answers::NONE; 2];
    for (kernel, answers) in [kernel, reference].into_iter().zip(&mut all) {
        answer(kernel, &keys, put, bytes, answers);
    }
    let [ours, expected] = &all;
    ours == expected
}
