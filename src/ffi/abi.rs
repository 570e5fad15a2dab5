//! LevelDB's side of the edge: what its C and C++ code passes, and what a policy is called and
//! looks like, whoever made it.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::offset_of;
use core::ptr::NonNull;

use super::memory;
use crate::kernel::Key;

/// LevelDB's policy name for C.
pub(super) static NAME: &CStr = c"leveldb.BuiltinBloomFilter2";

/// What goleveldb calls its policy, whose filters are the same.
pub(super) static GOLEVELDB_NAME: &CStr = c"leveldb.BuiltinBloomFilter";

/// Whether LevelDB, or a port of it, knows filters of whole keys by this name, or the name is
/// empty, which is no name at all.
pub(super) fn is_taken(name: &CStr) -> bool {
    name.is_empty() || [NAME, GOLEVELDB_NAME].contains(&name)
}

/// `leveldb::Slice`: a key or a filter.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice {
    /// The bytes; anything when `size` is 0.
    pub data: *const c_char,
    /// The number of bytes.
    pub size: usize,
}

// As leveldb::Slice, and as Key (asserted there), which a Slice array is cast to.
const _: () = assert!(
    size_of::<Slice>() == size_of::<Key<'static>>()
        && align_of::<Slice>() == align_of::<Key<'static>>()
        && offset_of!(Slice, data) == 0
        && offset_of!(Slice, size) == size_of::<usize>()
);

impl Slice {
    /// Whether it may be cast to a [`Key`]: no NULL with a size, and no size that no object can
    /// have.
    pub(super) fn is_readable(&self) -> bool {
        memory::is_readable(self.data, self.size)
    }

    /// The bytes.
    ///
    /// # Safety
    /// As `memory::bytes`.
    pub(super) unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: the caller's promise.
        unsafe { memory::bytes(self.data, self.size) }
    }
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

/// The callbacks of a policy, in the order `leveldb_filterpolicy_create` takes them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Callbacks {
    /// Ends the state.
    pub destructor: Destructor,
    /// Makes a filter in C memory.
    pub create_filter: CreateFilter,
    /// Asks a filter.
    pub key_may_match: KeyMayMatch,
    /// The policy's name.
    pub name: Name,
}

/// `leveldb_filterpolicy_create`. What a callback that is NULL means is for the LevelDB to decide
/// whose function it is.
pub type CreatePolicy = unsafe extern "C" fn(
    *mut c_void,
    Option<Destructor>,
    Option<CreateFilter>,
    Option<KeyMayMatch>,
    Option<Name>,
) -> *mut FilterPolicy;

/// The destructor of a state that needs none.
pub(super) extern "C" fn no_destructor(_state: *mut c_void) {}

/// `leveldb::NewBloomFilterPolicy(int)`.
pub type NewPolicy = unsafe extern "C" fn(c_int) -> *mut FilterPolicy;

/// Any `leveldb::FilterPolicy` (and so any `leveldb_filterpolicy_t`), whoever made it.
#[repr(C)]
pub struct FilterPolicy {
    pub(super) methods: *const Methods<FilterPolicy>,
}

/// The virtual functions of `leveldb::FilterPolicy`, in their order (Itanium C++ ABI: every Unix),
/// for objects of type `P`.
#[repr(C)]
pub(super) struct Methods<P> {
    pub(super) complete_destructor: unsafe extern "C" fn(*mut P),
    pub(super) deleting_destructor: unsafe extern "C" fn(*mut P),
    pub(super) name: unsafe extern "C" fn(*const P) -> *const c_char,
    pub(super) create_filter: unsafe extern "C" fn(*const P, *const Slice, c_int, *mut c_void),
    pub(super) key_may_match: unsafe extern "C" fn(*const P, *const Slice, *const Slice) -> bool,
}

impl FilterPolicy {
    /// C++'s `delete policy`.
    ///
    /// # Safety
    /// `policy` is living, and nobody uses it any more.
    pub(super) unsafe fn delete(policy: NonNull<FilterPolicy>) {
        // SAFETY: the caller's promise that the policy lives; by the C++ ABI it begins with the
        // pointer to its methods.
        unsafe { ((*policy.as_ref().methods).deleting_destructor)(policy.as_ptr()) }
    }
}
