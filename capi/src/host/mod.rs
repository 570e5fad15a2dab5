//! What LevelDB's C++ code needs on Linux: LevelDB's own names, and the policies that they give.
//!
//! ```text
//! mod            LevelDB's names: our policy, or the original
//! active         which of them this process uses
//! object         a policy with the layout of leveldb::FilterPolicy
//! create_filter  its CreateFilter
//! route          how that reaches the host's std::string: the list of what is tried
//! string         the kinds of std::string, and what the bytes of one show
//! symbols        the names that tell a string
//! modules        the loaded modules, and where names are looked up
//! abi            LevelDB's types
//! ```
//!
//! An exception of the host's may pass through frames of Rust when the host makes a policy, and then
//! only if it has no memory: they have unwind tables, and lose at most a handle of a library.

mod abi;
mod active;
mod create_filter;
mod modules;
mod object;
mod route;
mod string;
mod symbols;

use core::ffi::{CStr, c_int, c_void};
use core::mem;
use core::ptr::{self, NonNull};

pub use abi::{CreateFilter, CreatePolicy, CxxPolicy, Destructor, KeyMayMatch, Name};
pub use active::active;

use leveldb_bloom::Encoding;

use crate::api::callbacks::Callbacks;
use crate::diagnosis::encoding;
use crate::policy::{Policy, Shared};
use abi::{Methods, NewPolicy};
use modules::{First, Scope, are_together, first, forget_error, next};
use object::{Maker, Object};
use route::host_kind;

const CREATE: &CStr = c"leveldb_filterpolicy_create";
const CREATE_BLOOM: &CStr = c"leveldb_filterpolicy_create_bloom";
const DESTROY: &CStr = c"leveldb_filterpolicy_destroy";
const NEW_POLICY: &CStr = c"_ZN7leveldb20NewBloomFilterPolicyEi";

/// What the linker decided, where we were linked statically.
#[derive(Clone, Copy, Default)]
pub struct Link {
    /// Whether we were.
    pub is_static: bool,
    /// The host's `leveldb_filterpolicy_create`, if the link has one.
    pub create: Option<CreatePolicy>,
    /// Whether the link took another definition of `leveldb::NewBloomFilterPolicy`.
    pub is_another_first: bool,
    /// Whether that is leveldb_bloom_policy.cc's.
    pub is_source_build: bool,
}

/// `leveldb::NewBloomFilterPolicy` and `leveldb_filterpolicy_create_bloom`.
#[must_use]
pub fn new_bloom_filter_policy(bits_per_key: c_int, link: Link) -> *mut CxxPolicy {
    new_filter_policy(bits_per_key, encoding::of_environment(), link)
}

/// The same with ribbon filters, whatever the environment says.
#[must_use]
pub fn new_ribbon_filter_policy(bits_per_key: c_int, link: Link) -> *mut CxxPolicy {
    new_filter_policy(bits_per_key, Encoding::Ribbon, link)
}

fn new_filter_policy(bits_per_key: c_int, encoding: Encoding, link: Link) -> *mut CxxPolicy {
    let Some((original, why)) = original(link) else {
        return object::ours(bits_per_key, encoding, link.create);
    };
    if encoding == Encoding::Ribbon {
        encoding::is_the_originals(why);
    }
    // SAFETY: for a negative number it would divide by zero; 0 is the same in both.
    unsafe { original(bits_per_key.max(0)) }
}

/// The policy of that many bits per key that the process shares and nobody can destroy.
#[must_use]
pub fn shared_filter_policy(bits_per_key: c_int, link: Link) -> *mut CxxPolicy {
    static SHARED: Shared<Object> = Shared::new();
    let make = |bits| {
        let encoding = encoding::of_environment();
        let policy = Policy::with(bits, encoding, |policy| policy.is_shared = true);
        Object::new(Maker::Ours(policy), link.create)
    };
    SHARED.get(bits_per_key, make).cast()
}

/// LevelDB's own policy, where it must be used and not ours, and why: the LevelDB behind us has other
/// policies, or nothing by which we could append to its string.
fn original(link: Link) -> Option<(NewPolicy, &'static CStr)> {
    let why = why_original(link);
    forget_error();
    why
}

