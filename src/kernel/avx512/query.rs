//! Queries.

use core::arch::x86_64::*;
use core::ops::RangeInclusive;

use super::super::avx2::query::four_bytes;
use super::super::{Key, avx2, bits, portable};
use super::LANES;
use super::hash::{BLOCK, GROUPS, hash_block_of};
use super::positions::{LOW, MODULUS_MAX, Modulus, bits_and_inverse, deltas, first_sums};
use crate::filter::Filter;

/// Which sizes of filter, k byte included, are asked for as a `Small`. LevelDB makes none below.
const SMALL: RangeInclusive<usize> = 9..=64;
const SMALL_SIZES: usize = *SMALL.end() - *SMALL.start() + 1;

/// For each size of `SMALL` the bits and the inverse: one load.
static SMALL_MODULI: [u64; SMALL_SIZES] = {
    let mut table = [0; SMALL_SIZES];
    let mut i = 0;
    while i < table.len() {
        if let Some(bits) = bits::bits_of(*SMALL.start() + i - 1) {
            table[i] = bits_and_inverse(bits);
        }
        i += 1;
    }
    table
};

/// A filter in a register. Its last byte is there, too, but no position leads to it.
#[derive(Clone, Copy)]
struct Small {
    filter: __m512i,
    modulus: Modulus,
}

impl Small {
    /// # Safety
    /// The filter's size is in `SMALL`.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    unsafe fn load(filter: &[u8]) -> Small {
        let len = filter.len();
        let mask = _bzhi_u64(u64::MAX, len as u32);
        // SAFETY: the mask has a one for each byte of the filter, and only these are loaded. By the
        // caller's word the length is in `SMALL`, for all of which the table has an entry.
        unsafe {
            Small {
                filter: _mm512_maskz_loadu_epi8(mask, filter.as_ptr().cast()),
                modulus: Modulus::unpacked(*SMALL_MODULI.get_unchecked(len - SMALL.start())),
            }
        }
    }

    /// In which lanes the bit at the remainder of the sum is not set.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    fn missing(self, sums: __m512i) -> __mmask8 {
        let p = self.modulus.rem(sums);
        let word = _mm512_permutexvar_epi64(_mm512_srli_epi64(p, 6), self.filter);
        _mm512_testn_epi64_mask(word, _mm512_rolv_epi64(_mm512_set1_epi64(1), p))
    }

    /// In which lanes the bit at the remainder of the sum is set: the first of `a`, the first of
    /// `b`, and so on.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    fn look_up_both(self, a: __m512i, b: __m512i) -> u32 {
        let p = self.modulus.rem_of_both(a, b);
        let word = _mm512_permutexvar_epi32(_mm512_srli_epi32(p, 5), self.filter);
        _mm512_test_epi32_mask(word, _mm512_rolv_epi32(_mm512_set1_epi32(1), p)).into()
    }
}

#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) fn filters_may_match(key: Key, filters: &[Key], results: &mut [u8]) -> usize {
    let h = portable::hash(key.as_bytes());
    // h + j * delta for eight probes.
    let j = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    let more = _mm512_mul_epu32(j, _mm512_set1_epi64(i64::from(h.rotate_right(17))));
    let sums = _mm512_maskz_add_epi32(LOW, _mm512_set1_epi64(i64::from(h)), more);
    portable::filters_may_match_by(h, filters, results, |filter| {
        if !SMALL.contains(&filter.len()) {
            return None;
        }
        match Filter::parse(filter) {
            Filter::Probe { k, .. } if k <= LANES as u32 => {
                // SAFETY: `SMALL` was seen to have the length.
                let missing = unsafe { Small::load(filter) }.missing(sums);
                Some(_bzhi_u32(missing.into(), k) == 0)
            }
            _ => None,
        }
    })
}

