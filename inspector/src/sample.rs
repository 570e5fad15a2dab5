//! A database's own keys in blocks and filters as LevelDB would build them with other settings.
//!
//! Keys stream through; what is held is a block and the keys of one filter for each layout.

use std::collections::BTreeMap;
use std::ops::Range;

use leveldb_bloom::{FilterPolicy, POLICY_NAME, key_may_match};
use leveldb_bloom_table::{
    Buffers, FILTER_BASE_LG, Filters, KeyKind, ReadAt as _, TRAILER_LEN, is_another_format,
};

use crate::absent::{Absent, Answers, Keys};
use crate::find::Found;
use crate::scan::OTHER_NAME;
use crate::source::{self, Told};
use crate::sums::{Settings, ratio};
use crate::text;

/// Where LevelDB begins another table, unless it is told otherwise.
const TABLE: u64 = 2 << 20;
/// What a database adds to a key.
const TAG: usize = 8;
/// Absent keys of each kind that each layout's filters are asked for, if there are so many.
const ASKED: f64 = 100_000.0;

/// Longer keys are left out.
pub const LONGEST: usize = 64 << 10;

/// How tables are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Building {
    pub block_size: usize,
    /// One more byte at each key's end.
    pub appended: bool,
    pub restart_interval: usize,
    /// The number in a block's trailer.
    pub compression: u8,
    /// There is a filter for each 2 to the power of so many bytes of blocks.
    pub base_lg: u8,
}

/// Tables under construction, and what their filters would be.
pub struct Layout {
    pub building: Building,
    /// How many filters hold so many keys.
    pub keys_per_filter: BTreeMap<usize, u64>,
    pub keys: u64,
    pub blocks: u64,
    pub slots: u64,
    pub tables: u64,
    pub index_bytes: u64,
    /// The answers of each policy.
    pub answers: Vec<Answers>,
    /// The bytes of the table so far, and its filters.
    offset: u64,
    table_slots: u64,
    block: Vec<u8>,
    entries: usize,
    restarts: usize,
    last: Vec<u8>,
    block_ended: bool,
    group: Keys,
    asked: f64,
}

impl Layout {
    pub fn new(building: Building, policies: usize) -> Self {
        Layout {
            building,
            keys_per_filter: BTreeMap::new(),
            keys: 0,
            blocks: 0,
            slots: 0,
            tables: 0,
            index_bytes: 0,
            answers: vec![Answers::default(); policies],
            offset: 0,
            table_slots: 0,
            block: Vec::new(),
            entries: 0,
            restarts: 1,
            last: Vec::new(),
            block_ended: false,
            group: Keys::default(),
            asked: 0.0,
        }
    }

