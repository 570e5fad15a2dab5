//! AVX2, for x86-64 processors since Haswell and Zen.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these departures:
//! 1. Eight keys at a time, one in each 32-bit lane. Fewer than eight are
//!    padded with copies of the first; of more, the last eight overlap those
//!    before: to set a bit twice is to set it once.
//! 2. Keys are loaded 16 bytes at a time and transposed. Keys of one length
//!    have more keys beside them, because a step of a hash waits for the one
//!    before. Keys of mixed lengths are hashed to the end of the longest of
//!    eight, and lanes that are past their end keep their hash.
//! 3. Positions are sums of two remainders, corrected where the hash wraps.
//! 4. Sixteen keys are set side by side, eight and eight: a position waits for
//!    the one before, and half as many keys leave the processor waiting.
//! 5. An array of up to 32 Kbit is built with a byte a bit (see
//!    `bits::BYTE_PER_BIT_MAX`). In a register, one of up to 32 bytes took as
//!    long.
//! 6. A batch of queries asks for eight keys at once, in registers or with
//!    gathers, and for eight probes of each before it looks whether to stop.
//! 7. A query for one key has a probe in each lane, where the filter fits in
//!    registers and can be looked up there. Other filters are asked as the
//!    portable kernel does, here rather than there: the jump cost 1 of 14 ns
//!    (AMD EPYC of the third generation, 2026-11). Gathers cost as much as its
//!    loads.

// Intrinsics that are safe functions in newer compilers.
#![allow(unused_unsafe)]
// Lanes are counted, not listed.
#![allow(clippy::needless_range_loop)]
// A pointer that goes through `opaque`, which reads and writes nothing.
#![allow(clippy::pointers_in_nomem_asm_block)]

use core::arch::asm;
use core::arch::x86_64::*;
use core::mem::{self, MaybeUninit};
use core::num::NonZeroU32;
use core::ops::RangeInclusive;

use super::Key;
use super::bits::{self, BYTE_PER_BIT_MAX};
use super::portable::AT_ONCE;
use super::{Kernel, cpu, portable, scratch, through_a_branch};
use crate::filter::Filter;
use crate::hash::{BLOOM_SEED as SEED, M};
use crate::probe;

pub(super) const KERNEL: Kernel = Kernel {
    name: "avx2",
    supported: cpu::has_avx2,
    hash_keys,
    create,
    insert_hashes,
    may_match,
    keys_may_match,
    filters_may_match,
};

const LANES: usize = 8;

/// Where the bytes left after a key's whole blocks are in what `load_rest`
/// loads: first for keys of 8 to 15 bytes, then for longer ones by how many are
/// left. None is at -1.
static PLACES: [[i8; 16]; 24] = {
    let mut table = [[-1; 16]; 24];
    let mut row = 0;
    while row < table.len() {
        let rest = if row < 8 { row + 8 } else { row - 8 };
        let mut i = 0;
        while i < rest {
            table[row][i] = if row < 8 && i < 8 { i } else { i + 16 - rest } as i8;
            i += 1;
        }
        row += 1;
    }
    table
};

static ZEROS: [u8; 16] = [0; 16];

/// The same value, of which the compiler does not know where it comes from:
/// what it then finds out and makes of it is slower.
macro_rules! opaque {
    ($value:expr) => {{
        let mut value = $value;
        asm!("/* {0} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags));
        value
    }};
}

/// Up to this many times eight keys of one length are hashed side by side. With
/// one, 1,000 keys of 100 bytes took 1.1 to 1.2 times as long, with two up to
/// 1.07 times (AMD EPYC of the third generation, 2026-11).
const GROUPS: usize = 4;

/// # Safety
/// The processor has AVX2; there are as many hashes as keys.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    let n = keys.len();
    if n < LANES {
        for (key, h) in keys.iter().zip(hashes) {
            *h = portable::hash(key.as_bytes());
        }
        return;
    }
    let mut at = 0;
    while at < n {
        // At least eight: the last may be some of those before.
        let from = at.min(n - LANES);
        let groups =
            Groups { keys: keys.as_ptr().wrapping_add(from), n: (n - from).min(GROUPS * LANES) };
        // SAFETY: the caller has AVX2; `from` and as many keys on are within n.
        unsafe {
            let hashes = hashes.as_mut_ptr().add(from);
            match groups.common_length() {
                Some(len) => hash_uniform(groups, len, hashes),
                None => {
                    for start in groups.starts() {
                        hash_mixed(groups.keys.add(start), hashes.add(start));
                    }
                }
            }
        }
        at = from + groups.n;
    }
}

/// Keys by eights: at least 8, at most `8 * GROUPS`.
#[derive(Clone, Copy)]
struct Groups<'k> {
    keys: *const Key<'k>,
    n: usize,
}

