//! `FilterPolicy::CreateFilter` of our objects: make the filter, let the host's string append it.

use core::ffi::{c_char, c_int, c_void};
use core::mem::{MaybeUninit, offset_of};
use core::{hint, ptr};

use super::abi::{Callbacks, Slice};
use super::line::Line;
use super::memory::{self, MATCH_ALL};
use super::object::{Appender, Kind, Object};
use super::stats::Route;
use crate::filter::SMALLEST;
use crate::kernel::{Key, at_line};
use crate::policy::BloomFilterPolicy;

/// What CreateFilter has left to do once the filter is made: one call into the host, which may
/// throw, and after it `release`.
///
/// The assembly takes this type's size from its stack, so it has to be a multiple of 16, and reads
/// the first fields at fixed offsets (see below).
#[repr(C, align(16))]
struct Call {
    function: *const c_void,
    arguments: [*mut c_void; 4],
    /// The filter's memory, freed after the call; NULL if there is none. Lost if the call throws,
    /// which it does only without memory.
    heap: *mut c_void,
    /// Room for small filters, on the stack.
    buffer: [u8; BUFFER as usize],
}

/// The bytes of the largest filter that is made on the stack.
pub(super) const BUFFER: u16 = 2000;

// As the assembly has them; it is for machines of 64 bits.
const _: () = assert!(
    size_of::<*const c_void>() != 8
        || offset_of!(Call, function) == 0
            && offset_of!(Call, arguments) == 8
            && offset_of!(Call, heap) == 40
);

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
    at_line!();
    // SAFETY: the caller's promise. The buffer has room for the filters of `at_once.most` keys, all
    // bytes of which are written before they are read; `at_once.few` is no more, nor is a smallest
    // filter longer. `Object` gives numbers above 0 to `Kind::Bloom` alone, and none above
    // `c_int::MAX`, so that a negative number is more.
    unsafe {
        let object = &*object;
        // At least one: 0 less 1 is the largest number.
        let less_one = (num_keys as u32).wrapping_sub(1);
        // What all but a few calls come to. The filter is made last, so that nothing has to be kept
        // meanwhile: filters of one key took 1.10 times as long otherwise, of 20 keys 1.05 times
        // (AMD EPYC of the fourth generation, 2026-11-27).
        if let (Some(Appender::String(append)), true) =
            (object.known_appender(), less_one < object.at_once.most)
        {
            let Kind::Bloom(policy) = &object.kind else { hint::unreachable_unchecked() };
            let count = num_keys as u32 as usize;
            let keys = memory::array(keys.cast::<Key<'_>>(), count);
            // If there are any, all are there.
            if !keys.is_empty() {
                let filter = (&raw mut (*call).buffer).cast::<MaybeUninit<u8>>();
                (*call).heap = ptr::null_mut();
                (*call).function = append as *const c_void;
                (*call).arguments = [destination, filter.cast(), SMALLEST as _, 0 as _];
                if less_one < object.at_once.few
                    && policy.policy.fill_smallest(keys, &mut *filter.cast())
                {
                    return;
                }
                if let Some(len) = policy.policy.filter_len(count) {
                    (*call).arguments[2] = len as _;
                    return policy.policy.fill_uninit(keys, memory::array_mut(filter, len));
                }
            }
        }
        prepare_any(object, keys, num_keys, destination, call, caller);
    }
}

