//! One table, read from its first data block to its last.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use leveldb_bloom::{Encoding, FilterInfo, POLICY_NAME, key_may_match};
use leveldb_bloom_table::{
    Block, BlockHandle, Buffers, DataBlock, Error, Filters, KeyFormat, KeyKind, Kind,
    MAX_EXPANSION, Part, ReadAt, Table, is_another_format,
};
use serde::Serialize;

use crate::absent::{Absent, Answers, Keys};
use crate::codec::Fast;
use crate::file::TableFile;
use crate::find::{Found, Place, has_name_of_table};
use crate::manifest::Stored;
use crate::printable::printable;
use crate::ranges::Range;
use crate::sums::{BloomSums, Settings, Sums, of_probes};
use crate::text;
use crate::transform::{Search, Transform};

/// The name that goleveldb and the Java ports give to filters of the same bits.
pub const OTHER_NAME: &str = "leveldb.BuiltinBloomFilter";

/// The bytes of absent keys that are made and hashed for a table: long keys are asked less often.
const HASHED: f64 = (64 << 20) as f64;

/// Blocks that are larger than this are read one at a time.
const LARGE: u64 = 16 << 20;
static ALONE: Mutex<()> = Mutex::new(());

/// What is wanted of a table.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// Read the data blocks; otherwise only index and filters.
    pub data: bool,
    /// Ask the table's filters for so many absent keys.
    pub absent: u64,
    /// Keep so many lost keys and so many problems.
    pub keep: usize,
    /// Keep those keys whole, and not only what is shown of them: they may be long.
    pub whole_keys: bool,
}

/// What a table's policy is to the C++ library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// LevelDB's own.
    LevelDb,
    /// The same bits under a name that C++ does not look for.
    OtherName,
    /// Somebody's own.
    Foreign,
    /// Not LevelDB's, under one of its names: hardly any key matches.
    Mismatched,
}

pub struct Policy {
    pub name: String,
    pub format: Format,
}

impl Policy {
    fn new(name: &str) -> Self {
        let format = match name {
            POLICY_NAME => Format::LevelDb,
            OTHER_NAME => Format::OtherName,
            _ => Format::Foreign,
        };
        Policy { name: printable(name), format }
    }
}

#[derive(Serialize)]
pub struct Problem {
    /// Where in the file, where that is known.
    pub offset: Option<u64>,
    pub text: String,
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Problem { offset: Some(error.offset), text: error.to_string() }
    }
}

/// A key that LevelDB does not find.
#[derive(Serialize)]
pub struct LostKey {
    /// As it is shown.
    pub key: String,
    /// All of it, where that was wanted.
    pub key_hex: String,
    pub sequence: u64,
    pub deletion: bool,
    pub data_block: u64,
    /// The number of the filter that says that it is not there; or nothing, and why a Get does not
    /// look there.
    pub filter: Option<u64>,
    pub outside: Option<String>,
}

/// All about a table.
#[derive(Default)]
pub struct Report {
    pub path: PathBuf,
    pub number: Option<u64>,
    pub place: Place,
    pub policy: Option<Policy>,
    pub sums: Sums,
    /// How the keys are stored.
    pub keys: KeyFormat,
    /// Who wrote the table, if that is not LevelDB and was found out.
    pub maker: Option<&'static str>,
    /// Whether the keys are in the order of their bytes.
    pub bytewise: bool,
    /// What kind of keys they are.
    pub kind_of_keys: &'static str,
    /// What the filters were made for, if that is not the keys and was found out.
    pub transform: Option<Transform>,
    pub lost: Vec<LostKey>,
    /// Keys that are lost both ways, by the filter and by the MANIFEST's range.
    lost_twice: u64,
    pub problems: Vec<Problem>,
    /// How many there were, kept or not, and how many of them are damage: the others were not read here.
    pub problem_count: u64,
    pub damage_count: u64,
    /// The file was gone when its turn came.
    pub vanished: bool,
    /// What the table says of itself was read: without a policy, it has no filters.
    pub opened: bool,
    /// There are too few keys to tell whether somebody's own filters are of LevelDB's format.
    pub undecided: bool,
}

