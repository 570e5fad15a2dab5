//! `probe`: the way of one key through the tables, as a Get takes it.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::mem;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use leveldb_bloom::{MAX_PROBES, POLICY_NAME, Positions, Ribbon, bloom_hash, key_may_match};
use leveldb_bloom_table::{
    BlockHandle, Buffers, Error, Filters, KeyFormat, KeyKind, Kind, Part, Table, is_another_format,
};
use serde::Serialize;

use crate::codec::Fast;
use crate::encoding::{Encoding, key};
use crate::file::TableFile;
use crate::find::{Database, Found, Place, find};
use crate::manifest::BYTEWISE;
use crate::printable::printable;
use crate::scan::OTHER_NAME;
use crate::source::{self, Told};
use crate::text::{bytes, count, hex, key as shown, plural, wrap};
use crate::transform::Search;
use crate::{print, print_json, reports};

#[derive(Args)]
pub struct Probe {
    /// A database folder, or a table file
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The key, as text unless --hex or --base64 is given
    #[arg(value_name = "KEY", allow_hyphen_values = true)]
    key: OsString,
    /// KEY is in hexadecimal digits
    #[arg(long, conflicts_with = "base64")]
    hex: bool,
    /// KEY is in base64, of the standard or the URL alphabet
    #[arg(long)]
    base64: bool,
    /// Look into all tables, also those that a Get leaves out
    #[arg(long)]
    all: bool,
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
}

/// What a block's filter and its entries say of the key.
#[derive(Serialize)]
struct Step {
    data_block: u64,
    data_block_bytes: u64,
    filter: Option<Asked>,
    /// By a Get. We do it in any case, because a filter may be wrong.
    read: bool,
    entry: Option<Entry>,
    problem: Option<String>,
}

impl Step {
    /// The filter says no to a key that is there.
    fn is_lost(&self) -> bool {
        self.entry.is_some() && !self.read
    }
}

#[derive(Serialize)]
struct Asked {
    number: u64,
    bits: u64,
    #[serde(flatten)]
    how: How,
    maybe: bool,
}

#[derive(Serialize)]
#[serde(tag = "encoding", rename_all = "lowercase")]
enum How {
    Bloom {
        probes: u32,
        positions: Vec<u64>,
        /// At each position.
        bits_found: Vec<u8>,
    },
    Ribbon {
        slots: u64,
        slot_bits: u32,
        seed: u8,
        hash_hex: String,
        row: Vec<u64>,
        /// In each slot of the row.
        values: Vec<u16>,
        sum: u16,
        wanted: u16,
    },
}

#[derive(Serialize)]
struct Entry {
    /// Nothing where the table has no such numbers.
    sequence: Option<u64>,
    deletion: bool,
    value_bytes: usize,
}

/// Whether index and first keys of a table are in the order of their bytes; `None` where they
/// cannot be read.
fn is_bytewise(found: &Found) -> Option<bool> {
    let table = source::open(found, &mut Told::quiet())?;
    let (mut buffers, mut blocks) = (Buffers::default(), table.data_blocks());
    let mut last = Vec::new();
    let mut goes_on = |key: &[u8]| *mem::replace(&mut last, key.to_vec()) <= *key;
    while let Some(block) = blocks.next().ok()? {
        // An index of one block has one key, which is in any order.
        if block.handle.offset == 0 {
            let mut entries = table.read_data(block.handle, &mut buffers).ok()?.entries();
            for _ in 0..1000 {
                let Some(entry) = entries.next().ok()? else { break };
                if !goes_on(table.keys().parse(entry.key)?.user_key) {
                    return Some(false);
                }
            }
        }
        if !goes_on(block.last_key) {
            return Some(false);
        }
    }
    Some(true)
}

/// What a table says.
#[derive(Default, Serialize)]
struct Visit {
    path: String,
    level: Option<u32>,
    #[serde(skip)]
    place: Place,
    /// A Get looks into it.
    asked: bool,
    /// Why it does not, where the key is lost by that; nothing where newer writes are in the table before,
    /// and are found there.
    outside: Option<String>,
    policy: Option<String>,
    /// Its filters are not LevelDB's, and are not asked.
    #[serde(skip)]
    of_another_format: bool,
    blocks: Vec<Step>,
    /// Filters that said no without being listed, where every block had to be asked.
    other_filters_that_say_no: u64,
    /// Blocks that no filter was asked for, and that do not hold the key, in the same case.
    other_blocks_read: u64,
    problem: Option<String>,
    deleted_meanwhile: bool,
    #[serde(skip)]
    is_damaged: bool,
    /// Something could not be read, which says nothing of what is there.
    #[serde(skip)]
    is_unread: bool,
}

