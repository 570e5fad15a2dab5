//! Queries.

use core::num::NonZeroU32;

use super::super::bits::{self, Modulus, hidden};
use super::super::{Key, blocks, through_a_branch};
use super::hash::{hash, hash_keys, hash_of_few_bytes};
use crate::filter::Filter;
use crate::probe;

/// Whether all bits of hash `h` are set in 64 bits, the fewest a policy makes: the remainder is the
/// sum's last six bits.
#[inline(always)]
fn contains_in_word(h: u32, k: u32, array: [u8; 8]) -> bool {
    let word = u64::from_le_bytes(array);
    let delta = h.rotate_right(17);
    let mut sum = h;
    // Whether the bits of the next `n` probes are set: 1 or 0.
    let mut ask = |n: u32| {
        let mut all = 1;
        for _ in 0..n {
            all &= word >> (sum % 64);
            sum = hidden(sum.wrapping_add(delta));
        }
        all != 0
    };
    // Apart: the compiler writes out a loop whose length it knows.
    if k == USUAL {
        return ask(USUAL);
    }
    let mut left = k;
    // Of absent keys, hardly any is left after the first six: at 44 bits (30 probes) one of four
    // bytes took 10 ns otherwise, where stock takes 4 (AMD EPYC of the fifth generation,
    // 2026-11-29).
    while left > IN_WORD_AT_ONCE {
        if !ask(hidden(IN_WORD_AT_ONCE)) {
            return false;
        }
        left -= IN_WORD_AT_ONCE;
    }
    ask(left)
}

/// How many probes of 64 bits are asked for at once.
const IN_WORD_AT_ONCE: u32 = 6;

/// An array of more bytes than this is mostly in no cache, nor are its addresses among those that
/// the processor has ready translations for. A bit read in vain then costs more than a wrong guess
/// where to stop, so bits are read one by one: with 10 million keys an absent one took 190 to 210
/// ns, in place of 240 to 270 with all bits at once (AMD EPYC of the third generation, 2026-11-22).
pub(in super::super) const FAR: usize = 4 << 20;

/// The modulus of an array in which several bits are read at once; `None` for one beyond `FAR`.
#[inline(always)]
fn modulus_if_near(bytes: usize) -> Option<Modulus> {
    if bytes > FAR { None } else { Modulus::new(bytes) }
}

/// The probes of 10 bits a key, which is what LevelDB's documentation proposes
/// and nearly all databases have.
const USUAL: u32 = 6;

/// How many probes are asked for at once. Where to stop among them is what a
/// branch predictor cannot know. After four, one absent key in 25 is left. Four
/// and two rather than six took as long for a present key, and for an absent one
/// 8 % less where the filter was in the first cache, 13 % in the third and 11 %
/// in none, because fewer of its lines are asked for (10 bits a key, AMD EPYC of
/// the third generation, 2026-11-22).
const AT_ONCE: u32 = 4;

/// The modulus of an array that is asked by the usual number of probes; `None` for any other
/// number, or beyond `FAR`.
#[inline(always)]
fn modulus_if_usual(k: u32, bytes: usize) -> Option<Modulus> {
    if k == USUAL { modulus_if_near(bytes) } else { None }
}

/// Whether the bits of the usual number of probes are all set. The loops over them are written out.
///
/// # Safety
/// The modulus is of the array's bits.
#[inline(always)]
unsafe fn contains_usual(h: u32, modulus: Modulus, array: &[u8]) -> bool {
    // SAFETY: the caller's word.
    let mut probes = unsafe { Probes::new(h, modulus, array) };
    probes.next(AT_ONCE) && probes.next(USUAL - AT_ONCE)
}

/// Up to how many probes dividing for each takes less time than computing an inverse to multiply by.
/// With inverses, a present key took 1.3 and 1.16 times as long at 1 and 2 probes (AMD EPYC of the
/// fourth generation, 2026-11-23). With divisions, keys of which half are present took 1.12 times as
/// long at 3 and 4 probes, because a wrong guess is found out later (one of the fifth, 2026-11-28).
const FEW: u32 = 2;

/// The number of bits of an array that is asked by at most `FEW` probes; `None` for any other.
#[inline(always)]
fn bits_if_few(k: u32, bytes: usize) -> Option<NonZeroU32> {
    if k <= FEW && bytes <= FAR { bits::bits_of(bytes) } else { None }
}

/// The modulus of an array all of whose probes are asked for at once; `None` for any other number,
/// or beyond `FAR`.
#[inline(always)]
fn modulus_if_at_once(k: u32, bytes: usize) -> Option<Modulus> {
    if k <= AT_ONCE { modulus_if_near(bytes) } else { None }
}

