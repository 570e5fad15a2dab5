//! `inspect`: what the filters hold and cost.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use serde_json::{Value, json};

use crate::advise::{Advice, DEFAULT_OPEN_FILES, advise};
use crate::explain::{self, Note, Weight};
use crate::figures::{Findings, TABLE_COLUMNS, describe, figures, fill_rows, keys_rows};
use crate::find::{Database, Everything, Place, find};
use crate::html;
use crate::reports::{self, problems};
use crate::scan::{Format, Options, Report};
use crate::source::{self, Told, Wanted};
use crate::sums::{FILL_STEPS, Sums};
use crate::text::{self, BAD, BOLD, WASTED, bytes, histogram, percent, plural, styled, wrap};
use crate::work::scan_all;
use crate::{Failure, Lazy, print, print_json};

#[derive(Args)]
pub struct Inspect {
    /// Database folders, or table files (.ldb, .sst)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
    /// Write a page with plots that needs no network; -: to stdout
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Read indexes and filters only; keys are estimated
    #[arg(long)]
    quick: bool,
    /// List all tables, not just the first 20
    #[arg(long)]
    all: bool,
}

/// Absent keys to ask in all, and of a table at least.
const ABSENT: u64 = 1_000_000;
const ABSENT_OF_A_TABLE: u64 = 2_000;
const ABSENT_OF_ONE_TABLE: u64 = 200_000;

const TABLES_SHOWN: usize = 20;

pub fn run(args: &Inspect) -> Result<ExitCode, Failure> {
    let to_stdout = args.html.as_deref().is_some_and(is_stdout);
    if to_stdout && args.json {
        return Err("--json and --html - both write to stdout; name a file after --html".into());
    }
    let everything = find(&args.paths)?;
    // Before anything is read, which may take long.
    let page = match &args.html {
        Some(path) if !to_stdout => {
            let file = open_page(path, &args.paths, &everything);
            Some(file.map_err(|error| format!("{}: {error}", text::path(path)))?)
        }
        _ => None,
    };
    let tables = everything.tables.len().max(1) as u64;
    let options = Options {
        data: !args.quick,
        absent: if args.quick {
            0
        } else {
            (ABSENT / tables).clamp(ABSENT_OF_A_TABLE, ABSENT_OF_ONE_TABLE)
        },
        keep: reports::KEPT,
        whole_keys: args.json,
    };
    let reports = scan_all(&everything.tables, options);
    let total = reports::sums(reports.iter().filter(|report| report.place.is_used()));
    let databases: Vec<&Database> = everything.databases.iter().map(AsRef::as_ref).collect();
    let mut notes = explain::explain(&reports, &databases, &total, options.data);
    // The report has a plot of all settings.
    let with_plot = args.html.is_some();
    let mut quiet = Told { quiet: true, ..Told::default() };
    let advice = (!args.quick)
        .then(|| advise(&everything, &mut quiet, DEFAULT_OPEN_FILES, with_plot))
        .flatten();
    notes.extend(advice.as_ref().and_then(ordered_keys));
    notes.extend(in_logs(&everything, total.entries));
    if notes.iter().any(|note| note.topic == "ordered-keys") {
        notes.retain(|note| note.topic != "rate");
    }
    notes.sort_by_key(|note| (note.weight, note.topic != "ordered-keys"));
    let findings = Findings { everything, reports, total, notes, advice, data: options.data };

    // Whatever becomes of the report, what was found is shown.
    let written = match (&args.html, page) {
        (Some(path), Some(file)) => write_over(file, &html::page(&findings))
            .map_err(|error| format!("{}: {error}", text::path(path))),
        _ => Ok(()),
    };
    if args.json {
        print_json(&to_json(&findings))?;
    } else if to_stdout {
        print(&html::page(&findings))?;
    } else if args.html.is_some() && written.is_ok() {
        print(&lead(&findings).unwrap_or_default())?;
    } else {
        print(&to_text(&findings, args.all))?;
    }
    written?;
    if let Some(path) = args.html.as_ref().filter(|_| !args.json && !to_stdout) {
        print(&format!("The report is in {}.\n", text::path(path)))?;
    }
    Ok(reports::status(&findings.reports, &findings.databases()).into())
}

/// Whether stdout is meant. Opened by another name, a file there would have the report and what is
/// shown in one place.
fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-" || path == Path::new("/dev/stdout") || is_what_stdout_is(path)
}

