//! `FilterPolicy::CreateFilter` of our objects: make the filter, have the host's string append it.

use core::ffi::{c_int, c_void};
use core::mem::{MaybeUninit, offset_of};
use core::ptr;

use super::abi;
use super::object::{Appender, Maker, Object};
use crate::diagnosis::message::stop;
use crate::diagnosis::statistics::Route;
use crate::door::{Keys, Slice};
use crate::memory::{self, MATCH_ALL};
use crate::policy::Policy;

/// What is left to do once the filter is made: a call into the host, which may throw, and after it
/// `release`. The assembly reads the first fields, and takes the size from its stack.
#[repr(C, align(16))]
struct Call {
    function: *const c_void,
    arguments: [*const c_void; 4],
    /// The filter's memory, or NULL. It is lost if the call throws, which it does only without memory.
    heap: *mut c_void,
    /// Room for small filters.
    buffer: [MaybeUninit<u8>; 2000],
}

const _: () = assert!(
    size_of::<*const c_void>() != 8
        || offset_of!(Call, function) == 0
            && offset_of!(Call, arguments) == 8
            && offset_of!(Call, heap) == 40
);

/// Makes the filter and fills `call`.
///
/// # Safety
/// LevelDB's promise: an object of ours, an array of `num_keys`, and a string of the code at `caller`.
/// `call` is memory for a [`Call`].
unsafe extern "C" fn prepare(
    object: *const Object,
    keys: *const Slice,
    num_keys: c_int,
    destination: *mut c_void,
    call: *mut Call,
    caller: *const c_void,
) {
    // SAFETY: LevelDB's promise. A Call may be uninitialised but for the fields that are written.
    unsafe {
        let (object, call) = (&*object, &mut *call);
        call.heap = ptr::null_mut();
        if prepare_usual(object, keys, num_keys, destination, call).is_none() {
            prepare_otherwise(object, keys, num_keys, destination, call, caller);
        }
    }
}

/// [`prepare`] for the usual filter: small, and it is known who appends it. The filter is made last, so
/// that nothing has to be kept meanwhile.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn prepare_usual(
    object: &Object,
    keys: *const Slice,
    num_keys: c_int,
    destination: *mut c_void,
    call: &mut Call,
) -> Option<()> {
    let Maker::Ours(policy) = &object.maker else { return None };
    let (policy, append) = (policy.plain()?, object.known_append()?);
    let count = usize::try_from(num_keys).ok().filter(|count| *count > 0)?;
    let filter = call.buffer.get_mut(..policy.filter_len(count)?)?;
    // SAFETY: the caller's promise.
    let Some(Keys::List(keys)) = (unsafe { Keys::of_slices(keys, count) }) else { return None };
    call.function = append as *const c_void;
    call.arguments = append_arguments(destination, filter.as_ptr().cast(), filter.len());
    policy.fill_filter_uninit(keys, filter).ok().map(|_| ())
}

/// [`prepare`] for every policy and every filter.
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
unsafe fn prepare_otherwise(
    object: &Object,
    keys: *const Slice,
    num_keys: c_int,
    destination: *mut c_void,
    call: &mut Call,
    caller: *const c_void,
) {
    let count = usize::try_from(num_keys).unwrap_or(0);
    // SAFETY: the caller's promise.
    let (appender, listed) =
        unsafe { (object.appender(caller, destination), Keys::of_slices(keys, count)) };
    match (appender, &object.maker) {
        (Some(Appender::String(append)), Maker::Ours(policy)) => {
            let (filter, len) = our_filter(policy, listed, count, call)
                .unwrap_or((MATCH_ALL.as_ptr(), MATCH_ALL.len()));
            call.function = append as *const c_void;
            call.arguments = append_arguments(destination, filter, len);
        }
        (Some(Appender::Delegate(delegate)), maker) => {
            if let Maker::Ours(policy) = maker {
                count_original(policy, count);
            }
            // SAFETY: it lives as long as the object.
            call.function = unsafe { abi::methods(delegate) }.create_filter as *const c_void;
            let delegate = delegate.as_ptr().cast_const().cast();
            call.arguments = [delegate, keys.cast(), ptr::without_provenance(count), destination];
        }
        // To append nothing would lose keys for good, and to guess could corrupt memory.
        _ => stop("the caller's std::string cannot be found; see docs/limits.md"),
    }
}

