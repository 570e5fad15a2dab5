//! The ribbon encoding: its bytes (those of docs/ribbon.md), its answers, and that no key is lost. scripts/ribbon_reference.py,
//! written from docs/ribbon.md, makes the same bytes.

use leveldb_bloom::{
    Encoding, FilterBuilder, FilterInfo, FilterMismatch, FilterPolicy, FlatKeys, Kernel, Key,
    MAX_RIBBON_BITS_PER_KEY, Ribbon, filter_len, key_may_match, union,
};

mod random;
use random::Random;

/// FNV-1a, 64 bits.
struct Digest(u64);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

/// One policy for each kernel of this machine.
fn policies(bits_per_key: i32) -> impl Iterator<Item = FilterPolicy> {
    let policy = move |kernel| FilterPolicy::with_kernel(bits_per_key, kernel);
    Kernel::available().map(move |kernel| policy(kernel).with_encoding(Encoding::Ribbon))
}

/// 0, 1, ... as keys in order, which LevelDB's filter hardly tells apart.
fn ordered(n: usize) -> Vec<[u8; 8]> {
    (0..n as u64).map(u64::to_be_bytes).collect()
}

fn is_ribbon(filter: &[u8]) -> bool {
    (32..240).contains(filter.last().unwrap())
}

/// That `filter` is as long as it should be, and holds these keys, whoever reads it.
fn check<K: AsRef<[u8]>>(policy: FilterPolicy, keys: &[K], filter: &[u8]) {
    let case = || format!("{policy:?}, {} keys, {filter:x?}", keys.len());
    assert_eq!(Some(filter.len()), policy.filter_len(keys.len()), "{}", case());
    if keys.is_empty() {
        assert!(!is_ribbon(filter));
    }
    if is_ribbon(filter) {
        assert!(i32::from(filter.last().unwrap() >> 4) - 1 <= policy.bits_per_key());
    }
    let stock = FilterPolicy::with_kernel(10, policy.kernel());
    for key in keys {
        assert!(policy.key_may_match(key.as_ref(), filter), "{}", case());
        assert!(stock.key_may_match(key.as_ref(), filter), "{}", case());
    }
}

/// The examples of docs/ribbon.md.
#[test]
fn golden_filters() {
    let mut examples = 0;
    for row in include_str!("../docs/ribbon.md").lines() {
        // | bits per key | `key`, `key` | `00 11 22` (a remark) |
        let [_, bits_per_key, keys, filter, _] = row.split('|').collect::<Vec<_>>()[..] else {
            continue;
        };
        let Ok(bits_per_key) = bits_per_key.trim().parse() else { continue };
        let Some(filter) = filter.split('`').nth(1) else { continue };
        let filter: Vec<u8> =
            filter.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        let mut words = keys.split_whitespace();
        let keys: Vec<Vec<u8>> = if words.next() == Some("numbers") {
            let (first, last) = (words.next().unwrap(), words.nth(1).unwrap());
            let numbers = first.parse::<u64>().unwrap()..=last.parse().unwrap();
            numbers.map(|number| number.to_be_bytes().to_vec()).collect()
        } else {
            // What stands between backquotes.
            let mut keys: Vec<_> = keys.split('`').skip(1).step_by(2).map(Vec::from).collect();
            keys.extend(row.contains("the empty key").then(Vec::new));
            keys
        };
        for policy in policies(bits_per_key) {
            assert_eq!(policy.create_filter(&keys).unwrap(), filter, "{policy:?} {row}");
            check(policy, &keys, &filter);
        }
        examples += 1;
    }
    assert_eq!(examples, 8);
}

