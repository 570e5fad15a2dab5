//! Keys and filters of an attacker. The hash has a constant seed and can be inverted, so that keys of
//! any hash are easily made: what that can do to a filter, and what it cannot. See SECURITY.md.

use leveldb_bloom::{FilterPolicy, Kernel, Positions, bloom_hash};

/// What SECURITY.md promises.
const MAX_PROBES: u32 = 30;

/// The inverse, modulo 2^32, of the multiplier in the hash.
const M_INVERSE: u32 = {
    let m = 0xc6a4_a793u32;
    // Newton: each step doubles the number of right bits, of which there are three at first.
    let mut inverse = m;
    let mut steps = 0;
    while steps < 4 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(m.wrapping_mul(inverse)));
        steps += 1;
    }
    inverse
};

/// The key that begins with `prefix`, has four bytes more, and has this hash.
fn forge(prefix: &[u8], hash: u32) -> Vec<u8> {
    assert_eq!(prefix.len() % 4, 0);
    // The last step is h = (state + word) * M; h ^= h >> 16. With four zero bytes it tells the
    // state; with the word that leads to `hash` it is the key.
    let undo_last_step = |h: u32| (h ^ (h >> 16)).wrapping_mul(M_INVERSE);
    let zeros = [prefix, &[0; 4]].concat();
    let state = undo_last_step(bloom_hash(&zeros));
    let word = undo_last_step(hash).wrapping_sub(state);
    [prefix, &word.to_le_bytes()].concat()
}

fn policies(bits_per_key: i32) -> impl Iterator<Item = FilterPolicy> {
    Kernel::available().map(move |kernel| FilterPolicy::with_kernel(bits_per_key, kernel))
}

fn bits_set(filter: &[u8]) -> u32 {
    filter.split_last().map_or(0, |(_, bits)| bits.iter().map(|byte| byte.count_ones()).sum())
}

/// 8-byte keys that all have the hash of `victim`.
fn forged(victim: &[u8], count: u32) -> Vec<Vec<u8>> {
    (0..count).map(|i| forge(&i.to_be_bytes(), bloom_hash(victim))).collect()
}

#[test]
fn any_hash_can_be_forged() {
    for length in [0, 4, 8, 100] {
        for hash in [0, 1, 0xbc9f_1d34, u32::MAX, bloom_hash(b"victim")] {
            let key = forge(&vec![b'x'; length], hash);
            assert_eq!((bloom_hash(&key), key.len()), (hash, length + 4));
        }
    }
}

#[test]
fn forged_keys_are_all_found_in_a_filter_that_holds_one() {
    let keys = forged(b"victim", 20_000);
    for policy in policies(20) {
        let honest: Vec<[u8; 4]> = (0..1000u32).map(u32::to_le_bytes).collect();
        let mut with_victim: Vec<&[u8]> = honest.iter().map(|key| &key[..]).collect();
        let without = policy.create_filter(&with_victim).unwrap();
        with_victim.push(b"victim");
        let with = policy.create_filter(&with_victim).unwrap();

        let mut results = vec![false; keys.len()];
        let found = policy.keys_may_match(&keys, &with, &mut results);
        assert_eq!(found, keys.len(), "{policy:?}: every one is a false positive");
        assert!(keys.iter().all(|key| policy.key_may_match(key, &with)));
        let found = policy.keys_may_match(&keys, &without, &mut results);
        assert_eq!(found, 0, "{policy:?}: or none");
    }
}

#[test]
fn forged_keys_take_no_key_from_others() {
    let keys = forged(b"victim", 20_000);
    for policy in policies(10) {
        // As many keys as one likes set the bits of one, in a filter large enough for all.
        let filter = policy.create_filter(&keys).unwrap();
        assert_eq!(Some(filter.len()), policy.filter_len(keys.len()));
        assert!(bits_set(&filter) <= policy.probes(), "{policy:?}");

        let mut mixed = keys.clone();
        mixed.extend((0..1000u32).map(|i| i.to_le_bytes().to_vec()));
        let filter = policy.create_filter(&mixed).unwrap();
        assert!(mixed.iter().all(|key| policy.key_may_match(key, &filter)), "{policy:?}");
    }
}