/// # Safety
/// The processor has AVX-512; there are as many results as keys, eight at least.
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) unsafe fn keys_may_match(keys: &[Key], filter: &[u8], results: &mut [u8]) -> usize {
    at_line!();
    let (array, k, bits) = match Filter::parse(filter) {
        Filter::Probe { array, k } if array.len() <= MODULUS_MAX / 8 => {
            (array, k, bits::bits_of(array.len()))
        }
        _ => (filter, 0, None),
    };
    let Some(bits) = bits else {
        // SAFETY: whoever has AVX-512 has AVX2; the rest is the caller's word.
        return unsafe { avx2::query::keys_may_match(keys, filter, results) };
    };
    let modulus = Modulus::of(bits);
    // SAFETY: `SMALL` is seen to have the length.
    let small = SMALL.contains(&filter.len()).then(|| unsafe { Small::load(filter) });
    let n = keys.len();
    let hash_from = |at: usize, h: &mut [__m512i; GROUPS]| {
        if at < n {
            // SAFETY: `keys` has `n` keys, by the caller's word eight or more, and `at` is less.
            unsafe { hash_block_of(keys.as_ptr(), n, at, false, h) };
        }
    };
    let mut h = [_mm512_setzero_si512(); GROUPS];
    let mut ones = 0;
    hash_from(0, &mut h);
    for at in (0..n).step_by(BLOCK) {
        let here = BLOCK.min(n - at);
        let answers = match small {
            Some(small) => {
                let answers = all_set(&h, here, k, |a, b| small.look_up_both(a, b));
                hash_from(at + BLOCK, &mut h);
                answers
            }
            None => all_set_in_stages(
                &mut h,
                here,
                k,
                |a, b| {
                    // SAFETY: `modulus` was made of this array's bits.
                    unsafe { look_up_both(array, modulus, a, b) }
                },
                |h| hash_from(at + BLOCK, h),
            ),
        };
        let answers = in_order(answers, here);
        ones += answers.count_ones() as usize;
        // SAFETY: the mask has a one for each key that is left, and by the caller's word there is a
        // result for each.
        unsafe {
            let results = results.as_mut_ptr().add(at).cast();
            let there = _bzhi_u64(u64::MAX, here as u32);
            _mm512_mask_storeu_epi8(results, there, _mm512_maskz_set1_epi8(answers, 1));
        }
    }
    ones
}

/// Sixteen bytes, each with the bit set that a position has in its byte.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn bits_in_bytes(p: __m512i) -> __m128i {
    let place = _mm512_and_si512(p, _mm512_set1_epi32(7));
    _mm512_cvtepi32_epi8(_mm512_sllv_epi32(_mm512_set1_epi32(1), place))
}

/// The answers for the `n` keys of a block, a bit for each, in the order of the keys. In `answers`
/// each sixteen bits are those of two vectors, one bit of each in turn. The last vector's keys end
/// where the keys end, and may include some of the vector before.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn in_order(answers: u64, n: usize) -> u64 {
    const FIRST: u64 = 0x5555_5555_5555_5555;
    const FIRST_EIGHT: u64 = 0x00ff_00ff_00ff_00ff;
    let answers = _pdep_u64(_pext_u64(answers, FIRST), FIRST_EIGHT)
        | _pdep_u64(_pext_u64(answers, !FIRST), !FIRST_EIGHT);
    let whole = n.next_multiple_of(LANES);
    let answers = _bzhi_u64(answers, whole as u32);
    let others = _bzhi_u64(answers, (whole - LANES) as u32);
    others | (answers ^ others) >> (whole - n)
}

/// For which keys all bits are set: sixteen bits for each two vectors, as `look_up` gives them.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn all_set(
    h: &[__m512i; GROUPS],
    n: usize,
    k: u32,
    look_up: impl Fn(__m512i, __m512i) -> u32,
) -> u64 {
    let mut answers = 0;
    for (i, &[a, b]) in h.as_chunks().0.iter().enumerate().take(n.div_ceil(2 * LANES)) {
        answers |= u64::from(Pair::new(a, b).all_set(k, &look_up)) << (2 * LANES * i);
    }
    answers
}

