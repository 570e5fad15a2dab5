//! The shared C library: `libleveldb_bloom.so`.
//!
//! LevelDB's own names are ordinary exports here: in a dynamic link the first definition that the
//! process loads is the one everybody uses.

#![no_std]
#![allow(clippy::missing_safety_doc, reason = "the texts are for the C header")]

#[path = "../exports.rs"]
pub mod exports;

use core::ffi::{c_char, c_int, c_void};

use bloom::ffi::leveldb::{self, Link};
use exports::leveldb_filterpolicy_t;

/// What the linker knows of the host: nothing. The process is asked when we run.
fn link() -> Link {
    Link::Dynamic
}

/// LevelDB's bloom filter policy, for leveldb_options_set_filter_policy. The caller owns it, and it
/// must outlive the database: destroy it with leveldb_filterpolicy_destroy after leveldb_close.
///
/// Any `bits_per_key` is fine: zero and below behave as 0 (one probe, filters of 64 bits). NULL if
/// there is no memory, which LevelDB takes for "no filter".
///
/// Do not use a bloom filter policy with a comparator that calls keys of different bytes equal
/// (one that ignores case or trailing spaces, say): the filter knows the bytes, and LevelDB would
/// not find such keys.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_filterpolicy_create_bloom(
    bits_per_key: c_int,
) -> *mut leveldb_filterpolicy_t {
    leveldb::new_bloom_filter_policy(bits_per_key, None).cast()
}

/// A policy of your own callbacks, as in <leveldb/c.h>. Where the process has one LevelDB, the
/// arguments go to its definition as they are; where it has several, the policy is ours, and finds
/// the one that uses it when it is used. NULL from us, with `state` left to the caller, if a
/// callback other than the destructor is NULL, or if there is no memory.
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
) -> *mut leveldb_filterpolicy_t {
    let callbacks = (destructor, create_filter, key_may_match, name);
    // SAFETY: the C caller's promise, as LevelDB's header asks for it.
    unsafe { leveldb::filterpolicy_create(state, callbacks, None).cast() }
}

/// Destroys any policy, ours or not, that nobody uses any more. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_filterpolicy_destroy(policy: *mut leveldb_filterpolicy_t) {
    // SAFETY: the C caller's promise, as LevelDB's header asks for it.
    unsafe { leveldb::filterpolicy_destroy(policy.cast()) }
}

/// `leveldb::NewBloomFilterPolicy(int)`; <leveldb/filter_policy.h> declares it for C++.
#[unsafe(export_name = "_ZN7leveldb20NewBloomFilterPolicyEi")]
pub extern "C" fn new_bloom_filter_policy(bits_per_key: c_int) -> *mut leveldb_filterpolicy_t {
    leveldb::new_bloom_filter_policy(bits_per_key, None).cast()
}

// Rust's prebuilt runtime routines mention the function that would unwind through them; they never
// do. Where the linker does not drop the mention (on Arm, and anywhere in a build without link-time
// optimisation, a debug build for one) the library could not be loaded. Hidden, because a Rust
// program has its own. Nobody calls it, so that what it does is of no account.
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
