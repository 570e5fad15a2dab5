//! `verify`: every key must match its filter, every block its checksum.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use crate::figures::encodings;
use crate::find::{Database, find};
use crate::reports::{
    self, KEPT, fate_of_unused, no_tables, problems, status, sums, unused, worth_of_named,
};
use crate::scan::{Format, LostKey, Options, Report};
use crate::text::{self, bytes, count, plural, wrap};
use crate::work::scan_all;
use crate::{Lazy, numbers, print, print_json};

#[derive(Args)]
pub struct Verify {
    /// Database folders, or table files (.ldb, .sst)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
    /// List at most N lost keys and problems per table
    #[arg(long, value_name = "N", value_parser = numbers::count::<usize>, default_value_t = KEPT)]
    limit: usize,
}

pub fn run(args: &Verify) -> Result<ExitCode, String> {
    let everything = find(&args.paths)?;
    let options = Options { data: true, absent: 0, keep: args.limit, whole_keys: args.json };
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
        if let Some(kind) = report.kind() {
            let _ = writeln!(text, "{path}: {kind}");
        }
        let lost = report.keys_lost();
        for LostKey { key, sequence, deletion, data_block, filter, outside, .. } in &report.lost {
            let what = if *deletion { "deletion" } else { "value" };
            let why = match outside {
                Some(why) => format!("{why}; the data block at byte {data_block} has it"),
                None => format!(
                    "filter {}, for the data block at byte {data_block}, says it is not there",
                    filter.unwrap_or_default()
                ),
            };
            let _ = writeln!(text, "{path}: LOST KEY {key} ({what}, sequence {sequence}): {why}");
        }
        if lost > report.lost.len() as u64 {
            let _ = writeln!(text, "{path}: {} lost in all", plural(lost, "key", "keys"));
        }
        if let Some(transform) = report.transform {
            let _ = writeln!(text, "{path}: the filters match {transform}");
        }
        if let Some(policy) = &report.policy {
            if report.has(Format::Foreign) && report.sums.bloom.filters == 0 {
                let (name, why) = (&policy.name, report.not_asked());
                let _ = writeln!(
                    text,
                    "{path}: its keys were not checked against its filters, which are named {name}: {why}"
                );
            }
        }
    }
    for complaint in databases.iter().flat_map(|database| database.complaints()) {
        text += &format!("{complaint}\n");
    }
    text.extend(problems(reports).iter().map(|problem| format!("{problem}\n")));
    text + &summary(reports, databases)
}

fn summary(reports: &[Report], databases: &[&Database]) -> String {
    let unused = unused(reports);
    let fate = fate_of_unused(unused.tables, Some(unused.entries));
    let worth = worth_of_named(reports.iter());
    let levels = databases.iter().filter_map(|database| database.other_owner());
    let outside = levels.chain([worth, fate]).filter(|text| !text.is_empty());
    let outside: String = outside.map(|text| wrap(&text, "")).collect();
    let mut seen = reports.iter().filter(|report| report.is_seen()).peekable();
    if seen.peek().is_none() {
        let why = no_tables(reports, databases);
        return wrap(&format!("{why} There is nothing to verify."), "") + &outside;
    }
    let total = sums(seen);
    let lost: u64 = reports.iter().map(Report::keys_lost).sum();
    let damaged = reports.iter().filter(|r| r.is_wrong() && r.is_damaged()).count();
    let unread = reports.iter().filter(|r| r.is_unread() && !r.is_damaged()).count();
    let read = format!(
        "{}, {}, {}{}: {} read, {} of them checked against filters{}",
        plural(total.tables, "table", "tables"),
        bytes(total.file_bytes),
        plural(total.data_blocks, "data block", "data blocks"),
        match total.blocks_unread {
            0 => String::new(),
            unread => format!(
                " of which {} could be read and {} could not",
                count(total.data_blocks - unread),
                count(unread)
            ),
        },
        plural(total.entries, "entry", "entries"),
        count(total.bloom.keys_checked),
        match total.bloom.ribbons() {
            0 => String::new(),
            _ => format!(": {}", encodings(&total)),
        },
    );
    // What was not seen is neither lost nor right.
    let all = damaged + unread == 0;
    let keys = match lost {
        0 if total.bloom.keys_checked == 0 && (!all || total.tables_with_filters > 0) => {
            (total.entries > 0).then(|| "no key was checked against a filter".to_owned())
        }
        0 if all => Some("no key is lost".to_owned()),
        0 => Some("none of the keys that were checked is lost".to_owned()),
        lost => Some(plural(lost, "KEY IS LOST", "KEYS ARE LOST")),
    };
    let blocks = match damaged {
        0 if total.data_blocks == total.blocks_unread && !all => None,
        0 if total.blocks_unread > 0 => {
            Some("the checksums that were compared are right".to_owned())
        }
        0 => Some("all checksums are right".to_owned()),
        damaged => Some(plural(damaged as u64, "table is", "tables are") + " DAMAGED"),
    };
    let said: Vec<_> = [keys, blocks].into_iter().flatten().collect();
    let mut verdict = match said.is_empty() {
        true => String::new(),
        false => said.join(", ") + ".",
    };
    if unread > 0 {
        let tables = plural(unread as u64, "table", "tables");
        verdict += &format!(" {tables} could not be read or checked in full.");
    }
    if total.tables_with_filters == 0 && all {
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
        other_owners: Vec<String>,
        range_errors: Vec<String>,
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
        other_owners: databases.iter().filter_map(|it| it.other_owner()).collect(),
        range_errors: databases.iter().flat_map(|database| database.range_errors()).collect(),
        missing_tables: databases
            .iter()
            .flat_map(|database| &database.missing)
            .map(|path| path.to_string_lossy())
            .collect(),
        tables: Lazy(reports.iter().map(table_json)),
    }
}

fn table_json(report: &Report) -> Value {
    let mut value = reports::table_json(report);
    let sums = &report.sums;
    value["compressions"] = sums.compressions.0.keys().map(ToString::to_string).collect();
    value["data_blocks"] = json!(sums.data_blocks);
    value["data_blocks_unread"] = json!(sums.blocks_unread);
    value["entries"] = json!(sums.entries);
    value["keys_checked"] = json!(sums.bloom.keys_checked);
    value["keys_lost"] = json!(report.keys_lost());
    value["encodings"] = json!(sums.bloom.encodings.0);
    value["keys_outside"] = json!(sums.keys_outside);
    value
}
