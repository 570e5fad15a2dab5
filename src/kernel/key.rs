//! The key type: what LevelDB calls a Slice.

use core::any::TypeId;
use core::marker::PhantomData;
use core::mem::{self, MaybeUninit};
use core::ptr;

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

/// Borrowed slices or strings, as the keys they are in memory; nothing of any other type. To list
/// them anew costs as much as a bit and a half of each: 9.5 cycles a key in place of 8.1, at 1,000
/// keys with AVX-512 (AMD EPYC of the fifth generation, 2026-11-23).
#[inline(always)]
pub(crate) fn as_keys<'k, K>(keys: &'k [K]) -> Option<&'k [Key<'k>]> {
    let id = type_id::<K>();
    let borrowed = id == TypeId::of::<&'static [u8]>() || id == TypeId::of::<&'static str>();
    if !borrowed || !slices_are_keys() {
        return None;
    }
    // SAFETY: K is a reference to bytes, which live as long as `keys` at least. Of such a
    // reference the two fields were seen to be a key's.
    Some(unsafe { core::slice::from_raw_parts(keys.as_ptr().cast(), keys.len()) })
}

/// Whether a slice's address comes before its length, which Rust does not promise. Known when
/// compiled.
#[inline(always)]
fn slices_are_keys() -> bool {
    let slice: &[u8] = &[1, 2, 3];
    // SAFETY: two words both; a raw pointer and a number may have any value.
    let key = unsafe { mem::transmute::<&[u8], Key<'_>>(slice) };
    ptr::eq(key.ptr, slice.as_ptr()) && key.len == slice.len()
}

/// The type, but for its lifetimes: `TypeId::of` is only for those without.
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
    // SAFETY: `id` looks at nothing that lives as long as T says, and what it returns names no
    // lifetime.
    unsafe { mem::transmute::<&dyn Identified, &(dyn Identified + 'static)>(of_t) }.id()
}

/// Asks for keys that will be used soon, if they may lie anywhere in memory, or if the filter is so
/// large that the processor does not do it by itself (see `bits::is_large`). Where the first and
/// the last are near each other, the rest is taken to be between them, and in the cache: to ask for
/// it would take 0.7 cycles a key, where a query of a batch takes 4.3. Elsewhere the query takes 17
/// cycles in place of 36, and to create a filter 14 in place of 57 (AVX-512, AMD EPYC of the fifth
/// generation, 2026-11-23).
#[inline(always)]
pub(crate) fn prefetch(keys: &[Key], for_large: bool) {
    if for_large || lie_apart(keys) {
        prefetch_each(keys);
    }
}

/// Whether they may lie anywhere in memory.
#[inline(always)]
pub(super) fn lie_apart(keys: &[Key]) -> bool {
    match (keys, keys) {
        ([first, ..], [.., last]) => first.ptr.addr().abs_diff(last.ptr.addr()) > NEAR,
        _ => false,
    }
}

/// `n` of the keys from `from` on, or what there is of them.
#[cfg(leveldb_bloom_avx2)]
#[inline(always)]
pub(super) fn at_most<'s, 'k>(n: usize, keys: &'s [Key<'k>], from: usize) -> &'s [Key<'k>] {
    let rest = keys.get(from..).unwrap_or(&[]);
    rest.get(..n).unwrap_or(rest)
}

/// Asks for keys, and for the list's entries a block further on.
#[inline(never)]
pub(super) fn prefetch_each(keys: &[Key]) {
    // A line of the list has the addresses of as many keys.
    const IN_A_LINE: usize = 64 / size_of::<Key>();
    for keys in keys.chunks(IN_A_LINE) {
        bits::prefetch(keys.as_ptr().wrapping_add(bits::BLOCK).cast());
        for key in keys {
            bits::prefetch(key.as_ptr());
        }
    }
}

const NEAR: usize = 32 * 1024;

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

/// [`in_groups`] for keys in an array. Borrowed ones are handed on as they are; others are listed in
/// half the time, because there is no end to look for.
pub(crate) fn in_groups_of<'k, K: AsRef<[u8]>>(keys: &'k [K], mut f: impl FnMut(&[Key<'k>])) {
    if let Some(keys) = as_keys(keys) {
        for group in keys.chunks(GROUP) {
            prefetch(group, false);
            f(group);
        }
        return;
    }
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
