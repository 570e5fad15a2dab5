//! One suite for every kernel, against `hash`, `probe` and `filter`. A kernel that this machine lacks
//! is reported by name.

#![allow(clippy::undocumented_unsafe_blocks, unused_unsafe)] // Tests, not the crate.

use std::vec::Vec;
use std::{assert, assert_eq, format, vec};

use super::{FEW, KERNELS, Kernel, Key, as_keys, hash_may_match};
use crate::filter::Filter;
use crate::hash::{BLOOM_SEED, M, bloom_hash};
use crate::probe;

#[path = "../../tests/random/mod.rs"]
mod random;
use random::Random as Rng;

impl Rng {
    /// Keys of lengths up to `longest`, in `data`.
    fn keys<'d>(&mut self, data: &'d [u8], n: usize, longest: usize) -> Vec<&'d [u8]> {
        (0..n)
            .map(|_| &data[self.below(data.len() - longest)..][..self.below(longest + 1)])
            .collect()
    }
}

/// Miri is thousands of times slower: there, one of `n` cases.
fn one_of(n: usize) -> usize {
    if cfg!(miri) { n } else { 1 }
}

/// What the specification makes of these keys: the array, and the number of probes.
fn spec_filter(keys: &[&[u8]], k: u32, bytes: usize) -> Vec<u8> {
    let mut filter = vec![0; bytes + 1];
    let (last, array) = filter.split_last_mut().unwrap();
    keys.iter().for_each(|key| probe::insert(bloom_hash(key), k.min(30), array));
    *last = k as u8;
    filter
}

/// What the specification answers.
fn spec_may_match(key: &[u8], filter: &[u8]) -> bool {
    match Filter::parse(filter) {
        Filter::Never => false,
        Filter::Always => true,
        Filter::Probe { array, k } => probe::contains(bloom_hash(key), k, array),
    }
}

fn list<'a>(keys: &[&'a [u8]]) -> Vec<Key<'a>> {
    keys.iter().map(|key| Key::new(key)).collect()
}

fn check_hashes(kernel: &Kernel, keys: &[&[u8]]) -> Vec<u32> {
    let mut hashes = vec![0; keys.len()];
    kernel.hash_keys(&list(keys), &mut hashes);
    for (key, h) in keys.iter().zip(&hashes) {
        assert_eq!(*h, bloom_hash(key), "hash of {} bytes, {} keys", key.len(), keys.len());
        assert_eq!(*h, kernel.hash(Key::new(key)), "hash of {} bytes", key.len());
    }
    hashes
}

/// `hash_keys`, `create`, and `insert_hashes` on top of other bits.
fn check_create(kernel: &Kernel, keys: &[&[u8]], k: u32, bytes: usize) {
    let mut want = spec_filter(keys, k, bytes);
    let case = format!("{} keys, k = {k}, {bytes} bytes", keys.len());
    let mut got = vec![0x5a; bytes + 1];
    kernel.create_over(&list(keys), k, &mut got);
    assert!(got == want, "create, {case}");
    let hashes = check_hashes(kernel, keys);
    got.fill(0x81);
    kernel.insert_hashes(&hashes, k, &mut got[..bytes]);
    want.iter_mut().for_each(|byte| *byte |= 0x81);
    assert!(got[..bytes] == want[..bytes], "insert_hashes, {case}");
}

/// All queries of each key.
fn check_queries(kernel: &Kernel, keys: &[&[u8]], filter: &[u8]) {
    let want: Vec<bool> = keys.iter().map(|key| spec_may_match(key, filter)).collect();
    let case = (keys.len(), filter.len(), filter.last());
    // With other answers than those that are right.
    let mut got: Vec<bool> = want.iter().map(|yes| !yes).collect();
    let matches = kernel.keys_may_match(&list(keys), filter, &mut got);
    assert!(got == want, "batch of {case:?}");
    assert_eq!(matches, want.iter().filter(|yes| **yes).count(), "batch of {case:?}");
    for (key, want) in keys.iter().zip(want) {
        assert_eq!(kernel.may_match(Key::new(key), filter), want, "one of {case:?}");
        assert_eq!(hash_may_match(bloom_hash(key), filter), want, "the hash of one of {case:?}");
        let mut got = [!want; 2];
        let matches = kernel.filters_may_match(Key::new(key), &[Key::new(filter); 2], &mut got);
        assert_eq!((matches, got), (2 * usize::from(want), [want; 2]), "filters {case:?}");
    }
}

