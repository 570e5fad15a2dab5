//! Libraries with a C interface: ours, and other people's filters behind a few C functions.

use std::ffi::{CString, c_int, c_void};
use std::hint::black_box;

use leveldb_bloom::{Kernel, Key};
use leveldb_bloom_compare::Policy;

use crate::measure::Run;
use crate::work::{BATCH, Side, Work, one_by_one};

/// A library's function of that name.
///
/// # Safety
/// `F` is the function's type.
unsafe fn function<F: Copy>(library: *mut c_void, name: &str) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let c_name = CString::new(name).map_err(|error| error.to_string())?;
    // SAFETY: an open library, which is never closed.
    let address = unsafe { libc::dlsym(library, c_name.as_ptr()) };
    if address.is_null() {
        return Err(format!("the library has no {name}"));
    }
    // SAFETY: the caller says that `F` is its type.
    Ok(unsafe { std::mem::transmute_copy(&address) })
}

fn open(file: &str) -> Result<*mut c_void, String> {
    let path = CString::new(file).map_err(|error| error.to_string())?;
    // SAFETY: runs the constructors of a library that the user named.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() { Err(format!("{file} cannot be loaded")) } else { Ok(library) }
}

type KeysMayMatch =
    unsafe extern "C" fn(*const *const u8, *const usize, usize, *const u8, usize, *mut u8) -> usize;

type FiltersMayMatch =
    unsafe extern "C" fn(*const u8, usize, *const Key<'_>, usize, *mut u8) -> usize;

/// Our C library: the drop-in policy, as LevelDB calls it, and the functions for batches.
pub struct Library {
    name: String,
    file: String,
    /// The kernel, where it is not the library's choice.
    kernel: Option<String>,
    keys_may_match: KeysMayMatch,
    filters_may_match: FiltersMayMatch,
}

const KERNEL: &str = "LEVELDB_BLOOM_KERNEL";

impl Library {
    /// `name` may end in `:KERNEL`.
    pub fn open(name: &str, file: &str) -> Result<Library, String> {
        // LevelDB must be in the process before the library looks for it.
        let _ = Policy::stock(10);
        let kernel = name.split_once(':').map(|(_, kernel)| kernel.to_owned());
        if kernel.as_ref().is_some_and(|kernel| Kernel::by_name(kernel).is_none()) {
            return Err(format!("{name}: this machine has no such kernel"));
        }
        let library = open(file)?;
        // SAFETY: the types are those of leveldb_bloom.h.
        let (keys_may_match, filters_may_match) = unsafe {
            (
                function(library, "leveldb_bloom_keys_may_match")?,
                function(library, "leveldb_bloom_filters_may_match")?,
            )
        };
        let (name, file) = (name.to_owned(), file.to_owned());
        let library = Library { name, file, kernel, keys_may_match, filters_may_match };
        let found = library.policy(10).file();
        if std::fs::canonicalize(&found).ok() != std::fs::canonicalize(&library.file).ok() {
            return Err(format!("{}: its policy is that of {found}", library.name));
        }
        Ok(library)
    }

    fn policy(&self, bits: i32) -> Box<Policy> {
        // SAFETY: this process has one thread.
        unsafe {
            if let Some(kernel) = &self.kernel {
                std::env::set_var(KERNEL, kernel);
            }
            let policy = Policy::open(&self.file, bits);
            std::env::remove_var(KERNEL);
            Box::new(policy.expect("a library that could be opened before"))
        }
    }
}

impl Side for Library {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn prepare<'a>(&'a self, work: &'a Work<'a>) -> Option<Run<'a>> {
        match *work {
            // Functions without a policy have one kernel for the whole process, the library's choice.
            Work::Batch { .. } | Work::Filters { .. } if self.kernel.is_some() => None,
            Work::Batch { filter, keys } => {
                let pointers: Vec<_> = keys.iter().map(|key| key.as_bytes().as_ptr()).collect();
                let lengths: Vec<_> = keys.iter().map(|key| key.len()).collect();
                Some(Box::new(move || {
                    let mut answers = [0; BATCH];
                    let batches = pointers.chunks(BATCH).zip(lengths.chunks(BATCH));
                    let batch = |(pointers, lengths): (&[*const u8], &[usize])| {
                        // SAFETY: so many keys, and room for as many answers.
                        unsafe {
                            (self.keys_may_match)(
                                pointers.as_ptr(),
                                lengths.as_ptr(),
                                pointers.len(),
                                filter.as_ptr(),
                                filter.len(),
                                black_box(answers.as_mut_ptr()),
                            )
                        }
                    };
                    batches.map(batch).sum()
                }))
            }
            Work::Filters { filters, keys } => Some(Box::new(move || {
                let mut answers = [0; 8];
                let all = |key: &Key| {
                    let (key, filters, len) = (key.as_bytes(), filters.as_ptr(), filters.len());
                    let answers = black_box(answers.as_mut_ptr());
                    // SAFETY: a key, so many filters, and room for as many answers.
                    unsafe {
                        (self.filters_may_match)(key.as_ptr(), key.len(), filters, len, answers)
                    }
                };
                keys.iter().map(all).sum()
            })),
            _ => Some(one_by_one(|bits| self.policy(bits), work)),
        }
    }
}

/// The functions of rocksdb.cc and goleveldb.go.
pub struct CPeer {
    name: String,
    create: unsafe extern "C" fn(c_int, *const Key<'_>, usize, usize) -> usize,
    filter: unsafe extern "C" fn(c_int, *const Key<'_>, usize) -> *mut c_void,
    query: unsafe extern "C" fn(*mut c_void, *const Key<'_>, usize) -> usize,
    destroy: unsafe extern "C" fn(*mut c_void),
}

struct CFilter<'p>(&'p CPeer, *mut c_void);

impl CFilter<'_> {
    fn query(&self, keys: &[Key<'_>]) -> usize {
        // SAFETY: a living filter and so many keys.
        unsafe { (self.0.query)(self.1, keys.as_ptr(), keys.len()) }
    }
}

impl Drop for CFilter<'_> {
    fn drop(&mut self) {
        // SAFETY: `peer_filter` made it, and nobody else has it.
        unsafe { (self.0.destroy)(self.1) }
    }
}

impl CPeer {
    pub fn open(name: &str, file: &str) -> Result<CPeer, String> {
        let library = open(file)?;
        // SAFETY: the types are those in rocksdb.cc and goleveldb.go.
        unsafe {
            Ok(CPeer {
                name: name.to_owned(),
                create: function(library, "peer_create")?,
                filter: function(library, "peer_filter")?,
                query: function(library, "peer_query")?,
                destroy: function(library, "peer_destroy")?,
            })
        }
    }
}

impl Side for CPeer {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_leveldb(&self) -> bool {
        false
    }

    fn is_peer(&self) -> bool {
        true
    }

    fn prepare<'a>(&'a self, work: &'a Work<'a>) -> Option<Run<'a>> {
        match *work {
            Work::Create { keys, per, bits } => {
                // SAFETY: so many keys.
                Some(Box::new(move || unsafe {
                    (self.create)(bits, keys.as_ptr(), keys.len(), per)
                }))
            }
            Work::Query { members, keys, bits, .. } => {
                // SAFETY: so many keys.
                let filter = unsafe { (self.filter)(bits, members.as_ptr(), members.len()) };
                let filter = CFilter(self, filter);
                Some(Box::new(move || filter.query(keys)))
            }
            _ => None,
        }
    }
}
