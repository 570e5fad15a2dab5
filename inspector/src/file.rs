//! A table file, read in large pieces.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use leveldb_bloom_table::ReadAt;

use crate::manifest;

/// How much is read at once: enough that a disk delivers what it can.
const WINDOW: usize = 1 << 20;

/// An open file.
pub struct TableFile {
    file: RefCell<BufReader<File>>,
    /// Where the table ends.
    len: u64,
    /// Where the file did when it was opened.
    end: u64,
}

impl TableFile {
    /// Opens a table of `len` bytes, or of as many as the file has.
    pub fn open(path: &Path, len: Option<u64>) -> io::Result<Self> {
        let file = manifest::open(path)?;
        let end = file.metadata()?.len();
        let file = RefCell::new(BufReader::with_capacity(WINDOW, file));
        Ok(TableFile { file, len: len.unwrap_or(end), end })
    }

    /// To be said after what is wrong with the table, where the MANIFEST says another length.
    pub fn other_length(&self) -> String {
        match self.len == self.end {
            true => String::new(),
            false => {
                format!("; the MANIFEST says {} bytes, and the file has {}", self.len, self.end)
            }
        }
    }
}

impl ReadAt for TableFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), String> {
        let mut file = self.file.borrow_mut();
        // A seek by itself would drop what was read ahead.
        let read = file
            .stream_position()
            .and_then(|at| file.seek_relative(offset.wrapping_sub(at) as i64))
            .and_then(|()| file.read_exact(buffer));
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof if self.end < self.len => "the file ends before".into(),
            io::ErrorKind::UnexpectedEof => "the file became shorter while it was read".into(),
            _ => error.to_string(),
        })
    }
}
