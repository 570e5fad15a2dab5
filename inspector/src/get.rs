//! `get`: the newest value of a key, in tables and logs.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::encoding::{Encoding, Shown, key};
use crate::find::find;
use crate::source::{self, Entry, Told, Wanted, has_name_of_log};
use crate::work::name;
use crate::{print_json, say, to_stdout};

#[derive(Args)]
pub struct Get {
    /// A database folder, a table, or a log
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The key, as text unless --encoding is given
    #[arg(value_name = "KEY", allow_hyphen_values = true)]
    key: OsString,
    /// How KEY is written, and the value
    #[arg(long, value_enum)]
    encoding: Option<Encoding>,
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
}

/// A write of the key, and where it is.
struct Write {
    sequence: Option<u64>,
    value: Option<Vec<u8>>,
    file: String,
}

#[derive(Serialize)]
struct Json<'a> {
    version: &'static str,
    key: Shown<'a>,
    found: bool,
    deletion: bool,
    sequence: Option<u64>,
    value: Option<Shown<'a>>,
    file: Option<&'a str>,
}

pub fn run(args: &Get) -> Result<ExitCode, String> {
    let key = key(&args.key, args.encoding)?;
    let is_log = has_name_of_log(&args.path) && !args.path.is_dir();
    let everything = find(if is_log { &[] } else { std::slice::from_ref(&args.path) })?;
    let (mut told, mut newest, mut certain) = (Told::default(), None::<Write>, true);
    let mut logs = if is_log { vec![args.path.clone()] } else { Vec::new() };
    for database in &everything.databases {
        certain &= !database.is_wrong() && !database.is_unreadable();
        database.complaints().iter().for_each(|what| say(what));
        logs.extend(source::logs(database));
    }
    let wanted = Wanted { to: Some([&key[..], &[0]].concat()), from: key };
    let mut keep = |entry: Entry<'_>, file: String| {
        // Of the writes of a table without numbers the first counts.
        if newest.as_ref().is_none_or(|newest| entry.sequence > newest.sequence) {
            let (sequence, value) = (entry.sequence, entry.value.map(<[u8]>::to_vec));
            newest = Some(Write { sequence, value, file });
        }
        ControlFlow::Continue(())
    };
    for (found, database) in everything.tables.iter().zip(&everything.database_of) {
        if found.place.is_used() && wanted.is_in(found, database.as_deref()) {
            let mut each = |entry: Entry<'_>| keep(entry, name(&found.path));
            let _ = source::table(found, &wanted, &mut told, &mut each);
        }
    }
    for path in &logs {
        let _ = source::log(path, &wanted, &mut told, &mut |entry| keep(entry, name(path)));
    }
    certain &= !told.damaged && !told.unreadable;
    let value = newest.as_ref().and_then(|newest| newest.value.as_deref());
    if args.json {
        let encoding = args.encoding.unwrap_or(Encoding::Escaped);
        print_json(&Json {
            version: env!("CARGO_PKG_VERSION"),
            key: encoding.show(&wanted.from),
            found: value.is_some(),
            deletion: newest.as_ref().is_some_and(|newest| newest.value.is_none()),
            sequence: newest.as_ref().and_then(|newest| newest.sequence),
            value: value.map(|value| encoding.show(value)),
            file: newest.as_ref().map(|newest| &*newest.file),
        })?;
    } else if let Some(value) = value {
        let mut out = io::stdout().lock();
        let encoding = args.encoding.or(out.is_terminal().then_some(Encoding::Escaped));
        let written = match encoding {
            Some(encoding) => writeln!(out, "{}", encoding.show(value)),
            None => out.write_all(value),
        };
        to_stdout(written.and_then(|()| out.flush()))?;
    }
    Ok(match (certain, value) {
        (false, _) => 2,
        (true, None) => 1,
        (true, Some(_)) => 0,
    }
    .into())
}
