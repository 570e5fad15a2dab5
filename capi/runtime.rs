//! What a library without std must define, once for the shared and the static library.

use core::alloc::{GlobalAlloc, Layout};

/// No release build can panic, which a test checks. A debug build, with its overflow checks, ends the
/// process before it could unwind into C.
#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: takes nothing.
    unsafe { libc::abort() }
}

struct Malloc;

#[global_allocator]
static ALLOCATOR: Malloc = Malloc;

// SAFETY: malloc's memory is aligned for a word; for a larger alignment there is none. (The library
// keeps policies, bytes, keys and hashes in it.)
unsafe impl GlobalAlloc for Malloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > align_of::<u64>() {
            return core::ptr::null_mut();
        }
        // SAFETY: malloc takes any size.
        unsafe { libc::malloc(layout.size()).cast() }
    }

    unsafe fn realloc(&self, memory: *mut u8, _layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `alloc` gave it, and its owner has it still.
        unsafe { libc::realloc(memory.cast(), size).cast() }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _layout: Layout) {
        // SAFETY: `alloc` gave it, and its owner has it still.
        unsafe { libc::free(memory.cast()) }
    }
}
