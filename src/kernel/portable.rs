//! Plain Rust, for every target.
//!
//! What is not as in the specification:
//! 1. Four keys are hashed side by side, because each step of a hash waits for the one before.
//! 2. The fewest keys make a filter of 64 bits, which fits in a register.
//! 3. A remainder is computed by multiplication (see [`Modulus`]).
//! 4. A query reads four bits before it branches: which of them is clear, a processor cannot guess.

use core::mem::MaybeUninit;
use core::num::NonZeroU32;

use super::blocks::{self, Steps, bits_of, in_blocks};
use super::hint::{hidden, through_a_branch};
use super::{Kernel, Key};
use crate::filter::Filter;
use crate::hash::{BLOOM_SEED, M};
use crate::{probe, ribbon};

pub(super) const KERNEL: Kernel = Kernel {
    name: "portable",
    supported: || true,
    preferred: || true,
    hash_keys,
    create,
    insert_hashes,
    may_match,
    keys_may_match,
    filters_may_match,
    ribbon_may_match,
    solve: ribbon::solve,
};

fn ribbon_may_match(key: &[u8], filter: &[u8]) -> bool {
    ribbon::short_may_match(key, filter, ribbon::sum_groups, otherwise_may_match)
}

#[inline(never)]
fn otherwise_may_match(key: &[u8], filter: &[u8]) -> bool {
    ribbon::may_match(key, filter, ribbon::sum_groups)
}

/// The hash of one key.
#[inline(always)]
pub(super) fn hash(key: Key) -> u32 {
    let (mut h, mut at, mut left) = (first(key.len()), key.as_ptr(), key.len());
    // SAFETY: `left` bytes of the key begin at `at`. The last word is read where there was one.
    unsafe {
        if left < 4 {
            let mut tail = 0;
            while left > 0 {
                left = hidden(left - 1);
                tail = tail << 8 | u32::from(at.add(left).read());
            }
            return if key.is_empty() { h } else { last_step(h, tail) };
        }
        while left >= 16 {
            for i in 0..4 {
                h = step(h, word(at.add(4 * i)));
            }
            (at, left) = (at.add(16), left - 16);
        }
        if left == 0 {
            return h;
        }
        while left >= 4 {
            h = step(h, word(at));
            (at, left) = (at.add(4), hidden(left - 4));
        }
        if left == 0 { h } else { last_step(h, tail(word(at.add(left).sub(4)), left)) }
    }
}

/// A hash before the first step.
#[inline(always)]
fn first(len: usize) -> u32 {
    BLOOM_SEED ^ (len as u32).wrapping_mul(M)
}

/// The step for a whole word.
#[inline(always)]
fn step(h: u32, word: u32) -> u32 {
    let h = h.wrapping_add(word).wrapping_mul(M);
    h ^ (h >> 16)
}

/// The step for the bytes after the whole words, if there are any.
#[inline(always)]
fn last_step(h: u32, tail: u32) -> u32 {
    let h = h.wrapping_add(tail).wrapping_mul(M);
    h ^ (h >> 24)
}

/// The last `len % 4` bytes, some, of a key's last four.
#[inline(always)]
fn tail(last: u32, len: usize) -> u32 {
    // A shift by 32 bits less eight for each byte; the number is taken modulo 32.
    last.wrapping_shr((len as u32).wrapping_mul(8).wrapping_neg())
}

/// # Safety
/// Four bytes can be read there.
#[inline(always)]
unsafe fn word(at: *const u8) -> u32 {
    // SAFETY: the caller's.
    u32::from_le(unsafe { at.cast::<u32>().read_unaligned() })
}

pub(super) fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    let (mut fours, mut out) = (keys.chunks_exact(4), hashes.chunks_exact_mut(4));
    for (keys, hashes) in (&mut fours).zip(&mut out) {
        if let Ok(four) = keys.try_into() {
            hashes.copy_from_slice(&hash_four(four));
        }
    }
    for (key, h) in fours.remainder().iter().zip(out.into_remainder()) {
        *h = hash(*key);
    }
}

