//! The policy a program holds: bits per key, the encoding, and the kernel that does the work.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::filter::{FilterTooLarge, WrongFilterLength, filter_len, probes_for};
use crate::kernel::{self, Kernel, Key, KeyList, as_keys};
use crate::ribbon::{self, MAX_RIBBON_BITS_PER_KEY};

/// The name that LevelDB stores beside the filters of a table. It ignores filters that were stored
/// under another name.
pub const POLICY_NAME: &str = "leveldb.BuiltinBloomFilter2";

/// How a policy writes filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// LevelDB's own: every filter is LevelDB's, byte for byte, and every answer, for any bytes.
    #[default]
    Bloom,
    /// Ribbon filters, whose false-positive rate does not depend on what the keys look like
    /// (docs/ribbon.md). LevelDB takes such a filter for one that may hold any key. A policy with this
    /// encoding reads both.
    Ribbon,
}

/// LevelDB's bloom filter policy. Immutable: any number of threads may use one at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FilterPolicy {
    bits_per_key: i32,
    probes: u32,
    encoding: Encoding,
    kernel: &'static Kernel,
}

impl FilterPolicy {
    /// A policy that spends about `bits_per_key` bits on a key; 10 gives about 1 % false positives.
    ///
    /// Zero and below behave as 0: one probe, and filters of 64 bits whatever they hold. Above 44
    /// the number of probes stays at 30 and only the size grows.
    #[must_use]
    pub fn new(bits_per_key: i32) -> Self {
        Self::with_kernel(bits_per_key, Kernel::best())
    }

    /// [`new`](Self::new) with a kernel of your choice.
    ///
    /// ```
    /// use leveldb_bloom::{FilterPolicy, Kernel};
    ///
    /// let kernel = Kernel::by_name("avx2").unwrap_or(Kernel::best());
    /// assert_eq!(FilterPolicy::with_kernel(10, kernel).kernel(), kernel);
    /// ```
    #[must_use]
    pub const fn with_kernel(bits_per_key: i32, kernel: &'static Kernel) -> Self {
        let bits_per_key = if bits_per_key < 0 { 0 } else { bits_per_key };
        let encoding = Encoding::Bloom;
        FilterPolicy { bits_per_key, probes: probes_for(bits_per_key), encoding, kernel }
    }

    /// A policy that writes [ribbon](Encoding::Ribbon) filters, and reads these and LevelDB's. With
    /// `bits_per_key` bits a key, one absent key in 2^`bits_per_key` matches, whatever the keys and
    /// however many there are; 10 gives 0.1 %. Below 1 acts as 1, and above
    /// [`MAX_RIBBON_BITS_PER_KEY`] as that.
    ///
    /// LevelDB's own encoding is written where there is no ribbon filter: for no keys, for 2^31 and
    /// more, where memory for the system of equations is missing (some 30 bytes a key, for more than
    /// 64 keys), and for one list of keys in very many for which no system can be solved.
    ///
    /// ```
    /// use leveldb_bloom::FilterPolicy;
    ///
    /// let policy = FilterPolicy::ribbon(10);
    /// let filter = policy.create_filter(&["hello", "world"])?;
    /// assert!(policy.key_may_match(b"hello", &filter));
    /// assert!(!policy.key_may_match(b"absent", &filter));
    /// // Who does not know the encoding finds every key.
    /// assert!(FilterPolicy::new(10).key_may_match(b"absent", &filter));
    /// # Ok::<(), leveldb_bloom::FilterTooLarge>(())
    /// ```
    #[must_use]
    pub fn ribbon(bits_per_key: i32) -> Self {
        Self::new(bits_per_key).with_encoding(Encoding::Ribbon)
    }

    /// The same policy with another encoding. For [`Encoding::Ribbon`] the bits per key are limited
    /// as [`ribbon`](Self::ribbon) says.
    #[must_use]
    pub const fn with_encoding(self, encoding: Encoding) -> Self {
        let bits_per_key = match (encoding, self.bits_per_key) {
            (Encoding::Ribbon, ..1) => 1,
            (Encoding::Ribbon, MAX_RIBBON_BITS_PER_KEY..) => MAX_RIBBON_BITS_PER_KEY,
            (_, bits_per_key) => bits_per_key,
        };
        let policy = Self::with_kernel(bits_per_key, self.kernel);
        FilterPolicy { encoding, ..policy }
    }

