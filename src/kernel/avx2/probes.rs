//! The positions of probes, eight keys at a time.

use core::num::NonZeroU32;

use super::lanes::Lanes;

/// A number of bits below 2^31, and what it takes to compute remainders by it.
#[derive(Clone, Copy)]
pub(super) struct Modulus {
    bits: Lanes,
    /// (2^32 - 1) / bits, rounded down.
    inverse: Lanes,
    /// By how much 2^32 exceeds the largest multiple of `bits` below it.
    wrap: Lanes,
}

impl Modulus {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub unsafe fn new(bits: NonZeroU32) -> Modulus {
        // SAFETY: the caller's.
        let splat = |x| unsafe { Lanes::splat(x) };
        let (inverse, wrap) = (u32::MAX / bits, u32::MAX % bits + 1);
        Modulus { bits: splat(bits.get()), inverse: splat(inverse), wrap: splat(wrap) }
    }

    /// For [`rem`](Self::rem) only.
    ///
    /// # Safety
    /// The processor has AVX2; there are 1 to 64 bytes.
    #[inline(always)]
    pub unsafe fn of_small(bytes: usize) -> Modulus {
        /// Bits and inverse: a division takes longer than to load its result.
        static MODULI: [[u32; 2]; 65] = {
            let mut moduli = [[0; 2]; 65];
            let mut bytes = 1;
            while bytes < moduli.len() {
                let bits = 8 * bytes as u32;
                moduli[bytes] = [bits, u32::MAX / bits];
                bytes += 1;
            }
            moduli
        };
        // SAFETY: the caller's.
        unsafe {
            let [bits, inverse] = MODULI.get_unchecked(bytes);
            let (bits, inverse) = (Lanes::splat(*bits), Lanes::splat(*inverse));
            Modulus { bits, inverse, wrap: bits }
        }
    }

    /// `h` modulo the bits. The quotient is right or one too small: the inverse lacks at most 1 of
    /// 2^32 / bits, and so h / bits less than 1.
    #[inline(always)]
    pub fn rem(self, h: Lanes) -> Lanes {
        let rem = h - h.mul_high(self.inverse) * self.bits;
        rem.min(rem - self.bits)
    }
}

/// The positions of eight keys, probe after probe. To add two remainders takes fewer instructions
/// than to compute the next one from the next sum.
#[derive(Clone, Copy)]
pub(super) struct Positions {
    next: Lanes,
    /// The sum of hash and deltas, and delta. In both the highest bit is flipped, because there is
    /// only a comparison with sign.
    sum: Lanes,
    limit: Lanes,
    delta: Lanes,
    /// What to add to a position, and what instead if the sum wraps at 2^32.
    step: Lanes,
    step_of_wrap: Lanes,
    bits: Lanes,
}

impl Positions {
    #[inline(always)]
    pub fn new(h: Lanes, modulus: Modulus) -> Positions {
        let (delta, sign) = (h.shr::<17>() | h.shl::<15>(), h.splat_like(1 << 31));
        let step = modulus.rem(delta);
        let less = step - modulus.wrap;
        Positions {
            next: modulus.rem(h),
            sum: h ^ sign,
            limit: delta ^ sign,
            delta,
            step,
            step_of_wrap: less.min(less + modulus.bits),
            bits: modulus.bits,
        }
    }

    #[inline(always)]
    pub fn next(&mut self) -> Lanes {
        let position = self.next;
        self.sum = self.sum + self.delta;
        let wraps = self.limit.gt(self.sum);
        let next = position + self.step.or_where(self.step_of_wrap, wraps);
        self.next = next.min(next - self.bits);
        position
    }
}