impl Visit {
    fn is_wrong(&self) -> bool {
        self.is_damaged || self.is_lost() || self.blocks.iter().any(Step::is_lost)
    }

    /// What a Get makes of something here is not known: it fails, or takes what is damaged for
    /// true, since LevelDB checks no sums unless it is told to.
    fn is_unsure(&self) -> bool {
        self.asked && (self.is_damaged || self.is_unread)
    }

    /// A Get ends here. After a filter that says no it goes on, to what was written earlier.
    fn is_found(&self) -> bool {
        self.asked && self.blocks.iter().any(|step| step.entry.is_some() && !step.is_lost())
    }

    fn is_lost(&self) -> bool {
        if self.asked { self.blocks.iter().any(Step::is_lost) } else { self.outside.is_some() }
    }

    /// The number of the newest write of the key that is here.
    fn newest(&self) -> Option<u64> {
        let entry = self.blocks.iter().find_map(|step| step.entry.as_ref())?;
        Some(entry.sequence.unwrap_or(0))
    }

    /// Notes an error, in words.
    fn told(&mut self, error: &Error) -> String {
        self.is_damaged |= error.is_damage();
        self.is_unread |= !error.is_damage();
        error.to_string()
    }
}

#[derive(Serialize)]
struct Probed {
    version: &'static str,
    key: String,
    key_hex: String,
    hash: u32,
    tables_in_all: u64,
    unused_tables: u64,
    database_problems: Vec<String>,
    other_owner: Option<String>,
    log_bytes: u64,
    tables: Vec<Visit>,
    /// Whether a MANIFEST names the comparator, and whether that is the order of bytes, as far as is known.
    #[serde(skip)]
    is_named: bool,
    #[serde(skip)]
    is_bytewise: bool,
    /// What becomes of tables that are not in the MANIFEST.
    #[serde(skip)]
    fate: String,
}

pub fn run(args: &Probe) -> Result<ExitCode, String> {
    let encoding = args.hex.then_some(Encoding::Hex);
    let key = key(&args.key, encoding.or(args.base64.then_some(Encoding::Base64)))?;
    let everything = find(std::slice::from_ref(&args.path))?;
    let of_tables = everything.database_of.first().and_then(Option::as_ref);
    let database = everything.databases.first().or(of_tables).map(AsRef::as_ref);
    let comparator = database.and_then(Database::comparator);
    let is_bytewise = match comparator {
        Some(name) => name == BYTEWISE,
        // What is wrong with a table is said when its turn comes.
        None => everything.tables.iter().all(|found| is_bytewise(found) != Some(false)),
    };
    let mut visits = Vec::new();
    for found in in_order(&everything.tables, database, &key) {
        let range = found.range.as_deref().filter(|_| is_bytewise);
        let asked = range.is_none_or(|range| range.is_asked_for(&key));
        if !asked && !args.all {
            continue;
        }
        let mut visit = visit(found, &key, is_bytewise);
        if let Some(range) = range.filter(|_| !asked) {
            let newest = visit.newest();
            let is_readable = !visit.is_wrong() && !visit.is_unread && !visit.deleted_meanwhile;
            if newest.is_none() && is_readable {
                continue;
            }
            let miss = newest.and_then(|sequence| range.misses(&key, sequence));
            (visit.asked, visit.outside) = (false, miss.map(|miss| range.told(miss)));
        }
        // Without a MANIFEST it is not known which table a Get asks first.
        let end = visit.is_found() && found.place != Place::Unknown;
        visits.push(visit);
        if end && !args.all {
            break;
        }
    }
    if visits.iter().all(|visit| visit.place == Place::Unknown) {
        visits.sort_by_key(|visit| Reverse(visit.newest()));
    }
    let wrong = visits.iter().any(Visit::is_wrong) || database.is_some_and(Database::is_wrong);
    let unread =
        visits.iter().any(|visit| visit.is_unread) || database.is_some_and(Database::is_unreadable);
    let used = everything.tables.iter().filter(|found| found.place.is_used()).count() as u64;
    let unused = everything.tables.len() as u64 - used;
    // By the names that LevelDB gives: a program may have a log of its own there.
    let logs = everything.databases.iter().flat_map(|database| source::logs(database));
    let probed = Probed {
        version: env!("CARGO_PKG_VERSION"),
        key: shown(&key),
        key_hex: hex(&key),
        hash: bloom_hash(&key),
        tables_in_all: used,
        unused_tables: unused,
        database_problems: database.map(Database::complaints).unwrap_or_default(),
        other_owner: database.and_then(Database::other_owner),
        log_bytes: logs.filter_map(|path| Some(path.metadata().ok()?.len())).sum(),
        tables: visits,
        is_named: comparator.is_some(),
        is_bytewise,
        fate: reports::fate_of_unused(unused, None),
    };
    match args.json {
        true => print_json(&probed)?,
        false => print(&probed.to_text(key.len(), args.all))?,
    }
    Ok(reports::status_of(wrong, unread).into())
}

