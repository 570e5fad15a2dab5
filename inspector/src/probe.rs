//! `probe`: the way of one key through the tables, as a Get takes it.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use leveldb_bloom::{MAX_PROBES, POLICY_NAME, Positions, bloom_hash, key_may_match};
use leveldb_bloom_table::{
    BlockHandle, Buffers, Comparison, Error, Filters, InternalKey, KeyKind, Table,
};
use serde_json::{Value, json};

use crate::codec::Fast;
use crate::encoding::Encoding;
use crate::file::TableFile;
use crate::find::{Database, Found, Place, find};
use crate::manifest::{BYTEWISE, LiveTable, Stored};
use crate::printable::printable;
use crate::scan::OTHER_NAME;
use crate::text::{self, bytes, count, hex, key as shown, plural, wrap};
use crate::{Failure, print, reports};

#[derive(Args)]
pub struct Probe {
    /// A database folder, or a table file
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The key, as it is unless said otherwise
    #[arg(value_name = "KEY", allow_hyphen_values = true)]
    key: OsString,
    /// KEY is in hexadecimal digits
    #[arg(long, conflicts_with = "base64")]
    hex: bool,
    /// KEY is in base64, with or without padding, of either alphabet
    #[arg(long)]
    base64: bool,
    /// Look into all tables, found or not, whatever the MANIFEST says
    #[arg(long)]
    all: bool,
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
}

/// What a block's filter and its entries say of the key.
struct Step {
    block: BlockHandle,
    filter: Option<Asked>,
    /// The block was read, and this was in it.
    entry: Option<Result<Option<Entry>, String>>,
}

impl Step {
    fn holds_key(&self) -> bool {
        matches!(self.entry, Some(Ok(Some(_))))
    }

    /// The filter says no to a key that is there.
    fn is_lost(&self) -> bool {
        self.holds_key() && self.filter.as_ref().is_some_and(|filter| !filter.maybe)
    }

    /// It is, or the block cannot be read.
    fn is_wrong(&self) -> bool {
        self.is_lost() || matches!(self.entry, Some(Err(_)))
    }
}

struct Asked {
    number: u64,
    probes: u32,
    bits: u64,
    /// The positions with the bit found at each.
    positions: Vec<(u64, bool)>,
    maybe: bool,
}

struct Entry {
    sequence: u64,
    deletion: bool,
    value_len: usize,
}

/// How the database sorts its keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Bytewise,
    /// No MANIFEST says so, but nothing in the tables is against it.
    BytewiseSoFar,
    /// The MANIFEST names another comparator.
    Own,
    /// No MANIFEST says so, but a table has keys in another order.
    OwnAsSeen,
}

impl Order {
    fn of(database: Option<&Database>, tables: &[Found]) -> Self {
        match database.and_then(Database::comparator) {
            Some(BYTEWISE) => Order::Bytewise,
            Some(_) => Order::Own,
            // What is wrong with a table is said when its turn comes.
            None if tables.iter().any(|found| is_bytewise(found) == Some(false)) => {
                Order::OwnAsSeen
            }
            None => Order::BytewiseSoFar,
        }
    }

    fn is_bytewise(self) -> bool {
        matches!(self, Order::Bytewise | Order::BytewiseSoFar)
    }
}

/// Whether index and first block of a table are in the order of their bytes; `None` where they
/// cannot be read.
fn is_bytewise(found: &Found) -> Option<bool> {
    let file = TableFile::open(&found.path, found.len_in_manifest).ok()?;
    let table = Table::open(file, Fast::default()).ok()?;
    let (mut buffers, mut last) = (Buffers::default(), Stored::default());
    let mut blocks = table.data_blocks();
    let mut first = true;
    while let Some(block) = blocks.next().ok()? {
        // An index of one block has one key, which is in any order.
        if first {
            let mut entries = table.read_data(block.handle, &mut buffers).ok()?.entries();
            while let Some(entry) = entries.next().ok()? {
                let key = InternalKey::parse(entry.key)?;
                if last.cmp_key(key.user_key, entry.shared).is_gt() {
                    return Some(false);
                }
                last.go_on(key.user_key, key.sequence, entry.shared);
            }
            first = false;
        }
        if last.cmp_key(block.last_key, 0).is_gt() {
            return Some(false);
        }
        last.set(block.last_key, block.sequence);
    }
    Some(true)
}

