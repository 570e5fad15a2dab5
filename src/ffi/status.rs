//! The answers of the functions that return a status.

use core::ffi::{CStr, c_int};

/// Done.
pub const OK: c_int = 0;
/// A pointer was NULL, or a length or an offset not what it must be.
pub const INVALID_ARGUMENT: c_int = 1;
/// The filter's size cannot be represented.
pub const TOO_LARGE: c_int = 2;
/// There is no memory.
pub const NO_MEMORY: c_int = 3;
/// The two filters are not of the same shape.
pub const MISMATCH: c_int = 4;

/// A sentence about it.
#[must_use]
pub fn message(status: c_int) -> &'static CStr {
    match status {
        OK => c"done",
        INVALID_ARGUMENT => c"a pointer is NULL, or a length or an offset is not what it must be",
        TOO_LARGE => c"the size of the filter cannot be represented",
        NO_MEMORY => c"there is no memory",
        MISMATCH => c"only filters of the same length and number of probes can be united",
        _ => c"this is no status of leveldb_bloom",
    }
}
