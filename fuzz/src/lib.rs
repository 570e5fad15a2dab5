//! What the fuzz targets share: LevelDB itself, how bytes become keys, and what of the command is
//! fuzzed.

#[path = "../../scripts/verify/src/leveldb.rs"]
pub mod leveldb;
#[path = "../../inspector/src/manifest.rs"]
pub mod manifest;
#[path = "../../inspector/src/printable.rs"]
pub mod printable;

// As the command names it.
extern crate table as leveldb_bloom_table;

mod input;
mod original;

pub use input::Input;
pub use original::Original;

use std::sync::OnceLock;

use bloom::{BloomFilterPolicy, Kernel};

/// One policy a kernel, the portable one last.
pub fn policies(bits_per_key: i32) -> impl Iterator<Item = BloomFilterPolicy> {
    Kernel::available().map(move |kernel| BloomFilterPolicy::with_kernel(bits_per_key, kernel))
}

/// The policy with the kernel that the others are compared with.
pub fn portable(bits_per_key: i32) -> BloomFilterPolicy {
    let kernel = Kernel::by_name("portable").expect("the portable kernel, which is everywhere");
    BloomFilterPolicy::with_kernel(bits_per_key, kernel)
}

/// Whether what a target is about to compare must be wrong: for one key in some hundreds, if
/// `LEVELDB_BLOOM_PLANTED` is set. A target that then finds nothing would find nothing ever.
pub fn planted(key: &[u8]) -> bool {
    static PLANTED: OnceLock<bool> = OnceLock::new();
    *PLANTED.get_or_init(|| std::env::var_os("LEVELDB_BLOOM_PLANTED").is_some())
        && key.len() > 4
        && key[0] ^ key[3] == 0x5a
}
