//! Whole tables: read, and then with every byte damaged.

use leveldb_bloom::{FilterPolicy, POLICY_NAME};
use leveldb_bloom_table::{
    Block, BlockHandle, Buffers, Codec, Compression, Error, Filters, Footer, InternalKey, Kind,
    MAGIC, MAX_BLOCK_LEN, MAX_EXPANSION, Part, Portable, ReadAt, Table,
};

fn varint(mut value: u64, into: &mut Vec<u8>) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

fn block(entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut block = Vec::new();
    let mut restarts = vec![0];
    let mut before: &[u8] = b"";
    for (i, (key, value)) in entries.iter().enumerate() {
        let mut shared = key.iter().zip(before).take_while(|(a, b)| a == b).count();
        if i % 3 == 0 {
            shared = 0;
            if i != 0 {
                restarts.push(block.len() as u32);
            }
        }
        varint(shared as u64, &mut block);
        varint((key.len() - shared) as u64, &mut block);
        varint(value.len() as u64, &mut block);
        block.extend(&key[shared..]);
        block.extend(value);
        before = key;
    }
    for word in restarts.iter().chain([&(restarts.len() as u32)]) {
        block.extend(word.to_le_bytes());
    }
    block
}

/// As snappy's format has it, without looking for anything that repeats.
fn snappy(contents: &[u8]) -> Vec<u8> {
    let mut stored = Vec::new();
    varint(contents.len() as u64, &mut stored);
    for piece in contents.chunks(60) {
        stored.push((piece.len() as u8 - 1) << 2);
        stored.extend(piece);
    }
    stored
}

fn append(contents: &[u8], compress: bool, file: &mut Vec<u8>) -> BlockHandle {
    let mut stored = if compress { snappy(contents) } else { contents.to_vec() };
    let handle = BlockHandle { offset: file.len() as u64, size: stored.len() as u64 };
    stored.push(u8::from(compress));
    let masked = Portable.crc32c(&stored).rotate_right(15).wrapping_add(0xa282_ead8);
    file.extend(stored);
    file.extend(masked.to_le_bytes());
    handle
}

fn handle_bytes(handle: BlockHandle) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint(handle.offset, &mut bytes);
    varint(handle.size, &mut bytes);
    bytes
}

fn internal(user_key: &[u8], sequence: u64) -> Vec<u8> {
    let mut key = user_key.to_vec();
    key.extend((sequence << 8 | 1).to_le_bytes());
    key
}

fn user_key(number: u32) -> Vec<u8> {
    format!("key{number:05}").into_bytes()
}

/// A block of a key of `len` bytes and others that share all but an end with the one before, which
/// is given with its value.
fn sharing(len: usize, ends: impl Iterator<Item = (Vec<u8>, Vec<u8>)>) -> Vec<u8> {
    let (mut block, mut shared) = (Vec::new(), 0);
    for (end, value) in ends {
        let first = if shared == 0 { vec![b'k'; len] } else { Vec::new() };
        varint(shared as u64, &mut block);
        varint((first.len() + end.len()) as u64, &mut block);
        varint(value.len() as u64, &mut block);
        block.extend([first, end, value].concat());
        shared = len;
    }
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}

const KEYS: u32 = 30;
const KEYS_A_BLOCK: u32 = 10;

/// A filter for each 256 bytes, so that blocks of about 500 leave slots empty, as LevelDB's blocks
/// of 4 KB do, in a file that is short enough to damage every byte of.
const BASE_LG: u8 = 8;

fn table(compress: bool) -> Vec<u8> {
    let policy = FilterPolicy::new(10);
    let mut file = Vec::new();
    let (mut index, mut filters) = (Vec::new(), Vec::new());
    let mut offsets: Vec<u32> = Vec::new();
    for first in (0..KEYS).step_by(KEYS_A_BLOCK as usize) {
        let keys: Vec<_> = (first..first + KEYS_A_BLOCK).map(user_key).collect();
        let entries: Vec<_> = keys.iter().map(|key| (internal(key, 7), vec![b'v'; 30])).collect();
        let number = file.len() >> BASE_LG;
        offsets.resize(number, filters.len() as u32);
        offsets.push(filters.len() as u32);
        policy.append_filter(&keys, &mut filters).unwrap();
        let handle = append(&block(&entries), compress, &mut file);
        index.push((entries.last().unwrap().0.clone(), handle_bytes(handle)));
    }
    offsets.push(filters.len() as u32);
    let offsets: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    let filters = [&filters[..], &offsets, &[BASE_LG]].concat();
    let filters = append(&filters, false, &mut file);
    let name = format!("filter.{POLICY_NAME}").into_bytes();
    let metaindex = append(&block(&[(name, handle_bytes(filters))]), compress, &mut file);
    let index = append(&block(&index), compress, &mut file);
    file.extend(footer(metaindex, index));
    file
}