fn golden(kernel: &Kernel) {
    let hashes: [(&[u8], u32); 5] = [
        (b"", 0xbc9f1d34),
        (b"\x62", 0xef1345c4),
        (b"\xc3\x97", 0x5b663814),
        (b"\xe2\x99\xa5", 0x323c078f),
        (b"\xe1\x80\xb9\x32", 0xed21633a),
    ];
    for (key, want) in hashes {
        assert_eq!(check_hashes(kernel, &[key; FEW])[..], [want; FEW]);
    }
    let filters: [(&[&[u8]], &[u8]); 6] = [
        (&[], &[0, 0, 0, 0, 0, 0, 0, 0, 6]),
        (&[b"hello", b"world"], &[0x11, 0x40, 0x00, 0x41, 0x44, 0x10, 0x40, 0x10, 6]),
        (&[b"\xc3\x97"], &[0x80, 0x00, 0x18, 0x00, 0x01, 0x20, 0x00, 0x04, 6]),
        (&[b"a"], &[0, 0, 0, 0, 0, 0, 1, 0, 1]),
        (&[b"a"], &[0x0b, 0, 0, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0xf8, 30]),
        (&[b"a" as &[u8]; 50], &[0x0b, 0, 0, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0xf8, 30]),
    ];
    for (keys, want) in filters {
        let mut got = vec![0xee; want.len()];
        kernel.create_over(&list(keys), want[want.len() - 1].into(), &mut got);
        assert_eq!(got, want);
    }
}

/// Every length, at every alignment to a cache line: of one length, of lengths about it, of any.
fn hash_every_length_and_alignment(kernel: &Kernel) {
    let mut rng = Rng(1);
    let data = rng.bytes(300 * 20 + 64);
    for len in (0..=300).step_by(one_of(151)) {
        for align in (0..64).step_by(one_of(151)) {
            let near = |i: usize| (len + i % 3).min(300);
            let equal: Vec<&[u8]> = (0..20).map(|i| &data[align + i * 300..][..len]).collect();
            let near: Vec<&[u8]> = (0..20).map(|i| &data[align + i..][..near(i)]).collect();
            let any = rng.keys(&data, 20, 90);
            for keys in [equal, near, any] {
                check_hashes(kernel, &keys);
                check_hashes(kernel, &keys[..1 + (len + align) % 20]);
            }
        }
    }
}

/// Among keys of one length one that is shorter or longer, at every place.
fn one_of_another_length(kernel: &Kernel) {
    let data = Rng(7).bytes(150 * 64);
    for n in [FEW, 9, 20, 33, 80, 150] {
        for at in (0..n).step_by(one_of(7)) {
            for (len, other) in [(16, 15), (16, 24), (20, 3), (9, 40), (40, 0)] {
                let len_of = |i| if i == at { other } else { len };
                let keys: Vec<&[u8]> = (0..n).map(|i| &data[i * 64..][..len_of(i)]).collect();
                check_create(kernel, &keys, 6, 40);
            }
        }
    }
}

fn every_number_of_keys(kernel: &Kernel) {
    let data = Rng(9).bytes(300 * 16);
    let keys: Vec<&[u8]> = data.chunks(16).collect();
    for n in (0..=keys.len()).step_by(one_of(37)) {
        // Sizes of LevelDB, and one that is built in place.
        for (k, bytes) in [(6, (n * 10).max(64).div_ceil(8)), (6, 600), (30, 70)] {
            check_create(kernel, &keys[..n], k, bytes);
        }
        check_queries(kernel, &keys[..n], &spec_filter(&keys[..n / 2], 2, n + 1));
    }
}

