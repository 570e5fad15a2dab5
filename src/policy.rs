//! The policy a program holds: bits per key, and the kernel that does the work.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::filter::{FilterTooLarge, filter_len, probes_for};
use crate::kernel::{Kernel, Key};

/// The name LevelDB stores in each table beside the filters. A table with another policy's name
/// is read without its filters.
pub const POLICY_NAME: &str = "leveldb.BuiltinBloomFilter2";

/// LevelDB's bloom filter policy. Immutable: use one from as many threads as you like.
#[derive(Clone, Copy, Debug)]
pub struct BloomFilterPolicy {
    bits_per_key: u32,
    probes: u32,
    kernel: &'static Kernel,
}

impl BloomFilterPolicy {
    /// A policy that spends about `bits_per_key` bits a key; 10 gives about 1 % false positives.
    ///
    /// Zero and below behave as 0: one probe, and filters of 64 bits whatever they hold. Above 44
    /// the number of probes stays at its maximum of 30 and only the size grows.
    #[must_use]
    pub fn new(bits_per_key: i32) -> Self {
        Self::with_kernel(bits_per_key, Kernel::best())
    }

    /// [`new`](Self::new), with a kernel of your choice.
    #[must_use]
    pub fn with_kernel(bits_per_key: i32, kernel: &'static Kernel) -> Self {
        let bits_per_key = u32::try_from(bits_per_key).unwrap_or(0);
        BloomFilterPolicy { bits_per_key, probes: probes_for(bits_per_key), kernel }
    }

    /// Bits per key, 0 where a negative number was given.
    #[must_use]
    pub fn bits_per_key(&self) -> u32 {
        self.bits_per_key
    }

    /// The number of bits a key sets and a query reads, k.
    #[must_use]
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// The kernel that does the work.
    #[must_use]
    pub fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// The length in bytes of a filter for `num_keys` keys; `None` where no `usize` can say it.
    #[must_use]
    pub fn filter_len(&self, num_keys: usize) -> Option<usize> {
        filter_len(num_keys, self.bits_per_key)
    }

    /// A filter that holds every key of `keys`.
    ///
    /// # Errors
    /// [`FilterTooLarge`] where the filter does not fit in memory.
    pub fn create_filter<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<u8>, FilterTooLarge> {
        let mut filter = Vec::new();
        self.append_filter(keys, &mut filter)?;
        Ok(filter)
    }

    /// Appends a filter that holds every key of `keys` to `destination`, whose bytes so far stay
    /// as they are.
    ///
    /// # Errors
    /// [`FilterTooLarge`] where the filter does not fit in memory; `destination` is unchanged.
    pub fn append_filter<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        destination: &mut Vec<u8>,
    ) -> Result<(), FilterTooLarge> {
        let len = self.filter_len(keys.len()).ok_or(FilterTooLarge)?;
        destination.try_reserve(len).map_err(|_| FilterTooLarge)?;
        let start = destination.len();
        destination.resize(start + len, 0);
        self.fill(keys.iter().map(|key| Key::new(key.as_ref())), &mut destination[start..]);
        Ok(())
    }

    /// Whether `filter`, made by this policy or any other of this format, may hold `key`. False
    /// is certain; true may be a false positive.
    #[must_use]
    pub fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        (self.kernel.may_match)(key, filter)
    }

    /// Writes the filter for `keys` over all of `filter`, which must have been zeroed and have
    /// the length that [`filter_len`](Self::filter_len) gives for their number.
    pub(crate) fn fill<'k>(&self, keys: impl Iterator<Item = Key<'k>>, filter: &mut [u8]) {
        let mut keys = keys;
        let mut batch = [Key::EMPTY; 64];
        let Some((probes, array)) = filter.split_last_mut() else {
            return;
        };
        *probes = self.probes as u8;
        loop {
            let mut filled = 0;
            for (slot, key) in batch.iter_mut().zip(&mut keys) {
                *slot = key;
                filled += 1;
            }
            match batch.get(..filled) {
                Some([]) | None => return,
                Some(batch) => (self.kernel.insert)(batch, self.probes, array),
            }
        }
    }

    /// [`fill`](Self::fill) from keys that already lie in an array.
    pub(crate) fn fill_slice(&self, keys: &[Key<'_>], filter: &mut [u8]) {
        let Some((probes, array)) = filter.split_last_mut() else {
            return;
        };
        *probes = self.probes as u8;
        (self.kernel.insert)(keys, self.probes, array);
    }
}

/// Whether `filter` may hold `key`; needs no policy, since a filter says itself how it was made.
#[must_use]
pub fn key_may_match(key: &[u8], filter: &[u8]) -> bool {
    (Kernel::best().may_match)(key, filter)
}
