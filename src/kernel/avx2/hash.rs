//! Hashing: eight keys at a time, one in each lane.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use core::{iter, slice};

use super::super::{Key, blocks, portable};
use super::LANES;
use crate::hash::{BLOOM_SEED as SEED, M};

/// A shuffle that picks, from what `load_rest` loads, the bytes after a key's last whole block of
/// 16, and zeros (-1) after them. Rows 0 to 7 are for keys of 8 to 15 bytes, the others for longer
/// ones, by how many bytes are left.
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

/// What lanes without a block read.
pub(in super::super) static ZEROS: [u8; 16] = [0; 16];

/// Up to this many times eight keys are hashed side by side. With one, 1,000 keys of 100 bytes took
/// 1.1 to 1.2 times as long, with two up to 1.07 times (AMD EPYC of the third generation, 2026-11).
/// Of mixed lengths see `avx2`.
const GROUPS: usize = 4;

/// The hashes of `n` keys, a vector for each eight, in the lane order that `words` leaves. The last
/// vector's keys end where the keys end, so some of them may be in the vector before as well.
#[derive(Clone, Copy)]
pub(super) struct Eights<'h> {
    pub h: &'h [__m256i],
    pub n: usize,
}

/// # Safety
/// The processor has AVX2; there are as many hashes as keys.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
    let n = keys.len();
    if n < LANES {
        return portable::hash_keys(keys, hashes);
    }
    let mut h = [const { MaybeUninit::<__m256i>::uninit() }; BLOCK / LANES];
    for at in (0..n).step_by(BLOCK) {
        // SAFETY: the caller has AVX2. `hash` is given at least eight keys, as the slice begins at
        // `n - LANES` or before; it writes a vector for each eight, and no others are read.
        unsafe {
            let h: *mut __m256i = opaque!(h.as_mut_ptr().cast());
            hash(keys.get_unchecked(at.min(n - LANES)..), false, h);
            for g in 0..opaque!((n - at).min(BLOCK).div_ceil(LANES)) {
                let to = hashes.as_mut_ptr().add((at + g * LANES).min(n - LANES));
                _mm256_storeu_si256(to.cast(), in_order(*h.add(g)));
            }
        }
    }
}

/// Hands on the hashes of all keys, a block at a time. Fewer than eight are taken for eight.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn each_hashed(keys: &[Key], for_large: bool, mut f: impl FnMut(Eights)) {
    let mut padded = [const { MaybeUninit::uninit() }; LANES];
    let Some((keys, n)) = at_least_eight(keys, &mut padded) else { return };
    let mut h = [const { MaybeUninit::<__m256i>::uninit() }; BLOCK / LANES];
    for at in (0..n).step_by(BLOCK) {
        let from = at.min(n - LANES);
        // SAFETY: `at_least_eight` gave `n` keys, eight or more, and `from` is at most `n - LANES`.
        // `hash` writes a vector for each eight keys, and no others are read.
        unsafe {
            let h: *mut __m256i = h.as_mut_ptr().cast();
            hash(slice::from_raw_parts(keys.add(from), n - from), for_large, h);
            let n = (n - at).min(BLOCK);
            f(Eights { h: slice::from_raw_parts(h, n.div_ceil(LANES)), n });
        }
    }
}

/// Where the keys are and how many, of fewer than eight in `room` and behind copies
/// of the first. Nothing where there are none.
#[inline]
pub(in super::super) fn at_least_eight<'k>(
    keys: &[Key<'k>],
    room: &mut [MaybeUninit<Key<'k>>; LANES],
) -> Option<(*const Key<'k>, usize)> {
    if keys.len() >= LANES {
        return Some((keys.as_ptr(), keys.len()));
    }
    let first = *keys.first()?;
    behind_copies(first, keys, room);
    Some((room.as_ptr().cast(), LANES))
}

#[inline(never)]
fn behind_copies<'k>(first: Key<'k>, keys: &[Key<'k>], room: &mut [MaybeUninit<Key<'k>>; LANES]) {
    let (copies, rest) = room.split_at_mut(LANES - keys.len());
    copies.fill(MaybeUninit::new(first));
    // SAFETY: `split_at_mut` left room for exactly these keys.
    unsafe {
        rest.as_mut_ptr().cast::<Key<'k>>().copy_from_nonoverlapping(keys.as_ptr(), keys.len())
    };
}

