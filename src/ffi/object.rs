//! A policy as LevelDB's C++ code sees it: an object that begins with a pointer to a table of
//! virtual functions in the order of `leveldb::FilterPolicy`.
//!
//! The table is ours, so a query costs what a native one costs, and `delete policy` and
//! `leveldb_filterpolicy_destroy` of whichever library end in our destructor. CreateFilter, which
//! must reach the host's string, is in `create_filter`.

use core::ffi::{c_char, c_int, c_void};
use core::hint;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::abi::{Callbacks, CreatePolicy, FilterPolicy, Methods, Slice, no_destructor};
use super::create_filter::{BUFFER, create_filter};
use super::functions::key_may_match;
use super::lifetime::Owner;
use super::memory;
use super::policy::Policy;
use super::route::{self, Append, Visible, Way};
use super::stats::{Counters, Route};
use super::type_info::{TYPE_INFO, TypeInfo};
use super::vtable::VTABLE;
use crate::Kernel;
use crate::filter::SMALLEST;

/// A C++ virtual table. An object points to `methods`, behind the first two entries.
#[repr(C)]
struct Table {
    offset_to_top: isize,
    type_info: *const TypeInfo,
    methods: Methods<Object>,
}

// SAFETY: a table is never changed; what it points to is functions and a TypeInfo, which is Sync.
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

/// A `leveldb::FilterPolicy` of ours.
#[repr(C)]
pub(super) struct Object {
    methods: *const Methods<Object>,
    pub(super) kind: Kind,
    pub(super) at_once: AtOnce,
    /// From a static link: the host's `leveldb_filterpolicy_create`.
    linked_create: Option<CreatePolicy>,
    /// The host's `std::string::append`, once known.
    append: AtomicPtr<c_void>,
    /// An object of the host's that makes filters for us, where `append` is not to be had.
    delegate: AtomicPtr<FilterPolicy>,
}

/// Up to how many keys `CreateFilter` makes a filter without looking further. None unless it is a
/// bloom policy that does not count.
#[derive(Clone, Copy, Default)]
pub(super) struct AtOnce {
    /// Whose filter [`fill_smallest`](crate::BloomFilterPolicy::fill_smallest) makes, if they are
    /// short.
    pub(super) few: u32,
    /// Whose filter has room in a [`BUFFER`].
    pub(super) most: u32,
}

pub(super) enum Kind {
    Bloom(Policy),
    Custom(*mut c_void, Callbacks),
}

/// Who puts a filter into the host's string.
#[derive(Clone, Copy)]
pub(super) enum Appender {
    /// The string itself, when we have made the filter.
    String(Append),
    /// An object of the host's, which makes the filter through a callback of ours or by itself.
    Delegate(NonNull<FilterPolicy>),
}

impl Object {
    /// A bloom policy in C memory; NULL where there is none.
    // Not inlined in each of its callers: that saves 160 bytes.
    #[inline(never)]
    pub(super) fn bloom(
        bits_per_key: c_int,
        linked_create: Option<CreatePolicy>,
        owner: Owner,
    ) -> *mut FilterPolicy {
        Self::in_c_memory(|| {
            let policy = Policy::new(bits_per_key, Route::None, owner);
            let most_keys_in = |len| policy.policy.most_keys_in(len);
            let (table, at_once) = match policy.counters() {
                None => {
                    let few = most_keys_in(SMALLEST as u16).min(Kernel::FEW);
                    (&BLOOM, AtOnce { few, most: most_keys_in(BUFFER) })
                }
                Some(_) => (&COUNTING, AtOnce::default()),
            };
            Self::new(table, Kind::Bloom(policy), at_once, linked_create)
        })
    }

    /// A policy of the user's callbacks in C memory; NULL where there is none.
    pub(super) fn custom(
        state: *mut c_void,
        callbacks: Callbacks,
        linked_create: Option<CreatePolicy>,
    ) -> *mut FilterPolicy {
        Self::in_c_memory(|| {
            Self::new(&CUSTOM, Kind::Custom(state, callbacks), AtOnce::default(), linked_create)
        })
    }

