//! Plain Rust, for every target.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these departures:
//! 1. Four keys are hashed side by side, to the end of the longest: a step of
//!    the hash waits for the one before, and where a key ends is what a branch
//!    predictor cannot know.
//! 2. Filters of up to 32 Kbit set a *byte* per bit in scratch memory, packed
//!    at the end (see `bits::BYTE_PER_BIT_MAX`); of six keys or fewer one of 64
//!    bits is made in a register.
//! 3. Remainders come from multiplication, for four keys in turn (see `bits`),
//!    but where one key is asked of one filter by few probes (see `few`), and
//!    where a word has 32 bits. Arrays of 2^31 bits and more take the
//!    specification's way, and so do queries of arrays beyond `FAR`.
//! 4. Keys are asked for before they are needed, and so are the bits of an array
//!    beyond `FAR_TO_SET`.
//! 5. A query asks for four bits before it looks whether one was clear: where
//!    among them is what a branch predictor cannot know. An array of 64 bits is a
//!    word, of which it asks for all. An array too large for caches is asked for
//!    one after another.

#[cfg(all(target_arch = "x86", target_feature = "sse2"))]
use core::arch::x86::{_mm_loadu_si128, _mm_movemask_epi8};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use core::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
use core::mem::MaybeUninit;
use core::num::NonZeroU32;

use super::Key;
use super::bits::{self, BYTE_PER_BIT_MAX, Modulus};
use super::{Kernel, scratch, through_a_branch};
use crate::filter::{Filter, MAX_PROBES};
use crate::hash::{BLOOM_SEED as SEED, M};
use crate::probe;

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
};

/// `hash::hash`, with the last word taken from the key's last four bytes.
#[inline(always)]
pub(super) fn hash(key: &[u8]) -> u32 {
    if key.len() < 4 {
        return crate::hash::bloom_hash(key);
    }
    let mut h = first(key.len());
    // One place and one length: a query has no register for more.
    let (mut at, mut left) = (key.as_ptr(), key.len());
    // SAFETY: `left` bytes of the key are at `at`. Where they end four bytes of
    // it do: it has as many, as was seen above.
    unsafe {
        let word_at = |at: *const u8| u32::from_le(at.cast::<u32>().read_unaligned());
        // Four words at a time; a compiler would unroll the other way about,
        // with more to do before the first.
        while left >= 16 {
            for i in 0..4 {
                h = step(h, word_at(at.add(4 * i)));
            }
            (at, left) = (at.add(16), left - 16);
        }
        while left >= 4 {
            h = step(h, word_at(at));
            (at, left) = (at.add(4), left - 4);
        }
        if left == 0 { h } else { finish(h, word_at(at.add(left).sub(4)), left) }
    }
}

/// The last step, of a key that has bytes left after its whole words, from the last four bytes.
#[inline(always)]
fn finish(h: u32, last: u32, len: usize) -> u32 {
    let tail = (last >> 8) >> (24 - 8 * (len % 4));
    let h = h.wrapping_add(tail).wrapping_mul(M);
    h ^ (h >> 24)
}

/// How many keys are hashed side by side: each step of one waits for the step before.
const SIDE_BY_SIDE: usize = 4;

pub(super) fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    let mut fours = keys.chunks_exact(SIDE_BY_SIDE);
    let mut out = hashes.chunks_exact_mut(SIDE_BY_SIDE);
    for (keys, hashes) in (&mut fours).zip(&mut out) {
        if let Ok(four) = <&[Key; SIDE_BY_SIDE]>::try_from(keys) {
            hashes.copy_from_slice(&hash_four(four));
        }
    }
    // Two or three long ones, too, beside others that nobody asks for: three of 200 bytes took 169 ns
    // one after the other, and 120 so (with their bits; Intel Xeon with AMX, 2026-11-26).
    let (rest, out) = (fours.remainder(), out.into_remainder());
    if let (&[a, b, ..], [x, y, ..]) = (rest, &mut *out) {
        if are_long(rest, 1, 128) {
            let mut four = [0; SIDE_BY_SIDE];
            hash_keys(&[a, b, *rest.last().unwrap_or(&b), b], &mut four);
            (*x, *y) = (four[0], four[1]);
            if let [_, _, z] = out {
                *z = four[2];
            }
            return;
        }
    }
    for (key, h) in rest.iter().zip(out) {
        *h = hash_apart(*key);
    }
}

/// `hash` for the rare key, of which a compiler would otherwise make kilobytes.
#[inline(never)]
pub(super) fn hash_apart(key: Key) -> u32 {
    hash(key.as_bytes())
}

