//! Eight 32-bit numbers in a register, with the operators that Rust's own numbers have.

use core::arch::x86_64::*;
use core::ops::{Add, BitAnd, BitOr, BitXor, Mul, Sub};

use super::super::hint::hidden;

/// The number of lanes.
pub(super) const LANES: usize = 8;

/// Eight numbers. They only exist where the processor has AVX2, which is what makes their methods
/// safe: to make the first ones, [`splat`](Self::splat), [`load`](Self::load) or an intrinsic, is
/// unsafe.
#[derive(Clone, Copy)]
pub(super) struct Lanes(pub __m256i);

macro_rules! operators {
    ($($operator:ident $method:ident $intrinsic:ident)*) => {$(
        impl $operator for Lanes {
            type Output = Lanes;

            #[inline(always)]
            fn $method(self, other: Lanes) -> Lanes {
                // SAFETY: there are lanes, and so AVX2.
                unsafe { Lanes($intrinsic(self.0, other.0)) }
            }
        }
    )*};
}

operators! {
    Add add _mm256_add_epi32
    Sub sub _mm256_sub_epi32
    Mul mul _mm256_mullo_epi32
    BitAnd bitand _mm256_and_si256
    BitOr bitor _mm256_or_si256
    BitXor bitxor _mm256_xor_si256
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) $intrinsic:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(self, $($arg: Lanes),*) -> Lanes {
            // SAFETY: there are lanes, and so AVX2.
            unsafe { Lanes($intrinsic(self.0, $($arg.0),*)) }
        }
    )*};
}

impl Lanes {
    methods! {
        /// The smaller of two, without sign.
        min(other) _mm256_min_epu32;
        /// All ones where it is larger, with sign.
        gt(other) _mm256_cmpgt_epi32;
        /// Shifts each lane by its own number of bits; by 32 and more nothing is left.
        shl_each(by) _mm256_sllv_epi32;
        /// As `shl_each`.
        shr_each(by) _mm256_srlv_epi32;
        /// Lane i becomes the lane that the lowest three bits of `which` i name.
        pick(which) _mm256_permutevar8x32_epi32;
        /// `other` where the mask is all ones.
        or_where(other, mask) _mm256_blendv_epi8;
    }

    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub unsafe fn splat(value: u32) -> Lanes {
        // SAFETY: the caller's.
        unsafe { Lanes(_mm256_set1_epi32(value as i32)) }
    }

    /// The value in each lane. `self` only shows that the processor has AVX2.
    #[inline(always)]
    pub fn splat_like(self, value: u32) -> Lanes {
        // SAFETY: there are lanes, and so AVX2.
        unsafe { Lanes::splat(value) }
    }

    /// # Safety
    /// The processor has AVX2; there are eight numbers.
    #[inline(always)]
    pub unsafe fn load(from: *const u32) -> Lanes {
        // SAFETY: the caller's.
        unsafe { Lanes(_mm256_loadu_si256(from.cast())) }
    }

    /// # Safety
    /// There is room for eight numbers.
    #[inline(always)]
    pub unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller's.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    pub fn shl<const BY: i32>(self) -> Lanes {
        // SAFETY: there are lanes, and so AVX2.
        unsafe { Lanes(_mm256_slli_epi32::<BY>(self.0)) }
    }

    #[inline(always)]
    pub fn shr<const BY: i32>(self) -> Lanes {
        // SAFETY: there are lanes, and so AVX2.
        unsafe { Lanes(_mm256_srli_epi32::<BY>(self.0)) }
    }

    /// The upper halves of the products, without sign.
    #[inline(always)]
    pub fn mul_high(self, other: Lanes) -> Lanes {
        // SAFETY: there are lanes, and so AVX2.
        unsafe {
            let even = _mm256_srli_epi64::<32>(_mm256_mul_epu32(self.0, other.0));
            let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(self.0), other.0);
            Lanes(_mm256_blend_epi32::<0b1010_1010>(even, odd))
        }
    }

    /// Calls `f` with each lane.
    #[inline(always)]
    pub fn each(self, f: &mut impl FnMut(u32)) {
        // SAFETY: there are lanes, and so AVX2.
        let fours =
            unsafe { [_mm256_castsi256_si128(self.0), _mm256_extracti128_si256::<1>(self.0)] };
        for two in fours.map(pairs).as_flattened() {
            f(*two as u32);
            f((*two >> 32) as u32);
        }
    }

    /// Whether each bit of `bits` is set.
    #[inline(always)]
    pub fn has(self, bits: Lanes) -> bool {
        // SAFETY: there are lanes, and so AVX2.
        unsafe { _mm256_testc_si256(self.0, bits.0) != 0 }
    }

    /// Whether all lanes are zero.
    #[inline(always)]
    pub fn are_zero(self) -> bool {
        // SAFETY: there are lanes, and so AVX2.
        unsafe { _mm256_testz_si256(self.0, self.0) != 0 }
    }
}

/// Four lanes, two by two. Hidden, because the compiler would take them out one by one.
#[inline(always)]
pub(super) fn pairs(four: __m128i) -> [u64; 2] {
    // SAFETY: whoever has such lanes has AVX2.
    let pairs = unsafe { [_mm_cvtsi128_si64(four), _mm_extract_epi64::<1>(four)] };
    pairs.map(|two| hidden(two as usize) as u64)
}
