//! AVX-512 with IFMA and VBMI, for Ice Lake, Zen 4 and later.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these departures:
//! 1. Eight keys at a time, one in each 64-bit lane: with IFMA's 52-bit products a step of the hash
//!    takes half the time that it takes with 32-bit ones. To set a bit twice is to set it once, so
//!    where the number of keys is no multiple of eight, the last eight overlap those before. Fewer
//!    than eight are mostly the portable kernel's (see `portable::are_few`); others are padded with
//!    copies of the first.
//! 2. Keys are loaded 16 bytes at a time, without a transpose: the high half of a 64-bit lane is
//!    the next word. Up to 64 keys are hashed side by side, because a step of a hash waits for the
//!    one before; but not keys of one length that are so long, and so far apart, that caches have
//!    too few places for them. Keys of mixed lengths are hashed to the end of the longest of eight,
//!    and lanes that are past their end keep their hash.
//! 3. A remainder takes two 52-bit products (see `Modulus`), and a correction for an array that is
//!    not built in registers (see `WideModulus`). So each position is computed from its own sum,
//!    and none waits for the one before.
//! 4. Where this kernel sets bits in memory, the next positions are computed before the bits of the
//!    present ones are set: the processor then does both at once. Without, a filter of 1,000 keys
//!    took 1.03 to 1.09 times as long and one of 20,000 keys 1.15 times (Intel Xeon with AMX,
//!    2026-11-24); on an AMD EPYC of the fourth generation 100,000 keys took 1.11 times as long
//!    (2026-11-25). The bits of sixteen keys are set side by side, eight and eight. The next sixteen
//!    are hashed meanwhile, if they are short and of one length: first they are loaded, and between
//!    the next probes a few words of each are hashed. At once, the steps of their hash would be
//!    waited for while no bit can be set (see `hash::Ahead`).
//! 5. An array of up to 64 bytes is built in registers, every lane with a word of each. A one is
//!    shifted by how far a position is behind the beginning of a word, which leaves nothing if it
//!    is in another; of two probes at a time. How many instructions that takes is what tells: with
//!    763 in place of 889, in all of LevelDB's call, 20 keys took 38 ns in place of 43 (2026-11-29).
//!    So more keys than are hashed side by side are divided, and their arrays united. Found by
//!    comparison, the words of 8 to 24 keys took 1.09 to 1.13 times as long as by shifts (AMD EPYC
//!    of the fourth generation, 2026-11-27). With a byte per bit (see `bits::BYTE_PER_BIT_MAX`), as
//!    arrays of up to 32 Kbit are built, 33 keys took 1.45 times as long and 50 keys 1.15 times
//!    (2026-11-28). In a larger array, and in one with many probes (see `avx2::are_many`), bits are
//!    set in place, by lanes that hold a byte's index and the bit in it; with more than `PLACES`
//!    bytes, whose index needs more of a lane, as the portable kernel does.
//! 6. A query for one key does as the AVX2 kernel: wider registers were no faster (4.3 ns either
//!    way for small filters), nor was a gather for larger ones. A query of many small filters has
//!    each in a register and a probe in each lane, up to eight; one for many keys has a key in each
//!    lane.
//! 7. In a batch of keys the next ones are hashed while it is found out who is left of those
//!    before: small filters are in a register; of larger ones two probes come first, and the others
//!    for the keys that are then left.
//! 8. Where 512 bits take two turns, as on AMD's fourth generation, an array of more than 40 bytes
//!    is not built in registers: 8 words took longer there than with a byte per bit. If the first
//!    two keys and the last have one length, one that has a byte per bit is left to the AVX2 kernel:
//!    through this kernel 33 keys took 1.42 times as long there, 64 keys 1.18 times, and 1,000 keys
//!    1.12 times; 28 keys take 0.98 times as long (2026-11-27).
//!
//! Loads never pass the end of a key, a list or a filter: they are masked, or moved back to the
//! last whole word.
//!
//! On Intel's processors it is used only if asked for by name: a core that multiplies so much in
//! 512 bits lowers its clock for all that it does. With a filter of 20 keys every 0.3 to 30
//! microseconds an Intel Xeon with AMX ran at 3.23 to 3.27 GHz in place of 3.50, and LevelDB took
//! 1.02 times as long to compact a million keys as with its own policy, and 0.96 times with the
//! AVX2 kernel (2026-11-26).
//!
//! Figures without a machine are of an AMD EPYC of the fifth generation, 2026-11-22 to 29.