fn footer(metaindex: BlockHandle, index: BlockHandle) -> Vec<u8> {
    let mut footer = [handle_bytes(metaindex), handle_bytes(index)].concat();
    footer.resize(40, 0);
    footer.extend(MAGIC.to_le_bytes());
    footer
}

/// All that can be read of a table: its keys, and the keys that its filters lost.
fn read(file: &[u8]) -> Result<(Vec<Vec<u8>>, usize), Error> {
    let table = Table::open(file, Portable)?;
    let contents = table.read_filters(0)?;
    let filters = Filters::parse(&contents, table.filters()[0].handle.offset)?;
    let mut buffers = Buffers::default();
    let (mut keys, mut lost) = (Vec::new(), 0);
    let mut blocks = table.data_blocks();
    while let Some(block) = blocks.next()? {
        let handle = block.handle;
        let mut entries = table.read_data(handle, &mut buffers)?.entries();
        while let Some(entry) = entries.next()? {
            let key = InternalKey::parse(entry.key).map_or(entry.key, |key| key.user_key);
            lost += usize::from(!filters.may_match(handle.offset, key));
            keys.push(key.to_vec());
        }
    }
    Ok((keys, lost))
}

#[test]
fn keys_filters_and_blocks() {
    for compress in [false, true] {
        let file = table(compress);
        let keys: Vec<_> = (0..KEYS).map(user_key).collect();
        assert_eq!(read(&file), Ok((keys, 0)));

        let table = Table::open(&file[..], Portable).unwrap();
        assert_eq!(table.filters().len(), 1);
        assert_eq!(table.filters()[0].policy, POLICY_NAME);
        assert_eq!(table.other_filters().count(), 0);
        let contents = table.read_filters(0).unwrap();
        let filters = Filters::parse(&contents, 0).unwrap();
        let empty = (0..filters.len()).filter(|&i| filters.filter(i) == Some(b"")).count();
        assert_eq!(filters.len() - empty, (KEYS / KEYS_A_BLOCK) as usize);
        assert!(empty > 0 && table.read_filters(1).is_err());

        let mut buffers = Buffers::default();
        for number in 0..KEYS {
            let key = user_key(number);
            let handle = table.block_for(&key).unwrap().unwrap();
            let mut entries = table.read_data(handle, &mut buffers).unwrap().entries();
            let mut found = false;
            while let Some(entry) = entries.next().unwrap() {
                found |= InternalKey::parse(entry.key).unwrap().user_key == key;
            }
            assert!(found, "{number}");
        }
        assert_eq!(table.block_for(b"key99999"), Ok(None));
    }
}

/// Between `a` and `c` LevelDB may part two blocks by a `b` of its own making, which is before each
/// entry of a key `b`.
#[test]
fn a_key_that_parts_two_blocks_is_looked_up_in_the_second() {
    const MAX_SEQUENCE: u64 = (1 << 56) - 1;
    for (sequence, expected) in [(MAX_SEQUENCE, 1), (7, 0)] {
        let mut file = Vec::new();
        let blocks =
            [(internal(b"a", 7), internal(b"b", sequence)), (internal(b"c", 7), internal(b"c", 7))];
        let handles = blocks
            .each_ref()
            .map(|(key, _)| append(&block(&[(key.clone(), Vec::new())]), false, &mut file));
        let index: Vec<_> = blocks
            .iter()
            .zip(handles)
            .map(|((_, last), handle)| (last.clone(), handle_bytes(handle)))
            .collect();
        let metaindex = append(&block(&[]), false, &mut file);
        let index = append(&block(&index), false, &mut file);
        file.extend(footer(metaindex, index));
        let table = Table::open(&file[..], Portable).unwrap();
        assert_eq!(table.block_for(b"b"), Ok(Some(handles[expected])));
        assert_eq!(table.block_for(b"a"), Ok(Some(handles[0])));
    }
}

