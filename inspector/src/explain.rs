//! What the figures mean, in sentences.

use leveldb_bloom::{MAX_USEFUL_BITS_PER_KEY, POLICY_NAME};
use serde::Serialize;

use crate::find::{Database, Place};
use crate::manifest::BYTEWISE;
use crate::reports;
use crate::scan::{Format, OTHER_NAME, Report};
use crate::sums::{Counts, Sums, ratio};
use crate::text::{self, bytes, count, percent, plural, tenths};
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
}

/// The notes on all tables, the most important first.
pub fn explain(reports: &[Report], databases: &[&Database], total: &Sums, data: bool) -> Vec<Note> {
    let (used, unused) = reports.iter().partition(|report| report.place.is_used());
    let mut notes = Notes { notes: Vec::new(), reports: used, unused, databases, total, data };
    notes.lost_keys();
    notes.ranges();
    notes.missing_tables();
    notes.levels();
    notes.kinds();
    notes.names();
    notes.other_filters();
    notes.comparator();
    notes.no_filters();
    notes.encodings();
    notes.match_all();
    notes.uncovered();
    notes.settings();
    notes.cost();
    notes.rate();
    notes.who_asks();
    notes.unused_and_vanished();
    notes.notes.sort_by_key(|note| note.weight);
    notes.notes
}

struct Notes<'a> {
    notes: Vec<Note>,
    /// Of the tables that LevelDB reads, as far as is known.
    reports: Vec<&'a Report>,
    unused: Vec<&'a Report>,
    databases: &'a [&'a Database],
    total: &'a Sums,
    data: bool,
}