/// As a Get goes: level 0 from the newest table to the oldest, then level by level.
fn in_order<'t>(tables: &'t [Found], database: Option<&Database>, key: &[u8]) -> Vec<&'t Found> {
    let mut tables: Vec<_> = tables.iter().filter(|found| found.place.is_used()).collect();
    tables.sort_by_key(|found| {
        // A key's writes may go on in the next tables of a level, which then begin with it: the
        // newest are in the first, whatever the comparator.
        let level = found.place.level().unwrap_or(u32::MAX);
        let live = database.and_then(|database| database.live(found)).filter(|_| level > 0);
        let first = live.map(|table| &table.smallest);
        let goes_on = first.is_some_and(|smallest| smallest.user_key == key);
        (level, goes_on, first, Reverse(found.number))
    });
    tables
}

fn visit(found: &Found, key: &[u8], bytewise: bool) -> Visit {
    let (path, place) = (found.path.to_string_lossy().into_owned(), found.place);
    let mut visit = Visit { path, level: place.level(), place, asked: true, ..Visit::default() };
    match TableFile::open(&found.path, found.len_in_manifest) {
        Ok(file) => {
            let other_length = file.other_length();
            if let Err(error) = look_up(file, key, bytewise, &mut visit) {
                let told = visit.told(&error);
                visit.problem.get_or_insert(told);
            }
            if let Some(problem) = &mut visit.problem {
                *problem += &other_length;
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            visit.deleted_meanwhile = true
        }
        Err(error) => {
            visit.problem = Some(format!("could not be read: {error}"));
            visit.is_unread = true;
        }
    }
    visit
}

fn look_up(file: TableFile, key: &[u8], bytewise: bool, visit: &mut Visit) -> Result<(), Error> {
    let mut table = Table::open(file, Fast::default())?;
    if visit.level.is_none() {
        table.look_at_keys();
    }
    let names = table.filters();
    let number = table.preferred_filters().unwrap_or(0);
    visit.policy = names.get(number).map(|name| printable(&name.policy));
    let mut contents = Vec::new();
    let filters = match (table.metaindex_error(), visit.policy.as_deref()) {
        (Some(error), _) => Err(error.clone()),
        (None, Some(POLICY_NAME | OTHER_NAME)) => table.read_filters(number).and_then(|bytes| {
            contents = bytes;
            Filters::parse(&contents, names[number].handle.offset).map(Some)
        }),
        // What is not LevelDB's format cannot be asked.
        _ => Ok(None),
    };
    // LevelDB then does without them.
    let filters = filters.unwrap_or_else(|error| {
        visit.problem = Some(visit.told(&error));
        None
    });
    visit.of_another_format = filters.is_some_and(|filters| mismatch(&table, &filters));
    let filters = filters.filter(|_| !visit.of_another_format);
    let mut buffers = Buffers::default();
    let mut step = |visit: &mut Visit, block: BlockHandle| {
        let filter = filters.and_then(|filters: Filters<'_>| {
            let filter = filters.filter_for(block.offset)?;
            Some(ask(filters.number_for(block.offset), filter, key))
        });
        let entry = entry_in(&table, block, key, &mut buffers);
        Step {
            data_block: block.offset,
            data_block_bytes: block.size,
            read: filter.as_ref().is_none_or(|filter| filter.maybe),
            filter,
            problem: entry.as_ref().err().map(|error| visit.told(error)),
            entry: entry.unwrap_or_default(),
        }
    };
    if bytewise {
        if let Some(block) = table.block_for(key)? {
            let step = step(visit, block);
            visit.blocks.push(step);
        }
        return Ok(());
    }
    let mut blocks = table.data_blocks();
    let mut last_no = None;
    while let Some(block) = blocks.next()? {
        if filters.is_some_and(|filters| !filters.may_match(block.handle.offset, key)) {
            // One filter is that of all blocks which begin in its 2 KiB.
            let number = filters.map(|filters| filters.number_for(block.handle.offset));
            visit.other_filters_that_say_no += u64::from(number != last_no);
            last_no = number;
            continue;
        }
        let step = step(visit, block.handle);
        let found = step.entry.is_some();
        if step.filter.is_none() && !found && step.problem.is_none() {
            visit.other_blocks_read += 1;
            continue;
        }
        visit.blocks.push(step);
        if found {
            break;
        }
    }
    Ok(())
}

