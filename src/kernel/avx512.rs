//! AVX-512 with IFMA, VBMI and GFNI, for Ice Lake, Zen 4 and later.
//!
//! ```text
//! for each key: h = hash(key)
//!     for each p in positions(h, k, bits): set bit p
//! ```
//! with these differences:
//! 1. Eight keys are hashed at a time, one in each 64-bit lane: a 52-bit product takes half the
//!    time of a 32-bit one. Up to 64 keys are hashed side by side, because a step of a hash waits
//!    for the one before. If the number of keys is no multiple of eight, the last eight overlap
//!    those before: to set a bit twice is to set it once.
//! 2. A remainder takes two 52-bit products, so no position waits for the one before.
//! 3. An array of up to 64 bytes is built in registers. In a larger one the AVX2 kernel's way sets
//!    the bits.
//! 4. In a batch of keys a small filter is in a register. With a larger one the first two probes of
//!    all keys come first; the other probes are only for the keys that are then left.
//! 5. Queries of a single key are the AVX2 kernel's, and so is a filter of more than 2^20 bits.
//!
//! No load or store passes the end of a key, a list, an array or a filter.

// The build script leaves this module out if the compiler is too old.
#![allow(clippy::incompatible_msrv)]

use core::arch::x86_64::*;
use core::array;
use core::mem::{MaybeUninit, transmute};
use core::num::NonZeroU32;

use super::avx2::Avx2;
use super::blocks::{self, BLOCK, Steps, prefetch_keys};
use super::hint::hidden;
use super::{Kernel, Key, avx2, cpu};
use crate::filter::Filter;
use crate::hash::{BLOOM_SEED, M};
use crate::ribbon;

pub(super) const KERNEL: Kernel = Kernel {
    name: "avx512",
    supported: cpu::has_avx512,
    preferred: cpu::prefers_avx512,
    hash_keys,
    create,
    keys_may_match,
    ribbon_may_match,
    ..avx2::KERNEL
};

const LANES: usize = 8;
/// The most bytes of an array that is built in registers, or looked up in one.
const REGISTER_MAX: usize = 64;
/// The most bytes of an array for which remainders are exact (see [`remainder`]).
const EXACT_MAX: usize = (1 << 20) / 8;

/// The keys by eights. The last eight overlap those before. Nothing if there are fewer keys.
fn eights<'s, 'k>(keys: &'s [Key<'k>]) -> impl Iterator<Item = &'s [Key<'k>; LANES]> {
    let (n, last) = keys.len().checked_sub(LANES).map_or((0, 0), |last| (keys.len(), last));
    // SAFETY: eight keys begin at `last`, and at any key before.
    (0..n).step_by(LANES).map(move |at| unsafe { &*keys.as_ptr().add(at.min(last)).cast() })
}

/// A block of keys from `at` on, or fewer if no more are left.
fn block<'s, 'k>(keys: &'s [Key<'k>], at: usize) -> &'s [Key<'k>] {
    let rest = keys.get(at..).unwrap_or(&[]);
    rest.get(..BLOCK).unwrap_or(rest)
}

/// Room for the hashes of a block. To initialise all of it takes as long as to hash some keys.
type Hashes = [MaybeUninit<__m512i>; BLOCK / LANES];
const ROOM: Hashes = [const { MaybeUninit::uninit() }; BLOCK / LANES];

/// Hashes a block of eight or more keys. Returns a vector for each eight, with the hashes in the low
/// halves of lanes. The high halves hold anything.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn hash_block<'h>(keys: &[Key], room: &'h mut Hashes) -> &'h [__m512i] {
    let Some(eighth) = keys.get(LANES - 1) else { return &[] };
    let len = _mm512_set1_epi64(eighth.len() as i64);
    let room = room.get_mut(..keys.len().div_ceil(LANES)).unwrap_or(&mut []);
    if eights(keys).all(|keys| {
        // SAFETY: eight keys have the size of two vectors, and any bits are a vector.
        let halves = unsafe { keys.as_ptr().cast::<[__m512i; 2]>().read_unaligned() };
        // A key is an address and a length.
        let [a, b] = halves.map(|half| _mm512_mask_cmpneq_epi64_mask(0b1010_1010, half, len));
        a | b == 0
    }) {
        // SAFETY: all have this length.
        unsafe { hash_uniform(keys, eighth.len(), room) }
    } else {
        hash_mixed(keys, room);
    }
    // SAFETY: both write all of it.
    unsafe { initialised(room) }
}

