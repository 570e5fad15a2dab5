//! A table file, opened.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use crate::bytes::u32_at;
use crate::{
    Block, BlockHandle, Codec, Comparison, Compression, Entries, Entry, Error, FOOTER_LEN,
    FilterName, Filters, Footer, InternalKey, KeyFormat, KeyKind, Kind, MAX_EXPANSION, Part,
    ReadAt, Refusal, TRAILER_LEN,
};

/// The largest block that is read, stored and decompressed: 1 GiB, or what the machine can address.
/// A block is as large as its largest value at least, and those are megabytes where they are large.
pub const MAX_BLOCK_LEN: usize = if usize::BITS < 32 { usize::MAX / 2 } else { 1 << 30 };

/// Memory for one block, used again for the next.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    stored: Vec<u8>,
    contents: Vec<u8>,
    compression: Option<Compression>,
}

/// A buffer that is larger than this is not kept for the next block.
const MOST_KEPT: usize = 16 << 20;

impl Buffers {
    /// The length, decompressed, of the block that was read last.
    #[must_use]
    pub fn contents_len(&self) -> usize {
        self.contents.len()
    }

    /// How it is stored, as far as it got; nothing where its checksum is wrong.
    #[must_use]
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }
}

/// A table file of which the footer and the index were read, and the metaindex if that could be.
#[derive(Clone, Debug)]
pub struct Table<R, C> {
    reader: R,
    codec: C,
    footer: Footer,
    index: Vec<u8>,
    filters: Result<Vec<FilterName>, Error>,
    maker: Option<&'static str>,
    keys: KeyFormat,
}

impl<R: ReadAt, C: Codec> Table<R, C> {
    /// Reads what a table says of itself: footer, index and metaindex.
    ///
    /// # Errors
    /// Where the footer or the index cannot be read. Without its metaindex a table has no filters,
    /// and LevelDB reads it all the same: [`metaindex_error`](Self::metaindex_error) has what is
    /// wrong.
    pub fn open(reader: R, codec: C) -> Result<Self, Error> {
        let footer = read_footer(&reader)?;
        let mut buffers = Buffers::default();
        let filters = read_block(&reader, &codec, footer.metaindex, Part::Metaindex, &mut buffers)
            .and_then(|it| Block::parse(it, Part::Metaindex, footer.metaindex.offset))
            .and_then(|it| filter_names(&it));
        read_block(&reader, &codec, footer.index, Part::Index, &mut buffers)?;
        let index = buffers.contents;
        Block::parse(&index, Part::Index, footer.index.offset)?;
        let (filters, maker) = match filters {
            Ok((filters, maker)) => (Ok(filters), maker),
            Err(error) => (Err(error), None),
        };
        Ok(Table { reader, codec, footer, index, filters, maker, keys: KeyFormat::Internal })
    }

