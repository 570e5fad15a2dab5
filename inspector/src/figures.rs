//! What `inspect` found out, and its figures as text and report show them.

use std::fmt::Write as _;

use leveldb_bloom_table::Compression;

use crate::advise::Advice;
use crate::explain::{self, Note};
use crate::find::{Database, Everything, Place};
use crate::reports;
use crate::scan::Report;
use crate::sums::{Counts, FILL_STEPS, Sums, ratio};
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

impl Findings {
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
    let mut names: Vec<(&str, u64)> = Vec::new();
    for report in reports.iter().filter(|report| report.is_seen()) {
        let name = match &report.policy {
            Some(policy) => &policy.name,
            None if report.opened && report.maker.is_none() => "none",
            None => NOT_KNOWN,
        };
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, number)) => *number += 1,
            None => names.push((name, 1)),
        }
    }
    match &names[..] {
        [(name, _)] => (*name).into(),
        names => {
            let names: Vec<_> = names
                .iter()
                .map(|(name, n)| format!("{name} ({})", plural(*n, "table", "tables")))
                .collect();
            names.join(", ")
        }
    }
}

const NOT_KNOWN: &str = "not known";

/// The figures of all tables, with their names.
pub fn figures(findings: &Findings) -> Vec<(&'static str, String)> {
    let Findings { total: sums, data, reports, .. } = findings;
    let (bloom, data) = (&sums.bloom, *data);
    let mut figures = vec![("policy", policies(reports))];
    figures.push((
        "data blocks",
        format!(
            "{} of {} on average{}{}",
            count(sums.data_blocks),
            bytes(ratio(sums.data_bytes as f64, sums.data_blocks as f64) as u64),
            match sums.data_blocks - sums.blocks_unread {
                read if read > 0 && contents_differ(sums) => format!(
                    ", {} decompressed",
                    bytes(ratio(sums.contents_bytes as f64, read as f64) as u64)
                ),
                _ => String::new(),
            },
            unread(sums)
        ),
    ));
    if data {
        figures.push(("compression", compressions(sums).unwrap_or(NOT_KNOWN.into())));
        let deletions = match sums.deletions {
            0 => String::new(),
            n => format!(", {} of them deletions", count(n)),
        };
        let read = if unread(sums).is_empty() { "" } else { ", as far as they could be read" };
        figures.push(("entries", count(sums.entries) + &deletions + read));
    } else if bloom.filters > 0 {
        figures.push((
            "entries",
            format!(
                "about {} by the filters{}",
                count(bloom.estimated_keys as u64),
                match sums.tables - sums.tables_with_filters {
                    0 => String::new(),
                    without => format!(
                        ", without those of {} of which no filters are known",
                        plural(without, "table", "tables")
                    ),
                }
            ),
        ));
    }
    if sums.tables_with_filters == 0 {
        return figures;
    }
    figures.push((
        "filters",
        format!(
            "{} in {} slots, {} empty",
            count(sums.slots - sums.empty_slots),
            count(sums.slots),
            count(sums.empty_slots)
        ),
    ));
    figures.push((
        "filter bytes",
        format!(
            "{}, {} of the tables",
            bytes(sums.filter_block_bytes),
            percent(ratio(sums.filter_block_bytes as f64, sums.file_bytes as f64))
        ),
    ));
    if bloom.filters == 0 {
        return figures;
    }
    if data {
        let keys = &bloom.keys_per_filter;
        figures.push((
            "keys per filter",
            match keys.total() {
                0 => NOT_KNOWN.into(),
                _ => format!(
                    "{} / {} / {} (least, median, most)",
                    count(keys.min()),
                    count(keys.median()),
                    count(keys.max())
                ),
            },
        ));
    }
    if bloom.ribbons() > 0 {
        figures.push(("encoding", encodings(sums)));
    }
    let probes: Vec<_> = bloom.probes.0.keys().map(u64::to_string).collect();
    if !probes.is_empty() {
        figures.push(("probes, k", probes.join(", ")));
    }
    let spent = match bloom.spent(data) {
        Some(spent) if data => format!("{} spent", tenths(spent)),
        Some(spent) => format!("about {} spent", tenths(spent)),
        None => format!("what is spent is {NOT_KNOWN}"),
    };
    figures.push(("bits per key", format!("{} set, {spent}", explain::bits_of(sums))));
    let of = if bloom.ribbons() > 0 { " of LevelDB's own filters" } else { "" };
    if bloom.bloom_bits > 0 {
        figures.push(("fill", format!("{} of the bits{of} are set", percent(bloom.fill()))));
    }
    figures.push((
        "false positives",
        match bloom.asked {
            0 => format!("{} estimated from the filters' bits", percent(bloom.estimated())),
            asked => format!(
                "{} estimated, {} measured with {} absent keys",
                percent(bloom.estimated()),
                percent(bloom.measured()),
                count(asked)
            ),
        },
    ));
    if data {
        let used = reports.iter().filter(|report| report.place.is_used());
        let lost = match (bloom.keys_lost, explain::made_for(used)) {
            (0, None) if bloom.keys_checked == 0 => "none could be checked".into(),
            (0, None) if unread(sums).is_empty() => "all match their filters".into(),
            (0, None) => {
                format!("{} could be checked, and match their filters", count(bloom.keys_checked))
            }
            (0, Some(how)) => format!("match their filters {how}, as far as they were tried"),
            (lost, _) => format!("{} DO NOT match their filters", count(lost)),
        };
        figures.push(("keys", lost));
    }
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

fn contents_differ(sums: &Sums) -> bool {
    sums.compressions.0.keys().any(|how| *how != Compression::None)
}

/// How data blocks are stored: `snappy`, or each way with its number of blocks; nothing where none was read.
pub fn compressions(sums: &Sums) -> Option<String> {
    let each: Vec<_> = match sums.compressions.0.iter().collect::<Vec<_>>()[..] {
        [] => return None,
        [(only, _)] => vec![only.to_string()],
        ref all => all.iter().map(|(how, n)| format!("{how} ({})", count(**n))).collect(),
    };
    Some(each.join(", "))
}

/// The rows of the fill histogram, without the empty ones at both ends.
pub fn fill_rows(sums: &Sums) -> Vec<(String, u64)> {
    let (fill, width) = (&sums.bloom.fill, 100 / FILL_STEPS);
    let label = |step: u64| format!("{}-{} %", step * width, (step + 1) * width);
    (fill.min()..=fill.max()).map(|step| (label(step), fill.get(step))).collect()
}

pub fn keys_rows(sums: &Sums) -> Vec<(String, u64)> {
    let ranges = sums.bloom.keys_per_filter.ranges(12);
    let label = |first, last| match first == last {
        true => count(first),
        false => format!("{}-{}", count(first), count(last)),
    };
    ranges.into_iter().map(|(first, last, number)| (label(first, last), number)).collect()
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
        Place::Unused | Place::Stray | Place::Named => "unused".into(),
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
        of_filters(percent(if bloom.asked > 0 { bloom.measured() } else { bloom.estimated() })),
    ]
}