/// The hashes of four keys, to the end of the longest: where each key ends, a processor cannot
/// guess.
#[inline(always)]
fn hash_four(keys: &[Key; 4]) -> [u32; 4] {
    let lens = keys.map(Key::len);
    let least = lens.into_iter().fold(usize::MAX, usize::min);
    let most = lens.into_iter().fold(0, usize::max);
    if least < 4 {
        return keys.map(hash);
    }
    let mut h = lens.map(first);
    for w in 0..least / 4 {
        for (h, key) in h.iter_mut().zip(keys) {
            // SAFETY: `w` is less than the whole words of the shortest key.
            *h = step(*h, unsafe { word(key.as_ptr().add(4 * w)) });
        }
    }
    if least == most && least % 4 == 0 {
        return h;
    }
    for w in least / 4..most / 4 {
        for (h, key) in h.iter_mut().zip(keys) {
            // A key that has no more words reads its last four bytes again, and keeps its hash.
            // SAFETY: the key has four bytes or more (`least`).
            let next = step(*h, unsafe { word(key.as_ptr().add((4 * w).min(key.len() - 4))) });
            *h = if w < key.len() / 4 { next } else { *h };
        }
    }
    for (h, key) in h.iter_mut().zip(keys) {
        // SAFETY: the key has four bytes or more (`least`), and these are its last.
        let last = unsafe { word(key.as_ptr().add(key.len() - 4)) };
        let next = last_step(*h, tail(last, key.len()));
        *h = if key.len() % 4 == 0 { *h } else { next };
    }
    h
}

pub(super) fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    match <&mut [_; 8]>::try_from(&mut *array) {
        Ok(array) => *array = word_of(keys, k).to_le_bytes().map(MaybeUninit::new),
        Err(_) => create_in_memory(keys, k, array),
    }
}

/// Out of line, so that the smallest filters need no room on the stack.
#[inline(never)]
fn create_in_memory(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // SAFETY: every machine can run this kernel.
    unsafe { blocks::create::<Portable>(keys, k, array) }
}

/// An array of 64 bits, the fewest that a policy makes.
#[inline(always)]
fn word_of(keys: &[Key], k: u32) -> u64 {
    let mut word = 0;
    if k == 0 {
        return word;
    }
    for key in keys {
        let mut sum = hash(*key);
        let delta = sum.rotate_right(17);
        for _ in 0..k {
            word |= 1 << (sum % 64);
            sum = hidden(sum.wrapping_add(delta) as usize) as u32;
        }
    }
    word
}

pub(super) fn insert_hashes(hashes: &[u32], k: u32, array: &mut [u8]) {
    // SAFETY: every machine can run this kernel.
    unsafe { blocks::insert::<Portable>(hashes, k, array) }
}

struct Portable;

impl Steps for Portable {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
        hash_keys(keys, hashes);
    }

    #[inline(always)]
    unsafe fn each_position(hashes: &[u32], k: u32, bits: NonZeroU32, mut set: impl FnMut(u32)) {
        let modulus = Modulus::new(bits);
        each_sum(hashes, k, |sum| set(modulus.rem(sum)));
    }

    #[inline(always)]
    unsafe fn each_bit(hashes: &[u32], k: u32, bits: NonZeroU32, mut set: impl FnMut(usize, u8)) {
        let modulus = Modulus::new(bits);
        // The number of bits is a multiple of 8: a sum has the last three bits of its remainder.
        each_sum(hashes, k, |sum| set(modulus.byte(sum), 1u8.rotate_left(sum)));
    }
}

/// Calls `f` with h + j * delta for each probe, of four keys in turn. A position is the remainder of
/// such a sum.
#[inline(always)]
fn each_sum(hashes: &[u32], k: u32, mut f: impl FnMut(u32)) {
    let mut fours = hashes.chunks_exact(4);
    for four in &mut fours {
        let Ok(mut sums) = <[u32; 4]>::try_from(four) else { continue };
        let deltas = sums.map(|h| h.rotate_right(17));
        for _ in 0..k {
            for (sum, delta) in sums.iter_mut().zip(deltas) {
                f(*sum);
                *sum = sum.wrapping_add(delta);
            }
        }
    }
    for h in fours.remainder() {
        let mut sum = *h;
        for _ in 0..k {
            f(sum);
            sum = sum.wrapping_add(h.rotate_right(17));
        }
    }
}

pub(super) fn may_match(key: Key, filter: &[u8]) -> bool {
    may_match_with(|| hash(key), filter, nothing_is_small)
}

#[inline(never)]
pub(super) fn hash_may_match(h: u32, filter: &[u8]) -> bool {
    may_match_with(|| h, filter, nothing_is_small)
}