// The build script leaves this module out where the compiler is too old.
#![allow(clippy::incompatible_msrv)]
// Lanes are counted, not listed.
#![allow(clippy::needless_range_loop)]

use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use core::num::NonZeroU32;
use core::ptr;

use super::avx2::are_many;
use super::avx2::positions::{OTHER_WAY_ROUND, TWO_BY_TWO, set_two};
use super::bits::{self, BYTE_PER_BIT_MAX};
use super::{Kernel, Key, avx2, blocks, cpu, portable, scratch};
use hash::{each_pair_hashed, hash_keys, hash_side_by_side};
use positions::{LOW, Modulus, WideModulus, deltas, each_two, first_sums};
use query::{filters_may_match, keys_may_match};

mod hash;
mod positions;
mod query;

pub(super) const KERNEL: Kernel = Kernel {
    name: "avx512",
    supported: cpu::has_avx512,
    preferred: cpu::prefers_avx512,
    hash_keys,
    create,
    insert_hashes: avx2::insert_hashes,
    may_match: avx2::query::may_match,
    keys_may_match,
    filters_may_match,
};

const LANES: usize = 8;

/// For tests: the way that this processor does not take.
#[cfg(test)]
pub(super) static OTHERWISE: Kernel =
    Kernel { name: "avx512_otherwise", create: create_otherwise, ..KERNEL };

#[cfg(test)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn create_otherwise(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    create_as(!cpu::takes_two_turns(), keys, k, array);
}

#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    create_as(cpu::takes_two_turns(), keys, k, array);
}

#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn create_as(two_turns: bool, keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // Three tell nearly all lists of mixed lengths.
    if (MOST_IN_TWO_TURNS + 1..=BYTE_PER_BIT_MAX / 8).contains(&array.len())
        && matches!(keys, [a, b, .., z] if a.len() == b.len() && a.len() == z.len())
        && two_turns
    {
        // SAFETY: whoever has AVX-512 has AVX2; the array is not empty, as its length shows, and k
        // is at most 30, as every kernel's caller promises.
        return unsafe { avx2::create_in_lanes(keys, k, array) };
    }
    let most_in_words = if two_turns { MOST_IN_TWO_TURNS } else { 64 };
    // Each way ends with its call, so that nothing is kept meanwhile.
    match bits::bits_of(array.len()) {
        // SAFETY: the guard saw that the array has at most 8 words of 64 bits; `bits` are its own.
        // It saw, too, that the keys are no more than a block.
        Some(bits) if array.len() <= most_in_words && keys.len() <= hash::BLOCK => unsafe {
            create_in_words(keys, k, bits, array)
        },
        // SAFETY: as before.
        Some(bits) if array.len() <= most_in_words => unsafe {
            unite_in_words(keys, k, bits, array)
        },
        // SAFETY: the guard saw that there are at most `BYTE_PER_BIT_MAX` bits; they are the
        // array's.
        Some(bits) if array.len() <= BYTE_PER_BIT_MAX / 8 && !are_many(k, array.len()) => unsafe {
            create_by_bytes(keys, k, bits, array)
        },
        // SAFETY: the guard saw that the array has at most `PLACES` bytes, and `bits_of` that it
        // has some.
        Some(_) if array.len() <= PLACES => unsafe { insert(keys, k, array, Place::Bit) },
        _ => create_of_hashes(keys, k, array),
    }
}

/// The most bytes of an array that is built in registers where 512 bits take two turns.
const MOST_IN_TWO_TURNS: usize = 40;