impl<'k> Groups<'k> {
    /// Where each eight begin.
    #[inline(always)]
    fn starts(self) -> impl Iterator<Item = usize> {
        // The last eight overlap those before.
        (0..self.n).step_by(LANES).map(move |at| at.min(self.n - LANES))
    }

    /// The length of all keys, if they have one.
    ///
    /// # Safety
    /// The processor has AVX2; there are that many keys.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn common_length(self) -> Option<usize> {
        // SAFETY: the caller's word; two words a key.
        unsafe {
            let len = (*self.keys).len();
            let all = _mm256_set1_epi64x(len as i64);
            let mut same = _mm256_set1_epi64x(-1);
            for start in self.starts() {
                let words = self.keys.add(start).cast::<__m256i>();
                for two in 0..LANES / 2 {
                    let words = _mm256_loadu_si256(words.add(two));
                    same = _mm256_and_si256(same, _mm256_cmpeq_epi64(words, all));
                }
            }
            // the lengths are the odd words
            (_mm256_movemask_pd(_mm256_castsi256_pd(same)) & 0b1010 == 0b1010).then_some(len)
        }
    }
}

/// Eight lanes hold keys 0, 2, 4, 6, 1, 3, 5, 7 while they are hashed; this is the order of keys.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn in_order(h: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_permutevar8x32_epi32(h, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)) }
}

/// The four words of the 16-byte blocks of eight keys, a vector each.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn words(block: impl Fn(usize) -> __m128i) -> [__m256i; 4] {
    // SAFETY: the caller has AVX2.
    unsafe {
        let two = |i| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(block(i)), block(i + 1));
        let (a, b, c, d) = (two(0), two(2), two(4), two(6));
        let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
        [
            _mm256_unpacklo_epi64(ab, cd),
            _mm256_unpackhi_epi64(ab, cd),
            _mm256_unpacklo_epi64(ab_high, cd_high),
            _mm256_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// A step of the hash, with `SHIFT` 16 for whole words and 24 for what is left.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn step<const SHIFT: i32>(h: __m256i, word: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe {
        let h = _mm256_mullo_epi32(_mm256_add_epi32(h, word), _mm256_set1_epi32(M as i32));
        _mm256_xor_si256(h, _mm256_srli_epi32(h, SHIFT))
    }
}

/// The last `len % 16` bytes of a key of at least 8, zeros after them.
///
/// # Safety
/// The processor has AVX2; the key has `len` bytes, 8 or more.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn load_rest(key: *const u8, len: usize) -> __m128i {
    // Keys on either side of 16 bytes take the same way, which among mixed
    // lengths no processor could guess.
    let row = if len < 16 { len - 8 } else { 8 + len % 16 };
    // SAFETY: 8 bytes that begin at most 16 before the key's end and not
    // before the key, and the key's last 8; the row is less than 24.
    unsafe {
        let low = key.add(len.saturating_sub(16)).cast::<i64>().read_unaligned();
        let high = key.add(len - 8).cast::<i64>().read_unaligned();
        let places = _mm_loadu_si128(PLACES.as_ptr().add(row).cast());
        _mm_shuffle_epi8(_mm_set_epi64x(high, low), places)
    }
}

/// A key of less than 8 bytes.
///
/// # Safety
/// The key has `len` bytes.
#[inline]
unsafe fn load_short(key: *const u8, len: usize) -> __m128i {
    // SAFETY: every load is of bytes the key has.
    unsafe {
        let end = key.wrapping_add(len);
        let mut low = 0;
        if len >= 4 {
            let last = u64::from(end.sub(4).cast::<u32>().read_unaligned());
            low = u64::from(key.cast::<u32>().read_unaligned()) | (last << (8 * len - 32));
        } else if len > 0 {
            // one to three bytes: the first, the middle one and the last
            low = u64::from(*key)
                | (u64::from(*key.add(len / 2)) << (8 * (len / 2)))
                | (u64::from(*end.sub(1)) << (8 * (len - 1)));
        }
        _mm_set_epi64x(0, low as i64)
    }
}

/// The words of what `load_rest` loads of eight keys.
///
/// # Safety
/// The processor has AVX2; there are eight keys.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn rests_one_by_one(keys: *const Key) -> [__m256i; 4] {
    let mut rests = [MaybeUninit::uninit(); LANES];
    // SAFETY: the caller's word; all eight are written.
    unsafe {
        for (i, rest) in rests.iter_mut().enumerate() {
            // Otherwise the loop would be written out, a kilobyte.
            let key = *opaque!(keys.add(i));
            rest.write(match key.len() {
                0..8 => load_short(key.as_ptr(), key.len()),
                len => load_rest(key.as_ptr(), len),
            });
        }
        words(|i| rests[i].assume_init())
    }
}