/// Whether it is the file or the pipe at stdout: `/dev/fd/1`, or a name that a shell has after `>`
/// as well. Of a device, such as /dev/null, both may be.
#[cfg(unix)]
fn is_what_stdout_is(path: &Path) -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    // Asked of the descriptor: not every system has /dev/stdout.
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let (own, stdout) = (fs::metadata(path), stdout.and_then(|file| file.metadata()));
    own.ok().zip(stdout.ok()).is_some_and(|(own, stdout)| {
        !own.file_type().is_char_device() && (own.dev(), own.ino()) == (stdout.dev(), stdout.ino())
    })
}

#[cfg(not(unix))]
fn is_what_stdout_is(_: &Path) -> bool {
    false
}

/// What every report begins with.
const BEGINNING: &[u8] = b"<!doctype html>";

/// FILE, to write the report into. After `--html` without it, a shell's DB/* has the first table or
/// log in its place, which is not to become a report.
fn open_page(path: &Path, paths: &[PathBuf], everything: &Everything) -> Result<File, String> {
    if let Ok(own) = fs::canonicalize(path) {
        let tables = everything.tables.iter().map(|found| &found.path);
        let is_own = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|path| path == own);
        if paths.iter().chain(tables).any(is_own) {
            return Err("the report would be written over what it is about; --html takes the \
                        report's name first: inspect --html report.html DB"
                .into());
        }
    }
    if fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        let mut beginning = Vec::new();
        File::open(path)
            .and_then(|file| file.take(BEGINNING.len() as u64).read_to_end(&mut beginning))
            .map_err(|error| error.to_string())?;
        // An empty one says nothing of itself; beside a CURRENT it is LevelDB's log, or LOCK.
        let is_nobodys = beginning.is_empty()
            && fs::canonicalize(path).is_ok_and(|path| !path.with_file_name("CURRENT").exists());
        if !is_nobodys && !beginning.eq_ignore_ascii_case(BEGINNING) {
            return Err("this file is there and no report, so that it is not written over; name \
                        another one after --html (inspect --html report.html DB), or remove it \
                        first"
                .into());
        }
    }
    let mut options = File::options();
    // What is there stays until there is something to write.
    let file = options.write(true).create(true).truncate(false).open(path);
    let mut file = file.map_err(|error| error.to_string())?;
    if file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) {
        // Whoever interrupts us can write the report there the next time. Where there is no room,
        // that is said once what was found is shown.
        let _ = file.write_all(BEGINNING);
    }
    Ok(file)
}

fn write_over(mut file: File, text: &str) -> io::Result<()> {
    let is_file = file.metadata()?.is_file();
    if is_file {
        file.set_len(0)?;
        file.rewind()?;
    }
    let written = file.write_all(text.as_bytes());
    if is_file && written.is_err() {
        // A page that ends too early looks like one with less in it. Its beginning `open_page`
        // knows for a report's.
        let len = file.metadata().map_or(0, |metadata| metadata.len());
        let beginning = BEGINNING.len() as u64;
        let _ = file.set_len(if len < beginning { 0 } else { beginning });
    }
    written
}

/// That absent keys pass because of what keys look like.
fn ordered_keys(advice: &Advice) -> Option<Note> {
    let pass = advice.rows.iter().find(|row| row.present)?.neighbours_pass?;
    let text = format!(
        "Absent keys beside present ones pass the filters {} of the time, because keys are {}, which LevelDB's \
         hash hardly tells apart: use ribbon filters (leveldb_bloom_filterpolicy_create_ribbon, or {}); \
         `leveldb-bloom advise` says what that and other settings bring.",
        percent(pass),
        advice.kind,
        explain::RIBBON
    );
    let is_worth = advice.ordered && pass > 0.03;
    is_worth.then_some(Note { weight: Weight::Wasted, topic: "ordered-keys", text })
}

/// What is in no table yet, where that is much.
fn in_logs(everything: &Everything, in_tables: u64) -> Option<Note> {
    let mut told = Told { quiet: true, ..Told::default() };
    let (mut writes, mut len) = (0, 0);
    for path in everything.databases.iter().flat_map(|database| source::logs(database)) {
        len += fs::metadata(&path).map_or(0, |metadata| metadata.len());
        let _ = source::log(&path, &Wanted::default(), &mut told, &mut |_| {
            writes += 1;
            ControlFlow::Continue(())
        });
    }
    let text = format!(
        "{} of {} still in the log and in no table: LevelDB holds them in memory and asks no filter for them. \
         They get filters once the log has write_buffer_size bytes, or a program compacts the database \
         (leveldb_compact_range); look again then.",
        plural(writes, "write", "writes"),
        bytes(len) + if writes == 1 { " is" } else { " are" }
    );
    (writes > in_tables / 10).then_some(Note { weight: Weight::Note, topic: "log", text })
}

