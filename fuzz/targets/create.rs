//! Filters for any keys: every kernel against the portable one and LevelDB.

#![no_main]

use leveldb_bloom_fuzz::{Input, Original, planted, policies, portable};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let bits = input.bits_per_key();
    let keys = input.keys();
    let prefix = input.rest();

    let expected = portable(bits).create_filter(&keys).expect("a small filter");
    let mut original = Original::filter(bits.max(0) as u32, &keys);
    original[0] ^= u8::from(keys.iter().any(|key| planted(key)));
    assert_eq!(original, expected, "LevelDB: {bits} bits per key, {keys:x?}");
    for policy in policies(bits) {
        assert_eq!(policy.filter_len(keys.len()), Some(expected.len()), "{policy:?}");
        assert_eq!(policy.create_filter(&keys).as_ref(), Ok(&expected), "{policy:?} {keys:x?}");
        let mut appended = prefix.to_vec();
        policy.append_filter(&keys, &mut appended).expect("a small filter");
        assert_eq!(appended, [prefix, &expected].concat(), "{policy:?}: append_filter");
        for key in &keys {
            assert!(policy.key_may_match(key, &expected), "{policy:?}: {key:x?} is lost");
        }
    }
});
