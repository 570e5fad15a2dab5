//! AVX-512 with IFMA and VBMI, for Ice Lake, Zen 4 and later.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these departures:
//! 1. Sixteen keys at a time, as two vectors of eight 64-bit lanes: the 52-bit
//!    products that IFMA has make a step of the hash in half the time that
//!    32-bit ones take. Fewer than eight keys are padded with copies of the
//!    first; of more, the last eight overlap those before: to set a bit twice
//!    is to set it once.
//! 2. Keys of one length are loaded 16 bytes at a time, without a transpose:
//!    the high half of a 64-bit lane is the next word. Keys of mixed lengths
//!    are hashed side by side to the end of the longest, and lanes that are
//!    past their end keep their hash.
//! 3. A remainder is two 52-bit products (see `rem`), so each position is
//!    computed from its own sum and none waits for the one before.
//! 4. Some probes are computed before the sixteen keys before are set: one is
//!    arithmetic, the other stores.
//! 5. An array of up to 32 Kbit is built with a byte a bit (see
//!    `bits::BYTE_PER_BIT_MAX`). In a register, one of up to 32 bytes took as
//!    long.
//! 6. A query for one key has a probe in each lane, where the filter fits in a
//!    register: eight are asked at once, since where among them to stop is what
//!    a branch predictor cannot know. Other filters are asked as the AVX2 kernel
//!    does: a gather was no faster here, and slower there.
//! 7. A batch of queries has a key in each lane.
//!
//! Loads never pass the end of a key, a list or a filter: they are masked, or
//! moved back to the last whole word. Stores by way of memory of positions
//! that a scalar load then reads were tried and dropped (see `set_row`). For
//! arrays larger than the caches, so were prefetches of lines, and lists of the
//! positions in each part of an array, set when full: with 10 million keys as
//! fast as in place, with 4 million a third slower.

// The build script leaves this module out where the compiler is too old.
#![allow(clippy::incompatible_msrv)]
// Lanes are counted, not listed.
#![allow(clippy::needless_range_loop)]

use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use core::num::NonZeroU32;

use super::Key;
use super::avx2::query::{
    SMALL, SMALL_SIZES, filters_may_match_by, keys_may_match_by, may_match_by,
};
use super::bits::{self, BYTE_PER_BIT_MAX};
use super::portable::AT_ONCE;
use super::{Kernel, avx2, cpu, portable, scratch};
use crate::filter::Filter;
use crate::hash::{BLOOM_SEED as SEED, M};

pub(super) const KERNEL: Kernel = Kernel {
    name: "avx512",
    supported: cpu::has_avx512,
    hash_keys,
    create,
    insert_hashes: avx2::insert_hashes,
    may_match,
    keys_may_match,
    filters_may_match,
};

const LANES: usize = 8;
/// How many probes of sixteen keys are computed before the first is set.
const AHEAD: usize = 6;
/// The even 32-bit lanes: the low halves of 64-bit lanes.
const LOW: __mmask16 = 0x5555;

static ZEROS: [u8; 16] = [0; 16];

/// A modulus of up to 2^20 for vectors of 64-bit lanes.
#[derive(Clone, Copy)]
struct Modulus {
    bits: __m512i,
    inverse: __m512i,
}

/// 2^52 / bits, too large by at most 1.
const fn inverse(bits: NonZeroU32) -> u64 {
    (1 << 52) / bits.get() as u64 + 1
}

impl Modulus {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
    fn new(bits: NonZeroU32, inverse: u64) -> Modulus {
        Modulus {
            bits: _mm512_set1_epi64(i64::from(bits.get())),
            inverse: _mm512_set1_epi64(inverse as i64),
        }
    }

