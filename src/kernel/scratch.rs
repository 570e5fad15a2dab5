//! Working memory: a little from the stack, more from the allocator. Where the allocator has none,
//! the caller does its work in a way that needs none.

use alloc::alloc::{alloc, dealloc};
use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr;

use super::Key;
use super::bits::BYTE_PER_BIT_MAX;

/// How many bytes of the caller's stack a kernel may take for a byte per bit.
const BYTES_ON_STACK: usize = 4096;

/// Whether kernels create a filter of `len` bytes, its last included, without asking the allocator:
/// for all but large ones they use a byte for each of its bits.
pub(crate) const fn on_the_stack_for(len: usize) -> bool {
    len <= BYTES_ON_STACK / 8 + 1 || len > BYTE_PER_BIT_MAX / 8 + 1
}

/// How many keys are listed on the stack.
const KEYS_ON_STACK: usize = 64;

/// Runs `f` on `len` zero bytes. Returns false, having run nothing, where there is no memory for
/// them.
#[inline(always)]
pub(super) fn with_zeroed(len: usize, f: impl FnOnce(&mut [u8])) -> bool {
    with::<u8, BYTES_ON_STACK>(len, |memory| {
        // SAFETY: all of it is written before it becomes a slice of bytes.
        f(unsafe {
            memory.as_mut_ptr().write_bytes(0, memory.len());
            core::slice::from_raw_parts_mut(memory.as_mut_ptr().cast(), memory.len())
        });
    })
}

/// Runs `f` on the list of keys that `list` makes in room for `len` of them. Returns false,
/// without having run `f`, where there is no memory for it, or `list` makes none.
#[inline(always)]
pub(crate) fn with_keys<'k>(
    len: usize,
    list: impl for<'m> FnOnce(&'m mut [MaybeUninit<Key<'k>>]) -> Option<&'m [Key<'k>]>,
    f: impl FnOnce(&[Key<'k>]),
) -> bool {
    let mut listed = false;
    with::<Key<'k>, KEYS_ON_STACK>(len, |memory| {
        if let Some(keys) = list(memory) {
            listed = true;
            f(keys);
        }
    }) && listed
}

/// The list of an iterator's keys, for [`with_keys`]. None where there are more than it has room
/// for.
pub(crate) fn listed<'k>(
    mut keys: impl Iterator<Item = Key<'k>>,
) -> impl for<'m> FnOnce(&'m mut [MaybeUninit<Key<'k>>]) -> Option<&'m [Key<'k>]> {
    move |memory| {
        let mut listed = 0;
        for (place, key) in memory.iter_mut().zip(&mut keys) {
            place.write(key);
            listed += 1;
        }
        if listed == memory.len() && keys.next().is_some() {
            return None;
        }
        // SAFETY: the first `listed` were written.
        Some(unsafe { core::slice::from_raw_parts(memory.as_ptr().cast(), listed) })
    }
}

/// Memory from the allocator, or NULL. Given back on drop, and so also if a caller's key panics.
struct Allocated {
    memory: *mut u8,
    layout: Layout,
}

impl Drop for Allocated {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.memory.is_null() {
            // SAFETY: the allocator gave it for this layout, and nobody has given it back.
            unsafe { dealloc(self.memory, self.layout) }
        }
    }
}

/// Runs `f` on memory for `len` values, up to `ON_STACK` of them on the stack.
#[inline(always)]
fn with<T: Copy, const ON_STACK: usize>(len: usize, f: impl FnOnce(&mut [MaybeUninit<T>])) -> bool {
    let mut stack = [const { MaybeUninit::<T>::uninit() }; ON_STACK];
    let mut allocated = Allocated { memory: ptr::null_mut(), layout: Layout::new::<T>() };
    let memory = match stack.get_mut(..len) {
        Some(memory) => memory,
        None => {
            let Ok(layout) = Layout::array::<T>(len) else { return false };
            allocated.layout = layout;
            // SAFETY: the layout is not of zero bytes: a `len` of 0 was found on the stack above,
            // and T is not zero-sized (bytes and keys).
            allocated.memory = unsafe { alloc(layout) };
            if allocated.memory.is_null() {
                return false;
            }
            // SAFETY: `alloc` just gave this memory for `len` values, and nothing else refers to
            // it.
            unsafe { core::slice::from_raw_parts_mut(allocated.memory.cast(), len) }
        }
    };
    f(memory);
    true
}