/// Every size up to 600 bytes, and sizes around which another way may be taken.
fn every_filter_size(kernel: &Kernel) {
    let mut rng = Rng(2);
    let data = rng.bytes(64_000);
    let around = [1 << 12, 1 << 16, 1 << 17, 1 << 18].map(|at| at - 2..at + 3);
    for bytes in
        (1..600).step_by(one_of(97)).chain(around.into_iter().flatten().step_by(one_of(20)))
    {
        for (n, longest) in [(rng.below(FEW), 16), (FEW + rng.below(33), 16), (100, 80)] {
            let keys = rng.keys(&data, n, longest);
            for k in [1 + rng.below(30) as u32, 6] {
                check_create(kernel, &keys, k, bytes);
                check_queries(kernel, &keys, &spec_filter(&keys[..n / 2], k, bytes));
            }
            // Few probes, so that absent keys are found, too.
            for k in 1..4 {
                check_queries(kernel, &keys, &spec_filter(&keys[..n / 4], k, bytes));
            }
        }
    }
}

fn every_number_of_probes(kernel: &Kernel) {
    let data = Rng(12).bytes(70 * 16);
    let keys: Vec<&[u8]> = data.chunks(16).collect();
    for k in (0..=40).step_by(one_of(13)) {
        for bytes in [8, 30, 61, 300, 2000] {
            check_create(kernel, &keys, k, bytes);
            check_create(kernel, &keys[..FEW + k as usize], k, bytes);
            check_queries(kernel, &keys, &spec_filter(&keys[..4], k, bytes));
        }
    }
}

/// The four bytes that have this hash.
fn key_of(hash: u32) -> [u8; 4] {
    // The steps of the hash backwards.
    let mut inverse = M;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(M.wrapping_mul(inverse)));
    }
    let start = BLOOM_SEED ^ 4u32.wrapping_mul(M);
    let key = (hash ^ (hash >> 16)).wrapping_mul(inverse).wrapping_sub(start).to_le_bytes();
    assert_eq!(bloom_hash(&key), hash);
    key
}

/// Hashes at both ends of multiples of the bits, where a remainder by multiplication would be wrong
/// first.
fn hashes_at_multiples(kernel: &Kernel) {
    // A power of two would be exact whatever is done.
    let large = (9..=20).flat_map(|log| [(1 << log) - 1, (1 << log) + 1, (5 << log) / 8]);
    for bytes in (8..=65).chain(large).step_by(one_of(17)) {
        let bits = 8 * bytes as u32;
        let most = u32::MAX / bits;
        for quotient in [1, most / 3, most / 2, most - 1, most] {
            for hash in [bits * quotient - 1, bits * quotient, bits * quotient + 1] {
                let key = key_of(hash);
                check_create(kernel, &[&key[..]; 9], 2, bytes);
                check_queries(kernel, &[&key[..]; 9], &spec_filter(&[&key], 2, bytes));
                check_queries(kernel, &[&key[..]; 9], &spec_filter(&[], 1, bytes));
            }
        }
    }
}

fn malformed_filters(kernel: &Kernel) {
    let keys: Vec<&[u8]> =
        vec![b"a", b"", b"hello", b"0123456789abcdef", b"x", b"y", b"z", b"qq", b"w"];
    check_queries(kernel, &keys, &[]);
    for k in (0..=255).step_by(one_of(50)) {
        check_queries(kernel, &keys, &[k]);
        for len in [1, 2, 7, 8, 9, 63, 64, 65, 100] {
            for fill in [0, 0xff, 0x5a] {
                let mut filter = vec![fill; len];
                filter.push(k);
                check_queries(kernel, &keys, &filter);
            }
        }
    }
}