/// The hash of all filters and answers, by `kernel`.
fn hash_of_corpus(kernel: &'static Kernel) -> u64 {
    let (mut random, mut digest) = (Random(1), Digest(0xcbf2_9ce4_8422_2325));
    let data = random.bytes(4096);
    let (mut by_bits, mut ribbons) = ([0; 16], 0);
    for i in 0..3500 {
        let mut bits_per_key = [10, 10, 7, 1, 2, 13, 20, 0, 5, 12][i % 10];
        let mut n = random.below([9, 70, 140, 600][i % 4]);
        let mut longest = [17, 5, 64, 400][i / 4 % 4];
        if i >= 1500 {
            // No slot to spare: some have fewer bits.
            (bits_per_key, n, longest) = (10, [6, 8, 12, 20][i % 4], 17);
        }
        let mut key = |longest| &data[random.below(4096 - 400)..][..random.below(longest)];
        let keys: Vec<&[u8]> = (0..n).map(|_| key(longest)).collect();
        let policy = FilterPolicy::with_kernel(bits_per_key, kernel);
        let policy = policy.with_encoding(Encoding::Ribbon);
        let filter = policy.create_filter(&keys).unwrap();
        check(policy, &keys, &filter);
        ribbons += usize::from(is_ribbon(&filter));
        by_bits[usize::from(filter.last().unwrap() >> 4)] += 1;

        // Any bytes before, and any last byte.
        let mut broken = filter[random.below(filter.len())..].to_vec();
        *broken.last_mut().unwrap() = random.next() as u8;
        digest.add(&filter);
        for _ in 0..20 {
            let key = &data[random.below(4096 - 400)..][..random.below(20)];
            for filter in [&filter, &broken] {
                let answer = policy.key_may_match(key, filter);
                assert_eq!(answer, key_may_match(key, filter));
                digest.add(&[answer.into()]);
            }
        }
    }
    assert!(ribbons > 3400, "{ribbons} of 3500 are ribbons");
    assert!(by_bits[10] > 0, "none has a bit less");
    digest.0
}

/// What `scripts/ribbon_reference.py --corpus` prints.
const GOLDEN: u64 = 0xd6f4_6291_5627_e669;

#[test]
fn the_same_on_every_machine() {
    for kernel in Kernel::available() {
        let hash = hash_of_corpus(kernel);
        println!("hash of the ribbon corpus, {}: {hash:016x}", kernel.name());
        assert_eq!(hash, GOLDEN, "{}: {hash:#018x}", kernel.name());
    }
}

/// All keys of filters of so many keys, with so many bits.
fn every_key_is_found(
    numbers: impl Iterator<Item = usize>,
    bits: impl Iterator<Item = i32> + Clone,
) {
    let (mut filters, mut others) = (0, 0);
    let all = ordered(2000);
    for n in numbers {
        // Other keys for each number, so that other systems are solved.
        let keys: Vec<_> =
            all[..n].iter().map(|key| [&key[..], &n.to_le_bytes()].concat()).collect();
        for bits_per_key in bits.clone() {
            for policy in policies(bits_per_key) {
                let filter = policy.create_filter(&keys).unwrap();
                check(policy, &keys, &filter);
                filters += 1;
                others += usize::from(n > 0 && !is_ribbon(&filter));
            }
        }
    }
    assert_eq!(others, 0, "of {filters} filters are no ribbons");
}

#[test]
fn no_key_is_lost_few_keys() {
    every_key_is_found((0..=130).step_by(if cfg!(miri) { 25 } else { 1 }), 1..=13);
}

#[test]
#[cfg_attr(miri, ignore = "too slow for an interpreter")]
fn no_key_is_lost_many_keys() {
    every_key_is_found((131..=2000).step_by(61), (1..=14).step_by(3));
}

#[test]
#[ignore = "minutes; for a release"]
fn no_key_is_lost_of_any_number_with_any_bits() {
    every_key_is_found(0..=2000, 1..=30);
}

#[test]
#[cfg_attr(miri, ignore = "too slow for an interpreter")]
fn large_filters() {
    for n in [10_000, 100_000] {
        let keys = ordered(n);
        for policy in policies(10) {
            let filter = policy.create_filter(&keys).unwrap();
            check(policy, &keys, &filter);
            assert!(is_ribbon(&filter));
            assert!(filter.len() as f64 <= filter_len(n, 10).unwrap() as f64 * 1.05);
        }
    }
}

