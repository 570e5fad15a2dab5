//! The last 48 bytes of a table.

use crate::bytes::Bytes;
use crate::{Error, Kind, Part};

/// The length of the footer.
pub const FOOTER_LEN: usize = 48;

/// The length of what follows each block: the method of compression and a checksum.
pub const TRAILER_LEN: usize = 5;

/// The last 8 bytes of a table, as a little-endian number.
pub const MAGIC: u64 = 0xdb47_7524_8b80_fb57;

/// Where a block is: its first byte, and its length without the trailer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockHandle {
    /// The first byte.
    pub offset: u64,
    /// The length, as stored.
    pub size: u64,
}

impl BlockHandle {
    /// The byte after the block's trailer. `None` where no u64 can say it.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.size)?.checked_add(TRAILER_LEN as u64)
    }

    /// The handle at the beginning of `bytes`: two varints.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Self::take(&mut Bytes(bytes))
    }

    fn take(bytes: &mut Bytes<'_>) -> Option<Self> {
        Some(BlockHandle { offset: bytes.varint64()?, size: bytes.varint64()? })
    }
}

/// The footer: where the index and the metaindex are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footer {
    /// The block that names the filter block; whether it is within the file was not looked at.
    pub metaindex: BlockHandle,
    /// The block with one entry for each data block.
    pub index: BlockHandle,
}

impl Footer {
    /// Reads the last [`FOOTER_LEN`] bytes of a file of `file_len` bytes.
    ///
    /// # Errors
    /// Where the magic number is another one, or the index would not be within the file.
    pub fn parse(footer: &[u8; FOOTER_LEN], file_len: u64) -> Result<Self, Error> {
        let start = file_len.saturating_sub(FOOTER_LEN as u64);
        let error = |at: usize, kind| Error {
            part: Part::Footer,
            offset: start.saturating_add(at as u64),
            inside: None,
            kind,
        };
        let (handles, magic) = footer.split_at(FOOTER_LEN - 8);
        let found = magic.first_chunk().map_or(0, |magic| u64::from_le_bytes(*magic));
        if found != MAGIC {
            return Err(error(FOOTER_LEN - 8, Kind::Magic { found }));
        }
        let mut bytes = Bytes(handles);
        let mut take = || {
            let at = handles.len() - bytes.0.len();
            let expected = Kind::Expected("a block's offset and size, each of at most ten bytes");
            let handle = BlockHandle::take(&mut bytes).ok_or_else(|| error(at, expected))?;
            Ok((at, handle))
        };
        let ((_, metaindex), (at, index)) = (take()?, take()?);
        match index.end() {
            Some(end) if end <= start => Ok(Footer { metaindex, index }),
            _ => {
                let of = Part::Index;
                Err(error(at, Kind::Handle { of, handle: index, from: 0, to: start }))
            }
        }
    }
}
