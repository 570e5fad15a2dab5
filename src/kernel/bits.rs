//! Arithmetic and stores that kernels share.

use core::mem::MaybeUninit;
use core::num::NonZeroU32;

/// Up to this many bits a filter is built with one byte a bit in scratch
/// memory and packed at the end: a plain store, where setting a bit in place
/// is a load, an or and a store that wait for the one before.
/// Beyond it the scratch memory no longer fits the L1 cache.
pub(super) const BYTE_PER_BIT_MAX: usize = 32 * 1024;

/// A filter's size, ready to take remainders by.
#[derive(Clone, Copy)]
pub(super) struct Modulus {
    pub bits: NonZeroU32,
    /// 2^64 / bits, rounded up; 0 stands for 2^64.
    #[cfg(target_pointer_width = "64")]
    inverse: u64,
}

impl Modulus {
    /// For an array of `bytes` bytes: nothing where it is empty, or where it
    /// has 2^31 bits or more, so that sums of two positions fit in 32 bits.
    #[inline(always)]
    pub fn new(bytes: usize) -> Option<Modulus> {
        if bytes >= 1 << 28 {
            return None;
        }
        let bits = NonZeroU32::new(bytes as u32 * 8)?;
        Some(Modulus {
            bits,
            #[cfg(target_pointer_width = "64")]
            inverse: (u64::MAX / core::num::NonZeroU64::from(bits)).wrapping_add(1),
        })
    }

    /// `h % bits`. Exact: the inverse is too large by less than 1, which over
    /// any 32-bit `h` adds less than 2^32 to a fraction held in 64 bits.
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
}

/// Calls `set` with the position of every probe of a key: two remainders,
/// then sums. Where the 32-bit sum of the hash wraps, 2^32 is lost from it,
/// so that much (modulo the bits) is taken from the step.
#[inline(always)]
pub(super) fn each_position(h: u32, k: u32, modulus: Modulus, mut set: impl FnMut(u32)) {
    let bits = modulus.bits.get();
    let delta = h.rotate_right(17);
    let step = modulus.rem(delta);
    // 2^32 mod bits, from bits < 2^31
    let lost = modulus.rem(bits.wrapping_neg());
    let wrapped_step = step.wrapping_sub(lost).min(step.wrapping_sub(lost).wrapping_add(bits));
    let (mut sum, mut p) = (h, modulus.rem(h));
    for _ in 0..k {
        set(p);
        let wraps;
        (sum, wraps) = sum.overflowing_add(delta);
        p += if wraps { wrapped_step } else { step };
        p = p.min(p.wrapping_sub(bits)); // the greater of them is out of range
    }
}

/// How many keys `positions_of` takes at a time.
pub(super) const LANES: usize = 8;

/// The positions of eight keys side by side, a row for each probe: what
/// `each_position` computes, in loops a compiler turns into vector code.
#[inline(always)]
pub(super) fn positions_of(hashes: &[u32; LANES], modulus: Modulus, rows: &mut [[u32; LANES]]) {
    let bits = modulus.bits.get();
    let lost = modulus.rem(bits.wrapping_neg());
    let (mut sum, mut delta) = (*hashes, [0; LANES]);
    let (mut p, mut step, mut change) = ([0; LANES], [0; LANES], [0; LANES]);
    for i in 0..LANES {
        delta[i] = hashes[i].rotate_right(17);
        p[i] = modulus.rem(hashes[i]);
        step[i] = modulus.rem(delta[i]);
        // what to add to the step where the sum wraps
        change[i] = if step[i] < lost { bits - lost } else { lost.wrapping_neg() };
    }
    for row in rows {
        *row = p;
        for i in 0..LANES {
            sum[i] = sum[i].wrapping_add(delta[i]);
            let wraps = if sum[i] < delta[i] { u32::MAX } else { 0 };
            // Negative where the next position is in range without it.
            let less =
                p[i].wrapping_add(step[i]).wrapping_add(wraps & change[i]).wrapping_sub(bits);
            p[i] = less.wrapping_add((less as i32 >> 31) as u32 & bits);
        }
    }
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
    unsafe { *array.get_unchecked_mut((p / 8) as usize) |= 1 << (p % 8) }
}