/// # Safety
/// All of it is initialised.
unsafe fn initialised<T>(room: &mut [MaybeUninit<T>]) -> &mut [T] {
    // SAFETY: the caller's.
    unsafe { &mut *(core::ptr::from_mut(room) as *mut [T]) }
}

/// Four words of each of eight keys, a vector for each, in the low halves of lanes. The high halves
/// hold anything.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn words(sixteen_bytes_of: impl Fn(usize) -> __m128i) -> [__m512i; 4] {
    let join = |a, b, c, d| {
        let low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
        let high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
        _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)
    };
    let [a, b, c, d, e, f, g, h] = array::from_fn(sixteen_bytes_of);
    let (even, odd) = (join(a, c, e, g), join(b, d, f, h));
    let (low, high) = (_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd));
    [low, _mm512_srli_epi64(low, 32), high, _mm512_srli_epi64(high, 32)]
}

/// (h + word) * M. The word's own product does not have to wait for `h`.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn add_and_multiply(h: __m512i, word: __m512i) -> __m512i {
    let m = _mm512_set1_epi64(M.into());
    _mm512_madd52lo_epu64(_mm512_mul_epu32(word, m), h, m)
}

/// Takes four steps of the hash, for a whole word each.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn hash_words(mut h: __m512i, words: [__m512i; 4]) -> __m512i {
    for word in words {
        h = add_and_multiply(h, word);
        h = _mm512_xor_si512(h, _mm512_srli_epi32(h, 16));
    }
    h
}

/// Takes the last steps of the hash, for up to `most` bytes, 16 at most. Each lane of `rest` has a
/// one for every byte that its key still has.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn hash_rest(mut h: __m512i, words: [__m512i; 4], rest: __m512i, most: usize) -> __m512i {
    for (j, word) in words.into_iter().enumerate().take(most.div_ceil(4)) {
        let has_byte = |i| _mm512_test_epi64_mask(rest, _mm512_set1_epi64(1i64 << i));
        let (any, whole) = (has_byte(4 * j), has_byte(4 * j + 3));
        let sum = add_and_multiply(h, word);
        let (by_24, by_16) = (_mm512_srli_epi32(sum, 24), _mm512_srli_epi32(sum, 16));
        h = _mm512_mask_xor_epi64(h, any, sum, _mm512_mask_mov_epi64(by_24, whole, by_16));
    }
    h
}

/// Hashes keys of one length, into a vector for each eight.
///
/// # Safety
/// All have `len` bytes.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn hash_uniform(keys: &[Key], len: usize, h: &mut [MaybeUninit<__m512i>]) {
    let first = _mm512_set1_epi64((BLOOM_SEED ^ (len as u32).wrapping_mul(M)).into());
    let so_far = |h: &MaybeUninit<_>, at| match at {
        0 => first,
        // SAFETY: written where `at` was 0.
        _ => unsafe { h.assume_init_read() },
    };
    let mut at = 0;
    while len - at >= 16 {
        for (h, keys) in h.iter_mut().zip(eights(keys)) {
            // SAFETY: each key has sixteen bytes there.
            let words = words(|i| unsafe { _mm_loadu_si128(keys[i].as_ptr().add(at).cast()) });
            h.write(hash_words(so_far(h, at), words));
        }
        at += 16;
    }
    if at < len || len == 0 {
        let mask = _bzhi_u32(0xffff, (len - at) as u32) as __mmask16;
        for (h, keys) in h.iter_mut().zip(eights(keys)) {
            let from = |i: usize| keys[i].as_ptr().wrapping_add(at).cast();
            // SAFETY: the mask selects bytes that each key has there.
            let words = words(|i| unsafe { _mm_maskz_loadu_epi8(mask, from(i)) });
            h.write(hash_rest(so_far(h, at), words, _mm512_set1_epi64(mask.into()), len - at));
        }
    }
}

