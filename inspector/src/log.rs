//! Logs: what a MANIFEST is, and what holds the writes that are in no table yet.
//!
//! A log is a list of records, in pieces that do not cross from one block of 32 KiB to the next, each
//! with a checksum.

use std::io::{self, Read};

/// A piece's header does not cross blocks either.
pub const BLOCK: usize = 32 << 10;
pub const HEADER: usize = 7;

pub struct Records<R> {
    log: R,
    /// What is left of the block.
    left: usize,
    at: u64,
}

impl<R: Read> Records<R> {
    pub fn new(log: R) -> Self {
        Records { log, left: BLOCK, at: 0 }
    }

    /// Replaces `record` by the next one; false at the end. `damage` is told where something is wrong,
    /// and what was expected; if it returns no error, that is left out as LevelDB leaves it out.
    pub fn next(
        &mut self,
        record: &mut Vec<u8>,
        damage: &mut dyn FnMut(u64, &'static str) -> io::Result<()>,
    ) -> io::Result<bool> {
        record.clear();
        let mut begun = false;
        loop {
            if self.left < HEADER {
                if !self.skip_block()? {
                    return Ok(false);
                }
                self.left = BLOCK;
            }
            let at = self.at;
            let mut header = [0; HEADER];
            if !self.fill(&mut header)? {
                return Ok(false);
            }
            let [c0, c1, c2, c3, l0, l1, kind] = header;
            let len = usize::from(u16::from_le_bytes([l0, l1]));
            self.left -= HEADER;
            // A log may be prepared with zeros beyond what was written, up to the block's end.
            if kind == 0 && len == 0 {
                if begun {
                    damage(at, "expected the next piece of a record")?;
                }
                (begun, *record) = (false, Vec::new());
                if !self.skip_block()? {
                    return Ok(false);
                }
                continue;
            }
            if len > self.left {
                // In a block that is cut off itself, LevelDB takes the record for cut off.
                if !self.skip_block()? {
                    return Ok(false);
                }
                damage(at, "expected a record that ends in its block")?;
                (begun, *record) = (false, Vec::new());
                continue;
            }
            let start = record.len();
            record.resize(start + len, 0);
            if !self.fill(&mut record[start..])? {
                return Ok(false);
            }
            self.left -= len;
            let stored = u32::from_le_bytes([c0, c1, c2, c3]);
            let computed = crc32c::crc32c_append(crc32c::crc32c(&[kind]), &record[start..]);
            if stored != computed.rotate_right(15).wrapping_add(0xa282_ead8) {
                // Its length may be wrong, too.
                damage(at, "checksum mismatch")?;
                (begun, *record) = (false, Vec::new());
                if !self.skip_block()? {
                    return Ok(false);
                }
                continue;
            }
            // 1 is a whole record; others come in pieces: 2, 3 any number of times, 4. Old versions
            // of LevelDB left an empty 2 at a block's end, and began anew in the next one.
            match (kind, begun && start > 0) {
                (1, false) => return Ok(true),
                (4, _) if begun => return Ok(true),
                (2, false) => begun = true,
                (3, _) if begun => {}
                (1 | 2, true) => {
                    damage(at, "expected the next piece of a record")?;
                    record.drain(..start);
                    if kind == 1 {
                        return Ok(true);
                    }
                }
                (_, in_pieces) => {
                    damage(
                        at,
                        match in_pieces {
                            true => "expected the next piece of a record",
                            false => "expected the beginning of a record",
                        },
                    )?;
                    (begun, *record) = (false, Vec::new());
                }
            }
        }
    }

    /// False if the log ends before the block does.
    fn skip_block(&mut self) -> io::Result<bool> {
        let left = std::mem::take(&mut self.left) as u64;
        let skipped = io::copy(&mut self.log.by_ref().take(left), &mut io::sink())?;
        self.at += skipped;
        Ok(skipped == left)
    }

    /// False if the log ends before `bytes` does.
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<bool> {
        match self.log.read_exact(bytes) {
            Ok(()) => {
                self.at += bytes.len() as u64;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Key, sequence number, and the value, which a deletion has not.
type Write<'a> = (&'a [u8], u64, Option<&'a [u8]>);

/// The writes in a record of a database's log, in order.
pub struct Batch<'a> {
    rest: &'a [u8],
    sequence: u64,
    left: u32,
}

impl<'a> Batch<'a> {
    /// `None` where the record is too short for one.
    pub fn new(record: &'a [u8]) -> Option<Self> {
        let (sequence, rest) = record.split_first_chunk()?;
        let (left, rest) = rest.split_first_chunk()?;
        let (sequence, left) = (u64::from_le_bytes(*sequence), u32::from_le_bytes(*left));
        Some(Batch { rest, sequence, left })
    }

    /// `Some(None)` where the bytes are no write.
    pub fn next(&mut self) -> Option<Option<Write<'a>>> {
        if self.left == 0 && self.rest.is_empty() {
            return None;
        }
        let write = self.write().filter(|_| self.left > 0);
        self.left = match write {
            Some(_) => self.left - 1,
            None => {
                self.rest = &[];
                0
            }
        };
        self.sequence = self.sequence.wrapping_add(1);
        Some(write)
    }

    fn write(&mut self) -> Option<Write<'a>> {
        let (&kind, rest) = self.rest.split_first()?;
        self.rest = rest;
        let key = bytes(&mut self.rest)?;
        let value = match kind {
            0 => None,
            1 => Some(bytes(&mut self.rest)?),
            _ => return None,
        };
        Some((key, self.sequence, value))
    }
}

pub fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Bytes behind their length.
pub fn bytes<'a>(record: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(varint(record)?).ok()?;
    let (bytes, rest) = record.split_at_checked(len)?;
    *record = rest;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_its_writes() {
        let record =
            [&[7, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0][..], b"\x01\x01a\x02bc\x00\x01d"].concat();
        let mut batch = Batch::new(&record).unwrap();
        assert_eq!(batch.next(), Some(Some((&b"a"[..], 7, Some(&b"bc"[..])))));
        assert_eq!(batch.next(), Some(Some((&b"d"[..], 8, None))));
        assert_eq!(batch.next(), None);
        for len in 0..record.len() {
            let Some(mut batch) = Batch::new(&record[..len]) else {
                assert!(len < 12);
                continue;
            };
            let all: Vec<_> = std::iter::from_fn(|| batch.next()).collect();
            assert!(all.len() <= 2 && all.last() == Some(&None), "{len}: {all:?}");
        }
        let more = [&record[..], b"\x00\x01e"].concat();
        let mut batch = Batch::new(&more).unwrap();
        assert_eq!(std::iter::from_fn(|| batch.next()).filter(Option::is_none).count(), 1);
    }
}
