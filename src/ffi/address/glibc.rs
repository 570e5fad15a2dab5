//! glibc's loader, whose link maps also say where a module's tables are.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::super::modules;

/// What the loader says of a module.
pub(in super::super) struct Module {
    pub(super) start: *const c_void,
    link_map: *const LinkMap,
}

/// The beginning of the loader's `struct link_map`.
#[repr(C)]
struct LinkMap {
    base: usize,
    file: *const c_char,
    dynamic: *const c_void,
}

impl Module {
    // Not inlined into each caller: that saves a quarter of a kilobyte.
    #[inline(never)]
    pub(in super::super) fn around(address: *const c_void) -> Option<Module> {
        let Some(find) = find_object() else { return Module::by_symbols(address) };
        // SAFETY: `find_object` found glibc's function, which takes any address and fills a struct
        // that may be all zeros.
        let found = unsafe {
            let mut found = mem::zeroed();
            (find(address.cast_mut(), &mut found) == 0).then_some(found)
        }?;
        Some(Module { start: found.map_start, link_map: found.link_map })
    }

    pub(super) fn by_symbols(address: *const c_void) -> Option<Module> {
        unsafe extern "C" {
            // Not in the crate libc.
            fn dladdr1(
                address: *const c_void,
                info: *mut libc::Dl_info,
                link_map: *mut *const LinkMap,
                flags: c_int,
            ) -> c_int;
        }
        const RTLD_DL_LINKMAP: c_int = 2;

        // SAFETY: dladdr1 takes any address; an info may be all zeros, and with this flag a link
        // map's address is written besides.
        unsafe {
            let (mut info, mut link_map) = (mem::zeroed::<libc::Dl_info>(), ptr::null());
            let found = dladdr1(address, &mut info, &mut link_map, RTLD_DL_LINKMAP) != 0;
            (found && !link_map.is_null()).then_some(Module { start: info.dli_fbase, link_map })
        }
    }

    /// The name of its file, which is empty for the program's.
    ///
    /// # Safety
    /// The module stays loaded, as long as the name is used.
    pub(super) unsafe fn file<'m>(&self) -> &'m CStr {
        // SAFETY: the caller's word: a loaded module's link map is there, and names a C string.
        unsafe { CStr::from_ptr((*self.link_map).file) }
    }

    /// How far it was moved from where it was linked for, and where its dynamic section is. (Not
    /// from the headers in its file: a tool may have put them where nothing is mapped, or beyond
    /// the first page.)
    ///
    /// # Safety
    /// The module stays loaded meanwhile.
    pub(in super::super) unsafe fn dynamic(&self) -> Option<(usize, NonNull<c_void>)> {
        // SAFETY: the caller's word: a loaded module's link map is there.
        let map = unsafe { &*self.link_map };
        Some((map.base, NonNull::new(map.dynamic.cast_mut())?))
    }
}

/// glibc's struct dl_find_object, as far as we read it, with room for what follows.
#[repr(C)]
struct FoundObject {
    flags: u64,
    map_start: *const c_void,
    map_end: *const c_void,
    link_map: *const LinkMap,
    rest: [u64; 12],
}

type FindObject = unsafe extern "C" fn(*mut c_void, *mut FoundObject) -> c_int;

/// `_dl_find_object`, where the C library has it (glibc from 2.35 on). Unlike dladdr it takes no
/// lock and does not look through the module's symbols: of a million those took dladdr
/// milliseconds.
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
            modules::clear_error();
        }
        found = function.map_or(MISSING, NonNull::as_ptr);
        FOUND.store(found, Ordering::Relaxed);
    }
    // SAFETY: glibc gives the name this signature.
    (found != MISSING).then(|| unsafe { mem::transmute::<*mut c_void, FindObject>(found) })
}

#[cfg(test)]
mod tests {
    use super::super::{is_own, own};
    use super::*;
    use std::assert_eq;

    #[test]
    fn both_ways_find_the_same_module() {
        for address in [own(), libc::getppid as *const c_void, is_own as *const c_void, ptr::null()]
        {
            let [a, b] = [Module::around(address), Module::by_symbols(address)];
            let [a, b] = [a, b].map(|found| found.map(|module| (module.start, module.link_map)));
            assert_eq!(a, b);
        }
    }
}