/// Each byte in turn becomes another one. What is protected by a checksum or by the footer's magic
/// number must be noticed; the rest must have an answer.
#[test]
fn damage_is_noticed() {
    for compress in [false, true] {
        let mut file = table(compress);
        let sound = read(&file);
        let padding = file.len() - 48..file.len() - 8;
        for at in 0..file.len() {
            for flipped in [0x01, 0x80, 0xff] {
                file[at] ^= flipped;
                let result = read(&file);
                assert!(result.is_err() || padding.contains(&at), "byte {at} ^ {flipped:02x}");
                file[at] ^= flipped;
            }
        }
        assert_eq!(read(&file), sound);
    }
}

#[test]
fn damage_is_found_where_it_is() {
    let mut file = table(false);
    let (mut places, end) = (Vec::new(), file.len() - 48);
    {
        let table = Table::open(&file[..], Portable).unwrap();
        let mut blocks = table.data_blocks();
        while let Some(block) = blocks.next().unwrap() {
            places.push((Part::Data, block.handle));
        }
        places.push((Part::Filter, table.filters()[0].handle));
        places.push((Part::Metaindex, table.footer().metaindex));
        places.push((Part::Index, table.footer().index));
    }
    assert_eq!(places.last().unwrap().1.end(), Some(end as u64));
    for (part, handle) in places {
        file[handle.offset as usize] ^= 1;
        let error = read(&file).unwrap_err();
        assert_eq!((error.part, error.offset), (part, handle.offset), "{error}");
        assert!(matches!(error.kind, Kind::Checksum { .. }), "{error}");
        let name = ["footer", "metaindex block", "index block", "filter block", "data block"];
        assert!(error.to_string().contains(name[part as usize]), "{error}");
        file[handle.offset as usize] ^= 1;
    }
}

/// A block of more than a gigabyte, in a file that is said to have it: it is refused before there
/// is any memory for it.
#[test]
fn a_block_that_is_too_large_is_not_read() {
    #[derive(Debug)]
    struct Sparse([u8; 48]);
    impl ReadAt for Sparse {
        fn len(&self) -> u64 {
            1 << 40
        }
        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), String> {
            assert_eq!((offset, buffer.len()), ((1 << 40) - 48, 48), "only the footer");
            buffer.copy_from_slice(&self.0);
            Ok(())
        }
    }
    let size = MAX_BLOCK_LEN as u64 + 1;
    let large = BlockHandle { offset: 7, size };
    let footer = footer(large, large).try_into().unwrap();
    let error = Table::open(Sparse(footer), Portable).unwrap_err();
    assert_eq!((error.part, error.offset), (Part::Index, 7));
    assert_eq!(error.kind, Kind::TooLarge { len: size, limit: MAX_BLOCK_LEN as u64 });
}

/// With checksums out of the way, all that parses the contents sees damage too.
#[test]
fn damage_with_right_checksums_has_an_answer() {
    struct AnyChecksum;
    impl Codec for AnyChecksum {
        fn decompress(
            &self,
            compression: leveldb_bloom_table::Compression,
            input: &[u8],
            limit: usize,
            output: &mut Vec<u8>,
        ) -> Result<(), leveldb_bloom_table::Refusal> {
            Portable.decompress(compression, input, limit, output)
        }
        /// The CRC whose stored form is 0, which is what `file` below has everywhere.
        fn crc32c(&self, _: &[u8]) -> u32 {
            0u32.wrapping_sub(0xa282_ead8).rotate_left(15)
        }
    }
    let walk = |file: &[u8]| -> Result<usize, Error> {
        let table = Table::open(file, AnyChecksum)?;
        let mut keys = 0;
        let mut buffers = Buffers::default();
        let contents = table.read_filters(0)?;
        let filters = Filters::parse(&contents, 0)?;
        let mut blocks = table.data_blocks();
        while let Some(block) = blocks.next()? {
            let handle = block.handle;
            let mut entries = table.read_data(handle, &mut buffers)?.entries();
            while let Some(entry) = entries.next()? {
                keys += usize::from(filters.may_match(handle.offset, entry.key));
            }
        }
        Ok(keys)
    };
    for compress in [false, true] {
        let mut file = table(compress);
        let opened = Table::open(&file[..], Portable).unwrap();
        let mut handles =
            vec![opened.footer().index, opened.footer().metaindex, opened.filters()[0].handle];
        let mut blocks = opened.data_blocks();
        while let Some(block) = blocks.next().unwrap() {
            handles.push(block.handle);
        }
        for handle in handles {
            let end = handle.end().unwrap() as usize;
            file[end - 4..end].fill(0);
        }
        walk(&file).unwrap();
        let mut wrong = 0;
        for at in 0..file.len() {
            for flipped in [0x01, 0x04, 0x40, 0x80, 0xff] {
                file[at] ^= flipped;
                wrong += usize::from(walk(&file).is_err());
                file[at] ^= flipped;
            }
        }
        assert!(wrong > 100, "{wrong}");
    }
}

