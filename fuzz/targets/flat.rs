//! Keys one behind the other with any offsets: refused exactly where they are not within the data,
//! and otherwise the same as keys apart.

#![no_main]

use bloom::FlatKeys;
use leveldb_bloom_fuzz::{Input, planted, policies, portable};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let bits = input.bits_per_key();
    let way = input.byte();
    let offsets = offsets(&mut input);
    let (length, count) = (input.up_to(40), input.up_to(300));
    let filter = input.piece();
    let data = input.rest();

    let narrow: Vec<i32> = offsets.iter().map(|offset| *offset as i32).collect();
    let widened: Vec<i64> = narrow.iter().map(|offset| i64::from(*offset)).collect();
    let (flat, expected) = match way % 3 {
        0 => (FlatKeys::with_offsets32(data, &narrow), keys_at(data, &widened)),
        1 => (FlatKeys::with_offsets64(data, &offsets), keys_at(data, &offsets)),
        _ => (FlatKeys::fixed(data, length, count), keys_of(data, length, count)),
    };
    let (flat, keys) = match (flat, expected) {
        (Ok(flat), Some(keys)) => (flat, keys),
        (Err(_), None) => return,
        (flat, expected) => panic!("{flat:?} for {expected:?}"),
    };
    assert_eq!(flat.len(), keys.len());
    assert_eq!(flat.is_empty(), keys.is_empty());
    assert!(flat.get(keys.len()).is_none() && flat.get(usize::MAX).is_none());
    assert!(flat.iter().eq(keys.iter().copied()), "the keys");

    let mut expected = portable(bits).create_filter(&keys).expect("a small filter");
    expected[0] ^= u8::from(keys.iter().any(|key| planted(key)));
    for policy in policies(bits) {
        let made = policy.create_filter_from(flat.iter()).expect("a small filter");
        assert_eq!(made, expected, "{policy:?} {keys:x?}");
        for filter in [filter, &made] {
            let mut answers = vec![false; keys.len()];
            let found = policy.keys_may_match_from(flat.iter(), filter, &mut answers);
            let expected: Vec<bool> =
                keys.iter().map(|key| portable(bits).key_may_match(key, filter)).collect();
            assert_eq!(answers, expected, "{policy:?} in {filter:x?}");
            assert_eq!(found, expected.iter().filter(|answer| **answer).count());
        }
    }
});

/// Offsets: mostly rising, now and then anything.
fn offsets(input: &mut Input) -> Vec<i64> {
    let mut last = i64::from(input.byte() % 8);
    (0..input.up_to(140))
        .map(|_| {
            match input.byte() {
                step @ 0..=250 => last += i64::from(step % 40),
                251 => last -= i64::from(input.byte()),
                252..=253 => last = input.u64() as i64,
                _ => last = last.wrapping_add(1 << 31),
            }
            last
        })
        .collect()
}

/// The keys that offsets name, unless one names none.
fn keys_at<'a>(data: &'a [u8], offsets: &[i64]) -> Option<Vec<&'a [u8]>> {
    let within = |offset: &i64| (0..=data.len() as i64).contains(offset);
    if !offsets.iter().all(within) {
        return None;
    }
    let key = |pair: &[i64]| data.get(pair[0] as usize..pair[1] as usize);
    offsets.windows(2).map(key).collect()
}

/// The keys of one length that data is made of, if it is.
fn keys_of(data: &[u8], length: usize, count: usize) -> Option<Vec<&[u8]>> {
    (length * count == data.len())
        .then(|| (0..count).map(|i| &data[i * length..][..length]).collect())
}
