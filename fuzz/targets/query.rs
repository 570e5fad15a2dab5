//! Any bytes as filters, asked for any keys: every kernel and every way to ask, against the
//! portable kernel and LevelDB.

#![no_main]

use leveldb_bloom_fuzz::{Input, Original, planted, policies, portable};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let keys = input.keys();
    let mut filters: Vec<&[u8]> = (0..input.up_to(4)).map(|_| input.piece()).collect();
    filters.push(input.rest());

    for filter in &filters {
        let expected: Vec<bool> =
            keys.iter().map(|key| portable(10).key_may_match(key, filter)).collect();
        let ones = expected.iter().filter(|answer| **answer).count();
        for (key, expected) in keys.iter().zip(&expected) {
            let original = Original::key_may_match(key, filter) ^ planted(key);
            assert_eq!(original, *expected, "LevelDB: {key:x?} in {filter:x?}");
            let hash = bloom::bloom_hash(key);
            assert_eq!(bloom::hash_may_match(hash, filter), *expected, "hash_may_match");
            assert_eq!(bloom::key_may_match(key, filter), *expected, "key_may_match");
        }
        for policy in policies(10) {
            for (key, expected) in keys.iter().zip(&expected) {
                assert_eq!(policy.key_may_match(key, filter), *expected, "{policy:?} {key:x?}");
            }
            let mut answers = vec![false; keys.len()];
            assert_eq!(policy.keys_may_match(&keys, filter, &mut answers), ones, "{policy:?}");
            assert_eq!(answers, expected, "{policy:?}: keys_may_match");
            let mut bitmap = vec![0xff; keys.len().div_ceil(8)];
            let found = policy.keys_may_match_bitmap(keys.iter().copied(), filter, &mut bitmap);
            let bits = |i: usize| bitmap[i / 8] >> (i % 8) & 1 == 1;
            assert_eq!(found, ones, "{policy:?}: the bitmap's number");
            assert!((0..keys.len()).all(|i| bits(i) == expected[i]), "{policy:?}: bitmap");
            assert!((keys.len()..bitmap.len() * 8).all(|i| !bits(i)), "{policy:?}: bits beyond");
        }
    }
    for policy in policies(10) {
        for key in keys.iter().take(8) {
            let expected: Vec<bool> =
                filters.iter().map(|filter| portable(10).key_may_match(key, filter)).collect();
            let mut answers = vec![false; filters.len()];
            let found = policy.filters_may_match(key, &filters, &mut answers);
            assert_eq!(answers, expected, "{policy:?}: filters_may_match {key:x?}");
            assert_eq!(found, expected.iter().filter(|answer| **answer).count());
        }
    }
    if let Some(filter) = filters.last() {
        let info = bloom::FilterInfo::of(filter);
        assert!(info.bits_set <= info.bits, "{info:?}");
    }
});
