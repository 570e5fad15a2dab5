//! Filters of any keys and bits per key, in both encodings.

#![no_main]

use compare::{policies, ribbon_policies};
use leveldb_bloom_fuzz::Input;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let bits = input.bits_per_key();
    let keys = input.keys();
    let prefix = input.rest();

    let expected = compare::create(bits, &keys);
    assert!(compare::query(&keys, &expected).iter().all(|answer| *answer), "a key is lost");
    let ribbon = compare::create_ribbon(bits, &keys);
    let both = policies(bits).map(|policy| (policy, &expected));
    for (policy, expected) in both.chain(ribbon_policies(bits).map(|policy| (policy, &ribbon))) {
        let mut appended = prefix.to_vec();
        policy.append_filter(&keys, &mut appended).expect("a small filter");
        assert_eq!(appended, [prefix, expected].concat(), "{policy:?}");
        // Keys that a kernel cannot read where they are.
        let owned: Vec<Vec<u8>> = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        assert_eq!(policy.create_filter(&owned).as_ref(), Ok(expected), "{policy:?}");
    }
});
