//! What is timed.

use std::cell::OnceCell;

use crate::keys::{Keys, Random};

/// One piece of work, the same for every side.
pub enum Work {
    /// Filters of `per` keys each.
    Create { keys: Keys, per: usize, bits: i32, given: Given },
    /// One filter is asked for many keys.
    Query { members: Keys, asked: Keys, bits: i32, how: How },
    /// Many filters are asked for each key.
    Filters { members: Vec<Keys>, asked: Keys },
    /// Each key is asked of one of the filters of `per` members, or of so many copies of each:
    /// `which[i]` for key i. All sides ask those of the first, whose bytes theirs have: otherwise
    /// one side's might be in a cache or in nearer memory, and another's not.
    OneOfMany {
        members: Keys,
        per: usize,
        copies: usize,
        asked: Keys,
        which: Vec<usize>,
        filters: OnceCell<Keys>,
    },
}

/// How the Rust library is given the keys of a filter; others have one way.
#[derive(Clone, Copy, PartialEq)]
pub enum Given {
    /// As slices.
    Listed,
    /// Each key in memory of its own, as the caller has it.
    Owned,
    /// One behind the other, with offsets.
    Flat,
    /// To a builder.
    Built,
}

#[derive(Clone, Copy, PartialEq)]
pub enum How {
    /// Key after key; the answers are counted.
    OneByOne,
    /// The same, of keys that the Rust library has hashed before.
    Hashed,
    /// Each key depends on the answer before.
    Chain,
    /// So many in one call.
    Batch(usize),
    /// So many in one call, one behind the other, with offsets.
    Flat(usize),
}

impl Work {
    /// How many keys, queries or filters a run takes.
    pub fn units(&self) -> usize {
        match self {
            Work::Create { keys, per, .. } => keys.slices().len() / per * per,
            Work::Query { asked, .. } | Work::OneOfMany { asked, .. } => asked.slices().len(),
            Work::Filters { members, asked } => members.len() * asked.slices().len(),
        }
    }
}

/// Filters' bits per key, where nothing else is said.
pub const BITS: i32 = 10;

/// Absent keys of a query: branch predictors learn shorter lists by heart.
pub const ASKED: usize = 195 * BATCH;

pub const BATCH: usize = 256;

/// What the project wants of a row, as stock's time by ours.
#[derive(Clone, Copy, Default)]
pub struct Targets {
    pub portable: Option<f64>,
    pub avx2: Option<f64>,
    pub avx512: Option<f64>,
    pub drop_in: Option<f64>,
}

pub struct Row {
    pub name: &'static str,
    /// What one is: a key, a query, a filter.
    pub unit: &'static str,
    pub targets: Targets,
    /// Takes long, if only to make ready.
    pub long: bool,
    pub make: Box<dyn Fn() -> Work>,
}

/// About as many keys a run as make it some hundred microseconds.
const CREATED: usize = 20_000;

fn create(n: usize, lengths: std::ops::RangeInclusive<usize>, per: usize, bits: i32) -> Work {
    Work::Create { keys: Keys::random(n, lengths, 1), per, bits, given: Given::Listed }
}

/// Keys that are all over memory.
fn scattered(n: usize, seed: u64) -> Keys {
    Keys::random(n, 16..=16, seed).shuffled()
}

fn create_scattered(n: usize, per: usize) -> Work {
    Work::Create { keys: scattered(n, 1), per, bits: BITS, given: Given::Listed }
}

pub fn query(members: Keys, present: bool, bits: i32, how: How, asked: usize) -> Work {
    let asked = if present {
        members.cycled(asked)
    } else {
        let len = members.slices().first().map_or(0, |key| key.as_ref().len());
        Keys::random(asked, len..=len, 99)
    };
    Work::Query { members, asked, bits, how }
}

fn filters(members: usize) -> Work {
    let members = (0..8).map(|i| Keys::random(members, 16..=16, 1000 + i)).collect();
    Work::Filters { members, asked: Keys::random(40_000, 16..=16, 99) }
}

