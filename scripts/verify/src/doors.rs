//! Every way into the library, for every kernel that this machine has.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bloom::{BloomFilterPolicy, FilterBuilder, FlatKeys, Kernel};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::leveldb::{CxxString, Object, Policy, Slice, Stock, file_of};

/// The policies that are compared have 0 to this many bits per key.
pub const MAX_BITS_PER_KEY: u32 = 1000;

/// Keys as each of the doors wants them.
#[derive(Default)]
pub struct Keys<'a> {
    slices: Vec<Slice<'a>>,
    pointers: Vec<*const u8>,
    lengths: Vec<usize>,
}

impl<'a> Keys<'a> {
    pub fn push(&mut self, key: &'a [u8]) {
        self.slices.push(Slice::new(key));
        self.pointers.push(key.as_ptr());
        self.lengths.push(key.len());
    }

    pub fn len(&self) -> usize {
        self.slices.len()
    }

    pub fn slices(&self) -> &[Slice<'a>] {
        &self.slices
    }

    /// One behind the other, with offsets.
    fn flat(&self) -> (Vec<u8>, Vec<i32>) {
        let data = self.slices.iter().flat_map(|key| key.bytes()).copied().collect();
        let mut end = 0;
        let ends = self.slices.iter().map(|key| {
            end += key.bytes().len() as i32;
            end
        });
        (data, std::iter::once(0).chain(ends).collect())
    }
}

impl<'a> FromIterator<&'a [u8]> for Keys<'a> {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(keys: I) -> Self {
        let mut all = Keys::default();
        keys.into_iter().for_each(|key| all.push(key));
        all
    }
}

/// A way to make filters and to ask them.
pub trait Door: Send + Sync {
    fn name(&self) -> &'static str;

    fn kernel(&self) -> &'static str;

    /// Appends the filter for `keys` to `filter`. `string` is a `std::string` for those who need
    /// one.
    fn create(&self, bits_per_key: u32, keys: &Keys, string: &mut CxxString, filter: &mut Vec<u8>);

    /// Asks each filter for each key: `answers[f * keys.len() + k]` becomes 0 or 1.
    fn ask(&self, bits_per_key: u32, keys: &Keys, filters: &[Slice], answers: &mut [u8]);
}

/// The filter that a `leveldb::FilterPolicy` appends.
pub fn create_with(policy: &Policy, keys: &Keys, string: &mut CxxString, filter: &mut Vec<u8>) {
    string.set(filter);
    policy.create_filter(keys.slices(), string);
    filter.clear();
    filter.extend_from_slice(string.bytes());
}

/// The answers that a `leveldb::FilterPolicy` gives.
pub fn ask_with(policy: &Policy, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
    for (filter, answers) in filters.iter().zip(answers.chunks_mut(keys.len().max(1))) {
        for (key, answer) in keys.slices().iter().zip(answers) {
            *answer = policy.key_may_match(key, filter).into();
        }
    }
}

/// The Rust API.
struct RustDoor {
    name: &'static str,
    kernel: &'static Kernel,
    create: Create,
    ask: Ask,
}

type Create = fn(BloomFilterPolicy, &Keys, &mut Vec<u8>);

type Ask = fn(&BloomFilterPolicy, &Keys, &[Slice], &mut [u8]);

impl Door for RustDoor {
    fn name(&self) -> &'static str {
        self.name
    }

    fn kernel(&self) -> &'static str {
        self.kernel.name()
    }

    fn create(&self, bits: u32, keys: &Keys, _string: &mut CxxString, filter: &mut Vec<u8>) {
        let bits = i32::try_from(bits).expect("an int");
        (self.create)(BloomFilterPolicy::with_kernel(bits, self.kernel), keys, filter);
    }

    fn ask(&self, bits: u32, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
        let bits = i32::try_from(bits).expect("an int");
        (self.ask)(&BloomFilterPolicy::with_kernel(bits, self.kernel), keys, filters, answers);
    }
}

const FITS: &str = "a filter that fits in memory";

fn append(policy: BloomFilterPolicy, keys: &Keys, filter: &mut Vec<u8>) {
    policy.append_filter(keys.slices(), filter).expect(FITS);
}

