//! What LevelDB's C and C++ code passes and expects (Itanium C++ ABI, as on every Unix).

use core::ffi::{c_char, c_int, c_void};
use core::ptr::NonNull;

use crate::door::Slice;

/// LevelDB's policy object; the same as in <leveldb/c.h>.
pub struct CxxPolicy {
    _opaque: [u8; 0],
}

/// The virtual functions of `leveldb::FilterPolicy`, in their order.
#[repr(C)]
pub(super) struct Methods {
    complete_destructor: unsafe extern "C" fn(*mut CxxPolicy),
    deleting_destructor: unsafe extern "C" fn(*mut CxxPolicy),
    name: unsafe extern "C" fn(*const CxxPolicy) -> *const c_char,
    pub(super) create_filter:
        unsafe extern "C" fn(*const CxxPolicy, *const Slice, c_int, *mut c_void),
    key_may_match: unsafe extern "C" fn(*const CxxPolicy, *const Slice, *const Slice) -> bool,
}

/// # Safety
/// `policy` lives.
pub(super) unsafe fn methods<'a>(policy: NonNull<CxxPolicy>) -> &'a Methods {
    // SAFETY: by the C++ ABI an object begins with the address of its virtual functions.
    unsafe { policy.cast::<&Methods>().read() }
}

/// C++'s `delete policy`.
///
/// # Safety
/// `policy` lives, and nobody uses it any more.
pub(super) unsafe fn delete(policy: NonNull<CxxPolicy>) {
    // SAFETY: the caller's promise.
    unsafe { (methods(policy).deleting_destructor)(policy.as_ptr()) }
}

/// `void (*destructor)(void *state)`.
pub type Destructor = unsafe extern "C" fn(*mut c_void);
/// `char *(*create_filter)(void *state, keys, lengths, num_keys, size_t *filter_length)`.
pub type CreateFilter = unsafe extern "C" fn(
    *mut c_void,
    *const *const c_char,
    *const usize,
    c_int,
    *mut usize,
) -> *mut c_char;
/// `uint8_t (*key_may_match)(void *state, key, length, filter, filter_length)`.
pub type KeyMayMatch =
    unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize) -> u8;
/// `const char *(*name)(void *state)`.
pub type Name = unsafe extern "C" fn(*mut c_void) -> *const c_char;

/// `leveldb_filterpolicy_create`.
pub type CreatePolicy = unsafe extern "C" fn(
    *mut c_void,
    Option<Destructor>,
    Option<CreateFilter>,
    Option<KeyMayMatch>,
    Option<Name>,
) -> *mut CxxPolicy;

/// `leveldb::NewBloomFilterPolicy(int)`.
pub(super) type NewPolicy = unsafe extern "C" fn(c_int) -> *mut CxxPolicy;

/// `std::string::append(const char *, size_t)`, as the ABI calls a member function.
pub(super) type Append = unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> *mut c_void;
