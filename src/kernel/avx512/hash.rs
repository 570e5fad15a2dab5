//! Hashing: eight keys at a time, one in each lane.

use core::arch::x86_64::*;
use core::mem::{self, MaybeUninit};
use core::slice;

use super::super::avx2::hash::{Groups, ZEROS, at_least_eight};
use super::super::{Key, key, portable};
use super::LANES;
use crate::hash::{BLOOM_SEED as SEED, M};

/// How many eights of keys are hashed side by side. Four took 1.08 times as long,
/// for keys of mixed lengths or of 100 bytes.
pub(super) const GROUPS: usize = 8;
/// How many keys are hashed at once, and how far ahead they are asked for.
pub(super) const BLOCK: usize = GROUPS * LANES;

/// The product of M and a sum. The word's is not waited for.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn add_and_multiply(h: __m512i, word: __m512i) -> __m512i {
    let m = _mm512_set1_epi64(i64::from(M));
    _mm512_madd52lo_epu64(_mm512_mul_epu32(word, m), h, m)
}

#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn step(h: __m512i, word: __m512i) -> __m512i {
    let h = add_and_multiply(h, word);
    _mm512_xor_si512(h, _mm512_srli_epi32(h, 16))
}

/// The four words of eight 16-byte blocks, in the low halves of lanes.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn words(block: impl Fn(usize) -> __m128i) -> [__m512i; 4] {
    let join = |a, b, c, d| {
        let low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
        let high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
        _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)
    };
    let even = join(block(0), block(2), block(4), block(6));
    let odd = join(block(1), block(3), block(5), block(7));
    let (a, b) = (_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd));
    [a, _mm512_srli_epi64(a, 32), b, _mm512_srli_epi64(b, 32)]
}

/// The length of all these keys, if they have one.
///
/// # Safety
/// There are that many keys.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn common_length(groups: Groups) -> Option<usize> {
    // SAFETY: the caller's word; a key is an address and a length.
    unsafe {
        let len = (*groups.keys).len();
        let all = _mm512_set1_epi64(len as i64);
        let mut differ = _mm512_setzero_si512();
        for start in groups.starts() {
            for at in [start, start + LANES / 2] {
                let four = _mm512_loadu_si512(groups.keys.add(at).cast());
                // differ | (four ^ all)
                differ = _mm512_ternarylogic_epi64::<0xf6>(differ, four, all);
            }
        }
        // The lengths are the odd words.
        (_mm512_mask_test_epi64_mask(0b1010_1010, differ, differ) == 0).then_some(len)
    }
}

/// Hashes keys by eights into the low halves of lanes; the high halves are of no
/// account.
///
/// # Safety
/// There are that many keys, and a vector for each eight.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn hash(groups: Groups, h: *mut __m512i) {
    // SAFETY: the caller's word.
    unsafe {
        // Otherwise the loops over them would be written out.
        let groups = Groups { n: opaque!(groups.n), ..groups };
        match common_length(groups) {
            Some(len) => hash_uniform(groups, len, h),
            None => hash_mixed(groups, h),
        }
    }
}