/// # Safety
/// The processor has AVX2; there are that many keys, all of `len` bytes, and
/// as many hashes.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_uniform(groups: Groups, len: usize, hashes: *mut u32) {
    // SAFETY: every load is of bytes the keys have; there are at most GROUPS groups.
    unsafe {
        let first = _mm256_set1_epi32((SEED ^ (len as u32).wrapping_mul(M)) as i32);
        let mut h = [first; GROUPS];
        // Otherwise the loops over it would be written out.
        let h = opaque!(h.as_mut_ptr());
        let mut at = 0;
        while len - at >= 16 {
            for (g, start) in groups.starts().enumerate() {
                let keys = groups.keys.add(start);
                let block = |i| _mm_loadu_si128((*keys.add(i)).as_ptr().add(at).cast());
                let mut hash = *h.add(g);
                for word in words(block) {
                    hash = step::<16>(hash, word);
                }
                *h.add(g) = hash;
            }
            at += 16;
        }
        for (g, start) in groups.starts().enumerate() {
            let mut hash = *h.add(g);
            if at != len {
                let keys = groups.keys.add(start);
                let mut left = len % 16;
                let words = match len {
                    0..8 => rests_one_by_one(keys),
                    _ => words(|i| load_rest((*keys.add(i)).as_ptr(), len)),
                };
                for word in words {
                    if left >= 4 {
                        hash = step::<16>(hash, word);
                        left -= 4;
                    } else if left > 0 {
                        hash = step::<24>(hash, word);
                        left = 0;
                    }
                }
            }
            _mm256_storeu_si256(hashes.add(start).cast(), in_order(hash));
        }
    }
}

/// Addresses or lengths of eight keys: 0, 2, 1, 3 and 4, 6, 5, 7.
type Wide = [__m256i; 2];

/// # Safety
/// The processor has AVX2; there are eight keys.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn addresses_and_lengths(keys: *const Key) -> (Wide, Wide) {
    // SAFETY: the caller's word.
    unsafe {
        let two = |i| _mm256_loadu_si256(keys.cast::<__m256i>().add(i));
        let (a, b, c, d) = (two(0), two(1), two(2), two(3));
        (
            [_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d)],
            [_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d)],
        )
    }
}

/// The low halves, in the order of `words`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn narrow([a, b]: Wide) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe {
        let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
        _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b))
    }
}

/// The address of key `i`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn address([a, b]: Wide, i: usize) -> *const u8 {
    // SAFETY: the caller has AVX2.
    let address = unsafe {
        match i {
            0 => _mm256_extract_epi64::<0>(a),
            1 => _mm256_extract_epi64::<2>(a),
            2 => _mm256_extract_epi64::<1>(a),
            3 => _mm256_extract_epi64::<3>(a),
            4 => _mm256_extract_epi64::<0>(b),
            5 => _mm256_extract_epi64::<2>(b),
            6 => _mm256_extract_epi64::<1>(b),
            _ => _mm256_extract_epi64::<3>(b),
        }
    };
    address as *const u8
}

