//! One suite for every kernel, against the specification in `probe` and
//! `hash`. A kernel that this machine lacks is reported by name.

#![allow(clippy::undocumented_unsafe_blocks)] // a test or a tool, not the crate
#![allow(clippy::type_complexity)]

use std::vec::Vec;
#[cfg_attr(any(miri, not(unix)), allow(unused_imports))]
use std::{assert, assert_eq, assert_ne, format, vec};

use super::{Kernel, Key, hash_may_match};
use crate::filter::Filter;
use crate::hash::{BLOOM_SEED, M, hash};
use crate::probe;

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// Miri is thousands of times slower.
fn thinned(n: usize) -> usize {
    if cfg!(miri) { n * 151 } else { n }
}

/// What the specification makes of a key.
fn spec_hash(key: &[u8]) -> u32 {
    hash(key, BLOOM_SEED)
}

/// What the specification makes of these keys.
fn spec_array(keys: &[&[u8]], k: u32, bytes: usize) -> Vec<u8> {
    let mut array = vec![0; bytes];
    for key in keys {
        probe::insert(spec_hash(key), k, &mut array);
    }
    array
}

/// What the specification answers.
fn may_match(key: &[u8], filter: &[u8]) -> bool {
    match Filter::parse(filter) {
        Filter::Never => false,
        Filter::Always => true,
        Filter::Probe { array, k } => probe::contains(spec_hash(key), k, array),
    }
}

/// The answers as a kernel writes them, which may be nothing but 1 or 0. Of many keys
/// `Kernel::answer` has them.
fn filters_may_match(kernel: &Kernel, key: Key, filters: &[Key], results: &mut [u8]) -> usize {
    let (filters, results) = super::same_length(filters, results);
    unsafe { (kernel.filters_may_match)(key, filters, results) }
}

fn as_keys<'a>(keys: &[&'a [u8]]) -> Vec<Key<'a>> {
    keys.iter().map(|key| Key::new(key)).collect()
}

/// create, and insert_hashes on top of other bits.
fn check_create(kernel: &Kernel, keys: &[&[u8]], k: u32, bytes: usize) {
    let want = spec_array(keys, k, bytes);
    let case = || format!("{}: {} keys, k = {k}, {bytes} bytes", kernel.name(), keys.len());
    let list = as_keys(keys);
    let mut got = vec![0x5a; bytes];
    kernel.create(&list, k, &mut got);
    assert!(got == want, "create, {}", case());
    let mut hashes = vec![0; keys.len()];
    kernel.hash_keys(&list, &mut hashes);
    got.fill(0x81);
    kernel.insert_hashes(&hashes, k, &mut got);
    let want: Vec<u8> = want.iter().map(|byte| byte | 0x81).collect();
    assert!(got == want, "insert_hashes, {}", case());
}

/// may_match, keys_may_match and filters_may_match of each key, and hash_may_match of its hash.
fn check_queries(kernel: &Kernel, keys: &[&[u8]], filter: &[u8]) {
    let want: Vec<u8> = keys.iter().map(|key| may_match(key, filter).into()).collect();
    let ones = want.iter().filter(|yes| **yes == 1).count();
    let list = as_keys(keys);
    let mut got = vec![7; keys.len()];
    let name = kernel.name();
    let case = (keys.len(), filter.len(), filter.last());
    assert_eq!(kernel.answer(&list, filter, &mut got), ones, "{name}: batch of {case:?}");
    assert!(got == want, "{name}: batch of {case:?}");
    for (key, want) in list.iter().zip(&want) {
        assert_eq!(kernel.may_match(*key, filter), *want == 1, "{name}: one of {case:?}");
        let hash = spec_hash(key.as_bytes());
        assert_eq!(hash_may_match(hash, filter), *want == 1, "the hash of one of {case:?}");
        let mut got = [7, 7];
        let filters = [Key::new(filter), Key::new(filter)];
        let ones = filters_may_match(kernel, *key, &filters, &mut got);
        assert_eq!((ones, got), (2 * usize::from(*want), [*want; 2]), "{name}: filters {case:?}");
    }
}

/// Zeros, of which there is only as much as is written.
#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
struct Zeros {
    start: *mut u8,
    len: usize,
}

#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
impl Zeros {
    fn new(len: usize, protection: i32) -> Zeros {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let map = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
        assert_ne!(
            map,
            libc::MAP_FAILED,
            "no {len} bytes of addresses: {}",
            std::io::Error::last_os_error()
        );
        Zeros { start: map.cast(), len }
    }
}

#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
impl Drop for Zeros {
    fn drop(&mut self) {
        assert_eq!(unsafe { libc::munmap(self.start.cast(), self.len) }, 0);
    }
}

/// Random bytes in a mapping that ends, and begins, at pages nothing may touch.
#[cfg(all(unix, not(miri)))]
struct Guarded {
    map: *mut u8,
    pages: usize,
}

#[cfg(all(unix, not(miri)))]
impl Guarded {
    const PAGE: usize = 4096;