    /// The program that wrote the table, where that is not LevelDB and the metaindex tells: its filters may have another
    /// format under LevelDB's name, and its entries kinds that LevelDB does not know.
    #[must_use]
    pub fn maker(&self) -> Option<&'static str> {
        self.maker
    }

    /// How the keys are stored: as databases do it, unless [`look_at_keys`](Self::look_at_keys) found otherwise.
    #[must_use]
    pub fn keys(&self) -> KeyFormat {
        self.keys
    }

    /// Finds out how the keys are stored, for a table of which no MANIFEST says that it is a database's. Looks at the
    /// first blocks: what their filters were made for, and which keys a database cannot have written.
    pub fn look_at_keys(&mut self) {
        self.keys = KeyFormat::Plain;
        let contents = self.preferred_filters().and_then(|number| self.read_filters(number).ok());
        let filters = contents.as_ref().and_then(|contents| Filters::parse(contents, 0).ok());
        let (mut buffers, mut seen, mut bytes) = (Buffers::default(), Seen::default(), 0);
        let mut blocks = self.data_blocks();
        while let Ok(Some(block)) = blocks.next() {
            if seen.keys >= ENOUGH_KEYS || bytes > ENOUGH_BYTES {
                break;
            }
            bytes += block.handle.size;
            let filter = filters.and_then(|filters| filters.filter_for(block.handle.offset));
            let filter = filter.filter(|it| it.last().is_some_and(|k| (1..=30).contains(k)));
            let Ok(block) = self.read_data(block.handle, &mut buffers) else { continue };
            let (mut entries, mut before) = (block.entries(), Vec::new());
            while let Ok(Some(Entry { key, .. })) = entries.next() {
                seen.see(key, &before, filter);
                bytes += key.len() as u64;
                if seen.keys >= ENOUGH_KEYS || bytes > ENOUGH_BYTES {
                    break;
                }
                before.clear();
                before.extend_from_slice(key);
            }
        }
        self.keys = seen.judge();
    }

    /// Where the bytes come from.
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// The footer.
    #[must_use]
    pub fn footer(&self) -> Footer {
        self.footer
    }

    /// The length of the index, decompressed. LevelDB keeps it in memory while the table is open.
    #[must_use]
    pub fn index_len(&self) -> usize {
        self.index.len()
    }

    /// The filter blocks that the table names: usually one, or none.
    #[must_use]
    pub fn filters(&self) -> &[FilterName] {
        self.filters.as_deref().unwrap_or(&[])
    }

    /// Why it is not known whether there are filters, where the metaindex cannot be read.
    #[must_use]
    pub fn metaindex_error(&self) -> Option<&Error> {
        self.filters.as_ref().err()
    }

    /// The number in [`filters`](Self::filters) of the filter block to look at: LevelDB asks for
    /// that of its own policy, by name. Where there is none, somebody may ask the first.
    #[must_use]
    pub fn preferred_filters(&self) -> Option<usize> {
        let filters = self.filters();
        let own = filters.iter().position(|name| name.policy == leveldb_bloom::POLICY_NAME);
        own.or((!filters.is_empty()).then_some(0))
    }

    /// The policies of the filter blocks beside that one.
    pub fn other_filters(&self) -> impl Iterator<Item = &FilterName> {
        let preferred = self.preferred_filters();
        let all = self.filters().iter().enumerate();
        all.filter(move |(number, _)| Some(*number) != preferred).map(|(_, name)| name)
    }

    /// The data blocks, in order.
    pub fn data_blocks(&self) -> DataBlocks<'_> {
        let offset = self.footer.index.offset;
        // `open` has seen that the index can be parsed; its bytes have not changed.
        let entries = match Block::parse(&self.index, Part::Index, offset) {
            Ok(index) => index.entries(),
            Err(_) => Block::EMPTY.entries(),
        };
        // What cannot be read may not lie there either.
        let before = match &self.filters {
            Ok(_) => offset.min(self.footer.metaindex.offset),
            Err(_) => offset,
        };
        DataBlocks { entries, expanded: 0, from: 0, to: before, offset, keys: self.keys }
    }

    /// The one data block that LevelDB reads in this table for the newest `user_key`, if any: the
    /// first whose last key is not before it, where keys are in the order of their bytes.
    ///
    /// # Errors
    /// Where the index is damaged.
    pub fn block_for(&self, user_key: &[u8]) -> Result<Option<BlockHandle>, Error> {
        let mut blocks = self.data_blocks();
        let mut comparison = Comparison::with(user_key);
        while let Some(block) = blocks.next()? {
            let order = comparison.next(block.last_key, block.shared);
            // A key that LevelDB made up to part two blocks is before every entry of that key.
            if order.is_gt() || order.is_eq() && block.sequence != MAX_SEQUENCE {
                return Ok(Some(block.handle));
            }
        }
        Ok(None)
    }

    /// Reads a data block.
    ///
    /// # Errors
    /// Where it cannot be read, its checksum is wrong, or it cannot be decompressed.
    pub fn read_data<'b>(
        &self,
        handle: BlockHandle,
        buffers: &'b mut Buffers,
    ) -> Result<Block<'b>, Error> {
        let contents = read_block(&self.reader, &self.codec, handle, Part::Data, buffers)?;
        Block::parse(contents, Part::Data, handle.offset)
    }

    /// Reads the filter block with this number in [`filters`](Self::filters), for
    /// [`Filters::parse`](crate::Filters::parse).
    ///
    /// # Errors
    /// Where it cannot be read, its checksum is wrong, there is none of this number, or the
    /// metaindex cannot be read.
    pub fn read_filters(&self, number: usize) -> Result<Vec<u8>, Error> {
        let Some(FilterName { handle, .. }) =
            self.filters.as_ref().map_err(Error::clone)?.get(number)
        else {
            let kind = Kind::Expected("a filter block of this number");
            let offset = self.footer.metaindex.offset;
            return Err(Error { part: Part::Metaindex, offset, inside: None, kind });
        };
        let mut buffers = Buffers::default();
        read_block(&self.reader, &self.codec, *handle, Part::Filter, &mut buffers)?;
        Ok(buffers.contents)
    }
}

/// A data block, as the index has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataBlock<'a> {
    /// A key that is not before the block's last key and before the next block's first: the
    /// shortest that LevelDB found, without the 8 bytes of its own.
    pub last_key: &'a [u8],
    /// At least so many of its first bytes are those of the last key of the block before.
    pub shared: usize,
    /// The number of the write of that key; of one that LevelDB made up the largest that there is,
    /// which no write has, so that it is before every entry of that key.
    pub sequence: u64,
    /// Where the block is.
    pub handle: BlockHandle,
}

