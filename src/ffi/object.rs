//! A policy as LevelDB's C++ code sees it: an object that begins with a pointer to a table of
//! virtual functions in the order of `leveldb::FilterPolicy` (Itanium C++ ABI: every Unix).
//!
//! The table is ours, so a query costs what a native one costs, and `delete policy` and
//! `leveldb_filterpolicy_destroy` of whichever library end in our destructor. CreateFilter builds
//! the filter in memory of its own and lets the host's string append it (see `route`).

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::functions::{Policy, Slice};
use super::memory::{self, MATCH_ALL};
use super::route::{self, CreatePolicy, Route, Way};
use super::stats::Counters;
use super::type_info::{TYPE_INFO, TypeInfo};
use super::vtable::{self, VTABLE, Vtable};
use crate::kernel::Key;
use crate::policy::BloomFilterPolicy;

/// The virtual functions of `leveldb::FilterPolicy`, in their order.
#[repr(C)]
pub(super) struct Methods {
    complete_destructor: unsafe extern "C" fn(*mut Object),
    deleting_destructor: unsafe extern "C" fn(*mut Object),
    name: unsafe extern "C" fn(*const Object) -> *const c_char,
    create_filter: unsafe extern "C" fn(*const Object, *const Slice, c_int, *mut c_void),
    key_may_match: unsafe extern "C" fn(*const Object, *const Slice, *const Slice) -> bool,
}

/// A C++ virtual table: an object points behind its first two entries.
#[repr(C)]
struct Table {
    offset_to_top: isize,
    type_info: *const TypeInfo,
    methods: Methods,
}

// SAFETY: constant; what it points to is code, and Sync.
unsafe impl Sync for Table {}

const fn table(
    key_may_match: unsafe extern "C" fn(*const Object, *const Slice, *const Slice) -> bool,
) -> Table {
    Table {
        offset_to_top: 0,
        type_info: &TYPE_INFO,
        methods: Methods {
            complete_destructor,
            deleting_destructor,
            name,
            create_filter,
            key_may_match,
        },
    }
}

/// For a bloom policy that does not count, one that does, and a policy of the user's callbacks.
static BLOOM: Table = table(bloom_may_match);
static COUNTING: Table = table(counting_may_match);
static CUSTOM: Table = table(custom_may_match);

/// A `leveldb::FilterPolicy` (and so a `leveldb_filterpolicy_t`).
#[repr(C)]
pub struct Object {
    methods: *const Methods,
    kind: Kind,
    /// From a static link: the host's `leveldb_filterpolicy_create`.
    linked_create: Option<CreatePolicy>,
    /// The host's `std::string::append`, once known.
    append: AtomicPtr<c_void>,
    /// An object of the host's that makes filters for us, where `append` is not to be had.
    delegate: AtomicPtr<Object>,
}

enum Kind {
    Bloom(Policy),
    Custom(*mut c_void, Vtable),
}

impl Object {
    /// A bloom policy in C memory; NULL where there is none.
    pub(super) fn bloom(bits_per_key: c_int, linked_create: Option<CreatePolicy>) -> *mut Object {
        let policy = Policy::new(bits_per_key, Route::None);
        let table = if policy.counters().is_some() { &COUNTING } else { &BLOOM };
        Self::create(table, Kind::Bloom(policy), linked_create)
    }

    /// A policy of the user's callbacks in C memory; NULL where there is none.
    pub(super) fn custom(state: *mut c_void, callbacks: Vtable) -> *mut Object {
        Self::create(&CUSTOM, Kind::Custom(state, callbacks), None)
    }