    fn new(pages: usize) -> Guarded {
        unsafe {
            let map = libc::mmap(
                std::ptr::null_mut(),
                (pages + 2) * Self::PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(map, libc::MAP_FAILED);
            let end = map.byte_add((pages + 1) * Self::PAGE);
            assert_eq!(libc::mprotect(map, Self::PAGE, libc::PROT_NONE), 0);
            assert_eq!(libc::mprotect(end, Self::PAGE, libc::PROT_NONE), 0);
            let mut guarded = Guarded { map: map.cast(), pages };
            let random = Rng(3).bytes(pages * Self::PAGE);
            guarded.all().copy_from_slice(&random);
            guarded
        }
    }

    fn all(&mut self) -> &mut [u8] {
        unsafe { std::slice::from_raw_parts_mut(self.map.add(Self::PAGE), self.pages * Self::PAGE) }
    }

    /// The last `n` of T before the guard page.
    fn tail<T>(&mut self, n: usize) -> &mut [T] {
        let bytes = n * size_of::<T>();
        let all = self.all();
        let start = all.len() - bytes;
        unsafe { std::slice::from_raw_parts_mut(all[start..].as_mut_ptr().cast(), n) }
    }
}

#[cfg(all(unix, not(miri)))]
impl Drop for Guarded {
    fn drop(&mut self) {
        unsafe { libc::munmap(self.map.cast(), (self.pages + 2) * Self::PAGE) };
    }
}

fn hash_every_length_and_alignment(kernel: &Kernel) {
    let mut rng = Rng(1);
    let data = rng.bytes(300 * 20 + 64);
    let mut hashes = [0; 20];
    for len in (0..=300).step_by(thinned(1)) {
        for align in (0..64).step_by(thinned(1)) {
            // of one length, of lengths about it, and of any length
            let uniform: Vec<&[u8]> = (0..20).map(|i| &data[align + i * 300..][..len]).collect();
            let near: Vec<&[u8]> =
                (0..20).map(|i| &data[align + i..][..(len + i % 3).min(300)]).collect();
            let any: Vec<&[u8]> = (0..20)
                .map(|i| &data[align + i..][..if i == 7 { len } else { rng.below(90) }])
                .collect();
            for keys in [uniform, near, any] {
                let n = 1 + (len + align) % 20;
                for keys in [&keys[..], &keys[..n]] {
                    kernel.hash_keys(&as_keys(keys), &mut hashes);
                    for (key, h) in keys.iter().zip(hashes) {
                        assert_eq!(spec_hash(key), h, "{}: {len} at {align}", kernel.name());
                        assert_eq!(super::bloom_hash(Key::new(key)), h, "{len} at {align}");
                    }
                }
            }
        }
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
        let mut got = [0];
        kernel.hash_keys(&[Key::new(key)], &mut got);
        assert_eq!(got[0], want);
    }
    let filters: [(&[&[u8]], u32, &[u8]); 8] = [
        (&[], 6, &[0; 8]),
        (&[b"hello", b"world"], 6, &[0x11, 0x40, 0x00, 0x41, 0x44, 0x10, 0x40, 0x10]),
        (&[b""], 6, &[0x08, 0x00, 0x04, 0x00, 0x02, 0x00, 0x11, 0x80]),
        (&[b"\xc3\x97"], 6, &[0x80, 0x00, 0x18, 0x00, 0x01, 0x20, 0x00, 0x04]),
        (&[b"a"], 1, &[0, 0, 0, 0, 0, 0, 1, 0]),
        (&[b"a"], 30, &[0x78, 0xf0, 0xe0, 0xc1, 0x83, 0x0f, 0x1f, 0x3c]),
        (&[b"a"], 30, &[0x0b, 0, 0, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0xf8]),
        (&[b"a" as &[u8]; 50], 30, &[0x0b, 0, 0, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0xf8]),
    ];
    for (keys, k, want) in filters {
        let mut got = vec![0xee; want.len()];
        kernel.create(&as_keys(keys), k, &mut got);
        assert_eq!(got, want, "{}", kernel.name());
    }
}

fn every_filter_size(kernel: &Kernel) {
    let mut rng = Rng(2);
    let data = rng.bytes(64_000);
    for bytes in (1..=600).step_by(thinned(1)) {
        let k = 1 + rng.below(30) as u32;
        for (n, len) in [(rng.below(8), 16), (8 + rng.below(33), 16), (40 + rng.below(60), 0)] {
            let keys: Vec<&[u8]> = (0..n)
                .map(|_| &data[rng.below(60_000)..][..if len == 0 { rng.below(80) } else { len }])
                .collect();
            check_create(kernel, &keys, 6, bytes);
            check_create(kernel, &keys, k, bytes);
            let mut filter = spec_array(&keys[..n / 2], k, bytes);
            filter.push(k as u8);
            check_queries(kernel, &keys, &filter);
            // Few probes, so that absent keys are found, too; and each number has code of its own.
            for k in 1..=3 {
                *filter.last_mut().unwrap() = k;
                check_queries(kernel, &keys, &filter);
            }
        }
    }
    for n in (0..=70).step_by(thinned(1).min(17)) {
        let keys: Vec<&[u8]> = (0..n).map(|i| &data[i * 16..][..16]).collect();
        check_create(kernel, &keys, 6, (n * 10).max(64).div_ceil(8));
    }
    // As many as have whole eights, as few left as half of one has, and more; of one block and two.
    for k in (0..=40).step_by(thinned(1).min(13)) {
        for n in [8, 9, 16, 34, 37, 44, 66, 68, 69] {
            let keys: Vec<&[u8]> = (0..n).map(|i| &data[i * 16..][..16]).collect();
            for bytes in [9, 32 + k as usize] {
                let want = spec_array(&keys, k.min(30), bytes);
                let mut got = vec![9; bytes];
                kernel.create(&as_keys(&keys), k, &mut got);
                assert!(got == want, "{}: {n} keys, k = {k}", kernel.name());
            }
        }
    }
}

/// Among keys of one length, one that is shorter or longer, at every place.
fn one_of_another_length(kernel: &Kernel) {
    let data = Rng(7).bytes(150 * 64);
    for n in [8, 9, 20, 32, 33, 40, 48, 80, 150] {
        for at in (0..n).step_by(thinned(1).min(7)) {
            for (len, other) in [(16, 15), (16, 24), (20, 3)] {
                let keys: Vec<&[u8]> =
                    (0..n).map(|i| &data[i * 64..][..if i == at { other } else { len }]).collect();
                check_create(kernel, &keys, 6, 40);
                check_create(kernel, &keys, 6, 500);
            }
        }
    }
}

/// Keys of one length that are hashed between others' probes, however many those are; and a block of
/// them with others behind it.
fn keys_between_probes(kernel: &Kernel) {
    let data = Rng(12).bytes(150 * 72);
    for len in (0..=70).step_by(thinned(1).min(23)) {
        for (n, other) in [(150, len), (150, len + 1), (81, len), (96, len)] {
            let keys: Vec<&[u8]> =
                (0..n).map(|i| &data[i * 72..][..if i < 80 { len } else { other }]).collect();
            for (k, bytes) in [(0, 300), (1, 300), (2, 65), (3, 4097), (4, 300), (6, 187)]
                .into_iter()
                .chain([(6, 4097), (13, 1025), (17, 300), (30, 1 << 13)])
                .step_by(thinned(1).min(3))
            {
                check_create(kernel, &keys, k, bytes);
            }
        }
    }
}

/// As few as are hashed one by one, unless they are long.
fn few_keys(kernel: &Kernel) {
    let mut rng = Rng(9);
    let data = rng.bytes(4_000);
    for n in 0..=8 {
        for len in [0, 3, 16, 49, 50, 51, 66, 67, 99, 100, 199, 200, 300] {
            let mut keys: Vec<&[u8]> = (0..n).map(|i| &data[i * 307..][..len]).collect();
            for bytes in [7, 8, 9, 20, 50] {
                check_create(kernel, &keys, 6, bytes);
            }
            for i in 0..n {
                keys[i] = &data[i..][..rng.below(400)];
                check_create(kernel, &keys, 6, 8);
            }
        }
    }
}

/// Keys as far apart as caches have few places for.
fn far_strides(kernel: &Kernel) {
    let data = Rng(10).bytes(70 * 4096 + 16);
    for stride in [2048, 2064, 4096] {
        for len in [2047, 2048, 2051, 2064, 4096 + 13] {
            for n in [31, 32, 33, 47, 64, 69].into_iter().step_by(thinned(1).min(6)) {
                let keys: Vec<&[u8]> = (0..n).map(|i| &data[i * stride..][..len]).collect();
                check_create(kernel, &keys, 6, 150);
            }
        }
    }
}

/// Where a kernel changes its way: scratch on the stack or the heap, a byte a
/// bit or bits in place, the exact remainder of 20 bits, and LevelDB's sizes.
fn sizes_around_boundaries(kernel: &Kernel) {
    let mut rng = Rng(4);
    let data = rng.bytes(64_000);
    let keys: Vec<&[u8]> = (0..if cfg!(miri) { 33 } else { 333 })
        .map(|i| &data[rng.below(60_000)..][..if i < 111 { 16 } else { rng.below(100) }])
        .collect();
    for at in [64, 256, 512, 4096, 1 << 17, 1 << 18] {
        for bytes in at - 3..=at + 3 {
            for k in [1, 6, 7, 30] {
                if cfg!(miri) && (at > 512 || bytes != at || k == 7) {
                    continue;
                }
                check_create(kernel, &keys, k, bytes);
                let mut filter = spec_array(&keys[..keys.len() / 2], k, bytes);
                filter.push(k as u8);
                check_queries(kernel, &keys[keys.len() / 3..keys.len() * 2 / 3], &filter);
            }
        }
    }
}

/// The four bytes that have this hash.
fn key_of(hash: u32) -> [u8; 4] {
    // The steps of `hash` backwards.
    let mut inverse = M;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(M.wrapping_mul(inverse)));
    }
    let product = hash ^ (hash >> 16);
    let start = BLOOM_SEED ^ 4u32.wrapping_mul(M);
    let key = product.wrapping_mul(inverse).wrapping_sub(start).to_le_bytes();
    assert_eq!(spec_hash(&key), hash);
    key
}

