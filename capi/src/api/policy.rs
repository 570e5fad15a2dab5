//! Making and destroying policies.

use alloc::boxed::Box;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

use leveldb_bloom::Encoding;

use crate::diagnosis::{encoding, kernel};
use crate::memory;
use crate::policy::{GOLEVELDB_NAME, NAME, Policy, Shared, Transform};

/// Creates a policy that spends about `bits_per_key` bits on a key. The caller owns it until
/// leveldb_bloom_policy_destroy, or until it becomes the state of leveldb_filterpolicy_create.
///
/// \param bits_per_key 10 gives about 1 % of false positives. Zero and below behave as 0: one probe,
/// and filters of 64 bits whatever they hold. Above 44 the number of probes stays at 30 and only the
/// size grows.
/// \return The policy; NULL if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_policy_create(bits_per_key: c_int) -> *mut Policy {
    raw(memory::boxed(|| Policy::new(bits_per_key, Encoding::Bloom)))
}

/// Creates a policy that writes ribbon filters, and reads these and LevelDB's own. Their false-positive
/// rate is 2^-bits_per_key, whatever the keys look like: LevelDB's own filters are blind to keys that
/// are numbers in order, and with 10 bits let 3 to 100 % of absent ones pass. The policy has LevelDB's
/// name. A database may hold filters of both kinds, and every LevelDB reads it: to one that does not
/// know the encoding such a filter may hold any key, so that it finds all keys, and reads more.
///
/// Every function that takes a policy takes this one. LevelDB's own encoding is written for no keys,
/// and where a ribbon filter cannot be made: without memory for its equations (some 30 bytes a key, for
/// more than 64 keys), for 2^31 keys and more, and for one list of keys in very many.
///
/// \param bits_per_key 10 gives 0.1 % of false positives, in the space of LevelDB's own filter. Below 1
/// acts as 1, and above 13 as 13.
/// \return The policy; NULL if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_policy_create_ribbon(bits_per_key: c_int) -> *mut Policy {
    raw(memory::boxed(|| Policy::new(bits_per_key, Encoding::Ribbon)))
}

/// Creates a policy as LevelDB's own names make it in this process: with the encoding that the
/// environment variable LEVELDB_BLOOM_ENCODING names, "bloom" or "ribbon"; LevelDB's own where it is
/// not set. Another value is refused, once, on stderr.
///
/// \param bits_per_key As for leveldb_bloom_policy_create, or leveldb_bloom_policy_create_ribbon.
/// \return The policy; NULL if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_policy_create_default(bits_per_key: c_int) -> *mut Policy {
    raw(memory::boxed(|| Policy::new(bits_per_key, encoding::of_environment())))
}

/// Destroys a policy that nobody uses any more.
///
/// \param policy May be NULL. A shared policy stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_policy_destroy(policy: *mut Policy) {
    // SAFETY: the C caller's promise.
    unsafe { Policy::destroy(policy.cast()) }
}

