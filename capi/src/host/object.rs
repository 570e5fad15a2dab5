//! A policy as LevelDB's C++ code sees it: an object that begins with the address of a table of
//! virtual functions. The table is ours, so that a query costs what one of LevelDB's own costs, and
//! `delete policy` ends in our destructor. CreateFilter is in `create_filter`.

use alloc::boxed::Box;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use leveldb_bloom::Encoding;

use super::abi::{self, Append, CreatePolicy, CxxPolicy};
use super::create_filter::create_filter;
use super::route::{self, Way};
use crate::api::callbacks::{CALLBACKS, Callbacks};
use crate::diagnosis::statistics::Route;
use crate::door::{self, Slice};
use crate::memory;
use crate::policy::Policy;

/// A `leveldb::FilterPolicy` of ours.
#[repr(C)]
pub(super) struct Object {
    methods: *const c_void,
    /// By this a copy of this library knows another's objects.
    mark: u64,
    /// The host's `std::string::append`, once known.
    append: AtomicPtr<c_void>,
    /// An object of the host's that makes filters for us, where there is no `append`.
    delegate: AtomicPtr<CxxPolicy>,
    /// The host's `leveldb_filterpolicy_create` in a static link.
    linked_create: Option<CreatePolicy>,
    pub(super) maker: Maker,
}

const MARK: u64 = u64::from_le_bytes(*b"bloomobj");

/// Who makes the filters.
pub(super) enum Maker {
    Ours(Policy),
    /// The user's callbacks.
    Custom(*mut c_void, Callbacks),
}

/// Who appends a filter to the host's string.
#[derive(Clone, Copy)]
pub(super) enum Appender {
    String(Append),
    /// An object of the host's, which makes the filter, too.
    Delegate(NonNull<CxxPolicy>),
}

// The virtual tables, in assembly because of a weak reference: the type information of
// leveldb::FilterPolicy, for typeid and dynamic_cast, is there only in some processes.
macro_rules! virtual_table {
    ($name:literal, $key_may_match:path) => {
        core::arch::global_asm!(
            ".pushsection .data.rel.ro.leveldb_bloom_methods,\"aw\"",
            ".balign 8",
            ".weak _ZTIN7leveldb12FilterPolicyE",
            ".dc.a 0, _ZTIN7leveldb12FilterPolicyE",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!($name, ":"),
            ".dc.a {complete_destructor}, {deleting_destructor}, {name}",
            ".dc.a {create_filter}, {key_may_match}",
            ".popsection",
            complete_destructor = sym complete_destructor,
            deleting_destructor = sym deleting_destructor,
            name = sym name,
            create_filter = sym create_filter,
            key_may_match = sym $key_may_match,
        );
    };
}
virtual_table!("leveldb_bloom_methods", key_may_match);
virtual_table!("leveldb_bloom_custom_methods", custom_key_may_match);

unsafe extern "C" {
    #[link_name = "leveldb_bloom_methods"]
    static METHODS: c_void;
    #[link_name = "leveldb_bloom_custom_methods"]
    static CUSTOM_METHODS: c_void;
}

impl Object {
    pub(super) fn new(maker: Maker, linked_create: Option<CreatePolicy>) -> Object {
        let methods = match maker {
            Maker::Ours(_) => &raw const METHODS,
            Maker::Custom(..) => &raw const CUSTOM_METHODS,
        };
        let (append, delegate) = (AtomicPtr::default(), AtomicPtr::default());
        Object { methods, mark: MARK, append, delegate, linked_create, maker }
    }

    /// Whether a policy was made by this library, or by another copy of it in the process.
    ///
    /// # Safety
    /// `policy` lives, and is larger than a word.
    pub(super) unsafe fn is_ours(policy: NonNull<CxxPolicy>) -> bool {
        // SAFETY: the caller's promise; of others' objects only the first words are read.
        unsafe { (*policy.cast::<Object>().as_ptr()).mark == MARK }
    }

    /// The host's `std::string::append`, once known.
    #[inline(always)]
    pub(super) fn known_append(&self) -> Option<Append> {
        // SAFETY: NULL, or what `find_appender` has stored.
        unsafe { core::mem::transmute(self.append.load(Ordering::Acquire)) }
    }

    /// Who appends to the strings of the code at `caller`, of which `string` is one. Found once and
    /// kept: a policy works for one host.
    ///
    /// # Safety
    /// `string` is a `std::string`.
    pub(super) unsafe fn appender(
        &self,
        caller: *const c_void,
        string: *const c_void,
    ) -> Option<Appender> {
        let known = || {
            let delegate = || NonNull::new(self.delegate.load(Ordering::Acquire));
            let string = self.known_append().map(Appender::String);
            string.or_else(|| delegate().map(Appender::Delegate))
        };
        known().or_else(|| {
            // SAFETY: the caller's promise.
            unsafe { self.find_appender(caller, string) };
            known()
        })
    }