/// How much larger than LevelDB's filters these may be.
#[test]
fn sizes() {
    let policy = FilterPolicy::ribbon(10);
    for n in 1..=100_000 {
        let (len, stock) = (policy.filter_len(n).unwrap(), filter_len(n, 10).unwrap());
        let most = match n {
            1..=6 => stock,
            7..=32 => stock + 1,
            33..=64 => stock + 3,
            _ => stock + stock / 20,
        };
        assert!(len <= most, "{n} keys: {len}, LevelDB's {stock}");
    }
    // As good as LevelDB's with 10 bits, in 77 % of its size.
    for n in 18..=64 {
        let (len, stock) =
            (FilterPolicy::ribbon(7).filter_len(n).unwrap(), filter_len(n, 10).unwrap());
        assert!(len * 100 <= stock * 77, "{n} keys: {len}, LevelDB's {stock}");
    }
    // What has no ribbon filter has LevelDB's size.
    for n in [0, (1 << 31), usize::MAX] {
        assert_eq!(policy.filter_len(n), FilterPolicy::new(10).filter_len(n));
    }
    let mut last = 0;
    for n in (1..10_000).chain((10_000..2_000_000).step_by(997)) {
        let len = policy.filter_len(n).unwrap();
        assert!(len >= last, "{n} keys");
        last = len;
    }
}

#[test]
fn bits_per_key_are_limited() {
    let most = FilterPolicy::ribbon(MAX_RIBBON_BITS_PER_KEY);
    for bits in [14, 16, 100, i32::MAX] {
        assert_eq!(FilterPolicy::ribbon(bits), most);
    }
    for bits in [0, -1, i32::MIN] {
        assert_eq!(FilterPolicy::ribbon(bits), FilterPolicy::ribbon(1));
    }
    let policy = FilterPolicy::new(20);
    assert_eq!((policy.bits_per_key(), policy.encoding()), (20, Encoding::Bloom));
    let policy = policy.with_encoding(Encoding::Ribbon);
    assert_eq!((policy.bits_per_key(), policy.encoding()), (13, Encoding::Ribbon));
    let back = FilterPolicy::ribbon(10).with_encoding(Encoding::Bloom);
    assert_eq!(back, FilterPolicy::new(10));
}

/// The rate that was asked for, of absent neighbours of ordered keys.
#[test]
#[cfg_attr(miri, ignore = "too slow for an interpreter")]
fn false_positives() {
    type Make = fn(usize) -> Vec<u8>;
    let formats: [Make; 4] = [
        |i| (i as u64).to_be_bytes().to_vec(),
        |i| format!("user{i:012}").into(),
        |i| format!("{i:016x}").into(),
        |i| Random(i as u64).bytes(16),
    ];
    for make in formats {
        for (bits, expected) in [(10, 1.0 / 1024.0), (7, 1.0 / 128.0)] {
            for n in [1, 2, 4, 5, 6, 7, 8, 18, 20, 34, 60, 64, 65, 100, 130, 1000] {
                let policy = FilterPolicy::ribbon(bits);
                let (mut wrong, mut asked) = (0, 0);
                for round in 0..(50_000 / n).clamp(20, 1000) {
                    let at = round * 100_000;
                    let keys: Vec<_> = (0..n).map(|i| make(at + 2 * i)).collect();
                    let filter = policy.create_filter(&keys).unwrap();
                    let absent = (0..n.clamp(50, 300)).map(|i| make(at + 2 * i + 1));
                    asked += absent.len();
                    wrong += absent.filter(|key| policy.key_may_match(key, &filter)).count();
                }
                let expected = asked as f64 * expected;
                let most = 1.06 * expected + 5.0 * expected.sqrt();
                assert!((wrong as f64) < most, "{wrong} of {asked}, {n} keys, {bits} bits");
            }
        }
    }
}

#[test]
fn equal_empty_and_long_keys() {
    let long: Vec<Vec<u8>> = (0..9).map(|i| vec![i; 65_536 - i as usize]).collect();
    for policy in policies(10) {
        for n in [1, 2, 6, 7, 33, 64, 65, 130, 1000] {
            for key in [&b""[..], b"a", b"0123456789abcdef"] {
                let filter = policy.create_filter(&vec![key; n]).unwrap();
                check(policy, &vec![key; n], &filter);
                assert!(is_ribbon(&filter), "one equation can be solved");
            }
            let twice: Vec<_> = ordered(n).into_iter().flat_map(|key| [key, key]).collect();
            check(policy, &twice, &policy.create_filter(&twice).unwrap());
        }
        check(policy, &long, &policy.create_filter(&long).unwrap());
    }
}

#[test]
fn the_order_of_keys_does_not_matter() {
    let mut random = Random(2);
    for n in [2, 6, 20, 40, 64, 65, 150, 700] {
        let mut keys = ordered(n);
        for policy in policies(10) {
            let filter = policy.create_filter(&keys).unwrap();
            for i in (1..n).rev() {
                keys.swap(i, random.below(i + 1));
            }
            assert_eq!(policy.create_filter(&keys).unwrap(), filter, "{n} keys");
        }
    }
}