/// Fewer results than keys, empty arrays, keys of no length anywhere.
fn odd_calls(kernel: &Kernel) {
    let null = unsafe { Key::from_raw_parts(std::ptr::null(), 0) };
    let keys: Vec<Key> = [null, Key::new(b"a"), null, Key::new(b"0123456789abcdefg")].repeat(9);
    let plain: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
    let mut filter = vec![1; 26];
    kernel.create_over(&keys, 6, &mut filter);
    assert_eq!(filter, spec_filter(&plain, 6, 25));
    kernel.create_over(&keys, 6, &mut []);
    kernel.create_over(&keys, 6, &mut filter[..1]);
    assert_eq!(filter[0], 6);
    for n in [0, 3, FEW, 20] {
        let (mut hashes, mut results) = (vec![1; n], vec![false; n]);
        kernel.hash_keys(&keys, &mut hashes);
        assert!(hashes.iter().zip(&plain).all(|(h, key)| *h == bloom_hash(key)));
        kernel.insert_hashes(&hashes, 6, &mut []);
        assert_eq!(kernel.keys_may_match(&keys, &[0xff, 6], &mut results), n);
        assert_eq!(results, vec![true; n]);
    }
    let mut results = [true; 3];
    let filters = [null, Key::new(&[0xff, 6]), Key::new(&[6])];
    assert_eq!(kernel.filters_may_match(null, &filters, &mut results), 1);
    assert_eq!(results, [false, true, false]);
}

/// Filters of all kinds in one call.
fn many_filters(kernel: &Kernel) {
    let mut rng = Rng(6);
    let data = rng.bytes(10_000);
    let mut filters = Vec::new();
    for i in 0..200 {
        let n = rng.below(60);
        let k = [6, 1, 13, 30, 0, 31, 255][i % 7];
        let mut filter = spec_filter(&rng.keys(&data, n, 16), k, rng.below(150));
        filter.truncate(if i % 3 == 0 { rng.below(filter.len() + 1) } else { filter.len() });
        filters.push(filter);
    }
    let filters: Vec<Key> = filters.iter().map(Key::of).collect();
    for key in rng.keys(&data, 200 / one_of(50), 16) {
        let want: Vec<_> = filters.iter().map(|f| spec_may_match(key, f.as_bytes())).collect();
        let mut got: Vec<bool> = want.iter().map(|yes| !yes).collect();
        let matches = kernel.filters_may_match(Key::new(key), &filters, &mut got);
        assert!(got == want);
        assert_eq!(matches, want.iter().filter(|yes| **yes).count());
    }
}

fn random(kernel: &Kernel) {
    let mut rng = Rng(8);
    let data = rng.bytes(100_000);
    for _ in 0..400 / one_of(200) {
        let (longest, n) = ([1, 17, 64, 400][rng.below(4)], [3, 30, 300, 3000][rng.below(4)]);
        let n = rng.below(n) / one_of(50);
        let keys = rng.keys(&data, n, longest);
        let (k, bytes) = (1 + rng.below(30) as u32, 1 + rng.below(1 + n * 4));
        check_create(kernel, &keys, k, bytes);
        check_queries(kernel, &keys[..n.min(100)], &spec_filter(&keys[..n / 2], k, bytes));
    }
}

/// Memory from the system: private pages, of which there is only as much as is written.
#[cfg(all(unix, not(miri)))]
struct Map {
    start: *mut u8,
    len: usize,
}

#[cfg(all(unix, not(miri)))]
impl Map {
    const PAGE: usize = 4096;

    fn new(len: usize) -> Map {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
        std::assert_ne!(start, libc::MAP_FAILED, "no {len} bytes of addresses");
        Map { start: start.cast(), len }
    }

    /// Random bytes in pages between two that nothing may touch.
    fn guarded(pages: usize) -> Map {
        let mut map = Map::new((pages + 2) * Self::PAGE);
        for at in [0, map.len - Self::PAGE] {
            let page = map.start.wrapping_add(at).cast();
            assert_eq!(unsafe { libc::mprotect(page, Self::PAGE, libc::PROT_NONE) }, 0);
        }
        let random = Rng(3).bytes(pages * Self::PAGE);
        map.ends::<u8>(random.len())[0].copy_from_slice(&random);
        map
    }

