//! `LEVELDB_BLOOM_STATS`: one JSON line a policy, for those who want to see that it ran.
//!
//! Counting is chosen when a policy is made. One that does not count has no [`Counters`], and its
//! object has a table of functions that never look for them.

use core::ffi::{CStr, c_int};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering};

use super::check::Check;
use super::environment::environment;
use super::lifetime::Owner;
use super::line::{Line, without_cancellation};
use super::memory::{self, Text};
use crate::BloomFilterPolicy;

#[cfg(target_has_atomic = "64")]
type Count = core::sync::atomic::AtomicU64;
/// A machine without 64-bit atomics counts modulo 2^32.
#[cfg(not(target_has_atomic = "64"))]
type Count = AtomicU32;

/// How filters reach the host, as a line of statistics names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Route {
    /// No filter was made.
    None = 0,
    /// The C++11 string of libstdc++.
    AppendCxx11,
    /// The old copy-on-write string of libstdc++.
    AppendCopyOnWrite,
    /// The string of libc++.
    AppendLibcxx,
    /// An object made by the host's `leveldb_filterpolicy_create`.
    Delegate,
    /// The host's original bloom policy.
    Original,
    /// The callback table and the library's own functions.
    Callbacks,
    /// A filter written into the caller's memory.
    Buffer,
}

/// C strings. In place, because pointers to them and the relocations of these take a quarter of a
/// kilobyte.
static NAMES: [[u8; 21]; 8] = [
    name(b"none"),
    name(b"append-cxx11"),
    name(b"append-copy-on-write"),
    name(b"append-libc++"),
    name(b"delegate"),
    name(b"original"),
    name(b"callbacks"),
    name(b"buffer"),
];

const fn name(text: &[u8]) -> [u8; 21] {
    let mut name = [0; 21];
    assert!(text.len() < name.len());
    let mut i = 0;
    while i < text.len() {
        name[i] = text[i];
        i += 1;
    }
    name
}

impl Route {
    fn name_of(route: u8) -> &'static CStr {
        let [none, ..] = &NAMES;
        let name = NAMES.get(usize::from(route)).unwrap_or(none);
        // SAFETY: `name` has left a zero behind the text.
        unsafe { CStr::from_ptr(name.as_ptr().cast()) }
    }
}

/// What one policy did. In C memory, as long as the policy; counted from any thread.
pub(super) struct Counters {
    policy: BloomFilterPolicy,
    route: AtomicU8,
    filters: Count,
    keys: Count,
    filter_bytes: Count,
    queries: Count,
    negatives: Count,
    check: Check,
    destination: Destination,
    /// How many lines there were: one at exit, and another of what was done after it, if that was
    /// anything; or the last.
    lines: AtomicU8,
    /// The next in the list of living ones, guarded by `LIVING`.
    next: AtomicPtr<Counters>,
}

const NO_LINE: u8 = 0;
const ONE_LINE: u8 = 1;
/// The policy has ended, and no line follows.
const LAST_LINE: u8 = 2;

/// Where the line goes.
enum Destination {
    /// Nobody asked for it.
    Nowhere,
    Stderr,
    File(Text),
}

/// Every policy that counts and lives, for the report at exit.
static LIVING: Lock = Lock {
    process: AtomicU32::new(0),
    parent: AtomicU32::new(0),
    first: AtomicPtr::new(ptr::null_mut()),
};

/// A lock that is of its process: a child of fork gets a copy of it, which may be held by a thread
/// that the child does not have. (A mutex would have to be held by who forks; but a handler of fork
/// may wait for a thread that makes a policy, and a signal's handler that forks may have
/// interrupted one that does.)
struct Lock {
    /// Of the thread that has the list; 0 where none has.
    process: AtomicU32,
    /// The process in which `after_fork_in_child` was last, or which loaded us.
    parent: AtomicU32,
    /// The list is whole at every moment: a child of fork may get a copy of it at any.
    first: AtomicPtr<Counters>,
}

