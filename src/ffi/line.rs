//! A line for the user: statistics, a report of a check, a refusal.

use core::ffi::{CStr, c_int, c_ulong};
use core::{mem, ptr};

use super::stderr;

/// A line of text on the stack. What does not fit is left out (it always fits).
pub(super) struct Line {
    bytes: [u8; 512],
    len: usize,
}

impl Line {
    // As below.
    #[inline(never)]
    pub(super) fn new() -> Line {
        Line { bytes: [0; 512], len: 0 }
    }

    // Seldom called, from many places.
    #[inline(never)]
    pub(super) fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.byte(byte);
        }
    }

    #[inline(never)]
    pub(super) fn byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }

    /// The beginning of a text that is not ours, so that the rest of the line fits.
    #[inline(never)]
    pub(super) fn foreign(&mut self, text: &CStr) {
        for byte in text.to_bytes().iter().take(40) {
            self.byte(*byte);
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    // As above.
    #[inline(never)]
    pub(super) fn text_and_number(&mut self, text: &str, mut number: u64) {
        self.text(text);
        let mut digits = [0; 20];
        let mut first = digits.len();
        for (i, digit) in digits.iter_mut().enumerate().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
            first = i;
            if number == 0 {
                break;
            }
        }
        for &digit in digits.iter().skip(first) {
            self.byte(digit);
        }
    }

    /// Appends the line to the file at `path`, or writes it to stderr if there is none. What cannot
    /// be written is lost. A file at a path is not waited for (a pipe without a reader, or a full
    /// one); stderr is, as by whatever else the program writes there. No signal ends the program
    /// (for a pipe without a reader, or a file beyond the limit of file sizes). Nor does a thread
    /// end here for which pthread_cancel was called: it would leave its policy half destroyed.
    #[inline(never)]
    pub(super) fn write_to(&self, path: Option<&CStr>) {
        without_cancellation(|| self.append_to(path));
    }

    fn append_to(&self, path: Option<&CStr>) {
        let append = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_LARGEFILE;
        let apart = libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
        let bytes = self.bytes();
        // SAFETY: the path is a C string; of the bytes no more are written than there are. If a
        // write fails, the user has no line, and nothing else happens.
        unsafe {
            let file = match path {
                Some(path) => libc::open(path.as_ptr(), append | apart, 0o644),
                None => stderr::descriptor().unwrap_or(-1),
            };
            if file < 0 {
                return;
            }
            without_signals(|| libc::write(file, bytes.as_ptr().cast(), bytes.len()) >= 0);
            if path.is_some() {
                libc::close(file);
            }
        }
    }
}

/// Runs what would end a thread for which pthread_cancel was called.
pub(super) fn without_cancellation(run: impl FnOnce()) {
    unsafe extern "C" {
        // Not in the crate libc.
        fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    }
    /// In glibc and musl.
    const PTHREAD_CANCEL_DISABLE: c_int = 1;

    let mut before = 0;
    // SAFETY: one of the two states there are, and a place for the one before.
    unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut before) };
    run();
    // SAFETY: the state that the call above returned; NULL is allowed.
    unsafe { pthread_setcancelstate(before, ptr::null_mut()) };
}

/// Runs `write`, which returns whether it succeeded, and takes back the signal that it may have
/// raised in this thread. A signal that was pending before stays pending.
fn without_signals(write: impl FnOnce() -> bool) {
    /// A bit for each of the first signals, as every C library for Linux passes them to it. (With
    /// sigaddset and sigismember the library had 336 bytes more.)
    fn first_word(set: &mut libc::sigset_t) -> &mut c_ulong {
        const { assert!(align_of::<libc::sigset_t>() >= align_of::<c_ulong>()) };
        // SAFETY: a set begins with a word, and has no bits that must not be set.
        unsafe { &mut *ptr::from_mut(set).cast() }
    }
    // SIGPIPE: nobody reads the pipe. SIGXFSZ: the file would become too large.
    const RAISED: c_ulong = 1 << (libc::SIGPIPE - 1) | 1 << (libc::SIGXFSZ - 1);
    // SAFETY: a set may be all zeros, and all are filled before they are read; with a time of 0
    // sigtimedwait does not wait.
    unsafe {
        let mut ours: libc::sigset_t = mem::zeroed();
        let (mut before, mut pending) = (ours, ours);
        *first_word(&mut ours) = RAISED;
        libc::pthread_sigmask(libc::SIG_BLOCK, &ours, &mut before);
        libc::sigpending(&mut pending);
        *first_word(&mut ours) &= !*first_word(&mut pending);
        if !write() {
            let at_once = mem::zeroed();
            libc::sigtimedwait(&ours, ptr::null_mut(), &at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut());
    }
}
