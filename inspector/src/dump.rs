//! `dump`: the entries, as they are stored.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::mem;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::encoding::{Encoding, Shown};
use crate::find::find;
use crate::source::{self, Entry, Told, Wanted, has_name_of_log};
use crate::work::name;
use crate::{reports, say, to_stdout};

#[derive(Args)]
pub struct Dump {
    /// Database folders, tables (.ldb, .sst), or logs (.log)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How each entry is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// How keys and values are written, also in --from, --to, --prefix
    #[arg(long, value_enum, default_value_t = Encoding::Escaped)]
    encoding: Encoding,
    /// Keys from this one on
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    from: Option<OsString>,
    /// Keys before this one
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    to: Option<OsString>,
    /// Keys that begin with this
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    prefix: Option<OsString>,
    /// At most N entries
    #[arg(long, value_name = "N", value_parser = crate::numbers::count::<u64>)]
    limit: Option<u64>,
    /// Leave out the values
    #[arg(long)]
    keys: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// 'key' @ 7 : val => 'value'
    Text,
    /// A JSON object on each line
    Ndjson,
}

/// A line of NDJSON.
#[derive(Serialize)]
struct Line<'a> {
    key: Shown<'a>,
    sequence: Option<u64>,
    deletion: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Shown<'a>>,
    file: &'a str,
    level: Option<u32>,
}

pub fn run(args: &Dump) -> Result<ExitCode, String> {
    let is_log = |path: &PathBuf| has_name_of_log(path) && !path.is_dir();
    let (logs, others): (Vec<_>, Vec<_>) = args.paths.iter().cloned().partition(is_log);
    let everything = find(&others)?;
    let wanted = wanted(args)?;
    let (mut wrong, mut told) = (false, Told::default());
    for database in &everything.databases {
        wrong |= database.is_wrong();
        told.unreadable |= database.is_unreadable();
        database.complaints().iter().for_each(|what| say(what));
    }
    let mut sources: Vec<_> = everything
        .tables
        .iter()
        .zip(&everything.database_of)
        .filter(|(found, database)| {
            found.place.is_used() && wanted.is_in(found, database.as_deref())
        })
        .map(|(found, _)| (found.path.as_path(), Some(found)))
        .collect();
    // From old to new.
    sources.sort_by_key(|(_, found)| Reverse(found.and_then(|found| found.place.level())));
    let own: Vec<_> = everything.databases.iter().flat_map(|it| source::logs(it)).collect();
    sources.extend(own.iter().chain(&logs).map(|path| (path.as_path(), None)));

    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (mut left, mut written) = (args.limit, Ok(()));
    for (path, found) in sources {
        let (file, level, mut is_first) =
            (name(path), found.and_then(|found| found.place.level()), true);
        let mut each = |entry: Entry<'_>| {
            if left == Some(0) {
                return ControlFlow::Break(());
            }
            left = left.map(|left| left - 1);
            if mem::take(&mut is_first) && args.format == Format::Text {
                let level = level.map_or(String::new(), |level| format!(", level {level}"));
                written = writeln!(out, "# {file}{level}");
            }
            if written.is_ok() {
                written = write(args, &mut out, &entry, &file, level);
            }
            let is_end = written.is_err() || left == Some(0);
            if is_end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let flow = match found {
            Some(found) => source::table(found, &wanted, &mut told, &mut each),
            None => source::log(path, &wanted, &mut told, &mut each),
        };
        if flow.is_break() {
            break;
        }
    }
    to_stdout(written.and_then(|()| out.flush()))?;
    Ok(reports::status_of(wrong || told.damaged, told.unreadable).into())
}

fn write(
    args: &Dump,
    out: &mut impl Write,
    entry: &Entry<'_>,
    file: &str,
    level: Option<u32>,
) -> io::Result<()> {
    let show = |bytes| args.encoding.show(bytes);
    let (key, value) = (show(entry.key), entry.value.filter(|_| !args.keys).map(show));
    let (sequence, deletion) = (entry.sequence, entry.value.is_none());
    if args.format == Format::Ndjson {
        let line = Line { key, sequence, deletion, value, file, level };
        serde_json::to_writer(&mut *out, &line)?;
        return writeln!(out);
    }
    write!(out, "'{key}'")?;
    if let Some(sequence) = sequence {
        write!(out, " @ {sequence}")?;
    }
    match value {
        _ if deletion => writeln!(out, " : del"),
        Some(value) => writeln!(out, " : val => '{value}'"),
        None => writeln!(out, " : val"),
    }
}

fn wanted(args: &Dump) -> Result<Wanted, String> {
    let decode = |name, text: &Option<OsString>| {
        let decoded = text.as_ref().map(|text| args.encoding.decode(text)).transpose();
        decoded.map_err(|expected| format!("{name}: {expected}"))
    };
    let mut wanted = Wanted {
        from: decode("--from", &args.from)?.unwrap_or_default(),
        to: decode("--to", &args.to)?,
    };
    if let Some(prefix) = decode("--prefix", &args.prefix)? {
        // The first key behind all that begin so: none, if that is every key behind it.
        let behind = prefix.iter().rposition(|byte| *byte != 0xff).map(|last| {
            let mut behind = prefix[..=last].to_vec();
            behind[last] += 1;
            behind
        });
        wanted.to = wanted.to.into_iter().chain(behind).min();
        wanted.from = wanted.from.max(prefix);
    }
    Ok(wanted)
}
