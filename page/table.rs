//! A table file that was dropped on the page, kept as long as the memory that it is in.
//!
//! Every function leaves its answer in the [`Opened`], where page/table.js fetches it: text, or
//! little-endian numbers of 4 bytes.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;

use leveldb_bloom_table::{
    BlockHandle, Buffers, Error, Filters, InternalKey, KeyKind, Portable, ReadAt, Table,
};

use crate::bytes;

struct File(Vec<u8>);

impl ReadAt for File {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), String> {
        self.0.as_slice().read_at(offset, buffer)
    }
}

/// A table and the last answer.
pub struct Opened {
    table: Option<Table<File, Portable>>,
    /// The contents of the filter block.
    filters: Vec<u8>,
    /// The first data block that could not be read, in words.
    trouble: String,
    answer: Vec<u8>,
}

/// What [`table_find`] found.
mod found {
    pub const NOT_STORED: u32 = 0;
    pub const STORED: u32 = 1;
    pub const DELETED: u32 = 2;
    pub const UNREADABLE: u32 = 3;
}

/// No such filter or block.
const NONE: u32 = u32::MAX;

impl Opened {
    /// Reads the filter block, and every data block for how many keys each filter has.
    fn read(file: Vec<u8>) -> Result<Self, Error> {
        let table = Table::open(File(file), Portable)?;
        let mut filters = Vec::new();
        if !table.filters().is_empty() {
            filters = table.read_filters(0)?;
        }
        let mut opened =
            Opened { table: Some(table), filters, trouble: String::new(), answer: Vec::new() };
        opened.look_around()?;
        Ok(opened)
    }

    fn parsed(&self) -> Result<Option<Filters<'_>>, Error> {
        let Some(name) = self.table.as_ref().and_then(|table| table.filters().first()) else {
            return Ok(None);
        };
        Filters::parse(&self.filters, name.handle.offset).map(Some)
    }

    /// Answers: the number of data blocks, of those that are unreadable, of all keys; then for each
    /// filter where it begins in the filter block, its length, its bits set, its data blocks and keys.
    fn look_around(&mut self) -> Result<(), Error> {
        let Some(table) = &self.table else { return Ok(()) };
        let filters = self.parsed()?;
        let len = filters.as_ref().map_or(0, Filters::len);
        let mut of_filter = alloc::vec![(0u32, 0u32); len];
        let (mut blocks, mut unreadable, mut all_keys) = (0u32, 0u32, 0u32);
        let mut trouble = String::new();
        let mut buffers = Buffers::default();
        let mut data = table.data_blocks();
        while let Some(block) = data.next()? {
            blocks += 1;
            let keys = match keys_in(table, block.handle, &mut buffers, |_| ()) {
                Ok(keys) => keys,
                Err(error) => {
                    unreadable += 1;
                    if trouble.is_empty() {
                        trouble = error.to_string();
                    }
                    0
                }
            };
            all_keys = all_keys.saturating_add(keys);
            let number = filters.as_ref().map_or(u64::MAX, |f| f.number_for(block.handle.offset));
            if let Some(of) = usize::try_from(number).ok().and_then(|i| of_filter.get_mut(i)) {
                *of = (of.0 + 1, of.1.saturating_add(keys));
            }
        }
        let mut answer = Vec::new();
        push(&mut answer, &[blocks, unreadable, all_keys]);
        for (number, (blocks, keys)) in of_filter.into_iter().enumerate() {
            let Some((range, filter)) =
                filters.as_ref().and_then(|f| Some((f.range(number)?, f.filter(number)?)))
            else {
                continue;
            };
            let array = filter.split_last().map_or(&[][..], |(_, array)| array);
            let set = array.iter().map(|byte| byte.count_ones()).sum();
            push(&mut answer, &[range.start as u32, filter.len() as u32, set, blocks, keys]);
        }
        self.answer = answer;
        self.trouble = trouble;
        Ok(())
    }

    /// Answers: the filter's number, whether LevelDB reads the data block, what is there, and the
    /// block's offset.
    fn find(&mut self, key: &[u8]) -> Result<(), Error> {
        let Some(table) = &self.table else { return Ok(()) };
        let mut answer = Vec::new();
        match table.block_for(key, |a, b| a.cmp(b))? {
            None => push(&mut answer, &[NONE, 0, found::NOT_STORED, NONE]),
            Some(handle) => {
                let filters = self.parsed()?;
                let may = filters.as_ref().is_none_or(|f| f.may_match(handle.offset, key));
                let number = filters.as_ref().map_or(u64::MAX, |f| f.number_for(handle.offset));
                let number = u32::try_from(number).unwrap_or(NONE);
                let mut there = found::NOT_STORED;
                let look = |entry: InternalKey<'_>| {
                    // The newest entry of a key comes first.
                    if there == found::NOT_STORED && entry.user_key.cmp(key) == Ordering::Equal {
                        there = match entry.kind {
                            KeyKind::Deletion => found::DELETED,
                            _ => found::STORED,
                        };
                    }
                };
                if keys_in(table, handle, &mut Buffers::default(), look).is_err() {
                    there = found::UNREADABLE;
                }
                push(&mut answer, &[number, u32::from(may), there, handle.offset as u32]);
            }
        }
        self.answer = answer;
        Ok(())
    }

    /// Answers: the keys that a filter was made for, each with its length before it, as far as they
    /// can be read.
    fn keys_of(&mut self, number: u32) -> Result<(), Error> {
        let Some(table) = &self.table else { return Ok(()) };
        let Some(filters) = self.parsed()? else { return Ok(()) };
        let mut answer = Vec::new();
        let mut data = table.data_blocks();
        while let Some(block) = data.next()? {
            if filters.number_for(block.handle.offset) == u64::from(number) {
                let push_key = |entry: InternalKey<'_>| {
                    push(&mut answer, &[entry.user_key.len() as u32]);
                    answer.extend_from_slice(entry.user_key);
                };
                // What is wrong with a block was said when the file was opened.
                let _ = keys_in(table, block.handle, &mut Buffers::default(), push_key);
            }
        }
        self.answer = answer;
        Ok(())
    }
}