/// # Safety
/// The processor has AVX2; there are eight keys, and as many hashes.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_mixed(keys: *const Key, hashes: *mut u32) {
    // SAFETY: every load is of bytes a key has, or of ZEROS.
    unsafe {
        let (start, len) = addresses_and_lengths(keys);
        // A longer key's blocks are more than a lane can count.
        let long = _mm256_srli_epi64(_mm256_or_si256(len[0], len[1]), 31);
        if _mm256_testz_si256(long, long) == 0 {
            for i in 0..LANES {
                hashes.add(i).write(portable::hash_apart(*keys.add(i)));
            }
            return;
        }
        // Lanes out of whole blocks read their last 16 bytes again, lanes
        // without any read zeros; nothing is made of either.
        let zeros = _mm256_set1_epi64x(ZEROS.as_ptr() as i64);
        let any = len.map(|len| _mm256_cmpgt_epi64(len, _mm256_set1_epi64x(15)));
        let last = [0, 1]
            .map(|i| _mm256_and_si256(any[i], _mm256_sub_epi64(len[i], _mm256_set1_epi64x(16))));
        let from = [0, 1].map(|i| _mm256_blendv_epi8(zeros, start[i], any[i]));
        let lens = narrow(len);
        let mut h = _mm256_mullo_epi32(lens, _mm256_set1_epi32(M as i32));
        h = _mm256_xor_si256(h, _mm256_set1_epi32(SEED as i32));
        let (mut at, mut left) = (_mm256_setzero_si256(), lens);
        loop {
            let live = _mm256_cmpgt_epi32(left, _mm256_set1_epi32(15));
            if _mm256_testz_si256(live, live) != 0 {
                break;
            }
            let blocks = [0, 1].map(|i| _mm256_add_epi64(from[i], _mm256_min_epu32(last[i], at)));
            let mut next = h;
            for word in words(|i| _mm_loadu_si128(address(blocks, i).cast())) {
                next = step::<16>(next, word);
            }
            h = _mm256_blendv_epi8(h, next, live);
            at = _mm256_add_epi64(at, _mm256_set1_epi64x(16));
            left = _mm256_sub_epi32(left, _mm256_set1_epi32(16));
        }
        let short = _mm256_cmpgt_epi32(_mm256_set1_epi32(8), lens);
        let [mut tail, words @ ..] = if _mm256_testz_si256(short, short) != 0 {
            rests_side_by_side(start, len)
        } else {
            rests_one_by_one(keys)
        };
        let rest = _mm256_and_si256(lens, _mm256_set1_epi32(15));
        for (j, word) in words.into_iter().enumerate() {
            let whole = _mm256_cmpgt_epi32(rest, _mm256_set1_epi32(4 * j as i32 + 3));
            h = _mm256_blendv_epi8(h, step::<16>(h, tail), whole);
            tail = _mm256_blendv_epi8(tail, word, whole);
        }
        let some = _mm256_and_si256(rest, _mm256_set1_epi32(3));
        let some = _mm256_cmpgt_epi32(some, _mm256_setzero_si256());
        h = _mm256_blendv_epi8(h, step::<24>(h, tail), some);
        _mm256_storeu_si256(hashes.cast(), in_order(h));
    }
}

/// What `load_rest` loads, of eight keys of at least 8 bytes each.
///
/// # Safety
/// The processor has AVX2; the keys have these lengths, 8 or more.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn rests_side_by_side(start: Wide, len: Wide) -> [__m256i; 4] {
    // SAFETY: as in `load_rest`.
    unsafe {
        let (mut low, mut high, mut places) = (start, start, start);
        for i in 0..2 {
            let less_16 = _mm256_sub_epi64(len[i], _mm256_set1_epi64x(16));
            let any = _mm256_cmpgt_epi64(len[i], _mm256_set1_epi64x(15));
            low[i] = _mm256_add_epi64(start[i], _mm256_and_si256(any, less_16));
            high[i] = _mm256_add_epi64(start[i], _mm256_sub_epi64(len[i], _mm256_set1_epi64x(8)));
            let rest = _mm256_and_si256(len[i], _mm256_set1_epi64x(15));
            let row = _mm256_blendv_epi8(less_16, rest, any);
            let base = _mm256_set1_epi64x(PLACES.as_ptr().add(8) as i64);
            places[i] = _mm256_add_epi64(base, _mm256_slli_epi64::<4>(row));
        }
        words(|i| {
            let low = address(low, i).cast::<i64>().read_unaligned();
            let high = address(high, i).cast::<i64>().read_unaligned();
            _mm_shuffle_epi8(_mm_set_epi64x(high, low), _mm_loadu_si128(address(places, i).cast()))
        })
    }
}

/// A modulus below 2^31.
#[derive(Clone, Copy)]
struct Modulus {
    bits: __m256i,
    /// (2^32 - 1) / bits, rounded down.
    inverse: __m256i,
}

impl Modulus {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn new(bits: NonZeroU32) -> Modulus {
        // SAFETY: the caller has AVX2.
        unsafe {
            Modulus {
                bits: _mm256_set1_epi32(bits.get() as i32),
                inverse: _mm256_set1_epi32((u32::MAX / bits) as i32),
            }
        }
    }

    /// `h` modulo the bits. The quotient is right or one too small: the inverse
    /// lacks at most 1 of 2^32 / bits, and so h / bits less than 1.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn rem(self, h: __m256i) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            let even = _mm256_mul_epu32(h, self.inverse);
            let odd = _mm256_mul_epu32(_mm256_srli_epi64(h, 32), self.inverse);
            let quotient = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0b1010_1010);
            let rem = _mm256_sub_epi32(h, _mm256_mullo_epi32(quotient, self.bits));
            _mm256_min_epu32(rem, _mm256_sub_epi32(rem, self.bits))
        }
    }

    /// What is left of 2^32 above the last multiple of the bits below it: at
    /// most the bits.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn lost(self) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            let multiple = _mm256_mullo_epi32(self.inverse, self.bits);
            _mm256_sub_epi32(_mm256_setzero_si256(), multiple)
        }
    }
}

