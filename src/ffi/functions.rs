//! The library's own C functions, between raw arguments and the safe policy.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use super::abi::Slice;
use super::choice;
use super::lifetime::Owner;
use super::memory::{self, KeyArrays, MATCH_ALL, Reserve, bytes};
use super::stats::{self, Counters, Route};
use super::transform::{Canonicalise, Destructor, Transform};
use super::vtable;
use crate::kernel::{Key, scratch};
use crate::policy::{BloomFilterPolicy, answer_in_groups, hash_may_match, write_each};

/// What C knows as `struct leveldb_bloom_policy`: the state of the callback table, and the first
/// argument of the functions here. Immutable but for its counters; usable from any thread.
pub struct Policy {
    pub(super) policy: BloomFilterPolicy,
    /// A C string that lives as long as the policy.
    name: *const c_char,
    transform: Option<NonNull<Transform>>,
    counters: Option<NonNull<Counters>>,
    reserve: Reserve,
    owner: Owner,
}

/// The answers of the functions that return a status.
pub mod status {
    use core::ffi::{CStr, c_int};

    /// Done.
    pub const OK: c_int = 0;
    /// A pointer was NULL, or a length or an offset not what it must be.
    pub const INVALID_ARGUMENT: c_int = 1;
    /// The filter's size cannot be represented.
    pub const TOO_LARGE: c_int = 2;
    /// There is no memory.
    pub const NO_MEMORY: c_int = 3;
    /// The two filters are not of the same shape.
    pub const MISMATCH: c_int = 4;

    /// A sentence about it.
    #[must_use]
    pub fn message(status: c_int) -> &'static CStr {
        match status {
            OK => c"done",
            INVALID_ARGUMENT => {
                c"a pointer is NULL, or a length or an offset is not what it must be"
            }
            TOO_LARGE => c"the size of the filter cannot be represented",
            NO_MEMORY => c"there is no memory",
            MISMATCH => c"only filters of the same length and number of probes can be united",
            _ => c"this is no status of leveldb_bloom",
        }
    }
}

impl Policy {
    /// A policy, counting if the environment asks for it.
    pub(super) fn new(bits_per_key: c_int, route: Route, owner: Owner) -> Policy {
        let policy = BloomFilterPolicy::with_kernel(bits_per_key, choice::for_policy());
        owner.policy_made();
        Policy {
            policy,
            name: vtable::NAME.as_ptr(),
            transform: None,
            counters: stats::start(&policy, route),
            reserve: Reserve::new(),
            owner,
        }
    }

    /// A policy in C memory; NULL where there is none.
    #[must_use]
    pub fn create(bits_per_key: c_int) -> *mut Policy {
        Self::in_c_memory(Policy::new(bits_per_key, Route::Callbacks, Owner::Caller))
    }

    /// A policy of goleveldb's name.
    #[must_use]
    pub fn create_goleveldb(bits_per_key: c_int) -> *mut Policy {
        let mut policy = Policy::new(bits_per_key, Route::Callbacks, Owner::Caller);
        policy.name = vtable::GOLEVELDB_NAME.as_ptr();
        Self::in_c_memory(policy)
    }

    /// A policy of a name of its own, whose keys go through a callback. NULL, with the state left
    /// to the caller, where there is no memory, no callback, or no name that LevelDB does not use.
    ///
    /// # Safety
    /// As [`Transform::create`], but `name` may be NULL.
    pub unsafe fn create_transformed(
        bits_per_key: c_int,
        name: *const c_char,
        canonicalise: Option<Canonicalise>,
        destructor: Option<Destructor>,
        state: *mut c_void,
    ) -> *mut Policy {
        let Some(canonicalise) = canonicalise else { return ptr::null_mut() };
        // SAFETY: the caller's promise.
        let transform = unsafe {
            if name.is_null() || vtable::is_taken(CStr::from_ptr(name)) {
                return ptr::null_mut();
            }
            Transform::create(name, canonicalise, destructor, state)
        };
        let Some(transform) = transform else { return ptr::null_mut() };
        let mut policy = Policy::new(bits_per_key, Route::Callbacks, Owner::Caller);
        // SAFETY: just made.
        policy.name = unsafe { transform.as_ref() }.name();
        let created = Self::in_c_memory(policy);
        // SAFETY: the policy just made, or nobody, knows the transform.
        unsafe {
            match created.as_mut() {
                Some(policy) => policy.transform = Some(transform),
                None => Transform::destroy(transform),
            }
        }
        created
    }

