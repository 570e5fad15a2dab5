//! `verify`: every key must match its filter, every block its checksum.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use crate::find::{Database, Place, find};
use crate::inspect::problems;
use crate::scan::{Format, LostKey, Options, Report};
use crate::sums::Sums;
use crate::text::{self, bytes, count, hex, key, plural, wrap};
use crate::work::scan_all;
use crate::{Failure, Lazy, print, print_json};

/// Problems and lost keys that are named of a table, unless somebody wants more.
pub const KEPT: usize = 20;

#[derive(Args)]
pub struct Verify {
    /// Database folders, or table files (.ldb, .sst)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
    /// Name at most N lost keys and damages of a table
    #[arg(long, value_name = "N", default_value_t = KEPT)]
    limit: usize,
}

pub fn run(args: &Verify) -> Result<ExitCode, Failure> {
    let everything = find(&args.paths)?;
    let options = Options { data: true, absent: 0, keep: args.limit };
    let reports = scan_all(&everything.tables, options);
    let databases: Vec<&Database> = everything.databases.iter().map(AsRef::as_ref).collect();
    let status = status(&reports, &databases);
    if args.json {
        print_json(&to_json(&reports, &databases, status == 0))?;
    } else {
        print(&to_text(&reports, &databases))?;
    }
    Ok(status.into())
}

/// The exit status of a command that looked at all of these.
pub fn status(reports: &[Report], databases: &[&Database]) -> u8 {
    let wrong = databases.iter().any(|database| database.is_wrong())
        || reports.iter().any(Report::is_wrong);
    let unreadable = databases.iter().any(|database| database.is_unreadable())
        || reports.iter().any(Report::is_unreadable);
    status_of(wrong, unreadable)
}

/// What is wrong outweighs what could not be looked at.
pub fn status_of(wrong: bool, unreadable: bool) -> u8 {
    match (wrong, unreadable) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 0,
    }
}

fn to_text(reports: &[Report], databases: &[&Database]) -> String {
    let mut text = String::new();
    for report in reports {
        let path = text::path(&report.path);
        if report.vanished {
            let _ = writeln!(text, "{path}: deleted meanwhile, by a compaction; not checked");
            continue;
        }
        if !report.place.is_used() {
            if report.problem_count > 0 {
                let _ = writeln!(
                    text,
                    "{path}: not in the MANIFEST (being written, or left over), so no error: {}",
                    report.problems.first().map_or("damaged", |problem| &problem.text)
                );
            }
            continue;
        }
        let lost = report.keys_lost();
        for LostKey { key: lost, sequence, deletion, block, filter } in &report.lost {
            let what = if *deletion { "deletion" } else { "value" };
            let _ = writeln!(
                text,
                "{path}: LOST KEY {} ({what}, sequence {sequence}): filter {filter}, for the data block \
                 at byte {block}, says it is not there",
                key(lost)
            );
        }
        if lost > report.lost.len() as u64 {
            let _ = writeln!(text, "{path}: {} lost in all", plural(lost, "key", "keys"));
        }
        if let Some(transform) = report.transform {
            let _ = writeln!(text, "{path}: the filters match {transform}");
        }
        if let Some(policy) = &report.policy {
            if policy.format == Format::Foreign && report.sums.bloom.filters == 0 {
                let what = match report.undecided {
                    true => "and it has too few keys to tell whether they are of LevelDB's format",
                    false => "which are not of LevelDB's format",
                };
                let _ = writeln!(
                    text,
                    "{path}: its filters are named {}, {what}; its keys were not checked against them",
                    policy.name
                );
            }
        }
    }
    for complaint in databases.iter().flat_map(|database| database.complaints()) {
        text += &format!("{complaint}\n");
    }
    let damage = problems(reports, false);
    text += damage.trim_start().trim_start_matches("Damage\n");
    text + &summary(reports, databases)
}

pub fn sums<'r>(reports: impl Iterator<Item = &'r Report>) -> Sums {
    reports.fold(Sums::default(), |mut sums, report| {
        sums.add(&report.sums);
        sums
    })
}

/// The sums of tables that LevelDB does not read.
pub fn unused(reports: &[Report]) -> Sums {
    sums(reports.iter().filter(|report| !report.place.is_used()))
}

/// What becomes of tables that are not in the MANIFEST; nothing where there are none.
pub fn fate_of_unused(places: impl Iterator<Item = Place>, entries: Option<u64>) -> String {
    let (mut tables, mut strays) = (0, 0);
    for place in places.filter(|place| !place.is_used()) {
        tables += 1;
        strays += u64::from(place == Place::Stray);
    }
    if tables == 0 {
        return String::new();
    }
    let entries =
        entries.map_or(String::new(), |n| format!(" ({})", plural(n, "entry", "entries")));
    let (are, them, have, they_are) = match tables {
        1 => ("is", "it", "has a name", "it may be a table that it is writing"),
        _ => ("are", "them", "have names", "they may be tables that it is writing"),
    };
    let fate = match strays {
        0 => format!(
            ": LevelDB does not read {them}, and deletes {them} when it opens the database; while a \
             program has it open, {they_are}"
        ),
        strays if strays == tables => {
            format!(
                " and {have} that LevelDB does not look for: it neither reads nor deletes {them}"
            )
        }
        strays => format!(
            ": LevelDB does not read {them}, and when it opens the database it deletes all but {} \
             whose names it does not look for; while a program has it open, {they_are}",
            count(strays)
        ),
    };
    format!("{}{entries} {are} not in the MANIFEST{fate}.", plural(tables, "table", "tables"))
}

