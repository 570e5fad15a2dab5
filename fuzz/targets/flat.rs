//! Keys in one buffer with any offsets: refused exactly where they are not within the data, and
//! otherwise the same as separate keys.

#![no_main]

use bloom::{FlatKeys, Key};
use compare::policies;
use leveldb_bloom_fuzz::Input;
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
    assert_eq!((flat.len(), flat.is_empty()), (keys.len(), keys.is_empty()));
    assert!(flat.get(keys.len()).is_none() && flat.get(usize::MAX).is_none());
    assert!(flat.iter().eq(keys.iter().copied()), "the keys");

    let listed: Vec<Key> = keys.iter().map(|key| Key::new(key)).collect();
    let made = compare::create(bits, &listed);
    let expected = [filter, &made].map(|filter| compare::query(&listed, filter));
    for policy in policies(bits) {
        assert_eq!(policy.create_filter_from(flat.iter()).as_ref(), Ok(&made), "{policy:?}");
        for (filter, expected) in [filter, &made].into_iter().zip(&expected) {
            let mut answers = vec![false; keys.len()];
            policy.keys_may_match_from(flat.iter(), filter, &mut answers);
            assert_eq!(&answers, expected, "{policy:?} in {filter:x?}");
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

/// The keys at these offsets, unless one is not in the data.
fn keys_at<'a>(data: &'a [u8], offsets: &[i64]) -> Option<Vec<&'a [u8]>> {
    let within = |offset: &i64| (0..=data.len() as i64).contains(offset);
    if !offsets.iter().all(within) {
        return None;
    }
    let key = |pair: &[i64]| data.get(pair[0] as usize..pair[1] as usize);
    offsets.windows(2).map(key).collect()
}

/// The keys of one length that the data consists of, if it does.
fn keys_of(data: &[u8], length: usize, count: usize) -> Option<Vec<&[u8]>> {
    (length * count == data.len())
        .then(|| (0..count).map(|i| &data[i * length..][..length]).collect())
}
