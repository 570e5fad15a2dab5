//! What the figures mean, in sentences.

use std::fs;
use std::ops::ControlFlow;

use leveldb_bloom::{MAX_USEFUL_BITS_PER_KEY, POLICY_NAME};
use serde::Serialize;

use crate::figures::{Findings, NEIGHBOURS, RANDOM};
use crate::manifest::BYTEWISE;
use crate::reports;
use crate::scan::{Format, OTHER_NAME, Report};
use crate::source::{self, Told, Wanted};
use crate::sums::{Counts, Sums, ratio};
use crate::text::{self, bytes, capitalised, count, percent, plural, tenths};
use crate::transform::Transform;

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Reads give wrong answers.
    Wrong,
    /// Memory or time is spent for nothing.
    Wasted,
    /// Good to know.
    Note,
}

#[derive(Debug, Serialize)]
pub struct Note {
    pub weight: Weight,
    /// A word to look for, which stays the same over versions.
    pub topic: &'static str,
    pub text: String,
    /// What it says, and what cures it, in one sentence; nothing where nothing has to be cured.
    #[serde(skip)]
    pub lead: Option<String>,
}

/// The notes on all tables, the most important first.
pub fn explain(findings: &Findings) -> Vec<Note> {
    let (used, unused) = findings.reports.iter().partition(|report| report.place.is_used());
    let mut notes = Notes { notes: Vec::new(), used, unused, total: &findings.total, findings };
    notes.lost_keys();
    notes.ranges();
    notes.missing_tables();
    notes.of_databases();
    notes.ordered_keys();
    notes.names();
    notes.own_policies();
    notes.comparator();
    notes.no_filters();
    notes.encodings();
    notes.match_all();
    notes.settings();
    notes.cost();
    notes.who_queries();
    notes.in_logs();
    notes.of_tables();
    notes.notes.sort_by_key(|note| note.weight);
    notes.notes
}

struct Notes<'a> {
    notes: Vec<Note>,
    /// Of the tables that LevelDB reads, as far as is known.
    used: Vec<&'a Report>,
    unused: Vec<&'a Report>,
    total: &'a Sums,
    findings: &'a Findings,
}

