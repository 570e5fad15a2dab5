//! The modules that are loaded in a process of which we know nothing else, and their symbols.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{self, NonNull};

use super::memory;

/// Where names are looked up.
pub(super) enum Scope {
    /// What the whole process sees: the program, what it links, what is preloaded.
    Global,
    /// One module and what it links, also where that was loaded with RTLD_LOCAL.
    Module(Handle),
}

/// A module kept loaded while we look into it.
pub(super) struct Handle(NonNull<c_void>);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: dlopen gave the handle, and this closes it once. If whoever loaded the module has
        // closed it meanwhile, it is unloaded here, as it would have been there.
        unsafe { libc::dlclose(self.0.as_ptr()) };
    }
}

impl Scope {
    /// The loaded module of that file name.
    fn of_file(name: &CStr) -> Option<Scope> {
        // SAFETY: the name is a C string. With NOLOAD nothing is loaded, and no initialiser runs.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        NonNull::new(handle).map(|handle| Scope::Module(Handle(handle)))
    }

    /// The module that contains `address`; for the main program the global scope, in which its
    /// names come first. (The main program cannot be opened by its name, which is what it was
    /// called by: dlopen would look for such a file everywhere, and open whatever has that name.)
    pub(super) fn of_address(address: *const c_void) -> Option<Scope> {
        let module = Module::of(address)?;
        // SAFETY: takes any number. Where the system does not say where the program's headers are,
        // it says 0, which lies in no module.
        let program = unsafe { libc::getauxval(libc::AT_PHDR) } as *const c_void;
        if are_one(address, program) {
            return Some(Scope::Global);
        }
        // SAFETY: dladdr's name is a C string that lives as long as the module, and the module runs
        // the code at `address`, which is calling us.
        let name = unsafe { CStr::from_ptr(module.name) };
        Some(Scope::of_file(name).unwrap_or(Scope::Global))
    }

    /// The address of `name`. A definition in our own module does not count, since others' are
    /// looked for: in the global scope the next one is taken, and in a module's nothing, although
    /// the module may link one behind ours. The next definition would be that of whoever loaded us
    /// first, not the module's.
    // Neither this nor `is_own` is inlined into each caller: that saves 0.8 KB.
    #[inline(never)]
    pub(super) fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let handle = match self {
            Scope::Global => libc::RTLD_DEFAULT,
            Scope::Module(handle) => handle.0.as_ptr(),
        };
        // SAFETY: the `Handle` is open as long as `self`; `name` is a C string.
        let found = NonNull::new(unsafe { libc::dlsym(handle, name.as_ptr()) })?;
        match self {
            _ if !is_own(found.as_ptr()) => Some(found),
            Scope::Global => next(name),
            Scope::Module(_) => None,
        }
    }
}

/// The next definition of `name` after our own module, in the order in which the process looks.
pub(super) fn next(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: `name` is a C string, and RTLD_NEXT needs no handle.
    let found = NonNull::new(unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) })?;
    (!is_own(found.as_ptr())).then_some(found)
}

/// The definition of `name` that the process uses, ours or not. Not by RTLD_DEFAULT: asked by us,
/// that includes ourselves even where we were loaded with RTLD_LOCAL.
pub(super) fn first(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: NULL stands for the main program, whose handle looks through the global scope; a C
    // string.
    unsafe {
        let global = Handle(NonNull::new(libc::dlopen(ptr::null(), libc::RTLD_LAZY))?);
        NonNull::new(libc::dlsym(global.0.as_ptr(), name.as_ptr()))
    }
}

/// Forgets the message of a failed look-up, which the host might take for its own.
pub(super) fn clear_error() {
    // SAFETY: takes nothing.
    unsafe { libc::dlerror() };
}

struct Module {
    base: *mut c_void,
    name: *const c_char,
}

