//! Variables of the environment.

use core::ffi::CStr;

/// The value of a variable, unless it is empty, or this is a setuid program or the like, whose
/// environment cannot be trusted.
pub(crate) fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: getauxval takes any number, the others nothing or a C string. The value stays where it
    // is unless another thread changes the environment at the same time, which the header forbids,
    // and which getenv would not survive either.
    let value = unsafe {
        #[cfg(target_os = "linux")]
        let is_setuid = libc::getauxval(libc::AT_SECURE) != 0;
        #[cfg(all(unix, not(target_os = "linux")))]
        let is_setuid = libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid();
        #[cfg(not(unix))]
        let is_setuid = false;
        let value = libc::getenv(name.as_ptr());
        (!is_setuid && !value.is_null()).then(|| CStr::from_ptr(value))?
    };
    (!value.is_empty()).then_some(value)
}
