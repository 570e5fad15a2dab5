//! LevelDB's own names, and the two functions that depend on how we were linked.

use core::ffi::{c_char, c_int, c_void};

use leveldb_bloom_capi::api::callbacks::Callbacks;
use leveldb_bloom_capi::host::{self, CxxPolicy, Link};

/// LevelDB's bloom filter policy, for leveldb_options_set_filter_policy. The caller owns it, and it
/// must outlive the database: destroy it with leveldb_filterpolicy_destroy after leveldb_close.
///
/// Do not use a bloom filter policy with a comparator that treats keys of different bytes as equal
/// (one that ignores case or trailing spaces, for example): the filter knows the bytes, and LevelDB
/// would not find such keys.
///
/// With the environment variable LEVELDB_BLOOM_ENCODING=ribbon it is the policy of
/// leveldb_bloom_filterpolicy_create_ribbon, and so is leveldb::NewBloomFilterPolicy's. Another value
/// than this and "bloom" is refused, once, on stderr.
///
/// \param bits_per_key As for leveldb_bloom_policy_create.
/// \return The policy; NULL if there is no memory, which LevelDB takes for "no filter".
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_filterpolicy_create_bloom(bits_per_key: c_int) -> *mut CxxPolicy {
    host::new_bloom_filter_policy(bits_per_key, Link::default())
}

/// A policy of your own callbacks, as in <leveldb/c.h>. Where LevelDB's definition comes behind ours,
/// the arguments go to it as they are. Otherwise the policy is ours, and finds the LevelDB that uses
/// it when it is used.
///
/// \param state Passed to the callbacks.
/// \param destructor Destroys the state.
/// \param create_filter Creates a filter in memory from C's malloc.
/// \param key_may_match Queries a filter.
/// \param name The policy's name.
/// \return The policy. NULL from us, with `state` left to the caller, if a callback other than the
/// destructor is NULL, or if there is no memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_filterpolicy_create(
    state: *mut c_void,
    destructor: Option<unsafe extern "C" fn(*mut c_void)>,
    create_filter: Option<
        unsafe extern "C" fn(
            *mut c_void,
            key_array: *const *const c_char,
            key_length_array: *const usize,
            num_keys: c_int,
            filter_length: *mut usize,
        ) -> *mut c_char,
    >,
    key_may_match: Option<
        unsafe extern "C" fn(
            *mut c_void,
            key: *const c_char,
            length: usize,
            filter: *const c_char,
            filter_length: usize,
        ) -> u8,
    >,
    name: Option<unsafe extern "C" fn(*mut c_void) -> *const c_char>,
) -> *mut CxxPolicy {
    let callbacks = Callbacks { destructor, create_filter, key_may_match, name };
    // SAFETY: the C caller's promise.
    unsafe { host::filterpolicy_create(state, callbacks, Link::default()) }
}

/// Destroys any policy, ours or not, that nobody uses any more.
///
/// \param policy May be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_filterpolicy_destroy(policy: *mut CxxPolicy) {
    // SAFETY: the C caller's promise.
    unsafe { host::filterpolicy_destroy(policy) }
}

/// `leveldb::NewBloomFilterPolicy(int)`; <leveldb/filter_policy.h> declares it for C++.
#[unsafe(export_name = "_ZN7leveldb20NewBloomFilterPolicyEi")]
pub extern "C" fn new_bloom_filter_policy(bits_per_key: c_int) -> *mut CxxPolicy {
    host::new_bloom_filter_policy(bits_per_key, Link::default())
}

/// leveldb_filterpolicy_create_bloom with ribbon filters (see leveldb_bloom_policy_create_ribbon).
///
/// Where that function hands LevelDB's own policy back, because nothing is known of its std::string or
/// because it is a fork with other filters, this one does, too, and says so, once, on stderr. Its
/// filters are then LevelDB's.
///
/// \param bits_per_key As for leveldb_bloom_policy_create_ribbon.
/// \return As leveldb_filterpolicy_create_bloom.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_filterpolicy_create_ribbon(bits_per_key: c_int) -> *mut CxxPolicy {
    host::new_ribbon_filter_policy(bits_per_key, Link::default())
}

/// `leveldb_bloom::NewRibbonFilterPolicy(int)`; <leveldb_bloom_policy.h> declares it for C++.
#[unsafe(export_name = "_ZN13leveldb_bloom21NewRibbonFilterPolicyEi")]
pub extern "C" fn new_ribbon_filter_policy(bits_per_key: c_int) -> *mut CxxPolicy {
    host::new_ribbon_filter_policy(bits_per_key, Link::default())
}

/// LevelDB's bloom filter policy that the whole process shares. It lives as long as the process, so
/// that no database can outlive it: leveldb_filterpolicy_destroy and C++'s delete do nothing to it. For
/// one LevelDB library, which has to stay loaded. Its encoding is the one that LEVELDB_BLOOM_ENCODING
/// named at the first call for this number of bits.
///
/// \param bits_per_key As for leveldb_bloom_policy_create.
/// \return The same pointer for the same number of bits; NULL if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_filterpolicy_shared(bits_per_key: c_int) -> *mut CxxPolicy {
    host::shared_filter_policy(bits_per_key, Link::default())
}

/// Which implementation leveldb_filterpolicy_create_bloom resolves to in this process, and how its
/// filters reach LevelDB. Call it when LevelDB is loaded: before, no LevelDB is found. Nor is one
/// found in an executable under which this library is preloaded, and which never calls us. It looks
/// through all loaded libraries, which takes memory for a moment.
///
/// \return "leveldb_bloom (...)" or "original (...)", with the way or the reason in parentheses: a
/// string that lives as long as the process. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_active() -> *const c_char {
    host::active(Link::default()).as_ptr()
}

// Rust's prebuilt routines mention the function that would unwind through them; they never do. Where
// the linker does not drop the mention, as in a debug build, the library could not be loaded. Hidden,
// because a Rust program has its own.
core::arch::global_asm!(
    ".pushsection .text.rust_eh_personality,\"ax\",%progbits",
    ".hidden rust_eh_personality",
    ".globl rust_eh_personality",
    ".type rust_eh_personality, %function",
    "rust_eh_personality:",
    ".long 0",
    ".size rust_eh_personality, . - rust_eh_personality",
    ".popsection",
);