fn create_from_flat(policy: BloomFilterPolicy, keys: &Keys, filter: &mut Vec<u8>) {
    let (data, offsets) = keys.flat();
    let keys = FlatKeys::with_offsets32(&data, &offsets).expect("offsets that rise");
    filter.extend(policy.create_filter_from(keys.iter()).expect(FITS));
}

fn build(policy: BloomFilterPolicy, keys: &Keys, filter: &mut Vec<u8>) {
    let mut builder = FilterBuilder::new(policy);
    builder.extend(keys.slices());
    filter.extend(builder.finish().expect(FITS));
}

/// In two parts, united.
fn build_parts(policy: BloomFilterPolicy, keys: &Keys, filter: &mut Vec<u8>) {
    let part = |keys: &[Slice]| {
        let mut builder = FilterBuilder::new(policy);
        keys.iter().for_each(|key| builder.add(key.bytes()));
        builder
    };
    let (some, others) = keys.slices().split_at(keys.len() / 3);
    let mut whole = part(some).finish_for(keys.len()).expect(FITS);
    let others = part(others).finish_for(keys.len()).expect(FITS);
    bloom::union(&mut whole, &others).expect("parts of one filter");
    filter.extend(whole);
}

fn ask_one_by_one(policy: &BloomFilterPolicy, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
    for (filter, answers) in filters.iter().zip(answers.chunks_mut(keys.len().max(1))) {
        for (key, answer) in keys.slices().iter().zip(answers) {
            *answer = policy.key_may_match(key.bytes(), filter.bytes()).into();
        }
    }
}

fn ask_many_keys(policy: &BloomFilterPolicy, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
    let mut results = vec![false; keys.len()];
    for (filter, answers) in filters.iter().zip(answers.chunks_mut(keys.len().max(1))) {
        let ones = policy.keys_may_match(keys.slices(), filter.bytes(), &mut results);
        for (answer, result) in answers.iter_mut().zip(&results) {
            *answer = (*result).into();
        }
        check_count(ones, answers);
    }
}

fn ask_bitmap(policy: &BloomFilterPolicy, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
    let (data, offsets) = keys.flat();
    let flat = FlatKeys::with_offsets32(&data, &offsets).expect("offsets that rise");
    let mut bitmap = vec![0xaa; keys.len().div_ceil(8)];
    for (filter, answers) in filters.iter().zip(answers.chunks_mut(keys.len().max(1))) {
        let ones = policy.keys_may_match_bitmap(flat.iter(), filter.bytes(), &mut bitmap);
        read_bitmap(&bitmap, answers);
        check_count(ones, answers);
    }
}

fn read_bitmap(bitmap: &[u8], answers: &mut [u8]) {
    for (i, answer) in answers.iter_mut().enumerate() {
        *answer = bitmap[i / 8] >> (i % 8) & 1;
    }
}

fn ask_for_hashes(_: &BloomFilterPolicy, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
    for (k, key) in keys.slices().iter().enumerate() {
        let hash = bloom::bloom_hash(key.bytes());
        let answers = answers.get_mut(k..).unwrap_or(&mut []).iter_mut().step_by(keys.len());
        for (filter, answer) in filters.iter().zip(answers) {
            *answer = bloom::hash_may_match(hash, filter.bytes()).into();
        }
    }
}

fn ask_many_filters(
    policy: &BloomFilterPolicy,
    keys: &Keys,
    filters: &[Slice],
    answers: &mut [u8],
) {
    let mut results = vec![false; filters.len()];
    for (k, key) in keys.slices().iter().enumerate() {
        let ones = policy.filters_may_match(key.bytes(), filters, &mut results);
        let answers = answers.get_mut(k..).unwrap_or(&mut []).iter_mut().step_by(keys.len());
        let mut counted = 0;
        for (answer, result) in answers.zip(&results) {
            *answer = (*result).into();
            counted += usize::from(*result);
        }
        assert_eq!(ones, counted, "filters_may_match counts as it answers");
    }
}

fn check_count(ones: usize, answers: &[u8]) {
    let counted: usize = answers.iter().map(|answer| usize::from(*answer)).sum();
    assert_eq!(ones, counted, "the number of ones fits the answers");
}