/// The positions of eight keys, probe after probe.
#[derive(Clone, Copy)]
struct Positions {
    /// The next positions.
    p: __m256i,
    /// The sum of hash and deltas, and delta, with the sign bit flipped, so
    /// that a signed comparison tells where the sum wrapped.
    sum: __m256i,
    delta: __m256i,
    limit: __m256i,
    /// What to add to a position, and what more where the sum wraps.
    step: __m256i,
    change: __m256i,
    bits: __m256i,
}

impl Positions {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn new(h: __m256i, modulus: Modulus) -> Positions {
        // SAFETY: the caller has AVX2.
        unsafe {
            let delta = _mm256_or_si256(_mm256_srli_epi32(h, 17), _mm256_slli_epi32(h, 15));
            let sign = _mm256_set1_epi32(i32::MIN);
            let step = modulus.rem(delta);
            let wrapped = _mm256_sub_epi32(step, modulus.lost());
            let wrapped = _mm256_min_epu32(wrapped, _mm256_add_epi32(wrapped, modulus.bits));
            Positions {
                p: modulus.rem(h),
                sum: _mm256_xor_si256(h, sign),
                delta,
                limit: _mm256_xor_si256(delta, sign),
                step,
                change: _mm256_sub_epi32(wrapped, step),
                bits: modulus.bits,
            }
        }
    }

    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn next(&mut self) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            let p = self.p;
            self.sum = _mm256_add_epi32(self.sum, self.delta);
            let wraps = _mm256_cmpgt_epi32(self.limit, self.sum);
            let step = _mm256_add_epi32(self.step, _mm256_and_si256(wraps, self.change));
            let next = _mm256_add_epi32(p, step);
            self.p = _mm256_min_epu32(next, _mm256_sub_epi32(next, self.bits));
            p
        }
    }
}

/// Calls `set` with every position of every key's probes.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn each_position(hashes: &[u32], k: u32, modulus: Modulus, mut set: impl FnMut(u32)) {
    let n = hashes.len();
    let mut padded = [0; LANES];
    let (hashes, last) = match hashes {
        [] => return,
        [first, ..] if n < LANES => {
            for (i, slot) in padded.iter_mut().rev().enumerate() {
                *slot = *hashes.get(i).unwrap_or(first);
            }
            (padded.as_ptr(), 0)
        }
        _ => (hashes.as_ptr(), n - LANES),
    };
    // SAFETY: `last` and all before it are followed by eight.
    unsafe {
        let (low, high) = (|p| _mm256_castsi256_si128(p), |p| _mm256_extracti128_si256::<1>(p));
        let positions =
            |at| Positions::new(_mm256_loadu_si256(hashes.add(last.min(at)).cast()), modulus);
        for at in (0..n).step_by(2 * LANES) {
            let left = n - at;
            let mut a = positions(at);
            if left > LANES {
                let mut b = positions(at + LANES);
                for _ in 0..k {
                    let (a, b) = (a.next(), b.next());
                    for four in [low(a), high(a), low(b), high(b)] {
                        set_four(four, &mut set);
                    }
                }
            } else {
                for _ in 0..k {
                    let a = a.next();
                    // Of the last four keys' vector, the other half was set before.
                    if left > LANES / 2 {
                        set_four(low(a), &mut set);
                    }
                    set_four(high(a), &mut set);
                }
            }
        }
    }
}

/// Sets four positions.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn set_four(four: __m128i, mut set: impl FnMut(u32)) {
    // SAFETY: the caller has AVX2.
    for two in unsafe { in_pairs(four) } {
        set(two as u32);
        set((two >> 32) as u32);
    }
}

/// Four lanes, two by two in words.
///
/// Through memory it is as many instructions, but now and then the processor
/// takes to guessing wrong which store such a load reads, and is then four
/// times slower for seconds.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn in_pairs(four: __m128i) -> [u64; 2] {
    // SAFETY: the caller has AVX2.
    unsafe {
        // Otherwise the lanes would be taken out one by one.
        [opaque!(_mm_cvtsi128_si64(four)) as u64, opaque!(_mm_extract_epi64::<1>(four)) as u64]
    }
}

/// # Safety
/// The processor has AVX2; the array is not empty; k is at most 30.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    if keys.len() < portable::FEW {
        return portable::create_from_few(keys, k, array);
    }
    // SAFETY: the caller's word.
    unsafe {
        match bits::bits_of(array.len()) {
            Some(bits)
                if array.len() <= BYTE_PER_BIT_MAX / 8 && create_by_bytes(keys, k, bits, array) => {
            }
            _ => create_in_place(keys, k, bits::zeroed(array)),
        }
    }
}

