//! Every name of the library's own that C can call, a few lines each, and the reference a C
//! programmer reads: include/leveldb_bloom.h is generated from this file.
//!
//! Both C libraries include it; LevelDB's own names, which a shared and a static library must
//! define in different ways, are in shared/lib.rs and static/leveldb_names.c.

#![allow(non_camel_case_types, reason = "the names are C's")]

use core::ffi::{c_char, c_int, c_void};

use bloom::ffi::abi::{Callbacks, Slice};
use bloom::ffi::functions::{self, Policy, status};
use bloom::ffi::{leveldb, vtable};

/// LevelDB's policy object; the same as in <leveldb/c.h>.
pub struct leveldb_filterpolicy_t {
    _opaque: [u8; 0],
}

/// A bloom filter policy: how many bits to spend on a key. Immutable, so that any number of
/// threads may use one at once.
pub struct leveldb_bloom_policy {
    _opaque: [u8; 0],
}

/// A key, laid out as leveldb::Slice.
#[repr(C)]
pub struct leveldb_bloom_slice {
    /// The key's bytes; may be anything when `size` is 0.
    pub data: *const c_char,
    /// Their number.
    pub size: usize,
}

/// The four callbacks that leveldb_filterpolicy_create takes, in its order. Their `state` is a
/// leveldb_bloom_policy, which the created policy then owns and destroys:
///
///     const struct leveldb_bloom_vtable *bloom = leveldb_bloom_vtable();
///     leveldb_filterpolicy_t *policy = leveldb_filterpolicy_create(
///         leveldb_bloom_policy_create(10), bloom->destructor, bloom->create_filter,
///         bloom->key_may_match, bloom->name);
///
/// They work with every LevelDB that has a C API, wherever and however it is loaded. Where a filter
/// cannot be made (no memory, or a size that cannot be represented) create_filter returns one that
/// matches every key, because LevelDB would take an empty one for "no keys". A NULL state behaves
/// as a policy that could not be made: its filters match every key too.
#[repr(C)]
pub struct leveldb_bloom_vtable {
    /// Destroys the state.
    pub destructor: Option<unsafe extern "C" fn(state: *mut c_void)>,
    /// Creates a filter, which LevelDB frees with C's free.
    pub create_filter: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            key_array: *const *const c_char,
            key_length_array: *const usize,
            num_keys: c_int,
            filter_length: *mut usize,
        ) -> *mut c_char,
    >,
    /// Asks a filter: 0 if it certainly does not hold the key.
    pub key_may_match: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            key: *const c_char,
            length: usize,
            filter: *const c_char,
            filter_length: usize,
        ) -> u8,
    >,
    /// The policy's name, which LevelDB stores in its tables: "leveldb.BuiltinBloomFilter2".
    pub name: Option<unsafe extern "C" fn(state: *mut c_void) -> *const c_char>,
}

const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<leveldb_bloom_vtable>() == size_of::<Callbacks>());
    assert!(offset_of!(leveldb_bloom_vtable, destructor) == offset_of!(Callbacks, destructor));
    assert!(
        offset_of!(leveldb_bloom_vtable, create_filter) == offset_of!(Callbacks, create_filter)
    );
    assert!(
        offset_of!(leveldb_bloom_vtable, key_may_match) == offset_of!(Callbacks, key_may_match)
    );
    assert!(offset_of!(leveldb_bloom_vtable, name) == offset_of!(Callbacks, name));
    assert!(size_of::<leveldb_bloom_slice>() == size_of::<Slice>());
    assert!(offset_of!(leveldb_bloom_slice, data) == offset_of!(Slice, data));
    assert!(offset_of!(leveldb_bloom_slice, size) == offset_of!(Slice, size));
};

/// Done.
pub const LEVELDB_BLOOM_OK: c_int = 0;
/// A pointer was NULL where there must be something, or a length was not the expected one.
pub const LEVELDB_BLOOM_INVALID_ARGUMENT: c_int = 1;
/// The filter's size cannot be represented.
pub const LEVELDB_BLOOM_TOO_LARGE: c_int = 2;

const _: () = assert!(
    LEVELDB_BLOOM_OK == status::OK
        && LEVELDB_BLOOM_INVALID_ARGUMENT == status::INVALID_ARGUMENT
        && LEVELDB_BLOOM_TOO_LARGE == status::TOO_LARGE
);

/// Creates a policy that spends about `bits_per_key` bits on a key; 10 gives about 1 % of false
/// positives. Zero and below behave as 0: one probe, and filters of 64 bits whatever they hold.
/// Above 44 the number of probes stays at 30 and only the size grows. NULL if there is no memory.
///
/// The caller owns it until leveldb_bloom_policy_destroy, or until it is given to
/// leveldb_filterpolicy_create as the state of the callbacks.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_policy_create(bits_per_key: c_int) -> *mut leveldb_bloom_policy {
    Policy::create(bits_per_key).cast()
}

/// Destroys a policy that nobody uses any more. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_policy_destroy(policy: *mut leveldb_bloom_policy) {
    // SAFETY: as the header asks.
    unsafe { Policy::destroy(policy.cast()) }
}

/// The callbacks for leveldb_filterpolicy_create. Never NULL; the table lives as long as the
/// process.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_vtable() -> *const leveldb_bloom_vtable {
    (&raw const vtable::VTABLE).cast()
}

