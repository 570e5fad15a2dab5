//! The table files that the paths on the command line stand for.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{fs, iter};

use crate::manifest::{self, Version};

/// A folder with a CURRENT file.
pub struct Database {
    pub folder: PathBuf,
    /// What its MANIFEST says, or why it could not be read.
    pub version: Result<Version, String>,
    /// Tables that the MANIFEST names and the folder does not have.
    pub missing: Vec<PathBuf>,
}

impl Database {
    /// There is no MANIFEST that can be read, or a table that it names is missing.
    pub fn is_wrong(&self) -> bool {
        self.version.is_err() || !self.missing.is_empty()
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
    pub place: Place,
}

/// Where a table is in its database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Level(u32),
    /// In the folder, and not in the MANIFEST: it is being written, or about to be deleted.
    Unused,
    /// There is no MANIFEST to ask.
    Unknown,
}

/// What the paths stand for.
#[derive(Default)]
pub struct Everything {
    pub databases: Vec<Rc<Database>>,
    pub tables: Vec<Found>,
    /// For each of `tables`, the database it is part of.
    pub database_of: Vec<Option<Rc<Database>>>,
}

/// The tables of all paths, or what is wrong with a path.
pub fn find(paths: &[PathBuf]) -> Result<Everything, String> {
    let mut everything = Everything::default();
    for path in paths {
        let found = add(path, &mut everything);
        found.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(everything)
}

fn add(path: &Path, everything: &mut Everything) -> Result<(), String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.is_dir() {
        return add_folder(path, everything);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let database = database(parent.unwrap_or(Path::new("."))).map(Rc::new);
    add_table(path.to_path_buf(), metadata.len(), database.as_ref(), everything);
    // Somebody wants to know about this very table, in use or not.
    if let Some(Found { place: place @ Place::Unused, .. }) = everything.tables.last_mut() {
        *place = Place::Unknown;
    }
    Ok(())
}

fn add_folder(folder: &Path, everything: &mut Everything) -> Result<(), String> {
    let mut tables = Vec::new();
    // The folder before the MANIFEST, so that a table which is written meanwhile is either in both
    // or in the second only, and is then looked for by name.
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("ldb" | "sst")) {
            tables.push(path);
        }
    }
    let mut database = database(folder);
    if database.is_none() && tables.is_empty() {
        return Err(
            "no LevelDB database: there is no CURRENT and no .ldb or .sst file in it".into()
        );
    }
    if let Some(database) = &mut database {
        let mut missing = not_listed(database, &tables);
        if !missing.is_empty() {
            // A compaction may have replaced them in the meantime.
            database.version = version(folder).unwrap_or(Err("CURRENT was removed".into()));
            missing = not_listed(database, &tables);
        }
        for (number, path) in missing {
            match [path.with_extension("ldb"), path.with_extension("sst")]
                .into_iter()
                .find(|path| path.exists())
            {
                Some(path) => tables.push(path),
                None => database.missing.push(folder.join(format!("{number:06}.ldb"))),
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
    let version = version(folder)?;
    Some(Database { folder: folder.to_path_buf(), version, missing: Vec::new() })
}

fn version(folder: &Path) -> Option<Result<Version, String>> {
    manifest::read(folder).map_err(|error: io::Error| error.to_string()).transpose()
}

/// The tables of the MANIFEST that were not in the folder, as paths without an extension.
fn not_listed(database: &Database, listed: &[PathBuf]) -> Vec<(u64, PathBuf)> {
    let Ok(version) = &database.version else { return Vec::new() };
    let listed: std::collections::HashSet<_> =
        listed.iter().filter_map(|path| number_of(path)).collect();
    let numbers = version.tables.keys().filter(|number| !listed.contains(number));
    numbers.map(|number| (*number, database.folder.join(format!("{number:06}")))).collect()
}

fn add_table(
    path: PathBuf,
    len: u64,
    database: Option<&Rc<Database>>,
    everything: &mut Everything,
) {
    let number = number_of(&path);
    let version = database.and_then(|database| database.version.as_ref().ok());
    let place = match (version, number) {
        (Some(version), Some(number)) => {
            version.tables.get(&number).map_or(Place::Unused, |table| Place::Level(table.level))
        }
        _ => Place::Unknown,
    };
    everything.tables.push(Found { path, number, len, place });
    everything.database_of.extend(iter::once(database.cloned()));
}

fn number_of(path: &Path) -> Option<u64> {
    path.file_stem()?.to_str()?.parse().ok()
}