/// How many keys are hashed at once, and how far ahead they are asked for. With 32,
/// 1,000 keys took 1.05 times as long (AMD EPYC of the fifth generation, 2026-11-23).
const BLOCK: usize = 64;
const _: () = assert!(BLOCK == blocks::BLOCK);

/// Hashes the first block of keys by eights, in the order of `words`, and asks for those
/// of the next.
///
/// # Safety
/// The processor has AVX2; there are at least eight keys, and a vector for each eight
/// of a block.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash(keys: &[Key], for_large: bool, h: *mut __m256i) {
    if keys.len() > BLOCK {
        blocks::prefetch(blocks::at_most(BLOCK, keys, BLOCK), for_large);
    }
    // SAFETY: no instructions.
    let n = unsafe {
        // Otherwise the loops over them would be written out.
        opaque!(keys.len().min(BLOCK))
    };
    for at in (0..n).step_by(GROUPS * LANES) {
        // At least eight: the last may be some of those before.
        let from = at.min(n - LANES);
        let groups = Groups::of(keys.as_ptr().wrapping_add(from), n - from, GROUPS);
        // SAFETY: the caller's word; `from` is at most `n - LANES`, so that each run has eight keys
        // at least.
        unsafe {
            let h = h.add(at / LANES);
            match groups.common_length() {
                Some(len) if !groups.would_thrash(len) => hash_uniform(groups, len, h),
                Some(_) => {
                    for (g, keys) in groups.each() {
                        hash_mixed(Groups::of(keys, LANES, 1), h.add(g));
                    }
                }
                None => hash_mixed(groups, h),
            }
        }
    }
}

/// A run of eight keys or more, hashed by eights.
#[derive(Clone, Copy)]
pub(in super::super) struct Groups<'k> {
    pub keys: *const Key<'k>,
    pub n: usize,
}

impl<'k> Groups<'k> {
    /// Of `n` keys, eight or more, as many as `most` eights have.
    #[inline(always)]
    pub fn of(keys: *const Key<'k>, n: usize, most: usize) -> Self {
        Groups { keys, n: n.min(most * LANES) }
    }

    /// Where each eight begin.
    #[inline(always)]
    pub fn starts(self) -> impl Iterator<Item = usize> {
        // The last eight overlap those before.
        (0..self.n).step_by(LANES).map(move |at| at.min(self.n - LANES))
    }

    /// The keys of each eight, counted.
    #[inline(always)]
    pub fn each(self) -> impl Iterator<Item = (usize, *const Key<'k>)> {
        // By address, not by `starts`: one instruction less for each eight.
        let end = self.keys.wrapping_add(self.n);
        let (last, mut at) = (end.wrapping_sub(LANES), self.keys);
        let eights = iter::from_fn(move || {
            let keys = (at < end).then(|| at.min(last));
            at = at.wrapping_add(LANES);
            keys
        });
        eights.enumerate()
    }

