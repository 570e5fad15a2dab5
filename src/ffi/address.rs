//! In which module an address lies.

use core::ffi::{CStr, c_void};

#[cfg(not(target_env = "gnu"))]
pub(super) use dladdr::Module;
#[cfg(target_env = "gnu")]
pub(super) use glibc::Module;

#[cfg(not(target_env = "gnu"))]
mod dladdr;
#[cfg(target_env = "gnu")]
mod glibc;

/// Where the loader mapped the beginning of the module around `address`.
fn start(address: *const c_void) -> Option<*const c_void> {
    Module::around(address).map(|module| module.start)
}

/// The name of the file of the module around `address`, `None` for the program's, where it is known
/// to be that.
///
/// # Safety
/// The module stays loaded, as long as the name is used.
pub(super) unsafe fn file<'m>(address: *const c_void) -> Option<&'m CStr> {
    // SAFETY: the caller's word.
    let file = unsafe { Module::around(address)?.file() };
    (!file.is_empty()).then_some(file)
}

/// Something that certainly lies in our own module.
static OWN_ADDRESS: u8 = 0;

/// An address in the module that this library is a part of: its own shared object, or the program
/// or library that it was linked into.
pub(super) fn own() -> *const c_void {
    (&raw const OWN_ADDRESS).cast()
}

/// Whether `address` lies in our own module. A program that is linked statically is none to the
/// loader, and all there is.
#[inline(never)]
pub(super) fn is_own(address: *const c_void) -> bool {
    match start(own()) {
        Some(own) => start(address) == Some(own),
        None => !address.is_null(),
    }
}

/// Whether `address` lies in a library, and not in the program.
#[inline(never)]
pub(super) fn is_in_library(address: *const c_void) -> bool {
    // SAFETY: takes any number. Where the system does not say where the program's headers are, it
    // says 0, which lies in no module.
    let program = unsafe { libc::getauxval(libc::AT_PHDR) } as *const c_void;
    start(address).is_some_and(|start_of_it| Some(start_of_it) != start(program))
}

/// Whether `address` lies in any module.
pub(super) fn is_in_module(address: *const c_void) -> bool {
    start(address).is_some()
}

/// Whether two addresses lie in one module.
#[inline(never)]
pub(super) fn are_one(a: *const c_void, b: *const c_void) -> bool {
    match (start(a), start(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::{mem, ptr};
    use std::assert_eq;

    #[test]
    fn modules_are_those_that_dladdr_finds() {
        let by_symbols = |address: *const c_void| {
            // SAFETY: dladdr takes any address; an info may be all zeros.
            unsafe {
                let mut info = mem::zeroed::<libc::Dl_info>();
                (libc::dladdr(address, &mut info) != 0).then_some(info)
            }
        };
        // SAFETY: a C string.
        let libc = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"getppid".as_ptr()) }.cast_const();
        for address in [own(), libc, is_own as *const c_void, ptr::null()] {
            assert_eq!(start(address), by_symbols(address).map(|info| info.dli_fbase.cast_const()));
        }
        assert_eq!(
            [own(), is_own as *const c_void, libc, ptr::null()].map(is_own),
            [true, true, false, false]
        );
        // SAFETY: nobody unloads the C library, or this program.
        let (file_of_libc, file_of_program) = unsafe { (file(libc), file(own())) };
        // SAFETY: dladdr's names are C strings.
        let by_dladdr = by_symbols(libc).map(|info| unsafe { CStr::from_ptr(info.dli_fname) });
        assert_eq!(file_of_libc, by_dladdr);
        assert!(cfg!(not(target_env = "gnu")) || file_of_program.is_none());
        assert!(!are_one(libc, own()) && are_one(libc, libc) && !are_one(ptr::null(), ptr::null()));
    }
}
