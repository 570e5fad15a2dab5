//! A Rust program with our archive: its panics are its own.

use std::ffi::{c_int, c_void};

mod other;

unsafe extern "C" {
    fn leveldb_filterpolicy_create_bloom(bits_per_key: c_int) -> *mut c_void;
    fn leveldb_filterpolicy_destroy(policy: *mut c_void);
}

fn main() {
    // SAFETY: as LevelDB's C API has them; NULL is fine.
    unsafe {
        let policy = leveldb_filterpolicy_create_bloom(10);
        assert!(!policy.is_null());
        leveldb_filterpolicy_destroy(policy);
    }
    assert_eq!(other::other_sum(10), 55);
    assert_eq!(other::other_sum(1000), 0, "it panics, and catches that");
}
