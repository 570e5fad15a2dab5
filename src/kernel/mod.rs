//! The same filters and answers as the specification's (`crate::probe`, `crate::hash`), faster: one
//! kernel per instruction set. A kernel is chosen when a policy is made, and kept in it.
//!
//! ```text
//! avx512, avx2, neon   a kernel each, which opens with its departures from the plain loop
//! portable             the one that every machine has; the others leave to it what they do not gain by
//!   hash, query          its larger parts; avx2 and avx512 have these, too, and `positions`
//! below all of them:
//!   bits               remainders, and how bits are set
//!   blocks             keys some at a time, asked for before they are needed
//!   scratch            memory for a byte a bit
//!   key                a key as LevelDB lays it out
//! beside them:
//!   cpu                what the machine has
//!   self_check         whether a kernel gives the portable one's answers
//! ```

// For `opaque!` of a pointer: its `asm!` neither reads nor writes what the pointer points to.
#![allow(clippy::pointers_in_nomem_asm_block)]

use alloc::vec::Vec;
use core::mem::MaybeUninit;
#[cfg(leveldb_bloom_c_interface)]
use core::num::NonZeroU32;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use crate::filter::MAX_PROBES;

pub(crate) use bits::packed;
pub(crate) use blocks::{GROUP, in_groups, in_groups_of, prefetch};
pub(crate) use key::{Key, as_keys};
#[cfg(leveldb_bloom_c_interface)]
use portable::Word;
pub(crate) use portable::hash_out_of_line as bloom_hash;

/// The value itself, hidden from the optimiser: from what it knows of the value it would generate
/// slower or longer code here.
#[cfg(leveldb_bloom_asm)]
macro_rules! opaque {
    ($value:expr) => {{
        let mut value = $value;
        core::arch::asm!(
            "/* {0} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags)
        );
        value
    }};
}

/// Makes the function begin at a cache line, wherever the linker puts it: at some addresses loops
/// take up to 1.15 times as long (AMD EPYC of the fifth generation, 2026-11-23). It adds no
/// instructions. The directives align the end of the function's section, and thereby the section,
/// at whose beginning the function is. Without effect where functions have no sections of their
/// own, which compilers for Linux give them. With a number, so many bytes of no-ops are put before
/// the code that follows.
macro_rules! at_line {
    ($($bytes:literal)?) => {
        #[cfg(all(leveldb_bloom_asm, target_arch = "x86_64", target_os = "linux"))]
        // SAFETY: the assembler emits no instructions for this, or no-ops.
        unsafe {
            core::arch::asm!(
                ".subsection 1",
                ".p2align 6",
                ".subsection 0",
                $(concat!(".nops ", $bytes),)?
                options(nomem, nostack, preserves_flags)
            )
        }
    };
}
#[cfg(leveldb_bloom_c_interface)]
pub(crate) use at_line;

#[cfg(leveldb_bloom_avx2)]
mod avx2;
#[cfg(leveldb_bloom_avx512)]
mod avx512;
mod bits;
mod blocks;
#[cfg(leveldb_bloom_avx2)]
mod cpu;
mod key;
#[cfg(leveldb_bloom_neon)]
mod neon;
mod portable;
pub(crate) mod scratch;
mod self_check;
#[cfg(test)]
mod tests;

/// One implementation of a filter's work. A kernel is only handed out (by [`best`](Self::best),
/// [`available`](Self::available) and [`by_name`](Self::by_name)) if this machine can run it, which
/// is what makes its methods safe.
pub struct Kernel {
    name: &'static str,
    /// Whether this machine can run it.
    supported: fn() -> bool,
    /// Whether this machine can run it, and without slowing down what else the program does.
    preferred: fn() -> bool,
    /// The functions of a kernel may only be called where `supported` is true. This one is given as
    /// many hashes as keys.
    hash_keys: unsafe fn(&[Key], &mut [u32]),
    /// Given an array that is not empty, at most [`MAX_PROBES`] probes, and keys that are not few
    /// (`portable::are_few`). Initialises all of the array.
    create: unsafe fn(&[Key], u32, &mut [MaybeUninit<u8>]),
    /// Given an array that is not empty, and at most [`MAX_PROBES`] probes.
    insert_hashes: unsafe fn(&[u32], u32, &mut [u8]),
    may_match: unsafe fn(Key, &[u8]) -> bool,
    /// Given at least [`MANY_ASKED`] keys, and as many results. Like the next, it writes only 0 and
    /// 1 to them.
    keys_may_match: unsafe fn(&[Key], &[u8], &mut [u8]) -> usize,
    /// Given as many results as filters.
    filters_may_match: unsafe fn(Key, &[Key], &mut [u8]) -> usize,
}

