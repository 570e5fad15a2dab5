//! What a database's MANIFEST says: the comparator, and which tables it uses at which level.
//!
//! The file is a log of records, each a list of changes since the one before. A running database
//! appends to it, so that a record cut off at the end is nothing to worry about.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use leveldb_bloom_table::InternalKey;

use crate::log::{Records, bytes, varint};
use crate::printable::printable;

/// The comparator that LevelDB has if a program gives it none.
pub const BYTEWISE: &str = "leveldb.BytewiseComparator";

/// A database as of now.
#[derive(Default)]
pub struct Version {
    pub comparator: Option<String>,
    /// By file number.
    pub tables: BTreeMap<u64, LiveTable>,
    /// No file had this number yet, nor any behind it.
    pub next_file: u64,
    /// Logs before this one are in tables, all but the second.
    pub log: u64,
    pub previous_log: u64,
    /// The deepest level that it names, in use or not.
    pub deepest: u32,
    /// Why it was not read by CURRENT, and who opens it all the same.
    pub by: Option<String>,
    /// As only Riak's LevelDB writes it.
    pub riak: bool,
}

/// So many levels LevelDB has; goleveldb has as many as it needs.
pub const LEVELS: u32 = 7;

/// A table that the database reads.
pub struct LiveTable {
    pub level: u32,
    /// The bytes of its file, by which LevelDB finds its end.
    pub size: u64,
    /// What its first and its last entry are.
    pub smallest: Arc<Stored>,
    pub largest: Arc<Stored>,
}

/// A stored key, in the order of bytes and from new writes to old ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub user_key: Vec<u8>,
    pub sequence: u64,
}

impl Stored {
    pub fn set(&mut self, user_key: &[u8], sequence: u64) {
        self.user_key.clear();
        self.user_key.extend_from_slice(user_key);
        self.sequence = sequence;
    }

    pub fn cmp_to(&self, user_key: &[u8], sequence: u64) -> Ordering {
        (*self.user_key).cmp(user_key).then(sequence.cmp(&self.sequence))
    }
}

impl Default for Stored {
    /// Before all others.
    fn default() -> Self {
        Stored { user_key: Vec::new(), sequence: u64::MAX }
    }
}

impl Ord for Stored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cmp_to(&other.user_key, other.sequence)
    }
}

impl PartialOrd for Stored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<InternalKey<'_>> for Stored {
    fn from(key: InternalKey<'_>) -> Self {
        Stored { user_key: key.user_key.to_vec(), sequence: key.sequence }
    }
}

/// Opens a file, and no pipe, which would wait for somebody who writes to it.
pub fn open(path: &Path) -> io::Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file")),
    }
}

/// Reads the MANIFEST that CURRENT names. `None` where there is no CURRENT.
pub fn read(folder: &Path) -> io::Result<Option<Version>> {
    let mut found = current(folder, "CURRENT");
    let mut by = None;
    if matches!(&found, Ok(None)) || is_damage(&found) {
        // LevelDB gives up. goleveldb goes on with what it writes before it replaces CURRENT.
        let others = others(folder);
        if let Some((file, name)) =
            others.iter().find_map(|name| Some((current(folder, name).ok()??, name)))
        {
            let why = found.err().map_or("there is no CURRENT".into(), |error| error.to_string());
            by = Some(format!(
                "{why}. goleveldb opens it by {name}; LevelDB does not open this database"
            ));
            found = Ok(Some(file));
        }
    }
    let Some(file) = found? else { return Ok(None) };
    let version = replay(&mut BufReader::with_capacity(1 << 16, file));
    match version {
        Err(error) if error.kind() == io::ErrorKind::InvalidData && is_of_rocksdb(folder) => {
            let what = "this is a RocksDB database, whose MANIFEST is not read here; LevelDB does not open it";
            Err(io::Error::new(io::ErrorKind::Unsupported, what))
        }
        version => version.map(|version| Some(Version { by, ..version })),
    }
}