#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn create_by_bytes(
    keys: &[Key],
    k: u32,
    bits: NonZeroU32,
    array: &mut [MaybeUninit<u8>],
) -> bool {
    scratch::with_zeroed((array.len() * 8).next_multiple_of(32), |bytes| {
        // SAFETY: the caller has AVX2. A position is less than the array's
        // bits, of which `bytes` has a byte each.
        unsafe {
            let modulus = Modulus::new(bits);
            bits::in_blocks(
                keys,
                |keys, hashes| hash_keys(keys, hashes),
                |hashes| {
                    each_position(hashes, k, modulus, |p| {
                        *bytes.get_unchecked_mut(p as usize) = 0x80;
                    })
                },
            );
            // SAFETY: 32 bytes.
            let pack =
                |bytes: &[u8]| _mm256_movemask_epi8(_mm256_loadu_si256(bytes.as_ptr().cast()));
            let mut words = array.chunks_exact_mut(4);
            let mut bytes = bytes.chunks_exact(32);
            for (out, bytes) in (&mut words).zip(&mut bytes) {
                out.as_mut_ptr().cast::<i32>().write_unaligned(pack(bytes));
            }
            if let Some(bytes) = bytes.next() {
                for (out, byte) in words.into_remainder().iter_mut().zip(pack(bytes).to_le_bytes())
                {
                    out.write(byte);
                }
            }
        }
    })
}

#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn create_in_place(keys: &[Key], k: u32, array: &mut [u8]) {
    bits::in_blocks(
        keys,
        // SAFETY: the caller's word, as below; there are as many hashes as keys.
        |keys, hashes| unsafe { hash_keys(keys, hashes) },
        // SAFETY: the caller's word.
        |hashes| unsafe { insert_hashes(hashes, k, array) },
    );
}

/// # Safety
/// The processor has AVX2; the array is not empty; k is at most 30.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn insert_hashes(hashes: &[u32], k: u32, array: &mut [u8]) {
    match bits::bits_of(array.len()) {
        // SAFETY: the caller has AVX2. A position is less than the array's bits.
        Some(bits) => unsafe {
            each_position(hashes, k, Modulus::new(bits), |p| bits::set_bit(array, p))
        },
        None => portable::insert_hashes(hashes, k, array),
    }
}

/// Which sizes of filter, k byte included, fit in a `Small`.
const SMALL: RangeInclusive<usize> = 16..=64;

/// For each size of `SMALL` the bits, and `Modulus::inverse`: two loads instead
/// of a division.
static SMALL_MODULI: [[u32; 2]; SMALL_SIZES] = {
    let mut table = [[0; 2]; SMALL_SIZES];
    let mut i = 0;
    while i < table.len() {
        let bits = 8 * (*SMALL.start() + i - 1) as u32;
        table[i] = [bits, u32::MAX / bits];
        i += 1;
    }
    table
};
const SMALL_SIZES: usize = *SMALL.end() - *SMALL.start() + 1;

/// From byte i on, a shuffle that moves 16 bytes i places to the front.
static TO_FRONT: [i8; 32] = {
    let mut shuffle = [-1; 32];
    let mut i = 0;
    while i < 16 {
        shuffle[i] = i as i8;
        i += 1;
    }
    shuffle
};

/// A filter in registers, whose k byte is there and is not asked for.
#[derive(Clone, Copy)]
struct Small {
    /// The first 32 bytes.
    low: __m256i,
    /// The last 32 bytes, of which some may be in `low` too, if there are more than 32.
    high: Option<__m256i>,
    /// What brings a position beyond `low` to its place in `high`, modulo the 256 bits of a
    /// register.
    ahead: __m256i,
    modulus: Modulus,
}

impl Small {
    /// # Safety
    /// The processor has AVX2; the filter's size is in `SMALL`.
    #[inline(always)]
    unsafe fn load(filter: &[u8]) -> Small {
        let (start, len) = (filter.as_ptr(), filter.len());
        // SAFETY: 32 bytes where there are as many, 16 where there are fewer; the tables have all
        // sizes.
        unsafe {
            let [bits, inverse] = *SMALL_MODULI.get_unchecked(len - SMALL.start());
            let modulus = Modulus {
                bits: _mm256_set1_epi32(bits as i32),
                inverse: _mm256_set1_epi32(inverse as i32),
            };
            let (low, high, ahead);
            if len > 32 {
                low = _mm256_loadu_si256(start.cast());
                high = Some(_mm256_loadu_si256(start.add(len - 32).cast()));
                ahead = _mm256_set1_epi32(-8 * len as i32);
            } else {
                let last = _mm_loadu_si128(start.add(len - 16).cast());
                let to_front = _mm_loadu_si128(TO_FRONT.as_ptr().add(32 - len).cast());
                let last = _mm_shuffle_epi8(last, to_front);
                low = _mm256_setr_m128i(_mm_loadu_si128(start.cast()), last);
                high = None;
                ahead = low;
            }
            Small { low, high, ahead, modulus }
        }
    }

