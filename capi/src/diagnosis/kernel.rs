//! Which kernel is used: the best, or the one that `LEVELDB_BLOOM_KERNEL` names.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use leveldb_bloom::{Encoding, FilterPolicy, Kernel};

use super::environment::variable;
use super::message::Line;

/// The kernel of a policy that is being made. Reads the environment each time, so that one process
/// can have policies with different ones.
pub(crate) fn for_policy() -> &'static Kernel {
    let Some(name) = variable(c"LEVELDB_BLOOM_KERNEL") else { return Kernel::best() };
    name.to_str().ok().and_then(Kernel::by_name).unwrap_or_else(|| {
        refuse(name);
        Kernel::best()
    })
}

static CHOSEN: AtomicPtr<Kernel> = AtomicPtr::new(ptr::null_mut());

/// What works for functions without a policy, and reads both encodings. Its kernel is chosen at the
/// first call.
pub(crate) fn without_policy() -> FilterPolicy {
    chosen().unwrap_or_else(|| {
        let kernel = for_policy();
        CHOSEN.store(ptr::from_ref(kernel).cast_mut(), Ordering::Relaxed);
        of_kernel(kernel)
    })
}

/// [`without_policy`], if it was called before.
#[inline(always)]
pub(crate) fn chosen() -> Option<FilterPolicy> {
    // SAFETY: NULL, or a reference to a static, which `without_policy` has stored.
    let kernel = unsafe { CHOSEN.load(Ordering::Relaxed).as_ref()? };
    Some(of_kernel(kernel))
}

#[inline(always)]
fn of_kernel(kernel: &'static Kernel) -> FilterPolicy {
    FilterPolicy::with_kernel(0, kernel).with_encoding(Encoding::Ribbon)
}

/// A kernel's name for C.
pub(crate) fn c_name(kernel: &Kernel) -> &'static CStr {
    const NAMES: [&CStr; 3] = [c"avx512", c"avx2", c"portable"];
    NAMES.into_iter().find(|name| name.to_bytes() == kernel.name().as_bytes()).unwrap_or(c"unknown")
}

/// Says, once in a process, that there is no such kernel, and which ones there are.
#[cold]
fn refuse(name: &CStr) {
    static REFUSED: AtomicBool = AtomicBool::new(false);
    if REFUSED.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut line = Line::new();
    line.push(b"leveldb_bloom: there is no kernel LEVELDB_BLOOM_KERNEL=");
    // Of a long name the beginning, so that the rest has room.
    line.push(name.to_bytes().get(..40).unwrap_or(name.to_bytes()));
    line.push(b" on this machine; using ");
    line.push(Kernel::best().name().as_bytes());
    line.push(b", and there are:");
    for kernel in Kernel::available() {
        line.push(b" ");
        line.push(kernel.name().as_bytes());
    }
    line.push(b"\n");
    line.write_to(None);
}