impl Lock {
    /// Hands the list's beginning on while nobody else in this process has the list.
    fn with(&self, f: impl FnOnce(&AtomicPtr<Counters>)) {
        self.take();
        f(&self.first);
        self.process.store(0, Ordering::Release);
    }

    /// Frees what a thread of the parent had at the moment of fork: its number may come again, as
    /// that of a child's child. (What a thread of this process has stays: a handler before ours may
    /// have begun one.)
    fn after_fork_in_child(&self) {
        let (this, had) = (this_process(), self.process.load(Ordering::Relaxed));
        // The first process of a namespace may be the child of another's, and have the same number.
        if self.parent.swap(this, Ordering::Relaxed) == this || had != this {
            let _ = self.process.compare_exchange(had, 0, Ordering::Release, Ordering::Relaxed);
        }
    }

    // Once, not in each of `with`'s callers.
    #[inline(never)]
    fn take(&self) {
        let (word, this) = (&self.process, this_process());
        loop {
            let other = word.load(Ordering::Relaxed);
            // What a parent's thread had at the moment of fork is free here.
            if other != this
                && word.compare_exchange(other, this, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return;
            }
            // Not by yielding, which would not let a thread of less priority go on.
            without_cancellation(|| memory::pause(20_000));
        }
    }
}

fn this_process() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getpid().unsigned_abs() }
}

/// Counters for a new policy, if the environment asks for them or for a check (and there is
/// memory).
pub(super) fn start(policy: &BloomFilterPolicy, route: Route) -> Option<NonNull<Counters>> {
    unsafe extern "C" {
        // Not in the crate libc.
        fn at_quick_exit(function: extern "C" fn()) -> c_int;
    }
    static PREPARED: AtomicBool = AtomicBool::new(false);

    let check = Check::from_environment();
    let destination = match environment(c"LEVELDB_BLOOM_STATS") {
        None if check.is_on() => Destination::Nowhere,
        None => return None,
        Some(destination) if destination == c"stderr" => Destination::Stderr,
        Some(path) => Destination::File(Text::copy_of(path.to_bytes())?),
    };
    let counters = memory::allocate_value(|| Counters {
        policy: *policy,
        route: AtomicU8::new(route as u8),
        filters: Count::new(0),
        keys: Count::new(0),
        filter_bytes: Count::new(0),
        queries: Count::new(0),
        negatives: Count::new(0),
        check,
        destination,
        lines: AtomicU8::new(NO_LINE),
        next: AtomicPtr::new(ptr::null_mut()),
    })?;
    if !PREPARED.swap(true, Ordering::AcqRel) {
        // SAFETY: the function takes no arguments; the rest as in `at_load`.
        unsafe {
            libc::atexit(write_all);
            at_quick_exit(write_all);
        }
    }
    LIVING.with(|first| {
        let before = first.load(Ordering::Relaxed);
        // SAFETY: `allocate_value` just gave it, and only `finish` frees it.
        unsafe { counters.as_ref() }.next.store(before, Ordering::Relaxed);
        first.store(counters.as_ptr(), Ordering::Release);
    });
    Some(counters)
}

/// Writes the line, or one of what was done since exit, and frees the counters.
///
/// # Safety
/// `counters` came from [`start`], and this is the last use of it.
pub(super) unsafe fn finish(counters: NonNull<Counters>) {
    LIVING.with(|first| {
        let mut link = first;
        // SAFETY: an entry of the list lives until this function, which has the lock, takes it out.
        while let Some(living) = unsafe { link.load(Ordering::Relaxed).as_ref() } {
            if ptr::eq(living, counters.as_ptr()) {
                link.store(living.next.load(Ordering::Relaxed), Ordering::Relaxed);
                break;
            }
            link = &living.next;
        }
    });
    // SAFETY: the caller's promise; it is no longer in the list, so that nobody else can find it.
    unsafe {
        let counters = counters.as_ptr();
        (*counters).write(LAST_LINE);
        counters.drop_in_place();
        memory::free(counters.cast());
    }
}

