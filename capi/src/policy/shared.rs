//! Policies that never end, one for each number of bits per key.

use alloc::boxed::Box;
use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::memory;

/// A list that only grows, of policies of one type.
pub(crate) struct Shared<T> {
    first: AtomicPtr<Entry<T>>,
}

struct Entry<T> {
    bits_per_key: c_int,
    policy: Box<T>,
    next: *mut Entry<T>,
}

impl<T> Shared<T> {
    pub(crate) const fn new() -> Self {
        Shared { first: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The policy of so many bits; made where there is none. NULL where there is no memory.
    pub(crate) fn get(&self, bits_per_key: c_int, make: impl Fn(c_int) -> T) -> *mut T {
        let bits_per_key = bits_per_key.max(0);
        let mut made = None;
        loop {
            let first = self.first.load(Ordering::Acquire);
            let mut entry = first;
            // SAFETY: an entry of the list is never changed or freed.
            while let Some(known) = unsafe { entry.as_ref() } {
                if known.bits_per_key == bits_per_key {
                    return ptr::from_ref(&*known.policy).cast_mut();
                }
                entry = known.next;
            }
            let new = made.take().or_else(|| {
                let policy = memory::boxed(|| make(bits_per_key))?;
                memory::boxed(|| Entry { bits_per_key, policy, next: first })
            });
            let Some(mut new) = new else { return ptr::null_mut() };
            new.next = first;
            let new = Box::into_raw(new);
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            if self.first.compare_exchange(first, new, success, failure).is_err() {
                // SAFETY: this call has made it, and did not get it into the list.
                made = Some(unsafe { Box::from_raw(new) });
            }
        }
    }
}