impl Notes<'_> {
    fn note(&mut self, topic: &'static str, text: String) {
        self.notes.push(Note { weight: Weight::Note, topic, text, lead: None });
    }

    /// What is the matter, without a full stop; more of it, in sentences; and what cures it.
    fn cured(&mut self, weight: Weight, topic: &'static str, what: &str, more: &str, cure: &str) {
        let sentences = [&format!("{what}."), more, &format!("{}.", capitalised(cure))];
        let sentences: Vec<_> = sentences.into_iter().filter(|text| !text.is_empty()).collect();
        let joint = if what.contains(": ") { ';' } else { ':' };
        let (text, lead) = (sentences.join(" "), Some(format!("{what}{joint} {cure}.")));
        self.notes.push(Note { weight, topic, text, lead });
    }

    fn tables(&self, wanted: impl Fn(&Report) -> bool) -> u64 {
        self.used.iter().filter(|report| wanted(report)).count() as u64
    }

    fn lost_keys(&mut self) {
        let lost = self.total.bloom.keys_lost;
        if lost == 0 {
            return;
        }
        let transform = self.used.iter().filter(|it| it.sums.bloom.keys_lost > 0);
        let (checked, rewrite) = (count(self.total.bloom.keys_checked), with("a sound policy"));
        let what = format!("{} of {checked} keys do not match their filters", count(lost));
        let (more, cure) = match transform.clone().find_map(|report| report.transform) {
            Some(transform) => (
                format!(
                    "Those that were tried match by {transform}. The filters were made for a comparator that sees \
                     only that part of a key, by a policy that is wrapped around the built-in one and has its name. \
                     Opened with the built-in policy, this database loses those keys."
                ),
                "open it with the wrapped policy, and give that a name of its own",
            ),
            None => (
                "They are there, and a Get does not find them, or finds an older value. `leveldb-bloom verify` names \
                 them. Without a filter policy LevelDB finds them."
                    .into(),
                &*rewrite,
            ),
        };
        self.cured(Weight::Wrong, "lost-keys", &what, &more, cure);
    }

    fn ranges(&mut self) {
        let (outside, tables) = (self.total.keys_outside, self.tables(|r| r.sums.keys_outside > 0));
        let errors: usize = self.findings.databases().iter().map(|it| it.untrue.len()).sum();
        let mut said = Vec::new();
        if errors > 0 {
            said.push(format!(
                "The MANIFEST has {} that cannot be so: of a level above 0 it overlaps another, or its smallest \
                 key is behind its largest. A LevelDB with assertions, as Debian's is, does not open this database",
                plural(errors as u64, "range", "ranges")
            ));
        }
        if outside > 0 {
            let (is, of) =
                (if outside == 1 { "is" } else { "are" }, plural(tables, "table", "tables"));
            said.push(format!(
                "{} of {of} {is} outside of the range that the MANIFEST gives the table: a Get does not look there, \
                 and gives what was written to them earlier, if that is elsewhere",
                plural(outside, "key", "keys"),
            ));
        }
        let more = "`leveldb-bloom verify` names them.";
        let cure = "let leveldb_repair_db, on a copy, write a MANIFEST with the ranges that the tables have";
        if !said.is_empty() {
            self.cured(Weight::Wrong, "ranges", &said.join(". "), more, cure);
        }
    }

    fn missing_tables(&mut self) {
        let databases = self.findings.databases();
        let missing: Vec<_> = databases.iter().flat_map(|it| &it.missing).collect();
        if missing.is_empty() {
            return;
        }
        let named: Vec<_> = missing.iter().take(NAMED).map(|path| text::path(path)).collect();
        let more = match missing.len() - named.len() {
            0 => String::new(),
            more => format!(" and {} more", count(more as u64)),
        };
        let what = format!(
            "{} that the MANIFEST names cannot be found in the folder: {}{more}",
            plural(missing.len() as u64, "table", "tables"),
            named.join(", ")
        );
        let cure = "take them from a backup, or let leveldb_repair_db, on a copy, do without";
        self.cured(Weight::Wrong, "missing-tables", &what, "", cure);
    }

    fn of_databases(&mut self) {
        for database in self.findings.databases() {
            if let Some(what) = database.manifest_error() {
                let more = "Its levels and its comparator are not known.";
                match database.is_unreadable() {
                    true => self.note("manifest", format!("{what}. {more}")),
                    false => {
                        let cure = "take the MANIFEST from a backup, or let leveldb_repair_db, on a copy, write one";
                        self.cured(Weight::Wrong, "manifest", &what, more, cure);
                    }
                }
            }
            if let Some(text) = database.other_owner() {
                self.note("levels", text);
            }
        }
    }

    /// That absent keys pass because of what keys look like.
    fn ordered_keys(&mut self) {
        let (bloom, near) = (&self.total.bloom, self.total.bloom.neighbours().unwrap_or(0.0));
        let (Some(measured), (estimated, noise)) = (bloom.measured(), bloom.expected()) else {
            return;
        };
        let cure = format!("use ribbon filters, which tell them apart ({RIBBON})");
        let of_most = self.used.iter().max_by_key(|it| it.sums.bloom.answers.near.asked);
        if bloom.answers.are_ordered() && near > 0.03 {
            let what = format!(
                "{} of {NEIGHBOURS} (absent keys between two that are there) pass the filters, and {} of {RANDOM}, \
                 because keys are {}, which LevelDB's hash hardly tells apart",
                percent(near),
                percent(measured),
                of_most.map_or("alike", |report| report.kind_of_keys)
            );
            let more = "`leveldb-bloom advise` says what ribbon filters and other settings bring.";
            self.cured(Weight::Wasted, "ordered-keys", &what, more, &cure);
        } else if bloom.answers.random.asked >= 1000 && measured > 1.5 * estimated + noise {
            self.note(
                "rate",
                format!(
                    "Absent keys pass more often ({}) than the fill of the filters explains ({}): all bits of a key \
                     follow from one hash of 32 bits, and keys that differ little have hashes with much in common. \
                     {}.",
                    percent(measured),
                    percent(estimated),
                    capitalised(&cure)
                ),
            );
        }
    }

    /// LevelDB's own bits under a name that it does not look for.
    fn names(&mut self) {
        let other = |report: &Report| report.has(Format::OtherName);
        let tables = self.tables(other);
        let of_others = self.used.iter().filter(|report| other(report));
        let cost: u64 = of_others.map(|report| report.sums.filter_block_bytes).sum();
        if tables == 0 {
            return;
        }
        let where_ = match self.tables(|report| report.has(Format::LevelDb)) {
            0 => "The filters are".to_owned(),
            _ => plural(tables, "table has its filters", "tables have their filters"),
        };
        let what = format!(
            "{where_} stored under the name {OTHER_NAME}, as goleveldb and Java ports write them, where LevelDB looks \
             for {POLICY_NAME} and ignores these"
        );
        let more =
            format!("The bits are the same: there they cost {} and save nothing.", bytes(cost));
        let cure = "give LevelDB a policy of that name, or have it write all tables again";
        self.cured(Weight::Wasted, "other-name", &what, &more, cure);
    }

    fn own_policies(&mut self) {
        let is_own = |report: &&&Report| report.has(Format::Foreign);
        let mut own: Vec<_> = self.used.iter().filter(is_own).copied().collect();
        // Of a policy's tables one that says something comes first.
        let name = |report: &Report| report.policy.as_ref().map(|policy| policy.name.clone());
        own.sort_by_key(|it| (name(it), it.sums.bloom.filters == 0, it.undecided));
        own.dedup_by_key(|report| name(report));
        for report in own {
            let what = match report.transform {
                _ if !self.findings.data => {
                    "--quick does not look whether they are of LevelDB's format".into()
                }
                Some(transform) => format!(
                    "they are bloom filters of LevelDB's format, made for {transform}, as a comparator of the \
                     program's own may want"
                ),
                None if report.sums.bloom.filters > 0 => {
                    "they are bloom filters of LevelDB's format under another name".into()
                }
                None => report.not_asked().to_owned(),
            };
            self.note(
                "own-policy",
                format!(
                    "Filters are stored under the name {}, which is the program's own: {what}. Only a program that \
                     opens the database with a policy of this name uses them.",
                    name(report).unwrap_or_default()
                ),
            );
        }
    }

    fn comparator(&mut self) {
        let databases = self.findings.databases();
        let mut named = databases.iter().filter_map(|database| database.comparator());
        let unordered = self.tables(|report| !report.bytewise && report.problem_count == 0);
        let who = match named.find(|comparator| *comparator != BYTEWISE) {
            Some(comparator) => format!("The database has a comparator of its own, {comparator}."),
            None if unordered > 0 => format!(
                "The keys of {} are not in the order of their bytes, so that the database has a comparator of its own.",
                plural(unordered, "table", "tables")
            ),
            None => return,
        };
        let how = match (made_for(self.used.iter().copied()), self.total.bloom.keys_lost) {
            (Some(how), _) => {
                format!(
                    "As far as they were tried, keys match their filters here {how}, and not as they are stored."
                )
            }
            (None, 0) => "The keys as stored match their filters here.".into(),
            (None, _) => "The keys as stored match their filters here in part only.".into(),
        };
        let text = format!(
            "{who} A filter answers for the exact bytes of a key. If the comparator treats different bytes as the same \
             key, filters lose keys, unless the policy is wrapped to see only what the comparator sees. {how}"
        );
        if self.findings.data && self.total.bloom.keys_checked > 0 {
            self.note("comparator", text);
        }
    }

    fn no_filters(&mut self) {
        let none = |it: &Report| it.opened && it.policy.is_none() && it.maker.is_none();
        let without = self.tables(none);
        if without > 0 && self.total.tables_with_filters == 0 {
            let what = "There are no filters: no policy was set when these tables were written";
            let more = "Each Get of a key that is not there reads a block of each table that could hold it; 10 bits \
                        per key save 99 of 100 of those reads.";
            self.cured(Weight::Wasted, "no-filters", what, more, TEN_BITS);
        } else if without > 0 {
            let of = plural(self.total.tables, "table", "tables");
            let what = format!(
                "{} of {of} have no filters: they were written without a policy",
                count(without)
            );
            self.cured(Weight::Wasted, "no-filters", &what, "", &with("a policy set"));
        }
    }

    fn encodings(&mut self) {
        let bloom = &self.total.bloom;
        let (ribbons, filters) = (bloom.ribbons(), bloom.filters);
        if ribbons == 0 || ribbons == filters {
            return;
        }
        let rates = match bloom.measured_apart() {
            [Some(others), Some(ribbon)] => {
                let (ribbon, others) = (percent(ribbon), percent(others));
                format!(
                    " Of absent keys {ribbon} pass the ribbon filters, and {others} the others."
                )
            }
            _ => String::new(),
        };
        self.note(
            "encodings",
            format!(
                "{} of {} are ribbon filters, {}: tables get them as they are compacted.{rates} To finish the change, \
                 with ribbon filters in force ({RIBBON}), {REWRITE}. A compaction leaves tables of the deepest level \
                 as they are unless something newer lies above them.",
                count(ribbons),
                plural(filters, "filter", "filters"),
                percent(ratio(ribbons as f64, filters as f64)),
            ),
        );
    }

    fn match_all(&mut self) {
        let (all, blocks) = (self.total.bloom.match_all, self.total.uncovered_blocks);
        let what = format!(
            "{} a k of 0, of 31 or of more than 239: they match every key",
            plural(all, "filter has", "filters have")
        );
        if all > 0 {
            self.cured(Weight::Wasted, "match-all", &what, "", &with("a sound policy"));
        }
        let what = format!(
            "{} beyond the last filter of its table: LevelDB reads such blocks for any key",
            plural(blocks, "data block begins", "data blocks begin")
        );
        if blocks > 0 {
            self.cured(Weight::Wasted, "uncovered", &what, "", &with("a sound policy"));
        }
    }

    fn settings(&mut self) {
        let settings = self.total.settings;
        if settings.differ() {
            let text = "No single number of bits per key made all of these filters: the setting was changed, or several \
                        programs wrote the tables. New tables have filters of the present setting.";
            self.note("settings-differ", text.into());
        } else if settings.least > MAX_USEFUL_BITS_PER_KEY {
            let what = format!("{} bits per key gains little over 44", settings.least);
            let more = "k stays at 30 from there on, and the hash has only 32 bits.";
            let cure = "set 10 to 20 bits per key, and have all tables written again";
            self.cured(Weight::Wasted, "too-many-bits", &what, more, cure);
        } else if settings.most < 4 && self.total.bloom.filters > 0 {
            let (least, most) =
                (settings.least, plural(settings.most.unsigned_abs().into(), "bit", "bits"));
            let bits = match least == settings.most {
                true => most,
                // Settings below 1 make what 1 does.
                false if least < 1 => format!("{most} or fewer"),
                false => format!("{least} to {most}"),
            };
            let rate = percent(self.total.bloom.estimated());
            let what = format!(
                "At {bits} per key an estimated {rate} of all absent keys pass the filters"
            );
            self.cured(Weight::Wasted, "too-few-bits", &what, "", TEN_BITS);
        }
    }

    /// Where filters cost much more than the bits that were asked for: few keys in a filter.
    fn cost(&mut self) {
        let sums = with_filters(self.used.iter().copied());
        let (bloom, keys) = (&sums.bloom, sums.bloom.keys_checked as f64);
        // Of several settings that make the same filters, the largest is the round one: 9 or 10.
        let set = f64::from(match sums.settings.one() {
            Some(least) if sums.settings.most == i32::MAX => least,
            Some(_) => sums.settings.most,
            None if sums.settings.differ() => return,
            None => bloom.ribbon_bits.max() as i32,
        });
        let is_more = |spent: &f64| set > 0.0 && *spent >= 1.25 * set && *spent >= set + 1.0;
        // A table of one block has no fewer, whatever the settings.
        let Some(spent) =
            bloom.spent(true).filter(is_more).filter(|_| sums.data_blocks > sums.tables)
        else {
            return;
        };
        let (per_filter, minimum) =
            (bloom.keys_per_filter.mean(), bloom.filters as f64 * 64.0 / keys);
        let (slot, per_slot) = (slot_of(&sums), ratio(keys, sums.slots as f64));
        let (hold, few) = match ratio(sums.data_blocks as f64, bloom.filters as f64) > 1.5 {
            true => (format!("{slot} of blocks hold"), per_filter),
            // Large blocks have many slots, which are empty.
            false if per_filter > 100.0 => (format!("{slot} of blocks hold"), per_slot),
            false => ("blocks hold".into(), per_filter),
        };
        let few = match &*tenths(few) {
            "1" => "1 key".into(),
            few => format!("{few} keys"),
        };
        let what = format!(
            "{} bits per key cost you {} here, because {hold} only {few}{}; the last byte takes {}, and 4 bytes of \
             offset for each {slot} of blocks, {} of them without a filter, take {}",
            bits_of(&sums),
            tenths(spent),
            match minimum > set {
                true => format!(": a filter has at least 64 bits, {} per key", tenths(minimum)),
                false => String::new(),
            },
            tenths(8.0 / per_filter.max(0.1)),
            percent(ratio(sums.empty_slots as f64, sums.slots as f64)),
            tenths(32.0 * sums.slots as f64 / keys)
        );
        let cure = "ask `leveldb-bloom advise` for the block_size and the bits that cost less on these keys";
        self.cured(Weight::Wasted, "cost", &what, "", cure);
        // The rest is for who wants to know.
        if let (Some(note), Some(end)) = (self.notes.last_mut(), what.find([':', ';'])) {
            note.lead = Some(format!("{}: {cure}.", &what[..end]));
        }
    }

    /// Filters are memory for reads that may not happen.
    fn who_queries(&mut self) {
        let (filters, all) = (self.total.filter_block_bytes, self.total.file_bytes);
        let text = format!(
            "The filters take {}, {} of the tables, and as much memory once the tables are open. Only Get queries \
             filters; iterators never do. The files do not show whether a program calls Get for absent keys: \
             `leveldb-bloom run -- PROGRAM` counts the queries, and the answers no, each of which saved a read. \
             Without such answers the filters only cost memory.",
            bytes(filters),
            percent(ratio(filters as f64, all as f64))
        );
        if filters > 0 {
            self.note("who-queries", text);
        }
    }

    /// What is in no table yet, where that is much.
    fn in_logs(&mut self) {
        let mut told = Told::quiet();
        let (mut writes, mut len) = (0, 0);
        for path in self.findings.databases().into_iter().flat_map(source::logs) {
            len += fs::metadata(&path).map_or(0, |metadata| metadata.len());
            let _ = source::log(&path, &Wanted::default(), &mut told, &mut |_| {
                writes += 1;
                ControlFlow::Continue(())
            });
        }
        let are = format!("{} {}", bytes(len), if writes == 1 { "is" } else { "are" });
        let what = format!(
            "{} of {are} still in the log and in no table, where no filter is queried for them",
            plural(writes, "write", "writes")
        );
        let more = "LevelDB holds them in memory, and writes a table with filters once the log has write_buffer_size bytes.";
        let cure =
            "compact the database (leveldb_compact_range), or look again when more was written";
        if writes > self.total.entries / 10 {
            self.cured(Weight::Note, "log", &what, more, cure);
        }
    }

    /// What is to be known of tables that LevelDB did not write, or does not read.
    fn of_tables(&mut self) {
        let mut kinds = Counts::default();
        self.used.iter().filter_map(|report| report.kind()).for_each(|kind| kinds.count(kind));
        for (kind, tables) in kinds.0 {
            self.note("another-format", format!("{}: {kind}.", plural(tables, "table", "tables")));
        }
        let vanished = self.findings.reports.iter().filter(|report| report.vanished).count() as u64;
        if vanished > 0 {
            let were = plural(vanished, "table was", "tables were");
            let text = format!(
                "{were} deleted before we read it, by a compaction: the database is in use."
            );
            self.note("vanished", text);
        }
        let worth = reports::worth_of_named(self.used.iter().copied());
        let unused = reports::sums(self.unused.iter().copied());
        let entries = self.findings.data.then_some(unused.entries);
        let mut fate = reports::fate_of_unused(unused.tables, entries);
        if !fate.is_empty() {
            fate += " No figure here counts such a table, and what is wrong in it is no error.";
        }
        for text in [worth, fate].into_iter().filter(|text| !text.is_empty()) {
            self.note("unused", text);
        }
    }
}
/// By what keys match their filters, where those were made for something else: `by the key in lower
/// case`.
pub fn made_for<'r>(reports: impl Iterator<Item = &'r Report>) -> Option<String> {
    let (mut asked, mut others) = (0, 0);
    let mut transforms: Vec<Transform> = Vec::new();
    for report in reports.filter(|report| report.sums.bloom.filters > 0) {
        asked += 1;
        if let Some(transform) = report.transform {
            others += 1;
            if !transforms.contains(&transform) {
                transforms.push(transform);
            }
        }
    }
    let names: Vec<_> = transforms.iter().map(ToString::to_string).collect();
    let by = format!("by {}", names.join(" or "));
    match others {
        0 => None,
        _ if others == asked => Some(by),
        _ => Some(format!("in {} {by}", plural(others, "table", "tables"))),
    }
}