/// LevelDB's kMaxSequenceNumber (db/dbformat.h), which no write has.
const MAX_SEQUENCE: u64 = (1 << 56) - 1;

/// Walks over the data blocks that an index names.
#[derive(Clone, Debug)]
pub struct DataBlocks<'a> {
    entries: Entries<'a>,
    /// The length of all keys so far.
    expanded: u64,
    /// Where the next block may begin.
    from: u64,
    /// Where the last must have ended.
    to: u64,
    /// The index block.
    offset: u64,
    keys: KeyFormat,
}

impl DataBlocks<'_> {
    /// The next block, `None` at the end.
    ///
    /// # Errors
    /// Where the index is damaged, or a block lies before the one before it. There are no more
    /// blocks then.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<DataBlock<'_>>, Error> {
        let index_len = self.entries.block_len() as u64;
        let Some(entry) = self.entries.next()? else { return Ok(None) };
        // After an error no block fits, so that nobody who goes on reads one twice.
        let from = mem::replace(&mut self.from, u64::MAX);
        let error = |kind| Error {
            part: Part::Index,
            offset: self.offset,
            inside: Some(entry.at as u64),
            kind,
        };
        // LevelDB shares nothing in an index. Whoever keeps the keys there copies each.
        self.expanded = self.expanded.saturating_add(entry.key.len() as u64);
        if self.expanded / MAX_EXPANSION > index_len {
            return Err(error(Kind::KeysExpand { len: self.expanded }));
        }
        let handle = BlockHandle::parse(entry.value)
            .ok_or_else(|| error(Kind::Expected("a block's offset and size as the value")))?;
        let fits = |end: &u64| handle.offset >= from && *end <= self.to;
        let end = handle
            .end()
            .filter(fits)
            .ok_or_else(|| error(Kind::Handle { of: Part::Data, handle, from, to: self.to }))?;
        let key = self.keys.parse(entry.key).ok_or_else(|| {
            error(Kind::Expected("a key of at least 8 bytes, as databases write"))
        })?;
        let InternalKey { user_key, sequence, .. } = key;
        self.from = end;
        Ok(Some(DataBlock { last_key: user_key, shared: entry.shared, sequence, handle }))
    }
}

/// [`Table::look_at_keys`] looks at so many keys, and so many bytes of blocks and keys.
const ENOUGH_KEYS: usize = 1000;
const ENOUGH_BYTES: u64 = 16 << 20;

/// What was seen of keys as they are stored.
#[derive(Default)]
struct Seen {
    keys: usize,
    /// Of no database: too short, of an unknown kind, or an older write before a newer one.
    misfits: usize,
    /// Keys that there is a filter for, and how many match it whole, and without the last 8 bytes.
    asked: usize,
    whole: usize,
    without: usize,
}

impl Seen {
    fn see(&mut self, key: &[u8], before: &[u8], filter: Option<&[u8]>) {
        let (own, last) = (InternalKey::parse(key), InternalKey::parse(before));
        let misfit = match (own, last) {
            (None | Some(InternalKey { kind: KeyKind::Other(_), .. }), _) => true,
            (Some(own), Some(last)) => {
                own.user_key == last.user_key && own.sequence >= last.sequence
            }
            _ => false,
        };
        self.keys += 1;
        self.misfits += usize::from(misfit);
        if let Some(filter) = filter {
            let matches = |key| usize::from(leveldb_bloom::key_may_match(key, filter));
            self.asked += 1;
            self.whole += matches(key);
            self.without += own.map_or(0, |own| matches(own.user_key));
        }
    }

    fn judge(&self) -> KeyFormat {
        let is_plain = match self.asked {
            0 => self.misfits * 2 > self.keys,
            asked if self.without == asked => false,
            asked => self.whole == asked || self.misfits * 2 > self.keys,
        };
        if is_plain { KeyFormat::Plain } else { KeyFormat::Internal }
    }
}

fn read_footer(reader: &impl ReadAt) -> Result<Footer, Error> {
    let len = reader.len();
    let error = |offset, kind| Error { part: Part::Footer, offset, inside: None, kind };
    let start = len
        .checked_sub(FOOTER_LEN as u64)
        .ok_or_else(|| error(0, Kind::Short { needed: FOOTER_LEN as u64, found: len }))?;
    let mut footer = [0; FOOTER_LEN];
    reader.read_at(start, &mut footer).map_err(|reason| error(start, Kind::Read(reason)))?;
    Footer::parse(&footer, len)
}

