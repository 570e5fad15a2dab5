//! Plain Rust, for every target.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these departures:
//! 1. Four keys are hashed side by side, to the end of the longest: a step of the hash waits for
//!    the one before, and where a key ends a branch predictor cannot know.
//! 2. A filter of up to 32 Kbit is built with a *byte* per bit in scratch memory, and packed at the
//!    end (see `bits::BYTE_PER_BIT_MAX`); one of 64 bits for few keys, or for short ones, is built in
//!    a register (see `create`).
//! 3. Remainders are computed by multiplication, for four keys in turn (see `bits`). Exceptions:
//!    filters asked for one key by one or two probes (see `contains_one` and `contains_two`), and
//!    targets with 32-bit words. Arrays of 2^31 bits and more, and queries of arrays beyond `FAR`, do
//!    as the specification does.
//! 4. Keys are prefetched before they are needed, and so are the bits of an array beyond
//!    `FAR_TO_SET`.
//! 5. A query reads four bits before it branches on whether one was clear, because which one that
//!    is a branch predictor cannot know; a batch of fewer than six probes has no such branch. For a
//!    single key, an array of 64 bits is read as a word, and three of its bits are looked at before
//!    the first branch. An array too large for caches is read bit by bit.

#[cfg(all(target_arch = "x86", target_feature = "sse2"))]
use core::arch::x86::{_mm_loadu_si128, _mm_movemask_epi8};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use core::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
use core::mem::MaybeUninit;
use core::num::NonZeroU32;

use super::bits::{self, BYTE_PER_BIT_MAX, Modulus, hidden};
use super::{Kernel, Key, blocks, scratch};
use crate::filter::MAX_PROBES;
use crate::probe;
use hash::{are_long, hash_compact};

#[cfg(any(leveldb_bloom_avx2, leveldb_bloom_neon))]
pub(super) use hash::hash;
pub(crate) use hash::hash_out_of_line;
pub(super) use hash::{SIDE_BY_SIDE, hash_keys};
#[cfg(all(test, unix, target_pointer_width = "64", not(miri)))]
pub(super) use query::FAR;
#[cfg(all(test, leveldb_bloom_avx2, target_os = "linux", not(miri)))]
pub(super) use query::contains_one;
pub(super) use query::{filters_may_match, hash_may_match, keys_may_match, may_match};
#[cfg(leveldb_bloom_avx2)]
pub(super) use query::{filters_may_match_by, may_match_by};

mod hash;
mod query;

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

/// Whether there are so few keys for an array of `bytes` bytes that other kernels take longer than
/// this one: two keys of 44 bits took 31 ns each, with AVX2 48 and with AVX-512 56; six keys in a
/// register 5.7 ns in place of 7.5 and 6.1 (AMD EPYC of the fourth generation, 2026-11-23). Long
/// keys are few only up to the number that is hashed side by side: three of 200 bytes took 120 ns,
/// with AVX2 275 (Intel Xeon with AMX, 2026-11-26), and four 103, with AVX-512 194 (2026-11-24).
#[inline(always)]
pub(super) fn are_few(keys: &[Key], k: u32, bytes: usize) -> bool {
    let few = keys.len() < 4 || fit_a_register(keys, k, bytes);
    few && (keys.len() <= SIDE_BY_SIDE || !are_long(keys, 2, 200))
}

/// Whether the array has 64 bits, the fewest that a policy makes, and so few keys that a register
/// is faster than a byte per bit (if the keys are not long). With one probe, seven keys of up to
/// four bytes took 15 to 18 ns in place of 23, where stock takes 20 to 23, and nine of one byte 15 in
/// place of 23 with AVX-512; seven of 16 bytes 24 in place of 22, and fourteen of five bytes 27 in
/// place of 23 with AVX-512 (AMD EPYC of the fifth generation, 2026-11-29).
#[inline(always)]
pub(super) fn fit_a_register(keys: &[Key], k: u32, bytes: usize) -> bool {
    let fit = match keys {
        [first, .., last] if (FEW + 1..12).contains(&keys.len()) => {
            k <= 2 && (first.len() | last.len()) < 8
        }
        _ => keys.len() <= FEW,
    };
    bytes == WORD && fit
}

/// The most keys whose 64 bits are made in a register whatever their number of probes.
pub(super) const FEW: usize = 6;

pub(super) fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    if let (Some(k), Ok(word)) = (NonZeroU32::new(k), <&mut Word>::try_from(&mut *array)) {
        let few = fit_a_register(keys, k.get(), WORD) && !are_long(keys, 1, 250);
        // There is hardly a step of such keys' hash to wait for: nine keys of four bytes at 2 bits
        // took 17 ns in place of 29, where stock takes 27, and twelve of 16 bytes 37 in place of 42
        // (AMD EPYC of the fifth generation, 2026-11-29).
        let longer = longer_end(keys);
        if few || longer < 8 || longer.saturating_mul(keys.len()) <= 256 {
            return create_in_a_register(keys, k, word);
        }
    }
    create_in_memory(keys, k, array);
}

/// An array of 64 bits, the fewest that a policy makes.
pub(super) type Word = [MaybeUninit<u8>; WORD];
const WORD: usize = 8;

