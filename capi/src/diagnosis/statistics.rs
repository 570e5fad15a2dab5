//! `LEVELDB_BLOOM_STATS`: what each policy did, as lines of JSON.

use alloc::boxed::Box;
use core::fmt::Write;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};

use leveldb_bloom::{Encoding, FilterPolicy};

use super::encoding;
use super::environment::variable;
use super::message::Line;
use crate::memory::{self, Text};

#[cfg(target_has_atomic = "64")]
type Count = core::sync::atomic::AtomicU64;
/// Counts modulo 2^32.
#[cfg(not(target_has_atomic = "64"))]
type Count = core::sync::atomic::AtomicU32;

/// How a filter reached its user.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Route {
    /// No filter was made yet.
    None,
    /// By the host's own `std::string::append`, of one of three kinds.
    AppendCxx11,
    AppendCopyOnWrite,
    AppendLibcxx,
    /// By an object of the host's `leveldb_filterpolicy_create`.
    Delegate,
    /// The host's original policy made it.
    Original,
    /// In memory from `malloc`.
    Callbacks,
    /// In memory of the caller.
    Buffer,
}

const ROUTES: [&str; 8] = [
    "none",
    "append-cxx11",
    "append-copy-on-write",
    "append-libc++",
    "delegate",
    "original",
    "callbacks",
    "buffer",
];

/// What is counted.
const COUNTS: [&str; 5] = ["filters", "keys", "filter_bytes", "queries", "negatives"];

/// What one policy did.
pub(crate) struct Counters {
    policy: FilterPolicy,
    /// Where lines go; `None` is stderr.
    path: Option<Text>,
    /// A [`Route`].
    route: AtomicU8,
    used: AtomicBool,
    /// Whether it is in [`LIVING`], from which one takes it out who writes the last line.
    listed: AtomicBool,
    counts: [Count; COUNTS.len()],
}

/// The living policies, for the lines at exit. More than these have none.
static LIVING: [AtomicPtr<Counters>; 256] = [const { AtomicPtr::new(ptr::null_mut()) }; 256];

/// Whether what was in `place` is still there, and taken out now.
fn replace(place: &AtomicPtr<Counters>, old: *mut Counters, new: *mut Counters) -> bool {
    place.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

impl Counters {
    /// Counters for a new policy, if the environment asks for them (and there is memory).
    pub(crate) fn start(policy: &FilterPolicy) -> Option<&'static Counters> {
        let destination = variable(c"LEVELDB_BLOOM_STATS")?;
        let path = if destination == c"stderr" { None } else { Some(Text::copy_of(destination)?) };
        let counters = Box::leak(memory::boxed(|| Counters {
            policy: *policy,
            path,
            route: AtomicU8::new(Route::None as u8),
            used: AtomicBool::new(false),
            listed: AtomicBool::new(false),
            counts: [const { Count::new(0) }; COUNTS.len()],
        })?);
        static AT_EXIT: AtomicBool = AtomicBool::new(false);
        if !AT_EXIT.swap(true, Ordering::Relaxed) {
            // SAFETY: a function without arguments.
            unsafe { libc::atexit(exit) };
        }
        counters.write("created");
        let listed = LIVING.iter().any(|place| replace(place, ptr::null_mut(), counters));
        counters.listed.store(listed, Ordering::Relaxed);
        Some(counters)
    }

    /// Writes the last line.
    ///
    /// # Safety
    /// `counters` came from [`start`](Self::start), and nobody uses them any more.
    pub(crate) unsafe fn finish(counters: &'static Counters) {
        let this = ptr::from_ref(counters).cast_mut();
        // Where `exit` has taken them out, it still reads them.
        if !counters.listed.load(Ordering::Relaxed)
            || LIVING.iter().any(|place| replace(place, this, ptr::null_mut()))
        {
            counters.write("destroyed");
            // SAFETY: `start` boxed them, and they are in no list.
            drop(unsafe { Box::from_raw(this) });
        }
    }

    pub(crate) fn set_route(&self, route: Route) {
        self.route.store(route as u8, Ordering::Relaxed);
    }

    pub(crate) fn has_route(&self, route: Route) -> bool {
        self.route.load(Ordering::Relaxed) == route as u8
    }

    pub(crate) fn filter(&self, keys: usize, bytes: usize, route: Route) {
        let none = Route::None as u8;
        let _ =
            self.route.compare_exchange(none, route as u8, Ordering::Relaxed, Ordering::Relaxed);
        self.count([1, keys, bytes, 0, 0]);
    }

    pub(crate) fn query(&self, may_match: bool) {
        self.count([0, 0, 0, 1, (!may_match).into()]);
    }

    fn count(&self, more: [usize; COUNTS.len()]) {
        for (count, more) in self.counts.iter().zip(more) {
            count.fetch_add(more as _, Ordering::Relaxed);
        }
        if !self.used.swap(true, Ordering::Relaxed) {
            self.write("used");
        }
    }

    fn write(&self, event: &str) {
        // SAFETY: takes nothing.
        let pid = unsafe { libc::getpid() };
        let (version, kernel) = (env!("CARGO_PKG_VERSION"), self.policy.kernel().name());
        let route = usize::from(self.route.load(Ordering::Relaxed));
        let route = ROUTES.get(route).unwrap_or(&"");
        let bits_per_key = self.policy.bits_per_key();
        let is_ours = !self.has_route(Route::Original);
        let encoding = if is_ours { self.policy.encoding() } else { Encoding::Bloom };
        let encoding = encoding::name(encoding);
        let mut line = Line::new();
        let _ = write!(
            line,
            "{{\"event\":\"{event}\",\"version\":\"{version}\",\"pid\":{pid},\"kernel\":\"{kernel}\",\
             \"route\":\"{route}\",\"bits_per_key\":{bits_per_key},\"encoding\":\"{encoding}\"",
        );
        for (name, count) in COUNTS.iter().zip(&self.counts) {
            let _ = write!(line, ",\"{name}\":{}", count.load(Ordering::Relaxed));
        }
        line.push(b"}\n");
        line.write_to(self.path.as_ref().map(Text::as_c_str));
    }
}

/// Writes a line for every policy that lives. They stay in memory: a global object may use one yet.
extern "C" fn exit() {
    for place in &LIVING {
        // SAFETY: what is in the list was not freed, and is not any more once it was taken out.
        if let Some(counters) = unsafe { place.swap(ptr::null_mut(), Ordering::AcqRel).as_ref() } {
            counters.write("exit");
        }
    }
}
