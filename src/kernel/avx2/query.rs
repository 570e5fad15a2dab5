//! Queries: eight keys at a time, or eight probes of a key.

use core::arch::x86_64::*;
use core::mem;
use core::num::NonZeroU32;
use core::ops::RangeInclusive;

use super::super::blocks::{bits_of, in_blocks};
use super::super::{Key, portable};
use super::Avx2;
use super::hash::{load_rest, to_front};
use super::lanes::{LANES, Lanes, pairs};
use super::probes::{Modulus, Positions};
use crate::filter::Filter;

/// # Safety
/// The processor has AVX2; there are as many results as keys, eight at least.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(in super::super) unsafe fn keys_may_match(
    keys: &[Key],
    filter: &[u8],
    results: &mut [u8],
) -> usize {
    let Filter::Probe { array, k } = Filter::parse(filter) else {
        return portable::keys_may_match(keys, filter, results);
    };
    let Some(num_bits) = bits_of(array.len()) else {
        return portable::keys_may_match(keys, filter, results);
    };
    // SAFETY: the caller's; `Transposed` is given an array of such a length.
    unsafe {
        if array.len() <= Transposed::MOST {
            answer(keys, k, num_bits, Transposed::of(array), results)
        } else {
            answer(keys, k, num_bits, array, results)
        }
    }
}

/// Writes the answer for each key, and returns how many are true.
///
/// # Safety
/// The processor has AVX2; there are as many results as keys, eight at least.
#[inline(always)]
unsafe fn answer(
    keys: &[Key],
    k: u32,
    num_bits: NonZeroU32,
    bits: impl Bits,
    mut results: &mut [u8],
) -> usize {
    let mut ones = 0;
    // SAFETY: the caller's.
    unsafe {
        in_blocks::<Avx2>(keys, |hashes| {
            let all = mem::take(&mut results);
            let (block, later) = all.split_at_mut(hashes.len().min(all.len()));
            ones += answer_block(hashes, k, num_bits, bits, block);
            results = later;
        });
    }
    ones
}

/// # Safety
/// The processor has AVX2; the hashes are a multiple of eight, and the results as many or fewer, but
/// eight at least; the bits are an array's of `num_bits`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn answer_block(
    hashes: &[u32],
    k: u32,
    num_bits: NonZeroU32,
    bits: impl Bits,
    results: &mut [u8],
) -> usize {
    let (last, mut ones) = (results.len() - LANES, 0);
    // SAFETY: the caller's; eight hashes begin at each multiple of eight, and eight results at `last`.
    unsafe {
        let modulus = Modulus::new(num_bits);
        for at in (0..hashes.len()).step_by(2 * LANES) {
            // Two eights side by side, because each position waits for the one before.
            let load = |at: usize| Lanes::load(hashes.as_ptr().add(at.min(hashes.len() - LANES)));
            let two = [at, at + LANES].map(load);
            let answers = all_set(two.map(|h| Positions::new(h, modulus)), k, bits);
            for (answers, at) in answers.map(bytes_of).into_iter().zip([at, at + LANES]) {
                let to = results.as_mut_ptr().add(at.min(last)).cast::<u64>();
                to.write_unaligned(answers.to_le());
                // Without those that the eight before have counted.
                let counted = 8 * (at - at.min(last)) as u32;
                ones += answers.checked_shr(counted).unwrap_or(0).count_ones() as usize;
            }
        }
    }
    ones
}

/// One in each lane where the bits of all `k` probes are set, and zero elsewhere.
///
/// # Safety
/// The positions are in the array.
#[inline(always)]
unsafe fn all_set([mut a, mut b]: [Positions; 2], k: u32, bits: impl Bits) -> [Lanes; 2] {
    // SAFETY: there are lanes, and so AVX2.
    let one = unsafe { Lanes::splat(1) };
    let (mut in_a, mut in_b) = (one, one);
    for j in 1..=k {
        // SAFETY: the caller's.
        unsafe {
            in_a = in_a & bits.look_up(a.next());
            in_b = in_b & bits.look_up(b.next());
        }
        if j % 8 == 0 && (in_a | in_b).are_zero() {
            break;
        }
    }
    [in_a, in_b]
}

