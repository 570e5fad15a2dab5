//! Lines of text, each written at once.

use core::ffi::{CStr, c_int};
use core::fmt;

/// A line on the stack. What does not fit is left out.
pub(crate) struct Line {
    bytes: [u8; 512],
    len: usize,
}

impl Line {
    pub(crate) fn new() -> Line {
        Line { bytes: [0; 512], len: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for (place, byte) in self.bytes.iter_mut().skip(self.len).zip(bytes) {
            *place = *byte;
            self.len += 1;
        }
    }

    /// Appends the line to the file at `path`, or writes it to stderr. What cannot be written is
    /// lost.
    pub(crate) fn write_to(&self, path: Option<&CStr>) {
        const STDERR: c_int = 2;
        let append = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT;
        #[cfg(windows)]
        let append = append | libc::O_BINARY;
        // Nor is the host kept waiting by a pipe that nobody reads.
        #[cfg(unix)]
        let append = append | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
        // SAFETY: the path is a C string, and no more bytes are written than there are.
        unsafe {
            let file = path.map_or(STDERR, |path| libc::open(path.as_ptr(), append, 0o644));
            if file >= 0 {
                libc::write(file, self.bytes.as_ptr().cast(), self.len as _);
            }
            if file >= 0 && path.is_some() {
                libc::close(file);
            }
        }
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// Says why, and ends the process.
#[cold]
pub(crate) fn stop(why: &str) -> ! {
    let mut line = Line::new();
    line.push(b"leveldb_bloom: ");
    line.push(why.as_bytes());
    line.push(b"\n");
    line.write_to(None);
    // SAFETY: takes nothing.
    unsafe { libc::abort() }
}