/// `small` is another kernel's way to query small arrays: whether all `k` bits of a hash are set, or
/// `None` if the array is not small.
#[inline(always)]
pub(super) fn may_match_with(
    hash: impl Fn() -> u32,
    filter: &[u8],
    small: impl Fn(u32, u32, &[u8]) -> Option<bool>,
) -> bool {
    match Filter::parse(filter) {
        Filter::Probe { array, k } => contains(hash(), k, array, small),
        other => other == Filter::Always,
    }
}

fn nothing_is_small(_: u32, _: u32, _: &[u8]) -> Option<bool> {
    None
}

pub(super) fn filters_may_match(key: Key, filters: &[Key], results: &mut [u8]) -> usize {
    let h = hash(key);
    answer_each(filters, results, |filter| hash_may_match(h, filter))
}

/// Writes the answer of each filter, and returns how many are true.
#[inline(always)]
pub(super) fn answer_each(
    filters: &[Key],
    results: &mut [u8],
    may_match: impl Fn(&[u8]) -> bool,
) -> usize {
    let mut ones = 0;
    for (filter, result) in filters.iter().zip(results) {
        *result = may_match(filter.as_bytes()).into();
        ones += usize::from(*result);
    }
    ones
}

pub(super) fn keys_may_match(keys: &[Key], filter: &[u8], results: &mut [u8]) -> usize {
    let Filter::Probe { array, k } = Filter::parse(filter) else {
        // The same for every key.
        let answer = hash_may_match(0, filter);
        results.fill(answer.into());
        return usize::from(answer) * results.len();
    };
    match Modulus::of(array) {
        Some(modulus) if k == USUAL => {
            answer(keys, results, |h| all_set(h, USUAL, |sum| modulus.bit(sum, array)))
        }
        Some(modulus) => answer(keys, results, |h| all_set(h, k, |sum| modulus.bit(sum, array))),
        None => answer(keys, results, |h| probe::contains(h, k, array)),
    }
}

/// Writes the answer for each key's hash, and returns how many are true.
#[inline(always)]
fn answer(keys: &[Key], results: &mut [u8], contains: impl Fn(u32) -> bool) -> usize {
    let (mut ones, mut results) = (0, results.iter_mut());
    let answer_block = |hashes: &[u32]| {
        for (h, result) in hashes.iter().zip(&mut results) {
            *result = contains(*h).into();
            ones += usize::from(*result);
        }
    };
    // SAFETY: every machine can run this kernel.
    unsafe { in_blocks::<Portable>(keys, answer_block) }
    ones
}

/// The number of probes at 10 bits per key, which LevelDB's documentation recommends. Known to the
/// compiler, their loops need no counter.
const USUAL: u32 = 6;

/// Whether the bits of all `k` probes of hash `h` are set.
#[inline(always)]
fn contains(h: u32, k: u32, array: &[u8], small: impl Fn(u32, u32, &[u8]) -> Option<bool>) -> bool {
    if let Some(answer) = small(h, k, array) {
        return through_a_branch(answer);
    }
    if let (USUAL, Ok(word)) = (k, array.try_into()) {
        let word = u64::from_le_bytes(word);
        return through_a_branch(all_set(h, USUAL, |sum| (word >> (sum % 64)) as u8));
    }
    if let (1, Some(bits)) = (k, bits_of(array.len())) {
        // For a single probe a division takes less time than an inverse.
        // SAFETY: a remainder is less than the array's bits.
        let byte = unsafe { array.get_unchecked((h % bits / 8) as usize) };
        return through_a_branch(byte.rotate_right(h) & 1 != 0);
    }
    // Out of line, so that the others need not save registers.
    if k == USUAL { contains_usual(h, array) } else { contains_any(h, k, array) }
}

#[inline(never)]
fn contains_usual(h: u32, array: &[u8]) -> bool {
    match Modulus::of(array) {
        Some(modulus) => through_a_branch(all_set(h, USUAL, |sum| modulus.bit(sum, array))),
        None => contains_any(h, USUAL, array),
    }
}

#[inline(never)]
fn contains_any(h: u32, k: u32, array: &[u8]) -> bool {
    match Modulus::of(array) {
        Some(modulus) => through_a_branch(all_set(h, k, |sum| modulus.bit(sum, array))),
        None => probe::contains(h, k, array),
    }
}

/// Whether `bit` is odd for all sums.
#[inline(always)]
fn all_set(h: u32, k: u32, bit: impl Fn(u32) -> u8) -> bool {
    const AT_ONCE: u32 = 4;
    let (mut sum, mut left) = (h, k);
    let delta = h.rotate_right(17);
    while left > AT_ONCE {
        if !next_set(&mut sum, delta, AT_ONCE, &bit) {
            return false;
        }
        left -= AT_ONCE;
    }
    next_set(&mut sum, delta, left, &bit)
}