    /// Hashes the whole blocks of 16 of keys of `len` bytes. `block` takes the hashes of eight keys
    /// a block further, beginning with `first`.
    ///
    /// # Safety
    /// The keys are there, `len` bytes each, and room for a vector of hashes for each eight.
    #[inline(always)]
    pub unsafe fn hash_blocks<H: Copy>(
        self,
        len: usize,
        first: H,
        h: *mut H,
        block: impl Fn(H, *const Key<'k>, usize) -> H,
    ) {
        // SAFETY: the caller's word; all are written before they are read.
        unsafe {
            if len < 16 {
                for (g, _) in self.each() {
                    h.add(g).write(first);
                }
                return;
            }
            for (g, keys) in self.each() {
                h.add(g).write(block(first, keys, 0));
            }
            let mut at = 16;
            while at + 16 <= len {
                for (g, keys) in self.each() {
                    *h.add(g) = block(*h.add(g), keys, at);
                }
                at += 16;
            }
        }
    }

    /// Whether 32 keys or more of that length lie as far apart as makes their blocks, one by one,
    /// fall on a few lines of the first cache: more keys side by side than it has room for there,
    /// and each is fetched four times. Their eights are then hashed one after the other: 1,000 keys
    /// of 2,048 bytes took 0.66 of the time with AVX2 and 0.51 with AVX-512, of 4,096 bytes 0.38
    /// and 0.33 (AMD EPYC of the fourth generation, 2026-11-24).
    ///
    /// # Safety
    /// There are two keys.
    #[inline]
    pub unsafe fn would_thrash(self, len: usize) -> bool {
        const STRIDE: usize = 2048;
        // SAFETY: the caller's word.
        let [first, second] = unsafe { [*self.keys, *self.keys.add(1)] };
        let apart = (second.as_ptr() as usize).wrapping_sub(first.as_ptr() as usize);
        self.n >= 4 * LANES && len >= STRIDE && apart % STRIDE == 0
    }

    /// The length of all keys, if they have one.
    ///
    /// # Safety
    /// The processor has AVX2; there are that many keys.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn common_length(self) -> Option<usize> {
        // SAFETY: the caller's word; a key is two words, so that a load reads two keys.
        unsafe {
            let len = (*self.keys).len();
            // The first two keys already show most lists to be of mixed lengths.
            if len != (*self.keys.add(1)).len() {
                return None;
            }
            let all = _mm256_set1_epi64x(len as i64);
            let two = |at: *const Key| _mm256_cmpeq_epi64(_mm256_loadu_si256(at.cast()), all);
            let four = |at: *const Key<'k>| _mm256_and_si256(two(at), two(at.wrapping_add(2)));
            // The last four overlap those before.
            let (mut at, last) = (self.keys, self.keys.wrapping_add(self.n - 4));
            let mut same = four(last);
            loop {
                same = _mm256_and_si256(same, four(at));
                // Hidden, because the compiler would write out two steps.
                at = opaque!(at.wrapping_add(4));
                if at >= last {
                    break;
                }
            }
            // the lengths are the odd words
            (_mm256_movemask_pd(_mm256_castsi256_pd(same)) & 0b1010 == 0b1010).then_some(len)
        }
    }
}

/// Hashes in the order of the keys, from lanes that hold keys 0, 2, 4, 6, 1, 3, 5, 7.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(in super::super) unsafe fn in_order(h: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_permutevar8x32_epi32(h, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)) }
}

/// The 16-byte blocks of eight keys, transposed: a vector for each of their four words.
///
/// # Safety
/// The processor has AVX2.
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
///
/// # Safety
/// The processor has AVX2.
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
    // Keys of fewer than 16 bytes and longer ones take the same path: which comes next among mixed
    // lengths, no branch predictor could know.
    let row = if len < 16 { len - 8 } else { 8 + len % 16 };
    // SAFETY: the caller's word: the key has 8 bytes or more. Both loads are of 8 bytes of it, the
    // first from 16 before its end (or from its beginning), the second its last 8; the row is less
    // than 24.
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
    // SAFETY: the caller's word; each branch loads only bytes that a key of such a length has.
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

/// What `load_rest` loads, transposed as by `words`, of eight keys of which some have fewer than 8
/// bytes.
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
/// a vector for each eight.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_uniform(groups: Groups, len: usize, h: *mut __m256i) {
    // SAFETY: the caller's word.
    unsafe {
        let first = _mm256_set1_epi32((SEED ^ (len as u32).wrapping_mul(M)) as i32);
        groups.hash_blocks(len, first, h, |h, keys, at| hash_block(h, keys, at));
        if len % 16 != 0 {
            hash_rests(groups, len, h);
        }
    }
}

/// A step for each word of the 16 bytes that eight keys have there.
///
/// # Safety
/// The processor has AVX2; they have them.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_block(h: __m256i, keys: *const Key, at: usize) -> __m256i {
    // SAFETY: the caller's word.
    unsafe {
        let words = words(|i| _mm_loadu_si128((*keys.add(i)).as_ptr().add(at).cast()));
        words.into_iter().fold(h, |h, word| step::<16>(h, word))
    }
}

