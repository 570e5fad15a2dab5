//! `malloc` has nothing to give: the filters are the same, made another way. What it gives is given
//! back.
#![cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{self, AssertUnwindSafe};

use leveldb_bloom::{BloomFilterPolicy, FilterBuilder, Kernel};

thread_local! {
    static REFUSE: Cell<bool> = const { Cell::new(false) };
    static REFUSED: Cell<usize> = const { Cell::new(0) };
    /// Given and not given back.
    static LIVING: Cell<isize> = const { Cell::new(0) };
}

unsafe extern "C" {
    fn __libc_malloc(bytes: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn __libc_free(memory: *mut c_void);
}

/// Whether a request is refused; counts it, whatever becomes of it.
fn refused() -> bool {
    if REFUSE.get() {
        REFUSED.set(REFUSED.get() + 1);
    } else {
        LIVING.set(LIVING.get() + 1);
    }
    REFUSE.get()
}

/// In place of the C library's, for all code that is linked into this test.
// SAFETY: nothing else here has the name, and what it gives is what the C library's gives.
#[unsafe(no_mangle)]
extern "C" fn malloc(bytes: usize) -> *mut c_void {
    if refused() {
        return std::ptr::null_mut();
    }
    // SAFETY: takes any size.
    unsafe { __libc_malloc(bytes) }
}

/// What a compiler may make of `malloc` and zeros.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    if refused() {
        return std::ptr::null_mut();
    }
    // SAFETY: takes any sizes.
    unsafe { __libc_calloc(count, bytes) }
}

/// As above.
// SAFETY: as above.
#[unsafe(no_mangle)]
unsafe extern "C" fn free(memory: *mut c_void) {
    LIVING.set(LIVING.get() - isize::from(!memory.is_null()));
    // SAFETY: the caller's word.
    unsafe { __libc_free(memory) }
}

/// Runs `work` with no memory to be had, and returns how often it asked for some.
fn without_memory(work: impl FnOnce()) -> usize {
    REFUSED.set(0);
    REFUSE.set(true);
    work();
    REFUSE.set(false);
    REFUSED.get()
}

#[test]
fn filters_are_the_same() {
    for (kernel, shorter) in Kernel::available().flat_map(|kernel| [(kernel, 0), (kernel, 1)]) {
        // All of eight bytes; or a third of them shorter, which may be made another way.
        let key = |i: u64| i.to_le_bytes()[..8 - if i % 3 == 0 { shorter } else { 0 }].to_vec();
        let keys: Vec<Vec<u8>> = (0..5000).map(key).collect();
        // Up to 4096 bits and 64 keys, stack memory is enough; filters of more than 32 Kbit and
        // more than 4096 keys ask for none.
        for (num_keys, bits_per_key, asks) in [
            (20, 10, false),
            (64, 64, false),
            (64, 65, true),
            (64, 600, false),
            (65, 10, true),
            (400, 10, true),
            (3276, 10, true),
            (4096, 8, true),
            (4096, 10, true),
            (4097, 10, false),
            (5000, 44, false),
        ] {
            let name = kernel.name();
            let case = format!("{name}: {num_keys} keys of {bits_per_key} bits, {shorter} shorter");
            let policy = BloomFilterPolicy::with_kernel(bits_per_key, kernel);
            let keys = &keys[..num_keys];
            let wanted = policy.create_filter(keys).unwrap();
            let mut filter = Vec::with_capacity(wanted.len());
            let before = LIVING.get();
            policy.append_filter(keys, &mut filter).unwrap();
            assert_eq!(LIVING.get(), before, "{case}: memory was kept");
            filter.clear();
            let asked = without_memory(|| policy.append_filter(keys, &mut filter).unwrap());
            assert!(filter == wanted, "{case}");
            assert_eq!(asked > 0, asks, "{case}: asked {asked} times");

            let listed: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
            filter.fill(0);
            let asked = without_memory(|| policy.fill_filter(&listed, &mut filter).unwrap());
            assert!(filter == wanted, "{case}");
            assert_eq!(asked, 0, "{case}");
            filter.fill(0);
            let from = listed.iter().copied();
            let asked = without_memory(|| policy.fill_filter_from(from, &mut filter).unwrap());
            assert!(filter == wanted, "{case}");
            assert_eq!(asked, 0, "{case}");
        }
    }
}

/// They can be had in a filter later, or added to another builder.
#[test]
fn a_builder_keeps_its_keys() {
    let policy = BloomFilterPolicy::new(10);
    let keys: Vec<_> = (0..1000u64).map(u64::to_le_bytes).collect();
    let mut builder = FilterBuilder::new(policy);
    builder.extend(&keys);
    let asked = without_memory(|| assert!(builder.finish().is_err()));
    assert_eq!((asked, builder.num_keys()), (1, keys.len()));
    assert_eq!(builder.finish(), policy.create_filter(&keys));
}

/// A key, or one that cannot be had.
struct Maybe(Option<[u8; 8]>);

impl AsRef<[u8]> for Maybe {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Some(key) => key,
            // A panic that nobody reports.
            None => panic::resume_unwind(Box::new(())),
        }
    }
}

#[test]
fn a_key_that_panics_leaves_nothing_behind() {
    for kernel in Kernel::available() {
        let policy = BloomFilterPolicy::with_kernel(10, kernel);
        for num_keys in [10, 64, 65, 1000, 4096, 5000] {
            let case = format!("{}: {num_keys} keys", kernel.name());
            let mut keys: Vec<_> =
                (1..num_keys as u64).map(|i| Maybe(Some(i.to_le_bytes()))).collect();
            keys.push(Maybe(None));
            let mut filters = Vec::with_capacity(100_000);
            filters.extend(b"before");
            let before = LIVING.get();
            let appended =
                panic::catch_unwind(AssertUnwindSafe(|| policy.append_filter(&keys, &mut filters)));
            let panicked = appended.is_err();
            drop(appended);
            assert!(panicked, "{case}");
            assert_eq!(filters, b"before", "{case}");
            assert_eq!(LIVING.get(), before, "{case}: memory was kept");

            // What is there of a filter must not lack keys.
            let mut filter = vec![0x5a; policy.filter_len(num_keys).unwrap()];
            let filled =
                panic::catch_unwind(AssertUnwindSafe(|| policy.fill_filter(&keys, &mut filter)));
            assert!(filled.is_err(), "{case}");
            for i in 0..10_000u64 {
                assert!(policy.key_may_match(&i.to_le_bytes(), &filter), "{case}");
            }
        }
    }
}
