//! A policy for C. All queries and all filters with one pass [`Policy::key_may_match`] and
//! [`Policy::fill`], whether LevelDB's C++ code, its C API or a C program wants them.

mod shared;
mod transform;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::iter;
use core::mem::MaybeUninit;
use core::slice;

use alloc::boxed::Box;
use leveldb_bloom::{Encoding, FilterBuilder, FilterPolicy};

use crate::diagnosis::kernel;
use crate::diagnosis::statistics::{Counters, Route};
use crate::door::{self, Keys};
use crate::memory;
use crate::status::{
    LEVELDB_BLOOM_INVALID_ARGUMENT, LEVELDB_BLOOM_NO_MEMORY, LEVELDB_BLOOM_TOO_LARGE, Result,
};

pub(crate) use shared::Shared;
pub(crate) use transform::Transform;

/// The name that LevelDB stores beside its own filters.
pub(crate) const NAME: &CStr = c"leveldb.BuiltinBloomFilter2";

/// What goleveldb calls its policy, whose filters are the same.
pub(crate) const GOLEVELDB_NAME: &CStr = c"leveldb.BuiltinBloomFilter";

/// A filter policy: how many bits to spend on a key, and how filters are written. Immutable, so that
/// any number of threads may use one at once.
pub struct Policy {
    core: FilterPolicy,
    /// Neither transformed nor counted.
    is_plain: bool,
    /// One that lives as long as the process.
    pub(crate) is_shared: bool,
    pub(crate) name: &'static CStr,
    pub(crate) transform: Option<Transform>,
    counters: Option<&'static Counters>,
}

/// What a policy or a builder does its work with.
pub(crate) fn core(bits_per_key: c_int, encoding: Encoding) -> FilterPolicy {
    FilterPolicy::with_kernel(bits_per_key, kernel::for_policy()).with_encoding(encoding)
}

impl Policy {
    pub(crate) fn new(bits_per_key: c_int, encoding: Encoding) -> Policy {
        let core = core(bits_per_key, encoding);
        let counters = Counters::start(&core);
        let is_plain = counters.is_none();
        Policy { core, is_plain, is_shared: false, name: NAME, transform: None, counters }
    }

    /// [`new`](Self::new), and what `change` does to it.
    pub(crate) fn with(
        bits_per_key: c_int,
        encoding: Encoding,
        change: impl FnOnce(&mut Policy),
    ) -> Policy {
        let mut policy = Policy::new(bits_per_key, encoding);
        change(&mut policy);
        policy.is_plain &= policy.transform.is_none();
        policy
    }

    /// Ends a policy that [`memory::boxed`] made, which is the state of the callbacks. NULL is fine,
    /// and a shared one stays.
    ///
    /// # Safety
    /// Nobody uses the policy any more.
    // Not inlined into the exported function: see `api::callbacks`.
    #[inline(never)]
    pub(crate) unsafe extern "C" fn destroy(policy: *mut c_void) {
        let policy = policy.cast::<Policy>();
        // SAFETY: the caller's promise.
        unsafe {
            if policy.as_ref().is_some_and(|policy| !policy.is_shared) {
                drop(Box::from_raw(policy));
            }
        }
    }

    pub(crate) fn core(&self) -> &FilterPolicy {
        &self.core
    }

    pub(crate) fn counters(&self) -> Option<&Counters> {
        self.counters
    }

    /// The name that LevelDB stores beside the filters; a C string that lives as long as the policy.
    pub(crate) fn c_name(&self) -> *const c_char {
        self.transform.as_ref().map_or(self.name, Transform::name).as_ptr()
    }

