//! The edge to C and C++: what the C libraries export is made of the items here.
//!
//! The *host* is the LevelDB that uses a policy of ours: nothing is known of it when we are built.
//! A *route* is how CreateFilter gets a filter into its `std::string`.
//!
//! ```text
//! capi/exports.rs      the exported names, a few lines each
//!   functions          what C asks without a policy
//!   policy             a policy for C, and its filters
//!     transform          keys that go through a callback of the user's first
//!     flat               the same for keys concatenated in one buffer
//!     builder            and for keys as they come
//!   inside             what a filter's bytes say; sizing, and the version
//!   vtable             the callbacks that any leveldb_filterpolicy_create takes (C's table of four
//!                      functions; the one of C++'s virtual functions is in object)
//!   leveldb            LevelDB's own names: which policy they give
//!     shared           policies that never end, of both kinds
//!     object           a policy with the layout of leveldb::FilterPolicy
//!       type_info      what typeid and dynamic_cast ask of it
//!       create_filter  its CreateFilter
//!       route          how that reaches the host's std::string
//!         modules      the loaded modules, and their symbols
//!         elf          what the tables of those modules say
//!         address      in which of them an address lies
//! below all of them:
//!   choice             which kernel: LEVELDB_BLOOM_KERNEL
//!   stats              LEVELDB_BLOOM_STATS
//!   check              LEVELDB_BLOOM_CHECK
//!   environment, line  what the user asked for, and a line that answers
//!     stderr             where it goes, if that is still there
//!   lifetime           who ends a policy, and how many live
//!   status             what functions return
//!   abi                what LevelDB passes, and what its policies look like
//!   memory             the one place for foreign pointers, malloc and free
//!   closure            closures for code that is compiled once
//! ```
//!
//! Nothing here panics. Memory comes from C's malloc; so do a kernel's working memory and a
//! builder's list of hashes, by the global allocator that capi/exports.rs sets.
//!
//! An exception of the host passes through us, from two kinds of its functions:
//!
//! - What appends to its string is called from one frame of assembly (`create_filter`), which has
//!   unwind information and holds nothing that needs a destructor.
//! - What makes a policy is called through frames of Rust: for a host whose string we do not know
//!   (`object`), and wherever a name of LevelDB's leads on to it (`leveldb`). It throws only without
//!   memory. These frames are built with unwind tables, and what they lose is at most a handle that
//!   keeps the host loaded.

pub mod abi;
mod address;
pub mod builder;
mod check;
mod choice;
mod closure;
mod create_filter;
mod elf;
mod environment;
pub mod flat;
pub mod functions;
pub mod inside;
pub mod leveldb;
pub mod lifetime;
mod line;
mod memory;
mod modules;
mod object;
pub mod policy;
mod route;
pub mod shared;
mod stats;
pub mod status;
mod stderr;
mod transform;
mod type_info;
pub mod vtable;
