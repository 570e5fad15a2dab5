//! The filter builder for C.

use alloc::vec::Vec;
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
    /// Of the keys added.
    hashes: Vec<u32>,
}

impl Builder {
    /// A builder in C memory; NULL where there is none.
    #[must_use]
    pub fn create(bits_per_key: c_int) -> *mut Builder {
        let policy = BloomFilterPolicy::with_kernel(bits_per_key, choice::for_policy());
        let builder = Builder { policy, hashes: Vec::new() };
        memory::allocate_value(|| builder).map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    /// Ends a builder. NULL is fine.
    ///
    /// # Safety
    /// `builder` is NULL or came from [`create`](Self::create), and nobody uses it any more.
    pub unsafe fn destroy(builder: *mut Builder) {
        // SAFETY: the caller's promise.
        unsafe {
            if !builder.is_null() {
                builder.drop_in_place();
                memory::free(builder.cast());
            }
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
        match self.append(1) {
            Some([hash, ..]) => *hash = bloom_hash(key),
            _ => return status::NO_MEMORY,
        }
        status::OK
    }

    /// Adds all keys, or none; a [`status`].
    pub fn add_all(&mut self, keys: Option<FlatKeys<'_>>) -> c_int {
        let Some(keys) = keys else {
            return status::INVALID_ARGUMENT;
        };
        let kernel = self.policy.kernel();
        let Some(mut room) = self.append(keys.len()) else {
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
        status::OK
    }

    /// The number of keys added.
    #[must_use]
    pub fn num_keys(&self) -> usize {
        self.hashes.len()
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
        // SAFETY: the caller's promise; all of it is written before it becomes a slice.
        let filter = unsafe {
            filter.write_bytes(0, len);
            memory::array_mut(filter.cast::<u8>(), len)
        };
        self.policy.fill_from_hashes(&self.hashes, filter);
        self.hashes.clear();
        status::OK
    }

    fn total(&self, total_keys: usize) -> usize {
        if total_keys == 0 { self.num_keys() } else { total_keys }
    }

    /// Zeros for so many hashes behind those that are there; `None`, and none added, where there is
    /// no memory.
    fn append(&mut self, more: usize) -> Option<&mut [u32]> {
        let len = self.hashes.len();
        let room = self.hashes.try_reserve(more);
        // Twice as much may not be there where just enough is.
        room.or_else(|_| self.hashes.try_reserve_exact(more)).ok()?;
        let spare = self.hashes.spare_capacity_mut().get_mut(..more)?;
        // SAFETY: `get_mut` found room for `more` hashes, and all of them are written.
        unsafe {
            spare.as_mut_ptr().write_bytes(0, more);
            self.hashes.set_len(len + more);
        }
        self.hashes.get_mut(len..)
    }
}
