//! The frozen format: values that the real LevelDB gave. ctest/harness/golden_generator.cc prints
//! them from a stock libleveldb.

use leveldb_bloom::{
    FilterInfo, FilterPolicy, FilterTooLarge, POLICY_NAME, Positions, bloom_hash, key_may_match,
};

/// One policy for each kernel of this machine.
fn policies(bits_per_key: i32) -> impl Iterator<Item = FilterPolicy> {
    leveldb_bloom::Kernel::available()
        .map(move |kernel| FilterPolicy::with_kernel(bits_per_key, kernel))
}

fn check(bits_per_key: i32, keys: &[&[u8]], expected: &[u8]) {
    for policy in policies(bits_per_key) {
        let filter = policy.create_filter(keys).unwrap();
        assert_eq!(filter, expected, "{policy:?} {keys:x?}");
        for key in keys {
            assert!(policy.key_may_match(key, &filter), "{policy:?} {key:x?}");
        }
    }
}

#[test]
fn golden_filters() {
    check(10, &[], &[0, 0, 0, 0, 0, 0, 0, 0, 6]);
    check(10, &[b"hello", b"world"], &[0x11, 0x40, 0x00, 0x41, 0x44, 0x10, 0x40, 0x10, 0x06]);
    check(10, &[b""], &[0x08, 0x00, 0x04, 0x00, 0x02, 0x00, 0x11, 0x80, 0x06]);
    check(10, &[b"\xc3\x97"], &[0x80, 0x00, 0x18, 0x00, 0x01, 0x20, 0x00, 0x04, 0x06]);
    for bits_per_key in [i32::MIN, -1, 0, 1] {
        check(bits_per_key, &[b"a"], &[0, 0, 0, 0, 0, 0, 1, 0, 1]);
    }
    check(44, &[b"a"], &[0x78, 0xf0, 0xe0, 0xc1, 0x83, 0x0f, 0x1f, 0x3c, 0x1e]);
    let expected = [0x0b, 0, 0, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0xf8, 0x1e];
    check(100, &[b"a"], &expected);
}

#[test]
fn the_name() {
    assert_eq!(POLICY_NAME, "leveldb.BuiltinBloomFilter2");
}

#[test]
fn answers_for_malformed_filters() {
    let cases: [(&[u8], bool); 9] = [
        (&[], false),
        (&[0], false),
        (&[6], false),
        (&[255], false),
        (&[0x00, 6], false),
        (&[0xff, 6], true),
        (&[0x00, 0], true),
        (&[0x00, 30], false),
        (&[0x00, 31], true),
    ];
    for policy in policies(10) {
        for (filter, expected) in cases {
            for key in [&b""[..], b"a", b"hello"] {
                assert_eq!(policy.key_may_match(key, filter), expected, "{policy:?} {filter:x?}");
                assert_eq!(key_may_match(key, filter), expected, "{filter:x?}");
            }
        }
        for k in 31..=255 {
            assert!(policy.key_may_match(b"a", &[0, k]), "{policy:?} k {k}");
        }
    }
}

#[test]
fn appending_keeps_what_is_there() {
    for policy in policies(10) {
        let mut filters = b"before".to_vec();
        policy.append_filter(&["hello", "world"], &mut filters).unwrap();
        policy.append_filter(&[""], &mut filters).unwrap();
        let expected =
            b"before\x11\x40\x00\x41\x44\x10\x40\x10\x06\x08\x00\x04\x00\x02\x00\x11\x80\x06";
        assert_eq!(filters, expected, "{policy:?}");
    }
}

#[test]
fn a_filter_that_does_not_fit_changes_nothing() {
    // Keys of no bytes: so many as memory could never hold.
    let keys = vec![[0u8; 0]; isize::MAX as usize];
    for policy in policies(i32::MAX) {
        let mut destination = b"before".to_vec();
        let refused: Result<(), FilterTooLarge> = policy.append_filter(&keys, &mut destination);
        assert!(refused.is_err());
        assert_eq!(destination, b"before");
    }
}

/// The number of probes is the filter's, whatever the policy that queries it.
#[test]
fn any_policy_reads_filters_of_other_bits_per_key() {
    for made in [1, 5, 10, 20, 100] {
        let keys: Vec<_> = (0..100u32).map(u32::to_le_bytes).collect();
        let filter = FilterPolicy::new(made).create_filter(&keys).unwrap();
        for policy in [1, 10, 44].into_iter().flat_map(policies) {
            assert!(keys.iter().all(|key| policy.key_may_match(key, &filter)));
        }
    }
}

