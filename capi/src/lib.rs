//! The C library. `capi/shared` and `capi/static` make a shared and a static library of it.
//!
//! ```text
//! api/        the exported functions: names, documentation, no logic of their own
//!   door        foreign pointers become slices here, and nowhere else
//!   policy/     what C knows as leveldb_bloom_policy; every query and every filter passes it
//!   diagnosis/  statistics, the choice of a kernel, messages
//! host/       Linux: the object that LevelDB's C++ code uses, and the search for its std::string
//! ```
//!
//! The *host* is the LevelDB that uses a policy of ours: nothing is known of it when we are built.
//! Nothing here panics. Except for `host`, all of it builds on any system with a C library.

#![no_std]
#![allow(clippy::missing_safety_doc, reason = "the texts are for the C header")]
#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "some is for `host` alone"))]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod api;
mod diagnosis;
mod door;
#[cfg(target_os = "linux")]
pub mod host;
mod memory;
mod policy;
mod status;
