//! Which library, which program, and whether the one can be preloaded into the other.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{self, Path, PathBuf};

use nix::unistd::{getgid, getuid};
use rustix::fs::getxattr;

use super::elf::Elf;
use crate::text;

/// Why the program was not started, and the status that says so.
pub struct Refused(pub u8, pub String);

/// The library's file: the one that was named, or the first that is in its place.
pub fn library(named: Option<&Path>) -> Result<PathBuf, Refused> {
    let places = if named.is_some() { Vec::new() } else { places() };
    let found = places.iter().find(|path| path.is_file()).map(PathBuf::as_path).or(named);
    let Some(found) = found else {
        let places: Vec<_> =
            places.iter().map(|path| format!("\n  {}", text::path(path))).collect();
        let text = format!(
            "the library was not found; name it with --library. Looked for:{}",
            places.concat()
        );
        return Err(Refused(125, text));
    };
    let refused = |error: &str| Refused(125, format!("{}: {error}", text::path(found)));
    let path = path::absolute(found).map_err(|error| refused(&error.to_string()))?;
    if path.as_os_str().as_encoded_bytes().iter().any(|byte| b" :".contains(byte)) {
        return Err(refused("LD_PRELOAD takes no path with a space or a colon"));
    }
    Ok(path)
}

/// Where the library is installed, seen from the command, and where CMake puts it.
fn places() -> Vec<PathBuf> {
    let command = env::current_exe().unwrap_or_default();
    let folder = command.parent().unwrap_or(Path::new("/"));
    let lib = folder.with_file_name("lib");
    let multiarch = format!("{}-linux-gnu", env::consts::ARCH);
    let mut folders = vec![folder.to_path_buf(), folder.with_file_name("release"), lib.clone()];
    folders.push(lib.join(&multiarch));
    for python in fs::read_dir(&lib).into_iter().flatten().flatten() {
        if python.file_name().as_encoded_bytes().starts_with(b"python3") {
            folders.push(python.path().join("site-packages/leveldb_bloom"));
        }
    }
    folders.push("/usr/local/lib".into());
    folders.push(Path::new("/usr/lib").join(&multiarch));
    let names =
        ["libleveldb_bloom.so", concat!("libleveldb_bloom.so.", env!("CARGO_PKG_VERSION_MAJOR"))];
    folders.iter().flat_map(|folder| names.map(|name| folder.join(name))).collect()
}

/// The file that a program's name stands for.
pub fn found(program: &OsStr) -> Result<PathBuf, Refused> {
    which::which(program).map_err(|_| {
        let path = Path::new(program);
        if path.components().count() > 1 && path.exists() {
            Refused(126, format!("{}: is no executable file", text::path(path)))
        } else {
            Refused(127, format!("{}: there is no such program", text::path(path)))
        }
    })
}

/// The file that the kernel runs for a program: itself, or a script's interpreter.
pub fn executable(program: &OsStr) -> Result<PathBuf, Refused> {
    let mut path = found(program)?;
    // As many as the kernel follows.
    for _ in 0..5 {
        let mut begin = Vec::new();
        // What cannot be read cannot be checked.
        let read = File::open(&path).and_then(|file| file.take(256).read_to_end(&mut begin));
        let Some(line) = begin.strip_prefix(b"#!").filter(|_| read.is_ok()) else { break };
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or(line);
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let mut words = words.map(|word| OsString::from_vec(word.to_vec()));
        let Some(interpreter) = words.next() else { break };
        path = found(&interpreter)?;
        if path.file_name() == Some(OsStr::new("env")) {
            let is_program = |word: &OsString| {
                let word = word.as_encoded_bytes();
                !word.starts_with(b"-") && !word.contains(&b'=')
            };
            if let Some(program) = words.find(is_program) {
                path = found(&program)?;
            }
        }
    }
    Ok(path)
}

/// Whether the loader will put the library into the program.
pub fn check(executable: &Path, library: &Path) -> Result<(), Refused> {
    let refused = |why: &str| Err(Refused(126, format!("{}: {why}", text::path(executable))));
    let is_secure = fs::metadata(executable).is_ok_and(|file| {
        (file.mode() & 0o4000 != 0 && file.uid() != getuid().as_raw())
            || (file.mode() & 0o2010 == 0o2010 && file.gid() != getgid().as_raw())
    });
    if is_secure {
        return refused("is setuid or setgid: nothing can be preloaded into it");
    }
    let capabilities = getxattr(executable, "security.capability", &mut [0; 64]);
    if capabilities.is_ok() && !getuid().is_root() {
        return refused("has file capabilities: nothing can be preloaded into it");
    }
    if File::open(executable).is_err() {
        return Ok(());
    }
    let Ok(program) = Elf::read(executable) else {
        return refused("is neither an ELF program nor a script that begins with #!");
    };
    let not_ours = |error| Refused(125, format!("{}: {error}", text::path(library)));
    let ours = Elf::read(library).map_err(not_ours)?;
    if program.machine != ours.machine {
        let (its, our) = (program.machine, ours.machine);
        return refused(&format!("is for {its}, and the library for {our}"));
    }
    match program.loader {
        None => refused("is a static program: nothing can be preloaded into it"),
        Some(_) if program.is_musl && !ours.is_musl => {
            refused("runs on musl, and the library on glibc")
        }
        Some(_) if ours.is_musl && !program.is_musl => {
            refused("runs on glibc, and the library on musl")
        }
        Some(_) => Ok(()),
    }
}
