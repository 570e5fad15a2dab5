//! Hashing: eight keys at a time, one in each lane.

use core::arch::x86_64::*;
use core::array;

use super::super::{Key, portable};
use super::lanes::{LANES, Lanes};
use crate::hash::{BLOOM_SEED, M};

type Eight<'k> = [Key<'k>; LANES];

/// # Safety
/// The processor has AVX2; there are eight keys at least, and as many hashes, rounded up to a
/// multiple of eight.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    let Some(len) = keys.first().map(|key| key.len()) else { return };
    // SAFETY: the caller's.
    unsafe {
        if LENGTHS.contains(&len) && have_length(keys, len) {
            hash_uniform(keys, len, hashes);
        } else {
            each_eight(keys, hashes, |_, keys| {
                if keys.iter().all(|key| LENGTHS.contains(&key.len())) {
                    return hash_mixed(keys);
                }
                let mut hashes = [0; LANES];
                portable::hash_keys(keys, &mut hashes);
                Lanes::load(hashes.as_ptr())
            });
        }
    }
}

/// Keys of other lengths are hashed by the portable kernel: `load_rest` needs eight bytes, and a
/// lane has a sign.
const LENGTHS: core::ops::Range<usize> = 8..1 << 31;

/// The keys by eights. The last eight overlap those before.
///
/// # Safety
/// There are eight.
#[inline(always)]
unsafe fn eights<'s, 'k>(keys: &'s [Key<'k>]) -> impl Iterator<Item = &'s Eight<'k>> {
    let last = keys.len() - LANES;
    // SAFETY: eight keys begin at `last`, and at any key before.
    (0..keys.len())
        .step_by(LANES)
        .map(move |at| unsafe { &*keys.as_ptr().add(at.min(last)).cast() })
}

/// Replaces the hashes of each eight by what `f` makes of them.
///
/// # Safety
/// As `hash_keys`.
#[inline(always)]
unsafe fn each_eight(keys: &[Key], hashes: &mut [u32], f: impl Fn(Lanes, &Eight) -> Lanes) {
    // SAFETY: the caller's.
    unsafe {
        for (keys, hashes) in eights(keys).zip(hashes.chunks_exact_mut(LANES)) {
            f(Lanes::load(hashes.as_ptr()), keys).store(hashes.as_mut_ptr());
        }
    }
}

/// Whether all keys have this length.
///
/// # Safety
/// As `hash_keys`.
#[inline(always)]
unsafe fn have_length(keys: &[Key], len: usize) -> bool {
    // SAFETY: the caller's. A vector of four words is two keys, each a pointer and a length.
    unsafe {
        let all = _mm256_set1_epi64x(len as i64);
        let mut same = _mm256_cmpeq_epi64(all, all);
        for eight in eights(keys) {
            for i in 0..LANES / 2 {
                let two = _mm256_loadu_si256(eight.as_ptr().cast::<__m256i>().add(i));
                same = _mm256_and_si256(same, _mm256_cmpeq_epi64(two, all));
            }
        }
        _mm256_movemask_pd(_mm256_castsi256_pd(same)) & 0b1010 == 0b1010
    }
}

/// Hashes keys of `len` bytes each, all of them block by block, because each step of a hash waits for
/// the one before.
///
/// # Safety
/// As `hash_keys`; the length is in `LENGTHS`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_uniform(keys: &[Key], len: usize, hashes: &mut [u32]) {
    // SAFETY: the caller's. 16 bytes are loaded only where each key has as many.
    unsafe {
        let first = Lanes::splat(BLOOM_SEED ^ (len as u32).wrapping_mul(M));
        let (blocks, rest) = (len & !15, len % 16);
        for at in (0..blocks).step_by(16) {
            let block = |key: &Key| _mm_loadu_si128(key.as_ptr().add(at).cast());
            each_eight(keys, hashes, |h, keys| {
                let h = if at == 0 { first } else { h };
                words(keys, block).into_iter().fold(h, step::<16>)
            });
        }
        if rest > 0 {
            each_eight(keys, hashes, |h, keys| {
                let mut h = if blocks == 0 { first } else { h };
                let words = words(keys, |key| load_rest(key.as_ptr(), len));
                for (j, word) in words.into_iter().enumerate() {
                    if rest >= 4 * j + 4 {
                        h = step::<16>(h, word);
                    } else if rest > 4 * j {
                        h = step::<24>(h, word);
                    }
                }
                h
            });
        }
    }
}

/// The hashes of keys of any of `LENGTHS`. Each step is done for all keys;
/// those that have ended keep their hash.
///
/// # Safety
/// The processor has AVX2; the lengths are in `LENGTHS`.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_mixed(keys: &Eight) -> Lanes {
    static ZEROS: [u8; 16] = [0; 16];
    // SAFETY: the caller's. 16 bytes are loaded only where a key has as many, or from `ZEROS`.
    unsafe {
        let [a, b, c, d, e, f, g, h] = keys.each_ref().map(|key| key.len() as i32);
        let lens = Lanes(_mm256_setr_epi32(a, b, c, d, e, f, g, h));
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

/// 16 bytes of each key, transposed: lanes for each of their four words.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn words(keys: &Eight, block: impl Fn(&Key) -> __m128i) -> [Lanes; 4] {
    // SAFETY: the caller's.
    unsafe {
        let [a, b, c, d]: [__m256i; 4] =
            array::from_fn(|i| _mm256_setr_m128i(block(&keys[i]), block(&keys[i + 4])));
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
