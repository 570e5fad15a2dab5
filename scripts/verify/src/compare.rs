//! One comparison: the same question to LevelDB and to every door.

use std::cell::Cell;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::doors::{Door, Keys, ask_with, create_with};
use crate::leveldb::{CxxString, Policy, Slice, Stock};

thread_local! {
    /// What this thread is comparing, for whoever has to say where it crashed.
    pub static NOW: Cell<Now> = const { Cell::new(Now { stage: "", unit: 0, door: "", kernel: "" }) };
}

#[derive(Clone, Copy)]
pub struct Now {
    pub stage: &'static str,
    pub unit: u64,
    pub door: &'static str,
    pub kernel: &'static str,
}

/// What was compared through one door, or through all.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    pub queries: u64,
    pub matches: u64,
    pub filters: u64,
    pub keys: u64,
    pub filter_bytes: u64,
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        self.queries += other.queries;
        self.matches += other.matches;
        self.filters += other.filters;
        self.keys += other.keys;
        self.filter_bytes += other.filter_bytes;
    }
}

/// LevelDB's own policies, one for each number of bits per key, and the doors.
pub struct Sides<'s> {
    pub stock: &'s Stock,
    pub originals: Vec<Policy>,
    pub doors: Vec<Arc<dyn Door>>,
}

impl Sides<'_> {
    /// How many doors each kernel has.
    fn doors_of_a_kernel(&self) -> usize {
        let first = self.doors.first().map(|door| door.kernel());
        self.doors.iter().filter(|door| Some(door.kernel()) == first).count()
    }

    /// The doors that are asked: all, or that one of every kernel.
    fn asked(&self, only: Option<u64>) -> impl Iterator<Item = (usize, &dyn Door)> {
        let doors = self.doors_of_a_kernel();
        let only = only.map(|only| only as usize % doors);
        let all = self.doors.iter().map(|door| &**door).enumerate();
        all.filter(move |(number, _)| only.is_none_or(|only| number % doors == only))
    }
}

/// A thread's place to compare in.
pub struct Bench<'s> {
    sides: &'s Sides<'s>,
    /// Every kernel is asked through all its doors, or through this one.
    pub only_door: Option<u64>,
    string: CxxString,
    expected: Vec<u8>,
    got: Vec<u8>,
    /// What LevelDB was asked.
    pub asked: Tally,
    /// What each door answered.
    pub answered: Vec<Tally>,
}

impl<'s> Bench<'s> {
    pub fn new(sides: &'s Sides<'s>) -> Self {
        Bench {
            sides,
            only_door: None,
            string: sides.stock.new_string(),
            expected: Vec::new(),
            got: Vec::new(),
            asked: Tally::default(),
            answered: vec![Tally::default(); sides.doors.len()],
        }
    }

    /// Has everybody append a filter for `keys` to `prefix`; returns LevelDB's, without `prefix`.
    pub fn filters(
        &mut self,
        bits_per_key: u32,
        prefix: &[u8],
        keys: &Keys,
    ) -> Result<Vec<u8>, Box<Difference>> {
        let set = |filter: &mut Vec<u8>| {
            filter.clear();
            filter.extend_from_slice(prefix);
        };
        set(&mut self.expected);
        let original = &self.sides.originals[bits_per_key as usize];
        create_with(original, keys, &mut self.string, &mut self.expected);
        let made = Tally {
            filters: 1,
            keys: keys.len() as u64,
            filter_bytes: (self.expected.len() - prefix.len()) as u64,
            ..Tally::default()
        };
        self.asked.add(&made);
        for (number, door) in self.sides.asked(self.only_door) {
            enter(door);
            set(&mut self.got);
            door.create(bits_per_key, keys, &mut self.string, &mut self.got);
            if self.got != self.expected {
                let case = Case {
                    bits_per_key,
                    prefix: prefix.to_vec(),
                    keys: keys.slices().iter().map(|key| key.bytes().to_vec()).collect(),
                    filters: None,
                };
                return Err(Box::new(Difference { door: number, case }));
            }
            self.answered[number].add(&made);
        }
        Ok(self.expected[prefix.len()..].to_vec())
    }

