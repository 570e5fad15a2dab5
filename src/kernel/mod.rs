//! The answers of `hash`, `probe` and `filter`, faster: one kernel for each instruction set. A kernel
//! is chosen when a policy is made, and kept in it.
//!
//! ```text
//! mod        the table of kernels, their choice, and the decision by size
//! portable   plain Rust for every target
//! avx2       x86-64 since Haswell and Zen
//! avx512     x86-64 with IFMA, VBMI and GFNI: Ice Lake, Zen 4 and later
//! blocks     what they do alike: keys in blocks, how bits are set, what is prefetched
//! hint       help for the compiler and the processor
//! cpu        what the processor can do
//! key        a key as LevelDB lays it out, and lists of keys
//! words      words read from any place of an array
//! ```

use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::filter::MAX_PROBES;

pub use key::Key;
pub(crate) use key::{KeyList, as_keys};
pub(crate) use words::AtLeast;

#[cfg(leveldb_bloom_avx2)]
mod avx2;
#[cfg(leveldb_bloom_avx512)]
mod avx512;
mod blocks;
#[cfg(leveldb_bloom_avx2)]
mod cpu;
mod hint;
mod key;
mod portable;
#[cfg(test)]
mod tests;
mod words;

/// One implementation of a filter's work. A kernel is only handed out (by [`best`](Self::best),
/// [`available`](Self::available) and [`by_name`](Self::by_name)) if this machine can run it, which
/// is what makes its methods safe.
pub struct Kernel {
    name: &'static str,
    /// Whether this machine can run it.
    supported: fn() -> bool,
    /// Whether this machine can run it, and without slowing down what else the program does.
    preferred: fn() -> bool,
    // The functions may only be called where `supported` is true. Those for many keys are given
    // `FEW` keys, or hashes, at least.
    /// Given as many hashes as keys.
    hash_keys: unsafe fn(&[Key], &mut [u32]),
    /// Given an array that is not empty, and at most [`MAX_PROBES`] probes. Initialises the array.
    create: unsafe fn(&[Key], u32, &mut [MaybeUninit<u8>]),
    /// Given an array that is not empty, and at most [`MAX_PROBES`] probes.
    insert_hashes: unsafe fn(&[u32], u32, &mut [u8]),
    may_match: unsafe fn(Key, &[u8]) -> bool,
    /// Given as many results as keys. Like the next, it writes only 0 and 1 to them, and returns
    /// how many are 1.
    keys_may_match: unsafe fn(&[Key], &[u8], &mut [u8]) -> usize,
    /// Given as many results as filters.
    filters_may_match: unsafe fn(Key, &[Key], &mut [u8]) -> usize,
    /// `ribbon::may_match` and `ribbon::solve`.
    ribbon_may_match: unsafe fn(&[u8], &[u8]) -> bool,
    solve: unsafe fn(&[u64], u32, &mut [u8]) -> bool,
}

/// Fewer keys than this are the portable kernel's, whatever the kernel. This is the one decision by
/// the number of keys.
const FEW: usize = 8;

/// Every kernel built for this target, the fastest first.
static KERNELS: &[Kernel] = &[
    #[cfg(leveldb_bloom_avx512)]
    avx512::KERNEL,
    #[cfg(leveldb_bloom_avx2)]
    avx2::KERNEL,
    portable::KERNEL,
];

