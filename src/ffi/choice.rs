//! Which kernel the C library uses: the best, or the one that `LEVELDB_BLOOM_KERNEL` names.

use core::ffi::{CStr, c_char};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::environment::environment;
use super::line::Line;
use super::memory::Text;
use crate::kernel::Kernel;

/// The kernel for a policy that is being made. Asks the environment each time, so that a test can
/// make policies with different ones.
// Once, not in each caller.
#[inline(never)]
pub(super) fn for_policy() -> &'static Kernel {
    let Some(name) = environment(c"LEVELDB_BLOOM_KERNEL") else { return Kernel::best() };
    match Kernel::named(name.to_bytes()) {
        Some(kernel) => kernel,
        None => {
            refuse(name);
            Kernel::best()
        }
    }
}

static FOR_PROCESS: AtomicPtr<Kernel> = AtomicPtr::new(ptr::null_mut());

/// The kernel of the functions that take no policy: chosen at the first call.
#[inline]
pub(super) fn for_process() -> &'static Kernel {
    chosen().unwrap_or_else(|| {
        let kernel = for_policy();
        FOR_PROCESS.store(ptr::from_ref(kernel).cast_mut(), Ordering::Relaxed);
        kernel
    })
}

/// [`for_process`], if it was called before.
#[inline(always)]
pub(super) fn chosen() -> Option<&'static Kernel> {
    // SAFETY: NULL, or a reference to a static, which `for_process` stored.
    unsafe { FOR_PROCESS.load(Ordering::Relaxed).as_ref() }
}

/// Tells the user that the variable names a kernel that this machine or build does not have, and
/// which ones there are. Once in a process, although every policy asks.
#[cold]
fn refuse(name: &CStr) {
    static REFUSED: AtomicBool = AtomicBool::new(false);
    if REFUSED.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut line = Line::new();
    refusal(&mut line, name, Kernel::failed());
    line.write_to(None);
}

fn refusal(line: &mut Line, name: &CStr, failed: Option<&str>) {
    line.text("leveldb_bloom: ");
    let failed = failed.is_some_and(|failed| failed.as_bytes() == name.to_bytes());
    line.text(if failed { "failed its self-check: " } else { "there is no " });
    line.text("kernel LEVELDB_BLOOM_KERNEL=");
    line.foreign(name);
    line.text(" on this machine; using ");
    line.text(Kernel::best().name());
    line.text(", and there are:");
    for kernel in Kernel::available() {
        line.text(" ");
        line.text(kernel.name());
    }
    line.text("\n");
}

/// `text`, which says what is active, extended where a kernel failed its self-check.
pub(super) fn with_failure(text: &'static CStr) -> *const c_char {
    for_process();
    match Kernel::failed() {
        None => text.as_ptr(),
        Some(failed) => failure(text, failed),
    }
}

/// A copy of `text` that names the kernel that failed. It is never freed, because the caller may
/// keep it; the next call returns the same copy, unless `text` has changed.
#[cold]
fn failure(text: &CStr, failed: &str) -> *const c_char {
    static KEPT: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());
    let mut line = Line::new();
    for byte in text.to_bytes() {
        line.byte(*byte);
    }
    line.text("; kernel ");
    line.text(failed);
    line.text(" failed its self-check, ");
    line.text(for_process().name());
    line.text(" is used");
    let kept = KEPT.load(Ordering::Acquire);
    // SAFETY: NULL, or a C string that was stored below, which nobody frees.
    if !kept.is_null() && unsafe { CStr::from_ptr(kept) }.to_bytes() == line.bytes() {
        return kept;
    }
    let Some(copy) = Text::copy_of(line.bytes()) else { return text.as_ptr() };
    let copy = copy.for_good();
    KEPT.store(copy, Ordering::Release);
    copy
}

/// A kernel's name for C.
pub(super) fn c_name(kernel: &Kernel) -> &'static CStr {
    const NAMES: [&CStr; 4] = [c"avx512", c"avx2", c"neon", c"portable"];
    NAMES.into_iter().find(|name| name.to_bytes() == kernel.name().as_bytes()).unwrap_or(c"unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &CStr, failed: Option<&str>) -> std::string::String {
        let mut line = Line::new();
        super::refusal(&mut line, name, failed);
        core::str::from_utf8(line.bytes()).unwrap().into()
    }

    #[test]
    fn a_refusal_says_why() {
        let absent = refusal(c"neon128", Some("avx512"));
        assert!(absent.contains("there is no kernel LEVELDB_BLOOM_KERNEL=neon128 on"), "{absent}");
        let failed = refusal(c"avx512", Some("avx512"));
        assert!(failed.contains("failed its self-check"), "{failed}");
        assert!(failed.contains("LEVELDB_BLOOM_KERNEL=avx512"), "{failed}");
        assert!(failed.contains("and there are: ") && failed.contains(" portable\n"), "{failed}");
    }

    #[test]
    fn what_is_active_names_a_failed_kernel() {
        let first = failure(c"leveldb_bloom (append-cxx11)", "avx512");
        let want = std::format!(
            "leveldb_bloom (append-cxx11); kernel avx512 failed its self-check, {} is used",
            for_process().name()
        );
        // SAFETY: a text that is kept for good.
        assert_eq!(unsafe { CStr::from_ptr(first) }.to_str(), Ok(&want[..]));
        assert_eq!(failure(c"leveldb_bloom (append-cxx11)", "avx512"), first);
        assert_ne!(failure(c"leveldb_bloom (delegate)", "avx512"), first);
        // SAFETY: as above.
        assert_eq!(unsafe { CStr::from_ptr(first) }.to_str(), Ok(&want[..]));
        // SAFETY: from malloc, and only this test knows it: leak checkers look here too.
        unsafe { libc::free(first.cast_mut().cast()) };
    }
}
