//! Ribbon filters without memory for their equations: LevelDB's filter is written, of the same length,
//! and no key is lost.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;

use leveldb_bloom::{FilterBuilder, FilterPolicy};

/// Memory of which there is none after so many allocations.
struct Failing;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

impl Failing {
    fn take() -> bool {
        LEFT.with(|left| {
            let taken = left.get().checked_sub(1);
            // Most: no limit.
            left.set(if left.get() == usize::MAX { usize::MAX } else { taken.unwrap_or(0) });
            taken.is_some()
        })
    }
}

// SAFETY: the system's, or NULL.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        if Failing::take() { unsafe { System.alloc(layout) } } else { null_mut() }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's.
        if Failing::take() { unsafe { System.realloc(memory, layout, size) } } else { null_mut() }
    }
}

#[global_allocator]
static MEMORY: Failing = Failing;

/// Does something with memory for so many allocations.
fn with_memory_for<R>(allocations: usize, work: impl FnOnce() -> R) -> R {
    LEFT.set(allocations);
    let result = work();
    LEFT.set(usize::MAX);
    result
}

fn keys(n: usize) -> Vec<[u8; 8]> {
    (0..n as u64).map(u64::to_be_bytes).collect()
}

#[test]
fn no_key_is_lost() {
    for n in [1, 20, 64, 65, 200, 3000] {
        let (keys, policy) = (keys(n), FilterPolicy::ribbon(10));
        let slices: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
        let wanted = policy.create_filter(&keys).unwrap();
        let (mut ribbons, mut others) = (0, 0);
        for allocations in 0..30 {
            type Fill<'a> = &'a dyn Fn(&mut [u8]);
            let ways: [Fill; 3] = [
                &|filter| policy.fill_filter(&keys, filter).unwrap(),
                &|filter| policy.fill_filter(&slices, filter).unwrap(),
                &|filter| policy.fill_filter_from(slices.iter().copied(), filter).unwrap(),
            ];
            for way in ways {
                let mut filter = vec![0x5a; wanted.len()];
                with_memory_for(allocations, || way(&mut filter));
                assert!(keys.iter().all(|key| policy.key_may_match(key, &filter)));
                if filter == wanted {
                    ribbons += 1;
                } else {
                    assert_eq!(filter.last(), Some(&6), "LevelDB's");
                    others += 1;
                }
            }
            // What could not be added is not in it; what could be is.
            let mut builder = FilterBuilder::new(policy);
            let added =
                with_memory_for(allocations, || builder.try_extend(slices.iter().copied()).is_ok());
            assert_eq!(builder.num_keys(), if added { n } else { 0 });
            let mut filter = vec![0x5a; wanted.len()];
            if added {
                with_memory_for(allocations, || builder.finish_into(n, &mut filter)).unwrap();
                assert!(keys.iter().all(|key| policy.key_may_match(key, &filter)));
            }
        }
        assert!(ribbons > 0 && others > 0, "{n} keys: {ribbons} and {others}");
    }
}

/// Few keys need no memory at all.
#[test]
fn few_keys_allocate_nothing() {
    let policy = FilterPolicy::ribbon(10);
    for n in 0..=64 {
        let keys = keys(n);
        let wanted = policy.create_filter(&keys).unwrap();
        let mut filter = vec![0; wanted.len()];
        with_memory_for(0, || policy.fill_filter(&keys, &mut filter)).unwrap();
        assert_eq!(filter, wanted, "{n} keys");
    }
}