/// [`all_set`] in two stages: after two probes the keys that are left, a quarter of absent ones,
/// are put together, and only these are asked for the others. For where looking up a bit takes
/// longer than that: with a filter of 1,000 keys an absent one takes 6.8 cycles in place of 8.3
/// (machine and date: see `avx512`). `meanwhile` runs between the stages, because it need not wait
/// for the keys to be put together.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn all_set_in_stages(
    h: &mut [__m512i; GROUPS],
    n: usize,
    k: u32,
    look_up: impl Fn(__m512i, __m512i) -> u32,
    meanwhile: impl Fn(&mut [__m512i; GROUPS]),
) -> u64 {
    let mut left = [_mm512_setzero_si512(); GROUPS / 2];
    let (mut n, mut probes, mut which) = (n, k.min(2), u64::MAX);
    // Which lanes have two probes behind them: none, and in the second stage all.
    let mut later = 0;
    loop {
        let (mut answers, mut kept) = (0, 0);
        for i in 0..n.div_ceil(2 * LANES) {
            // SAFETY: `n` is at most a block, of which `h` has all pairs of vectors. Before pair i
            // at most sixteen keys of each pair were kept, so that a vector fits in `left` where
            // they end.
            unsafe {
                let (a, b) = if later == 0 {
                    (*h.get_unchecked(2 * i), *h.get_unchecked(2 * i + 1))
                } else {
                    let both = *left.get_unchecked(i);
                    (both, _mm512_srli_epi64(both, 32))
                };
                let live = Pair::new(a, b).after_two(later).all_set(probes, &look_up);
                answers |= u64::from(live) << (2 * LANES * i);
                let both = _mm512_mask_mov_epi32(_mm512_slli_epi64(b, 32), LOW, a);
                let end = left.as_mut_ptr().cast::<u32>().add(kept);
                _mm512_storeu_si512(end.cast(), _mm512_maskz_compress_epi32(live as u16, both));
                kept += live.count_ones() as usize;
            }
        }
        which = _pdep_u64(answers, which);
        if later != 0 {
            return which;
        }
        meanwhile(h);
        (n, probes, later) = (kept, k.saturating_sub(2), !0);
    }
}

/// For sixteen keys, eight and eight, the sums of which the next probes are the remainders.
struct Pair {
    sums: [__m512i; 2],
    deltas: [__m512i; 2],
}

impl Pair {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    fn new(a: __m512i, b: __m512i) -> Pair {
        Pair { sums: [first_sums(a), first_sums(b)], deltas: [deltas(a), deltas(b)] }
    }

    /// The pair after two more probes, in these lanes.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    fn after_two(mut self, lanes: __mmask16) -> Pair {
        for (sum, &delta) in self.sums.iter_mut().zip(&self.deltas) {
            *sum = _mm512_mask_add_epi32(*sum, lanes, *sum, _mm512_add_epi32(delta, delta));
        }
        self
    }

    /// Whose bits of the next probes are set.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    fn all_set(self, probes: u32, look_up: impl Fn(__m512i, __m512i) -> u32) -> u32 {
        let [mut a, mut b] = self.sums;
        let mut live = 0xffff;
        for _ in 0..probes {
            live &= look_up(a, b);
            a = _mm512_add_epi32(a, self.deltas[0]);
            b = _mm512_add_epi32(b, self.deltas[1]);
        }
        live
    }
}

/// In which lanes the bit at the remainder of the sum is set: the first of `a`, the first of `b`,
/// and so on.
///
/// # Safety
/// The modulus is of the array's bits.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn look_up_both(array: &[u8], modulus: Modulus, a: __m512i, b: __m512i) -> u32 {
    let p = modulus.rem_of_both(a, b);
    let places = _mm512_srli_epi32(p, 3);
    // SAFETY: whoever has AVX-512 has AVX2. By the caller's word the modulus is the array's, so
    // that an eighth of a position is the index of one of its bytes.
    let bytes = unsafe {
        let a = four_bytes(array, _mm512_castsi512_si128(places));
        let b = four_bytes(array, _mm512_extracti32x4_epi32::<1>(places));
        let c = four_bytes(array, _mm512_extracti32x4_epi32::<2>(places));
        let d = four_bytes(array, _mm512_extracti32x4_epi32::<3>(places));
        _mm_unpacklo_epi64(_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d))
    };
    _mm_test_epi8_mask(bytes, bits_in_bytes(p)).into()
}
