//! AVX2, for x86-64 processors since Haswell and Zen.
//!
//! Eight keys at a time, one in each 32-bit lane. Where their number is no multiple of eight, the
//! last eight overlap those before: to set a bit twice is to set it once.
//!
//! A query of one key in a small filter has a probe in each lane instead; other queries of one key
//! are the portable kernel's, compiled for these processors.
//!
//! ```text
//! lanes    eight numbers, with the operators that Rust's numbers have
//! hash     hashes of eight keys
//! probes   positions of eight probes
//! query    the bits at these positions
//! ```

// Intrinsics that are safe functions in newer compilers.
#![allow(unused_unsafe)]

use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use core::num::NonZeroU32;

use super::blocks::{self, Steps};
use super::{Kernel, Key, cpu};
use crate::ribbon;
use lanes::{LANES, Lanes};
use probes::{Modulus, Positions};
use query::{filters_may_match, keys_may_match, may_match};

mod hash;
mod lanes;
mod probes;
mod query;

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
    ribbon_may_match,
    solve,
};

/// # Safety
/// The processor has AVX2; there are as many hashes as keys, eight at least.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    // SAFETY: the caller's.
    unsafe { blocks::hash_keys::<Avx2>(keys, hashes) }
}

/// # Safety
/// The processor has AVX2; the array is not empty; there are eight keys.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // SAFETY: the caller's.
    unsafe { blocks::create::<Avx2>(keys, k, array) }
}

/// # Safety
/// The processor has AVX2; the array is not empty; there are eight hashes.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn insert_hashes(hashes: &[u32], k: u32, array: &mut [u8]) {
    // SAFETY: the caller's.
    unsafe { blocks::insert::<Avx2>(hashes, k, array) }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn ribbon_may_match(key: &[u8], filter: &[u8]) -> bool {
    // SAFETY: the caller's.
    unsafe {
        ribbon::short_may_match(
            key,
            filter,
            |row, groups, r| sum_groups(row, groups, r),
            |key, filter| otherwise_may_match(key, filter),
        )
    }
}

/// # Safety
/// The processor has AVX2.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn otherwise_may_match(key: &[u8], filter: &[u8]) -> bool {
    // SAFETY: the caller's.
    ribbon::may_match(key, filter, |row, groups, r| unsafe { sum_groups(row, groups, r) })
}

/// `ribbon::sum_groups`, the bytes of a group side by side.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn sum_groups(row: u128, mut groups: &[u8], r: usize) -> u64 {
    if r < 8 {
        return ribbon::sum_groups(row, groups, r);
    }
    // SAFETY: the caller's.
    unsafe {
        let row = _mm_set_epi64x((row >> 64) as i64, row as i64);
        let (mut sum, mut number) = (_mm_setzero_si128(), _mm_setzero_si128());
        while let Some((group, rest)) = groups.split_at_checked(r) {
            groups = rest;
            let (Some(first), Some(last)) = (group.first_chunk(), group.last_chunk()) else {
                break;
            };
            let [first, last] = [first, last].map(|word| i64::from_le_bytes(*word));
            let chosen = _mm_shuffle_epi8(row, number);
            sum = _mm_xor_si128(sum, _mm_and_si128(_mm_set_epi64x(last, first), chosen));
            number = _mm_add_epi8(number, _mm_set1_epi8(1));
        }
        // The parity of a byte is that of the sum of its halves.
        let halves = _mm_and_si128(_mm_xor_si128(sum, _mm_srli_epi16(sum, 4)), _mm_set1_epi8(15));
        let is_odd = _mm_setr_epi8(0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1, 0, -1, -1, 0);
        let bits = _mm_movemask_epi8(_mm_shuffle_epi8(is_odd, halves)) as u64;
        bits & 0xff | bits >> 8 << (r - 8)
    }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn solve(hashes: &[u64], r: u32, filter: &mut [u8]) -> bool {
    ribbon::solve(hashes, r, filter)
}

#[derive(Clone, Copy)]
pub(super) struct Avx2;

impl Steps for Avx2 {
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
        // SAFETY: the caller's.
        unsafe { hash::hash_keys(keys, hashes) }
    }

    #[inline(always)]
    unsafe fn each_position(hashes: &[u32], k: u32, bits: NonZeroU32, set: impl FnMut(u32)) {
        // SAFETY: the caller's.
        unsafe { each_probe::<false>(hashes, k, bits, set) }
    }

    #[inline(always)]
    unsafe fn each_bit(hashes: &[u32], k: u32, bits: NonZeroU32, mut set: impl FnMut(usize, u8)) {
        // SAFETY: the caller's.
        unsafe { each_probe::<true>(hashes, k, bits, |p| set(p as usize >> 8, p as u8)) }
    }
}

/// Calls `set` with each position, or with its byte's index and, in the lowest eight bits, its bit
/// in that byte. The latter is one probe late, so that setting bits and computing positions overlap.
///
/// # Safety
/// The processor has AVX2; there are eight hashes; with `BITS` the array has less than 2^24 bytes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn each_probe<const BITS: bool>(
    hashes: &[u32],
    k: u32,
    bits: NonZeroU32,
    mut set: impl FnMut(u32),
) {
    // SAFETY: the caller has AVX2, and eight hashes at least.
    unsafe {
        let modulus = Modulus::new(bits);
        let positions = |at: usize| {
            Positions::new(Lanes::load(hashes.as_ptr().add(at.min(hashes.len() - LANES))), modulus)
        };
        // Sets no bit.
        let (mut late, mut at) = (Lanes::splat(0), 0);
        // Two eights side by side, because each position waits for the one before.
        while hashes.len() - at > LANES {
            let (mut a, mut b) = (positions(at), positions(at + LANES));
            for _ in 0..k {
                each_lane::<BITS>(a.next(), &mut late, &mut set);
                each_lane::<BITS>(b.next(), &mut late, &mut set);
            }
            at = hashes.len().min(at + 2 * LANES);
        }
        if at < hashes.len() {
            let mut a = positions(at);
            for _ in 0..k {
                each_lane::<BITS>(a.next(), &mut late, &mut set);
            }
        }
        if BITS {
            late.each(&mut set);
        }
    }
}

#[inline(always)]
fn each_lane<const BITS: bool>(p: Lanes, late: &mut Lanes, set: &mut impl FnMut(u32)) {
    if BITS {
        late.each(set);
        *late = p.shr::<3>().shl::<8>() | p.splat_like(1).shl_each(p & p.splat_like(7));
    } else {
        p.each(set);
    }
}
