//! Keys that go through the user's callback first, for comparators that ignore a part of the key:
//! all keys that they call equal have one canonical form.

use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_void};

use crate::memory::Text;

/// Writes the canonical form of a key to `buffer` if it fits, and returns its length.
pub(crate) type Canonicalise = unsafe extern "C" fn(
    state: *mut c_void,
    key: *const c_char,
    key_length: usize,
    buffer: *mut c_char,
    buffer_length: usize,
) -> usize;

pub(crate) struct Transform {
    canonicalise: Canonicalise,
    destructor: Option<unsafe extern "C" fn(*mut c_void)>,
    state: *mut c_void,
    /// The name of the policy.
    name: Text,
}

impl Transform {
    /// `None` where there is no memory.
    ///
    /// # Safety
    /// The callbacks may be called with `state`, from any thread, until the destructor is.
    pub(crate) unsafe fn new(
        name: &CStr,
        canonicalise: Canonicalise,
        destructor: Option<unsafe extern "C" fn(*mut c_void)>,
        state: *mut c_void,
    ) -> Option<Transform> {
        Some(Transform { canonicalise, destructor, state, name: Text::copy_of(name)? })
    }

    pub(crate) fn name(&self) -> &CStr {
        self.name.as_c_str()
    }

    /// Has the user's destructor end the state. Not in `drop`: a policy that cannot be made leaves
    /// the state to the caller.
    pub(super) fn end(&mut self) {
        if let Some(destructor) = self.destructor.take() {
            // SAFETY: `new`'s caller gave it for this state, which is not used after this.
            unsafe { destructor(self.state) }
        }
    }

    /// What `f` makes of the key's canonical form. `None` where that cannot be had: no memory, or a
    /// callback that wants more room each time.
    pub(super) fn canonical<R>(&self, key: &[u8], f: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let mut stack = [0; 256];
        let len = self.call(key, &mut stack);
        if let Some(canonical) = stack.get(..len) {
            return Some(f(canonical));
        }
        let mut heap = Vec::new();
        heap.try_reserve_exact(len).ok()?;
        heap.resize(len, 0);
        let len = self.call(key, &mut heap);
        heap.get(..len).map(f)
    }

    fn call(&self, key: &[u8], buffer: &mut [u8]) -> usize {
        // Never NULL, which memcpy must not be given, even with a length of 0.
        let data = if key.is_empty() { c"".as_ptr() } else { key.as_ptr().cast() };
        let (room, len) = (buffer.as_mut_ptr().cast(), buffer.len());
        // SAFETY: `new`'s caller promised it for this state, any key and any buffer.
        unsafe { (self.canonicalise)(self.state, data, key.len(), room, len) }
    }
}
