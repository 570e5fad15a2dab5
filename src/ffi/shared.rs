//! Policies that never end, one for each number of bits per key.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::abi::{CreatePolicy, FilterPolicy};
use super::closure::Closure;
use super::lifetime::Owner;
use super::memory;
use super::object::Object;
use super::policy::Policy;
use super::stats::Counters;

/// The shared policies of a kind, one for each number of bits per key: a list that only grows.
struct Shared {
    first: AtomicPtr<Entry>,
}

struct Entry {
    bits_per_key: c_int,
    policy: *mut c_void,
    next: *mut Entry,
}

impl Shared {
    const fn new() -> Self {
        Shared { first: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The policy of that many bits; made, if there is none. NULL where there is no memory. What
    /// `make` made is given to `discard` where another thread was first.
    ///
    /// # Safety
    /// `discard` takes what `make` makes.
    // Once, not for each kind of policy.
    #[inline(never)]
    unsafe fn get(
        &self,
        bits_per_key: c_int,
        make: &mut dyn Closure<c_int, *mut c_void>,
        discard: unsafe fn(*mut c_void),
    ) -> *mut c_void {
        let bits_per_key = bits_per_key.max(0);
        let mut made: Option<NonNull<Entry>> = None;
        loop {
            let first = self.first.load(Ordering::Acquire);
            let mut entry = first;
            // SAFETY: `get` put the entry into the list; entries there are never freed, and never
            // changed.
            while let Some(known) = unsafe { entry.as_ref() } {
                if known.bits_per_key == bits_per_key {
                    if let Some(made) = made {
                        // SAFETY: this call made it and did not get it into the list, because
                        // another thread was first: nobody else knows it.
                        unsafe {
                            discard(made.as_ref().policy);
                            memory::free(made.as_ptr().cast());
                        }
                    }
                    return known.policy;
                }
                entry = known.next;
            }
            let new = made.or_else(|| {
                let policy = NonNull::new(make.call(bits_per_key))?.as_ptr();
                let next = ptr::null_mut();
                let entry = memory::allocate_value(|| Entry { bits_per_key, policy, next });
                if entry.is_none() {
                    // SAFETY: `make` has just made it, and nobody else knows it.
                    unsafe { discard(policy) };
                }
                entry
            });
            let Some(new) = new else { return ptr::null_mut() };
            made = Some(new);
            // SAFETY: this call made it, and it is not in the list yet: nobody else knows it.
            unsafe { (*new.as_ptr()).next = first };
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            if self.first.compare_exchange(first, new.as_ptr(), success, failure).is_ok() {
                // SAFETY: it is in the list now, whose entries are never freed.
                return unsafe { new.as_ref() }.policy;
            }
        }
    }
}

/// Frees a policy that nobody had, and leaves no line of statistics.
///
/// # Safety
/// `policy` points to a `T` in memory from `memory::allocate_value`, which nobody knows.
unsafe fn discard<T>(policy: *mut c_void, counters: impl Fn(&T) -> Option<&Counters>) {
    let policy = policy.cast::<T>();
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(counters) = counters(&*policy) {
            counters.forgo();
        }
        policy.drop_in_place();
        memory::free(policy.cast());
    }
}

/// The shared policy of that many bits, for the functions and callbacks; NULL where there is no
/// memory. Destroying it does nothing.
#[must_use]
pub fn shared_policy(bits_per_key: c_int) -> *mut Policy {
    static SHARED: Shared = Shared::new();
    let mut make = |bits| Policy::create_for(Owner::Process, bits).cast();
    // SAFETY: `create_for` makes what `Policy::counters` takes.
    unsafe { SHARED.get(bits_per_key, &mut make, |policy| discard(policy, Policy::counters)) }
        .cast()
}

/// The shared policy of that many bits, for LevelDB; NULL where there is no memory. Destroying it
/// does nothing.
#[must_use]
pub fn shared_filter_policy(
    bits_per_key: c_int,
    linked_create: Option<CreatePolicy>,
) -> *mut FilterPolicy {
    static SHARED: Shared = Shared::new();
    let mut make = |bits| Object::bloom(bits, linked_create, Owner::Process).cast();
    // SAFETY: `Object::bloom` makes what `Object::counters` takes.
    unsafe { SHARED.get(bits_per_key, &mut make, |policy| discard(policy, Object::counters)) }
        .cast()
}
