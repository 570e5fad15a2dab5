//! The shared C library: `libleveldb_bloom.so`, with LevelDB's own names. In a dynamic link the first
//! definition that the process loads is the one everybody uses.

#![no_std]
#![allow(clippy::missing_safety_doc, reason = "the texts are for the C header")]

#[path = "../runtime.rs"]
mod runtime;

#[cfg(target_os = "linux")]
pub mod names;
#[cfg(not(target_os = "linux"))]
use leveldb_bloom_capi as _;