/// Whether filters under LevelDB's name are of another format, by the first keys.
fn mismatch(table: &Table<TableFile, Fast>, filters: &Filters<'_>) -> bool {
    const ENOUGH_KEYS: u64 = 1000;
    const ENOUGH_BYTES: usize = 16 << 20;
    let (mut blocks, mut buffers) = (table.data_blocks(), Buffers::default());
    let (mut search, mut keys, mut missed, mut bytes) = (Search::default(), 0, 0, 0);
    'blocks: while let Ok(Some(block)) = blocks.next() {
        let Some(filter) = filters.filter_for(block.handle.offset) else { continue };
        let Ok(block) = table.read_data(block.handle, &mut buffers) else { continue };
        bytes += block.entries_len();
        let mut entries = block.entries();
        while let Ok(Some(entry)) = entries.next() {
            let Some(key) = table.keys().parse(entry.key) else { continue };
            keys += 1;
            bytes += key.user_key.len();
            if !key_may_match(key.user_key, filter) {
                missed += 1;
                search.mismatch(key.user_key, filter);
            }
            if keys >= ENOUGH_KEYS || bytes > ENOUGH_BYTES {
                break 'blocks;
            }
        }
    }
    is_another_format(keys, missed) && search.found().is_none()
}

fn ask(number: u64, filter: &[u8], key: &[u8]) -> Asked {
    let maybe = key_may_match(key, filter);
    if let Some(ribbon) = Ribbon::parse(filter) {
        let probe = ribbon.probe(key);
        let row: Vec<_> = probe.slots().collect();
        let how = How::Ribbon {
            slots: ribbon.slots(),
            slot_bits: ribbon.result_bits(),
            seed: ribbon.seed(),
            hash_hex: format!("{:016x}", probe.hash),
            values: row.iter().map(|slot| ribbon.slot(*slot)).collect(),
            row,
            sum: probe.sum,
            wanted: probe.wanted,
        };
        return Asked { number, bits: (filter.len() as u64 - 1) * 8, how, maybe };
    }
    let (&probes, array) = filter.split_last().unwrap_or((&0, filter));
    let (probes, bits) = (u32::from(probes), array.len() as u64 * 8);
    let counted = if probes > MAX_PROBES { 0 } else { probes };
    let positions: Vec<_> = Positions::new(bloom_hash(key), counted, bits).collect();
    let set = |at: &u64| array.get(*at as usize / 8).map_or(0, |byte| byte >> (at % 8) & 1);
    let bits_found = positions.iter().map(set).collect();
    Asked { number, bits, how: How::Bloom { probes, positions, bits_found }, maybe }
}

/// The newest entry of the key in a block.
fn entry_in(
    table: &Table<TableFile, Fast>,
    block: BlockHandle,
    key: &[u8],
    buffers: &mut Buffers,
) -> Result<Option<Entry>, Error> {
    let mut entries = table.read_data(block, buffers)?.entries();
    while let Some(entry) = entries.next()? {
        let parsed = table.keys().parse(entry.key);
        if let Some(found) = parsed.filter(|found| found.user_key == key) {
            if matches!(found.kind, KeyKind::Other(_)) && table.maker().is_none() {
                let (part, offset, inside) = (Part::Data, block.offset, Some(entry.at as u64));
                let kind = Kind::Expected("a value or a deletion");
                return Err(Error { part, offset, inside, kind });
            }
            return Ok(Some(Entry {
                sequence: (table.keys() == KeyFormat::Internal).then_some(found.sequence),
                deletion: found.kind == KeyKind::Deletion,
                value_bytes: entry.value.len(),
            }));
        }
    }
    Ok(None)
}

