//! Arithmetic and stores that kernels share.

use core::mem::MaybeUninit;
use core::num::NonZeroU32;
#[cfg(target_pointer_width = "64")]
use core::ops::Range;

/// Filters of up to this many bits are built in scratch memory with one byte per bit, and packed at
/// the end: setting a byte is a plain store, where setting a bit in place is a load, an or and a
/// store, each of which waits for the one before. The scratch memory of a larger filter would not
/// fit the L1 cache.
pub(super) const BYTE_PER_BIT_MAX: usize = 32 * 1024;

/// The size in bits of an array of `bytes` bytes: nothing where it is empty, or
/// where it has 2^31 bits or more, so that sums of two positions fit in 32 bits.
#[inline(always)]
pub(super) const fn bits_of(bytes: usize) -> Option<NonZeroU32> {
    if bytes >= 1 << 28 {
        return None;
    }
    NonZeroU32::new(bytes as u32 * 8)
}

/// A filter's number of bits, and what it takes to compute remainders by it quickly.
#[derive(Clone, Copy)]
pub(super) struct Modulus {
    pub bits: NonZeroU32,
    /// 2^64 / bits and a little more.
    #[cfg(target_pointer_width = "64")]
    inverse: u64,
}

impl Modulus {
    /// For an array of `bytes` bytes; nothing where [`bits_of`] says nothing.
    #[inline(always)]
    pub fn new(bytes: usize) -> Option<Modulus> {
        let bits = bits_of(bytes)?;
        Some(Modulus {
            bits,
            #[cfg(target_pointer_width = "64")]
            inverse: inverse(bits),
        })
    }

    /// `h % bits`, exactly: for any 32-bit `h`, the error of the inverse adds less than 1 / bits to
    /// the fraction (see `inverse`), too little to reach the next remainder.
    #[inline(always)]
    pub fn rem(self, h: u32) -> u32 {
        #[cfg(target_pointer_width = "64")]
        {
            let fraction = self.inverse.wrapping_mul(u64::from(h));
            ((u128::from(fraction) * u128::from(self.bits.get())) >> 64) as u32
        }
        #[cfg(not(target_pointer_width = "64"))]
        {
            h % self.bits
        }
    }

    /// The byte that holds position `h % bits`. The bit in it is `h % 8`, because the number of bits
    /// is a multiple of 8, so that the position itself need not be computed.
    ///
    /// `bytes` is what the modulus was made for: a query has it in a register anyhow, and none to
    /// spare for what is derived from the bits.
    #[inline(always)]
    pub fn byte(self, h: u32, bytes: usize) -> usize {
        debug_assert_eq!(bytes as u32, self.bits.get() / 8);
        #[cfg(target_pointer_width = "64")]
        {
            let fraction = self.inverse.wrapping_mul(u64::from(h));
            ((u128::from(fraction) * bytes as u128) >> 64) as usize
        }
        #[cfg(not(target_pointer_width = "64"))]
        {
            (h % self.bits) as usize / 8
        }
    }
}

/// Lengths in bytes of arrays whose remainders are computed by an inverse that is loaded rather than
/// computed. That of 64 bits would not fit in 32.
#[cfg(target_pointer_width = "64")]
pub(super) const SMALL_ARRAYS: Range<usize> = 9..64;

/// For each length of [`SMALL_ARRAYS`] the bits, and 2^[`SMALL_SHIFT`] / bytes, too large by at most
/// 1.
#[cfg(target_pointer_width = "64")]
pub(super) static SMALL_MODULI: [[u32; 2]; SMALL_ARRAYS.end - SMALL_ARRAYS.start] = {
    let mut table = [[0; 2]; SMALL_ARRAYS.end - SMALL_ARRAYS.start];
    let mut i = 0;
    while i < table.len() {
        let bytes = (SMALL_ARRAYS.start + i) as u64;
        let inverse = (1 << SMALL_SHIFT) / bytes + 1;
        assert!(inverse <= u32::MAX as u64 && bytes <= 1 << (SMALL_SHIFT - 29));
        table[i] = [8 * bytes as u32, inverse as u32];
        i += 1;
    }
    table
};

#[cfg(target_pointer_width = "64")]
pub(super) const SMALL_SHIFT: u32 = 35;

/// The byte that holds position `h % bits` of an array of [`SMALL_ARRAYS`], as
/// [`byte`](Modulus::byte); `None` of another length. The quotient is that of h / 8, of 29 bits, by
/// the bytes: to what is left of it the inverse adds less than 2^29 / 2^35, and there are fewer
/// bytes than 2^6.
#[cfg(target_pointer_width = "64")]
#[inline(always)]
pub(super) fn byte_if_small(h: u32, bytes: usize) -> Option<usize> {
    let [_, inverse] = SMALL_MODULI.get(bytes.wrapping_sub(SMALL_ARRAYS.start))?;
    let quotient = (u64::from(h / 8) * u64::from(*inverse)) >> SMALL_SHIFT;
    Some((h / 8 - quotient as u32 * bytes as u32) as usize)
}