/// However keys are passed, and however they are asked for.
#[test]
fn every_way_makes_and_reads_the_same() {
    for n in [0, 1, 2, 7, 20, 64, 65, 128, 129, 300] {
        let keys = ordered(n);
        let flat = keys.concat();
        let flat = FlatKeys::fixed(&flat, 8, n).unwrap();
        let listed: Vec<Key> = keys.iter().map(|key| Key::new(key)).collect();
        for policy in policies(9) {
            let filter = policy.create_filter(&keys).unwrap();
            assert_eq!(policy.create_filter(&listed).unwrap(), filter);
            assert_eq!(policy.create_filter_from(flat.iter()).unwrap(), filter);
            let mut filled = vec![0xee; filter.len()];
            policy.fill_filter(&keys, &mut filled).unwrap();
            assert_eq!(filled, filter);
            filled.fill(0xee);
            policy.fill_filter_from(flat.iter(), &mut filled).unwrap();
            assert_eq!(filled, filter);
            let mut memory = vec![std::mem::MaybeUninit::uninit(); filter.len()];
            assert_eq!(policy.fill_filter_uninit(&listed, &mut memory).unwrap(), filter);
            assert!(policy.fill_filter(&keys, &mut filled[1..]).is_err());
            let mut appended = b"before".to_vec();
            policy.append_filter(&keys, &mut appended).unwrap();
            assert_eq!(appended, [b"before", &filter[..]].concat());

            let mut builder = FilterBuilder::new(policy);
            keys.iter().take(3).for_each(|key| builder.add(key));
            builder.extend(keys.iter().skip(3).take(3));
            builder.try_extend(keys.iter().skip(6).map(|key| &key[..])).unwrap();
            assert_eq!(builder.num_keys(), n);
            assert_eq!(builder.clone().finish().unwrap(), filter);
            builder.finish_into(n, &mut filled).unwrap();
            assert_eq!((filled, builder.num_keys()), (filter.clone(), 0));

            let asked = ordered(2 * n + 300);
            let answers: Vec<_> =
                asked.iter().map(|key| policy.key_may_match(key, &filter)).collect();
            let ones = answers.iter().filter(|yes| **yes).count();
            let mut batch: Vec<_> = answers.iter().map(|yes| !yes).collect();
            assert_eq!(policy.keys_may_match(&asked, &filter, &mut batch), ones);
            assert_eq!(batch, answers);
            batch.iter_mut().for_each(|yes| *yes = !*yes);
            let bytes = asked.iter().map(|key| &key[..]);
            assert_eq!(policy.keys_may_match_from(bytes, &filter, &mut batch), ones);
            assert_eq!(batch, answers);
        }
    }
}

/// Filters of both encodings, and others, in one call.
#[test]
fn mixed_filters() {
    let keys = ordered(400);
    for ribbon in policies(10) {
        let bloom = ribbon.with_encoding(Encoding::Bloom);
        let filters: Vec<Vec<u8>> = (0..150)
            .map(|i| match i % 5 {
                0 => vec![0; i / 5],
                1 => vec![i as u8; i],
                2 => bloom.create_filter(&keys[..i]).unwrap(),
                _ => ribbon.create_filter(&keys[..i]).unwrap(),
            })
            .collect();
        for key in &keys {
            for policy in [ribbon, bloom] {
                let answer = |filter: &Vec<u8>| policy.key_may_match(key, filter);
                let answers: Vec<bool> = filters.iter().map(answer).collect();
                let mut all: Vec<_> = answers.iter().map(|yes| !yes).collect();
                let ones = policy.filters_may_match(key, &filters, &mut all);
                assert_eq!(ones, answers.iter().filter(|yes| **yes).count());
                assert_eq!(all, answers);
            }
        }
    }
}