    #[cfg(target_pointer_width = "64")]
    fn all(&mut self) -> &mut [u8] {
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    /// `n` of T that begin, and that end, at a page nothing may touch. They may overlap.
    fn ends<'a, T>(&mut self, n: usize) -> [&'a mut [T]; 2] {
        let last = self.len - Self::PAGE - n * size_of::<T>();
        [Self::PAGE, last]
            .map(|at| unsafe { std::slice::from_raw_parts_mut(self.start.add(at).cast(), n) })
    }
}

#[cfg(all(unix, not(miri)))]
impl Drop for Map {
    fn drop(&mut self) {
        assert_eq!(unsafe { libc::munmap(self.start.cast(), self.len) }, 0);
    }
}

/// Keys, their list, hashes, filters and results that begin or end where readable memory does.
#[cfg(all(unix, not(miri)))]
fn ends_of_pages(kernel: &Kernel) {
    let [mut keys_in, mut list_in, mut filter_in, mut out] = [1, 1, 3, 1].map(Map::guarded);
    for len in 0..=100 {
        let more: &[usize] = if len % 8 < 2 { &[40, 63, 64, 65, 71, 72, 80, 130] } else { &[] };
        for n in (1..=20).chain(more.iter().copied()) {
            let len_of = |i| if n % 2 == 0 { len } else { (len + 7 * i) % 101 };
            let keys: Vec<&[u8]> = (0..n)
                .map(|i| &*keys_in.ends::<u8>(len_of(i))[usize::from((i + n) % 3 != 0)])
                .collect();
            let listed = &mut list_in.ends::<Key>(n)[1];
            for (place, key) in listed.iter_mut().zip(&keys) {
                unsafe { std::ptr::write(place, Key::new(key)) };
            }
            let hashes = &mut out.ends::<u32>(n)[1];
            kernel.hash_keys(listed, hashes);
            assert!(keys.iter().zip(&**hashes).all(|(key, h)| bloom_hash(key) == *h));
            let hashes = hashes.to_vec();
            for bytes in
                [1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 41, 63, 64, 65, 500 + len, 4097]
            {
                let want = spec_filter(&keys, 6, bytes);
                for filter in filter_in.ends::<u8>(bytes + 1) {
                    kernel.create_over(listed, 6, filter);
                    assert!(filter == want, "{n} keys, {bytes} bytes");
                }
                // Nothing is behind the array.
                for array in filter_in.ends::<u8>(bytes) {
                    array.fill(0);
                    kernel.insert_hashes(&hashes, 6, array);
                    assert!(array == &want[..bytes], "{n} keys, {bytes} bytes");
                }
                for filter in filter_in.ends::<u8>(bytes + 1) {
                    filter.copy_from_slice(&spec_filter(&keys[..n / 2], 2, bytes));
                    let want: Vec<_> = keys.iter().map(|key| spec_may_match(key, filter)).collect();
                    let results = &mut out.ends::<bool>(n)[1];
                    results.fill(false);
                    kernel.keys_may_match(listed, filter, results);
                    assert!(**results == want, "{n} keys, {bytes} bytes");
                    for (key, want) in listed.iter().zip(want) {
                        assert_eq!(kernel.may_match(*key, filter), want);
                        let mut one = [!want];
                        kernel.filters_may_match(*key, &[Key::new(filter)], &mut one);
                        assert_eq!(one, [want]);
                    }
                }
            }
        }
    }
}