/// 2^64 / bits, too large by e: less than 2^13 for fewer than 2^19 bits, and at
/// most 1 for more. In units of 2^-64, h * e is then less than 2^45 or 2^32,
/// and 1 / bits is more.
#[cfg(target_pointer_width = "64")]
#[inline(always)]
fn inverse(bits: NonZeroU32) -> u64 {
    if bits.get() < 1 << 19 {
        // In floating point, because dividing 64-bit integers takes up to 90 cycles on Intel's
        // processors before Ice Lake. In whichever rounding mode the program has set, the quotient
        // lies between the two whole numbers around the exact one.
        let quotient = (1u64 << 52) as f64 / f64::from(bits.get());
        // SAFETY: finite and at most 2^52: `bits` is at least 1.
        let quotient: i64 = unsafe { quotient.to_int_unchecked() };
        (quotient as u64 + 1) << 12
    } else {
        (u64::MAX / core::num::NonZeroU64::from(bits)).wrapping_add(1)
    }
}

/// Calls `set` with h + j * delta for every probe of these keys; its remainder is the probe's
/// position. The probes of four keys come in turn, because counting the probes of a single key
/// takes as long as two of them.
///
/// The caller computes a remainder for each probe, where the vector kernels add up two remainders:
/// so no position waits for the one before, and none has to be corrected where the 32-bit sum
/// wraps.
#[inline(always)]
pub(super) fn each_sum(hashes: &[u32], k: u32, mut set: impl FnMut(u32)) {
    let fours = hashes.chunks_exact(4);
    let rest = fours.remainder();
    for four in fours {
        let Ok(mut sums) = <[u32; 4]>::try_from(four) else { continue };
        let deltas = sums.map(|h| h.rotate_right(17));
        for _ in 0..k {
            for (sum, delta) in sums.iter_mut().zip(deltas) {
                set(*sum);
                *sum = sum.wrapping_add(delta);
            }
        }
    }
    for &h in rest {
        let mut sum = h;
        for _ in 0..k {
            set(sum);
            // Otherwise the compiler would write out two steps at a time.
            sum = hidden(sum.wrapping_add(h.rotate_right(17)));
        }
    }
}

/// The value itself, hidden from the optimiser: it would otherwise vectorise a loop of a few steps,
/// which is longer and slower.
#[inline(always)]
#[allow(asm_sub_register, reason = "no instruction names the register")]
pub(super) fn hidden(sum: u32) -> u32 {
    #[cfg(leveldb_bloom_asm)]
    // SAFETY: no instructions.
    let sum = unsafe { opaque!(sum) };
    sum
}

/// The byte that has the eight answers, of 0 or 1, for its bits, the first for its lowest.
#[inline(always)]
pub(crate) fn packed(eight: [u8; 8]) -> u8 {
    // Brings the lowest bit of byte i to bit 56 + i. No two bits of the product meet.
    (u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// All of `array`, zeroed.
#[inline(always)]
pub(super) fn zeroed(array: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: every byte is written before it is called a u8.
    unsafe {
        array.as_mut_ptr().write_bytes(0, array.len());
        &mut *(array as *mut [MaybeUninit<u8>] as *mut [u8])
    }
}

/// Sets bit `p`.
///
/// # Safety
/// `p` is less than 8 * `array.len()`.
#[inline(always)]
pub(super) unsafe fn set_bit(array: &mut [u8], p: u32) {
    // SAFETY: the caller's word.
    unsafe {
        let byte = array.get_unchecked_mut((p / 8) as usize);
        *byte = (u32::from(*byte) | 1 << (p % 8)) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a remainder by multiplication would be wrong first: at both ends of a multiple.
    #[test]
    fn remainders_at_multiples() {
        let small = 1..=70_000usize;
        let large = (17..28)
            .flat_map(|log| [-1, 0, 1, 12_345].map(|by| (1usize << log).wrapping_add_signed(by)));
        for bytes in small.chain(large).filter(|bytes| *bytes < 1 << 28) {
            let modulus = Modulus::new(bytes).unwrap();
            let bits = modulus.bits.get();
            let most = u32::MAX / bits;
            for quotient in [0, 1, 2, most / 2, most - 1, most] {
                let multiple = bits * quotient.min(most);
                for h in [multiple, multiple.wrapping_sub(1), multiple.saturating_add(bits - 1)] {
                    assert_eq!(modulus.rem(h), h % bits, "{h} % {bits}");
                    let byte = (h % bits / 8) as usize;
                    assert_eq!(modulus.byte(h, bytes), byte, "byte of {h} % {bits}");
                    #[cfg(target_pointer_width = "64")]
                    {
                        let small = SMALL_ARRAYS.contains(&bytes).then_some(byte);
                        assert_eq!(byte_if_small(h, bytes), small, "byte of {h} % {bits}");
                    }
                    assert_eq!(h % bits % 8, h % 8);
                }
            }
            assert_eq!(modulus.rem(u32::MAX), u32::MAX % bits);
        }
    }

    #[test]
    fn sizes_without_a_modulus() {
        assert!(Modulus::new(0).is_none());
        assert!(Modulus::new((1 << 28) - 1).is_some());
        assert!(Modulus::new(1 << 28).is_none());
        assert!(Modulus::new(usize::MAX).is_none());
    }
}
