//! Compiles the calls of LevelDB's C++ interface.

fn main() {
    println!("cargo:rerun-if-changed=policy.cc");
    cc::Build::new().cpp(true).std("c++17").opt_level(2).file("policy.cc").compile("policy");
    println!("cargo:rustc-link-lib=dl");
}
