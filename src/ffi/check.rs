//! `LEVELDB_BLOOM_CHECK`: a policy that is destroyed stays in memory, so that its later use, or its
//! second destruction, is reported instead of being undefined behaviour.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};

use super::environment::environment;
use super::line::Line;

/// Tells the user, once in a process, that the variable has a value we do not know.
#[cold]
fn refuse(value: &CStr) {
    static REFUSED: AtomicBool = AtomicBool::new(false);
    if REFUSED.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut line = Line::new();
    line.text("leveldb_bloom: LEVELDB_BLOOM_CHECK=");
    line.foreign(value);
    line.text(" is neither report nor abort; nothing is checked\n");
    line.write_to(None);
}

/// What a policy knows of its own end.
pub(super) struct Check {
    mode: Mode,
    destroyed: AtomicBool,
    reported: AtomicBool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Off,
    Report,
    Abort,
}

impl Check {
    /// The mode that the environment asks for; `abort` ends the process after a report. Any other
    /// value is refused, and nothing is checked.
    pub(super) fn from_environment() -> Check {
        let mode = match environment(c"LEVELDB_BLOOM_CHECK") {
            None => Mode::Off,
            Some(value) if value == c"report" => Mode::Report,
            Some(value) if value == c"abort" => Mode::Abort,
            Some(value) => {
                refuse(value);
                Mode::Off
            }
        };
        Check { mode, destroyed: AtomicBool::new(false), reported: AtomicBool::new(false) }
    }

    pub(super) fn is_on(&self) -> bool {
        self.mode != Mode::Off
    }

    /// Notes that the policy is being destroyed, and reports if it was before. Returns whether this
    /// is the first time.
    pub(super) fn destroy(&self, bits_per_key: i32) -> bool {
        let again = self.destroyed.swap(true, Ordering::AcqRel);
        if again {
            self.report(bits_per_key, "destroyed twice", "whoever created it destroys it once");
        }
        !again
    }

    /// Reports, once for each policy, that it is asked for something after its destruction.
    #[inline(never)]
    pub(super) fn use_for(&self, bits_per_key: i32, what: &str) {
        if self.destroyed.load(Ordering::Acquire) && !self.reported.swap(true, Ordering::AcqRel) {
            let advice = "destroy it after the last database that uses it is closed";
            self.report(bits_per_key, what, advice);
        }
    }

    #[cold]
    fn report(&self, bits_per_key: i32, what: &str, advice: &str) {
        let mut line = Line::new();
        let bits_per_key = bits_per_key.unsigned_abs();
        line.text_and_number("leveldb_bloom: a filter policy of ", bits_per_key.into());
        line.text(" bits per key was ");
        line.text(what);
        line.text("; ");
        line.text(advice);
        line.text("\n");
        line.write_to(None);
        if self.mode == Mode::Abort {
            // SAFETY: abort takes nothing. The user asked for it by the variable.
            unsafe { libc::abort() }
        }
    }
}
