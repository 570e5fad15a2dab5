//! The four callbacks that any leveldb_filterpolicy_create takes.

use core::ffi::{c_char, c_int, c_void};

use crate::door::{self, Keys};
use crate::memory;
use crate::policy::{NAME, Policy};

/// The four callbacks that leveldb_filterpolicy_create takes, in its order. Their `state` is a
/// leveldb_bloom_policy, which the created policy then owns and destroys:
///
///     const struct leveldb_bloom_vtable *bloom = leveldb_bloom_vtable();
///     leveldb_filterpolicy_t *policy = leveldb_filterpolicy_create(
///         leveldb_bloom_policy_create(10), bloom->destructor, bloom->create_filter,
///         bloom->key_may_match, bloom->name);
///
/// They work with every LevelDB from 1.18 on that has a C API, wherever and however it is loaded. They
/// do not work with Basho's, which would not find keys, nor with one that was built with clang's CFI
/// but without -fsanitize-cfi-cross-dso, which stops at callbacks.
///
/// Where a filter cannot be made, create_filter returns one that matches every key, because LevelDB
/// would take an empty one for "no keys". If there is no memory even for that, it ends the process.
/// With a NULL state, from a policy that could not be made, filters match every key too.
#[repr(C)]
pub struct Callbacks {
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
    /// Queries a filter: 0 if it certainly does not hold the key.
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

// The destructor is the function that the exported one calls, not that one itself: its name may lead
// to another copy of this library in the process.
pub(crate) static CALLBACKS: Callbacks = Callbacks {
    destructor: Some(Policy::destroy),
    create_filter: Some(create_filter),
    key_may_match: Some(key_may_match),
    name: Some(name),
};

/// The callbacks for leveldb_filterpolicy_create.
///
/// \return The table, which lives as long as the process. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_vtable() -> &'static Callbacks {
    &CALLBACKS
}

/// # Safety
/// LevelDB's promise, as for all of these: the state, and arrays and bytes that are what they say.
unsafe extern "C" fn create_filter(
    state: *mut c_void,
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: c_int,
    filter_length: *mut usize,
) -> *mut c_char {
    let num_keys = usize::try_from(num_keys).unwrap_or(0);
    // SAFETY: LevelDB's promise.
    let (policy, keys) =
        unsafe { (state.cast::<Policy>().as_ref(), Keys::arrays(keys, key_lengths, num_keys)) };
    let made = match (policy, keys.filter(Keys::all_can_be)) {
        (Some(policy), Some(keys)) => policy.create(keys).ok(),
        _ => None,
    };
    let filter = made.unwrap_or_else(memory::match_all);
    if !filter_length.is_null() {
        // SAFETY: LevelDB's promise.
        unsafe { filter_length.write(filter.len()) };
    }
    filter.as_mut_ptr().cast()
}

/// # Safety
/// As `create_filter`.
unsafe extern "C" fn key_may_match(
    state: *mut c_void,
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    // SAFETY: LevelDB's promise.
    unsafe {
        let Some(policy) = state.cast::<Policy>().as_ref() else { return 1 };
        let answer = |key: &[u8], filter: &[u8]| policy.key_may_match(key, filter).into();
        door::query((key, key_length), (filter, filter_length), answer)
    }
}

/// # Safety
/// As `create_filter`.
unsafe extern "C" fn name(state: *mut c_void) -> *const c_char {
    // SAFETY: LevelDB's promise.
    unsafe { state.cast::<Policy>().as_ref() }.map_or(NAME.as_ptr(), Policy::c_name)
}