/// # Safety
/// As for `hash`; every key has `len` bytes.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn hash_uniform(groups: Groups, len: usize, h: *mut __m512i) {
    // SAFETY: the caller's word.
    unsafe {
        groups.hash_blocks(len, first_hash(len), h, |h, keys, at| hash_block(h, keys, at));
        if len % 16 != 0 {
            for (g, keys) in groups.each() {
                *h.add(g) = hash_rest(*h.add(g), keys, len);
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn first_hash(len: usize) -> __m512i {
    _mm512_set1_epi64(i64::from(SEED ^ (len as u32).wrapping_mul(M)))
}

/// A step for each word of the 16 bytes that eight keys have there.
///
/// # Safety
/// They have them.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn hash_block(h: __m512i, keys: *const Key, at: usize) -> __m512i {
    // SAFETY: the caller's word.
    let words = unsafe { words(|lane| _mm_loadu_si128((*keys.add(lane)).as_ptr().add(at).cast())) };
    words.into_iter().fold(h, |h, word| step(h, word))
}

/// The steps for what eight keys of `len` bytes have after whole blocks of 16.
///
/// # Safety
/// Each has so many bytes.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn hash_rest(h: __m512i, keys: *const Key, len: usize) -> __m512i {
    let rest = len % 16;
    let mask = _bzhi_u32(0xffff, rest as u32) as __mmask16;
    // SAFETY: of each key as many bytes are loaded as the mask names.
    let words = unsafe {
        words(|lane| {
            let from = (*keys.add(lane)).as_ptr().add(len - rest);
            _mm_maskz_loadu_epi8(mask, from.cast())
        })
    };
    let mut h = h;
    for (j, word) in words.into_iter().enumerate() {
        if rest > 4 * j {
            let shift = if rest < 4 * j + 4 { 24 } else { 16 };
            h = add_and_multiply(h, word);
            h = _mm512_xor_si512(h, _mm512_srl_epi32(h, _mm_cvtsi32_si128(shift)));
        }
    }
    h
}

/// Eight keys of any lengths.
struct Mixed {
    /// How many whole blocks of 16 bytes each has, but for a last one that ends it.
    blocks: __m512i,
    /// Where they are, how far from there the last is, and where the next is.
    from: __m512i,
    last: __m512i,
    next: __m512i,
    /// How many bytes follow them, 16 at most, a bit for each, and where they are.
    rest: __m512i,
    there: __m512i,
    after: __m512i,
}

/// # Safety
/// As for `hash`.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn hash_mixed(groups: Groups, h: *mut __m512i) {
    at_line!();
    let zeros = _mm512_set1_epi64(&raw const ZEROS as i64);
    let mut mixed = [const { MaybeUninit::<Mixed>::uninit() }; GROUPS];
    let mut most = _mm512_setzero_si512();
    // SAFETY: the caller's word; each of `mixed` is written before it is read.
    // Every load is of bytes a key has, or of ZEROS.
    unsafe {
        for (g, keys) in groups.each() {
            let (a, b) = (_mm512_loadu_si512(keys.cast()), _mm512_loadu_si512(keys.add(4).cast()));
            let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            let start = _mm512_permutex2var_epi64(a, even, b);
            let len = _mm512_permutex2var_epi64(a, odd, b);
            let m = _mm512_set1_epi64(i64::from(M));
            let seed = _mm512_set1_epi64(i64::from(SEED));
            *h.add(g) = _mm512_xor_si512(seed, _mm512_mul_epu32(len, m));
            // A last block of 16 is what follows, too: whatever the lengths up to a
            // multiple of 16, there are as many blocks.
            let one = _mm512_set1_epi64(1);
            let some = _mm512_test_epi64_mask(len, len);
            let before_last = _mm512_maskz_sub_epi64(some, len, one);
            let blocks = _mm512_srli_epi64(before_last, 4);
            most = _mm512_max_epu64(most, blocks);
            // Lanes out of blocks read 16 bytes that end the key, lanes without any
            // read zeros; nothing is made of either. So it is with lanes that have
            // nothing after them.
            let any = _mm512_test_epi64_mask(blocks, blocks);
            let from = _mm512_mask_mov_epi64(zeros, any, start);
            let rest = _mm512_and_si512(before_last, _mm512_set1_epi64(15));
            let rest = _mm512_maskz_add_epi64(some, rest, one);
            let end = _mm512_add_epi64(start, len);
            mixed.get_unchecked_mut(g).write(Mixed {
                blocks,
                from,
                last: _mm512_maskz_sub_epi64(any, len, _mm512_set1_epi64(16)),
                next: from,
                rest,
                there: _mm512_sub_epi64(_mm512_sllv_epi64(one, rest), one),
                after: _mm512_mask_sub_epi64(zeros, some, end, rest),
            });
        }
        for i in 0.._mm512_reduce_max_epu64(most) as i64 {
            for (g, _) in groups.each() {
                let mixed = mixed.get_unchecked_mut(g).assume_init_mut();
                let live = _mm512_cmpgt_epu64_mask(mixed.blocks, _mm512_set1_epi64(i));
                if live == 0 {
                    continue;
                }
                let mut next = *h.add(g);
                for word in words(|i| _mm_loadu_si128(lane(&mixed.next, i) as *const __m128i)) {
                    next = step(next, word);
                }
                // Volatile, because a compiler would make a masked store of it,
                // which the next load may have to wait for.
                h.add(g).write_volatile(_mm512_mask_mov_epi64(*h.add(g), live, next));
                let ahead = _mm512_min_epu64(mixed.last, _mm512_set1_epi64(16 * (i + 1)));
                mixed.next = _mm512_add_epi64(mixed.from, ahead);
            }
        }
        for (g, _) in groups.each() {
            let mixed = mixed.get_unchecked(g).assume_init_ref();
            let words = words(|i| {
                _mm_maskz_loadu_epi8(
                    lane(&mixed.there, i) as __mmask16,
                    lane(&mixed.after, i) as *const i8,
                )
            });
            let mut next = *h.add(g);
            for (j, word) in words.into_iter().enumerate() {
                let j = j as i64;
                let some = _mm512_cmpgt_epu64_mask(mixed.rest, _mm512_set1_epi64(4 * j));
                let whole = _mm512_cmpgt_epu64_mask(mixed.rest, _mm512_set1_epi64(4 * j + 3));
                let last = _mm512_set1_epi64(24);
                let shift = _mm512_mask_mov_epi64(last, whole, _mm512_set1_epi64(16));
                let sum = add_and_multiply(next, word);
                next = _mm512_mask_xor_epi64(next, some, sum, _mm512_srlv_epi32(sum, shift));
            }
            *h.add(g) = next;
        }
    }
}