fn is_damage<T>(result: &io::Result<T>) -> bool {
    result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::InvalidData)
}

/// The names of the files that goleveldb reads in CURRENT's place, in its order.
fn others(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let number = |name: &String| name.strip_prefix("CURRENT.")?.parse::<u64>().ok();
    let mut others: Vec<_> =
        names.filter(|name| number(name).is_some() || name == "CURRENT.bak").collect();
    others.sort_by_key(|name| Reverse(number(name)));
    others
}

/// Whether there are files that RocksDB writes, and LevelDB does not.
fn is_of_rocksdb(folder: &Path) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names
        .into_iter()
        .any(|name| name == "IDENTITY" || name.as_encoded_bytes().starts_with(b"OPTIONS-"))
}

/// No file's name is nearly as long.
const MAX_CURRENT: u64 = 64 << 10;

/// The MANIFEST that a file named CURRENT, or one in its place, names; `None` where there is no such file.
fn current(folder: &Path, current: &str) -> io::Result<Option<File>> {
    // A database that is being opened replaces its MANIFEST: then CURRENT names another one.
    for attempt in 0.. {
        let mut text = Vec::new();
        match open(&folder.join(current))
            .and_then(|file| file.take(MAX_CURRENT + 1).read_to_end(&mut text))
        {
            Ok(len) if len as u64 > MAX_CURRENT => {
                let what = format!("{current} is longer than 64 KiB, and is not read");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io::Error::new(error.kind(), format!("{current}: {error}"))),
        }
        let Some(name) = text.strip_suffix(b"\n") else {
            return Err(damaged("LevelDB says \"CURRENT file does not end with newline\""));
        };
        // C's open reads up to the first zero. What is before it LevelDB puts behind the folder's
        // name, whatever it is: `./MANIFEST-000005`, or `/MANIFEST-000005`.
        let name = name.split(|byte| *byte == 0).next().unwrap_or(name);
        let name = &*String::from_utf8_lossy(name);
        let mut path = folder.as_os_str().to_owned();
        path.push("/");
        path.push(name);
        let path = Path::new(&path);
        // LevelDB opens a folder, and cannot read it.
        if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
            return Err(damaged("CURRENT does not name a file"));
        }
        match open(path) {
            Ok(file) => return Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if attempt == 3 {
                    let crlf = match name.ends_with('\r') {
                        true => {
                            "CURRENT ends with CRLF, as Windows ends lines, where LevelDB writes LF; "
                        }
                        false => "",
                    };
                    let said = "LevelDB says \"CURRENT points to a non-existent file\"";
                    return Err(damaged(&format!("{crlf}{said}, {}", printable(name))));
                }
            }
            // Too long a name, or one that goes on behind a file's: LevelDB cannot open it either.
            Err(error)
                if !matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput
                ) && (name.contains('/') || name.len() > 255) =>
            {
                return Err(damaged(&format!("CURRENT names what cannot be opened: {error}")));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// By tag, the numbers without which LevelDB opens no database.
const NEEDED: [(u64, &str); 3] =
    [(2, "the log's number"), (3, "the next file's number"), (4, "the last write's number")];

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Reads a MANIFEST from its first record to its last.
pub fn replay(log: &mut impl Read) -> io::Result<Version> {
    let mut records = Records::new(log);
    let mut version = Version::default();
    let (mut record, mut seen) = (Vec::new(), 0);
    while records.next(&mut record, &mut |_, what| Err(damaged(what)))? {
        apply(&record, &mut version, &mut seen)
            .ok_or_else(|| damaged("expected a change of the version"))?;
    }
    // Of a MANIFEST that is empty, or zeros, nothing else is wrong.
    match NEEDED.iter().find(|(tag, _)| seen >> tag & 1 == 0) {
        Some((_, what)) => Err(damaged(&format!("expected {what}, and found the end"))),
        None => Ok(version),
    }
}

/// `None` where the record is not a list of changes. Of `seen`, sets the bit of each tag in
/// `NEEDED`.
fn apply(mut record: &[u8], version: &mut Version, seen: &mut u32) -> Option<()> {
    let record = &mut record;
    // LevelDB deletes first, whatever a record names first.
    let mut added = Vec::new();
    while !record.is_empty() {
        match varint(record)? {
            1 => version.comparator = Some(printable(&String::from_utf8_lossy(bytes(record)?))),
            // Numbers of the log and the like.
            tag @ 2..=4 => {
                let number = varint(record)?;
                match tag {
                    2 => version.log = number,
                    3 => version.next_file = number,
                    _ => {}
                }
                *seen |= 1 << tag;
            }
            9 => version.previous_log = varint(record)?,
            // Where a compaction ended: a key, which has 8 bytes at least.
            5 => {
                level(record, version)?;
                if bytes(record)?.is_empty() {
                    return None;
                }
            }
            6 => {
                let (level, number) = (level(record, version)?, varint(record)?);
                if version.tables.get(&number).is_some_and(|table| table.level == level) {
                    version.tables.remove(&number);
                }
            }
            // 11 is that of Riak's LevelDB, with three times of expiry.
            tag @ (7 | 11) => {
                let level = level(record, version)?;
                let (number, size) = (varint(record)?, varint(record)?);
                let smallest = Arc::new(InternalKey::parse(bytes(record)?)?.into());
                let largest = Arc::new(InternalKey::parse(bytes(record)?)?.into());
                if tag == 11 {
                    version.riak = true;
                    (0..3).try_for_each(|_| varint(record).map(drop))?;
                }
                added.push((number, LiveTable { level, size, smallest, largest }));
            }
            _ => return None,
        }
    }
    version.tables.extend(added);
    Some(())
}

fn level(bytes: &mut &[u8], version: &mut Version) -> Option<u32> {
    let level = u32::try_from(varint(bytes)?).ok()?;
    version.deepest = version.deepest.max(level);
    Some(level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{BLOCK, HEADER};

    fn piece(kind: u8, data: &[u8]) -> Vec<u8> {
        let crc = crc32c::crc32c_append(crc32c::crc32c(&[kind]), data);
        let mut piece = crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes().to_vec();
        piece.extend((data.len() as u16).to_le_bytes());
        piece.push(kind);
        piece.extend(data);
        piece
    }

    fn sample() -> Vec<u8> {
        let comparator = [&[1, 26][..], BYTEWISE.as_bytes(), &[2, 3, 3, 7, 4, 1]].concat();
        let key = |key: u8| [9, key, 1, 0, 0, 0, 0, 0, 0, 0];
        let table = |level, number| [&[7, level, number, 99][..], &key(b'a'), &key(b'z')].concat();
        let first = [table(0, 5), table(1, 6)].concat();
        let second = [vec![6, 0, 5, 2, 8, 3, 9, 4, 100], table(2, 7)].concat();
        let (begin, end) = second.split_at(7);
        [piece(1, &comparator), piece(1, &first), piece(2, begin), piece(4, end)].concat()
    }

    #[test]
    fn changes_add_up() {
        let version = replay(&mut &sample()[..]).unwrap();
        assert_eq!(version.comparator.as_deref(), Some(BYTEWISE));
        let levels: Vec<_> = version.tables.iter().map(|(&n, table)| (n, table.level)).collect();
        assert_eq!(levels, [(6, 1), (7, 2)]);
        assert_eq!((version.tables[&6].size, version.next_file), (99, 9));
        let stored = |key: u8| Stored { user_key: vec![key], sequence: 0 };
        let LiveTable { smallest, largest, .. } = &version.tables[&6];
        assert_eq!((&**smallest, &**largest), (&stored(b'a'), &stored(b'z')));
    }

    #[test]
    fn a_record_deletes_before_it_adds() {
        let key = [9, b'k', 1, 0, 0, 0, 0, 0, 0, 0];
        let added = [&[7, 1, 5, 99][..], &key, &key].concat();
        let both = [&added[..], &[6, 1, 5]].concat();
        let numbers = piece(1, &[2, 3, 3, 7, 4, 1]);
        let tables = |log: Vec<u8>| replay(&mut &log[..]).unwrap().tables.len();
        assert_eq!(tables([numbers.clone(), piece(1, &both)].concat()), 1);
        let later = |level| [&numbers[..], &piece(1, &added), &piece(1, &[6, level, 5])].concat();
        assert_eq!((tables(later(1)), tables(later(2))), (0, 1));
    }

    #[test]
    fn where_a_compaction_ended_is_a_key_of_a_level() {
        let read = |change: &[u8]| {
            replay(&mut &[piece(1, &[2, 3, 3, 7, 4, 1]), piece(1, change)].concat()[..])
        };
        for level in [6, 7] {
            let version = read(&[5, level, 9, b'k', 1, 0, 0, 0, 0, 0, 0, 0]).unwrap();
            assert_eq!(version.deepest, u32::from(level));
        }
        assert!(read(&[5, 6, 0]).is_err());
    }

    #[test]
    fn pieces_are_put_together_as_leveldb_does() {
        let numbers = [2, 3, 3, 7, 4, 1];
        let (begin, end) = numbers.split_at(3);
        let (first, last) = (piece(2, begin), piece(4, end));
        let too_long = [1, 2, 3, 4, 0, 0x90, 1];
        let sound = |pieces: &[&[u8]]| replay(&mut &pieces.concat()[..]).is_ok();
        let whole = &piece(1, &numbers)[..];
        assert!(sound(&[&first, &last]));
        assert!(sound(&[&first, &piece(3, &[]), &last]));
        assert!(sound(&[&piece(2, &[]), &piece(3, begin), &last]));
        // The versions of LevelDB that left an empty one.
        assert!(sound(&[&piece(2, &[]), whole]));
        assert!(sound(&[&piece(2, &[]), &first, &last]));
        assert!(!sound(&[&first, whole]));
        assert!(!sound(&[&first, &first, &last]));
        assert!(!sound(&[whole, &last]));
        assert!(!sound(&[whole, &piece(3, end)]));
        assert!(!sound(&[whole, &piece(5, &[])]));
        // Zeros end a block, not a record.
        let zeros = |before: usize| vec![0; BLOCK - before];
        assert!(sound(&[&zeros(0), &first, &last]));
        assert!(sound(&[whole, &zeros(whole.len()), whole]));
        assert!(!sound(&[&first, &zeros(first.len()), &last]));
        assert!(!sound(&[whole, &first, &[0; 7]]));
        // What does not end in its block is damage if the block ends.
        assert!(sound(&[whole, &too_long, &[0; 100]]));
        assert!(!sound(&[whole, &too_long, &zeros(whole.len() + too_long.len())]));
    }

    #[test]
    fn cut_off_is_the_state_before_and_damage_an_error() {
        let whole = sample();
        let first = HEADER + 2 + BYTEWISE.len() + 6;
        for len in 0..whole.len() {
            match replay(&mut &whole[..len]) {
                Ok(version) => assert!(len >= first && !version.tables.contains_key(&7), "{len}"),
                Err(error) => {
                    assert!(len < first, "{len}: {error}");
                    assert!(error.to_string().contains("the log's number"), "{error}");
                }
            }
        }
        assert!(replay(&mut &[0; 100][..]).is_err());
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x41;
            // A length that became larger may look cut off, never whole.
            let sound = replay(&mut &damaged[..]).is_ok_and(|v| v.tables.contains_key(&7));
            assert!(!sound, "byte {at}");
        }
    }
}
