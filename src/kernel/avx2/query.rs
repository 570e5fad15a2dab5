//! Queries.

use core::arch::x86_64::*;
use core::mem;
use core::ops::RangeInclusive;

use super::super::bits::{self, SMALL_ARRAYS, SMALL_MODULI};
use super::super::{Key, cpu, portable, through_a_branch};
use super::LANES;
use super::hash::{Eights, each_hashed};
use super::positions::{Modulus, Positions, in_pairs};
use crate::filter::Filter;

/// Which lengths of filter, last byte included, fit in a [`Small`]. A shorter one has 64 bits at
/// most, for which the inverse would not fit in 32.
const SMALL: RangeInclusive<usize> = SMALL_ARRAYS.start + 1..=SMALL_ARRAYS.end;

/// The modulus of a filter whose size is in `SMALL`.
#[derive(Clone, Copy)]
struct SmallModulus {
    bits: __m256i,
    /// 2^35 / bytes, too large by at most 1.
    inverse: __m256i,
}

impl SmallModulus {
    const SHIFT: i32 = bits::SMALL_SHIFT as i32;

    /// # Safety
    /// The processor has AVX2; the size is in `SMALL`.
    #[inline(always)]
    unsafe fn of(size: usize) -> SmallModulus {
        // SAFETY: the caller's word: the length is in `SMALL`, for all of which the table has an
        // entry.
        unsafe {
            let [bits, inverse] = SMALL_MODULI.get_unchecked(size - SMALL.start());
            SmallModulus {
                bits: _mm256_set1_epi32(*bits as i32),
                inverse: _mm256_set1_epi32(*inverse as i32),
            }
        }
    }

    /// `h` modulo the bits. The quotient is that of h / 8, of 29 bits, by the bytes: to what is
    /// left of it the inverse adds less than 2^29 / 2^35, and there are fewer bytes than 2^6.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn rem(self, h: __m256i) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            let even = _mm256_mul_epu32(_mm256_srli_epi32::<3>(h), self.inverse);
            let odd = _mm256_mul_epu32(_mm256_srli_epi64::<{ 32 + 3 }>(h), self.inverse);
            let even = _mm256_srli_epi64::<{ SmallModulus::SHIFT }>(even);
            let odd = _mm256_srli_epi64::<{ SmallModulus::SHIFT - 32 }>(odd);
            let quotient = _mm256_blend_epi32(even, odd, 0b1010_1010);
            _mm256_sub_epi32(h, _mm256_mullo_epi32(quotient, self.bits))
        }
    }
}

/// Read from byte i on, a shuffle that moves the last 16 - i of 16 bytes to the front. What it
/// leaves behind them is never looked at.
static TO_FRONT: [u8; 32] = {
    let mut shuffle = [0; 32];
    let mut i = 0;
    while i < shuffle.len() {
        shuffle[i] = i as u8;
        i += 1;
    }
    shuffle
};

/// The bits of a filter. A trait rather than a closure, which would not be inlined into a function
/// without the instruction set.
trait Bits: Copy {
    /// The bits at eight positions, each the lowest of its lane.
    ///
    /// # Safety
    /// The processor has AVX2; the positions are in the filter's array.
    unsafe fn look_up(self, p: __m256i) -> __m256i;
}

/// A filter in registers. Its last byte is there, too, but no position leads to it.
#[derive(Clone, Copy)]
struct Small {
    /// The first 32 bytes, or all.
    low: __m256i,
    /// Of more than 32 bytes the last 32, some of which may be in `low` too, and
    /// what brings a position beyond `low` to its place among them, modulo the
    /// 256 bits of a register.
    high: Option<(__m256i, __m256i)>,
    modulus: SmallModulus,
}

impl Small {
    /// # Safety
    /// The processor has AVX2; the filter's size is in `SMALL`.
    #[inline(always)]
    unsafe fn load(filter: &[u8]) -> Small {
        let (start, len) = (filter.as_ptr(), filter.len());
        // SAFETY: the caller's word: the length is in `SMALL`. Each branch loads only as many bytes
        // as a filter of such a length has.
        unsafe {
            let modulus = SmallModulus::of(len);
            if len > 32 {
                let low = _mm256_loadu_si256(start.cast());
                let high = _mm256_loadu_si256(start.add(len - 32).cast());
                let ahead = _mm256_set1_epi32(-8 * len as i32);
                Small { low, high: Some((high, ahead)), modulus }
            } else if len >= 16 {
                let first = _mm_loadu_si128(start.cast());
                let last = _mm_loadu_si128(start.add(len - 16).cast());
                let to_front = _mm_loadu_si128(TO_FRONT.as_ptr().add(32 - len).cast());
                let rest = _mm_shuffle_epi8(last, to_front);
                Small { low: _mm256_setr_m128i(first, rest), high: None, modulus }
            } else {
                let first = start.cast::<u64>().read_unaligned();
                let rest = start.add(len - 8).cast::<u64>().read_unaligned() >> (8 * (16 - len));
                let low = _mm256_castsi128_si256(_mm_set_epi64x(rest as i64, first as i64));
                Small { low, high: None, modulus }
            }
        }
    }
}