/// Eight keys of any lengths.
#[derive(Clone, Copy)]
struct Mixed {
    /// The number of bytes in whole blocks of 16. A block that ends the key is not among them.
    whole: __m512i,
    /// The address of the next of these blocks, or of `ZEROS` if there is none.
    next: __m512i,
    /// The bytes after these blocks, at most 16: as many ones in the low 16 bits.
    rest: __m512i,
    /// The address of those bytes.
    after: __m512i,
}

static ZEROS: [u8; 16] = [0; 16];

/// Hashes eight or more keys of any lengths, into a vector for each eight. Lanes that are past their
/// end keep their hash.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn hash_mixed(keys: &[Key], h: &mut [MaybeUninit<__m512i>]) {
    let zeros = _mm512_set1_epi64(ZEROS.as_ptr().expose_provenance() as i64);
    let one = _mm512_set1_epi64(1);
    let mut most = _mm512_setzero_si512();
    let mut room = [const { MaybeUninit::uninit() }; BLOCK / LANES];
    let room = room.get_mut(..h.len()).unwrap_or(&mut []);
    for ((h, keys), mixed) in h.iter_mut().zip(eights(keys)).zip(&mut *room) {
        // SAFETY: eight keys have the size of two vectors, and any bits are a vector.
        let [a, b] = unsafe { keys.as_ptr().cast::<[__m512i; 2]>().read_unaligned() };
        let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let start = _mm512_permutex2var_epi64(a, even, b);
        let len = _mm512_permutex2var_epi64(a, _mm512_or_si512(even, one), b);
        let product = _mm512_mul_epu32(len, _mm512_set1_epi64(M.into()));
        h.write(_mm512_xor_si512(_mm512_set1_epi64(BLOOM_SEED.into()), product));
        // 16 bytes that end a key are left for the end: so all keys whose lengths round up to the
        // same multiple of 16 have equally many blocks here.
        let before_last = _mm512_sub_epi64(_mm512_max_epu64(len, one), one);
        let whole = _mm512_and_si512(before_last, _mm512_set1_epi64(!15));
        most = _mm512_max_epu64(most, whole);
        mixed.write(Mixed {
            whole,
            next: _mm512_mask_mov_epi64(zeros, _mm512_test_epi64_mask(whole, whole), start),
            // Rotated by n, the ones that leave at the high end come in as the n lowest bits.
            rest: _mm512_rolv_epi64(_mm512_set1_epi64(!0xffff), _mm512_sub_epi64(len, whole)),
            after: _mm512_add_epi64(start, whole),
        });
    }
    // SAFETY: there is a vector of hashes for each eight keys, and so each of both was written.
    let (h, mixed) = unsafe { (initialised(h), initialised(room)) };
    for at in (0.._mm512_reduce_max_epu64(most) as i64).step_by(16) {
        for (h, mixed) in h.iter_mut().zip(&mut *mixed) {
            let live = _mm512_cmpgt_epu64_mask(mixed.whole, _mm512_set1_epi64(at));
            if live == 0 {
                continue;
            }
            // SAFETY: a whole block of a key, or `ZEROS`.
            let words = words(|i| unsafe { _mm_loadu_si128(lane(&mixed.next, i) as *const _) });
            let hashed = _mm512_mask_mov_epi64(*h, live, hash_words(*h, words));
            // SAFETY: a reference is valid. The store is volatile because the compiler would make a
            // masked one of it, for which the next load may have to wait.
            unsafe { core::ptr::write_volatile(h, hashed) };
            let live = _mm512_cmpgt_epu64_mask(mixed.whole, _mm512_set1_epi64(at + 16));
            mixed.next = _mm512_mask_add_epi64(zeros, live, mixed.next, _mm512_set1_epi64(16));
        }
    }
    for (h, Mixed { rest, after, .. }) in h.iter_mut().zip(mixed) {
        // SAFETY: the mask selects the bytes that the key has there.
        let words =
            words(|i| unsafe { _mm_maskz_loadu_epi8(lane(rest, i) as _, lane(after, i) as _) });
        *h = hash_rest(*h, words, *rest, 16);
    }
}

