//! Linker options for a shared library that is loaded into processes it knows nothing about.

/// The ABI's name: changes only when the ABI does.
const SONAME: &str = concat!("libleveldb_bloom.so.", env!("CARGO_PKG_VERSION_MAJOR"));

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let soname = format!("-Wl,-soname,{SONAME}");
    let install_name = concat!(
        "-Wl,-install_name,@rpath/libleveldb_bloom.",
        env!("CARGO_PKG_VERSION_MAJOR"),
        ".dylib"
    );
    // A host may close us while a policy of ours still lives.
    let nodelete = "-Wl,-z,nodelete";
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let options: &[&str] = match system.as_str() {
        // Where other crates are built with it the crate libc leaves this to std, which is not here.
        "linux" => &[&soname, nodelete, "-Wl,--as-needed", "-ldl", "-lpthread", "-lc"],
        // The crate libc asks for libraries of which nothing is used here.
        "macos" => &[install_name, "-Wl,-dead_strip_dylibs"],
        "windows" => &[],
        // Applications carry their own libraries, which have no versions.
        "android" => &["-Wl,-soname,libleveldb_bloom.so", nodelete],
        _ => &[&soname, nodelete],
    };
    for option in options {
        println!("cargo:rustc-cdylib-link-arg={option}");
    }
    if options.contains(&&*soname) {
        link_soname();
    }
}

/// Puts the SONAME beside the library in target/PROFILE, where cargo does not, so that programs
/// linked with `-L target/release` run. Installed copies have their own.
fn link_soname() {
    #[cfg(unix)]
    if let Ok(out_dir) = std::env::var("OUT_DIR") {
        // target/PROFILE/build/PACKAGE/out, or PACKAGE/HASH/out in newer versions of cargo
        let mut folders = std::path::Path::new(&out_dir).ancestors().skip(1);
        let build_dir = folders.find(|folder| folder.ends_with("build"));
        if let Some(profile_dir) = build_dir.and_then(std::path::Path::parent) {
            // There from the last build, or not to be had: both are fine.
            let _ = std::os::unix::fs::symlink("libleveldb_bloom.so", profile_dir.join(SONAME));
        }
    }
}
