//! The table files that the paths on the command line stand for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::{fs, iter};

use walkdir::WalkDir;

use crate::manifest::{self, BYTEWISE, LEVELS, LiveTable, Version};
use crate::ranges::{self, Range, Untrue};
use crate::text;
use crate::work::name;

/// A folder with a CURRENT file, or with a MANIFEST that lacks one.
pub struct Database {
    pub folder: PathBuf,
    /// What its MANIFEST says, or why it could not be read.
    pub version: io::Result<Version>,
    /// Tables that the MANIFEST names and the folder does not have.
    pub missing: Vec<PathBuf>,
    /// Where a Get looks into its tables, by file number.
    pub ranges: BTreeMap<u64, Arc<Range>>,
    /// What cannot be so.
    pub untrue: Vec<Untrue>,
}

impl Database {
    fn new(folder: &Path, mut version: io::Result<Version>) -> Self {
        let (mut ranges, mut untrue) = Default::default();
        if let Ok(version) = &mut version {
            // Others may have such a folder, too, and have their tables beside it.
            version.riak |= folder.join("sst_0").is_dir()
                && !version.tables.keys().any(|number| place_in(folder, *number).is_some());
            // Riak's tables overlap in level 1, too.
            if !version.riak {
                (ranges, untrue) = ranges::of(version);
            }
        }
        Database { folder: folder.to_path_buf(), version, missing: Vec::new(), ranges, untrue }
    }

    /// LevelDB does not open it, or does not find a table, or not what is in one. Levels that only
    /// goleveldb has are not wrong.
    pub fn is_wrong(&self) -> bool {
        self.version.is_err() && !self.is_unreadable()
            || !self.missing.is_empty()
            || !self.untrue.is_empty()
    }

    /// We could not read what LevelDB may well read.
    pub fn is_unreadable(&self) -> bool {
        use io::ErrorKind::{InvalidData, NotFound};
        self.version.as_ref().is_err_and(|error| !matches!(error.kind(), InvalidData | NotFound))
    }

    /// What is wrong with the MANIFEST.
    pub fn manifest_error(&self) -> Option<String> {
        let (error, folder) = (self.version.as_ref().err()?, text::path(&self.folder));
        Some(match error.kind() {
            io::ErrorKind::Unsupported => format!("{folder}: {error}"),
            _ if self.is_unreadable() => format!("{folder}: its MANIFEST cannot be read: {error}"),
            _ => format!(
                "{folder}: its MANIFEST cannot be read: {error}; LevelDB does not open this database"
            ),
        })
    }

    /// What is wrong with it, a sentence for each.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints: Vec<_> = self.manifest_error().into_iter().collect();
        let missing = |path: &PathBuf| {
            format!("{}: MISSING, although the MANIFEST names it", text::path(path))
        };
        complaints.extend(self.missing.iter().map(missing));
        complaints.extend(self.range_errors());
        complaints
    }

    /// What the MANIFEST says of ranges that cannot be, a sentence for each.
    pub fn range_errors(&self) -> impl Iterator<Item = String> {
        let path = |number: &u64| self.path_of(*number).unwrap_or(self.name_of(*number));
        self.untrue.iter().map(move |untrue| match untrue {
            Untrue::Reversed(table) => format!(
                "{}: in the MANIFEST its smallest key is AFTER its largest: a Get finds nothing in it",
                text::path(&path(table))
            ),
            Untrue::Overlap { table, other, level } => format!(
                "{}: OVERLAPS {} in level {level} of the MANIFEST: a Get looks into only one table \
                 of that level, which may be the wrong one",
                text::path(&path(table)),
                name(&path(other))
            ),
        })
    }

    /// That another program's LevelDB opens it and Google's does not, where that is so.
    pub fn other_owner(&self) -> Option<String> {
        let version = self.version.as_ref().ok()?;
        let (folder, deepest) = (text::path(&self.folder), version.deepest);
        if let Some(by) = &version.by {
            Some(format!("{folder}: {by}."))
        } else if version.riak {
            Some(format!(
                "{folder} is a database of Riak's LevelDB, which has its tables in sst_0 to sst_6. LevelDB does not \
                 find them there."
            ))
        } else if deepest >= LEVELS {
            Some(format!(
                "The MANIFEST of {folder} names level {deepest}, as goleveldb does, which has as many as it \
                 needs. LevelDB has levels 0 to {}, and does not open this database.",
                LEVELS - 1
            ))
        } else {
            None
        }
    }

    /// Where a table is, under either of its names; in the sub-folders of Riak's LevelDB, too.
    fn path_of(&self, number: u64) -> Option<PathBuf> {
        place_in(&self.folder, number)
            .or_else(|| sub_folders(&self.folder).find_map(|folder| place_in(&folder, number)))
    }

    /// Where LevelDB would write a table.
    fn name_of(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:06}.ldb"))
    }

    /// What the MANIFEST says of a table.
    pub fn live(&self, found: &Found) -> Option<&LiveTable> {
        self.version.as_ref().ok()?.tables.get(&found.number?)
    }

    pub fn comparator(&self) -> Option<&str> {
        self.version.as_ref().ok()?.comparator.as_deref()
    }
}