#[inline(always)]
fn hash_four(keys: &[Key; SIDE_BY_SIDE]) -> [u32; SIDE_BY_SIDE] {
    let len = keys[0].len();
    // Of one length, a multiple of 4: nothing is asked but where their words are.
    if keys.iter().fold(len % 4, |differ, key| differ | (key.len() ^ len)) == 0 {
        let mut h = [first(len); SIDE_BY_SIDE];
        for w in 0..len / 4 {
            for (h, key) in h.iter_mut().zip(keys) {
                // SAFETY: the key has that many words.
                *h = step(*h, unsafe { word(key, 4 * w) });
            }
        }
        return h;
    }
    let lens = keys.map(|key| key.len());
    let least = lens.into_iter().fold(usize::MAX, usize::min);
    if least < 4 {
        return keys.map(hash_apart);
    }
    let mut h = lens.map(first);
    for w in 0..least / 4 {
        for (h, key) in h.iter_mut().zip(keys) {
            // SAFETY: the key has that many words.
            *h = step(*h, unsafe { word(key, 4 * w) });
        }
    }
    let most = lens.into_iter().fold(0, usize::max);
    // Those that have no more words read their last again, and make nothing of it.
    for w in least / 4..most / 4 {
        for i in 0..SIDE_BY_SIDE {
            let at = (4 * w).min(lens[i] - 4);
            // SAFETY: the key has a word, and from `at` on.
            let next = step(h[i], unsafe { word(&keys[i], at) });
            h[i] = if w < lens[i] / 4 { next } else { h[i] };
        }
    }
    for (h, key) in h.iter_mut().zip(keys) {
        // Computed for all: whether there is a rest, mixed lengths make unpredictable.
        // SAFETY: the key has a word.
        let finished = finish(*h, unsafe { word(key, key.len() - 4) }, key.len());
        *h = if key.len() % 4 == 0 { *h } else { finished };
    }
    h
}

/// A hash before the first step.
#[inline(always)]
fn first(len: usize) -> u32 {
    SEED ^ (len as u32).wrapping_mul(M)
}

/// The step for a whole word.
#[inline(always)]
fn step(h: u32, word: u32) -> u32 {
    let h = h.wrapping_add(word).wrapping_mul(M);
    h ^ (h >> 16)
}

/// # Safety
/// The key has four bytes there.
#[inline(always)]
unsafe fn word(key: &Key, at: usize) -> u32 {
    // SAFETY: the caller's word.
    u32::from_le(unsafe { key.as_ptr().add(at).cast::<u32>().read_unaligned() })
}

/// Whether there are so few keys for an array of `bytes` bytes that other kernels take longer: two
/// keys of 44 bits took 31 ns each, with AVX2 48 and with AVX-512 56, and six in a register 5.7
/// rather than 7.5 and 6.1 (AMD EPYC of the fourth generation, 2026-11-23). So many long keys as are
/// hashed side by side are few, too: three of 200 bytes took 120 ns, with AVX2 275 (Intel Xeon with AMX,
/// 2026-11-26), and four 103, with AVX-512 194 (2026-11-24).
#[inline(always)]
pub(super) fn are_few(keys: &[Key], bytes: usize) -> bool {
    let few = keys.len() < 4 || fit_a_register(keys.len(), bytes);
    few && (keys.len() <= SIDE_BY_SIDE || !are_long(keys, 2, 200))
}

/// Whether all a few keys `but` some have so many bytes that a processor does not look far enough ahead
/// to hash them at the same time unless they are hashed side by side: four keys of 256 bytes took 374
/// ns, with AVX2 202 and with AVX-512 218 (AMD EPYC of the fourth generation, 2026-11-24).
#[inline(always)]
fn are_long(keys: &[Key], but: usize, bytes: usize) -> bool {
    // One that is longer than the others has nothing beside it.
    let [first, .., last] = keys else { return false };
    first.len().min(last.len()).wrapping_mul(keys.len().saturating_sub(but)) >= bytes
}

/// 64 bits are the fewest that a policy makes.
#[inline(always)]
const fn fit_a_register(keys: usize, bytes: usize) -> bool {
    bytes == 8 && keys < 7
}

pub(super) fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    if fit_a_register(keys.len(), array.len()) && !are_long(keys, 1, 250) {
        create_in_a_register(keys, k, array);
    } else {
        create_from_many(keys, k, array);
    }
}

