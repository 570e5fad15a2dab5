//! The functions that LevelDB's policy has not, against those it has.

use std::collections::HashSet;
use std::iter::FusedIterator;

use leveldb_bloom::{
    BloomFilterPolicy, FilterBuilder, FilterMismatch, FilterTooLarge, FlatKeys, FlatKeysIter,
    InvalidOffsets, Kernel, WrongFilterLength, bloom_hash, hash_may_match, key_may_match, union,
};

fn policies(bits_per_key: i32) -> impl Iterator<Item = BloomFilterPolicy> {
    Kernel::available().map(move |kernel| BloomFilterPolicy::with_kernel(bits_per_key, kernel))
}

fn keys(num_keys: u32) -> Vec<[u8; 4]> {
    (0..num_keys).map(u32::to_le_bytes).collect()
}

fn bytes(keys: &[[u8; 4]]) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
    keys.iter().map(|key| &key[..])
}

/// Of up to seven keys each, and some that hold none.
fn filters(policy: BloomFilterPolicy) -> Vec<Vec<u8>> {
    let mut filters: Vec<_> =
        (0..300u32).map(|i| policy.create_filter(&keys(i % 8)).unwrap()).collect();
    filters.extend([vec![], vec![6], vec![0xff, 6], vec![0, 0], vec![0, 31]]);
    filters
}

/// Numbers of keys at which the library changes its way: a group is 128, a list 4096.
const NUMBERS: [u32; 12] = [0, 1, 7, 8, 9, 127, 128, 129, 256, 4096, 4097, 8192];

#[test]
fn a_filter_from_an_iterator_is_the_filter() {
    for num_keys in NUMBERS {
        let keys = keys(num_keys);
        // The specification's bits, one key after another.
        for policy in policies(10) {
            let wanted = reference(&policy, &keys);
            assert_eq!(policy.create_filter_from(bytes(&keys)).unwrap(), wanted, "{policy:?}");
            assert_eq!(policy.create_filter(&keys).unwrap(), wanted, "{policy:?}");
            let mut filter = vec![0x5a; wanted.len()];
            policy.fill_filter(&keys, &mut filter).unwrap();
            assert_eq!(filter, wanted, "{policy:?}");
            filter.fill(0x5a);
            policy.fill_filter(&bytes(&keys).collect::<Vec<_>>(), &mut filter).unwrap();
            assert_eq!(filter, wanted, "{policy:?}");
            filter.fill(0x5a);
            policy.fill_filter_from(bytes(&keys), &mut filter).unwrap();
            assert_eq!(filter, wanted, "{policy:?}");
        }
    }
    for policy in policies(i32::MAX) {
        let keys = vec![[0u8; 0]; isize::MAX as usize];
        let keys = keys.iter().map(|key| &key[..]);
        assert!(policy.create_filter_from(keys).is_err());
    }
}

#[test]
fn memory_of_another_length_is_not_filled() {
    let wrong = |result| matches!(result, Err(WrongFilterLength));
    for policy in policies(10) {
        for num_keys in [0, 20, 1000] {
            let keys = keys(num_keys);
            let right = policy.filter_len(keys.len()).unwrap();
            for len in [0, 1, right - 1, right + 1] {
                let mut memory = vec![0x5a; len];
                let listed = bytes(&keys).collect::<Vec<_>>();
                assert!(wrong(policy.fill_filter(&listed, &mut memory)));
                assert!(wrong(policy.fill_filter(&keys, &mut memory)));
                assert!(wrong(policy.fill_filter_from(bytes(&keys), &mut memory)));
                assert!(memory.iter().all(|byte| *byte == 0x5a));
            }
        }
    }
}

/// A filter by the positions that the crate names.
fn reference(policy: &BloomFilterPolicy, keys: &[[u8; 4]]) -> Vec<u8> {
    let mut filter = vec![0; policy.filter_len(keys.len()).unwrap()];
    let (k, array) = filter.split_last_mut().unwrap();
    *k = policy.probes() as u8;
    let bits = array.len() as u64 * 8;
    for key in keys {
        for p in leveldb_bloom::Positions::new(bloom_hash(key), policy.probes(), bits) {
            array[p as usize / 8] |= 1 << (p % 8);
        }
    }
    filter
}