/// The longer of the first and the last of two keys or more; for a list of fewer `usize::MAX`, which
/// is no key's length.
#[inline(always)]
pub(super) fn longer_end(keys: &[Key]) -> usize {
    match keys {
        [first, .., last] => first.len().max(last.len()),
        _ => usize::MAX,
    }
}

/// An array of any size, of as few keys as may be: with a byte per bit, or bits set in place.
#[inline(never)]
pub(super) fn create_in_memory(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    if array.len() <= BYTE_PER_BIT_MAX / 8 {
        if let Some(modulus) = Modulus::new(array.len()) {
            // SAFETY: `modulus` was made for this array's length.
            if unsafe { create_by_bytes(keys, k, modulus, array) } {
                return;
            }
        }
    }
    // SAFETY: `hash_keys` and `insert_hashes` of this module are safe functions.
    unsafe { blocks::insert_keys(hash_keys, insert_hashes, keys, k, bits::zeroed(array)) }
}

/// An array of 64 bits, in a register. Initialises all of it.
#[inline(never)]
pub(super) fn create_in_a_register(keys: &[Key], k: NonZeroU32, array: &mut Word) {
    at_line!();
    *array = in_a_register(keys, k);
}

/// [`create_in_a_register`] inlined.
#[inline(always)]
pub(super) fn in_a_register(keys: &[Key], k: NonZeroU32) -> Word {
    let mut word = 0;
    for key in keys {
        word = with_bits(word, hash_compact(*key), k);
    }
    word.to_le_bytes().map(MaybeUninit::new)
}

/// An array of 64 bits, `word`, with those of a key, too.
#[inline(always)]
fn with_bits(mut word: u64, hash: u32, k: NonZeroU32) -> u64 {
    let (mut sum, delta) = (hash, hash.rotate_right(17));
    for _ in 0..k.get() {
        // A remainder by 64 is the last six bits.
        word |= 1 << (sum % 64);
        sum = hidden(sum.wrapping_add(delta));
    }
    word
}

/// False, with `array` unchanged, where there is no scratch memory.
///
/// # Safety
/// The modulus is of the array's bits.
unsafe fn create_by_bytes(
    keys: &[Key],
    k: u32,
    modulus: Modulus,
    array: &mut [MaybeUninit<u8>],
) -> bool {
    scratch::with_zeroed((array.len() * 8).next_multiple_of(16), |bytes| {
        blocks::in_blocks(keys, false, hash_keys, |hashes| {
            // SAFETY: by the caller's word the modulus is the array's, so that a remainder is less
            // than its bits, for each of which `bytes` has a byte.
            let mut set = |p| unsafe { *bytes.get_unchecked_mut(p as usize) = SET };
            bits::each_sum(hashes, k, |sum| set(modulus.rem(sum)));
        });
        pack(bytes, array);
    })
}

/// What a byte is that stands for a set bit. SSE2, which every x86-64 processor has, packs the
/// first bits of sixteen in one instruction.
pub(super) const SET: u8 = if cfg!(target_feature = "sse2") { 0x80 } else { 1 };

/// Packs bytes of 0 or `SET` into bits, and writes all of `array`. `bytes` has one for each bit,
/// and eight more where `array` has an odd number of bytes.
#[inline(always)]
pub(super) fn pack(bytes: &[u8], array: &mut [MaybeUninit<u8>]) {
    debug_assert!(bytes.len() >= (array.len() * 8).next_multiple_of(16), "all of it is written");
    #[cfg(target_feature = "sse2")]
    {
        // SAFETY: `chunks_exact` gives sixteen bytes; `cfg` says that every processor of this
        // target has SSE2.
        let packed = |sixteen: &[u8]| unsafe {
            _mm_movemask_epi8(_mm_loadu_si128(sixteen.as_ptr().cast())) as u16
        };
        let (mut two, mut sixteen) = (array.chunks_exact_mut(2), bytes.chunks_exact(16));
        for (out, sixteen) in (&mut two).zip(&mut sixteen) {
            // SAFETY: `chunks_exact_mut` gives two bytes.
            unsafe { out.as_mut_ptr().cast::<u16>().write_unaligned(packed(sixteen)) }
        }
        if let ([out], Some(sixteen)) = (two.into_remainder(), sixteen.next()) {
            out.write(packed(sixteen) as u8);
        }
    }
    #[cfg(not(target_feature = "sse2"))]
    for (out, eight) in array.iter_mut().zip(bytes.chunks_exact(8)) {
        out.write(bits::packed(eight.try_into().unwrap_or_default()));
    }
}

pub(super) fn insert_hashes(hashes: &[u32], k: u32, array: &mut [u8]) {
    // `positions` below has room for no more, whoever calls.
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
                        blocks::prefetch_line(array.as_ptr().wrapping_add((p / 8) as usize));
                        // SAFETY: a chunk has `ASKED_FOR` / k hashes at most, with k positions
                        // each: `n` is less than `ASKED_FOR`.
                        unsafe { positions.get_unchecked_mut(n) }.write(p);
                        n += 1;
                        sum = sum.wrapping_add(h.rotate_right(17));
                    }
                }
                for p in positions.iter().take(n) {
                    // SAFETY: the loop above wrote the first `n`, each a remainder by the array's
                    // bits.
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
            // SAFETY: `modulus` was made for this array's length, so its remainders are less than
            // the array's bits.
            let byte = unsafe { array.get_unchecked_mut(modulus.byte(sum, array.len())) };
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