impl Bits for Small {
    #[inline(always)]
    unsafe fn look_up(self, mut p: __m256i) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            let found = match self.high {
                None => _mm256_permutevar8x32_epi32(self.low, _mm256_srli_epi32::<5>(p)),
                Some((high, ahead)) => {
                    let beyond = _mm256_cmpgt_epi32(p, _mm256_set1_epi32(255));
                    p = _mm256_add_epi32(p, _mm256_and_si256(beyond, ahead));
                    let word = _mm256_srli_epi32::<5>(p);
                    let low = _mm256_permutevar8x32_epi32(self.low, word);
                    let high = _mm256_permutevar8x32_epi32(high, word);
                    _mm256_blendv_epi8(low, high, beyond)
                }
            };
            _mm256_srlv_epi32(found, _mm256_and_si256(p, _mm256_set1_epi32(31)))
        }
    }
}

/// A small filter for many keys: word i has bit i of every byte, so that a position's
/// lowest bits name its word and the others its bit. In a batch of 256 a key takes 1.75 ns in
/// place of 1.85 (AMD EPYC of the fourth generation, 2026-11-23).
#[derive(Clone, Copy)]
struct Transposed {
    low: __m256i,
    /// Of more than 32 bytes the last 32, and how many are before them.
    high: Option<(__m256i, __m256i)>,
}

impl Transposed {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn of(Small { low, high, .. }: Small, len: usize) -> Transposed {
        // SAFETY: the caller has AVX2.
        unsafe {
            let words = |mut bytes| {
                let (mut words, mut left) = (_mm256_setzero_si256(), LANES);
                while left > 0 {
                    // Otherwise the loop would be written out.
                    left = opaque!(left - 1);
                    let along = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
                    let word = _mm256_set1_epi32(_mm256_movemask_epi8(bytes));
                    words = _mm256_permutevar8x32_epi32(words, along);
                    words = _mm256_blend_epi32::<1>(words, word);
                    bytes = _mm256_add_epi8(bytes, bytes);
                }
                words
            };
            let before = _mm256_set1_epi32(len as i32 - 32);
            Transposed { low: words(low), high: high.map(|(high, _)| (words(high), before)) }
        }
    }
}

impl Bits for Transposed {
    #[inline(always)]
    unsafe fn look_up(self, p: __m256i) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            // A shift by 32 or more, which a negative number is as well, leaves no bit. The shift
            // is one of 16-bit lanes, because otherwise the compiler would compare p with what
            // leads to such a shift.
            let byte = _mm256_srli_epi16::<3>(p);
            let low = _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(self.low, p), byte);
            let Some((high, before)) = self.high else { return low };
            let byte = _mm256_sub_epi32(byte, before);
            let high = _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(high, p), byte);
            _mm256_or_si256(low, high)
        }
    }
}

/// h + j * delta for eight probes of a key, the first of them in the last lane.
#[derive(Clone, Copy)]
struct Sums {
    eight: __m256i,
    delta: __m256i,
}

/// The eight words from word k on name the lanes of k probes, which are the last k.
static ASKED: [i32; 2 * LANES] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

impl Sums {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn new(h: u32) -> Sums {
        // SAFETY: the caller has AVX2.
        unsafe {
            let delta = _mm256_set1_epi32(h.rotate_right(17) as i32);
            let j = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
            let eight = _mm256_add_epi32(_mm256_set1_epi32(h as i32), _mm256_mullo_epi32(j, delta));
            Sums { eight, delta }
        }
    }

    /// Whether the bits of `k` probes are set.
    ///
    /// # Safety
    /// The processor has AVX2; any remainder is in the filter's array.
    #[inline(always)]
    unsafe fn all_set(mut self, mut k: u32, modulus: SmallModulus, filter: impl Bits) -> bool {
        // SAFETY: the caller's word; `ASKED` has a vector at 0..=8.
        unsafe {
            let mut found = filter.look_up(modulus.rem(self.eight));
            while k > LANES as u32 {
                if _mm256_testc_si256(found, _mm256_set1_epi32(1)) == 0 {
                    return false;
                }
                k -= LANES as u32;
                self.eight = _mm256_add_epi32(self.eight, _mm256_slli_epi32::<3>(self.delta));
                found = filter.look_up(modulus.rem(self.eight));
            }
            let asked = _mm256_loadu_si256(ASKED.as_ptr().add(k as usize).cast());
            _mm256_testc_si256(found, asked) != 0
        }
    }
}

