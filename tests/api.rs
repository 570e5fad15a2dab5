//! The functions that LevelDB's policy does not have, compared with those it has.

use std::{panic, thread};

use leveldb_bloom::{
    FilterBuilder, FilterPolicy, FlatKeys, Kernel, Key, Positions, WrongFilterLength, bloom_hash,
    key_may_match, union,
};

fn policies(bits_per_key: i32) -> impl Iterator<Item = FilterPolicy> {
    Kernel::available().map(move |kernel| FilterPolicy::with_kernel(bits_per_key, kernel))
}

fn keys(num_keys: u32) -> Vec<[u8; 4]> {
    (0..num_keys).map(u32::to_le_bytes).collect()
}

fn bytes(keys: &[[u8; 4]]) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
    keys.iter().map(|key| &key[..])
}

/// On both sides of where keys are listed in parts, and of what vectors hold.
const NUMBERS: [u32; 10] = [0, 1, 7, 8, 9, 127, 128, 129, 256, 5000];

/// The filter of the positions that the crate names.
fn reference(policy: &FilterPolicy, keys: &[[u8; 4]]) -> Vec<u8> {
    let mut filter = vec![0; policy.filter_len(keys.len()).unwrap()];
    let (k, array) = filter.split_last_mut().unwrap();
    *k = policy.probes() as u8;
    let bits = array.len() as u64 * 8;
    for key in keys {
        for p in Positions::new(bloom_hash(key), policy.probes(), bits) {
            array[p as usize / 8] |= 1 << (p % 8);
        }
    }
    filter
}

#[test]
fn every_way_to_create_a_filter_gives_the_same_bytes() {
    for policy in policies(10) {
        for num_keys in NUMBERS {
            let keys = keys(num_keys);
            let listed: Vec<&[u8]> = bytes(&keys).collect();
            let expected = reference(&policy, &keys);
            assert_eq!(policy.create_filter(&keys).unwrap(), expected, "{policy:?}");
            assert_eq!(policy.create_filter(&listed).unwrap(), expected, "{policy:?}");
            assert_eq!(policy.create_filter_from(bytes(&keys)).unwrap(), expected, "{policy:?}");
            let mut builder = FilterBuilder::new(policy);
            builder.extend(&keys);
            assert_eq!(builder.finish().unwrap(), expected, "{policy:?}");
            let fill = |fill: &dyn Fn(&mut [u8]) -> Result<(), WrongFilterLength>| {
                let mut filter = vec![0x5a; expected.len()];
                fill(&mut filter).unwrap();
                assert_eq!(filter, expected, "{policy:?}");
                for len in [0, 1, expected.len() - 1, expected.len() + 1] {
                    let mut other = vec![0x5a; len];
                    assert_eq!(fill(&mut other), Err(WrongFilterLength));
                    assert!(other.iter().all(|byte| *byte == 0x5a), "unchanged");
                }
            };
            fill(&|filter| policy.fill_filter(&keys, filter));
            fill(&|filter| policy.fill_filter(&listed, filter));
            fill(&|filter| policy.fill_filter_from(bytes(&keys), filter));
        }
    }
}

#[test]
fn every_way_to_query_many_keys_gives_the_same_answers() {
    let filter = FilterPolicy::new(5).create_filter(&keys(1000)).unwrap();
    for policy in policies(10) {
        for num_keys in NUMBERS {
            // Every third is in the filter.
            let keys: Vec<_> = (0..num_keys)
                .map(|i| (i + u32::from(i % 3 != 0) * 1_000_000).to_le_bytes())
                .collect();
            let listed: Vec<Key> = bytes(&keys).map(Key::new).collect();
            let expected: Vec<bool> = keys.iter().map(|key| key_may_match(key, &filter)).collect();
            for room in [keys.len() + 9, keys.len(), keys.len() / 2, 0] {
                let used = room.min(keys.len());
                let ones = expected[..used].iter().filter(|yes| **yes).count();
                let check = |query: &dyn Fn(&mut [bool]) -> usize| {
                    for beyond in [false, true] {
                        let mut results = vec![beyond; room];
                        assert_eq!(query(&mut results), ones, "{policy:?}");
                        assert_eq!(results[..used], expected[..used], "{policy:?}");
                        assert!(results[used..].iter().all(|left| *left == beyond), "unchanged");
                    }
                };
                check(&|results| policy.keys_may_match(&keys, &filter, results));
                check(&|results| policy.keys_may_match(&listed, &filter, results));
                check(&|results| policy.keys_may_match_from(bytes(&keys), &filter, results));
            }
        }
    }
}

#[test]
fn many_filters_are_queried_as_each() {
    for policy in policies(10) {
        let mut filters: Vec<_> =
            (0..300u32).map(|i| policy.create_filter(&keys(i % 8)).unwrap()).collect();
        filters.extend([vec![], vec![6], vec![0xff, 6], vec![0, 0], vec![0, 31]]);
        for key in keys(8) {
            let expected: Vec<bool> =
                filters.iter().map(|filter| key_may_match(&key, filter)).collect();
            assert!(expected.contains(&true) && expected.contains(&false));
            for room in [filters.len() + 5, 128, 0] {
                let used = room.min(filters.len());
                let mut results = vec![true; room];
                let ones = policy.filters_may_match(&key, &filters, &mut results);
                assert_eq!(results[..used], expected[..used], "{policy:?}");
                assert!(results[used..].iter().all(|left| *left), "unchanged");
                assert_eq!(ones, expected[..used].iter().filter(|yes| **yes).count());
            }
        }
    }
}