/// A lane of a vector in memory.
fn lane(vector: &__m512i, i: usize) -> usize {
    // SAFETY: the sizes are equal, and any bits are a number.
    unsafe { transmute::<&__m512i, &[usize; LANES]>(vector)[i] }
}

/// # Safety
/// The processor has AVX-512; there are as many hashes as keys, eight at least.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    // SAFETY: the caller's.
    unsafe { blocks::hash_keys::<Avx512>(keys, hashes) }
}

/// Hashes a block of keys.
///
/// # Safety
/// The processor has AVX-512; there are as many hashes as keys, eight at least, or that number rounded
/// up to a multiple of eight.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn hash_eights(keys: &[Key], hashes: &mut [u32]) {
    let (mut room, last) = (ROOM, hashes.len() - LANES);
    for (i, h) in hash_block(keys, &mut room).iter().enumerate() {
        let to = hashes.as_mut_ptr().wrapping_add(last.min(i * LANES)).cast();
        // SAFETY: there is room for eight from `last` on.
        unsafe { _mm256_storeu_si256(to, _mm512_cvtepi64_epi32(*h)) };
    }
}

/// Returns a function that computes h modulo the number of an array's bits, in lanes whose high
/// halves are zero.
///
/// The inverse lacks less than 1 of 2^52 / bits. Adding h makes up for it, as if the inverse were
/// larger by 1. The fraction, of 52 bits, is then too large by at most h, which is less than 2^32:
/// too little to reach the next multiple of 2^52 / bits. Of a sum that overflows, the second product
/// takes the low 52 bits.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn remainder(array_len: usize) -> impl Fn(__m512i) -> __m512i + Copy {
    let bits = (8 * array_len as i64).clamp(8, 8 * EXACT_MAX as i64);
    let inverse = _mm512_set1_epi64((1 << 52) / bits);
    let bits = _mm512_set1_epi64(bits);
    move |h| {
        let fraction = _mm512_madd52lo_epu64(h, h, inverse);
        _mm512_madd52hi_epu64(_mm512_setzero_si512(), fraction, bits)
    }
}

/// The hashes of eight keys, and what is added for each further probe. The positions are remainders
/// of these sums.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn sums_and_deltas(h: __m512i) -> [__m512i; 2] {
    [_mm512_maskz_mov_epi32(0x5555, h), _mm512_maskz_ror_epi32(0x5555, h, 17)]
}

/// Returns a function that computes the next positions of sixteen keys.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn positions(h: [__m512i; 2], rem: impl Fn(__m512i) -> __m512i) -> impl FnMut() -> __m512i {
    let [[mut a, delta_a], [mut b, delta_b]] = [sums_and_deltas(h[0]), sums_and_deltas(h[1])];
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    move || {
        let p = _mm512_permutex2var_epi32(rem(a), even, rem(b));
        a = _mm512_add_epi32(a, delta_a);
        b = _mm512_add_epi32(b, delta_b);
        p
    }
}

/// Sixteen lanes, two by two in words.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn in_pairs(lanes: __m512i) -> [[u64; 2]; 4] {
    let (a, b) = (_mm512_castsi512_si128(lanes), _mm512_extracti32x4_epi32(lanes, 1));
    let (c, d) = (_mm512_extracti32x4_epi32(lanes, 2), _mm512_extracti32x4_epi32(lanes, 3));
    [a, b, c, d].map(|four| {
        // Hidden, or the compiler would take out the lanes one by one.
        [_mm_cvtsi128_si64(four), _mm_extract_epi64(four, 1)].map(|two| hidden(two as usize) as u64)
    })
}

