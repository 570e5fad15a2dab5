//! How blocks are decompressed and checked.

use alloc::vec::Vec;
use core::fmt;

use crc::{CRC_32_ISCSI, Crc, Table};

/// How a block is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compression {
    /// As it is.
    None,
    /// By snappy.
    Snappy,
    /// By zstd.
    Zstd,
    /// By zlib, in Minecraft's LevelDB.
    Zlib,
    /// By raw deflate, in Minecraft's LevelDB.
    RawDeflate,
    /// By a method of this number that is none of these.
    Other(u8),
}

impl Compression {
    /// What the byte behind a block says. The number 2 is zstd's, zlib's in Minecraft's LevelDB, and LZ4's in
    /// Riak's: the first bytes of what is stored tell.
    #[must_use]
    pub fn of(byte: u8, stored: &[u8]) -> Self {
        match (byte, stored) {
            (0, _) => Compression::None,
            (1, _) => Compression::Snappy,
            (2, [0x28, 0xb5, 0x2f, 0xfd, ..]) => Compression::Zstd,
            // RFC 1950, without a dictionary.
            (2, &[method, flags, ..])
                if method & 0x8f == 8
                    && flags & 0x20 == 0
                    && u16::from_be_bytes([method, flags]) % 31 == 0 =>
            {
                Compression::Zlib
            }
            (4, _) => Compression::RawDeflate,
            (other, _) => Compression::Other(other),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::None => "none",
            Compression::Snappy => "snappy",
            Compression::Zstd => "zstd",
            Compression::Zlib => "zlib",
            Compression::RawDeflate => "deflate",
            Compression::Other(number) => return write!(f, "unknown {number}"),
        })
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