impl Report {
    fn new(found: &Found) -> Self {
        Report {
            path: found.path.clone(),
            number: found.number,
            place: found.place,
            sums: Sums { tables: 1, file_bytes: found.len, ..Sums::default() },
            bytewise: true,
            ..Report::default()
        }
    }

    /// Keys that a `Get` of the C++ library would miss, with its own policy.
    pub fn keys_lost(&self) -> u64 {
        self.sums.bloom.keys_lost + self.sums.keys_outside - self.lost_twice
    }

    /// Whether something is wrong that is not explained by a running database.
    pub fn is_wrong(&self) -> bool {
        self.place.is_used() && (self.is_damaged() || self.keys_lost() > 0)
    }

    /// Whether something of it could not be looked at, which says nothing about it.
    pub fn is_unread(&self) -> bool {
        let others = self.problem_count > self.damage_count
            || self.has(Format::Mismatched)
            || self.maker.is_some() && self.policy.is_none();
        self.place.is_used() && others
    }

    /// Whether its filters are of this format.
    pub fn has(&self, format: Format) -> bool {
        self.policy.as_ref().is_some_and(|policy| policy.format == format)
    }

    /// Why somebody's own filters are not asked here.
    pub fn not_asked(&self) -> &'static str {
        match self.undecided {
            true => "there are too few keys to tell whether they are of LevelDB's format",
            false => "their format is not LevelDB's, so that nothing is said about their bits",
        }
    }

    /// What the table is, where it is not one of a LevelDB database.
    pub fn kind(&self) -> Option<String> {
        let lost = match self.maker {
            Some(maker) => format!("{maker} has filters of a format of its own under this name"),
            None => "they are of another format, or were made wrongly: a Get with LevelDB's own policy would \
                     not find the keys"
                .into(),
        };
        match (self.keys, self.maker) {
            _ if self.has(Format::Mismatched) => {
                Some(format!("its keys do not match its filters, so that nothing is said of these: {lost}"))
            }
            (_, Some(maker)) if self.policy.is_none() => {
                Some(format!("a table of {maker}, whose filters are not read here"))
            }
            (_, Some(maker)) => Some(format!("a table of {maker}")),
            (KeyFormat::Plain, None) => Some(
                "a table without sequence numbers (plain keys), as a TableBuilder by itself writes it, and no \
                 database"
                    .into(),
            ),
            _ => None,
        }
    }

    /// It is one that counts, and was there to look at.
    pub fn is_seen(&self) -> bool {
        self.place.is_used() && !self.vanished
    }

    pub fn is_damaged(&self) -> bool {
        self.damage_count > 0
    }
}

/// Reads a table, and says how far it has come, in bytes of the file.
pub fn scan(found: &Found, options: Options, come_to: &dyn Fn(u64)) -> Report {
    let mut report = Report::new(found);
    let file = match TableFile::open(&found.path, found.len_in_manifest) {
        Ok(file) => file,
        Err(error) => {
            // In a database that runs, a compaction deletes what it has replaced.
            let gone = error.kind() == std::io::ErrorKind::NotFound;
            report.vanished = gone;
            report.sums = Sums::default();
            if !gone {
                let text = format!("could not be read: {error}");
                report.problems.push(Problem { offset: None, text });
                report.problem_count = 1;
            }
            return report;
        }
    };
    let mut scan = Scan {
        report,
        options,
        must_be_bytewise: found.bytewise,
        range: found.range.clone(),
        ..Scan::default()
    };
    let other_length = file.other_length();
    match Table::open(file, Fast::default()) {
        Ok(table) => scan.table(table, come_to),
        Err(error) => {
            // What is written last says that it is a table.
            let has_no_end = matches!(error.kind, Kind::Magic { .. } | Kind::Short { .. });
            if found.place == Place::Named && found.number.is_some() && has_no_end {
                scan.report.place = Place::Unused;
            }
            scan.problem(error);
            let is_other_file = has_no_end && !has_name_of_table(&found.path);
            if let (true, Some(problem)) = (is_other_file, scan.report.problems.last_mut()) {
                problem.text +=
                    ". A table's name ends in .ldb or .sst; for a whole database, name its folder";
            }
        }
    }
    if let Some(problem) = scan.report.problems.first_mut() {
        problem.text += &other_length;
    }
    scan.report
}