    /// Whether `filter` may hold `key`.
    #[inline(always)]
    pub(crate) fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        if self.is_plain {
            self.core.key_may_match(key, filter)
        } else {
            self.counted_key_may_match(key, filter)
        }
    }

    // Out of line, so that the usual query is a jump to the kernel.
    #[inline(never)]
    fn counted_key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        let ask = |key: &[u8]| self.core.key_may_match(key, filter);
        let answer = match &self.transform {
            None => ask(key),
            // Where there is no canonical form, the key may be in any filter.
            Some(transform) => transform.canonical(key, ask).unwrap_or(true),
        };
        if let Some(counters) = self.counters {
            counters.query(answer);
        }
        answer
    }

    /// Writes the filter of `keys` over all of `filter`. If that fails for want of memory, the
    /// filter matches every key, for callers that do not look at the status.
    #[inline(always)]
    pub(crate) fn fill(
        &self,
        keys: Keys<'_>,
        filter: &mut [MaybeUninit<u8>],
        route: Route,
    ) -> Result {
        if let (Some(core), Keys::List(list)) = (self.plain(), keys) {
            let filled = core.fill_filter_uninit(list, filter);
            return filled.map(|_| ()).map_err(|_| LEVELDB_BLOOM_INVALID_ARGUMENT);
        }
        self.fill_otherwise(keys, filter, route)
    }

    /// What makes the filters of a policy with LevelDB's own encoding that neither transforms keys nor
    /// counts.
    #[inline(always)]
    pub(crate) fn plain(&self) -> Option<FilterPolicy> {
        let core = self.core;
        (self.is_plain && core.encoding() == Encoding::Bloom).then_some(core)
    }

    #[inline(never)]
    fn fill_otherwise(
        &self,
        keys: Keys<'_>,
        filter: &mut [MaybeUninit<u8>],
        route: Route,
    ) -> Result {
        if self.core.filter_len(keys.len()) != Some(filter.len()) {
            return Err(LEVELDB_BLOOM_INVALID_ARGUMENT);
        }
        let len = filter.len();
        let filled = match (&self.transform, keys) {
            (Some(_), _) | (None, Keys::Empty(_)) => self.build(keys, door::zeroed(filter)),
            (None, Keys::List(keys)) => self.core.fill_filter_uninit(keys, filter).is_ok(),
            (None, Keys::Arrays(..) | Keys::Flat(_)) => {
                let fill = |list: &[_]| self.core.fill_filter_uninit(list, filter).is_ok();
                keys.listed(fill).unwrap_or_else(|| {
                    self.core.fill_filter_from(keys.iter(), door::zeroed(filter)).is_ok()
                })
            }
        };
        if !filled {
            door::zeroed(filter).last_mut().into_iter().for_each(|k| *k = memory::MATCH_ALL[1]);
            return Err(LEVELDB_BLOOM_NO_MEMORY);
        }
        if let Some(counters) = self.counters {
            counters.filter(keys.len(), len, route);
        }
        Ok(())
    }

    /// The filter of keys that are not read where they are; false where there is no memory.
    fn build(&self, keys: Keys<'_>, filter: &mut [u8]) -> bool {
        let mut builder = FilterBuilder::new(self.core);
        let mut add = |key: &[u8]| builder.try_extend(iter::once(key)).is_ok();
        // However many empty keys there are, one sets the bits of all.
        let different = if let Keys::Empty(_) = keys { 1 } else { usize::MAX };
        keys.iter().take(different).all(|key| match &self.transform {
            None => add(key),
            Some(transform) => transform.canonical(key, &mut add).unwrap_or(false),
        }) && builder.finish_into(keys.len(), filter).is_ok()
    }

    /// A filter in memory from C's `malloc`.
    pub(crate) fn create(&self, keys: Keys<'_>) -> Result<&'static mut [u8]> {
        let len = self.core.filter_len(keys.len()).ok_or(LEVELDB_BLOOM_TOO_LARGE)?;
        let filter = memory::malloc(len).ok_or(LEVELDB_BLOOM_NO_MEMORY)?;
        let start = filter.as_mut_ptr().cast::<u8>();
        match self.fill(keys, filter, Route::Callbacks) {
            // SAFETY: `malloc` gave this memory, and `fill` has written it.
            Ok(()) => Ok(unsafe { slice::from_raw_parts_mut(start, len) }),
            Err(status) => {
                // SAFETY: `malloc` gave it, and nobody else has it.
                unsafe { memory::free(start.cast()) };
                Err(status)
            }
        }
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        if let Some(transform) = &mut self.transform {
            transform.end();
        }
        if let Some(counters) = self.counters.take() {
            // SAFETY: `new` started them for this policy, which nobody uses any more.
            unsafe { Counters::finish(counters) };
        }
    }
}
