//! A policy for C: its functions, between raw arguments and the safe policy.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use core::slice;

use super::abi::{self, Destructor, Slice};
use super::choice;
use super::lifetime::Owner;
use super::memory::{self, KeyArrays, MATCH_ALL, Reserve, bytes};
use super::stats::{self, Counters, Route};
use super::status;
use super::transform::{Canonicalise, Transform};
use crate::kernel::{GROUP, Key, prefetch, scratch};
use crate::policy::{BloomFilterPolicy, hash_may_match};

/// What C knows as `struct leveldb_bloom_policy`: the state of the callback table, and the first
/// argument of the functions here. Immutable but for its counters; usable from any thread.
pub struct Policy {
    pub(super) policy: BloomFilterPolicy,
    /// A C string that lives as long as the policy.
    name: *const c_char,
    transform: Option<Transform>,
    counters: Option<NonNull<Counters>>,
    reserve: Reserve,
    owner: Owner,
}

impl Policy {
    /// A policy, counting if the environment asks for it.
    pub(super) fn new(bits_per_key: c_int, route: Route, owner: Owner) -> Policy {
        let policy = BloomFilterPolicy::with_kernel(bits_per_key, choice::for_policy());
        owner.policy_made();
        Policy {
            policy,
            name: abi::NAME.as_ptr(),
            transform: None,
            counters: stats::start(&policy, route),
            reserve: Reserve::new(),
            owner,
        }
    }

    /// A policy in C memory; NULL where there is none.
    #[must_use]
    pub fn create(bits_per_key: c_int) -> *mut Policy {
        Self::create_for(Owner::Caller, bits_per_key)
    }

    pub(super) fn create_for(owner: Owner, bits_per_key: c_int) -> *mut Policy {
        Self::in_c_memory(owner, bits_per_key, abi::NAME.as_ptr(), None)
    }

    /// A policy with the name that goleveldb gives its own.
    #[must_use]
    pub fn create_goleveldb(bits_per_key: c_int) -> *mut Policy {
        Self::in_c_memory(Owner::Caller, bits_per_key, abi::GOLEVELDB_NAME.as_ptr(), None)
    }