/// Whether `bit` is odd for the next `n` sums.
#[inline(always)]
fn next_set(sum: &mut u32, delta: u32, n: u32, bit: &impl Fn(u32) -> u8) -> bool {
    let mut all = 1;
    for _ in 0..n {
        all &= bit(*sum);
        *sum = sum.wrapping_add(delta);
    }
    all & 1 != 0
}

/// An array's number of bits, and what it takes to compute remainders by it quickly.
#[derive(Clone, Copy)]
struct Modulus {
    bits: NonZeroU32,
    /// 2^64 / bits and a little more.
    #[cfg(target_pointer_width = "64")]
    inverse: u64,
}

impl Modulus {
    #[inline(always)]
    fn of(array: &[u8]) -> Option<Modulus> {
        bits_of(array.len()).map(Modulus::new)
    }

    /// The bit at the position of this sum, in an array with this modulus, as the lowest of the
    /// result.
    #[inline(always)]
    fn bit(self, sum: u32, array: &[u8]) -> u8 {
        debug_assert_eq!(bits_of(array.len()), Some(self.bits));
        // SAFETY: a remainder is less than the array's bits.
        unsafe { array.get_unchecked(self.byte(sum)) }.rotate_right(sum)
    }
}

#[cfg(target_pointer_width = "64")]
impl Modulus {
    /// The inverse is too large by e: less than 2^13 for fewer than 2^19 bits, and at most 1 for
    /// more. In units of 2^-64, h * e is then less than 2^45 or 2^32, and 1 / bits is more.
    #[inline(always)]
    fn new(bits: NonZeroU32) -> Modulus {
        let inverse = if bits.get() < 1 << 19 {
            // In floating point, because many processors divide 64-bit integers slowly. In any
            // rounding mode the quotient is between the whole numbers around the exact one.
            let quotient = (1u64 << 52) as f64 / f64::from(bits.get());
            // SAFETY: finite and at most 2^52.
            let quotient: i64 = unsafe { quotient.to_int_unchecked() };
            (quotient as u64 + 1) << 12
        } else {
            (u64::MAX / core::num::NonZeroU64::from(bits)).wrapping_add(1)
        };
        Modulus { bits, inverse }
    }

    /// `h % bits`, exactly: the error of the inverse adds less than 1 / bits to the fraction, too
    /// little to reach the next remainder.
    #[inline(always)]
    fn rem(self, h: u32) -> u32 {
        ((self.fraction(h) * u128::from(self.bits.get())) >> 64) as u32
    }

    /// `h % bits / 8`.
    #[inline(always)]
    fn byte(self, h: u32) -> usize {
        ((self.fraction(h) * u128::from(self.bits.get() / 8)) >> 64) as usize
    }

    /// The fraction of h / bits, in units of 2^-64.
    #[inline(always)]
    fn fraction(self, h: u32) -> u128 {
        self.inverse.wrapping_mul(h.into()).into()
    }
}

#[cfg(not(target_pointer_width = "64"))]
impl Modulus {
    fn new(bits: NonZeroU32) -> Modulus {
        Modulus { bits }
    }

    fn rem(self, h: u32) -> u32 {
        h % self.bits
    }

    fn byte(self, h: u32) -> usize {
        (h % self.bits / 8) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a remainder by multiplication would be wrong first: at both ends of a multiple.
    #[test]
    fn remainders_at_multiples() {
        let small = 1..=70_000usize;
        let large = (17..28)
            .flat_map(|log| [-1, 0, 1, 12_345].map(|by| (1usize << log).wrapping_add_signed(by)));
        for bytes in small.chain(large) {
            let Some(bits) = bits_of(bytes) else { continue };
            let (modulus, most) = (Modulus::new(bits), u32::MAX / bits);
            for quotient in [0, 1, 2, most / 2, most - 1, most] {
                let multiple = bits.get() * quotient.min(most);
                let last = multiple.saturating_add(bits.get() - 1);
                for h in [multiple, multiple.wrapping_sub(1), last] {
                    assert_eq!(modulus.rem(h), h % bits, "{h} % {bits}");
                    assert_eq!(modulus.byte(h), (h % bits / 8) as usize, "byte of {h} % {bits}");
                }
            }
            assert_eq!(modulus.rem(u32::MAX), u32::MAX % bits);
        }
    }
}
