//! `leveldb-bloom`, the command: what the bloom filters of a LevelDB database hold and cost.
//!
//! ```text
//! paths -> find (+ manifest) -> work -> scan, a table at a time -> sums -> explain -> text, JSON, HTML
//!                                         \-> file, codec (reading), absent, transform (asking)
//! ```

#![forbid(unsafe_code)]

mod absent;
mod codec;
mod explain;
mod file;
mod find;
mod html;
mod inspect;
mod manifest;
mod probe;
mod scan;
mod size;
mod sums;
mod text;
mod transform;
mod verify;
mod work;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

const AFTER_HELP: &str = "\
Where to begin:
  leveldb-bloom inspect /var/lib/program/db            what is there, and what it means
  leveldb-bloom inspect --html report.html DB          the same with plots, to open in a browser
  leveldb-bloom verify DB && echo sound                no key is lost, no block damaged
  leveldb-bloom probe DB user:1234                     why is this key (not) found?
  leveldb-bloom size --keys 50M --rate 0.1%            how many bits per key?

Databases are only read, without LOCK, so that a program may be running on them. Tables that it
deletes in the meantime are said to be deleted, and are no error.

Exit status: 0 all is well; 1 something is wrong in a table, or a size cannot be had; 2 the command
could not do what was asked, such as for a path that does not exist.";

/// What the bloom filters of a LevelDB database hold, what they cost, and whether they are right.
#[derive(Parser)]
#[command(name = "leveldb-bloom", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_INSPECT: &str = "\
What the figures are:
  slots            LevelDB keeps a filter for each 2 KiB of data blocks; a block of 4 KiB uses one
                   slot and leaves the next empty, at 4 bytes
  bits per key     as set, worked out from the filters' sizes and k; as spent, the filter block's
                   bytes, offsets and all, over the keys
  fill             the share of bits that are set: about a half in a good filter
  false positives  estimated from each filter's fill, the 32-bit hash included; measured with a
                   million absent keys, real ones with a few bytes exchanged where keys differ

Every data block is read, because only it says how many keys its filter holds. It is read once,
from front to back, on all processors; memory is that of a few blocks and one table's index and
filters for each. --quick reads indexes and filters only, a hundredth of the bytes.";

const AFTER_VERIFY: &str = "\
A key that does not match its filter is lost: a Get does not find it, although it is there. This
can happen where filters were made by faulty code, or for a comparator that sees less than the
whole key. Block checksums are compared, and the shape of all entries is looked at.";

const AFTER_PROBE: &str = "\
Tables are looked through as a Get does: level 0 from new to old, then one table of each level.
Each filter that is asked shows its k positions and the bits found there; one 0 is a no. The block
is looked into in any case, so that a false positive and a lost key are called what they are.

  leveldb-bloom probe DB user:1234
  leveldb-bloom probe DB --hex 757365723a31323334
  leveldb-bloom probe DB/000005.ldb --base64 dXNlcjoxMjM0";

const AFTER_SIZE: &str = "\
Each from the others:
  leveldb-bloom size --keys 1000 --rate 1%             bits per key for a rate
  leveldb-bloom size --keys 1000 --bits-per-key 10     the rate, and the size
  leveldb-bloom size --keys 1M --bytes 2MiB            what fits
  leveldb-bloom size --keys 50M --plot                 more bits stop helping

In a database a filter holds the keys of a block or two, 10 to 100 as a rule. The rates count that
the hash has 32 bits, so that among tens of millions of keys an absent one may have the hash of a
present one, that k stays at 30, and that a filter has 64 bits at least.";

#[derive(Subcommand)]
enum Command {
    /// Show what is there: filters, keys, bits really spent, false positives, what it means
    #[command(after_help = AFTER_INSPECT)]
    Inspect(inspect::Inspect),
    /// Check that every key matches its filter and every block its checksum
    #[command(after_help = AFTER_VERIFY)]
    Verify(verify::Verify),
    /// Follow one key: which tables and blocks are read for it, and which filters say no
    #[command(after_help = AFTER_PROBE)]
    Probe(probe::Probe),
    /// Bits per key, bytes and rates of false positives, each from the others
    #[command(after_help = AFTER_SIZE)]
    Size(size::Size),
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

/// Writes to stdout. A reader that has seen enough, as `head` has, is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure(format!("stdout: {error}")))
        }
        _ => Ok(()),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "leveldb-bloom", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    let result = match &Cli::parse().command {
        Command::Inspect(args) => inspect::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Probe(args) => probe::run(args),
        Command::Size(args) => size::run(args),
        Command::Completions { shell } => completions(*shell),
    };
    result.unwrap_or_else(|Failure(text)| {
        eprintln!("leveldb-bloom: {text}");
        ExitCode::from(2)
    })
}