/// Fewer keys than this are asked for by the portable kernel: vectors would take as long as for
/// eight, which for one key was 46 ns with AVX2 and 60 with AVX-512 in place of 20 (AMD EPYC of the
/// fourth generation, 2026-11-23).
const MANY_ASKED: usize = 8;

/// Every kernel built for this target, the fastest first.
static KERNELS: &[Kernel] = &[
    #[cfg(leveldb_bloom_avx512)]
    avx512::KERNEL,
    #[cfg(leveldb_bloom_avx2)]
    avx2::KERNEL,
    #[cfg(leveldb_bloom_neon)]
    neon::KERNEL,
    portable::KERNEL,
];

/// The last of them, which every target has.
static PORTABLE: &Kernel = &KERNELS[KERNELS.len() - 1];

/// The outcome of the self-check, for each of [`Kernel::NAMES`].
static VERDICTS: [AtomicU8; Kernel::NAMES.len()] =
    [const { AtomicU8::new(UNTRIED) }; Kernel::NAMES.len()];
const UNTRIED: u8 = 0;
const PASSED: u8 = 1;
const FAILED: u8 = 2;

/// By name, which no two kernels share.
impl PartialEq for Kernel {
    fn eq(&self, other: &Kernel) -> bool {
        self.name == other.name
    }
}

impl Eq for Kernel {}

impl core::hash::Hash for Kernel {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl core::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Kernel").field(&self.name).finish()
    }
}