/// Whether the bits of all `k` probes are set; `k` is at least 1.
///
/// # Safety
/// The array has `bits` bits.
#[inline(always)]
unsafe fn contains_few(h: u32, k: u32, bits: NonZeroU32, array: &[u8]) -> bool {
    // SAFETY: a byte that a remainder lies in, of the array's bits, by the caller's word.
    let ask = |byte: usize, sum| unsafe { *array.get_unchecked(byte) }.rotate_right(sum);
    let (mut sum, delta) = (h, h.rotate_right(17));
    // By an inverse that need not be computed, a wrong guess is found out earlier than by a division:
    // absent keys of 16 bytes took 11.2 ns in place of 11.7 (2 bits per key, AMD EPYC of the fifth
    // generation, 2026-11-29).
    if let (1, Some(byte)) = (k, bits::byte_if_small(h, array.len())) {
        return ask(byte, h) & 1 != 0;
    }
    let mut all = ask((sum % bits / 8) as usize, sum);
    for _ in 1..k {
        sum = hidden(sum.wrapping_add(delta));
        all &= ask((sum % bits / 8) as usize, sum);
    }
    all & 1 != 0
}

/// Whether the bits of all `k` probes of hash `h` are set, for any `k` and an array of any size.
/// Out of line.
#[inline(never)]
fn contains_out_of_line(h: u32, k: u32, array: &[u8]) -> bool {
    match modulus_if_near(array.len()) {
        // SAFETY: `modulus_if_near` made the modulus for this array's length.
        Some(modulus) => through_a_branch(unsafe { contains_all(h, k, modulus, array) }),
        None => probe::contains(h, k, array),
    }
}

/// # Safety
/// The modulus is of the array's bits.
#[inline(never)]
unsafe fn contains_all(h: u32, k: u32, modulus: Modulus, array: &[u8]) -> bool {
    // SAFETY: the caller's word.
    let mut probes = unsafe { Probes::new(h, modulus, array) };
    let mut left = k;
    while left > AT_ONCE {
        if !probes.next(AT_ONCE) {
            return false;
        }
        left -= AT_ONCE;
    }
    probes.next(left)
}

/// The probes of a key in an array, whose modulus is its own.
struct Probes<'a> {
    /// The last probe's h + j * delta, or h before the first probe.
    sum: u32,
    delta: u32,
    begun: bool,
    /// Made for the length of `array`, by the word of whoever called `new`.
    modulus: Modulus,
    array: &'a [u8],
}

impl<'a> Probes<'a> {
    /// # Safety
    /// The modulus is of the array's bits.
    #[inline(always)]
    unsafe fn new(h: u32, modulus: Modulus, array: &'a [u8]) -> Self {
        Probes { sum: h, delta: h.rotate_right(17), begun: false, modulus, array }
    }

    /// Whether the bits of the next `n` probes are set. Each position is a remainder of its own
    /// rather than a sum of two remainders, so that none waits for the one before.
    #[inline(always)]
    fn next(&mut self, n: u32) -> bool {
        let mut all = u8::MAX;
        for _ in 0..n {
            if self.begun {
                (self.sum, all) = hidden_both(self.sum.wrapping_add(self.delta), all);
            }
            self.begun = true;
            // SAFETY: a remainder is less than the array's bits, because the modulus is the array's
            // by the word of whoever called `new`.
            let byte = unsafe { *self.array.get_unchecked(self.modulus.byte(self.sum)) };
            // By the last three bits of the sum: the bits are a multiple of 8.
            all &= byte.rotate_right(self.sum);
        }
        all & 1 != 0
    }
}

/// The same two, of which a compiler does not know it: it would otherwise mix
/// the probes, for which it needs three registers more, and a query that has to
/// keep registers takes a twentieth longer.
#[inline(always)]
#[cfg_attr(not(leveldb_bloom_asm), allow(unused_mut))]
fn hidden_both(mut sum: u32, mut all: u8) -> (u32, u8) {
    // SAFETY: the assembler emits no instructions for a comment. In ecx, because a rotation takes
    // its count from there.
    #[cfg(all(leveldb_bloom_asm, not(target_arch = "aarch64")))]
    unsafe {
        core::arch::asm!(
            "/* {0} */", inout(reg_byte) all, inout("ecx") sum,
            options(nomem, nostack, preserves_flags)
        )
    }
    // SAFETY: no instructions.
    #[cfg(all(leveldb_bloom_asm, target_arch = "aarch64"))]
    unsafe {
        core::arch::asm!(
            "/* {0:w} {1:w} */", inout(reg) sum, inout(reg) all,
            options(nomem, nostack, preserves_flags)
        )
    }
    (sum, all)
}