    fn end(&self) -> &'static [u8] {
        if self.building.appended { &[0] } else { &[] }
    }

    /// As TableBuilder::Add.
    fn add(&mut self, key: &[u8], tag: &[u8], value: &[u8], asking: &mut Asking<'_>) {
        let shared = self.last.iter().zip(key).take_while(|(a, b)| a == b).count();
        if self.block_ended {
            // The index has the shortest key that is not before the one and is before the other.
            let shortened = match (self.last.get(shared), key.get(shared)) {
                (Some(last), Some(next)) => u16::from(*last) + 1 < u16::from(*next),
                _ => false,
            };
            let key = if shortened { shared + 1 } else { self.last.len() + self.end().len() };
            self.index_bytes += (key + TAG + 3 + 4 + 7) as u64;
            self.block_ended = false;
        }
        let end = self.end();
        self.group.push(key, end);
        let restart = self.entries % self.building.restart_interval == 0;
        self.restarts += usize::from(restart && self.entries > 0);
        self.entries += 1;
        let shared = if restart { 0 } else { shared };
        let rest = &key[shared..];
        for len in [shared, rest.len() + end.len() + TAG, value.len()] {
            push_varint(&mut self.block, len);
        }
        for bytes in [rest, end, tag, value] {
            self.block.extend_from_slice(bytes);
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        self.keys += 1;
        if self.block.len() + 4 * self.restarts + 4 >= self.building.block_size {
            self.end_block(asking);
            if self.offset >= TABLE {
                self.end_table(asking);
            }
        }
    }

    fn end_block(&mut self, asking: &mut Asking<'_>) {
        self.block.resize(self.block.len() + 4 * self.restarts + 4, 0);
        self.offset += (stored_len(&self.block, self.building.compression) + TRAILER_LEN) as u64;
        self.block.clear();
        (self.entries, self.restarts, self.block_ended) = (0, 1, true);
        self.blocks += 1;
        while self.offset >> self.building.base_lg > self.table_slots {
            self.end_filter(asking);
        }
    }

    fn end_filter(&mut self, asking: &mut Asking<'_>) {
        self.table_slots += 1;
        if self.group.len() == 0 {
            return;
        }
        *self.keys_per_filter.entry(self.group.len()).or_default() += 1;
        self.asked += self.group.len() as f64 * asking.per_key;
        if self.asked >= 1.0 {
            let keys = self.group.all();
            let each = (self.asked as usize).min(64 * keys.len());
            let end = self.end().len();
            let made = asking.absent.make(&self.group, asking.bytewise, end, each);
            for (policy, answers) in asking.policies.iter().zip(&mut self.answers) {
                if let Ok(filter) = policy.create_filter(&keys) {
                    *answers += Answers::of(&made, |key| policy.key_may_match(key, &filter));
                }
            }
            self.asked = 0.0;
        }
        self.group.clear();
    }

    fn end_table(&mut self, asking: &mut Asking<'_>) {
        if self.entries > 0 {
            self.end_block(asking);
        }
        if self.group.len() > 0 {
            self.end_filter(asking);
        }
        if self.offset > 0 {
            self.tables += 1;
            self.slots += self.table_slots;
            self.index_bytes += (self.last.len() + TAG + 3 + 4 + 7) as u64;
        }
        (self.offset, self.table_slots, self.block_ended) = (0, 0, false);
    }

    /// The filter blocks with offsets and trailers.
    pub fn filter_bytes(&self, policy: &FilterPolicy) -> u64 {
        let len = |keys: usize| policy.filter_len(keys).unwrap_or(0) as u64;
        let filters: u64 = self.keys_per_filter.iter().map(|(&keys, n)| n * len(keys)).sum();
        filters + 4 * self.slots + (5 + TRAILER_LEN as u64) * self.tables
    }
}

fn push_varint(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// LevelDB keeps what is an eighth shorter.
fn stored_len(block: &[u8], compression: u8) -> usize {
    let compressed = match compression {
        0 => None,
        1 => snap::raw::Encoder::new().compress_vec(block).ok().map(|bytes| bytes.len()),
        2 if !block.is_empty() => zstd::bulk::compress(block, 1).ok().map(|bytes| bytes.len()),
        _ => {
            let mut encoder =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            let written = std::io::Write::write_all(&mut encoder, block);
            written.and_then(|()| encoder.finish()).ok().map(|bytes| bytes.len())
        }
    };
    compressed.filter(|len| *len < block.len() - block.len() / 8).unwrap_or(block.len())
}

/// Asks filters for keys that are not there.
pub struct Asking<'p> {
    policies: &'p [FilterPolicy],
    pub bytewise: bool,
    /// So many absent keys for each key.
    per_key: f64,
    pub absent: Absent,
    /// Keys that are too long.
    pub left_out: u64,
}

impl<'p> Asking<'p> {
    /// Of about `keys` keys.
    pub fn new(policies: &'p [FilterPolicy], bytewise: bool, keys: f64) -> Self {
        let per_key = (ASKED / keys.max(1.0)).min(64.0);
        Asking { policies, bytewise, per_key, absent: Absent::default(), left_out: 0 }
    }
}

/// Entries that are next to each other, through all layouts.
pub struct Feed<'a, 'p> {
    pub layouts: &'a mut [Layout],
    pub asking: &'a mut Asking<'p>,
    last: Vec<u8>,
}

impl<'a, 'p> Feed<'a, 'p> {
    pub fn new(layouts: &'a mut [Layout], asking: &'a mut Asking<'p>) -> Self {
        Feed { layouts, asking, last: Vec::new() }
    }

    pub fn add(&mut self, key: &[u8], sequence: u64, value: &[u8]) {
        // Each layout holds some of them.
        if key.len() > LONGEST {
            self.asking.left_out += 1;
            return;
        }
        // A compaction makes one table of those that are next to each other.
        if self.asking.bytewise && key < &self.last[..] {
            self.end();
        }
        self.asking.absent.saw(key);
        let tag = (sequence << 8 | 1).to_le_bytes();
        self.last.clear();
        self.last.extend_from_slice(key);
        self.layouts.iter_mut().for_each(|layout| layout.add(key, &tag, value, self.asking));
    }

