//! How blocks are decompressed and checked.

use alloc::vec::Vec;

use crc::{CRC_32_ISCSI, Crc, Table};

/// How a block is stored, by the byte behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As it is.
    None,
    /// By snappy.
    Snappy,
    /// By zstd; by zlib in Minecraft's LevelDB, which has the same number for it.
    Zstd,
    /// By raw deflate, in Minecraft's LevelDB.
    RawDeflate,
    /// By something else.
    Other(u8),
}

impl From<u8> for Compression {
    fn from(byte: u8) -> Self {
        match byte {
            0 => Compression::None,
            1 => Compression::Snappy,
            2 => Compression::Zstd,
            4 => Compression::RawDeflate,
            other => Compression::Other(other),
        }
    }
}

impl From<Compression> for u8 {
    fn from(compression: Compression) -> u8 {
        match compression {
            Compression::None => 0,
            Compression::Snappy => 1,
            Compression::Zstd => 2,
            Compression::RawDeflate => 4,
            Compression::Other(other) => other,
        }
    }
}

/// Why a block was not decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// This method is not known.
    Unknown,
    /// The bytes are not what the method makes.
    Damaged {
        /// The method.
        method: &'static str,
        /// What was expected of the bytes.
        expected: &'static str,
    },
    /// The result would be larger than was allowed.
    TooLarge {
        /// Its size, as far as it is known.
        len: u64,
        /// The largest allowed.
        limit: u64,
    },
    /// There is no memory for the result.
    NoMemory,
}

impl Refusal {
    /// [`Refusal::Damaged`].
    #[must_use]
    pub const fn damaged(method: &'static str, expected: &'static str) -> Self {
        Refusal::Damaged { method, expected }
    }
}

/// Decompression and checksums: a program brings what it has, since the fastest code is neither
/// small nor for every machine.
pub trait Codec {
    /// Replaces `output` by the decompressed `input`, which takes no more than `limit` bytes. Never
    /// called for [`Compression::None`].
    ///
    /// # Errors
    /// Where the method is unknown, `input` damaged, or the result too large.
    fn decompress(
        &self,
        compression: Compression,
        input: &[u8],
        limit: usize,
        output: &mut Vec<u8>,
    ) -> Result<(), Refusal>;

    /// The CRC-32C of `bytes`, unmasked.
    fn crc32c(&self, bytes: &[u8]) -> u32 {
        const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISCSI);
        CRC.checksum(bytes)
    }
}

/// Snappy and checksums by small code that runs anywhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

impl Codec for Portable {
    fn decompress(
        &self,
        compression: Compression,
        input: &[u8],
        limit: usize,
        output: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        match compression {
            Compression::Snappy => crate::decompress_snappy(input, limit, output),
            _ => Err(Refusal::Unknown),
        }
    }
}

impl<C: Codec + ?Sized> Codec for &C {
    fn decompress(
        &self,
        compression: Compression,
        input: &[u8],
        limit: usize,
        output: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        (**self).decompress(compression, input, limit, output)
    }

    fn crc32c(&self, bytes: &[u8]) -> u32 {
        (**self).crc32c(bytes)
    }
}
