//! In which module an address lies.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

/// glibc's struct of that name, as far as we read it, with room for what follows.
#[repr(C)]
struct FoundObject {
    flags: u64,
    map_start: *const c_void,
    map_end: *const c_void,
    link_map: *const LinkMap,
    rest: [u64; 12],
}

/// The beginning of the loader's `struct link_map`.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
}

/// Where the loader mapped the beginning of the module around `address`.
// Not inlined into each caller: that saves half a kilobyte.
#[inline(never)]
pub(super) fn start(address: *const c_void) -> Option<*const c_void> {
    match find_object() {
        Some(find) => find_by(find, address).map(|found| found.map_start),
        None => by_symbols(address).map(|info| info.dli_fbase.cast_const()),
    }
}

/// The name of the file of the module around `address`, `None` for the program's, where it is known to
/// be that.
///
/// # Safety
/// The module stays loaded, as long as the name is used.
pub(super) unsafe fn file<'m>(address: *const c_void) -> Option<&'m CStr> {
    // SAFETY: the caller's word: a loaded module's link map, and its name, are there, and C strings.
    let file = unsafe {
        CStr::from_ptr(match find_object() {
            Some(find) => (*find_by(find, address)?.link_map).name,
            None => by_symbols(address)?.dli_fname,
        })
    };
    (!file.is_empty()).then_some(file)
}

fn find_by(find: FindObject, address: *const c_void) -> Option<FoundObject> {
    // SAFETY: `find_object` found glibc's function, which takes any address and fills a struct that may
    // be all zeros.
    unsafe {
        let mut found = mem::zeroed();
        (find(address.cast_mut(), &mut found) == 0).then_some(found)
    }
}

fn by_symbols(address: *const c_void) -> Option<libc::Dl_info> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: dladdr takes any address and writes `info`.
    let found = unsafe { libc::dladdr(address, &mut info) } != 0;
    (found && !info.dli_fname.is_null()).then_some(info)
}

type FindObject = unsafe extern "C" fn(*mut c_void, *mut FoundObject) -> c_int;

/// `_dl_find_object`, where the C library has it (glibc from 2.35 on). Unlike dladdr it takes no lock
/// and does not look through the module's symbols: of a million those took dladdr milliseconds.
fn find_object() -> Option<FindObject> {
    static FOUND: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    /// What no function's address is.
    const MISSING: *mut c_void = ptr::without_provenance_mut(1);
    const NAME: &CStr = c"_dl_find_object";

    let mut found = FOUND.load(Ordering::Relaxed);
    if found.is_null() {
        // SAFETY: a C string; whatever the process has of that name is the C library's.
        let function = NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, NAME.as_ptr()) });
        if function.is_none() {
            // SAFETY: takes nothing. Forgets the message, which the host might take for its own.
            unsafe { libc::dlerror() };
        }
        found = function.map_or(MISSING, NonNull::as_ptr);
        FOUND.store(found, Ordering::Relaxed);
    }
    // SAFETY: glibc gives the name this signature.
    (found != MISSING).then(|| unsafe { mem::transmute::<*mut c_void, FindObject>(found) })
}

/// Something that certainly lies in our own module.
static OWN_ADDRESS: u8 = 0;

/// An address in the module that this library is a part of: its own shared object, or the program or
/// library that it was linked into.
pub(super) fn own() -> *const c_void {
    (&raw const OWN_ADDRESS).cast()
}

/// Whether `address` lies in our own module.
#[inline(never)]
pub(super) fn is_own(address: *const c_void) -> bool {
    are_one(address, own())
}

/// Whether `address` lies in a library, and not in the program.
#[inline(never)]
pub(super) fn is_in_library(address: *const c_void) -> bool {
    // SAFETY: takes any number. Where the system does not say where the program's headers are, it says
    // 0, which lies in no module.
    let program = unsafe { libc::getauxval(libc::AT_PHDR) } as *const c_void;
    start(address).is_some_and(|start_of_it| Some(start_of_it) != start(program))
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
    use std::assert_eq;

    #[test]
    fn both_ways_find_the_same_module() {
        // SAFETY: a C string.
        let libc = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"getppid".as_ptr()) }.cast_const();
        let start_by_symbols =
            |address| by_symbols(address).map(|info| info.dli_fbase.cast_const());
        for address in [own(), libc, is_own as *const c_void, ptr::null()] {
            assert_eq!(start(address), start_by_symbols(address));
        }
        assert_eq!(
            [own(), is_own as *const c_void, libc, ptr::null()].map(is_own),
            [true, true, false, false]
        );
        // SAFETY: nobody unloads the C library, or this program.
        let (file_of_libc, file_of_program) = unsafe { (file(libc), file(own())) };
        // SAFETY: dladdr's names are C strings.
        let by_symbols = by_symbols(libc).map(|info| unsafe { CStr::from_ptr(info.dli_fname) });
        assert_eq!(file_of_libc, by_symbols);
        assert!(find_object().is_none() || file_of_program.is_none());
        assert!(!are_one(libc, own()) && are_one(libc, libc) && !are_one(ptr::null(), ptr::null()));
    }
}
