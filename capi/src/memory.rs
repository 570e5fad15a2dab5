//! Memory that may be missing. LevelDB frees filters with C's `free`, so they come from C's `malloc`.

use alloc::alloc::{Layout, alloc};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use core::slice;

use crate::diagnosis::message;

/// A filter that matches every key, because its number of probes is one that LevelDB reserves. It
/// stands in for a filter that cannot be made; an empty one would lose keys.
pub(crate) static MATCH_ALL: [u8; 2] = [0, 31];

/// `len` bytes from C's `malloc`, to be freed with [`free`].
pub(crate) fn malloc<'a>(len: usize) -> Option<&'a mut [MaybeUninit<u8>]> {
    // SAFETY: malloc takes any number, and gives so many bytes that nobody else has.
    unsafe {
        let memory = libc::malloc(len.max(1));
        (!memory.is_null()).then(|| slice::from_raw_parts_mut(memory.cast(), len))
    }
}

/// # Safety
/// `memory` is NULL or came from C's `malloc`, and nobody uses it any more.
pub(crate) unsafe fn free(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(memory) }
}

/// [`MATCH_ALL`] in memory from C's `malloc`. Ends the process where there is none: whatever else
/// could be returned would lose keys.
pub(crate) fn match_all() -> &'static mut [u8] {
    let Some(memory) = malloc(MATCH_ALL.len()) else {
        message::stop("there is no memory for a filter");
    };
    let filter = crate::door::zeroed(memory);
    filter.copy_from_slice(&MATCH_ALL);
    filter
}

/// The value that `make` makes in a box; `None`, and nothing made, where there is no memory.
pub(crate) fn boxed<T>(make: impl FnOnce() -> T) -> Option<Box<T>> {
    // SAFETY: the types used here have a size; what `alloc` gives is written before it is used.
    unsafe {
        let memory = alloc(Layout::new::<T>()).cast::<T>();
        if memory.is_null() {
            return None;
        }
        memory.write(make());
        Some(Box::from_raw(memory))
    }
}

/// A copy of a C string.
pub(crate) struct Text(Vec<u8>);

impl Text {
    pub(crate) fn copy_of(text: &CStr) -> Option<Text> {
        let (text, mut copy) = (text.to_bytes_with_nul(), Vec::new());
        copy.try_reserve_exact(text.len()).ok()?;
        copy.extend_from_slice(text);
        Some(Text(copy))
    }

    /// Stays where it is when `self` is moved.
    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.0).unwrap_or(c"")
    }
}