/// A lane of a vector in memory.
#[inline(always)]
fn lane(vector: &__m512i, lane: usize) -> u64 {
    // SAFETY: eight lanes of 64 bits.
    unsafe { mem::transmute::<&__m512i, &[u64; LANES]>(vector)[lane] }
}

/// # Safety
/// The processor has AVX-512; there are as many hashes as keys.
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    let n = keys.len();
    if n < LANES {
        return portable::hash_keys(keys, hashes);
    }
    let mut at = 0;
    while at < n {
        // At least eight: the last may be some of those before.
        let from = at.min(n - LANES);
        let groups = Groups::of(keys.as_ptr().wrapping_add(from), n - from, GROUPS);
        let mut h = [const { MaybeUninit::<__m512i>::uninit() }; GROUPS];
        // SAFETY: `from` and as many keys on are within n, which is also how
        // many hashes there are.
        unsafe {
            hash(groups, h.as_mut_ptr().cast());
            // Otherwise the loop would be written out.
            let groups = Groups { n: opaque!(groups.n), ..groups };
            let h: *const __m512i = h.as_ptr().cast();
            for (g, start) in groups.starts().enumerate() {
                let h = _mm512_cvtepi64_epi32(*h.add(g));
                _mm256_storeu_si256(hashes.as_mut_ptr().add(from + start).cast(), h);
            }
        }
        at = from + groups.n;
    }
}

/// Hands on the hashes of all keys, as `hash` leaves them, a block at a time.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) fn each_hashed(keys: &[Key], mut f: impl FnMut(&[__m512i])) {
    let mut padded = [const { MaybeUninit::uninit() }; LANES];
    let Some((keys, n)) = at_least_eight(keys, &mut padded) else { return };
    let mut h = [const { MaybeUninit::<__m512i>::uninit() }; GROUPS];
    for at in (0..n).step_by(BLOCK) {
        let from = at.min(n - LANES);
        // SAFETY: eight keys follow `from`; a vector is written for each eight keys
        // that are hashed, and read for no others.
        unsafe {
            // Otherwise the loops over them would be written out.
            let h: *mut __m512i = opaque!(h.as_mut_ptr().cast());
            hash(Groups::of(keys.add(from), n - from, GROUPS), h);
            f(slice::from_raw_parts(h, (n - at).min(BLOCK).div_ceil(LANES)));
        }
    }
}