/// Ribbon filters, and keys, that begin or end where readable memory does.
#[cfg(all(unix, not(miri)))]
fn ends_of_ribbons(kernel: &Kernel) {
    let [mut key_in, mut filter_in] = [1, 3].map(Map::guarded);
    // XXH3 has other ways for up to 3, 8, 16, 128, 240 bytes, and longer.
    for len in (0..=260).chain([511, 512, 513, 1024, 1025, 2048, 4096]) {
        for key in key_in.ends::<u8>(len) {
            let h = crate::ribbon::hash(key);
            for n in [1, 20, 65] {
                for bytes in [9, 17, 30, 85] {
                    for filter in filter_in.ends::<u8>(bytes) {
                        // Other keys behind the first.
                        let hashes: Vec<u64> = (0..n).map(|i| h.wrapping_add(i << 40)).collect();
                        if kernel.solve(&hashes, 10, filter) {
                            assert!(kernel.ribbon_may_match(key, filter), "{n} keys, {bytes}");
                        }
                        for last in [0x20, 0x5f, 0xb3, 0xe0, 0xef] {
                            *filter.last_mut().unwrap() = last;
                            kernel.ribbon_may_match(key, filter);
                        }
                    }
                }
            }
        }
    }
    for len in 1..=70 {
        for filter in filter_in.ends::<u8>(len) {
            for last in 0x20..0xf0 {
                *filter.last_mut().unwrap() = last;
                kernel.ribbon_may_match(b"key", filter);
            }
        }
    }
}

/// Arrays whose bits are prefetched, and those of 2^31 and 2^32 bits.
#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
fn huge_arrays(kernel: &Kernel) {
    let mut rng = Rng(5);
    let data = rng.bytes(8_000);
    let keys = rng.keys(&data, 200, 50);
    let hashes: Vec<u32> = keys.iter().map(|key| bloom_hash(key)).collect();
    for around in [8 << 20, 1 << 24, 1 << 28, 1 << 29] {
        for (bytes, k) in [(around - 1, 6), (around, 1), (around, 30), (around + 1, 6)] {
            let mut map = Map::new(bytes + 1);
            let filter = map.all();
            let (k_byte, array) = filter.split_last_mut().unwrap();
            *k_byte = k as u8;
            kernel.insert_hashes(&hashes[..100], k, array);
            let positions = |h: &u32, k| probe::Positions::new(*h, k, bytes as u64 * 8);
            for p in hashes[..100].iter().flat_map(|h| positions(h, k)) {
                std::assert_ne!(array[(p / 8) as usize] & (1 << (p % 8)), 0, "{bytes} bytes");
            }
            // Only these: all that the keys could have set is cleared, and the others' is clear.
            for p in hashes[..100].iter().flat_map(|h| positions(h, k)) {
                array[(p / 8) as usize] &= !(1 << (p % 8));
            }
            assert!(
                hashes.iter().flat_map(|h| positions(h, 30)).all(|p| array[(p / 8) as usize] == 0)
            );
            hashes[..100].iter().for_each(|h| probe::insert(*h, k, array));
            check_queries(kernel, &keys, filter);
        }
    }
    for bytes in [(8 << 20) - 1, (8 << 20) + 1, 1 << 28] {
        let mut map = Map::new(bytes + 1);
        map.all()[bytes / 3] = 0xff;
        kernel.create_over(&list(&keys), 6, map.all());
        let want = spec_filter(&keys, 6, bytes);
        assert!(map.all() == want, "{bytes} bytes");
    }
}

macro_rules! suite {
    ($($name:ident)*) => {$(
        mod $name {
            fn kernel() -> Option<&'static super::Kernel> {
                super::Kernel::by_name(stringify!($name))
            }

            #[test]
            fn is_run_or_skipped() {
                if kernel().is_none() {
                    super::say("skipped: this machine or build has no kernel ", stringify!($name));
                }
            }

            suite!(@ golden hash_every_length_and_alignment one_of_another_length
                every_number_of_keys every_filter_size every_number_of_probes hashes_at_multiples
                malformed_filters odd_calls many_filters random);

            #[cfg(all(unix, not(miri)))]
            suite!(@ ends_of_pages ends_of_ribbons);

            #[cfg(all(unix, target_pointer_width = "64", not(miri)))]
            suite!(@ huge_arrays);
        }
    )*};
    (@ $($test:ident)*) => {$(
        #[test]
        fn $test() {
            if let Some(kernel) = kernel() {
                super::$test(kernel);
            }
        }
    )*};
}

