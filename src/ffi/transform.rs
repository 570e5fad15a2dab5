//! A policy whose keys go through the user's callback first: for comparators that ignore a part of
//! the key, so that all keys they call equal have one canonical form.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use super::abi::Destructor;
use super::memory::{self, Text};
use crate::hash::bloom_hash;

/// Writes the canonical form of a key to `buffer` if it fits, and returns its length.
pub type Canonicalise = unsafe extern "C" fn(
    state: *mut c_void,
    key: *const c_char,
    key_length: usize,
    buffer: *mut c_char,
    buffer_length: usize,
) -> usize;

/// A policy's callback and its state.
pub(super) struct Transform {
    canonicalise: Canonicalise,
    destructor: Option<Destructor>,
    state: *mut c_void,
    /// The name of the policy.
    name: Text,
    /// Whether the state has ended, which it does before the policy if that is kept in memory. Then
    /// no key has a canonical form any more.
    ended: AtomicBool,
}

/// Canonical forms up to this length need no memory from `malloc`.
const ON_STACK: usize = 256;

impl Transform {
    /// `None` where there is no memory.
    ///
    /// # Safety
    /// The callbacks may be called with `state`, from any thread, until the destructor is.
    pub(super) unsafe fn new(
        name: &CStr,
        canonicalise: Canonicalise,
        destructor: Option<Destructor>,
        state: *mut c_void,
    ) -> Option<Transform> {
        let (name, ended) = (Text::copy_of(name.to_bytes())?, AtomicBool::new(false));
        Some(Transform { canonicalise, destructor, state, name, ended })
    }

    /// Ends the state, but keeps the rest, so that later uses of the policy can be reported.
    ///
    /// # Safety
    /// Nobody asks for a canonical form meanwhile.
    pub(super) unsafe fn end_state(&self) {
        if let (false, Some(destructor)) =
            (self.ended.swap(true, Ordering::AcqRel), self.destructor)
        {
            // SAFETY: `new`'s caller gave the destructor together with this state; `swap` lets
            // only one call through, and by the caller's word nobody uses the state meanwhile.
            unsafe { destructor(self.state) }
        }
    }

    /// A C string, valid as long as `self`, wherever that is moved.
    pub(super) fn name(&self) -> *const c_char {
        self.name.as_ptr()
    }

    /// The hash of a key's canonical form; `None` where that cannot be had (no memory, a callback
    /// that asks for more each time, or a state that was ended).
    pub(super) fn hash(&self, key: &[u8]) -> Option<u32> {
        if self.ended.load(Ordering::Acquire) {
            return None;
        }
        let mut stack = [0; ON_STACK];
        let len = self.call(key, &mut stack);
        if let Some(canonical) = stack.get(..len) {
            return Some(bloom_hash(canonical));
        }
        if len > isize::MAX as usize {
            return None;
        }
        let heap = memory::allocate(len)?;
        // SAFETY: `allocate` just gave this memory, zeroed and of that length; it is freed below.
        let buffer = unsafe { memory::array_mut(heap.as_ptr(), len) };
        let len = self.call(key, buffer);
        let hash = buffer.get(..len).map(bloom_hash);
        // SAFETY: `allocate` gave it above, and nobody uses `buffer` any more.
        unsafe { memory::free(heap.as_ptr().cast()) };
        hash
    }

    fn call(&self, key: &[u8], buffer: &mut [u8]) -> usize {
        // Never NULL, which memcpy and std::string_view may not be given even with a length of 0.
        let key_ptr = if key.is_empty() { c"".as_ptr() } else { key.as_ptr().cast() };
        // SAFETY: `new`'s caller promised it for this state, any key and any buffer.
        unsafe {
            (self.canonicalise)(
                self.state,
                key_ptr,
                key.len(),
                buffer.as_mut_ptr().cast(),
                buffer.len(),
            )
        }
    }
}