/// What costs most, and what cures it.
fn lead(findings: &Findings) -> Option<String> {
    let is_first =
        |note: &&Note| note.weight != Weight::Note || matches!(note.topic, "log" | "no-filters");
    let note = findings.notes.iter().find(is_first)?;
    let rewrite = format!("with a sound policy, {}", explain::REWRITE);
    let cure = match note.topic {
        "lost-keys" | "match-all" | "uncovered" => &rewrite,
        "ranges" => "leveldb_repair_db, on a copy, writes what the tables have",
        "missing-tables" | "manifest" => {
            "take them from a backup, or let leveldb_repair_db, on a copy, do without"
        }
        "other-name" => "give LevelDB a policy of that name, or have it write all tables again",
        "no-filters" | "too-few-bits" => {
            "set 10 bits per key (NewBloomFilterPolicy(10)), and have all tables written again"
        }
        "too-many-bits" => "set 10 to 20 bits per key, and have all tables written again",
        "cost" => "`leveldb-bloom advise` says which block_size and bits cost less",
        _ => "",
    };
    let text = match cure {
        "" => note.text.clone(),
        _ => {
            let end = note.text.find([':', ';']).into_iter().chain(note.text.find(". ")).min();
            let what = note.text[..end.unwrap_or(note.text.len())].trim_end_matches('.');
            format!("{what}: {cure}.")
        }
    };
    let style = if note.weight == Weight::Wrong { BAD } else { BOLD };
    let styled_lines =
        wrap(&text, "").lines().map(|line| styled(style, line) + "\n").collect::<String>();
    Some(format!("\n{styled_lines}"))
}

fn to_text(findings: &Findings, all: bool) -> String {
    let mut text = String::new();
    for database in findings.databases() {
        let _ = writeln!(text, "{}", describe(database));
    }
    let nothing = findings.nothing();
    if let Some(why) = nothing {
        let _ = writeln!(text, "{why}");
    }
    text += &lead(findings).unwrap_or_default();
    if !findings.reports.is_empty() {
        text += "\n";
        if nothing.is_none() {
            for (label, figure) in figures(findings) {
                let _ = writeln!(text, "  {label:<17} {figure}");
            }
            text += &histograms(&findings.total, findings.data);
            text += "\n";
        }
        text += &tables(findings, all);
        text += &problems(&findings.reports, false);
    }
    if !findings.notes.is_empty() {
        let _ = writeln!(text, "\n{}", styled(BOLD, "What this means"));
    }
    for note in &findings.notes {
        let (mark, style) = match note.weight {
            Weight::Wrong => ("!", BAD),
            Weight::Wasted => ("*", WASTED),
            Weight::Note => ("-", BOLD),
        };
        text += &wrap(&note.text, &format!("{mark} ")).replacen(mark, &styled(style, mark), 1);
    }
    text
}

fn histograms(sums: &Sums, data: bool) -> String {
    if sums.bloom.filters == 0 {
        return String::new();
    }
    let mut text = match sums.bloom.bloom_bits {
        0 => String::new(),
        _ => format!("\nFilters by fill\n{}", histogram(&fill_rows(sums))),
    };
    if data {
        let _ = write!(text, "\nFilters by keys\n{}", histogram(&keys_rows(sums)));
    }
    text
}

fn tables(findings: &Findings, all: bool) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(TABLE_COLUMNS);
    let shown = if all { usize::MAX } else { TABLES_SHOWN };
    for (_, row) in findings.rows().take(shown) {
        table.add_row(row);
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        if i == 0 {
            // Up to the edge: an 80th column is needed.
            column.set_padding((0, 1));
        } else {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = format!("{}\n", table.trim_fmt());
    let left = findings.reports.len().saturating_sub(shown);
    if left > 0 {
        let _ = writeln!(
            text,
            " and {}; --all lists them.",
            plural(left as u64, "more table", "more tables")
        );
    }
    text
}

fn to_json(findings: &Findings) -> impl Serialize {
    #[derive(Serialize)]
    struct Json<'f, T> {
        version: &'static str,
        data_read: bool,
        databases: Vec<Value>,
        total: Value,
        unused_tables: u64,
        unused_entries: Option<u64>,
        notes: &'f [Note],
        tables: T,
    }
    let data = findings.data;
    let unused = reports::unused(&findings.reports);
    let database_json = |database: &&Database| {
        json!({
            "folder": database.folder.to_string_lossy(),
            "comparator": database.comparator(),
            "manifest_error": database.version.as_ref().err().map(ToString::to_string),
            "range_errors": database.range_errors().collect::<Vec<_>>(),
            "missing_tables": database.missing.iter().map(|p| p.to_string_lossy()).collect::<Vec<_>>(),
        })
    };
    Json {
        version: env!("CARGO_PKG_VERSION"),
        data_read: data,
        databases: findings.databases().iter().map(database_json).collect(),
        total: sums_json(&findings.total, data),
        unused_tables: unused.tables,
        unused_entries: data.then_some(unused.entries),
        notes: &findings.notes,
        tables: Lazy(findings.reports.iter().map(move |report| table_json(report, data))),
    }
}