/// A table with the key that a Get of it does not look into.
struct Unasked {
    /// Why not; nothing where newer writes are in the table before, and are found there.
    lost: Option<String>,
}

/// What a table says.
struct Visit {
    path: PathBuf,
    place: Place,
    unasked: Option<Unasked>,
    policy: Option<String>,
    other_policies: Vec<String>,
    steps: Vec<Step>,
    /// Filters that said no without being listed, where every block had to be asked.
    other_noes: u64,
    /// Blocks that no filter was asked for, and that do not hold the key, in the same case.
    other_reads: u64,
    problem: Option<String>,
    vanished: bool,
    /// The file could not be opened.
    unreadable: bool,
}

impl Visit {
    fn is_wrong(&self) -> bool {
        self.problem.is_some() && !self.unreadable
            || self.steps.iter().any(Step::is_wrong)
            || self.is_lost()
    }

    /// What a Get makes of something here is not known: it fails, or takes what is damaged for
    /// true, since LevelDB checks no sums unless it is told to.
    fn is_unsure(&self) -> bool {
        let damaged = |step: &Step| matches!(step.entry, Some(Err(_)));
        self.unasked.is_none() && (self.problem.is_some() || self.steps.iter().any(damaged))
    }

    /// A Get ends here. After a filter that says no it goes on, to what was written earlier.
    fn is_found(&self) -> bool {
        self.unasked.is_none() && self.steps.iter().any(|step| step.holds_key() && !step.is_lost())
    }

    fn is_lost(&self) -> bool {
        match &self.unasked {
            Some(unasked) => unasked.lost.is_some(),
            None => self.steps.iter().any(Step::is_lost),
        }
    }

    /// The number of the newest write of the key that is here.
    fn newest(&self) -> Option<u64> {
        self.steps.iter().find_map(|step| match &step.entry {
            Some(Ok(Some(entry))) => Some(entry.sequence),
            _ => None,
        })
    }
}

pub fn run(args: &Probe) -> Result<ExitCode, Failure> {
    let key = parse(args)?;
    let everything = find(std::slice::from_ref(&args.path))?;
    let database =
        everything.databases.first().or(everything.database_of.first().and_then(Option::as_ref));
    let database = database.map(AsRef::as_ref);
    let order = Order::of(database, &everything.tables);
    let bytewise = order.is_bytewise();
    let mut visits = Vec::new();
    for found in in_order(&everything.tables, database, &key) {
        let range = found.range.as_deref().filter(|_| bytewise);
        let is_asked = range.is_none_or(|range| range.is_asked_for(&key));
        if !is_asked && !args.all {
            continue;
        }
        let mut visit = visit(found, &key, bytewise);
        if let Some(range) = range.filter(|_| !is_asked) {
            let newest = visit.newest();
            if newest.is_none() && !visit.is_wrong() && !visit.unreadable && !visit.vanished {
                continue;
            }
            let miss = newest.and_then(|sequence| range.misses(&key, sequence));
            visit.unasked = Some(Unasked { lost: miss.map(|miss| range.told(miss)) });
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
    let unreadable = visits.iter().any(|visit| visit.unreadable)
        || database.is_some_and(Database::is_unreadable);
    let complaints = database.map(Database::complaints).unwrap_or_default();
    let levels = database.and_then(Database::other_owner);
    let logs = if args.path.is_dir() { logs(&args.path) } else { 0 };
    let tables = everything.tables.iter().filter(|found| found.place.is_used()).count() as u64;
    let unused = everything.tables.len() as u64 - tables;
    print(&if args.json {
        format!("{:#}\n", to_json(&key, &visits, (tables, unused), &complaints, &levels, logs))
    } else {
        let mut text = to_text(&key, &visits, tables, order, args.all);
        if logs > 0 {
            let in_logs = format!(
                "What was written last, {}, is in the log, which is not looked into: a Get sees it first.",
                bytes(logs)
            );
            text += &wrap(&in_logs, "");
        }
        let places = everything.tables.iter().map(|found| found.place);
        let fate = reports::fate_of_unused(places, None);
        for more in [levels.unwrap_or_default(), fate].iter().filter(|more| !more.is_empty()) {
            text += &wrap(more, "");
        }
        complaints.into_iter().fold(text, |text, complaint| text + &complaint + "\n")
    })?;
    Ok(reports::status_of(wrong, unreadable).into())
}

/// The bytes of the logs in a folder.
fn logs(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // By the names that LevelDB gives: a program may have a log of its own there.
    let logs = entries.filter(|entry| {
        let path = entry.path();
        let number = path.file_stem().and_then(|name| name.to_str()?.parse::<u64>().ok());
        number.is_some() && path.extension().is_some_and(|it| it == "log")
    });
    logs.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

fn parse(args: &Probe) -> Result<Vec<u8>, Failure> {
    let encoding = match (args.hex, args.base64) {
        (true, _) => Encoding::Hex,
        (_, true) => Encoding::Base64,
        // Where arguments are bytes, as a shell's $'\xff' is, these are the key's.
        _ => return Ok(args.key.as_encoded_bytes().to_vec()),
    };
    encoding.decode(&args.key).map_err(|expected| Failure(format!("KEY: {expected}")))
}

/// As a Get goes: level 0 from the newest table to the oldest, then level by level.
fn in_order<'t>(tables: &'t [Found], database: Option<&Database>, key: &[u8]) -> Vec<&'t Found> {
    let mut tables: Vec<_> = tables.iter().filter(|found| found.place.is_used()).collect();
    tables.sort_by_key(|found| match found.place {
        // A key's writes may go on in the next tables of a level, which then begin with it: the
        // newest are in the first, whatever the comparator.
        Place::Level(level @ 1..) => {
            let first = live(database, found).map(|table| &table.smallest);
            let goes_on = first.is_some_and(|smallest| smallest.user_key == key);
            (level, goes_on, first, Reverse(found.number))
        }
        Place::Level(level) => (level, false, None, Reverse(found.number)),
        _ => (u32::MAX, false, None, Reverse(found.number)),
    });
    tables
}

fn live<'d>(database: Option<&'d Database>, found: &Found) -> Option<&'d LiveTable> {
    database?.version.as_ref().ok()?.tables.get(&found.number?)
}

