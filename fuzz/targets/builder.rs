//! Builders and union: parts united are the whole, and only filters of one shape unite.

#![no_main]

use bloom::{FilterBuilder, FilterInfo, FilterMismatch, union};
use compare::policies;
use leveldb_bloom_fuzz::Input;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let bits = input.bits_per_key();
    let keys = input.keys();
    let cut = input.up_to(150).min(keys.len());
    let total = input.up_to(300);
    let (into, from) = (input.piece(), input.rest());

    let whole = compare::create(bits, &keys);
    for policy in policies(bits) {
        let mut first = FilterBuilder::new(policy);
        first.extend(&keys[..cut]);
        let mut second = FilterBuilder::new(policy);
        keys[cut..].iter().for_each(|key| second.add(key.as_bytes()));
        assert_eq!(first.num_keys() + second.num_keys(), keys.len());
        let mut united = first.finish_for(keys.len()).expect("a small filter");
        let part = second.clone().finish_for(keys.len()).expect("a small filter");
        assert_eq!(union(&mut united, &part), Ok(()), "{policy:?}: parts of one filter");
        assert_eq!(united, whole, "{policy:?}");

        // In a filter of the wrong size, no key is lost.
        second.extend(&keys[..cut]);
        let other = second.finish_for(total).expect("a small filter");
        assert_eq!(Some(other.len()), policy.filter_len(total));
        assert!(compare::query(&keys, &other).iter().all(|answer| *answer), "{policy:?}");
        assert_eq!(second.num_keys(), 0);
    }

    // A ribbon of the wrong size, too.
    for policy in compare::ribbon_policies(bits) {
        let mut builder = FilterBuilder::new(policy);
        builder.extend(&keys);
        let filter = builder.finish_for(total).expect("a small filter");
        assert_eq!(Some(filter.len()), policy.filter_len(total));
        assert!(compare::query_ribbon(&keys, &filter).iter().all(|answer| *answer), "{policy:?}");
    }

    let mut united = into.to_vec();
    let same = into.len() >= 2 && into.len() == from.len() && into.last() == from.last();
    let fit = same && !(32..240).contains(&into[into.len() - 1]);
    match union(&mut united, from) {
        Ok(()) => {
            assert!(fit, "{into:x?} and {from:x?}");
            let [a, b, both] = [into, from, &united].map(|filter| compare::query(&keys, filter));
            assert!((0..keys.len()).all(|i| both[i] || !a[i] && !b[i]), "a key is lost");
            let [a, b, both] = [into, from, &united].map(|filter| FilterInfo::of(filter).bits_set);
            assert!(a.max(b) <= both && both <= a + b);
        }
        Err(FilterMismatch { .. }) => {
            assert!(!fit, "{into:x?} and {from:x?}");
            assert_eq!(united, into, "unchanged");
        }
    }
});
