//! AVX2, for x86-64 processors since Haswell and Zen.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these departures:
//! 1. Eight keys at a time, one in each 32-bit lane. To set a bit twice is to set it once, so where
//!    the number of keys is no multiple of eight, the last eight overlap those before. Fewer than
//!    eight are mostly the portable kernel's (see `portable::are_few`, and `create` for processors
//!    that multiply vectors slowly); a filter of others is made with copies of the first key.
//! 2. Keys are loaded 16 bytes at a time and transposed, which leaves keys 0, 2, 4, 6, 1, 3, 5, 7
//!    in the lanes. Several eights are hashed side by side, because a step of a hash waits for the
//!    one before; but not keys of one length that are so long, and so far apart, that caches have
//!    too few places for them. Of mixed lengths, each eight are hashed to the end of the longest,
//!    and lanes that are past their end keep their hash (1,000 keys of 8 to 64 bytes took 1.13
//!    times as long eight by eight, and nine of 100 to 400 bytes 1.5 times; Intel Xeon with AMX,
//!    2026-11-26). The hashes of each eight are stored as a vector of their own: one loaded from
//!    parts of two others would have to wait.
//! 3. Positions are sums of two remainders, corrected where the hash wraps.
//! 4. The bits of sixteen keys are set side by side, eight and eight: a position waits for the one
//!    before, and eight keys alone would leave the processor waiting. In a small filter the last up
//!    to four keys have half of their probes in each two lanes (see `each_position`).
//! 5. An array of up to 32 Kbit is built with a byte per bit (see `bits::BYTE_PER_BIT_MAX`). In
//!    registers, one of up to 32 bytes took 1.1 to 1.4 times as long (AMD EPYC of the fifth
//!    generation, 2026-11-23). For a larger one, up to `portable::FAR_TO_SET`, or one with many
//!    probes (see `are_many`), each lane holds a byte's index and the bit in that byte, and two lanes
//!    are handled as one word, which the addresses are taken from. A probe's bits are set after the
//!    next positions are computed (see `Inserter`).
//! 6. A batch of queries handles sixteen keys side by side, and eight probes of each before it
//!    looks whether to stop. Where the filter fits in two registers, it is transposed and its bits
//!    are looked up there. Otherwise they are loaded one by one: gathers took 1.1 to 1.2 times as
//!    long, and are for the processors that have fast ones (see `cpu::gathers_fast`).
//! 7. A query of three probes or more of one filter that fits in registers has a probe in each lane;
//!    so has a query of many filters, for up to eight probes, which is up to 13 bits per key. Other
//!    filters are asked as the portable kernel does: its hash, its 64 bits and its usual six probes
//!    are compiled with this instruction set.
//!
//! Figures without a machine are of an AMD EPYC of the third generation, 2026-11.

// Intrinsics that are safe functions in newer compilers.
#![allow(unused_unsafe)]
// Lanes are counted, not listed.
#![allow(clippy::needless_range_loop)]

use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use core::num::NonZeroU32;

use super::bits::{self, BYTE_PER_BIT_MAX};
use super::{Kernel, Key, blocks, cpu, portable, scratch};
use hash::{each_hashed, hash_keys};
use positions::{
    Modulus, OTHER_WAY_ROUND, Positions, TWO_BY_TWO, each_position, each_two, set_two,
};
use query::{filters_may_match, keys_may_match, may_match};

pub(super) mod hash;
pub(super) mod positions;
pub(super) mod query;

pub(super) const KERNEL: Kernel = Kernel {
    name: "avx2",
    supported: cpu::has_avx2,
    preferred: cpu::has_avx2,
    hash_keys,
    create,
    insert_hashes,
    may_match,
    keys_may_match,
    filters_may_match,
};

/// For tests: the ways that this processor does not take.
#[cfg(test)]
pub(super) static OTHERWISE: Kernel = Kernel {
    name: "avx2_otherwise",
    create: create_in_lanes,
    keys_may_match: query::keys_may_match_otherwise,
    ..KERNEL
};

const LANES: usize = 8;