/// Why there is no table that LevelDB reads.
pub fn no_tables(reports: &[Report], databases: &[&Database]) -> &'static str {
    let is_new = |database: &&Database| {
        database.version.as_ref().is_ok_and(|version| version.tables.is_empty())
    };
    match (databases.iter().all(is_new), reports.is_empty()) {
        (true, true) => "No tables yet: whatever was written is in the log.",
        (true, false) => "The MANIFEST names no tables.",
        (false, _) => "No table that LevelDB reads was found.",
    }
}

/// What a table is worth that was named, and is not in the MANIFEST; nothing where there is none.
pub fn worth_of_named<'r>(reports: impl Iterator<Item = &'r Report>) -> String {
    let named = reports.filter(|report| report.place == Place::Named && !report.vanished).count();
    match named {
        0 => String::new(),
        1 => "1 table is here because it was named. It is not in the MANIFEST: LevelDB does not read it."
            .into(),
        named => format!(
            "{} tables are here because they were named. They are not in the MANIFEST: LevelDB does not \
             read them.",
            count(named as u64)
        ),
    }
}

fn summary(reports: &[Report], databases: &[&Database]) -> String {
    let unused = unused(reports);
    let here = reports.iter().filter(|report| !report.vanished);
    let fate = fate_of_unused(here.map(|report| report.place), Some(unused.entries));
    let worth = worth_of_named(reports.iter());
    let outside = [worth, fate].into_iter().filter(|text| !text.is_empty());
    let outside: String = outside.map(|text| wrap(&text, "")).collect();
    let mut used = reports.iter().filter(|report| report.place.is_used()).peekable();
    if used.peek().is_none() {
        let why = no_tables(reports, databases);
        return wrap(&format!("{why} There is nothing to verify."), "") + &outside;
    }
    let total = sums(used);
    let lost: u64 = reports.iter().map(Report::keys_lost).sum();
    let damaged = reports.iter().filter(|r| r.is_wrong() && r.is_damaged()).count();
    let unreadable = reports.iter().filter(|r| r.is_unreadable()).count();
    let read = format!(
        "{}, {}, {}: {} read, {} of them checked against filters",
        plural(total.tables, "table", "tables"),
        bytes(total.file_bytes),
        plural(total.data_blocks, "data block", "data blocks"),
        plural(total.entries, "entry", "entries"),
        count(total.bloom.keys_checked),
    );
    let mut verdict = match lost {
        0 => "no key is lost".to_owned(),
        lost => plural(lost, "KEY IS LOST", "KEYS ARE LOST"),
    };
    verdict += &match damaged {
        0 => ", all checksums are right.".to_owned(),
        damaged => format!(", {} DAMAGED.", plural(damaged as u64, "table is", "tables are")),
    };
    if unreadable > 0 {
        let tables = plural(unreadable as u64, "table", "tables");
        verdict += &format!(" {tables} could not be read.");
    }
    if total.tables_with_filters == 0 && damaged == 0 && unreadable == 0 {
        verdict += " There are no filters.";
    }
    wrap(&read, "") + &wrap(&verdict, "") + &outside
}

fn to_json(reports: &[Report], databases: &[&Database], sound: bool) -> impl Serialize {
    #[derive(Serialize)]
    struct Json<'d, T> {
        version: &'static str,
        sound: bool,
        unused_tables: u64,
        unused_entries: u64,
        manifest_errors: Vec<String>,
        missing_tables: Vec<Cow<'d, str>>,
        tables: T,
    }
    let unused = unused(reports);
    Json {
        version: env!("CARGO_PKG_VERSION"),
        sound,
        unused_tables: unused.tables,
        unused_entries: unused.entries,
        manifest_errors: databases
            .iter()
            .filter_map(|database| Some(database.version.as_ref().err()?.to_string()))
            .collect(),
        missing_tables: databases
            .iter()
            .flat_map(|database| &database.missing)
            .map(|path| path.to_string_lossy())
            .collect(),
        tables: Lazy(reports.iter().map(table_json)),
    }
}

fn table_json(report: &Report) -> Value {
    json!({
        "path": report.path.to_string_lossy(),
        "policy": report.policy.as_ref().map(|policy| &policy.name),
        "unused": !report.place.is_used(),
        "deleted_meanwhile": report.vanished,
        "data_blocks": report.sums.data_blocks,
        "entries": report.sums.entries,
        "keys_checked": report.sums.bloom.keys_checked,
        "keys_lost": report.keys_lost(),
        "filters_made_for": report.transform.map(|transform| transform.to_string()),
        "lost": report.lost.iter().map(lost_json).collect::<Vec<_>>(),
        "problem_count": report.problem_count,
        "problems": report.problems.iter()
            .map(|problem| json!({ "offset": problem.offset, "text": problem.text }))
            .collect::<Vec<_>>(),
    })
}

pub fn lost_json(lost: &LostKey) -> Value {
    json!({
        "key": key(&lost.key),
        "key_hex": hex(&lost.key),
        "sequence": lost.sequence,
        "deletion": lost.deletion,
        "data_block": lost.block,
        "filter": lost.filter,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_outweighs_what_was_not_looked_at() {
        let all = [(false, false), (false, true), (true, false), (true, true)];
        assert_eq!(all.map(|(wrong, unreadable)| status_of(wrong, unreadable)), [0, 2, 1, 1]);
    }
}
