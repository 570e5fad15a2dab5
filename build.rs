//! Sets `leveldb_bloom_avx512` where the compiler has the AVX-512 intrinsics
//! as stable functions (Rust 1.89; the crate itself builds from 1.85), and
//! `leveldb_bloom_elf` for systems with ELF, which the C interface is for.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let minor = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|out| String::from_utf8(out.stdout).ok())
        .and_then(|text| text.split('.').nth(1)?.parse::<u32>().ok());
    if minor.is_some_and(|minor| minor >= 89) {
        println!("cargo:rustc-cfg=leveldb_bloom_avx512");
    }
    let unix = env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|families| families.contains("unix"));
    let apple = env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple");
    if unix && !apple {
        println!("cargo:rustc-cfg=leveldb_bloom_elf");
    }
}
