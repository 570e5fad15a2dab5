//! The positions of probes, eight keys at a time.

use core::arch::x86_64::*;
use core::num::NonZeroU32;

use super::LANES;
use super::hash::Eights;

/// A modulus below 2^31.
#[derive(Clone, Copy)]
pub(super) struct Modulus {
    bits: __m256i,
    /// (2^32 - 1) / bits, rounded down.
    inverse: __m256i,
    /// How far 2^32 is beyond the modulus' last multiple below it (as far as the modulus, if it
    /// divides 2^32): that much a remainder loses where a 32-bit sum wraps.
    lost: __m256i,
}

impl Modulus {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub unsafe fn new(bits: NonZeroU32) -> Modulus {
        // One division gives both.
        let (inverse, lost) = (u32::MAX / bits, u32::MAX % bits + 1);
        // SAFETY: the caller has AVX2.
        unsafe {
            Modulus {
                bits: _mm256_set1_epi32(bits.get() as i32),
                inverse: _mm256_set1_epi32(inverse as i32),
                lost: _mm256_set1_epi32(lost as i32),
            }
        }
    }

    /// `h` modulo the bits. The quotient is right or one too small: the inverse
    /// lacks at most 1 of 2^32 / bits, and so h / bits less than 1.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn rem(self, h: __m256i) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            let even = _mm256_mul_epu32(h, self.inverse);
            let odd = _mm256_mul_epu32(_mm256_srli_epi64(h, 32), self.inverse);
            let quotient = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0b1010_1010);
            let rem = _mm256_sub_epi32(h, _mm256_mullo_epi32(quotient, self.bits));
            _mm256_min_epu32(rem, _mm256_sub_epi32(rem, self.bits))
        }
    }
}

/// What leads from each of a key's sums to the next.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn delta_of(h: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_or_si256(_mm256_srli_epi32(h, 17), _mm256_slli_epi32(h, 15)) }
}

/// The positions of eight keys, probe after probe.
#[derive(Clone, Copy)]
pub(super) struct Positions {
    /// The next positions.
    pub p: __m256i,
    /// The sum of hash and deltas, and delta, with the sign bit flipped, so
    /// that a signed comparison tells where the sum wrapped.
    sum: __m256i,
    delta: __m256i,
    limit: __m256i,
    /// What to add to a position, and what more where the sum wraps.
    step: __m256i,
    change: __m256i,
    bits: __m256i,
}

impl Positions {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub unsafe fn new(h: __m256i, modulus: Modulus) -> Positions {
        // SAFETY: the caller has AVX2.
        unsafe { Positions::of(h, delta_of(h), modulus) }
    }

    /// The remainders of a sum, and of what delta leads to from there.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn of(sum: __m256i, delta: __m256i, modulus: Modulus) -> Positions {
        // SAFETY: the caller has AVX2.
        unsafe {
            let sign = _mm256_set1_epi32(i32::MIN);
            let step = modulus.rem(delta);
            let wrapped = _mm256_sub_epi32(step, modulus.lost);
            let wrapped = _mm256_min_epu32(wrapped, _mm256_add_epi32(wrapped, modulus.bits));
            Positions {
                p: modulus.rem(sum),
                sum: _mm256_xor_si256(sum, sign),
                delta,
                limit: _mm256_xor_si256(delta, sign),
                step,
                change: _mm256_sub_epi32(wrapped, step),
                bits: modulus.bits,
            }
        }
    }

    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub unsafe fn next(&mut self) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            let p = self.p;
            self.sum = _mm256_add_epi32(self.sum, self.delta);
            let wraps = _mm256_cmpgt_epi32(self.limit, self.sum);
            let step = _mm256_add_epi32(self.step, _mm256_and_si256(wraps, self.change));
            let next = _mm256_add_epi32(p, step);
            self.p = _mm256_min_epu32(next, _mm256_sub_epi32(next, self.bits));
            p
        }
    }
}

