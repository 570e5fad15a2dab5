//! The library's own C functions, between raw arguments and the safe policy.

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use super::abi::Slice;
use super::choice;
use super::memory::{self, KeyArrays, Reserve, bytes};
use super::stats::{self, Counters, Route};
use crate::kernel::{GROUP, Key, in_groups, scratch};
use crate::policy::BloomFilterPolicy;

/// What C knows as `struct leveldb_bloom_policy`: the state of the callback table, and the first
/// argument of the functions here. Immutable but for its counters; usable from any thread.
pub struct Policy {
    pub(super) policy: BloomFilterPolicy,
    counters: Option<NonNull<Counters>>,
    reserve: Reserve,
}

/// The answers of the functions that return a status.
pub mod status {
    use core::ffi::c_int;

    /// Done.
    pub const OK: c_int = 0;
    /// A pointer was NULL, or the filter's length was not the one `filter_size` gives.
    pub const INVALID_ARGUMENT: c_int = 1;
    /// The filter's size cannot be represented.
    pub const TOO_LARGE: c_int = 2;
}

impl Policy {
    /// A policy, counting if the environment asks for it.
    pub(super) fn new(bits_per_key: c_int, route: Route) -> Policy {
        let policy = BloomFilterPolicy::with_kernel(bits_per_key, choice::for_policy());
        Policy { policy, counters: stats::start(&policy, route), reserve: Reserve::new() }
    }