impl Notes<'_> {
    fn add(&mut self, weight: Weight, topic: &'static str, text: String) {
        self.notes.push(Note { weight, topic, text });
    }

    fn tables(&self, wanted: impl Fn(&Report) -> bool) -> u64 {
        self.reports.iter().filter(|report| wanted(report)).count() as u64
    }

    fn lost_keys(&mut self) {
        let lost = self.total.bloom.keys_lost;
        if lost == 0 {
            return;
        }
        let transform =
            self.reports.iter().filter(|r| r.sums.bloom.keys_lost > 0).find_map(|r| r.transform);
        let text = match transform {
            Some(transform) => format!(
                "{} of {} keys do not match their filters, and all that were tried match by {transform}. \
                 So the filters were made for a comparator that sees only that much of a key, by a \
                 policy wrapped around the built-in one but with the built-in one's name. Opened \
                 with the plain policy, this database loses those keys; give a wrapped policy a name \
                 of its own.",
                count(lost),
                count(self.total.bloom.keys_checked),
            ),
            None => format!(
                "{} of {} keys do not match their filters: a Get does not find them, although they \
                 are there, and gives what was written to them earlier, if that is there too. \
                 `leveldb-bloom verify` names them. Without a filter policy LevelDB finds \
                 them. With a sound one, {REWRITE}.",
                count(lost),
                count(self.total.bloom.keys_checked),
            ),
        };
        self.add(Weight::Wrong, "lost-keys", text);
    }

    fn ranges(&mut self) {
        let (outside, tables) = (self.total.keys_outside, self.tables(|r| r.sums.keys_outside > 0));
        let errors: usize = self.databases.iter().map(|database| database.untrue.len()).sum();
        if outside == 0 && errors == 0 {
            return;
        }
        let mut text = match errors as u64 {
            0 => String::new(),
            errors => format!(
                "The MANIFEST has {} that cannot be so: of a level above 0 it overlaps another, or \
                 its smallest key is behind its largest. A LevelDB with assertions, as Debian's is, does \
                 not open this database. ",
                plural(errors, "range", "ranges")
            ),
        };
        if outside > 0 {
            text += &format!(
                "{} of {} {} not looked for there, by the ranges in the MANIFEST: a Get does not \
                 find them, although they are there and their filters may be sound, and gives what was \
                 written to them earlier, if that is elsewhere. ",
                plural(outside, "key", "keys"),
                plural(tables, "table", "tables"),
                if outside == 1 { "is" } else { "are" }
            );
        }
        text += "`leveldb-bloom verify` names them. leveldb_repair_db writes a MANIFEST with the ranges \
                 that the tables have; let it, on a copy.";
        self.add(Weight::Wrong, "ranges", text);
    }

    fn missing_tables(&mut self) {
        let all = self.databases.iter().flat_map(|database| &database.missing);
        let missing: Vec<_> = all.map(|path| text::path(path).to_string()).collect();
        if !missing.is_empty() {
            let more = match missing.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {} more", count(more as u64)),
            };
            let text = format!(
                "{} that the MANIFEST names cannot be found in the folder: {}{more}.",
                plural(missing.len() as u64, "table", "tables"),
                missing[..missing.len().min(NAMED)].join(", ")
            );
            self.add(Weight::Wrong, "missing-tables", text);
        }
        for database in self.databases {
            if let Err(reason) = &database.version {
                let then = match database.is_unreadable() {
                    true => "levels and comparator are not known.",
                    false => {
                        "LevelDB does not open this database, and levels and comparator are not known."
                    }
                };
                let text = format!(
                    "The MANIFEST of {} could not be read ({reason}): {then}",
                    text::path(&database.folder)
                );
                let weight = match database.is_unreadable() {
                    true => Weight::Note,
                    false => Weight::Wrong,
                };
                self.add(weight, "manifest", text);
            }
        }
    }

    fn levels(&mut self) {
        for database in self.databases {
            if let Some(text) = database.other_owner() {
                self.add(Weight::Note, "levels", text);
            }
        }
    }

    /// Tables that are not what LevelDB writes.
    fn kinds(&mut self) {
        let mut kinds = Counts::default();
        self.reports.iter().filter_map(|report| report.kind()).for_each(|kind| kinds.count(kind));
        for (kind, tables) in kinds.0 {
            let text = format!("{}: {kind}.", plural(tables, "table", "tables"));
            self.add(Weight::Note, "another-format", text);
        }
    }

    fn names(&mut self) {
        let with = |format| self.tables(|r| r.policy.as_ref().is_some_and(|p| p.format == format));
        let (own, other) = (with(Format::LevelDb), with(Format::OtherName));
        if other > 0 {
            let text = format!(
                "{} under the name {OTHER_NAME}, as goleveldb and Java ports write them. The bits are \
                 the same as LevelDB's, but the C++ library looks for {POLICY_NAME} and ignores \
                 these: there they cost {} and save nothing. To use them there, give it a policy of \
                 that name, or let it compact the database.",
                match own {
                    0 => "The filters are stored".to_owned(),
                    _ =>
                        plural(other, "table has its filters", "tables have their filters")
                            + " stored",
                },
                bytes(self.filter_bytes(|r| {
                    r.policy.as_ref().is_some_and(|p| p.format == Format::OtherName)
                })),
            );
            self.add(Weight::Wasted, "other-name", text);
        }
        let mut foreign: Vec<_> = self
            .reports
            .iter()
            .filter_map(|report| Some((report.policy.as_ref()?, report)))
            .filter(|(policy, _)| policy.format == Format::Foreign)
            .collect();
        // Of a policy's tables one that says something comes first.
        foreign.sort_by_key(|(policy, report)| {
            (policy.name.clone(), report.sums.bloom.filters == 0, report.undecided)
        });
        foreign.dedup_by_key(|(policy, _)| policy.name.clone());
        let texts: Vec<_> = foreign
            .iter()
            .map(|(policy, report)| {
                let what = match report.transform {
                    _ if !self.data => "--quick does not look whether they are of LevelDB's format"
                        .to_owned(),
                    Some(transform) => format!(
                        "they are bloom filters of LevelDB's format, made for {transform}, as a \
                         comparator of the program's own may want"
                    ),
                    None if report.sums.bloom.filters > 0 => {
                        "they are bloom filters of LevelDB's format under another name".to_owned()
                    }
                    None if report.undecided => {
                        "there are too few keys to tell whether they are of LevelDB's format".to_owned()
                    }
                    None => "their format is not LevelDB's, so that nothing is said about their bits"
                        .to_owned(),
                };
                format!(
                    "Filters are stored under the name {}, which is the program's own: {what}. Only a \
                     program that opens the database with a policy of this name asks them.",
                    policy.name
                )
            })
            .collect();
        for text in texts {
            self.add(Weight::Note, "own-policy", text);
        }
    }

    fn comparator(&mut self) {
        let named = self
            .databases
            .iter()
            .filter_map(|database| database.comparator())
            .find(|comparator| *comparator != BYTEWISE);
        let unordered = self.tables(|report| !report.bytewise && report.problem_count == 0);
        let who = match named {
            Some(comparator) => format!("The database has a comparator of its own, {comparator}."),
            None if unordered > 0 => format!(
                "The keys of {} are not in the order of their bytes, so that the database has a \
                 comparator of its own.",
                plural(unordered, "table", "tables")
            ),
            None => return,
        };
        let text = format!(
            "{who} A filter answers for the exact bytes of a key: if that comparator calls keys of \
             different bytes equal, a filter loses keys, unless the policy is wrapped to see what the \
             comparator sees. {}",
            match (made_for(self.reports.iter().copied()), self.total.bloom.keys_lost) {
                (Some(how), _) => format!(
                    "As far as they were tried, keys match their filters here {how}, and not as they are \
                     stored."
                ),
                (None, 0) => "The keys as stored match their filters here.".to_owned(),
                (None, _) => "The keys as stored match their filters here in part only.".to_owned(),
            }
        );
        if self.data && self.total.bloom.keys_checked > 0 {
            self.add(Weight::Note, "comparator", text);
        }
    }

    fn other_filters(&mut self) {
        let (mut tables, mut bytes_, mut names) = (0, 0, Vec::<&str>::new());
        for report in self.reports.iter().filter(|report| !report.other_policies.is_empty()) {
            tables += 1;
            bytes_ += report.other_filter_bytes;
            names.extend(report.other_policies.iter().map(String::as_str));
        }
        if tables == 0 {
            return;
        }
        names.sort_unstable();
        names.dedup();
        let text = format!(
            "{} filters of several policies. LevelDB asks those that have its policy's name; those of {}, \
             {}, are in no figure here.",
            plural(tables, "table has", "tables have"),
            names.join(", "),
            bytes(bytes_)
        );
        self.add(Weight::Note, "other-filters", text);
    }

    fn no_filters(&mut self) {
        let none = |report: &Report| report.opened && report.policy.is_none();
        let without = self.tables(|report| none(report) && report.maker.is_none());
        if without == 0 {
            return;
        }
        let (weight, text) = if self.total.tables_with_filters == 0 {
            let text = "There are no filters: no policy was set when these tables were written. Each Get \
                 of a key that is not there reads a block of each table that could hold it; 10 bits \
                 per key (leveldb_filterpolicy_create_bloom(10)) spare 99 of 100 of those reads.";
            (Weight::Note, text.to_owned())
        } else {
            let text = format!(
                "{} of {} have no filters: they were written without a policy. With a policy set, {REWRITE}.",
                count(without),
                plural(self.total.tables, "table", "tables")
            );
            (Weight::Wasted, text)
        };
        self.add(weight, "no-filters", text);
    }

    fn encodings(&mut self) {
        let bloom = &self.total.bloom;
        let (ribbons, filters) = (bloom.ribbons(), bloom.filters);
        if ribbons == 0 || ribbons == filters {
            return;
        }
        let rates = match bloom.measured_apart() {
            [Some(others), Some(ribbon)] => format!(
                " Of absent keys {} pass the ribbon filters, and {} the others.",
                percent(ribbon),
                percent(others)
            ),
            _ => String::new(),
        };
        let text = format!(
            "{} of {} are ribbon filters, {}: tables get them as they are compacted.{rates} To finish the \
             change, with ribbon filters in force ({RIBBON}), {REWRITE}. A compaction leaves tables of \
             the deepest level as they are unless something newer lies above them.",
            count(ribbons),
            plural(filters, "filter", "filters"),
            percent(ratio(ribbons as f64, filters as f64)),
        );
        self.add(Weight::Note, "encodings", text);
    }

    fn match_all(&mut self) {
        let all = self.total.bloom.match_all;
        if all > 0 {
            let text = format!(
                "{} a k of 0, of 31 or of more than 239: they match every key.",
                plural(all, "filter has", "filters have")
            );
            self.add(Weight::Wasted, "match-all", text);
        }
    }

    fn uncovered(&mut self) {
        let blocks = self.total.uncovered_blocks;
        if blocks > 0 {
            let text = format!(
                "{} beyond the last filter of its table: LevelDB reads such blocks for any key.",
                plural(blocks, "data block begins", "data blocks begin")
            );
            self.add(Weight::Wasted, "uncovered", text);
        }
    }

    fn settings(&mut self) {
        let settings = self.total.settings;
        if settings.differ() {
            let text = "No one setting of bits per key made all of these filters: it was changed, or \
                 tables come from several programs. Tables that are written from now on have filters of \
                 the setting that is in force.";
            self.add(Weight::Note, "settings-differ", text.to_owned());
        } else if settings.least > MAX_USEFUL_BITS_PER_KEY {
            let text = format!(
                "{} bits per key gains little over 44: k stays at 30 from there on, and the hash has \
                 only 32 bits.",
                settings.least
            );
            self.add(Weight::Wasted, "too-many-bits", text);
        } else if settings.most < 4 && self.total.bloom.filters > 0 {
            let least = settings.least;
            let bits = match plural(settings.most.unsigned_abs().into(), "bit", "bits") {
                most if least == settings.most => most,
                // Settings below 1 make what 1 does.
                most if least < 1 => format!("{most} or fewer"),
                most => format!("{least} to {most}"),
            };
            let text = format!(
                "At {bits} per key an estimated {} of all absent keys pass the filters; 10 is usual.",
                percent(self.total.bloom.estimated())
            );
            self.add(Weight::Wasted, "too-few-bits", text);
        }
    }

    /// Where filters cost much more than the bits that were asked for: few keys in a filter.
    fn cost(&mut self) {
        let sums = with_filters(self.reports.iter().copied());
        let bloom = &sums.bloom;
        // Of several settings that make the same filters, the largest is the round one: 9 or 10.
        let configured = match sums.settings.one() {
            Some(_) => sums.settings.most.min(MAX_USEFUL_BITS_PER_KEY),
            None if sums.settings.differ() => return,
            None => bloom.ribbon_bits.max() as i32,
        };
        let Some(keys) = Some(bloom.keys_checked).filter(|&keys| keys > 0) else { return };
        let Some(spent) = bloom.spent(true) else { return };
        if configured == 0 || spent < 1.25 * f64::from(configured) || bloom.filters == 0 {
            return;
        }
        let per_filter = bloom.keys_per_filter.mean();
        let blocks = ratio(sums.data_blocks as f64, bloom.filters as f64);
        let offsets = ratio((4 * sums.slots) as f64 * 8.0, keys as f64);
        let minimum = bloom.filters as f64 * 64.0 / keys as f64;
        let slot = slot_of(&sums);
        let mut text = format!(
            "{} bits per key cost you {} here, because {} only {} {}",
            bits_of(&sums),
            tenths(spent),
            if blocks > 1.5 { format!("{slot} of blocks hold") } else { "blocks hold".into() },
            tenths(per_filter),
            if tenths(per_filter) == "1" { "key" } else { "keys" },
        );
        if minimum > f64::from(configured) {
            text += &format!(": a filter has at least 64 bits, {} per key", tenths(minimum));
        }
        text += &format!(
            "; the last byte takes {}, and 4 bytes of offset for each {slot} of blocks, {} of \
             them without a filter, take {}.",
            tenths(8.0 / per_filter.max(0.1)),
            percent(ratio(sums.empty_slots as f64, sums.slots as f64)),
            tenths(offsets)
        );
        text += " `leveldb-bloom advise` tries larger blocks and other settings on these keys.";
        self.add(Weight::Wasted, "cost", text);
    }

    fn rate(&mut self) {
        let bloom = &self.total.bloom;
        if bloom.asked < 1000 || bloom.filters == 0 {
            return;
        }
        let ((estimated, noise), measured) = (bloom.expected(), bloom.measured());
        if measured > 1.5 * estimated + noise {
            let text = format!(
                "Absent keys pass more often ({}) than the fill of the filters explains ({}): all bits of \
                 a key follow from one hash of 32 bits, and keys that differ little have hashes with much \
                 in common. Ribbon filters tell them apart: {RIBBON}.",
                percent(measured),
                percent(estimated)
            );
            self.add(Weight::Note, "rate", text);
        }
    }

    /// Filters are memory for reads that may not happen.
    fn who_asks(&mut self) {
        let filter_bytes = self.total.filter_block_bytes;
        if filter_bytes == 0 {
            return;
        }
        let levels: Vec<_> = self
            .reports
            .iter()
            .filter_map(|report| match report.place {
                Place::Level(level) => Some((level, report.sums.filter_block_bytes)),
                _ => None,
            })
            .collect();
        let deepest = levels.iter().map(|(level, _)| *level).max();
        let in_deepest: u64 =
            levels.iter().filter(|(l, _)| Some(*l) == deepest).map(|(_, bytes)| bytes).sum();
        let mut text = format!(
            "The filters take {}, {} of the tables, and as much memory once the tables are open.",
            bytes(filter_bytes),
            percent(ratio(filter_bytes as f64, self.total.file_bytes as f64))
        );
        if let Some(deepest) = deepest {
            let share = match in_deepest == filter_bytes {
                true => "All".into(),
                false => percent(ratio(in_deepest as f64, filter_bytes as f64)),
            };
            text += &format!(
                " {share} of that is in the deepest level in use, {deepest}, where a filter saves a read \
                 only if the key is nowhere in the database.",
            );
        }
        text += " Only Get asks filters; iterators never do. Whether anybody asks them cannot be seen in \
             the files: run the program with libleveldb_bloom preloaded and LEVELDB_BLOOM_STATS=stderr, \
             and look at \"queries\" and \"negatives\". With no negatives, save the memory.";
        self.add(Weight::Note, "who-asks", text);
    }

    fn unused_and_vanished(&mut self) {
        let vanished = self.reports.iter().chain(&self.unused).filter(|report| report.vanished);
        let vanished = vanished.count() as u64;
        if vanished > 0 {
            let text = format!(
                "{} deleted before we read it, by a compaction: the database is in use.",
                plural(vanished, "table was", "tables were")
            );
            self.add(Weight::Note, "vanished", text);
        }
        let worth = reports::worth_of_named(self.reports.iter().copied());
        if !worth.is_empty() {
            self.add(Weight::Note, "unused", worth);
        }
        let unused = reports::sums(self.unused.iter().copied());
        let here = self.unused.iter().filter(|report| !report.vanished);
        let places = here.map(|report| report.place);
        let fate = reports::fate_of_unused(places, self.data.then_some(unused.entries));
        if !fate.is_empty() {
            let text = format!(
                "{fate} No figure here counts such a table, and what is wrong in it is no error."
            );
            self.add(Weight::Note, "unused", text);
        }
    }

    fn filter_bytes(&self, wanted: impl Fn(&Report) -> bool) -> u64 {
        let wanted = self.reports.iter().filter(|report| wanted(report));
        wanted.map(|report| report.sums.filter_block_bytes).sum()
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

/// How a program comes to make ribbon filters.
pub const RIBBON: &str =
    "LEVELDB_BLOOM_ENCODING=ribbon with the library preloaded, as by `leveldb-bloom run --ribbon`";

/// So many missing tables are named.
const NAMED: usize = 5;

fn power(base_lg: u64) -> f64 {
    (base_lg as f64).exp2()
}

/// The bytes of blocks that have a filter: `2 KiB` in LevelDB, another power of two where goleveldb
/// was told so.
fn slot_of(sums: &Sums) -> String {
    let (least, most) = (sums.bases.min(), sums.bases.max());
    let shown = |base_lg| bytes(power(base_lg) as u64).replace(".0 ", " ");
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
    use crate::find::Found;
    use crate::scan::{Options, scan};

    #[test]
    fn tables_that_are_gone_are_told_of() {
        let gone = |place| {
            let path = "/no such folder/000005.ldb".into();
            let len_in_manifest = Some(9);
            let (number, range) = (Some(5), None);
            let found =
                Found { path, number, len: 9, len_in_manifest, place, bytewise: true, range };
            scan(&found, Options { data: true, absent: 0, keep: 1, whole_keys: false }, &|_| {})
        };
        let texts = |reports: &[Report]| {
            let notes = explain(reports, &[], &Sums::default(), true);
            let notes = notes.into_iter().map(|note| (note.weight, note.topic, note.text));
            notes.collect::<Vec<_>>()
        };
        assert_eq!(texts(&[]), []);
        for (places, text) in [
            (&[Place::Level(1)][..], "1 table was deleted before we read it, by a compaction"),
            (&[Place::Unused, Place::Level(0)], "2 tables were deleted before we read it"),
        ] {
            let reports: Vec<_> = places.iter().map(|place| gone(*place)).collect();
            let [(Weight::Note, "vanished", said)] = &texts(&reports)[..] else {
                panic!("{:?}", texts(&reports))
            };
            assert!(said.starts_with(text), "{said}");
        }
    }
}
