//! The key type: what LevelDB calls a Slice.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::bits;

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

    #[inline(always)]
    pub(crate) fn as_bytes(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `new` took the two from a slice that lives for 'a; whoever casts a foreign array to
        // `[Key<'a>]` (in `ffi`) has established the same of each entry.
        unsafe { core::slice::from_raw_parts(self.ptr, self.len) }
    }

    /// The first byte; dangling or NULL when the key is empty.
    #[inline(always)]
    pub(crate) const fn as_ptr(self) -> *const u8 {
        self.ptr
    }

    #[inline(always)]
    pub(crate) const fn len(self) -> usize {
        self.len
    }
}

/// The most keys that [`in_groups`] hands on at once.
pub(crate) const GROUP: usize = 128;

/// Hands keys on in groups, each but the last of [`GROUP`].
pub(crate) fn in_groups<'k>(
    mut keys: impl Iterator<Item = Key<'k>>,
    mut f: impl FnMut(&[Key<'k>]),
) {
    loop {
        // Not initialised: 2 KB would take longer than the keys of a small group.
        let mut group = [const { MaybeUninit::<Key<'k>>::uninit() }; GROUP];
        let mut len = 0;
        for (place, key) in group.iter_mut().zip(&mut keys) {
            bits::prefetch(key.as_ptr());
            place.write(key);
            len += 1;
        }
        if len != 0 {
            // SAFETY: the loop above wrote the first `len`.
            f(unsafe { core::slice::from_raw_parts(group.as_ptr().cast(), len) });
        }
        if len != GROUP {
            return;
        }
    }
}

/// [`in_groups`] for keys in an array, which are listed in half the time: there is
/// no end to look for.
pub(crate) fn in_groups_of<'k, K: AsRef<[u8]>>(keys: &'k [K], mut f: impl FnMut(&[Key<'k>])) {
    for keys in keys.chunks(GROUP) {
        let mut group = [const { MaybeUninit::<Key<'k>>::uninit() }; GROUP];
        for (place, key) in group.iter_mut().zip(keys) {
            let key = Key::new(key.as_ref());
            bits::prefetch(key.as_ptr());
            place.write(key);
        }
        // SAFETY: the loop above wrote as many as there are, GROUP at most.
        f(unsafe { core::slice::from_raw_parts(group.as_ptr().cast(), keys.len()) });
    }
}