    /// How this policy writes filters.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Bits per key, after the limits: 0 where a negative number was given, for ribbon filters 1 to
    /// [`MAX_RIBBON_BITS_PER_KEY`].
    #[must_use]
    pub const fn bits_per_key(&self) -> i32 {
        self.bits_per_key
    }

    /// The number of probes, k: how many bits a key sets and a query reads in LevelDB's encoding.
    #[must_use]
    pub const fn probes(&self) -> u32 {
        self.probes
    }

    /// The kernel that does the work.
    #[must_use]
    pub const fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// The length in bytes of a filter for `num_keys` keys; `None` if the number of bits does not
    /// fit in a `usize`.
    #[must_use]
    pub fn filter_len(&self, num_keys: usize) -> Option<usize> {
        let ribbon = match self.encoding {
            Encoding::Bloom => None,
            Encoding::Ribbon => ribbon::filter_len(num_keys, self.result_bits()),
        };
        ribbon.or_else(|| filter_len(num_keys, self.bits_per_key))
    }

    /// A filter of `keys`. Fastest for `&[u8]`, `&str` and [`Key`], which a kernel reads where they
    /// are; keys of other types are listed first.
    ///
    /// # Errors
    /// [`FilterTooLarge`] if the filter does not fit in memory.
    pub fn create_filter<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<u8>, FilterTooLarge> {
        let mut filter = Vec::new();
        self.append_filter(keys, &mut filter)?;
        Ok(filter)
    }