/// The sums of the tables with filters of LevelDB's format, since the others' keys pay nothing.
pub fn with_filters<'r>(reports: impl Iterator<Item = &'r Report>) -> Sums {
    let known = |report: &&Report| report.sums.bloom.filters > 0 && report.problem_count == 0;
    reports::sums(reports.filter(known))
}

/// How all tables are written again: LevelDB leaves those of the deepest level unless something newer
/// lies above them.
pub const REWRITE: &str = "write the first and the last key once more, as they are, and compact the \
                           whole range (leveldb_compact_range)";

/// What cures filters that are not there, or too small.
const TEN_BITS: &str =
    "set 10 bits per key (NewBloomFilterPolicy(10)), and have all tables written again";

/// How a program comes to make ribbon filters.
pub const RIBBON: &str =
    "LEVELDB_BLOOM_ENCODING=ribbon with the library preloaded, as by `leveldb-bloom run --ribbon`";

fn with(policy: &str) -> String {
    format!("with {policy}, {REWRITE}")
}

/// So many missing tables are named.
const NAMED: usize = 5;

/// The bytes of blocks that have a filter: `2 KiB` in LevelDB, another power of two where goleveldb
/// was told so.
fn slot_of(sums: &Sums) -> String {
    let (least, most) = (sums.bases.min(), sums.bases.max());
    let shown = |base_lg: u64| bytes((base_lg as f64).exp2() as u64).replace(".0 ", " ");
    match least == most {
        true => shown(least),
        false => format!("{} to {}", shown(least), shown(most)),
    }
}