/// The ones and zeros of eight lanes, a byte each.
#[inline(always)]
fn bytes_of(lanes: Lanes) -> u64 {
    // SAFETY: there are lanes, and so AVX2.
    unsafe {
        let four = _mm256_extracti128_si256::<1>(lanes.0);
        let words = _mm_packs_epi32(_mm256_castsi256_si128(lanes.0), four);
        _mm_cvtsi128_si64(_mm_packs_epi16(words, words)) as u64
    }
}

/// The bits of an array. A trait, because a closure might not be inlined.
trait Bits: Copy {
    /// The bits at eight positions, each the lowest of its lane.
    ///
    /// # Safety
    /// The positions are in the array.
    unsafe fn look_up(self, p: Lanes) -> Lanes;
}

/// An array of any size, in memory. A gather takes longer than eight loads on many processors.
impl Bits for &[u8] {
    #[inline(always)]
    unsafe fn look_up(self, p: Lanes) -> Lanes {
        // SAFETY: the caller's.
        unsafe {
            let byte = |at: u64| i32::from(*self.get_unchecked(at as u32 as usize));
            let four = |places| {
                let [two, two_more] = pairs(places);
                let bytes = _mm_cvtsi32_si128(byte(two));
                let bytes = _mm_insert_epi8::<1>(bytes, byte(two >> 32));
                let bytes = _mm_insert_epi8::<2>(bytes, byte(two_more));
                _mm_insert_epi8::<3>(bytes, byte(two_more >> 32))
            };
            let places = p.shr::<3>().0;
            let low = four(_mm256_castsi256_si128(places));
            let high = four(_mm256_extracti128_si256::<1>(places));
            let bytes = Lanes(_mm256_cvtepu8_epi32(_mm_unpacklo_epi32(low, high)));
            bytes.shr_each(p & p.splat_like(7))
        }
    }
}

/// A small array for many keys, in registers. Word i has bit i of every byte: a position's lowest
/// three bits name its word, and the others the bit.
#[derive(Clone, Copy)]
struct Transposed {
    low: Lanes,
    /// The bytes after the first 32.
    high: Option<Lanes>,
}

impl Transposed {
    /// The longest array.
    const MOST: usize = 64;

    /// # Safety
    /// The processor has AVX2; the array has at most `MOST` bytes.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn of(array: &[u8]) -> Transposed {
        let mut bytes = [0; Transposed::MOST];
        bytes.iter_mut().zip(array).for_each(|(to, byte)| *to = *byte);
        // SAFETY: the caller's; each half has 32 bytes.
        let words = |at| unsafe {
            let mut half = Lanes::load(bytes.as_ptr().add(at).cast()).0;
            let mut words = [0; LANES];
            for word in words.iter_mut().rev() {
                *word = _mm256_movemask_epi8(half) as u32;
                half = _mm256_add_epi8(half, half);
            }
            Lanes::load(words.as_ptr())
        };
        Transposed { low: words(0), high: (array.len() > 32).then(|| words(32)) }
    }
}

impl Bits for Transposed {
    #[inline(always)]
    unsafe fn look_up(self, p: Lanes) -> Lanes {
        // A shift by 32 or more, which a negative number is as well, leaves no bit.
        let byte = p.shr::<3>();
        let low = self.low.pick(p).shr_each(byte);
        self.high.map_or(low, |high| low | high.pick(p).shr_each(byte - p.splat_like(32)))
    }
}

/// A small array for one key, in registers, byte for byte.
#[derive(Clone, Copy)]
struct Loaded {
    low: Lanes,
    /// Of more than 32 bytes the last 32, and how far positions after `low` are moved.
    high: Option<(Lanes, Lanes)>,
}

impl Loaded {
    const LENGTHS: RangeInclusive<usize> = 9..=64;

