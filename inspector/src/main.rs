//! `leveldb-bloom`, the command: what the bloom filters of a LevelDB database hold and cost.
//!
//! ```text
//! paths -> find (+ manifest, ranges) -> work -> scan, a table at a time -> sums -> explain -> figures -> inspect
//!                                                |                          \-> reports -> verify       \-> html
//!                                                \-> file, codec (reading), hashes, absent, transform (asking)
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
mod hashes;
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

const AFTER_HELP: &str = "\
Where to begin:
  leveldb-bloom inspect /var/lib/program/db     what is there, what it means
  leveldb-bloom inspect --html report.html DB   with plots, to open in a browser
  leveldb-bloom verify DB && echo sound         no key is lost, no block damaged
  leveldb-bloom probe DB user:1234              why is this key (not) found?
  leveldb-bloom dump DB --prefix user:          what is in it
  leveldb-bloom get DB user:1234                one value
  leveldb-bloom size --keys 1000 --rate 1%      how many bits per key?
  leveldb-bloom run -- PROGRAM                  with our filters, on Linux

Databases are only read, without LOCK, so that a program may be running on
them. Tables that it deletes meanwhile are reported as deleted, those not yet
written to their end as not in the MANIFEST; neither is an error.

Exit status: 0 all is well; 1 a table is damaged or missing, a key is lost, or
a size cannot be had; 2 the command could not do what was asked, such as for a
path that does not exist, or tables that are all deleted meanwhile, or not
written to their end.";

/// What the bloom filters of a LevelDB database hold and cost, and what they lose
#[derive(Parser)]
#[command(name = "leveldb-bloom", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_INSPECT: &str = include_str!("help/inspect.txt");
const AFTER_VERIFY: &str = include_str!("help/verify.txt");
const AFTER_PROBE: &str = include_str!("help/probe.txt");
const AFTER_ADVISE: &str = "\
Filters and blocks are built of the database's own keys and values, as LevelDB
would build them with 6 to 20 bits per key, the present block size and larger
ones, and, where absent keys beside present ones pass too often, one byte more
at each key's end. Of a large database 48 MiB are read, from all over it.

Neighbours are absent keys between present ones that differ from those where
they differ from each other; random keys are of the same kind, wherever they
are. Reads are those of blocks by a Get of an absent key, by whichever of the
two passes more often, over the tables of the present levels.

The object that --json prints: version, and advice, which has sampled_keys,
keys, tables, tables_per_get, ordered (neighbours pass more often than random
keys), text, and rows: block_size, encoding, bits_per_key, appended_byte,
present, best, filter_bytes, bits_per_key_spent, neighbours_pass, random_pass
(shares of 1), reads_per_missing_get, memory.

Exit status: 0 here it is; 2 a path could not be read, or there is no key.";

const AFTER_DUMP: &str = "\
Every write that is stored, also those that later ones have replaced: of a key
the one with the highest sequence number counts. Tables come first, level 0 as
the last of them, then the logs, whose writes are in no table yet. What is
damaged is left out, and told of at stderr.

  leveldb-bloom dump DB --prefix user: --limit 10
  leveldb-bloom dump DB --format ndjson --encoding base64
  leveldb-bloom dump DB/000003.log DB/000005.ldb --encoding hex --from 00ff

With the encoding escaped, \\xff is a byte that is no text, and \\\\ and \\' are
themselves. The objects that --format ndjson prints: key, sequence (null where
a table has none), deletion, value (not of a deletion), file, level.

Exit status: 0 all is well; 1 something is damaged or missing; 2 a path could
not be read.";

const AFTER_GET: &str = "\
The value goes to stdout as it is, or escaped where that is a terminal; of the
writes of a key in tables and logs the newest counts. No filter is asked, so
that a key which a filter loses is found; `probe` says what a Get makes of it.

  leveldb-bloom get DB user:1234 > value
  leveldb-bloom get DB --encoding hex 00000000000004d2

The object that --json prints: version, key, found, deletion (the newest write
is one), sequence, value, file.

Exit status: 0 here it is; 1 there is no such key, or it is deleted; 2 that is
not certain, because something is damaged, missing, or could not be read.";

const AFTER_SIZE: &str = include_str!("help/size.txt");

#[derive(Subcommand)]
enum Command {
    /// Show what is there: filters, keys, bits spent, false positives
    #[command(after_help = AFTER_INSPECT)]
    Inspect(inspect::Inspect),
    /// Check that every key matches its filter, every block its checksum
    #[command(after_help = AFTER_VERIFY)]
    Verify(verify::Verify),
    /// Follow one key: what is read for it, and which filters say no
    #[command(after_help = AFTER_PROBE)]
    Probe(probe::Probe),
    /// Try other settings on this database's own keys
    #[command(after_help = AFTER_ADVISE)]
    Advise(advise::Advise),
    /// Print the entries, as they are stored
    #[command(after_help = AFTER_DUMP)]
    Dump(dump::Dump),
    /// Print the newest value of a key
    #[command(after_help = AFTER_GET)]
    Get(get::Get),
    /// Run a program with the library preloaded, and say who answered
    #[cfg(target_os = "linux")]
    #[command(after_help = run::AFTER_HELP)]
    Run(run::Run),
    #[cfg(not(target_os = "linux"))]
    #[command(hide = true, disable_help_flag = true)]
    Run {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        _arguments: Vec<std::ffi::OsString>,
    },
    /// Bits per key, bytes and false positives, each from the others
    #[command(after_help = AFTER_SIZE)]
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

/// Why the command could not do what was asked.
pub struct Failure(String);

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Failure(text)
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        Failure(text.into())
    }
}

/// Writes to stdout, with colours where that is a terminal that wants them. A reader that has seen
/// enough, as `head` has, is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure(format!("stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Tells what is not as it should be, beside what is asked for.
pub fn say(what: &str) {
    let _ = writeln!(io::stderr(), "leveldb-bloom: {what}");
}

/// Writes an object as JSON, piece by piece.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from);
    match written.and_then(|()| writeln!(out)).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure(format!("stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// A list whose items are made as they are written: there may be a hundred thousand of them.
pub struct Lazy<I>(pub I);

impl<I: Iterator<Item = Value> + Clone> Serialize for Lazy<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "leveldb-bloom", &mut script);
    print(&mended(&String::from_utf8_lossy(&script)))?;
    Ok(ExitCode::SUCCESS)
}

fn man(folder: &Path) -> Result<ExitCode, Failure> {
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

fn run() -> Result<ExitCode, Failure> {
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
        #[cfg(not(target_os = "linux"))]
        Command::Run { .. } => Err("run preloads the library, which works on Linux alone; \
                                    docs/linking.md has the ways for other systems"
            .into()),
        Command::Size(args) => size::run(args),
        Command::Man { folder } => man(folder),
        Command::Completions { shell } => completions(*shell),
    }
}

fn main() -> ExitCode {
    let result = run();
    result.unwrap_or_else(|Failure(text)| {
        // A stderr that is full is no reason to say nothing with the status either.
        say(&text);
        ExitCode::from(2)
    })
}
