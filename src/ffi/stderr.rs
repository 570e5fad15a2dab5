//! Stderr, as long as it is that: a program that closes it, or is started without it, gives its
//! number to the next file that it opens. Where that is a database's log, a line of ours in it would
//! end what LevelDB reads of it.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicUsize, Ordering};

// The others say nothing of files from 2 GiB on where a number has 32 bits.
#[cfg(not(target_env = "gnu"))]
use libc::{fstat, stat};
#[cfg(target_env = "gnu")]
use libc::{fstat64 as fstat, stat64 as stat};

/// The device and the number of the file that stderr was when the library was loaded; zeros if it
/// was none.
static AT_LOAD: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// For the moment of loading. A regular file that exec closes was opened in this process, before it loaded
/// us, and may be a database's. (Node has exec close stderr, too, which is seldom a regular file.)
#[inline]
pub(super) fn remember() {
    if let Some(file) = file().filter(|file| file.inherited || !file.regular) {
        for (kept, part) in AT_LOAD.iter().zip(file.identity) {
            kept.store(part, Ordering::Relaxed);
        }
    }
}

/// What has stderr's number.
struct File {
    identity: [usize; 2],
    /// Whether exec leaves it open.
    inherited: bool,
    regular: bool,
}

fn file() -> Option<File> {
    let mut file = MaybeUninit::<stat>::uninit();
    // SAFETY: fstat takes any number, and fills what it is given where it says 0.
    let file = unsafe {
        let found = fstat(libc::STDERR_FILENO, file.as_mut_ptr()) == 0;
        found.then(|| file.assume_init_ref())?
    };
    Some(File {
        identity: [file.st_dev as usize, file.st_ino as usize],
        inherited: ask(libc::F_GETFD) & libc::FD_CLOEXEC == 0,
        regular: file.st_mode & libc::S_IFMT == libc::S_IFREG,
    })
}

fn ask(what: libc::c_int) -> libc::c_int {
    // SAFETY: takes any number; the two that are asked need nothing more.
    unsafe { libc::fcntl(libc::STDERR_FILENO, what) }
}

/// The descriptor to write messages to: where it is what it was at first, or else what a program
/// redirects its messages to, and no other file's: not closed by exec, and no regular file that is
/// not appended to.
pub(super) fn descriptor() -> Option<libc::c_int> {
    let File { identity, inherited, regular } = file()?;
    let at_load = AT_LOAD.each_ref().map(|part| part.load(Ordering::Relaxed));
    let redirected = || !regular || ask(libc::F_GETFL) & libc::O_APPEND != 0;
    (identity == at_load || (inherited && redirected())).then_some(libc::STDERR_FILENO)
}
