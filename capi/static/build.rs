//! Compiles leveldb_names.c, which defines what Rust cannot: weak symbols.

use std::env;
use std::path::Path;

fn main() {
    const SOURCE: &str = "leveldb_names.c";
    println!("cargo:rerun-if-changed={SOURCE}");
    println!("cargo:rerun-if-changed=build.rs");
    // Elsewhere the library has none of LevelDB's names.
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os != "linux") {
        return;
    }
    let mut build = cc::Build::new();
    build.warnings(true).extra_warnings(true);
    let object = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("leveldb_names.o");
    // Compiled here rather than by `cc`, which cannot put -fno-lto behind what CFLAGS asks for, as
    // distributions do. Of an object for link-time optimisation rustc's index of the archive would
    // not have the names.
    let mut compiler = build.get_compiler().to_command();
    compiler.args(["-fno-lto", "-c", SOURCE, "-o"]).arg(&object);
    // Not printed by `Debug`, which would show the environment, and with it secrets, in a log.
    let command = [compiler.get_program()].into_iter().chain(compiler.get_args());
    let command = command.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join(" ");
    match compiler.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("the C compiler failed ({status}): {command}"),
        Err(error) => panic!("there is no C compiler ({error}): {command}; CC names another one"),
    }
    build.object(object).compile("leveldb_names");
    // Whoever links the archive is told that it needs libdl; since glibc 2.34 dlsym is in libc
    // itself.
    println!("cargo:rustc-link-lib=dl");
}