// Before a program's own constructors: their policies may have something to say to stderr, and what
// their handlers do in a child of fork counts. Here, because whatever links us links this file, and
// what nothing refers to is left out of an archive that was not optimised as a whole. SAFETY: the
// section is for functions that the loader calls, which may have no arguments.
#[unsafe(link_section = ".init_array.00000")]
#[used]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    super::stderr::remember();
    LIVING.parent.store(this_process(), Ordering::Relaxed);
    // SAFETY: the function takes no arguments. It stays loaded (`-z nodelete`), or belongs to a
    // module whose handlers glibc drops when it is closed.
    unsafe { libc::pthread_atfork(None, None, Some(after_fork_in_child)) };
}

extern "C" fn after_fork_in_child() {
    LIVING.after_fork_in_child();
    for_each_living(Counters::forget);
}

// Once more, and as late as it can be: a policy may be a C++ program's global object, or held by
// one, and work until that is destroyed, after `atexit`'s handlers. (Not here alone: until then a
// program may call _exit, or close stderr.) A module's list is gone through from its end, and what
// has a number stands before what has none: before the entry by which compilers destroy the
// module's global objects, should it be another's that we are linked into. SAFETY: the section is
// for functions that the loader calls, which have no arguments.
#[unsafe(link_section = ".fini_array.00000")]
#[used]
static AT_EXIT: extern "C" fn() = write_all;

extern "C" fn write_all() {
    for_each_living(|living| living.write(ONE_LINE));
}

fn for_each_living(visit: fn(&Counters)) {
    // Not even the lock, which asks for the process's number: a program whose policies do not
    // count, or that has none, may by its end be in a sandbox that kills it for a system call that
    // it does not know.
    if LIVING.first.load(Ordering::Acquire).is_null() {
        return;
    }
    LIVING.with(|first| {
        let mut link = first;
        // SAFETY: an entry of the list lives until `finish` takes it out under the lock.
        while let Some(living) = unsafe { link.load(Ordering::Relaxed).as_ref() } {
            visit(living);
            link = &living.next;
        }
    });
}

impl Counters {
    /// Whether the policy, which is being destroyed, must stay in memory because its destruction is
    /// checked. At the first call also writes its line and takes it from the count of living
    /// policies; at any other, reports.
    pub(super) fn note_destruction(&self, owner: Owner) -> bool {
        if !self.check.is_on() {
            return false;
        }
        if self.check.destroy(self.policy.bits_per_key()) {
            owner.policy_ended();
            self.write(LAST_LINE);
        }
        true
    }

    pub(super) fn check_filter(&self) {
        self.check.use_for(self.policy.bits_per_key(), "asked to create a filter when destroyed");
    }

    // Once, not in each of its callers.
    #[inline(never)]
    pub(super) fn filter(&self, keys: usize, bytes: usize) {
        self.check_filter();
        self.filters.fetch_add(1, Ordering::Relaxed);
        self.keys.fetch_add(keys as _, Ordering::Relaxed);
        self.filter_bytes.fetch_add(bytes as _, Ordering::Relaxed);
    }

    pub(super) fn query(&self, may_match: bool) {
        self.check.use_for(self.policy.bits_per_key(), "asked for a key when destroyed");
        self.queries.fetch_add(1, Ordering::Relaxed);
        self.negatives.fetch_add((!may_match).into(), Ordering::Relaxed);
    }

    /// No line: nobody had the policy.
    pub(super) fn forgo(&self) {
        self.lines.store(LAST_LINE, Ordering::Relaxed);
    }

    pub(super) fn set_route(&self, route: Route) {
        self.route.store(route as u8, Ordering::Relaxed);
    }

    pub(super) fn has_route(&self, route: Route) -> bool {
        self.route.load(Ordering::Relaxed) == route as u8
    }

    /// In a child of fork: what was counted before is the parent's to write.
    #[inline(never)]
    fn forget(&self) {
        let _ = self.take();
    }