/// `struct leveldb_bloom_policy`.
#[repr(C)]
struct CPolicy {
    _opaque: [u8; 0],
}

/// `struct leveldb_bloom_builder`.
#[repr(C)]
struct CBuilder {
    _opaque: [u8; 0],
}

/// `struct leveldb_bloom_vtable`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Table {
    destructor: unsafe extern "C" fn(*mut c_void),
    create_filter: unsafe extern "C" fn(
        *mut c_void,
        *const *const c_char,
        *const usize,
        c_int,
        *mut usize,
    ) -> *mut c_char,
    key_may_match:
        unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize) -> u8,
    name: unsafe extern "C" fn(*mut c_void) -> *const c_char,
}

/// `leveldb_filterpolicy_create`.
type CreatePolicy = unsafe extern "C" fn(
    *mut c_void,
    unsafe extern "C" fn(*mut c_void),
    unsafe extern "C" fn(
        *mut c_void,
        *const *const c_char,
        *const usize,
        c_int,
        *mut usize,
    ) -> *mut c_char,
    unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize) -> u8,
    unsafe extern "C" fn(*mut c_void) -> *const c_char,
) -> *mut Object;

macro_rules! c_functions {
    ($($field:ident = $name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the C library that are compared, from include/leveldb_bloom.h.
        #[derive(Clone, Copy)]
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Finds them in `library`, and nowhere else.
            fn find(library: &Library, file: &Path) -> Result<Functions, String> {
                Ok(Functions {
                    $($field: {
                        let name = stringify!($name);
                        let function: unsafe extern "C" fn($($argument),*) $(-> $result)? =
                            // SAFETY: the type is the one in the header.
                            *unsafe { library.get(name.as_bytes()) }
                                .map_err(|error| format!("{name}: {error}"))?;
                        let found = file_of(function as *const c_void);
                        if found != file {
                            return Err(format!("{name} is that of {}", found.display()));
                        }
                        function
                    },)*
                })
            }
        }
    };
}

