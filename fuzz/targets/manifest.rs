//! MANIFESTs: what a database wrote is what is read, up to where the log is cut; and any bytes get
//! an answer, in memory that is a small multiple of theirs.

#![no_main]

use std::collections::BTreeMap;
use std::io;

use leveldb_bloom_fuzz::Input;
use leveldb_bloom_fuzz::manifest::{Stored, Version, replay};
use leveldb_bloom_fuzz::printable::printable;
use libfuzzer_sys::fuzz_target;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const BLOCK: usize = 32 << 10;
const HEADER: usize = 7;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    match input.byte() % 4 {
        0 => drop(read(input.rest())),
        // A fuzzer does not compute checksums.
        1 => {
            let mut log = Vec::new();
            while !input.is_empty() {
                let (kind, len) = (input.byte(), input.up_to(300));
                append_piece(&mut log, kind, input.take(len));
            }
            drop(read(&log));
        }
        2 => {
            let mut log = Vec::new();
            append(&mut log, input.rest());
            drop(read(&log));
        }
        _ => changes(&mut input),
    }
});

fn read(log: &[u8]) -> io::Result<Version> {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let result = replay(&mut &log[..]);
    let taken = MEMORY.peak_usage() - before;
    assert!(taken <= 2 * BLOCK + 32 * log.len(), "{taken} bytes of memory for {}", log.len());
    result
}

/// What changes add up to.
#[derive(Default)]
struct Expected {
    comparator: Option<String>,
    /// Level, bytes, smallest key and largest.
    tables: BTreeMap<u64, (u32, u64, [Stored; 2])>,
    /// The numbers that every MANIFEST has.
    numbers: [bool; 3],
}

/// Records of changes, read up to any byte.
fn changes(input: &mut Input) {
    let (way, cut) = (input.byte(), input.up_to(0xffff));
    let cut = if way & 1 == 0 { usize::MAX } else { cut };
    let (mut log, mut expected) = (Vec::new(), Expected::default());
    let mut record = Vec::new();
    if way & 2 == 0 {
        // The block ends somewhere in what follows.
        let name = vec![b'x'; BLOCK - 100 + input.up_to(0xff)];
        record.push(1);
        append_sized(&mut record, &name);
        append(&mut log, &record);
        if log.len() <= cut {
            expected.comparator = String::from_utf8(name).ok();
        }
    }
    while !input.is_empty() && log.len() <= cut {
        record.clear();
        let mut changes = Expected::default();
        let mut deleted = Vec::new();
        loop {
            match input.byte() % 8 {
                0 => break,
                1 => {
                    let name = input.piece();
                    record.push(1);
                    append_sized(&mut record, name);
                    changes.comparator = Some(printable(&String::from_utf8_lossy(name)));
                }
                2 => {
                    for tag in 2..=4 {
                        record.push(tag);
                        append_varint(&mut record, input.u64());
                    }
                    changes.numbers = [true; 3];
                }
                3 => {
                    let tag = input.byte() % 3;
                    record.push(2 + tag);
                    append_varint(&mut record, input.byte().into());
                    changes.numbers[usize::from(tag)] = true;
                }
                4 => {
                    // Where a compaction ended, and the number of the log before: nothing for us.
                    record.push(5);
                    append_varint(&mut record, input.up_to(6) as u64);
                    append_sized(&mut record, &[input.piece(), b"sequence"].concat());
                    record.push(9);
                    append_varint(&mut record, input.byte().into());
                }
                5 => {
                    let (level, number) = (input.up_to(3) as u32, number(input));
                    record.push(6);
                    append_varint(&mut record, level.into());
                    append_varint(&mut record, number);
                    deleted.push((level, number));
                }
                _ => {
                    let (level, number) = (input.up_to(3) as u32, number(input));
                    record.push(7);
                    append_varint(&mut record, level.into());
                    append_varint(&mut record, number);
                    let size = input.byte().into();
                    append_varint(&mut record, size);
                    let keys = [input.piece(), input.piece()];
                    let keys = keys
                        .map(|key| Stored { user_key: key.to_vec(), sequence: input.u64() >> 8 });
                    for Stored { user_key, sequence } in &keys {
                        let tag = (sequence << 8 | 1).to_le_bytes();
                        append_sized(&mut record, &[&user_key[..], &tag].concat());
                    }
                    changes.tables.insert(number, (level, size, keys));
                }
            }
        }
        append(&mut log, &record);
        if log.len() > cut {
            break;
        }
        // LevelDB deletes first, whatever a record names first.
        for (level, number) in deleted {
            if expected.tables.get(&number).is_some_and(|table| table.0 == level) {
                expected.tables.remove(&number);
            }
        }
        expected.tables.append(&mut changes.tables);
        expected.comparator = changes.comparator.or(expected.comparator);
        for (seen, now) in expected.numbers.iter_mut().zip(changes.numbers) {
            *seen |= now;
        }
    }
    compare(read(&log[..log.len().min(cut)]), expected);
}

fn compare(result: io::Result<Version>, expected: Expected) {
    if expected.numbers != [true; 3] {
        assert!(result.is_err(), "a MANIFEST without its numbers");
        return;
    }
    let version = result.expect("what a database writes");
    assert_eq!(version.comparator, expected.comparator);
    assert_eq!(version.tables.len(), expected.tables.len());
    for ((number, found), (expected_number, table)) in version.tables.iter().zip(&expected.tables) {
        let (level, size, [smallest, largest]) = table;
        assert_eq!((number, found.level, found.size), (expected_number, *level, *size));
        assert_eq!((&*found.smallest, &*found.largest), (smallest, largest));
    }
}

/// Few numbers, so that tables are moved and deleted; now and then any.
fn number(input: &mut Input) -> u64 {
    match input.byte() {
        255 => input.u64(),
        number => (number % 8).into(),
    }
}

/// Adds a record, in pieces that end with their block, as LevelDB's log does.
fn append(log: &mut Vec<u8>, mut record: &[u8]) {
    let mut first = true;
    loop {
        let left = BLOCK - log.len() % BLOCK;
        if left < HEADER {
            log.resize(log.len() + left, 0);
            continue;
        }
        let (piece, rest) = record.split_at(record.len().min(left - HEADER));
        let kind = match (first, rest.is_empty()) {
            (true, true) => 1,
            (true, false) => 2,
            (false, false) => 3,
            (false, true) => 4,
        };
        append_piece(log, kind, piece);
        if rest.is_empty() {
            return;
        }
        (record, first) = (rest, false);
    }
}

fn append_piece(log: &mut Vec<u8>, kind: u8, data: &[u8]) {
    let crc = crc32c::crc32c_append(crc32c::crc32c(&[kind]), data);
    log.extend(crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
    log.extend((data.len() as u16).to_le_bytes());
    log.push(kind);
    log.extend(data);
}

fn append_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn append_sized(bytes: &mut Vec<u8>, data: &[u8]) {
    append_varint(bytes, data.len() as u64);
    bytes.extend(data);
}
