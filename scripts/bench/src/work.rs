//! The rows of the table, and who does their work.

use std::hint::black_box;
use std::ops::RangeInclusive;

use leveldb_bloom::{Encoding, FilterPolicy, Kernel, Key};
use leveldb_bloom_compare::{Policy, Random};

use crate::measure::{self, Figure, Run};

pub const BITS: i32 = 10;
pub const BATCH: usize = 256;

/// Absent keys of a query: a branch predictor learns shorter lists.
const QUERIES: usize = 195 * BATCH;

/// One row. Keys have 16 bytes and 10 bits each unless the name says otherwise.
pub struct Row {
    pub name: &'static str,
    kind: Kind,
    lengths: RangeInclusive<usize>,
    bits: i32,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Filters of so many keys each.
    Create(usize),
    /// One large filter of keys that lie anywhere in memory.
    CreateShuffled(usize),
    /// A filter of so many keys, queried for each of many keys.
    Query(usize, Asked),
    /// The same in batches.
    Batch(usize, Asked),
    /// Each key is a query of eight filters of so many keys.
    EightFilters(usize),
    /// Each key is a query of one of many filters, of so many keys each.
    OneOfMany(usize),
}

#[derive(Clone, Copy, PartialEq)]
enum Asked {
    Present,
    Absent,
    /// Half of them present, in random order: no branch predictor can know.
    Half,
}

/// What all sides are given.
pub enum Work<'a> {
    Create { keys: &'a [Key<'a>], per: usize, bits: i32 },
    Query { members: &'a [Key<'a>], filter: &'a [u8], keys: &'a [Key<'a>], bits: i32 },
    Batch { filter: &'a [u8], keys: &'a [Key<'a>] },
    Filters { filters: &'a [Key<'a>], keys: &'a [Key<'a>] },
    OneOfMany { filters: &'a [Key<'a>], keys: &'a [Key<'a>] },
}

/// Somebody who can do the work.
pub trait Side {
    fn name(&self) -> String;
    /// What is to be timed; `None` if this side cannot do it.
    fn prepare<'a>(&'a self, work: &'a Work<'a>) -> Option<Run<'a>>;
    /// Whether filters and answers are LevelDB's.
    fn is_leveldb(&self) -> bool {
        true
    }
    /// Whether this is somebody else's library.
    fn is_peer(&self) -> bool {
        false
    }
}

const fn row(name: &'static str, kind: Kind) -> Row {
    Row { name, kind, lengths: 16..=16, bits: BITS }
}

const fn mixed(name: &'static str, kind: Kind) -> Row {
    Row { name, kind, lengths: 8..=64, bits: BITS }
}

use Asked::{Absent, Half, Present};
use Kind::{Batch, Create, CreateShuffled, EightFilters, OneOfMany, Query};

pub const ROWS: &[Row] = &[
    row("create, 1 key", Create(1)),
    row("create, 4 keys", Create(4)),
    row("create, 18 keys", Create(18)),
    row("create, 20 keys", Create(20)),
    mixed("create, 20 keys of 8-64 B", Create(20)),
    row("create, 34 keys", Create(34)),
    row("create, 60 keys", Create(60)),
    row("create, 1,000 keys", Create(1_000)),
    mixed("create, 1,000 keys of 8-64 B", Create(1_000)),
    row("create, 100,000 keys", Create(100_000)),
    row("create, 1 million keys", Create(1_000_000)),
    row("create, 10 million keys", Create(10_000_000)),
    row("create, 10 million keys, shuffled", CreateShuffled(10_000_000)),
    row("query, filter of 4, present", Query(4, Present)),
    row("query, filter of 4, absent", Query(4, Absent)),
    row("query, filter of 18, present", Query(18, Present)),
    row("query, filter of 18, absent", Query(18, Absent)),
    row("query, filter of 20, present", Query(20, Present)),
    row("query, filter of 20, absent", Query(20, Absent)),
    row("query, filter of 20, half present", Query(20, Half)),
    mixed("query, filter of 20, keys of 8-64 B, absent", Query(20, Absent)),
    row("query, filter of 60, present", Query(60, Present)),
    row("query, filter of 60, absent", Query(60, Absent)),
    row("query, filter of 1,000, present", Query(1_000, Present)),
    row("query, filter of 1,000, absent", Query(1_000, Absent)),
    Row { bits: 2, ..row("query, filter of 1,000, 2 bits, absent", Query(1_000, Absent)) },
    row("query, one of 4,000 filters of 1,000, present", OneOfMany(1_000)),
    row("batch of 256, filter of 20, present", Batch(20, Present)),
    row("batch of 256, filter of 20, absent", Batch(20, Absent)),
    row("batch of 256, filter of 1,000, present", Batch(1_000, Present)),
    row("batch of 256, filter of 1,000, absent", Batch(1_000, Absent)),
    row("batch of 256, filter of a million, absent", Batch(1_000_000, Absent)),
    row("a key in 8 filters of 20", EightFilters(20)),
];

