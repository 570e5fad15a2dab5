//! Links libleveldb_bloom.a from the folder LEVELDB_BLOOM_LIBDIR. A package's own libraries come
//! before those of its dependencies, and so before LevelDB.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LEVELDB_BLOOM_LIBDIR");
    let libdir = std::env::var("LEVELDB_BLOOM_LIBDIR").expect("LEVELDB_BLOOM_LIBDIR is not set");
    println!("cargo:rerun-if-changed={libdir}/libleveldb_bloom.a");
    println!("cargo:rustc-link-search=native={libdir}");
    println!("cargo:rustc-link-lib=static=leveldb_bloom");
}
