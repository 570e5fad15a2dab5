//! Filters built key by key, or in parts that are united afterwards.

use alloc::vec::Vec;
use core::fmt;

use crate::filter::{FilterTooLarge, WrongFilterLength};
use crate::kernel::{Key, KeyList};
use crate::policy::{Encoding, FilterPolicy, append_zeros};
use crate::ribbon;

/// Collects keys as they come, and makes their filter. Keeps four bytes for each key, its hash; for a
/// ribbon filter twelve, because there may be none.
///
/// Builders on many threads or machines can each make a part of one filter: let all of them finish
/// with the same total number of keys. The [`union`] of the parts is then, byte for byte, the
/// filter of all keys. Ribbon filters cannot be united.
///
/// ```
/// use leveldb_bloom::{FilterBuilder, FilterPolicy, union};
///
/// let policy = FilterPolicy::new(10);
/// let (mut here, mut there) = (FilterBuilder::new(policy), FilterBuilder::new(policy));
/// here.add(b"hello");
/// there.add(b"world");
/// let mut filter = here.finish_for(2)?;
/// union(&mut filter, &there.finish_for(2)?)?;
/// assert_eq!(filter, policy.create_filter(&["hello", "world"])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FilterBuilder {
    policy: FilterPolicy,
    hashes: Vec<u32>,
    /// As many for a ribbon policy, otherwise none.
    ribbon_hashes: Vec<u64>,
}

/// There is no memory for more keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no memory for more keys")
    }
}

impl core::error::Error for OutOfMemory {}

impl FilterBuilder {
    /// A builder without keys.
    #[must_use]
    pub fn new(policy: FilterPolicy) -> Self {
        FilterBuilder { policy, hashes: Vec::new(), ribbon_hashes: Vec::new() }
    }

    /// Adds a key.
    ///
    /// # Panics
    /// If there is no memory, as `Vec::push` does; see [`try_extend`](Self::try_extend).
    pub fn add(&mut self, key: &[u8]) {
        if self.policy.encoding() == Encoding::Ribbon {
            self.ribbon_hashes.push(ribbon::hash(key));
        }
        self.hashes.push(self.policy.kernel().hash(Key::new(key)));
    }

    /// Adds all keys, or none if there is no memory for them.
    ///
    /// # Errors
    /// [`OutOfMemory`]; the builder keeps the keys it had.
    pub fn try_extend<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
    ) -> Result<(), OutOfMemory> {
        let more = keys.len();
        make_room(&mut self.hashes, more)?;
        if self.policy.encoding() == Encoding::Ribbon {
            make_room(&mut self.ribbon_hashes, more)?;
        }
        let (mut keys, mut list) = (keys.map(Key::new).take(more).fuse(), KeyList::new());
        loop {
            let part = list.refill(&mut keys);
            if part.is_empty() {
                return Ok(());
            }
            // Never an error: room was made above.
            self.hash_part(part)?;
        }
    }

    #[inline]
    fn hash_part(&mut self, keys: &[Key<'_>]) -> Result<(), OutOfMemory> {
        if self.policy.encoding() == Encoding::Ribbon {
            let hashes = grow(&mut self.ribbon_hashes, keys.len())?;
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = ribbon::hash(key.as_bytes());
            }
        }
        self.policy.kernel().hash_keys(keys, grow(&mut self.hashes, keys.len())?);
        Ok(())
    }

    /// The number of keys added.
    #[must_use]
    pub fn num_keys(&self) -> usize {
        self.hashes.len()
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &FilterPolicy {
        &self.policy
    }

    /// The filter of the keys added. Afterwards the builder has no keys; it keeps its memory.
    ///
    /// # Errors
    /// [`FilterTooLarge`] if the filter does not fit in memory; the builder keeps its keys.
    pub fn finish(&mut self) -> Result<Vec<u8>, FilterTooLarge> {
        self.finish_for(self.num_keys())
    }

    /// [`finish`](Self::finish) with the size of a filter for `total_keys` keys. With more keys than
    /// that it has more false positives, but holds them all.
    ///
    /// # Errors
    /// [`FilterTooLarge`] if the filter does not fit in memory; the builder keeps its keys.
    pub fn finish_for(&mut self, total_keys: usize) -> Result<Vec<u8>, FilterTooLarge> {
        let mut filter = Vec::new();
        append_zeros(&mut filter, self.policy.filter_len(total_keys))?;
        self.write(&mut filter);
        Ok(filter)
    }

    /// [`finish_for`](Self::finish_for), writing over all of `filter`.
    ///
    /// # Errors
    /// [`WrongFilterLength`] unless the length is the policy's `filter_len(total_keys)`; the builder
    /// keeps its keys, and `filter` is unchanged.
    pub fn finish_into(
        &mut self,
        total_keys: usize,
        filter: &mut [u8],
    ) -> Result<(), WrongFilterLength> {
        if self.policy.filter_len(total_keys) != Some(filter.len()) {
            return Err(WrongFilterLength);
        }
        filter.fill(0);
        self.write(filter);
        Ok(())
    }

    /// Writes the filter over zeros.
    fn write(&mut self, filter: &mut [u8]) {
        let is_ribbon = self.policy.encoding() == Encoding::Ribbon;
        if !is_ribbon || !self.policy.solve_hashes(&self.ribbon_hashes, filter) {
            self.policy.insert_hashes(&self.hashes, filter);
        }
        self.hashes.clear();
        self.ribbon_hashes.clear();
    }
}