    /// Asks everybody for each of `keys` in each of `filters`.
    pub fn answers(
        &mut self,
        bits_per_key: u32,
        keys: &Keys,
        filters: &[Slice],
    ) -> Result<(), Box<Difference>> {
        let set = |answers: &mut Vec<u8>| {
            answers.clear();
            answers.resize(keys.len() * filters.len(), 7);
        };
        set(&mut self.expected);
        ask_with(&self.sides.originals[bits_per_key as usize], keys, filters, &mut self.expected);
        let asked = Tally {
            queries: self.expected.len() as u64,
            matches: self.expected.iter().map(|answer| u64::from(*answer)).sum(),
            ..Tally::default()
        };
        self.asked.add(&asked);
        for (number, door) in self.sides.asked(self.only_door) {
            enter(door);
            set(&mut self.got);
            door.ask(bits_per_key, keys, filters, &mut self.got);
            if self.got != self.expected {
                let owned = |slices: &[Slice]| {
                    slices.iter().map(|slice| slice.bytes().to_vec()).collect::<Vec<_>>()
                };
                let case = Case {
                    bits_per_key,
                    prefix: Vec::new(),
                    keys: owned(keys.slices()),
                    filters: Some(owned(filters)),
                };
                return Err(Box::new(Difference { door: number, case }));
            }
            self.answered[number].add(&asked);
        }
        Ok(())
    }
}

fn enter(door: &dyn Door) {
    NOW.set(Now { door: door.name(), kernel: door.kernel(), ..NOW.get() });
}

/// A case that one door decides differently.
pub struct Difference {
    door: usize,
    case: Case,
}

#[derive(Clone)]
struct Case {
    bits_per_key: u32,
    prefix: Vec<u8>,
    keys: Vec<Vec<u8>>,
    /// What the keys are asked for; where there is none, a filter for them is made.
    filters: Option<Vec<Vec<u8>>>,
}

impl Difference {
    /// The smallest case that can be found in a few seconds, in words.
    pub fn explain(mut self, sides: &Sides) -> String {
        let door = &*sides.doors[self.door];
        let whole = format!("{} ({} kernel)", door.name(), door.kernel());
        let run = |case: &Case| run(sides, door, case);
        if !run(&self.case).differs() {
            return format!(
                "{whole}: {}\nIt did not differ a second time, with copies of the same bytes: look at \
                 addresses, and at what else changes.",
                self.case
            );
        }
        shrink(&mut self.case, |case| run(case).differs());
        format!("{whole}: {}\n{}", self.case, run(&self.case))
    }
}

/// What both sides make of a case.
struct Outcome {
    original: Vec<u8>,
    ours: Vec<u8>,
}

impl Outcome {
    fn differs(&self) -> bool {
        self.original != self.ours
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  LevelDB says {}\n  and we say   {}", hex(&self.original), hex(&self.ours))
    }
}

fn run(sides: &Sides, door: &dyn Door, case: &Case) -> Outcome {
    let keys: Keys = case.keys.iter().map(Vec::as_slice).collect();
    let original = &sides.originals[case.bits_per_key as usize];
    let mut string = sides.stock.new_string();
    let mut outcome = Outcome { original: case.prefix.clone(), ours: case.prefix.clone() };
    match &case.filters {
        None => {
            create_with(original, &keys, &mut string, &mut outcome.original);
            door.create(case.bits_per_key, &keys, &mut string, &mut outcome.ours);
        }
        Some(filters) => {
            let filters: Vec<Slice> = filters.iter().map(|filter| Slice::new(filter)).collect();
            outcome.original.resize(keys.len() * filters.len(), 7);
            outcome.ours.resize(keys.len() * filters.len(), 7);
            ask_with(original, &keys, &filters, &mut outcome.original);
            door.ask(case.bits_per_key, &keys, &filters, &mut outcome.ours);
        }
    }
    outcome
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bits_per_key {}", self.bits_per_key)?;
        if !self.prefix.is_empty() {
            write!(f, "\n  appended to {}", hex(&self.prefix))?;
        }
        for key in self.keys.iter().take(20) {
            write!(f, "\n  key {}", hex(key))?;
        }
        if self.keys.len() > 20 {
            write!(f, "\n  and {} more keys", self.keys.len() - 20)?;
        }
        for filter in self.filters.iter().flatten().take(20) {
            write!(f, "\n  asked of the filter {}", hex(filter))?;
        }
        Ok(())
    }
}

