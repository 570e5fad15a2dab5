//! What is going on, on stderr.

use std::io::{IsTerminal, stderr};

pub struct Progress {
    done: usize,
    of: usize,
    terminal: bool,
}

impl Progress {
    pub fn new(of: usize) -> Self {
        Progress { done: 0, of, terminal: stderr().is_terminal() }
    }

    /// One line in a terminal; elsewhere a line each.
    pub fn next(&mut self, what: &str) {
        self.done += 1;
        let (before, after) = if self.terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        eprint!("{before}[{}/{}] {what}{after}", self.done, self.of);
    }

    pub fn clear(&self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }
}
