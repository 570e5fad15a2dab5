//! What functions return that can fail.

use core::ffi::{CStr, c_int};

/// Done.
pub const LEVELDB_BLOOM_OK: c_int = 0;
/// A pointer was NULL, or a length or an offset was not what it must be.
pub const LEVELDB_BLOOM_INVALID_ARGUMENT: c_int = 1;
/// The filter's size cannot be represented.
pub const LEVELDB_BLOOM_TOO_LARGE: c_int = 2;
/// There is no memory.
pub const LEVELDB_BLOOM_NO_MEMORY: c_int = 3;
/// Two filters do not have the same length and number of probes, or are ribbon filters.
pub const LEVELDB_BLOOM_MISMATCH: c_int = 4;

/// `Err` with one of the numbers above.
pub(crate) type Result<T = ()> = core::result::Result<T, c_int>;

/// The number that C gets.
pub(crate) fn number(result: Result) -> c_int {
    result.err().unwrap_or(LEVELDB_BLOOM_OK)
}

pub(crate) fn message(status: c_int) -> &'static CStr {
    match status {
        LEVELDB_BLOOM_OK => c"done",
        LEVELDB_BLOOM_INVALID_ARGUMENT => {
            c"a pointer is NULL, or a length or an offset is not what it must be"
        }
        LEVELDB_BLOOM_TOO_LARGE => c"the size of the filter cannot be represented",
        LEVELDB_BLOOM_NO_MEMORY => c"there is no memory",
        LEVELDB_BLOOM_MISMATCH => {
            c"only filters of LevelDB's encoding, of the same length and number of probes, can be united"
        }
        _ => c"this is no status of leveldb_bloom",
    }
}