fn make_room<T>(hashes: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    // Amortised growth may fail where the exact size still fits.
    let room = hashes.try_reserve(more);
    room.or_else(|_| hashes.try_reserve_exact(more)).map_err(|_| OutOfMemory)
}

/// So many more zeros.
#[inline(always)]
fn grow<T: Clone + Default>(hashes: &mut Vec<T>, more: usize) -> Result<&mut [T], OutOfMemory> {
    make_room(hashes, more)?;
    let len = hashes.len();
    // Never. Without this the compiler keeps code to grow, and a panic.
    if hashes.capacity() - len < more {
        return Err(OutOfMemory);
    }
    hashes.resize(len + more, T::default());
    Ok(hashes.get_mut(len..).unwrap_or(&mut []))
}

/// Shows how many keys there are, not their hashes.
impl fmt::Debug for FilterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBuilder")
            .field("policy", &self.policy)
            .field("num_keys", &self.num_keys())
            .finish_non_exhaustive()
    }
}

/// Adds keys many at a time, which is faster than one by one.
impl<K: AsRef<[u8]>> Extend<K> for FilterBuilder {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let mut keys = keys.into_iter().fuse();
        // May fail: an iterator's lower bound need not be true.
        let _ = make_room(&mut self.hashes, keys.size_hint().0);
        let mut part = Vec::new();
        loop {
            part.extend(keys.by_ref().take(KeyList::MAX));
            if part.is_empty() {
                return;
            }
            let added = self.hash_part(KeyList::new().refill(part.iter().map(Key::of)));
            added.expect("memory for the hashes");
            part.clear();
        }
    }
}

/// The filters differ in length or number of probes, or hold no bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterMismatch;

impl fmt::Display for FilterMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("only filters of the same length and number of probes can be united")
    }
}

impl core::error::Error for FilterMismatch {}

