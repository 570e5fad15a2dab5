//! The modules that are loaded in a process of which we know nothing else, and their symbols.

use core::ffi::{CStr, c_void};
use core::ptr::{self, NonNull};

use super::address::{self, is_own};
use super::closure::Closure;
use super::elf::{self, Tables};
use super::memory;

/// Where names are looked up.
pub(super) enum Scope {
    /// What we see: what the whole process does (the program, what it links, what is preloaded),
    /// and where we were loaded with RTLD_LOCAL, what was loaded with us.
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
        // SAFETY: the name is a C string. With NOLOAD nothing is loaded; but glibc runs
        // constructors, of the module and of what it links: those that have not run yet, and while
        // the process ends those of libraries whose destructors have begun. So only what has
        // LevelDB's names is opened (see `for_each`), or the module of who calls us, where nothing
        // else tells its string.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        NonNull::new(handle).map(|handle| Scope::Module(Handle(handle)))
    }

    /// The module that contains `address`; the global scope for the main program, whose names come
    /// first there, and for an address in no module. (The main program cannot be opened by its
    /// name, which may be what it was called by: dlopen would look for such a file everywhere, and
    /// open whatever has that name.)
    pub(super) fn of_address(address: *const c_void) -> Scope {
        if !address::is_in_library(address) {
            return Scope::Global;
        }
        // SAFETY: the module runs the code at `address`, which is calling us.
        let file = unsafe { address::file(address) };
        file.and_then(Scope::of_file).unwrap_or(Scope::Global)
    }

    /// What the whole process sees, and nothing else. In another namespace of the loader than the
    /// program's (`dlmopen`) what is seen from our module: the process there is still the program,
    /// whose C library has other memory than ours.
    pub(super) fn of_process() -> Scope {
        // SAFETY: NULL stands for the main program, whose handle looks through the global scope. No
        // constructor runs, because those of all that is in it belong to it. dlsym takes NULL, too.
        let (process, its_getauxval) = unsafe {
            let process = libc::dlopen(ptr::null(), libc::RTLD_LAZY);
            (process, libc::dlsym(process, c"getauxval".as_ptr()))
        };
        match NonNull::new(process) {
            Some(process) if its_getauxval == libc::getauxval as *mut c_void => {
                Scope::Module(Handle(process))
            }
            _ => Scope::Global,
        }
    }

    fn handle(&self) -> *mut c_void {
        match self {
            Scope::Global => libc::RTLD_DEFAULT,
            Scope::Module(handle) => handle.0.as_ptr(),
        }
    }

    /// The address of `name`. A definition in our own module does not count, since others' are
    /// looked for: in the global scope the next one is taken, and in a module's nothing, although
    /// the module may link one behind ours. The next definition would be that of whoever loaded us
    /// first, not the module's.
    // Neither this nor `is_own` is inlined into each caller: that saves 0.8 KB.
    #[inline(never)]
    pub(super) fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is open as long as `self`; `name` is a C string.
        let found = NonNull::new(unsafe { libc::dlsym(self.handle(), name.as_ptr()) })?;
        match self {
            _ if !is_own(found.as_ptr()) => Some(found),
            Scope::Global => next(name),
            Scope::Module(_) => None,
        }
    }
}

/// The next definition of `name` after our own module, in the order in which the process looks.
#[inline(never)]
pub(super) fn next(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: `name` is a C string, and RTLD_NEXT needs no handle.
    let found = NonNull::new(unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) })?;
    (!is_own(found.as_ptr())).then_some(found)
}

/// The definition of `name` that the process uses, ours or not. Not by RTLD_DEFAULT: asked by us,
/// that includes ourselves even where we were loaded with RTLD_LOCAL.
pub(super) fn first(name: &CStr) -> Option<NonNull<c_void>> {
    let process = Scope::of_process();
    // SAFETY: the handle is open; a C string. Nobody unloads what is found there.
    let (found, is_definition) = unsafe {
        let found = NonNull::new(libc::dlsym(process.handle(), name.as_ptr()))?;
        (found, elf::defines(found.as_ptr(), name))
    };
    if is_definition {
        return Some(found);
    }
    // The entry of a program that is not position-independent and takes the function's address. It
    // leads to the first definition, and libraries come in the order in which they were loaded.
    first_loaded(name)
}

