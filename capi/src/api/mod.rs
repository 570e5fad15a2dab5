//! Every function of the library's own that C can call, and the reference that a C programmer reads:
//! include/leveldb_bloom.h is generated from here. LevelDB's own names are in the two libraries.

pub mod builder;
pub mod callbacks;
pub mod create;
pub mod inspect;
pub mod policy;
pub mod query;
pub mod sizing;