/// `prepare` for any object, string and filter.
///
/// # Safety
/// As for `prepare`.
#[cold]
#[inline(never)]
unsafe extern "C" fn prepare_any(
    object: *const Object,
    keys: *const Slice,
    num_keys: c_int,
    destination: *mut c_void,
    call: *mut Call,
    caller: *const c_void,
) {
    let count = usize::try_from(num_keys).unwrap_or(0);
    // SAFETY: the caller's promise. The buffer, which need not be initialised, is written before it
    // is read.
    unsafe {
        let object = &*object;
        (*call).heap = ptr::null_mut();
        match object.appender(caller, destination) {
            Some(Appender::String(append)) => {
                let (filter, len) = match &object.kind {
                    Kind::Bloom(policy) => {
                        let keys = memory::array(keys.cast::<Key<'_>>(), count);
                        let (filter, len) = bloom_filter(&policy.policy, keys, count, call);
                        policy.count_filter(count, len);
                        (filter, len)
                    }
                    Kind::Custom(state, callbacks) => {
                        custom_filter(*state, callbacks, memory::array(keys, count), call)
                    }
                };
                (*call).function = append as *const c_void;
                (*call).arguments = [destination, filter.cast_mut().cast(), len as _, 0 as _];
            }
            Some(Appender::Delegate(delegate)) => {
                if let Kind::Bloom(policy) = &object.kind {
                    // A delegate that calls our callback back counts there; the host's original
                    // policy does not.
                    if object.counters().is_some_and(|c| c.has_route(Route::Original)) {
                        policy.count_filter(count, policy.filter_size(count));
                    }
                }
                (*call).function = (*delegate.as_ref().methods).create_filter as *const c_void;
                (*call).arguments =
                    [delegate.as_ptr().cast(), keys.cast_mut().cast(), count as _, destination];
            }
            None => abort_without_string(),
        }
    }
}

/// The filter, on the stack or in memory from C's malloc. A filter that matches every key where
/// there is no memory, or where `keys` (empty, because a foreign pointer was NULL) are not the
/// promised number.
///
/// # Safety
/// `call` is memory for a [`Call`].
unsafe fn bloom_filter(
    policy: &BloomFilterPolicy,
    keys: &[Key<'_>],
    num_keys: usize,
    call: *mut Call,
) -> (*const u8, usize) {
    let Some(len) = policy.filter_len(num_keys).filter(|_| keys.len() == num_keys) else {
        return (MATCH_ALL.as_ptr(), MATCH_ALL.len());
    };
    // SAFETY: the caller's promise; the buffer has room for BUFFER bytes, and `allocate_unset`
    // gives `len`. All of them are written before they are read.
    unsafe {
        let memory = if len <= BUFFER.into() {
            (&raw mut (*call).buffer).cast::<u8>()
        } else {
            let Some(memory) = memory::allocate_unset(len) else {
                return (MATCH_ALL.as_ptr(), MATCH_ALL.len());
            };
            (*call).heap = memory.as_ptr().cast();
            memory.as_ptr()
        };
        policy.fill_uninit(keys, memory::array_mut(memory.cast::<MaybeUninit<u8>>(), len));
        (memory, len)
    }
}

/// What the user's callback makes.
///
/// # Safety
/// The callbacks and the state belong together, and `call` is memory for a [`Call`].
unsafe fn custom_filter(
    state: *mut c_void,
    callbacks: &Callbacks,
    keys: &[Slice],
    call: *mut Call,
) -> (*const u8, usize) {
    let count = keys.len();
    // SAFETY: the caller's promise; the two arrays are fresh and hold `count` entries each.
    unsafe {
        // Waits for memory: a filter in the user's own format that matches every key is not known
        // here.
        let words = memory::allocate_at_last(count.saturating_mul(2 * size_of::<usize>()));
        let pointers = words.as_ptr().cast::<*const c_char>();
        let lengths = pointers.add(count).cast::<usize>();
        // Hidden from the compiler, whose vectors of them take 150 bytes of the library.
        for (i, key) in keys.iter().map(hint::black_box).enumerate() {
            pointers.add(i).write(key.data);
            lengths.add(i).write(key.size);
        }
        let mut len = 0;
        let filter = (callbacks.create_filter)(state, pointers, lengths, count as c_int, &mut len);
        memory::free(words.as_ptr().cast());
        (*call).heap = filter.cast();
        if filter.is_null() { (MATCH_ALL.as_ptr(), 0) } else { (filter.cast(), len) }
    }
}

/// # Safety
/// `prepare` has filled `call`.
unsafe extern "C" fn release(call: *const Call) {
    // SAFETY: the assembly passes the `Call` that `prepare` has filled; its `heap` is NULL or from
    // C's malloc.
    unsafe { memory::free((*call).heap) }
}

/// Ends the process: we were called with a string that we have no way to, because the caller's
/// module hides all of LevelDB's names. To append nothing would lose keys for good, and to guess
/// could corrupt memory.
#[cold]
fn abort_without_string() -> ! {
    let mut line = Line::new();
    line.text(
        "leveldb_bloom: the caller's std::string cannot be found; see \"Not supported\" in README.md\n",
    );
    line.write_to(None);
    // SAFETY: takes nothing.
    unsafe { libc::abort() }
}

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
    "jne 3f",
    "2:",
    ".cfi_remember_state",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_restore_state",
    "3:",
    "mov rdi, rsp",
    "call {release}",
    "jmp 2b",
    ".cfi_endproc",
    ".size leveldb_bloom_object_create_filter, . - leveldb_bloom_object_create_filter",
    ".popsection",
    size = const size_of::<Call>(),
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
    size = const size_of::<Call>(),
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
    /// # Safety
    /// `object` is a living object of ours, `keys` an array of `num_keys`, and `destination` a
    /// string of the calling code.
    #[link_name = "leveldb_bloom_object_create_filter"]
    pub(super) unsafe fn create_filter(
        object: *const Object,
        keys: *const Slice,
        num_keys: c_int,
        destination: *mut c_void,
    );
}

/// The same in Rust, for machines whose assembly we do not write: the caller is unknown, and an
/// exception of the host's ends the process.
///
/// # Safety
/// As above.
#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    target_env = "gnu"
)))]
pub(super) unsafe extern "C" fn create_filter(
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