/// Hashes at both ends of multiples of the bits: where a remainder by multiplication would be wrong
/// first. One at a time, because they have the same few remainders.
fn hashes_at_multiples(kernel: &Kernel) {
    let mut sizes = vec![8, 9, 25, 32, 33, 40, 41, 62, 4095, 4096, 4097];
    if !cfg!(miri) {
        // Each size that fits in registers has a modulus in a table.
        sizes.extend(8..64);
        // A power of two would be exact whatever is done.
        sizes.extend((15..=20).flat_map(|log| [(1 << log) - 1, (1 << log) + 1, (5 << log) / 8]));
        sizes.extend([(5 << 20) - 1, (1 << 24) - 9]);
    }
    for bytes in sizes {
        let bits = 8 * bytes as u32;
        let most = u32::MAX / bits;
        let quotients = [1, most, most - 1, most / 2, most / 3];
        for quotient in quotients.into_iter().take(if bytes > 1 << 20 { 2 } else { 5 }) {
            // The number of probes, 1, stands where the bit after the last would be.
            for hash in [bits * quotient, bits * quotient + 1, bits * quotient - 1] {
                let key = key_of(hash);
                let keys = [&key[..]; 17];
                check_create(kernel, &keys, 1, bytes);
                let mut filter = spec_array(&keys, 1, bytes);
                filter.push(1);
                check_queries(kernel, &keys, &filter);
            }
        }
    }
}

/// More bits than are asked for at once, of more and fewer probes than keys.
#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
fn far(kernel: &Kernel) {
    let mut rng = Rng(8);
    let bytes = super::portable::FAR_TO_SET + 3;
    for k in [1, 6, 30] {
        let hashes: Vec<u32> = (0..1_100).map(|_| rng.next() as u32).collect();
        let (mut want, mut got) = (vec![0; bytes], vec![0; bytes]);
        hashes.iter().for_each(|h| probe::insert(*h, k, &mut want));
        kernel.insert_hashes(&hashes, k, &mut got);
        assert!(got == want, "{}: {k} probes", kernel.name());
    }
    // Beyond 2^24 bytes, three bytes no longer say where one is.
    let data = rng.bytes(4_000);
    let keys: Vec<&[u8]> = data.chunks(20).collect();
    let last = [(1 << 27) - 1, 1 << 27].map(key_of);
    let last: Vec<&[u8]> = last.iter().cycle().take(20).map(|key| &key[..]).collect();
    // Of many lengths, which are hashed in blocks.
    let mixed: Vec<&[u8]> = (0..200).map(|i| &data[i * 19..][..i % 77]).collect();
    // Where the keys that come next are asked for, where the bits are, and where places are too
    // large.
    let asked_for = 3 << 18;
    let around = [asked_for, asked_for + 1, super::portable::FAR_TO_SET, bytes];
    for bytes in around.into_iter().chain([1 << 24, (1 << 24) + 1, (1 << 24) + (1 << 22)]) {
        for keys in [&keys, &last, &mixed] {
            let (mut want, mut got) = (vec![0; bytes], vec![0xff; bytes]);
            keys.iter().for_each(|key| probe::insert(spec_hash(key), 6, &mut want));
            kernel.create(&as_keys(keys), 6, &mut got);
            assert!(got == want, "{}: {bytes} bytes", kernel.name());
        }
    }
}