fn append_arguments(destination: *mut c_void, filter: *const u8, len: usize) -> [*const c_void; 4] {
    [destination, filter.cast(), ptr::without_provenance(len), ptr::null()]
}

/// The filter, on the stack or in memory from C's malloc.
fn our_filter(
    policy: &Policy,
    keys: Option<Keys<'_>>,
    count: usize,
    call: &mut Call,
) -> Option<(*const u8, usize)> {
    let len = policy.core().filter_len(count)?;
    let filter = match call.buffer.get_mut(..len) {
        Some(small) => small,
        None => {
            let large = memory::malloc(len)?;
            call.heap = large.as_mut_ptr().cast();
            large
        }
    };
    policy.fill(keys?, filter, Route::None).ok()?;
    Some((filter.as_ptr().cast(), len))
}

/// Counts a filter that the host's original policy makes. (Another delegate calls our callback.)
fn count_original(policy: &Policy, keys: usize) {
    if let Some(counters) = policy.counters().filter(|it| it.has_route(Route::Original)) {
        // LevelDB's own filter, whatever the policy's encoding.
        let len = leveldb_bloom::filter_len(keys, policy.core().bits_per_key()).unwrap_or(0);
        counters.filter(keys, len, Route::Original);
    }
}

/// # Safety
/// `prepare` has filled `call`.
unsafe extern "C" fn release(call: *const Call) {
    // SAFETY: NULL, or from C's malloc.
    unsafe { memory::free((*call).heap) }
}

// CreateFilter: `prepare`, the call into the host, `release`. In assembly because of two things that
// Rust cannot say here: where the caller is, and that an exception of the host's (std::bad_alloc of
// append) passes through, as it does with LevelDB's own policy. The frame has unwind information, and
// nothing in it needs a destructor.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_pointer_width = "64"))]
macro_rules! create_filter {
    ($($line:literal,)*) => {
        core::arch::global_asm!(
            ".pushsection .text.leveldb_bloom_object_create_filter,\"ax\",%progbits",
            ".hidden leveldb_bloom_object_create_filter",
            ".globl leveldb_bloom_object_create_filter",
            ".type leveldb_bloom_object_create_filter,%function",
            ".balign 16",
            "leveldb_bloom_object_create_filter:",
            ".cfi_startproc",
            $($line,)*
            ".cfi_endproc",
            ".size leveldb_bloom_object_create_filter, . - leveldb_bloom_object_create_filter",
            ".popsection",
            size = const size_of::<Call>(),
            prepare = sym prepare,
            release = sym release,
        );
    };
}

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
create_filter! {
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
}

#[cfg(all(target_arch = "aarch64", target_pointer_width = "64"))]
create_filter! {
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
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_pointer_width = "64"))]
#[allow(improper_ctypes, reason = "an object is opaque to the assembly above")]
unsafe extern "C" {
    /// # Safety
    /// As `prepare`.
    #[link_name = "leveldb_bloom_object_create_filter"]
    pub(super) unsafe fn create_filter(
        object: *const Object,
        keys: *const Slice,
        num_keys: c_int,
        destination: *mut c_void,
    );
}

/// The same in Rust, for other machines: the caller is unknown, and an exception of the host's ends
/// the process.
///
/// # Safety
/// As `prepare`.
#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64"
)))]
pub(super) unsafe extern "C" fn create_filter(
    object: *const Object,
    keys: *const Slice,
    num_keys: c_int,
    destination: *mut c_void,
) {
    type Function = unsafe extern "C" fn(
        *const c_void,
        *const c_void,
        *const c_void,
        *const c_void,
    ) -> *mut c_void;
    let mut call = MaybeUninit::<Call>::uninit();
    let call = call.as_mut_ptr();
    // SAFETY: LevelDB's promise; `prepare` fills `call` with a function and its arguments, each of
    // them one word.
    unsafe {
        prepare(object, keys, num_keys, destination, call, ptr::null());
        let function = core::mem::transmute::<*const c_void, Function>((*call).function);
        let [a, b, c, d] = (*call).arguments;
        function(a, b, c, d);
        release(call);
    }
}
