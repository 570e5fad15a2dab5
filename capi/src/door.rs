//! The one door: what C passes is checked here, once, and becomes a slice.
//!
//! NULL with a length of 0 is empty. NULL with another length, a length that no object can have, and
//! an array that is not aligned give `None`: "a pointer that cannot be".

use alloc::vec::Vec;
use core::ffi::c_char;
use core::mem::MaybeUninit;
use core::slice;

use leveldb_bloom::{FlatKeys, Key};

/// A key, or a filter, with the layout of leveldb::Slice.
#[repr(C)]
pub struct Slice {
    /// The bytes; may be anything if `size` is 0.
    pub data: *const c_char,
    /// The number of bytes.
    pub size: usize,
}

const _: () = assert!(
    size_of::<Slice>() == size_of::<Key<'static>>() && core::mem::offset_of!(Slice, data) == 0
);

/// # Safety
/// `data` is NULL or names `len` values that can be read and do not change for 'a.
#[inline(always)]
pub(crate) unsafe fn array<'a, T>(data: *const T, len: usize) -> Option<&'a [T]> {
    if len == 0 {
        return Some(&[]);
    }
    // SAFETY: the caller's promise; NULL and what cannot be a slice is excluded.
    can_be(data, len).then(|| unsafe { slice::from_raw_parts(data, len) })
}

/// [`array`] of memory to write to.
///
/// # Safety
/// `data` is NULL or names memory for `len` values that nobody else uses for 'a.
pub(crate) unsafe fn array_mut<'a, T>(
    data: *mut T,
    len: usize,
) -> Option<&'a mut [MaybeUninit<T>]> {
    if len == 0 {
        return Some(&mut []);
    }
    // SAFETY: the caller's promise; NULL and what cannot be a slice is excluded.
    can_be(data, len).then(|| unsafe { slice::from_raw_parts_mut(data.cast(), len) })
}

#[inline(always)]
fn can_be<T>(data: *const T, len: usize) -> bool {
    !data.is_null() && data.is_aligned() && len <= isize::MAX as usize / size_of::<T>().max(1)
}

/// # Safety
/// As [`array`].
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(data: *const c_char, len: usize) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise.
    unsafe { array(data.cast(), len) }
}

/// [`bytes`] for functions that only answer: a pointer that cannot be is empty.
///
/// # Safety
/// As [`array`].
#[inline(always)]
pub(crate) unsafe fn bytes_or_empty<'a>(data: *const c_char, len: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { bytes(data, len) }.unwrap_or(&[])
}

/// A pointer and a length.
pub(crate) type Raw = (*const c_char, usize);

/// What `answer` says of a key and a filter; what cannot be is empty.
///
/// # Safety
/// Both are as for [`array`].
#[inline(always)]
pub(crate) unsafe fn query<R>(key: Raw, filter: Raw, answer: impl Fn(&[u8], &[u8]) -> R) -> R {
    // SAFETY: the caller's promise; what cannot be is excluded.
    unsafe {
        if key.0.is_null() || filter.0.is_null() || (key.1 | filter.1) > isize::MAX as usize {
            return unusual_query(key, filter, answer);
        }
        let key = slice::from_raw_parts(key.0.cast(), key.1);
        answer(key, slice::from_raw_parts(filter.0.cast(), filter.1))
    }
}

/// Out of line, so that the usual query is a few comparisons and a jump to the kernel.
///
/// # Safety
/// As [`query`].
#[cold]
#[inline(never)]
unsafe fn unusual_query<R>(key: Raw, filter: Raw, answer: impl Fn(&[u8], &[u8]) -> R) -> R {
    // SAFETY: the caller's promise.
    unsafe { answer(bytes_or_empty(key.0, key.1), bytes_or_empty(filter.0, filter.1)) }
}

/// Makes uninitialised memory zeros.
pub(crate) fn zeroed(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    memory.fill(MaybeUninit::new(0));
    // SAFETY: all of it was just initialised.
    unsafe { &mut *(core::ptr::from_mut(memory) as *mut [u8]) }
}

/// Keys, in any of the ways in which C passes them.
#[derive(Clone, Copy)]
pub(crate) enum Keys<'a> {
    List(&'a [Key<'a>]),
    /// Pointers and lengths; a pair that cannot be is an empty key.
    Arrays(&'a [*const c_char], &'a [usize]),
    Flat(FlatKeys<'a>),
    /// So many empty keys.
    Empty(usize),
}

impl<'a> Keys<'a> {
    /// # Safety
    /// `slices` is as for [`array`], and so is each of them.
    pub(crate) unsafe fn slices(slices: *const Slice, num_keys: usize) -> Option<Self> {
        // SAFETY: the caller's promise.
        let slices = unsafe { array(slices, num_keys)? };
        let can_be = |key: &Slice| key.size == 0 || can_be(key.data, key.size);
        // SAFETY: a Slice has the layout of a Key, and all of them can be.
        slices.iter().all(can_be).then(|| unsafe { Keys::of_slices(slices.as_ptr(), num_keys) })?
    }

