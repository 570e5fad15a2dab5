//! Says what was being compared when the process came to its end.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::compare::NOW;

/// Set by SIGINT and SIGTERM: the random stage is to end, and what was compared to be reported.
pub static ENOUGH: AtomicBool = AtomicBool::new(false);

static SEED: AtomicU64 = AtomicU64::new(0);

/// From now on a crash or a panic tells the seed and the case.
pub fn report(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
    let handler: extern "C" fn(libc::c_int) = crashed;
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
        // SAFETY: the handler only writes to a file descriptor.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

/// From now on Ctrl-C ends the random stage as if enough had been asked; the second one the
/// process.
pub fn end_when_interrupted() {
    let handler: extern "C" fn(libc::c_int) = interrupted;
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only sets a flag, and the default for the next time.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

extern "C" fn interrupted(signal: libc::c_int) {
    ENOUGH.store(true, Ordering::Relaxed);
    // SAFETY: may be called in a handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

extern "C" fn crashed(signal: libc::c_int) {
    let now = NOW.get();
    let mut text = [0u8; 400];
    let mut rest = &mut text[..];
    // What does not fit is cut off.
    let _ = writeln!(
        rest,
        "signal {signal} in {} ({} kernel): {} {}, scripts/verify.sh --seed {}",
        now.door,
        now.kernel,
        now.stage,
        now.unit,
        SEED.load(Ordering::Relaxed),
    );
    let length = 400 - rest.len();
    // SAFETY: writes what was written; then ends the process as it would have without us.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), length);
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
