//! Queries.

#[cfg(target_pointer_width = "64")]
use super::super::bits;
use super::super::bits::{Modulus, hidden};
use super::super::{Key, blocks, through_a_branch};
use super::hash::{hash, hash_keys, hash_of_few_bytes};
use crate::filter::Filter;
use crate::probe;

/// Whether the bits of all `k` probes are set in 64 bits, the fewest a policy makes: the remainder is
/// the sum's last six bits.
#[inline(always)]
fn contains_in_word(h: u32, k: u32, array: [u8; 8]) -> bool {
    let (word, delta) = (u64::from_le_bytes(array), h.rotate_right(17));
    let (mut sum, mut all) = (h, word >> (h % 64));
    if k > 1 {
        sum = hidden(sum.wrapping_add(delta));
        all &= word >> (sum % 64);
        if k > 2 {
            sum = hidden(sum.wrapping_add(delta));
            all &= word >> (sum % 64);
        }
    }
    // A filter of so few bits is mostly of one key or two, of whose absent keys hardly any is left
    // after three probes: with a single key of 64 bytes they took 13.4 ns in place of 15.2, where
    // stock takes 19.8 (20 bits per key, AMD EPYC of the fifth generation, 2026-11-29).
    if all & 1 == 0 {
        return false;
    }
    let mut ask = |k: u32| {
        for _ in 3..k {
            sum = hidden(sum.wrapping_add(delta));
            all &= word >> (sum % 64);
        }
        all & 1 != 0
    };
    // Apart: the compiler writes out a loop whose length it knows.
    if k == USUAL { ask(USUAL) } else { ask(k) }
}

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

/// How many probes are asked for before the first branch. Where to stop among them is what a branch
/// predictor cannot know. After four, one absent key in 25 is left. Four and two rather than six took
/// as long for a present key, and for an absent one 8 % less where the filter was in the first cache,
/// 13 % in the third and 11 % in none, because fewer of its lines are asked for (10 bits a key, AMD
/// EPYC of the third generation, 2026-11-22).
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
    let mut probes = unsafe { Probes::first(h, modulus, array) };
    probes.next(AT_ONCE - 1) && probes.next(USUAL - AT_ONCE)
}

/// The byte that holds position `h % bits` of an array of `bytes` bytes; `None` where it is not
/// computed quickly.
#[cfg(target_pointer_width = "64")]
#[inline(always)]
fn byte_of(h: u32, bytes: usize) -> Option<usize> {
    // Arrays beyond the small ones first, by one comparison and a division: every branch counts.
    if bytes >= bits::SMALL_ARRAYS.end {
        if let Some(bits) = bits::bits_of(bytes) {
            return Some((h % bits / 8) as usize);
        }
    }
    // By an inverse that need not be computed, a wrong guess is found out earlier than by a division:
    // absent keys of 16 bytes took 11.2 ns in place of 11.7 (2 bits per key, AMD EPYC of the fifth
    // generation, 2026-11-29).
    bits::byte_if_small(h, bytes)
}

/// Whether the bit of the only probe of hash `h` is set; `k` is 1. Out of line.
///
/// With words of 32 bits, queries of up to three probes are as those of more: each is divided for
/// anyhow, and a web page's filters are small.
#[cfg(target_pointer_width = "64")]
#[inline(never)]
pub(in super::super) fn contains_one(array: &[u8], k: u32, h: u32) -> bool {
    // Elsewhere absent keys of 4 bytes took up to 1.03 times as long (2 bits per key, AMD EPYC of the
    // fifth generation, 2026-11-29).
    at_line!();
    if let Ok(word) = array.try_into() {
        return through_a_branch((u64::from_le_bytes(word) >> (h % 64)) & 1 != 0);
    }
    let Some(byte) = byte_of(h, array.len()) else { return contains_many(array, k, h) };
    // SAFETY: `byte_of` was given this array's length, and says in which of its bytes the position
    // lies.
    let byte = u32::from(unsafe { *array.get_unchecked(byte) });
    // Shifted rather than rotated, because here a bit test is a step less to wait for: absent keys
    // of 12 bytes took 10.8 ns in place of 11.0, and of 4 bytes 9.0 in place of 9.1 (2 bits per key,
    // portable kernel, AMD EPYC of the fifth generation, 2026-11-29).
    through_a_branch((byte >> (h % 8)) & 1 != 0)
}

