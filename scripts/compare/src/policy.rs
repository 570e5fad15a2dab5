//! A C++ filter policy: LevelDB's own, or any other library's.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::rc::Rc;

use leveldb_bloom::Key;

// policy.cc. A `Key` has the layout of a `leveldb::Slice`.
unsafe extern "C" {
    fn policy_new(library: *const c_char, bits_per_key: c_int, host: bool) -> *mut c_void;
    fn policy_delete(policy: *mut c_void);
    fn policy_file(policy: *const c_void) -> *const c_char;
    fn policy_create(
        policy: *const c_void,
        keys: *const Key<'_>,
        n: usize,
        per: usize,
        out: *mut u8,
        room: usize,
    ) -> usize;
    fn policy_query(
        policy: *const c_void,
        keys: *const Key<'_>,
        n: usize,
        filter: *const Key<'_>,
        results: *mut bool,
    ) -> usize;
    fn policy_query_all(
        policy: *const c_void,
        keys: *const Key<'_>,
        n: usize,
        filters: *const Key<'_>,
        num_filters: usize,
    ) -> usize;
    fn policy_query_each(
        policy: *const c_void,
        keys: *const Key<'_>,
        n: usize,
        filters: *const Key<'_>,
    ) -> usize;
}

/// A `leveldb::FilterPolicy`, called through its virtual functions.
pub struct Policy(NonNull<c_void>);

impl Policy {
    /// The library with LevelDB's own policy.
    pub const STOCK: &str = "libleveldb.so";

    /// The bloom filter policy of the library in that file.
    ///
    /// # Errors
    /// There is no such library or no policy in it.
    pub fn open(library: &str, bits_per_key: i32) -> Result<Policy, String> {
        let name = CString::new(library).map_err(|error| error.to_string())?;
        let host = library == Self::STOCK;
        // SAFETY: runs the constructors of a library that the user named.
        let policy = unsafe { policy_new(name.as_ptr(), bits_per_key, host) };
        NonNull::new(policy).map(Policy).ok_or_else(|| format!("{library}: no bloom filter policy"))
    }

    /// LevelDB's own policy with 0 or more bits per key.
    ///
    /// # Panics
    /// If LevelDB is not installed, or is not who would answer.
    pub fn stock(bits_per_key: i32) -> Rc<Policy> {
        thread_local! {
            static POLICIES: RefCell<HashMap<i32, Rc<Policy>>> = RefCell::default();
        }
        let make = || {
            let policy = Policy::open(Self::STOCK, bits_per_key).unwrap_or_else(|e| panic!("{e}"));
            assert!(policy.file().contains("/libleveldb.so"), "{} would answer", policy.file());
            policy.into()
        };
        POLICIES.with_borrow_mut(|all| all.entry(bits_per_key).or_insert_with(make).clone())
    }

    /// The file with the code that answers queries.
    pub fn file(&self) -> String {
        // SAFETY: a living policy; the name is a C string of the loader's.
        unsafe { CStr::from_ptr(policy_file(self.0.as_ptr())) }.to_string_lossy().into_owned()
    }

    /// The filter of these keys.
    pub fn create(&self, keys: &[Key<'_>]) -> Vec<u8> {
        let mut filter = vec![0; 64 + keys.len() * 2];
        loop {
            let (n, room) = (keys.len(), filter.len());
            // SAFETY: a living policy, so many keys, and room for so many bytes.
            let len = unsafe {
                policy_create(self.0.as_ptr(), keys.as_ptr(), n, n, filter.as_mut_ptr(), room)
            };
            let fits = len <= room;
            filter.resize(len, 0);
            if fits {
                return filter;
            }
        }
    }

    /// Makes filters of `per` keys each, and returns the length of the last.
    pub fn create_each(&self, keys: &[Key<'_>], per: usize) -> usize {
        assert!(0 < per && per <= keys.len());
        let (n, nowhere) = (keys.len(), ptr::null_mut());
        // SAFETY: a living policy and so many keys.
        unsafe { policy_create(self.0.as_ptr(), keys.as_ptr(), n, per, nowhere, 0) }
    }

    /// Queries a filter for many keys, one by one: `results[i]` is the answer for `keys[i]`.
    /// Returns how many are true.
    pub fn query(&self, keys: &[Key<'_>], filter: &[u8], results: &mut [bool]) -> usize {
        assert_eq!(keys.len(), results.len());
        let (filter, results) = (Key::new(filter), results.as_mut_ptr());
        // SAFETY: a living policy, and as many keys as results.
        unsafe { policy_query(self.0.as_ptr(), keys.as_ptr(), keys.len(), &filter, results) }
    }

    /// [`query`](Self::query), where only the number matters.
    pub fn count(&self, keys: &[Key<'_>], filter: &[u8]) -> usize {
        let (filter, results) = (Key::new(filter), ptr::null_mut());
        // SAFETY: a living policy, and so many keys.
        unsafe { policy_query(self.0.as_ptr(), keys.as_ptr(), keys.len(), &filter, results) }
    }

    /// Queries each filter for each key, and returns how many answers are true.
    pub fn count_all(&self, keys: &[Key<'_>], filters: &[Key<'_>]) -> usize {
        let (n, num_filters) = (keys.len(), filters.len());
        // SAFETY: a living policy, and so many keys and filters.
        unsafe {
            policy_query_all(self.0.as_ptr(), keys.as_ptr(), n, filters.as_ptr(), num_filters)
        }
    }

    /// Queries `filters[i]` for `keys[i]`, and returns how many answers are true.
    pub fn count_each(&self, keys: &[Key<'_>], filters: &[Key<'_>]) -> usize {
        assert_eq!(keys.len(), filters.len());
        // SAFETY: a living policy, and as many filters as keys.
        unsafe { policy_query_each(self.0.as_ptr(), keys.as_ptr(), keys.len(), filters.as_ptr()) }
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        // SAFETY: `policy_new` made it, and nobody else has it.
        unsafe { policy_delete(self.0.as_ptr()) }
    }
}