/// Random bytes, and keys of these lengths one after the other in them.
fn random_bytes(n: usize, lengths: &RangeInclusive<usize>, seed: u64) -> (Vec<u8>, Vec<usize>) {
    let mut random = Random(seed);
    let (shortest, spread) = (*lengths.start(), lengths.end() - lengths.start() + 1);
    let lengths: Vec<usize> = (0..n).map(|_| shortest + random.below(spread)).collect();
    let words = lengths.iter().sum::<usize>().div_ceil(8);
    ((0..words).flat_map(|_| random.next().to_le_bytes()).collect(), lengths)
}

fn cut<'a>((bytes, lengths): &'a (Vec<u8>, Vec<usize>)) -> Vec<Key<'a>> {
    let mut rest = &bytes[..];
    let next = |len: &usize| {
        let (key, others) = rest.split_at(*len);
        rest = others;
        Key::new(key)
    };
    lengths.iter().map(next).collect()
}

impl Row {
    pub fn takes_long(&self) -> bool {
        matches!(self.kind, Create(1_000_000..) | CreateShuffled(_) | OneOfMany(_))
    }

    /// # Errors
    /// A side whose filters or answers are not stock's.
    pub fn measure(&self, sides: &[Box<dyn Side>], rounds: usize) -> Result<Vec<Figure>, String> {
        let Row { kind, lengths, bits, .. } = self;
        let stock = Policy::stock(*bits);
        let count = match *kind {
            // Filters for some hundred microseconds.
            Create(per) => 5_000_usize.next_multiple_of(per),
            OneOfMany(_) => 4_000_000,
            CreateShuffled(n) | Query(n, _) | Batch(n, _) => n,
            EightFilters(n) => 8 * n,
        };
        let (inside, outside) =
            (random_bytes(count, lengths, 7), random_bytes(QUERIES, lengths, 99));
        let (mut members, mut keys, mut random) = (cut(&inside), cut(&outside), Random(3));
        if matches!(kind, CreateShuffled(_)) {
            for i in (1..members.len()).rev() {
                members.swap(i, random.below(i + 1));
            }
        }
        match *kind {
            Query(n, asked @ (Present | Half)) | Batch(n, asked @ (Present | Half)) => {
                for (i, key) in keys.iter_mut().enumerate() {
                    if asked == Present || random.below(2) == 0 {
                        *key = members[i % n];
                    }
                }
            }
            _ => {}
        }
        match *kind {
            Create(per) | CreateShuffled(per) => {
                let work = Work::Create { keys: &members, per, bits: *bits };
                compare(&work, sides, count, rounds)
            }
            Query(..) => {
                let filter = stock.create(&members);
                let work =
                    Work::Query { members: &members, filter: &filter, keys: &keys, bits: *bits };
                compare(&work, sides, keys.len(), rounds)
            }
            Batch(..) => {
                let filter = stock.create(&members);
                compare(&Work::Batch { filter: &filter, keys: &keys }, sides, keys.len(), rounds)
            }
            EightFilters(per) => {
                let filters: Vec<_> = members.chunks(per).map(|keys| stock.create(keys)).collect();
                let filters: Vec<Key> = filters.iter().map(|filter| Key::new(filter)).collect();
                let work = Work::Filters { filters: &filters, keys: &keys };
                compare(&work, sides, keys.len() * filters.len(), rounds)
            }
            OneOfMany(per) => {
                let filters: Vec<_> = members.chunks(per).map(|keys| stock.create(keys)).collect();
                let (len, all) = (filters[0].len(), filters.concat());
                let (mut bytes, mut chosen) = (Vec::new(), Vec::new());
                for _ in 0..QUERIES {
                    let filter = random.below(filters.len());
                    bytes.extend(members[filter * per + random.below(per)].as_bytes());
                    chosen.push(Key::new(&all[filter * len..][..len]));
                }
                let keys: Vec<Key> = bytes.chunks(16).map(Key::new).collect();
                let work = Work::OneOfMany { filters: &chosen, keys: &keys };
                compare(&work, sides, keys.len(), rounds)
            }
        }
    }
}