/// Calls `set` with the position of every probe of every key.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn each_position(
    Eights { h, n }: Eights,
    k: u32,
    modulus: Modulus,
    mut set: impl FnMut(u32),
) {
    let mut set_both = |two: u64| {
        set(two as u32);
        set((two >> 32) as u32);
    };
    let mut left = n;
    for two in h.chunks(2) {
        // SAFETY: the caller has AVX2.
        unsafe {
            match *two {
                [a, b] => {
                    // Side by side: a position waits for the one before.
                    let (mut a, mut b) = (Positions::new(a, modulus), Positions::new(b, modulus));
                    for _ in 0..k {
                        each_two(a.next(), &mut set_both);
                        each_two(b.next(), &mut set_both);
                    }
                }
                [a] => {
                    let (mut sum, mut delta, mut probes) = (a, delta_of(a), k);
                    // The last four keys are in the last two lanes of both halves. If no more are
                    // left, the others are keys of the eight before, and each two lanes have half
                    // of these four's probes: otherwise, 20 keys took 1.02 times as long (AMD EPYC
                    // of the fifth generation, 2026-11-28).
                    if left <= LANES / 2 {
                        const TWICE: i32 = 0b11_10_11_10;
                        let half = _mm256_mullo_epi32(delta, _mm256_set1_epi32((k / 2) as i32));
                        let later = _mm256_add_epi32(sum, half);
                        sum = _mm256_unpackhi_epi64(sum, later);
                        delta = _mm256_shuffle_epi32::<TWICE>(delta);
                        probes = k.div_ceil(2);
                    }
                    let mut a = Positions::of(sum, delta, modulus);
                    for _ in 0..probes {
                        each_two(a.next(), &mut set_both);
                    }
                }
                _ => {}
            }
        }
        left = left.saturating_sub(2 * LANES);
    }
}

/// Calls `f` with eight lanes, two at a time.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn each_two(eight: __m256i, mut f: impl FnMut(u64)) {
    // SAFETY: the caller has AVX2.
    unsafe {
        in_pairs(_mm256_castsi256_si128(eight)).into_iter().for_each(&mut f);
        in_pairs(_mm256_extracti128_si256::<1>(eight)).into_iter().for_each(&mut f);
    }
}

/// A shuffle of lanes that have a byte's place in three bytes, and in the fourth the bit in it. Of
/// each two it makes a word for `set_two`: two bytes of bits, then the two places.
pub(in super::super) static TWO_BY_TWO: [u8; 16] =
    [3, 7, 0, 1, 2, 4, 5, 6, 11, 15, 8, 9, 10, 12, 13, 14];

/// Turns `TWO_BY_TWO` round, by an exclusive or of each byte: the last two of four lanes make the
/// first word. It is turned after every probe. Otherwise an instruction that sets a bit would set
/// those of one key, which are equally far apart: the processor takes that for a way through the
/// array, and fetches what is farther on. 100,000 keys took 1.16 times as long with AVX-512 and
/// 1.09 times with AVX2 (AMD EPYC of the fifth generation, 2026-11-28).
pub(in super::super) const OTHER_WAY_ROUND: i8 = 8;

/// Sets bits in two bytes of `array`. Of lanes with a place and a bit each, a compiler makes three
/// instructions more: 100,000 keys took 12.2 cycles a key in place of 11.6 (AMD EPYC of the fifth
/// generation, 2026-11-23).
///
/// # Safety
/// The processor has AVX2, BMI1 and BMI2; the array has bytes at both places.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(in super::super) unsafe fn set_two(array: *mut u8, two: u64) {
    // SAFETY: the caller's word. The registers are chosen because the second byte has a name only
    // in the first four, and can be used only in an instruction with none of the newer registers.
    unsafe {
        core::arch::asm!(
            "or byte ptr [rdi + {first}], {two:l}",
            "shrx {second}, {two}, {forty}",
            "or byte ptr [rdi + {second}], {two:h}",
            in("rdi") array,
            first = in(reg) _bextr2_u64(two, 16 | 24 << 8),
            forty = in(reg) 40u64,
            second = out(reg_abcd) _,
            two = in(reg_abcd) two,
            options(nostack),
        );
    }
}

/// Four lanes, two by two in words.
///
/// Through memory it is as many instructions, but now and then the processor
/// takes to guessing wrong which store such a load reads, and is then four
/// times slower for seconds.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(in super::super) unsafe fn in_pairs(four: __m128i) -> [u64; 2] {
    // SAFETY: the caller has AVX2.
    unsafe {
        // Otherwise the lanes would be taken out one by one.
        [opaque!(_mm_cvtsi128_si64(four)) as u64, opaque!(_mm_extract_epi64::<1>(four)) as u64]
    }
}