/// The last of them, which every target has.
static PORTABLE: &Kernel = &KERNELS[KERNELS.len() - 1];

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
    pub const NAMES: &'static [&'static str] = &["avx512", "avx2", "portable"];

    /// The kernels this machine can run, the fastest first.
    pub fn available() -> impl Iterator<Item = &'static Kernel> {
        KERNELS.iter().filter(|kernel| (kernel.supported)())
    }

    /// The fastest kernel that this machine can run without slowing down the rest of the program.
    /// (On Intel's processors AVX-512 lowers a core's clock; there it is used only by name.)
    #[must_use]
    #[inline]
    pub fn best() -> &'static Kernel {
        static BEST: AtomicPtr<Kernel> = AtomicPtr::new(ptr::null_mut());
        // SAFETY: NULL, or a reference to a static, which is stored below.
        if let Some(best) = unsafe { BEST.load(Ordering::Relaxed).as_ref() } {
            return best;
        }
        let best = KERNELS.iter().find(|kernel| (kernel.preferred)()).unwrap_or(PORTABLE);
        BEST.store(ptr::from_ref(best).cast_mut(), Ordering::Relaxed);
        best
    }

    /// The kernel of that name, if this machine can run it.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Kernel> {
        Self::available().find(|kernel| kernel.name == name)
    }

    /// The kernel's name, one of [`NAMES`](Self::NAMES).
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The bloom hash of one key.
    pub(crate) fn hash(&self, key: Key) -> u32 {
        portable::hash(key)
    }

    /// Hashes `keys[i]` into `hashes[i]`, for as many as both have.
    pub(crate) fn hash_keys(&self, keys: &[Key], hashes: &mut [u32]) {
        let (keys, hashes) = same_length(keys, hashes);
        if keys.len() < FEW {
            return portable::hash_keys(keys, hashes);
        }
        // SAFETY: this machine can run the kernel, as whoever handed it out has seen; the lengths
        // are equal.
        unsafe { (self.hash_keys)(keys, hashes) }
    }

    /// Writes the filter of `keys` with `k` probes over all of `filter`, whatever that held, and
    /// returns it.
    pub(crate) fn create<'f>(
        &self,
        keys: &[Key],
        k: u32,
        filter: &'f mut [MaybeUninit<u8>],
    ) -> &'f mut [u8] {
        let Some((last, array)) = filter.split_last_mut() else { return &mut [] };
        last.write(k as u8);
        let k = k.min(MAX_PROBES);
        if array.is_empty() || keys.len() < FEW {
            portable::create(keys, k, array);
        } else {
            // SAFETY: this machine can run the kernel; the array is not empty, and k is at most 30.
            unsafe { (self.create)(keys, k, array) }
        }
        // SAFETY: the last byte was written above, and `create` writes all of the array.
        unsafe { &mut *(ptr::from_mut(filter) as *mut [u8]) }
    }

    /// [`create`](Self::create) over memory that is initialised.
    pub(crate) fn create_over(&self, keys: &[Key], k: u32, filter: &mut [u8]) {
        // SAFETY: `create` leaves all of it initialised.
        self.create(keys, k, unsafe { &mut *(ptr::from_mut(filter) as *mut [MaybeUninit<u8>]) });
    }

    /// Adds up to [`KeyList::MAX`] keys to a bit array, the filter without its last byte.
    pub(crate) fn insert(&self, keys: &[Key], k: u32, array: &mut [u8]) {
        let mut hashes = [0; KeyList::MAX];
        let hashes = hashes.get_mut(..keys.len()).unwrap_or(&mut []);
        self.hash_keys(keys, hashes);
        self.insert_hashes(hashes, k, array);
    }

    /// Adds the bits of keys with these hashes to a bit array.
    pub(crate) fn insert_hashes(&self, hashes: &[u32], k: u32, array: &mut [u8]) {
        let k = k.min(MAX_PROBES);
        if array.is_empty() || hashes.len() < FEW {
            return portable::insert_hashes(hashes, k, array);
        }
        // SAFETY: this machine can run the kernel; the array is not empty, and k is at most 30.
        unsafe { (self.insert_hashes)(hashes, k, array) }
    }

    /// Whether a filter, k byte included, may hold the key.
    #[inline]
    pub(crate) fn may_match(&self, key: Key, filter: &[u8]) -> bool {
        // SAFETY: this machine can run the kernel.
        unsafe { (self.may_match)(key, filter) }
    }

    /// Whether a filter whose last byte is a ribbon's may hold the key.
    #[inline]
    pub(crate) fn ribbon_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        // SAFETY: this machine can run the kernel.
        unsafe { (self.ribbon_may_match)(key, filter) }
    }

    /// Writes the ribbon filter with `r` result bits of keys with these hashes over all of `filter`;
    /// false, and `filter` as it was, if there is none.
    pub(crate) fn solve(&self, hashes: &[u64], r: u32, filter: &mut [u8]) -> bool {
        // SAFETY: this machine can run the kernel.
        unsafe { (self.solve)(hashes, r, filter) }
    }

    /// Queries one filter for many keys: `results[i]` is the answer for `keys[i]`, for as many as
    /// both have. Returns how many are true.
    pub(crate) fn keys_may_match(
        &self,
        keys: &[Key],
        filter: &[u8],
        results: &mut [bool],
    ) -> usize {
        let (keys, results) = same_length(keys, results);
        // SAFETY: kernels write only 0 and 1; this machine can run this one; the lengths are equal.
        unsafe {
            let results = as_bytes(results);
            if keys.len() < FEW {
                return portable::keys_may_match(keys, filter, results);
            }
            (self.keys_may_match)(keys, filter, results)
        }
    }

    /// Queries many filters, k bytes included, for one key, as `keys_may_match` does one for many.
    /// The filters come in `Key`s, which are borrowed bytes.
    pub(crate) fn filters_may_match(
        &self,
        key: Key,
        filters: &[Key],
        results: &mut [bool],
    ) -> usize {
        let (filters, results) = same_length(filters, results);
        // SAFETY: as for `keys_may_match`.
        unsafe { (self.filters_may_match)(key, filters, as_bytes(results)) }
    }
}

/// Whether a filter, k byte included, may hold a key of this hash.
pub(crate) fn hash_may_match(hash: u32, filter: &[u8]) -> bool {
    portable::hash_may_match(hash, filter)
}

/// Makes memory zeros.
pub(crate) fn zeroed(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    memory.fill(MaybeUninit::new(0));
    // SAFETY: all of it was just initialised.
    unsafe { &mut *(ptr::from_mut(memory) as *mut [u8]) }
}

/// # Safety
/// Nothing but 0 and 1 is written to them.
unsafe fn as_bytes(results: &mut [bool]) -> &mut [u8] {
    // SAFETY: a bool is a byte of 0 or 1, and the caller writes no other.
    unsafe { &mut *(ptr::from_mut(results) as *mut [u8]) }
}

/// The first elements of both, as many as the shorter has.
#[inline(always)]
fn same_length<'a, 'b, A, B>(a: &'a [A], b: &'b mut [B]) -> (&'a [A], &'b mut [B]) {
    let n = a.len().min(b.len());
    (a.get(..n).unwrap_or(&[]), b.get_mut(..n).unwrap_or(&mut []))
}
