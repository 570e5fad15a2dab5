//! Hashing: eight keys at a time, one in each lane.

use core::arch::x86_64::*;
use core::mem::{self, MaybeUninit};
use core::{ptr, slice};

use super::super::avx2::hash::{self as avx2, Groups, ZEROS, at_least_eight};
use super::super::{Key, blocks, portable};
use super::LANES;
use crate::hash::{BLOOM_SEED as SEED, M};

/// How many eights of keys are hashed side by side. With four, keys of mixed lengths or of 100
/// bytes took 1.08 times as long (machine and date: see `avx512`).
pub(super) const GROUPS: usize = 8;
/// How many keys are hashed at once, and how far ahead they are asked for.
pub(super) const BLOCK: usize = GROUPS * LANES;
const _: () = assert!(BLOCK == blocks::BLOCK);

/// (h + word) * M. The word's own product does not have to wait for `h`.
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

/// The 16-byte blocks of eight keys: a vector for each of their four words, which are in the low
/// halves of lanes. The high halves may hold anything.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn words(block: impl Fn(usize) -> __m128i) -> [__m512i; 4] {
    let [a, b] = two_by_two(block);
    [a, _mm512_srli_epi64(a, 32), b, _mm512_srli_epi64(b, 32)]
}

/// The same with two words in a lane, the first in its low half.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn two_by_two(block: impl Fn(usize) -> __m128i) -> [__m512i; 2] {
    let join = |a, b, c, d| {
        let low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
        let high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
        _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)
    };
    let even = join(block(0), block(2), block(4), block(6));
    let odd = join(block(1), block(3), block(5), block(7));
    [_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd)]
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
        // Two tell most lists of mixed lengths.
        if len != (*groups.keys.add(1)).len() {
            return None;
        }
        let all = _mm512_set1_epi64(len as i64);
        let four = |at: *const Key| _mm512_loadu_si512(at.cast());
        // The last four overlap those before.
        let (mut at, last) = (groups.keys, groups.keys.wrapping_add(groups.n - 4));
        let mut differ = _mm512_xor_si512(four(last), all);
        loop {
            // differ | (four ^ all)
            differ = _mm512_ternarylogic_epi64::<0xf6>(differ, four(at), all);
            // Hidden, because the compiler would write out two steps.
            at = opaque!(at.wrapping_add(4));
            if at >= last {
                break;
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
            Some(len) if groups.would_thrash(len) => hash_eight_by_eight(groups, h),
            Some(len) => hash_uniform(groups, len, h),
            None => hash_mixed(groups, h),
        }
    }
}