/// What a number of probes says of the bits per key: `9 or 10`.
pub fn bits_of(sums: &Sums) -> String {
    let (settings, ribbon) = (sums.settings, &sums.bloom.ribbon_bits);
    // Where no system of equations can be solved, a filter has a bit less.
    match settings.one() {
        None if ribbon.total() > 0 && ribbon.total() == sums.bloom.filters => {
            ribbon.max().to_string()
        }
        None if settings.differ() => "different numbers".into(),
        None => "a number not known".into(),
        Some(least) if least == settings.most => least.to_string(),
        Some(least) if settings.most == i32::MAX => format!("{least} or more"),
        Some(least) if settings.most == least + 1 => format!("{least} or {}", settings.most),
        Some(least) => format!("{least} to {}", settings.most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::{Everything, Found, Place};
    use crate::scan::{Options, scan};

    #[test]
    fn tables_that_are_gone_are_told_of() {
        let gone = |place| {
            let path = "/no such folder/000005.ldb".into();
            let len_in_manifest = Some(9);
            let (number, range) = (Some(5), None);
            let found =
                Found { path, number, len: 9, len_in_manifest, place, bytewise: true, range };
            scan(&found, Options { data: true, keep: 1, ..Options::default() }, &|_| {})
        };
        let texts = |reports: Vec<Report>| {
            let findings = Findings::new(Everything::default(), reports, None, true);
            let notes = findings.notes.into_iter().map(|note| (note.weight, note.topic, note.text));
            notes.collect::<Vec<_>>()
        };
        assert_eq!(texts(Vec::new()), []);
        for (places, text) in [
            (&[Place::Level(1)][..], "1 table was deleted before we read it, by a compaction"),
            (&[Place::Unused, Place::Level(0)], "2 tables were deleted before we read it"),
        ] {
            let texts = texts(places.iter().map(|place| gone(*place)).collect());
            let [(Weight::Note, "vanished", said)] = &texts[..] else { panic!("{texts:?}") };
            assert!(said.starts_with(text), "{said}");
        }
    }
}