/// The length in bytes of the policy's filter for `num_keys` keys, its last byte (the number of
/// probes) included. 0 if `policy` is NULL or the size cannot be represented.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_filter_size(
    policy: *const leveldb_bloom_policy,
    num_keys: usize,
) -> usize {
    // SAFETY: as the header asks.
    unsafe { policy.cast::<Policy>().as_ref() }.map_or(0, |policy| policy.filter_size(num_keys))
}

/// Creates the filter for `num_keys` keys and stores its length in `*filter_length`. The caller
/// frees it with leveldb_bloom_free or C's free. Key i has `key_lengths[i]` bytes at `keys[i]`; a
/// key of length 0 may be NULL. Keys may come in any order and more than once.
///
/// NULL, and a length of 0, if the filter cannot be made: `policy` is NULL, an array is NULL while
/// `num_keys` is not 0, the size cannot be represented, or there is no memory. NULL also if
/// `filter_length` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_create_filter(
    policy: *const leveldb_bloom_policy,
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: usize,
    filter_length: *mut usize,
) -> *mut c_char {
    // SAFETY: as the header asks.
    unsafe { functions::create_filter(policy.cast(), keys, key_lengths, num_keys, filter_length) }
}

/// Writes the filter for `num_keys` keys over the `filter_length` bytes at `filter`, which must be
/// as many as leveldb_bloom_filter_size says. Allocates nothing.
///
/// LEVELDB_BLOOM_OK; or LEVELDB_BLOOM_INVALID_ARGUMENT, if `policy` or `filter` is NULL, `keys` is
/// NULL while `num_keys` is not 0, or the length is another; or LEVELDB_BLOOM_TOO_LARGE, if the size
/// cannot be represented. `filter` is unchanged unless it is LEVELDB_BLOOM_OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_fill_filter(
    policy: *const leveldb_bloom_policy,
    keys: *const leveldb_bloom_slice,
    num_keys: usize,
    filter: *mut c_char,
    filter_length: usize,
) -> c_int {
    // SAFETY: as the header asks.
    match unsafe { policy.cast::<Policy>().as_ref() } {
        Some(policy) => unsafe {
            // SAFETY: as the header asks.
            policy.fill_filter(keys.cast(), num_keys, filter, filter_length)
        },
        None => status::INVALID_ARGUMENT,
    }
}

/// 1 if the key may be among those the filter was made from, 0 if it certainly is not. Any bytes
/// may be given as a filter: fewer than two match nothing, and a last byte (the number of probes)
/// above 30 or of 0 matches everything. A key or filter of length 0 may be NULL; one that is NULL
/// with a length, or has a length that no object can have, counts as empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_key_may_match(
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    // SAFETY: as the header asks.
    unsafe { functions::key_may_match(key, key_length, filter, filter_length) }
}

/// leveldb_bloom_key_may_match for many keys and one filter: stores 0 or 1 for key i in
/// `results[i]`, unless `results` is NULL, and returns the number of ones. If an array of keys is
/// NULL while `num_keys` is not 0, returns 0 and stores nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_keys_may_match(
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: usize,
    filter: *const c_char,
    filter_length: usize,
    results: *mut u8,
) -> usize {
    // SAFETY: as the header asks.
    unsafe {
        functions::keys_may_match(keys, key_lengths, num_keys, filter, filter_length, results)
    }
}

/// Frees what leveldb_bloom_create_filter returned. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_free(memory: *mut c_void) {
    // SAFETY: as the header asks.
    unsafe { functions::free(memory) }
}

/// The name of the kernel that does the policy's work: "avx512", "avx2", "neon" or "portable"; all
/// give the same bits. It is the fastest that the machine has, or the one that the environment
/// variable LEVELDB_BLOOM_KERNEL named when the policy was created. NULL if `policy` is NULL; the
/// string lives as long as the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_kernel(
    policy: *const leveldb_bloom_policy,
) -> *const c_char {
    // SAFETY: as the header asks.
    let policy = unsafe { policy.cast::<Policy>().as_ref() };
    policy.map_or(core::ptr::null(), Policy::kernel_name)
}

/// Which implementation leveldb_filterpolicy_create_bloom resolves to in this process, and how its
/// filters reach the host: "leveldb_bloom (...)" or "original (...)", with the way or the reason in
/// the parentheses. Never NULL; the string lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_active() -> *const c_char {
    leveldb::active(crate::link())
}

/// Nothing in the release build can panic (a test looks for what a panic would need). In a debug
/// build, with its overflow checks, one ends the process before it could unwind into C.
#[cfg(not(test))]
#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: takes nothing.
    unsafe { libc::abort() }
}

/// The crate's Rust side has functions that return a `Vec`, so a link needs an allocator. Nothing
/// here calls them; all memory that C sees comes from malloc.
#[cfg(not(test))]
struct NoAllocator;

#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: NoAllocator = NoAllocator;

// SAFETY: gives no memory, which is always allowed.
#[cfg(not(test))]
unsafe impl core::alloc::GlobalAlloc for NoAllocator {
    unsafe fn alloc(&self, _layout: core::alloc::Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _memory: *mut u8, _layout: core::alloc::Layout) {}
}
