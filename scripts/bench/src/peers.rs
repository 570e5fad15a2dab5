//! Other people's filters in Rust.

use std::hint::black_box;

use fastbloom::BloomFilter;
use leveldb_bloom::BloomFilterPolicy;
use rusty_leveldb::{BloomPolicy, FilterPolicy};

use crate::keys::Slice;
use crate::side::{Prepared, Side};
use crate::work::{Given, How, Work};

/// rusty-leveldb's policy, whose filters are LevelDB's.
pub struct RustyLevelDb;

/// Keys as its `create_filter` takes them.
struct Listed {
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

impl Listed {
    fn new(keys: &[Slice]) -> Self {
        let mut listed = Listed { bytes: Vec::new(), offsets: Vec::new() };
        for key in keys {
            listed.offsets.push(listed.bytes.len());
            listed.bytes.extend_from_slice(key.as_ref());
        }
        listed
    }
}

impl Side for RustyLevelDb {
    fn name(&self) -> &str {
        "rusty-leveldb"
    }

    fn same_format(&self) -> bool {
        true
    }

    fn prepare<'w>(&'w self, work: &'w Work) -> Option<Prepared<'w>> {
        match work {
            // It takes keys that lie one after the other, and no others.
            Work::Create { keys, per, bits, given: Given::Listed } if keys.in_order => {
                let policy = BloomPolicy::new(bits.unsigned_abs());
                let filters: Vec<Listed> =
                    keys.slices().chunks_exact(*per).map(Listed::new).collect();
                let create = move |keys: &Listed| policy.create_filter(&keys.bytes, &keys.offsets);
                let result = filters.iter().flat_map(&create).collect();
                let run = move || filters.iter().map(|keys| black_box(create(keys)).len()).sum();
                Some(Prepared { run: Box::new(run), result })
            }
            Work::Query { members, asked, bits, how: How::OneByOne } => {
                let policy = BloomPolicy::new(bits.unsigned_abs());
                let listed = Listed::new(members.slices());
                let filter = policy.create_filter(&listed.bytes, &listed.offsets);
                let mut result = filter.clone();
                let one = move |key: &&Slice| policy.key_may_match(key.as_ref(), &filter);
                result.extend(asked.slices().iter().map(|key| u8::from(one(&key))));
                let run = move || asked.slices().iter().filter(&one).count();
                Some(Prepared { run: Box::new(run), result })
            }
            Work::Create { .. }
            | Work::Query { .. }
            | Work::Filters { .. }
            | Work::OneOfMany { .. } => None,
        }
    }
}

/// fastbloom with its default hasher, and as many bits and probes; a format of its own.
pub struct FastBloom;

fn fastbloom(keys: &[Slice], bits_per_key: i32) -> BloomFilter {
    let bits = bits_per_key.unsigned_abs() as usize * keys.len();
    let probes = BloomFilterPolicy::new(bits_per_key).probes();
    let mut filter = BloomFilter::with_num_bits(bits.max(64)).hashes(probes);
    for key in keys {
        filter.insert(key.as_ref());
    }
    filter
}

impl Side for FastBloom {
    fn name(&self) -> &str {
        "fastbloom"
    }

    fn same_format(&self) -> bool {
        false
    }

    fn prepare<'w>(&'w self, work: &'w Work) -> Option<Prepared<'w>> {
        let run: Box<dyn Fn() -> usize> = match work {
            Work::Create { keys, per, bits, given: Given::Listed } => Box::new(move || {
                let filters = keys.slices().chunks_exact(*per);
                filters.map(|keys| black_box(fastbloom(keys, *bits)).num_bits()).sum()
            }),
            Work::Query { members, asked, bits, how: How::OneByOne } => {
                let filter = fastbloom(members.slices(), *bits);
                let one = move |key: &&Slice| filter.contains(key.as_ref());
                assert!(members.slices().iter().all(|key| one(&key)), "fastbloom lost keys");
                Box::new(move || asked.slices().iter().filter(&one).count())
            }
            Work::Create { .. }
            | Work::Query { .. }
            | Work::Filters { .. }
            | Work::OneOfMany { .. } => return None,
        };
        Some(Prepared { run, result: Vec::new() })
    }
}