#[test]
fn truncation_is_noticed() {
    let file = table(true);
    for len in 0..file.len() {
        assert!(read(&file[..len]).is_err(), "{len}");
    }
    let error = read(&file[..20]).unwrap_err();
    assert_eq!((error.part, error.kind), (Part::Footer, Kind::Short { needed: 48, found: 20 }));
    let error = read(&[b'x'; 100]).unwrap_err();
    assert_eq!((error.part, error.offset), (Part::Footer, 92));
}

/// A handle that says 2^60 bytes must not take memory.
#[test]
fn lengths_are_not_believed() {
    let mut file = table(false);
    let end = file.len() - 48;
    let index = Table::open(&file[..], Portable).unwrap().footer().index;
    let huge = BlockHandle { offset: 0, size: 1 << 60 };
    let mut footer = [handle_bytes(huge), handle_bytes(index)].concat();
    footer.resize(40, 0);
    file[end..end + 40].copy_from_slice(&footer);
    // LevelDB reads a table without its metaindex, and so without its filters.
    let opened = Table::open(&file[..], Portable).unwrap();
    let error = opened.metaindex_error().unwrap();
    assert!(matches!(error.kind, Kind::Handle { of: Part::Metaindex, .. }), "{error}");
    assert!(opened.filters().is_empty() && opened.preferred_filters().is_none());
    assert_eq!(&opened.read_filters(0).unwrap_err(), error);
    assert!(opened.block_for(&user_key(1)).unwrap().is_some());

    let mut footer = [handle_bytes(opened.footer().index), handle_bytes(huge)].concat();
    footer.resize(40, 0);
    file[end..end + 40].copy_from_slice(&footer);
    let error = Table::open(&file[..], Portable).unwrap_err();
    assert!(matches!(error.kind, Kind::Handle { of: Part::Index, .. }), "{error}");
    for (offset, size, end) in [
        (u64::MAX, u64::MAX, None),
        (0, u64::MAX - 4, None),
        (u64::MAX - 4, 0, None),
        (2, u64::MAX - 7, Some(u64::MAX)),
    ] {
        assert_eq!(BlockHandle { offset, size }.end(), end);
    }
    assert!(Block::parse(&[], Part::Data, u64::MAX).is_err());
}

/// An index that names a block over and over would make a reader read it as often.
#[test]
fn blocks_do_not_overlap() {
    let mut file = Vec::new();
    let entries: Vec<_> =
        (0..3).map(|number| (internal(&user_key(number), 7), Vec::new())).collect();
    let data = append(&block(&entries), false, &mut file);
    let metaindex = append(&block(&[]), false, &mut file);
    let same: Vec<_> = entries.iter().map(|(key, _)| (key.clone(), handle_bytes(data))).collect();
    let index = append(&block(&same), false, &mut file);
    let mut footer = [handle_bytes(metaindex), handle_bytes(index)].concat();
    footer.resize(40, 0);
    file.extend(footer);
    file.extend(MAGIC.to_le_bytes());
    let table = Table::open(&file[..], Portable).unwrap();
    let mut blocks = table.data_blocks();
    assert_eq!(blocks.next().unwrap().unwrap().handle, data);
    let error = blocks.next().unwrap_err();
    assert!(matches!(error.kind, Kind::Handle { of: Part::Data, .. }), "{error}");
    assert!(blocks.next().is_err());
    assert!(table.block_for(&user_key(9)).is_err());

    // Nor is the metaindex a data block.
    let start = file.len() - 48;
    file.truncate(start);
    let index = append(&block(&[(internal(b"key", 7), handle_bytes(metaindex))]), false, &mut file);
    file.extend(self::footer(metaindex, index));
    let table = Table::open(&file[..], Portable).unwrap();
    let error = table.data_blocks().next().unwrap_err();
    let (of, handle, to) = (Part::Data, metaindex, metaindex.offset);
    assert_eq!(error.kind, Kind::Handle { of, handle, from: 0, to });
}