    /// Appends a filter of `keys` to `destination`.
    ///
    /// # Errors
    /// [`FilterTooLarge`] if the filter does not fit in memory; `destination` is then unchanged.
    pub fn append_filter<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        destination: &mut Vec<u8>,
    ) -> Result<(), FilterTooLarge> {
        let start = append_zeros(destination, self.filter_len(keys.len()))?;
        self.fill(keys, destination.get_mut(start..).unwrap_or(&mut []));
        Ok(())
    }

    /// [`create_filter`](Self::create_filter) for keys that do not lie in an array, such as
    /// [`FlatKeys`](crate::FlatKeys). If `keys` yields more keys than its length says, the filter
    /// holds them all and has more false positives.
    ///
    /// # Errors
    /// [`FilterTooLarge`] if the filter does not fit in memory.
    pub fn create_filter_from<'k>(
        &self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
    ) -> Result<Vec<u8>, FilterTooLarge> {
        let mut filter = Vec::new();
        append_zeros(&mut filter, self.filter_len(keys.len()))?;
        self.insert(keys.map(Key::new), &mut filter);
        Ok(filter)
    }

    /// Writes a filter of `keys` over all of `filter`, whose length must be the
    /// [`filter_len`](Self::filter_len) of their number. A filter of 0.5 to 4 KB takes up to 32 KB of
    /// memory meanwhile, if there is any, and a ribbon filter of more than 64 keys some 30 bytes a
    /// key; others allocate nothing.
    ///
    /// ```
    /// let policy = leveldb_bloom::FilterPolicy::new(10);
    /// let mut filter = [0; 9];
    /// assert_eq!(policy.filter_len(2), Some(filter.len()));
    /// policy.fill_filter(&["hello", "world"], &mut filter)?;
    /// assert!(policy.key_may_match(b"hello", &filter));
    /// # Ok::<(), leveldb_bloom::WrongFilterLength>(())
    /// ```
    ///
    /// # Errors
    /// [`WrongFilterLength`] if `filter` has another length; it is then unchanged.
    pub fn fill_filter<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        filter: &mut [u8],
    ) -> Result<(), WrongFilterLength> {
        self.check_len(keys.len(), filter.len())?;
        self.fill(keys, filter);
        Ok(())
    }

    /// [`fill_filter`](Self::fill_filter) for memory that is not initialised. Returns the filter.
    ///
    /// # Errors
    /// [`WrongFilterLength`] if `filter` has another length.
    #[inline]
    pub fn fill_filter_uninit<'f>(
        &self,
        keys: &[Key<'_>],
        filter: &'f mut [MaybeUninit<u8>],
    ) -> Result<&'f mut [u8], WrongFilterLength> {
        self.check_len(keys.len(), filter.len())?;
        if self.encoding == Encoding::Ribbon {
            return Ok(self.fill_ribbon(keys, filter));
        }
        Ok(self.kernel.create(keys, self.probes, filter))
    }

    // Out of line, so that LevelDB's own filters need neither its code nor its room on the stack.
    #[inline(never)]
    fn fill_ribbon<'f>(&self, keys: &[Key<'_>], filter: &'f mut [MaybeUninit<u8>]) -> &'f mut [u8] {
        let filter = kernel::zeroed(filter);
        if !self.solve(keys.iter().copied(), filter) {
            self.kernel.create_over(keys, self.probes, filter);
        }
        filter
    }

    /// [`fill_filter`](Self::fill_filter) for keys that do not lie in an array, such as
    /// [`FlatKeys`](crate::FlatKeys). If `keys` yields more keys than its length says, the filter
    /// holds them all and has more false positives.
    ///
    /// # Errors
    /// [`WrongFilterLength`] if `filter` has another length; it is then unchanged.
    pub fn fill_filter_from<'k>(
        &self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        filter: &mut [u8],
    ) -> Result<(), WrongFilterLength> {
        self.check_len(keys.len(), filter.len())?;
        filter.fill(0);
        self.insert(keys.map(Key::new), filter);
        Ok(())
    }

    /// Whether `filter` may hold `key`: false is certain, true may be a false positive. Any bytes
    /// may be given as a filter.
    #[must_use]
    #[inline]
    pub fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        if self.reads_as_ribbon(filter) {
            return self.kernel.ribbon_may_match(key, filter);
        }
        self.kernel.may_match(Key::new(key), filter)
    }

    /// Queries `filter` for many keys: `results[i]` becomes the answer for `keys[i]`, for as many
    /// as both have. Returns the number of matches. From eight keys on it is faster than single
    /// queries, for many keys several times.
    ///
    /// ```
    /// let policy = leveldb_bloom::FilterPolicy::new(10);
    /// let filter = policy.create_filter(&["hello", "world"])?;
    /// let mut results = [false; 3];
    /// let matches = policy.keys_may_match(&["hello", "absent", "world"], &filter, &mut results);
    /// assert_eq!((matches, results), (2, [true, false, true]));
    /// # Ok::<(), leveldb_bloom::FilterTooLarge>(())
    /// ```
    pub fn keys_may_match<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        filter: &[u8],
        results: &mut [bool],
    ) -> usize {
        in_parts(keys, results, |keys, results| self.list_may_match(keys, filter, results))
    }

    /// [`keys_may_match`](Self::keys_may_match) for keys that do not lie in an array, such as
    /// [`FlatKeys`](crate::FlatKeys).
    ///
    /// ```
    /// use leveldb_bloom::{FilterPolicy, FlatKeys};
    ///
    /// let policy = FilterPolicy::new(10);
    /// let filter = policy.create_filter(&["hello", "world"])?;
    /// let keys = FlatKeys::fixed(b"helloemptyworld", 5, 3)?;
    /// let mut results = [false; 3];
    /// assert_eq!(policy.keys_may_match_from(keys.iter(), &filter, &mut results), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keys_may_match_from<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]>,
        filter: &[u8],
        results: &mut [bool],
    ) -> usize {
        let (mut keys, mut list) = (keys.map(Key::new).fuse(), KeyList::new());
        let parts = results.chunks_mut(KeyList::MAX);
        parts
            .map(|part| {
                let keys = list.refill(keys.by_ref().take(part.len()));
                self.list_may_match(keys, filter, part)
            })
            .sum()
    }

    fn list_may_match(&self, keys: &[Key<'_>], filter: &[u8], results: &mut [bool]) -> usize {
        if !self.reads_as_ribbon(filter) {
            return self.kernel.keys_may_match(keys, filter, results);
        }
        let answers = keys.iter().zip(results).map(|(key, result)| {
            *result = self.kernel.ribbon_may_match(key.as_bytes(), filter);
            usize::from(*result)
        });
        answers.sum()
    }

    /// Queries many filters for one key, as a read does that looks through many tables. The key is
    /// hashed once. `results[i]` becomes the answer of `filters[i]`, for as many as both have.
    /// Returns the number of matches.
    ///
    /// ```
    /// let policy = leveldb_bloom::FilterPolicy::new(10);
    /// let tables = [policy.create_filter(&["hello"])?, policy.create_filter(&["world"])?];
    /// let mut results = [false; 2];
    /// policy.filters_may_match(b"world", &tables, &mut results);
    /// assert_eq!(results, [false, true]);
    /// # Ok::<(), leveldb_bloom::FilterTooLarge>(())
    /// ```
    pub fn filters_may_match<F: AsRef<[u8]>>(
        &self,
        key: &[u8],
        filters: &[F],
        results: &mut [bool],
    ) -> usize {
        in_parts(filters, results, |filters, results| {
            let mut ones = self.kernel.filters_may_match(Key::new(key), filters, results);
            if self.encoding == Encoding::Ribbon && ones > 0 {
                // A ribbon has matched every key so far.
                for (filter, result) in filters.iter().zip(results) {
                    let filter = filter.as_bytes();
                    if *result && self.reads_as_ribbon(filter) {
                        *result = self.kernel.ribbon_may_match(key, filter);
                        ones -= usize::from(!*result);
                    }
                }
            }
            ones
        })
    }

    /// The bits of a slot of a ribbon filter.
    fn result_bits(&self) -> u32 {
        self.bits_per_key.unsigned_abs()
    }

    #[inline(always)]
    fn reads_as_ribbon(&self, filter: &[u8]) -> bool {
        self.encoding == Encoding::Ribbon
            && filter.last().is_some_and(|&last| ribbon::is_ribbon(last))
    }

    fn check_len(&self, num_keys: usize, len: usize) -> Result<(), WrongFilterLength> {
        if self.filter_len(num_keys) == Some(len) { Ok(()) } else { Err(WrongFilterLength) }
    }

    /// Writes the ribbon filter of `keys` over all of `filter`; false if there is none, or no memory
    /// to make it.
    // Out of line: see `fill_ribbon`.
    #[inline(never)]
    fn solve<'k>(&self, keys: impl ExactSizeIterator<Item = Key<'k>>, filter: &mut [u8]) -> bool {
        let mut few = [0; ribbon::MOST_ON_STACK];
        let mut many;
        let hashes = match few.get_mut(..keys.len()) {
            Some(few) => few,
            None => {
                many = match ribbon::zeros(keys.len()) {
                    Some(zeros) => zeros,
                    None => return false,
                };
                &mut many[..]
            }
        };
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = ribbon::hash(key.as_bytes());
        }
        self.solve_hashes(hashes, filter)
    }

    /// [`solve`](Self::solve) for keys with these hashes.
    pub(crate) fn solve_hashes(&self, hashes: &[u64], filter: &mut [u8]) -> bool {
        self.kernel.solve(hashes, self.result_bits(), filter)
    }

    /// Writes the filter over all of `filter`, which has the right length.
    fn fill<K: AsRef<[u8]>>(&self, keys: &[K], filter: &mut [u8]) {
        if self.encoding == Encoding::Ribbon && self.solve(keys.iter().map(Key::of), filter) {
            return;
        }
        if let Some(keys) = as_keys(keys) {
            self.kernel.create_over(keys, self.probes, filter);
        } else if keys.len() <= KeyList::MAX {
            let mut list = KeyList::new();
            self.kernel.create_over(list.refill(keys.iter().map(Key::of)), self.probes, filter);
        } else {
            filter.fill(0);
            self.insert(keys.iter().map(Key::of), filter);
        }
    }

    /// Inserts keys into a filter that is all zeros.
    fn insert<'k>(&self, keys: impl Iterator<Item = Key<'k>>, filter: &mut [u8]) {
        let Some((k, array)) = filter.split_last_mut() else { return };
        // For a ribbon: `None` if there is no memory for all hashes.
        let mut hashes = (self.encoding == Encoding::Ribbon).then(Vec::new);
        let (mut keys, mut list) = (keys.fuse(), KeyList::new());
        loop {
            let part = list.refill(&mut keys);
            if part.is_empty() {
                break;
            }
            // Keys come only once, and a ribbon may not be possible.
            self.kernel.insert(part, self.probes, array);
            hashes = hashes.and_then(|hashes| ribbon_hashes(part, hashes));
        }
        // Last: if `keys` panics, the filter has 0 probes and matches every key.
        *k = self.probes as u8;
        if let Some(hashes) = hashes {
            self.solve_hashes(&hashes, filter);
        }
    }

    /// Inserts keys with these hashes into a filter that is all zeros.
    pub(crate) fn insert_hashes(&self, hashes: &[u32], filter: &mut [u8]) {
        if let Some((k, array)) = filter.split_last_mut() {
            self.kernel.insert_hashes(hashes, self.probes, array);
            *k = self.probes as u8;
        }
    }
}