/// Apart, because `hash` would keep registers for the loop whoever calls: five keys took 1.24 times
/// as long (AMD EPYC of the fourth generation, 2026-11-25).
///
/// # Safety
/// As for `hash`.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn hash_eight_by_eight(groups: Groups, h: *mut __m512i) {
    for (g, keys) in groups.each() {
        // SAFETY: the caller's word.
        unsafe {
            let mut eight = _mm256_setzero_si256();
            avx2::hash_mixed(Groups::of(keys, LANES, 1), &mut eight);
            *h.add(g) = _mm512_cvtepu32_epi64(avx2::in_order(eight))
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
    // SAFETY: the caller's word: each key has `len` bytes; only its last `rest` are loaded, which
    // the mask names.
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
    /// How many bytes each has in whole blocks of 16, but for a last block that ends it.
    whole: __m512i,
    /// Where the next of these blocks is, or `ZEROS`.
    next: __m512i,
    /// How many bytes follow these blocks, up to 16: as many ones in the low sixteen bits.
    rest: __m512i,
    /// Where those bytes are, or `ZEROS`.
    after: __m512i,
}

/// # Safety
/// As for `hash`.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn hash_mixed(groups: Groups, h: *mut __m512i) {
    at_line!();
    // SAFETY: no instructions.
    let zeros = unsafe {
        // Hidden, because the compiler would otherwise compute it again for each eight.
        opaque!(&raw const ZEROS)
    };
    let zeros = _mm512_set1_epi64(zeros as i64);
    let mut mixed = [const { MaybeUninit::<Mixed>::uninit() }; GROUPS];
    let mut most = _mm512_setzero_si512();
    // SAFETY: the caller's word; each of `mixed` is written before it is read. A block is loaded
    // within a key's `whole` bytes or from ZEROS, and of what follows only bytes that `rest` has
    // ones for.
    unsafe {
        for (g, keys) in groups.each() {
            // Keys 0, 4, 1, 5, 2, 6, 3, 7.
            let (a, b) = (_mm512_loadu_si512(keys.cast()), _mm512_loadu_si512(keys.add(4).cast()));
            let (start, len) = (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
            let m = _mm512_set1_epi64(i64::from(M));
            let seed = _mm512_set1_epi64(i64::from(SEED));
            *h.add(g) = _mm512_xor_si512(seed, _mm512_mul_epu32(len, m));
            // A last block of 16 is left for the end as well: so all keys whose lengths round up to
            // the same multiple of 16 have equally many blocks here.
            let one = _mm512_set1_epi64(1);
            let before_last = _mm512_sub_epi64(_mm512_max_epu64(len, one), one);
            let whole = _mm512_and_si512(before_last, _mm512_set1_epi64(!15));
            let rest = _mm512_sub_epi64(len, whole);
            most = _mm512_max_epu64(most, whole);
            // Lanes without whole blocks read zeros, and so do lanes with nothing after them.
            let any = _mm512_test_epi64_mask(whole, whole);
            let some = _mm512_test_epi64_mask(len, len);
            mixed.get_unchecked_mut(g).write(Mixed {
                whole,
                next: _mm512_mask_mov_epi64(zeros, any, start),
                // Rotated so, `rest` of the high ones come round to the low end, where sixteen bits
                // are zeros.
                rest: _mm512_rolv_epi64(_mm512_set1_epi64(!0xffff), rest),
                after: _mm512_mask_add_epi64(zeros, some, start, whole),
            });
        }
        let most = _mm512_reduce_max_epu64(most) as i64;
        let mut at = 0;
        while at < most {
            for (g, _) in groups.each() {
                let mixed = mixed.get_unchecked_mut(g).assume_init_mut();
                let live = _mm512_cmpgt_epu64_mask(mixed.whole, _mm512_set1_epi64(at));
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
                // Lanes that are past their blocks read zeros, of which nothing is made.
                let live = _mm512_cmpgt_epu64_mask(mixed.whole, _mm512_set1_epi64(at + 16));
                let next = _mm512_add_epi64(mixed.next, _mm512_set1_epi64(16));
                mixed.next = _mm512_mask_mov_epi64(zeros, live, next);
            }
            at += 16;
        }
        // Factor and shift of each word are looked up by which of its bytes are there; where none
        // is, the two change nothing. Masks in their place would compete with those that the loads
        // need meanwhile: 1,000 keys took 1.03 times as long (machine and date: see `avx512`).
        let m = M as i32;
        let factors = _mm512_setr_epi32(1, m, 0, m, 0, 0, 0, m, 0, 0, 0, 0, 0, 0, 0, m);
        let shifts = _mm512_setr_epi32(32, 24, 0, 24, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 16);
        let in_order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
        for (g, _) in groups.each() {
            let mixed = mixed.get_unchecked(g).assume_init_ref();
            let words = words(|i| {
                _mm_maskz_loadu_epi8(
                    lane(&mixed.rest, i) as __mmask16,
                    lane(&mixed.after, i) as *const i8,
                )
            });
            let (mut next, mut bytes) = (*h.add(g), mixed.rest);
            for word in words {
                let factor = _mm512_permutexvar_epi32(bytes, factors);
                let shift = _mm512_permutexvar_epi32(bytes, shifts);
                let sum = _mm512_madd52lo_epu64(_mm512_mul_epu32(word, factor), next, factor);
                next = _mm512_xor_si512(sum, shifted_right(sum, shift));
                bytes = _mm512_srli_epi64(bytes, 4);
            }
            *h.add(g) = _mm512_permutexvar_epi64(in_order, next);
        }
    }
}

/// Each 32-bit lane of `lanes`, shifted right by that of `by`; a shift by 32 leaves nothing. Not by
/// the intrinsic: for that the compiler adds a comparison, because its own shift may not go so far.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn shifted_right(lanes: __m512i, by: __m512i) -> __m512i {
    let shifted;
    // SAFETY: the instruction is AVX-512's, and has its operands in registers.
    unsafe {
        core::arch::asm!(
            "vpsrlvd {shifted}, {lanes}, {by}",
            shifted = lateout(zmm_reg) shifted,
            lanes = in(zmm_reg) lanes,
            by = in(zmm_reg) by,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    shifted
}

/// A lane of a vector in memory.
#[inline(always)]
fn lane(vector: &__m512i, lane: usize) -> u64 {
    // SAFETY: a vector of 512 bits is eight words of 64, and any bits are a u64.
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
        // SAFETY: `from` is at most `n - LANES` and `groups` ends within `n`, which is the number
        // of keys and, by the caller's word, of hashes.
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

/// Hashes all keys, as `hash` does, and returns of how many keys `h` has then the hashes: eight or
/// more, or none where there are no keys.
///
/// # Safety
/// There are `BLOCK` keys at most.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) unsafe fn hash_side_by_side(
    keys: &[Key],
    h: &mut [MaybeUninit<__m512i>; GROUPS],
) -> usize {
    let mut padded = [const { MaybeUninit::uninit() }; LANES];
    let Some((keys, n)) = at_least_eight(keys, &mut padded) else { return 0 };
    // SAFETY: `at_least_eight` gave `n` keys; by the caller's word there is room for the hashes of
    // all.
    unsafe { hash(Groups { keys, n }, h.as_mut_ptr().cast()) };
    n
}

/// Sixteen keys of one length, which whoever sets others' bits hashes little by little meanwhile.
pub(super) struct Ahead<'k> {
    keys: *const Key<'k>,
    /// Eight bytes beyond the keys' ends.
    end: usize,
    /// What to load next, if a block of 16 begins there; the eight bytes before are still to be
    /// hashed.
    at: usize,
    /// The block that was loaded last, as `two_by_two` has it; the first is of what to hash next.
    loaded: [[__m512i; 2]; 2],
    h: [__m512i; 2],
}

impl<'k> Ahead<'k> {
    /// # Safety
    /// There are sixteen keys, of `len` bytes each; or the length is 0.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    unsafe fn new(keys: *const Key<'k>, len: usize) -> Ahead<'k> {
        let loaded = [[_mm512_setzero_si512(); 2]; 2];
        Ahead { keys, end: len + 8, at: 0, loaded, h: [first_hash(len); 2] }
    }

    /// Hashes two words of each key, and loads the next four before the first of them is needed.
    /// Returns whether there is more to do.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    pub fn go_on(&mut self) -> bool {
        if self.at >= self.end {
            return false;
        }
        let left = self.end - self.at;
        if self.at != 0 {
            self.hash_word(left, |two| two);
            if left > 4 {
                self.hash_word(left - 4, |two| _mm512_srli_epi64(two, 32));
            }
            self.loaded = self.loaded.map(|[_, next]| [next; 2]);
        }
        if self.at % 16 == 0 && left > 8 {
            let (at, left) = (self.at, left - 8);
            // SAFETY: by the word of whoever called `new` there are sixteen keys, with so many
            // bytes left from `at` on. No more are loaded: sixteen, or those that the mask names.
            self.loaded = [self.keys, self.keys.wrapping_add(LANES)].map(|keys| unsafe {
                let from = |lane| (*keys.add(lane)).as_ptr().add(at);
                if left >= 16 {
                    two_by_two(|lane| _mm_loadu_si128(from(lane).cast()))
                } else {
                    let mask = _bzhi_u32(0xffff, left as u32) as __mmask16;
                    two_by_two(|lane| _mm_maskz_loadu_epi8(mask, from(lane).cast()))
                }
            });
        }
        self.at += 8;
        self.at < self.end
    }

    /// Hashes a word, of four bytes or of what is left of the keys. `word` takes it from the low or
    /// the high halves of lanes.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
    fn hash_word(&mut self, left: usize, word: impl Fn(__m512i) -> __m512i) {
        let shift = _mm512_set1_epi32(if left < 4 { 24 } else { 16 });
        for (h, [two, _]) in self.h.iter_mut().zip(self.loaded) {
            let sum = add_and_multiply(*h, word(two));
            *h = _mm512_xor_si512(sum, shifted_right(sum, shift));
        }
    }
}

