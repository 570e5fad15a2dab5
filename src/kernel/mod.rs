//! Implementations of the same filter, one a file. A policy holds the one it was made with; there
//! is no global and no choice per call.

mod key;
mod portable;

pub(crate) use key::Key;

/// One implementation of the filter's two operations. All of them give the same bits and answers.
#[derive(Debug)]
pub struct Kernel {
    name: &'static str,
    /// Sets the bits of every key in `array`, a filter without its last byte, with `k` probes each.
    pub(crate) insert: fn(keys: &[Key<'_>], k: u32, array: &mut [u8]),
    /// Whether `filter`, any bytes at all, may hold `key`.
    pub(crate) may_match: fn(key: &[u8], filter: &[u8]) -> bool,
}

impl Kernel {
    /// The kernel's name: `portable`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The fastest kernel this machine can run.
    #[must_use]
    pub fn best() -> &'static Kernel {
        &portable::KERNEL
    }

    /// Every kernel this machine can run, best first.
    pub fn available() -> impl Iterator<Item = &'static Kernel> {
        [&portable::KERNEL].into_iter()
    }
}
