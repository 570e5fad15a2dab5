//! Which kernel the C library uses: the fastest, or the one that `LEVELDB_BLOOM_KERNEL` names.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::stats::{Line, environment};
use crate::kernel::Kernel;

/// The kernel for a policy that is being made. Asks the environment each time, so that a test can
/// make policies with different ones.
pub(super) fn for_policy() -> &'static Kernel {
    let Some(name) = environment(c"LEVELDB_BLOOM_KERNEL") else { return Kernel::best() };
    match name.to_str().ok().and_then(Kernel::by_name) {
        Some(kernel) => kernel,
        None => {
            refuse(name);
            Kernel::best()
        }
    }
}

/// The kernel of the functions that take no policy: chosen at the first call.
#[inline]
pub(super) fn for_process() -> &'static Kernel {
    static CHOSEN: AtomicPtr<Kernel> = AtomicPtr::new(ptr::null_mut());
    // SAFETY: NULL, or the reference to a static that was stored below.
    match unsafe { CHOSEN.load(Ordering::Relaxed).as_ref() } {
        Some(kernel) => kernel,
        None => {
            let kernel = for_policy();
            CHOSEN.store(ptr::from_ref(kernel).cast_mut(), Ordering::Relaxed);
            kernel
        }
    }
}

/// Tells whoever asked for a kernel that this machine or build does not have which ones it has.
/// Once a process: the variable does not change between policies.
#[cold]
fn refuse(name: &CStr) {
    static REFUSED: AtomicPtr<Kernel> = AtomicPtr::new(ptr::null_mut());
    let refused = ptr::from_ref(Kernel::best()).cast_mut();
    if !REFUSED.swap(refused, Ordering::Relaxed).is_null() {
        return;
    }
    let mut line = Line::new();
    line.text("leveldb_bloom: there is no kernel LEVELDB_BLOOM_KERNEL=");
    for byte in name.to_bytes().iter().take(40) {
        line.byte(*byte);
    }
    line.text(" on this machine; using ");
    line.text(Kernel::best().name());
    line.text(", and there are:");
    for kernel in Kernel::available() {
        line.text(" ");
        line.text(kernel.name());
    }
    line.text("\n");
    line.write_to(ptr::null());
}

/// A kernel's name for C.
pub(super) fn c_name(kernel: &Kernel) -> &'static CStr {
    const NAMES: [&CStr; 4] = [c"avx512", c"avx2", c"neon", c"portable"];
    NAMES.into_iter().find(|name| name.to_bytes() == kernel.name().as_bytes()).unwrap_or(c"unknown")
}
