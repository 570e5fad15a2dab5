//! Stderr, as long as it is that: a program that closes it, or is started without it, gives its
//! number to the next file that it opens. Where that is a database's log, a line of ours in it
//! would end what LevelDB reads of it.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicUsize, Ordering};

#[cfg(not(target_env = "gnu"))]
use libc::{fstat, stat};
// glibc's fstat says nothing of files from 2 GiB on where a number has 32 bits.
#[cfg(target_env = "gnu")]
use libc::{fstat64 as fstat, stat64 as stat};

/// The device and the number of the file that stderr was when the library was loaded, and when it
/// had last changed; zeros if it was none.
static AT_LOAD: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// For the moment of loading. A regular file that exec closes was opened in this process, before it
/// loaded us, and may be a database's. (Node has exec close stderr, too, which is seldom a regular
/// file.)
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
    /// As `AT_LOAD`.
    identity: [usize; 3],
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
        identity: [
            file.st_dev as usize,
            file.st_ino as usize,
            changed(file.st_ctime as usize, file.st_ctime_nsec as usize),
        ],
        inherited: ask(libc::F_GETFD) & libc::FD_CLOEXEC == 0,
        regular: file.st_mode & libc::S_IFMT == libc::S_IFREG,
    })
}

fn ask(what: c_int) -> c_int {
    // SAFETY: takes any number; the two that are asked need nothing more.
    unsafe { libc::fcntl(libc::STDERR_FILENO, what) }
}

/// When the file that has stderr's number was made; 0 where the system does not say.
fn birth() -> usize {
    /// The kernel's struct statx.
    #[repr(C)]
    struct Known {
        before: [u64; 10],
        second: i64,
        nanosecond: u32,
        behind: [u32; 41],
    }
    const STATX_BTIME: c_int = 0x800;

    let mut known = MaybeUninit::<Known>::uninit();
    let place = known.as_mut_ptr();
    // SAFETY: what is read is written first. The kernel, where it knows the call (C libraries may
    // not), fills what it is given, or nothing.
    unsafe {
        ((*place).second, (*place).nanosecond) = (0, 0);
        let (name, flags) = (c"".as_ptr(), libc::AT_EMPTY_PATH);
        libc::syscall(libc::SYS_statx, libc::STDERR_FILENO, name, flags, STATX_BTIME, place);
        time((*place).second as usize, (*place).nanosecond as usize)
    }
}

/// When a file last changed, to compare with `birth`: later than any where its file system rounds
/// that to seconds, as VFAT does to even ones, so that a new file seems to have changed before it
/// was made.
fn changed(second: usize, nanosecond: usize) -> usize {
    if nanosecond == 0 { usize::MAX } else { time(second, nanosecond) }
}

/// In nanoseconds, or in seconds where a word has not room for more.
fn time(second: usize, nanosecond: usize) -> usize {
    if cfg!(target_pointer_width = "64") {
        second.wrapping_mul(1_000_000_000).wrapping_add(nanosecond)
    } else {
        second
    }
}

/// The descriptor to write messages to: where it is what it was at first, or else what a program
/// redirects its messages to, and no other file's: not closed by exec, and no regular file that is
/// not appended to.
pub(super) fn descriptor() -> Option<c_int> {
    let File { identity: [device, number, _], inherited, regular } = file()?;
    let [device_at_load, number_at_load, changed] =
        AT_LOAD.each_ref().map(|part| part.load(Ordering::Relaxed));
    // File systems give a new file the number of one that is gone.
    let same =
        [device, number] == [device_at_load, number_at_load] && !(regular && birth() > changed);
    let redirected = || !regular || ask(libc::F_GETFL) & libc::O_APPEND != 0;
    (same || (inherited && redirected())).then_some(libc::STDERR_FILENO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_new_where_times_are_rounded() {
        let made = time(1_700_000_001, 530_000_000);
        assert!(changed(1_700_000_000, 0) >= made);
        assert!(changed(1_700_000_000, 530_000_000) < made);
    }
}
