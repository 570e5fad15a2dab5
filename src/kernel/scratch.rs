//! Working memory: the stack for little, `malloc` for more. Where there is no `malloc`, or it has
//! nothing to give, the work is done in a way that needs none.

use core::mem::MaybeUninit;

use super::Key;

/// What a create may take from the caller's stack for bits, in bytes.
const BYTES_ON_STACK: usize = 4096;

/// The longest filter, its last byte included, that kernels create on the stack: they ask for a
/// byte a bit.
pub(crate) const FILTER_ON_STACK: usize = BYTES_ON_STACK / 8 + 1;

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

/// Runs `f` on a list of the `len` keys that `keys` gives (fewer, if it gives fewer). Returns
/// false, having run nothing, where there is no memory for it, or there are more keys.
pub(crate) fn with_keys<'k>(
    len: usize,
    mut keys: impl Iterator<Item = Key<'k>>,
    f: impl FnOnce(&[Key<'k>]),
) -> bool {
    let mut all = true;
    with::<Key<'k>, KEYS_ON_STACK>(len, |memory| {
        let mut listed = 0;
        for (place, key) in memory.iter_mut().zip(&mut keys) {
            place.write(key);
            listed += 1;
        }
        all = listed < len || keys.next().is_none();
        if all {
            // SAFETY: the first `listed` were written.
            f(unsafe { core::slice::from_raw_parts(memory.as_ptr().cast(), listed) });
        }
    }) && all
}

/// What `malloc` gave, or NULL. It is given back even where a caller's key panics.
struct Allocated(*mut u8);

impl Drop for Allocated {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.0.is_null() {
            free(self.0);
        }
    }
}

/// Runs `f` on memory for `len` values, up to `ON_STACK` of them on the stack.
#[inline(always)]
fn with<T: Copy, const ON_STACK: usize>(len: usize, f: impl FnOnce(&mut [MaybeUninit<T>])) -> bool {
    let mut stack = [const { MaybeUninit::<T>::uninit() }; ON_STACK];
    let mut allocated = Allocated(core::ptr::null_mut());
    let memory = match stack.get_mut(..len) {
        Some(memory) => memory,
        None => {
            allocated.0 = allocate(len.saturating_mul(size_of::<T>()));
            if allocated.0.is_null() {
                return false;
            }
            // SAFETY: fresh memory of that many values, aligned as malloc's is for them all, which
            // nothing else refers to.
            unsafe { core::slice::from_raw_parts_mut(allocated.0.cast(), len) }
        }
    };
    f(memory);
    true
}

#[cfg(unix)]
fn allocate(bytes: usize) -> *mut u8 {
    // SAFETY: malloc takes any size.
    unsafe { libc::malloc(bytes).cast() }
}

#[cfg(unix)]
fn free(memory: *mut u8) {
    // SAFETY: `Allocated` passes what `allocate` gave, once.
    unsafe { libc::free(memory.cast()) }
}

#[cfg(not(unix))]
fn allocate(_bytes: usize) -> *mut u8 {
    core::ptr::null_mut()
}

#[cfg(not(unix))]
fn free(_memory: *mut u8) {}
