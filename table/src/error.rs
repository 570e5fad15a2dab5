//! What is wrong with a file, and where.

use alloc::string::String;
use core::fmt;

use crate::block::MAX_EXPANSION;
use crate::{BlockHandle, Compression};

/// The last 8 bytes of RocksDB's tables, which have LevelDB's names and another footer.
const ROCKSDB_MAGIC: u64 = 0x88e2_41b7_85f4_cff7;

/// A part of a table file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The last 48 bytes.
    Footer,
    /// The block that says where the filters are.
    Metaindex,
    /// The block that says where the data blocks are.
    Index,
    /// The block with the filters.
    Filter,
    /// A block with keys and values.
    Data,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Footer => "footer",
            Part::Metaindex => "metaindex block",
            Part::Index => "index block",
            Part::Filter => "filter block",
            Part::Data => "data block",
        })
    }
}

/// A file, or a part of it, that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The part that was being read.
    pub part: Part,
    /// Where that part, or the place in it, is in the file.
    pub offset: u64,
    /// For a place inside a block: how far into the block's contents, decompressed.
    pub inside: Option<u64>,
    /// What is wrong there.
    pub kind: Kind,
}

/// What was expected, and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The file could not be read at all, for this reason of the system's.
    Read(String),
    /// The file is too short.
    Short {
        /// The bytes needed.
        needed: u64,
        /// The bytes there are.
        found: u64,
    },
    /// The last 8 bytes are not a table's.
    Magic {
        /// The bytes, as a little-endian number.
        found: u64,
    },
    /// A block's offset and size do not fit where it may lie.
    Handle {
        /// The part that the handle is for.
        of: Part,
        /// The handle.
        handle: BlockHandle,
        /// The first byte where the block and its trailer may lie.
        from: u64,
        /// The end of the bytes where they may lie.
        to: u64,
    },
    /// A block is, or says it would be, larger than [`MAX_BLOCK_LEN`](crate::MAX_BLOCK_LEN).
    TooLarge {
        /// The size.
        len: u64,
        /// The largest that is read.
        limit: u64,
    },
    /// A block's bytes are not the ones that were written.
    Checksum {
        /// The checksum in the file.
        stored: u32,
        /// The checksum of the bytes.
        computed: u32,
    },
    /// There is no memory for a block.
    NoMemory {
        /// Its size, as far as it is known.
        len: u64,
    },
    /// A block is compressed in a way that the [`Codec`](crate::Codec) does not know.
    Compression {
        /// The method.
        found: Compression,
    },
    /// A compressed block is not what its method makes.
    Decompression {
        /// The method.
        method: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// Something else was expected here.
    Expected(&'static str),
    /// Keys that take more than [`MAX_EXPANSION`] times the room of the block they are in, where
    /// all of them have to be looked at, each as a whole. LevelDB has no such limit.
    KeysExpand {
        /// Their length so far.
        len: u64,
    },
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Read(reason) => f.write_str(reason),
            Kind::Short { needed, found } => {
                write!(f, "expected at least {needed} bytes, found {found}")
            }
            Kind::Magic { found } => write!(
                f,
                "expected the magic number {:016x} of a LevelDB table, found {found:016x}{}",
                crate::MAGIC,
                if *found == ROCKSDB_MAGIC {
                    ", that of RocksDB, whose tables are not read here"
                } else {
                    ""
                }
            ),
            Kind::Handle { of, handle, from, to } => write!(
                f,
                "expected a {of} and its trailer within bytes {from} to {to}, found one of {} bytes at \
                 {}",
                handle.size, handle.offset
            ),
            Kind::TooLarge { len, limit } => {
                write!(f, "not read: expected a block of at most {limit} bytes, found one of {len}")
            }
            Kind::Checksum { stored, computed } => write!(
                f,
                "checksum mismatch: expected {stored:08x} as stored, found bytes of {computed:08x}"
            ),
            Kind::NoMemory { len } => {
                write!(f, "not read: there is no memory for this block of {len} bytes")
            }
            Kind::Compression { found: Compression::Other(number) } => write!(
                f,
                "not read: expected a compression of LevelDB's, found {number} of another program (2 is LZ4 in \
                 Riak's LevelDB; 2, 4 and 7 are zlib, LZ4 and zstd in RocksDB)"
            ),
            Kind::Compression { found } => {
                write!(f, "not read: expected a compression that is read here, found {found}")
            }
            Kind::Decompression { method, expected } => write!(f, "{method}: expected {expected}"),
            Kind::Expected(what) => write!(f, "expected {what}"),
            Kind::KeysExpand { len } => write!(
                f,
                "not read: expected keys of at most {MAX_EXPANSION} times the block's length, though LevelDB reads \
                 more, found {len} bytes of them by prefix compression"
            ),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.part, self.offset)?;
        if let Some(inside) = self.inside {
            write!(f, ", byte {inside} of its contents")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl Error {
    /// Whether something is wrong with the file. Otherwise it is only not read here: it is too large, or another
    /// program's.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        !matches!(
            self.kind,
            Kind::TooLarge { .. }
                | Kind::NoMemory { .. }
                | Kind::KeysExpand { .. }
                | Kind::Compression { .. }
                | Kind::Magic { found: ROCKSDB_MAGIC }
        )
    }
}

impl core::error::Error for Error {}
