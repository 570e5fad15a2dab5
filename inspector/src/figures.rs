//! What `inspect` found out, and its figures as text and report show them.

use std::fmt::{Display, Write as _};

use leveldb_bloom_table::Compression;

use crate::advise::Advice;
use crate::explain::{self, Note};
use crate::find::{Database, Everything, Place};
use crate::reports;
use crate::scan::Report;
use crate::sums::{Counts, Sums, ratio};
use crate::text::{self, bytes, count, percent, plural, tenths};
use crate::work::name;

/// All that was found out.
pub struct Findings {
    pub everything: Everything,
    pub reports: Vec<Report>,
    pub total: Sums,
    pub notes: Vec<Note>,
    /// What settings give, as far as they were tried.
    pub advice: Option<Advice>,
    /// The data blocks were read.
    pub data: bool,
}

/// The two kinds of absent keys that filters are asked for: those that are as any others, and those between
/// two that are there, which keys in order have many of.
pub const RANDOM: &str = "random absent keys";
pub const NEIGHBOURS: &str = "absent neighbours";

impl Findings {
    pub fn new(
        everything: Everything,
        reports: Vec<Report>,
        advice: Option<Advice>,
        data: bool,
    ) -> Self {
        let total = reports::sums(reports.iter().filter(|report| report.place.is_used()));
        let mut it = Findings { everything, reports, total, notes: Vec::new(), advice, data };
        it.notes = explain::explain(&it);
        it
    }

    pub fn databases(&self) -> Vec<&Database> {
        self.everything.databases.iter().map(AsRef::as_ref).collect()
    }

    /// Why there are no figures, if there are none.
    pub fn nothing(&self) -> Option<&'static str> {
        let any_seen = self.reports.iter().any(Report::is_seen);
        (!any_seen).then(|| reports::no_tables(&self.reports, &self.databases()))
    }

    /// The tables, each with its row of [`TABLE_COLUMNS`], where those of several folders are told
    /// apart.
    pub fn rows(&self) -> impl Iterator<Item = (&Report, [String; 9])> {
        let mut folders = self.reports.iter().map(|report| report.path.parent());
        let first = folders.next();
        let named = if folders.all(|folder| Some(folder) == first) { name } else { text::path };
        self.reports
            .iter()
            .map(move |report| (report, table_row(report, named(&report.path), self.data)))
    }
}

pub fn describe(database: &Database) -> String {
    let folder = text::path(&database.folder);
    let Ok(version) = &database.version else { return folder };
    let mut levels: Counts = Counts::default();
    for table in version.tables.values() {
        levels.count(table.level.into());
    }
    let levels: Vec<_> =
        levels.0.iter().map(|(level, n)| format!("{n} in level {level}")).collect();
    let mut text = format!("{folder}: {}", plural(version.tables.len() as u64, "table", "tables"));
    if !levels.is_empty() {
        let _ = write!(text, " ({})", levels.join(", "));
    }
    if let Some(comparator) = &version.comparator {
        let _ = write!(text, ", {comparator}");
    }
    text
}

/// The names of the policies, with how many tables have them.
fn policies(reports: &[Report]) -> String {
    let mut names = Counts::default();
    for report in reports.iter().filter(|report| report.is_seen()) {
        names.count(match &report.policy {
            Some(policy) => &*policy.name,
            None if report.opened && report.maker.is_none() => "none",
            None => NOT_KNOWN,
        });
    }
    listed(&names, |tables| plural(tables, "table", "tables"))
}

/// What there is, each with its number where there are several: `snappy (5), none (3)`.
fn listed<T: Display>(counts: &Counts<T>, number: impl Fn(u64) -> String) -> String {
    let each = counts.0.iter().map(|(what, n)| match counts.0.len() {
        1 => what.to_string(),
        _ => format!("{what} ({})", number(*n)),
    });
    each.collect::<Vec<_>>().join(", ")
}

const NOT_KNOWN: &str = "not known";