/// A table file to look at.
pub struct Found {
    pub path: PathBuf,
    pub number: Option<u64>,
    pub len: u64,
    /// The length by which LevelDB reads it, where a MANIFEST says it.
    pub len_in_manifest: Option<u64>,
    pub place: Place,
    /// The MANIFEST says that keys are in the order of their bytes.
    pub bytewise: bool,
    /// Where a Get looks into it, if that is known.
    pub range: Option<Arc<Range>>,
}

/// Where a table is in its database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    Level(u32),
    /// In the folder, and not in the MANIFEST: it is being written, about to be deleted, or a copy
    /// under another name.
    Unused,
    /// The same, and somebody wants to know about this very table. One without a footer becomes
    /// `Unused` once that is seen, since LevelDB may be writing it.
    Named,
    /// There is no MANIFEST to ask.
    #[default]
    Unknown,
}

impl Place {
    pub fn level(self) -> Option<u32> {
        match self {
            Place::Level(level) => Some(level),
            _ => None,
        }
    }

    /// It counts: LevelDB reads it, as far as is known, or somebody named it.
    pub fn is_used(self) -> bool {
        self != Place::Unused
    }
}

/// What the paths stand for.
#[derive(Default)]
pub struct Everything {
    pub databases: Vec<Rc<Database>>,
    pub tables: Vec<Found>,
    /// For each of `tables`, the database it is part of.
    pub database_of: Vec<Option<Rc<Database>>>,
    /// Folders, and tables with their places in `tables`: what several paths stand for counts once.
    known: HashMap<PathBuf, usize>,
}

/// The tables of all paths, or what is wrong with a path.
pub fn find(paths: &[PathBuf]) -> Result<Everything, String> {
    let mut everything = Everything::default();
    // Tables that were deleted, and why the first of them cannot be read.
    let (mut gone, mut first_gone) = (0, None);
    for path in paths {
        let told = |error| format!("{}: {error}", text::path(path));
        let before = everything.tables.len();
        if let Some(error) = add(path, &mut everything).map_err(told)? {
            gone += everything.tables.len() - before;
            first_gone.get_or_insert_with(|| told(error));
        }
    }
    match first_gone {
        // Whoever names nothing else is not told that all is well.
        Some(error) if everything.databases.is_empty() && everything.tables.len() == gone => {
            Err(error)
        }
        _ => Ok(everything),
    }
}

