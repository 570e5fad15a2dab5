//! LevelDB's own names: which policy they give in this process.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem;
use core::ptr::{self, NonNull};

use super::abi::{
    self, CreateFilter, CreatePolicy, Destructor, FilterPolicy, KeyMayMatch, Name, NewPolicy,
};
use super::address;
use super::choice;
use super::elf::{self, Tables};
use super::lifetime::Owner;
use super::modules;
use super::object::Object;
use super::route;
use super::shared;
use super::stats::Route;

/// What is known of the host when we are linked.
#[derive(Clone, Copy)]
pub enum Link {
    /// We are a shared library: nothing is known, and the process decides.
    Dynamic,
    /// The host was compiled with leveldb_bloom_policy.cc, whose policies need no way to its
    /// string.
    Source {
        /// The host's `leveldb_filterpolicy_create`, for the policies that the process shares.
        create: Option<CreatePolicy>,
    },
    /// We were linked statically.
    Static {
        /// The host's `leveldb_filterpolicy_create`, if the link has one.
        create: Option<CreatePolicy>,
        /// Whether the link took another definition of `leveldb::NewBloomFilterPolicy`.
        elsewhere: bool,
    },
}

/// The callbacks of a custom policy as C passes them, in the order of
/// `leveldb_filterpolicy_create`.
pub type PassedCallbacks =
    (Option<Destructor>, Option<CreateFilter>, Option<KeyMayMatch>, Option<Name>);

/// `leveldb::NewBloomFilterPolicy` and `leveldb_filterpolicy_create_bloom`: our policy, or the
/// original's where a LevelDB is there that we have no way to (no known string, no C API), or whose
/// policies are others (`has_another_policy`).
///
/// `linked_create` is the host's `leveldb_filterpolicy_create` where a static link knows it.
#[must_use]
#[inline(never)]
pub fn new_bloom_filter_policy(
    bits_per_key: c_int,
    linked_create: Option<CreatePolicy>,
) -> *mut FilterPolicy {
    if let Some((original, _)) = original(linked_create) {
        // SAFETY: `original` found leveldb::NewBloomFilterPolicy. For a negative number that
        // would divide by zero; 0, which negative numbers mean here, is the same in both.
        return unsafe { original(bits_per_key.max(0)) };
    }
    Object::bloom(bits_per_key, linked_create, Owner::Caller)
}

/// The policy of that many bits that the process shares and nobody can destroy.
#[must_use]
pub fn shared_filter_policy(bits_per_key: c_int, link: Link) -> *mut FilterPolicy {
    let linked_create = match link {
        Link::Static { create, .. } | Link::Source { create } => create,
        Link::Dynamic => None,
    };
    route::survey(linked_create);
    shared::shared_filter_policy(bits_per_key, linked_create)
}

/// LevelDB's own `NewBloomFilterPolicy`, where its policies are to be had and not ours, and why.
/// Only a definition that comes after ours: one that comes before may call ours, and the two would
/// call each other for ever.
#[inline(never)]
fn original(linked_create: Option<CreatePolicy>) -> Option<(NewPolicy, &'static CStr)> {
    let exists = route::survey(linked_create);
    let original = modules::next(route::ORIGINAL);
    let is_another = exists && original.is_some_and(has_another_policy);
    modules::clear_error();
    // SAFETY: `modules::next` found the mangled name, which gives the arguments; the result is as
    // in LevelDB's header.
    let new = unsafe { mem::transmute::<NonNull<c_void>, NewPolicy>(original?) };
    match (exists, is_another) {
        (false, _) => Some((new, c"original (a LevelDB whose std::string is not known)")),
        (true, true) => Some((new, c"original (a LevelDB before 1.18, or a fork: another policy)")),
        (true, false) => None,
    }
}

/// Whether the LevelDB behind us has a bloom policy of another name than ours, under which alone
/// its filters are found, or of another format or class: one before 1.18, Basho's, which has a
/// second policy, and forks with other virtual functions. Asked without making one, which may throw.
fn has_another_policy(original: NonNull<c_void>) -> bool {
    type Version = unsafe extern "C" fn() -> c_int;
    let version = |name| {
        // SAFETY: `modules::next` found the name, to which LevelDB's C API gives this signature.
        modules::next(name).map(|ask| unsafe { mem::transmute::<NonNull<c_void>, Version>(ask)() })
    };
    let is_old = version(c"leveldb_major_version") == Some(1)
        && version(c"leveldb_minor_version").is_some_and(|minor| minor < 18);
    let second = modules::next(c"_ZN7leveldb21NewBloomFilterPolicy2Ei");
    let is_another = is_old
        || second.is_some_and(|second| address::are_one(second.as_ptr(), original.as_ptr()))
        || has_other_functions(original);
    // One behind a host in our own module is not that of whoever asks. Nor may one of several be.
    is_another && !route::host_is_linked() && route::is_for_all(original.as_ptr())
}

/// Whether the LevelDB with that `leveldb::NewBloomFilterPolicy` is a fork whose policies have more
/// virtual functions than ours, or fewer, by the size of its class's table. It would call what ours
/// lack, or have in another place.
fn has_other_functions(original: NonNull<c_void>) -> bool {
    /// In front of the functions are the offset to the top and the type.
    const SIZE: usize = 2 * size_of::<usize>() + size_of::<abi::Methods<FilterPolicy>>();
    /// What clang's AddressSanitizer adds to a table of that size, with 64 bits.
    const GUARD: usize = 40;
    // SAFETY: nobody unloads the LevelDB that a policy is made for.
    let size = unsafe { elf::size_around(original.as_ptr(), c"_ZTVN7leveldb12FilterPolicyE") };
    ![0, SIZE, SIZE + GUARD].contains(&size)
}