    /// A policy in C memory; NULL where there is none.
    #[must_use]
    pub fn create(bits_per_key: c_int) -> *mut Policy {
        memory::allocate_value(Policy::new(bits_per_key, Route::Callbacks))
            .map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    /// Ends a policy. NULL is fine.
    ///
    /// # Safety
    /// `policy` is NULL or came from [`create`](Self::create), and nobody uses it any more.
    pub unsafe fn destroy(policy: *mut Policy) {
        // SAFETY: the caller's promise.
        unsafe {
            if !policy.is_null() {
                policy.drop_in_place();
                memory::free(policy.cast());
            }
        }
    }

    /// The length of a filter for `num_keys` keys, or 0 where no size can say it.
    #[must_use]
    pub fn filter_size(&self, num_keys: usize) -> usize {
        self.policy.filter_len(num_keys).unwrap_or(0)
    }

    /// A filter in C memory, its length in `filter_length`; NULL and 0 where it cannot be made.
    ///
    /// # Safety
    /// The arrays are as [`KeyArrays::new`] asks; `filter_length` is NULL or can be written.
    pub unsafe fn create_filter(
        &self,
        keys: *const *const c_char,
        key_lengths: *const usize,
        num_keys: usize,
        filter_length: *mut usize,
    ) -> *mut c_char {
        if filter_length.is_null() {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        let made = unsafe {
            KeyArrays::new(keys, key_lengths, num_keys)
                .and_then(|keys| self.filter_in_c_memory(keys, num_keys))
        };
        let (filter, len) = made.map_or((ptr::null_mut(), 0), |(f, len)| (f.as_ptr(), len));
        // SAFETY: not NULL, and the caller's promise.
        unsafe { filter_length.write(len) };
        filter.cast()
    }

    /// [`create_filter`](Self::create_filter) for LevelDB, which takes whatever comes for a filter
    /// and never asks again: where no filter can be made, one that matches every key.
    ///
    /// # Safety
    /// As [`create_filter`](Self::create_filter).
    pub(super) unsafe fn create_filter_or_match_all(
        &self,
        keys: *const *const c_char,
        key_lengths: *const usize,
        num_keys: usize,
        filter_length: *mut usize,
    ) -> *mut c_char {
        let mut len = 0;
        // SAFETY: the caller's promise.
        let mut filter = unsafe { self.create_filter(keys, key_lengths, num_keys, &mut len) };
        if filter.is_null() {
            filter = self.reserve.take().as_ptr().cast();
            len = memory::MATCH_ALL.len();
        }
        if !filter_length.is_null() {
            // SAFETY: the caller's promise.
            unsafe { filter_length.write(len) };
        }
        filter
    }

    /// The name of the kernel that does the policy's work.
    #[must_use]
    pub fn kernel_name(&self) -> *const c_char {
        choice::c_name(self.policy.kernel()).as_ptr()
    }

    fn filter_in_c_memory(
        &self,
        keys: KeyArrays<'_>,
        num_keys: usize,
    ) -> Option<(NonNull<u8>, usize)> {
        let len = self.policy.filter_len(num_keys)?;
        let memory = memory::allocate(len)?;
        // SAFETY: fresh zeroed memory of that length.
        let filter = unsafe { memory::array_mut(memory.as_ptr(), len) };
        self.policy.fill_from(num_keys, keys.iter(), filter);
        self.count_filter(num_keys, len);
        Some((memory, len))
    }

    /// Writes the filter over `filter_length` bytes at `filter`; a [`status`].
    ///
    /// # Safety
    /// `keys` is NULL or names `num_keys` keys; `filter` is NULL or can be written.
    pub unsafe fn fill_filter(
        &self,
        keys: *const Slice,
        num_keys: usize,
        filter: *mut c_char,
        filter_length: usize,
    ) -> c_int {
        let Some(len) = self.policy.filter_len(num_keys) else {
            return status::TOO_LARGE;
        };
        // SAFETY: the caller's promise; Slice and Key have one layout (asserted in `abi`).
        let keys = unsafe { memory::array(keys.cast::<Key<'_>>(), num_keys) };
        if keys.len() != num_keys || filter.is_null() || filter_length != len {
            return status::INVALID_ARGUMENT;
        }
        if len <= scratch::FILTER_ON_STACK {
            // SAFETY: the caller's promise, of `filter_length` bytes.
            let filter = unsafe { memory::array_mut(filter.cast::<MaybeUninit<u8>>(), len) };
            self.policy.fill(keys, filter);
        } else {
            // SAFETY: the same; all of it is written before it becomes a slice of bytes.
            let filter = unsafe {
                filter.write_bytes(0, len);
                memory::array_mut(filter.cast::<u8>(), len)
            };
            self.policy.fill_in_groups(keys.iter().copied(), filter);
        }
        self.count_filter(num_keys, len);
        if let Some(counters) = self.counters() {
            counters.set_route(Route::Buffer);
        }
        status::OK
    }

    /// [`key_may_match`], counted if the policy counts.
    ///
    /// # Safety
    /// As [`key_may_match`].
    pub(super) unsafe fn key_may_match(
        &self,
        key: *const c_char,
        key_length: usize,
        filter: *const c_char,
        filter_length: usize,
    ) -> bool {
        // SAFETY: the caller's promise.
        let (key, filter) = unsafe { (bytes(key, key_length), bytes(filter, filter_length)) };
        let answer = self.policy.key_may_match(key, filter);
        if let Some(counters) = self.counters() {
            counters.query(answer);
        }
        answer
    }

    pub(super) fn count_filter(&self, keys: usize, bytes: usize) {
        if let Some(counters) = self.counters() {
            counters.filter(keys, bytes);
        }
    }

    pub(super) fn counters(&self) -> Option<&Counters> {
        // SAFETY: they live as long as the policy.
        self.counters.map(|counters| unsafe { counters.as_ref() })
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        if let Some(counters) = self.counters.take() {
            // SAFETY: `new` started them for this policy alone.
            unsafe { stats::finish(counters) };
        }
    }
}

/// [`Policy::create_filter`] of a policy that may be NULL.
///
/// # Safety
/// `policy` is NULL or living; the rest as there.
pub unsafe fn create_filter(
    policy: *const Policy,
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: usize,
    filter_length: *mut usize,
) -> *mut c_char {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(policy) = policy.as_ref() {
            return policy.create_filter(keys, key_lengths, num_keys, filter_length);
        }
        if !filter_length.is_null() {
            filter_length.write(0);
        }
        ptr::null_mut()
    }
}

/// 1 if the filter may hold the key, 0 if it certainly does not.
///
/// # Safety
/// Both pointers are as `memory::bytes` asks.
pub unsafe fn key_may_match(
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    // SAFETY: the caller's promise.
    let (key, filter) = unsafe { (bytes(key, key_length), bytes(filter, filter_length)) };
    choice::for_process().may_match(Key::new(key), filter).into()
}

/// Asks for many keys; writes 0 or 1 each to `results` (unless it is NULL) and returns the ones.
///
/// # Safety
/// The arrays are as `KeyArrays::new` asks, `filter` as `memory::bytes` does, and `results` is NULL or
/// has room for `num_keys`.
pub unsafe fn keys_may_match(
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: usize,
    filter: *const c_char,
    filter_length: usize,
    results: *mut u8,
) -> usize {
    // SAFETY: the caller's promise.
    let (keys, filter, results) = unsafe {
        let Some(keys) = KeyArrays::new(keys, key_lengths, num_keys) else {
            return 0;
        };
        (keys, bytes(filter, filter_length), memory::array_mut(results, num_keys))
    };
    let kernel = choice::for_process();
    let mut ones = 0;
    let mut results = results.chunks_mut(GROUP);
    in_groups(keys.iter(), |group| {
        let mut unwanted = [0; GROUP];
        let results = results.next().unwrap_or(&mut unwanted);
        ones += kernel.keys_may_match(group, filter, results);
    });
    ones
}

/// Frees what [`Policy::create_filter`] returned. NULL is fine.
///
/// # Safety
/// `memory` is NULL or came from there and was not freed.
pub unsafe fn free(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { memory::free(memory) }
}