/// Hands on the hashes of all keys, eight and eight; some may come twice. Those of
/// the keys that come next are made before: who sets bits meanwhile does not wait
/// for them. Where keys are short and of one length they are made in the same run of
/// instructions: 1,000 keys of 16 bytes took 1.12 times as long without.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) fn each_pair_hashed(all: &[Key], mut f: impl FnMut(__m512i, __m512i)) {
    const PAIR: usize = 2 * LANES;
    let mut padded = [const { MaybeUninit::uninit() }; LANES];
    let Some((keys, n)) = at_least_eight(all, &mut padded) else { return };
    let mut hashed = [_mm512_setzero_si512(); GROUPS];
    // SAFETY: eight keys follow where a group begins, which is at `n - LANES` or
    // before; where `short` says so, all of a block. What is hashed side by
    // side has as many vectors at most.
    unsafe {
        hash_block_of(keys, n.min(PAIR), 0, &mut hashed);
        let mut now = [hashed[0], hashed[1]];
        let (mut at, mut short, mut apart) = (PAIR, None, false);
        loop {
            let mut next = now;
            if at < n {
                let begins = at % BLOCK == PAIR;
                if begins {
                    short = None;
                    if n - at >= BLOCK {
                        short = common_length(Groups::of(keys.add(at), BLOCK, GROUPS));
                        short = short.filter(|len| *len < SHORT);
                    }
                    if short.is_none() {
                        hash_block_of(keys, n, at, &mut hashed);
                    } else {
                        apart = key::lie_apart(key::at_most(BLOCK, all, at + BLOCK));
                    }
                }
                next = match short {
                    Some(len) => {
                        // Of a block at once more would be on their way than the processor
                        // keeps count of: 1,000 keys took 1.35 times as long (AMD EPYC of
                        // the fourth generation, 2026-11-23).
                        if apart {
                            key::prefetch_each(key::at_most(PAIR, all, at + BLOCK));
                        }
                        let (a, b) = (keys.add(at), keys.add(at + LANES));
                        let mut h = [first_hash(len); 2];
                        if len >= 16 {
                            h = [hash_block(h[0], a, 0), hash_block(h[1], b, 0)];
                        }
                        if len % 16 != 0 {
                            h = [hash_rest(h[0], a, len), hash_rest(h[1], b, len)];
                        }
                        h
                    }
                    None => {
                        let g = (at - PAIR) % BLOCK / LANES;
                        [hashed[g], hashed[g + 1]]
                    }
                };
            }
            f(now[0], now[1]);
            if at >= n {
                return;
            }
            now = next;
            at += PAIR;
        }
    }
}

/// Hashes the keys of a block that begins there, and asks for those of the next.
/// Vectors for which there are no keys repeat the first.
///
/// # Safety
/// There are `n` keys, eight at least, and more than `at`.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) unsafe fn hash_block_of(
    keys: *const Key,
    n: usize,
    at: usize,
    hashed: &mut [__m512i; GROUPS],
) {
    // SAFETY: the caller's word; a block has as many groups at most.
    unsafe {
        key::prefetch(key::at_most(BLOCK, slice::from_raw_parts(keys, n), at + BLOCK));
        let from = at.min(n - LANES);
        hash(Groups::of(keys.add(from), n - from, GROUPS), hashed.as_mut_ptr());
        let first = hashed[0];
        hashed.iter_mut().skip((n - at).div_ceil(LANES)).for_each(|h| *h = first);
    }
}

/// Keys of fewer bytes are hashed sixteen at a time between others' bits. Of
/// more, a step waits too long for the one before.
const SHORT: usize = 32;

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    /// What `at_line` is for.
    #[test]
    fn begins_at_a_cache_line() {
        let of_mixed_lengths = super::hash_mixed as *const () as usize;
        let batch = super::super::query::keys_may_match as *const () as usize;
        std::assert_eq!((of_mixed_lengths % 64, batch % 64), (0, 0));
    }
}
