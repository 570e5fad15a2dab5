//! A key as LevelDB passes it.

use core::marker::PhantomData;
use core::mem::offset_of;

/// One key: a pointer and a length, laid out as `leveldb::Slice`, so that the array LevelDB hands
/// to `CreateFilter` is an array of these with no copy made.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    /// Not looked at when `len` is 0: LevelDB and C callers may leave anything there.
    data: *const u8,
    len: usize,
    lifetime: PhantomData<&'a [u8]>,
}

const _: () = assert!(
    offset_of!(Key<'static>, data) == 0 && offset_of!(Key<'static>, len) == size_of::<usize>()
);

impl<'a> Key<'a> {
    /// The key of no bytes.
    pub(crate) const EMPTY: Key<'static> = Key::new(&[]);

    pub(crate) const fn new(key: &'a [u8]) -> Self {
        Key { data: key.as_ptr(), len: key.len(), lifetime: PhantomData }
    }

    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        if self.len == 0 || self.data.is_null() {
            return &[];
        }
        // SAFETY: `new` took the two from a slice that lives for 'a; whoever casts a foreign array
        // to `[Key<'a>]` (ffi::memory::keys) has established the same of each entry.
        unsafe { core::slice::from_raw_parts(self.data, self.len) }
    }
}