/// Creates a policy for a database whose comparator treats keys of different bytes as equal, one
/// that ignores case for example. Keys go through `transform` first, in filters and in queries. Use
/// it as the state of the callbacks:
///
///     static size_t to_lower(void *state, const char *key, size_t key_length, char *buffer,
///                            size_t buffer_length) {
///       size_t i;
///       for (i = 0; i < key_length && i < buffer_length; i++) {
///         buffer[i] = key[i] >= 'A' && key[i] <= 'Z' ? key[i] + 32 : key[i];
///       }
///       return key_length;
///     }
///
///     state = leveldb_bloom_policy_create_transformed(10, "example.LowerCaseBloom", to_lower,
///                                                     NULL, NULL);
///
/// Only functions that are given the policy know the transform. Builders, and functions that take no
/// policy, such as leveldb_bloom_key_may_match, use the bytes as they are and would not find the
/// keys of its filters: pass canonical forms to them, or call
/// `leveldb_bloom_vtable()->key_may_match(policy, ...)`. Its filters have LevelDB's own encoding.
///
/// \param bits_per_key As for leveldb_bloom_policy_create.
/// \param name The policy's name, which is copied. LevelDB stores it in its tables and ignores
/// filters with another name, so choose a new one whenever `transform` changes.
/// \param transform Writes the canonical form of a key to `buffer` if it fits, and returns the form's
/// length in any case. If that is more than `buffer_length`, it is called once more, with that much
/// room. Keys that the comparator treats as equal must have the same canonical form. Any thread may
/// call it, several at once; it must not throw. Where there is no canonical form (no memory, or a
/// length beyond `buffer_length` again), queries answer 1 and filters cannot be made.
/// \param destructor Called with `state` when the policy is destroyed; may be NULL.
/// \param state Passed to `transform`.
/// \return The policy. NULL, with `state` left to the caller, if `name` is NULL, empty, or a name of
/// LevelDB's own filters (which hold whole keys), if `transform` is NULL, or if there is no memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveldb_bloom_policy_create_transformed(
    bits_per_key: c_int,
    name: *const c_char,
    transform: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            key: *const c_char,
            key_length: usize,
            buffer: *mut c_char,
            buffer_length: usize,
        ) -> usize,
    >,
    destructor: Option<unsafe extern "C" fn(state: *mut c_void)>,
    state: *mut c_void,
) -> *mut Policy {
    let (Some(transform), false) = (transform, name.is_null()) else { return ptr::null_mut() };
    // SAFETY: the C caller's promise.
    let (name, transform) = unsafe {
        let name = CStr::from_ptr(name);
        (name, Transform::new(name, transform, destructor, state))
    };
    match transform {
        Some(transform) if !name.is_empty() && ![NAME, GOLEVELDB_NAME].contains(&name) => {
            raw(memory::boxed(|| {
                Policy::with(bits_per_key, Encoding::Bloom, |policy| {
                    policy.transform = Some(transform);
                })
            }))
        }
        _ => ptr::null_mut(),
    }
}

/// Creates a policy with the name "leveldb.BuiltinBloomFilter", which goleveldb and some ports to
/// Java give to this same filter. Use it as the state of the callbacks to read and write their
/// databases. Its filters have LevelDB's own encoding.
///
/// Not for data that LevelDB itself wrote under this name before 1.18. There, on most machines, keys
/// had other hashes if one of the bytes after their last whole group of four is 0x80 or above; such
/// keys would not be found.
///
/// \param bits_per_key As for leveldb_bloom_policy_create.
/// \return The policy; NULL if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_policy_create_goleveldb(bits_per_key: c_int) -> *mut Policy {
    raw(memory::boxed(|| {
        Policy::with(bits_per_key, Encoding::Bloom, |policy| policy.name = GOLEVELDB_NAME)
    }))
}

/// The policy that the whole process shares. It lives as long as the process:
/// leveldb_bloom_policy_destroy and the callbacks' destructor leave it alone.
///
/// \param bits_per_key As for leveldb_bloom_policy_create.
/// \return The same pointer for the same number of bits; NULL if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_policy_shared(bits_per_key: c_int) -> *mut Policy {
    static SHARED: Shared<Policy> = Shared::new();
    SHARED.get(bits_per_key, |bits| {
        Policy::with(bits, Encoding::Bloom, |policy| policy.is_shared = true)
    })
}

/// The name of the kernel that does the policy's work. All kernels make the same bits.
///
/// The environment variable LEVELDB_BLOOM_KERNEL, when the policy is created, chooses one by its
/// name. Otherwise it is the fastest that does not slow down what else the program does. A name that
/// this machine or build does not have is refused, once, on stderr.
///
/// \param policy May be NULL.
/// \return "avx512", "avx2" or "portable", a string that lives as long as the process. NULL
/// if `policy` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn leveldb_bloom_kernel(policy: Option<&Policy>) -> *const c_char {
    policy.map_or(ptr::null(), |policy| kernel::c_name(policy.core().kernel()).as_ptr())
}

fn raw<T>(boxed: Option<Box<T>>) -> *mut T {
    boxed.map_or(ptr::null_mut(), Box::into_raw)
}
