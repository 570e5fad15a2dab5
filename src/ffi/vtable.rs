//! The four callbacks that any `leveldb_filterpolicy_create` takes; their state is a [`Policy`].

use core::ffi::{c_char, c_int, c_void};

use super::abi::{Callbacks, NAME};
use super::functions;
use super::memory::{MATCH_ALL, Reserve};
use super::policy::Policy;

/// The callbacks; their state is a [`Policy`], or NULL for one that could not be made.
// The destructor is not a function of its own that calls `destroy`: it would be the same as the one
// that is exported, and the compiler makes one of the two. By that one's name the table would then
// get another copy's, where the process has one that comes first.
pub static VTABLE: Callbacks =
    Callbacks { destructor: Policy::destroy, create_filter, key_may_match, name };

/// # Safety
/// `state` is NULL or a living policy; the arrays have `num_keys` entries, and `filter_length` is
/// NULL or can be written.
unsafe extern "C" fn create_filter(
    state: *mut c_void,
    keys: *const *const c_char,
    key_lengths: *const usize,
    num_keys: c_int,
    filter_length: *mut usize,
) -> *mut c_char {
    let num_keys = usize::try_from(num_keys).unwrap_or(0);
    // SAFETY: LevelDB passes the state that the policy was created with, and arrays of `num_keys`
    // entries.
    unsafe {
        match state.cast::<Policy>().as_ref() {
            Some(policy) => {
                policy.create_filter_or_match_all(keys, key_lengths, num_keys, filter_length)
            }
            None => {
                if !filter_length.is_null() {
                    filter_length.write(MATCH_ALL.len());
                }
                Reserve::new().take().as_ptr().cast()
            }
        }
    }
}

/// # Safety
/// `state` is NULL or a living policy; the pointers are as `memory::bytes` asks.
unsafe extern "C" fn key_may_match(
    state: *mut c_void,
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> u8 {
    // SAFETY: LevelDB passes the state that the policy was created with, and readable bytes.
    unsafe {
        match state.cast::<Policy>().as_ref() {
            Some(policy) => policy.key_may_match(key, key_length, filter, filter_length).into(),
            None => functions::key_may_match(key, key_length, filter, filter_length),
        }
    }
}

/// # Safety
/// `state` is NULL or a living policy.
unsafe extern "C" fn name(state: *mut c_void) -> *const c_char {
    // SAFETY: LevelDB passes the state that the policy was created with.
    unsafe { state.cast::<Policy>().as_ref() }.map_or(NAME.as_ptr(), Policy::name)
}
