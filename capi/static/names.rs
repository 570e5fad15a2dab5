//! LevelDB's own names. libleveldb.a defines them, too, so ours are weak here, which Rust cannot
//! express: leveldb_names.c defines them, by what this file offers it.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;

use leveldb_bloom_capi::api::callbacks::Callbacks;
use leveldb_bloom_capi::host::{
    self, CreateFilter, CreatePolicy, CxxPolicy, Destructor, KeyMayMatch, Link, Name,
};

/// What the linker took for LevelDB's names, and our definitions of them.
#[repr(C)]
struct Names {
    create: CreatePolicy,
    our_create: CreatePolicy,
    new_policy: *const c_void,
    our_new_policy: *const c_void,
    /// Not NULL where leveldb_bloom_policy.cc is in the link.
    compiled_in: *const c_char,
}

// Rust 1.85 looks at what a pointer leads to.
#[allow(improper_ctypes)]
unsafe extern "C" {
    /// In leveldb_names.c; the linker or the loader fills it in.
    static leveldb_bloom_names: Names;
}

fn link() -> Link {
    // SAFETY: defined in leveldb_names.c, with this layout. Read as volatile, because the linker and
    // not the compiler decides what is equal.
    let names = unsafe { (&raw const leveldb_bloom_names).read_volatile() };
    let is_ours = ptr::fn_addr_eq(names.create, names.our_create);
    let is_source_build = !names.compiled_in.is_null();
    Link {
        is_static: true,
        create: (!is_ours).then_some(names.create),
        is_another_first: names.new_policy != names.our_new_policy && !is_source_build,
        is_source_build,
    }
}

/// For leveldb_names.c.
#[unsafe(no_mangle)]
extern "C" fn leveldb_bloom_names_create_bloom(bits_per_key: c_int) -> *mut CxxPolicy {
    host::new_bloom_filter_policy(bits_per_key, link())
}

/// For leveldb_names.c.
#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_bloom_names_create(
    state: *mut c_void,
    destructor: Option<Destructor>,
    create_filter: Option<CreateFilter>,
    key_may_match: Option<KeyMayMatch>,
    name: Option<Name>,
) -> *mut CxxPolicy {
    let callbacks = Callbacks { destructor, create_filter, key_may_match, name };
    // SAFETY: the C caller's promise.
    unsafe { host::filterpolicy_create(state, callbacks, link()) }
}

/// For leveldb_names.c.
#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_bloom_names_destroy(policy: *mut CxxPolicy) {
    // SAFETY: the C caller's promise.
    unsafe { host::filterpolicy_destroy(policy) }
}

/// As in the shared library.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_filterpolicy_create_ribbon(bits_per_key: c_int) -> *mut CxxPolicy {
    host::new_ribbon_filter_policy(bits_per_key, link())
}

/// As in the shared library.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_filterpolicy_shared(bits_per_key: c_int) -> *mut CxxPolicy {
    host::shared_filter_policy(bits_per_key, link())
}

/// As in the shared library.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_active() -> *const c_char {
    host::active(link()).as_ptr()
}