    pub fn end(&mut self) {
        for layout in &mut *self.layouts {
            layout.end_table(self.asking);
            layout.last.clear();
            layout.group = Keys::default();
        }
    }
}

/// What the tables at hand were built with, as far as their blocks show.
pub struct Seen {
    /// A block ends once it is as large as it should be, and not before.
    least: usize,
    most: usize,
    /// The largest block, and how large it was without its last entry.
    largest: (usize, usize),
    pub blocks: u64,
    pub entries: u64,
    compression: u8,
    restarts: u64,
    pub base_lg: u8,
    pub settings: Settings,
    pub filters: u64,
    /// The bits per key of ribbon filters, the least and the most.
    pub ribbon: Option<(i32, i32)>,
    /// There are filters that LevelDB does not make for these keys, or that cannot be read.
    pub odd: bool,
    /// There are tables without filters.
    pub bare: bool,
    /// What could not be read: blocks, and bytes of tables.
    pub unread_blocks: u64,
    pub unread: u64,
    /// The end of the last block, which was not full.
    open: Option<(usize, usize)>,
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            least: 0,
            most: usize::MAX,
            largest: (0, 0),
            blocks: 0,
            entries: 0,
            compression: 0,
            restarts: 0,
            base_lg: FILTER_BASE_LG,
            settings: Settings::default(),
            filters: 0,
            ribbon: None,
            odd: false,
            bare: false,
            unread_blocks: 0,
            unread: 0,
            open: None,
        }
    }
}

impl Seen {
    fn block(&mut self, contents: usize, before_last: usize) {
        self.largest = self.largest.max((contents, before_last));
        if let Some((contents, before_last)) = self.open.replace((contents, before_last)) {
            self.least = self.least.max(before_last + 1);
            self.most = self.most.min(contents);
        }
    }

    /// The block size that was set: LevelDB's own, or a round one, where that may be, within LevelDB's bounds.
    pub fn block_size(&self) -> usize {
        let (contents, before_last) = self.largest;
        let (least, most) = match self.most {
            // A table's last block may end at any size.
            usize::MAX => (before_last + 1, contents),
            // Of several settings one of the larger.
            most if self.least > most => (before_last + 1, contents),
            most => (self.least, most),
        };
        // A table's only block may be as short as it likes.
        let most_of_any = if self.most == usize::MAX { usize::MAX } else { most };
        if (least..=most_of_any).contains(&(4 << 10)) {
            return 4 << 10;
        }
        let power = 1 << most.max(1).ilog2();
        if power >= least {
            return power.clamp(1 << 10, 4 << 20);
        }
        let steps = [1 << 20, 1 << 16, 1 << 12, 1 << 10, 1000, 100, 10, 1];
        let round = steps.into_iter().map(|step| most / step * step).find(|round| *round >= least);
        round.unwrap_or(most).clamp(1 << 10, 4 << 20)
    }

    pub fn compression(&self) -> u8 {
        if self.blocks == 0 { 1 } else { self.compression }
    }

    pub fn restart_interval(&self) -> usize {
        if self.blocks == 0 {
            return 16;
        }
        let mean = ratio(self.entries as f64, self.restarts as f64);
        // Blocks end between restart points.
        if mean < 1.5 { 1 } else { (mean.ceil() as usize).next_multiple_of(16) }
    }
}

