//! The key type: what LevelDB calls a Slice.

use core::any::TypeId;
use core::marker::PhantomData;
use core::mem;
use core::ptr;

/// A borrowed byte string with the layout of `leveldb::Slice`, so that an
/// array of LevelDB's own slices can be used as it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Key<'a> {
    ptr: *const u8,
    len: usize,
    bytes: PhantomData<&'a [u8]>,
}

const _: () = assert!(
    size_of::<Key>() == 2 * size_of::<usize>()
        && core::mem::offset_of!(Key, ptr) == 0
        && core::mem::offset_of!(Key, len) == size_of::<usize>()
);

impl<'a> Key<'a> {
    /// A key of any bytes; never fails.
    #[inline(always)]
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Key { ptr: bytes.as_ptr(), len: bytes.len(), bytes: PhantomData }
    }

    /// The key of `len` bytes at `ptr`.
    ///
    /// # Safety
    /// The caller lets the key be used only if a slice of `len` bytes may lie there and lives for
    /// 'a, or if `len` is 0: then the address may be anything, NULL too.
    #[cfg(leveldb_bloom_c_interface)]
    #[inline(always)]
    pub(crate) const unsafe fn from_raw_parts(ptr: *const u8, len: usize) -> Self {
        Key { ptr, len, bytes: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn as_bytes(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `new` took the two from a slice that lives for 'a; callers of `from_raw_parts`,
        // and whoever casts a foreign array to `[Key<'a>]` (both in `ffi`), have established the
        // same of each key that is used.
        unsafe { core::slice::from_raw_parts(self.ptr, self.len) }
    }

    /// The address of the first byte; anything, NULL too, when the key is empty.
    #[inline(always)]
    pub(crate) const fn as_ptr(self) -> *const u8 {
        self.ptr
    }

    #[inline(always)]
    pub(crate) const fn len(self) -> usize {
        self.len
    }
}

/// `keys` itself as keys, if it is a list of `&[u8]` or `&str`, which have a key's layout; `None`
/// for any other type. Listing them anew would cost as much as one and a half of their bits: 9.5
/// cycles a key in place of 8.1, at 1,000 keys with AVX-512 (AMD EPYC of the fifth generation,
/// 2026-11-23).
#[inline(always)]
pub(crate) fn as_keys<'k, K>(keys: &'k [K]) -> Option<&'k [Key<'k>]> {
    let id = type_id::<K>();
    let borrowed = id == TypeId::of::<&'static [u8]>() || id == TypeId::of::<&'static str>();
    if !borrowed || !slices_are_keys() {
        return None;
    }
    // SAFETY: `borrowed` says that K is a reference to bytes, which live at least as long as
    // `keys`, and `slices_are_keys` that such a reference has a key's layout.
    Some(unsafe { core::slice::from_raw_parts(keys.as_ptr().cast(), keys.len()) })
}

/// Whether a slice's address comes before its length, which Rust does not promise. Known when
/// compiled.
#[inline(always)]
fn slices_are_keys() -> bool {
    let slice: &[u8] = &[1, 2, 3];
    // SAFETY: `transmute` checks that both have one size; a raw pointer and a number may have any
    // value.
    let key = unsafe { mem::transmute::<&[u8], Key<'_>>(slice) };
    ptr::eq(key.ptr, slice.as_ptr()) && key.len == slice.len()
}

/// The type's identity without regard to lifetimes, which `TypeId::of` alone refuses for types that
/// have some.
#[inline(always)]
fn type_id<T>() -> TypeId {
    trait Identified {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T> Identified for PhantomData<T> {
        #[inline(always)]
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let of_t: &dyn Identified = &PhantomData::<T>;
    // SAFETY: only the lifetime changes, which `id` does not use: it looks at no value of T, and a
    // TypeId knows no lifetimes.
    unsafe { mem::transmute::<&dyn Identified, &(dyn Identified + 'static)>(of_t) }.id()
}