c_functions! {
    policy_create = leveldb_bloom_policy_create: fn(c_int) -> *mut CPolicy;
    filter_size = leveldb_bloom_filter_size: fn(*const CPolicy, usize) -> usize;
    create_filter = leveldb_bloom_create_filter:
        fn(*const CPolicy, *const *const u8, *const usize, usize, *mut usize) -> *mut u8;
    fill_filter = leveldb_bloom_fill_filter:
        fn(*const CPolicy, *const Slice<'static>, usize, *mut u8, usize) -> c_int;
    key_may_match = leveldb_bloom_key_may_match: fn(*const u8, usize, *const u8, usize) -> u8;
    keys_may_match = leveldb_bloom_keys_may_match:
        fn(*const *const u8, *const usize, usize, *const u8, usize, *mut u8) -> usize;
    fill_filter_flat = leveldb_bloom_fill_filter_offsets32:
        fn(*const CPolicy, *const u8, usize, *const i32, usize, *mut u8, usize) -> c_int;
    keys_may_match_flat = leveldb_bloom_keys_may_match_offsets32: fn(
        *const u8, usize, *const i32, usize, *const u8, usize, *mut u8, *mut u8, *mut usize
    ) -> c_int;
    builder_create = leveldb_bloom_builder_create: fn(c_int) -> *mut CBuilder;
    builder_add = leveldb_bloom_builder_add: fn(*mut CBuilder, *const u8, usize) -> c_int;
    builder_filter_size = leveldb_bloom_builder_filter_size: fn(*const CBuilder, usize) -> usize;
    builder_finish = leveldb_bloom_builder_finish:
        fn(*mut CBuilder, usize, *mut u8, usize) -> c_int;
    filters_may_match = leveldb_bloom_filters_may_match:
        fn(*const u8, usize, *const Slice<'static>, usize, *mut u8) -> usize;
    free = leveldb_bloom_free: fn(*mut c_void);
    kernel = leveldb_bloom_kernel: fn(*const CPolicy) -> *const c_char;
    vtable = leveldb_bloom_vtable: fn() -> *const Table;
    create_bloom = leveldb_filterpolicy_create_bloom: fn(c_int) -> *mut Object;
}

/// A policy of each number of bits per key from the C library. They live as long as the process.
struct Policies {
    functions: Functions,
    kernel: &'static str,
    policies: Vec<*mut CPolicy>,
    /// Of each number of bits per key too. Made here, because a builder has the kernel that the
    /// environment names when it is made.
    builders: Vec<Mutex<*mut CBuilder>>,
}

// SAFETY: a policy is immutable, and its functions may be called from any thread; a builder is
// behind a lock.
unsafe impl Send for Policies {}
// SAFETY: the same.
unsafe impl Sync for Policies {}

impl Policies {
    fn policy(&self, bits_per_key: u32) -> *const CPolicy {
        self.policies[bits_per_key as usize]
    }
}

/// The C functions, one key at a time.
struct FunctionsDoor(&'static Policies);

impl Door for FunctionsDoor {
    fn name(&self) -> &'static str {
        "C functions"
    }

    fn kernel(&self) -> &'static str {
        self.0.kernel
    }

    fn create(&self, bits: u32, keys: &Keys, _string: &mut CxxString, filter: &mut Vec<u8>) {
        let Functions { create_filter, free, .. } = self.0.functions;
        let mut length = 0;
        // SAFETY: a living policy, arrays of as many entries as there are keys, and what was
        // returned is read and freed once.
        unsafe {
            let made = create_filter(
                self.0.policy(bits),
                keys.pointers.as_ptr(),
                keys.lengths.as_ptr(),
                keys.len(),
                &mut length,
            );
            assert!(!made.is_null(), "leveldb_bloom_create_filter made none");
            filter.extend_from_slice(std::slice::from_raw_parts(made, length));
            free(made.cast());
        }
    }

    fn ask(&self, _bits: u32, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
        let key_may_match = self.0.functions.key_may_match;
        for (filter, answers) in filters.iter().zip(answers.chunks_mut(keys.len().max(1))) {
            let filter = filter.bytes();
            for (key, answer) in keys.slices().iter().zip(answers) {
                let key = key.bytes();
                // SAFETY: two slices.
                *answer = unsafe {
                    key_may_match(key.as_ptr(), key.len(), filter.as_ptr(), filter.len())
                };
            }
        }
    }
}

/// The C functions for many keys, and for the caller's memory.
struct BatchDoor(&'static Policies);

impl Door for BatchDoor {
    fn name(&self) -> &'static str {
        "C batch"
    }

    fn kernel(&self) -> &'static str {
        self.0.kernel
    }

    fn create(&self, bits: u32, keys: &Keys, _string: &mut CxxString, filter: &mut Vec<u8>) {
        let Functions { filter_size, fill_filter, .. } = self.0.functions;
        // SAFETY: a living policy, as many slices as there are keys, and memory of that size.
        unsafe {
            let length = filter_size(self.0.policy(bits), keys.len());
            let start = filter.len();
            filter.resize(start + length, 0xa5);
            let status = fill_filter(
                self.0.policy(bits),
                keys.slices().as_ptr().cast(),
                keys.len(),
                filter[start..].as_mut_ptr(),
                length,
            );
            assert_eq!(status, 0, "leveldb_bloom_fill_filter");
        }
    }

    fn ask(&self, _bits: u32, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
        for (filter, answers) in filters.iter().zip(answers.chunks_mut(keys.len().max(1))) {
            let filter = filter.bytes();
            // SAFETY: arrays of as many entries as there are keys, a slice, and room for as many
            // answers.
            let ones = unsafe {
                (self.0.functions.keys_may_match)(
                    keys.pointers.as_ptr(),
                    keys.lengths.as_ptr(),
                    keys.len(),
                    filter.as_ptr(),
                    filter.len(),
                    answers.as_mut_ptr(),
                )
            };
            check_count(ones, answers);
        }
    }
}

