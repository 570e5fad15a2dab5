//! What the fuzz targets share: how bytes become keys, and the part of the command that is fuzzed.
//! What filters and answers must be is in `compare`.

#[path = "../../inspector/src/log.rs"]
pub mod log;
#[path = "../../inspector/src/manifest.rs"]
pub mod manifest;
#[path = "../../inspector/src/printable.rs"]
pub mod printable;

// The name that the command has for it.
extern crate table as leveldb_bloom_table;

mod input;

pub use input::Input;