/// Adds the keys of the filter `from` to the filter `into`. Ribbon filters cannot be united.
///
/// # Errors
/// [`FilterMismatch`] if their lengths or numbers of probes differ, or they have fewer than two
/// bytes, which hold no bits; `into` is unchanged.
pub fn union(into: &mut [u8], from: &[u8]) -> Result<(), FilterMismatch> {
    match (into.split_last_mut(), from.split_last()) {
        (Some((k, bits)), Some((from_k, from_bits)))
            if k == from_k
                && bits.len() == from_bits.len()
                && !bits.is_empty()
                && !ribbon::is_ribbon(*k) =>
        {
            for (byte, from) in bits.iter_mut().zip(from_bits) {
                *byte |= from;
            }
            Ok(())
        }
        _ => Err(FilterMismatch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use alloc::string::String;

    fn keys(num_keys: u32) -> Vec<[u8; 4]> {
        (0..num_keys).map(u32::to_be_bytes).collect()
    }

    #[test]
    fn a_built_filter_is_the_filter() {
        for num_keys in [0, 1, 2, 20, 127, 128, 129, 1000, 20_000] {
            for bits_per_key in [-1, 0, 1, 10, 100] {
                let policy = FilterPolicy::new(bits_per_key);
                let mut builder = FilterBuilder::new(policy);
                builder.extend(keys(num_keys));
                assert_eq!(builder.num_keys(), num_keys as usize);
                let wanted = policy.create_filter(&keys(num_keys)).unwrap();
                assert_eq!(builder.finish().unwrap(), wanted, "{num_keys} keys");
                assert_eq!(builder.num_keys(), 0);
                assert_eq!(builder.finish().unwrap(), policy.create_filter(&keys(0)).unwrap());
            }
        }
    }

    /// However keys are given, and however many at once, as each kernel hashes them.
    #[test]
    fn keys_of_any_iterator_are_added() {
        let kernels: Vec<_> = Kernel::available().collect();
        for num_keys in [0, 1, 7, 8, 9, 127, 128, 129, 256, 300] {
            let list: Vec<String> = (0..num_keys).map(|i| "key".repeat(i % 14)).collect();
            for kernel in &kernels {
                let policy = FilterPolicy::with_kernel(10, kernel);
                let wanted = policy.create_filter(&list).unwrap();
                let built = |extend: &dyn Fn(&mut FilterBuilder)| {
                    let mut builder = FilterBuilder::new(policy);
                    extend(&mut builder);
                    assert_eq!(builder.num_keys(), num_keys);
                    builder.finish().unwrap() == wanted
                };
                assert!(built(&|builder| builder.extend(&list)));
                assert!(built(&|builder| builder.extend(list.clone())));
                assert!(built(&|builder| builder.extend(list.iter().map(String::as_str))));
                assert!(built(&|builder| builder.extend(list.iter().map(String::as_bytes))));
                assert!(built(&|builder| {
                    let mut rest = list.iter();
                    builder.extend(core::iter::from_fn(|| rest.next()));
                }));
                // One that goes on after its end, which nobody asks it to.
                assert!(built(&|builder| {
                    let mut asked = 0;
                    builder.extend(core::iter::from_fn(|| {
                        asked += 1;
                        assert!(asked <= num_keys + 1, "asked after the end");
                        list.get(asked - 1)
                    }));
                }));
            }
        }
    }

    #[test]
    fn united_parts_are_the_whole() {
        let policy = FilterPolicy::new(10);
        let keys = keys(1000);
        let mut united = FilterBuilder::new(policy).finish_for(keys.len()).unwrap();
        for part in keys.chunks(300) {
            let mut builder = FilterBuilder::new(policy);
            builder.extend(part);
            union(&mut united, &builder.finish_for(keys.len()).unwrap()).unwrap();
        }
        assert_eq!(united, policy.create_filter(&keys).unwrap());
    }

    #[test]
    fn more_keys_than_the_total_are_not_lost() {
        let mut builder = FilterBuilder::new(FilterPolicy::new(10));
        builder.extend(keys(1000));
        let filter = builder.finish_for(10).unwrap();
        assert_eq!(filter.len(), 14);
        assert!(keys(1000).iter().all(|key| crate::key_may_match(key, &filter)));
        builder.extend(keys(1000));
        let filter = builder.finish_for(0).unwrap();
        assert_eq!(filter.len(), 9);
        assert!(keys(1000).iter().all(|key| crate::key_may_match(key, &filter)));
    }

    #[test]
    fn a_total_that_does_not_fit_keeps_the_keys() {
        let mut builder = FilterBuilder::new(FilterPolicy::new(10));
        builder.add(b"a");
        assert_eq!(builder.finish_for(usize::MAX), Err(FilterTooLarge));
        assert_eq!(builder.num_keys(), 1);
    }

    #[test]
    fn only_equal_shapes_unite() {
        for (into, from) in [
            (&[1, 2, 6][..], &[1, 6][..]),
            (&[1, 2, 6], &[1, 2, 7]),
            (&[6], &[6]),
            (&[], &[]),
            (&[], &[1, 6]),
        ] {
            let mut united = into.to_vec();
            assert_eq!(union(&mut united, from), Err(FilterMismatch));
            assert_eq!(united, into);
        }
        let mut united = [0x81, 0x02, 6];
        assert_eq!(union(&mut united, &[0x10, 0x02, 6]), Ok(()));
        assert_eq!(united, [0x91, 0x02, 6]);
    }
}
