//! Reads LevelDB's table files (`.ldb`, `.sst`), their filters above all.
//!
//! ```text
//! data block ... data block | filter block | metaindex block | index block | footer
//! ```
//!
//! The footer, the last 48 bytes, says where the index and the metaindex are. The index has one
//! entry for each data block; the metaindex names the filter block by its policy. Each block is
//! followed by 5 bytes: how it is compressed, and a checksum.
//!
//! ```
//! use leveldb_bloom_table::{Filters, Portable, Table};
//!
//! fn policies(file: &[u8]) -> Result<(), leveldb_bloom_table::Error> {
//!     let table = Table::open(file, Portable)?;
//!     for number in 0..table.filters().len() {
//!         let bytes = table.read_filters(number)?;
//!         let filters = Filters::parse(&bytes, table.filters()[number].handle.offset)?;
//!         let first = filters.filter(0);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! The bytes come from anything that is [`ReadAt`]: a slice, or a file that a program reads piece
//! by piece. Decompression and checksums come from a [`Codec`]; [`Portable`] knows snappy, which is
//! what a small program needs, and a large one brings faster code and more methods of compression.
//!
//! # Malformed input
//! Any bytes at all may be given. What cannot be read is an [`Error`] with the place and what was
//! expected there. No length in a file is believed before it is compared with what is there: memory
//! stays below [`MAX_BLOCK_LEN`] for a block, and time is linear in the bytes read. [`Entries`]
//! says what a caller may do with keys so that this is true of the caller, too.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod block;
mod bytes;
mod codec;
mod error;
mod filters;
mod footer;
mod key;
mod read;
mod snappy;
mod table;

pub use block::{Block, Comparison, Entries, Entry, MAX_EXPANSION};
pub use codec::{Codec, Compression, Portable, Refusal};
pub use error::{Error, Kind, Part};
pub use filters::{FILTER_BASE_LG, FilterName, Filters, is_another_format};
pub use footer::{BlockHandle, FOOTER_LEN, Footer, MAGIC, TRAILER_LEN};
pub use key::{InternalKey, KeyFormat, KeyKind};
pub use read::ReadAt;
pub use snappy::decompress_snappy;
pub use table::{Buffers, DataBlock, DataBlocks, MAX_BLOCK_LEN, Table};