#[derive(Default)]
struct Scan {
    report: Report,
    options: Options,
    must_be_bytewise: bool,
    range: Option<Arc<Range>>,
    /// The keys that a Get does not look for here: as many as are named.
    outside: Vec<LostKey>,
    search: Search,
    absent: Absent,
    keys: Keys,
    /// The filter of the blocks being read, and how many entries they have so far; `None` where a
    /// block could not be read.
    group: Option<(u64, Option<u64>)>,
    previous: Stored,
    /// The index's key of the block before.
    bound: Option<Stored>,
    absent_per_byte: f64,
    hashed_per_byte: f64,
}

/// The bytes of a block with its trailer; none where it does not lie in the file.
fn stored_len(table: &Table<TableFile, Fast>, handle: BlockHandle) -> u64 {
    let end = handle.end().filter(|end| *end <= table.reader().len());
    end.map_or(0, |end| end - handle.offset)
}

/// For a data block with a key that a Get looks for in another one.
fn out_of_place(offset: u64, expected: &'static str) -> Error {
    Error { part: Part::Data, offset, inside: None, kind: Kind::Expected(expected) }
}

impl Scan {
    fn problem(&mut self, error: Error) {
        self.report.problem_count += 1;
        self.report.damage_count += u64::from(error.is_damage());
        if self.report.problems.len() < self.options.keep {
            self.report.problems.push(error.into());
        }
    }