#[test]
fn many_keys_are_answered_as_each() {
    let filter = BloomFilterPolicy::new(5).create_filter(&keys(1000)).unwrap();
    for policy in policies(10) {
        for num_keys in NUMBERS {
            // Every third is in the filter.
            let keys: Vec<_> = (0..num_keys)
                .map(|i| (i + u32::from(i % 3 != 0) * 1_000_000).to_le_bytes())
                .collect();
            let listed: Vec<_> = bytes(&keys).collect();
            let wanted: Vec<bool> = keys.iter().map(|key| key_may_match(key, &filter)).collect();
            for room in [keys.len() + 9, keys.len(), keys.len() / 2, 0] {
                let asked = room.min(keys.len());
                let ones = wanted[..asked].iter().filter(|yes| **yes).count();

                for beyond in [false, true] {
                    let mut results = vec![beyond; room];
                    assert_eq!(policy.keys_may_match(&keys, &filter, &mut results), ones);
                    assert_eq!(results[..asked], wanted[..asked]);
                    assert!(results[asked..].iter().all(|left| *left == beyond));
                    let mut again = vec![beyond; room];
                    assert_eq!(policy.keys_may_match_from(bytes(&keys), &filter, &mut again), ones);
                    assert_eq!(results, again);
                    again.fill(beyond);
                    assert_eq!(policy.keys_may_match(&listed, &filter, &mut again), ones);
                    assert_eq!(results, again);
                }

                let mut bitmap = vec![0xa5; room.div_ceil(8)];
                let asked = (bitmap.len() * 8).min(keys.len());
                let ones = wanted[..asked].iter().filter(|yes| **yes).count();
                let found = policy.keys_may_match_bitmap(bytes(&keys), &filter, &mut bitmap);
                assert_eq!(found, ones, "{policy:?}: {num_keys} keys, room for {room}");
                for (i, byte) in bitmap.iter().enumerate() {
                    let eight = wanted[..asked].get(i * 8..).unwrap_or(&[]).iter().take(8);
                    let bits = eight.enumerate().map(|(bit, yes)| u8::from(*yes) << bit).sum();
                    assert_eq!(*byte, if i * 8 < asked { bits } else { 0xa5 }, "byte {i}");
                }
            }
        }
    }
}

#[test]
fn many_filters_are_asked_as_each() {
    for policy in policies(10) {
        let filters = filters(policy);
        let listed: Vec<&[u8]> = filters.iter().map(|filter| &filter[..]).collect();
        for key in keys(8) {
            let wanted: Vec<bool> =
                filters.iter().map(|filter| key_may_match(&key, filter)).collect();
            assert!(wanted.contains(&true) && wanted.contains(&false));
            for room in [filters.len() + 5, filters.len(), 200, 128, 0] {
                let asked = room.min(filters.len());
                let mut results = vec![true; room];
                let ones = policy.filters_may_match(&key, &filters, &mut results);
                assert_eq!(results[..asked], wanted[..asked]);
                assert!(results[asked..].iter().all(|left| *left));
                let mut again = vec![true; room];
                assert_eq!(policy.filters_may_match(&key, &listed, &mut again), ones);
                assert_eq!(results, again);
                assert_eq!(ones, wanted[..asked].iter().filter(|yes| **yes).count());
            }
            for (filter, wanted) in filters.iter().zip(&wanted) {
                assert_eq!(hash_may_match(bloom_hash(&key), filter), *wanted, "{filter:x?}");
            }
        }
    }
}

#[test]
fn a_policy_says_what_it_is() {
    for kernel in Kernel::available() {
        let policy = BloomFilterPolicy::with_kernel(12, kernel);
        assert_eq!((policy.bits_per_key(), policy.probes()), (12, 8));
        assert_eq!(policy.kernel(), kernel);
        for (bits, other) in [(12, kernel), (13, kernel), (12, Kernel::best())] {
            let same = bits == 12 && other.name() == kernel.name();
            assert_eq!(BloomFilterPolicy::with_kernel(bits, other) == policy, same);
            let of_both = HashSet::from([policy, BloomFilterPolicy::with_kernel(bits, other)]);
            assert_eq!(of_both.len() == 1, same);
        }
        assert_eq!(format!("{kernel:?}"), format!("Kernel({:?})", kernel.name()));
    }
    assert_eq!(BloomFilterPolicy::new(-3).bits_per_key(), 0);
}

