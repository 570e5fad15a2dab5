//! The one place where foreign pointers become slices, and where memory is taken and given back.
//!
//! LevelDB frees what a `create_filter` callback returned with C's `free`, so all of it comes
//! from C's `malloc`; the two stay together in this file.

use core::ffi::{c_char, c_void};
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::{self, NonNull};
use core::slice;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::kernel::{GROUP, Key};

/// A filter that matches every key: its last byte asks for more probes than there can be. What
/// stands in where a filter cannot be made, since an empty filter would lose keys.
pub(super) static MATCH_ALL: [u8; 2] = [0, 31];

/// Whether `len` bytes can be at `data`: not where that is NULL, unless there are none, and not
/// more than any object has.
pub(super) fn is_readable(data: *const c_char, len: usize) -> bool {
    len == 0 || (!data.is_null() && len <= isize::MAX as usize)
}

/// The bytes at `data`. No bytes where `data` is NULL or `len` is more than any object can have.
///
/// # Safety
/// Unless `len` is 0 or `data` NULL, `len` bytes at `data` can be read and do not change for 'a.
pub(super) unsafe fn bytes<'a>(data: *const c_char, len: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { array(data.cast(), len) }
}

/// [`bytes`] of two, with as few comparisons as possible. `None` where one is NULL, even with a
/// length of 0, or a length is more than any object can have.
///
/// # Safety
/// As [`bytes`], of both.
#[inline(always)]
pub(super) unsafe fn two_bytes<'a>(
    (a, a_len): (*const c_char, usize),
    (b, b_len): (*const c_char, usize),
) -> Option<(&'a [u8], &'a [u8])> {
    if a.is_null() || b.is_null() || (a_len | b_len) > isize::MAX as usize {
        return None;
    }
    // SAFETY: the caller's promise; NULL, and lengths that no slice may have, are gone.
    Some(unsafe {
        (slice::from_raw_parts(a.cast(), a_len), slice::from_raw_parts(b.cast(), b_len))
    })
}

/// The `len` values at `data`; none where `data` is NULL or not aligned, or `len` is more than any
/// object can have.
///
/// # Safety
/// Unless `len` is 0 or `data` NULL, `len` values of T at `data` can be read and do not change for
/// 'a.
pub(super) unsafe fn array<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if !is_array(data, len) {
        no_select();
        return &[];
    }
    // SAFETY: the caller's promise, and `is_array`.
    unsafe { slice::from_raw_parts(data, len) }
}

/// Whether a slice of `len` values may lie at `data`, and has any.
#[inline(always)]
fn is_array<T>(data: *const T, len: usize) -> bool {
    len != 0
        && !data.is_null()
        && {
            // Otherwise both would be computed, and then compared: three instructions more.
            no_select();
            data.is_aligned()
        }
        && len <= isize::MAX as usize / size_of::<T>().max(1)
}

/// Keeps the compiler from replacing the branch around it by conditional moves: what comes after
/// would then wait for everything that the condition depends on, such as the answer of the query
/// before.
#[inline(always)]
fn no_select() {
    #[cfg(leveldb_bloom_asm)]
    // SAFETY: the assembly is empty.
    unsafe {
        core::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
}

/// [`array`], to be written.
///
/// # Safety
/// As [`array`], and nobody else reads or writes the memory for 'a.
pub(super) unsafe fn array_mut<'a, T>(data: *mut T, len: usize) -> &'a mut [T] {
    if !is_array(data, len) {
        return &mut [];
    }
    // SAFETY: the caller's promise, and `is_array`.
    unsafe { slice::from_raw_parts_mut(data, len) }
}

/// Keys that came as an array of pointers and one of lengths.
#[derive(Clone, Copy)]
pub(super) struct KeyArrays<'a> {
    keys: &'a [*const c_char],
    lengths: &'a [usize],
}

