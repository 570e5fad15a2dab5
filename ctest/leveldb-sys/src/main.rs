//! A database of leveldb-sys with the filter policy of leveldb_bloom, twice: by LevelDB's own name,
//! which the link gives to us, and by the callback table.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

use leveldb_sys::*;

const KEYS: usize = 20_000;

type Destructor = unsafe extern "C" fn(*mut c_void);
type CreateFilter = unsafe extern "C" fn(
    *mut c_void,
    *const *const c_char,
    *const usize,
    c_int,
    *mut usize,
) -> *mut c_char;
type KeyMayMatch =
    unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize) -> u8;
type Name = unsafe extern "C" fn(*mut c_void) -> *const c_char;

#[repr(C)]
struct Vtable {
    destructor: Destructor,
    create_filter: CreateFilter,
    key_may_match: KeyMayMatch,
    name: Name,
}

unsafe extern "C" {
    fn leveldb_bloom_active() -> *const c_char;
    fn leveldb_bloom_vtable() -> *const Vtable;
    fn leveldb_bloom_policy_create(bits_per_key: c_int) -> *mut c_void;
    // leveldb-sys leaves it out.
    fn leveldb_filterpolicy_create(
        state: *mut c_void,
        destructor: Destructor,
        create_filter: CreateFilter,
        key_may_match: KeyMayMatch,
        name: Name,
    ) -> *mut leveldb_filterpolicy_t;
}

fn main() {
    let folder = std::env::args().nth(1).expect("usage: leveldb-sys-route FOLDER");

    // SAFETY: it returns a C string that is never freed.
    let active = unsafe { CStr::from_ptr(leveldb_bloom_active()) }.to_str().unwrap();
    println!("active: {active}");

    // The crate beside the archive, in one program.
    let filter = leveldb_bloom::FilterPolicy::new(10).create_filter(&["hello", "world"]).unwrap();
    assert_eq!(filter, b"\x11\x40\x00\x41\x44\x10\x40\x10\x06");

    // SAFETY: LevelDB's C API; the policies are handed over as its header asks.
    unsafe {
        let policy = leveldb_filterpolicy_create_bloom(10);
        use_database(&format!("{folder}/by-name"), policy);

        let bloom = &*leveldb_bloom_vtable();
        let policy = leveldb_filterpolicy_create(
            leveldb_bloom_policy_create(10),
            bloom.destructor,
            bloom.create_filter,
            bloom.key_may_match,
            bloom.name,
        );
        use_database(&format!("{folder}/callbacks"), policy);
    }
}

/// Fills a fresh database, reads every key and as many that are not there, and destroys `policy`.
///
/// # Safety
/// `policy` is a policy that nobody else uses.
unsafe fn use_database(path: &str, policy: *mut leveldb_filterpolicy_t) {
    assert!(!policy.is_null());
    std::fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
    let path = CString::new(path).unwrap();
    let mut error = ptr::null_mut();
    // SAFETY: LevelDB's C API, used as its header says.
    unsafe {
        let options = leveldb_options_create();
        leveldb_options_set_create_if_missing(options, 1);
        leveldb_options_set_filter_policy(options, policy);
        leveldb_destroy_db(options, path.as_ptr(), &mut error);
        check(error);
        let db = leveldb_open(options, path.as_ptr(), &mut error);
        check(error);

        let writing = leveldb_writeoptions_create();
        for i in 0..KEYS {
            let key = format!("key{i:06}");
            let (bytes, len) = (key.as_ptr().cast(), key.len());
            leveldb_put(db, writing, bytes, len, bytes, len, &mut error);
            check(error);
        }
        leveldb_compact_range(db, ptr::null(), 0, ptr::null(), 0);

        let reading = leveldb_readoptions_create();
        let get = |key: &str| {
            let (mut len, mut error) = (0, ptr::null_mut());
            let bytes = key.as_ptr().cast();
            let value = leveldb_get(db, reading, bytes, key.len(), &mut len, &mut error);
            check(error);
            if value.is_null() {
                return None;
            }
            let copy = std::slice::from_raw_parts(value.cast::<u8>(), len).to_vec();
            leveldb_free(value.cast());
            Some(copy)
        };
        for i in 0..KEYS {
            let key = format!("key{i:06}");
            assert_eq!(get(&key).as_deref(), Some(key.as_bytes()));
            // Between the keys, so that only the filter can tell.
            assert_eq!(get(&(key + "x")), None);
        }

        leveldb_close(db);
        leveldb_destroy_db(options, path.as_ptr(), &mut error);
        check(error);
        leveldb_readoptions_destroy(reading);
        leveldb_writeoptions_destroy(writing);
        leveldb_options_destroy(options);
        leveldb_filterpolicy_destroy(policy);
    }
}

fn check(error: *mut c_char) {
    if !error.is_null() {
        // SAFETY: LevelDB's message is a C string.
        panic!("{}", unsafe { CStr::from_ptr(error) }.to_string_lossy());
    }
}