fn compare(
    work: &Work<'_>,
    sides: &[Box<dyn Side>],
    units: usize,
    rounds: usize,
) -> Result<Vec<Figure>, String> {
    let ready: Vec<_> = sides
        .iter()
        .filter_map(|side| Some((side.name(), side.is_peer(), side.prepare(work)?)))
        .collect();
    let wanted = ready[0].2();
    for (side, (name, _, run)) in sides.iter().filter(|s| s.prepare(work).is_some()).zip(&ready) {
        let found = run();
        if side.is_leveldb() && found != wanted {
            return Err(format!("{name}: {found}, where stock has {wanted}"));
        }
    }
    Ok(measure::compare(ready, units, rounds))
}

/// LevelDB's own policy, through its virtual functions.
pub struct Stock;

impl Side for Stock {
    fn name(&self) -> String {
        "stock".into()
    }

    fn prepare<'a>(&'a self, work: &'a Work<'a>) -> Option<Run<'a>> {
        let policy = |bits| Policy::stock(bits);
        Some(one_by_one(policy, work))
    }
}

/// The work through a policy's virtual functions, for batches and many filters one by one.
pub fn one_by_one<'a, P>(policy: impl Fn(i32) -> P, work: &'a Work<'a>) -> Run<'a>
where
    P: std::ops::Deref<Target = Policy> + 'a,
{
    match *work {
        Work::Create { keys, per, bits } => {
            let policy = policy(bits);
            Box::new(move || policy.create_each(keys, per))
        }
        Work::Query { filter, keys, bits, .. } => {
            let policy = policy(bits);
            Box::new(move || policy.count(keys, filter))
        }
        Work::Batch { filter, keys } => {
            let policy = policy(BITS);
            Box::new(move || policy.count(keys, filter))
        }
        Work::Filters { filters, keys } => {
            let policy = policy(BITS);
            Box::new(move || policy.count_all(keys, filters))
        }
        Work::OneOfMany { filters, keys } => {
            let policy = policy(BITS);
            Box::new(move || policy.count_each(keys, filters))
        }
    }
}

/// A kernel, through the Rust library.
pub struct Ours {
    pub kernel: &'static Kernel,
    pub encoding: Encoding,
}

impl Side for Ours {
    fn name(&self) -> String {
        match self.encoding {
            Encoding::Bloom => self.kernel.name().into(),
            Encoding::Ribbon => format!("ribbon, {}", self.kernel.name()),
        }
    }

    fn is_leveldb(&self) -> bool {
        self.encoding == Encoding::Bloom
    }

    fn prepare<'a>(&'a self, work: &'a Work<'a>) -> Option<Run<'a>> {
        let policy =
            |bits| FilterPolicy::with_kernel(bits, self.kernel).with_encoding(self.encoding);
        if let (false, Work::Query { members, keys, bits, .. }) = (self.is_leveldb(), work) {
            let policy = policy(*bits);
            let filter = policy.create_filter(members).expect("a filter that fits");
            return Some(Box::new(move || {
                keys.iter().filter(|key| policy.key_may_match(key.as_bytes(), &filter)).count()
            }));
        }
        Some(match *work {
            // Of filters that stock made.
            Work::Batch { .. } | Work::Filters { .. } | Work::OneOfMany { .. }
                if !self.is_leveldb() =>
            {
                return None;
            }
            Work::Create { keys, per, bits } => {
                let policy = policy(bits);
                Box::new(move || {
                    let mut filter = Vec::new();
                    for keys in keys.chunks_exact(per) {
                        filter.clear();
                        policy.append_filter(keys, &mut filter).expect("a filter that fits");
                        black_box(&mut filter);
                    }
                    filter.len()
                })
            }
            Work::Query { filter, keys, bits, .. } => {
                let policy = policy(bits);
                let one = move |key: &&Key| policy.key_may_match(key.as_bytes(), filter);
                Box::new(move || keys.iter().filter(one).count())
            }
            Work::Batch { filter, keys } => {
                let policy = policy(BITS);
                Box::new(move || {
                    let mut answers = [false; BATCH];
                    let batch =
                        |keys: &[Key]| policy.keys_may_match(keys, filter, black_box(&mut answers));
                    keys.chunks(BATCH).map(batch).sum()
                })
            }
            Work::Filters { filters, keys } => {
                let policy = policy(BITS);
                Box::new(move || {
                    let mut answers = [false; 8];
                    let all = |key: &Key| {
                        policy.filters_may_match(key.as_bytes(), filters, black_box(&mut answers))
                    };
                    keys.iter().map(all).sum()
                })
            }
            Work::OneOfMany { filters, keys } => {
                let policy = policy(BITS);
                let one = move |(key, filter): &(&Key, &Key)| {
                    policy.key_may_match(key.as_bytes(), filter.as_bytes())
                };
                Box::new(move || keys.iter().zip(filters).filter(one).count())
            }
        })
    }
}