/// Hands on the hashes of all keys, eight and eight; some keys may come twice. The hashes of the
/// next keys are made before the present ones are handed on, so that whoever sets bits meanwhile
/// does not wait for them. Keys that are short and of one length are handed on as well, to be
/// hashed between the setting of others' bits: `f` calls `Ahead::go_on` until it returns false. A
/// block at a time, 1,000 keys of 32 bytes took 1.14 times as long; and of 16 bytes 1.06 times,
/// hashed all at once before the others' bits were set (AMD EPYC of the fifth generation,
/// 2026-11-28).
///
/// Keys are prefetched as `blocks::prefetch` has it for an array of `bytes` bytes, but short ones of
/// one length only beyond `FOR_PAIRS`.
#[inline]
#[target_feature(enable = "avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) fn each_pair_hashed(
    all: &[Key],
    bytes: usize,
    mut f: impl FnMut([__m512i; 2], &mut Ahead),
) {
    const PAIR: usize = 2 * LANES;
    let (for_large, for_pairs) = (blocks::is_large(bytes), bytes > FOR_PAIRS);
    let mut padded = [const { MaybeUninit::uninit() }; LANES];
    let Some((keys, n)) = at_least_eight(all, &mut padded) else { return };
    let mut hashed = [_mm512_setzero_si512(); GROUPS];
    // SAFETY: `at_least_eight` gave `n` keys, eight or more. `hash_block_of` is given an `at` below
    // `n`; `short` is only set where a whole block of keys follows, all of which have its length.
    unsafe {
        hash_block_of(keys, n.min(PAIR), 0, for_large, &mut hashed);
        let mut now = [hashed[0], hashed[1]];
        let (mut at, mut short, mut apart) = (PAIR, None, false);
        loop {
            let begins = at % BLOCK == PAIR;
            if begins && at < n {
                short = None;
                if n - at >= BLOCK {
                    short = common_length(Groups::of(keys.add(at), BLOCK, GROUPS));
                    short = short.filter(|len| *len <= SHORT);
                }
                if short.is_none() {
                    hash_block_of(keys, n, at, for_large, &mut hashed);
                } else {
                    apart = for_pairs || blocks::lie_apart(blocks::at_most(BLOCK, all, at + BLOCK));
                }
            }
            let len = short.filter(|_| at < n).unwrap_or(0);
            let mut ahead = Ahead::new(keys.wrapping_add(at), len);
            match short {
                Some(_) if apart => {
                    // Only a part of a block: a whole one would be more prefetches than the
                    // processor can keep track of (1,000 keys took 1.35 times as long; AMD EPYC of
                    // the fourth generation, 2026-11-23).
                    let later = blocks::at_most(PAIR, all, at + BLOCK);
                    // Here, so that no registers are kept for a call that is rarely needed.
                    if !blocks::prefetch_lines(later) {
                        blocks::prefetch_each(later);
                    }
                }
                Some(_) => {}
                None => {
                    let g = (at - PAIR) % BLOCK / LANES;
                    ahead.h = [hashed[g], hashed[g + 1]];
                }
            }
            f(now, &mut ahead);
            if at >= n {
                return;
            }
            now = ahead.h;
            at += PAIR;
        }
    }
}

/// For an array of up to so many bytes, keys that are hashed little by little are not waited for:
/// 500,000 took 1.08 times as long prefetched (AMD EPYC of the fifth generation, 2026-11-28).
const FOR_PAIRS: usize = 3 << 18;

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
    for_large: bool,
    hashed: &mut [__m512i; GROUPS],
) {
    // SAFETY: the caller's word; `hashed` has a vector for each eight keys of a block.
    unsafe {
        blocks::prefetch(
            blocks::at_most(BLOCK, slice::from_raw_parts(keys, n), at + BLOCK),
            for_large,
        );
        let from = at.min(n - LANES);
        hash(Groups::of(keys.add(from), n - from, GROUPS), hashed.as_mut_ptr());
        let first = hashed[0];
        for h in hashed.iter_mut().skip((n - at).div_ceil(LANES)) {
            // Otherwise the loop would be written out.
            *opaque!(ptr::from_mut(h)) = first;
        }
    }
}

/// Keys of up to so many bytes are hashed sixteen at a time between the setting of others' bits.
/// With longer ones too few are hashed side by side, and each step waits for the one before.
const SHORT: usize = 64;

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
