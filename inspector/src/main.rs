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

const AFTER_INSPECT: &str = "\
What the figures are:
  slots            LevelDB keeps a filter for each 2 KiB of data blocks; a block
                   of 4 KiB uses one slot and leaves the next empty, at 4 bytes
  bits per key     as set, worked out from the filters' sizes and k; as spent,
                   the filter block's bytes, offsets and all, over the keys, in
                   tables that are not damaged
  fill             the share of bits that are set: about a half in a good filter
  false positives  estimated from each filter's fill, the 32-bit hash included;
                   measured with absent keys, real ones with a few bytes
                   exchanged where keys differ: about a million, of one table
                   200,000 at most and 2,000 at least, and fewer where few
                   different ones can be made. Of several filters each counts in
                   both by its bytes

Every data block is read, because only it says how many keys its filter holds.
It is read once, from front to back, on all processors; memory is that of a few
blocks and one table's index and filters for each. --quick reads indexes and
filters only, a hundredth of the bytes.

The object that --json prints; what is not known is null, rates are shares of 1:
  version, data_read
  unused_tables, unused_entries: not in the MANIFEST, so that LevelDB does not
             read them; `total` and the notes leave them out
  databases  folder, comparator, manifest_error, range_errors, missing_tables
  tables     path, number, level, unused, deleted_meanwhile, kind (what it is,
             where LevelDB's databases have no such table), policy,
             policy_kind, other_policies (of filters that are there as well),
             filters_made_for, keys_in_byte_order, problems (offset, text),
             problem_count, lost (key, key_hex, sequence, deletion, data_block,
             filter, outside), and the figures
  total      the figures: tables, tables_with_filters, file_bytes, index_bytes,
             data_blocks, data_blocks_unread, compressions (data blocks by how
             they are stored: none, snappy, zstd, zlib, deflate, unknown
             and its number), data_bytes, filter_block_bytes (all three kinds
             of blocks as they are stored, with trailers),
             data_bytes_decompressed (of what was read), entries, deletions,
             filters, slots, empty_slots, blocks_without_slot, keys_outside (of
             the ranges that the MANIFEST gives their tables); bloom, of filters
             in LevelDB's format: bytes, bits, bits_set, fill, fill_histogram
             (in steps of 5 %), probes (filters by k), match_all,
             keys_per_filter (min, median, mean, max, histogram: from, to,
             filters),
             bits_per_key_set (least, most),
             bits_per_key_spent, estimated_keys, false_positive_rate_estimated,
             false_positive_rate_measured, absent_keys_asked,
             absent_keys_passed, keys_checked, keys_lost
  notes      weight (wrong, wasted or note), topic, text

Exit status: 0 nothing is wrong; 1 a key is lost, or something is damaged or
missing; 2 a path could not be read.";

const AFTER_VERIFY: &str = "\
A key that does not match its filter is lost: a Get does not find it, although
it is there, or finds what was written to it earlier. This can happen where
filters were made by faulty code, or for a comparator that sees less than the
whole key. A key outside of the range, smallest to largest, that the MANIFEST
gives its table is lost as well: a Get does not look for it there. Of a level
above 0 it looks into one table, so that ranges which overlap are named, too.

Block checksums are compared, and shape and order of all entries are looked at;
order and ranges only where the MANIFEST says that the order is that of bytes.

The object that --json prints:
  version, sound, manifest_errors, range_errors, missing_tables, other_owners
           (of databases that only goleveldb or Riak opens; `sound` says
           nothing of that), unused_tables and unused_entries, which are not
           in the MANIFEST: LevelDB does not read them, and `sound` says nothing
           of them
  tables   path, kind (what it is, where LevelDB's databases have no such
           table), policy, other_policies (of filters that are not looked at),
           unused, deleted_meanwhile, compressions (how the blocks are stored),
           data_blocks, data_blocks_unread, entries, keys_checked,
           keys_lost, keys_outside (those of them that are outside of the
           range), filters_made_for, problem_count, problems (offset, text),
           lost (key, key_hex, sequence, deletion, data_block, filter, or
           outside: why a Get does not look for it there)

Limits: a block of more than 1 GiB, as stored or decompressed, is not read, nor
one whose keys share so much that they take 1024 times its room. That is no
damage, nor are other programs' formats: a compression that is not known, or
filters under LevelDB's name that match hardly any key.

Exit status: 0 sound; 1 a key is lost, or something is damaged or missing; 2 a
path, or a part of it, could not be read.";

const AFTER_PROBE: &str = "\
Tables are looked through as a Get does: level 0 from new to old, then one table
of each level. Each filter that is asked shows its k positions and the bits
found there; one 0 is a no. The block is looked into in any case, so that a
false positive and a lost key are called what they are (in a database with a
comparator of its own only where the filter says maybe, or where no filter can
be asked; of the latter, blocks without the key are counted, and not listed).

A Get goes by the ranges of keys in the MANIFEST. --all looks into the tables
that it goes past as well, and lists those that hold the key. Without a MANIFEST
every table is looked into, and the newest write is listed first.

  leveldb-bloom probe DB user:1234
  leveldb-bloom probe DB --hex 757365723a31323334
  leveldb-bloom probe DB/000005.ldb --base64 dXNlcjoxMjM0

The object that --json prints:
  version, key, key_hex, hash, tables_in_all (those that LevelDB reads),
           unused_tables (not in the MANIFEST), log_bytes, database_problems,
           other_owner (of a database that only goleveldb or Riak opens)
  tables   path, level, asked (a Get looks into it), outside (why it does not,
           where the key is lost by that), policy, other_policies (of filters
           that are not looked at), deleted_meanwhile, problem,
           other_filters_that_say_no, other_blocks_read (without the key, and
           without a filter to ask)
           blocks: data_block, data_block_bytes, read, problem
             filter (number, bits, probes, positions, bits_found, maybe)
             entry (sequence, deletion, value_bytes)

Exit status: 0 the key was followed, found or not; 1 something is damaged on its
way, or a table missing; 2 a path could not be read, or KEY is not what was
said.";

const AFTER_ADVISE: &str = "\
Filters and blocks are built of the database's own keys and values, as LevelDB
would build them with 6 to 20 bits per key, the present block size and larger
ones, and, where absent keys beside present ones pass too often, one byte more
at each key's end. Of a large database 48 MiB are read, from all over it.

Neighbours are absent keys between present ones that differ from those where they
differ from each other; random keys are of the same kind, wherever they are.
Reads are those of blocks by a Get of an absent key, by whichever of the two
passes more often, over the tables of the present levels.

The object that --json prints: version, and advice, which has sampled_keys, keys,
tables, tables_per_get, ordered (neighbours pass more often than random keys),
text, and rows: block_size, encoding, bits_per_key, appended_byte, present, best,
filter_bytes, bits_per_key_spent, neighbours_pass, random_pass (shares of 1),
reads_per_missing_get, memory.

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

const AFTER_SIZE: &str = "\
Each from the others:
  leveldb-bloom size --keys 1000 --rate 1%           bits per key for a rate
  leveldb-bloom size --keys 1000 --bits-per-key 10   the rate, and the size
  leveldb-bloom size --keys 1M --bytes 2MiB          the best that fits
  leveldb-bloom size --keys 50M                      more bits stop helping

In a database a filter holds the keys of a block or two, 10 to 100 as a rule.
The rates count that the hash has 32 bits, so that among tens of millions of
keys an absent one may have the hash of a present one, that k stays at 30, and
that a filter has 64 bits at least. They are estimates: single filters of 20,000
to some million keys have up to 1.5 times as many false positives as a rule, one
size in twenty up to seven times, and remarks say where it is known to be more.

The object that --json prints:
  version, keys, hash_collision_rate, remarks
  settings   bits_per_key, probes, bytes, false_positive_rate

Exit status: 0 here it is; 1 no setting gives what was asked; 2 the question was
not understood.";

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