/// What comes behind damage in an index is not what was written either.
#[test]
fn there_are_no_blocks_behind_damage_in_an_index() {
    let sound = |number| (internal(&user_key(number), 7), number);
    for (damaged, kind) in [
        ((b"7 bytes".to_vec(), 1), "a key of at least 8 bytes"),
        ((internal(&user_key(1), 7), 9), "a block's offset and size"),
    ] {
        let mut file = Vec::new();
        let handles = [0, 1, 2].map(|_| handle_bytes(append(b"\0\0\0\0", false, &mut file)));
        let value = |of: u32| handles.get(of as usize).cloned().unwrap_or(vec![0x80]);
        let entries = [sound(0), damaged, sound(2)].map(|(key, of)| (key, value(of)));
        let metaindex = append(&block(&[]), false, &mut file);
        let index = append(&block(&entries), false, &mut file);
        file.extend(footer(metaindex, index));
        let table = Table::open(&file[..], Portable).unwrap();
        let mut blocks = table.data_blocks();
        assert_eq!(blocks.next().unwrap().unwrap().handle.offset, 0);
        let error = blocks.next().unwrap_err();
        assert!(error.to_string().contains(kind), "{error}");
        assert!(!matches!(blocks.next(), Ok(Some(_))), "{kind}");
    }
}

/// The index may end where the footer begins, and no later.
#[test]
fn the_index_is_before_the_footer() {
    let metaindex = BlockHandle { offset: 1000, size: 300 };
    for (size, fits) in [(95, true), (96, false)] {
        let index = BlockHandle { offset: 2000, size };
        let bytes = footer(metaindex, index).try_into().unwrap();
        let found = Footer::parse(&bytes, 2100 + 48);
        if fits {
            assert_eq!(found, Ok(Footer { metaindex, index }));
        } else {
            // Behind the two bytes of each of the metaindex's numbers.
            let error = found.unwrap_err();
            let kind = Kind::Handle { of: Part::Index, handle: index, from: 0, to: 2100 };
            assert_eq!((error.offset, error.kind), (2100 + 4, kind));
        }
    }
}

#[test]
fn lengths_once_decompressed() {
    let mut file = Vec::new();
    let contents = block(&[(internal(b"key", 7), vec![b'v'; 500])]);
    let data = append(&contents, true, &mut file);
    let metaindex = append(&block(&[]), false, &mut file);
    let entries = block(&[(internal(b"key", 7), handle_bytes(data))]);
    let index = append(&entries, true, &mut file);
    file.extend(footer(metaindex, index));
    let (reader, mut buffers) = (&file[..], Buffers::default());
    assert_eq!((ReadAt::len(reader), ReadAt::is_empty(reader)), (file.len() as u64, false));
    assert!(ReadAt::is_empty(&b""[..]));
    // A reader and a codec that others have, too.
    let table = Table::open(&reader, &Portable).unwrap();
    assert_eq!(table.index_len(), entries.len());
    table.read_data(data, &mut buffers).unwrap();
    assert_eq!(buffers.contents_len(), contents.len());
    assert!(data.size as usize != contents.len() && index.size as usize != entries.len());
}

#[test]
fn methods_of_compression_have_their_numbers() {
    let zstd = b"\x28\xb5\x2f\xfd\x20";
    for (byte, stored, found, said) in [
        (0, &b""[..], Compression::None, "none"),
        (1, b"", Compression::Snappy, "snappy"),
        (2, zstd, Compression::Zstd, "zstd"),
        (2, b"\x78\x9c", Compression::Zlib, "zlib"),
        // Riak's LZ4: how long the block is, big-endian, before the frame.
        (2, b"\0\0\x10\0\x33abc", Compression::Other(2), "unknown 2"),
        (2, b"", Compression::Other(2), "unknown 2"),
        (3, b"", Compression::Other(3), "unknown 3"),
        (4, b"", Compression::RawDeflate, "deflate"),
        (255, zstd, Compression::Other(255), "unknown 255"),
    ] {
        assert_eq!(Compression::of(byte, stored), found);
        assert_eq!(found.to_string(), said);
    }
}

type MadeFor = fn(&[u8]) -> &[u8];

