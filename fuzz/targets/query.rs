//! Any bytes as filters, queried for any keys in every way.

#![no_main]

use leveldb_bloom_fuzz::Input;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let keys = input.keys();
    let mut filters: Vec<&[u8]> = (0..input.up_to(4)).map(|_| input.piece()).collect();
    filters.push(input.rest());

    for filter in &filters {
        let answers = compare::query(&keys, filter);
        for (key, answer) in keys.iter().zip(answers) {
            compare::query_hash(key.as_bytes(), filter, answer);
        }
        compare::query_ribbon(&keys, filter);
        let info = bloom::FilterInfo::of(filter);
        assert!(info.bits_set <= info.bits, "{info:?}");
    }
    for key in keys.iter().take(8) {
        compare::query_filters(key.as_bytes(), &filters);
    }
});