/// As a LevelDB whose filters are in no cache that a core has alone: 5 MB of them, one after the
/// other; or, of so many copies as take some 80 MB, in none at all.
fn one_of_many(per: usize, copies: usize, present: bool) -> Work {
    const MEMBERS: usize = 4_000_000;
    const ASKED: usize = 100_000;
    let members = Keys::random(MEMBERS, 16..=16, 1);
    let (mut random, filters) = (Random(3), MEMBERS / per);
    let which: Vec<usize> = (0..ASKED).map(|_| random.below(filters * copies)).collect();
    let asked = if present {
        let member = |filter: &usize| filter % filters * per + random.below(per);
        members.chosen(which.iter().map(member)).copied()
    } else {
        Keys::random(ASKED, 16..=16, 99)
    };
    Work::OneOfMany { members, per, copies, asked, which, filters: OnceCell::new() }
}

/// The rows of the table, in its order.
pub fn rows() -> Vec<Row> {
    // Targets: of the portable kernel, AVX2, AVX-512; of the drop-in policy, 0 for none.
    let row =
        |name, unit, [portable, avx2, avx512, drop_in]: [f64; 4], make: Box<dyn Fn() -> Work>| {
            let some = |target| (target > 0.0).then_some(target);
            let targets = Targets {
                portable: some(portable),
                avx2: some(avx2),
                avx512: some(avx512),
                drop_in: some(drop_in),
            };
            Row { name, unit, targets, long: false, make }
        };
    let created = |name, targets, per, make: fn(usize) -> Work| {
        row(name, "key", targets, Box::new(move || make(per)))
    };
    let asked_with = |bits, name, targets, members, present, how| {
        let make = move || query(Keys::random(members, 16..=16, 7), present, bits, how, ASKED);
        row(name, "query", targets, Box::new(make))
    };
    let asked = |name, targets, members, present, how| {
        asked_with(BITS, name, targets, members, present, how)
    };
    // Present or absent, each as likely: nobody, neither a branch predictor, can know.
    let asked_half = |bits, name, targets, members, how| {
        let make = move || {
            let members = Keys::random(members, 16..=16, 7);
            let absent = Keys::random(2 * ASKED, 16..=16, 99);
            let asked = members.cycled(2 * ASKED).or(&absent, &mut Random(4));
            Work::Query { members, asked, bits, how }
        };
        row(name, "query", targets, Box::new(make))
    };
    // Keys of one length let a branch predictor know how often the hash's loop turns.
    let asked_mixed = |name, present| {
        let make = move || {
            let members = Keys::random(1_000, 8..=64, 7);
            let asked = if present {
                let mut random = Random(4);
                members.chosen((0..ASKED).map(|_| random.below(1_000)))
            } else {
                Keys::random(ASKED, 8..=64, 99)
            };
            Work::Query { members, asked, bits: BITS, how: How::OneByOne }
        };
        row(name, "query", [1.0; 4], Box::new(make))
    };
    let long = |row: Row| Row { long: true, ..row };
    let asked_scattered = |name, targets, how| {
        let make = move || Work::Query {
            members: Keys::random(1_000, 16..=16, 7),
            asked: scattered(1_000_000, 99).chosen(0..ASKED),
            bits: BITS,
            how,
        };
        long(row(name, "query", targets, Box::new(make)))
    };
    let asked_of_one = |name, per, copies, present| {
        long(row(name, "query", [1.0; 4], Box::new(move || one_of_many(per, copies, present))))
    };
    let of_16 = |per| create((CREATED / 5).max(per) / per * per, 16..=16, per, BITS);
    let mixed = |per: usize| create(per.max(CREATED), 8..=64, per, BITS);
    let given = |name, per, given| {
        let keys = move || Keys::random(CREATED / 5 / per * per, 16..=16, 1);
        let make = move || Work::Create { keys: keys(), per, bits: BITS, given };
        row(name, "key", [1.0, 1.0, 1.0, 0.0], Box::new(make))
    };
    let one = How::OneByOne;
    let batch = How::Batch(BATCH);
    let flat = How::Flat(BATCH);
    // Of the Rust library alone, and no slower than one by one.
    let batched = [1.0, 1.0, 1.0, 0.0];
    vec![
        created("create, 1 key", [1.0, 1.0, 1.0, 1.0], 1, of_16),
        created("create, 1 key, 2 bits a key", [1.0; 4], 1, |per| {
            create(CREATED / 5, 16..=16, per, 2)
        }),
        created("create, 5 keys, 20 bits a key", [1.0; 4], 5, |per| {
            create(CREATED / 5, 16..=16, per, 20)
        }),
        created("create, 4 keys of 200 B", [1.0; 4], 4, |per| {
            create(CREATED / 10, 200..=200, per, BITS)
        }),
        created("create, 3 keys of 400 B", [1.0; 4], 3, |per| {
            create(CREATED / 20 / per * per, 400..=400, per, BITS)
        }),
        created("create, 6 keys of 200 B", [1.0; 4], 6, |per| {
            create(CREATED / 10 / per * per, 200..=200, per, BITS)
        }),
        created("create, 20 keys", [2.5, 4.1, 5.3, 4.0], 20, of_16),
        created("create, 30 keys", [1.0; 4], 30, of_16),
        // As many as an uncompressed block of 4 KiB has with values of 100 bytes.
        created("create, 36 keys", [1.0; 4], 36, of_16),
        created("create, 1,000 keys", [2.7, 4.6, 5.7, 5.5], 1_000, of_16),
        created("create, 1,000 keys of 100 B", [2.6, 5.8, 7.5, 1.0], 1_000, |per| {
            create(CREATED / 5, 100..=100, per, BITS)
        }),
        created("create, 20 keys of 8-64 B", [1.6, 2.4, 3.3, 1.0], 20, mixed),
        created("create, 1,000 keys of 8-64 B", [1.6, 3.5, 5.9, 1.0], 1_000, mixed),
        created("create, 100,000 keys of 8-64 B", [1.5, 3.2, 5.2, 1.0], 100_000, mixed),
        created("create, 100,000 keys", [2.0, 4.1, 4.4, 1.0], 100_000, of_16),
        created("create, 1,000 keys, 20 bits a key", [3.7, 5.1, 6.1, 1.0], 1_000, |per| {
            create(CREATED / 5, 16..=16, per, 20)
        }),
        given("create, 1,000 keys, owned", 1_000, Given::Owned),
        given("create, 1,000 keys, flat", 1_000, Given::Flat),
        given("create, 1,000 keys, builder", 1_000, Given::Built),
        given("create, 5 keys, builder", 5, Given::Built),
        long(created("create, 1,000 keys, scattered", [1.0; 4], 1_000, |per| {
            create_scattered(1_000_000, per)
        })),
        long(created("create, 2 million keys", [1.0; 4], 2_000_000, of_16)),
        long(created("create, 10 million keys", [1.5, 2.2, 3.0, 1.0], 10_000_000, of_16)),
        long(created(
            "create, 10 million keys, shuffled",
            [2.2, 6.0, 6.0, 1.0],
            10_000_000,
            |per| create_scattered(per, per),
        )),
        asked("query, filter of 4, present", [1.0; 4], 4, true, one),
        asked("query, filter of 4, absent", [1.0; 4], 4, false, one),
        asked("query, filter of 20, present", [1.25, 2.1, 2.2, 1.2], 20, true, one),
        asked("query, filter of 20, absent", [2.2, 3.4, 3.6, 1.8], 20, false, one),
        asked("query, filter of 1,000, present", [1.25, 1.4, 1.4, 1.2], 1_000, true, one),
        asked("query, filter of 1,000, absent", [2.2, 2.5, 2.6, 1.8], 1_000, false, one),
        asked_half(BITS, "query, filter of 20, half present", [1.0; 4], 20, one),
        asked_half(BITS, "query, filter of 1,000, half present", [1.0; 4], 1_000, one),
        asked_half(6, "query, filter of 1,000, 6 bits, half present", [1.0; 4], 1_000, one),
        asked_mixed("query, filter of 1,000, keys of 8-64 B, present", true),
        asked_mixed("query, filter of 1,000, keys of 8-64 B, absent", false),
        asked("query by hash, filter of 1,000, absent", batched, 1_000, false, How::Hashed),
        asked_scattered("query, filter of 1,000, scattered, absent", [1.0; 4], one),
        asked_with(44, "query, filter of 1,000, 44 bits, present", [1.0; 4], 1_000, true, one),
        asked_with(44, "query, filter of 1,000, 44 bits, absent", [1.0; 4], 1_000, false, one),
        asked_with(2, "query, filter of 1,000, 2 bits, present", [1.0; 4], 1_000, true, one),
        asked_with(2, "query, filter of 1,000, 2 bits, absent", [1.0; 4], 1_000, false, one),
        asked_of_one("query, one of 200,000 filters of 20, present", 20, 1, true),
        asked_of_one("query, one of 200,000 filters of 20, absent", 20, 1, false),
        asked_of_one("query, one of 4,000 filters of 1,000, present", 1_000, 1, true),
        asked_of_one("query, one of 4,000 filters of 1,000, absent", 1_000, 1, false),
        asked_of_one("query, one of 64,000 filters of 1,000, present", 1_000, 16, true),
        asked_of_one("query, one of 64,000 filters of 1,000, absent", 1_000, 16, false),
        asked("chain, filter of 20, present", [0.95, 0.95, 0.95, 1.0], 20, true, How::Chain),
        asked("chain, filter of 20, absent", [0.95, 0.95, 0.95, 1.0], 20, false, How::Chain),
        asked("chain, filter of 1,000, present", [0.95, 0.95, 0.95, 1.0], 1_000, true, How::Chain),
        asked("chain, filter of 1,000, absent", [0.95, 0.95, 0.95, 1.0], 1_000, false, How::Chain),
        asked("batch of 256, filter of 20, present", [1.65, 3.7, 4.3, 0.0], 20, true, batch),
        asked("batch of 256, filter of 20, absent", [3.5, 11.0, 18.0, 0.0], 20, false, batch),
        asked("batch of 256, filter of 1,000, present", [1.8, 3.0, 4.3, 0.0], 1_000, true, batch),
        asked("batch of 256, filter of 1,000, absent", [3.6, 4.9, 9.2, 0.0], 1_000, false, batch),
        asked("batch of 4, filter of 20, present", batched, 20, true, How::Batch(4)),
        asked("batch of 4, filter of 20, absent", batched, 20, false, How::Batch(4)),
        asked("batch of 256, filter of 40, present", batched, 40, true, batch),
        asked("batch of 256, filter of 40, absent", batched, 40, false, batch),
        asked_with(
            20,
            "batch of 256, filter of 1,000, 20 bits, present",
            batched,
            1_000,
            true,
            batch,
        ),
        asked_with(
            20,
            "batch of 256, filter of 1,000, 20 bits, absent",
            batched,
            1_000,
            false,
            batch,
        ),
        asked_half(5, "batch of 256, filter of 1,000, 5 bits, half present", batched, 1_000, batch),
        long(asked("batch of 256, filter of a million, present", batched, 1_000_000, true, batch)),
        long(asked("batch of 256, filter of a million, absent", batched, 1_000_000, false, batch)),
        asked_scattered("batch of 256, filter of 1,000, scattered, absent", batched, batch),
        asked("batch of 256, filter of 1,000, flat, absent", batched, 1_000, false, flat),
        row("a key in 8 filters of 20", "filter", [2.9, 7.0, 7.9, 0.0], Box::new(|| filters(20))),
        row(
            "a key in 8 filters of 1,000",
            "filter",
            [2.9, 2.6, 2.9, 0.0],
            Box::new(|| filters(1_000)),
        ),
    ]
}