    fn new(
        table: &'static Table,
        kind: Kind,
        at_once: AtOnce,
        linked_create: Option<CreatePolicy>,
    ) -> Object {
        Object {
            methods: &table.methods,
            kind,
            at_once,
            linked_create,
            append: AtomicPtr::new(ptr::null_mut()),
            delegate: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn in_c_memory(make: impl FnOnce() -> Object) -> *mut FilterPolicy {
        memory::allocate_value(make).map_or(ptr::null_mut(), |object| object.as_ptr().cast())
    }

    /// As [`Policy::begin_destruction`].
    fn begin_destruction(&self) -> bool {
        match &self.kind {
            Kind::Bloom(policy) => policy.begin_destruction(),
            Kind::Custom(..) => true,
        }
    }

    /// Whether `policy` is an object of this copy of the library.
    ///
    /// # Safety
    /// `policy` is alive.
    pub(super) unsafe fn is_ours(policy: NonNull<FilterPolicy>) -> bool {
        // SAFETY: the caller's promise.
        ptr::eq(unsafe { Self::type_of(policy) }, &TYPE_INFO)
    }

    /// The type of a policy's class; NULL where the compiler was told to leave types out.
    ///
    /// # Safety
    /// `policy` is living.
    unsafe fn type_of(policy: NonNull<FilterPolicy>) -> *const TypeInfo {
        // SAFETY: the caller's promise that the policy lives; by the C++ ABI its class's type
        // stands in front of its methods.
        unsafe { policy.as_ref().methods.cast::<*const TypeInfo>().sub(1).read() }
    }

    /// Whether `policy` was made by this library, or by another copy of it in the process: one that
    /// a plugin was linked with, say.
    ///
    /// # Safety
    /// `policy` is living.
    unsafe fn is_a_copys(policy: NonNull<FilterPolicy>) -> bool {
        // SAFETY: the caller's promise.
        unsafe { Self::type_of(policy).as_ref().is_some_and(|type_info| type_info.is_a_copys()) }
    }

    pub(super) fn counters(&self) -> Option<&Counters> {
        match &self.kind {
            Kind::Bloom(policy) => policy.counters(),
            Kind::Custom(..) => None,
        }
    }

    /// Who appends to the strings of the code at `caller` (NULL where that is unknown), of which
    /// `string` is one. Found once and kept: a policy works for one host.
    ///
    /// # Safety
    /// `string` is a string.
    #[inline]
    pub(super) unsafe fn appender(
        &self,
        caller: *const c_void,
        string: *const c_void,
    ) -> Option<Appender> {
        self.known_appender().or_else(|| {
            // SAFETY: the caller's promise.
            self.find_appender(caller, unsafe { Visible::of(string) })
        })
    }

    pub(super) fn known_appender(&self) -> Option<Appender> {
        let append = self.append.load(Ordering::Acquire);
        if !append.is_null() {
            // SAFETY: only `find_appender` stores here, and what it stores is an `Append`.
            return Some(Appender::String(unsafe {
                core::mem::transmute::<*mut c_void, Append>(append)
            }));
        }
        NonNull::new(self.delegate.load(Ordering::Acquire)).map(Appender::Delegate)
    }

    #[cold]
    fn find_appender(&self, caller: *const c_void, visible: Option<Visible>) -> Option<Appender> {
        let route = route::find(caller, visible, self.linked_create, &mut |way| match way {
            Way::Append(append, route) => {
                self.append.store(append as *mut c_void, Ordering::Release);
                Some(route)
            }
            Way::Create(create) => {
                let (state, callbacks) = match &self.kind {
                    Kind::Bloom(policy) => (ptr::from_ref(policy).cast_mut().cast(), &VTABLE),
                    Kind::Custom(state, callbacks) => (*state, callbacks),
                };
                // SAFETY: `route` found leveldb_filterpolicy_create, which takes callbacks with the
                // state they are for. The state outlives the delegate, which `end` deletes first,
                // and whose destructor leaves the state alone.
                let delegate = unsafe {
                    let Callbacks { create_filter, key_may_match, name, .. } = *callbacks;
                    let (create_filter, key_may_match) = (Some(create_filter), Some(key_may_match));
                    create(state, Some(no_destructor), create_filter, key_may_match, Some(name))
                };
                self.keep_delegate(delegate, Route::Delegate)
            }
            Way::Original(original) => match &self.kind {
                Kind::Bloom(policy) => {
                    let bits = policy.policy.bits_per_key();
                    // SAFETY: `route` found leveldb::NewBloomFilterPolicy, which takes any number
                    // from 0 up.
                    self.keep_delegate(unsafe { original(bits) }, Route::Original)
                }
                Kind::Custom(..) => None,
            },
        })?;
        if let Some(counters) = self.counters() {
            counters.set_route(route);
        }
        self.known_appender()
    }

    /// Keeps the host's object. Not if another thread was first; and not, with `None`, an object of
    /// this or of another copy of this library, which would look for its caller's string, find us,
    /// and so on for ever.
    // Once, not in both of its callers.
    #[inline(never)]
    fn keep_delegate(&self, delegate: *mut FilterPolicy, route: Route) -> Option<Route> {
        let delegate = NonNull::new(delegate)?;
        // SAFETY: the host just made `delegate`, for us alone. It is deleted at once, or kept until
        // `end`.
        unsafe {
            if Object::is_a_copys(delegate) {
                FilterPolicy::delete(delegate);
                return None;
            }
            let (none, order) = (ptr::null_mut(), Ordering::AcqRel);
            let kept =
                self.delegate.compare_exchange(none, delegate.as_ptr(), order, Ordering::Acquire);
            if kept.is_err() {
                FilterPolicy::delete(delegate);
            }
        }
        Some(route)
    }
}

/// # Safety
/// `object` is a living object of ours that nobody uses any more.
unsafe extern "C" fn complete_destructor(object: *mut Object) {
    // SAFETY: the caller's promise.
    unsafe { end(object) };
}

/// # Safety
/// As `complete_destructor`; and its memory came from `memory::allocate_value`.
unsafe extern "C" fn deleting_destructor(object: *mut Object) {
    // SAFETY: the caller's promise.
    unsafe {
        if end(object) {
            memory::free(object.cast());
        }
    }
}

/// Ends what an object has, but not its memory; false, and nothing ended, where it stays.
///
/// # Safety
/// As `complete_destructor`.
#[inline(never)]
unsafe fn end(object: *mut Object) -> bool {
    // SAFETY: the caller's promise: LevelDB destroys an object once.
    unsafe {
        let object = &mut *object;
        if !object.begin_destruction() {
            return false;
        }
        if let Some(delegate) =
            NonNull::new(object.delegate.swap(ptr::null_mut(), Ordering::AcqRel))
        {
            FilterPolicy::delete(delegate);
        }
        match &mut object.kind {
            Kind::Bloom(policy) => ptr::drop_in_place(policy),
            Kind::Custom(state, callbacks) => (callbacks.destructor)(*state),
        }
        true
    }
}

/// # Safety
/// `object` is a living object of ours.
unsafe extern "C" fn name(object: *const Object) -> *const c_char {
    // SAFETY: LevelDB calls this on an object that is alive.
    match unsafe { &(*object).kind } {
        Kind::Bloom(policy) => policy.name(),
        // SAFETY: `custom` was given the callback together with this state.
        Kind::Custom(state, callbacks) => unsafe { (callbacks.name)(*state) },
    }
}

/// # Safety
/// `object` is a living object with this table; `key` and `filter` are LevelDB's slices.
unsafe extern "C" fn bloom_may_match(
    object: *const Object,
    key: *const Slice,
    filter: *const Slice,
) -> bool {
    // SAFETY: LevelDB passes an object that is alive and two slices. The object has the table BLOOM
    // or COUNTING, which only `Object::bloom` gives, and only to `Kind::Bloom`.
    unsafe {
        let Kind::Bloom(policy) = &(*object).kind else { hint::unreachable_unchecked() };
        let (key, filter) = (&*key, &*filter);
        match memory::two_bytes((key.data, key.size), (filter.data, filter.size)) {
            Some((key, filter)) => policy.policy.key_may_match(key, filter),
            // NULL, or a length that no object can have: not from LevelDB. Any kernel will do.
            None => odd_may_match(key.data, key.size, filter.data, filter.size),
        }
    }
}

/// [`key_may_match`] with the arguments in the registers where a kernel wants them, too, so that
/// both ways end in a jump, and the usual one needs no room on the stack.
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
unsafe fn odd_may_match(
    key: *const c_char,
    key_length: usize,
    filter: *const c_char,
    filter_length: usize,
) -> bool {
    // SAFETY: the caller's promise, which is LevelDB's.
    unsafe { key_may_match(key, key_length, filter, filter_length) != 0 }
}

/// # Safety
/// As `bloom_may_match`.
unsafe extern "C" fn counting_may_match(
    object: *const Object,
    key: *const Slice,
    filter: *const Slice,
) -> bool {
    // SAFETY: as in `bloom_may_match`.
    unsafe {
        let answer = bloom_may_match(object, key, filter);
        if let Some(counters) = (*object).counters() {
            counters.query(answer);
        }
        answer
    }
}

/// # Safety
/// As `bloom_may_match`.
unsafe extern "C" fn custom_may_match(
    object: *const Object,
    key: *const Slice,
    filter: *const Slice,
) -> bool {
    // SAFETY: LevelDB passes an object that is alive and two slices; `custom` was given the
    // callback together with this state.
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