/// Keys chosen so that no two set the same bit fill a filter more than chance would.
#[test]
fn chosen_keys_fill_a_filter_within_a_bound() {
    let policy = FilterPolicy::new(10);
    let (count, k) = (1000, policy.probes());
    let bits = count as u64 * 10;
    let mut taken = vec![false; bits as usize];
    let mut keys = Vec::new();
    for hash in (0u32..).map(|i| i.wrapping_mul(0x9e37_79b9)) {
        let positions: Vec<usize> = Positions::new(hash, k, bits).map(|p| p as usize).collect();
        let mut fresh = positions.clone();
        fresh.sort_unstable();
        fresh.dedup();
        if fresh.len() == k as usize && fresh.iter().all(|position| !taken[*position]) {
            fresh.iter().for_each(|position| taken[*position] = true);
            keys.push(forge(b"any ", hash));
        }
        if keys.len() == count {
            break;
        }
    }
    let worst = policy.create_filter(&keys).unwrap();
    assert_eq!(bits_set(&worst), count as u32 * k, "60 % of the bits, and no more is possible");
    let usual: Vec<[u8; 4]> = (0..count as u32).map(u32::to_le_bytes).collect();
    let usual = policy.create_filter(&usual).unwrap();

    let strangers: Vec<[u8; 8]> = (1u64 << 40..).take(100_000).map(u64::to_le_bytes).collect();
    let mut results = vec![false; strangers.len()];
    let mut rate = |filter| policy.keys_may_match(&strangers, filter, &mut results) as f64 / 1e5;
    // 0.6^6 = 4.7 %, where 0.9 % is usual.
    let (worst, usual) = (rate(&worst), rate(&usual));
    assert!((0.035..0.06).contains(&worst), "{worst}");
    assert!((0.005..0.015).contains(&usual), "{usual}");
}

/// The answer depends on the bits of 30 probes at most, whatever the key and the filter.
#[test]
fn a_query_reads_thirty_bits_at_most() {
    let bytes = 100_000;
    for policy in policies(10) {
        for key in [&b"key"[..], b"", &[0xff; 1000], &forge(b"", 0), &forge(b"", u32::MAX)] {
            let positions = Positions::new(bloom_hash(key), MAX_PROBES, bytes as u64 * 8);
            let mut filter = vec![0; bytes + 1];
            for position in positions.clone() {
                filter[position as usize / 8] |= 1 << (position % 8);
            }
            filter[bytes] = MAX_PROBES as u8;
            assert!(policy.key_may_match(key, &filter), "{policy:?}: 30 bits are enough");
            for position in positions {
                let mut one_less = filter.clone();
                one_less[position as usize / 8] &= !(1 << (position % 8));
                assert!(!policy.key_may_match(key, &one_less), "{policy:?}: each of them counts");
            }
            // A filter with more probes matches every key.
            let mut empty = vec![0; bytes + 1];
            for probes in MAX_PROBES as u8 + 1..=u8::MAX {
                empty[bytes] = probes;
                assert!(policy.key_may_match(key, &empty), "{policy:?}: {probes} probes");
            }
        }
    }
}

/// A key sets 30 bits at most, whatever it is and however many bits there are for it.
#[test]
fn a_key_sets_thirty_bits_at_most() {
    for bits_per_key in [43, 44, 1000, 1_000_000] {
        for policy in policies(bits_per_key) {
            for key in [&b"key"[..], &forge(b"", 0), &forge(b"1234", u32::MAX)] {
                let filter = policy.create_filter(&[key]).unwrap();
                assert!(bits_set(&filter) <= MAX_PROBES, "{policy:?}");
            }
        }
    }
}