/// An array of any size, of less than 2^28 bytes.
#[derive(Clone, Copy)]
struct Large<'a> {
    array: &'a [u8],
    /// Whether bits are looked up by gathers, for which the array has to have four bytes or more.
    /// Where gathers are fast (see `cpu::gathers_fast`), a present key of a batch of 256 took 2.8
    /// ns in place of 3.6, and an absent one 2.9 in place of 3.7 (a filter of 1,000 keys; Intel
    /// Xeon with AMX, 2026-11-26); elsewhere they took 1.1 to 1.2 times as long as loads (AMD EPYC
    /// of the third generation, 2026-11).
    gathers: bool,
}

impl Bits for Large<'_> {
    #[inline(always)]
    unsafe fn look_up(self, p: __m256i) -> __m256i {
        let Large { array, gathers } = self;
        // SAFETY: the caller's word: positions are in the array, so that an eighth of one is the
        // index of a byte, and less than 2^28, not negative for a gather. A gather reads the four
        // bytes from there on, or the array's last four, which are there where `gathers` is true.
        unsafe {
            let byte = _mm256_srli_epi32::<3>(p);
            if gathers {
                let last = _mm256_set1_epi32((array.len() - 4) as i32);
                let first = _mm256_min_epu32(byte, last);
                let words = _mm256_i32gather_epi32::<1>(array.as_ptr().cast(), first);
                return _mm256_srlv_epi32(
                    words,
                    _mm256_sub_epi32(p, _mm256_slli_epi32::<3>(first)),
                );
            }
            let low = four_bytes(array, _mm256_castsi256_si128(byte));
            let high = four_bytes(array, _mm256_extracti128_si256::<1>(byte));
            let bytes = _mm256_cvtepu8_epi32(_mm_unpacklo_epi32(low, high));
            _mm256_srlv_epi32(bytes, _mm256_and_si256(p, _mm256_set1_epi32(7)))
        }
    }
}

/// The bytes at four places.
///
/// # Safety
/// The processor has AVX2; the array has bytes there.
#[inline(always)]
pub(in super::super) unsafe fn four_bytes(array: &[u8], places: __m128i) -> __m128i {
    // SAFETY: the caller's word.
    unsafe {
        let load = |place: u64| i32::from(*array.get_unchecked(place as u32 as usize));
        let [two, two_more] = in_pairs(places);
        let bytes = _mm_cvtsi32_si128(load(two));
        let bytes = _mm_insert_epi8::<1>(bytes, load(two >> 32));
        let bytes = _mm_insert_epi8::<2>(bytes, load(two_more));
        _mm_insert_epi8::<3>(bytes, load(two_more >> 32))
    }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(in super::super) unsafe fn may_match(key: Key, filter: &[u8]) -> bool {
    // Elsewhere a present key in a filter of 20 took up to 1.1 times as long (AMD EPYC of the fifth
    // generation, 2026-11-29).
    at_line!();
    portable::may_match_by(key, filter, |h, k| {
        SMALL.contains(&filter.len()).then(|| {
            // SAFETY: the caller has AVX2; `SMALL` was seen to have the length.
            through_a_branch(unsafe {
                let small = Small::load(filter);
                Sums::new(h).all_set(k, small.modulus, small)
            })
        })
    })
}

/// # Safety
/// The processor has AVX2; there are as many results as filters.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn filters_may_match(key: Key, filters: &[Key], results: &mut [u8]) -> usize {
    let h = portable::hash(key.as_bytes());
    // SAFETY: the caller has AVX2.
    let sums = unsafe { Sums::new(h) };
    portable::filters_may_match_by(h, filters, results, |filter| {
        if !SMALL.contains(&filter.len()) {
            return None;
        }
        match Filter::parse(filter) {
            // SAFETY: the caller has AVX2; `SMALL` was seen to have the length.
            Filter::Probe { k, .. } if k <= LANES as u32 => Some(unsafe {
                let small = Small::load(filter);
                sums.all_set(k, small.modulus, small)
            }),
            _ => None,
        }
    })
}

