//! LevelDB's own library, loaded into this process, and its C++ types as far as a caller needs
//! them.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// `leveldb::Slice`, and `struct leveldb_bloom_slice`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice<'a> {
    data: *const u8,
    size: usize,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> Slice<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Slice { data: bytes.as_ptr(), size: bytes.len(), bytes: PhantomData }
    }

    pub fn bytes(self) -> &'a [u8] {
        // SAFETY: `new` took the two from a slice that lives for 'a.
        unsafe { std::slice::from_raw_parts(self.data, self.size) }
    }
}

impl AsRef<[u8]> for Slice<'_> {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

// SAFETY: a borrowed slice of bytes.
unsafe impl Send for Slice<'_> {}
// SAFETY: a borrowed slice of bytes.
unsafe impl Sync for Slice<'_> {}

/// The virtual functions of `leveldb::FilterPolicy`, in their order.
#[repr(C)]
struct Methods {
    complete_destructor: unsafe extern "C" fn(*mut Object),
    deleting_destructor: unsafe extern "C" fn(*mut Object),
    name: unsafe extern "C" fn(*const Object) -> *const c_char,
    create_filter: unsafe extern "C" fn(*const Object, *const Slice, c_int, *mut c_void),
    key_may_match: unsafe extern "C" fn(*const Object, *const Slice, *const Slice) -> bool,
}

/// Any `leveldb::FilterPolicy`, which is what C calls a `leveldb_filterpolicy_t`.
#[repr(C)]
pub struct Object {
    methods: *const Methods,
}

/// An owned `leveldb::FilterPolicy`, stock's or ours, called as LevelDB calls it.
pub struct Policy(NonNull<Object>);

// SAFETY: LevelDB calls a policy from any thread, and says so to whoever writes one.
unsafe impl Send for Policy {}
// SAFETY: the same.
unsafe impl Sync for Policy {}

impl Policy {
    /// # Safety
    /// `object` is NULL or a living policy that nobody else owns.
    pub unsafe fn from_raw(object: *mut Object) -> Option<Policy> {
        NonNull::new(object).map(Policy)
    }

    fn methods(&self) -> &Methods {
        // SAFETY: a living policy, which begins with the pointer to its methods.
        unsafe { &*self.0.as_ref().methods }
    }

    pub fn name(&self) -> &CStr {
        // SAFETY: a living policy; its name is a C string.
        unsafe { CStr::from_ptr((self.methods().name)(self.0.as_ptr())) }
    }

    /// Appends the filter for `keys` to `filter`.
    pub fn create_filter(&self, keys: &[Slice], filter: &mut CxxString) {
        let count = c_int::try_from(keys.len()).expect("fewer than 2^31 keys");
        // SAFETY: a living policy, `count` slices, and a std::string of the host.
        unsafe {
            (self.methods().create_filter)(self.0.as_ptr(), keys.as_ptr(), count, filter.as_ptr());
        }
    }

    #[inline]
    pub fn key_may_match(&self, key: &Slice, filter: &Slice) -> bool {
        // SAFETY: a living policy and two slices.
        unsafe { (self.methods().key_may_match)(self.0.as_ptr(), key, filter) }
    }

    /// The files with the code that makes filters and with the code that asks them.
    pub fn files(&self) -> [PathBuf; 2] {
        let methods = self.methods();
        [file_of(methods.create_filter as *const c_void), file_of(methods.key_may_match as _)]
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        // SAFETY: C++'s `delete policy`; we own it.
        unsafe { (self.methods().deleting_destructor)(self.0.as_ptr()) }
    }
}

