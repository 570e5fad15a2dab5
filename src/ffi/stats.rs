//! `LEVELDB_BLOOM_STATS`: one JSON line a policy, for those who want to see that it ran.
//!
//! Counting is chosen when a policy is made. One that does not count has no [`Counters`], and its
//! object has a table of functions that never look for them.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use super::check::Check;
use super::lifetime::Owner;
use super::memory;
use crate::BloomFilterPolicy;

#[cfg(target_has_atomic = "64")]
type Count = core::sync::atomic::AtomicU64;
/// Wraps around on machines that cannot count further at once.
#[cfg(not(target_has_atomic = "64"))]
type Count = core::sync::atomic::AtomicUsize;

/// What a statistics line calls the way to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Route {
    /// No filter was asked for yet, or no host was found.
    None,
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

impl Route {
    const NAMES: [&'static str; 8] = [
        "none",
        "append-cxx11",
        "append-copy-on-write",
        "append-libc++",
        "delegate",
        "original",
        "callbacks",
        "buffer",
    ];

    pub(super) fn name_of(route: u8) -> &'static str {
        Self::NAMES.get(usize::from(route)).copied().unwrap_or("none")
    }
}

/// What one policy did. Lives in C memory from the policy's creation to its destruction.
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
    /// Set when the line was written, at exit or on destruction, whichever came first.
    written: AtomicBool,
    /// The next living one. Guarded by `LIVING`.
    next: *mut Counters,
}

/// Where the line goes.
enum Destination {
    /// Nobody asked for it.
    Nowhere,
    Stderr,
    /// A path from `strdup`.
    File(NonNull<c_char>),
}

/// Every policy that counts and lives, for the report at exit.
static LIVING: Lock = Lock {
    mutex: core::cell::UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
    forking: AtomicUsize::new(0),
    first: core::cell::UnsafeCell::new(ptr::null_mut()),
};

struct Lock {
    mutex: core::cell::UnsafeCell<libc::pthread_mutex_t>,
    /// The thread that holds the mutex while it forks, 0 for none. Other handlers of fork run in
    /// it meanwhile, and may end or make policies.
    forking: AtomicUsize,
    first: core::cell::UnsafeCell<*mut Counters>,
}

// SAFETY: `first` is only reached through `with`, which holds the mutex.
unsafe impl Sync for Lock {}

impl Lock {
    fn with<R>(&self, f: impl FnOnce(&mut *mut Counters) -> R) -> R {
        // SAFETY: the mutex was statically initialised and never moves; it is held around the only
        // reference to `first`, by `before_fork` if this thread forks.
        unsafe {
            if self.forking.load(Ordering::Relaxed) == this_thread() {
                return f(&mut *self.first.get());
            }
            libc::pthread_mutex_lock(self.mutex.get());
            let result = f(&mut *self.first.get());
            libc::pthread_mutex_unlock(self.mutex.get());
            result
        }
    }
}

/// Never 0. In a child of fork, what it was in the parent.
fn this_thread() -> usize {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::pthread_self() as usize }
}

/// Counters for a new policy, if the environment asks for them or for a check (and there is
/// memory).
pub(super) fn start(policy: &BloomFilterPolicy, route: Route) -> Option<NonNull<Counters>> {
    static PREPARED: AtomicBool = AtomicBool::new(false);

    let check = Check::from_environment();
    let destination = match environment(c"LEVELDB_BLOOM_STATS") {
        None if check.is_on() => Destination::Nowhere,
        None => return None,
        Some(destination) if destination == c"stderr" => Destination::Stderr,
        // SAFETY: a C string.
        Some(path) => Destination::File(unsafe { memory::copy_of_text(path.as_ptr()) }?),
    };
    let file = match destination {
        Destination::File(path) => path.as_ptr(),
        _ => ptr::null_mut(),
    };
    let counters = memory::allocate_value(Counters {
        policy: *policy,
        route: AtomicU8::new(route as u8),
        filters: Count::new(0),
        keys: Count::new(0),
        filter_bytes: Count::new(0),
        queries: Count::new(0),
        negatives: Count::new(0),
        check,
        destination,
        written: AtomicBool::new(false),
        next: ptr::null_mut(),
    });
    let Some(counters) = counters else {
        // SAFETY: from copy_of_text, or NULL.
        unsafe { memory::free(file.cast()) };
        return None;
    };
    if !PREPARED.swap(true, Ordering::AcqRel) {
        // A child of fork has none of the threads that could give the lock back.
        // SAFETY: functions without arguments. They stay loaded (`-z nodelete`), or are in a module
        // whose handlers glibc forgets when it is closed.
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork_in_child));
            libc::atexit(write_all);
        }
    }
    LIVING.with(|first| {
        // SAFETY: fresh, and in nobody else's hands.
        unsafe { (*counters.as_ptr()).next = *first };
        *first = counters.as_ptr();
    });
    Some(counters)
}