/// # Safety
/// The processor has AVX2; the array is not empty; k is at most 30.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // The portable kernel took 62 ns in place of 80 for five keys at 20 bits per key, 54 in place
    // of 64 for seven keys of 16 bytes at 10, and 227 in place of 267 for seven of 200 bytes; for
    // seven keys at 20 it would take longer (Intel Xeon with AMX, 2026-11-26).
    if keys.len() <= LANES && keys.len() * k as usize <= 80 && cpu::multiplies_slowly() {
        return portable::create_in_memory(keys, k, array);
    }
    // Keys of fewer than eight bytes are loaded one by one, and for them lanes take longer than they
    // save: of seven bytes and at 2 bits, 1,000 keys took 2.5 us in place
    // of 2.2, at 10 bits as long; of four bytes 2.2 in place of 1.1, at 10 bits 3.5 in place of 2.8,
    // at 20 bits they take less time here (AMD EPYC of the fifth generation, 2026-11-29).
    let each = match k {
        0..=3 => 8,
        4..=6 => 5,
        _ => 0,
    };
    // A register takes as long as the lanes for ten keys of 16 bytes or twenty of eight; seven keys
    // would be padded (same machine and date).
    let all = if keys.len() < LANES { 256 } else { 160 };
    let longer = portable::longer_end(keys);
    if longer < each || array.len() == 8 && longer.saturating_mul(keys.len()) <= all {
        return portable::create(keys, k, array);
    }
    // SAFETY: the caller's word.
    unsafe { create_in_lanes(keys, k, array) }
}

/// # Safety
/// As for `create`.
// Not inlined: the caller would have room on the stack for a byte a bit, and so has the portable
// kernel's function that it may call instead.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn create_in_lanes(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // SAFETY: the caller has AVX2; `bits` are the array's, and a guard saw that they are in at most
    // `FAR_TO_SET` bytes; `insert_keys` gives as many hashes as keys.
    unsafe {
        match bits::bits_of(array.len()) {
            Some(bits)
                if array.len() <= BYTE_PER_BIT_MAX / 8
                    && !are_many(k, array.len())
                    && create_by_bytes(keys, k, bits, array) => {}
            Some(bits) if array.len() <= portable::FAR_TO_SET => {
                let for_large = array.len() > LARGE;
                let mut inserter = Inserter::of(bits::zeroed(array), bits);
                each_hashed(keys, for_large, |eights| inserter.insert(eights.h, k));
                inserter.finish();
            }
            _ => blocks::insert_keys(
                hash_keys,
                portable::insert_hashes,
                keys,
                k,
                bits::zeroed(array),
            ),
        }
    }
}

/// Whether setting so many bits a key in place takes less time than a byte per bit does, which has
/// to be made zeros and packed. With AVX2, a byte per bit took 1.08 times as long for 1,000 keys at
/// 20 bits, 1.2 times for 600 keys at 50 bits, and 0.89 for 200 keys at 20; with AVX-512 1.04, 1.2
/// (500 keys) and 0.92 (AMD EPYC of the fifth generation, 2026-11-28).
pub(super) const fn are_many(k: u32, bytes: usize) -> bool {
    k > 10 && bytes > 1024
}

/// For an array of more bytes, keys that lie one after the other are prefetched, too. That is more
/// than `blocks::is_large` says: prefetched, 100,000 to 200,000 keys of 16, of 32, or of 8 to 64
/// bytes took 1.0 to 1.06 times as long; not prefetched, 300,000 keys of 32 bytes 1.06 to 1.2 times
/// (AMD EPYC of the fifth generation, 2026-11-28).
const LARGE: usize = 1 << 18;

/// # Safety
/// The processor has AVX2; the array has these bits.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn create_by_bytes(
    keys: &[Key],
    k: u32,
    bits: NonZeroU32,
    array: &mut [MaybeUninit<u8>],
) -> bool {
    // Rounded up so, it takes half the instructions of `next_multiple_of`.
    scratch::with_zeroed(((array.len() + 3) & !3) * 8, |bytes| {
        // SAFETY: the caller has AVX2, and gave the array's bits. A position is less than the
        // array's bits, for each of which `bytes` has a byte; it has up to 31 more, so that the
        // last 32 can be loaded.
        unsafe {
            let modulus = Modulus::new(bits);
            each_hashed(keys, false, |h| {
                each_position(h, k, modulus, |p| *bytes.get_unchecked_mut(p as usize) = 0x80)
            });
            let (from, to, len) = (bytes.as_ptr(), array.as_mut_ptr().cast::<u8>(), array.len());
            let pack = |at| _mm256_movemask_epi8(_mm256_loadu_si256(from.add(8 * at).cast()));
            let mut at = 0;
            while len - at >= 4 {
                to.add(at).cast::<i32>().write_unaligned(pack(at));
                at += 4;
            }
            if at < len {
                let mut packed = pack(at);
                while at < len {
                    to.add(at).write(packed as u8);
                    packed >>= 8;
                    at += 1;
                }
            }
        }
    })
}