/// Whether the bits of both probes of hash `h` are set; `k` is 2. Out of line.
///
/// Dividing for each takes less time than computing an inverse to multiply by. With inverses, a
/// present key took 1.3 and 1.16 times as long at 1 and 2 probes (AMD EPYC of the fourth generation,
/// 2026-11-23). With divisions, keys of which half are present took 1.12 times as long at 3 and 4
/// probes, because a wrong guess is found out later (one of the fifth, 2026-11-28).
#[cfg(target_pointer_width = "64")]
#[inline(never)]
fn contains_two(array: &[u8], k: u32, h: u32) -> bool {
    let Some(Modulus { bits, .. }) = modulus_if_near(array.len()) else {
        return contains_many(array, k, h);
    };
    // SAFETY: `modulus_if_near` says how many bits this array has: a remainder by them lies in it.
    let ask = |sum| unsafe { *array.get_unchecked((sum % bits / 8) as usize) }.rotate_right(sum);
    through_a_branch(ask(h) & ask(h.wrapping_add(h.rotate_right(17))) & 1 != 0)
}

/// Whether the bits of all `k` probes of hash `h` are set, for any `k` of 1 or more and an array of
/// any size. Out of line.
///
/// The arguments are in this order because a rotation and a shift take their count from the register
/// of the fourth.
#[inline(never)]
fn contains_many(array: &[u8], k: u32, h: u32) -> bool {
    match modulus_if_near(array.len()) {
        // SAFETY: `modulus_if_near` made the modulus for this array's length.
        Some(modulus) => unsafe {
            // Apart: the compiler writes out a loop whose length it knows.
            #[cfg(target_pointer_width = "64")]
            if k == 3 {
                return through_a_branch(Probes::first(h, modulus, array).next(2));
            }
            contains_all(array, k, h, modulus)
        },
        None => probe::contains(h, k, array),
    }
}

/// [`contains_many`], in the way that is fastest for this `k`.
#[inline(never)]
fn contains_any(array: &[u8], k: u32, h: u32) -> bool {
    match k {
        #[cfg(target_pointer_width = "64")]
        1 => contains_one(array, k, h),
        #[cfg(target_pointer_width = "64")]
        2 => contains_two(array, k, h),
        _ => contains_many(array, k, h),
    }
}

/// [`contains_many`] with an array's modulus. Out of line.
///
/// # Safety
/// The modulus is of the array's bits.
#[inline(never)]
unsafe fn contains_all(array: &[u8], k: u32, h: u32, modulus: Modulus) -> bool {
    // SAFETY: the caller's word.
    let mut probes = unsafe { Probes::first(h, modulus, array) };
    let mut left = k - 1;
    // Three at a time, a number that the compiler knows, so that it writes out the loop over them.
    while left >= AT_ONCE - 1 {
        if !probes.next(AT_ONCE - 1) {
            return false;
        }
        left -= AT_ONCE - 1;
    }
    through_a_branch(probes.next(left))
}

/// The probes of a key in an array, whose modulus is its own.
struct Probes<'a> {
    /// The last probe's h + j * delta.
    sum: u32,
    delta: u32,
    /// Whose lowest bit says whether the bits of all probes so far are set.
    all: u8,
    /// Made for the length of `array`, by the word of whoever called `first`.
    modulus: Modulus,
    array: &'a [u8],
}

impl<'a> Probes<'a> {
    /// The first probe.
    ///
    /// # Safety
    /// The modulus is of the array's bits.
    #[inline(always)]
    unsafe fn first(h: u32, modulus: Modulus, array: &'a [u8]) -> Self {
        // SAFETY: a remainder is less than the array's bits, because the modulus is the array's by
        // the caller's word.
        let byte = unsafe { *array.get_unchecked(modulus.byte(h, array.len())) };
        Probes { sum: h, delta: h.rotate_right(17), all: byte.rotate_right(h), modulus, array }
    }