impl<'a> KeyArrays<'a> {
    /// `None` where there should be keys, but an array is NULL, not aligned, or longer than any
    /// object.
    ///
    /// # Safety
    /// `keys` and `lengths` are NULL or hold `num_keys` entries, each pair of which names bytes as
    /// [`bytes`] asks, for 'a.
    pub(super) unsafe fn new(
        keys: *const *const c_char,
        lengths: *const usize,
        num_keys: usize,
    ) -> Option<Self> {
        if num_keys == 0 {
            return Some(KeyArrays { keys: &[], lengths: &[] });
        }
        // SAFETY: the caller's promise, and `is_array`.
        (is_array(keys, num_keys) && is_array(lengths, num_keys)).then(|| unsafe {
            KeyArrays {
                keys: slice::from_raw_parts(keys, num_keys),
                lengths: slice::from_raw_parts(lengths, num_keys),
            }
        })
    }

    /// The keys; empty ones in place of those that are not readable.
    pub(super) fn iter(self) -> impl Iterator<Item = Key<'a>> {
        // SAFETY: `new`'s caller promised it for every pair.
        self.keys.iter().zip(self.lengths).map(|(&key, &len)| Key::new(unsafe { bytes(key, len) }))
    }

    /// Whether all are bytes, or empty: none is NULL with a length, or longer than any object.
    fn are_readable(self) -> bool {
        let mut pairs = self.keys.iter().zip(self.lengths);
        pairs.all(|(key, &len)| is_readable(*key, len))
    }

    /// The list of the keys, in room for as many. None where one is not readable, or the room is
    /// for another number.
    // Once for all who list: it is long.
    #[inline(never)]
    pub(super) fn list<'m>(self, room: &'m mut [MaybeUninit<Key<'a>>]) -> Option<&'m [Key<'a>]> {
        if room.len() != self.keys.len() || self.keys.len() != self.lengths.len() {
            return None;
        }
        let (mut any_null, mut lengths) = (false, 0);
        // Without a branch for each key, so that the compiler takes several at a time: a filter of
        // 1,000 keys took 0.85 of the time (AMD EPYC of the fourth generation, 2026-11-27).
        for ((place, &key), &len) in room.iter_mut().zip(self.keys).zip(self.lengths) {
            any_null |= key.is_null();
            lengths |= len;
            // SAFETY: the keys are handed on only if all are readable (NULL only with a length of
            // 0), and `new`'s caller promised that what they name is there.
            place.write(unsafe { Key::from_raw_parts(key.cast(), len) });
        }
        let usual = !any_null && lengths <= isize::MAX as usize;
        // SAFETY: there are as many keys and lengths as places, so that all were written.
        (usual || self.are_readable())
            .then(|| unsafe { slice::from_raw_parts(room.as_ptr().cast(), room.len()) })
    }

    /// Hands keys on in groups of up to [`GROUP`], until one has a key that is not readable, or `f`
    /// says false. False if that happened.
    pub(super) fn in_groups(self, mut f: impl FnMut(&[Key<'a>]) -> bool) -> bool {
        let mut groups = self.keys.chunks(GROUP).zip(self.lengths.chunks(GROUP));
        groups.all(|(keys, lengths)| {
            let mut room = [const { MaybeUninit::<Key<'a>>::uninit() }; GROUP];
            let room = room.get_mut(..keys.len()).unwrap_or(&mut []);
            KeyArrays { keys, lengths }.list(room).is_some_and(&mut f)
        })
    }
}

/// `len` zeroed bytes from C's `malloc`, to be freed with C's `free`. `None` where there is no
/// memory.
pub(super) fn allocate(len: usize) -> Option<NonNull<u8>> {
    // SAFETY: calloc takes any sizes.
    NonNull::new(unsafe { libc::calloc(len.max(1), 1) }.cast())
}

/// [`allocate`], but the bytes are not initialised.
pub(super) fn allocate_unset(len: usize) -> Option<NonNull<u8>> {
    // SAFETY: malloc takes any size.
    NonNull::new(unsafe { libc::malloc(len.max(1)) }.cast())
}

/// A copy of a text, as a C string.
pub(super) struct Text(NonNull<c_char>);

impl Text {
    /// Up to the first zero byte, if there is one; `None` where there is no memory.
    pub(super) fn copy_of(text: &[u8]) -> Option<Text> {
        // SAFETY: no more bytes are read than there are.
        NonNull::new(unsafe { libc::strndup(text.as_ptr().cast(), text.len()) }).map(Text)
    }

    /// Never freed.
    pub(super) fn for_good(self) -> *mut c_char {
        ManuallyDrop::new(self).0.as_ptr()
    }

    /// Valid as long as `self`.
    pub(super) fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr()
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        // SAFETY: `copy_of` made it, and nobody else has it.
        unsafe { free(self.0.as_ptr().cast()) }
    }
}

/// C's `malloc` aligns to as much as any type of C needs, which nowhere is less. (The crate libc
/// has `max_align_t` for some processors only.)
const LEAST_ALIGNMENT: usize = 8;

/// The value that `make` makes, in memory from C's `malloc`; `None`, and none made, where there is
/// no memory.
#[inline]
pub(super) fn allocate_value<T>(make: impl FnOnce() -> T) -> Option<NonNull<T>> {
    const { assert!(align_of::<T>() <= LEAST_ALIGNMENT) };
    let memory = allocate(size_of::<T>())?.cast::<T>();
    // SAFETY: `allocate` just gave this memory with the value's size, aligned as was asserted.
    unsafe { memory.write(make()) };
    Some(memory)
}

/// Gives back what C's `malloc` gave. NULL is fine.
///
/// # Safety
/// `memory` is NULL or came from C's `malloc` and was not freed.
#[inline(never)]
pub(super) unsafe fn free(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(memory) }
}

/// A few bytes put aside while there was memory, so that a filter that matches everything can be
/// returned when there is none.
pub(super) struct Reserve(AtomicPtr<u8>);

impl Reserve {
    pub(super) fn new() -> Self {
        Reserve(AtomicPtr::new(match_all().map_or(ptr::null_mut(), NonNull::as_ptr)))
    }

    /// A filter that matches every key, for the caller to free. From the reserve where there is no
    /// memory. If the reserve is used up as well, waits for memory: anything else that could be
    /// returned would lose keys.
    pub(super) fn take(&self) -> NonNull<u8> {
        loop {
            if let Some(filter) = match_all() {
                return filter;
            }
            if let Some(filter) = NonNull::new(self.0.swap(ptr::null_mut(), Ordering::AcqRel)) {
                return filter;
            }
            pause(MILLISECOND);
        }
    }
}

/// [`allocate_unset`], waiting until there is memory: for where going on without would lose keys.
pub(super) fn allocate_at_last(len: usize) -> NonNull<u8> {
    loop {
        match allocate_unset(len) {
            Some(memory) => return memory,
            None => pause(MILLISECOND),
        }
    }
}

/// Waits until there is memory for what the loader does to open a module, and more.
pub(super) fn wait() {
    // SAFETY: `allocate_at_last` gives it, and nobody else has it.
    unsafe { free(allocate_at_last(1 << 16).as_ptr().cast()) };
}

const MILLISECOND: u32 = 1_000_000;

/// Waits for so many nanoseconds, or up to a signal.
// Once, not in each of its callers.
#[inline(never)]
pub(super) fn pause(nanoseconds: u32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: nanoseconds as _ };
    // SAFETY: a time; the second argument may be NULL.
    unsafe { libc::nanosleep(&time, ptr::null_mut()) };
}

impl Drop for Reserve {
    fn drop(&mut self) {
        // SAFETY: `new` put in what `match_all` allocated, and `take` takes it out.
        unsafe { free(self.0.swap(ptr::null_mut(), Ordering::AcqRel).cast()) }
    }
}

/// [`MATCH_ALL`] in memory of its own.
// Once for both callers: it saves 80 bytes.
#[inline(never)]
fn match_all() -> Option<NonNull<u8>> {
    let memory = allocate(MATCH_ALL.len())?;
    // SAFETY: `allocate` just gave this memory, of that length.
    unsafe { ptr::copy_nonoverlapping(MATCH_ALL.as_ptr(), memory.as_ptr(), MATCH_ALL.len()) };
    Some(memory)
}
