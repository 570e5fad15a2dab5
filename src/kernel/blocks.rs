//! Keys in blocks and groups, and memory that is asked for before it is needed.

use core::mem::MaybeUninit;

use super::bits::hidden;
use super::key::{Key, as_keys};

/// How many keys are hashed before the first is set, and how far ahead keys
/// are asked for: those of a shuffled list lie anywhere in memory.
pub(super) const BLOCK: usize = 64;

// Not inlined wherever keys are hashed: that saves 190 bytes.
#[inline(never)]
fn zeros() -> [u32; BLOCK] {
    [0; BLOCK]
}

/// Hands on the hashes of all keys, block by block, and prefetches the keys of the next block.
#[inline(always)]
pub(super) fn in_blocks(
    keys: &[Key],
    for_large: bool,
    hash_keys: impl Fn(&[Key], &mut [u32]),
    mut f: impl FnMut(&[u32]),
) {
    let mut later = keys.chunks(BLOCK);
    later.next();
    let mut hashes = zeros();
    for keys in keys.chunks(BLOCK) {
        prefetch(later.next().unwrap_or(&[]), for_large);
        let hashes = hashes.get_mut(..keys.len()).unwrap_or(&mut []);
        hash_keys(keys, hashes);
        f(hashes);
    }
}

/// Sets the bits of all keys in an array.
///
/// # Safety
/// What the two functions require of their caller, but for the number of hashes: `hash_keys` is
/// given as many as keys.
#[inline(never)]
pub(super) unsafe fn insert_keys(
    hash_keys: unsafe fn(&[Key], &mut [u32]),
    insert_hashes: unsafe fn(&[u32], u32, &mut [u8]),
    keys: &[Key],
    k: u32,
    array: &mut [u8],
) {
    in_blocks(
        keys,
        is_large(array.len()),
        // SAFETY: `in_blocks` gives as many hashes as keys; the rest is the caller's word.
        |keys, hashes| unsafe { hash_keys(keys, hashes) },
        // SAFETY: the caller's word.
        |hashes| unsafe { insert_hashes(hashes, k, array) },
    );
}

/// The most keys that [`in_groups`] hands on at once.
pub(crate) const GROUP: usize = 128;