/// The C functions for keys that lie one behind the other.
struct FlatDoor(&'static Policies);

impl Door for FlatDoor {
    fn name(&self) -> &'static str {
        "C flat keys"
    }

    fn kernel(&self) -> &'static str {
        self.0.kernel
    }

    fn create(&self, bits: u32, keys: &Keys, _string: &mut CxxString, filter: &mut Vec<u8>) {
        let Functions { filter_size, fill_filter_flat, .. } = self.0.functions;
        let (data, offsets) = keys.flat();
        // SAFETY: a living policy, offsets into the data, and memory of that size.
        unsafe {
            let length = filter_size(self.0.policy(bits), keys.len());
            let start = filter.len();
            filter.resize(start + length, 0x5a);
            let status = fill_filter_flat(
                self.0.policy(bits),
                data.as_ptr(),
                data.len(),
                offsets.as_ptr(),
                keys.len(),
                filter[start..].as_mut_ptr(),
                length,
            );
            assert_eq!(status, 0, "leveldb_bloom_fill_filter_offsets32");
        }
    }

    fn ask(&self, _bits: u32, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
        let (data, offsets) = keys.flat();
        let mut bitmap = vec![0xaa; keys.len().div_ceil(8)];
        let mut bits = vec![0; keys.len()];
        for (filter, answers) in filters.iter().zip(answers.chunks_mut(keys.len().max(1))) {
            let filter = filter.bytes();
            let mut ones = 0;
            // SAFETY: offsets into the data, a slice, and room for as many answers and bits.
            let status = unsafe {
                (self.0.functions.keys_may_match_flat)(
                    data.as_ptr(),
                    data.len(),
                    offsets.as_ptr(),
                    keys.len(),
                    filter.as_ptr(),
                    filter.len(),
                    answers.as_mut_ptr(),
                    bitmap.as_mut_ptr(),
                    &mut ones,
                )
            };
            assert_eq!(status, 0, "leveldb_bloom_keys_may_match_offsets32");
            check_count(ones, answers);
            read_bitmap(&bitmap, &mut bits);
            assert_eq!(bits, *answers, "the bitmap says what the bytes say");
        }
    }
}

/// The C builder, and the C function for many filters.
struct BuilderDoor(&'static Policies);

impl Door for BuilderDoor {
    fn name(&self) -> &'static str {
        "C builder, many filters"
    }

    fn kernel(&self) -> &'static str {
        self.0.kernel
    }

    fn create(&self, bits: u32, keys: &Keys, _string: &mut CxxString, filter: &mut Vec<u8>) {
        let functions = &self.0.functions;
        let builder = self.0.builders[bits as usize].lock().expect("no thread panics");
        // SAFETY: a living builder that nobody else uses; slices, and memory of that size.
        unsafe {
            for key in keys.slices() {
                let key = key.bytes();
                let status = (functions.builder_add)(*builder, key.as_ptr(), key.len());
                assert_eq!(status, 0, "leveldb_bloom_builder_add");
            }
            let length = (functions.builder_filter_size)(*builder, 0);
            let start = filter.len();
            filter.resize(start + length, 0x33);
            let place = filter[start..].as_mut_ptr();
            let status = (functions.builder_finish)(*builder, 0, place, length);
            assert_eq!(status, 0, "leveldb_bloom_builder_finish");
        }
    }

    fn ask(&self, _bits: u32, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
        let mut results = vec![0; filters.len()];
        for (k, key) in keys.slices().iter().enumerate() {
            let key = key.bytes();
            // SAFETY: slices, and room for as many answers as there are filters.
            let ones = unsafe {
                (self.0.functions.filters_may_match)(
                    key.as_ptr(),
                    key.len(),
                    filters.as_ptr().cast(),
                    filters.len(),
                    results.as_mut_ptr(),
                )
            };
            check_count(ones, &results);
            let answers = answers.get_mut(k..).unwrap_or(&mut []).iter_mut().step_by(keys.len());
            answers.zip(&results).for_each(|(answer, result)| *answer = *result);
        }
    }
}

/// Policy objects that LevelDB calls.
struct ObjectDoor {
    name: &'static str,
    kernel: &'static str,
    policies: Vec<Policy>,
}

impl Door for ObjectDoor {
    fn name(&self) -> &'static str {
        self.name
    }

    fn kernel(&self) -> &'static str {
        self.kernel
    }

    fn create(&self, bits: u32, keys: &Keys, string: &mut CxxString, filter: &mut Vec<u8>) {
        create_with(&self.policies[bits as usize], keys, string, filter);
    }

    fn ask(&self, bits: u32, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
        ask_with(&self.policies[bits as usize], keys, filters, answers);
    }
}