impl Kernel {
    /// The names of all kernels there are, whether or not this machine or build has them.
    pub const NAMES: &'static [&'static str] = &["avx512", "avx2", "neon", "portable"];

    /// The kernels this machine can run, the fastest first, except those that failed their
    /// self-check (see [`failed`](Self::failed)).
    pub fn available() -> impl Iterator<Item = &'static Kernel> {
        KERNELS.iter().filter(|kernel| (kernel.supported)() && kernel.passes())
    }

    /// The fastest kernel this machine can run without slowing down the rest of the program (as
    /// AVX-512 does on Intel's processors, whose clock its multiplications lower); the portable
    /// one, if that kernel failed its self-check (see [`failed`](Self::failed)).
    #[must_use]
    #[inline]
    pub fn best() -> &'static Kernel {
        // Nothing to choose from: a constant, so that the linker can drop the self-check and the
        // rest.
        if KERNELS.len() == 1 {
            return PORTABLE;
        }
        static BEST: AtomicPtr<Kernel> = AtomicPtr::new(ptr::null_mut());
        // SAFETY: NULL, or a reference to a static, which `find_best` stored.
        match unsafe { BEST.load(Ordering::Relaxed).as_ref() } {
            Some(best) => best,
            None => Self::find_best(&BEST),
        }
    }

    // Once, not wherever a kernel is asked for.
    #[cold]
    #[inline(never)]
    fn find_best(kept: &AtomicPtr<Kernel>) -> &'static Kernel {
        let best = Self::best_of(KERNELS, Self::passes);
        kept.store(ptr::from_ref(best).cast_mut(), Ordering::Relaxed);
        best
    }

    fn best_of(kernels: &'static [Kernel], passes: impl Fn(&Kernel) -> bool) -> &'static Kernel {
        let fastest = kernels.iter().find(|kernel| (kernel.preferred)());
        fastest.filter(|kernel| passes(kernel)).unwrap_or(PORTABLE)
    }

    /// The kernel of that name, where this machine can run it and it did not
    /// [fail](Self::failed).
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Kernel> {
        Self::named(name.as_bytes())
    }

    /// [`by_name`](Self::by_name), of bytes that need not be a text.
    pub(crate) fn named(name: &[u8]) -> Option<&'static Kernel> {
        let mut named = KERNELS.iter().filter(|kernel| kernel.name.as_bytes() == name);
        named.find(|kernel| (kernel.supported)() && kernel.passes())
    }

    /// The name of a kernel that failed its self-check in this process, or the first of several.
    /// Before its first use each kernel is tried once on a few keys, and fails unless it gives the
    /// portable kernel's answers.
    #[must_use]
    // Once, not in each of its callers.
    #[inline(never)]
    pub fn failed() -> Option<&'static str> {
        let mut verdicts = Self::NAMES.iter().zip(&VERDICTS);
        let failed = verdicts.find(|(_, verdict)| verdict.load(Ordering::Relaxed) == FAILED);
        failed.map(|(name, _)| *name)
    }

    /// Whether the kernel gives the portable one's answers; tried at the first call. Only for a
    /// kernel that this machine can run.
    #[inline(never)]
    fn passes(&self) -> bool {
        let mut verdicts = Self::NAMES.iter().zip(&VERDICTS);
        let Some((_, verdict)) = verdicts.find(|(name, _)| **name == self.name) else {
            return false;
        };
        let known = match verdict.load(Ordering::Relaxed) {
            UNTRIED => {
                let found = if self_check::agree(self, PORTABLE) { PASSED } else { FAILED };
                verdict.store(found, Ordering::Relaxed);
                found
            }
            known => known,
        };
        known == PASSED
    }

    /// The kernel's name, one of [`NAMES`](Self::NAMES).
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Hashes `keys[i]` into `hashes[i]`, for as many as both have.
    pub(crate) fn hash_keys(&self, keys: &[Key], hashes: &mut [u32]) {
        let (keys, hashes) = same_length(keys, hashes);
        // SAFETY: this machine can run the kernel, as whoever handed it out has seen (`available`,
        // `named`, `best_of`); `same_length` made the lengths equal.
        unsafe { (self.hash_keys)(keys, hashes) }
    }

    /// Writes the bit array (the filter without its k byte) of `keys` with
    /// `k` probes each. What `array` held before does not matter; afterwards
    /// all of it is initialised. More than 30 probes count as 30.
    // Not inlined wherever a filter is made: that saves 150 bytes and costs 0.4 ns a filter.
    #[inline(never)]
    pub(crate) fn create_uninit(&self, keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
        if array.is_empty() {
            return;
        }
        let k = k.min(MAX_PROBES);
        if portable::are_few(keys, k, array.len()) {
            portable::create(keys, k, array);
        } else {
            // SAFETY: this machine can run the kernel, as whoever handed it out has seen; the array
            // was seen not to be empty, and `min` made k at most 30.
            unsafe { (self.create)(keys, k, array) }
        }
        #[cfg(leveldb_bloom_planted)]
        crate::planted::in_filter(array);
    }

    /// The most keys that `create_smallest` is for.
    #[cfg(leveldb_bloom_c_interface)]
    pub(crate) const FEW: u32 = portable::FEW as u32;

    /// What `create_uninit` does, for an array of 64 bits and short keys, up to [`FEW`](Self::FEW) of
    /// them (more would take longer than there), where it would take longer to see how to do it.
    /// Of keys that are not short it does nothing, and returns false.
    #[cfg(leveldb_bloom_c_interface)]
    #[inline(always)]
    pub(crate) fn create_smallest(keys: &[Key], k: NonZeroU32, array: &mut Word) -> bool {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return false };
        if (first.len() | last.len()) >= 64 {
            return false;
        }
        *array = portable::in_a_register(keys, k);
        #[cfg(leveldb_bloom_planted)]
        crate::planted::in_filter(array);
        true
    }

    /// `create_uninit` for memory that has been written before.
    #[inline]
    pub(crate) fn create(&self, keys: &[Key], k: u32, array: &mut [u8]) {
        let array: *mut [u8] = array;
        // SAFETY: `array` is lent to us alone, and `create_uninit` writes only initialised bytes to
        // it, so that it stays a slice of u8.
        self.create_uninit(keys, k, unsafe { &mut *(array as *mut [MaybeUninit<u8>]) })
    }

    /// Appends a bit array of `len` bytes; returns false, having done nothing, where `to` has no
    /// room for it.
    #[inline]
    pub(crate) fn append(&self, keys: &[Key], k: u32, len: usize, to: &mut Vec<u8>) -> bool {
        let Some(array) = to.spare_capacity_mut().get_mut(..len) else { return false };
        self.create_uninit(keys, k, array);
        // SAFETY: `get_mut` found room for `len` more bytes, and `create_uninit` initialised all of
        // them.
        unsafe { to.set_len(to.len() + len) }
        true
    }

    /// Adds the bits of keys with these hashes to a bit array.
    pub(crate) fn insert_hashes(&self, hashes: &[u32], k: u32, array: &mut [u8]) {
        if array.is_empty() {
            return;
        }
        // SAFETY: as in `create_uninit`: the machine, an array that is not empty, and `min`.
        unsafe { (self.insert_hashes)(hashes, k.min(MAX_PROBES), array) }
    }

    /// Whether a filter, k byte included, may hold the key.
    #[inline]
    pub(crate) fn may_match(&self, key: Key, filter: &[u8]) -> bool {
        #[cfg(leveldb_bloom_planted)]
        crate::planted::in_query(filter);
        // SAFETY: this machine can run the kernel, as whoever handed it out has seen.
        unsafe { (self.may_match)(key, filter) }
    }

    /// Asks one filter for many keys: `results[i]` is the answer for `keys[i]`,
    /// for as many as both have. Returns how many are true.
    pub(crate) fn keys_may_match(
        &self,
        keys: &[Key],
        filter: &[u8],
        results: &mut [bool],
    ) -> usize {
        // SAFETY: a kernel writes only 0 and 1 to results (see the field `keys_may_match`).
        self.answer(keys, filter, unsafe { ones_and_zeros(results) })
    }

    /// `keys_may_match` with answers of 1 and 0.
    #[inline]
    fn answer(&self, keys: &[Key], filter: &[u8], results: &mut [u8]) -> usize {
        let (keys, results) = same_length(keys, results);
        if keys.len() < MANY_ASKED {
            return portable::keys_may_match(keys, filter, results);
        }
        // SAFETY: this machine can run the kernel, as whoever handed it out has seen; `same_length`
        // made the lengths equal, and there are `MANY_ASKED` keys or more.
        unsafe { (self.keys_may_match)(keys, filter, results) }
    }

    /// Asks many filters, k bytes included, for one key, as `keys_may_match`
    /// asks one for many. The filters come in `Key`s, which are borrowed bytes.
    pub(crate) fn filters_may_match(
        &self,
        key: Key,
        filters: &[Key],
        results: &mut [bool],
    ) -> usize {
        let (filters, results) = same_length(filters, results);
        // SAFETY: this machine can run the kernel, as whoever handed it out has seen; `same_length`
        // made the lengths equal; a kernel writes only 0 and 1 to results.
        unsafe { (self.filters_may_match)(key, filters, ones_and_zeros(results)) }
    }
}