/// Hands keys on in groups, each but the last of [`GROUP`].
pub(crate) fn in_groups<'k>(
    mut keys: impl Iterator<Item = Key<'k>>,
    mut f: impl FnMut(&[Key<'k>]),
) {
    loop {
        // Not initialised: 2 KB would take longer than the keys of a small group.
        let mut group = [const { MaybeUninit::<Key<'k>>::uninit() }; GROUP];
        let mut len = 0;
        for (place, key) in group.iter_mut().zip(&mut keys) {
            prefetch_line(key.as_ptr());
            place.write(key);
            len += 1;
        }
        if len != 0 {
            // SAFETY: the loop above wrote the first `len`.
            f(unsafe { core::slice::from_raw_parts(group.as_ptr().cast(), len) });
        }
        if len != GROUP {
            return;
        }
    }
}

/// [`in_groups`] for keys in an array. Slices and strings are handed on as they are; keys of other
/// types are listed in half the time that `in_groups` takes, because their number is known
/// beforehand.
pub(crate) fn in_groups_of<'k, K: AsRef<[u8]>>(keys: &'k [K], mut f: impl FnMut(&[Key<'k>])) {
    if let Some(keys) = as_keys(keys) {
        for group in keys.chunks(GROUP) {
            prefetch(group, false);
            f(group);
        }
        return;
    }
    for keys in keys.chunks(GROUP) {
        let mut group = [const { MaybeUninit::<Key<'k>>::uninit() }; GROUP];
        for (place, key) in group.iter_mut().zip(keys) {
            let key = Key::new(key.as_ref());
            prefetch_line(key.as_ptr());
            place.write(key);
        }
        // SAFETY: the loop above wrote all that `keys` has, and `chunks` gives GROUP at most.
        f(unsafe { core::slice::from_raw_parts(group.as_ptr().cast(), keys.len()) });
    }
}

/// Prefetches keys that will be used soon: if they may lie anywhere in memory, or if the filter is
/// so large that the processor does not fetch them by itself (`for_large`, see `is_large`).
///
/// Where the first and the last key are near each other, the others are taken to lie between them
/// and to be in the cache. Prefetching those would cost 0.7 cycles a key, where a query of a batch
/// takes 4.3. For keys anywhere in memory a query takes 17 cycles in place of 36, and creating a
/// filter 14 per key in place of 57 (AVX-512, AMD EPYC of the fifth generation, 2026-11-23).
#[inline(always)]
pub(crate) fn prefetch(keys: &[Key], for_large: bool) {
    if for_large || lie_apart(keys) {
        prefetch_each(keys);
    }
}

/// Keys whose first and last are no further apart than this, in bytes, are not prefetched one by
/// one.
const NEAR: usize = 32 * 1024;

/// Whether they may lie anywhere in memory.
#[inline(always)]
pub(super) fn lie_apart(keys: &[Key]) -> bool {
    match (keys, keys) {
        ([first, ..], [.., last]) => first.as_ptr().addr().abs_diff(last.as_ptr().addr()) > NEAR,
        _ => false,
    }
}

/// At most `n` of the keys, from `from` on.
#[cfg(leveldb_bloom_avx2)]
#[inline(always)]
pub(super) fn at_most<'s, 'k>(n: usize, keys: &'s [Key<'k>], from: usize) -> &'s [Key<'k>] {
    let rest = keys.get(from..).unwrap_or(&[]);
    rest.get(..n).unwrap_or(rest)
}

/// Prefetches keys, and the entries of their list that come a block later.
#[inline(never)]
pub(super) fn prefetch_each(keys: &[Key]) {
    if prefetch_lines(keys) {
        return;
    }
    for keys in keys.chunks(IN_A_LINE) {
        prefetch_line(keys.as_ptr().wrapping_add(BLOCK).cast());
        for key in keys {
            prefetch_line(key.as_ptr());
        }
    }
}

/// How many entries of a list are in a cache line.
const IN_A_LINE: usize = 64 / size_of::<Key>();

/// What `prefetch_each` does, but line by line, for keys that take up no more lines than they are;
/// for any others it does nothing, and returns false. With a million keys of 16 bytes, one took 3.2
/// ns in place of 3.8 with AVX-512, and 3.6 in place of 3.8 with AVX2 (AMD EPYC of the fifth
/// generation, 2026-11-28).
#[inline(always)]
pub(super) fn prefetch_lines(keys: &[Key]) -> bool {
    let ([first, ..], [.., last]) = (keys, keys) else { return true };
    let further = last.as_ptr().addr().wrapping_sub(first.as_ptr().addr()) / 64;
    if further >= keys.len() {
        return false;
    }
    let prefetch = |from: *const u8, lines: usize| {
        let (mut at, mut left) = (from, lines as u32);
        while left != 0 {
            prefetch_line(at);
            at = at.wrapping_add(64);
            // Otherwise the loop would be written out.
            left = hidden(left - 1);
        }
    };
    prefetch(first.as_ptr(), further + 1);
    prefetch(keys.as_ptr().wrapping_add(BLOCK).cast(), keys.len() / IN_A_LINE);
    true
}

/// Whether an array is so large that, of keys which lie one after the other, the next must be asked
/// for: they and their list are in no cache of the core's, and where bits are waited for, too, the
/// processor no longer asks for them early enough. Without, 500,000 keys of 8 to 64 bytes took 1.47
/// times as long with AVX-512, 1.1 times with the portable kernel, and 200,000 of them 1.1 and 1.0
/// times. With 80,000 keys at 10 bits each, from where on it is done, it costs up to 0.04 of the time
/// in a quiet machine (AMD EPYC of the fifth generation, 2026-11-28).
#[inline(always)]
pub(super) const fn is_large(bytes: usize) -> bool {
    bytes > 3 << 15
}

/// Asks for memory that will be used soon. Any address will do.
#[inline(always)]
pub(super) fn prefetch_line(address: *const u8) {
    #[cfg(all(leveldb_bloom_asm, target_arch = "x86_64"))]
    // SAFETY: a hint, which never faults.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(address.cast())
    }
    #[cfg(all(leveldb_bloom_asm, target_arch = "aarch64"))]
    // SAFETY: a hint, which never faults.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, readonly, preserves_flags))
    }
    // No other target has a hint here.
    let _ = address;
}
