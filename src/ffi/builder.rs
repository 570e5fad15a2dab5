//! The filter builder for C, which keeps its hashes in memory from C's malloc.

use core::ffi::{c_char, c_int};
use core::ptr::{self, NonNull};

use super::choice;
use super::memory::{self, bytes};
use super::status;
use crate::hash::bloom_hash;
use crate::kernel::{Key, in_groups};
use crate::keys::FlatKeys;
use crate::policy::BloomFilterPolicy;

/// What C knows as `struct leveldb_bloom_builder`.
pub struct Builder {
    policy: BloomFilterPolicy,
    /// The keys' hashes: `len` of them in memory for `capacity`.
    hashes: *mut u32,
    len: usize,
    capacity: usize,
}

/// The first memory taken, in hashes.
const FIRST_CAPACITY: usize = 256;

impl Builder {
    /// A builder in C memory; NULL where there is none.
    #[must_use]
    pub fn create(bits_per_key: c_int) -> *mut Builder {
        let policy = BloomFilterPolicy::with_kernel(bits_per_key, choice::for_policy());
        let builder = Builder { policy, hashes: ptr::null_mut(), len: 0, capacity: 0 };
        memory::allocate_value(|| builder).map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    /// Ends a builder. NULL is fine.
    ///
    /// # Safety
    /// `builder` is NULL or came from [`create`](Self::create), and nobody uses it any more.
    pub unsafe fn destroy(builder: *mut Builder) {
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(builder) = builder.as_ref() {
                memory::free(builder.hashes.cast());
            }
            memory::free(builder.cast());
        }
    }

    /// Adds a key; a [`status`].
    ///
    /// # Safety
    /// `key` is as `memory::bytes` asks.
    pub unsafe fn add(&mut self, key: *const c_char, key_length: usize) -> c_int {
        // SAFETY: the caller's promise.
        let key = unsafe { bytes(key, key_length) };
        if key.len() != key_length {
            return status::INVALID_ARGUMENT;
        }
        match self.reserve(1) {
            Some([hash, ..]) => *hash = bloom_hash(key),
            _ => return status::NO_MEMORY,
        }
        self.len += 1;
        status::OK
    }

    /// Adds all keys, or none; a [`status`].
    pub fn add_all(&mut self, keys: Option<FlatKeys<'_>>) -> c_int {
        let Some(keys) = keys else {
            return status::INVALID_ARGUMENT;
        };
        let kernel = self.policy.kernel();
        let Some(mut room) = self.reserve(keys.len()) else {
            return status::NO_MEMORY;
        };
        in_groups(keys.iter().map(Key::new), |group| {
            if let Some((hashes, rest)) =
                core::mem::take(&mut room).split_at_mut_checked(group.len())
            {
                kernel.hash_keys(group, hashes);
                room = rest;
            }
        });
        self.len += keys.len();
        status::OK
    }

    /// The number of keys added.
    #[must_use]
    pub fn num_keys(&self) -> usize {
        self.len
    }

    /// The length of the filter for `total_keys` keys, or, if that is 0, for those added; 0 where a
    /// `usize` cannot hold its number of bits.
    #[must_use]
    pub fn filter_size(&self, total_keys: usize) -> usize {
        self.policy.filter_len(self.total(total_keys)).unwrap_or(0)
    }

    /// Writes the filter over `filter_length` bytes at `filter` and forgets the keys; a [`status`].
    ///
    /// # Safety
    /// `filter` is NULL or can be written.
    pub unsafe fn finish(
        &mut self,
        total_keys: usize,
        filter: *mut c_char,
        filter_length: usize,
    ) -> c_int {
        let Some(len) = self.policy.filter_len(self.total(total_keys)) else {
            return status::TOO_LARGE;
        };
        if filter.is_null() || filter_length != len {
            return status::INVALID_ARGUMENT;
        }
        // SAFETY: the caller's promise; all of it is written before it becomes a slice. The first
        // `len` hashes were written by `add` and `add_all`.
        let (filter, hashes) = unsafe {
            filter.write_bytes(0, len);
            (memory::array_mut(filter.cast::<u8>(), len), memory::array(self.hashes, self.len))
        };
        self.policy.fill_from_hashes(hashes, filter);
        self.len = 0;
        status::OK
    }

    fn total(&self, total_keys: usize) -> usize {
        if total_keys == 0 { self.len } else { total_keys }
    }

    /// Memory, filled with zeros, for `more` hashes after those added; `None` where there is none.
    fn reserve(&mut self, more: usize) -> Option<&mut [u32]> {
        let needed = self.len.checked_add(more)?;
        if needed > self.capacity {
            let larger = needed.max(self.capacity.saturating_mul(2)).max(FIRST_CAPACITY);
            // Twice as much may not be there where just enough is.
            let (hashes, capacity) = [larger, needed].into_iter().find_map(|capacity| {
                // SAFETY: `hashes` is NULL, or `reallocate` returned it here, and nobody else has
                // it.
                let hashes = unsafe { memory::reallocate(self.hashes, capacity) };
                hashes.map(|hashes| (hashes, capacity))
            })?;
            (self.hashes, self.capacity) = (hashes.as_ptr(), capacity);
        }
        if more == 0 {
            return Some(&mut []);
        }
        // SAFETY: `capacity`, which `reallocate` gave, is at least `len` + `more`; nobody else
        // refers to the memory, and it is written before it becomes a slice.
        Some(unsafe {
            let start = self.hashes.add(self.len);
            start.write_bytes(0, more);
            memory::array_mut(start, more)
        })
    }
}
