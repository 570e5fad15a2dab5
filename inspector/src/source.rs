//! Entries of tables and logs, one after another, past what is damaged.

use std::fs;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use leveldb_bloom_table::{Buffers, Error, KeyFormat, KeyKind, Kind, Part, Table};

use crate::codec::Fast;
use crate::file::TableFile;
use crate::find::{Database, Found};
use crate::log::{Batch, Records};
use crate::manifest;
use crate::{say, text};

/// A write, as it is stored.
pub struct Entry<'a> {
    pub key: &'a [u8],
    /// `None` in a table without them, whose keys are whole as they are.
    pub sequence: Option<u64>,
    /// `None` of a deletion.
    pub value: Option<&'a [u8]>,
}

/// The keys that are wanted.
#[derive(Default)]
pub struct Wanted {
    pub from: Vec<u8>,
    /// Not itself.
    pub to: Option<Vec<u8>>,
}

impl Wanted {
    pub fn has(&self, key: &[u8]) -> bool {
        *key >= *self.from && !self.is_behind(key)
    }

    /// Whether all keys from this one on are behind it.
    fn is_behind(&self, key: &[u8]) -> bool {
        self.to.as_ref().is_some_and(|to| key >= to)
    }

    /// Whether a table in the order of bytes may have one of them.
    pub fn is_in(&self, found: &Found, database: Option<&Database>) -> bool {
        let live = database.and_then(|database| database.live(found));
        live.filter(|_| found.bytewise).is_none_or(|live| {
            live.largest.user_key >= self.from && !self.is_behind(&live.smallest.user_key)
        })
    }
}