pub(in super::super) fn may_match(key: Key, filter: &[u8]) -> bool {
    // Elsewhere a query of a large filter took up to 1.17 times as long, and of one with 2 bits a
    // key, through the drop-in policy, 1.03 times as long as stock's (Intel Xeon with AMX,
    // 2026-11-26).
    at_line!(32);
    // Calls are the last thing that happens, or do not happen: so no registers have to be saved.
    let Filter::Probe { array, k } = Filter::parse(filter) else {
        // Whatever the hash.
        return hash_may_match(0, filter);
    };
    // Here a call takes longer than the hash: a key of three bytes took 6.8 ns in place of 3.8, where
    // stock takes 4.4 (2 bits per key, AMD EPYC of the fifth generation, 2026-11-29).
    let h = if key.len() >= 4 { hash(key.as_bytes()) } else { hash_of_few_bytes(key) };
    // Decided by k before size, because with a single probe every branch counts: by size before k,
    // a query at 1 or 2 bits per key took up to 1.1 times as long (Intel Xeon with AMX,
    // 2026-11-24).
    if k == USUAL {
        if let Ok(word) = array.try_into() {
            return through_a_branch(contains_in_word(h, k, word));
        }
        return match modulus_if_near(array.len()) {
            // SAFETY: `modulus_if_near` made the modulus for this array's length.
            Some(modulus) => through_a_branch(unsafe { contains_usual(h, modulus, array) }),
            None => contains_out_of_line(h, k, array),
        };
    }
    match (bits_if_few(k, array.len()), array.try_into()) {
        (_, Ok(word)) => through_a_branch(contains_in_word(h, k, word)),
        // SAFETY: `bits_if_few` gave the number of bits of this array.
        (Some(bits), _) => through_a_branch(unsafe { contains_few(h, k, bits, array) }),
        _ => match modulus_if_at_once(k, array.len()) {
            // SAFETY: `modulus_if_at_once` made the modulus for this array's length.
            Some(modulus) => through_a_branch(unsafe { Probes::new(h, modulus, array).next(k) }),
            None => contains_out_of_line(h, k, array),
        },
    }
}

/// `may_match` of a key's hash. Out of line.
#[inline(never)]
pub(in super::super) fn hash_may_match(h: u32, filter: &[u8]) -> bool {
    match Filter::parse(filter) {
        Filter::Never => false,
        Filter::Always => true,
        Filter::Probe { array, k } => contains_out_of_line(h, k, array),
    }
}

pub(in super::super) fn keys_may_match(keys: &[Key], filter: &[u8], results: &mut [u8]) -> usize {
    let mut ones = 0;
    match Filter::parse(filter) {
        Filter::Never => results.fill(0),
        Filter::Always => {
            results.fill(1);
            ones = results.len();
        }
        Filter::Probe { array, k } => {
            let near = modulus_if_near(array.len());
            let mut results = results.iter_mut();
            blocks::in_blocks(keys, false, hash_keys, |hashes| {
                for (&h, result) in hashes.iter().zip(&mut results) {
                    // SAFETY: `modulus_if_near` made the modulus for this array's length.
                    let answer = unsafe {
                        match near {
                            Some(modulus) if k == USUAL => contains_usual(h, modulus, array),
                            Some(modulus) => contains_all(h, k, modulus, array),
                            None => probe::contains(h, k, array),
                        }
                    };
                    *result = answer.into();
                    ones += usize::from(answer);
                }
            });
        }
    }
    ones
}

pub(in super::super) fn filters_may_match(key: Key, filters: &[Key], results: &mut [u8]) -> usize {
    filters_may_match_by(hash(key.as_bytes()), filters, results, |_| None)
}

/// `filters_may_match` for a key's hash. `small` is asked first, and may answer for a filter that a
/// vector kernel keeps in registers; it returns `None` for any other.
#[inline(always)]
pub(in super::super) fn filters_may_match_by(
    h: u32,
    filters: &[Key],
    results: &mut [u8],
    small: impl Fn(Key) -> Option<bool>,
) -> usize {
    let mut ones = 0;
    for (&filter, result) in filters.iter().zip(results) {
        let answer = small(filter).unwrap_or_else(|| match Filter::parse(filter.as_bytes()) {
            Filter::Never => false,
            Filter::Always => true,
            Filter::Probe { array, k } => match modulus_if_usual(k, array.len()) {
                // SAFETY: `modulus_if_usual` made the modulus for this array's length.
                Some(modulus) => unsafe { contains_usual(h, modulus, array) },
                None => contains_out_of_line(h, k, array),
            },
        });
        *result = answer.into();
        ones += usize::from(answer);
    }
    ones
}
