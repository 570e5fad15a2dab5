//! A key in the layout of LevelDB's Slice, and lists of them.

use core::any::TypeId;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, offset_of, transmute};
use core::{ptr, slice};

/// Borrowed bytes with the layout of `leveldb::Slice`: a pointer and a length. An array of LevelDB's
/// slices can be used as an array of keys.
///
/// ```
/// use leveldb_bloom::{FilterPolicy, Key};
///
/// let policy = FilterPolicy::new(10);
/// let keys = [Key::new(b"hello"), Key::new(b"world")];
/// assert_eq!(policy.create_filter(&keys)?, policy.create_filter(&["hello", "world"])?);
/// # Ok::<(), leveldb_bloom::FilterTooLarge>(())
/// ```
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Key<'a> {
    data: *const u8,
    len: usize,
    bytes: PhantomData<&'a [u8]>,
}

// SAFETY: a key is a shared borrow of bytes.
unsafe impl Send for Key<'_> {}
// SAFETY: as above.
unsafe impl Sync for Key<'_> {}

const _: () = assert!(
    size_of::<Key>() == 2 * size_of::<usize>()
        && offset_of!(Key, data) == 0
        && offset_of!(Key, len) == size_of::<usize>()
);

impl<'a> Key<'a> {
    /// These bytes as a key.
    #[must_use]
    #[inline(always)]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Key { data: bytes.as_ptr(), len: bytes.len(), bytes: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn of<K: AsRef<[u8]>>(key: &'a K) -> Self {
        Key::new(key.as_ref())
    }

    /// The key of `len` bytes at `data`, which may be anything, NULL too, if `len` is 0.
    ///
    /// # Safety
    /// Unless `len` is 0, a slice of `len` bytes at `data` is valid for 'a.
    #[must_use]
    #[inline(always)]
    pub const unsafe fn from_raw_parts(data: *const u8, len: usize) -> Self {
        Key { data, len, bytes: PhantomData }
    }

    /// The bytes.
    #[must_use]
    #[inline(always)]
    pub fn as_bytes(self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `new` took the parts of a slice; for others the caller of `from_raw_parts`, or
        // whoever cast a foreign array to keys, promised the same.
        unsafe { slice::from_raw_parts(self.data, self.len) }
    }

    /// The number of bytes.
    #[must_use]
    #[inline(always)]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    #[must_use]
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The address of the first byte; anything, NULL too, if the key is empty.
    #[inline(always)]
    pub(crate) const fn as_ptr(self) -> *const u8 {
        self.data
    }
}

impl AsRef<[u8]> for Key<'_> {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl core::fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_bytes().fmt(f)
    }
}

/// Room for a list of keys on the stack.
pub(crate) struct KeyList<'k>([MaybeUninit<Key<'k>>; KeyList::MAX]);

impl KeyList<'_> {
    /// How many keys there is room for.
    pub(crate) const MAX: usize = 128;
}

impl<'k> KeyList<'k> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        KeyList([const { MaybeUninit::uninit() }; KeyList::MAX])
    }

    /// Lists the next keys, as many as there is room for.
    #[inline(always)]
    pub(crate) fn refill(&mut self, keys: impl Iterator<Item = Key<'k>>) -> &[Key<'k>] {
        let mut len = 0;
        for (place, key) in self.0.iter_mut().zip(keys) {
            place.write(key);
            len += 1;
        }
        // SAFETY: the loop wrote the first `len`.
        unsafe { slice::from_raw_parts(self.0.as_ptr().cast(), len) }
    }
}

/// `items` as keys, if their type has a key's layout: [`Key`], `&[u8]` and `&str`. Listing these
/// anew would take about as long as hashing them.
#[inline(always)]
pub(crate) fn as_keys<T>(items: &[T]) -> Option<&[Key<'_>]> {
    let id = type_id::<T>();
    let is_slice = id == TypeId::of::<&[u8]>() || id == TypeId::of::<&str>();
    if id == TypeId::of::<Key>() || (is_slice && slices_are_keys()) {
        // SAFETY: `T` is a key, or a reference to bytes with a key's layout, and its bytes live at
        // least as long as `items`.
        Some(unsafe { slice::from_raw_parts(items.as_ptr().cast(), items.len()) })
    } else {
        None
    }
}

/// Whether a slice's pointer comes before its length, which Rust does not promise. Known at compile
/// time.
#[inline(always)]
fn slices_are_keys() -> bool {
    let slice: &[u8] = &[1, 2, 3];
    // SAFETY: `transmute` checks the sizes; a pointer and a number may have any value.
    let key = unsafe { transmute::<&[u8], Key<'_>>(slice) };
    ptr::eq(key.data, slice.as_ptr()) && key.len == slice.len()
}

/// The type's identity, with all lifetimes taken for `'static`.
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
    // SAFETY: only the lifetime changes. `id` reads no value of T, and a TypeId has no lifetimes.
    unsafe { transmute::<&dyn Identified, &(dyn Identified + 'static)>(of_t) }.id()
}
