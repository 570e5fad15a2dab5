//! Policies that never end, one for each number of bits per key.

use core::ffi::c_int;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::abi::{CreatePolicy, FilterPolicy};
use super::lifetime::Owner;
use super::memory;
use super::object::Object;
use super::policy::Policy;
use super::stats::{Counters, Route};

/// The shared policies, one for each number of bits per key: a list that only grows.
struct Shared<T: 'static> {
    first: AtomicPtr<Entry<T>>,
}

struct Entry<T> {
    bits_per_key: c_int,
    policy: T,
    next: *mut Entry<T>,
}

impl<T> Shared<T> {
    const fn new() -> Self {
        Shared { first: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The policy of that many bits; made, if there is none. NULL where there is no memory.
    fn get(
        &self,
        bits_per_key: c_int,
        make: impl Fn(c_int) -> T,
        counters: impl Fn(&T) -> Option<&Counters>,
    ) -> *mut T {
        let bits_per_key = bits_per_key.max(0);
        let mut made: Option<NonNull<Entry<T>>> = None;
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
                            if let Some(counters) = counters(&made.as_ref().policy) {
                                counters.forgo();
                            }
                            made.drop_in_place();
                            memory::free(made.as_ptr().cast());
                        }
                    }
                    // SAFETY: entries in the list are never freed.
                    return unsafe { &raw mut (*entry).policy };
                }
                entry = known.next;
            }
            let new = made.or_else(|| {
                let next = ptr::null_mut();
                memory::allocate_value(|| Entry { bits_per_key, policy: make(bits_per_key), next })
            });
            let Some(new) = new else { return ptr::null_mut() };
            made = Some(new);
            // SAFETY: this call made it, and it is not in the list yet: nobody else knows it.
            unsafe { (*new.as_ptr()).next = first };
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            if self.first.compare_exchange(first, new.as_ptr(), success, failure).is_ok() {
                // SAFETY: it is in the list now, whose entries are never freed.
                return unsafe { &raw mut (*new.as_ptr()).policy };
            }
        }
    }
}

/// The shared policy of that many bits, for the functions and callbacks; NULL where there is no
/// memory. Destroying it does nothing.
#[must_use]
pub fn shared_policy(bits_per_key: c_int) -> *mut Policy {
    static SHARED: Shared<Policy> = Shared::new();
    let make = |bits| Policy::new(bits, Route::Callbacks, Owner::Process);
    SHARED.get(bits_per_key, make, Policy::counters)
}

/// The shared policy of that many bits, for LevelDB; NULL where there is no memory. Destroying it
/// does nothing.
#[must_use]
pub fn shared_filter_policy(
    bits_per_key: c_int,
    linked_create: Option<CreatePolicy>,
) -> *mut FilterPolicy {
    static SHARED: Shared<Object> = Shared::new();
    let make = |bits| Object::new_bloom(bits, linked_create, Owner::Process);
    SHARED.get(bits_per_key, make, Object::counters).cast()
}