impl Module {
    fn of(address: *const c_void) -> Option<Module> {
        let mut info = libc::Dl_info {
            dli_fname: ptr::null(),
            dli_fbase: ptr::null_mut(),
            dli_sname: ptr::null(),
            dli_saddr: ptr::null_mut(),
        };
        // SAFETY: dladdr takes any address and writes `info`.
        let found = unsafe { libc::dladdr(address, &mut info) } != 0;
        (found && !info.dli_fname.is_null())
            .then_some(Module { base: info.dli_fbase, name: info.dli_fname })
    }
}

/// Something that certainly lies in our own module.
static OWN_ADDRESS: u8 = 0;

/// Whether `address` lies in the module that this library is a part of: its own shared object, or
/// the program or library that it was linked into.
#[inline(never)]
pub(super) fn is_own(address: *const c_void) -> bool {
    are_one(address, &raw const OWN_ADDRESS as *const c_void)
}

/// Where the module around `address` begins.
pub(super) fn start_of(address: *const c_void) -> Option<*const c_void> {
    Module::of(address).map(|module| module.base.cast_const())
}

/// Whether two addresses lie in one module.
#[inline(never)]
pub(super) fn are_one(a: *const c_void, b: *const c_void) -> bool {
    match (Module::of(a), Module::of(b)) {
        (Some(a), Some(b)) => a.base == b.base,
        _ => false,
    }
}

/// Calls `visit` with every loaded module until it says false.
///
/// The names are collected first: looking names up while dl_iterate_phdr holds the loader's lock
/// could wait for a thread that holds the other lock and waits for this one.
// Not inlined into each caller: that saves half a kilobyte.
#[inline(never)]
pub(super) fn for_each(visit: &mut dyn FnMut(&Scope) -> bool) {
    let mut names = Names { memory: ptr::null_mut(), room: 0, len: 0 };
    names.collect();
    // And some for what is loaded meanwhile; what has no room then is left out.
    let room = names.len + 4096;
    let Some(memory) = memory::allocate(room) else { return };
    names = Names { memory: memory.as_ptr(), room, len: 0 };
    names.collect();
    let mut at = 0;
    while at < names.len {
        // SAFETY: `add` has written C strings here, one behind the other, up to `len`.
        let file = unsafe { CStr::from_ptr(names.memory.add(at).cast()) };
        if !Scope::of_file(file).is_none_or(|scope| visit(&scope)) {
            break;
        }
        at += file.count_bytes() + 1;
    }
    // SAFETY: `allocate` gave it, and nobody else has it.
    unsafe { memory::free(memory.as_ptr().cast()) };
}

/// The names of the modules' files, one behind the other.
struct Names {
    /// NULL while they are counted: memory is not asked for under the loader's lock, because who
    /// stands in for malloc (a profiler of memory, say) may wait for that lock with one of its own.
    memory: *mut u8,
    room: usize,
    len: usize,
}

impl Names {
    fn collect(&mut self) {
        // SAFETY: `add` has dl_iterate_phdr's signature and is given `self`, which outlives it.
        unsafe { libc::dl_iterate_phdr(Some(Names::add), ptr::from_mut(self).cast()) };
    }

    /// # Safety
    /// As dl_iterate_phdr calls it, with `collect`'s names.
    unsafe extern "C" fn add(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        names: *mut c_void,
    ) -> c_int {
        // SAFETY: dl_iterate_phdr passes a valid entry, and the `Names` that `collect` gave it,
        // whose memory has `room`.
        unsafe {
            let names = &mut *names.cast::<Names>();
            let file = (*info).dlpi_name;
            if file.is_null() || *file == 0 {
                return 0;
            }
            let file = CStr::from_ptr(file).to_bytes_with_nul();
            if names.memory.is_null() {
                names.len += file.len();
            } else if file.len() <= names.room - names.len {
                file.as_ptr().copy_to_nonoverlapping(names.memory.add(names.len), file.len());
                names.len += file.len();
            }
        }
        0
    }
}