impl Probed {
    fn to_text(&self, key_len: usize, all: bool) -> String {
        let len = plural(key_len as u64, "byte", "bytes");
        let mut text = format!("key {} ({len}), hash {:08x}\n", self.key, self.hash);
        if !self.is_bytewise {
            let why = match self.is_named {
                true => "The database has a comparator of its own",
                false => {
                    "No MANIFEST names the comparator, and keys are not in the order of their bytes"
                }
            };
            text += &wrap(
                &format!(
                    "{why}: where a Get would look is not known, so every filter is queried. Listed are the blocks that \
                     hold the key, and those whose filter says maybe or that have no filter. \
                     `leveldb-bloom verify` finds lost keys."
                ),
                "",
            );
        }
        text.extend(self.tables.iter().map(Visit::to_text));
        text += "\n";
        let of_manifest = match self.log_bytes {
            0 => String::new(),
            len => format!(
                "What was written last, {}, is in the log, which probe does not read: a Get looks there first.",
                bytes(len)
            ),
        };
        let owner = self.other_owner.clone().unwrap_or_default();
        for more in [self.summary(all), self.verdict(), of_manifest, owner, self.fate.clone()] {
            if !more.is_empty() {
                text += &wrap(&more, "");
            }
        }
        text.extend(self.database_problems.iter().map(|problem| format!("{problem}\n")));
        text
    }

    /// How much a Get takes.
    fn summary(&self, all: bool) -> String {
        let (mut asked, mut noes, mut read) = (0, 0, 0);
        for visit in &self.tables {
            let mut last_asked = None;
            for step in visit.blocks.iter().filter(|_| visit.asked) {
                let number = step.filter.as_ref().map(|filter| filter.number);
                let is_new = number.is_some() && number != last_asked;
                last_asked = number;
                asked += u64::from(is_new);
                noes += u64::from(is_new && !step.read);
                read += u64::from(step.read);
            }
            read += visit.other_blocks_read;
            asked += visit.other_filters_that_say_no;
            noes += visit.other_filters_that_say_no;
        }
        let (visited, tables) = (self.tables.len(), self.tables_in_all);
        let last = self.tables.last().filter(|visit| !all && visit.place != Place::Unknown);
        let why = match last.is_some_and(Visit::is_found) {
            true if self.tables.iter().any(Visit::is_unsure) => {
                ": the Get ends where the key is found, if the damage does not stop or mislead it"
            }
            true => ": the Get ends where the key is found",
            false if tables == 0 => "",
            false if all => ": no others hold the key",
            false if self.is_named && self.is_bytewise && (visited as u64) < tables => {
                ": by the MANIFEST no others can hold the key (--all looks)"
            }
            false => ": no others can hold the key",
        };
        format!(
            "{visited} of {} looked at{why}. {} queried, {} no; {} read.",
            plural(tables, "table", "tables"),
            plural(asked, "filter is", "filters are"),
            plural(noes, "says", "say"),
            plural(read, "data block is", "data blocks are")
        )
    }

    /// What comes of it, where that has to be said.
    fn verdict(&self) -> String {
        let is_unknown = self.tables.iter().all(|visit| visit.place == Place::Unknown);
        // With --all there may be a lost one that is older than the one that a Get finds.
        let lost = self.tables.iter().filter(|it| it.is_lost()).filter_map(Visit::newest).max();
        let mut found = self.tables.iter().filter(|it| it.is_found()).filter_map(Visit::newest);
        match (lost, found.next()) {
            (Some(lost), Some(found)) if found < lost => {
                "A Get gives what was written to the key earlier: the newest is lost.".into()
            }
            (Some(_), None) => "A Get does not find the key: it is lost.".into(),
            (None, Some(newest)) if found.next().is_some() && is_unknown => format!(
                "No MANIFEST says in which order a Get looks into the tables, or which of them are in use: the newest \
                 write, sequence {newest}, is listed first."
            ),
            (None, None) if self.is_bytewise && !self.is_named => {
                "No MANIFEST names the comparator. The tables are in the order of bytes, so the key was looked for \
                 by that."
                    .into()
            }
            _ => String::new(),
        }
    }
}

