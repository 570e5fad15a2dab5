//! The exported functions as a module of a program: without the panic handler and the allocator
//! that only a library without std has.

use std::path::Path;
use std::{env, fs};

fn main() {
    let exports = "../capi/exports.rs";
    println!("cargo:rerun-if-changed={exports}");
    println!("cargo:rerun-if-changed=build.rs");
    let source = fs::read_to_string(exports).expect("capi/exports.rs");
    let for_library = "#[cfg(not(test))]";
    assert!(source.contains(for_library), "{exports} has no {for_library} any more");
    let source: String = source
        .replace(for_library, "#[cfg(any())]")
        .lines()
        .filter(|line| !line.starts_with("//!") && !line.starts_with("#!["))
        .flat_map(|line| [line, "\n"])
        .collect();
    let out = env::var_os("OUT_DIR").expect("OUT_DIR, which cargo sets");
    fs::write(Path::new(&out).join("exports.rs"), source).expect("a file in OUT_DIR");
}