    /// Asks for the next `n` probes, and says whether the bits of all so far are set. Each position
    /// is a remainder of its own rather than a sum of two remainders, so that none waits for the one
    /// before.
    #[inline(always)]
    fn next(&mut self, n: u32) -> bool {
        for _ in 0..n {
            let sum = self.sum.wrapping_add(self.delta);
            // SAFETY: as in `first`, by the word of whoever called that.
            let byte =
                unsafe { *self.array.get_unchecked(self.modulus.byte(sum, self.array.len())) };
            (self.sum, self.all) = and_bit(sum, self.all, byte);
        }
        self.all & 1 != 0
    }
}

/// `sum` itself, and `all` whose lowest bit is cleared unless that bit of `byte` is set which the
/// last three bits of `sum` name: the bits of a filter are a multiple of 8.
///
/// A compiler does not know that the sum is the same. It would otherwise mix the probes, for which it
/// needs three registers more, and a query that has to keep registers takes a twentieth longer.
#[inline(always)]
#[cfg(all(leveldb_bloom_asm, any(target_arch = "x86", target_arch = "x86_64")))]
fn and_bit(mut sum: u32, mut all: u8, byte: u8) -> (u32, u8) {
    // Written out, because a compiler makes five instructions of it, of which one or two only move
    // registers.
    // SAFETY: the instructions read and write their operands alone, and flags.
    unsafe {
        core::arch::asm!(
            "ror {byte}, cl",
            "and {all}, {byte}",
            byte = inout(reg_byte) byte => _,
            all = inout(reg_byte) all,
            inout("ecx") sum,
            options(pure, nomem, nostack)
        )
    }
    (sum, all)
}

#[inline(always)]
#[cfg(not(all(leveldb_bloom_asm, any(target_arch = "x86", target_arch = "x86_64"))))]
fn and_bit(sum: u32, all: u8, byte: u8) -> (u32, u8) {
    (hidden(sum), all & byte.rotate_right(sum))
}

pub(in super::super) fn may_match(key: Key, filter: &[u8]) -> bool {
    // Elsewhere a query of a large filter took up to 1.17 times as long, and of one with 2 bits a
    // key, through the drop-in policy, 1.03 times as long as stock's (Intel Xeon with AMX,
    // 2026-11-26).
    at_line!(32);
    may_match_by(key, filter, |_, _| None)
}

/// `may_match`. `small` is asked with a hash and `k`, which is at least 3, and may answer for a filter
/// that a vector kernel keeps in registers; it returns `None` for any other.
#[inline(always)]
pub(in super::super) fn may_match_by(
    key: Key,
    filter: &[u8],
    small: impl Fn(u32, u32) -> Option<bool>,
) -> bool {
    // Calls are the last thing that happens, or do not happen: so no registers have to be saved.
    let Filter::Probe { array, k } = Filter::parse(filter) else {
        // Whatever the hash.
        return hash_may_match(0, filter);
    };
    let h = if key.len() >= 4 {
        hash(key.as_bytes())
    } else {
        // Here a call takes longer than the hash: a key of three bytes took 6.8 ns in place of 3.8,
        // where stock takes 4.4 (2 bits per key, AMD EPYC of the fifth generation, 2026-11-29).
        hash_of_few_bytes(key)
    };
    // Before any size, because with a single probe every branch counts: with the test for 64 bits
    // before it, absent keys took 1.03 to 1.05 times as long (2 bits per key, AMD EPYC of the fifth
    // generation, 2026-11-29).
    #[cfg(target_pointer_width = "64")]
    if k == 1 {
        return contains_one(array, k, h);
    }
    if let Ok(word) = array.try_into() {
        return through_a_branch(contains_in_word(h, k, word));
    }
    // Before registers, where a wrong guess is found out later: both kinds of keys took 1.1 to 1.2
    // times as long (3 bits per key, AMD EPYC of the fifth generation, 2026-11-29).
    #[cfg(target_pointer_width = "64")]
    if k == 2 {
        return contains_two(array, k, h);
    }
    if let Some(answer) = small(h, k) {
        return answer;
    }
    if let Some(modulus) = modulus_if_usual(k, array.len()) {
        // SAFETY: `modulus_if_usual` made the modulus for this array's length.
        return through_a_branch(unsafe { contains_usual(h, modulus, array) });
    }
    contains_many(array, k, h)
}

