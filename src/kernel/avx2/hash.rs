//! Hashing: eight keys at a time, one in each lane.

use core::arch::x86_64::*;
use core::{array, slice};

use super::super::{Key, portable};
use super::lanes::{LANES, Lanes};
use crate::hash::{BLOOM_SEED, M};

type Eight<'k> = [Key<'k>; LANES];

/// # Safety
/// The processor has AVX2; there are as many hashes as keys, eight at least.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(in super::super) unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    let last = keys.len() - LANES;
    for at in (0..keys.len()).step_by(LANES) {
        let at = at.min(last);
        // SAFETY: the caller's; there are eight from `last` on.
        unsafe { hash_eight(&*keys.as_ptr().add(at).cast(), hashes.as_mut_ptr().add(at)) }
    }
}

/// # Safety
/// The processor has AVX2; there is room for eight hashes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_eight(keys: &Eight, hashes: *mut u32) {
    // SAFETY: the caller's. A vector of four words is two keys, each a pointer and a length.
    unsafe {
        let two = |i| _mm256_loadu_si256(keys.as_ptr().cast::<__m256i>().add(i));
        // The lengths of keys 0, 2, 1, 3 and 4, 6, 5, 7.
        let a = _mm256_unpackhi_epi64(two(0), two(1));
        let b = _mm256_unpackhi_epi64(two(2), two(3));
        let all = _mm256_set1_epi64x(keys[0].len() as i64);
        let same = _mm256_and_si256(_mm256_cmpeq_epi64(a, all), _mm256_cmpeq_epi64(b, all));
        let h = if _mm256_movemask_epi8(same) == -1 && LENGTHS.contains(&keys[0].len()) {
            hash_uniform(keys, keys[0].len())
        } else if keys.iter().all(|key| LENGTHS.contains(&key.len())) {
            let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            hash_mixed(keys, Lanes(_mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b))))
        } else {
            return portable::hash_keys(keys, slice::from_raw_parts_mut(hashes, LANES));
        };
        h.pick(Lanes(_mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))).store(hashes);
    }
}

/// Keys of other lengths are hashed by the portable kernel: `load_rest` needs eight bytes, and a
/// lane has a sign.
const LENGTHS: core::ops::Range<usize> = 8..1 << 31;

/// The hashes of keys of `len` bytes each, in the order of `words`.
///
/// # Safety
/// The processor has AVX2; the length is in `LENGTHS`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_uniform(keys: &Eight, len: usize) -> Lanes {
    // SAFETY: the caller's. 16 bytes are loaded only where as many are left.
    unsafe {
        let mut h = Lanes::splat(BLOOM_SEED ^ (len as u32).wrapping_mul(M));
        let mut left = len;
        while left >= 16 {
            let block = |key: &Key| _mm_loadu_si128(key.as_ptr().add(len - left).cast());
            h = words(keys, block).into_iter().fold(h, step::<16>);
            left -= 16;
        }
        if left > 0 {
            for word in words(keys, |key| load_rest(key.as_ptr(), len)) {
                if left >= 4 {
                    h = step::<16>(h, word);
                    left -= 4;
                } else if left > 0 {
                    h = step::<24>(h, word);
                    left = 0;
                }
            }
        }
        h
    }
}

/// The hashes of keys of these lengths, both in the order of `words`. Each step is done for all
/// keys; those that have ended keep their hash.
///
/// # Safety
/// The processor has AVX2; the lengths are in `LENGTHS`.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_mixed(keys: &Eight, lens: Lanes) -> Lanes {
    static ZEROS: [u8; 16] = [0; 16];
    // SAFETY: the caller's. 16 bytes are loaded only where a key has as many, or from `ZEROS`.
    unsafe {
        let mut h = (lens * Lanes::splat(M)) ^ Lanes::splat(BLOOM_SEED);
        let most = keys.iter().fold(0, |most, key| most.max(key.len()));
        for at in (0..most & !15).step_by(16) {
            let block = |key: &Key| {
                let has = at + 16 <= key.len();
                let from = if has { key.as_ptr().add(at) } else { ZEROS.as_ptr() };
                _mm_loadu_si128(from.cast())
            };
            let next = words(keys, block).into_iter().fold(h, step::<16>);
            h = h.or_where(next, lens.gt(Lanes::splat(at as u32 + 15)));
        }
        let rest = lens & Lanes::splat(15);
        let [mut tail, words @ ..] = words(keys, |key| load_rest(key.as_ptr(), key.len()));
        for (j, word) in words.into_iter().enumerate() {
            let whole = rest.gt(Lanes::splat(4 * j as u32 + 3));
            h = h.or_where(step::<16>(h, tail), whole);
            tail = tail.or_where(word, whole);
        }
        let some = (rest & Lanes::splat(3)).gt(Lanes::splat(0));
        h.or_where(step::<24>(h, tail), some)
    }
}

/// A step of the hash, with `SHIFT` 16 for whole words and 24 for what is left.
#[inline(always)]
fn step<const SHIFT: i32>(h: Lanes, word: Lanes) -> Lanes {
    let h = (h + word) * h.splat_like(M);
    h ^ h.shr::<SHIFT>()
}

/// 16 bytes of each key, transposed: lanes for each of their four words, of keys 0, 2, 4, 6, 1, 3,
/// 5 and 7.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn words(keys: &Eight, block: impl Fn(&Key) -> __m128i) -> [Lanes; 4] {
    // SAFETY: the caller's.
    unsafe {
        let [a, b, c, d]: [__m256i; 4] =
            array::from_fn(|i| _mm256_setr_m128i(block(&keys[2 * i]), block(&keys[2 * i + 1])));
        let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
        [
            Lanes(_mm256_unpacklo_epi64(ab, cd)),
            Lanes(_mm256_unpackhi_epi64(ab, cd)),
            Lanes(_mm256_unpacklo_epi64(ab_high, cd_high)),
            Lanes(_mm256_unpackhi_epi64(ab_high, cd_high)),
        ]
    }
}

/// The last `len % 16` of `len` bytes, and zeros after them.
///
/// # Safety
/// The processor has AVX2; there are `len` bytes, eight at least.
#[inline(always)]
pub(super) unsafe fn load_rest(start: *const u8, len: usize) -> __m128i {
    // SAFETY: the caller's: eight bytes are loaded, 16 before the end or from the beginning, and the
    // last eight.
    unsafe {
        let low = start.add(len.saturating_sub(16)).cast::<u64>().read_unaligned();
        // The end of the low eight is where the high eight begin. (Of eight bytes in all, `to_front`
        // takes none of the low ones, which a shift by 64 leaves as they are.)
        let low = low.wrapping_shl(8 * 16usize.saturating_sub(len) as u32);
        let high = start.add(len - 8).cast::<u64>().read_unaligned();
        to_front(_mm_set_epi64x(high as i64, low as i64), len % 16)
    }
}

/// The last `n` of 16 bytes, and zeros after them.
///
/// # Safety
/// The processor has AVX2; `n` is at most 16.
#[inline(always)]
pub(super) unsafe fn to_front(bytes: __m128i, n: usize) -> __m128i {
    /// From 16 - n on, the shuffle that does it: an index with the highest bit set gives a zero.
    static SHUFFLES: [u8; 32] = {
        let mut shuffles = [0x80; 32];
        let mut i = 0;
        while i < 16 {
            shuffles[i] = i as u8;
            i += 1;
        }
        shuffles
    };
    // SAFETY: the caller's.
    unsafe { _mm_shuffle_epi8(bytes, _mm_loadu_si128(SHUFFLES.as_ptr().add(16 - n).cast())) }
}
