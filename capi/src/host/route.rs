//! How a policy's `CreateFilter` reaches the host's `std::string`.
//!
//! `CreateFilter(const Slice*, int, std::string*)` appends to a string whose layout depends on the
//! compiler and the library that built the host. We leave that to the host's own
//! `std::string::append(const char*, size_t)`, which is found by its name.

use core::ffi::c_void;
use core::mem;
use core::ptr::NonNull;

use super::abi::{Append, CreatePolicy, NewPolicy};
use super::modules::{Scope, forget_error};
use super::string::StringKind;
use super::{CREATE, NEW_POLICY};
use crate::diagnosis::statistics::Route;

/// What appends a filter to the host's string.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// The string's own function.
    Append(Append, Route),
    /// The host's `leveldb_filterpolicy_create`, whose object appends what a callback returns.
    Create(CreatePolicy),
    /// The host's own bloom policy.
    Original(NewPolicy),
}

/// Offers `accept` the ways to the string of the code at `caller` (NULL where that is unknown), the
/// most trusted first, until it takes one. `linked_create` is the host's `leveldb_filterpolicy_create`
/// in a static link.
///
/// # Safety
/// `string` is a `std::string`.
pub(super) unsafe fn find(
    caller: *const c_void,
    string: *const c_void,
    linked_create: Option<CreatePolicy>,
    accept: &mut dyn FnMut(Way) -> bool,
) {
    let library = Scope::of_library(caller);
    let all = [library.as_ref(), Some(&Scope::Linked), Some(&Scope::Global)];
    // A library has its own LevelDB, or links one. Others need not be its.
    let its_own = if library.is_some() { &all[..1] } else { &all[1..] };
    let mut accepts = |way: Option<Way>| way.is_some_and(&mut *accept);
    // SAFETY: the caller's promise.
    let _found = unsafe {
        all.iter().flatten().any(|scope| accepts(append_that_the_string_shows(scope, string)))
            || its_own.iter().flatten().any(|scope| {
                !has_another_string(scope, string)
                    && (accepts(append_that_a_host_shows(scope))
                        || accepts(c_api(scope, linked_create))
                        || accepts(original_policy(scope)))
            })
    };
    forget_error();
}

/// Does the string itself show of which kind it is? One of C++11 always does, others if they are
/// empty, as LevelDB's is at first.
///
/// # Safety
/// `string` is a `std::string`.
unsafe fn append_that_the_string_shows(scope: &Scope, string: *const c_void) -> Option<Way> {
    // SAFETY: the caller's promise.
    let kind = StringKind::ALL.into_iter().find(|kind| unsafe { kind.is_shown_by(string, scope) });
    kind?.append(scope)
}

/// Has this place a LevelDB, but of another kind of string? Then it is not the caller's.
///
/// # Safety
/// `string` is a `std::string`.
unsafe fn has_another_string(scope: &Scope, string: *const c_void) -> bool {
    host_kind(scope).is_some_and(|kind| {
        // SAFETY: the caller's promise.
        unsafe { !kind.is_shown_by(string, scope) && !kind.may_be(string) }
    })
}

/// Does a LevelDB show its kind of string, in the name of its DestroyDB?
pub(super) fn append_that_a_host_shows(scope: &Scope) -> Option<Way> {
    host_kind(scope)?.append(scope)
}

pub(super) fn host_kind(scope: &Scope) -> Option<StringKind> {
    StringKind::ALL.into_iter().find(|kind| kind.has_host(scope))
}

/// Has it a C API? Then an object of its own can append what our callbacks return.
pub(super) fn c_api(scope: &Scope, linked_create: Option<CreatePolicy>) -> Option<Way> {
    let create = match scope {
        Scope::Linked => linked_create,
        // SAFETY: LevelDB's C API gives the name this signature.
        _ => scope
            .find_another(CREATE)
            .map(|create| unsafe { mem::transmute::<NonNull<c_void>, CreatePolicy>(create) }),
    };
    create.map(Way::Create)
}

/// Has it a bloom policy? Then that must do.
fn original_policy(scope: &Scope) -> Option<Way> {
    let original = scope.find_another(NEW_POLICY)?;
    // SAFETY: the mangled name gives the arguments, LevelDB's header the result.
    Some(Way::Original(unsafe { mem::transmute::<NonNull<c_void>, NewPolicy>(original) }))
}
