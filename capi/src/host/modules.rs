//! The modules that are loaded in a process of which we know nothing else, and their names.

use alloc::vec::Vec;
use core::ffi::{CStr, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::symbols::Symbol;
use super::{CREATE, CREATE_BLOOM, DESTROY, NEW_POLICY};
use crate::memory::Text;

/// Where names are looked up.
pub(super) enum Scope {
    /// What was linked statically with us.
    Linked,
    /// A library and what it links, also where that was loaded with RTLD_LOCAL.
    Library(Handle),
    /// What the whole process sees, and what was loaded with us.
    Global,
}

/// A library that is kept loaded while we look into it.
pub(super) struct Handle(NonNull<c_void>);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: dlopen gave the handle, which is closed once.
        unsafe { libc::dlclose(self.0.as_ptr()) };
    }
}

impl Handle {
    /// The loaded library of that file, or the program.
    fn open(file: Option<&CStr>) -> Option<Handle> {
        let (file, flags) = match file {
            Some(file) => (file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD),
            None => (core::ptr::null(), libc::RTLD_LAZY),
        };
        // SAFETY: NULL, for the program, or a C string. Nothing is loaded.
        NonNull::new(unsafe { libc::dlopen(file, flags) }).map(Handle)
    }

    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        look_up(self.0.as_ptr(), name)
    }
}

impl Scope {
    /// The library around `address`. `None` for the program, whose names are in the global scope,
    /// for our own module, and for code in no module.
    pub(super) fn of_library(address: *const c_void) -> Option<Scope> {
        let module = Module::around(address)?;
        // SAFETY: takes any number. Where the system does not know it, it is 0.
        let program = unsafe { libc::getauxval(libc::AT_PHDR) } as *const c_void;
        if is_own(address) || are_together(address, program) {
            return None;
        }
        Handle::open(Some(module.file)).map(Scope::Library)
    }

    /// One of the names that only others define.
    pub(super) fn find(&self, symbol: Symbol) -> Option<NonNull<c_void>> {
        match self {
            Scope::Linked => symbol.linked(),
            Scope::Library(library) => library.find(symbol.name()),
            Scope::Global => look_up(libc::RTLD_DEFAULT, symbol.name()),
        }
    }

    /// Another's definition of a name that we define, too.
    pub(super) fn find_another(&self, name: &CStr) -> Option<NonNull<c_void>> {
        match self {
            Scope::Linked => None,
            Scope::Library(library) => library.find(name).filter(is_anothers),
            Scope::Global if first() == First::Ours => next(name),
            Scope::Global => look_up(libc::RTLD_DEFAULT, name).filter(is_anothers),
        }
    }
}

fn look_up(handle: *mut c_void, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: an open handle, or one of the two that stand for a scope; a C string.
    NonNull::new(unsafe { libc::dlsym(handle, name.as_ptr()) })
}

/// The next definition of `name` behind our own, in the order in which the process looks.
pub(super) fn next(name: &CStr) -> Option<NonNull<c_void>> {
    look_up(libc::RTLD_NEXT, name).filter(is_anothers)
}

/// Whose definitions of LevelDB's names the process uses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    Ours,
    Anothers,
    /// Nobody's: we were loaded with RTLD_LOCAL, and no LevelDB is in the global scope.
    Nobodys,
}

/// Of one name the first may be a function that calls ours, or the program's entry for a function of
/// which it takes the address: any that is ours tells.
pub(super) fn first() -> First {
    // Not by RTLD_DEFAULT, which for us includes ourselves in any case.
    let process = Handle::open(None);
    let found = [CREATE_BLOOM, NEW_POLICY, CREATE, DESTROY]
        .map(|name| process.as_ref().and_then(|process| process.find(name)));
    if found.iter().flatten().any(|found| is_own(found.as_ptr())) {
        First::Ours
    } else if found.iter().take(2).all(Option::is_some) {
        First::Anothers
    } else {
        First::Nobodys
    }
}