/// The name of the door in front of which LevelDB stands with a callback table.
const CALLBACKS: &str = "callback table";
/// The name of the door of our own objects.
const DROP_IN: &str = "drop-in object";

/// All doors of all kernels. `library` is our shared library; each kernel gets a copy of its own,
/// because the functions that take no policy keep the kernel they began with.
pub fn open(stock: &Stock, library: &Path) -> Result<Vec<Arc<dyn Door>>, String> {
    let folder = Folder::new()?;
    let mut doors: Vec<Arc<dyn Door>> = Vec::new();
    for kernel in Kernel::available() {
        for (name, create, ask) in [
            ("Rust API", append as Create, ask_one_by_one as Ask),
            ("Rust API, many keys", append, ask_many_keys),
            ("Rust API, many filters", build, ask_many_filters),
            ("Rust API, flat keys", create_from_flat, ask_bitmap),
            ("Rust API, hashes", build_parts, ask_for_hashes),
        ] {
            doors.push(Arc::new(RustDoor { name, kernel, create, ask }));
        }
        open_library(stock, library, kernel.name(), &folder.0, &mut doors)?;
    }
    Ok(doors)
}

fn open_library(
    stock: &Stock,
    library: &Path,
    kernel: &'static str,
    folder: &Path,
    doors: &mut Vec<Arc<dyn Door>>,
) -> Result<(), String> {
    let file = folder.join(format!("libleveldb_bloom-{kernel}.so"));
    fs::copy(library, &file).map_err(|error| format!("{}: {error}", library.display()))?;
    let _variable = Variable::set("LEVELDB_BLOOM_KERNEL", kernel.as_ref());
    // SAFETY: our library has no constructors.
    let library = unsafe { Library::open(Some(&file), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| error.to_string())?;
    let functions = Functions::find(&library, &file)?;
    // Nothing of it is ever unloaded.
    std::mem::forget(library);

    // The first call decides about the kernel of these functions.
    // SAFETY: no bytes.
    unsafe { (functions.key_may_match)([].as_ptr(), 0, [].as_ptr(), 0) };

    let all = 0..=MAX_BITS_PER_KEY as c_int;
    let create: CreatePolicy = {
        // SAFETY: leveldb/c.h.
        unsafe { stock.function("leveldb_filterpolicy_create") }?
    };
    // SAFETY: the table is constant and not NULL.
    let table = unsafe { *(functions.vtable)() };
    let bloom_object = |bits| {
        // SAFETY: takes any number; nobody else owns the result.
        unsafe { Policy::from_raw((functions.create_bloom)(bits)) }.ok_or("no policy")
    };
    let callback_object = |bits| {
        let Table { destructor, create_filter, key_may_match, name } = table;
        // SAFETY: the callbacks and the state they are for, which the policy then owns.
        unsafe {
            let state = (functions.policy_create)(bits).cast();
            Policy::from_raw(create(state, destructor, create_filter, key_may_match, name))
        }
        .ok_or("no policy")
    };
    prove(stock, kernel, "append-cxx11", &file, folder, || bloom_object(10))?;
    prove(stock, kernel, "callbacks", &stock.file, folder, || callback_object(10))?;

    let policies: Vec<*mut CPolicy> =
        // SAFETY: takes any number.
        all.clone().map(|bits| unsafe { (functions.policy_create)(bits) }).collect();
    for policy in &policies {
        // SAFETY: NULL, or a living policy; the name is a C string.
        let name = unsafe {
            let name = (functions.kernel)(*policy);
            if name.is_null() { c"none" } else { CStr::from_ptr(name) }
        };
        if name.to_bytes() != kernel.as_bytes() {
            return Err(format!("a policy has the kernel {name:?} instead of {kernel}"));
        }
    }
    let builders: Vec<Mutex<*mut CBuilder>> =
        // SAFETY: takes any number.
        all.clone().map(|bits| Mutex::new(unsafe { (functions.builder_create)(bits) })).collect();
    let policies = Box::leak(Box::new(Policies { functions, kernel, policies, builders }));
    doors.push(Arc::new(FunctionsDoor(policies)));
    doors.push(Arc::new(BatchDoor(policies)));
    doors.push(Arc::new(FlatDoor(policies)));
    doors.push(Arc::new(BuilderDoor(policies)));
    let objects = all.clone().map(callback_object).collect::<Result<_, _>>()?;
    doors.push(Arc::new(ObjectDoor { name: CALLBACKS, kernel, policies: objects }));
    let objects = all.map(bloom_object).collect::<Result<_, _>>()?;
    doors.push(Arc::new(ObjectDoor { name: DROP_IN, kernel, policies: objects }));
    Ok(())
}

/// Has a policy make and ask one filter, and sees from its statistics that our library did it, with
/// this kernel and by this route.
fn prove(
    stock: &Stock,
    kernel: &str,
    route: &str,
    file: &Path,
    folder: &Path,
    new_policy: impl Fn() -> Result<Policy, &'static str>,
) -> Result<(), String> {
    let statistics = folder.join("statistics");
    let _ = fs::remove_file(&statistics);
    {
        let _variable = Variable::set("LEVELDB_BLOOM_STATS", statistics.as_os_str());
        let policy = new_policy()?;
        for found in policy.files() {
            if found != file {
                return Err(format!("{} answers for {}", found.display(), file.display()));
            }
        }
        if policy.name() != c"leveldb.BuiltinBloomFilter2" {
            return Err(format!("a policy calls itself {:?}", policy.name()));
        }
        let mut string = stock.new_string();
        policy.create_filter(&[Slice::new(b"key")], &mut string);
        policy.key_may_match(&Slice::new(b"key"), &Slice::new(string.bytes()));
    }
    let line = fs::read_to_string(&statistics).unwrap_or_default();
    let expected = [
        format!("\"kernel\":\"{kernel}\""),
        format!("\"route\":\"{route}\""),
        "\"filters\":1,\"keys\":1,\"filter_bytes\":9,\"queries\":1,\"negatives\":0".to_owned(),
    ];
    match expected.iter().find(|text| !line.contains(text.as_str())) {
        Some(missing) => Err(format!("the statistics say not {missing}, but {line}")),
        None => Ok(()),
    }
}

/// An environment variable, while this lives.
struct Variable(&'static str);

impl Variable {
    fn set(name: &'static str, value: &std::ffi::OsStr) -> Variable {
        // SAFETY: doors are opened before there is a second thread.
        unsafe { std::env::set_var(name, value) };
        Variable(name)
    }
}

impl Drop for Variable {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { std::env::remove_var(self.0) };
    }
}

/// A folder that goes when this does.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let base = std::env::temp_dir();
        let name = format!("leveldb-bloom-verify-{}", std::process::id());
        let path = base.canonicalize().unwrap_or(base).join(name);
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A door with a fault put in, to see that it is found: keys of which one in so many (by their
/// hash) is special get the wrong answer, and filters for them a wrong bit.
pub struct Planted {
    pub door: Arc<dyn Door>,
    pub fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Inserting a special key changes a bit.
    Filter,
    /// Asking for a special key gives the opposite answer.
    Answer,
}

impl Planted {
    /// One key in this many is special.
    const RARITY: u32 = 5000;

    fn is_special(key: &Slice) -> bool {
        bloom::bloom_hash(key.bytes()) % Self::RARITY == 77
    }
}

impl Door for Planted {
    fn name(&self) -> &'static str {
        self.door.name()
    }

    fn kernel(&self) -> &'static str {
        self.door.kernel()
    }

    fn create(&self, bits: u32, keys: &Keys, string: &mut CxxString, filter: &mut Vec<u8>) {
        let start = filter.len();
        self.door.create(bits, keys, string, filter);
        if self.fault == Fault::Filter && keys.slices().iter().any(Self::is_special) {
            filter[start + 3] ^= 0x10;
        }
    }

    fn ask(&self, bits: u32, keys: &Keys, filters: &[Slice], answers: &mut [u8]) {
        self.door.ask(bits, keys, filters, answers);
        if self.fault == Fault::Answer {
            for answers in answers.chunks_mut(keys.len().max(1)) {
                for (key, answer) in keys.slices().iter().zip(answers) {
                    *answer ^= u8::from(Self::is_special(key));
                }
            }
        }
    }
}