/// `may_match` of a key's hash. Out of line.
#[inline(never)]
pub(in super::super) fn hash_may_match(h: u32, filter: &[u8]) -> bool {
    hash_may_match_by(h, filter, through_a_branch)
}

/// `hash_may_match`. The answer to the usual probes is passed through `returned`.
#[inline(always)]
fn hash_may_match_by(h: u32, filter: &[u8], returned: impl Fn(bool) -> bool) -> bool {
    match Filter::parse(filter) {
        Filter::Never => false,
        Filter::Always => true,
        Filter::Probe { array, k } => match modulus_if_usual(k, array.len()) {
            // SAFETY: `modulus_if_usual` made the modulus for this array's length.
            Some(modulus) => returned(unsafe { contains_usual(h, modulus, array) }),
            None => contains_any(array, k, h),
        },
    }
}

pub(in super::super) fn keys_may_match(keys: &[Key], filter: &[u8], results: &mut [u8]) -> usize {
    let Filter::Probe { array, k } = Filter::parse(filter) else {
        // Whatever the hash.
        let answer = hash_may_match(0, filter);
        results.fill(answer.into());
        return if answer { results.len() } else { 0 };
    };
    let near = modulus_if_near(array.len());
    let (mut ones, mut results) = (0, results.iter_mut());
    blocks::in_blocks(keys, false, hash_keys, |hashes| {
        for (&h, result) in hashes.iter().zip(&mut results) {
            let answer = match near {
                // SAFETY: `modulus_if_near` made the modulus for this array's length.
                Some(modulus) => unsafe {
                    let mut probes = Probes::first(h, modulus, array);
                    if k < USUAL {
                        // Without a branch, because nothing waits for the answer: where half of the
                        // keys are present, one took 4.3 ns in place of 10.1 (5 bits per key, AMD EPYC
                        // of the fifth generation, 2026-11-29).
                        probes.next(hidden(k) - 1)
                    } else {
                        probes.next(AT_ONCE - 1) && probes.next(hidden(k) - AT_ONCE)
                    }
                },
                None => contains_many(array, k, h),
            };
            *result = answer.into();
            ones += usize::from(answer);
        }
    });
    ones
}

pub(in super::super) fn filters_may_match(key: Key, filters: &[Key], results: &mut [u8]) -> usize {
    let h = hash(key.as_bytes());
    answer_each(filters, results, |filter| hash_may_match(h, filter))
}

/// `filters_may_match` for a key's hash. `small` is asked first, and may answer for a filter that a
/// vector kernel keeps in registers; it returns `None` for any other.
#[cfg(leveldb_bloom_avx2)]
#[inline(always)]
pub(in super::super) fn filters_may_match_by(
    h: u32,
    filters: &[Key],
    results: &mut [u8],
    small: impl Fn(&[u8]) -> Option<bool>,
) -> usize {
    answer_each(filters, results, |filter| {
        // Not called, because each vector would have to be loaded anew: 8 filters of 20 keys took
        // 2.4 ns each in place of 2.1 (AMD EPYC of the fifth generation, 2026-11-29).
        small(filter).unwrap_or_else(|| hash_may_match_by(h, filter, |answer| answer))
    })
}

/// Writes each filter's answer, and returns how many are true.
#[inline(always)]
fn answer_each(filters: &[Key], results: &mut [u8], answer: impl Fn(&[u8]) -> bool) -> usize {
    let mut ones = 0;
    for (filter, result) in filters.iter().zip(results) {
        let answer = answer(filter.as_bytes());
        *result = answer.into();
        ones += usize::from(answer);
    }
    ones
}