/// An array of any size.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn create_of_hashes(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // SAFETY: this function runs only where there is AVX-512, which `hash_keys` requires;
    // `insert_keys` gives it as many hashes as keys. The other is a safe function.
    unsafe { blocks::insert_keys(hash_keys, portable::insert_hashes, keys, k, bits::zeroed(array)) }
}

/// So many bytes can be told apart by what a lane has left beside a byte of bits.
const PLACES: usize = 1 << 24;

/// What stands for a bit of the filter.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Byte,
    Bit,
}

/// Sets all keys' bits. One function for both kinds of place, because hashing is the most of it:
/// two would be 2 KB more, and no faster.
///
/// An array of bits is made zeros first, but not one of bytes.
///
/// # Safety
/// The array is not empty. It has a byte for each bit; or bits, in up to `PLACES` bytes.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn insert(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>], place: Place) {
    let mut bits = array.len() as u32;
    if place == Place::Bit {
        bits::zeroed(array);
        bits *= 8;
    }
    // SAFETY: the caller's word: there is a byte, and eight times so many fit.
    let modulus = WideModulus::of(unsafe { NonZeroU32::new_unchecked(bits) });
    // SAFETY: `TWO_BY_TWO` has the sixteen bytes that are loaded.
    let mut order = unsafe {
        // Hidden, because the compiler would otherwise make a table of it four times as long.
        let order = opaque!(TWO_BY_TWO.as_ptr());
        _mm512_broadcast_i32x4(_mm_loadu_si128(order.cast()))
    };
    let mut place = place as u32;
    each_pair_hashed(keys, array.len(), |[a, b], ahead| {
        let (mut in_a, mut in_b) = (first_sums(a), first_sums(b));
        let mut positions = || {
            let p = modulus.rem_of_both(in_a, in_b);
            in_a = _mm512_add_epi32(in_a, deltas(a));
            in_b = _mm512_add_epi32(in_b, deltas(b));
            p
        };
        let mut now = positions();
        let mut left = k;
        loop {
            if left > 0 {
                left -= 1;
                let next;
                (next, place) = computed_before(positions(), place);
                if place == Place::Byte as u32 {
                    let mut set = |p: u32| {
                        // SAFETY: the caller's word: `array` has a byte for each bit, and a
                        // position is less than the bits.
                        unsafe {
                            array.get_unchecked_mut(p as usize).write(1);
                        }
                    };
                    each_two(now, |two| {
                        set(two as u32);
                        set((two >> 32) as u32);
                    });
                } else {
                    let bit = _mm512_and_si512(now, _mm512_set1_epi32(7));
                    let bit = _mm512_sllv_epi32(_mm512_set1_epi32(1 << 24), bit);
                    let both = _mm512_or_si512(_mm512_srli_epi32(now, 3), bit);
                    order = _mm512_xor_si512(order, _mm512_set1_epi8(OTHER_WAY_ROUND));
                    // SAFETY: whoever has AVX-512 has AVX2 and BMI. By the caller's word `array`
                    // has `bits` bits, so that an eighth of a position is the index of one of its
                    // bytes.
                    each_two(_mm512_shuffle_epi8(both, order), |two| unsafe {
                        set_two(array.as_mut_ptr().cast(), two)
                    });
                }
                now = next;
            }
            if !ahead.go_on() && left == 0 {
                break;
            }
        }
    });
}

