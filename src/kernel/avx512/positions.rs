//! The positions of probes, eight keys at a time.

use core::arch::x86_64::*;
use core::num::NonZeroU32;

use super::super::avx2::positions::in_pairs;

/// The even 32-bit lanes: the low halves of 64-bit lanes.
pub(super) const LOW: __mmask16 = 0x5555;

/// A modulus of up to `MODULUS_MAX` for vectors of 64-bit lanes.
#[derive(Clone, Copy)]
pub(super) struct Modulus {
    bits: __m512i,
    inverse: __m512i,
}

pub(super) const MODULUS_MAX: usize = 1 << 20;

/// 2^52 / bits, too small by less than 1.
const fn inverse(bits: NonZeroU32) -> u64 {
    (1 << 52) / bits.get() as u64
}

/// A number of bits below 2^12 and its inverse, in one word.
pub(super) const fn bits_and_inverse(bits: NonZeroU32) -> u64 {
    assert!(bits.get() < 1 << 12);
    ((bits.get() as u64) << 52) | inverse(bits)
}

impl Modulus {
    /// For so many bits.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    pub fn of(bits: NonZeroU32) -> Modulus {
        Modulus {
            bits: _mm512_set1_epi64(bits.get().into()),
            inverse: _mm512_set1_epi64(inverse(bits) as i64),
        }
    }

    /// From what `bits_and_inverse` made. The inverse's lanes need no masking: a product takes
    /// their low 52 bits only.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    pub fn unpacked(bits_and_inverse: u64) -> Modulus {
        let inverse = _mm512_set1_epi64(bits_and_inverse as i64);
        Modulus { bits: _mm512_srli_epi64(inverse, 52), inverse }
    }

    /// `h` modulo the bits, in lanes whose high halves are zero.
    ///
    /// To h times the inverse another h is added, as if the inverse were larger by 1: too large by
    /// at most 1, then. Over any 32-bit h that is less than 2^32 in a fraction held in 52 bits, too
    /// little to reach the next multiple of 2^52 / bits. Of the sum, which may be longer, the second
    /// product takes the low 52 bits. (Added to zero, it would take another instruction.)
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    pub fn rem(self, h: __m512i) -> __m512i {
        let zero = _mm512_setzero_si512();
        let fraction = _mm512_madd52lo_epu64(h, h, self.inverse);
        _mm512_madd52hi_epu64(zero, fraction, self.bits)
    }

    /// The remainders of `a`, and in the high halves of lanes those of `b`.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    pub fn rem_of_both(self, a: __m512i, b: __m512i) -> __m512i {
        _mm512_or_si512(self.rem(a), _mm512_slli_epi64(self.rem(b), 32))
    }
}

/// A modulus from 2 up to, not including, 2^31.
#[derive(Clone, Copy)]
pub(super) struct WideModulus {
    bits: __m512i,
    minus_bits: __m512i,
    inverse: __m512i,
}

impl WideModulus {
    /// For so many bits.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    pub fn of(bits: NonZeroU32) -> WideModulus {
        let bits = i64::from(bits.get());
        WideModulus {
            bits: _mm512_set1_epi32(bits as i32),
            minus_bits: _mm512_set1_epi64(-bits),
            inverse: _mm512_set1_epi64((1 << 52) / bits),
        }
    }

    /// The remainders of `a`, and in the high halves of lanes those of `b`. The high halves of
    /// both are zero.
    ///
    /// The quotient is right or one too small: the inverse lacks less than 1 of 2^52 / bits,
    /// and so h / bits less than 2^-20.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    pub fn rem_of_both(self, a: __m512i, b: __m512i) -> __m512i {
        let rem = |h| {
            let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), h, self.inverse);
            _mm512_madd52lo_epu64(h, quotient, self.minus_bits)
        };
        let both = _mm512_mask_shuffle_epi32::<0b10_10_00_00>(rem(a), !LOW, rem(b));
        _mm512_min_epu32(both, _mm512_sub_epi32(both, self.bits))
    }
}

/// The sums of which the first probes of eight keys are the remainders; [`deltas`] leads to the
/// next.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) fn first_sums(h: __m512i) -> __m512i {
    _mm512_maskz_mov_epi32(LOW, h)
}

/// What is added to the sums for each further probe.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) fn deltas(h: __m512i) -> __m512i {
    _mm512_maskz_ror_epi32(LOW, h, 17)
}

/// Calls `f` with sixteen lanes, two at a time as one word.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) fn each_two(lanes: __m512i, mut f: impl FnMut(u64)) {
    // SAFETY: whoever has AVX-512, as this function requires, has AVX2.
    let mut four = |four| unsafe { in_pairs(four) }.into_iter().for_each(&mut f);
    four(_mm512_castsi512_si128(lanes));
    four(_mm512_extracti32x4_epi32::<1>(lanes));
    four(_mm512_extracti32x4_epi32::<2>(lanes));
    four(_mm512_extracti32x4_epi32::<3>(lanes));
}
