//! NEON, which every little-endian aarch64 processor has.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these departures:
//! 1. Keys of one length are hashed four at a time, one in each 32-bit lane,
//!    loaded 16 bytes at a time and transposed.
//! 2. Positions are sums of two remainders (see `positions_of`).
//! 3. Arrays of up to 32 Kbit are built with a byte a bit.
//!
//! Keys of mixed lengths, few keys and queries are the portable kernel's.
//! Correct under emulation; its speed has not been measured.

// Intrinsics that are safe functions in newer compilers.
#![allow(unused_unsafe)]

use core::arch::aarch64::*;
use core::mem::MaybeUninit;

use super::Key;
use super::bits::{self, BYTE_PER_BIT_MAX, Modulus};
use super::{Kernel, portable, scratch};
use crate::hash::{BLOOM_SEED as SEED, M};

pub(super) const KERNEL: Kernel = Kernel {
    name: "neon",
    supported: || true,
    preferred: || true,
    hash_keys,
    create,
    insert_hashes,
    may_match: portable::may_match,
    keys_may_match: portable::keys_may_match,
    filters_may_match: portable::filters_may_match,
};

const LANES: usize = 4;

#[inline(always)]
fn step<const SHIFT: i32>(h: uint32x4_t, word: uint32x4_t) -> uint32x4_t {
    // SAFETY: build.rs includes this module only where NEON is part of the target.
    unsafe {
        let h = vmulq_u32(vaddq_u32(h, word), vdupq_n_u32(M));
        veorq_u32(h, vshrq_n_u32::<SHIFT>(h))
    }
}

/// The four words of four 16-byte blocks, a vector for each.
#[inline(always)]
fn words(block: impl Fn(usize) -> uint32x4_t) -> [uint32x4_t; 4] {
    let (a, b, c, d) = (block(0), block(1), block(2), block(3));
    // SAFETY: build.rs includes this module only where NEON is part of the target.
    unsafe {
        let pair = |x, y| (vreinterpretq_u64_u32(x), vreinterpretq_u64_u32(y));
        let (ab, cd) = pair(vtrn1q_u32(a, b), vtrn1q_u32(c, d));
        let (ab_odd, cd_odd) = pair(vtrn2q_u32(a, b), vtrn2q_u32(c, d));
        [
            vreinterpretq_u32_u64(vtrn1q_u64(ab, cd)),
            vreinterpretq_u32_u64(vtrn1q_u64(ab_odd, cd_odd)),
            vreinterpretq_u32_u64(vtrn2q_u64(ab, cd)),
            vreinterpretq_u32_u64(vtrn2q_u64(ab_odd, cd_odd)),
        ]
    }
}

/// The hashes of four keys.
#[inline(always)]
fn hash_four(keys: &[Key; LANES]) -> [u32; LANES] {
    let len = keys[0].len();
    if keys.iter().any(|key| key.len() != len) {
        return keys.map(|key| portable::hash(key.as_bytes()));
    }
    // SAFETY: build.rs includes this module only where NEON is part of the target. All keys have
    // `len` bytes, so 16 bytes follow `at` in the first loop; after it, 16 bytes are read from a
    // copy.
    unsafe {
        let mut h = vdupq_n_u32(SEED ^ (len as u32).wrapping_mul(M));
        let mut at = 0;
        while len - at >= 16 {
            let block = |i: usize| vreinterpretq_u32_u8(vld1q_u8(keys[i].as_ptr().add(at)));
            for word in words(block) {
                h = step::<16>(h, word);
            }
            at += 16;
        }
        let mut rest = len - at;
        if rest != 0 {
            let block = |i: usize| {
                let mut bytes = [0u8; 16];
                for (to, from) in bytes.iter_mut().zip(keys[i].as_bytes().iter().skip(at)) {
                    *to = *from;
                }
                vreinterpretq_u32_u8(vld1q_u8(bytes.as_ptr()))
            };
            for word in words(block) {
                if rest >= 4 {
                    h = step::<16>(h, word);
                    rest -= 4;
                } else if rest > 0 {
                    h = step::<24>(h, word);
                    rest = 0;
                }
            }
        }
        let mut out = [0; LANES];
        vst1q_u32(out.as_mut_ptr(), h);
        out
    }
}

fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    let mut groups = keys.chunks_exact(LANES);
    let mut out = hashes.chunks_exact_mut(LANES);
    for (keys, out) in (&mut groups).zip(&mut out) {
        if let Ok(four) = keys.try_into() {
            out.copy_from_slice(&hash_four(four));
        }
    }
    portable::hash_keys(groups.remainder(), out.into_remainder());
}

/// Calls `set` with every position of four keys' probes.
#[inline(always)]
fn positions_of(hashes: [u32; LANES], k: u32, modulus: Modulus, mut set: impl FnMut(u32)) {
    let bits = modulus.bits.get();
    let lost = modulus.rem(bits.wrapping_neg());
    let delta = hashes.map(|h| h.rotate_right(17));
    let step = delta.map(|delta| modulus.rem(delta));
    let first = hashes.map(|h| modulus.rem(h));
    // SAFETY: build.rs includes this module only where NEON is part of the target; every array has
    // the four values that are loaded.
    unsafe {
        let (mut sum, mut p) = (vld1q_u32(hashes.as_ptr()), vld1q_u32(first.as_ptr()));
        let (delta, step) = (vld1q_u32(delta.as_ptr()), vld1q_u32(step.as_ptr()));
        let bits = vdupq_n_u32(bits);
        // what to add to the step where the sum wraps
        let lost = vdupq_n_u32(lost);
        let change = vsubq_u32(vandq_u32(vcltq_u32(step, lost), bits), lost);
        for _ in 0..k {
            let mut row = [0; LANES];
            vst1q_u32(row.as_mut_ptr(), p);
            row.into_iter().for_each(&mut set);
            sum = vaddq_u32(sum, delta);
            let more = vandq_u32(vcltq_u32(sum, delta), change);
            let next = vaddq_u32(p, vaddq_u32(step, more));
            p = vminq_u32(next, vsubq_u32(next, bits));
        }
    }
}

#[inline(always)]
fn each_position(keys: &[Key], k: u32, modulus: Modulus, mut set: impl FnMut(u32)) {
    let mut groups = keys.chunks_exact(LANES);
    for keys in &mut groups {
        if let Ok(four) = keys.try_into() {
            positions_of(hash_four(four), k, modulus, &mut set);
        }
    }
    let rest = groups.remainder();
    let mut hashes = [0; LANES];
    if let Some(hashes) = hashes.get_mut(..rest.len()) {
        portable::hash_keys(rest, hashes);
        bits::each_sum(hashes, k, |sum| set(modulus.rem(sum)));
    }
}

fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    let Some(modulus) = Modulus::new(array.len()) else {
        return portable::create(keys, k, array);
    };
    if array.len() <= BYTE_PER_BIT_MAX / 8 {
        let done = scratch::with_zeroed((array.len() * 8).next_multiple_of(16), |bytes| {
            each_position(keys, k, modulus, |p| {
                // SAFETY: `modulus` was made for this array's length, so that a position is less
                // than its bits, for each of which `bytes` has a byte.
                unsafe { *bytes.get_unchecked_mut(p as usize) = portable::SET }
            });
            portable::pack(bytes, array);
        });
        if done {
            return;
        }
    }
    let array = bits::zeroed(array);
    each_position(keys, k, modulus, |p| {
        // SAFETY: `modulus` was made for this array's length, so that a position is less than its
        // bits.
        unsafe { bits::set_bit(array, p) }
    });
}

fn insert_hashes(hashes: &[u32], k: u32, array: &mut [u8]) {
    let Some(modulus) = Modulus::new(array.len()) else {
        return portable::insert_hashes(hashes, k, array);
    };
    let mut groups = hashes.chunks_exact(LANES);
    for four in &mut groups {
        if let Ok(four) = four.try_into() {
            positions_of(four, k, modulus, |p| {
                // SAFETY: `modulus` was made for this array's length, so that a position is less
                // than its bits.
                unsafe { bits::set_bit(array, p) }
            });
        }
    }
    portable::insert_hashes(groups.remainder(), k, array);
}