    /// [`slices`](Self::slices) from LevelDB itself, whose slices are what they say.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(crate) unsafe fn of_slices(slices: *const Slice, num_keys: usize) -> Option<Self> {
        // SAFETY: a Slice has the layout of a Key; the rest is the caller's promise.
        unsafe { array(slices.cast(), num_keys) }.map(Keys::List)
    }

    /// # Safety
    /// The two arrays are as for [`array`], and so is each pair of them.
    pub(crate) unsafe fn arrays(
        keys: *const *const c_char,
        lengths: *const usize,
        num_keys: usize,
    ) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe { Some(Keys::Arrays(array(keys, num_keys)?, array(lengths, num_keys)?)) }
    }

    /// Keys one behind the other, between `num_keys` + 1 offsets.
    ///
    /// # Safety
    /// `data` and `offsets` are as for [`array`].
    pub(crate) unsafe fn offsets32(
        data: *const c_char,
        data_length: usize,
        offsets: *const i32,
        num_keys: usize,
    ) -> Option<Self> {
        // SAFETY: the caller's promise.
        let (data, offsets) = unsafe { flat(data, data_length, offsets, num_keys)? };
        FlatKeys::with_offsets32(data, offsets).ok().map(Keys::Flat)
    }

    /// [`offsets32`](Self::offsets32) with 64 bits.
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn offsets64(
        data: *const c_char,
        data_length: usize,
        offsets: *const i64,
        num_keys: usize,
    ) -> Option<Self> {
        // SAFETY: the caller's promise.
        let (data, offsets) = unsafe { flat(data, data_length, offsets, num_keys)? };
        FlatKeys::with_offsets64(data, offsets).ok().map(Keys::Flat)
    }

    /// Keys of `key_length` bytes, one behind the other.
    ///
    /// # Safety
    /// `data` is as for [`array`], for all their bytes.
    pub(crate) unsafe fn fixed(
        data: *const c_char,
        key_length: usize,
        num_keys: usize,
    ) -> Option<Self> {
        if key_length == 0 {
            return Some(Keys::Empty(num_keys));
        }
        // SAFETY: the caller's promise.
        let data = unsafe { bytes(data, key_length.checked_mul(num_keys)?)? };
        FlatKeys::fixed(data, key_length, num_keys).ok().map(Keys::Flat)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Keys::List(keys) => keys.len(),
            Keys::Arrays(keys, _) => keys.len(),
            Keys::Flat(keys) => keys.len(),
            Keys::Empty(num_keys) => *num_keys,
        }
    }

    /// Whether every pair of arrays can be.
    pub(crate) fn all_can_be(&self) -> bool {
        match self {
            Keys::Arrays(keys, lengths) => {
                keys.iter().zip(*lengths).all(|(&key, &len)| len == 0 || can_be(key, len))
            }
            _ => true,
        }
    }

    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        (0..self.len()).map(move |i| self.get(i).unwrap_or(&[]))
    }

    /// Has `f` use all keys in one list, in which kernels read them faster. `None` where there is no
    /// memory for it, and for flat keys, for which nothing is allocated.
    pub(crate) fn listed<R>(self, f: impl FnOnce(&[Key<'a>]) -> R) -> Option<R> {
        let Keys::Arrays(keys, lengths) = self else { return None };
        let (mut few, mut many) = (FEW, Vec::new());
        let room = if keys.len() <= few.len() {
            &mut few
        } else {
            many.try_reserve_exact(keys.len()).ok()?;
            many.spare_capacity_mut()
        };
        Some(f(list(room, paired(keys, lengths))))
    }

    /// Hands the keys to `f` in lists of up to [`PART`].
    pub(crate) fn in_lists(self, f: impl FnMut(&[Key<'a>])) {
        match self {
            Keys::Arrays(keys, lengths) => in_lists(paired(keys, lengths), f),
            _ => in_lists(self.iter().map(Key::new), f),
        }
    }

    #[inline(always)]
    fn get(&self, i: usize) -> Option<&'a [u8]> {
        match self {
            Keys::List(keys) => keys.get(i).map(|key| key.as_bytes()),
            // SAFETY: whoever called `arrays` promised it for each pair.
            Keys::Arrays(keys, lengths) => unsafe { bytes(*keys.get(i)?, *lengths.get(i)?) },
            Keys::Flat(keys) => keys.get(i),
            Keys::Empty(_) => None,
        }
    }
}

/// How many keys a list on the stack has.
pub(crate) const PART: usize = 128;
const FEW: [MaybeUninit<Key<'static>>; PART] = [const { MaybeUninit::uninit() }; PART];

/// The keys of two arrays, for which [`Keys::arrays`] has a promise.
fn paired<'a>(keys: &'a [*const c_char], lengths: &'a [usize]) -> impl Iterator<Item = Key<'a>> {
    keys.iter().zip(lengths).map(|(&key, &len)| {
        let len = if key.is_null() | (len > isize::MAX as usize) { 0 } else { len };
        // SAFETY: the promise, and what cannot be is empty.
        unsafe { Key::from_raw_parts(key.cast(), len) }
    })
}

/// Hands keys to `f` in lists of up to [`PART`].
pub(crate) fn in_lists<'a>(mut keys: impl Iterator<Item = Key<'a>>, mut f: impl FnMut(&[Key<'a>])) {
    let mut room = FEW;
    loop {
        let keys = list(&mut room, &mut keys);
        if keys.is_empty() {
            return;
        }
        f(keys);
    }
}

/// Lists keys, as many as there is room for.
fn list<'r, 'a>(
    room: &'r mut [MaybeUninit<Key<'a>>],
    keys: impl Iterator<Item = Key<'a>>,
) -> &'r [Key<'a>] {
    let mut len = 0;
    for (place, key) in room.iter_mut().zip(keys) {
        place.write(key);
        len += 1;
    }
    // SAFETY: the loop has written so many.
    unsafe { slice::from_raw_parts(room.as_ptr().cast(), len) }
}

/// # Safety
/// As [`Keys::offsets32`].
unsafe fn flat<'a, O>(
    data: *const c_char,
    data_length: usize,
    offsets: *const O,
    num_keys: usize,
) -> Option<(&'a [u8], &'a [O])> {
    if num_keys == 0 {
        return Some((&[], &[]));
    }
    // SAFETY: the caller's promise.
    unsafe { Some((bytes(data, data_length)?, array(offsets, num_keys.checked_add(1)?)?)) }
}