/// Adds the keys' hashes; `None` if there is no memory.
fn ribbon_hashes(keys: &[Key<'_>], mut hashes: Vec<u64>) -> Option<Vec<u64>> {
    hashes.try_reserve(keys.len()).ok()?;
    hashes.extend(keys.iter().map(|key| ribbon::hash(key.as_bytes())));
    Some(hashes)
}

/// Appends `len` zeros (an error for `None`), and returns where they begin.
pub(crate) fn append_zeros(
    destination: &mut Vec<u8>,
    len: Option<usize>,
) -> Result<usize, FilterTooLarge> {
    let (start, len) = (destination.len(), len.ok_or(FilterTooLarge)?);
    destination.try_reserve(len).map_err(|_| FilterTooLarge)?;
    destination.resize(start + len, 0);
    Ok(start)
}

/// Answers for items in an array, all at once if they can be used as they are.
fn in_parts<T: AsRef<[u8]>>(
    items: &[T],
    results: &mut [bool],
    answer: impl Fn(&[Key<'_>], &mut [bool]) -> usize,
) -> usize {
    if let Some(items) = as_keys(items) {
        return answer(items, results);
    }
    let mut list = KeyList::new();
    let parts = items.chunks(KeyList::MAX).zip(results.chunks_mut(KeyList::MAX));
    parts.map(|(items, results)| answer(list.refill(items.iter().map(Key::of)), results)).sum()
}

/// Whether `filter` may hold a key with this hash (see [`bloom_hash`](crate::bloom_hash)). For
/// callers that query many filters for one key, one after another. Knows LevelDB's own encoding only:
/// a ribbon filter may hold any key.
///
/// ```
/// let filter = leveldb_bloom::FilterPolicy::new(10).create_filter(&["hello"])?;
/// assert!(leveldb_bloom::hash_may_match(leveldb_bloom::bloom_hash(b"hello"), &filter));
/// # Ok::<(), leveldb_bloom::FilterTooLarge>(())
/// ```
#[must_use]
pub fn hash_may_match(hash: u32, filter: &[u8]) -> bool {
    kernel::hash_may_match(hash, filter)
}

/// Whether `filter` may hold `key`. Needs no policy: a filter says itself how it was made. Reads both
/// [encodings](Encoding).
#[must_use]
pub fn key_may_match(key: &[u8], filter: &[u8]) -> bool {
    FilterPolicy::ribbon(0).key_may_match(key, filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An iterator that says wrongly how many keys there are.
    #[derive(Clone)]
    struct Said<I>(usize, I);

    impl<I: Iterator> Iterator for Said<I> {
        type Item = I::Item;

        fn next(&mut self) -> Option<I::Item> {
            self.1.next()
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.0, Some(self.0))
        }
    }

    impl<I: Iterator> ExactSizeIterator for Said<I> {}

    #[test]
    fn more_keys_than_were_said_are_none_lost() {
        let keys: Vec<[u8; 4]> = (0..5000u32).map(u32::to_le_bytes).collect();
        let policy = FilterPolicy::new(10);
        for (said, given) in [
            (0, 1),
            (2, 3),
            (63, 64),
            (64, 65),
            (64, 100),
            (4095, 4096),
            (4096, 5000),
            (4097, 5000),
        ] {
            let keys = keys.get(..given).unwrap();
            let listed = Said(said, keys.iter().map(|key| &key[..]));
            let mut filled = std::vec![0; policy.filter_len(said).unwrap()];
            policy.fill_filter_from(listed.clone(), &mut filled).unwrap();
            let filter = policy.create_filter_from(listed).unwrap();
            assert_eq!(filter, filled, "{given} keys instead of {said}");
            assert!(keys.iter().all(|key| policy.key_may_match(key, &filter)));
        }
    }
}