/// Writes the line, unless it was written at exit, and frees the counters.
///
/// # Safety
/// `counters` came from [`start`], and this is the last use of it.
pub(super) unsafe fn finish(counters: NonNull<Counters>) {
    LIVING.with(|first| {
        let mut link: *mut *mut Counters = first;
        // SAFETY: `link` points to `first` or to a living entry's `next`; the lock is held.
        unsafe {
            while !(*link).is_null() {
                if *link == counters.as_ptr() {
                    *link = (**link).next;
                    break;
                }
                link = &raw mut (**link).next;
            }
        }
    });
    // SAFETY: the caller's promise; nobody else can find it any more.
    unsafe {
        let counters = counters.as_ptr();
        (*counters).write();
        if let Destination::File(path) = (*counters).destination {
            memory::free(path.as_ptr().cast());
        }
        memory::free(counters.cast());
    }
}

unsafe extern "C" fn before_fork() {
    // SAFETY: statically initialised, and never moves.
    unsafe { libc::pthread_mutex_lock(LIVING.mutex.get()) };
    LIVING.forking.store(this_thread(), Ordering::Relaxed);
}

unsafe extern "C" fn after_fork() {
    LIVING.forking.store(0, Ordering::Relaxed);
    // SAFETY: this thread, or in a child its copy, locked it in `before_fork`.
    unsafe { libc::pthread_mutex_unlock(LIVING.mutex.get()) };
}

unsafe extern "C" fn after_fork_in_child() {
    for_each_living(Counters::forget);
    // SAFETY: the other half of `before_fork`.
    unsafe { after_fork() };
}

extern "C" fn write_all() {
    for_each_living(Counters::write);
}

fn for_each_living(visit: fn(&Counters)) {
    LIVING.with(|first| {
        let mut counters = *first;
        // SAFETY: an entry of the list lives until `finish` takes it out under the lock.
        while let Some(living) = unsafe { counters.as_ref() } {
            visit(living);
            counters = living.next;
        }
    });
}

impl Counters {
    /// Whether the policy, which is being destroyed, must be kept because its end is checked.
    pub(super) fn is_kept(&self, owner: Owner) -> bool {
        if !self.check.is_on() {
            return false;
        }
        if self.check.destroy(self.policy.bits_per_key()) {
            owner.policy_ended();
            self.write();
        }
        true
    }

