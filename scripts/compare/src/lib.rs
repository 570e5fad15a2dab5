//! LevelDB's own filter policy, and what must be equal to it: the one comparison that the fuzz
//! targets and `scripts/verify.sh` make. A difference panics.

mod policy;

pub use policy::Policy;

use leveldb_bloom::{
    Encoding, FilterBuilder, FilterPolicy, Kernel, Key, bloom_hash, hash_may_match, key_may_match,
};

/// SplitMix64: the same numbers in every run.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    #[allow(clippy::should_implement_trait, reason = "an iterator would return an Option")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// One policy for each kernel of this machine.
pub fn policies(bits_per_key: i32) -> impl Iterator<Item = FilterPolicy> {
    Kernel::available().map(move |kernel| FilterPolicy::with_kernel(bits_per_key, kernel))
}

/// The same with the ribbon encoding.
pub fn ribbon_policies(bits_per_key: i32) -> impl Iterator<Item = FilterPolicy> {
    policies(bits_per_key).map(|policy| policy.with_encoding(Encoding::Ribbon))
}

/// These bytes as keys, which every kernel and LevelDB read where they are.
pub fn listed<'k>(keys: &[&'k [u8]]) -> Vec<Key<'k>> {
    keys.iter().map(|key| Key::new(key)).collect()
}

/// LevelDB's filter of these keys, which every kernel must make, too.
pub fn create(bits_per_key: i32, keys: &[Key<'_>]) -> Vec<u8> {
    // Below 0 LevelDB divides by zero.
    let filter = Policy::stock(bits_per_key.max(0)).create(keys);
    for policy in policies(bits_per_key) {
        assert_eq!(policy.filter_len(keys.len()), Some(filter.len()), "{policy:?}");
        let made = policy.create_filter(keys).expect("a small filter");
        assert!(made == filter, "{policy:?} {:x}:\n{made:x?}, LevelDB:\n{filter:x?}", Bytes(keys));
    }
    filter
}

/// The ribbon filter of these keys, which every kernel and the builder must make. It holds every key,
/// for a ribbon policy and for LevelDB, which does not know it.
pub fn create_ribbon(bits_per_key: i32, keys: &[Key<'_>]) -> Vec<u8> {
    let mut builder = FilterBuilder::new(FilterPolicy::ribbon(bits_per_key));
    builder.extend(keys);
    let filter = builder.finish().expect("a small filter");
    for policy in ribbon_policies(bits_per_key) {
        assert_eq!(policy.filter_len(keys.len()), Some(filter.len()), "{policy:?}");
        let made = policy.create_filter(keys).expect("a small filter");
        assert!(made == filter, "{policy:?} {:x}:\n{made:x?}, built:\n{filter:x?}", Bytes(keys));
    }
    for (key, answer) in keys.iter().zip(query_ribbon(keys, &filter)) {
        assert!(answer, "{key:x?} is lost: {bits_per_key} bits, {:x}", Bytes(keys));
    }
    assert!(query(keys, &filter).iter().all(|answer| *answer), "a key is lost for LevelDB");
    filter
}

/// The answers of ribbon policies, which every kernel must give in every way. They are LevelDB's, but
/// for ribbon filters.
pub fn query_ribbon(keys: &[Key<'_>], filter: &[u8]) -> Vec<bool> {
    let one = |key: &Key<'_>| key_may_match(key.as_bytes(), filter);
    let expected: Vec<bool> = keys.iter().map(one).collect();
    if !filter.last().is_some_and(|last| (32..240).contains(last)) {
        assert_eq!(query(keys, filter), expected, "{filter:x?}");
    }
    let mut answers = vec![false; keys.len()];
    for policy in ribbon_policies(10) {
        for (key, answer) in keys.iter().zip(&mut answers) {
            *answer = policy.key_may_match(key.as_bytes(), filter);
        }
        check(&policy, keys, filter, &answers, &expected);
        answers.fill(false);
        policy.keys_may_match(keys, filter, &mut answers);
        check(&policy, keys, filter, &answers, &expected);
    }
    expected
}

/// LevelDB's answers for these keys, which every kernel must give, too, to one key and to many.
pub fn query(keys: &[Key<'_>], filter: &[u8]) -> Vec<bool> {
    let mut expected = vec![false; keys.len()];
    let ones = Policy::stock(10).query(keys, filter, &mut expected);
    let mut answers = vec![false; keys.len()];
    for policy in policies(10) {
        for (key, answer) in keys.iter().zip(&mut answers) {
            *answer = policy.key_may_match(key.as_bytes(), filter);
        }
        check(&policy, keys, filter, &answers, &expected);
        answers.fill(false);
        assert_eq!(policy.keys_may_match(keys, filter, &mut answers), ones, "{policy:?}");
        check(&policy, keys, filter, &answers, &expected);
    }
    expected
}

fn check(
    policy: &FilterPolicy,
    keys: &[Key<'_>],
    filter: &[u8],
    answers: &[bool],
    expected: &[bool],
) {
    if answers != expected {
        let differs = |i: &usize| answers[*i] != expected[*i];
        let i = (0..keys.len()).find(differs).expect("a difference");
        let key = keys[i].as_bytes();
        panic!("{policy:?}: not {}, for {key:x?} in {filter:x?}", expected[i]);
    }
}

/// The function of hashes answers as LevelDB does. (Of those without a policy, `key_may_match` is
/// compared by [`query_ribbon`].)
pub fn query_hash(key: &[u8], filter: &[u8], expected: bool) {
    assert_eq!(hash_may_match(bloom_hash(key), filter), expected, "{key:x?} in {filter:x?}");
}

/// One key and many filters: every kernel answers as LevelDB does for each, and for ribbon policies as
/// for each alone.
pub fn query_filters(key: &[u8], filters: &[&[u8]]) {
    let expected: Vec<bool> = filters
        .iter()
        .map(|filter| Policy::stock(10).query(&[Key::new(key)], filter, &mut [false]) == 1)
        .collect();
    for policy in policies(10) {
        let mut answers = vec![false; filters.len()];
        let ones = policy.filters_may_match(key, filters, &mut answers);
        assert_eq!(answers, expected, "{policy:?}: {key:x?} in {filters:x?}");
        assert_eq!(ones, expected.iter().filter(|answer| **answer).count());
    }
    let expected: Vec<bool> = filters.iter().map(|filter| key_may_match(key, filter)).collect();
    for policy in ribbon_policies(10) {
        let mut answers = vec![false; filters.len()];
        let ones = policy.filters_may_match(key, filters, &mut answers);
        assert_eq!(answers, expected, "{policy:?}: {key:x?} in {filters:x?}");
        assert_eq!(ones, expected.iter().filter(|answer| **answer).count());
    }
}

/// Keys as a message shows them.
struct Bytes<'a>(&'a [Key<'a>]);

impl std::fmt::LowerHex for Bytes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|key| write!(f, "{:x?} ", key.as_bytes()))
    }
}