/// The figures of all tables, with their names.
pub fn figures(findings: &Findings) -> Vec<(&'static str, String)> {
    let Findings { total: sums, data, reports, .. } = findings;
    let (bloom, data, mut figures) = (&sums.bloom, *data, Vec::new());
    let mut add = |name, figure| figures.push((name, figure));
    add("tables", format!("{}, {}", count(sums.tables), bytes(sums.file_bytes)));
    add("policy", policies(reports));
    let mean = |total: u64, of: u64| bytes(ratio(total as f64, of as f64) as u64);
    let decompressed = match sums.data_blocks - sums.blocks_unread {
        read if read > 0 && sums.compressions.0.keys().any(|how| *how != Compression::None) => {
            format!(", {} decompressed", mean(sums.contents_bytes, read))
        }
        _ => String::new(),
    };
    let (blocks, unread) = (count(sums.data_blocks), unread(sums));
    let size = mean(sums.data_bytes, sums.data_blocks);
    add("data blocks", format!("{blocks} of {size} on average{decompressed}{unread}"));
    if data {
        let listed = listed(&sums.compressions, count);
        add("compression", if listed.is_empty() { NOT_KNOWN.into() } else { listed });
        let deletions = match sums.deletions {
            0 => String::new(),
            n => format!(", {} of them deletions", count(n)),
        };
        let read = if unread.is_empty() { "" } else { ", as far as they could be read" };
        add("entries", count(sums.entries) + &deletions + read);
    } else if bloom.filters > 0 {
        let others = match sums.tables - sums.tables_with_filters {
            0 => String::new(),
            n => format!(
                ", not counting {} whose filters are not known",
                plural(n, "table", "tables")
            ),
        };
        let keys = count(bloom.estimated_keys as u64);
        add("entries", format!("about {keys}, estimated from the filters{others}"));
    }
    if sums.tables_with_filters == 0 {
        return figures;
    }
    let (filters, empty) = (count(sums.slots - sums.empty_slots), count(sums.empty_slots));
    add("filters", format!("{filters} in {} slots, {empty} empty", count(sums.slots)));
    let share = percent(ratio(sums.filter_block_bytes as f64, sums.file_bytes as f64));
    add("filter bytes", format!("{}, {share} of the tables", bytes(sums.filter_block_bytes)));
    if bloom.filters == 0 {
        return figures;
    }
    let keys = &bloom.keys_per_filter;
    let of = [keys.min(), keys.median(), keys.max()].map(count).join(" / ");
    match keys.total() {
        _ if !data => {}
        0 => add("keys per filter", NOT_KNOWN.into()),
        _ => add("keys per filter", format!("{of} (least, median, most)")),
    }
    if bloom.ribbons() > 0 {
        add("encoding", encodings(sums));
    }
    let probes: Vec<_> = bloom.probes.0.keys().map(u64::to_string).collect();
    if !probes.is_empty() {
        add("probes, k", probes.join(", "));
    }
    let spent = match bloom.spent(data) {
        Some(spent) if data => format!("{} spent", tenths(spent)),
        Some(spent) => format!("about {} spent", tenths(spent)),
        None => format!("what is spent is {NOT_KNOWN}"),
    };
    add("bits per key", format!("{} set, {spent}", explain::bits_of(sums)));
    let of = if bloom.ribbons() > 0 { " of LevelDB's own filters" } else { "" };
    if bloom.bloom_bits > 0 {
        add("fill", format!("{} of the bits{of} are set", percent(bloom.fill())));
    }
    let estimated = percent(bloom.estimated());
    add("false positives", format!("{estimated} estimated from the filters' bits"));
    let kinds = [(RANDOM, bloom.measured()), (NEIGHBOURS, bloom.neighbours())];
    let kinds =
        kinds.iter().filter_map(|(kind, pass)| Some(format!("{kind} {}", percent((*pass)?))));
    let measured = kinds.collect::<Vec<_>>().join(", ");
    if !measured.is_empty() {
        add("measured", measured);
    }
    let checked = bloom.keys_checked;
    let used = reports.iter().filter(|report| report.place.is_used());
    let keys = match (bloom.keys_lost, explain::made_for(used)) {
        _ if !data => return figures,
        (0, None) if checked == 0 => "none could be checked".into(),
        (0, None) if unread.is_empty() => "all match their filters".into(),
        (0, None) => format!("{} could be checked, and match their filters", count(checked)),
        (0, Some(how)) => format!("match their filters {how}, as far as they were tried"),
        (lost, _) => format!("{} DO NOT match their filters", count(lost)),
    };
    add("keys", keys);
    figures
}

/// How many filters, in how many tables, have each encoding: `ribbon 10 (5 filters in 1 table), ...`.
pub fn encodings(sums: &Sums) -> String {
    let bloom = &sums.bloom;
    let bits: Vec<_> = bloom.ribbon_bits.0.keys().map(u64::to_string).collect();
    let each = bloom.encodings.0.iter().map(|(encoding, filters)| {
        let (tables, filters) =
            (bloom.tables.0.get(encoding), plural(*filters, "filter", "filters"));
        let tables = plural(tables.copied().unwrap_or(0), "table", "tables");
        let of = if *encoding == "ribbon" {
            format!(" of {} bits", bits.join(", "))
        } else {
            String::new()
        };
        format!("{encoding}{of} ({filters} in {tables})")
    });
    each.collect::<Vec<_>>().join(", ")
}

/// How many data blocks could not be read; nothing where all could.
fn unread(sums: &Sums) -> String {
    match sums.blocks_unread {
        0 => String::new(),
        unread => format!("; {} could not be read", count(unread)),
    }
}

/// In two lines where one is wider than the figures below it.
pub const TABLE_COLUMNS: [&str; 9] = [
    "table",
    "level",
    "size",
    "blocks",
    "entries",
    "filters",
    "bits\nper key",
    "stored\nas",
    "false\npositives",
];

fn table_row(report: &Report, name: String, data: bool) -> [String; 9] {
    let (sums, bloom) = (&report.sums, &report.sums.bloom);
    let level = match report.place {
        Place::Level(level) => level.to_string(),
        Place::Unused | Place::Named => "unused".into(),
        Place::Unknown => "?".into(),
    };
    if report.vanished {
        let mut row = <[String; 9]>::default();
        (row[0], row[1], row[2]) = (name, level, "deleted".into());
        return row;
    }
    let keys = if data { bloom.keys_checked as f64 } else { bloom.estimated_keys };
    let of_filters = |text: String| if bloom.filters == 0 { String::new() } else { text };
    [
        name,
        level,
        bytes(sums.file_bytes),
        count(sums.data_blocks),
        if data { count(sums.entries) } else { of_filters(format!("~{}", count(keys as u64))) },
        count(sums.slots - sums.empty_slots),
        of_filters(bloom.spent(data).map_or("?".into(), tenths)),
        sums.compressions.0.keys().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        of_filters(percent(bloom.measured().unwrap_or(bloom.estimated()))),
    ]
}