    pub(super) fn check_filter(&self) {
        self.check.use_for(self.policy.bits_per_key(), "asked to create a filter when destroyed");
    }

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
        self.written.store(true, Ordering::Relaxed);
    }

    pub(super) fn set_route(&self, route: Route) {
        self.route.store(route as u8, Ordering::Relaxed);
    }

    pub(super) fn has_route(&self, route: Route) -> bool {
        self.route.load(Ordering::Relaxed) == route as u8
    }

    /// In a child of fork: what was counted before is the parent's to write.
    fn forget(&self) {
        let Counters { filters, keys, filter_bytes, queries, negatives, .. } = self;
        for count in [filters, keys, filter_bytes, queries, negatives] {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// Appends the line to its destination in one write, so that lines of several processes do
    /// not mix.
    fn write(&self) {
        if self.written.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut line = Line::new();
        line.text("{\"version\":\"");
        line.text(env!("CARGO_PKG_VERSION"));
        line.text("\",\"pid\":");
        // SAFETY: takes nothing and cannot fail.
        line.number(unsafe { libc::getpid() }.unsigned_abs().into());
        line.text(",\"kernel\":\"");
        line.text(self.policy.kernel().name());
        line.text("\",\"route\":\"");
        line.text(Route::name_of(self.route.load(Ordering::Relaxed)));
        line.text("\"");
        line.field("bits_per_key", self.policy.bits_per_key().unsigned_abs().into());
        line.field("filters", read(&self.filters));
        line.field("keys", read(&self.keys));
        line.field("filter_bytes", read(&self.filter_bytes));
        line.field("queries", read(&self.queries));
        line.field("negatives", read(&self.negatives));
        line.text("}\n");
        match self.destination {
            Destination::Nowhere => {}
            Destination::Stderr => line.write_to(ptr::null()),
            Destination::File(path) => line.write_to(path.as_ptr()),
        }
    }
}

#[allow(clippy::useless_conversion, reason = "Count is narrower on some machines")]
fn read(count: &Count) -> u64 {
    u64::from(count.load(Ordering::Relaxed))
}

/// A line of text on the stack. What does not fit is left out (it always fits).
pub(super) struct Line {
    bytes: [u8; 512],
    len: usize,
}

impl Line {
    pub(super) fn new() -> Line {
        Line { bytes: [0; 512], len: 0 }
    }

    // Seldom called, from many places.
    #[inline(never)]
    pub(super) fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.byte(byte);
        }
    }

    pub(super) fn byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }

    /// The beginning of what somebody else wrote.
    #[inline(never)]
    pub(super) fn foreign(&mut self, text: &CStr) {
        for byte in text.to_bytes().iter().take(40) {
            self.byte(*byte);
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    #[inline(never)]
    pub(super) fn number(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut first = digits.len();
        for (i, digit) in digits.iter_mut().enumerate().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
            first = i;
            if number == 0 {
                break;
            }
        }
        for &digit in digits.iter().skip(first) {
            self.byte(digit);
        }
    }

    #[inline(never)]
    fn field(&mut self, name: &str, number: u64) {
        self.text(",\"");
        self.text(name);
        self.text("\":");
        self.number(number);
    }

    /// To the end of the file of that name, or to stderr for NULL. A line that cannot be written is
    /// lost, or what does not fit of it: no pipe without a reader is waited for, and neither that nor
    /// a file larger than the process may write ends the program. Nor does a thread end here that
    /// pthread_cancel was called for: its policy would be left half destroyed.
    pub(super) fn write_to(&self, path: *const c_char) {
        unsafe extern "C" {
            // Not in the crate libc.
            fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
        }
        /// In glibc and musl.
        const PTHREAD_CANCEL_DISABLE: c_int = 1;

        let mut cancel_state = 0;
        // SAFETY: a state of the two that there are, and where to put the one before.
        unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut cancel_state) };
        self.append_to(path);
        // SAFETY: the state that there was; NULL is fine.
        unsafe { pthread_setcancelstate(cancel_state, ptr::null_mut()) };
    }

    fn append_to(&self, path: *const c_char) {
        let append = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT;
        let apart = libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
        // SAFETY: `path` is NULL or a C string; `bytes` holds more than `len`; a failed write is
        // the user's missing line, and nothing else.
        unsafe {
            let file: c_int = if path.is_null() {
                libc::STDERR_FILENO
            } else {
                libc::open(path, append | apart, 0o644)
            };
            if file < 0 {
                return;
            }
            without_signals(|| {
                libc::write(file, self.bytes.as_ptr().cast::<c_void>(), self.len.min(512)) >= 0
            });
            if !path.is_null() {
                libc::close(file);
            }
        }
    }
}

/// Runs `write`, which says whether it could. The signal that it may raise in this thread is taken
/// back; one that was already there is not.
fn without_signals(write: impl FnOnce() -> bool) {
    // SAFETY: the sets live here, and are made before they are read; sigtimedwait waits for nothing.
    unsafe {
        let mut ours = core::mem::zeroed();
        let (mut before, mut pending) = (ours, ours);
        libc::sigemptyset(&mut ours);
        // Nobody reads the pipe; the file is too large.
        let raised = [libc::SIGPIPE, libc::SIGXFSZ];
        for signal in raised {
            libc::sigaddset(&mut ours, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &ours, &mut before);
        libc::sigpending(&mut pending);
        for signal in raised {
            if libc::sigismember(&pending, signal) != 0 {
                libc::sigdelset(&mut ours, signal);
            }
        }
        if !write() {
            let at_once = core::mem::zeroed();
            libc::sigtimedwait(&ours, ptr::null_mut(), &at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut());
    }
}

/// An environment variable's value, if it is set to something and the process may trust it (a
/// setuid program's environment belongs to whoever called it).
pub(super) fn environment(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: `name` is a C string; the value stays where it is unless the program changes its
    // environment in another thread, which C's getenv cannot survive either.
    let value = unsafe {
        if !trusted_environment() {
            return None;
        }
        let value = libc::getenv(name.as_ptr());
        if value.is_null() {
            return None;
        }
        CStr::from_ptr(value)
    };
    (!value.is_empty()).then_some(value)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn trusted_environment() -> bool {
    // SAFETY: takes any number.
    unsafe { libc::getauxval(libc::AT_SECURE) == 0 }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn trusted_environment() -> bool {
    // SAFETY: take nothing and cannot fail.
    unsafe { libc::getuid() == libc::geteuid() && libc::getgid() == libc::getegid() }
}