/// Filters that are asked probe by probe, those whose bits are asked for ahead,
/// and those of 2^31 and 2^32 bits and more, in memory that is hardly touched.
#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
fn huge(kernel: &Kernel) {
    let mut rng = Rng(5);
    let data = rng.bytes(4_000);
    let keys: Vec<&[u8]> = (0..60).map(|i| &data[i * 50..][..rng.below(50)]).collect();
    let hashes: Vec<u32> = keys.iter().map(|key| spec_hash(key)).collect();
    let most = (1 << 29) + 4096;
    for bytes in [super::portable::FAR, super::portable::FAR_TO_SET, 1 << 28, 1 << 29] {
        for (bytes, k) in
            (bytes - 2..=bytes + 2).flat_map(|bytes| [1, 2, 3, 4, 6].map(|k| (bytes, k)))
        {
            let map = Zeros::new(most, libc::PROT_READ | libc::PROT_WRITE);
            let filter = unsafe { std::slice::from_raw_parts_mut(map.start, bytes + 1) };
            let (k_byte, array) = filter.split_last_mut().unwrap();
            *k_byte = k as u8;
            kernel.insert_hashes(&hashes[..30], k, array);
            for h in &hashes[..30] {
                for p in probe::Positions::new(*h, k, bytes as u64 * 8) {
                    assert_ne!(array[(p / 8) as usize] & (1 << (p % 8)), 0, "{}", kernel.name());
                    array[(p / 8) as usize] &= !(1 << (p % 8));
                }
            }
            for h in &hashes {
                for p in probe::Positions::new(*h, 30, bytes as u64 * 8) {
                    assert_eq!(array[(p / 8) as usize], 0, "{}: a bit too many", kernel.name());
                }
            }
            for h in &hashes[..30] {
                probe::insert(*h, k, array);
            }
            check_queries(kernel, &keys, filter);
        }
    }
}

/// Arrays of 2^31 and 2^32 bits, all of which is written.
#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
fn huge_create(kernel: &Kernel) {
    let mut rng = Rng(11);
    let data = rng.bytes(2_000);
    let keys: Vec<&[u8]> = (0..70).map(|i| &data[i * 25..][..4 + i % 27]).collect();
    let zeros = vec![0; 1 << 20];
    for bytes in [(1 << 28) - 1, 1 << 28, 1 << 29] {
        let map = Zeros::new(bytes, libc::PROT_READ | libc::PROT_WRITE);
        let array = unsafe { std::slice::from_raw_parts_mut(map.start, bytes) };
        for at in [0, 12_345, bytes - 1] {
            array[at] = 0xff;
        }
        kernel.create(&as_keys(&keys), 6, array);
        let positions = |key: &&[u8]| probe::Positions::new(spec_hash(key), 6, bytes as u64 * 8);
        for p in keys.iter().flat_map(positions) {
            assert_ne!(array[(p / 8) as usize] & (1 << (p % 8)), 0, "{}", kernel.name());
        }
        for p in keys.iter().flat_map(positions) {
            array[(p / 8) as usize] &= !(1 << (p % 8));
        }
        let empty = array.chunks(zeros.len()).all(|part| part == &zeros[..part.len()]);
        assert!(empty, "{}: a bit too many", kernel.name());
    }
}

/// Keys, lists and arrays that begin, and that end, where the readable memory does.
#[cfg(all(unix, not(miri)))]
fn ends_of_pages(kernel: &Kernel) {
    let mut first = Guarded::new(1);
    let mut last = Guarded::new(1);
    let mut list = Guarded::new(1);
    let mut array = Guarded::new(3);
    let mut out = Guarded::new(1);
    for len in 0..=100 {
        // As many as are hashed side by side, and two and three times as many; and one less than a
        // block behind the first sixteen, which must not be taken for one.
        let many: &[usize] =
            if len < 34 || len % 8 == 0 { &[63, 64, 65, 79, 80, 130, 145] } else { &[] };
        for n in (1..=40).chain(many.iter().copied()) {
            // some keys begin at the first byte of a page, others end at the last
            let keys: Vec<&[u8]> = (0..n)
                .map(|i| {
                    let len = if n % 2 == 0 || n == 79 { len } else { (len + 7 * i) % 101 };
                    if (i + n) % 3 == 0 {
                        unsafe { std::slice::from_raw_parts(first.all().as_ptr(), len) }
                    } else {
                        unsafe { std::slice::from_raw_parts(last.tail::<u8>(len).as_ptr(), len) }
                    }
                })
                .collect();
            let keys_at_end = list.tail::<Key>(n);
            for (slot, key) in keys_at_end.iter_mut().zip(&keys) {
                unsafe { std::ptr::write(slot, std::mem::transmute::<Key, Key>(Key::new(key))) };
            }
            let hashes = out.tail::<u32>(n);
            kernel.hash_keys(keys_at_end, hashes);
            assert!(keys.iter().zip(&*hashes).all(|(key, h)| spec_hash(key) == *h));
            let hashes = hashes.to_vec();
            for bytes in [1, 2, 4, 5, 8, 9, 25, 31, 32, 33, 40, 41, 63, 64, 65, 1000 + len, 4097] {
                let want = spec_array(&keys, 6, bytes);
                let at_end = array.tail::<u8>(bytes);
                kernel.create(keys_at_end, 6, at_end);
                assert!(at_end == want);
                kernel.insert_hashes(&hashes, 6, at_end);
                assert!(at_end == want);
                let at_start = &mut array.all()[..bytes];
                kernel.create(keys_at_end, 6, at_start);
                assert!(at_start == want);
                let (mut one, results) = ([0; 2], out.tail::<u8>(n));
                let at_start: *mut [u8] = &mut array.all()[..bytes];
                let at_end: *mut [u8] = array.tail::<u8>(bytes);
                for filter in [at_start, at_end] {
                    // one at a time: they may overlap
                    let filter = unsafe { &mut *filter };
                    filter[bytes - 1] = 6;
                    let want: Vec<u8> =
                        keys.iter().map(|key| may_match(key, filter).into()).collect();
                    let ones = kernel.answer(keys_at_end, filter, results);
                    assert!(*results == want);
                    assert_eq!(ones, want.iter().filter(|yes| **yes == 1).count());
                    for (key, want) in keys_at_end.iter().zip(&want) {
                        assert_eq!(kernel.may_match(*key, filter), *want == 1);
                        let filters = [Key::new(filter), Key::new(filter)];
                        filters_may_match(kernel, *key, &filters, &mut one);
                        assert_eq!(one, [*want; 2]);
                    }
                }
            }
        }
    }
}