/// # Safety
/// The processor has AVX-512; the array is not empty; there are eight keys.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    if (1..=REGISTER_MAX).contains(&array.len()) && keys.len() <= BLOCK {
        return create_in_registers(keys, k, array);
    }
    // SAFETY: the caller's.
    unsafe { blocks::create::<Avx512>(keys, k, array) }
}

/// As for AVX2, but for the hash.
struct Avx512;

impl Steps for Avx512 {
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
        // SAFETY: the caller's.
        unsafe { hash_eights(keys, hashes) }
    }

    #[inline(always)]
    unsafe fn each_position(hashes: &[u32], k: u32, bits: NonZeroU32, set: impl FnMut(u32)) {
        // SAFETY: the caller's; a processor with AVX-512 has AVX2.
        unsafe { Avx2::each_position(hashes, k, bits, set) }
    }

    #[inline(always)]
    unsafe fn each_bit(hashes: &[u32], k: u32, bits: NonZeroU32, set: impl FnMut(usize, u8)) {
        // SAFETY: the caller's; a processor with AVX-512 has AVX2.
        unsafe { Avx2::each_bit(hashes, k, bits, set) }
    }
}

/// Builds an array of up to 64 bytes from 8 to 64 keys. Each lane makes all words of the array for
/// its own keys. A bit is a one, shifted by its distance from the beginning of a word; that leaves
/// nothing if the bit belongs to another word.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn create_in_registers(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    let (len, remainder) = (array.len(), remainder(array.len()));
    let mut h = ROOM;
    let mut words = [_mm512_setzero_si512(); REGISTER_MAX / 8];
    for &h in hash_block(keys, &mut h) {
        let [mut sum, delta] = sums_and_deltas(h);
        // Probes come two at a time; of an odd number the first comes twice.
        let mut step = if k % 2 == 0 { delta } else { _mm512_setzero_si512() };
        for _ in 0..k.div_ceil(2) {
            let a = remainder(sum);
            sum = _mm512_add_epi32(sum, step);
            let b = remainder(sum);
            sum = _mm512_add_epi32(sum, delta);
            step = delta;
            let mut set = |i: usize| {
                let begin = _mm512_set1_epi64(64 * i as i64);
                let bit = |p| shifted_one(_mm512_sub_epi64(p, begin));
                words[i] = _mm512_ternarylogic_epi64(words[i], bit(a), bit(b), 0xfe);
            };
            (0..4).for_each(&mut set);
            if len > 32 {
                (4..6).for_each(&mut set);
            }
            if len > 48 {
                (6..8).for_each(&mut set);
            }
        }
    }
    // Unites the eight lanes of each word in one.
    let two = |a, b| _mm512_or_si512(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let join = |a, b| {
        let even = _mm512_shuffle_i64x2(a, b, 0b10_00_10_00);
        _mm512_or_si512(even, _mm512_shuffle_i64x2(a, b, 0b11_01_11_01))
    };
    let [a, b, c, d, e, f, g, h] = words;
    let all = join(join(two(a, b), two(c, d)), join(two(e, f), two(g, h)));
    // SAFETY: the mask selects the array's bytes.
    unsafe { _mm512_mask_storeu_epi8(array.as_mut_ptr().cast(), _bzhi_u64(!0, len as u32), all) }
}

/// A one in each lane, shifted left by the lane's number; nothing if that is not 0 to 63. The
/// intrinsic would add a comparison, because the compiler's own shift may not go so far.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
fn shifted_one(by: __m512i) -> __m512i {
    let shifted;
    // SAFETY: an instruction of AVX-512 on registers.
    unsafe {
        core::arch::asm!("vpsllvq {}, {}, {}", lateout(zmm_reg) shifted,
            in(zmm_reg) _mm512_set1_epi64(1), in(zmm_reg) by, options(pure, nomem, nostack));
    }
    shifted
}