/// Why the path cannot be read, if it is that of a table which was deleted.
fn add(path: &Path, everything: &mut Everything) -> Result<Option<String>, String> {
    let metadata = fs::metadata(path);
    if metadata.as_ref().is_ok_and(fs::Metadata::is_dir) {
        let known = everything.known.insert(fs::canonicalize(path).unwrap_or(path.into()), 0);
        return match known {
            Some(_) => Ok(None),
            None => add_folder(path, everything).map(|()| None),
        };
    }
    if let Err(error) = &metadata {
        if error.kind() != io::ErrorKind::NotFound || !has_name_of_table(path) {
            return Err(error.to_string());
        }
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut folder = parent.unwrap_or(Path::new("."));
    if is_sub_folder(folder) {
        folder = folder.parent().filter(|it| it.join("CURRENT").exists()).unwrap_or(folder);
    }
    // A shell's DB/*.ldb names a folder thousands of times.
    let known = everything.database_of.iter().rev().flatten().find(|known| known.folder == folder);
    let known = known.cloned().or_else(|| database(folder).map(Rc::new));
    let metadata = match metadata {
        Ok(metadata) => metadata,
        // The MANIFEST that was read may be older than what was done to its tables.
        Err(error)
            if known.as_deref().is_some_and(|known| was_deleted(path, known))
                || database(folder).is_some_and(|now| was_deleted(path, &now)) =>
        {
            add_table(path.to_path_buf(), 0, known.as_ref(), everything);
            return Ok(Some(error.to_string()));
        }
        Err(error) => return Err(error.to_string()),
    };
    let table = add_table(path.to_path_buf(), metadata.len(), known.as_ref(), everything);
    if let Some(Found { place, .. }) = everything.tables.get_mut(table) {
        if !place.is_used() {
            *place = Place::Named;
        }
    }
    Ok(None)
}

/// Whether a table that is not there is one that LevelDB had and does not need any more: a shell's
/// DB/*.ldb names tables that a compaction may have deleted since.
fn was_deleted(path: &Path, database: &Database) -> bool {
    let number = number_of(path);
    number.zip(database.version.as_ref().ok()).is_some_and(|(number, version)| {
        number < version.next_file && !version.tables.contains_key(&number)
    })
}

fn add_folder(folder: &Path, everything: &mut Everything) -> Result<(), String> {
    // The folder before the MANIFEST, so that a table which is written meanwhile is either in both
    // or in the second only, and is then looked for by name.
    let mut tables = Vec::new();
    let has_manifest = list(folder, &mut tables).map_err(|error| error.to_string())?;
    for sub_folder in sub_folders(folder) {
        list(&sub_folder, &mut tables).map_err(|error| error.to_string())?;
    }
    let mut database = database(folder);
    if database.is_none() && has_manifest {
        database = Some(Database::new(folder, Err(no_current("there is no CURRENT"))));
    }
    if database.is_none() && tables.is_empty() {
        return Err(format!(
            "no LevelDB database: it has no CURRENT and no .ldb or .sst file{}",
            databases_below(folder)
        ));
    }
    if let Some(database) = &mut database {
        let not_there: HashSet<_> = not_listed(database, &tables)
            .into_iter()
            .filter(|number| database.path_of(*number).is_none())
            .collect();
        if !not_there.is_empty() {
            // A compaction may have replaced them in the meantime: then the MANIFEST does not name
            // them any more.
            let version = manifest::read(folder).transpose();
            *database =
                Database::new(folder, version.unwrap_or(Err(no_current("CURRENT was removed"))));
        }
        for number in not_listed(database, &tables) {
            let name = database.name_of(number);
            if not_there.contains(&number) {
                database.missing.push(name);
            } else {
                // One that goes only now is noticed when it is opened.
                tables.push(database.path_of(number).unwrap_or(name));
            }
        }
    }
    tables.sort_by_key(|path| (number_of(path), path.clone()));
    let database = database.map(Rc::new);
    everything.databases.extend(database.clone());
    for path in tables {
        // A file that is gone by now is noticed when it is opened.
        let len = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        add_table(path, len, database.as_ref(), everything);
    }
    Ok(())
}

fn database(folder: &Path) -> Option<Database> {
    Some(Database::new(folder, manifest::read(folder).transpose()?))
}

fn no_current(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, what)
}