/// The definition of `name` in the first module that has one. Unlike a look-up it opens nothing.
pub(super) fn first_loaded(name: &CStr) -> Option<NonNull<c_void>> {
    let mut first = [ptr::null()];
    definitions(&[name], &mut first);
    NonNull::new(first[0].cast_mut())
}

/// Forgets the message of a failed look-up, which the host might take for its own.
// Once, not in each of its callers.
#[inline(never)]
pub(super) fn clear_error() {
    // glibc forgets it at the next look-up that succeeds, as one does where there is a loader. Its
    // dlerror would translate it first, and crash where that loader has not linked the program yet, but
    // asks it which function a name stands for (IFUNC). The name is not one that a tool answers for, as
    // those that stand in for dlsym may do for that.
    if cfg!(target_env = "gnu") {
        // SAFETY: a C string.
        let known = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"getauxval".as_ptr()) };
        if !known.is_null() {
            return;
        }
    }
    // SAFETY: takes nothing.
    unsafe { libc::dlerror() };
}

/// How many definitions of these names there are outside our own module: none, one, or more.
#[inline(never)]
pub(super) fn others_have(names: &[&CStr]) -> usize {
    // As many as our own module may have, and two.
    let mut found = [ptr::null(); 8];
    let len = definitions(names, &mut found);
    found.iter().take(len).filter(|definition| !is_own(**definition)).count()
}

/// Fills `found` with the modules' definitions of these names, in the order in which they were
/// loaded; returns how many there are, as far as there is room.
#[inline(never)]
fn definitions(names: &[&CStr], found: &mut [*const c_void]) -> usize {
    let mut len = 0;
    elf::in_every_module(&mut |(tables, _): (&Tables, &CStr)| {
        for name in names {
            let definition = tables.definition(name);
            if let Some(place) = found.get_mut(len).filter(|_| !definition.is_null()) {
                *place = definition;
                len += 1;
            }
        }
    });
    len
}

/// Shows `visitor` every library that has a definition of one of these names, until it says false.
///
/// No others are opened: one whose constructors have not run yet, because that of a library it
/// links is running, would have them run here, and too early (see `Scope::of_file`).
///
/// The libraries' names are collected first: looking names up while dl_iterate_phdr holds the
/// loader's lock could wait for a thread that holds the other lock and waits for this one.
pub(super) fn for_each(names: &[&CStr], visitor: &mut dyn for<'s> Closure<&'s Scope, bool>) {
    let mut files = Files { memory: ptr::null_mut(), room: 0, len: 0 };
    files.collect(names);
    // And some for what is loaded meanwhile; what has no room then is left out.
    let room = files.len + 4096;
    let Some(memory) = memory::allocate(room) else { return };
    files = Files { memory: memory.as_ptr(), room, len: 0 };
    files.collect(names);
    let mut at = 0;
    while at < files.len {
        // SAFETY: `add` has written C strings here, one behind the other, up to `len`.
        let file = unsafe { CStr::from_ptr(files.memory.add(at).cast()) };
        if !Scope::of_file(file).is_none_or(|scope| visitor.call(&scope)) {
            break;
        }
        at += file.count_bytes() + 1;
    }
    // SAFETY: `allocate` gave it, and nobody else has it.
    unsafe { memory::free(memory.as_ptr().cast()) };
}

/// The names of libraries' files, one behind the other.
struct Files {
    /// NULL while they are counted: memory is not asked for under the loader's lock, because who
    /// stands in for malloc (a profiler of memory, say) may wait for that lock with one of its own.
    memory: *mut u8,
    room: usize,
    len: usize,
}

impl Files {
    /// Those of the libraries that define one of `names`.
    fn collect(&mut self, names: &[&CStr]) {
        elf::in_every_module(&mut |(tables, file): (&Tables, &CStr)| {
            let defines = |name: &&CStr| !tables.definition(name).is_null();
            if !file.is_empty() && names.iter().any(defines) {
                self.add(file.to_bytes_with_nul());
            }
        });
    }

    fn add(&mut self, file: &[u8]) {
        if self.memory.is_null() {
            self.len += file.len();
        } else if file.len() <= self.room - self.len {
            // SAFETY: `memory` has `room` bytes, of which as many as the file's name has are free.
            unsafe {
                file.as_ptr().copy_to_nonoverlapping(self.memory.add(self.len), file.len());
            }
            self.len += file.len();
        }
    }
}