pub fn table_json(report: &Report, data: bool) -> Value {
    let mut value = sums_json(&report.sums, data);
    value["number"] = json!(report.number);
    value["level"] = match report.place {
        Place::Level(level) => json!(level),
        _ => Value::Null,
    };
    value["policy_kind"] = json!(report.policy.as_ref().map(|policy| match policy.format {
        Format::LevelDb => "leveldb",
        Format::OtherName => "other name, same bits",
        Format::Foreign => "own",
        Format::Mismatched => "another format",
    }));
    value["keys_in_byte_order"] = json!(data.then_some(report.bytewise));
    if let (Value::Object(all), Value::Object(more)) = (&mut value, reports::table_json(report)) {
        all.extend(more);
    }
    value
}

fn sums_json(sums: &Sums, data: bool) -> Value {
    let bloom = &sums.bloom;
    let keys = &bloom.keys_per_filter;
    let of_data = |value: u64| data.then_some(value);
    let [others_measured, ribbon_measured] = bloom.measured_apart();
    let settings = sums.settings.one().map(|least| json!([least, sums.settings.most]));
    let filters = (bloom.filters > 0).then(|| {
        json!({
            "bytes": bloom.filter_bytes,
            "bits": bloom.bits,
            "bits_set": bloom.bits_set,
            "fill": bloom.fill(),
            "encodings": bloom.encodings.0,
            "tables_by_encoding": bloom.tables.0,
            "ribbon_bits": bloom.ribbon_bits.0,
            "fill_histogram": (0..FILL_STEPS).map(|step| bloom.fill.get(step)).collect::<Vec<_>>(),
            "probes": bloom.probes.0,
            "match_all": bloom.match_all,
            "keys_per_filter": data.then(|| json!({
                "min": keys.min(), "median": keys.median(), "mean": keys.mean(), "max": keys.max(),
                "histogram": keys.ranges(12).iter().map(|(first, last, filters)| json!({
                    "from": first, "to": last, "filters": filters,
                })).collect::<Vec<_>>(),
            })),
            "bits_per_key_set": settings,
            "bits_per_key_spent": bloom.spent(data),
            "estimated_keys": bloom.estimated_keys,
            "false_positive_rate_estimated": bloom.estimated(),
            "false_positive_rate_measured": (bloom.asked > 0).then(|| bloom.measured()),
            "measured_by_encoding": { "bloom": others_measured, "ribbon": ribbon_measured },
            "absent_keys_asked": bloom.asked,
            "absent_keys_passed": bloom.yes,
            "keys_checked": of_data(bloom.keys_checked),
            "keys_lost": of_data(bloom.keys_lost),
        })
    });
    json!({
        "tables": sums.tables,
        "tables_with_filters": sums.tables_with_filters,
        "file_bytes": sums.file_bytes,
        "index_bytes": sums.index_bytes,
        "data_blocks": sums.data_blocks,
        "data_blocks_unread": of_data(sums.blocks_unread),
        "compressions": data.then(|| sums.compressions.0.iter()
            .map(|(how, blocks)| (how.to_string(), json!(blocks))).collect::<serde_json::Map<_, _>>()),
        "data_bytes": sums.data_bytes,
        "data_bytes_decompressed": of_data(sums.contents_bytes),
        "entries": of_data(sums.entries),
        "deletions": of_data(sums.deletions),
        "filter_block_bytes": sums.filter_block_bytes,
        "filters": sums.slots - sums.empty_slots,
        "slots": sums.slots,
        "empty_slots": sums.empty_slots,
        "blocks_without_slot": sums.uncovered_blocks,
        "keys_outside": of_data(sums.keys_outside),
        "bloom": filters,
    })
}