#[test]
fn debug_output_shows_no_keys() {
    let keys = FlatKeys::fixed(b"secretsecret", 6, 2).unwrap();
    assert_eq!(format!("{keys:?}"), "FlatKeys { num_keys: 2, bytes: 12, .. }");
    let kernel = Kernel::by_name("portable").unwrap();
    let mut builder = FilterBuilder::new(FilterPolicy::with_kernel(10, kernel));
    builder.extend(keys.iter());
    let policy = "FilterPolicy { bits_per_key: 10, probes: 6, encoding: Bloom, kernel: Kernel(\"portable\") }";
    let expected = format!("FilterBuilder {{ policy: {policy}, num_keys: 2, .. }}");
    assert_eq!(format!("{builder:?}"), expected);
}

/// Keys on both sides of 4 GiB, in memory that is all zeros and hardly used.
#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
#[test]
fn offsets_of_more_than_32_bits() {
    let (len, protection) = ((1 << 32) + 20, libc::PROT_READ | libc::PROT_WRITE);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the system finds a place where nothing else is.
    let map = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
    assert_ne!(map, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
    // SAFETY: `mmap` gave so many zeros, and only `data` refers to them.
    let data = unsafe { std::slice::from_raw_parts_mut(map.cast::<u8>(), len) };
    data[len - 10..].copy_from_slice(b"helloworld");
    let offsets = [len - 25, len - 5, len].map(|offset| offset as i64);
    let keys = FlatKeys::with_offsets64(data, &offsets).unwrap();
    assert!(keys.iter().eq([&[&[0; 15], &b"hello"[..]].concat()[..], b"world"]));
    assert!(FlatKeys::with_offsets64(data, &[0, len as i64 + 1]).is_err());
    // SAFETY: nobody uses `data` any more.
    assert_eq!(unsafe { libc::munmap(map, len) }, 0);
}

/// An iterator that claims more keys than memory could hold.
struct Boasting<'k>(std::slice::Iter<'k, [u8; 4]>);

impl<'k> Iterator for Boasting<'k> {
    type Item = &'k [u8; 4];
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

#[test]
fn a_wrong_number_of_keys_does_no_harm() {
    let keys = keys(300);
    let mut builder = FilterBuilder::new(FilterPolicy::new(10));
    builder.extend(Boasting(keys.iter()));
    assert_eq!(builder.finish(), FilterPolicy::new(10).create_filter(&keys));
    for policy in policies(i32::MAX) {
        let keys = vec![[0u8; 0]; isize::MAX as usize];
        assert!(policy.create_filter_from(keys.iter().map(|key| &key[..])).is_err());
    }
}

/// A key, or one whose bytes cannot be had.
struct Maybe(Option<[u8; 8]>);

impl AsRef<[u8]> for Maybe {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref().unwrap_or_else(|| panic::resume_unwind(Box::new(())))
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "panics do not unwind there")]
fn a_key_that_panics_makes_no_filter_that_loses_keys() {
    for policy in policies(10) {
        for num_keys in [10, 129, 1000] {
            let numbers = 1..num_keys as u64;
            let mut keys: Vec<_> = numbers.map(|i| Maybe(Some(i.to_le_bytes()))).collect();
            keys.push(Maybe(None));
            let mut filter = vec![0x5a; policy.filter_len(num_keys).unwrap()];
            let fill = panic::AssertUnwindSafe(|| policy.fill_filter(&keys, &mut filter));
            assert!(panic::catch_unwind(fill).is_err(), "{policy:?}");
            for i in 0..10_000u64 {
                assert!(policy.key_may_match(&i.to_le_bytes(), &filter), "{policy:?}");
            }
        }
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "there are no threads")]
fn many_threads_use_one_policy() {
    let policy = FilterPolicy::new(10);
    let shared = policy.create_filter(&keys(50)).unwrap();
    thread::scope(|scope| {
        for thread in 0..8 {
            let (policy, shared) = (&policy, &shared);
            scope.spawn(move || {
                let keys: Vec<_> =
                    (0..50).map(|i: u32| (thread * 1000 + i).to_le_bytes()).collect();
                for _ in 0..40 {
                    let filter = policy.create_filter(&keys).unwrap();
                    assert!(keys.iter().all(|key| policy.key_may_match(key, &filter)));
                    let found = policy.keys_may_match(&keys, shared, &mut [false; 50]);
                    assert!(thread != 0 || found == 50);
                }
            });
        }
    });
}

#[test]
fn errors_say_what_is_wrong() {
    let keys = vec![[0u8; 0]; isize::MAX as usize];
    let policy = FilterPolicy::new(10);
    assert!(policy.create_filter(&keys).unwrap_err().to_string().contains("fit in memory"));
    let wrong = policy.fill_filter(&["key"], &mut [0; 8]).unwrap_err();
    assert!(wrong.to_string().contains("length"));
    let invalid = FlatKeys::with_offsets32(b"ab", &[2, 0]).unwrap_err();
    assert!(invalid.to_string().contains("offsets"));
    let mismatch = union(&mut [0; 9], &[0; 10]).unwrap_err();
    assert!(mismatch.to_string().contains("same length and number of probes"));
}
