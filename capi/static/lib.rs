//! The static C library: `libleveldb_bloom.a`.

#![no_std]
#![allow(clippy::missing_safety_doc, reason = "the texts are for the C header")]

#[path = "../runtime.rs"]
mod runtime;

#[cfg(target_os = "linux")]
mod names;
#[cfg(not(target_os = "linux"))]
use leveldb_bloom_capi as _;