/// A table of one block with these stored keys, with or without a filter for what `made_for` makes of each, and with
/// a name in the metaindex.
fn of_keys(keys: &[Vec<u8>], made_for: Option<MadeFor>, name: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let entries: Vec<_> = keys.iter().map(|key| (key.clone(), b"v".to_vec())).collect();
    let data = append(&block(&entries), false, &mut file);
    let mut names = Vec::new();
    if let Some(made_for) = made_for {
        let keys: Vec<_> = keys.iter().map(|key| made_for(key)).collect();
        let mut contents = FilterPolicy::new(10).create_filter(&keys).unwrap();
        let start = contents.len() as u32;
        contents.extend([0, start].map(u32::to_le_bytes).concat());
        contents.push(11);
        let filters = append(&contents, false, &mut file);
        names.push((format!("filter.{POLICY_NAME}").into_bytes(), handle_bytes(filters)));
    }
    names.push((name.to_vec(), handle_bytes(data)));
    let metaindex = append(&block(&names), false, &mut file);
    let index = block(&[(keys.last().unwrap().clone(), handle_bytes(data))]);
    let index = append(&index, false, &mut file);
    file.extend(footer(metaindex, index));
    file
}

#[test]
fn how_keys_are_stored_is_found_out() {
    type Keys = Vec<Vec<u8>>;
    let words: Keys = (100..150).map(|i| format!("word{i}").into_bytes()).collect();
    let short: Keys = (100..150).map(|i| format!("{i}").into_bytes()).collect();
    // A prefix and 8 bytes, which could be a database's.
    let numbers: Keys = (0..50u64).map(|i| [b"id:", &i.to_be_bytes()[..]].concat()).collect();
    let one = vec![numbers[7].clone()];
    let databases: Keys = (0..50).map(|i| internal(&user_key(i), 7)).collect();
    // From new to old.
    let versions: Keys = (0..50).map(|i| internal(b"key", 100 - i)).collect();
    let damaged: Keys = [&databases[..20], &words[..1], &databases[20..]].concat();
    let whole: Option<MadeFor> = Some(|key| key);
    let user: Option<MadeFor> = Some(|key| &key[..key.len().saturating_sub(8)]);
    let neither: Option<MadeFor> = Some(|key| &key[..key.len() / 2]);
    use leveldb_bloom_table::KeyFormat::{Internal, Plain};
    for (i, (keys, made_for, expected)) in [
        (&words, whole, Plain),
        (&words, None, Plain),
        (&words, neither, Plain),
        (&short, whole, Plain),
        (&short, None, Plain),
        (&numbers, whole, Plain),
        (&numbers, None, Plain),
        (&one, whole, Plain),
        (&databases, user, Internal),
        (&databases, None, Internal),
        (&databases, neither, Internal),
        (&versions, user, Internal),
        (&versions, None, Internal),
        (&damaged, user, Internal),
        (&damaged, None, Internal),
    ]
    .into_iter()
    .enumerate()
    {
        let file = of_keys(keys, made_for, b"other");
        let mut table = Table::open(&file[..], Portable).unwrap();
        assert_eq!(table.keys(), Internal);
        table.look_at_keys();
        assert_eq!(table.keys(), expected, "case {i}");
        if expected == Plain {
            let mut blocks = table.data_blocks();
            assert_eq!(blocks.next().unwrap().unwrap().last_key, &keys[keys.len() - 1][..]);
            assert!(table.block_for(&keys[0]).unwrap().is_some());
            let key = table.keys().parse(b"a").unwrap();
            assert_eq!((key.user_key, key.sequence), (&b"a"[..], 0));
        }
    }
}

#[test]
fn who_wrote_a_table_is_told_by_its_metaindex() {
    let keys: Vec<_> = (0..5).map(|i| internal(&user_key(i), 7)).collect();
    for (name, maker) in [
        ("rocksdb.properties", Some("RocksDB")),
        ("stats.sst1", Some("Riak's LevelDB")),
        ("stats", None),
        ("filter.rocksdb.BuiltinBloomFilter", None),
    ] {
        let file = of_keys(&keys, None, name.as_bytes());
        assert_eq!(Table::open(&file[..], Portable).unwrap().maker(), maker, "{name}");
    }
}

