//! Other people's filters in Rust.

use std::hint::black_box;

use fastbloom::BloomFilter;
use leveldb_bloom::{FilterPolicy, Key};
use rusty_leveldb::{BloomPolicy, FilterPolicy as _};

use crate::measure::Run;
use crate::work::{Side, Work};

/// rusty-leveldb's policy, whose filters are LevelDB's.
pub struct RustyLevelDb;

/// Keys as its `create_filter` takes them: one after the other, and where each begins.
fn listed(keys: &[Key<'_>]) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    for key in keys {
        offsets.push(bytes.len());
        bytes.extend_from_slice(key.as_bytes());
    }
    (bytes, offsets)
}

impl Side for RustyLevelDb {
    fn name(&self) -> String {
        "rusty-leveldb".into()
    }

    fn is_peer(&self) -> bool {
        true
    }

    fn prepare<'a>(&'a self, work: &'a Work<'a>) -> Option<Run<'a>> {
        match *work {
            Work::Create { keys, per, bits } => {
                let policy = BloomPolicy::new(bits.unsigned_abs());
                let filters: Vec<_> = keys.chunks_exact(per).map(listed).collect();
                Some(Box::new(move || {
                    let lengths = filters
                        .iter()
                        .map(|(bytes, at)| black_box(policy.create_filter(bytes, at)).len());
                    lengths.last().unwrap_or(0)
                }))
            }
            Work::Query { filter, keys, bits, .. } => {
                let policy = BloomPolicy::new(bits.unsigned_abs());
                let one = move |key: &&Key| policy.key_may_match(key.as_bytes(), filter);
                Some(Box::new(move || keys.iter().filter(&one).count()))
            }
            _ => None,
        }
    }
}

/// fastbloom with its default hasher, and as many bits and probes.
pub struct FastBloom;

fn fastbloom(keys: &[Key<'_>], bits_per_key: i32) -> BloomFilter {
    let bits = bits_per_key.unsigned_abs() as usize * keys.len();
    let probes = FilterPolicy::new(bits_per_key).probes();
    let mut filter = BloomFilter::with_num_bits(bits.max(64)).hashes(probes);
    for key in keys {
        filter.insert(key.as_bytes());
    }
    filter
}

impl Side for FastBloom {
    fn name(&self) -> String {
        "fastbloom".into()
    }

    fn is_leveldb(&self) -> bool {
        false
    }

    fn is_peer(&self) -> bool {
        true
    }

    fn prepare<'a>(&'a self, work: &'a Work<'a>) -> Option<Run<'a>> {
        match *work {
            Work::Create { keys, per, bits } => Some(Box::new(move || {
                let filters = keys.chunks_exact(per);
                filters.map(|keys| black_box(fastbloom(keys, bits)).num_bits()).sum()
            })),
            Work::Query { members, keys, bits, .. } => {
                let filter = fastbloom(members, bits);
                let one = move |key: &&Key| filter.contains(key.as_bytes());
                Some(Box::new(move || keys.iter().filter(&one).count()))
            }
            _ => None,
        }
    }
}