/// The file that the code at `address` was loaded from.
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "dladdr looks for the address, not at it")]
pub fn file_of(address: *const c_void) -> PathBuf {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr takes any address and writes the information only where it succeeds.
    let name = unsafe {
        assert_ne!(libc::dladdr(address, info.as_mut_ptr()), 0, "an address of no module");
        CStr::from_ptr(info.assume_init().dli_fname)
    };
    let path = Path::new(name.to_str().expect("a path of UTF-8"));
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The members of `std::string` that we need, each by its mangled name: what is inside a string is
/// the business of the C++ library.
#[derive(Clone, Copy)]
pub struct StringFunctions {
    construct: unsafe extern "C" fn(*mut c_void),
    destroy: unsafe extern "C" fn(*mut c_void),
    clear: unsafe extern "C" fn(*mut c_void),
    append: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> *mut c_void,
    data: unsafe extern "C" fn(*const c_void) -> *const u8,
    size: unsafe extern "C" fn(*const c_void) -> usize,
}

/// A C++ `std::string`.
pub struct CxxString {
    /// Twice the size of the largest one known. Never moved: a short string points into itself.
    memory: Box<[u64; 8]>,
    functions: StringFunctions,
}

impl CxxString {
    fn new(functions: StringFunctions) -> Self {
        let mut string = CxxString { memory: Box::new([0; 8]), functions };
        // SAFETY: memory for a string, aligned.
        unsafe { (functions.construct)(string.as_ptr()) };
        string
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.memory.as_mut_ptr().cast()
    }

    /// Makes it `bytes` and nothing else.
    pub fn set(&mut self, bytes: &[u8]) {
        let (string, functions) = (self.as_ptr(), self.functions);
        // SAFETY: a living string and readable bytes.
        unsafe {
            (functions.clear)(string);
            (functions.append)(string, bytes.as_ptr(), bytes.len());
        }
    }

    pub fn bytes(&self) -> &[u8] {
        let string = self.memory.as_ptr().cast();
        // SAFETY: a living string, which nobody changes while it is borrowed.
        unsafe {
            let size = (self.functions.size)(string);
            std::slice::from_raw_parts((self.functions.data)(string), size)
        }
    }
}

impl Drop for CxxString {
    fn drop(&mut self) {
        // SAFETY: a living string, for the last time.
        unsafe { (self.functions.destroy)(self.as_ptr()) }
    }
}

/// LevelDB's library.
pub struct Stock {
    library: Library,
    pub file: PathBuf,
    strings: StringFunctions,
    new_bloom_filter_policy: unsafe extern "C" fn(c_int) -> *mut Object,
}

impl Stock {
    /// Loads it where everybody sees it, as a program that is linked with LevelDB does.
    pub fn load(file: &Path) -> Result<Stock, String> {
        let error = |error: libloading::Error| format!("{}: {error}", file.display());
        // SAFETY: the constructors of LevelDB and of the C++ library, which any program may run.
        let library =
            unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) }.map_err(error)?;
        macro_rules! member {
            ($name:literal) => {
                // SAFETY: the mangled name gives the arguments; the C++ standard the result.
                *unsafe { library.get(concat!("_ZN", $name).as_bytes()) }.map_err(error)?
            };
        }
        let strings = StringFunctions {
            construct: member!("St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1Ev"),
            destroy: member!("St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev"),
            clear: member!("St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5clearEv"),
            append: member!("St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKcm"),
            data: member!("KSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4dataEv"),
            size: member!("KSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv"),
        };
        // SAFETY: the mangled name gives the argument; LevelDB's header the result.
        let new_bloom_filter_policy =
            *unsafe { library.get(b"_ZN7leveldb20NewBloomFilterPolicyEi") }.map_err(error)?;
        let file = file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?;
        let stock = Stock { library, file, strings, new_bloom_filter_policy };
        // Whatever else is in the process, this must be the original.
        for found in stock.new_policy(10).files() {
            if found != stock.file {
                return Err(format!("{} answers for {}", found.display(), stock.file.display()));
            }
        }
        Ok(stock)
    }

    /// `leveldb::NewBloomFilterPolicy`. Below 0 it would divide by zero.
    pub fn new_policy(&self, bits_per_key: u32) -> Policy {
        let bits_per_key = c_int::try_from(bits_per_key).expect("an int");
        // SAFETY: takes any number from 0 up.
        unsafe { Policy::from_raw((self.new_bloom_filter_policy)(bits_per_key)) }
            .expect("a policy of LevelDB's")
    }

    /// A function of LevelDB's C API.
    ///
    /// # Safety
    /// `F` is the type of the function of that name.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        // SAFETY: the caller's promise.
        unsafe { self.library.get(name.as_bytes()) }
            .map(|function| *function)
            .map_err(|error| format!("{name}: {error}"))
    }

    pub fn new_string(&self) -> CxxString {
        CxxString::new(self.strings)
    }
}