    fn in_c_memory(policy: Policy) -> *mut Policy {
        memory::allocate_value(policy).map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    /// Ends a policy. NULL is fine, and a shared one stays.
    ///
    /// # Safety
    /// `policy` is NULL or came from a function here, and nobody uses it any more.
    pub unsafe fn destroy(policy: *mut Policy) {
        // SAFETY: the caller's promise.
        unsafe {
            if !policy.is_null() && (*policy).may_end() {
                policy.drop_in_place();
                memory::free(policy.cast());
            }
        }
    }

    /// Whether a policy that is being destroyed can go: not one that is shared, nor one that is
    /// kept so that its later use can be reported.
    pub(super) fn may_end(&self) -> bool {
        match self.owner {
            Owner::Process => false,
            Owner::Caller => {
                let kept = self.counters().is_some_and(|counters| counters.is_kept(self.owner));
                if let (true, Some(transform)) = (kept, self.transform()) {
                    // SAFETY: whoever destroys a policy does not use it at the same time.
                    unsafe { transform.end_state() };
                }
                !kept
            }
        }
    }

    /// The policy's name for LevelDB, a C string.
    pub(super) fn name(&self) -> *const c_char {
        self.name
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
                .filter(KeyArrays::are_readable)
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
            len = MATCH_ALL.len();
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
        match self.transform() {
            None => self.policy.fill_from(num_keys, keys.iter(), filter),
            Some(transform) => {
                self.check_use();
                if !transform.fill(&self.policy, &mut keys.iter(), filter) {
                    // SAFETY: from `allocate`, and nobody's yet.
                    unsafe { memory::free(memory.as_ptr().cast()) };
                    return None;
                }
            }
        }
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
        // SAFETY: the caller's promise.
        let slices = unsafe { memory::array(keys, num_keys) };
        if slices.len() != num_keys
            || filter.is_null()
            || filter_length != len
            || !slices.iter().all(Slice::is_readable)
        {
            return status::INVALID_ARGUMENT;
        }
        if self.transform.is_some() || len > scratch::FILTER_ON_STACK {
            // SAFETY: the caller's promise.
            let keys = slices.iter().map(|slice| Key::new(unsafe { slice.bytes() }));
            // SAFETY: the caller's promise.
            return unsafe { self.fill_from(num_keys, keys, filter, filter_length) };
        }
        // SAFETY: the caller's promise; Slice and Key have one layout (asserted in `abi`).
        let (keys, filter) = unsafe {
            (
                memory::array(keys.cast::<Key<'_>>(), num_keys),
                memory::array_mut(filter.cast::<MaybeUninit<u8>>(), len),
            )
        };
        self.policy.fill_uninit(keys, filter);
        self.count_filled(num_keys, filter_length);
        status::OK
    }

    /// [`fill_filter`](Self::fill_filter) for keys that do not lie in an array.
    ///
    /// # Safety
    /// `filter` is NULL or can be written.
    pub(super) unsafe fn fill_from<'k>(
        &self,
        num_keys: usize,
        mut keys: impl Iterator<Item = Key<'k>>,
        filter: *mut c_char,
        filter_length: usize,
    ) -> c_int {
        let Some(len) = self.policy.filter_len(num_keys) else {
            return status::TOO_LARGE;
        };
        if filter.is_null() || filter_length != len {
            return status::INVALID_ARGUMENT;
        }
        // SAFETY: the caller's promise; all of it is written before it becomes a slice of bytes.
        let filter = unsafe {
            filter.write_bytes(0, len);
            memory::array_mut(filter.cast::<u8>(), len)
        };
        match self.transform() {
            None => self.policy.fill_in_groups(keys, filter),
            Some(transform) => {
                self.check_use();
                if !transform.fill(&self.policy, &mut keys, filter) {
                    // It holds some of the keys. Whoever does not look at the status loses none.
                    if let Some(probes) = filter.last_mut() {
                        *probes = MATCH_ALL[1];
                    }
                    return status::NO_MEMORY;
                }
            }
        }
        self.count_filled(num_keys, len);
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
        if self.transform().is_none() && self.counters().is_none() {
            // SAFETY: the caller's promise.
            let usual = unsafe { memory::two_bytes((key, key_length), (filter, filter_length)) };
            if let Some((key, filter)) = usual {
                return self.policy.key_may_match(key, filter);
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.key_may_match_apart(key, key_length, filter, filter_length) }
    }

    /// `key_may_match` of any policy and arguments. Apart, so that nothing is to be done after the
    /// usual ones' query, and no registers have to be kept.
    ///
    /// # Safety
    /// As [`key_may_match`].
    #[inline(never)]
    unsafe fn key_may_match_apart(
        &self,
        key: *const c_char,
        key_length: usize,
        filter: *const c_char,
        filter_length: usize,
    ) -> bool {
        // SAFETY: the caller's promise.
        let (key, filter) = unsafe { (bytes(key, key_length), bytes(filter, filter_length)) };
        let answer = match self.transform() {
            None => self.policy.key_may_match(key, filter),
            Some(transform) => transform.hash(key).is_none_or(|hash| hash_may_match(hash, filter)),
        };
        if let Some(counters) = self.counters() {
            counters.query(answer);
        }
        answer
    }

    /// Reports the use of a destroyed policy whose filter will not be counted, because it can make
    /// none.
    fn check_use(&self) {
        if let Some(counters) = self.counters() {
            counters.check_filter();
        }
    }

    pub(super) fn count_filter(&self, keys: usize, bytes: usize) {
        if let Some(counters) = self.counters() {
            counters.filter(keys, bytes);
        }
    }

    fn count_filled(&self, keys: usize, bytes: usize) {
        self.count_filter(keys, bytes);
        if let Some(counters) = self.counters() {
            counters.set_route(Route::Buffer);
        }
    }

    fn transform(&self) -> Option<&Transform> {
        // SAFETY: it lives as long as the policy.
        self.transform.map(|transform| unsafe { transform.as_ref() })
    }

    pub(super) fn counters(&self) -> Option<&Counters> {
        // SAFETY: they live as long as the policy.
        self.counters.map(|counters| unsafe { counters.as_ref() })
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        self.owner.policy_ended();
        if let Some(transform) = self.transform.take() {
            // SAFETY: made for this policy alone, whose last use this is.
            unsafe {
                transform.as_ref().end_state();
                Transform::destroy(transform);
            }
        }
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
    if let Some(kernel) = choice::chosen() {
        // SAFETY: the caller's promise.
        let usual = unsafe { memory::two_bytes((key, key_length), (filter, filter_length)) };
        if let Some((key, filter)) = usual {
            return kernel.may_match(Key::new(key), filter).into();
        }
    }
    // SAFETY: the caller's promise.
    unsafe { key_may_match_apart(key, key_length, filter, filter_length) }
}

/// `key_may_match` of any arguments and in any process: apart, as that of a policy.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn key_may_match_apart(
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
    answer_in_groups(
        keys.iter(),
        |group, answers| kernel.keys_may_match(group, filter, answers),
        write_each(results, u8::from),
    )
}

/// Asks many filters for one key, as [`keys_may_match`] asks one for many.
///
/// # Safety
/// `key` is as `memory::bytes` asks; `filters` is NULL or names `num_filters` filters; `results` is
/// NULL or has room for as many answers.
pub unsafe fn filters_may_match(
    key: *const c_char,
    key_length: usize,
    filters: *const Slice,
    num_filters: usize,
    results: *mut u8,
) -> usize {
    // SAFETY: the caller's promise.
    let (key, filters, results) = unsafe {
        (
            Key::new(bytes(key, key_length)),
            memory::array(filters, num_filters),
            memory::array_mut(results, num_filters),
        )
    };
    let kernel = choice::for_process();
    answer_in_groups(
        // SAFETY: the caller's promise.
        filters.iter().map(|filter| Key::new(unsafe { filter.bytes() })),
        |group, answers| kernel.filters_may_match(key, group, answers),
        write_each(results, u8::from),
    )
}

/// Frees what [`Policy::create_filter`] returned. NULL is fine.
///
/// # Safety
/// `memory` is NULL or came from there and was not freed.
pub unsafe fn free(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { memory::free(memory) }
}