/// Shows `visitor` every loaded library.
pub(super) fn for_each_library(mut visitor: impl FnMut(&Scope)) {
    unsafe extern "C" fn collect(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        files: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes an info, whose name is a C string, and what it was given below.
        let (file, files) =
            unsafe { (CStr::from_ptr((*info).dlpi_name), &mut *files.cast::<Vec<Text>>()) };
        let file = Text::copy_of(file).filter(|_| !file.is_empty() && files.try_reserve(1).is_ok());
        // `try_reserve` has made room; the comparison lets the compiler leave out a panic.
        if let (Some(file), true) = (file, files.len() < files.capacity()) {
            files.push(file);
        }
        0
    }
    let mut files = Vec::<Text>::new();
    // Opened when the loader has let go of its lock.
    // SAFETY: `collect` is called with `files`, which nobody else uses meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut files).cast()) };
    for file in &files {
        if let Some(library) = Handle::open(Some(file.as_c_str())) {
            visitor(&Scope::Library(library));
        }
    }
}

/// A module of the process.
struct Module {
    start: *const c_void,
    file: &'static CStr,
}

impl Module {
    /// The one around `address`, which must stay loaded as long as its name is used.
    fn around(address: *const c_void) -> Option<Module> {
        let mut info = MaybeUninit::<libc::Dl_info>::uninit();
        // SAFETY: dladdr takes any address, and fills `info` if it is in a module.
        unsafe {
            if libc::dladdr(address, info.as_mut_ptr()) == 0 {
                return None;
            }
            let info = info.assume_init();
            let start = info.dli_fbase.cast_const();
            (!info.dli_fname.is_null())
                .then(|| Module { start, file: CStr::from_ptr(info.dli_fname) })
        }
    }
}

/// Whether `address` lies in the module that this library is, or was linked into. A program that is
/// linked statically is no module to the loader, and all there is.
pub(super) fn is_own(address: *const c_void) -> bool {
    static OURS: u8 = 0;
    are_together(address, (&raw const OURS).cast())
}

fn is_anothers(found: &NonNull<c_void>) -> bool {
    !is_own(found.as_ptr())
}

/// Whether two addresses lie in one module.
pub(super) fn are_together(a: *const c_void, b: *const c_void) -> bool {
    let start = |address| Module::around(address).map(|module| module.start);
    start(a) == start(b)
}

/// The size of the object at `address`, as its module's table of symbols has it.
#[cfg(target_env = "gnu")]
pub(super) fn size_of_object(address: *const c_void) -> Option<usize> {
    #[cfg(not(target_pointer_width = "64"))]
    use libc::Elf32_Sym as Sym;
    #[cfg(target_pointer_width = "64")]
    use libc::Elf64_Sym as Sym;
    unsafe extern "C" {
        // Not in the crate libc.
        fn dladdr1(
            address: *const c_void,
            info: *mut libc::Dl_info,
            symbol: *mut *const Sym,
            flags: c_int,
        ) -> c_int;
    }
    const RTLD_DL_SYMENT: c_int = 1;
    let (mut info, mut symbol) = (MaybeUninit::uninit(), core::ptr::null());
    // SAFETY: dladdr1 takes any address, and fills both if it is in a module.
    unsafe {
        let found = dladdr1(address, info.as_mut_ptr(), &mut symbol, RTLD_DL_SYMENT) != 0;
        symbol.as_ref().filter(|_| found).map(|symbol| symbol.st_size as usize)
    }
}

#[cfg(not(target_env = "gnu"))]
pub(super) fn size_of_object(_address: *const c_void) -> Option<usize> {
    None
}

/// Takes back the message that a failed look-up left for dlerror.
pub(super) fn forget_error() {
    if cfg!(target_env = "gnu") {
        // glibc forgets it at the next success. Its dlerror would first translate the message, which
        // does not work yet where the loader is still linking the program.
        look_up(libc::RTLD_DEFAULT, c"getauxval");
    } else {
        // SAFETY: takes nothing.
        unsafe { libc::dlerror() };
    }
}