/// # Safety
/// The processor has AVX2; there are as many results as keys.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(in super::super) unsafe fn keys_may_match(
    keys: &[Key],
    filter: &[u8],
    results: &mut [u8],
) -> usize {
    // SAFETY: the caller's word.
    unsafe { answer(keys, filter, results, cpu::gathers_fast()) }
}

/// The way that this processor does not take.
///
/// # Safety
/// As for `keys_may_match`.
#[cfg(test)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn keys_may_match_otherwise(
    keys: &[Key],
    filter: &[u8],
    results: &mut [u8],
) -> usize {
    // SAFETY: the caller's word.
    unsafe { answer(keys, filter, results, !cpu::gathers_fast()) }
}

/// # Safety
/// As for `keys_may_match`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn answer(keys: &[Key], filter: &[u8], results: &mut [u8], gathers: bool) -> usize {
    let Filter::Probe { array, k } = Filter::parse(filter) else {
        return portable::keys_may_match(keys, filter, results);
    };
    let Some(bits) = bits::bits_of(array.len()) else {
        return portable::keys_may_match(keys, filter, results);
    };
    // SAFETY: the caller has AVX2.
    let modulus = unsafe { Modulus::new(bits) };
    let small = SMALL.contains(&filter.len()).then(|| {
        // SAFETY: the caller has AVX2; `SMALL` was seen to have the length.
        unsafe { Transposed::of(Small::load(filter), filter.len()) }
    });
    let large = Large { array, gathers: gathers && array.len() >= 4 };
    let mut results = results.chunks_mut(LANES);
    let mut ones = 0;
    let answer_for = |Eights { h, .. }: Eights| {
        for two in h.chunks(2) {
            // A lone eight are asked twice.
            let ([a, ..], [.., b]) = (two, two) else { continue };
            // SAFETY: the caller has AVX2; `modulus` is the array's, so that positions are in the
            // array, which is also what the small filter has in registers.
            let answers = unsafe {
                let positions = [Positions::new(*a, modulus), Positions::new(*b, modulus)];
                bytes_of(match small {
                    Some(small) => all_set(positions, k, small),
                    None => all_set(positions, k, large),
                })
            };
            for (mut answers, results) in answers.into_iter().zip((&mut results).take(two.len())) {
                // A one has a single bit set. The first of the last eight keys may have been
                // answered with those before.
                answers >>= 8 * (LANES - results.len());
                ones += answers.count_ones() as usize;
                match <&mut [u8; LANES]>::try_from(&mut *results) {
                    Ok(results) => *results = answers.to_le_bytes(),
                    Err(_) => {
                        for result in results {
                            *result = answers as u8;
                            answers >>= 8;
                        }
                    }
                }
            }
        }
    };
    // SAFETY: the caller has AVX2.
    unsafe { each_hashed(keys, false, answer_for) }
    ones
}

/// After how many probes of a batch's keys it is looked whether any key is left.
const AT_ONCE: u32 = 8;

/// One in each lane where the bits at `k` positions are set, and zero elsewhere.
///
/// # Safety
/// The processor has AVX2; the positions are in the filter's array.
#[inline(always)]
unsafe fn all_set([mut a, mut b]: [Positions; 2], k: u32, filter: impl Bits) -> [__m256i; 2] {
    // SAFETY: the caller has AVX2.
    unsafe {
        let (mut in_a, mut in_b) = (_mm256_set1_epi32(1), _mm256_set1_epi32(1));
        for j in 1..=k {
            in_a = _mm256_and_si256(in_a, filter.look_up(a.p));
            in_b = _mm256_and_si256(in_b, filter.look_up(b.p));
            if j == k {
                break;
            }
            if j % AT_ONCE == 0 {
                let any = _mm256_or_si256(in_a, in_b);
                if _mm256_testz_si256(any, any) != 0 {
                    break;
                }
            }
            a.next();
            b.next();
        }
        [in_a, in_b]
    }
}

/// The ones and zeros of sixteen keys' lanes, a byte each, in the order of the keys.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn bytes_of([a, b]: [__m256i; 2]) -> [u64; 2] {
    // SAFETY: the caller has AVX2; a vector of 16 bytes and two words have one size, and no invalid
    // values.
    unsafe {
        // Each half of the register has four of a and four of b: keys 0, 2, 4 and 6 the
        // one, and 1, 3, 5 and 7 the other.
        let words = _mm256_packs_epi32(a, b);
        let bytes = _mm256_packs_epi16(words, words);
        let ones =
            _mm_unpacklo_epi8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes));
        mem::transmute::<__m128i, [u64; 2]>(ones)
    }
}