/// What is done with an entry, and whether to go on.
pub type Each<'e> = &'e mut dyn FnMut(Entry<'_>) -> ControlFlow<()>;

/// What could not be read, each said once it is met.
#[derive(Default)]
pub struct Told {
    pub damaged: bool,
    /// It was not read, which says nothing of what is in it.
    pub unreadable: bool,
    /// It was said before.
    pub quiet: bool,
}

impl Told {
    pub fn quiet() -> Self {
        Told { quiet: true, ..Told::default() }
    }

    fn damage(&mut self, what: &str) {
        self.damaged = true;
        self.say(what);
    }

    pub fn wrong(&mut self, path: &str, error: &Error) {
        let what = format!("{path}: {error}");
        if error.is_damage() { self.damage(&what) } else { self.unreadable(&what) }
    }

    fn unreadable(&mut self, what: &str) {
        self.unreadable = true;
        self.say(what);
    }

    fn say(&self, what: &str) {
        if !self.quiet {
            say(what);
        }
    }
}

/// Opens a table, and finds out how its keys are stored where no MANIFEST says that it is a database's.
pub fn open(found: &Found, told: &mut Told) -> Option<Table<TableFile, Fast>> {
    let path = text::path(&found.path);
    let file = TableFile::open(&found.path, found.len_in_manifest);
    let file = file.map_err(|error| told.unreadable(&format!("{path}: {error}"))).ok()?;
    let mut table =
        Table::open(file, Fast::default()).map_err(|error| told.wrong(&path, &error)).ok()?;
    if found.len_in_manifest.is_none() {
        table.look_at_keys();
    }
    Some(table)
}

/// The entries of a table; of one in the order of bytes only blocks that may have `wanted` keys are read.
pub fn table(found: &Found, wanted: &Wanted, told: &mut Told, each: Each<'_>) -> ControlFlow<()> {
    let Some(table) = open(found, told) else { return ControlFlow::Continue(()) };
    let path = text::path(&found.path);
    let is_internal = table.keys() == KeyFormat::Internal;
    let (mut blocks, mut buffers) = (table.data_blocks(), Buffers::default());
    loop {
        let block = match blocks.next() {
            Ok(Some(block)) => block,
            Ok(None) => return ControlFlow::Continue(()),
            Err(error) => {
                told.wrong(&path, &error);
                return ControlFlow::Continue(());
            }
        };
        if found.bytewise && *block.last_key < *wanted.from {
            continue;
        }
        let is_last = found.bytewise && wanted.is_behind(block.last_key);
        let mut odd = None;
        let read = table.read_data(block.handle, &mut buffers).and_then(|block| {
            let mut entries = block.entries();
            while let Some(stored) = entries.next()? {
                let expected = |what| Error {
                    part: Part::Data,
                    offset: block.offset(),
                    inside: Some(stored.at as u64),
                    kind: Kind::Expected(what),
                };
                let Some(key) = table.keys().parse(stored.key) else {
                    odd.get_or_insert(expected("a key of at least 8 bytes, as databases write"));
                    continue;
                };
                let value = match key.kind {
                    KeyKind::Value => Some(stored.value),
                    KeyKind::Deletion => None,
                    KeyKind::Other(_) => {
                        if wanted.has(key.user_key) {
                            odd.get_or_insert(expected("a value or a deletion"));
                        }
                        continue;
                    }
                };
                let sequence = is_internal.then_some(key.sequence);
                let entry = Entry { key: key.user_key, sequence, value };
                if wanted.has(entry.key) && each(entry).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        match (odd, table.maker()) {
            (Some(error), Some(maker)) => {
                told.unreadable(&format!("{path}: {error}, and {maker} has others"));
            }
            (Some(error), None) => told.wrong(&path, &error),
            (None, _) => {}
        }
        match read {
            Ok(flow) => flow?,
            Err(error) => told.wrong(&path, &error),
        }
        if is_last {
            return ControlFlow::Continue(());
        }
    }
}

/// The entries of a log.
pub fn log(path: &Path, wanted: &Wanted, told: &mut Told, each: Each<'_>) -> ControlFlow<()> {
    let name = text::path(path);
    let mut records = match manifest::open(path) {
        Ok(file) => Records::new(BufReader::with_capacity(1 << 16, file)),
        Err(error) => {
            told.unreadable(&format!("{name}: {error}"));
            return ControlFlow::Continue(());
        }
    };
    let mut record = Vec::new();
    loop {
        let next = records.next(&mut record, &mut |at, what| {
            told.damage(&format!("{name}: log record at byte {at}: {what}"));
            Ok(())
        });
        match next {
            Ok(true) => {}
            Ok(false) => return ControlFlow::Continue(()),
            Err(error) => {
                told.unreadable(&format!("{name}: {error}"));
                return ControlFlow::Continue(());
            }
        }
        let mut batch = Batch::new(&record);
        let whole = loop {
            match batch.as_mut().map(Batch::next) {
                Some(None) => break true,
                Some(Some(Some((key, sequence, value)))) if wanted.has(key) => {
                    each(Entry { key, sequence: Some(sequence), value })?;
                }
                Some(Some(Some(_))) => {}
                Some(Some(None)) | None => break false,
            }
        };
        if !whole {
            told.damage(&format!("{name}: a log record is no list of writes"));
        }
    }
}

/// Whether it has the name of a log.
pub fn has_name_of_log(path: &Path) -> bool {
    path.extension().is_some_and(|own| own == "log")
}

/// The logs of a database whose writes are in no table, as far as its MANIFEST says, the oldest first.
pub fn logs(database: &Database) -> Vec<PathBuf> {
    let (least, other) = database.version.as_ref().map_or((0, 0), |it| (it.log, it.previous_log));
    let number = |path: &PathBuf| -> Option<u64> { path.file_stem()?.to_str()?.parse().ok() };
    let files = fs::read_dir(&database.folder).into_iter().flatten().flatten();
    let mut logs: Vec<(u64, PathBuf)> = files
        .map(|entry| entry.path())
        .filter(|path| has_name_of_log(path))
        .filter_map(|path| Some((number(&path)?, path)))
        .filter(|&(number, _)| number >= least || number == other && other > 0)
        .collect();
    logs.sort();
    logs.into_iter().map(|(_, path)| path).collect()
}