/// Reads a block into `buffers.contents`, checked and decompressed.
fn read_block<'b>(
    reader: &impl ReadAt,
    codec: &impl Codec,
    handle: BlockHandle,
    part: Part,
    buffers: &'b mut Buffers,
) -> Result<&'b [u8], Error> {
    let error = |kind| Error { part, offset: handle.offset, inside: None, kind };
    let end = reader.len().saturating_sub(FOOTER_LEN as u64);
    if handle.end().is_none_or(|handle_end| handle_end > end) {
        return Err(error(Kind::Handle { of: part, handle, from: 0, to: end }));
    }
    let too_large = || error(Kind::TooLarge { len: handle.size, limit: MAX_BLOCK_LEN as u64 });
    let size = usize::try_from(handle.size).map_err(|_| too_large())?;
    if size > MAX_BLOCK_LEN {
        return Err(too_large());
    }
    let Buffers { stored, contents, compression } = buffers;
    let no_memory = || error(Kind::NoMemory { len: handle.size });
    *compression = None;
    for buffer in [&mut *stored, &mut *contents] {
        if buffer.capacity() > MOST_KEPT {
            *buffer = Vec::new();
        }
    }
    stored.clear();
    stored.try_reserve(size + TRAILER_LEN).map_err(|_| no_memory())?;
    stored.resize(size + TRAILER_LEN, 0);
    reader.read_at(handle.offset, stored).map_err(|reason| error(Kind::Read(reason)))?;

    // The checksum is of the contents and the byte that names the compression.
    let computed = codec.crc32c(stored.get(..=size).unwrap_or(&[]));
    let checksum = unmask(u32_at(stored, size + 1).unwrap_or(0));
    if checksum != computed {
        return Err(error(Kind::Checksum { stored: checksum, computed }));
    }
    let number = stored.get(size).copied().unwrap_or(0);
    stored.truncate(size);
    let found = Compression::of(number, stored);
    *compression = Some(found);
    match found {
        Compression::None => mem::swap(stored, contents),
        method => codec.decompress(method, stored, MAX_BLOCK_LEN, contents).map_err(|refusal| {
            match refusal {
                Refusal::Unknown => error(Kind::Compression { found }),
                // The checksum is right, and others have methods of their own under this number.
                Refusal::Damaged { .. } if found == Compression::RawDeflate => {
                    *compression = Some(Compression::Other(number));
                    error(Kind::Compression { found: Compression::Other(number) })
                }
                Refusal::Damaged { method, expected } => {
                    error(Kind::Decompression { method, expected })
                }
                Refusal::TooLarge { len, limit } => error(Kind::TooLarge { len, limit }),
                Refusal::NoMemory => no_memory(),
            }
        })?,
    }
    Ok(contents)
}

/// LevelDB stores a CRC rotated and with a constant added, so that the CRC of bytes that hold CRCs
/// is as good as any.
fn unmask(masked: u32) -> u32 {
    masked.wrapping_sub(0xa282_ead8).rotate_left(15)
}

/// So many policies' names are kept, beside that of LevelDB's own: LevelDB writes one.
const MOST_NAMES: usize = 100;

/// The filter blocks that a metaindex names, as far as these are not more than anybody writes, and
/// do not take more room than it does: names, too, may share all but their ends. LevelDB looks for
/// its own. And what else is there tells who wrote the table.
fn filter_names(metaindex: &Block<'_>) -> Result<(Vec<FilterName>, Option<&'static str>), Error> {
    let (mut entries, mut maker) = (metaindex.entries(), None);
    let (mut names, mut room, mut own) = (Vec::new(), metaindex.entries_len(), false);
    while let Some(entry) = entries.next()? {
        let Some(policy) = entry.key.strip_prefix(b"filter.") else {
            if entry.key.starts_with(b"rocksdb.") {
                maker = Some("RocksDB");
            } else if entry.key.starts_with(b"stats.sst") {
                maker = Some("Riak's LevelDB");
            }
            continue;
        };
        let is_own = policy == leveldb_bloom::POLICY_NAME.as_bytes() && !own;
        own |= is_own;
        let handle = BlockHandle::parse(entry.value).ok_or_else(|| Error {
            part: Part::Metaindex,
            offset: metaindex.offset(),
            inside: Some(entry.at as u64),
            kind: Kind::Expected("the filter block's offset and size as the value"),
        })?;
        let left = room.checked_sub(policy.len()).filter(|_| names.len() < MOST_NAMES);
        if left.is_some() || is_own {
            room = left.unwrap_or(room);
            names.push(FilterName { policy: String::from_utf8_lossy(policy).into_owned(), handle });
        }
    }
    Ok((names, maker))
}
