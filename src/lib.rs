//! LevelDB's built-in bloom filter, byte for byte.
//!
//! The filters this crate makes are the ones `leveldb::NewBloomFilterPolicy` makes, and it reads
//! the ones LevelDB wrote. Bytes flow in one direction, one file boundary an arrow:
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
//! A filter answers for the exact key bytes it was given. With a custom LevelDB comparator that
//! calls keys of different bytes equal (one that ignores case, say), a plain bloom filter would
//! lose keys: do not use this policy there.
//!
//! The crate needs no standard library, only `alloc`. The AVX-512 kernel is built by Rust 1.89 and newer.
//! The first policy of a process takes some 10 KB of the stack, to make a filter up to 12 KB, a query next
//! to nothing; unoptimised code takes three times as much. (By what was left of a stack's pattern, with
//! AVX2 and AVX-512 on x86-64, 2026-11-26.)

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod builder;
mod filter;
mod hash;
mod kernel;
mod keys;
#[cfg(leveldb_bloom_planted)]
mod planted;
mod policy;
mod probe;
mod sizing;

// Public for capi/, which exports it to C; no part of the Rust API.
#[cfg(leveldb_bloom_c_interface)]
#[doc(hidden)]
pub mod ffi;

pub use builder::{FilterBuilder, FilterMismatch, union};
pub use filter::{FilterTooLarge, MAX_PROBES, WrongFilterLength, filter_len, probes_for};
pub use hash::{BLOOM_SEED, bloom_hash, hash};
pub use kernel::Kernel;
pub use keys::{FlatKeys, InvalidOffsets};
pub use policy::{BloomFilterPolicy, POLICY_NAME, hash_may_match, key_may_match};
pub use probe::Positions;
pub use sizing::{
    FilterInfo, MAX_USEFUL_BITS_PER_KEY, UnwiseBitsPerKey, bits_per_key_for, false_positive_rate,
    validate,
};
