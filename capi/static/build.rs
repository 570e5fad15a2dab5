//! Compiles leveldb_names.c, which defines what Rust cannot: weak symbols.

fn main() {
    println!("cargo:rerun-if-changed=leveldb_names.c");
    cc::Build::new()
        .file("leveldb_names.c")
        .warnings(true)
        .extra_warnings(true)
        .compile("leveldb_names");
}