/// The steps of what is left after whole blocks: apart, because keys that have
/// nothing left would pay for the registers this needs.
///
/// # Safety
/// The processor has AVX2; there are that many keys, all of `len` bytes, and
/// the hashes of eight for each group.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_rests(groups: Groups, len: usize, h: *mut __m256i) {
    // SAFETY: the caller's word: each key has `len` bytes, and `load_rest` and `load_short` read
    // only bytes that such a key has.
    unsafe {
        for (g, keys) in groups.each() {
            let mut hash = *h.add(g);
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
            *h.add(g) = hash;
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

/// The low halves of the lanes, in the lane order of `words`.
///
/// # Safety
/// The processor has AVX2.
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
///
/// # Safety
/// The processor has AVX2.
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

/// Eight keys of any lengths.
struct Mixed {
    /// The address of each key's first whole block of 16 bytes, or of `ZEROS`.
    first: Wide,
    /// How far from there the last 16 bytes of the key begin; 0 for `ZEROS`.
    last: Wide,
    lens: __m256i,
}

/// # Safety
/// The processor has AVX2; there are that many keys, eight at least and in `GROUPS` eights at most,
/// and a vector for each eight.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(in super::super) unsafe fn hash_mixed(groups: Groups, h: *mut __m256i) {
    let mut mixed = [const { MaybeUninit::<Mixed>::uninit() }; GROUPS];
    // SAFETY: the caller's word. A block is loaded within a key's whole blocks, from where `first`
    // and `last` place it, or from ZEROS; each of `mixed` is written before it is read.
    unsafe {
        let zeros = _mm256_set1_epi64x(ZEROS.as_ptr() as i64);
        let (mut any, mut most) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for (g, keys) in groups.each() {
            let (start, len) = addresses_and_lengths(keys);
            any = _mm256_or_si256(any, _mm256_or_si256(len[0], len[1]));
            // Lanes that are past their whole blocks read their key's last 16 bytes again, and
            // lanes without any read zeros; both keep their hash.
            let whole = len.map(|len| _mm256_cmpgt_epi64(len, _mm256_set1_epi64x(15)));
            let less = len.map(|len| _mm256_sub_epi64(len, _mm256_set1_epi64x(16)));
            let last = [0, 1].map(|i| _mm256_and_si256(whole[i], less[i]));
            let first = [0, 1].map(|i| _mm256_blendv_epi8(zeros, start[i], whole[i]));
            let lens = narrow(len);
            let seed = _mm256_mullo_epi32(lens, _mm256_set1_epi32(M as i32));
            *h.add(g) = _mm256_xor_si256(seed, _mm256_set1_epi32(SEED as i32));
            most = _mm256_max_epi32(most, lens);
            mixed.get_unchecked_mut(g).write(Mixed { first, last, lens });
        }
        // A length of 2^31 or more does not fit a 32-bit lane: such keys go to the portable kernel.
        let long = _mm256_srli_epi64(any, 31);
        if _mm256_testz_si256(long, long) == 0 {
            for (g, keys) in groups.each() {
                let mut hashes = [0; LANES];
                portable::hash_keys(slice::from_raw_parts(keys, LANES), &mut hashes);
                let order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
                let hashes = _mm256_loadu_si256(hashes.as_ptr().cast());
                *h.add(g) = _mm256_permutevar8x32_epi32(hashes, order);
            }
            return;
        }
        // A block of each eight in turn, because each step waits for the one before.
        let mut at = 0;
        loop {
            let any = _mm256_cmpgt_epi32(most, _mm256_set1_epi32(at + 15));
            if _mm256_testz_si256(any, any) != 0 {
                break;
            }
            for (g, _) in groups.each() {
                let Mixed { first, last, lens } = mixed.get_unchecked(g).assume_init_ref();
                let live = _mm256_cmpgt_epi32(*lens, _mm256_set1_epi32(at + 15));
                if _mm256_testz_si256(live, live) != 0 {
                    continue;
                }
                let here = _mm256_set1_epi64x(i64::from(at));
                let blocks =
                    [0, 1].map(|i| _mm256_add_epi64(first[i], _mm256_min_epu32(last[i], here)));
                let mut next = *h.add(g);
                for word in words(|i| _mm_loadu_si128(address(blocks, i).cast())) {
                    next = step::<16>(next, word);
                }
                *h.add(g) = _mm256_blendv_epi8(*h.add(g), next, live);
            }
            at += 16;
        }
        for (g, keys) in groups.each() {
            *h.add(g) = hash_mixed_rests(*h.add(g), keys);
        }
    }
}

/// The steps of what eight keys have after whole blocks.
///
/// # Safety
/// The processor has AVX2; there are eight keys.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn hash_mixed_rests(mut h: __m256i, keys: *const Key) -> __m256i {
    // SAFETY: the caller's word: eight keys are there, and `rests_side_by_side` is asked only where
    // all have 8 bytes or more.
    unsafe {
        let (start, len) = addresses_and_lengths(keys);
        let lens = narrow(len);
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
        _mm256_blendv_epi8(h, step::<24>(h, tail), some)
    }
}

/// What `load_rest` loads, for eight keys of 8 bytes or more at once, transposed as by `words`.
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