/// What is only not read here is no damage.
#[test]
fn damage_is_told_from_what_is_not_read() {
    let error = |kind| Error { part: Part::Data, offset: 0, inside: None, kind };
    let rocksdb = Kind::Magic { found: 0x88e2_41b7_85f4_cff7 };
    for kind in [
        Kind::TooLarge { len: 2, limit: 1 },
        Kind::NoMemory { len: 2 },
        Kind::KeysExpand { len: 2 },
        Kind::Compression { found: Compression::Other(5) },
        rocksdb,
    ] {
        assert!(!error(kind.clone()).is_damage(), "{kind:?}");
    }
    for kind in [
        Kind::Magic { found: 1 },
        Kind::Checksum { stored: 1, computed: 2 },
        Kind::Decompression { method: "zstd", expected: "" },
        Kind::Expected("something"),
    ] {
        assert!(error(kind.clone()).is_damage(), "{kind:?}");
    }
}

/// Keys that take a thousand times the index, each of which is copied by whoever keeps the last.
#[test]
fn an_index_does_not_expand_without_bound() {
    let mut file = Vec::new();
    let handles: Vec<_> = (0..5000).map(|_| append(b"\0\0\0\0", false, &mut file)).collect();
    let metaindex = append(&block(&[]), false, &mut file);
    let ends = handles
        .iter()
        .enumerate()
        .map(|(i, handle)| (internal(format!("{i:04}").as_bytes(), 7), handle_bytes(*handle)));
    // So long that twice the limit's number of keys are the limit to the byte.
    let of_ends = sharing(100_000, ends.clone()).len() - 8 - 100_000;
    let contents = sharing(of_ends - 24, ends);
    let index = append(&contents, false, &mut file);
    file.extend(footer(metaindex, index));
    let table = Table::open(&file[..], Portable).unwrap();
    let (mut blocks, mut seen) = (table.data_blocks(), 0);
    let error = loop {
        match blocks.next() {
            Ok(block) => seen += block.expect("an error").last_key.len() as u64,
            Err(error) => break error,
        }
    };
    assert!(matches!(error.kind, Kind::KeysExpand { .. }), "{error}");
    // Less the 8 bytes of LevelDB's own in each, which count.
    assert_eq!(seen, MAX_EXPANSION * (contents.len() - 8) as u64 - 2 * MAX_EXPANSION * 8);
    let text = error.to_string();
    assert!(text.contains("1024 times the block's length, though LevelDB reads more"), "{text}");
    assert!(blocks.next().is_err());
}

/// Names that take a thousand times the metaindex would take as much memory, if each were kept.
#[test]
fn names_take_no_more_room_than_the_metaindex() {
    for (len, count, owns) in [(10_000, 5000, 1), (0, 5000, 1), (0, 1, 5000)] {
        let mut file = Vec::new();
        let data = append(&block(&[(internal(b"key", 7), Vec::new())]), false, &mut file);
        let filters = handle_bytes(append(b"\0\0\0\0\x0b", false, &mut file));
        let name =
            |i: usize| [&b"filter.k"[..], &vec![b'k'; len], format!("{i:04}").as_bytes()].concat();
        let own = format!("filter.{POLICY_NAME}").into_bytes();
        // One after another as they are sorted, each sharing what it can.
        let (mut contents, mut before) = (Vec::new(), Vec::new());
        for key in (0..count).map(name).chain(std::iter::repeat_n(own, owns)) {
            let shared = key.iter().zip(&before).take_while(|(a, b)| a == b).count();
            varint(shared as u64, &mut contents);
            varint((key.len() - shared) as u64, &mut contents);
            varint(filters.len() as u64, &mut contents);
            contents.extend(&key[shared..]);
            contents.extend(&filters);
            before = key;
        }
        contents.extend([0, 0, 0, 0, 1, 0, 0, 0]);
        let metaindex = append(&contents, false, &mut file);
        let index = append(&block(&[(internal(b"key", 7), handle_bytes(data))]), false, &mut file);
        file.extend(footer(metaindex, index));
        let table = Table::open(&file[..], Portable).unwrap();
        assert_eq!(table.metaindex_error(), None);
        let names = table.filters();
        let room: usize = names.iter().map(|name| name.policy.len()).sum();
        assert!((2..=101).contains(&names.len()), "{}", names.len());
        assert!(room <= contents.len() + POLICY_NAME.len(), "{room} of {}", contents.len());
        // LevelDB looks for its own, and finds it.
        assert_eq!(names[table.preferred_filters().unwrap()].policy, POLICY_NAME);
        assert_eq!(table.other_filters().count(), names.len() - 1);
    }
}
