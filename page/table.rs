//! A table file that was dropped on the page, kept as long as the memory that it is in.
//!
//! Every function leaves its answer in the [`Opened`], where page/table.js fetches it: text, or
//! little-endian numbers of 4 bytes.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use leveldb_bloom::key_may_match;
use leveldb_bloom_table::{
    BlockHandle, Buffers, Comparison, Error, FilterName, Filters, InternalKey, KeyFormat, KeyKind,
    Portable, ReadAt, Table, is_another_format,
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
    /// The keys are in the order of their bytes, as far as they can be read.
    bytewise: bool,
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
    /// In no block; which one LevelDB would read is not known.
    pub const NOWHERE: u32 = 4;
}

/// No such filter or block.
const NONE: u32 = u32::MAX;

/// One for each 2 KiB of the largest file that the page opens.
const MOST_FILTERS: usize = 1 << 18;

/// What the keys of a filter may take: prefix compression makes any number of bytes of one.
const MOST_KEYS_LEN: usize = 1 << 20;

/// The bytes of keys that are asked for, to see whether filters are LevelDB's.
const MOST_HASHED: u64 = 64 << 20;

/// How many they may be: the page looks for the bits of each, which takes it seconds for all of a
/// megabyte.
const MOST_KEYS: usize = 5000;

impl Opened {
    /// Reads the filter block, and every data block for how many keys each filter has.
    fn read(file: Vec<u8>) -> Result<Self, Error> {
        let mut table = Table::open(File(file), Portable)?;
        table.look_at_keys();
        if let Some(error) = table.metaindex_error() {
            return Err(error.clone());
        }
        let mut filters = Vec::new();
        if let Some(number) = table.preferred_filters() {
            filters = table.read_filters(number)?;
        }
        let mut opened = Opened {
            table: Some(table),
            filters,
            bytewise: true,
            trouble: String::new(),
            answer: Vec::new(),
        };
        opened.look_around()?;
        Ok(opened)
    }