    /// `h` modulo the bits, in lanes whose high halves are zero.
    ///
    /// What the inverse is too large by adds, over any 32-bit h, up to 2^32 to
    /// a fraction held in 52 bits: too little to reach the next multiple of
    /// 2^52 / bits.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
    fn rem(self, h: __m512i) -> __m512i {
        let zero = _mm512_setzero_si512();
        let fraction = _mm512_madd52lo_epu64(zero, h, self.inverse);
        _mm512_madd52hi_epu64(zero, fraction, self.bits)
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn step(h: __m512i, word: __m512i) -> __m512i {
    let m = _mm512_set1_epi64(i64::from(M));
    let h = _mm512_madd52lo_epu64(_mm512_mul_epu32(word, m), h, m);
    _mm512_xor_si512(h, _mm512_srli_epi32(h, 16))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn last_step(h: __m512i, word: __m512i) -> __m512i {
    let m = _mm512_set1_epi64(i64::from(M));
    let h = _mm512_madd52lo_epu64(_mm512_mul_epu32(word, m), h, m);
    _mm512_xor_si512(h, _mm512_srli_epi32(h, 24))
}

/// Eight 16-byte blocks as a vector of their first and one of their second halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn halves(block: impl Fn(usize) -> __m128i) -> (__m512i, __m512i) {
    let join = |a, b, c, d| {
        let low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
        let high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
        _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)
    };
    let even = join(block(0), block(2), block(4), block(6));
    let odd = join(block(1), block(3), block(5), block(7));
    (_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd))
}

/// The hashes of the eight keys at each of `starts`, in the low halves of the
/// lanes; the high halves are zero.
///
/// # Safety
/// Every start is followed by eight keys.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
unsafe fn hash<const G: usize>(starts: [*const Key; G]) -> [__m512i; G] {
    // SAFETY: the caller's word: each start has eight keys, which are two
    // words each, and each key the bytes it says.
    unsafe {
        let mut pointers = [_mm512_setzero_si512(); G];
        let mut lens = pointers;
        let len = (*starts[0]).len();
        let mut differ = 0;
        for g in 0..G {
            let (a, b) =
                (_mm512_loadu_si512(starts[g].cast()), _mm512_loadu_si512(starts[g].add(4).cast()));
            let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            pointers[g] = _mm512_permutex2var_epi64(a, even, b);
            lens[g] = _mm512_permutex2var_epi64(a, odd, b);
            differ |= _mm512_cmpneq_epi64_mask(lens[g], _mm512_set1_epi64(len as i64));
        }
        let h = if differ == 0 { hash_uniform(starts, len) } else { hash_mixed(pointers, lens) };
        h.map(|h| _mm512_maskz_mov_epi32(LOW, h))
    }
}

