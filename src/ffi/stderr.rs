//! Stderr, as long as it is that: a program that closes it, or is started without it, gives its
//! number to the next file that it opens. Where that is a database's log, a line of ours in it would
//! end what LevelDB reads of it.

use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering};

// The others say nothing of files from 2 GiB on where a number has 32 bits.
#[cfg(not(target_env = "gnu"))]
use libc::{fstat, stat};
#[cfg(target_env = "gnu")]
use libc::{fstat64 as fstat, stat64 as stat};

/// The device and the number of the file that stderr was when the library was loaded; zeros if it
/// was none.
static AT_LOAD: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// For the moment of loading.
#[inline]
pub(super) fn remember() {
    if let Some(file) = file() {
        for (kept, part) in AT_LOAD.iter().zip(identity(&file)) {
            kept.store(part, Ordering::Relaxed);
        }
    }
}

fn file() -> Option<stat> {
    // SAFETY: a stat may be all zeros; fstat takes any number, and fills it.
    unsafe {
        let mut file = mem::zeroed();
        (fstat(libc::STDERR_FILENO, &mut file) == 0).then_some(file)
    }
}

fn identity(file: &stat) -> [usize; 2] {
    [file.st_dev as usize, file.st_ino as usize]
}

/// The descriptor to write messages to: where it is what it was at first, or else what a program
/// redirects its messages to, and no other file's: not closed by exec, and no regular file that is
/// not appended to.
pub(super) fn descriptor() -> Option<libc::c_int> {
    let file = file()?;
    let at_load = AT_LOAD.each_ref().map(|part| part.load(Ordering::Relaxed));
    if identity(&file) == at_load {
        return Some(libc::STDERR_FILENO);
    }
    // SAFETY: takes any number; the two ask for nothing more.
    let ask = |what| unsafe { libc::fcntl(libc::STDERR_FILENO, what) };
    let inherited = ask(libc::F_GETFD) & libc::FD_CLOEXEC == 0;
    let regular = file.st_mode & libc::S_IFMT == libc::S_IFREG;
    let redirected = !regular || ask(libc::F_GETFL) & libc::O_APPEND != 0;
    (inherited && redirected).then_some(libc::STDERR_FILENO)
}