fn visit(found: &Found, key: &[u8], bytewise: bool) -> Visit {
    let mut visit = Visit {
        path: found.path.clone(),
        place: found.place,
        unasked: None,
        policy: None,
        other_policies: Vec::new(),
        steps: Vec::new(),
        other_noes: 0,
        other_reads: 0,
        problem: None,
        vanished: false,
        unreadable: false,
    };
    match TableFile::open(&found.path, found.len_in_manifest) {
        Ok(file) => {
            let other_length = file.other_length();
            if let Err(error) = look_up(file, key, bytewise, &mut visit) {
                visit.problem.get_or_insert(error.to_string());
            }
            if let Some(problem) = &mut visit.problem {
                *problem += &other_length;
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => visit.vanished = true,
        Err(error) => {
            visit.problem = Some(format!("could not be read: {error}"));
            visit.unreadable = true;
        }
    }
    visit
}

fn look_up(file: TableFile, key: &[u8], bytewise: bool, visit: &mut Visit) -> Result<(), Error> {
    let table = Table::open(file, Fast::default())?;
    let names = table.filters();
    let number = table.preferred_filters().unwrap_or(0);
    visit.policy = names.get(number).map(|name| printable(&name.policy));
    visit.other_policies = table.other_filters().map(|name| printable(&name.policy)).collect();
    // What is not LevelDB's format cannot be asked.
    let known = matches!(visit.policy.as_deref(), Some(POLICY_NAME | OTHER_NAME));
    let mut contents = Vec::new();
    let mut filters = table.metaindex_error().cloned().map_or(Ok(None), Err);
    if known {
        filters = table.read_filters(number).and_then(|bytes| {
            contents = bytes;
            Filters::parse(&contents, names[number].handle.offset).map(Some)
        });
    }
    // LevelDB then does without them.
    let filters = filters.unwrap_or_else(|error| {
        visit.problem = Some(error.to_string());
        None
    });
    let mut buffers = Buffers::default();
    if bytewise {
        if let Some(block) = table.block_for(key)? {
            visit.steps.push(step(&table, block, filters.as_ref(), key, &mut buffers));
        }
        return Ok(());
    }
    let mut blocks = table.data_blocks();
    let mut last_no = None;
    while let Some(block) = blocks.next()? {
        if filters.is_some_and(|filters| !filters.may_match(block.handle.offset, key)) {
            // One filter is that of all blocks which begin in its 2 KiB.
            let number = filters.map(|filters| filters.number_for(block.handle.offset));
            visit.other_noes += u64::from(number != last_no);
            last_no = number;
            continue;
        }
        let step = step(&table, block.handle, filters.as_ref(), key, &mut buffers);
        let found = matches!(step.entry, Some(Ok(Some(_))));
        if step.filter.is_none() && matches!(step.entry, Some(Ok(None))) {
            visit.other_reads += 1;
            continue;
        }
        visit.steps.push(step);
        if found {
            break;
        }
    }
    Ok(())
}

fn step(
    table: &Table<TableFile, Fast>,
    block: BlockHandle,
    filters: Option<&Filters<'_>>,
    key: &[u8],
    buffers: &mut Buffers,
) -> Step {
    let filter = filters.and_then(|filters| {
        Some(ask(filters.number_for(block.offset), filters.filter_for(block.offset)?, key))
    });
    // Where the filter says no, LevelDB does not look; we do, because the filter may be wrong.
    let entry = entry_in(table, block, key, buffers).map_err(|error| error.to_string());
    Step { block, filter, entry: Some(entry) }
}

fn ask(number: u64, filter: &[u8], key: &[u8]) -> Asked {
    let (probes, array) = match filter.split_last() {
        Some((&probes, array)) => (u32::from(probes), array),
        None => (0, filter),
    };
    let bits = array.len() as u64 * 8;
    let counted = if probes > MAX_PROBES { 0 } else { probes };
    let set = |position: u64| {
        let byte = usize::try_from(position / 8).ok().and_then(|byte| array.get(byte));
        byte.is_some_and(|byte| byte >> (position % 8) & 1 == 1)
    };
    let positions =
        Positions::new(bloom_hash(key), counted, bits).map(|at| (at, set(at))).collect();
    Asked { number, probes, bits, positions, maybe: key_may_match(key, filter) }
}

/// The newest entry of the key in a block.
fn entry_in(
    table: &Table<TableFile, Fast>,
    block: BlockHandle,
    key: &[u8],
    buffers: &mut Buffers,
) -> Result<Option<Entry>, Error> {
    let mut entries = table.read_data(block, buffers)?.entries();
    let mut comparison = Comparison::with(key);
    while let Some(entry) = entries.next()? {
        let Some(found) = InternalKey::parse(entry.key) else {
            comparison.next(entry.key, entry.shared);
            continue;
        };
        if comparison.next(found.user_key, entry.shared).is_eq() {
            return Ok(Some(Entry {
                sequence: found.sequence,
                deletion: found.kind == KeyKind::Deletion,
                value_len: entry.value.len(),
            }));
        }
    }
    Ok(None)
}

fn to_text(key: &[u8], visits: &[Visit], tables: u64, order: Order, all: bool) -> String {
    let mut text = format!(
        "key {} ({}), hash {:08x}\n",
        shown(key),
        plural(key.len() as u64, "byte", "bytes"),
        bloom_hash(key)
    );
    if !order.is_bytewise() {
        let why = match order {
            Order::OwnAsSeen => {
                "No MANIFEST names the comparator, and keys are not in the order of their \
                 bytes: the database has one of its own"
            }
            _ => "The database has a comparator of its own",
        };
        let what = format!(
            "{why}, so that the order of its keys is not known: every filter is asked, where a Get would \
             ask one of a table, and a block is read only where its filter says maybe, or where there is \
             none to ask. Of these blocks only those are listed that hold the key, or whose filter says \
             maybe. `leveldb-bloom verify` finds keys that are lost."
        );
        text += &wrap(&what, "");
    }
    let (mut asked, mut noes, mut read) = (0, 0, 0);
    for visit in visits {
        text += &visit_text(&visit.path, visit);
        let mut last_asked = None;
        for step in visit.steps.iter().filter(|_| visit.unasked.is_none()) {
            let number = step.filter.as_ref().map(|filter| filter.number);
            let is_new = number.is_some() && number != last_asked;
            last_asked = number;
            let no = step.filter.as_ref().is_some_and(|filter| !filter.maybe);
            asked += u64::from(is_new);
            noes += u64::from(is_new && no);
            read += u64::from(!no);
        }
        read += visit.other_reads;
        asked += visit.other_noes;
        noes += visit.other_noes;
    }
    let last = visits.last().filter(|visit| !all && visit.place != Place::Unknown);
    let stopped = last.is_some_and(Visit::is_found);
    let summary = format!(
        "{} of {} looked at{}. {} asked, {} no; {} read.",
        visits.len(),
        plural(tables, "table", "tables"),
        match (stopped, visits.is_empty()) {
            (true, _) if visits.iter().any(Visit::is_unsure) => {
                ": the Get ends where the key is found, unless it fails at what is damaged, or takes \
                 that for true"
            }
            (true, _) => ": the Get ends where the key is found",
            (_, true) if tables == 0 => "",
            _ if all => ": no others hold the key",
            (_, true) if order == Order::Bytewise => {
                ": by the MANIFEST the key is outside of what they hold (--all looks)"
            }
            (_, true) => ": the key is outside of what they hold",
            _ if order == Order::Bytewise && (visits.len() as u64) < tables => {
                ": by the MANIFEST no others hold the key (--all looks)"
            }
            _ => ": no others can hold the key",
        },
        plural(asked, "filter is", "filters are"),
        plural(noes, "says", "say"),
        plural(read, "data block is", "data blocks are")
    );
    text += "\n";
    text += &wrap(&summary, "");
    let is_unknown = visits.iter().all(|visit| visit.place == Place::Unknown);
    // With --all there may be a lost one that is older than the one that a Get finds.
    let lost = visits.iter().filter(|visit| visit.is_lost()).filter_map(Visit::newest).max();
    match (lost, visits.iter().find(|visit| visit.is_found()).and_then(Visit::newest)) {
        (Some(lost), Some(found)) if found < lost => {
            text += "A Get gives what was written to the key earlier: the newest is lost.\n";
        }
        (Some(_), None) => text += "A Get does not find the key: it is lost.\n",
        (None, Some(newest))
            if visits.iter().filter(|visit| visit.is_found()).count() > 1 && is_unknown =>
        {
            let what = format!(
                "No MANIFEST says in which order a Get asks the tables, or which of them are of use: \
                 listed first is the newest write, sequence {newest}."
            );
            text += &wrap(&what, "");
        }
        (None, None) if order == Order::BytewiseSoFar => {
            text += &wrap(
                "No MANIFEST names the comparator: the key was looked for where the order of \
                 bytes has it, in which the tables' indexes are.",
                "",
            );
        }
        _ => {}
    }
    text
}

fn visit_text(path: &Path, visit: &Visit) -> String {
    let mut text = String::new();
    let level = match visit.place {
        Place::Level(level) => format!(", level {level}"),
        Place::Unused | Place::Stray | Place::Named => ", not in the MANIFEST".into(),
        Place::Unknown => String::new(),
    };
    let _ = writeln!(text, "\n{}{level}", text::path(path));
    if visit.vanished {
        text += "  deleted meanwhile, by a compaction\n";
    }
    if let Some(problem) = &visit.problem {
        let _ = writeln!(text, "  {problem}");
    } else if visit.steps.is_empty() && visit.other_noes + visit.other_reads == 0 && !visit.vanished
    {
        text += "  the key is behind its last key: nothing is read\n";
    }
    if visit.other_noes > 0 {
        let _ = writeln!(text, "  {} no", plural(visit.other_noes, "filter says", "filters say"));
    }
    if visit.other_reads > 0 {
        let _ = writeln!(
            text,
            "  {} read without asking a filter, and not holding the key",
            plural(visit.other_reads, "data block", "data blocks")
        );
    }
    match visit.policy.as_deref() {
        None if visit.problem.is_none() && !visit.vanished => text += "  no filters\n",
        Some(POLICY_NAME) | None => {}
        Some(OTHER_NAME) => {
            let _ =
                writeln!(text, "  filters named {OTHER_NAME}, which the C++ library does not ask");
        }
        Some(name) => {
            let _ = writeln!(text, "  filters named {name}, of a format that is not known here");
        }
    }
    if !visit.other_policies.is_empty() {
        let _ = writeln!(
            text,
            "  filters of {} as well, which are not looked at",
            visit.other_policies.join(", ")
        );
    }
    for step in &visit.steps {
        text += &step_text(step, visit.unasked.as_ref());
    }
    text
}

fn step_text(step: &Step, unasked: Option<&Unasked>) -> String {
    let mut text = format!(
        "  data block at byte {}, {} bytes\n",
        count(step.block.offset),
        count(step.block.size)
    );
    let held = |entry: &Entry| {
        let what = match entry.deletion {
            true => "a deletion".to_owned(),
            false => format!("a value of {}", plural(entry.value_len as u64, "byte", "bytes")),
        };
        format!("the block holds {what}, sequence {}", entry.sequence)
    };
    let is_told = |unasked: &&Unasked| unasked.lost.is_some() || !step.is_lost();
    if let (Some(Unasked { lost }), Some(Ok(Some(entry)))) = (unasked.filter(is_told), &step.entry)
    {
        let why = match lost {
            Some(why) => format!("LOST: {}, but {why}: a Get does not look here", held(entry)),
            None => format!(
                "{}, for older snapshots: other Gets look for the key in the table before",
                held(entry)
            ),
        };
        return text + &wrap(&why, "  ");
    }
    if let Some(filter) = &step.filter {
        let _ = writeln!(
            text,
            "  filter {}, {} bits, k = {}",
            count(filter.number),
            count(filter.bits),
            filter.probes
        );
        let positions: Vec<_> =
            filter.positions.iter().map(|(at, set)| format!("{at}:{}", u8::from(*set))).collect();
        if !positions.is_empty() {
            text += &wrap(&positions.join(" "), "  position:bit  ");
        }
        let answer = match filter.maybe {
            true => "maybe: the block is read",
            false => "no: the block is not read",
        };
        let _ = writeln!(text, "  the filter says {answer}");
    }
    let said_no = step.filter.as_ref().is_some_and(|filter| !filter.maybe);
    match &step.entry {
        Some(Ok(Some(entry))) => {
            let lost = if said_no { "LOST: although the filter says no, " } else { "found: " };
            let _ = writeln!(text, "  {lost}{}", held(entry));
        }
        Some(Ok(None)) if said_no => text += "  rightly: the key is not in the block\n",
        Some(Ok(None)) if step.filter.is_some() => {
            text += "  the key is not in the block: a false positive\n";
        }
        Some(Ok(None)) => text += "  the key is not in the block\n",
        Some(Err(problem)) => {
            let _ = writeln!(text, "  {problem}");
        }
        None => {}
    }
    text
}

fn to_json(
    key: &[u8],
    visits: &[Visit],
    (tables, unused): (u64, u64),
    complaints: &[String],
    levels: &Option<String>,
    log_bytes: u64,
) -> Value {
    let step_json = |step: &Step| {
        json!({
            "data_block": step.block.offset,
            "data_block_bytes": step.block.size,
            "filter": step.filter.as_ref().map(|filter| json!({
                "number": filter.number,
                "bits": filter.bits,
                "probes": filter.probes,
                "positions": filter.positions.iter().map(|(at, _)| at).collect::<Vec<_>>(),
                "bits_found": filter.positions.iter().map(|(_, set)| u8::from(*set)).collect::<Vec<_>>(),
                "maybe": filter.maybe,
            })),
            "read": step.filter.as_ref().is_none_or(|filter| filter.maybe),
            "entry": match &step.entry {
                Some(Ok(Some(entry))) => json!({
                    "sequence": entry.sequence,
                    "deletion": entry.deletion,
                    "value_bytes": entry.value_len,
                }),
                _ => Value::Null,
            },
            "problem": match &step.entry {
                Some(Err(problem)) => json!(problem),
                _ => Value::Null,
            },
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "key": shown(key),
        "key_hex": hex(key),
        "hash": bloom_hash(key),
        "tables_in_all": tables,
        "unused_tables": unused,
        "database_problems": complaints,
        "other_owner": levels,
        "log_bytes": log_bytes,
        "tables": visits.iter().map(|visit| json!({
            "path": visit.path.to_string_lossy(),
            "level": match visit.place { Place::Level(level) => json!(level), _ => Value::Null },
            "policy": visit.policy,
            "other_policies": visit.other_policies,
            "asked": visit.unasked.is_none(),
            "outside": visit.unasked.as_ref().and_then(|unasked| unasked.lost.as_ref()),
            "deleted_meanwhile": visit.vanished,
            "problem": visit.problem,
            "blocks": visit.steps.iter().map(step_json).collect::<Vec<_>>(),
            "other_filters_that_say_no": visit.other_noes,
            "other_blocks_read": visit.other_reads,
        })).collect::<Vec<_>>(),
    })
}