/// # Safety
/// As for `hash`; every key has `len` bytes.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
unsafe fn hash_uniform<const G: usize>(starts: [*const Key; G], len: usize) -> [__m512i; G] {
    // SAFETY: every load is from within a key: of 16 bytes it has, or of as
    // many as the mask names.
    unsafe {
        let start = _mm512_set1_epi64(i64::from(SEED ^ (len as u32).wrapping_mul(M)));
        let mut h = [start; G];
        let mut at = 0;
        while len - at >= 16 {
            for g in 0..G {
                let (a, b) =
                    halves(|lane| _mm_loadu_si128((*starts[g].add(lane)).as_ptr().add(at).cast()));
                h[g] = step(h[g], a);
                h[g] = step(h[g], _mm512_srli_epi64(a, 32));
                h[g] = step(h[g], b);
                h[g] = step(h[g], _mm512_srli_epi64(b, 32));
            }
            at += 16;
        }
        let rest = len - at;
        if rest != 0 {
            let mask = _bzhi_u32(0xffff, rest as u32) as __mmask16;
            for g in 0..G {
                let (a, b) = halves(|lane| {
                    _mm_maskz_loadu_epi8(mask, (*starts[g].add(lane)).as_ptr().add(at).cast())
                });
                let words = [a, _mm512_srli_epi64(a, 32), b, _mm512_srli_epi64(b, 32)];
                let mut left = rest;
                for word in words {
                    if left >= 4 {
                        h[g] = step(h[g], word);
                        left -= 4;
                    } else if left > 0 {
                        h[g] = last_step(h[g], word);
                        left = 0;
                    }
                }
            }
        }
        h
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn hash_mixed<const G: usize>(pointers: [__m512i; G], lens: [__m512i; G]) -> [__m512i; G] {
    let m = _mm512_set1_epi64(i64::from(M));
    let zeros = _mm512_set1_epi64(&raw const ZEROS as i64);
    let none = _mm512_setzero_si512();
    let mut h = [none; G];
    let (mut rest, mut blocks, mut start, mut last) = (h, h, h, h);
    let mut most = none;
    for g in 0..G {
        h[g] = _mm512_mul_epu32(lens[g], m);
        h[g] = _mm512_xor_si512(h[g], _mm512_set1_epi64(i64::from(SEED)));
        rest[g] = _mm512_and_si512(lens[g], _mm512_set1_epi64(15));
        blocks[g] = _mm512_srli_epi64(lens[g], 4);
        most = _mm512_max_epu64(most, blocks[g]);
        // Lanes out of whole blocks read their last 16 bytes again, lanes
        // without any read zeros; nothing is made of either.
        let any = _mm512_test_epi64_mask(blocks[g], blocks[g]);
        start[g] = _mm512_mask_mov_epi64(zeros, any, pointers[g]);
        last[g] = _mm512_maskz_sub_epi64(any, lens[g], _mm512_set1_epi64(16));
    }
    let most = _mm512_reduce_max_epu64(most) as i64;
    for i in 0..most {
        for g in 0..G {
            let live = _mm512_cmpgt_epu64_mask(blocks[g], _mm512_set1_epi64(i));
            let offset = _mm512_min_epu64(last[g], _mm512_set1_epi64(16 * i));
            let address = to_memory(_mm512_add_epi64(start[g], offset));
            // SAFETY: 16 bytes of a key, or of ZEROS (see above).
            let (a, b) =
                halves(|lane| unsafe { _mm_loadu_si128(address.get(lane) as *const __m128i) });
            let mut x = step(h[g], a);
            x = step(x, _mm512_srli_epi64(a, 32));
            x = step(x, b);
            x = step(x, _mm512_srli_epi64(b, 32));
            h[g] = _mm512_mask_mov_epi64(h[g], live, x);
        }
    }
    for g in 0..G {
        let some = _mm512_test_epi64_mask(rest[g], rest[g]);
        let after = _mm512_add_epi64(pointers[g], _mm512_sub_epi64(lens[g], rest[g]));
        let address = to_memory(_mm512_mask_mov_epi64(zeros, some, after));
        let rests = to_memory(rest[g]);
        // SAFETY: the mask names the bytes the key has left; where it has
        // none, the address is that of ZEROS.
        let (a, b) = halves(|lane| unsafe {
            let mask = _bzhi_u32(0xffff, rests.get(lane) as u32) as __mmask16;
            _mm_maskz_loadu_epi8(mask, address.get(lane) as *const i8)
        });
        let words = [a, _mm512_srli_epi64(a, 32), b, _mm512_srli_epi64(b, 32)];
        for (j, word) in words.into_iter().enumerate() {
            let j = j as i64;
            let some = _mm512_cmpgt_epu64_mask(rest[g], _mm512_set1_epi64(4 * j));
            let whole = _mm512_cmpgt_epu64_mask(rest[g], _mm512_set1_epi64(4 * j + 3));
            let shift = _mm512_mask_mov_epi64(_mm512_set1_epi64(24), whole, _mm512_set1_epi64(16));
            let next = _mm512_madd52lo_epu64(_mm512_mul_epu32(word, m), h[g], m);
            h[g] = _mm512_mask_xor_epi64(h[g], some, next, _mm512_srlv_epi32(next, shift));
        }
    }
    h
}

/// The lanes of a vector, in memory.
#[repr(align(64))]
struct Lanes([u64; LANES]);

impl Lanes {
    #[inline(always)]
    fn get(&self, lane: usize) -> u64 {
        // SAFETY: a reference. Volatile, because a compiler would otherwise
        // take lane after lane out of the register, which is slower.
        unsafe { (&raw const self.0[lane]).read_volatile() }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn to_memory(v: __m512i) -> Lanes {
    let mut out = Lanes([0; LANES]);
    // SAFETY: 64 bytes, aligned to as many.
    unsafe { _mm512_store_si512(out.0.as_mut_ptr().cast(), v) }
    out
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    let n = keys.len();
    if n < LANES {
        for (key, h) in keys.iter().zip(hashes) {
            *h = portable::hash(key.as_bytes());
        }
        return;
    }
    let (keys, hashes) = (keys.as_ptr(), hashes.as_mut_ptr());
    let mut at = 0;
    while at < n {
        // The last eight, or sixteen, overlap those before.
        let first = at.min(n - LANES);
        let second = (at + LANES).min(n - LANES);
        // SAFETY: both and the eight from each on are within n, which is also
        // how many hashes there are.
        unsafe {
            let [a, b] = hash([keys.add(first), keys.add(second)]);
            _mm256_storeu_si256(hashes.add(first).cast(), _mm512_cvtepi64_epi32(a));
            _mm256_storeu_si256(hashes.add(second).cast(), _mm512_cvtepi64_epi32(b));
        }
        at += 2 * LANES;
    }
}

/// Calls `set` with every position of every key's probes, some at a time.
///
/// The positions of sixteen keys are computed while those of the sixteen
/// before are set: one is arithmetic, the other stores, and no processor
/// looks far enough ahead to overlap them by itself.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn each_position(keys: &[Key], k: u32, modulus: Modulus, mut set: impl FnMut(u32)) {
    let mut padded = [const { MaybeUninit::<Key>::uninit() }; LANES];
    let (mut at, n) = match keys {
        [] => return,
        [first, ..] if keys.len() < LANES => {
            // at the end, where below the last keys of many are
            for (i, slot) in padded.iter_mut().enumerate() {
                let i = i.wrapping_sub(LANES - keys.len());
                slot.write(*keys.get(i).unwrap_or(first));
            }
            (padded.as_ptr().cast::<Key>(), keys.len())
        }
        _ => (keys.as_ptr(), keys.len()),
    };
    let low_halves = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    // Positions computed and not yet set: `pending` rows, from `first` on.
    let mut rows = [_mm512_setzero_si512(); AHEAD];
    let (mut pending, mut first) = (0, 0);
    let mut left = n;
    while left > 0 {
        // SAFETY: `at` has `left` to come, n have been or come, and where n
        // is less than eight, it is the padded copy.
        let mut h = unsafe {
            if left > LANES {
                hash([at, at.add(LANES.min(left - LANES))])
            } else {
                let end = if n < LANES { at } else { at.sub(LANES - left) };
                let [h] = hash([end]);
                [h, h]
            }
        };
        let delta = [0, 1].map(|i| _mm512_maskz_ror_epi32(LOW, h[i], 17));
        let mut todo = k as usize;
        while todo > 0 {
            let next = todo.min(AHEAD);
            for j in 0..AHEAD {
                if j < pending {
                    set_row(rows[j], first, &mut set);
                }
                if j < next {
                    let (a, b) = (modulus.rem(h[0]), modulus.rem(h[1]));
                    rows[j] = _mm512_permutex2var_epi32(a, low_halves, b);
                    h = [0, 1].map(|i| _mm512_add_epi32(h[i], delta[i]));
                }
            }
            todo -= next;
            pending = next;
            first = if left > LANES { 0 } else { 2 * LANES - left };
        }
        left = left.saturating_sub(2 * LANES);
        at = at.wrapping_add(2 * LANES);
    }
    for j in 0..AHEAD {
        if j < pending {
            set_row(rows[j], first, &mut set);
        }
    }
}

/// Sets a row from lane `first` on, or from up to three before it: those are
/// keys met before. `first` is less than 16.
///
/// The lanes leave the register one by one. Through memory it is as many
/// instructions, but now and then the processor takes to guessing wrong which
/// store such a load reads, and is then four times slower for seconds.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn set_row(row: __m512i, first: usize, mut set: impl FnMut(u32)) {
    let mut four = |x| {
        let (a, b) = (_mm_cvtsi128_si64(x) as u64, _mm_extract_epi64::<1>(x) as u64);
        set(a as u32);
        set((a >> 32) as u32);
        set(b as u32);
        set((b >> 32) as u32);
    };
    if first < 4 {
        four(_mm512_castsi512_si128(row));
    }
    if first < 8 {
        four(_mm512_extracti32x4_epi32::<1>(row));
    }
    if first < 12 {
        four(_mm512_extracti32x4_epi32::<2>(row));
    }
    four(_mm512_extracti32x4_epi32::<3>(row));
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    if keys.len() < portable::FEW {
        return portable::create_from_few(keys, k, array);
    }
    match bits::bits_of(array.len()) {
        Some(bits)
            if array.len() <= BYTE_PER_BIT_MAX / 8 && create_by_bytes(keys, k, bits, array) => {}
        _ => create_in_place(keys, k, bits::zeroed(array)),
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn create_in_place(keys: &[Key], k: u32, array: &mut [u8]) {
    bits::in_blocks(
        keys,
        |keys, hashes| hash_keys(keys, hashes),
        // SAFETY: AVX-512 is more than AVX2; `Kernel` passes no empty array, and
        // a k of at most 30.
        |hashes| unsafe { avx2::insert_hashes(hashes, k, array) },
    );
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn create_by_bytes(keys: &[Key], k: u32, bits: NonZeroU32, array: &mut [MaybeUninit<u8>]) -> bool {
    scratch::with_zeroed((array.len() * 8).next_multiple_of(64), |bytes| {
        each_position(keys, k, Modulus::new(bits, inverse(bits)), |p| {
            // SAFETY: a position is less than the array's bits, of which
            // `bytes` has a byte each.
            unsafe { *bytes.get_unchecked_mut(p as usize) = 1 }
        });
        let mut words = array.chunks_exact_mut(8);
        let mut bytes = bytes.chunks_exact(64);
        for (out, bytes) in (&mut words).zip(&mut bytes) {
            // SAFETY: 64 bytes in, 8 out.
            unsafe {
                let v = _mm512_loadu_si512(bytes.as_ptr().cast());
                out.as_mut_ptr().cast::<u64>().write_unaligned(_mm512_test_epi8_mask(v, v));
            }
        }
        if let Some(bytes) = bytes.next() {
            // SAFETY: 64 bytes.
            let v = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
            let mut packed = _mm512_test_epi8_mask(v, v);
            for out in words.into_remainder() {
                out.write(packed as u8);
                packed >>= 8;
            }
        }
    })
}

/// For each size of `SMALL` the inverse that `rem::<true>` takes: a load instead
/// of a division.
static SMALL_INVERSES: [u64; SMALL_SIZES] = {
    let mut table = [0; SMALL_SIZES];
    let mut i = 0;
    while i < table.len() {
        if let Some(bits) = bits::bits_of(*SMALL.start() + i - 1) {
            table[i] = inverse(bits);
        }
        i += 1;
    }
    table
};

/// A filter in a register, whose k byte is there and is not asked for.
#[derive(Clone, Copy)]
struct Small {
    filter: __m512i,
    modulus: Modulus,
}

impl Small {
    /// # Safety
    /// The filter's size is in `SMALL`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
    unsafe fn load(filter: &[u8]) -> Small {
        let len = filter.len();
        let mask = _bzhi_u64(u64::MAX, len as u32);
        // SAFETY: the mask names the filter's bytes; its size is one of the
        // table's, and so not 1.
        unsafe {
            let bits = NonZeroU32::new_unchecked(8 * (len as u32 - 1));
            let inverse = *SMALL_INVERSES.get_unchecked(len - SMALL.start());
            Small {
                filter: _mm512_maskz_loadu_epi8(mask, filter.as_ptr().cast()),
                modulus: Modulus::new(bits, inverse),
            }
        }
    }

    /// Which bits are set at the remainders of these sums.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
    fn look_up(self, sums: __m512i) -> __mmask8 {
        let p = self.modulus.rem(sums);
        let word = _mm512_permutexvar_epi64(_mm512_srli_epi64(p, 6), self.filter);
        _mm512_test_epi64_mask(word, _mm512_rolv_epi64(_mm512_set1_epi64(1), p))
    }
}

/// What the probes of a key are the remainders of, eight at a time.
#[derive(Clone, Copy)]
struct Sums {
    eight: __m512i,
    delta: u32,
}

impl Sums {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
    fn new(h: u32) -> Sums {
        let delta = h.rotate_right(17);
        let j = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        let more = _mm512_mul_epu32(j, _mm512_set1_epi64(i64::from(delta)));
        let eight = _mm512_maskz_add_epi32(LOW, _mm512_set1_epi64(i64::from(h)), more);
        Sums { eight, delta }
    }

    /// Whether the bits of `k` probes are set.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
    fn all_set(mut self, mut k: u32, small: Small) -> bool {
        let mut found = small.look_up(self.eight);
        while k > LANES as u32 {
            if found != 0xff {
                return false;
            }
            k -= LANES as u32;
            let eight_more = _mm512_set1_epi64(i64::from(self.delta.wrapping_mul(LANES as u32)));
            self.eight = _mm512_maskz_add_epi32(LOW, self.eight, eight_more);
            found = small.look_up(self.eight);
        }
        _bzhi_u32(u32::from(!found), k) == 0
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn may_match(key: Key, filter: &[u8]) -> bool {
    may_match_by(key, filter, |h, k| {
        // SAFETY: it is small where it is asked for.
        let small = unsafe { Small::load(filter) };
        Sums::new(h).all_set(k, small)
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn filters_may_match(key: Key, filters: &[Key], results: &mut [u8]) -> usize {
    let h = portable::hash(key.as_bytes());
    let sums = Sums::new(h);
    // SAFETY: AVX-512 is more than AVX2; `Kernel` passes as many results.
    unsafe {
        filters_may_match_by(h, filters, results, |k, filter| sums.all_set(k, Small::load(filter)))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn keys_may_match(keys: &[Key], filter: &[u8], results: &mut [u8]) -> usize {
    match Filter::parse(filter) {
        Filter::Probe { k, .. } if SMALL.contains(&filter.len()) => {
            // SAFETY: it is small.
            let small = unsafe { Small::load(filter) };
            keys_may_match_small(keys, k, small, results)
        }
        // SAFETY: AVX-512 is more than AVX2; `Kernel` passes as many results.
        _ => unsafe {
            keys_may_match_by(|keys, hashes| hash_keys(keys, hashes), keys, filter, results)
        },
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2")]
fn keys_may_match_small(keys: &[Key], k: u32, small: Small, results: &mut [u8]) -> usize {
    let mut results = results.chunks_mut(LANES);
    let mut ones = 0;
    bits::in_blocks(
        keys,
        |keys, hashes| hash_keys(keys, hashes),
        |hashes| {
            for (hashes, results) in hashes.chunks(LANES).zip(&mut results) {
                let there = _bzhi_u32(0xff, hashes.len() as u32) as __mmask8;
                // SAFETY: the mask names the hashes, of which there are up to eight.
                let h = unsafe { _mm256_maskz_loadu_epi32(there, hashes.as_ptr().cast()) };
                let mut h = _mm512_cvtepu32_epi64(h);
                let delta = _mm512_maskz_ror_epi32(LOW, h, 17);
                let mut live = there;
                for j in 0..k {
                    if j % AT_ONCE == 0 && live == 0 {
                        break;
                    }
                    live &= small.look_up(h);
                    h = _mm512_add_epi32(h, delta);
                }
                ones += live.count_ones() as usize;
                let yes = _mm_maskz_set1_epi8(live.into(), 1);
                // SAFETY: there are as many results as keys, and as many in a
                // group as hashes; the mask names them.
                unsafe { _mm_mask_storeu_epi8(results.as_mut_ptr().cast(), there.into(), yes) }
            }
        },
    );
    ones
}