fn push(answer: &mut Vec<u8>, numbers: &[u32]) {
    for number in numbers {
        answer.extend_from_slice(&number.to_le_bytes());
    }
}

/// Shows each entry of a data block, and says how many there are.
fn keys_in(
    table: &Table<File, Portable>,
    handle: BlockHandle,
    buffers: &mut Buffers,
    mut show: impl FnMut(InternalKey<'_>),
) -> Result<u32, Error> {
    let mut entries = table.read_data(handle, buffers)?.entries();
    let mut count = 0;
    while let Some(entry) = entries.next()? {
        if let Some(key) = InternalKey::parse(entry.key) {
            show(key);
            count += 1;
        }
    }
    Ok(count)
}

/// Opens the file whose bytes lie in what `take` gave; they belong to the table from here on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_open(start: *mut u8, len: usize) -> *mut Opened {
    // SAFETY: table.js hands over what `take` gave, and does not give it back.
    let file = unsafe { Vec::from_raw_parts(start, len, len) };
    Box::into_raw(Box::new(Opened::read(file).unwrap_or_else(|error| Opened {
        table: None,
        filters: Vec::new(),
        trouble: String::new(),
        answer: error.to_string().into_bytes(),
    })))
}

/// Whether it is a table; otherwise the answer says what is wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_is_open(opened: *const Opened) -> bool {
    // SAFETY: table.js passes an open table.
    unsafe { (*opened).table.is_some() }
}

/// Where the answer lies, until the next call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_answer(opened: *const Opened) -> *const u8 {
    // SAFETY: table.js passes an open table.
    unsafe { (*opened).answer.as_ptr() }
}

/// How long it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_answer_len(opened: *const Opened) -> usize {
    // SAFETY: table.js passes an open table.
    unsafe { (*opened).answer.len() }
}

/// Answers: the name of the filters' policy; nothing where there are no filters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_policy(opened: *mut Opened) {
    // SAFETY: table.js passes an open table.
    let opened = unsafe { &mut *opened };
    let name = opened.table.as_ref().and_then(|table| table.filters().first());
    opened.answer = name.map_or(Vec::new(), |name| name.policy.clone().into_bytes());
}

/// Answers: what is wrong with the first data block that could not be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_trouble(opened: *mut Opened) {
    // SAFETY: table.js passes an open table.
    let opened = unsafe { &mut *opened };
    opened.answer = opened.trouble.clone().into_bytes();
}

/// Answers: the contents of the filter block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_filters(opened: *mut Opened) {
    // SAFETY: table.js passes an open table.
    let opened = unsafe { &mut *opened };
    opened.answer = opened.filters.clone();
}

/// [`Opened::find`]; false where the index is damaged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_find(opened: *mut Opened, key: *const u8, len: usize) -> bool {
    // SAFETY: table.js passes an open table; for the key see `bytes`.
    unsafe { (*opened).find(bytes(key, len)) }.is_ok()
}

/// [`Opened::keys_of`]; false where the index is damaged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_keys_of(opened: *mut Opened, number: u32) -> bool {
    // SAFETY: table.js passes an open table.
    unsafe { (*opened).keys_of(number) }.is_ok()
}
