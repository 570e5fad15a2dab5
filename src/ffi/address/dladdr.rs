//! What every loader says of a module.

use core::ffi::{CStr, c_char, c_void};
use core::mem;

/// What the loader says of a module.
pub(in super::super) struct Module {
    pub(in super::super) start: *const c_void,
    file: *const c_char,
}

impl Module {
    #[inline(never)]
    pub(in super::super) fn around(address: *const c_void) -> Option<Module> {
        // SAFETY: dladdr takes any address; an info may be all zeros.
        let (found, info) = unsafe {
            let mut info = mem::zeroed::<libc::Dl_info>();
            (libc::dladdr(address, &mut info) != 0, info)
        };
        let (start, file) = (info.dli_fbase.cast_const(), info.dli_fname);
        (found && !file.is_null()).then_some(Module { start, file })
    }

    /// The name of its file.
    ///
    /// # Safety
    /// The module stays loaded, as long as the name is used.
    pub(super) unsafe fn file<'m>(&self) -> &'m CStr {
        // SAFETY: the caller's word: a loaded module's name is there, and a C string.
        unsafe { CStr::from_ptr(self.file) }
    }
}
