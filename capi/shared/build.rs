//! Linker options for a shared library that is loaded into processes it knows nothing about.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The ABI's name: changes only when the ABI does.
    let soname = concat!("libleveldb_bloom.so.", env!("CARGO_PKG_VERSION_MAJOR"));
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{soname}");
    // A host may close us while a policy of ours still lives.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Where other crates are built with it the crate libc leaves this to std, which is not here.
    for option in ["-Wl,--as-needed", "-ldl", "-lpthread", "-lc"] {
        println!("cargo:rustc-cdylib-link-arg={option}");
    }
    link_soname(soname);
}

/// Puts the SONAME beside the library in target/PROFILE, where cargo does not, so that programs
/// linked with `-L target/release` run. Installed copies have their own.
fn link_soname(soname: &str) {
    #[cfg(unix)]
    if let Ok(out_dir) = std::env::var("OUT_DIR") {
        // target/PROFILE/build/PACKAGE/out, or PACKAGE/HASH/out in newer versions of cargo
        let mut folders = std::path::Path::new(&out_dir).ancestors().skip(1);
        let build_dir = folders.find(|folder| folder.ends_with("build"));
        if let Some(profile_dir) = build_dir.and_then(std::path::Path::parent) {
            // There from the last build, or not to be had: both are fine.
            let _ = std::os::unix::fs::symlink("libleveldb_bloom.so", profile_dir.join(soname));
        }
    }
}