/// # Safety
/// The processor has AVX-512; there are as many results as keys, eight at least.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn keys_may_match(keys: &[Key], filter: &[u8], results: &mut [u8]) -> usize {
    let (array, k) = match Filter::parse(filter) {
        Filter::Probe { array, k } if array.len() <= EXACT_MAX => (array, k),
        // SAFETY: a processor with AVX-512 has AVX2; the rest is as for this function.
        _ => return unsafe { (avx2::KERNEL.keys_may_match)(keys, filter, results) },
    };
    let last = keys.len() - LANES;
    let remainder = remainder(array.len());
    let small = (array.len() <= REGISTER_MAX).then(|| {
        let mask = _bzhi_u64(!0, array.len() as u32);
        // SAFETY: the mask selects the array's bytes.
        unsafe { _mm512_maskz_loadu_epi8(mask, array.as_ptr().cast()) }
    });
    let early = if small.is_some() { k } else { k.min(2) };
    let (mut ones, one, mut next) = (0, _mm512_set1_epi32(1), [0u32; BLOCK]);
    let hash = |at, to: &mut [u32; BLOCK]| {
        let keys = block(keys, last.min(at));
        // SAFETY: as many hashes as keys.
        unsafe { hash_eights(keys, to.get_mut(..keys.len()).unwrap_or(&mut [])) }
    };
    hash(0, &mut next);
    for at in (0..keys.len()).step_by(BLOCK) {
        // The last eight keys are a block if fewer are left.
        let from = at.min(last);
        let len = block(keys, from).len();
        // `set` has a bit for each key whose bits are all set so far; `hashes` those keys' hashes.
        let (mut hashes, mut num_hashes, mut set) = (next, len, !0);
        for probes in [0..early, early..k].into_iter().filter(|probes| !probes.is_empty()) {
            let (mut answers, mut num_left) = (0, 0);
            for at in (0..num_hashes).step_by(16) {
                // SAFETY: `at` is less than a block.
                let both = unsafe { _mm512_loadu_si512(hashes.as_ptr().add(at).cast()) };
                let a = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(both));
                let b = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(both, 1));
                let mut positions = positions([a, b], remainder);
                (0..probes.start).for_each(|_| _ = positions());
                let mut all_set = !0;
                for _ in probes.clone() {
                    let p = positions();
                    all_set &= match small {
                        Some(array) => {
                            let words = _mm512_permutexvar_epi32(_mm512_srli_epi32(p, 5), array);
                            _mm512_test_epi32_mask(words, _mm512_rolv_epi32(one, p))
                        }
                        // SAFETY: positions are in the array.
                        None => unsafe { is_set(array, p) },
                    };
                }
                answers |= u64::from(all_set) << at;
                let left = _mm512_maskz_compress_epi32(all_set, both);
                // SAFETY: no more hashes are left than were loaded.
                unsafe { _mm512_storeu_si512(hashes.as_mut_ptr().add(num_left).cast(), left) }
                num_left += all_set.count_ones() as usize;
            }
            set = _pdep_u64(answers, set);
            // Between the stages, because the hashes that are left cannot be loaded at once.
            if probes.start == 0 && at + BLOCK < keys.len() {
                hash(at + BLOCK, &mut next);
                prefetch_keys(block(keys, at + 2 * BLOCK));
            }
            num_hashes = num_left;
        }
        let mask = _bzhi_u64(!0, len as u32);
        ones += ((set & mask) >> (at - from)).count_ones() as usize;
        let to = results.as_mut_ptr().wrapping_add(from).cast();
        // SAFETY: the mask selects the block's results.
        unsafe { _mm512_mask_storeu_epi8(to, mask, _mm512_maskz_set1_epi8(set, 1)) }
    }
    ones
}

