//! LevelDB's built-in bloom filter, byte for byte.
//!
//! The crate makes the filters that `leveldb::NewBloomFilterPolicy` makes, and reads those that
//! LevelDB wrote. Read it in this order; each arrow leads from one file to the next:
//!
//! ```text
//! key bytes -> hash -> probe -> filter (bits)   the specification: plain, safe, short
//!                  \-> kernel/*                 the same answers, faster
//! key bytes -> ribbon -> filter (slots)         the second encoding
//! caller -> policy, builder -> kernel           what a program holds
//! keys, sizing                                  many keys in one buffer; how many bits to spend
//! ```
//!
//! ```
//! use leveldb_bloom::FilterPolicy;
//!
//! let policy = FilterPolicy::new(10);
//! let filter = policy.create_filter(&["hello", "world"])?;
//! assert_eq!(filter, [0x11, 0x40, 0x00, 0x41, 0x44, 0x10, 0x40, 0x10, 0x06]);
//! assert!(leveldb_bloom::key_may_match(b"hello", &filter));
//! assert!(!leveldb_bloom::key_may_match(b"absent", &filter));
//! # Ok::<(), leveldb_bloom::FilterTooLarge>(())
//! ```
//!
//! A filter knows the exact bytes of its keys. Do not use one with a LevelDB comparator that treats
//! keys of different bytes as equal (one that ignores case, say): LevelDB would not find such keys.
//!
//! The crate is `no_std`. It needs `alloc`, pointers of at least 32 bits, and atomic loads and
//! stores. The AVX-512 kernel is built by Rust 1.89 and later.

#![no_std]
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
mod policy;
mod probe;
mod ribbon;
mod sizing;

pub use builder::{FilterBuilder, FilterMismatch, OutOfMemory, union};
pub use filter::{FilterTooLarge, MAX_PROBES, WrongFilterLength, filter_len, probes_for};
pub use hash::{BLOOM_SEED, bloom_hash, hash};
pub use kernel::{Kernel, Key};
pub use keys::{FlatKeys, InvalidOffsets};
pub use policy::{Encoding, FilterPolicy, POLICY_NAME, hash_may_match, key_may_match};
pub use probe::Positions;
pub use ribbon::{MAX_RIBBON_BITS_PER_KEY, Ribbon, RibbonProbe};
pub use sizing::{
    FilterInfo, MAX_USEFUL_BITS_PER_KEY, UnwiseBitsPerKey, bits_per_key_for, false_positive_rate,
    validate,
};
