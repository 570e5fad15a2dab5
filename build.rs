//! Sets `leveldb_bloom_avx512` where the compiler has the AVX-512 intrinsics
//! as stable functions (Rust 1.89; the crate itself builds from 1.85), and
//! `leveldb_bloom_c_interface` where that feature is asked for, on Linux.

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
    let linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if linux && env::var_os("CARGO_FEATURE_C_INTERFACE").is_some() {
        println!("cargo:rustc-cfg=leveldb_bloom_c_interface");
    }
}