/// The two values, of which a compiler does not know how the second comes about. So it computes the
/// first before a decision by the second, and does not write out a loop for each outcome.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn computed_before(mut lanes: __m512i, mut decision: u32) -> (__m512i, u32) {
    // SAFETY: no instructions.
    unsafe {
        core::arch::asm!(
            "/* {0} {1:e} */",
            inout(zmm_reg) lanes,
            inout(reg) decision,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    (lanes, decision)
}

/// [`create_in_words`] of more keys than are hashed side by side.
///
/// # Safety
/// The array has these bits, in at most 8 words of 64.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn unite_in_words(keys: &[Key], k: u32, bits: NonZeroU32, array: &mut [MaybeUninit<u8>]) {
    let mask = _bzhi_u64(u64::MAX, array.len() as u32);
    let mut all = _mm512_setzero_si512();
    for at in (0..keys.len()).step_by(hash::BLOCK) {
        // At least eight: the last may be some of those before.
        let block = blocks::at_most(hash::BLOCK, keys, at.min(keys.len() - LANES));
        // SAFETY: the caller's word, and `at_most`. The array is initialised then, and the mask has
        // a one for each of its bytes.
        unsafe {
            create_in_words(block, k, bits, array);
            all = _mm512_or_si512(all, _mm512_maskz_loadu_epi8(mask, array.as_ptr().cast()));
        }
    }
    // SAFETY: the mask has a one for each byte of the array, and only these are written.
    unsafe { _mm512_mask_storeu_epi8(array.as_mut_ptr().cast(), mask, all) }
}

/// # Safety
/// The array has these bits, in at most 8 words of 64. There are no more keys than are hashed side
/// by side.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn create_in_words(keys: &[Key], k: u32, bits: NonZeroU32, array: &mut [MaybeUninit<u8>]) {
    let mut len = array.len() as u32;
    // For each word of the array, what the keys of each lane have set in it.
    let mut words = [_mm512_setzero_si512(); LANES];
    let mut h = [const { MaybeUninit::uninit() }; hash::GROUPS];
    // SAFETY: the caller's word.
    let n = unsafe { hash_side_by_side(keys, &mut h) };
    if k != 0 {
        let modulus = Modulus::of(bits);
        let (mut at, end) = (h.as_ptr(), h.as_ptr().wrapping_add(n.div_ceil(LANES)));
        // Where up to four keys are left, which are in the last four lanes, each half of the lanes
        // has half of their probes: without, 20 keys took 1.03 times as long, and ten 1.07 times
        // (machine and date: see above).
        let few_left = matches!(n % LANES, 1..=4);
        // SAFETY: no instructions.
        let halved = unsafe {
            // Hidden, because the compiler would take both conditions into the loop.
            opaque!(if few_left { end.wrapping_sub(1) } else { ptr::null() })
        };
        let words_on = [1, 2, 3].map(|words| kept(_mm512_set1_epi64(64 * words)));
        while at < end {
            // SAFETY: `h` has the hashes of `n` keys, of which eight are at `at`.
            let h = unsafe { at.read().assume_init() };
            let (mut sums, mut delta, mut probes) = (first_sums(h), deltas(h), k);
            if at == halved {
                const TWICE: i32 = 0b11_10_11_10;
                let half = _mm512_mul_epu32(delta, _mm512_set1_epi64((k / 2).into()));
                let later = _mm512_mask_add_epi32(sums, LOW, sums, half);
                sums = _mm512_shuffle_i64x2::<TWICE>(sums, later);
                delta = _mm512_shuffle_i64x2::<TWICE>(delta, delta);
                probes = k.div_ceil(2);
            }
            at = at.wrapping_add(1);
            // Probes come two at a time; of an odd number the first comes twice.
            let mut pairs = probes.div_ceil(2);
            let mut a = modulus.rem(sums);
            let mut b = a;
            if probes % 2 == 0 {
                sums = _mm512_add_epi32(sums, delta);
                b = modulus.rem(sums);
            }
            loop {
                let mut set = |word: usize, a, b| {
                    let place = |p| match word % 4 {
                        0 => p,
                        on => _mm512_sub_epi64(p, words_on[on - 1]),
                    };
                    let (a, b) = (one_at(place(a)), one_at(place(b)));
                    // words | a | b
                    words[word] = _mm512_ternarylogic_epi64::<0xfe>(words[word], a, b);
                };
                (sums, len) = computed_before(sums, len);
                (0..4).for_each(|word| set(word, a, b));
                if len > 32 {
                    let four_on = |p| kept(_mm512_sub_epi64(p, _mm512_set1_epi64(4 * 64)));
                    let (a, b) = (four_on(a), four_on(b));
                    set(4, a, b);
                    if len > 40 {
                        set(5, a, b);
                        if len > 48 {
                            set(6, a, b);
                            set(7, a, b);
                        }
                    }
                }
                pairs -= 1;
                if pairs == 0 {
                    break;
                }
                sums = _mm512_add_epi32(sums, delta);
                a = modulus.rem(sums);
                sums = _mm512_add_epi32(sums, delta);
                b = modulus.rem(sums);
            }
        }
    }
    // The eight lanes of each word are united in one.
    let [a, b, c, d, e, f, g, h] = words;
    let two = |a, b| _mm512_or_si512(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let join = |a, b| {
        let even = _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
        _mm512_or_si512(even, _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b))
    };
    let low = join(two(a, b), two(c, d));
    let high = if len > 32 { join(two(e, f), two(g, h)) } else { low };
    let mask = _bzhi_u64(u64::MAX, array.len() as u32);
    // SAFETY: the mask has a one for each byte of the array, and only these are written.
    unsafe { _mm512_mask_storeu_epi8(array.as_mut_ptr().cast(), mask, join(low, high)) }
}