    /// A policy with a name of its own, whose keys go through a callback. NULL where there is no
    /// memory or no callback, or where `name` is NULL, empty, or one that LevelDB uses; `state` is
    /// then left to the caller.
    ///
    /// # Safety
    /// As [`Transform::new`]; `name` is NULL or a C string.
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
            if name.is_null() || abi::is_taken(CStr::from_ptr(name)) {
                return ptr::null_mut();
            }
            Transform::new(CStr::from_ptr(name), canonicalise, destructor, state)
        };
        let Some(transform) = transform else { return ptr::null_mut() };
        Self::in_c_memory(Owner::Caller, bits_per_key, transform.name(), Some(transform))
    }

    // Once, not in each of its callers.
    #[inline(never)]
    fn in_c_memory(
        owner: Owner,
        bits_per_key: c_int,
        name: *const c_char,
        transform: Option<Transform>,
    ) -> *mut Policy {
        let made = memory::allocate_value(|| {
            let mut policy = Policy::new(bits_per_key, Route::Callbacks, owner);
            (policy.name, policy.transform) = (name, transform);
            policy
        });
        made.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    /// Ends a policy, which is the callback table's state. NULL is fine, and a shared one stays.
    ///
    /// # Safety
    /// `policy` is NULL or came from a function here, and nobody uses it any more.
    // Not inlined into the exported function, for the reason that the callback table has.
    #[inline(never)]
    pub unsafe extern "C" fn destroy(policy: *mut c_void) {
        let policy = policy.cast::<Policy>();
        // SAFETY: the caller's promise.
        unsafe {
            if !policy.is_null() && (*policy).begin_destruction() {
                policy.drop_in_place();
                memory::free(policy.cast());
            }
        }
    }

    /// Whether a policy that is being destroyed may be freed: not one that is shared, nor one whose
    /// destruction is checked, which stays in memory. Of the latter it notes the destruction and
    /// ends the callback's state.
    #[inline(never)]
    pub(super) fn begin_destruction(&self) -> bool {
        match self.owner {
            Owner::Process => false,
            Owner::Caller => {
                let kept =
                    self.counters().is_some_and(|counters| counters.note_destruction(self.owner));
                if let (true, Some(transform)) = (kept, &self.transform) {
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

    /// The length of a filter for `num_keys` keys, or 0 where a `usize` cannot hold its number of
    /// bits.
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
        // SAFETY: `allocate` just gave this memory, zeroed and of that length.
        let filter = unsafe { memory::array_mut(memory.as_ptr(), len) };
        let listed = self.transform.is_none()
            && self.policy.fill_listed(num_keys, |room| keys.list(room), filter);
        let in_groups = |filter: &mut [u8]| {
            // Its probes, should there be no key.
            self.insert_group(&[], filter)
                && keys.in_groups(|group| self.insert_group(group, filter))
        };
        if !listed && !in_groups(filter) {
            // SAFETY: `allocate` gave it above, and nobody else has it.
            unsafe { memory::free(memory.as_ptr().cast()) };
            return None;
        }
        self.count_filter(num_keys, len);
        Some((memory, len))
    }

    /// Writes the filter over `filter_length` bytes at `filter`; a [`status`].
    ///
    /// # Safety
    /// `keys` is NULL or names `num_keys` keys, each as `memory::bytes` asks; `filter` is NULL, or
    /// `filter_length` bytes there can be written and nobody else uses them.
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
        // SAFETY: all were seen above to be readable, and are there by the caller's promise; Slice
        // and Key have one layout (asserted in `abi`).
        let keys: &[Key<'_>] =
            unsafe { slice::from_raw_parts(slices.as_ptr().cast(), slices.len()) };
        if self.transform.is_some() || !scratch::on_the_stack_for(len) {
            let insert = |filter: &mut [u8]| {
                keys.chunks(GROUP).all(|group| self.insert_group(group, filter))
            };
            // SAFETY: the caller's promise.
            return unsafe { self.fill_with(num_keys, filter, filter_length, insert) };
        }
        // SAFETY: the caller's promise.
        let filter = unsafe { memory::array_mut(filter.cast::<MaybeUninit<u8>>(), len) };
        self.policy.fill_uninit(keys, filter);
        self.count_filled(num_keys, filter_length);
        status::OK
    }

    /// [`fill_filter`](Self::fill_filter) with the keys that `insert` inserts by
    /// [`insert_group`](Self::insert_group) into a filter that has none yet; false where it cannot.
    ///
    /// # Safety
    /// `filter` is NULL or can be written.
    pub(super) unsafe fn fill_with(
        &self,
        num_keys: usize,
        filter: *mut c_char,
        filter_length: usize,
        insert: impl FnOnce(&mut [u8]) -> bool,
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
        // Its probes, should there be no key.
        if !(self.insert_group(&[], filter) && insert(filter)) {
            // It holds only some of the keys. Made to match every key, for callers that do not look
            // at the status.
            if let Some(probes) = filter.last_mut() {
                *probes = MATCH_ALL[1];
            }
            return status::NO_MEMORY;
        }
        self.count_filled(num_keys, len);
        status::OK
    }

    /// Inserts up to [`GROUP`] keys, or their canonical forms; false where one of these cannot be
    /// had.
    // Once, not for each way in which keys come.
    #[inline(never)]
    pub(super) fn insert_group(&self, group: &[Key<'_>], filter: &mut [u8]) -> bool {
        // Here, because it is shorter, though flat keys were asked for before: 3,000 of 300 bytes
        // took 1.02 times as long (AVX2, AMD EPYC of the fourth generation, 2026-11-27).
        prefetch(group, false);
        let mut hashes = [0; GROUP];
        let hashes = hashes.get_mut(..group.len()).unwrap_or(&mut []);
        match &self.transform {
            None => self.policy.kernel().hash_keys(group, hashes),
            Some(transform) => {
                if let Some(counters) = self.counters() {
                    // Here, because once the state has ended no filter is made that could be
                    // counted.
                    counters.check_filter();
                }
                for (key, place) in group.iter().zip(&mut *hashes) {
                    let Some(hash) = transform.hash(key.as_bytes()) else { return false };
                    *place = hash;
                }
            }
        }
        self.policy.fill_from_hashes(hashes, filter);
        true
    }

    /// Whether the filter may hold the key; counted if the policy counts.
    ///
    /// # Safety
    /// Both pointers are as `memory::bytes` asks.
    pub(super) unsafe fn key_may_match(
        &self,
        key: *const c_char,
        key_length: usize,
        filter: *const c_char,
        filter_length: usize,
    ) -> bool {
        if self.transform.is_none() && self.counters().is_none() {
            // SAFETY: the caller's promise.
            let usual = unsafe { memory::two_bytes((key, key_length), (filter, filter_length)) };
            if let Some((key, filter)) = usual {
                return self.policy.key_may_match(key, filter);
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.key_may_match_out_of_line(key, key_length, filter, filter_length) }
    }

    /// [`key_may_match`](Self::key_may_match) for any policy and arguments. Out of line, so that
    /// the usual query is the last thing its caller does, and no registers have to be saved.
    ///
    /// # Safety
    /// As [`key_may_match`](Self::key_may_match).
    #[inline(never)]
    unsafe fn key_may_match_out_of_line(
        &self,
        key: *const c_char,
        key_length: usize,
        filter: *const c_char,
        filter_length: usize,
    ) -> bool {
        // SAFETY: the caller's promise.
        let (key, filter) = unsafe { (bytes(key, key_length), bytes(filter, filter_length)) };
        let answer = match &self.transform {
            None => self.policy.key_may_match(key, filter),
            Some(transform) => transform.hash(key).is_none_or(|hash| hash_may_match(hash, filter)),
        };
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

    fn count_filled(&self, keys: usize, bytes: usize) {
        self.count_filter(keys, bytes);
        if let Some(counters) = self.counters() {
            counters.set_route(Route::Buffer);
        }
    }

    pub(super) fn counters(&self) -> Option<&Counters> {
        // SAFETY: `stats::start` made them for this policy alone; `drop` takes them out before it
        // frees them.
        self.counters.map(|counters| unsafe { counters.as_ref() })
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        self.owner.policy_ended();
        if let Some(transform) = &self.transform {
            // SAFETY: nobody uses a policy that is dropped.
            unsafe { transform.end_state() }
        }
        if let Some(counters) = self.counters.take() {
            // SAFETY: `new` started them for this policy alone, and nobody uses a policy that is
            // dropped.
            unsafe { stats::finish(counters) };
        }
    }
}
