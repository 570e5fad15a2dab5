//! What all kernels do alike: many keys in blocks, and how a filter's bits are set.
//!
//! ```text
//! for each block of keys: prefetch the next, hash, and
//!     to query:  test the bits of each hash
//!     to create: set the bits at the positions of all probes
//! ```

use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::num::NonZeroU32;

use super::FEW;
use super::hint::prefetch;
use super::key::Key;
use crate::probe;

/// The steps of creating a filter that each kernel has its own way to do. They are given [`FEW`]
/// keys or hashes at least, unless a call as a whole has fewer.
pub(super) trait Steps {
    /// How many keys are hashed at once.
    const LANES: usize;

    /// Hashes keys, `LANES` at a time. The last `LANES` hashes are those of the last keys, some of
    /// which may so come twice: to load some lanes of one store and some of another takes long.
    ///
    /// # Safety
    /// The machine can run the kernel; there are as many hashes as keys, rounded up to a multiple of
    /// `LANES`.
    unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]);

    /// Calls `set` with the position of each of `k` probes, in any order, some of them twice.
    ///
    /// # Safety
    /// The machine can run the kernel.
    unsafe fn each_position(hashes: &[u32], k: u32, bits: NonZeroU32, set: impl FnMut(u32));

    /// Calls `set` with the byte that holds each position, and the bit in it.
    ///
    /// # Safety
    /// The machine can run the kernel; the array has at most [`CACHED`] bytes.
    unsafe fn each_bit(hashes: &[u32], k: u32, bits: NonZeroU32, set: impl FnMut(usize, u8));
}

/// The most keys that are hashed at once.
pub(super) const BLOCK: usize = 64;

/// Calls `f` with the hashes of all keys, block by block, each rounded up to a multiple of `LANES`.
///
/// # Safety
/// The machine can run the kernel.
#[inline(always)]
pub(super) unsafe fn in_blocks<S: Steps>(keys: &[Key], mut f: impl FnMut(&[u32])) {
    let (mut hashes, mut later) = ([0; BLOCK], keys);
    while let Some((keys, rest)) = later.split_at_checked(next_block(later.len(), BLOCK)) {
        if keys.is_empty() {
            return;
        }
        prefetch_keys(rest.get(..BLOCK).unwrap_or(rest));
        let rounded = keys.len().next_multiple_of(S::LANES);
        let hashes = hashes.get_mut(..rounded).unwrap_or(&mut []);
        // SAFETY: the caller's; a block is a multiple of `LANES`.
        unsafe { S::hash_keys(keys, hashes) };
        f(hashes);
        later = rest;
    }
}

/// Hashes `keys[i]` into `hashes[i]`.
///
/// # Safety
/// The machine can run the kernel; there are as many hashes as keys.
#[cfg(leveldb_bloom_avx2)]
#[inline(always)]
pub(super) unsafe fn hash_keys<S: Steps>(keys: &[Key], mut hashes: &mut [u32]) {
    let keep = |block: &[u32]| {
        let all = core::mem::take(&mut hashes);
        let (to, later) = all.split_at_mut(block.len().min(all.len()));
        to.iter_mut().zip(block).for_each(|(to, h)| *to = *h);
        to.iter_mut().rev().zip(block.iter().rev()).take(S::LANES).for_each(|(to, h)| *to = *h);
        hashes = later;
    };
    // SAFETY: the caller's.
    unsafe { in_blocks::<S>(keys, keep) }
}

/// How many of `left` keys to take next, at most `most`, so that the last block has [`FEW`] at least.
#[inline(always)]
fn next_block(left: usize, most: usize) -> usize {
    if left > most && left < most + FEW { most - FEW } else { left.min(most) }
}