/// Reads the blocks of a table that begin in `part` of its file. What is damaged is left out, and
/// deletions and writes that newer ones have replaced, as a compaction does.
pub fn read(
    found: &Found,
    part: Range<u64>,
    seen: &mut Seen,
    feed: &mut Feed<'_, '_>,
    told: &mut Told,
    come_to: &dyn Fn(u64),
) {
    let Some(table) = source::open(found, told) else {
        seen.unread += part.end.min(found.len).saturating_sub(part.start);
        return;
    };
    let number = table.preferred_filters();
    let bytes = number.map(|number| table.read_filters(number));
    match (&bytes, table.metaindex_error(), table.maker()) {
        (Some(Err(error)), ..) | (None, Some(error), _) => {
            told.wrong(&text::path(&found.path), error);
            seen.odd = true;
        }
        (None, None, Some(_)) => seen.odd = true,
        (None, None, None) => seen.bare = true,
        (Some(Ok(_)), ..) => {}
    }
    let bytes = bytes.and_then(Result::ok);
    let filters = bytes.as_ref().and_then(|bytes| Filters::parse(bytes, 0).ok());
    let (mut blocks, mut buffers) = (table.data_blocks(), Buffers::default());
    seen.base_lg = filters.map_or(seen.base_lg, |filters| filters.base_lg().min(63));
    let (mut last, mut group) = (None::<Vec<u8>>, None::<(u64, u64)>);
    seen.open = None;
    let before = (seen.settings, seen.ribbon);
    let (mut keys, mut missed) = (0, 0);
    // The first group of a part may have begun before it.
    let mut is_whole = part.start == 0;
    let mut come_so_far = part.start;
    loop {
        let handle = match blocks.next() {
            Ok(Some(block)) => block.handle,
            Ok(None) => break,
            Err(error) => {
                told.wrong(&text::path(&found.path), &error);
                seen.unread += part.end.min(found.len).saturating_sub(come_so_far);
                break;
            }
        };
        if handle.offset < part.start {
            continue;
        }
        if handle.offset >= part.end {
            break;
        }
        let number = filters.map(|filters| filters.number_for(handle.offset));
        if number != group.map(|(number, _)| number) {
            if std::mem::replace(&mut is_whole, true) {
                end_group(seen, filters.as_ref(), group);
            }
            group = number.map(|number| (number, 0));
        }
        let mut kind = [0];
        let end = handle.offset + handle.size;
        come_so_far = end;
        let is_known = table.reader().read_at(end, &mut kind).is_ok();
        let Ok(contents) = table.read_data(handle, &mut buffers) else {
            seen.unread_blocks += 1;
            seen.unread += handle.size;
            group = None;
            continue;
        };
        let filter = filters.and_then(|filters| filters.filter_for(handle.offset));
        let (mut entries, mut start, restarts) = (contents.entries(), 0, contents.restart_points());
        let mut in_block = 0;
        while let Ok(Some(entry)) = entries.next() {
            in_block += 1;
            start = entry.at;
            let Some(key) = table.keys().parse(entry.key) else { continue };
            if let Some(filter) = filter.filter(|_| keys < JUDGED) {
                keys += 1;
                missed += u64::from(!key_may_match(key.user_key, filter));
            }
            let is_old = last.as_deref() == Some(key.user_key);
            // Where no MANIFEST says how keys are sorted.
            feed.asking.bytewise &= last.as_deref().is_none_or(|last| last <= key.user_key);
            if !is_old {
                let last = last.get_or_insert_default();
                last.clear();
                last.extend_from_slice(key.user_key);
            }
            if !is_old && key.kind == KeyKind::Value {
                feed.add(key.user_key, key.sequence, entry.value);
            }
        }
        if let Some((_, entries)) = &mut group {
            *entries += in_block;
        }
        let len = buffers.contents_len();
        seen.block(len, start + 4 * restarts + 4);
        seen.blocks += 1;
        seen.entries += in_block;
        seen.restarts += restarts as u64;
        if is_known && kind[0] != 0 {
            seen.compression = kind[0];
        }
        come_to(end);
    }
    if part.end >= found.len {
        end_group(seen, filters.as_ref(), group);
    }
    // Somebody's own filters may be LevelDB's all the same: then all keys match.
    let name = number.and_then(|number| Some(&*table.filters().get(number)?.policy));
    let foreign = !matches!(name, None | Some(POLICY_NAME | OTHER_NAME));
    if foreign && (missed > 0 || keys < 20) || is_another_format(keys, missed) {
        (seen.settings, seen.ribbon) = before;
        seen.odd = true;
    }
}

/// So many keys of a part tell whether its filters are of LevelDB's format.
const JUDGED: u64 = 1000;

fn end_group(seen: &mut Seen, filters: Option<&Filters<'_>>, group: Option<(u64, u64)>) {
    let Some((number, keys)) = group.filter(|(_, keys)| *keys > 0) else { return };
    let filter = usize::try_from(number).ok().and_then(|number| filters?.filter(number));
    let Some((&last, bits)) = filter.and_then(<[u8]>::split_last) else { return };
    seen.filters += 1;
    match last {
        32..=239 => {
            let bits = i32::from(last) / 16 - 1;
            let (least, most) = seen.ribbon.unwrap_or((bits, bits));
            seen.ribbon = Some((least.min(bits), most.max(bits)));
        }
        // They match every key.
        0 | 31 | 240.. => seen.odd = true,
        probes => seen.settings.saw(bits.len() as u64 * 8, probes.into(), keys),
    }
}