/// The default policy's answers stay LevelDB's; a ribbon policy has one for any bytes.
#[test]
fn any_bytes() {
    let mut random = Random(3);
    let keys = ordered(20);
    for len in (0..=140).chain([1000, 5000]) {
        for last in 0..=255 {
            let mut filter = random.bytes(len);
            if last % 3 == 0 {
                filter.fill([0, 0xff][last / 3 % 2]);
            }
            filter.push(last as u8);
            for policy in policies(10) {
                let bloom = policy.with_encoding(Encoding::Bloom);
                for key in keys.iter().take(1 + last % 4) {
                    let answer = policy.key_may_match(key, &filter);
                    assert_eq!(answer, key_may_match(key, &filter));
                    match last {
                        32..=239 => assert_eq!(bloom.key_may_match(key, &filter), len > 0),
                        _ => assert_eq!(bloom.key_may_match(key, &filter), answer),
                    }
                    // No slots: as LevelDB answers.
                    if len < 8 && last > 30 {
                        assert_eq!(answer, len > 0);
                    }
                }
            }
        }
    }
}

/// What is said of a filter is what a query does.
#[test]
fn parts_of_a_filter() {
    for n in [1, 6, 7, 20, 58, 64, 65, 120, 150, 1000] {
        let filter = FilterPolicy::ribbon(7).create_filter(&ordered(n)).unwrap();
        let ribbon = Ribbon::parse(&filter).unwrap();
        assert_eq!((ribbon.result_bits(), ribbon.seed()), (7, filter.last().unwrap() & 15));
        assert_eq!(ribbon.slots(), (filter.len() as u64 - 1) * 8 / 7);
        let most = ribbon.most_keys() as usize;
        assert!(most >= n && most <= n.max(9), "{most} instead of {n}");
        assert!(FilterPolicy::ribbon(7).filter_len(most + 1).unwrap() > filter.len());
        for key in ordered(2 * n) {
            let probe = ribbon.probe(&key);
            let sum = probe.slots().fold(0, |sum, slot| sum ^ ribbon.slot(slot));
            assert_eq!(sum, probe.sum);
            assert_eq!(u64::from(probe.wanted), probe.hash & 127);
            assert!(probe.slots().all(|slot| slot < ribbon.slots()));
            assert!(probe.slots().is_sorted() && probe.slots().count() <= 127);
            assert_eq!(sum == probe.wanted, key_may_match(&key, &filter));
        }
        assert_eq!(ribbon.slot(ribbon.slots()), 0);
        assert_eq!(ribbon.slot(u64::MAX), 0);
        let info = FilterInfo::of(&filter);
        assert_eq!((info.encoding, info.probes), (Encoding::Ribbon, 7));
        assert_eq!(info.false_positive_rate, 1.0 / 128.0);
        assert_eq!(info.estimated_keys, most as f64);
    }
    for none in [&[][..], &[0xb0], &[0, 0xb0], &[0; 9], &[0xff; 9], &[6; 9], &[31; 9]] {
        assert!(Ribbon::parse(none).is_none());
        assert_eq!(FilterInfo::of(none).encoding, Encoding::Bloom);
    }
}

#[test]
fn more_keys_than_the_total_are_not_lost() {
    for policy in policies(10) {
        for (n, total) in
            [(1, 0), (7, 6), (9, 1), (64, 62), (65, 64), (65, 1), (500, 100), (9, 500)]
        {
            let mut builder = FilterBuilder::new(policy);
            builder.extend(ordered(n));
            let filter = builder.finish_for(total).unwrap();
            assert_eq!(Some(filter.len()), policy.filter_len(total));
            assert!(ordered(n).iter().all(|key| policy.key_may_match(key, &filter)));
        }
    }
}

#[test]
fn ribbons_do_not_unite() {
    let policy = FilterPolicy::ribbon(10);
    let filter = policy.create_filter(&ordered(20)).unwrap();
    let mut united = filter.clone();
    assert_eq!(union(&mut united, &filter), Err(FilterMismatch));
    assert_eq!(united, filter);
}

/// A thread with hardly a stack, as coroutines have.
#[test]
#[cfg(all(unix, not(miri)))]
fn little_stack() {
    for n in [1, 20, 64, 65, 1000] {
        let keys = ordered(n);
        let work = move || {
            for policy in policies(13) {
                let mut filter = [0; 3000];
                let filter = &mut filter[..policy.filter_len(n).unwrap()];
                policy.fill_filter(&keys, filter).unwrap();
                assert!(keys.iter().all(|key| policy.key_may_match(key, filter)));
            }
        };
        std::thread::Builder::new().stack_size(16 << 10).spawn(work).unwrap().join().unwrap();
    }
}