    /// # Safety
    /// The processor has AVX2; the array's length is in `LENGTHS`.
    #[inline(always)]
    unsafe fn of(array: &[u8]) -> Loaded {
        let (start, len) = (array.as_ptr(), array.len());
        // SAFETY: the caller's; each load is of no more bytes than the array has.
        unsafe {
            let low = match len {
                ..16 => _mm256_castsi128_si256(load_rest(start, len)),
                16..=32 => {
                    let last = _mm_loadu_si128(start.add(len - 16).cast());
                    _mm256_setr_m128i(_mm_loadu_si128(start.cast()), to_front(last, len - 16))
                }
                _ => _mm256_loadu_si256(start.cast()),
            };
            let high = (len > 32).then(|| {
                let moved = Lanes::splat(8 * (64 - len) as u32);
                (Lanes::load(start.add(len - 32).cast()), moved)
            });
            Loaded { low: Lanes(low), high }
        }
    }
}

impl Bits for Loaded {
    #[inline(always)]
    unsafe fn look_up(self, p: Lanes) -> Lanes {
        let (word, bit) = match self.high {
            None => (self.low.pick(p.shr::<5>()), p),
            Some((high, moved)) => {
                let after = p.gt(p.splat_like(255));
                let p = p + (after & moved);
                (self.low.pick(p.shr::<5>()).or_where(high.pick(p.shr::<5>()), after), p)
            }
        };
        word.shr_each(bit & p.splat_like(31))
    }
}

/// The probes of a key: h + j * delta for the first eight, the first of them in the last lane, and
/// delta.
#[derive(Clone, Copy)]
struct Probes {
    sums: Lanes,
    delta: Lanes,
}

impl Probes {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn of(h: u32) -> Probes {
        // SAFETY: the caller's.
        unsafe {
            let delta = Lanes::splat(h.rotate_right(17));
            let j = Lanes(_mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
            Probes { sums: Lanes::splat(h) + delta * j, delta }
        }
    }

    /// Whether the bits of `k` probes are set; `None` if the array is not small.
    #[inline(always)]
    fn are_set(self, mut k: u32, array: &[u8]) -> Option<bool> {
        /// From k on, a one for each of the last k lanes.
        static ONES: [u32; 2 * LANES] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
        if !Loaded::LENGTHS.contains(&array.len()) {
            return None;
        }
        // SAFETY: there are lanes, and so AVX2; the array's length was checked. Remainders are
        // positions in it.
        unsafe {
            let (bits, modulus) = (Loaded::of(array), Modulus::of_small(array.len()));
            let (mut sums, mut set) = (self.sums, bits.look_up(modulus.rem(self.sums)));
            while k > LANES as u32 {
                if !set.has(Lanes::load(ONES.as_ptr().add(LANES))) {
                    return Some(false);
                }
                k -= LANES as u32;
                sums = sums + self.delta.shl::<3>();
                set = bits.look_up(modulus.rem(sums));
            }
            Some(set.has(Lanes::load(ONES.as_ptr().add(k as usize))))
        }
    }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(in super::super) unsafe fn may_match(key: Key, filter: &[u8]) -> bool {
    portable::may_match_with(
        || portable::hash(key),
        filter,
        |h, k, array| {
            // SAFETY: the caller's.
            unsafe { Probes::of(h) }.are_set(k, array)
        },
    )
}

/// # Safety
/// The processor has AVX2; there are as many results as filters.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(in super::super) unsafe fn filters_may_match(
    key: Key,
    filters: &[Key],
    results: &mut [u8],
) -> usize {
    let h = portable::hash(key);
    // SAFETY: the caller's.
    let probes = unsafe { Probes::of(h) };
    portable::answer_each(filters, results, |filter| {
        let small = match Filter::parse(filter) {
            Filter::Probe { array, k } => probes.are_set(k, array),
            _ => None,
        };
        small.unwrap_or_else(|| portable::hash_may_match(h, filter))
    })
}
