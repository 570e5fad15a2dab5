//! Who ends a policy, and how many wait for it.

use core::sync::atomic::{AtomicUsize, Ordering};

/// Who decides when a policy ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Whoever asked for it, by destroying it.
    Caller,
    /// Nobody: it is shared and lives as long as the process.
    Process,
}

/// How many policies are alive that a caller ends.
static LIVING: AtomicUsize = AtomicUsize::new(0);

/// How many policies were created and not destroyed, shared ones apart.
#[must_use]
pub fn live_policies() -> usize {
    LIVING.load(Ordering::Relaxed)
}

impl Owner {
    pub(super) fn policy_made(self) {
        if self == Owner::Caller {
            LIVING.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn policy_ended(self) {
        if self == Owner::Caller {
            LIVING.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
