//! Who answered in a program, by what the library wrote; or why nobody did, by what the program is.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use memchr::memmem;
use serde::Deserialize;

use super::elf::Elf;
use crate::text::{path, plural};

/// A line of LEVELDB_BLOOM_STATS.
#[derive(Deserialize)]
struct Line {
    event: String,
    pid: u32,
    kernel: String,
    route: String,
    bits_per_key: i64,
    encoding: String,
    filters: u64,
    keys: u64,
    queries: u64,
    negatives: u64,
}

/// What policies did by the lines behind `from`, or `None` if there are none.
pub fn by(statistics: &Path, from: u64) -> Option<String> {
    let mut text = Vec::new();
    let mut file = File::open(statistics).ok()?;
    file.seek(io::SeekFrom::Start(from)).and_then(|_| file.read_to_end(&mut text)).ok()?;
    let lines = text.split(|byte| *byte == b'\n').map(serde_json::from_slice::<Line>);
    let lines: Vec<_> = lines.filter_map(Result::ok).collect();
    let (created, others): (Vec<_>, Vec<_>) = lines.iter().partition(|it| it.event == "created");
    let processes: BTreeSet<_> = created.iter().map(|line| line.pid).collect();
    // What a process counted for its parent, before it was forked, is in the parent's lines.
    let others: Vec<_> = others.into_iter().filter(|line| processes.contains(&line.pid)).collect();
    let ended: Vec<_> = others.iter().filter(|line| line.event != "used").collect();
    if created.is_empty() {
        return None;
    }

    let policies = plural(created.len() as u64, "policy", "policies");
    let shape = |line: &&Line| format!("{}, {} bits per key", line.encoding, line.bits_per_key);
    let policies = format!("{policies} ({})", list(created.iter().map(shape)));
    if !others.iter().any(|line| line.event == "used") {
        return Some(format!(
            "our library made {policies}, and nobody used them: no table was written or read, or \
             LevelDB did not get them."
        ));
    }
    let mut text = format!("our library answered: {policies}");
    if !ended.is_empty() {
        let sum = |count: fn(&Line) -> u64| ended.iter().map(|line| count(line)).sum();
        let filters = plural(sum(|line| line.filters), "filter", "filters");
        let keys = plural(sum(|line| line.keys), "key", "keys");
        let queries = plural(sum(|line| line.queries), "query", "queries");
        let negatives = crate::text::count(sum(|line| line.negatives));
        text += &format!(
            " made {filters} of {keys}, and answered {queries}, {negatives} of them with no"
        );
    }
    let kernel = list(created.iter().map(|line| line.kernel.clone()));
    let route = list(others.iter().map(|line| line.route.clone()).filter(|it| it != "none"));
    let route = if route.is_empty() { "none, as no filter was made" } else { &route };
    let processes = plural(processes.len() as u64, "process", "processes");
    text += &format!(". Route: {route}; kernel: {kernel}; in {processes}.");
    let unknown = created.len().saturating_sub(ended.len()) as u64;
    if unknown > 0 {
        let unknown = plural(unknown, "policy", "policies");
        text += &format!(
            " Of {unknown} only the beginning is known: the program was killed, or goes on."
        );
    }
    Some(text)
}

/// The different ones of these.
fn list(all: impl Iterator<Item = String>) -> String {
    all.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("; ")
}

/// Why no policy was ours, as far as the file that the kernel runs for the program and its libraries show it.
pub fn why_not(program: Option<PathBuf>, executable: &Path) -> String {
    let script = match program.filter(|program| program != executable) {
        Some(script) => {
            format!("{} is a script, which {} runs. ", path(&script), path(executable))
        }
        None => String::new(),
    };
    let mut files = vec![executable.to_path_buf()];
    files.extend(libraries(executable));
    let asks = |file: &&PathBuf| Elf::read(file).is_ok_and(|elf| elf.asks);
    let why = if has_leveldb(executable) {
        format!(
            "{} has a LevelDB inside, which calls no other library. Link the program with our archive.",
            path(executable)
        )
    } else if let Some(file) = files.iter().find(asks) {
        format!(
            "{} would get its bloom filter policy from our library: most likely the program set none, or ended \
             before; or it is a LevelDB whose own policy is kept (docs/limits.md).",
            path(file)
        )
    } else if let Some(file) = files.iter().find(|file| has_leveldb(file)) {
        format!(
            "{} has a LevelDB that is bound to itself (-Bsymbolic, or hidden names). Use the callbacks.",
            path(file)
        )
    } else {
        format!(
            "{} is not linked with a LevelDB. If it loads one later, as Python and Node do, or starts a program \
             that has one, then most likely no bloom filter was set; or that LevelDB is bound to itself. To see \
             which library it calls: \
             LD_DEBUG=bindings leveldb-bloom run -- PROGRAM 2>&1 | grep NewBloomFilterPolicyEi",
            path(executable)
        )
    };
    format!("our library was not called: {script}{why}")
}

/// The libraries that the program is linked with, as its loader finds them.
fn libraries(executable: &Path) -> Vec<PathBuf> {
    let loader = Elf::read(executable).ok().and_then(|elf| elf.loader).unwrap_or_default();
    let listed = Command::new(loader).arg("--list").arg(executable).output();
    let listed = listed.map(|listed| listed.stdout).unwrap_or_default();
    // `name => path (address)`, or the path alone, where that is what the program asks for.
    let lines = String::from_utf8_lossy(&listed);
    let lines = lines.lines().filter_map(|line| line.trim().rsplit_once(" ("));
    let paths = lines.map(|(line, _)| line.rsplit(" => ").next().unwrap_or(line).into());
    paths.filter(|path: &PathBuf| path.is_absolute()).collect()
}

/// Whether LevelDB's bloom filter is in the file: the policy's name is, whatever else is stripped.
fn has_leveldb(file: &Path) -> bool {
    fs::read(file).is_ok_and(|it| memmem::find(&it, b"leveldb.BuiltinBloomFilter2").is_some())
}