#[inline(never)]
pub(super) fn create_from_many(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    if array.len() <= BYTE_PER_BIT_MAX / 8 {
        if let Some(modulus) = Modulus::new(array.len()) {
            // SAFETY: the array's modulus.
            if unsafe { create_by_bytes(keys, k, modulus, array) } {
                return;
            }
        }
    }
    // SAFETY: neither asks for anything.
    unsafe { bits::insert_keys(hash_keys, insert_hashes, keys, k, bits::zeroed(array)) }
}

/// An array of 64 bits.
#[inline(always)]
fn create_in_a_register(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // The remainder is the sum's last six bits.
    let mut all = 0u64;
    for key in keys {
        let mut sum = hash(key.as_bytes());
        let delta = sum.rotate_right(17);
        for _ in 0..k {
            all |= 1 << (sum % 64);
            sum = one_by_one(sum.wrapping_add(delta));
        }
    }
    for (out, byte) in array.iter_mut().zip(all.to_le_bytes()) {
        out.write(byte);
    }
}

/// The same, of which a compiler does not know it: from a loop of a few steps
/// it would otherwise make one of vectors, which is longer and slower.
#[inline(always)]
#[cfg_attr(not(leveldb_bloom_asm), allow(unused_mut))]
pub(super) fn one_by_one(mut sum: u32) -> u32 {
    // SAFETY: no instructions.
    #[cfg(all(leveldb_bloom_asm, not(target_arch = "aarch64")))]
    unsafe {
        core::arch::asm!("/* {0:e} */", inout(reg) sum, options(pure, nomem, nostack, preserves_flags))
    }
    // SAFETY: as above.
    #[cfg(all(leveldb_bloom_asm, target_arch = "aarch64"))]
    unsafe {
        core::arch::asm!("/* {0:w} */", inout(reg) sum, options(pure, nomem, nostack, preserves_flags))
    }
    sum
}

/// # Safety
/// The modulus is of the array's bits.
unsafe fn create_by_bytes(
    keys: &[Key],
    k: u32,
    modulus: Modulus,
    array: &mut [MaybeUninit<u8>],
) -> bool {
    scratch::with_zeroed((array.len() * 8).next_multiple_of(16), |bytes| {
        bits::in_blocks(keys, false, hash_keys, |hashes| {
            // SAFETY: a position is less than the array's bits, by the caller's word, and
            // `bytes` has a byte for each.
            let mut set = |p| unsafe { *bytes.get_unchecked_mut(p as usize) = SET };
            bits::each_sum(hashes, k, |sum| set(modulus.rem(sum)));
        });
        pack(bytes, array);
    })
}

/// What a byte is that stands for a set bit. SSE2, which every x86-64 processor has, packs the
/// first bits of sixteen in one instruction.
pub(super) const SET: u8 = if cfg!(target_feature = "sse2") { 0x80 } else { 1 };

/// A bit for each byte, which are 0 or `SET`, and for an odd number of eights eight more. Writes all
/// of `array`.
#[inline(always)]
pub(super) fn pack(bytes: &[u8], array: &mut [MaybeUninit<u8>]) {
    debug_assert!(bytes.len() >= (array.len() * 8).next_multiple_of(16), "all of it is written");
    #[cfg(target_feature = "sse2")]
    {
        // SAFETY: sixteen bytes; every processor of this target has SSE2.
        let packed = |sixteen: &[u8]| unsafe {
            _mm_movemask_epi8(_mm_loadu_si128(sixteen.as_ptr().cast())) as u16
        };
        let (mut two, mut sixteen) = (array.chunks_exact_mut(2), bytes.chunks_exact(16));
        for (out, sixteen) in (&mut two).zip(&mut sixteen) {
            // SAFETY: two bytes.
            unsafe { out.as_mut_ptr().cast::<u16>().write_unaligned(packed(sixteen)) }
        }
        if let ([out], Some(sixteen)) = (two.into_remainder(), sixteen.next()) {
            out.write(packed(sixteen) as u8);
        }
    }
    #[cfg(not(target_feature = "sse2"))]
    for (out, eight) in array.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut word = [0; 8];
        word.copy_from_slice(eight);
        // Byte i, 0 or 1, lands at bit 56 + i; no two products meet.
        let packed = u64::from_le_bytes(word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        out.write(packed as u8);
    }
}

