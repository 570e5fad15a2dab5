//! Tells the compiler which parts to include, by the names
//!
//! - `leveldb_bloom_avx2`, `leveldb_bloom_avx512` and `leveldb_bloom_neon`, for the kernels other
//!   than the portable one;
//! - `leveldb_bloom_asm`, where the kernels may use assembly to keep the compiler from slower code;
//! - `leveldb_bloom_c_interface`, where that feature is on and the target is Linux.

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
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let (arch, features) = (target("ARCH"), target("FEATURE"));
    // Code without the registers that every program has, an operating system's own for example,
    // must not use the wider ones either, even if the processor says that it has them.
    let registers = |name| features.split(',').any(|feature| feature == name);
    // Miri knows neither a processor's own instructions nor assembly.
    let miri = env::var_os("CARGO_CFG_MIRI").is_some();
    if !miri && ["x86_64", "x86", "aarch64"].contains(&arch.as_str()) {
        println!("cargo:rustc-cfg=leveldb_bloom_asm");
    }
    // In an enclave the instruction that asks a processor what it is is not allowed.
    let asks = !miri && target("ENV") != "sgx";
    if asks && arch == "x86_64" && target("POINTER_WIDTH") == "64" && registers("sse2") {
        println!("cargo:rustc-cfg=leveldb_bloom_avx2");
        // From then on the intrinsics are stable functions; the crate itself builds from 1.85.
        if minor.is_some_and(|minor| minor >= 89) {
            println!("cargo:rustc-cfg=leveldb_bloom_avx512");
        }
    }
    if !miri && arch == "aarch64" && target("ENDIAN") == "little" && registers("neon") {
        println!("cargo:rustc-cfg=leveldb_bloom_neon");
    }
    if target("OS") == "linux" && env::var_os("CARGO_FEATURE_C_INTERFACE").is_some() {
        println!("cargo:rustc-cfg=leveldb_bloom_c_interface");
    }
}