/// # Safety
/// The processor has AVX2; the array is not empty; k is at most 30.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn insert_hashes(hashes: &[u32], k: u32, array: &mut [u8]) {
    match bits::bits_of(array.len()) {
        Some(bits) if array.len() <= portable::FAR_TO_SET && hashes.len() >= LANES => {
            let last = hashes.len() - LANES;
            // SAFETY: the caller has AVX2, and the match above saw the array's size. `at` is at
            // most `last`, from where on there are eight hashes.
            unsafe {
                let mut inserter = Inserter::of(array, bits);
                for at in (0..hashes.len()).step_by(2 * LANES) {
                    let eight = |at| hashes.as_ptr().add(last.min(at)).cast();
                    let h = [eight(at), eight(at + LANES)].map(|at| _mm256_loadu_si256(at));
                    inserter.insert(&h, k);
                }
                inserter.finish();
            }
        }
        _ => portable::insert_hashes(hashes, k, array),
    }
}

/// Sets bits of an array in place, a probe late: those of a probe while the next one's positions
/// are computed, and those of the last while the next keys' are. If they were set as soon as they
/// are known, nothing would be set while positions are waited for: 100,000 keys took 1.08 times as
/// long (AMD EPYC of the fifth generation, 2026-11-28).
struct Inserter<'a> {
    array: &'a mut [u8],
    modulus: Modulus,
    /// What is to be set next: words for `set_two`, of which zeros set nothing.
    next: [__m256i; 2],
}

impl<'a> Inserter<'a> {
    /// # Safety
    /// The processor has AVX2; the array has these bits, in at most `portable::FAR_TO_SET` bytes.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn of(array: &'a mut [u8], bits: NonZeroU32) -> Inserter<'a> {
        // SAFETY: the caller has AVX2.
        unsafe {
            Inserter { array, modulus: Modulus::new(bits), next: [_mm256_setzero_si256(); 2] }
        }
    }

    /// # Safety
    /// The processor has AVX2.
    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn insert(&mut self, h: &[__m256i], k: u32) {
        // A lane holds a byte's index in three bytes, and the bit in the fourth.
        const { assert!(portable::FAR_TO_SET <= 1 << 24) };
        let (modulus, array, mut next) = (self.modulus, self.array.as_mut_ptr(), self.next);
        // SAFETY: the caller has AVX2; `TWO_BY_TWO` has the sixteen bytes that are loaded. `of` was
        // given the array's bits: a position is less, and an eighth of it the index of one of its
        // bytes. The zeros that `next` begins with lead to the first byte, which is there, as the
        // bits are not zero.
        unsafe {
            let order = _mm_loadu_si128(TWO_BY_TWO.as_ptr().cast());
            let mut order = _mm256_broadcastsi128_si256(order);
            for two in h.chunks(2) {
                // A lone eight are set twice.
                let ([a, ..], [.., b]) = (two, two) else { continue };
                let mut positions = [Positions::new(*a, modulus), Positions::new(*b, modulus)];
                for _ in 0..k {
                    order = _mm256_xor_si256(order, _mm256_set1_epi8(OTHER_WAY_ROUND));
                    for (next, positions) in next.iter_mut().zip(&mut positions) {
                        each_two(*next, |two| set_two(array, two));
                        let p = positions.next();
                        let bit = _mm256_and_si256(p, _mm256_set1_epi32(7));
                        let bit = _mm256_sllv_epi32(_mm256_set1_epi32(1 << 24), bit);
                        let place_and_bit = _mm256_or_si256(_mm256_srli_epi32::<3>(p), bit);
                        *next = _mm256_shuffle_epi8(place_and_bit, order);
                    }
                }
            }
        }
        self.next = next;
    }

    /// Sets the bits of the last probe, by one more, whose own are never set.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn finish(mut self) {
        // SAFETY: the caller has AVX2.
        unsafe { self.insert(&[_mm256_setzero_si256()], 1) }
    }
}