    fn table(&mut self, mut table: Table<TableFile, Fast>, come_to: &dyn Fn(u64)) {
        self.report.opened = table.metaindex_error().is_none();
        self.report.sums.index_bytes = stored_len(&table, table.footer().index);
        self.report.maker = table.maker();
        if let Some(error) = table.metaindex_error() {
            self.problem(error.clone());
        }
        let bytes = self.read_filters(&table);
        let filters = bytes.as_ref().and_then(|(handle, bytes)| {
            Filters::parse(bytes, handle.offset).map_err(|error| self.problem(error)).ok()
        });
        if let Some(filters) = &filters {
            self.count_slots(filters);
        }
        if !matches!(self.report.place, Place::Level(_)) {
            table.look_at_keys();
        }
        self.report.keys = table.keys();
        let mut buffers = Buffers::default();
        let mut blocks = table.data_blocks();
        let mut last_block = 0;
        loop {
            match blocks.next() {
                Ok(Some(block)) => {
                    let handle = block.handle;
                    last_block = handle.offset;
                    self.report.sums.data_blocks += 1;
                    self.report.sums.data_bytes += handle.end().unwrap_or(0) - handle.offset;
                    if self.options.data {
                        self.data_block(&table, block, filters.as_ref(), &mut buffers);
                        come_to(handle.end().unwrap_or(0));
                    } else if filters
                        .is_some_and(|filters| filters.filter_for(handle.offset).is_none())
                    {
                        self.report.sums.uncovered_blocks += 1;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    self.problem(error);
                    break;
                }
            }
        }
        self.end_group(filters.as_ref());
        self.end_range(last_block);
        self.report.kind_of_keys = self.absent.kind();
        self.judge_format();
        let bloom = &mut self.report.sums.bloom;
        bloom.encodings.0.keys().for_each(|encoding| bloom.tables.count(encoding));
        if self.report.problem_count == 0 {
            (bloom.whole_block_bytes, bloom.whole_keys) = (bloom.block_bytes, bloom.keys_checked);
        }
        self.outside.append(&mut self.report.lost);
        self.outside.truncate(self.options.keep);
        self.report.lost = std::mem::take(&mut self.outside);
    }

    /// The contents of the filter block to look at: LevelDB's own if there are several.
    fn read_filters(&mut self, table: &Table<TableFile, Fast>) -> Option<(BlockHandle, Vec<u8>)> {
        let number = table.preferred_filters()?;
        let name = table.filters().get(number)?;
        self.report.policy = Some(Policy::new(&name.policy));
        self.report.sums.tables_with_filters = 1;
        self.report.sums.filter_block_bytes = stored_len(table, name.handle);
        match table.read_filters(number) {
            Ok(bytes) => Some((name.handle, bytes)),
            Err(error) => {
                self.problem(error);
                None
            }
        }
    }

    fn count_slots(&mut self, filters: &Filters<'_>) {
        let sums = &mut self.report.sums;
        sums.slots = filters.len() as u64;
        if sums.slots > 0 {
            sums.bases.count_times(filters.base_lg().into(), sums.slots);
        }
        let mut bytes = 0;
        for filter in (0..filters.len()).filter_map(|number| filters.filter(number)) {
            if filter.is_empty() {
                sums.empty_slots += 1;
                continue;
            }
            bytes += filter.len();
            let info = FilterInfo::of(filter);
            sums.bloom.add_filter(&info, filter.len(), filter.len() as f64);
            // What is certain even where the number of keys is not known.
            if info.encoding == Encoding::Bloom && info.probes <= leveldb_bloom::MAX_PROBES {
                sums.settings += of_probes(info.probes.max(1));
            }
        }
        if sums.bloom.filters > 0 {
            sums.bloom.block_bytes = sums.filter_block_bytes;
        }
        self.absent_per_byte = self.options.absent as f64 / bytes.max(1) as f64;
        self.hashed_per_byte = HASHED / bytes.max(1) as f64;
    }

    fn data_block(
        &mut self,
        table: &Table<TableFile, Fast>,
        DataBlock { last_key, sequence, handle, .. }: DataBlock<'_>,
        filters: Option<&Filters<'_>>,
        buffers: &mut Buffers,
    ) {
        let number = filters.map(|filters| filters.number_for(handle.offset));
        if number != self.group.map(|(number, _)| number) {
            self.end_group(filters);
            self.group = number.map(|number| (number, Some(0)));
        }
        let filter = filters.and_then(|filters| filters.filter_for(handle.offset));
        self.report.sums.uncovered_blocks += u64::from(filters.is_some() && filter.is_none());
        // Large ones one at a time, and their memory is not kept: there may be many processors.
        let is_large = handle.size > LARGE;
        let alone = is_large.then(|| ALONE.lock());
        let read = table
            .read_data(handle, buffers)
            .and_then(|block| self.entries(&block, table.keys(), number.zip(filter)));
        let sums = &mut self.report.sums;
        if let Some(compression) = buffers.compression() {
            sums.compressions.count(compression);
        }
        match read {
            Ok(()) => {
                sums.contents_bytes += buffers.contents_len() as u64;
                if self.must_be_bytewise && self.previous.cmp_to(last_key, sequence).is_gt() {
                    let what = "no key behind the one that the index has for it";
                    self.problem(out_of_place(handle.offset, what));
                }
            }
            Err(error) => {
                sums.blocks_unread += 1;
                self.problem(error);
                // Of a filter whose keys are not all known, no number is right.
                if let Some((_, entries)) = &mut self.group {
                    *entries = None;
                }
                self.keys.clear();
            }
        }
        if is_large {
            *buffers = Buffers::default();
        }
        drop(alone);
        self.bound.get_or_insert_default().set(last_key, sequence);
    }

    fn entries(
        &mut self,
        block: &Block<'_>,
        keys: KeyFormat,
        filter: Option<(u64, &[u8])>,
    ) -> Result<(), Error> {
        let mut entries = block.entries();
        let mut first = true;
        let collect = self.options.absent > 0 && filter.is_some();
        let range = self.range.clone();
        let mut len = 0;
        while let Some(entry) = entries.next()? {
            let (part, offset, inside) = (Part::Data, block.offset(), Some(entry.at as u64));
            let wrong = |kind| Error { part, offset, inside, kind };
            let expected = |what| wrong(Kind::Expected(what));
            // A block may hold more keys than anybody can look at whole.
            len += entry.key.len() as u64;
            if len / MAX_EXPANSION > block.entries_len() as u64 {
                return Err(wrong(Kind::KeysExpand { len }));
            }
            let Some(key) = keys.parse(entry.key) else {
                return Err(expected("a key of at least 8 bytes, as databases write"));
            };
            let deletion = match key.kind {
                KeyKind::Deletion => true,
                KeyKind::Value => false,
                KeyKind::Other(_) if self.report.maker.is_some() => false,
                KeyKind::Other(_) => return Err(expected("a value or a deletion")),
            };
            self.report.sums.entries += 1;
            self.report.sums.deletions += u64::from(deletion);
            if self.report.bytewise {
                let order = self.previous.cmp_to(key.user_key, key.sequence);
                self.report.bytewise = *self.previous.user_key <= *key.user_key;
                self.previous.set(key.user_key, key.sequence);
                if self.must_be_bytewise && order.is_gt() {
                    return Err(expected("a key that is not before the one before it"));
                }
                let bound = self.bound.as_ref().filter(|_| first && self.must_be_bytewise);
                if bound.is_some_and(|bound| bound.cmp_to(key.user_key, key.sequence).is_ge()) {
                    let what = "no key before the one that the index has for the block before it";
                    self.problem(out_of_place(offset, what));
                }
                first = false;
            }
            let whole_keys = self.options.whole_keys;
            let lost = |filter, outside| LostKey {
                key: text::key(key.user_key),
                key_hex: if whole_keys { text::hex(key.user_key) } else { String::new() },
                sequence: key.sequence,
                deletion,
                data_block: offset,
                filter,
                outside,
            };
            let mut is_outside = false;
            if let Some(range) = &range {
                if let Some(miss) = range.misses(key.user_key, key.sequence) {
                    is_outside = true;
                    self.report.sums.keys_outside += 1;
                    if self.outside.len() < self.options.keep {
                        self.outside.push(lost(None, Some(range.told(miss))));
                    }
                } else if self.report.sums.entries == 1
                    && range.begins_behind(key.user_key, key.sequence)
                {
                    let what = "no key before the smallest that the MANIFEST has for the table";
                    self.problem(out_of_place(block.offset(), what));
                }
            }
            let Some((number, filter)) = filter else { continue };
            if let Some((_, Some(entries))) = &mut self.group {
                *entries += 1;
            }
            if collect {
                self.absent.saw(key.user_key);
                self.keys.push(key.user_key, &[]);
            }
            self.report.sums.bloom.keys_checked += 1;
            if !key_may_match(key.user_key, filter) {
                self.report.sums.bloom.keys_lost += 1;
                self.report.lost_twice += u64::from(is_outside);
                self.search.mismatch(key.user_key, filter);
                if !is_outside && self.report.lost.len() < self.options.keep {
                    self.report.lost.push(lost(Some(number), None));
                }
            }
        }
        Ok(())
    }

    /// All blocks were read, if none was damaged.
    fn end_range(&mut self, last_block: u64) {
        let Some(range) = self.range.clone() else { return };
        if self.report.sums.entries == 0 || self.report.problem_count > 0 {
            return;
        }
        if range.ends_before(&self.previous) {
            let what = "no key behind the largest that the MANIFEST has for the table";
            self.problem(out_of_place(last_block, what));
        } else if range.goes_on && range.ends_behind(&self.previous) {
            let what = "the largest key that the MANIFEST has for the table, since a Get looks for it \
                        here and not in the next one";
            self.problem(out_of_place(last_block, what));
        }
    }

    /// All blocks of a filter were read.
    fn end_group(&mut self, filters: Option<&Filters<'_>>) {
        let Some((number, Some(entries))) = self.group.take() else {
            self.keys.clear();
            return;
        };
        let number = usize::try_from(number).ok();
        let filter = filters.zip(number).and_then(|(filters, number)| filters.filter(number));
        if let Some(filter) = filter {
            let bloom = &mut self.report.sums.bloom;
            bloom.keys_per_filter.count(entries);
            if !filter.is_empty() && entries > 0 {
                let info = FilterInfo::of(filter);
                if info.encoding == Encoding::Bloom {
                    self.report.sums.settings.saw(info.bits, info.probes, entries);
                }
                let per_byte = self.hashed_per_byte / self.keys.mean_len().max(1) as f64;
                let per_byte = self.absent_per_byte.min(per_byte);
                let each = (filter.len() as f64 * per_byte).ceil() as usize;
                let made = self.absent.make(&self.keys, self.report.bytewise, 0, each);
                let answers = Answers::of(&made, |key| key_may_match(key, filter));
                bloom.add_answers(&info, filter.len() as f64, answers);
            }
        }
        self.keys.clear();
    }

    /// Somebody's own policy may make filters of LevelDB's format or of any other: only the keys
    /// can tell, and where they do not, the bits say nothing.
    fn judge_format(&mut self) {
        let report = &mut self.report;
        report.transform = self.search.found();
        let foreign = matches!(report.policy, Some(Policy { format: Format::Foreign, .. }));
        let bloom = &report.sums.bloom;
        // What matches every key proves nothing.
        let proven = bloom.keys_checked >= 20
            && bloom.match_all == 0
            && (bloom.keys_lost == 0 || report.transform.is_some());
        report.undecided = foreign && !proven && bloom.filters > 0 && bloom.keys_checked < 20;
        // LevelDB's own policy makes no filters that hardly a key matches: it was another program's.
        let hardly_any = is_another_format(bloom.keys_checked, bloom.keys_lost);
        let others = bloom.keys_lost > 0 && report.maker.is_some();
        let mismatched = !foreign
            && report.transform.is_none()
            && (hardly_any || others)
            && report.place.is_used();
        if let (true, Some(policy)) = (mismatched, &mut report.policy) {
            policy.format = Format::Mismatched;
        }
        if foreign && !proven || mismatched {
            report.sums.bloom = BloomSums::default();
            report.sums.settings = Settings::default();
        }
        // A program that has a policy of its own asks by that, and nobody asks an unused table.
        if foreign || mismatched || !report.place.is_used() {
            report.sums.bloom.keys_lost = 0;
            report.lost_twice = 0;
            report.lost.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_gone_is_no_error() {
        let path = PathBuf::from("/no such folder/000005.ldb");
        let place = Place::Level(1);
        let found = Found {
            path,
            number: Some(5),
            len: 9,
            len_in_manifest: Some(9),
            place,
            bytewise: true,
            range: None,
        };
        let report = scan(&found, Options { data: true, keep: 1, ..Options::default() }, &|_| {});
        assert!(report.vanished && !report.is_wrong());
        assert_eq!((report.sums.tables, report.problem_count), (0, 0));

        let (path, place) = ("/".into(), Place::Unknown);
        let (number, len_in_manifest, range) = (None, None, None);
        let folder = Found { path, number, len: 0, len_in_manifest, place, bytewise: false, range };
        let report = scan(&folder, Options { data: true, keep: 1, ..Options::default() }, &|_| {});
        assert!(report.is_unread() && !report.vanished && !report.is_wrong());
    }
}