fn malformed_filters(kernel: &Kernel) {
    let keys: Vec<&[u8]> =
        vec![b"a", b"", b"hello", b"0123456789abcdef", b"x", b"y", b"zz", b"q", b"w"];
    check_queries(kernel, &keys, &[]);
    for k in 0..=255 {
        check_queries(kernel, &keys, &[k]);
        for len in [1, 2, 3, 4, 7, 8, 63, 64, 65, 100] {
            for fill in [0, 0xff, 0x5a] {
                let mut filter = vec![fill; len];
                filter.push(k);
                check_queries(kernel, &keys, &filter);
            }
        }
        if cfg!(miri) && k > 1 {
            break;
        }
    }
    let yes = |filter: &[u8]| kernel.may_match(Key::new(b"a"), filter);
    assert!(!yes(&[]) && !yes(&[6]) && !yes(&[0, 6]) && yes(&[0xff, 6]));
    assert!(yes(&[0, 0]) && !yes(&[0, 30]) && yes(&[0, 31]) && yes(&[0, 255]));
}

/// Short results, short hashes, null keys of no length.
fn odd_calls(kernel: &Kernel) {
    let null = unsafe { std::mem::transmute::<(usize, usize), Key>((0, 0)) };
    let keys = [null; 20];
    let mut hashes = [1; 7];
    kernel.hash_keys(&keys, &mut hashes);
    assert_eq!(hashes, [0xbc9f_1d34; 7]);
    let mut array = [1; 25];
    kernel.create(&keys, 6, &mut array);
    assert_eq!(array[..], spec_array(&[b""], 6, 25));
    kernel.create(&keys, 6, &mut []);
    kernel.insert_hashes(&hashes, 6, &mut []);
    kernel.create(&[], 6, &mut array);
    assert_eq!(array, [0; 25]);
    let mixed = [null, Key::new(b"a"), null, Key::new(b"0123456789abcdefg")];
    let keys: Vec<Key> = mixed.iter().copied().cycle().take(33).collect();
    let plain: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
    kernel.create(&keys, 6, &mut array);
    assert_eq!(array[..], spec_array(&plain, 6, 25));
    let mut filter = array.to_vec();
    filter.push(6);
    // Fewer results than keys: few, which are the portable kernel's, and many.
    for n in [3, 8, 20] {
        let mut results = vec![5; n];
        assert_eq!(kernel.answer(&keys, &filter, &mut results), n);
        assert_eq!(results, vec![1; n]);
        assert_eq!(kernel.answer(&keys, &[0xff, 6], &mut results), n);
    }
    let mut results = [5; 3];
    let filters = [null, Key::new(&[0xff, 6]), Key::new(&[6])];
    assert_eq!(filters_may_match(kernel, null, &filters, &mut results), 1);
    assert_eq!(results, [0, 1, 0]);
}

/// One key asks filters of all kinds in one call.
fn many_filters(kernel: &Kernel) {
    let mut rng = Rng(6);
    let data = rng.bytes(10_000);
    let filters: Vec<Vec<u8>> = (0..200)
        .map(|i| {
            let keys: Vec<&[u8]> =
                (0..rng.below(60)).map(|_| &data[rng.below(9_000)..][..16]).collect();
            let k = [6, 1, 13, 30, 0, 31, 255][i % 7];
            let mut filter = spec_array(&keys, u32::from(k).min(30), rng.below(150));
            filter.push(k);
            if i % 3 == 0 {
                filter.truncate(rng.below(filter.len() + 1));
            }
            filter
        })
        .collect();
    let list: Vec<Key> = filters.iter().map(|filter| Key::new(filter)).collect();
    for i in (0..200).step_by(thinned(1)) {
        let key = &data[i * 40..][..16];
        let want: Vec<u8> = filters.iter().map(|filter| may_match(key, filter).into()).collect();
        let mut got = vec![3; filters.len()];
        let ones = filters_may_match(kernel, Key::new(key), &list, &mut got);
        assert!(got == want, "{}", kernel.name());
        assert_eq!(ones, want.iter().filter(|yes| **yes == 1).count());
    }
}

fn random(kernel: &Kernel) {
    let mut rng = Rng(8);
    let data = rng.bytes(100_000);
    for _ in 0..if cfg!(miri) { 2 } else { 400 } {
        let longest = [1, 17, 64, 400][rng.below(4)];
        let n = [3, 30, 300, 3000][rng.below(4)];
        let n = rng.below(if cfg!(miri) { 40 } else { n });
        let keys: Vec<&[u8]> =
            (0..n).map(|_| &data[rng.below(90_000)..][..rng.below(longest)]).collect();
        let k = 1 + rng.below(30) as u32;
        let bytes = 1 + rng.below(1 + n * 4);
        check_create(kernel, &keys, k, bytes);
        let mut filter = spec_array(&keys[..n / 2], k, bytes);
        filter.push(k as u8);
        check_queries(kernel, &keys[..n.min(100)], &filter);
    }
}

