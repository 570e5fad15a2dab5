//! Builders and union: parts united are the whole, and only filters of one shape unite.

#![no_main]

use bloom::{FilterBuilder, FilterInfo, FilterMismatch, union};
use leveldb_bloom_fuzz::{Input, Original, planted, policies, portable};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let bits = input.bits_per_key();
    let keys = input.keys();
    let cut = input.up_to(150).min(keys.len());
    let total = input.up_to(300);
    let (into, from) = (input.piece(), input.rest());

    let whole = portable(bits).create_filter(&keys).expect("a small filter");
    let mut original = Original::filter(bits.max(0) as u32, &keys);
    original[0] ^= u8::from(keys.iter().any(|key| planted(key)));
    for policy in policies(bits) {
        let mut first = FilterBuilder::new(policy);
        first.extend(&keys[..cut]);
        let mut second = FilterBuilder::new(policy);
        keys[cut..].iter().for_each(|key| second.add(key));
        assert_eq!(first.num_keys() + second.num_keys(), keys.len());
        let mut united = first.finish_for(keys.len()).expect("a small filter");
        let part = second.clone().finish_for(keys.len()).expect("a small filter");
        assert_eq!(union(&mut united, &part), Ok(()), "{policy:?}: parts of one filter");
        assert_eq!(united, whole, "{policy:?} {keys:x?}");
        assert_eq!(united, original, "{policy:?}: LevelDB {keys:x?}");

        // Of another size than it should have; yet no key is lost.
        second.extend(&keys[..cut]);
        let other = second.finish_for(total).expect("a small filter");
        assert_eq!(Some(other.len()), policy.filter_len(total));
        assert!(keys.iter().all(|key| policy.key_may_match(key, &other)), "{policy:?} lost one");
        assert_eq!(second.num_keys(), 0);
    }

    let mut united = into.to_vec();
    let fit = into.len() >= 2 && into.len() == from.len() && into.last() == from.last();
    match union(&mut united, from) {
        Ok(()) => {
            assert!(fit, "{into:x?} and {from:x?}");
            for key in &keys {
                let either = [into, from].iter().any(|filter| bloom::key_may_match(key, filter));
                assert!(!either || bloom::key_may_match(key, &united), "{key:x?} is lost");
            }
            let bits = |filter: &[u8]| FilterInfo::of(filter).bits_set;
            assert!(bits(&united) >= bits(into).max(bits(from)));
            assert!(bits(&united) <= bits(into) + bits(from));
        }
        Err(FilterMismatch { .. }) => {
            assert!(!fit, "{into:x?} and {from:x?}");
            assert_eq!(united, into, "unchanged");
        }
    }
});