fn why_original(link: Link) -> Option<(NewPolicy, &'static CStr)> {
    // A LevelDB behind the one that is linked with us, or behind us where we were loaded by a plugin
    // for itself, is not that of whoever wants a policy.
    if link.create.is_some() || host_kind(&Scope::Linked).is_some() || first() != First::Ours {
        return None;
    }
    let original = next(NEW_POLICY)?;
    // SAFETY: the mangled name gives the arguments, LevelDB's header the result.
    let new = unsafe { mem::transmute::<NonNull<c_void>, NewPolicy>(original) };
    if has_another_policy(original) {
        return Some((new, c"original (a LevelDB before 1.18, or a fork: another policy)"));
    }
    let is_known =
        host_kind(&Scope::Global).is_some() || Scope::Global.find_another(CREATE).is_some();
    (!is_known).then_some((new, c"original (a LevelDB whose std::string is not known)"))
}

/// Whether the LevelDB with this `leveldb::NewBloomFilterPolicy` is older than 1.18 or a fork: its
/// filters are stored under another name or in another format, or its class `FilterPolicy` has other
/// virtual functions.
fn has_another_policy(original: NonNull<c_void>) -> bool {
    type Version = unsafe extern "C" fn() -> c_int;
    /// In front of the functions are the offset to the top and the type.
    const SIZE: usize = 2 * size_of::<usize>() + size_of::<Methods>();
    /// What clang's AddressSanitizer puts behind a table of that size, with 64 bits.
    const GUARD: usize = 40;
    let version = |name| {
        // SAFETY: LevelDB's C API gives the name this signature.
        next(name).map(|version| unsafe { mem::transmute::<NonNull<c_void>, Version>(version)() })
    };
    let is_old = version(c"leveldb_major_version") == Some(1)
        && version(c"leveldb_minor_version").is_some_and(|minor| minor < 18);
    let its = |name| next(name).filter(|it| are_together(it.as_ptr(), original.as_ptr()));
    let is_bashos = its(c"_ZN7leveldb21NewBloomFilterPolicy2Ei").is_some();
    let size_of_table = its(c"_ZTVN7leveldb12FilterPolicyE")
        .and_then(|table| modules::size_of_object(table.as_ptr()));
    is_old || is_bashos || size_of_table.is_some_and(|size| ![SIZE, SIZE + GUARD].contains(&size))
}

/// `leveldb_filterpolicy_create`: the next definition's policy, since that one knows its own string.
/// Our own object, which sees who calls it, if there is no other definition, or if we were loaded with
/// RTLD_LOCAL. NULL from us if a callback other than the destructor is NULL.
///
/// # Safety
/// The callbacks belong together and are called with `state`.
pub unsafe fn filterpolicy_create(
    state: *mut c_void,
    callbacks: Callbacks,
    link: Link,
) -> *mut CxxPolicy {
    let next = next(CREATE).filter(|_| first() == First::Ours);
    forget_error();
    let Callbacks { destructor, create_filter, key_may_match, name } = callbacks;
    if let Some(next) = next {
        // SAFETY: LevelDB's C API gives the name this signature; the arguments are the caller's.
        return unsafe {
            let create = mem::transmute::<NonNull<c_void>, CreatePolicy>(next);
            create(state, destructor, create_filter, key_may_match, name)
        };
    }
    if create_filter.is_none() || key_may_match.is_none() || name.is_none() {
        return ptr::null_mut();
    }
    object::make(|| Maker::Custom(state, callbacks), link.create)
}

/// `leveldb_filterpolicy_destroy`. NULL is fine.
///
/// # Safety
/// `policy` is NULL or a policy that nobody uses any more, ours or not.
pub unsafe fn filterpolicy_destroy(policy: *mut CxxPolicy) {
    type Destroy = unsafe extern "C" fn(*mut CxxPolicy);
    let Some(policy) = NonNull::new(policy) else { return };
    // SAFETY: the caller's promise; LevelDB's C API gives the name this signature.
    unsafe {
        if !Object::is_ours(policy) {
            let next = next(DESTROY);
            forget_error();
            if let Some(next) = next {
                return mem::transmute::<NonNull<c_void>, Destroy>(next)(policy.as_ptr());
            }
        }
        abi::delete(policy);
    }
}