    unsafe fn find_appender(&self, caller: *const c_void, string: *const c_void) {
        let mut accept = |way| match (way, &self.maker) {
            (Way::Append(append, route), Maker::Ours(policy)) => {
                policy.counters().inspect(|counters| counters.set_route(route));
                self.append.store(append as *mut c_void, Ordering::Release);
                true
            }
            (Way::Create(create), maker) => {
                let (state, callbacks) = match maker {
                    Maker::Ours(policy) => (ptr::from_ref(policy).cast_mut().cast(), &CALLBACKS),
                    Maker::Custom(state, callbacks) => (*state, callbacks),
                };
                let Callbacks { create_filter, key_may_match, name, .. } = *callbacks;
                // SAFETY: the callbacks are for this state, which outlives the delegate.
                let delegate =
                    unsafe { create(state, Some(keep_state), create_filter, key_may_match, name) };
                self.keep(delegate, Route::Delegate)
            }
            (Way::Original(original), Maker::Ours(policy)) => {
                // SAFETY: it takes any number from 0 on.
                self.keep(unsafe { original(policy.core().bits_per_key()) }, Route::Original)
            }
            // A LevelDB that calls the user's callbacks has a C API.
            (_, Maker::Custom(..)) => false,
        };
        // SAFETY: the caller's promise.
        unsafe { route::find(caller, string, self.linked_create, &mut accept) };
    }

    /// Keeps an object of the host's, unless another thread was first. False for an object of this
    /// or of another copy of this library, which would look for its caller's string in turn.
    fn keep(&self, delegate: *mut CxxPolicy, route: Route) -> bool {
        let Some(delegate) = NonNull::new(delegate) else { return false };
        // SAFETY: the host has just made it for us.
        let is_hosts = unsafe { !Object::is_ours(delegate) };
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        let kept = is_hosts && {
            let (none, new) = (ptr::null_mut(), delegate.as_ptr());
            self.delegate.compare_exchange(none, new, success, failure).is_ok()
        };
        match &self.maker {
            // SAFETY: nobody else has it.
            _ if !kept => unsafe { abi::delete(delegate) },
            Maker::Ours(policy) => {
                policy.counters().inspect(|counters| counters.set_route(route));
            }
            Maker::Custom(..) => {}
        }
        is_hosts
    }

    fn is_shared(&self) -> bool {
        matches!(&self.maker, Maker::Ours(policy) if policy.is_shared)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if let Some(delegate) = NonNull::new(*self.delegate.get_mut()) {
            // SAFETY: `keep` kept it for us alone.
            unsafe { abi::delete(delegate) };
        }
        if let Maker::Custom(state, Callbacks { destructor: Some(destructor), .. }) = &self.maker {
            // SAFETY: the user gave it for this state, which nobody uses any more.
            unsafe { destructor(*state) };
        }
    }
}

/// The delegate's destructor of a state that is not its own.
extern "C" fn keep_state(_state: *mut c_void) {}

/// # Safety
/// LevelDB's promise, as for all of these: an object of ours that lives, and here is used no more.
unsafe extern "C" fn complete_destructor(object: *mut Object) {
    // SAFETY: LevelDB's promise.
    unsafe {
        if !(*object).is_shared() {
            object.drop_in_place();
        }
    }
}

/// # Safety
/// As `complete_destructor`.
unsafe extern "C" fn deleting_destructor(object: *mut Object) {
    // SAFETY: LevelDB's promise; `memory::boxed` made the object.
    unsafe {
        if !(*object).is_shared() {
            drop(Box::from_raw(object));
        }
    }
}

/// # Safety
/// As `complete_destructor`.
unsafe extern "C" fn name(object: *const Object) -> *const c_char {
    // SAFETY: LevelDB's promise; the callback is for this state.
    match unsafe { &(*object).maker } {
        Maker::Ours(policy) => policy.c_name(),
        Maker::Custom(state, callbacks) => {
            // SAFETY: the callback is for this state.
            callbacks.name.map_or(ptr::null(), |name| unsafe { name(*state) })
        }
    }
}

/// # Safety
/// As `complete_destructor`; the object has METHODS, and the slices are what they say.
unsafe extern "C" fn key_may_match(
    object: *const Object,
    key: *const Slice,
    filter: *const Slice,
) -> bool {
    // SAFETY: LevelDB's promise; `new` gives METHODS to policies of ours alone.
    unsafe {
        let Maker::Ours(policy) = &(*object).maker else { core::hint::unreachable_unchecked() };
        let (key, filter) = (&*key, &*filter);
        let (key, filter) = ((key.data, key.size), (filter.data, filter.size));
        door::query(key, filter, |key, filter| policy.key_may_match(key, filter))
    }
}

/// # Safety
/// As `complete_destructor`, and the slices are what they say.
unsafe extern "C" fn custom_key_may_match(
    object: *const Object,
    key: *const Slice,
    filter: *const Slice,
) -> bool {
    // SAFETY: LevelDB's promise; the callback is for this state.
    unsafe {
        let (key, filter) = (&*key, &*filter);
        match &(*object).maker {
            Maker::Custom(state, Callbacks { key_may_match: Some(key_may_match), .. }) => {
                key_may_match(*state, key.data, key.size, filter.data, filter.size) != 0
            }
            _ => true,
        }
    }
}

/// An object for LevelDB; NULL where there is no memory.
pub(super) fn make(
    maker: impl FnOnce() -> Maker,
    linked_create: Option<CreatePolicy>,
) -> *mut CxxPolicy {
    memory::boxed(|| Object::new(maker(), linked_create))
        .map_or(ptr::null_mut(), |object| Box::into_raw(object).cast())
}

/// A policy of ours for LevelDB.
pub(super) fn ours(
    bits_per_key: c_int,
    encoding: Encoding,
    linked_create: Option<CreatePolicy>,
) -> *mut CxxPolicy {
    make(|| Maker::Ours(Policy::new(bits_per_key, encoding)), linked_create)
}