/// Logs do not have room for them, nor may they be told everybody.
#[test]
fn what_is_shown_has_no_keys() {
    let keys = FlatKeys::fixed(b"secretsecret", 6, 2).unwrap();
    assert_eq!(format!("{keys:?}"), "FlatKeys { num_keys: 2, bytes: 12, .. }");
    let mut left = keys.iter();
    left.next();
    assert_eq!(format!("{left:?}"), "FlatKeysIter { num_keys: 1, bytes: 6, .. }");
    let mut builder = FilterBuilder::new(BloomFilterPolicy::with_kernel(10, portable()));
    builder.extend(keys.iter());
    let policy = "BloomFilterPolicy { bits_per_key: 10, probes: 6, kernel: Kernel(\"portable\") }";
    assert_eq!(
        format!("{builder:?}"),
        format!("FilterBuilder {{ policy: {policy}, num_keys: 2, .. }}")
    );
}

fn portable() -> &'static Kernel {
    Kernel::by_name("portable").unwrap()
}

#[test]
fn flat_keys_are_gone_through_as_any_list() {
    let policy = BloomFilterPolicy::new(10);
    let keys = FlatKeys::with_offsets32(b"helloworld", &[0, 5, 10]).unwrap();
    let mut seen: Vec<&[u8]> = Vec::new();
    for key in &keys {
        seen.push(key);
    }
    assert_eq!(seen, [b"hello", b"world"]);
    assert!(keys.into_iter().eq(seen));
    let mut builder = FilterBuilder::new(policy);
    builder.extend(&keys);
    assert_eq!(builder.finish(), policy.create_filter_from(keys.iter()));
    // What a program keeps beside the keys has to have a name.
    struct Rest<'k>(FlatKeysIter<'k>);
    let mut rest = Rest(keys.iter());
    assert_eq!((rest.0.next(), rest.0.len()), (Some(&b"hello"[..]), 1));
    fn goes_on_saying_none(mut ended: impl FusedIterator) {
        assert!(ended.by_ref().count() == 1 && ended.next().is_none() && ended.next().is_none());
    }
    goes_on_saying_none(rest.0);
}

/// Keys on both sides of 4 GiB, in memory that is all zeros otherwise, and hardly there.
#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
#[test]
fn offsets_of_more_than_32_bits() {
    let (len, protection) = ((1 << 32) + 20, libc::PROT_READ | libc::PROT_WRITE);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the system finds a place for it, where nothing else is.
    let map = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
    assert_ne!(map, libc::MAP_FAILED, "no 4 GiB of addresses: {}", std::io::Error::last_os_error());
    // SAFETY: `mmap` just gave so many zeros, and only `data` refers to them.
    let data = unsafe { std::slice::from_raw_parts_mut(map.cast::<u8>(), len) };
    data[len - 10..].copy_from_slice(b"helloworld");
    for (begin, first) in
        [(len - 10, &b"hello"[..]), (len - 25, &[&[0; 15], &b"hello"[..]].concat())]
    {
        let offsets = [begin, len - 5, len].map(|offset| offset as i64);
        let keys = FlatKeys::with_offsets64(data, &offsets).unwrap();
        assert!(keys.iter().eq([first, b"world"]), "from {begin}");
        assert_eq!((keys.get(0), keys.get(1)), (Some(first), Some(&b"world"[..])));
    }
    assert!(FlatKeys::with_offsets64(data, &[0, len as i64 + 1]).is_err());
    // SAFETY: nobody uses `data` any more.
    assert_eq!(unsafe { libc::munmap(map, len) }, 0);
}

/// An iterator that says that it has more keys than memory could hold.
#[test]
fn more_keys_than_there_are() {
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
    let keys = keys(300);
    let mut builder = FilterBuilder::new(BloomFilterPolicy::new(10));
    builder.extend(Boasting(keys.iter()));
    let wanted = BloomFilterPolicy::new(10).create_filter(&keys);
    assert_eq!(builder.finish(), wanted);
}

#[test]
fn errors_say_what_is_wrong() {
    let keys = vec![[0u8; 0]; isize::MAX as usize];
    let too_large: FilterTooLarge = BloomFilterPolicy::new(10).create_filter(&keys).unwrap_err();
    assert_eq!(too_large.to_string(), "the bloom filter would not fit in memory");
    let wrong = BloomFilterPolicy::new(10).fill_filter(&["key"], &mut [0; 8]).unwrap_err();
    assert!(wrong.to_string().contains("not as long as filter_len says"));
    let invalid: InvalidOffsets = FlatKeys::with_offsets32(b"ab", &[2, 0]).unwrap_err();
    assert!(invalid.to_string().contains("at these offsets"));
    let mismatch: FilterMismatch = union(&mut [0; 9], &[0; 10]).unwrap_err();
    assert!(mismatch.to_string().contains("of the same length and number of probes"));
}
