//! In which module an address lies.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

/// A loaded module: the program or a library.
pub(super) struct Module {
    /// Where the loader mapped its beginning.
    pub(super) start: *const c_void,
    /// The name of its file, a C string that lives as long as the module; empty or what the program
    /// was called by for the main program.
    pub(super) name: *const c_char,
}

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

impl Module {
    /// The module around `address`.
    // Not inlined into each caller: that saves half a kilobyte.
    #[inline(never)]
    pub(super) fn around(address: *const c_void) -> Option<Module> {
        match find_object() {
            Some(find) => Module::found_by(find, address),
            None => Module::by_symbols(address),
        }
    }

    fn found_by(find: FindObject, address: *const c_void) -> Option<Module> {
        // SAFETY: `find_object` found glibc's function, which takes any address and fills a struct
        // that may be all zeros. Its link map is a loaded module's.
        unsafe {
            let mut found: FoundObject = mem::zeroed();
            if find(address.cast_mut(), &mut found) != 0 {
                return None;
            }
            Some(Module { start: found.map_start, name: (*found.link_map).name })
        }
    }

    fn by_symbols(address: *const c_void) -> Option<Module> {
        let mut info = libc::Dl_info {
            dli_fname: ptr::null(),
            dli_fbase: ptr::null_mut(),
            dli_sname: ptr::null(),
            dli_saddr: ptr::null_mut(),
        };
        // SAFETY: dladdr takes any address and writes `info`.
        let found = unsafe { libc::dladdr(address, &mut info) } != 0;
        (found && !info.dli_fname.is_null())
            .then_some(Module { start: info.dli_fbase, name: info.dli_fname })
    }
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

/// Whether two addresses lie in one module.
#[inline(never)]
pub(super) fn are_one(a: *const c_void, b: *const c_void) -> bool {
    match (Module::around(a), Module::around(b)) {
        (Some(a), Some(b)) => a.start == b.start,
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
        let start = |module: Option<Module>| module.map(|module| module.start);
        for address in [own(), libc, is_own as *const c_void, ptr::null()] {
            assert_eq!(start(Module::around(address)), start(Module::by_symbols(address)));
        }
        assert_eq!(
            [own(), is_own as *const c_void, libc, ptr::null()].map(is_own),
            [true, true, false, false]
        );
        // SAFETY: both names are C strings of a module that stays loaded.
        let name =
            |module: Option<Module>| unsafe { module.map(|module| CStr::from_ptr(module.name)) };
        assert_eq!(name(Module::around(libc)), name(Module::by_symbols(libc)));
        assert!(!are_one(libc, own()) && are_one(libc, libc) && !are_one(ptr::null(), ptr::null()));
    }
}