/// Prefetches keys that may lie anywhere in memory. The processor does it for those that lie one
/// after the other.
#[inline(always)]
pub(super) fn prefetch_keys(keys: &[Key]) {
    const NEAR: usize = 32 * 1024;
    let ([first, ..], [.., last]) = (keys, keys) else { return };
    if first.as_ptr().addr().abs_diff(last.as_ptr().addr()) > NEAR {
        keys.iter().for_each(|key| prefetch(key.as_ptr()));
    }
}

/// The number of bits of an array of `bytes` bytes. `None` if it is empty, or has 2^31 bits or more:
/// the sum of two positions might not fit in 32 bits.
#[inline(always)]
pub(super) fn bits_of(bytes: usize) -> Option<NonZeroU32> {
    if bytes >= 1 << 28 {
        return None;
    }
    NonZeroU32::new(bytes as u32 * 8)
}

/// Arrays of up to this many bytes are made of a byte for each bit, which the L1 cache has room for,
/// and packed at the end. To set a byte is only a store; to set a bit is a load and a store that wait
/// for each other.
const BYTE_PER_BIT: usize = 4096;

/// Bits of arrays of more bytes are prefetched.
const CACHED: usize = 8 << 20;

/// Writes the array of these keys, whatever it held.
///
/// # Safety
/// The machine can run the kernel.
#[inline(always)]
pub(super) unsafe fn create<S: Steps>(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
    // SAFETY: the caller's; `by_bytes` is given the array's own bits.
    unsafe {
        match bits_of(array.len()) {
            Some(bits)
                if array.len() <= BYTE_PER_BIT && by_bytes::<S>(keys, k, bits, array).is_some() => {
            }
            Some(bits) if array.len() > CACHED => create_large::<S>(keys, k, bits, zeroed(array)),
            _ => {
                let array = zeroed(array);
                in_blocks::<S>(keys, |hashes| insert::<S>(hashes, k, array));
            }
        }
    }
}

/// Out of line, so that smaller arrays need no room for it on the stack.
///
/// # Safety
/// The machine can run the kernel; the array has these bits.
#[inline(never)]
unsafe fn create_large<S: Steps>(keys: &[Key], k: u32, bits: NonZeroU32, array: &mut [u8]) {
    let mut later = Later::new();
    // SAFETY: the caller's.
    unsafe { in_blocks::<S>(keys, |hashes| later.insert::<S>(hashes, k, bits, array)) };
    later.finish(array);
}

/// `None` where there is no memory for it.
///
/// # Safety
/// The machine can run the kernel; the array has these bits.
#[inline(always)]
unsafe fn by_bytes<S: Steps>(
    keys: &[Key],
    k: u32,
    bits: NonZeroU32,
    array: &mut [MaybeUninit<u8>],
) -> Option<()> {
    with_zeros(8 * array.len().next_multiple_of(4), |bytes| {
        // SAFETY: the caller's; a position is less than the array's bits, for each of which there is
        // a byte.
        unsafe {
            in_blocks::<S>(keys, |hashes| {
                S::each_position(hashes, k, bits, |p| *bytes.get_unchecked_mut(p as usize) = SET);
            });
        }
        pack(bytes, array);
    })
}

/// Calls `f` with so many zeros, on the stack if they are not many. `None` where there is no memory.
#[inline(always)]
fn with_zeros(len: usize, f: impl FnOnce(&mut [u8])) -> Option<()> {
    let (mut few, mut many) = ([const { MaybeUninit::uninit() }; 4096], Vec::new());
    let room = if len <= few.len() {
        &mut few
    } else {
        many.try_reserve_exact(len).ok()?;
        many.spare_capacity_mut()
    };
    f(zeroed(room.get_mut(..len)?));
    Some(())
}

