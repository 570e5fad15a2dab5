//! One policy, many threads; policies that come and go meanwhile. What a race would break is seen
//! by ThreadSanitizer (scripts/memory.sh).
#![cfg(all(target_os = "linux", feature = "c-interface"))]

use std::thread;

use leveldb_bloom::ffi::policy::Policy;
use leveldb_bloom::ffi::{functions, shared};
use leveldb_bloom::{BloomFilterPolicy, key_may_match};

const THREADS: u32 = 8;
const ROUNDS: u32 = 40;

fn keys(thread: u32) -> Vec<[u8; 4]> {
    (0..50).map(|i| (thread * 1000 + i).to_le_bytes()).collect()
}

#[test]
fn a_policy_of_rust() {
    let policy = BloomFilterPolicy::new(10);
    let shared = policy.create_filter(&keys(0)).unwrap();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (policy, shared) = (&policy, &shared);
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let keys = keys(thread);
                    let filter = policy.create_filter(&keys).unwrap();
                    assert!(keys.iter().all(|key| key_may_match(key, &filter)));
                    let mut answers = [false; 50];
                    let found = policy.keys_may_match(&keys, shared, &mut answers);
                    assert!(thread != 0 || found == 50);
                }
            });
        }
    });
}

/// As C has it: a pointer that any thread may use.
#[derive(Clone, Copy)]
struct Shared(*mut Policy);
// SAFETY: what the header promises of a policy, and this file tests.
unsafe impl Send for Shared {}

impl Shared {
    fn get(&self) -> &Policy {
        // SAFETY: destroyed when the threads have ended.
        unsafe { &*self.0 }
    }
}

/// All threads get the same, whoever is first to ask.
fn shared_policies() {
    let ask = || -> Vec<_> {
        let both = |bits| {
            let policy = shared::shared_policy(bits);
            // SAFETY: one that is never destroyed.
            assert_eq!(unsafe { &*policy }.filter_size(1), (bits.max(64) as usize).div_ceil(8) + 1);
            [policy as usize, shared::shared_filter_policy(bits, None) as usize]
        };
        (1..=ROUNDS as i32).map(both).collect()
    };
    let all: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(all.iter().all(|each| *each == all[0]));
}

/// With the counters of LEVELDB_BLOOM_STATS, which all threads write.
#[test]
fn a_policy_of_c() {
    // Before the environment asks for statistics: these live to the end.
    shared_policies();
    let statistics = std::env::temp_dir().join(format!("leveldb_bloom-{}", std::process::id()));
    // SAFETY: the other test reads no environment.
    unsafe { std::env::set_var("LEVELDB_BLOOM_STATS", &statistics) };
    let policy = Shared(Policy::create(10));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let keys = keys(thread);
                    let pointers: Vec<_> = keys.iter().map(|key| key.as_ptr().cast()).collect();
                    let lengths = [4; 50];
                    let mut length = 0;
                    // SAFETY: as many keys and lengths as there are said to be.
                    unsafe {
                        let filter = policy.get().create_filter(
                            pointers.as_ptr(),
                            lengths.as_ptr(),
                            50,
                            &mut length,
                        );
                        assert!(!filter.is_null());
                        for key in &pointers {
                            assert_eq!(functions::key_may_match(*key, 4, filter, length), 1);
                        }
                        functions::free(filter.cast());
                        Policy::destroy(Policy::create(5).cast());
                    }
                }
            });
        }
    });
    // SAFETY: nobody uses it any more.
    unsafe { Policy::destroy(policy.0.cast()) };
    let lines = std::fs::read_to_string(&statistics).unwrap();
    std::fs::remove_file(&statistics).unwrap();
    let counted = format!("\"filters\":{},\"keys\":{}", THREADS * ROUNDS, THREADS * ROUNDS * 50);
    assert!(lines.lines().last().unwrap().contains(&counted), "{lines}");
    assert_eq!(lines.lines().count(), (THREADS * ROUNDS + 1) as usize);
}
