//! The static C library: `libleveldb_bloom.a`.
//!
//! libleveldb.a defines LevelDB's own names too, so ours are weak here, which Rust cannot say:
//! leveldb_names.c defines them, by what this file offers it.

#![no_std]
#![allow(clippy::missing_safety_doc, reason = "the texts are for the C header")]

#[path = "../exports.rs"]
pub mod exports;

use core::ffi::{c_int, c_void};

use bloom::ffi::abi::{CreateFilter, CreatePolicy, Destructor, KeyMayMatch, Name};
use bloom::ffi::leveldb::{self, Link};
use exports::leveldb_filterpolicy_t;

unsafe extern "C" {
    /// The host's leveldb_filterpolicy_create; `None` where the link has no definition but ours.
    safe fn leveldb_bloom_linked_create() -> Option<CreatePolicy>;
    /// Whether the link took another definition of leveldb::NewBloomFilterPolicy than ours.
    safe fn leveldb_bloom_linked_elsewhere() -> c_int;
    /// Not 0 where leveldb_bloom_policy.cc is in the link, which then has that definition.
    safe fn leveldb_bloom_linked_source() -> c_int;
}

/// What the linker decided.
fn link() -> Link {
    let create = leveldb_bloom_linked_create();
    if leveldb_bloom_linked_source() != 0 {
        return Link::Source { create };
    }
    Link::Static { create, elsewhere: leveldb_bloom_linked_elsewhere() != 0 }
}

/// For leveldb_names.c.
#[unsafe(no_mangle)]
extern "C" fn leveldb_bloom_names_create_bloom(bits_per_key: c_int) -> *mut leveldb_filterpolicy_t {
    leveldb::new_bloom_filter_policy(bits_per_key, leveldb_bloom_linked_create()).cast()
}

/// For leveldb_names.c.
#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_bloom_names_create(
    state: *mut c_void,
    destructor: Option<Destructor>,
    create_filter: Option<CreateFilter>,
    key_may_match: Option<KeyMayMatch>,
    name: Option<Name>,
) -> *mut leveldb_filterpolicy_t {
    let callbacks = (destructor, create_filter, key_may_match, name);
    // SAFETY: the C caller's promise, as LevelDB's header asks for it.
    unsafe { leveldb::filterpolicy_create(state, callbacks, leveldb_bloom_linked_create()).cast() }
}

/// For leveldb_names.c.
#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_bloom_names_destroy(policy: *mut leveldb_filterpolicy_t) {
    // SAFETY: the C caller's promise, as LevelDB's header asks for it.
    unsafe { leveldb::filterpolicy_destroy(policy.cast()) }
}
