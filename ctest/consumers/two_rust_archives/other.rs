//! Another Rust library with a C interface, as any project may have one: with Rust's standard
//! library, and with panics that it catches itself.

use std::collections::HashMap;
use std::panic::catch_unwind;

/// The sum of 1 to `count`; 0 for a count that makes it panic.
#[unsafe(no_mangle)]
pub extern "C" fn other_sum(count: u32) -> u32 {
    catch_unwind(|| {
        let numbers: HashMap<u32, u32> = (0..count).map(|n| (n, n + 1)).collect();
        assert!(numbers.len() < 1000, "too many");
        let text = format!("{}", numbers.values().sum::<u32>());
        text.parse().unwrap()
    })
    .unwrap_or(0)
}
