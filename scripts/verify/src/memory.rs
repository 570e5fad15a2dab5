//! Memory that begins and ends at pages nobody may touch.

use std::ptr;

pub const PAGE: usize = 4096;

/// Whole pages between two that fault. They stay until the process ends.
pub struct Guarded(&'static mut [u8]);

impl Guarded {
    pub fn new(len: usize) -> Guarded {
        let len = len.next_multiple_of(PAGE);
        // SAFETY: fresh memory, of which the first and the last page are taken away again.
        unsafe {
            let map = libc::mmap(
                ptr::null_mut(),
                len + 2 * PAGE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            );
            assert_ne!(map, libc::MAP_FAILED, "no memory");
            let start = map.cast::<u8>().add(PAGE);
            let usable = libc::mprotect(start.cast(), len, libc::PROT_READ | libc::PROT_WRITE);
            assert_eq!(usable, 0, "no memory");
            Guarded(std::slice::from_raw_parts_mut(start, len))
        }
    }

    pub fn all(&mut self) -> &mut [u8] {
        self.0
    }

    /// Puts `bytes` at the end, or at the start.
    pub fn put(&mut self, bytes: &[u8], at_end: bool) -> &[u8] {
        let start = if at_end { self.0.len() - bytes.len() } else { 0 };
        let place = &mut self.0[start..start + bytes.len()];
        place.copy_from_slice(bytes);
        place
    }
}
