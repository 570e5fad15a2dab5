//! A table file, read in large pieces.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use leveldb_bloom_table::ReadAt;

/// How much is read at once: enough that a disk delivers what it can.
const WINDOW: usize = 1 << 20;

/// An open file, and the piece of it that was read last.
pub struct TableFile {
    file: File,
    /// Where the table ends.
    len: u64,
    /// Where the file did when it was opened.
    end: u64,
    window: RefCell<Window>,
}

#[derive(Default)]
struct Window {
    offset: u64,
    bytes: Vec<u8>,
}

impl TableFile {
    /// Opens a table of `len` bytes, or of as many as the file has.
    pub fn open(path: &Path, len: Option<u64>) -> io::Result<Self> {
        // Before it is opened, since a pipe is opened once somebody writes to it.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        let file = File::open(path)?;
        let end = file.metadata()?.len();
        Ok(TableFile { file, len: len.unwrap_or(end), end, window: RefCell::default() })
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

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), String> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(buffer)).map_err(|error| {
            match error.kind() {
                io::ErrorKind::UnexpectedEof if self.end < self.len => {
                    "the file ends before".into()
                }
                io::ErrorKind::UnexpectedEof => "the file became shorter while it was read".into(),
                _ => error.to_string(),
            }
        })
    }
}

impl ReadAt for TableFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), String> {
        if buffer.len() > WINDOW {
            return self.read_exact_at(offset, buffer);
        }
        let mut window = self.window.borrow_mut();
        if !window.copy_to(offset, buffer) {
            let len = self.len.saturating_sub(offset).min(WINDOW as u64) as usize;
            // Empty until it is whole, so that a failure leaves nothing wrong behind.
            let mut bytes = std::mem::take(&mut window.bytes);
            bytes.resize(len.max(buffer.len()), 0);
            self.read_exact_at(offset, &mut bytes)?;
            *window = Window { offset, bytes };
            window.copy_to(offset, buffer);
        }
        Ok(())
    }
}

impl Window {
    fn copy_to(&self, offset: u64, buffer: &mut [u8]) -> bool {
        let found = offset
            .checked_sub(self.offset)
            .and_then(|from| self.bytes.get(usize::try_from(from).ok()?..)?.get(..buffer.len()));
        if let Some(found) = found {
            buffer.copy_from_slice(found);
        }
        found.is_some()
    }
}