/// Where a table is in a folder, under either of its names.
fn place_in(folder: &Path, number: u64) -> Option<PathBuf> {
    let names = [format!("{number:06}.ldb"), format!("{number:06}.sst")];
    names.map(|name| folder.join(name)).into_iter().find(|path| is_there(path))
}

/// As far as one may look: a link may lead to where one may not.
fn is_there(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}

/// Adds the tables in a folder. Whether there is a MANIFEST as well.
fn list(folder: &Path, tables: &mut Vec<PathBuf>) -> io::Result<bool> {
    let mut has_manifest = false;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        has_manifest |=
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"MANIFEST-"));
        // A link to nowhere is a table that is missing.
        if has_name_of_table(&path) && is_there(&path) {
            tables.push(path);
        }
    }
    Ok(has_manifest)
}

/// Where Riak's LevelDB has the tables of each level.
fn sub_folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let folders = (0..LEVELS).map(|level| folder.join(format!("sst_{level}")));
    folders.filter(|folder| folder.is_dir())
}

fn is_sub_folder(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"sst_"))
}

/// The databases below a folder, such as a browser's profile or a world of Minecraft, for who named that instead.
fn databases_below(folder: &Path) -> String {
    const MOST_SEEN: usize = 100_000;
    const MOST_NAMED: usize = 10;
    let below = WalkDir::new(folder).min_depth(2).max_depth(8).sort_by_file_name().into_iter();
    let below = below.flatten().take(MOST_SEEN).filter(|entry| entry.file_name() == "CURRENT");
    let found: Vec<_> =
        below.filter_map(|entry| Some(text::path(entry.path().parent()?))).collect();
    let named =
        found.iter().take(MOST_NAMED).map(|folder| format!("\n  {folder}")).collect::<String>();
    match found.len() {
        0 => String::new(),
        n => format!(". Name a database's own folder; {n} found below:{named}"),
    }
}

/// The numbers of the MANIFEST's tables that were not in the folder.
fn not_listed(database: &Database, listed: &[PathBuf]) -> Vec<u64> {
    let Ok(version) = &database.version else { return Vec::new() };
    let listed: HashSet<_> = listed.iter().filter_map(|path| number_of(path)).collect();
    version.tables.keys().copied().filter(|number| !listed.contains(number)).collect()
}

/// Its place in `tables`.
fn add_table(
    path: PathBuf,
    len: u64,
    database: Option<&Rc<Database>>,
    everything: &mut Everything,
) -> usize {
    let next = everything.tables.len();
    let canonical = fs::canonicalize(&path).unwrap_or(path.clone());
    let known = *everything.known.entry(canonical).or_insert(next);
    if known != next {
        return known;
    }
    // Of 000005.ldb and 000005.sst LevelDB reads the first.
    let is_second =
        database.is_some() && has_extension(&path, "sst") && is_there(&path.with_extension("ldb"));
    let number = number_of(&path).filter(|_| !is_second);
    let version = database.and_then(|database| database.version.as_ref().ok());
    let table = version.and_then(|version| version.tables.get(&number?));
    let place = match (version, table) {
        (_, Some(table)) => Place::Level(table.level),
        (None, None) if !is_second => Place::Unknown,
        _ => Place::Unused,
    };
    let bytewise = version.is_some_and(|it| it.comparator.as_deref() == Some(BYTEWISE));
    let len_in_manifest = table.map(|table| table.size);
    let range = database.and_then(|database| database.ranges.get(&number?)).cloned();
    everything.tables.push(Found { path, number, len, len_in_manifest, place, bytewise, range });
    everything.database_of.extend(iter::once(database.cloned()));
    next
}

/// Whether its extension is one that LevelDB gives to tables.
pub fn has_name_of_table(path: &Path) -> bool {
    has_extension(path, "ldb") || has_extension(path, "sst")
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own == extension)
}

/// The number in a name that LevelDB gives: 5.ldb is none of its.
fn number_of(path: &Path) -> Option<u64> {
    let name = path.file_stem().filter(|_| has_name_of_table(path))?.to_str()?;
    name.parse().ok().filter(|number| format!("{number:06}") == name)
}