/// The sum wraps at 32 bits before the division, so it matters for filters of any size, and more
/// than 2^32 bits are never reached.
#[test]
fn positions_wrap_at_32_bits() {
    let positions: Vec<_> = Positions::new(0xffff_ffff, 3, 1 << 40).collect();
    assert_eq!(positions, [0xffff_ffff, 0xffff_fffe, 0xffff_fffd]);
    let positions: Vec<_> = Positions::new(0x8000_0000, 3, 1000).collect();
    // delta = rotate_right(0x80000000, 17) = 0x4000
    assert_eq!(positions, [0x8000_0000 % 1000, 0x8000_4000 % 1000, 0x8000_8000 % 1000]);
    assert_eq!(Positions::new(1, 30, 0).count(), 0);
    let mut positions = Positions::new(1, 30, 64);
    assert_eq!((positions.len(), positions.size_hint()), (30, (30, Some(30))));
    assert!(positions.next().is_some());
    assert_eq!(positions.len(), 29);
}

/// 2^32 bits, where a `size_t` of 32 bits makes LevelDB divide by zero. Memory that is hardly
/// touched.
#[test]
#[cfg_attr(any(miri, target_family = "wasm"), ignore = "too much memory for an interpreter")]
fn filters_of_two_to_the_32_bits_and_one_byte_around() {
    let mut memory = vec![0; (1 << 29) + 2];
    for len in [1 << 29, (1 << 29) + 1, (1 << 29) + 2] {
        let filter = &mut memory[..len];
        filter[len - 1] = 6;
        for position in Positions::new(bloom_hash(b"hello"), 6, (len as u64 - 1) * 8) {
            filter[(position / 8) as usize] |= 1 << (position % 8);
        }
        // Once, because all of it is read. Two of the bits are the shorter filter's number of
        // probes.
        if len == (1 << 29) + 1 {
            let info = FilterInfo::of(filter);
            assert_eq!((info.bits, info.bits_set, info.probes), (1 << 32, 6 + 2, 6));
        }
        for policy in policies(10) {
            let mut answers = [false; 3];
            assert_eq!(policy.keys_may_match(&["hello", "world", ""], filter, &mut answers), 1);
            assert_eq!(answers, [true, false, false], "{policy:?} {len}");
            assert!(policy.key_may_match(b"hello", filter), "{policy:?} {len}");
            assert!(!policy.key_may_match(b"world", filter), "{policy:?} {len}");
        }
    }
}

/// Bits are counted in a `usize`, as in LevelDB, which lets them wrap.
#[test]
fn sizes_at_the_end_of_the_word() {
    let most = usize::MAX - 7;
    for policy in policies(1) {
        assert_eq!(policy.filter_len(most), Some(most / 8 + 1));
        assert_eq!(policy.filter_len(most + 1), None);
    }
    for policy in policies(10) {
        assert_eq!(policy.filter_len(most / 10), Some((most / 10 * 10).div_ceil(8) + 1));
        assert_eq!(policy.filter_len(usize::MAX / 10 + 1), None);
        assert_eq!(policy.filter_len(usize::MAX), None);
    }
    for policy in policies(i32::MAX) {
        assert_eq!(policy.filter_len(1), Some((1 << 28) + 1));
        #[cfg(target_pointer_width = "32")]
        assert_eq!(policy.filter_len(2), None);
        #[cfg(target_pointer_width = "64")]
        assert_eq!(policy.filter_len(3), Some(805_306_369));
    }
}

/// LevelDB's own bound (util/bloom_test.cc): at most 2 % at 10 bits per key, and no filter much
/// longer than it has to be.
#[test]
fn false_positive_rate() {
    for policy in policies(10) {
        for len in [1, 10, 100, 1000, 10_000u32] {
            let keys: Vec<_> = (0..len).map(u32::to_le_bytes).collect();
            let filter = policy.create_filter(&keys).unwrap();
            assert!(filter.len() <= len as usize * 10 / 8 + 40);
            assert!(keys.iter().all(|key| policy.key_may_match(key, &filter)));
            let absent = (0..10_000u32).map(|i| (i + 1_000_000_000).to_le_bytes());
            let wrong = absent.filter(|key| policy.key_may_match(key, &filter)).count();
            assert!(wrong <= 200, "{policy:?}: {wrong} of 10000 for {len} keys");
        }
    }
}