/// Bytes as digits; only the ends of what is too long to read.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (i, byte) in bytes.iter().enumerate() {
        if i == 300 && bytes.len() > 700 {
            text.push_str(" ... ");
        }
        if bytes.len() <= 700 || i < 300 || i >= bytes.len() - 300 {
            let _ = write!(text, "{byte:02x}");
        }
    }
    if text.is_empty() { "(no bytes)".to_owned() } else { text }
}

/// Takes away whatever a case does not need to fail.
fn shrink(case: &mut Case, fails: impl Fn(&Case) -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let size = case.size();
        let mut attempt = |change: &dyn Fn(&mut Case) -> bool| {
            let mut smaller = case.clone();
            let kept = change(&mut smaller) && Instant::now() < end && fails(&smaller);
            if kept {
                *case = smaller;
            }
            kept
        };
        attempt(&|case| !std::mem::take(&mut case.prefix).is_empty());
        without_parts(|from, to| attempt(&|case| remove(&mut case.keys, from, to)));
        without_parts(|from, to| {
            attempt(&|case| case.filters.as_mut().is_some_and(|filters| remove(filters, from, to)))
        });
        for i in 0..4 {
            let key = |case: &mut Case, change: &dyn Fn(&mut Vec<u8>) -> bool| {
                case.keys.get_mut(i).is_some_and(change)
            };
            let filter = |case: &mut Case, change: &dyn Fn(&mut Vec<u8>) -> bool| {
                case.filters.as_mut().and_then(|filters| filters.get_mut(i)).is_some_and(change)
            };
            without_parts(|from, to| attempt(&|case| key(case, &|key| remove(key, from, to))));
            without_parts(|from, to| {
                attempt(&|case| filter(case, &|filter| remove(filter, from, to)))
            });
            for at in 0..64 {
                let clear = |bytes: &mut Vec<u8>| {
                    bytes.get_mut(at).is_some_and(|byte| std::mem::take(byte) != 0)
                };
                attempt(&|case| key(case, &clear));
                attempt(&|case| filter(case, &clear));
            }
        }
        for bits in [0, 1, 2, 10] {
            attempt(&|case| {
                bits < case.bits_per_key && {
                    case.bits_per_key = bits;
                    true
                }
            });
        }
        attempt(&|case| {
            case.bits_per_key = case.bits_per_key.saturating_sub(1);
            true
        });
        if case.size() == size || Instant::now() > end {
            return;
        }
    }
}

impl Case {
    fn size(&self) -> usize {
        let bytes = |all: &[Vec<u8>]| -> usize {
            let not_zero = |item: &Vec<u8>| item.iter().filter(|byte| **byte != 0).count();
            all.iter().map(|item| 2 + 2 * item.len() + not_zero(item)).sum()
        };
        self.prefix.len()
            + bytes(&self.keys)
            + bytes(self.filters.as_deref().unwrap_or(&[]))
            + self.bits_per_key as usize
    }
}

/// Tries to remove halves, quarters, and so on; `attempt` says whether it could.
fn without_parts(mut attempt: impl FnMut(usize, usize) -> bool) {
    for part in (0..=20).rev().map(|power| 1usize << power) {
        let mut from = 0;
        let mut misses = 0;
        while misses < 64 && from < 1 << 20 {
            if attempt(from, from + part) {
                misses = 0;
            } else {
                from += part;
                misses += 1;
            }
        }
    }
}

/// Removes what lies from `from` to `to`; false where there is nothing.
fn remove<T>(items: &mut Vec<T>, from: usize, to: usize) -> bool {
    if from >= items.len() {
        return false;
    }
    items.drain(from..to.min(items.len()));
    true
}
