//! What the user asks for by variables of the environment.

use core::ffi::CStr;

/// The value of an environment variable, unless it is empty or the process may not trust its
/// environment, which in a setuid program belongs to whoever called it.
// Once, not in each caller.
#[inline(never)]
pub(super) fn environment(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: getauxval takes any number, and `name` is a C string. The value stays where it is
    // unless another thread changes the environment meanwhile, which the library's documentation
    // forbids, and which getenv would not survive either.
    let value = unsafe {
        if libc::getauxval(libc::AT_SECURE) != 0 {
            return None;
        }
        let value = libc::getenv(name.as_ptr());
        if value.is_null() {
            return None;
        }
        CStr::from_ptr(value)
    };
    (!value.is_empty()).then_some(value)
}
