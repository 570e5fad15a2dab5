//! Any bytes as table files: read to the end or refused, and filters answer as LevelDB would.

#![no_main]

use bloom::{Key, Ribbon};
use leveldb_bloom_fuzz::Input;
use libfuzzer_sys::fuzz_target;
use table::{
    Block, Buffers, Codec, Compression, Filters, MAGIC, Part, Portable, Refusal, Table,
    decompress_snappy,
};

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let (way, key) = (input.byte(), input.piece());
    read_filters(&filter_block(&mut input), key);
    let mut file = input.rest().to_vec();
    if way & 1 == 0 {
        // A fuzzer does not guess 8 bytes.
        file.extend(MAGIC.to_le_bytes());
    }
    if way & 2 == 0 {
        read(&file, Unchecked, key);
    } else {
        read(&file, Portable, key);
    }
    // Each part by itself, which few files as a whole would reach.
    read_filters(&file, key);
    let mut output = Vec::new();
    if decompress_snappy(&file, 1 << 20, &mut output).is_ok() {
        assert!(output.len() <= file.len() * 64, "snappy gives 64 times as much at most");
    }
    if let Ok(block) = Block::parse(&file, Part::Data, 0) {
        read_block(&block, file.len());
    }
});

/// A checksum is right if its four bytes are zeros: a fuzzer does not compute them.
struct Unchecked;

impl Codec for Unchecked {
    fn decompress(
        &self,
        compression: Compression,
        input: &[u8],
        limit: usize,
        output: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        Portable.decompress(compression, input, limit.min(1 << 20), output)
    }

    fn crc32c(&self, _bytes: &[u8]) -> u32 {
        0u32.wrapping_sub(0xa282_ead8).rotate_left(15)
    }
}

fn read(file: &[u8], codec: impl Codec, key: &[u8]) {
    let Ok(mut table) = Table::open(file, codec) else { return };
    table.look_at_keys();
    let mut buffers = Buffers::default();
    let (mut blocks, mut read, mut end) = (table.data_blocks(), 0, 0);
    while let Ok(Some(block)) = blocks.next() {
        read += 1;
        assert!(block.handle.offset >= end, "blocks do not overlap");
        end = block.handle.end().expect("the end of a block");
        assert!(end <= file.len() as u64);
        if let Ok(block) = table.read_data(block.handle, &mut buffers) {
            read_block(&block, 1 << 20);
        }
    }
    assert!(read <= file.len(), "a block takes five bytes at least");
    let _ = table.block_for(key);
    for number in 0..table.filters().len() {
        if let Ok(contents) = table.read_filters(number) {
            read_filters(&contents, key);
        }
    }
    assert!(table.read_filters(table.filters().len()).is_err());
}

/// A filter block as it should be, with any filters; or nearly.
fn filter_block(input: &mut Input) -> Vec<u8> {
    let (mut contents, mut offsets) = (Vec::new(), Vec::new());
    for _ in 0..input.up_to(5) {
        offsets.extend((contents.len() as u32).to_le_bytes());
        contents.extend(input.piece());
    }
    let end = (contents.len() as u32).to_le_bytes();
    contents.extend(offsets);
    contents.extend(end);
    contents.push(input.byte());
    contents
}

/// An entry takes three bytes at least.
fn read_block(block: &Block, len: usize) {
    let (mut entries, mut read) = (block.entries(), 0);
    while let Ok(Some(_)) = entries.next() {
        read += 1;
        assert!(read <= len, "more entries than bytes");
    }
}

fn read_filters(contents: &[u8], key: &[u8]) {
    let Ok(filters) = Filters::parse(contents, 0) else { return };
    assert_eq!(filters.is_empty(), filters.filter(0).is_none());
    for number in 0..filters.len() {
        let range = filters.range(number).expect("a range of each filter");
        assert_eq!(filters.filter(number), contents.get(range));
        let Some(offset) = (number as u64).checked_mul(1 << filters.base_lg()) else { break };
        assert_eq!(filters.number_for(offset), number as u64);
        let filter = filters.filter_for(offset).expect("a filter for each place");
        // LevelDB takes a ribbon for one that may hold any key.
        let expected = match Ribbon::parse(filter).map(|ribbon| ribbon.probe(key)) {
            Some(probe) => probe.sum == probe.wanted,
            None => compare::query(&[Key::new(key)], filter)[0],
        };
        assert_eq!(filters.may_match(offset, key), expected, "{key:x?} {filter:x?}");
    }
    assert!(filters.filter(filters.len()).is_none() && filters.filter(usize::MAX).is_none());
    assert!(filters.may_match(u64::MAX, key) || filters.base_lg() > 31, "read without a filter");
}
