//! Compiles leveldb_names.c, which defines what Rust cannot: weak symbols.

use std::env;
use std::path::Path;

fn main() {
    const SOURCE: &str = "leveldb_names.c";
    println!("cargo:rerun-if-changed={SOURCE}");
    let mut build = cc::Build::new();
    build.warnings(true).extra_warnings(true);
    let object = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("leveldb_names.o");
    // rustc's index of the archive would not have the names of an object for linking as a whole. Behind
    // what CFLAGS asks for, as distributions do; so it is run here, for which `cc` has no way.
    let mut compiler = build.get_compiler().to_command();
    compiler.args(["-fno-lto", "-c", SOURCE, "-o"]).arg(&object);
    // Not the command as such: that shows its environment, and in a log nobody's secrets should be.
    let command = [compiler.get_program()].into_iter().chain(compiler.get_args());
    let command = command.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join(" ");
    match compiler.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("the C compiler failed ({status}): {command}"),
        Err(error) => panic!("there is no C compiler ({error}): {command}; CC names another one"),
    }
    build.object(object).compile("leveldb_names");
    // Who links the archive is told what it needs. dlsym is in libc itself since glibc 2.34.
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-link-lib=dl");
    }
}
