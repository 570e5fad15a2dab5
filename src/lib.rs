//! LevelDB's built-in bloom filter, byte for byte.
//!
//! The crate makes the filters that `leveldb::NewBloomFilterPolicy` makes, and reads those that
//! LevelDB wrote. Data moves in one direction, and each arrow leads from one file to another:
//!
//! ```text
//! key bytes -> hash -> probe -> filter (bits)    safe, pure: the specification
//!                 \-> kernel/*                   the same answers, for many keys at once
//! C caller  -> ffi/policy, ffi/functions -> policy   what the C library exports
//! LevelDB   -> ffi/vtable, ffi/object -> policy      the callback table and the C++ object
//! ```
//!
//! ```
//! use leveldb_bloom::BloomFilterPolicy;
//!
//! let policy = BloomFilterPolicy::new(10);
//! let filter = policy.create_filter(&["hello", "world"])?;
//! assert_eq!(filter, [0x11, 0x40, 0x00, 0x41, 0x44, 0x10, 0x40, 0x10, 0x06]);
//! assert!(leveldb_bloom::key_may_match(b"hello", &filter));
//! assert!(!leveldb_bloom::key_may_match(b"absent", &filter));
//! # Ok::<(), leveldb_bloom::FilterTooLarge>(())
//! ```
//!
//! A filter answers for the exact bytes of the keys it was made of. With a LevelDB comparator that
//! calls keys of different bytes equal (one that ignores case, say) it would lose keys: do not use
//! this policy there.
//!
//! The crate needs `alloc`, pointers of 32 bits or more, and atomic loads and stores, but no
//! standard library. The AVX-512 kernel needs Rust 1.89 or newer to build.
//!
//! Stack: the first policy of a process, or its first query without one, takes some 11 KB, making a
//! filter up to 10 KB, any other query next to nothing, and one for many keys up to 6 KB;
//! unoptimised code takes three times as much. (Measured by filling a stack with a pattern and
//! looking how much of it was left; AVX2 and AVX-512 on x86-64, 2026-11-26 to 28.)

#![no_std]
// But in `ffi` and `kernel`, and where faults are planted.
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod builder;
mod filter;
mod hash;
#[allow(unsafe_code)]
mod kernel;
mod keys;
#[cfg(leveldb_bloom_planted)]
#[allow(unsafe_code)]
mod planted;
mod policy;
mod probe;
mod sizing;

// Public for capi/, which exports it to C; no part of the Rust API.
#[cfg(leveldb_bloom_c_interface)]
#[doc(hidden)]
#[allow(unsafe_code)]
pub mod ffi;

pub use builder::{FilterBuilder, FilterMismatch, union};
pub use filter::{FilterTooLarge, MAX_PROBES, WrongFilterLength, filter_len, probes_for};
pub use hash::{BLOOM_SEED, bloom_hash, hash};
pub use kernel::Kernel;
pub use keys::{FlatKeys, FlatKeysIter, InvalidOffsets};
pub use policy::{BloomFilterPolicy, POLICY_NAME, hash_may_match, key_may_match};
pub use probe::Positions;
pub use sizing::{
    FilterInfo, MAX_USEFUL_BITS_PER_KEY, UnwiseBitsPerKey, bits_per_key_for, false_positive_rate,
    validate,
};