    /// The bits at eight positions, each at the top of its lane.
    ///
    /// # Safety
    /// The processor has AVX2; the positions are in the filter's array.
    #[inline(always)]
    unsafe fn look_up(self, mut p: __m256i) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            let found = match self.high {
                None => _mm256_permutevar8x32_epi32(self.low, _mm256_srli_epi32::<5>(p)),
                Some(high) => {
                    let beyond = _mm256_cmpgt_epi32(p, _mm256_set1_epi32(255));
                    p = _mm256_add_epi32(p, _mm256_and_si256(beyond, self.ahead));
                    let word = _mm256_srli_epi32::<5>(p);
                    let low = _mm256_permutevar8x32_epi32(self.low, word);
                    let high = _mm256_permutevar8x32_epi32(high, word);
                    _mm256_blendv_epi8(low, high, beyond)
                }
            };
            _mm256_sllv_epi32(found, _mm256_andnot_si256(p, _mm256_set1_epi32(31)))
        }
    }
}

/// What the probes of a key are the remainders of, eight at a time.
#[derive(Clone, Copy)]
struct Sums {
    first: __m256i,
    /// From eight to the next.
    step: __m256i,
}

impl Sums {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn new(h: u32) -> Sums {
        // SAFETY: the caller has AVX2.
        unsafe {
            let delta = _mm256_set1_epi32(h.rotate_right(17) as i32);
            let j = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            Sums {
                first: _mm256_add_epi32(_mm256_set1_epi32(h as i32), _mm256_mullo_epi32(j, delta)),
                step: _mm256_slli_epi32::<3>(delta),
            }
        }
    }

    /// Whether the bits of `k` probes are set.
    ///
    /// # Safety
    /// The processor has AVX2; `look_up` can be asked for any remainder; k is at most 32.
    #[inline(always)]
    unsafe fn all_set(
        self,
        mut k: u32,
        modulus: Modulus,
        look_up: impl Fn(__m256i) -> __m256i,
    ) -> bool {
        // SAFETY: the caller's word.
        unsafe {
            let mut sum = self.first;
            loop {
                let found = look_up(modulus.rem(sum));
                let set = _mm256_movemask_ps(_mm256_castsi256_ps(found)) as u32;
                let missing = _bzhi_u32(!set & 0xff, k);
                if k <= LANES as u32 || missing != 0 {
                    return missing == 0;
                }
                k -= LANES as u32;
                sum = _mm256_add_epi32(sum, self.step);
            }
        }
    }
}

/// The bits at eight positions in an array, each at the top of its lane. Eight
/// loads: a gather took longer (AMD EPYC of the third generation, 2026-11).
///
/// # Safety
/// The processor has AVX2; the positions are in the array.
#[inline(always)]
unsafe fn look_up(array: &[u8], p: __m256i) -> __m256i {
    // SAFETY: the caller's word; an eighth of a position is a byte's place.
    unsafe {
        let byte = _mm256_srli_epi32(p, 3);
        let load = |place: u64| i32::from(*array.get_unchecked(place as u32 as usize));
        let four = |places: __m128i| {
            let [two, two_more] = in_pairs(places);
            let bytes = _mm_cvtsi32_si128(load(two));
            let bytes = _mm_insert_epi8::<1>(bytes, load(two >> 32));
            let bytes = _mm_insert_epi8::<2>(bytes, load(two_more));
            _mm_insert_epi8::<3>(bytes, load(two_more >> 32))
        };
        let low = four(_mm256_castsi256_si128(byte));
        let high = four(_mm256_extracti128_si256::<1>(byte));
        let bytes = _mm256_cvtepu8_epi32(_mm_unpacklo_epi32(low, high));
        let to_top = _mm256_andnot_si256(p, _mm256_set1_epi32(7));
        _mm256_sllv_epi32(bytes, _mm256_add_epi32(to_top, _mm256_set1_epi32(24)))
    }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn may_match(key: Key, filter: &[u8]) -> bool {
    let Filter::Probe { array, k } = Filter::parse(filter) else {
        return portable::may_match(key, filter);
    };
    let h = portable::hash(key.as_bytes());
    through_a_branch(if SMALL.contains(&filter.len()) {
        // SAFETY: the caller has AVX2; the size was looked at; k is at most 30.
        unsafe {
            let small = Small::load(filter);
            Sums::new(h).all_set(k, small.modulus, |p| small.look_up(p))
        }
    } else {
        portable::contains(h, k, array)
    })
}

/// # Safety
/// The processor has AVX2; there are as many results as filters.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn filters_may_match(key: Key, filters: &[Key], results: &mut [u8]) -> usize {
    let h = portable::hash(key.as_bytes());
    // SAFETY: the caller has AVX2.
    let sums = unsafe { Sums::new(h) };
    let mut ones = 0;
    for (filter, result) in filters.iter().zip(results) {
        let filter = filter.as_bytes();
        let answer = match Filter::parse(filter) {
            Filter::Never => false,
            Filter::Always => true,
            // SAFETY: as in `may_match`.
            Filter::Probe { k, .. } if SMALL.contains(&filter.len()) => unsafe {
                let small = Small::load(filter);
                sums.all_set(k, small.modulus, |p| small.look_up(p))
            },
            Filter::Probe { array, k } => match bits::bits_of(array.len()) {
                // SAFETY: the caller has AVX2; a remainder is in the array; k is at most 30.
                Some(bits) => unsafe { sums.all_set(k, Modulus::new(bits), |p| look_up(array, p)) },
                None => probe::contains(h, k, array),
            },
        };
        *result = answer.into();
        ones += usize::from(answer);
    }
    ones
}