pub(super) fn insert_hashes(hashes: &[u32], k: u32, array: &mut [u8]) {
    // No more than there is room for below, whoever calls.
    let k = k.min(MAX_PROBES);
    match Modulus::new(array.len()) {
        Some(modulus) if array.len() > FAR_TO_SET => {
            for hashes in hashes.chunks(ASKED_FOR / k.max(1) as usize) {
                let mut positions = [const { MaybeUninit::<u32>::uninit() }; ASKED_FOR];
                let mut n = 0;
                for &h in hashes {
                    let mut sum = h;
                    for _ in 0..k {
                        let p = modulus.rem(sum);
                        bits::prefetch(array.as_ptr().wrapping_add((p / 8) as usize));
                        // SAFETY: k positions of each hash are `ASKED_FOR` at most.
                        unsafe { positions.get_unchecked_mut(n) }.write(p);
                        n += 1;
                        sum = sum.wrapping_add(h.rotate_right(17));
                    }
                }
                for p in positions.iter().take(n) {
                    // SAFETY: written above, and less than the array's bits.
                    unsafe { bits::set_bit(array, p.assume_init()) }
                }
            }
        }
        _ => insert(hashes, k, array),
    }
}

/// How many bits are asked for before the first is set: those of a key at least.
const ASKED_FOR: usize = 512;
const _: () = assert!(ASKED_FOR >= MAX_PROBES as usize);

/// In an array of more bytes, the bits of many keys are asked for before the first
/// is set, and memory is waited for once. With 10 million keys, one took 14 ns in
/// place of 41, or 13 in place of 23 with AVX2; with 4 million it would be 8 in place
/// of 5 (AMD EPYC of the fifth generation, 2026-11-22). To keep the positions takes 39
/// cycles a key, where to compute them again took 45 (2026-11-23). What AVX-512 creates is set in
/// place as far as its lanes reach: ten million keys took 5.4 ns each in place of 8.6 (2026-11-24).
pub(super) const FAR_TO_SET: usize = 8 << 20;

#[inline(never)]
fn insert(hashes: &[u32], k: u32, array: &mut [u8]) {
    if let Some(modulus) = Modulus::new(array.len()) {
        let mut set = |sum: u32| {
            // SAFETY: a position is less than the array's bits.
            let byte = unsafe { array.get_unchecked_mut(modulus.byte(sum)) };
            // By the last three bits of the sum: the bits are a multiple of 8.
            *byte |= 1u8.rotate_left(sum);
        };
        bits::each_sum(hashes, k, &mut set);
    } else {
        for &h in hashes {
            probe::insert(h, k, array);
        }
    }
}

/// Whether all bits of hash `h` are set in 64 bits, the fewest a policy makes: the remainder is the
/// sum's last six bits.
#[inline(always)]
fn contains_in_word(h: u32, k: u32, array: [u8; 8]) -> bool {
    let word = u64::from_le_bytes(array);
    let delta = h.rotate_right(17);
    let mut sum = h;
    let mut all = 1;
    let mut ask = || {
        all &= word >> (sum % 64);
        sum = one_by_one(sum.wrapping_add(delta));
    };
    // Two loops, because one of a known length is written out.
    if k == USUAL {
        for _ in 0..USUAL {
            ask();
        }
    } else {
        for _ in 0..k {
            ask();
        }
    }
    all != 0
}

/// An array of more bytes is mostly not in a cache, nor in reach of what
/// translates addresses: there one probe in vain costs more than to guess wrong
/// where to stop. With 10 million keys, an absent one took 240 to 270 ns with
/// all bits asked for at once, and 190 to 210 one by one (AMD EPYC of the third generation,
/// 2026-11-22).
pub(super) const FAR: usize = 4 << 20;

