//! One number for the whole format: the hash of thousands of filters and answers. It is the same for
//! every kernel, byte order and word size, and for stock LevelDB (ctest/harness/corpus_test.cc).

use leveldb_bloom::{FilterPolicy, Kernel, key_may_match};

const GOLDEN: u64 = 0x152b_8054_c584_8eba;

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

/// The hash of all filters and answers, by `kernel`.
fn hash_of_corpus(kernel: &'static Kernel) -> u64 {
    let mut random = Random(1);
    let bytes: Vec<u8> = (0..4096).map(|_| random.next() as u8).collect();
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    for i in 0..3000 {
        let bits_per_key = [10, 10, 10, 0, 1, 5, 15, 20, 43, 44, 100, random.below(200)][i % 12];
        let num_keys = [random.below(8), random.below(100), random.below(1000)][i % 3];
        let longest = [17, 5, 64, 400][i % 4];
        let keys: Vec<&[u8]> = (0..num_keys)
            .map(|_| {
                let len = if i % 2 == 0 { longest - 1 } else { random.below(longest) };
                &bytes[random.below(4096 - 400)..][..len]
            })
            .collect();
        let policy = FilterPolicy::with_kernel(bits_per_key as i32, kernel);
        let filter = policy.create_filter(&keys).unwrap();
        digest.add(&filter);

        assert!(keys.iter().all(|key| policy.key_may_match(key, &filter)));
        for _ in 0..20 {
            let len = random.below(20);
            let key = &bytes[random.below(4096 - 400)..][..len];
            let answer = policy.key_may_match(key, &filter);
            assert_eq!(answer, key_may_match(key, &filter));
            digest.add(&[answer.into()]);
        }
    }
    digest.0
}

#[test]
fn the_same_on_every_machine() {
    println!("kernel chosen here: {}", Kernel::best().name());
    for kernel in Kernel::available() {
        let hash = hash_of_corpus(kernel);
        println!("hash of the corpus, {}: {hash:016x}", kernel.name());
        assert_eq!(hash, GOLDEN, "{}: {hash:#018x}", kernel.name());
    }
}
