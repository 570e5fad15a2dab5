//! AVX2, for x86-64 processors since Haswell and Zen.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these departures:
//! 1. Eight keys at a time, one in each 32-bit lane. Of fewer than eight, which
//!    are mostly the portable kernel's (see `portable::are_few`, and `create` for
//!    processors whose vectors multiply slowly), a filter is made with copies of the first; of more, the last eight overlap those before: to
//!    set a bit twice is to set it once.
//! 2. Keys are loaded 16 bytes at a time and transposed, which leaves keys 0, 2,
//!    4, 6, 1, 3, 5, 7 in the lanes. Keys of one length have more keys beside
//!    them, because a step of a hash waits for the one before, unless they are so
//!    long and lie so that caches have too few places for them. So have keys of
//!    mixed lengths (1,000 of 8 to 64 bytes took 1.13 times as long eight by eight,
//!    and nine of 100 to 400 bytes 1.5 times; Intel Xeon with AMX, 2026-11-26): each
//!    eight are hashed to the end of the longest, and lanes that are past their end
//!    keep their hash. Each eight have a vector of their own: one
//!    that was part of two others would be waited for.
//! 3. Positions are sums of two remainders, corrected where the hash wraps.
//! 4. Sixteen keys are set side by side, eight and eight: a position waits for
//!    the one before, and half as many keys leave the processor waiting.
//! 5. An array of up to 32 Kbit is built with a byte a bit (see
//!    `bits::BYTE_PER_BIT_MAX`). In registers, one of up to 32 bytes took 1.1 to
//!    1.4 times as long (AMD EPYC of the fifth generation, 2026-11-23). In a larger
//!    one, up to `portable::FAR_TO_SET`, two lanes have the places of two bytes and
//!    the bits in them: nothing is taken apart that an address can be made of.
//! 6. A batch of queries asks for sixteen keys side by side, and for eight
//!    probes of each before it looks whether to stop. Their bits are looked up
//!    in registers, where the filter fits in two and is transposed for it, or
//!    loaded one by one: gathers took 1.1 to 1.2 times as long, and are for the
//!    processors that have fast ones (see `cpu::gathers_fast`).
//! 7. A query for one key has a probe in each lane, where the filter fits in
//!    registers; of many filters up to eight, which is up to 13 bits a key. Others
//!    are asked as the portable kernel does; for one filter it is called before
//!    anything else is looked at.
//!
//! The figures are of an AMD EPYC of the third generation, 2026-11.

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
use positions::{TWO_BY_TWO, Wrapping, each_pair, each_position, set_two};
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

/// What tests ask for, too: the ways that this processor may not take.
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
unsafe fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // Five keys of 20 bits took 80 ns in place of 62, seven of 16 bytes at 10 bits 64 in place of 54, and
    // of 200 bytes 267 in place of 227; seven of 20 bits would take longer (Intel Xeon with AMX, 2026-11-26).
    if keys.len() <= LANES && keys.len() * k as usize <= 80 && cpu::multiplies_slowly() {
        return portable::create_from_many(keys, k, array);
    }
    // SAFETY: the caller's word.
    unsafe { create_in_lanes(keys, k, array) }
}

/// # Safety
/// As for `create`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn create_in_lanes(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // SAFETY: the caller's word.
    unsafe {
        match bits::bits_of(array.len()) {
            Some(bits)
                if array.len() <= BYTE_PER_BIT_MAX / 8 && create_by_bytes(keys, k, bits, array) => {
            }
            Some(bits) if array.len() <= portable::FAR_TO_SET => {
                let (array, modulus) = (bits::zeroed(array), Wrapping::new(bits));
                each_hashed(keys, blocks::is_large(array.len()), |eights| {
                    insert_eights(eights.h, k, modulus, array)
                });
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

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn create_by_bytes(
    keys: &[Key],
    k: u32,
    bits: NonZeroU32,
    array: &mut [MaybeUninit<u8>],
) -> bool {
    scratch::with_zeroed((array.len() * 8).next_multiple_of(32), |bytes| {
        // SAFETY: the caller has AVX2. A position is less than the array's
        // bits, of which `bytes` has a byte each, and 31 more at most.
        unsafe {
            let modulus = Wrapping::new(bits);
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
            for at in (0..hashes.len()).step_by(2 * LANES) {
                // SAFETY: the caller has AVX2; the array's size was looked at. Eight
                // hashes follow the last, and all before it.
                unsafe {
                    let eight = |at| hashes.as_ptr().add(last.min(at)).cast();
                    let h = [eight(at), eight(at + LANES)].map(|at| _mm256_loadu_si256(at));
                    insert_eights(&h, k, Wrapping::new(bits), array);
                }
            }
        }
        _ => portable::insert_hashes(hashes, k, array),
    }
}

/// # Safety
/// The processor has AVX2; the modulus is of the array's bits, and it has at most
/// `portable::FAR_TO_SET` bytes.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn insert_eights(h: &[__m256i], k: u32, modulus: Wrapping, array: &mut [u8]) {
    // A byte's place and its bit are one lane.
    const { assert!(portable::FAR_TO_SET <= 1 << 24) };
    let places_and_bits = |p| {
        // SAFETY: the caller has AVX2.
        unsafe {
            let bit = _mm256_and_si256(p, _mm256_set1_epi32(7));
            let bit = _mm256_sllv_epi32(_mm256_set1_epi32(1 << 24), bit);
            let both = _mm256_or_si256(_mm256_srli_epi32::<3>(p), bit);
            let order = _mm_loadu_si128(TWO_BY_TWO.as_ptr().cast());
            _mm256_shuffle_epi8(both, _mm256_broadcastsi128_si256(order))
        }
    };
    // SAFETY: the caller has AVX2. A position is less than the array's bits, and an
    // eighth of it a byte's place.
    unsafe {
        for two in h.chunks(2) {
            // A lone eight are set twice.
            if let ([a, ..], [.., b]) = (two, two) {
                each_pair([*a, *b], k, modulus, places_and_bits, |two| {
                    set_two(array.as_mut_ptr(), two)
                })
            }
        }
    }
}