/// The modulus of an array that is asked for several bits at once.
#[inline(always)]
fn near(bytes: usize) -> Option<Modulus> {
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

/// The modulus of an array that is asked for the usual probes.
#[inline(always)]
fn usual(k: u32, bytes: usize) -> Option<Modulus> {
    if k == USUAL { near(bytes) } else { None }
}

/// Whether all of the usual probes' bits are set, written out.
///
/// # Safety
/// The modulus is of the array's bits.
#[inline(always)]
unsafe fn contains_usual(h: u32, modulus: Modulus, array: &[u8]) -> bool {
    // SAFETY: the caller's word.
    let mut probes = unsafe { Probes::new(h, modulus, array) };
    probes.next(AT_ONCE) && probes.next(USUAL - AT_ONCE)
}

/// The bits of an array that is asked for so few probes that to divide for each takes less than to
/// find what to multiply by: with 1, 2 and 4 probes a present key took 1.3, 1.16 and 1.1 times as
/// long without (AMD EPYC of the fourth generation, 2026-11-23).
#[inline(always)]
fn few(k: u32, bytes: usize) -> Option<NonZeroU32> {
    if k <= AT_ONCE && bytes <= FAR { bits::bits_of(bytes) } else { None }
}

/// Whether all bits of at least one probe are set.
///
/// # Safety
/// The array has these bits.
#[inline(always)]
unsafe fn contains_few(h: u32, k: u32, bits: NonZeroU32, array: &[u8]) -> bool {
    // SAFETY: a position is less than the array's bits, by the caller's word.
    let ask = |sum| unsafe { *array.get_unchecked((sum % bits / 8) as usize) }.rotate_right(sum);
    let (mut sum, delta) = (h, h.rotate_right(17));
    let mut all = ask(sum);
    for _ in 1..k {
        sum = one_by_one(sum.wrapping_add(delta));
        all &= ask(sum);
    }
    all & 1 != 0
}

/// Whether all bits of hash `h` are set, for any number of probes and arrays of
/// any size.
#[inline(never)]
fn contains_apart(h: u32, k: u32, array: &[u8]) -> bool {
    match near(array.len()) {
        // SAFETY: the array's modulus.
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
    /// What the last position was the remainder of, or the first will be.
    sum: u32,
    delta: u32,
    begun: bool,
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

    /// Whether the bits of the next `n` are set. A remainder a probe rather than
    /// sums of two: nothing waits.
    #[inline(always)]
    fn next(&mut self, n: u32) -> bool {
        let mut all = u8::MAX;
        for _ in 0..n {
            if self.begun {
                (self.sum, all) = in_order(self.sum.wrapping_add(self.delta), all);
            }
            self.begun = true;
            // SAFETY: a position is less than the array's bits: `new` was given its modulus.
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
fn in_order(mut sum: u32, mut all: u8) -> (u32, u8) {
    // SAFETY: no instructions. A rotation takes its count from ecx.
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

pub(super) fn may_match(key: Key, filter: &[u8]) -> bool {
    // Elsewhere a query of a large filter took up to 1.17 times as long, and of one with 2 bits a key,
    // through the drop-in policy, 1.03 times as long as stock's (Intel Xeon with AMX, 2026-11-26).
    at_line!(32);
    // Functions are called last or not at all, so that no registers have to be kept.
    let Filter::Probe { array, k } = Filter::parse(filter) else {
        return rarely_may_match(key, filter);
    };
    if key.len() < 4 {
        return rarely_may_match(key, filter);
    }
    let h = hash(key.as_bytes());
    // By k first, and by size within each: with one probe each branch counts. In the order of sizes a
    // query of 1 or 2 bits a key took up to 1.1 times as long (Intel Xeon with AMX, 2026-11-24).
    if k == USUAL {
        if let Ok(word) = array.try_into() {
            return through_a_branch(contains_in_word(h, k, word));
        }
        return match near(array.len()) {
            // SAFETY: the array's modulus.
            Some(modulus) => through_a_branch(unsafe { contains_usual(h, modulus, array) }),
            None => contains_apart(h, k, array),
        };
    }
    match (few(k, array.len()), array.try_into()) {
        (_, Ok(word)) => through_a_branch(contains_in_word(h, k, word)),
        // SAFETY: the array's bits.
        (Some(bits), _) => through_a_branch(unsafe { contains_few(h, k, bits, array) }),
        _ => contains_apart(h, k, array),
    }
}

/// `may_match` of any key and filter.
#[inline(never)]
pub(super) fn rarely_may_match(key: Key, filter: &[u8]) -> bool {
    hash_may_match(crate::hash::bloom_hash(key.as_bytes()), filter)
}

/// `may_match` of a key's hash.
pub(super) fn hash_may_match(h: u32, filter: &[u8]) -> bool {
    match Filter::parse(filter) {
        Filter::Never => false,
        Filter::Always => true,
        Filter::Probe { array, k } => contains_apart(h, k, array),
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
        Filter::Probe { array, k } => {
            let near = near(array.len());
            let mut results = results.iter_mut();
            bits::in_blocks(keys, false, hash_keys, |hashes| {
                for (&h, result) in hashes.iter().zip(&mut results) {
                    // SAFETY: the array's modulus.
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

pub(super) fn filters_may_match(key: Key, filters: &[Key], results: &mut [u8]) -> usize {
    filters_may_match_by(hash(key.as_bytes()), filters, results, |_| None)
}

/// `filters_may_match` for a key's hash. `small` is asked first; it has an answer for
/// small filters, whose array and k are there.
#[inline(always)]
pub(super) fn filters_may_match_by(
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
            Filter::Probe { array, k } => match usual(k, array.len()) {
                // SAFETY: the array's modulus.
                Some(modulus) => unsafe { contains_usual(h, modulus, array) },
                None => contains_apart(h, k, array),
            },
        });
        *result = answer.into();
        ones += usize::from(answer);
    }
    ones
}