impl Visit {
    fn to_text(&self) -> String {
        let place = match self.place {
            Place::Level(level) => format!(", level {level}"),
            Place::Unused | Place::Named => ", not in the MANIFEST".into(),
            Place::Unknown => String::new(),
        };
        let mut text = format!("\n{}{place}\n", printable(&self.path));
        let mut line = |what: &str| text += &format!("  {what}\n");
        let (noes, read) = (self.other_filters_that_say_no, self.other_blocks_read);
        match &self.problem {
            Some(problem) => line(problem),
            None if self.deleted_meanwhile => line("deleted meanwhile, by a compaction"),
            None if self.blocks.is_empty() && noes + read == 0 => {
                line("the key is behind its last key: nothing is read");
            }
            None => {}
        }
        if noes > 0 {
            line(&(plural(noes, "filter says", "filters say") + " no"));
        }
        if read > 0 {
            let blocks = plural(read, "data block", "data blocks");
            line(&format!("{blocks} read that have no filter, and do not hold the key"));
        }
        match self.policy.as_deref() {
            None if self.problem.is_none() && !self.deleted_meanwhile => line("no filters"),
            Some(POLICY_NAME | OTHER_NAME) if self.of_another_format => line(
                "the filters match hardly any key: they are of a format that is not known here, or were made wrongly",
            ),
            Some(POLICY_NAME) | None => {}
            Some(OTHER_NAME) => {
                line(&format!("filters named {OTHER_NAME}, which the C++ library does not query"));
            }
            Some(name) => {
                line(&format!("filters named {name}, of a format that is not known here"));
            }
        }
        text.extend(self.blocks.iter().map(|step| step.to_text(self)));
        text
    }
}

impl Step {
    fn to_text(&self, visit: &Visit) -> String {
        let (at, len) = (count(self.data_block), count(self.data_block_bytes));
        let mut text = format!("  data block at byte {at}, {len} bytes\n");
        let held = self.entry.as_ref().map(|entry| {
            let value = plural(entry.value_bytes as u64, "byte", "bytes");
            let what =
                if entry.deletion { "a deletion".into() } else { format!("a value of {value}") };
            let sequence = entry.sequence.map(|number| format!(", sequence {number}"));
            format!("the block holds {what}{}", sequence.unwrap_or_default())
        });
        if let Some(held) = held.as_ref().filter(|_| !visit.asked) {
            match &visit.outside {
                Some(why) => {
                    let lost = format!("LOST: {held}, but {why}: a Get does not look here");
                    return text + &wrap(&lost, "  ");
                }
                None if self.is_lost() => {}
                None => {
                    let why =
                        "for older snapshots: other Gets look for the key in the table before";
                    return text + &wrap(&format!("{held}, {why}"), "  ");
                }
            }
        }
        text += &self.filter.as_ref().map_or(String::new(), Asked::to_text);
        let what = match (held, &self.problem) {
            (Some(held), _) if self.read => format!("found: {held}"),
            (Some(held), _) => format!("LOST: although the filter says no, {held}"),
            (None, Some(problem)) => problem.clone(),
            (None, None) if !self.read => "the filter is right: the key is not in the block".into(),
            (None, None) if self.filter.is_some() => {
                "the key is not in the block: a false positive".into()
            }
            (None, None) => "the key is not in the block".into(),
        };
        text + "  " + &what + "\n"
    }
}

impl Asked {
    fn to_text(&self) -> String {
        let filter = format!("  filter {}, {} bits", count(self.number), count(self.bits));
        let (text, no) = match &self.how {
            How::Bloom { probes, positions, bits_found } => {
                let found =
                    positions.iter().zip(bits_found).map(|(at, bit)| format!("{at}:{bit} "));
                let found: String = found.collect();
                let found = if found.is_empty() { found } else { wrap(&found, "  position:bit  ") };
                (format!("{filter}, k = {probes}\n{found}"), "")
            }
            How::Ribbon { slots, slot_bits, seed, hash_hex, row, values, sum, wanted } => {
                let bits = |value: &u16| format!("{value:0len$b}", len = *slot_bits as usize);
                let found =
                    row.iter().zip(values).map(|(at, value)| format!("{at}:{} ", bits(value)));
                let found = wrap(&found.collect::<String>(), "  slot:bits  ");
                let (slots, sum, wanted) = (count(*slots), bits(sum), bits(wanted));
                let text = format!(
                    "{filter}, ribbon: {slots} slots of {slot_bits} bits, seed {seed}\n{found}  their sum {sum}, \
                     wanted {wanted} (hash {hash_hex})\n"
                );
                (text, " (by a LevelDB that does not know ribbon filters, it is)")
            }
        };
        text + &match self.maybe {
            true => "  the filter says maybe: the block is read\n".to_owned(),
            false => format!("  the filter says no: the block is not read{no}\n"),
        }
    }
}