macro_rules! suite {
    ($($name:ident)*) => {$(
        mod $name {
            /// One that failed its first trial, too, for these to say where.
            fn kernel() -> Option<&'static super::Kernel> {
                let kernels = super::super::KERNELS.iter();
                #[cfg(leveldb_bloom_avx2)]
                let kernels = kernels.chain([&super::super::avx2::OTHERWISE]);
                #[cfg(leveldb_bloom_avx512)]
                let kernels = kernels.chain([&super::super::avx512::OTHERWISE]);
                let mut kernels = kernels;
                kernels.find(|kernel| kernel.name == stringify!($name) && (kernel.supported)())
            }

            #[test]
            fn is_run_or_skipped() {
                if kernel().is_none() {
                    super::say("skipped: this machine or build has no kernel ", stringify!($name));
                }
            }

            suite!(@ hash_every_length_and_alignment golden every_filter_size
                one_of_another_length keys_between_probes few_keys far_strides
                sizes_around_boundaries hashes_at_multiples malformed_filters odd_calls
                many_filters random);

            #[cfg(all(unix, not(miri)))]
            suite!(@ ends_of_pages);

            #[cfg(all(unix, target_pointer_width = "64", not(miri)))]
            suite!(@ far huge huge_create);
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

suite!(portable avx2 avx2_otherwise avx512 avx512_otherwise neon);

#[test]
fn the_suite_knows_every_kernel() {
    assert_eq!(Kernel::NAMES, ["avx512", "avx2", "neon", "portable"]);
    for kernel in Kernel::available() {
        assert!(Kernel::NAMES.contains(&kernel.name()));
        assert_eq!(Kernel::by_name(kernel.name()).map(Kernel::name), Some(kernel.name()));
    }
    assert!(Kernel::by_name("").is_none());
    for (at, kernel) in super::KERNELS.iter().enumerate() {
        for (place, other) in super::KERNELS.iter().enumerate() {
            assert_eq!(kernel == other, at == place, "{kernel:?} and {other:?}");
        }
    }
    let mut preferred = Kernel::available().filter(|kernel| (kernel.preferred)());
    assert_eq!(preferred.next().map(Kernel::name), Some(Kernel::best().name()));
}

/// If the build script could not read the compiler's version, it would leave the kernel out, and
/// every other test would call that a processor without it.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
#[test]
fn avx512_is_compiled_wherever_the_compiler_can() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Ok(said) = std::process::Command::new(rustc).arg("-vV").output() else {
        return say("no compiler where the tests run: ", "avx512 is not looked for");
    };
    let said = std::string::String::from_utf8(said.stdout).unwrap();
    let release = said.lines().find_map(|line| line.strip_prefix("release: ")).unwrap();
    let minor: u32 = release.split('.').nth(1).unwrap().parse().unwrap();
    let compiled = super::KERNELS.iter().any(|kernel| kernel.name() == "avx512");
    assert_eq!(compiled, minor >= 89, "rustc {release}");
}

#[test]
fn the_processor_is_asked_as_std_asks_it() {
    #[cfg(leveldb_bloom_avx2)]
    {
        use super::cpu;
        use std::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt");
        assert_eq!(cpu::has_avx2(), avx2);
        #[cfg(leveldb_bloom_avx512)]
        assert_eq!(
            cpu::has_avx512(),
            avx2 && has!("avx512f")
                && has!("avx512bw")
                && has!("avx512dq")
                && has!("avx512vl")
                && has!("avx512ifma")
                && has!("avx512vbmi")
        );
    }
}

#[cfg(all(leveldb_bloom_avx512, not(miri)))]
#[test]
fn which_processor_it_is() {
    use super::cpu;
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    #[allow(unused_unsafe)]
    let (zero, one, seven) = unsafe { (__cpuid(0), __cpuid(1), __cpuid_count(7, 0)) };
    let vendor = [zero.ebx, zero.edx, zero.ecx].map(u32::to_le_bytes).concat();
    let intel = vendor == b"GenuineIntel";
    let fp16 = zero.eax >= 7 && seven.edx >> 23 & 1 == 1;
    assert_eq!(cpu::gathers_fast(), cpu::has_avx2() && intel && fp16);
    assert_eq!(cpu::prefers_avx512(), cpu::has_avx512() && !intel);
    assert_eq!(Kernel::best().name() == "avx512", cpu::has_avx512() && !intel);
    // An extended family counts from 15.
    let family = match one.eax >> 8 & 15 {
        15 => 15 + (one.eax >> 20 & 0xff),
        family => family,
    };
    assert_eq!(cpu::takes_two_turns(), cpu::has_avx512() && family == 25);
}

/// A key too long for the lanes, among others, in memory that is all zeros and hardly there.
#[cfg(all(unix, target_arch = "x86_64", not(miri)))]
#[test]
fn huge_key() {
    let len = (1 << 31) + 5;
    // What LevelDB's Hash makes of it; to compute it here would take as long as the test.
    const HASH: u32 = 0xa4ca_8a02;
    let map = Zeros::new(len, libc::PROT_READ);
    let huge = unsafe { std::slice::from_raw_parts(map.start, len) };
    for kernel in ["avx2", "avx512"].into_iter().filter_map(Kernel::by_name) {
        let mut keys: Vec<&[u8]> = (0..9).map(|i| &huge[..i * 7]).collect();
        let mut want: Vec<u32> = keys.iter().map(|key| spec_hash(key)).collect();
        // The others of the nine are in two eights, and would take it twice as long.
        (keys[0], want[0]) = (huge, HASH);
        let mut got = [0; 9];
        kernel.hash_keys(&as_keys(&keys), &mut got);
        assert_eq!(got[..], want, "{}", kernel.name());
    }
}

/// What `at_line` is for.
#[cfg(all(leveldb_bloom_avx2, target_os = "linux", not(miri)))]
#[test]
fn functions_begin_at_a_cache_line() {
    use super::avx2::query::may_match as avx2_may_match;
    use super::portable::{contains_one, create_in_a_register, may_match};
    let functions = [
        may_match as *const (),
        contains_one as *const (),
        create_in_a_register as *const (),
        avx2_may_match as *const (),
    ];
    for function in functions {
        assert_eq!(function as usize % 64, 0);
    }
}

#[test]
fn appends_where_there_is_room() {
    for kernel in Kernel::available() {
        let keys: Vec<[u8; 4]> = (0..40u32).map(u32::to_le_bytes).collect();
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        let (list, want) = (as_keys(&keys), spec_array(&keys, 6, 50));
        let mut to = Vec::with_capacity(53);
        to.extend([1, 2, 3]);
        let room = to.capacity() - 3;
        assert!(!kernel.append(&list, 6, room + 1, &mut to), "{kernel:?}");
        assert_eq!(to, [1, 2, 3]);
        assert!(kernel.append(&list, 6, 50, &mut to), "{kernel:?}");
        assert!(to[..3] == [1, 2, 3] && to[3..] == want, "{kernel:?}");
        assert_eq!(format!("{kernel:?}"), format!("Kernel({:?})", kernel.name()));
    }
}

/// As C++ does, in memory of the host's.
#[cfg(leveldb_bloom_c_interface)]
#[test]
fn a_policy_writes_all_of_a_filter() {
    use crate::BloomFilterPolicy;
    use core::mem::MaybeUninit;
    let numbers = [0, 1, 2, 5, 6, 7, 40, 500];
    let lengths = (0..=20).chain([300]);
    for (n, len) in numbers.into_iter().flat_map(|n| lengths.clone().map(move |len| (n, len))) {
        let bytes = |i: usize| (0..len).map(move |j| (i + 89 * j) as u8 ^ 0xa5).collect();
        let keys: Vec<Vec<u8>> = (0..n).map(bytes).collect();
        let keys: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        for (bits, k) in [(2, 1), (10, 6), (40, 27)] {
            let mut want = spec_array(&keys, k, (n * bits).max(64).div_ceil(8));
            want.push(k as u8);
            for kernel in Kernel::available() {
                let policy = BloomFilterPolicy::with_kernel(bits as i32, kernel);
                let mut got = vec![0x5a; want.len()];
                let memory: *mut [u8] = &mut got[..];
                policy.fill_uninit(&as_keys(&keys), unsafe { &mut *(memory as *mut [_]) });
                assert!(got == want, "{}: {n} keys of {len} bytes", kernel.name());
                // As its limit on the length says, which is no part of the interface.
                let short = (1..=6).contains(&n) && len < 64 && want.len() == 9;
                let mut smallest = [const { MaybeUninit::new(0x5a) }; 9];
                let filled = n <= policy.most_keys_in(9).min(Kernel::FEW) as usize
                    && policy.fill_smallest(&as_keys(&keys), &mut smallest);
                assert_eq!(filled, short, "{n} keys of {len} bytes");
                if filled {
                    let smallest = smallest.map(|byte| unsafe { byte.assume_init() });
                    assert!(smallest[..] == want, "{n} keys of {len} bytes");
                }
            }
        }
    }
}

/// With 32 bits half of all addresses may well be free. There, tests/no_memory.rs has a malloc that
/// fails.
#[cfg(target_pointer_width = "64")]
#[test]
fn memory_that_cannot_be_had_is_said() {
    use super::scratch;
    // Shown to somebody, because a compiler takes memory that nobody looks at for granted.
    let mut ran = false;
    assert!(!scratch::with_zeroed(isize::MAX as usize, |memory| {
        std::hint::black_box(memory);
        ran = true;
    }));
    // More than any memory has, and more than a number can say the bytes of.
    assert!(!scratch::with_zeroed(usize::MAX, |_| ran = true));
    let no_keys = || scratch::listed(core::iter::empty());
    for len in [isize::MAX as usize / 16, usize::MAX] {
        assert!(!scratch::with_keys(len, no_keys(), |keys| {
            std::hint::black_box(keys);
            ran = true;
        }));
    }
    assert!(!ran);
    let mut seen = usize::MAX;
    assert!(scratch::with_keys(1000, no_keys(), |keys| seen = keys.len()));
    assert_eq!(seen, 0);
    for len in [0, 1, 4096, 4097, 100_000] {
        let mut seen = usize::MAX;
        assert!(scratch::with_zeroed(len, |memory| {
            seen = memory.len();
            assert!(memory.iter().all(|byte| *byte == 0));
            memory.fill(0xff);
        }));
        assert_eq!(seen, len);
    }
}

#[test]
fn groups_are_full_but_the_last() {
    use super::{GROUP, in_groups};
    assert_eq!(GROUP, 128);
    for len in [0, 1, 127, 128, 129, 256, 300] {
        let keys: Vec<[u8; 2]> = (0..len as u16).map(u16::to_le_bytes).collect();
        let (mut groups, mut seen) = (Vec::new(), Vec::new());
        in_groups(keys.iter().map(|key| Key::new(key)), |group| {
            groups.push(group.len());
            seen.extend(group.iter().map(|key| key.as_bytes().to_vec()));
        });
        let mut want = vec![GROUP; len / GROUP];
        want.extend(Some(len % GROUP).filter(|rest| *rest != 0));
        assert_eq!(groups, want, "{len} keys");
        assert!(seen == keys, "{len} keys");
    }
}

#[test]
fn borrowed_bytes_are_keys_as_they_are() {
    use super::as_keys;
    fn check<K: AsRef<[u8]>>(list: &[K]) {
        let keys = as_keys(list).unwrap();
        assert_eq!(keys.as_ptr().cast(), list.as_ptr());
        assert_eq!(keys.len(), list.len());
        for (key, listed) in keys.iter().zip(list) {
            assert_eq!(key.as_bytes().as_ptr(), listed.as_ref().as_ptr());
            assert_eq!(key.as_bytes(), listed.as_ref());
        }
    }
    let bytes = [vec![1, 2, 3], vec![], vec![4; 100]];
    check::<&[u8]>(&[&bytes[0], &bytes[1], &bytes[2]]);
    check::<&[u8]>(&[]);
    let text = format!("hello {}", bytes.len());
    check::<&str>(&[&text, "", &text[1..]]);

    // Of the same size, and bytes as well, but no references to them.
    assert!(as_keys(&[[0u8; 2 * size_of::<usize>()]; 3]).is_none());
    assert!(as_keys(&[std::boxed::Box::<[u8]>::from([1])]).is_none());
    assert!(as_keys(&[&[1u8; 16]]).is_none());
    assert!(as_keys(&bytes).is_none());
    assert!(as_keys(&[&&bytes[0][..]]).is_none());
}

mod broken {
    //! Kernels that are wrong somewhere, each in another place.

    use super::*;
    use crate::kernel::{UNTRIED, VERDICTS, portable, self_check};
    use core::mem::MaybeUninit;
    use core::sync::atomic::Ordering;

    unsafe fn hash_keys(keys: &[Key], hashes: &mut [u32]) {
        portable::hash_keys(keys, hashes);
        *hashes.last_mut().unwrap() ^= 1;
    }

    /// Wrong for the longest of mixed keys.
    unsafe fn hash_mixed(keys: &[Key], hashes: &mut [u32]) {
        portable::hash_keys(keys, hashes);
        for (key, h) in keys.iter().zip(hashes) {
            *h ^= u32::from(key.len() == 60);
        }
    }

    /// Wrong for what would be negative, were bytes signed.
    unsafe fn hash_signed(keys: &[Key], hashes: &mut [u32]) {
        portable::hash_keys(keys, hashes);
        for (key, h) in keys.iter().zip(hashes) {
            *h ^= u32::from(key.as_bytes().iter().any(|byte| *byte >= 0x80));
        }
    }

    unsafe fn create(keys: &[Key], k: u32, array: &mut [MaybeUninit<u8>]) {
        portable::create(&keys[1..], k, array);
    }

    unsafe fn insert_hashes(hashes: &[u32], k: u32, array: &mut [u8]) {
        portable::insert_hashes(hashes, k - 1, array);
    }

    unsafe fn may_match(key: Key, filter: &[u8]) -> bool {
        key.len() % 16 != 0 && portable::may_match(key, filter)
    }

    unsafe fn keys_may_match(keys: &[Key], filter: &[u8], results: &mut [u8]) -> usize {
        portable::keys_may_match(keys, filter, results) - 1
    }

    unsafe fn filters_may_match(key: Key, filters: &[Key], results: &mut [u8]) -> usize {
        let ones = portable::filters_may_match(key, filters, results);
        results[0] ^= 1;
        ones
    }

    const fn named(name: &'static str) -> Kernel {
        Kernel { name, ..portable::KERNEL }
    }

    static KERNELS: [Kernel; 8] = [
        Kernel { hash_keys, ..named("hash_keys") },
        Kernel { hash_keys: hash_mixed, ..named("hash_mixed") },
        Kernel { hash_keys: hash_signed, ..named("hash_signed") },
        Kernel { create, ..named("create") },
        Kernel { insert_hashes, ..named("insert_hashes") },
        Kernel { may_match, ..named("may_match") },
        Kernel { keys_may_match, ..named("keys_may_match") },
        Kernel { filters_may_match, ..named("filters_may_match") },
    ];

    #[test]
    fn every_break_is_seen() {
        assert!(self_check::agree(&named("whole"), &portable::KERNEL));
        for kernel in &KERNELS {
            assert!(!self_check::agree(kernel, &portable::KERNEL), "{}", kernel.name());
        }
    }

    #[test]
    fn the_portable_kernel_takes_over() {
        let passes = |kernel: &Kernel| self_check::agree(kernel, &portable::KERNEL);
        assert_eq!(Kernel::best_of(&KERNELS, passes).name(), "portable");
        static WHOLE: [Kernel; 2] =
            [Kernel { preferred: || false, ..named("only by name") }, named("whole")];
        assert_eq!(Kernel::best_of(&WHOLE, passes).name(), "whole");
        assert_eq!(Kernel::best_of(&[], passes).name(), "portable");
    }

    #[test]
    fn no_kernel_of_this_machine_failed() {
        for kernel in crate::kernel::KERNELS.iter().filter(|kernel| (kernel.supported)()) {
            assert!(self_check::agree(kernel, &portable::KERNEL), "{}", kernel.name());
        }
        assert_eq!(Kernel::failed(), None);

        // One that it has not, so that nobody else asks for the verdict meanwhile.
        let built: Vec<_> = crate::kernel::KERNELS.iter().map(Kernel::name).collect();
        let i = Kernel::NAMES.iter().position(|name| !built.contains(name)).unwrap();
        let broken = Kernel { create, ..named(Kernel::NAMES[i]) };
        let whole = named(Kernel::NAMES[i]);
        assert!(!broken.passes());
        assert_eq!(Kernel::failed(), Some(Kernel::NAMES[i]));
        assert!(!whole.passes(), "a kernel is tried once");
        VERDICTS[i].store(UNTRIED, Ordering::Relaxed);
        assert!(whole.passes() && broken.passes(), "a kernel is tried once");
        VERDICTS[i].store(UNTRIED, Ordering::Relaxed);
        assert!(!named("unheard of").passes());
    }

    /// In a process of its own, where nobody has chosen a kernel yet.
    #[cfg(all(unix, target_arch = "x86_64", not(miri)))]
    #[test]
    fn a_failed_kernel_is_not_used() {
        use crate::kernel::{FAILED, PASSED};
        use std::{env, process::Command};

        const ALONE: &str = "LEVELDB_BLOOM_TEST_ALONE";
        let verdict = match env::var(ALONE) {
            Ok(verdict) if verdict == "failed" => FAILED,
            Ok(_) => UNTRIED,
            Err(_) => {
                for verdict in ["untried", "failed"] {
                    let output = Command::new(env::current_exe().unwrap())
                        .args(["--exact", "kernel::tests::broken::a_failed_kernel_is_not_used"])
                        .env(ALONE, verdict)
                        .output()
                        .unwrap();
                    let said = std::string::String::from_utf8_lossy(&output.stdout);
                    assert!(output.status.success() && said.contains("1 passed"), "{said}");
                }
                return;
            }
        };
        let fastest = crate::kernel::KERNELS.iter().find(|kernel| (kernel.preferred)()).unwrap();
        let i = Kernel::NAMES.iter().position(|name| *name == fastest.name()).unwrap();
        VERDICTS[i].store(verdict, Ordering::Relaxed);
        let policy = crate::BloomFilterPolicy::new(10);
        if verdict == UNTRIED {
            assert_eq!(policy.kernel().name(), fastest.name());
            assert_eq!(VERDICTS[i].load(Ordering::Relaxed), PASSED, "it was not tried");
            return;
        }
        assert_eq!(policy.kernel().name(), "portable");
        assert!(Kernel::by_name(fastest.name()).is_none());
        assert!(Kernel::available().all(|kernel| kernel.name() != fastest.name()));
        #[cfg(leveldb_bloom_c_interface)]
        {
            let active = crate::ffi::leveldb::active(crate::ffi::leveldb::Link::Dynamic);
            let active = unsafe { core::ffi::CStr::from_ptr(active) }.to_str().unwrap();
            let failure =
                format!("; kernel {} failed its self-check, portable is used", fastest.name());
            assert!(active.ends_with(&failure), "{active}");
        }
    }
}