    /// Filters, keys, bytes of filters, queries and noes since this was last called.
    fn take(&self) -> [u64; 5] {
        let Counters { filters, keys, filter_bytes, queries, negatives, .. } = self;
        #[allow(clippy::unnecessary_cast, reason = "Count is narrower on some machines")]
        [filters, keys, filter_bytes, queries, negatives]
            .map(|count| count.swap(0, Ordering::Relaxed) as u64)
    }

    /// Appends a line to its destination, in one write, so that lines of several processes do not
    /// mix: of what was done since the line before, if there was one.
    fn write(&self, lines: u8) {
        let before = self.lines.fetch_max(lines, Ordering::AcqRel);
        let [filters, keys, filter_bytes, queries, negatives] = self.take();
        if before == LAST_LINE || (before == ONE_LINE && filters | queries == 0) {
            return;
        }
        let mut line = Line::new();
        line.text_and_number(
            concat!("{\"version\":\"", env!("CARGO_PKG_VERSION"), "\",\"pid\":"),
            this_process().into(),
        );
        line.text(",\"kernel\":\"");
        line.text(self.policy.kernel().name());
        line.text("\",\"route\":\"");
        let route = if filters == 0 { 0 } else { self.route.load(Ordering::Relaxed) };
        line.foreign(Route::name_of(route));
        let bits_per_key = self.policy.bits_per_key().unsigned_abs();
        line.text_and_number("\",\"bits_per_key\":", bits_per_key.into());
        line.text_and_number(",\"filters\":", filters);
        line.text_and_number(",\"keys\":", keys);
        line.text_and_number(",\"filter_bytes\":", filter_bytes);
        line.text_and_number(",\"queries\":", queries);
        line.text_and_number(",\"negatives\":", negatives);
        line.text("}\n");
        match &self.destination {
            Destination::Nowhere => {}
            Destination::Stderr => line.write_to(None),
            Destination::File(path) => {
                // SAFETY: a `Text` is a C string.
                line.write_to(Some(unsafe { CStr::from_ptr(path.as_ptr()) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{assert_eq, thread};

    fn lock() -> Lock {
        let (process, parent) = (AtomicU32::new(0), AtomicU32::new(0));
        Lock { process, parent, first: AtomicPtr::new(ptr::null_mut()) }
    }

    #[test]
    fn one_thread_has_the_list() {
        const THREADS: usize = 4;
        const TIMES: usize = 300_000;
        let lock = lock();
        thread::scope(|threads| {
            for _ in 0..THREADS {
                threads.spawn(|| {
                    for _ in 0..TIMES {
                        lock.with(|first| {
                            let before = first.load(Ordering::Relaxed);
                            first.store(before.wrapping_byte_add(1), Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        assert_eq!(lock.first.load(Ordering::Relaxed).addr(), THREADS * TIMES);
    }

    #[test]
    fn what_another_process_has_is_free() {
        let lock = lock();
        lock.process.store(this_process() + 1, Ordering::Relaxed);
        let mut had = false;
        lock.with(|_| had = lock.process.load(Ordering::Relaxed) == this_process());
        assert_eq!((had, lock.process.load(Ordering::Relaxed)), (true, 0));
    }

    #[test]
    fn what_a_parent_had_is_free_for_all_that_follow() {
        let (lock, this) = (lock(), this_process());
        let after = |parent, had| {
            lock.parent.store(parent, Ordering::Relaxed);
            lock.process.store(had, Ordering::Relaxed);
            lock.after_fork_in_child();
            [&lock.parent, &lock.process].map(|number| number.load(Ordering::Relaxed))
        };
        let another = this + 1;
        assert_eq!(after(another, another), [this, 0]);
        assert_eq!(after(another, 0), [this, 0]);
        // Of another namespace.
        assert_eq!(after(this, this), [this, 0]);
        // Of a handler that was before ours.
        assert_eq!(after(another, this), [this, this]);
    }
}
