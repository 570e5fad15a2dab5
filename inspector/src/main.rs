//! `leveldb-bloom`, the command: what the bloom filters of a LevelDB database hold and cost.
//!
//! ```text
//! paths -> find (+ manifest, ranges) -> work -> scan, a table at a time -> sums -> explain -> figures -> inspect
//!                                                |                          \-> reports -> verify       \-> html
//!                                                \-> file, codec (reading), absent, transform (asking)
//! ```

#![forbid(unsafe_code)]

mod absent;
mod advise;
mod codec;
mod dump;
mod encoding;
mod explain;
mod figures;
mod file;
mod find;
mod get;
mod html;
mod inspect;
mod log;
mod manifest;
mod numbers;
mod printable;
mod probe;
mod ranges;
mod reports;
#[cfg(target_os = "linux")]
mod run;
mod sample;
mod scan;
mod size;
mod source;
mod sums;
mod text;
mod transform;
mod verify;
mod work;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// What the bloom filters of a LevelDB database hold and cost, and what they lose
#[derive(Parser)]
#[command(name = "leveldb-bloom", version, after_help = include_str!("help/main.txt"))]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show what is there: filters, keys, bits spent, false positives
    #[command(after_help = include_str!("help/inspect.txt"))]
    Inspect(inspect::Inspect),
    /// Check that every key matches its filter, every block its checksum
    #[command(after_help = include_str!("help/verify.txt"))]
    Verify(verify::Verify),
    /// Follow one key: what is read for it, and which filters say no
    #[command(after_help = include_str!("help/probe.txt"))]
    Probe(probe::Probe),
    /// Try other settings on this database's own keys
    #[command(after_help = include_str!("help/advise.txt"))]
    Advise(advise::Advise),
    /// Print the entries, as they are stored
    #[command(after_help = include_str!("help/dump.txt"))]
    Dump(dump::Dump),
    /// Print the newest value of a key
    #[command(after_help = include_str!("help/get.txt"))]
    Get(get::Get),
    /// Run a program with the library preloaded, and say who answered
    #[cfg(target_os = "linux")]
    #[command(after_help = run::AFTER_HELP)]
    Run(run::Run),
    /// Bits per key, bytes and false positives, each from the others
    #[command(after_help = include_str!("help/size.txt"))]
    Size(size::Size),
    /// Write the man pages of the command
    Man {
        /// The folder to write them to
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Print a completion script for a shell, to be sourced
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What became of stdout. A reader that has seen enough, as `head` has, is no failure.
pub fn to_stdout(written: io::Result<()>) -> Result<(), String> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("stdout: {error}")),
        _ => Ok(()),
    }
}

/// Writes to stdout, with colours where that is a terminal that wants them.
pub fn print(text: &str) -> Result<(), String> {
    let mut out = anstream::stdout().lock();
    to_stdout(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Tells what is not as it should be, beside what is asked for.
pub fn say(what: &str) {
    let _ = writeln!(io::stderr(), "leveldb-bloom: {what}");
}

/// Writes an object as JSON, piece by piece.
pub fn print_json(value: &impl Serialize) -> Result<(), String> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from);
    to_stdout(written.and_then(|()| writeln!(out)).and_then(|()| out.flush()))
}

/// A list whose items are made as they are written: there may be a hundred thousand of them.
pub struct Lazy<I>(pub I);

impl<I: Iterator<Item = Value> + Clone> Serialize for Lazy<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, String> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "leveldb-bloom", &mut script);
    print(&mended(&String::from_utf8_lossy(&script)))?;
    Ok(ExitCode::SUCCESS)
}

fn man(folder: &Path) -> Result<ExitCode, String> {
    let written =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(|error| format!("{}: {error}", text::path(folder)))?;
    Ok(ExitCode::SUCCESS)
}

/// For bash, clap_complete 4.6 writes the hyphen of a command's name in two ways: `leveldb__bloom`
/// where it notes which sub-command it is in, and `leveldb__subcmd__bloom` where it looks that up,
/// so that no sub-command's options were found. Without the second nothing changes here. For fish,
/// it completes nothing behind `help` once a sub-command was seen, and takes `help` itself for one.
fn mended(script: &str) -> String {
    script
        .replace("leveldb__subcmd__bloom", "leveldb__bloom")
        .replace(" completions help\"", " completions\"")
}

fn run() -> Result<ExitCode, String> {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        // --help and --version, which clap would print without a look at what becomes of it.
        Err(told) if !told.use_stderr() => {
            print(&told.render().ansi().to_string())?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => error.exit(),
    };
    match &command {
        Command::Inspect(args) => inspect::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Probe(args) => probe::run(args),
        Command::Advise(args) => advise::run(args),
        Command::Dump(args) => dump::run(args),
        Command::Get(args) => get::run(args),
        #[cfg(target_os = "linux")]
        Command::Run(args) => Ok(run::run(args)),
        Command::Size(args) => size::run(args),
        Command::Man { folder } => man(folder),
        Command::Completions { shell } => completions(*shell),
    }
}

fn main() -> ExitCode {
    let result = run();
    result.unwrap_or_else(|text| {
        // A stderr that is full is no reason to say nothing with the status either.
        say(&text);
        ExitCode::from(2)
    })
}