/// Sets the bits of keys with these hashes in an array.
///
/// # Safety
/// The machine can run the kernel.
#[inline(never)]
pub(super) unsafe fn insert<S: Steps>(hashes: &[u32], k: u32, array: &mut [u8]) {
    match bits_of(array.len()) {
        // SAFETY: the caller's; a position is less than the array's bits.
        Some(bits) if array.len() <= CACHED => unsafe {
            S::each_bit(hashes, k, bits, |byte, bit| *array.get_unchecked_mut(byte) |= bit);
        },
        Some(bits) => {
            let mut later = Later::new();
            // SAFETY: the caller's.
            unsafe { later.insert::<S>(hashes, k, bits, array) };
            later.finish(array);
        }
        None => hashes.iter().for_each(|h| probe::insert(*h, k, array)),
    }
}

/// Positions in a large array. Each is prefetched when it comes, and its bit is set when as many
/// others have come.
struct Later {
    positions: [u32; 512],
    next: usize,
}

impl Later {
    /// Past the end of any array with [`bits_of`].
    const NONE: u32 = u32::MAX;

    fn new() -> Later {
        Later { positions: [Later::NONE; 512], next: 0 }
    }

    /// # Safety
    /// The machine can run the kernel.
    #[inline(always)]
    unsafe fn insert<S: Steps>(
        &mut self,
        hashes: &[u32],
        k: u32,
        bits: NonZeroU32,
        array: &mut [u8],
    ) {
        let mut next = self.next;
        // SAFETY: the caller's.
        unsafe {
            S::each_position(hashes, k, bits, |p| {
                prefetch(array.as_ptr().wrapping_add(p as usize / 8));
                next = (next + 1) % self.positions.len();
                set(array, core::mem::replace(&mut self.positions[next], p));
            });
        }
        self.next = next;
    }

    fn finish(self, array: &mut [u8]) {
        self.positions.iter().for_each(|p| set(array, *p));
    }
}

/// Sets the bit at a position, if it is in the array.
#[inline(always)]
fn set(array: &mut [u8], position: u32) {
    if let Some(byte) = array.get_mut(position as usize / 8) {
        *byte |= 1u8.rotate_left(position);
    }
}

/// What a byte is that stands for a set bit. SSE2, which every x86-64 processor has, packs the
/// highest bits of sixteen bytes at once.
const SET: u8 = 0x80;

/// Packs bytes of 0 or [`SET`] into bits. There are 32 bytes for each four of the array, or part of
/// four.
#[inline(always)]
fn pack(bytes: &[u8], array: &mut [MaybeUninit<u8>]) {
    for (out, bytes) in array.chunks_mut(4).zip(bytes.chunks_exact(32)) {
        let [low, high] = [0, 16].map(|at| bytes.get(at..).and_then(|rest| rest.first_chunk()));
        let [low, high] = [low, high].map(|half| half.map_or(0, highest_bits));
        let packed = (low | high << 16).to_le_bytes().map(MaybeUninit::new);
        match <&mut [_; 4]>::try_from(&mut *out) {
            Ok(four) => *four = packed,
            Err(_) => out.iter_mut().zip(packed).for_each(|(out, byte)| *out = byte),
        }
    }
}

#[inline(always)]
fn highest_bits(bytes: &[u8; 16]) -> u32 {
    #[cfg(target_feature = "sse2")]
    {
        #[cfg(target_arch = "x86")]
        use core::arch::x86::{_mm_loadu_si128, _mm_movemask_epi8};
        #[cfg(target_arch = "x86_64")]
        use core::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
        // SAFETY: sixteen bytes are loaded; every processor of this target has SSE2.
        unsafe { _mm_movemask_epi8(_mm_loadu_si128(bytes.as_ptr().cast())) as u32 }
    }
    #[cfg(not(target_feature = "sse2"))]
    bytes.iter().rev().fold(0, |bits, byte| bits << 1 | u32::from(byte >> 7))
}

/// All of `array`, zeroed.
#[inline(always)]
fn zeroed(array: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: every byte is written before it is called a u8.
    unsafe {
        array.as_mut_ptr().write_bytes(0, array.len());
        &mut *(array as *mut [MaybeUninit<u8>] as *mut [u8])
    }
}
