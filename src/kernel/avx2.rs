//! AVX2, for x86-64 processors since Haswell and Zen.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these departures:
//! 1. Eight keys at a time, one in each 32-bit lane. Fewer than eight are
//!    padded with copies of the first; of more, the last eight overlap those
//!    before: to set a bit twice is to set it once.
//! 2. Keys are loaded 16 bytes at a time and transposed. Keys of one length
//!    have more keys beside them, because a step of a hash waits for the one
//!    before. Keys of mixed lengths are hashed to the end of the longest of
//!    eight, and lanes that are past their end keep their hash.
//! 3. Positions are sums of two remainders, corrected where the hash wraps.
//! 4. Sixteen keys are set side by side, eight and eight: a position waits for
//!    the one before, and half as many keys leave the processor waiting.
//! 5. An array of up to 32 Kbit is built with a byte a bit (see
//!    `bits::BYTE_PER_BIT_MAX`). In a register, one of up to 32 bytes took as
//!    long. In a larger one, up to `portable::FAR_TO_SET`, a lane has the place
//!    of a byte and the bit in it: nothing is taken apart outside of vectors.
//! 6. A batch of queries asks for sixteen keys side by side, and for eight
//!    probes of each before it looks whether to stop. Their bits are looked up
//!    in registers, where the filter fits in two, or loaded one by one: gathers
//!    took 1.1 to 1.2 times as long.
//! 7. A query for one key has a probe in each lane, where the filter fits in
//!    registers. Others are asked as the portable kernel does; for one filter it
//!    is called before anything else is looked at.
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
use super::{Kernel, Key, cpu, portable, scratch};
use hash::hash_keys;
use positions::{Wrapping, each_position};
use query::{filters_may_match, keys_may_match, may_match};

pub(super) mod hash;
pub(super) mod positions;
pub(super) mod query;

pub(super) const KERNEL: Kernel = Kernel {
    name: "avx2",
    supported: cpu::has_avx2,
    hash_keys,
    create,
    insert_hashes,
    may_match,
    keys_may_match,
    filters_may_match,
};

const LANES: usize = 8;

/// # Safety
/// The processor has AVX2; the array is not empty; k is at most 30.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    if keys.len() < portable::FEW {
        return portable::create_from_few(keys, k, array);
    }
    // SAFETY: the caller's word.
    unsafe { create_from_many(keys, k, array) }
}

/// `create` of more than a few keys: apart, because few need no room on the
/// stack.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn create_from_many(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // SAFETY: the caller's word.
    unsafe {
        match bits::bits_of(array.len()) {
            Some(bits)
                if array.len() <= BYTE_PER_BIT_MAX / 8 && create_by_bytes(keys, k, bits, array) => {
            }
            _ => bits::insert_keys(hash_keys, insert_hashes, keys, k, bits::zeroed(array)),
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
        // bits, of which `bytes` has a byte each.
        unsafe {
            let modulus = Wrapping::new(bits);
            bits::in_blocks(
                keys,
                |keys, hashes| hash_keys(keys, hashes),
                |hashes| {
                    each_position(
                        hashes,
                        k,
                        modulus,
                        |p| p,
                        |p| {
                            *bytes.get_unchecked_mut(p as usize) = 0x80;
                        },
                    )
                },
            );
            // SAFETY: 32 bytes.
            let pack =
                |bytes: &[u8]| _mm256_movemask_epi8(_mm256_loadu_si256(bytes.as_ptr().cast()));
            let mut words = array.chunks_exact_mut(4);
            let mut bytes = bytes.chunks_exact(32);
            for (out, bytes) in (&mut words).zip(&mut bytes) {
                out.as_mut_ptr().cast::<i32>().write_unaligned(pack(bytes));
            }
            if let Some(bytes) = bytes.next() {
                for (out, byte) in words.into_remainder().iter_mut().zip(pack(bytes).to_le_bytes())
                {
                    out.write(byte);
                }
            }
        }
    })
}

/// # Safety
/// The processor has AVX2; the array is not empty; k is at most 30.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn insert_hashes(hashes: &[u32], k: u32, array: &mut [u8]) {
    // A byte's place and its bit are one lane.
    const { assert!(portable::FAR_TO_SET <= 1 << 24) };
    match bits::bits_of(array.len()) {
        // SAFETY: the caller has AVX2. A position is less than the array's bits,
        // and an eighth of it a byte's place.
        Some(bits) if array.len() <= portable::FAR_TO_SET => unsafe {
            let place_and_bit = |p| {
                let bit = _mm256_and_si256(p, _mm256_set1_epi32(7));
                let bit = _mm256_sllv_epi32(_mm256_set1_epi32(1), bit);
                _mm256_or_si256(_mm256_slli_epi32::<8>(_mm256_srli_epi32::<3>(p)), bit)
            };
            each_position(hashes, k, Wrapping::new(bits), place_and_bit, |lane| {
                *array.get_unchecked_mut((lane >> 8) as usize) |= lane as u8;
            })
        },
        _ => portable::insert_hashes(hashes, k, array),
    }
}