/// Whether a filter, k byte included, may hold a key of this hash.
pub(crate) fn hash_may_match(hash: u32, filter: &[u8]) -> bool {
    portable::hash_may_match(hash, filter)
}

/// The memory of `answers` as bytes, which is how kernels write answers.
///
/// # Safety
/// The caller writes nothing but 1 or 0 to them.
#[inline(always)]
unsafe fn ones_and_zeros(answers: &mut [bool]) -> &mut [u8] {
    let answers: *mut [bool] = answers;
    // SAFETY: a bool is a byte of 1 or 0, and the caller writes no other.
    unsafe { &mut *(answers as *mut [u8]) }
}

/// The first elements of both, as many as the shorter has.
#[inline(always)]
fn same_length<'a, 'b, A, B>(a: &'a [A], b: &'b mut [B]) -> (&'a [A], &'b mut [B]) {
    let n = a.len().min(b.len());
    (a.get(..n).unwrap_or(&[]), b.get_mut(..n).unwrap_or(&mut []))
}

/// Returns `answer` by way of a branch.
///
/// An address that is computed from the answer would otherwise wait for the whole query; at a
/// branch the processor guesses the answer and goes on. Without this, a chain of queries that
/// depend on each other is slower than stock LevelDB's.
#[inline(always)]
fn through_a_branch(answer: bool) -> bool {
    if !answer {
        return false;
    }
    // Assembly has to stay on the one way where it stands, so that the compiler has to branch.
    #[cfg(all(leveldb_bloom_asm, any(target_arch = "x86", target_arch = "x86_64")))]
    // Zeros the register of the answer: a compiler writes only its lowest byte, which would wait for
    // what is in the rest, and that is what the query read last.
    // SAFETY: writes the register that it names, and flags.
    unsafe {
        core::arch::asm!("xor eax, eax", out("eax") _, options(nomem, nostack))
    }
    #[cfg(all(leveldb_bloom_asm, not(any(target_arch = "x86", target_arch = "x86_64"))))]
    // SAFETY: the assembler emits no instructions for a comment.
    unsafe {
        core::arch::asm!("/* */", options(nomem, nostack, preserves_flags))
    }
    true
}
