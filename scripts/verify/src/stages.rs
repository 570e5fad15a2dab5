//! What is compared: three spaces in full, and then at random. Each stage is cut into units that
//! depend on the seed and their number alone.

use std::iter::once;

use fastrand::Rng;

use crate::compare::{Bench, Difference};
use crate::doors::{Keys, MAX_BITS_PER_KEY};
use crate::leveldb::Slice;
use crate::memory::{Guarded, PAGE};

type Compared = Result<(), Box<Difference>>;

pub struct Stage {
    pub name: &'static str,
    /// What the document says about it.
    pub description: &'static str,
    /// `None`: as many as there is time for.
    pub units: Option<u64>,
    pub run: fn(&mut Bench, &mut Memory, &mut Rng, u64) -> Compared,
}

pub const STAGES: [Stage; 4] = [
    Stage {
        name: "malformed filters",
        description: "every filter length from 0 to 300 bytes with every last byte from 0 to 255, \
                      over bits that are random, dense, all set and all clear, each filter ending \
                      where readable memory does, asked for keys of 0 to 63 bytes",
        units: Some(301),
        run: malformed_filters,
    },
    Stage {
        name: "bits per key",
        description: "every bits_per_key from 0 to 1000 with 0 to 40 keys and some larger numbers: \
                      the size, the number of probes and every bit",
        units: Some(MAX_BITS_PER_KEY as u64 + 1),
        run: bits_per_key,
    },
    Stage {
        name: "key lengths and places",
        description: "every key length from 0 to 600 bytes at every alignment from 0 to 63, ending \
                      0 to 63 bytes before an unreadable page, beginning 0 to 63 bytes after one, \
                      and across a page boundary at every one of its bytes; among keys of its \
                      length, and of others",
        units: Some(601),
        run: key_lengths,
    },
    Stage {
        name: "random",
        description: "random policies, keys and filters, whole, corrupted and made up; each through every kernel, \
                      by its doors in turn",
        units: None,
        run: random,
    },
];

/// How many filters a random unit asks.
const FILTERS: usize = 8;
/// How many keys it asks each of them for.
const ASKED: usize = 512;
/// The most bits a random filter has.
const MAX_BITS: usize = 1 << 23;

/// A thread's memory for keys and for filters.
pub struct Memory {
    keys: Guarded,
    filters: Vec<Guarded>,
}

impl Memory {
    pub fn new() -> Memory {
        Memory {
            keys: Guarded::new(16 * PAGE),
            filters: (0..FILTERS).map(|_| Guarded::new(MAX_BITS / 8 + PAGE)).collect(),
        }
    }
}

/// Puts each filter at an end of memory of its own.
fn put<'m>(memory: &'m mut [Guarded], filters: &[Vec<u8>], at_end: bool) -> Vec<Slice<'m>> {
    let placed = memory.iter_mut().zip(filters);
    placed.map(|(memory, filter)| Slice::new(memory.put(filter, at_end))).collect()
}

fn malformed_filters(bench: &mut Bench, memory: &mut Memory, rng: &mut Rng, unit: u64) -> Compared {
    let length = unit as usize;
    let pool = memory.keys.all();
    rng.fill(pool);
    let keys: Keys = (0..64).map(|length| &pool[length * 100..][..length]).collect();
    for probes in 0..=255 {
        let mut filters = vec![vec![0u8; length]; 4];
        rng.fill(&mut filters[0]);
        filters[1].iter_mut().for_each(|byte| *byte = rng.u8(..) | rng.u8(..) | rng.u8(..));
        filters[2].fill(0xff);
        for last in filters.iter_mut().filter_map(|filter| filter.last_mut()) {
            *last = probes;
        }
        bench.answers(10, &keys, &put(&mut memory.filters, &filters, true))?;
    }
    Ok(())
}

fn bits_per_key(bench: &mut Bench, memory: &mut Memory, rng: &mut Rng, unit: u64) -> Compared {
    let bits = unit as u32;
    let pool = memory.keys.all();
    rng.fill(pool);
    for count in (0..=40).chain([63, 64, 65, 127, 128, 129, 500]) {
        let length = [16, 20, 8, 33][count % 4];
        let keys: Keys =
            (0..count).map(|i| &pool[i * 40..][..length + i % 2 * (count % 3)]).collect();
        let filter = bench.filters(bits, &[], &keys)?;
        let asked: Keys =
            (0..8).map(|i| &pool[(count + i).saturating_sub(4) * 40..][..length]).collect();
        bench.answers(bits, &asked, &put(&mut memory.filters, &[filter], true))?;
    }
    Ok(())
}