/// To stderr past the test harness, which keeps what tests that pass print to itself.
fn say(what: &str, name: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{what}{name}");
}

suite!(portable avx2 avx512);

#[test]
fn the_suite_knows_every_kernel() {
    assert_eq!(Kernel::NAMES, ["avx512", "avx2", "portable"]);
    assert!(KERNELS.iter().all(|kernel| Kernel::NAMES.contains(&kernel.name())));
    for kernel in Kernel::available() {
        assert_eq!(Kernel::by_name(kernel.name()), Some(kernel));
        assert_eq!(format!("{kernel:?}"), format!("Kernel({:?})", kernel.name()));
    }
    assert!(Kernel::by_name("").is_none());
    let mut preferred = Kernel::available().filter(|kernel| (kernel.preferred)());
    assert_eq!(preferred.next(), Some(Kernel::best()));
}

#[cfg(leveldb_bloom_avx2)]
#[test]
fn features_are_those_that_std_finds() {
    use super::cpu;
    use std::is_x86_feature_detected as has;
    let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt");
    assert_eq!(cpu::has_avx2(), avx2);
    #[cfg(leveldb_bloom_avx512)]
    {
        let all = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        let avx512 = avx2 && all && has!("avx512ifma") && has!("avx512vbmi");
        assert_eq!(cpu::has_avx512(), avx512);
        let vendor = unsafe { core::arch::x86_64::__cpuid(0) };
        let vendor = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat();
        assert_eq!(cpu::prefers_avx512(), avx512 && vendor != b"GenuineIntel");
    }
}

/// A key too long for a lane, among others, in memory that is all zeros and hardly there.
#[cfg(all(unix, target_pointer_width = "64", leveldb_bloom_avx2))]
#[test]
fn huge_key() {
    // What LevelDB's Hash makes of it; to compute it here would take as long as the test.
    const HASH: u32 = 0xa4ca_8a02;
    let mut map = Map::new((1 << 31) + 5);
    let huge = &*map.all();
    for kernel in ["avx2", "avx512"].into_iter().filter_map(Kernel::by_name) {
        let mut keys: Vec<&[u8]> = (0..9).map(|i| &huge[..i * 7]).collect();
        let mut want: Vec<u32> = keys.iter().map(|key| bloom_hash(key)).collect();
        (keys[0], want[0]) = (huge, HASH);
        let mut got = [0; 9];
        kernel.hash_keys(&list(&keys), &mut got);
        assert_eq!(got[..], want, "{}", kernel.name());
    }
}

#[test]
fn borrowed_bytes_are_keys_as_they_are() {
    fn check<K: AsRef<[u8]>>(items: &[K]) {
        let keys = as_keys(items).unwrap();
        assert_eq!((keys.as_ptr().cast(), keys.len()), (items.as_ptr(), items.len()));
        assert!(keys.iter().zip(items).all(|(key, item)| key.as_bytes() == item.as_ref()));
    }
    let bytes = [vec![1, 2, 3], vec![], vec![4; 100]];
    check::<&[u8]>(&[&bytes[0], &bytes[1], &bytes[2]]);
    check::<&[u8]>(&[]);
    check::<&str>(&["hello", "", "ello"]);
    check::<Key>(&[Key::new(b"hello"), Key::new(b"")]);
    // Of the same size, and bytes as well, but no references to them.
    assert!(as_keys(&[[0u8; 2 * size_of::<usize>()]; 3]).is_none());
    assert!(as_keys(&[std::boxed::Box::<[u8]>::from([1])]).is_none());
    assert!(as_keys(&[&[1u8; 16]]).is_none());
    assert!(as_keys(&bytes).is_none());
    assert!(as_keys(&[&&bytes[0][..]]).is_none());
}