/// `leveldb_filterpolicy_create`: the next definition's policy, because that one knows its own
/// string. Our own object, which sees who calls it, if there is no other definition, or if there
/// are several LevelDBs: the next definition is then that of whoever loaded us first, not
/// necessarily of the caller. NULL, where it would be our own, if a callback other than the
/// destructor is NULL.
///
/// # Safety
/// The callbacks belong together and are called with `state`.
pub unsafe fn filterpolicy_create(
    state: *mut c_void,
    callbacks: PassedCallbacks,
    linked_create: Option<CreatePolicy>,
) -> *mut FilterPolicy {
    let (destructor, create_filter, key_may_match, name) = callbacks;
    let complete = match (create_filter, key_may_match, name) {
        (Some(create_filter), Some(key_may_match), Some(name)) => {
            // Nor does LevelDB need one for a policy that is never destroyed.
            let destructor = destructor.unwrap_or(abi::no_destructor);
            Some(abi::Callbacks { destructor, create_filter, key_may_match, name })
        }
        _ => None,
    };
    let next =
        modules::next(route::CREATE).filter(|_| complete.is_none() || !route::several_leveldbs());
    modules::clear_error();
    if let Some(next) = next {
        // SAFETY: `modules::next` found the name, to which LevelDB's C API gives this signature;
        // the arguments are the caller's.
        return unsafe {
            let next = mem::transmute::<NonNull<c_void>, CreatePolicy>(next);
            next(state, destructor, create_filter, key_may_match, name)
        };
    }
    let Some(callbacks) = complete else { return ptr::null_mut() };
    route::survey(linked_create);
    Object::custom(state, callbacks, linked_create)
}

/// `leveldb_filterpolicy_destroy`. NULL is fine.
///
/// # Safety
/// `policy` is NULL or a policy that nobody uses any more, ours or not.
pub unsafe fn filterpolicy_destroy(policy: *mut FilterPolicy) {
    type Destroy = unsafe extern "C" fn(*mut FilterPolicy);
    let Some(policy) = NonNull::new(policy) else {
        return;
    };
    // SAFETY: the caller's promise that the policy lives; `modules::next` finds a name to which
    // LevelDB's C API gives this signature.
    unsafe {
        if !Object::is_ours(policy) {
            let next = modules::next(c"leveldb_filterpolicy_destroy");
            modules::clear_error();
            if let Some(next) = next {
                return mem::transmute::<NonNull<c_void>, Destroy>(next)(policy.as_ptr());
            }
        }
        FilterPolicy::delete(policy);
    }
}

/// Which implementation `leveldb_filterpolicy_create_bloom` resolves to in this process, and how
/// its filters reach the host. A C string that lives as long as the process.
#[must_use]
pub fn active(link: Link) -> *const c_char {
    let (linked_create, elsewhere) = match link {
        Link::Dynamic if is_kept_out() => return KEPT_OUT.as_ptr(),
        Link::Dynamic => (None, another_comes_first()),
        Link::Source { .. } => return choice::with_failure(c"leveldb_bloom (source build)"),
        Link::Static { create, elsewhere } => (create, elsewhere),
    };
    if elsewhere {
        return ANOTHER_FIRST.as_ptr();
    }
    if let Some((_, why)) = original(linked_create) {
        return why.as_ptr();
    }
    let route = route::find(ptr::null(), None, linked_create, &mut route::by_us);
    choice::with_failure(match route {
        Some(Route::AppendCxx11) => c"leveldb_bloom (append-cxx11)",
        Some(Route::AppendCopyOnWrite) => c"leveldb_bloom (append-copy-on-write)",
        Some(Route::AppendLibcxx) => c"leveldb_bloom (append-libc++)",
        Some(Route::Delegate) => c"leveldb_bloom (delegate)",
        _ if route::survey(linked_create) => c"leveldb_bloom (decided when LevelDB calls)",
        _ => c"leveldb_bloom (no LevelDB found)",
    })
}

const ANOTHER_FIRST: &CStr =
    c"original (another definition of leveldb_filterpolicy_create_bloom comes first)";

/// Whether the process resolves LevelDB's names to somebody else's definitions: both of them. A
/// program that contains LevelDB's C API without `util/bloom.cc` has a
/// `leveldb_filterpolicy_create_bloom` of its own, but that wraps what our
/// `leveldb::NewBloomFilterPolicy` gives, so the policies are ours.
fn another_comes_first() -> bool {
    let another = [c"leveldb_filterpolicy_create_bloom", route::ORIGINAL]
        .iter()
        .all(|name| modules::first(name).is_some_and(|first| !address::is_own(first.as_ptr())));
    modules::clear_error();
    another
}

const KEPT_OUT: &CStr = c"original (LevelDB is bound to its own definition, as RTLD_DEEPBIND does)";

/// Whether the process's definition is ours, but no module is bound to it, while a module that has
/// a definition of its own is bound to that.
fn is_kept_out() -> bool {
    let (mut bound_to_ours, mut bound_to_own) = (false, false);
    for name in [c"leveldb_filterpolicy_create_bloom", route::ORIGINAL] {
        let Some(ours) = modules::first(name) else { return false };
        if !address::is_own(ours.as_ptr()) {
            return false;
        }
        elf::in_every_module(&mut |(module, _): (&Tables, &CStr)| {
            module.references(name, |reference| {
                bound_to_ours |= ptr::eq(reference.target, ours.as_ptr());
                bound_to_own |= !reference.own_definition.is_null()
                    && ptr::eq(reference.target, reference.own_definition)
                    && !ptr::eq(reference.target, ours.as_ptr());
            });
        });
    }
    bound_to_own && !bound_to_ours
}
