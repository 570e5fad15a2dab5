//! Filters made key by key, or in parts that are united afterwards.

use alloc::vec::Vec;
use core::fmt;

use crate::filter::FilterTooLarge;
use crate::hash::bloom_hash;
use crate::kernel::{GROUP, in_groups_of};
use crate::policy::BloomFilterPolicy;

/// Collects keys as they come and makes their filter. Of each key it keeps the hash, four bytes.
///
/// Builders on many threads or machines can each make a part of one filter: let all of them finish
/// with the same total number of keys. The [`union`] of the parts is then, bit for bit, the filter
/// of all keys:
///
/// ```
/// use leveldb_bloom::{BloomFilterPolicy, FilterBuilder, union};
///
/// let policy = BloomFilterPolicy::new(10);
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
    policy: BloomFilterPolicy,
    hashes: Vec<u32>,
}

impl FilterBuilder {
    /// A builder of the policy's filters, with no key yet.
    #[must_use]
    pub fn new(policy: BloomFilterPolicy) -> Self {
        FilterBuilder { policy, hashes: Vec::new() }
    }

    /// Adds a key.
    ///
    /// # Panics
    /// Where there is no memory for a longer list of hashes, as `Vec::push` does (which may also
    /// end the process instead).
    pub fn add(&mut self, key: &[u8]) {
        self.hashes.push(bloom_hash(key));
    }

    /// The number of keys added.
    #[must_use]
    pub fn num_keys(&self) -> usize {
        self.hashes.len()
    }

    /// The filter of all keys added. The builder is empty afterwards, and keeps its memory (4 bytes
    /// a key) for the next ones.
    ///
    /// # Errors
    /// [`FilterTooLarge`] where the filter does not fit in memory; the builder keeps its keys.
    pub fn finish(&mut self) -> Result<Vec<u8>, FilterTooLarge> {
        self.finish_for(self.num_keys())
    }

    /// [`finish`](Self::finish), with the size that a filter of `total_keys` keys has. With more
    /// keys than that the filter is fuller than it should be, but none is lost. (0 is no keys, and
    /// not those added, which it is in C.)
    ///
    /// # Errors
    /// [`FilterTooLarge`] where the filter does not fit in memory; the builder keeps its keys.
    pub fn finish_for(&mut self, total_keys: usize) -> Result<Vec<u8>, FilterTooLarge> {
        let len = self.policy.filter_len(total_keys).ok_or(FilterTooLarge)?;
        let mut filter = Vec::new();
        filter.try_reserve_exact(len).map_err(|_| FilterTooLarge)?;
        filter.resize(len, 0);
        self.policy.fill_from_hashes(&self.hashes, &mut filter);
        self.hashes.clear();
        Ok(filter)
    }
}

/// How many keys it has, not their hashes.
impl fmt::Debug for FilterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FilterBuilder");
        shown.field("policy", &self.policy).field("num_keys", &self.num_keys());
        shown.finish_non_exhaustive()
    }
}

/// For fewer keys than this, listing them for a kernel takes longer than hashing them one by one.
const MANY: usize = 8;

/// Adds keys faster than [`add`](FilterBuilder::add) does one by one: of 1,000 keys of 100 bytes
/// each took 2.5 ns in place of 17 (AVX-512, AMD EPYC of the fifth generation, 2026-11-24). Takes
/// up to 128 keys from the iterator before it adds them, but fewer than eight one by one; if the
/// iterator or a key's `as_ref` panics, those that it has taken and not added are not added. Where
/// there is no memory, it does as `add` does.
impl<K: AsRef<[u8]>> Extend<K> for FilterBuilder {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let mut keys = keys.into_iter();
        let (least, most) = keys.size_hint();
        if most.is_some_and(|most| most < MANY) {
            keys.for_each(|key| self.add(key.as_ref()));
            return;
        }
        // May fail: the size that an iterator claims need not be true, nor fit in memory.
        let _ = self.hashes.try_reserve(least);
        let mut listed = Vec::with_capacity(GROUP);
        loop {
            listed.clear();
            listed.extend(keys.by_ref().take(GROUP));
            in_groups_of(&listed, |keys| {
                let mut hashes = [0; GROUP];
                let hashes = hashes.get_mut(..keys.len()).unwrap_or(&mut []);
                self.policy.kernel().hash_keys(keys, hashes);
                self.hashes.extend_from_slice(hashes);
            });
            // The iterator has ended, and must not be asked again: it might give more.
            if listed.len() < GROUP {
                return;
            }
        }
    }
}

/// The filters differ in length or number of probes, or are no filters at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterMismatch;

impl fmt::Display for FilterMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("only filters of the same length and number of probes can be united")
    }
}

impl core::error::Error for FilterMismatch {}

/// Adds the keys of the filter `from` to the filter `into`.
///
/// # Errors
/// [`FilterMismatch`] if their lengths or numbers of probes differ, or there is no bit in them;
/// `into` is unchanged.
pub fn union(into: &mut [u8], from: &[u8]) -> Result<(), FilterMismatch> {
    match (into.split_last_mut(), from.split_last()) {
        (Some((k, bits)), Some((from_k, from_bits)))
            if k == from_k && bits.len() == from_bits.len() && !bits.is_empty() =>
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
                let policy = BloomFilterPolicy::new(bits_per_key);
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
                let policy = BloomFilterPolicy::with_kernel(10, kernel);
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
        let policy = BloomFilterPolicy::new(10);
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
        let mut builder = FilterBuilder::new(BloomFilterPolicy::new(10));
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
        let mut builder = FilterBuilder::new(BloomFilterPolicy::new(10));
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
