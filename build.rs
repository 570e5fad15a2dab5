//! Says which kernels the compiler can build.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let features = target("FEATURE");
    // Not in code without the usual registers (a kernel's own, say), nor in an enclave, where cpuid
    // is not allowed, nor in Miri, which runs no instructions.
    let vectors = target("ARCH") == "x86_64"
        && target("POINTER_WIDTH") == "64"
        && features.split(',').any(|feature| feature == "sse2")
        && target("ENV") != "sgx"
        && env::var_os("CARGO_CFG_MIRI").is_none();
    if vectors {
        println!("cargo:rustc-cfg=leveldb_bloom_avx2");
        // The AVX-512 intrinsics are stable since then.
        if rust_minor().is_some_and(|minor| minor >= 89) {
            println!("cargo:rustc-cfg=leveldb_bloom_avx512");
        }
    }
}

fn rust_minor() -> Option<u32> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().ok()?;
    String::from_utf8(version.stdout).ok()?.split('.').nth(1)?.parse().ok()
}