/// For which of sixteen positions the bit is set. Loads, because gathers would not be faster.
///
/// # Safety
/// The positions are in the array.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,bmi1,bmi2,popcnt")]
unsafe fn is_set(array: &[u8], positions: __m512i) -> u16 {
    // SAFETY: an eighth of a position is the index of a byte.
    let byte = |index| unsafe { *array.get_unchecked(index as usize) as i8 };
    let two = |pair| [byte(pair & 0xffff_ffff), byte(pair >> 32)];
    let [[[a, b], [c, d]], [[e, f], [g, h]], [[i, j], [k, l]], [[m, n], [o, p]]] =
        in_pairs(_mm512_srli_epi32(positions, 3)).map(|pairs| pairs.map(two));
    let bytes = _mm_setr_epi8(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
    let bits = _mm512_and_si512(positions, _mm512_set1_epi32(7));
    let bits = _mm512_cvtepi32_epi8(_mm512_sllv_epi32(_mm512_set1_epi32(1), bits));
    _mm_test_epi8_mask(bytes, bits)
}

/// # Safety
/// The processor has AVX-512 with VBMI, and GFNI.
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,gfni,bmi1,bmi2,popcnt")]
unsafe fn ribbon_may_match(key: &[u8], filter: &[u8]) -> bool {
    // SAFETY: the caller's.
    unsafe {
        ribbon::short_may_match(
            key,
            filter,
            |row, groups, r| sum_groups(row, groups, r),
            |key, filter| otherwise_may_match(key, filter),
        )
    }
}

/// # Safety
/// The processor has AVX-512 with VBMI, and GFNI.
#[inline(never)]
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,gfni,bmi1,bmi2,popcnt")]
unsafe fn otherwise_may_match(key: &[u8], filter: &[u8]) -> bool {
    // SAFETY: the caller's.
    ribbon::may_match(key, filter, |row, groups, r| unsafe { sum_groups(row, groups, r) })
}

/// `ribbon::sum_groups`, four groups at a time: eight bytes of a group are a matrix, by which its byte
/// of the row is multiplied.
///
/// # Safety
/// The processor has AVX-512 with VBMI, and GFNI.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512ifma,avx512vbmi,gfni,bmi1,bmi2,popcnt")]
unsafe fn sum_groups(row: u128, groups: &[u8], r: usize) -> u64 {
    // Sixteen lanes for a group. A matrix has its first row last.
    let lane: [u8; 64] = array::from_fn(|i| (i as u8 % 16) ^ 7);
    let number: [u8; 64] = array::from_fn(|i| i as u8 / 16);
    // SAFETY: any bytes are a vector.
    let [lane, mut number] = unsafe { [lane, number].map(|v| transmute::<[u8; 64], __m512i>(v)) };
    let row = _mm512_castsi128_si512(_mm_set_epi64x((row >> 64) as i64, row as i64));
    let places = _mm512_add_epi8(lane, _mm512_mullo_epi16(number, _mm512_set1_epi16(r as i16)));
    let (mut sum, mut from) = (_mm512_setzero_si512(), 0);
    loop {
        // SAFETY: of 64 bytes as many are read as there are, and the others are zeros.
        let four = unsafe {
            let there_are = _bzhi_u64(!0, (groups.len() - from) as u32);
            _mm512_maskz_loadu_epi8(there_are, groups.as_ptr().add(from).cast())
        };
        let matrices = _mm512_permutexvar_epi8(places, four);
        let bytes = _mm512_permutexvar_epi8(number, row);
        sum = _mm512_xor_si512(sum, _mm512_gf2p8affine_epi64_epi8(bytes, matrices, 0));
        from += 4 * r;
        if from >= groups.len() {
            break;
        }
        number = _mm512_add_epi8(number, _mm512_set1_epi8(4));
    }
    let sum = _mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));
    let sum = _mm_xor_si128(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    // The last byte of the low half, and the first of the high one: within each all are equal.
    _mm_cvtsi128_si64(_mm_srli_si128(sum, 7)) as u64
}