    fn create(
        table: &'static Table,
        kind: Kind,
        linked_create: Option<CreatePolicy>,
    ) -> *mut Object {
        memory::allocate_value(Object {
            methods: &table.methods,
            kind,
            linked_create,
            append: AtomicPtr::new(ptr::null_mut()),
            delegate: AtomicPtr::new(ptr::null_mut()),
        })
        .map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    /// Whether `object`, any living `leveldb::FilterPolicy`, is one of ours.
    ///
    /// # Safety
    /// `object` is one.
    pub(super) unsafe fn is_ours(object: NonNull<Object>) -> bool {
        // SAFETY: every such object begins with the pointer to its methods.
        let methods = unsafe { (*object.as_ptr()).methods };
        [&BLOOM, &COUNTING, &CUSTOM].iter().any(|table| ptr::eq(methods, &table.methods))
    }

    /// `delete object`, whoever made it.
    ///
    /// # Safety
    /// `object` is a `leveldb::FilterPolicy` that nobody uses any more.
    pub(super) unsafe fn delete(object: NonNull<Object>) {
        // SAFETY: the caller's promise.
        unsafe { ((*(*object.as_ptr()).methods).deleting_destructor)(object.as_ptr()) }
    }

    fn counters(&self) -> Option<&Counters> {
        match &self.kind {
            Kind::Bloom(policy) => policy.counters(),
            Kind::Custom(..) => None,
        }
    }

    /// Finds the way to the string of the code at `caller` and keeps it.
    fn find_way(&self, caller: *const c_void) -> Option<()> {
        let route = route::find(caller, self.linked_create, |way| match way {
            Way::Append(append, route) => {
                self.append.store(append as *mut c_void, Ordering::Release);
                Some(route)
            }
            Way::Create(create) => {
                let (state, callbacks) = match &self.kind {
                    Kind::Bloom(policy) => (ptr::from_ref(policy).cast_mut().cast(), &VTABLE),
                    Kind::Custom(state, callbacks) => (*state, callbacks),
                };
                // SAFETY: leveldb_filterpolicy_create, with callbacks and the state they are for.
                // The state outlives the delegate, which does not own it.
                let delegate = unsafe {
                    let Vtable { create_filter, key_may_match, name, .. } = *callbacks;
                    create(state, keep, create_filter, key_may_match, name)
                };
                self.keep_delegate(delegate, Route::Delegate)
            }
            Way::Original(original) => match &self.kind {
                Kind::Bloom(policy) => {
                    let bits = policy.policy.bits_per_key();
                    let bits = c_int::try_from(bits).unwrap_or(c_int::MAX);
                    // SAFETY: leveldb::NewBloomFilterPolicy; takes any number from 0 up.
                    self.keep_delegate(unsafe { original(bits) }, Route::Original)
                }
                Kind::Custom(..) => None,
            },
        })?;
        if let Some(counters) = self.counters() {
            counters.set_route(route);
        }
        Some(())
    }

    /// Keeps the host's object, unless it is one of ours or another thread was first.
    fn keep_delegate(&self, delegate: *mut Object, route: Route) -> Option<Route> {
        let delegate = NonNull::new(delegate)?;
        // SAFETY: the host just made it, for us alone.
        unsafe {
            if Object::is_ours(delegate) {
                Object::delete(delegate);
                return None;
            }
            let (none, order) = (ptr::null_mut(), Ordering::AcqRel);
            if self
                .delegate
                .compare_exchange(none, delegate.as_ptr(), order, Ordering::Acquire)
                .is_err()
            {
                Object::delete(delegate);
            }
        }
        Some(route)
    }
}

unsafe extern "C" fn complete_destructor(object: *mut Object) {
    // SAFETY: LevelDB destroys an object once, when nobody uses it any more.
    unsafe {
        let object = &mut *object;
        if let Some(delegate) =
            NonNull::new(object.delegate.swap(ptr::null_mut(), Ordering::AcqRel))
        {
            Object::delete(delegate);
        }
        match &mut object.kind {
            Kind::Bloom(policy) => ptr::drop_in_place(policy),
            Kind::Custom(state, callbacks) => (callbacks.destructor)(*state),
        }
    }
}

unsafe extern "C" fn deleting_destructor(object: *mut Object) {
    // SAFETY: as above; the memory came from `memory::allocate_value`.
    unsafe {
        complete_destructor(object);
        memory::free(object.cast());
    }
}

unsafe extern "C" fn name(object: *const Object) -> *const c_char {
    // SAFETY: LevelDB calls it on a living object.
    match unsafe { &(*object).kind } {
        Kind::Bloom(_) => vtable::NAME.as_ptr(),
        // SAFETY: the user's own callback with the user's own state.
        Kind::Custom(state, callbacks) => unsafe { (callbacks.name)(*state) },
    }
}

unsafe extern "C" fn bloom_may_match(
    object: *const Object,
    key: *const Slice,
    filter: *const Slice,
) -> bool {
    // SAFETY: LevelDB passes a living object of this table and two slices.
    unsafe {
        match &(*object).kind {
            Kind::Bloom(policy) => policy.policy.key_may_match((*key).bytes(), (*filter).bytes()),
            Kind::Custom(..) => true,
        }
    }
}

unsafe extern "C" fn counting_may_match(
    object: *const Object,
    key: *const Slice,
    filter: *const Slice,
) -> bool {
    // SAFETY: as above.
    unsafe {
        let answer = bloom_may_match(object, key, filter);
        if let Some(counters) = (*object).counters() {
            counters.query(answer);
        }
        answer
    }
}

unsafe extern "C" fn custom_may_match(
    object: *const Object,
    key: *const Slice,
    filter: *const Slice,
) -> bool {
    // SAFETY: LevelDB passes a living object of this table and two slices.
    unsafe {
        match &(*object).kind {
            Kind::Custom(state, callbacks) => {
                let (key, filter) = (&*key, &*filter);
                (callbacks.key_may_match)(*state, key.data, key.size, filter.data, filter.size) != 0
            }
            Kind::Bloom(_) => true,
        }
    }
}

/// What is left to do for CreateFilter when the filter is made: one call into the host, which may
/// throw, and after it `release`.
#[repr(C)]
struct Call {
    function: *const c_void,
    arguments: [*mut c_void; 4],
    /// Freed after the call. (Lost if the call throws: the process is out of memory then.)
    heap: *mut c_void,
    /// Small filters are built here, on the stack.
    buffer: [u8; BUFFER],
}

const BUFFER: usize = 2000;

/// What CreateFilter keeps on its stack. A multiple of 16, as the stack must be.
const CALL_SIZE: usize = size_of::<Call>();
const _: () = assert!(CALL_SIZE % 16 == 0);

/// Makes the filter and fills `call`.
///
/// # Safety
/// `object` is a living object of ours, `keys` an array of `num_keys`, `destination` a string of
/// the code at `caller`, and `call` memory for a [`Call`].
unsafe extern "C" fn prepare(
    object: *const Object,
    keys: *const Slice,
    num_keys: c_int,
    destination: *mut c_void,
    call: *mut Call,
    caller: *const c_void,
) {
    // SAFETY: the caller's promise. The buffer may be uninitialised and is only written before it
    // is read.
    unsafe {
        let object = &*object;
        (*call).heap = ptr::null_mut();
        let append = object.append.load(Ordering::Acquire);
        if append.is_null() && object.delegate.load(Ordering::Acquire).is_null() {
            if object.find_way(caller).is_none() {
                unreachable_host();
            }
            return prepare(object, keys, num_keys, destination, call, caller);
        }
        if append.is_null() {
            let delegate = object.delegate.load(Ordering::Acquire);
            (*call).function = (*(*delegate).methods).create_filter as *const c_void;
            (*call).arguments = [
                delegate.cast(),
                keys.cast_mut().cast(),
                num_keys as isize as *mut c_void,
                destination,
            ];
            if let Kind::Bloom(policy) = &object.kind {
                // The callback of a delegate counts by itself.
                if policy.counters().is_some_and(|counters| counters.has_route(Route::Original)) {
                    let num_keys = usize::try_from(num_keys).unwrap_or(0);
                    policy.count_filter(num_keys, policy.filter_size(num_keys));
                }
            }
            return;
        }
        let (filter, len) = match &object.kind {
            Kind::Bloom(policy) => {
                let num_keys = usize::try_from(num_keys).unwrap_or(0);
                let keys = memory::array(keys.cast::<Key<'_>>(), num_keys);
                let (filter, len) = bloom_filter(&policy.policy, keys, call);
                policy.count_filter(num_keys, len);
                (filter, len)
            }
            Kind::Custom(state, callbacks) => {
                custom_filter(*state, callbacks, keys, num_keys, call)
            }
        };
        (*call).function = append.cast_const();
        (*call).arguments =
            [destination, filter.cast_mut().cast(), len as *mut c_void, ptr::null_mut()];
    }
}

/// The filter, on the stack, in C memory, or where there is none, one that matches everything.
///
/// # Safety
/// `call` is memory for a [`Call`].
unsafe fn bloom_filter(
    policy: &BloomFilterPolicy,
    keys: &[Key<'_>],
    call: *mut Call,
) -> (*const u8, usize) {
    let Some(len) = policy.filter_len(keys.len()) else {
        return (MATCH_ALL.as_ptr(), MATCH_ALL.len());
    };
    // SAFETY: the caller's promise; the buffer has BUFFER bytes, `allocate` gives `len`.
    unsafe {
        let memory = if len <= BUFFER {
            let buffer = (&raw mut (*call).buffer).cast::<u8>();
            buffer.write_bytes(0, len);
            buffer
        } else {
            let Some(memory) = memory::allocate(len) else {
                return (MATCH_ALL.as_ptr(), MATCH_ALL.len());
            };
            (*call).heap = memory.as_ptr().cast();
            memory.as_ptr()
        };
        policy.fill_slice(keys, memory::array_mut(memory, len));
        (memory, len)
    }
}

/// What the user's callback makes.
///
/// # Safety
/// The callbacks and the state belong together; `keys` is an array of `num_keys`.
unsafe fn custom_filter(
    state: *mut c_void,
    callbacks: &Vtable,
    keys: *const Slice,
    num_keys: c_int,
    call: *mut Call,
) -> (*const u8, usize) {
    let count = usize::try_from(num_keys).unwrap_or(0);
    // SAFETY: the caller's promise; the two arrays are fresh and hold `count` entries each.
    unsafe {
        let keys = memory::array(keys, count);
        let words = memory::allocate(count.saturating_mul(2 * size_of::<usize>()));
        let Some(words) = words.filter(|_| keys.len() == count) else {
            return (MATCH_ALL.as_ptr(), MATCH_ALL.len());
        };
        let pointers = words.as_ptr().cast::<*const c_char>();
        let lengths = pointers.add(count).cast::<usize>();
        for (i, key) in keys.iter().enumerate() {
            pointers.add(i).write(key.data);
            lengths.add(i).write(key.size);
        }
        let mut len = 0;
        let filter = (callbacks.create_filter)(state, pointers, lengths, num_keys, &mut len);
        memory::free(words.as_ptr().cast());
        (*call).heap = filter.cast();
        if filter.is_null() { (MATCH_ALL.as_ptr(), 0) } else { (filter.cast(), len) }
    }
}

unsafe extern "C" fn release(call: *const Call) {
    // SAFETY: `prepare` filled it; `heap` is NULL or from C's malloc.
    unsafe { memory::free((*call).heap) }
}

/// No string, no C API and no original policy can be found for code that nevertheless calls us
/// with a string (a module that hides all of LevelDB's names). To append nothing would lose keys
/// for good, to guess could corrupt memory: stopping is the least harm.
#[cold]
fn unreachable_host() -> ! {
    const MESSAGE: &CStr =
        c"leveldb_bloom: CreateFilter was called by a program whose std::string \
        cannot be found; see \"not supported\" in leveldb_bloom's README\n";
    // SAFETY: a constant message; abort takes nothing.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.count_bytes());
        libc::abort()
    }
}

/// A delegate does not own its state.
unsafe extern "C" fn keep(_state: *mut c_void) {}

// CreateFilter: `prepare`, the call into the host, `release`. In assembly because of two things
// that Rust cannot say here: where the caller is, and that an exception of the host's (append may
// throw std::bad_alloc) passes through, as it does in the original. The frame has unwind
// information and holds nothing that would need a destructor.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_env = "gnu"))]
core::arch::global_asm!(
    ".pushsection .text.leveldb_bloom_object_create_filter,\"ax\",@progbits",
    ".hidden leveldb_bloom_object_create_filter",
    ".globl leveldb_bloom_object_create_filter",
    ".type leveldb_bloom_object_create_filter,@function",
    ".balign 16",
    "leveldb_bloom_object_create_filter:",
    ".cfi_startproc",
    "endbr64",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "sub rsp, {size}",
    "mov r8, rsp",
    "mov r9, [rbp + 8]",
    "call {prepare}",
    "mov rdi, [rsp + 8]",
    "mov rsi, [rsp + 16]",
    "mov rdx, [rsp + 24]",
    "mov rcx, [rsp + 32]",
    "call [rsp]",
    "cmp qword ptr [rsp + 40], 0",
    "je 2f",
    "mov rdi, rsp",
    "call {release}",
    "2:",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size leveldb_bloom_object_create_filter, . - leveldb_bloom_object_create_filter",
    ".popsection",
    size = const CALL_SIZE,
    prepare = sym prepare,
    release = sym release,
);

#[cfg(all(target_arch = "aarch64", target_pointer_width = "64", target_env = "gnu"))]
core::arch::global_asm!(
    ".pushsection .text.leveldb_bloom_object_create_filter,\"ax\",@progbits",
    ".hidden leveldb_bloom_object_create_filter",
    ".globl leveldb_bloom_object_create_filter",
    ".type leveldb_bloom_object_create_filter,@function",
    ".balign 16",
    "leveldb_bloom_object_create_filter:",
    ".cfi_startproc",
    "hint #34", // bti c
    "stp x29, x30, [sp, #-16]!",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset x29, -16",
    ".cfi_offset x30, -8",
    "mov x29, sp",
    ".cfi_def_cfa x29, 16",
    "sub sp, sp, #{size}",
    "mov x4, sp",
    "mov x5, x30",
    "bl {prepare}",
    "ldr x8, [sp]",
    "ldp x0, x1, [sp, #8]",
    "ldp x2, x3, [sp, #24]",
    "blr x8",
    "ldr x8, [sp, #40]",
    "cbz x8, 2f",
    "mov x0, sp",
    "bl {release}",
    "2:",
    "mov sp, x29",
    "ldp x29, x30, [sp], #16",
    ".cfi_def_cfa sp, 0",
    ".cfi_restore x29",
    ".cfi_restore x30",
    "ret",
    ".cfi_endproc",
    ".size leveldb_bloom_object_create_filter, . - leveldb_bloom_object_create_filter",
    ".popsection",
    size = const CALL_SIZE,
    prepare = sym prepare,
    release = sym release,
);

#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    target_env = "gnu"
))]
#[allow(improper_ctypes, reason = "an object is opaque to the assembly above")]
unsafe extern "C" {
    #[link_name = "leveldb_bloom_object_create_filter"]
    unsafe fn create_filter(
        object: *const Object,
        keys: *const Slice,
        num_keys: c_int,
        destination: *mut c_void,
    );
}

/// The same in Rust, for machines whose assembly we do not write: the caller is unknown, and an
/// exception of the host's ends the process.
#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    target_env = "gnu"
)))]
unsafe extern "C" fn create_filter(
    object: *const Object,
    keys: *const Slice,
    num_keys: c_int,
    destination: *mut c_void,
) {
    type Function =
        unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void) -> *mut c_void;
    let mut call = core::mem::MaybeUninit::<Call>::uninit();
    let call = call.as_mut_ptr();
    // SAFETY: LevelDB passes a living object, an array of `num_keys` and its own string; `prepare`
    // fills `call` with a function and its arguments, each of them one word.
    unsafe {
        prepare(object, keys, num_keys, destination, call, ptr::null());
        let function = core::mem::transmute::<*const c_void, Function>((*call).function);
        let [a, b, c, d] = (*call).arguments;
        function(a, b, c, d);
        release(call);
    }
}