/// The vector itself, of which the compiler does not know how it comes about: it keeps it in a
/// register, where it would otherwise load or compute it again.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn kept(mut lanes: __m512i) -> __m512i {
    // SAFETY: no instructions.
    unsafe {
        core::arch::asm!(
            "/* {0} */",
            inout(zmm_reg) lanes,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    lanes
}

/// In each lane of 64 bits the one at `place`; none if that is not within it. Not by the intrinsic:
/// for that the compiler adds a comparison, because its own shift may not go so far.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn one_at(place: __m512i) -> __m512i {
    let one;
    // SAFETY: the instruction is AVX-512's, and has its operands in registers.
    unsafe {
        core::arch::asm!(
            "vpsllvq {one}, {first}, {place}",
            one = lateout(zmm_reg) one,
            first = in(zmm_reg) _mm512_set1_epi64(1),
            place = in(zmm_reg) place,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    one
}

/// # Safety
/// The array has these bits, which are `BYTE_PER_BIT_MAX` at most.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn create_by_bytes(keys: &[Key], k: u32, bits: NonZeroU32, array: &mut [MaybeUninit<u8>]) {
    let made = scratch::with_zeroed((array.len() * 8).next_multiple_of(64), |bytes| {
        // SAFETY: `bytes` has a byte for each of the bits, and stays initialised: `insert` writes
        // only ones.
        unsafe {
            let of_bits: *mut [u8] = bytes.get_unchecked_mut(..bits.get() as usize);
            insert(keys, k, &mut *(of_bits as *mut [MaybeUninit<u8>]), Place::Byte);
        }
        let mut words = array.chunks_exact_mut(8);
        let mut bytes = bytes.chunks_exact(64);
        for (out, bytes) in (&mut words).zip(&mut bytes) {
            // SAFETY: `chunks_exact` gives 64 bytes to load, and `chunks_exact_mut` 8 to write.
            unsafe {
                let v = _mm512_loadu_si512(bytes.as_ptr().cast());
                out.as_mut_ptr().cast::<u64>().write_unaligned(_mm512_test_epi8_mask(v, v));
            }
        }
        if let Some(bytes) = bytes.next() {
            let out = words.into_remainder();
            let mask = _bzhi_u32(u32::MAX, out.len() as u32) as u16;
            // SAFETY: `chunks_exact` gives 64 bytes to load; the mask has a one for each byte that
            // is left of the array.
            unsafe {
                let v = _mm512_loadu_si512(bytes.as_ptr().cast());
                let packed = _mm_cvtsi64_si128(_mm512_test_epi8_mask(v, v) as i64);
                _mm_mask_storeu_epi8(out.as_mut_ptr().cast(), mask, packed);
            }
        }
    });
    if !made {
        // SAFETY: the array has bits, by the caller's word, in fewer bytes than `PLACES`.
        unsafe { insert(keys, k, array, Place::Bit) }
    }
}
