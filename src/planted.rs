//! Faults put in on purpose, one at a time, to see that each check of scripts/memory.sh finds the
//! kind of fault it is there for. No Cargo feature turns them on, only
//! `RUSTFLAGS='--cfg leveldb_bloom_planted --cfg leveldb_bloom_planted="leak"'`.

use core::mem::MaybeUninit;

#[cfg(not(debug_assertions))]
compile_error!("planted faults are for tests: a release build cannot have them");

/// In each single query.
#[inline(never)]
pub(crate) fn in_query(_filter: &[u8]) {
    #[cfg(leveldb_bloom_planted = "over_read")]
    if !_filter.is_empty() {
        // SAFETY: none. That is the fault.
        unsafe { core::ptr::read_volatile(_filter.as_ptr().add(_filter.len())) };
    }
    // SAFETY: memory that was just made.
    #[cfg(leveldb_bloom_planted = "leak")]
    unsafe {
        core::ptr::write_volatile(
            alloc::boxed::Box::into_raw(alloc::boxed::Box::new([0u8; 24])),
            [1; 24],
        );
    }
    // SAFETY: none, with two threads. That is the fault.
    #[cfg(leveldb_bloom_planted = "race")]
    unsafe {
        static mut QUERIES: usize = 0;
        QUERIES = QUERIES.wrapping_add(1);
    }
}

/// In each filter made, without its last byte.
#[inline(never)]
pub(crate) fn in_filter(_array: &mut [MaybeUninit<u8>]) {
    #[cfg(leveldb_bloom_planted = "wrong_bit")]
    if let Some(byte) = _array.last_mut() {
        // SAFETY: the kernel has just written all of them.
        byte.write(unsafe { byte.assume_init() } ^ 0x40);
    }
}
