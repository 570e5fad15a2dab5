//! Compiles leveldb_names.c, which defines what Rust cannot: weak symbols.

fn main() {
    println!("cargo:rerun-if-changed=leveldb_names.c");
    cc::Build::new()
        .file("leveldb_names.c")
        .warnings(true)
        .extra_warnings(true)
        // rustc's index of the archive would not have the names of an object of gcc's for linking.
        .flag_if_supported("-fno-lto")
        .compile("leveldb_names");
    // Who links the archive is told what it needs. dlsym is in libc itself since glibc 2.34.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-link-lib=dl");
    }
}
