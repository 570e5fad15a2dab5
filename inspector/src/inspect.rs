//! `inspect`: what the filters hold and cost.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use serde_json::{Value, json};

use crate::advise::{DEFAULT_OPEN_FILES, advise};
use crate::explain::{Note, Weight};
use crate::figures::{Findings, TABLE_COLUMNS, describe, figures};
use crate::find::{Database, Everything, find};
use crate::html;
use crate::reports::{self, problems, title_of_problems};
use crate::scan::{Format, Options, Report};
use crate::source::Told;
use crate::sums::{FILL_STEPS, Sums};
use crate::text::{self, BAD, BOLD, WASTED, plural, styled, wrap};
use crate::work::scan_all;
use crate::{Lazy, print, print_json};

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

pub fn run(args: &Inspect) -> Result<ExitCode, String> {
    let to_stdout = args.html.as_ref().is_some_and(|path| STDOUT.map(Path::new).contains(&&**path));
    if to_stdout && args.json {
        return Err("--json and --html - both write to stdout; name a file after --html".into());
    }
    let everything = find(&args.paths)?;
    let page = args.html.as_ref().filter(|_| !to_stdout);
    if let Some(path) = page {
        check(path, &args.paths, &everything)
            .map_err(|error| format!("{}: {error}", text::path(path)))?;
    }
    let tables = everything.tables.len().max(1) as u64;
    let options = Options {
        data: !args.quick,
        absent: match args.quick {
            true => 0,
            false => (ABSENT / tables).clamp(ABSENT_OF_A_TABLE, ABSENT_OF_ONE_TABLE),
        },
        keep: reports::KEPT,
        whole_keys: args.json,
    };
    let reports = scan_all(&everything.tables, options);
    // The report has a plot of other settings.
    let advice = (args.html.is_some() && options.data)
        .then(|| advise(&everything, &mut Told::quiet(), DEFAULT_OPEN_FILES).ok())
        .flatten();
    let findings = Findings::new(everything, reports, advice, options.data);

    // Whatever becomes of the report, what was found is shown.
    let written = page.map_or(Ok(()), |path| {
        write(path, &html::page(&findings))
            .map_err(|error| format!("{}: {error}", text::path(path)))
    });
    match page {
        _ if args.json => print_json(&to_json(&findings))?,
        _ if to_stdout => print(&html::page(&findings))?,
        Some(path) if written.is_ok() => print(&format!(
            "{}The report is in {}.\n",
            lead(&findings).unwrap_or_default(),
            text::path(path)
        ))?,
        _ => print(&to_text(&findings, args.all))?,
    }
    written?;
    Ok(reports::status(&findings.reports, &findings.databases()).into())
}

/// The names of stdout.
const STDOUT: [&str; 2] = ["-", "/dev/stdout"];

/// What every report begins with.
const BEGINNING: &[u8] = b"<!doctype html>";

/// Whether the report may be written there, as far as can be told before all is read, which may take long.
/// After `--html` without a name, a shell's DB/* has the first table or log in its place.
fn check(path: &Path, paths: &[PathBuf], everything: &Everything) -> Result<(), String> {
    let own = fs::canonicalize(path).ok();
    let mut others = paths.iter().chain(everything.tables.iter().map(|found| &found.path));
    if own.is_some() && others.any(|it| fs::canonicalize(it).ok() == own) {
        return Err("the report would overwrite a file that it reads; the report's name comes right after --html: \
                    inspect --html report.html DB"
            .into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::metadata(folder.unwrap_or(Path::new("."))).map_err(|error| error.to_string())?;
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(());
    }
    let mut beginning = Vec::new();
    File::open(path)
        .and_then(|file| file.take(BEGINNING.len() as u64).read_to_end(&mut beginning))
        .map_err(|error| error.to_string())?;
    // An empty one says nothing of itself; beside a CURRENT it is LevelDB's log, or LOCK.
    let is_nobodys =
        beginning.is_empty() && own.is_some_and(|own| !own.with_file_name("CURRENT").exists());
    match is_nobodys || beginning.eq_ignore_ascii_case(BEGINNING) {
        true => Ok(()),
        false => Err("this file exists and is not a report, so it is not overwritten; name another one after \
                      --html (inspect --html report.html DB), or remove it first"
            .into()),
    }
}

/// Writes the report, all of it or none: one that ends too early looks like one with less in it.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() && file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        let _ = fs::remove_file(path);
    }
    written
}

/// What costs most, and what cures it.
fn lead(findings: &Findings) -> Option<String> {
    let told = |note: &Note| Some((note.weight, note.lead.clone()?));
    let (weight, text) = findings.notes.iter().find_map(told)?;
    let style = if weight == Weight::Wrong { BAD } else { BOLD };
    let lines = wrap(&text, "");
    Some(
        "\n".to_owned() + &lines.lines().map(|line| styled(style, line) + "\n").collect::<String>(),
    )
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
            text += "\n";
        }
        text += &tables(findings, all);
        let problems = problems(&findings.reports);
        if !problems.is_empty() {
            let title = title_of_problems(&findings.reports);
            let _ = writeln!(text, "\n{title}\n{}", problems.join("\n"));
        }
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
    value["level"] = json!(report.place.level());
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
            "false_positive_rate_measured": bloom.measured(),
            "false_positive_rate_neighbours": bloom.neighbours(),
            "measured_by_encoding": { "bloom": others_measured, "ribbon": ribbon_measured },
            "absent_keys_asked": bloom.answers.random.asked,
            "absent_keys_passed": bloom.answers.random.passed,
            "neighbours_asked": bloom.answers.near.asked,
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