fn key_lengths(bench: &mut Bench, memory: &mut Memory, rng: &mut Rng, unit: u64) -> Compared {
    let length = unit as usize;
    let pool = memory.keys.all();
    rng.fill(pool);
    let end = pool.len();
    let aligned = (0..64).map(|place| 4 * PAGE + place);
    let before_unreadable = (0..64).map(|place| end - length - place);
    let after_unreadable = 0..64;
    let across = (0..=length).map(|place| 8 * PAGE - place);
    let starts = aligned.chain(before_unreadable).chain(after_unreadable).chain(across);
    let keys: Vec<&[u8]> = starts.map(|start| &pool[start..start + length]).collect();
    for key in &keys {
        // 30 probes in 100 bits: a wrong hash cannot hide.
        bench.filters(100, &[], &once(*key).collect())?;
    }
    let even = bench.filters(10, &[], &keys.iter().copied().step_by(2).collect())?;
    let all: Keys = keys.iter().copied().collect();
    bench.filters(7, &[], &all)?;
    // Keys of one length and of many take different ways through a kernel.
    let other = &pool[..length % 7 + 1];
    let mixed: Keys =
        keys.chunks(3).flat_map(|keys| once(other).chain(keys.iter().copied())).collect();
    bench.filters(7, &[], &mixed)?;
    let after_one: Keys = once(other).chain(keys.iter().copied().skip(1)).collect();
    bench.filters(10, &[], &after_one)?;
    let filters = put(&mut memory.filters, &[even], true);
    bench.answers(10, &all, &filters)?;
    bench.answers(10, &mixed, &filters)
}

fn random(bench: &mut Bench, memory: &mut Memory, rng: &mut Rng, _: u64) -> Compared {
    let pool = memory.keys.all();
    fill_pool(rng, pool);
    let source = KeySource::new(rng, pool);

    let bits = match rng.u8(..10) {
        0..=5 => rng.u32(..=50),
        6..=8 => rng.u32(..=120),
        _ => rng.u32(..=MAX_BITS_PER_KEY),
    };
    let most = match rng.u16(..400) {
        0..100 => 8,
        100..250 => 100,
        250..397 => 600,
        397..399 => 5_000,
        _ => 60_000,
    };
    let count = rng.usize(..=most).min(MAX_BITS / (bits as usize).max(64));
    let mut keys: Vec<&[u8]> = Vec::with_capacity(count);
    for i in 0..count {
        keys.push(if i > 0 && rng.u8(..20) == 0 { keys[rng.usize(..i)] } else { source.key(rng) });
    }
    let mut prefix = [0; 40];
    rng.fill(&mut prefix);
    let prefix_length = if rng.bool() { 0 } else { rng.usize(..prefix.len()) };

    let made = bench.filters(bits, &prefix[..prefix_length], &keys.iter().copied().collect())?;
    let filters = put_variants(rng, &mut memory.filters, &made);

    let asked: Keys = (0..ASKED)
        .map(|_| if rng.bool() && count > 0 { keys[rng.usize(..count)] } else { source.key(rng) })
        .collect();
    bench.answers(bits, &asked, &filters)
}

/// Bytes as keys have them: any, digits, or mostly zeros.
fn fill_pool(rng: &mut Rng, pool: &mut [u8]) {
    rng.fill(pool);
    match rng.u8(..4) {
        0 => pool.iter_mut().for_each(|byte| *byte = b'0' + *byte % 10),
        1 => pool.iter_mut().for_each(|byte| *byte = if *byte < 200 { 0 } else { *byte }),
        _ => {}
    }
}

/// Where the keys of one unit come from.
struct KeySource<'p> {
    pool: &'p [u8],
    shortest: usize,
    longest: usize,
}

impl<'p> KeySource<'p> {
    fn new(rng: &mut Rng, pool: &'p [u8]) -> Self {
        let (shortest, longest) = match rng.u8(..16) {
            0..=3 => (16, 16),
            4..=7 => {
                let one = rng.usize(..=40);
                (one, one)
            }
            8..=10 => (0, 8),
            11..=13 => (0, 24),
            14 => (0, 70),
            _ => (0, 300),
        };
        KeySource { pool, shortest, longest }
    }

    fn key(&self, rng: &mut Rng) -> &'p [u8] {
        let length = rng.usize(self.shortest..=self.longest);
        let last = self.pool.len() - length;
        // Now and then one that ends where readable memory does.
        let start = if rng.u8(..64) == 0 { last } else { rng.usize(..=last) };
        &self.pool[start..start + length]
    }
}

/// The filter, and what a broken disk or another program might make of it.
fn put_variants<'m>(rng: &mut Rng, memory: &'m mut [Guarded], made: &[u8]) -> Vec<Slice<'m>> {
    let at_end = rng.u8(..4) != 0;
    let changed = |change: &mut dyn FnMut(&mut Vec<u8>)| {
        let mut filter = made.to_vec();
        change(&mut filter);
        filter
    };
    let other_probes = changed(&mut |filter| *filter.last_mut().unwrap_or(&mut 0) = rng.u8(..=31));
    let front = made[..rng.usize(..=made.len())].to_vec();
    let back = made[rng.usize(..=made.len())..].to_vec();
    let flipped = changed(&mut |filter| {
        for _ in 0..rng.u8(1..=8) {
            let at = rng.usize(..filter.len());
            filter[at] ^= 1 << rng.u8(..8);
        }
    });
    let mut any = vec![0; rng.usize(..=200)];
    rng.fill(&mut any);
    if rng.bool() {
        *any.last_mut().unwrap_or(&mut 0) = rng.u8(1..=8);
    }
    let mut tiny = vec![0xff; rng.usize(..=3)];
    *tiny.last_mut().unwrap_or(&mut 0) = rng.u8(..);
    let mut dense = vec![0; rng.usize(2..=40)];
    dense.iter_mut().for_each(|byte| *byte = rng.u8(..) | rng.u8(..));
    *dense.last_mut().unwrap_or(&mut 0) = rng.u8(1..=30);
    let filters = [made.to_vec(), other_probes, front, back, flipped, any, tiny, dense];
    put(memory, &filters, at_end)
}