    fn parsed(&self) -> Result<Option<Filters<'_>>, Error> {
        let Some(name) = self.filter_name() else { return Ok(None) };
        Filters::parse(&self.filters, name.handle.offset).map(Some)
    }

    fn filter_name(&self) -> Option<&FilterName> {
        let table = self.table.as_ref()?;
        table.filters().get(table.preferred_filters()?)
    }

    /// Answers: the number of data blocks, of those that are unreadable, of all keys and entries,
    /// whether keys are plain, and whether hardly any matches; then for each filter where it begins in
    /// the filter block, its length, its bits set, its data blocks, those that are unreadable, keys and
    /// entries.
    fn look_around(&mut self) -> Result<(), Error> {
        let Some(table) = &self.table else { return Ok(()) };
        let filters = self.parsed()?;
        let len = filters.as_ref().map_or(0, Filters::len).min(MOST_FILTERS);
        let mut of_filter = alloc::vec![Counts::default(); len];
        let (mut all, mut missed) = (Counts::default(), 0);
        let (mut hashed, mut asked) = (0, 0);
        let mut trouble = String::new();
        let mut walk = Walk::default();
        let mut data = table.data_blocks();
        while let Some(block) = data.next()? {
            let number = filters.as_ref().map_or(u64::MAX, |f| f.number_for(block.handle.offset));
            let mut outside = Counts::default();
            let of = usize::try_from(number).ok().and_then(|i| of_filter.get_mut(i));
            let of = of.unwrap_or(&mut outside);
            all.blocks += 1;
            of.blocks += 1;
            let filter = filters.as_ref().and_then(|f| f.filter_for(block.handle.offset));
            let mut count = |key: InternalKey<'_>, another: bool, _| {
                // Of long ones the first few are enough.
                hashed += key.user_key.len() as u64;
                if another && hashed < MOST_HASHED {
                    asked += 1;
                    missed += u64::from(filter.is_some_and(|it| !key_may_match(key.user_key, it)));
                }
                // A key whose versions go on in the next filter is counted there too.
                all.add(another);
                of.add(another || of.entries == 0);
            };
            if let Err(error) = walk.block(table, block.handle, &mut count) {
                all.unreadable += 1;
                of.unreadable += 1;
                if trouble.is_empty() {
                    trouble = error.to_string();
                }
            }
        }
        let mut answer = Vec::new();
        let plain = table.keys() == KeyFormat::Plain;
        let other = is_another_format(asked, missed);
        let kinds = [plain, other].map(u32::from);
        push(&mut answer, &[all.blocks, all.unreadable, all.keys, all.entries]);
        push(&mut answer, &kinds);
        for (number, counts) in of_filter.into_iter().enumerate() {
            let Some(range) = filters.as_ref().and_then(|f| f.range(number)) else { continue };
            let Some(filter) = self.filters.get(range.clone()) else { continue };
            let array = filter.split_last().map_or(&[][..], |(_, array)| array);
            let set = array.iter().map(|byte| byte.count_ones()).sum();
            let Counts { blocks, unreadable, keys, entries } = counts;
            push(&mut answer, &[range.start as u32, filter.len() as u32, set]);
            push(&mut answer, &[blocks, unreadable, keys, entries]);
        }
        self.bytewise = walk.bytewise;
        self.answer = answer;
        self.trouble = trouble;
        Ok(())
    }

    /// Answers: the filter's number, whether LevelDB reads the data block, what is there, and the
    /// block's offset.
    fn find(&mut self, key: &[u8]) -> Result<(), Error> {
        let Some(table) = &self.table else { return Ok(()) };
        let mut answer = Vec::new();
        let block = match self.bytewise {
            true => table.block_for(key)?,
            // There is no MANIFEST here to name the comparator.
            false => self.block_with(key)?,
        };
        match block {
            None if !self.bytewise => push(&mut answer, &[NONE, 0, found::NOWHERE, NONE]),
            None => push(&mut answer, &[NONE, 0, found::NOT_STORED, NONE]),
            Some(handle) => {
                let filters = self.parsed()?;
                let may = filters.as_ref().is_none_or(|f| f.may_match(handle.offset, key));
                let number = filters.as_ref().map_or(u64::MAX, |f| f.number_for(handle.offset));
                let number = u32::try_from(number).unwrap_or(NONE);
                let mut there = found::NOT_STORED;
                let mut sought = Comparison::with(key);
                let mut look = |entry: InternalKey<'_>, another: bool, shared| {
                    // The newest entry of a key comes first.
                    if sought.next(entry.user_key, shared).is_eq() && another {
                        there = match entry.kind {
                            KeyKind::Deletion => found::DELETED,
                            _ => found::STORED,
                        };
                    }
                };
                if Walk::default().block(table, handle, &mut look).is_err() {
                    there = found::UNREADABLE;
                }
                push(&mut answer, &[number, u32::from(may), there, handle.offset as u32]);
            }
        }
        self.answer = answer;
        Ok(())
    }

    /// The first block that holds the key, wherever that is.
    fn block_with(&self, key: &[u8]) -> Result<Option<BlockHandle>, Error> {
        let Some(table) = &self.table else { return Ok(None) };
        let mut walk = Walk::default();
        let mut data = table.data_blocks();
        while let Some(block) = data.next()? {
            let (mut here, mut sought) = (false, Comparison::with(key));
            let mut look = |entry: InternalKey<'_>, _, shared| {
                here |= sought.next(entry.user_key, shared).is_eq();
            };
            // What is wrong with a block was said when the file was opened.
            let _ = walk.block(table, block.handle, &mut look);
            if here {
                return Ok(Some(block.handle));
            }
        }
        Ok(None)
    }

    /// Answers: the keys that a filter was made for, each with its length before it, as far as they
    /// can be read and there is room.
    fn keys_of(&mut self, number: u32) -> Result<(), Error> {
        let Some(table) = &self.table else { return Ok(()) };
        let Some(filters) = self.parsed()? else { return Ok(()) };
        let (mut answer, mut count, mut full) = (Vec::new(), 0, false);
        let mut walk = Walk::default();
        let mut data = table.data_blocks();
        while let Some(block) = data.next()? {
            if filters.number_for(block.handle.offset) == u64::from(number) {
                let mut push_key = |entry: InternalKey<'_>, another: bool, _| {
                    let user_key = entry.user_key;
                    full |= count == MOST_KEYS || answer.len() + user_key.len() > MOST_KEYS_LEN;
                    if another && !full {
                        count += 1;
                        push(&mut answer, &[user_key.len() as u32]);
                        answer.extend_from_slice(user_key);
                    }
                };
                // What is wrong with a block was said when the file was opened.
                let _ = walk.block(table, block.handle, &mut push_key);
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

/// How much there is in a file, or for a filter.
#[derive(Clone, Copy, Default)]
struct Counts {
    blocks: u32,
    unreadable: u32,
    keys: u32,
    entries: u32,
}

impl Counts {
    fn add(&mut self, another_key: bool) {
        self.keys += u32::from(another_key);
        self.entries += 1;
    }
}

/// A walk over data blocks, in order. LevelDB keeps versions of a key one after another.
struct Walk {
    buffers: Buffers,
    any: bool,
    last: Vec<u8>,
    /// No key was before the one before it.
    bytewise: bool,
}

impl Default for Walk {
    fn default() -> Self {
        Walk { buffers: Buffers::default(), any: false, last: Vec::new(), bytewise: true }
    }
}

impl Walk {
    /// Shows each entry of a data block, whether its key is another than that of the entry before,
    /// and how many bytes it shares with that. In a file that somebody made, megabytes of keys may
    /// follow from a few bytes each: nothing is done here for those that they share.
    fn block(
        &mut self,
        table: &Table<File, Portable>,
        handle: BlockHandle,
        // Not generic: small before fast.
        show: &mut dyn FnMut(InternalKey<'_>, bool, usize),
    ) -> Result<(), Error> {
        let mut entries = table.read_data(handle, &mut self.buffers)?.entries();
        // With the key that was shown last; one that no database writes is not.
        let mut shared = usize::MAX;
        while let Some(entry) = entries.next()? {
            shared = shared.min(entry.shared);
            if let Some(key) = table.keys().parse(entry.key) {
                let user_key = key.user_key;
                let same = shared.min(self.last.len()).min(user_key.len());
                let order = self.last[same..].cmp(&user_key[same..]);
                self.bytewise &= order.is_le();
                show(key, !self.any || order.is_ne(), shared);
                self.any = true;
                self.last.truncate(same);
                self.last.extend_from_slice(&user_key[same..]);
                shared = usize::MAX;
            }
        }
        Ok(())
    }
}

/// Opens the file whose bytes lie in what `take` gave; they belong to the table from here on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_open(start: *mut u8, len: usize) -> *mut Opened {
    // SAFETY: table.js hands over what `take` gave, and does not give it back.
    let file = unsafe { Vec::from_raw_parts(start, len, len) };
    Box::into_raw(Box::new(Opened::read(file).unwrap_or_else(|error| Opened {
        table: None,
        filters: Vec::new(),
        bytewise: true,
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
    let name = opened.filter_name();
    opened.answer = name.map_or(Vec::new(), |name| name.policy.clone().into_bytes());
}

/// Answers: who wrote the table, if that is not LevelDB and it says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_maker(opened: *mut Opened) {
    // SAFETY: table.js passes an open table.
    let opened = unsafe { &mut *opened };
    let maker = opened.table.as_ref().and_then(Table::maker);
    opened.answer = maker.unwrap_or_default().into();
}

/// Answers: the names of the other policies that the table has filters of.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn table_others(opened: *mut Opened) {
    // SAFETY: table.js passes an open table.
    let opened = unsafe { &mut *opened };
    let mut names = String::new();
    for name in opened.table.iter().flat_map(Table::other_filters) {
        if !names.is_empty() {
            names += ", ";
        }
        names += &name.policy;
    }
    opened.answer = names.into_bytes();
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