/// # Safety
/// The processor has AVX2; there are as many results as keys.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn keys_may_match(keys: &[Key], filter: &[u8], results: &mut [u8]) -> usize {
    let Filter::Probe { array, k } = Filter::parse(filter) else {
        return portable::keys_may_match(keys, filter, results);
    };
    let Some(bits) = bits::bits_of(array.len()) else {
        return portable::keys_may_match(keys, filter, results);
    };
    // SAFETY: the caller has AVX2; a small filter's size was looked at.
    let (modulus, small) =
        unsafe { (Modulus::new(bits), SMALL.contains(&filter.len()).then(|| Small::load(filter))) };
    let mut results = results.chunks_mut(2 * LANES);
    let mut ones = 0;
    bits::in_blocks(
        keys,
        // SAFETY: the caller has AVX2; there are as many hashes as keys.
        |keys, hashes| unsafe { hash_keys(keys, hashes) },
        |hashes| {
            for (hashes, results) in hashes.chunks(2 * LANES).zip(&mut results) {
                let mut padded = [0; 2 * LANES];
                let at_once = <&[u32; 2 * LANES]>::try_from(hashes).unwrap_or_else(|_| {
                    for (to, from) in padded.iter_mut().zip(hashes) {
                        *to = *from;
                    }
                    &padded
                });
                // SAFETY: the caller has AVX2, with which BMI2 comes.
                let answers = unsafe {
                    let at_once = at_once.as_ptr().cast::<__m256i>();
                    let positions = [
                        Positions::new(_mm256_loadu_si256(at_once), modulus),
                        Positions::new(_mm256_loadu_si256(at_once.add(1)), modulus),
                    ];
                    let [a, b] = match small {
                        Some(small) => all_set(positions, k, |p| small.look_up(p)),
                        None => all_set(positions, k, |p| look_up(array, p)),
                    };
                    // The top bits, as bytes: 0-3 of both, then 4-7 of both.
                    let halves = _mm256_packs_epi32(a, b);
                    let halves = _mm256_packs_epi16(halves, halves);
                    let (low, high) =
                        (_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
                    _mm_unpacklo_epi32(low, high)
                };
                // SAFETY: as above.
                let (answers, set) = unsafe {
                    let set = _mm_movemask_epi8(answers) as u32;
                    let answers = _mm_and_si128(_mm_srli_epi16::<7>(answers), _mm_set1_epi8(1));
                    (
                        mem::transmute::<__m128i, [u8; 2 * LANES]>(answers),
                        _bzhi_u32(set, hashes.len() as u32),
                    )
                };
                ones += set.count_ones() as usize;
                match <&mut [u8; 2 * LANES]>::try_from(&mut *results) {
                    Ok(results) => *results = answers,
                    Err(_) => {
                        for (to, from) in results.iter_mut().zip(answers) {
                            *to = from;
                        }
                    }
                }
            }
        },
    );
    ones
}

/// Whether the bits at `k` positions are set, at the top of each lane.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn all_set(
    [mut a, mut b]: [Positions; 2],
    k: u32,
    look_up: impl Fn(__m256i) -> __m256i,
) -> [__m256i; 2] {
    // SAFETY: the caller has AVX2.
    unsafe {
        let mut set = [_mm256_set1_epi32(-1); 2];
        for j in 1..=k {
            set[0] = _mm256_and_si256(set[0], look_up(a.next()));
            set[1] = _mm256_and_si256(set[1], look_up(b.next()));
            if j % AT_ONCE == 0 {
                let any = _mm256_or_si256(set[0], set[1]);
                if _mm256_movemask_ps(_mm256_castsi256_ps(any)) == 0 {
                    break;
                }
            }
        }
        set
    }
}
