//! In which tables a Get looks for a key: in those whose range has it, by the MANIFEST. A key that
//! its table holds elsewhere is lost, although filter and block are sound.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::manifest::{BYTEWISE, LiveTable, Stored, Version};
use crate::text::key;

/// The keys for which a Get looks into a table.
pub struct Range {
    level: u32,
    smallest: Arc<Stored>,
    largest: Arc<Stored>,
    /// Of the tables that LevelDB's binary search compares with on its way to this one: for what is
    /// not behind the first, or is behind the second, it goes elsewhere. One may be that of half of
    /// the tables.
    after: Option<Arc<Stored>>,
    up_to: Option<Arc<Stored>>,
    /// There is nothing between the two.
    never: bool,
    /// The next table of the level begins with other writes of the largest key.
    pub goes_on: bool,
}

/// Why no Get finds what a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    Before,
    Behind,
    Elsewhere,
}

impl Range {
    /// Why a Get goes past this write of a key, if it does.
    pub fn misses(&self, user_key: &[u8], sequence: u64) -> Option<Miss> {
        let is_after = |it: &Arc<Stored>| it.cmp_to(user_key, sequence).is_lt();
        if *user_key < *self.smallest.user_key {
            Some(Miss::Before)
        } else if *user_key > *self.largest.user_key {
            Some(Miss::Behind)
        } else if self.never
            || !self.after.as_ref().is_none_or(is_after)
            || self.up_to.as_ref().is_some_and(|it| *user_key > *it.user_key)
        {
            Some(Miss::Elsewhere)
        } else {
            None
        }
    }

    /// A miss in words.
    pub fn told(&self, miss: Miss) -> String {
        match miss {
            Miss::Before => {
                format!("by the MANIFEST the table begins with {}", key(&self.smallest.user_key))
            }
            Miss::Behind => {
                format!("by the MANIFEST the table ends with {}", key(&self.largest.user_key))
            }
            Miss::Elsewhere => format!(
                "by the ranges in the MANIFEST a Get looks for it in another table of level {}",
                self.level
            ),
        }
    }

    /// Whether a Get of what was written last looks here. Of a key whose writes go on in the next
    /// tables, it looks into the first.
    pub fn is_asked_for(&self, user_key: &[u8]) -> bool {
        self.misses(user_key, u64::MAX).is_none()
    }

    /// An entry of the smallest key that is newer than the range.
    pub fn begins_behind(&self, user_key: &[u8], sequence: u64) -> bool {
        self.smallest.user_key == user_key && self.smallest.sequence < sequence
    }

    /// An entry of the largest key that is older than the range.
    pub fn ends_before(&self, last: &Stored) -> bool {
        self.largest.user_key == last.user_key && *self.largest < *last
    }

    /// The range does not end with what is the last entry.
    pub fn ends_behind(&self, last: &Stored) -> bool {
        *self.largest > *last
    }
}

/// What the MANIFEST says of two tables, or of one, that cannot be.
pub enum Untrue {
    /// Its smallest key is behind its largest.
    Reversed(u64),
    /// It begins before the other ends, in the same level.
    Overlap { table: u64, other: u64, level: u32 },
}

/// The ranges of all tables, by file number, and what is wrong with them. Nothing is known of them
/// where the comparator is not.
pub fn of(version: &Version) -> (BTreeMap<u64, Arc<Range>>, Vec<Untrue>) {
    let (mut ranges, mut untrue) = (BTreeMap::new(), Vec::new());
    if version.comparator.as_deref() != Some(BYTEWISE) {
        return (ranges, untrue);
    }
    let mut levels: BTreeMap<u32, Vec<(u64, &LiveTable)>> = BTreeMap::new();
    for (&number, table) in &version.tables {
        levels.entry(table.level).or_default().push((number, table));
    }
    for (level, mut tables) in levels {
        tables
            .sort_by(|(a, first), (b, second)| first.smallest.cmp(&second.smallest).then(a.cmp(b)));
        let mut furthest: Option<(u64, &Arc<Stored>)> = None;
        for (i, &(number, table)) in tables.iter().enumerate() {
            let LiveTable { smallest, largest, .. } = table;
            let (mut after, mut up_to, mut goes_on) = (None, None, false);
            if smallest > largest {
                untrue.push(Untrue::Reversed(number));
            } else if level > 0 {
                if let Some((other, _)) = furthest.filter(|(_, largest)| *largest >= smallest) {
                    untrue.push(Untrue::Overlap { table: number, other, level });
                }
                if furthest.is_none_or(|(_, furthest)| furthest < largest) {
                    furthest = Some((number, largest));
                }
            }
            if level > 0 {
                (after, up_to) = on_the_way(&tables, i);
                goes_on = tables
                    .get(i + 1)
                    .is_some_and(|(_, next)| next.smallest.user_key == largest.user_key);
            }
            let (smallest, largest) = (smallest.clone(), largest.clone());
            let never = up_to.is_some() && after >= up_to;
            let range = Range { level, smallest, largest, after, up_to, never, goes_on };
            ranges.insert(number, Arc::new(range));
        }
    }
    (ranges, untrue)
}

/// As LevelDB's FindFile (db/version_set.cc) looks for the first table whose largest key is not
/// before the one that is looked for: the most of those that must be before it to come to table
/// `wanted`, and the least of those that must not. Where ranges do not overlap, these are the table
/// before and itself.
fn on_the_way(
    tables: &[(u64, &LiveTable)],
    wanted: usize,
) -> (Option<Arc<Stored>>, Option<Arc<Stored>>) {
    let (mut after, mut up_to): (Option<&Arc<Stored>>, Option<&Arc<Stored>>) = (None, None);
    let (mut left, mut right) = (0, tables.len());
    while left < right {
        let middle = (left + right) / 2;
        let largest = tables.get(middle).map(|(_, table)| &table.largest);
        if middle < wanted {
            after = after.max(largest);
            left = middle + 1;
        } else {
            up_to = up_to.into_iter().chain(largest).min();
            right = middle;
        }
    }
    (after.cloned(), up_to.cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(key: &str, sequence: u64) -> Stored {
        Stored { user_key: key.into(), sequence }
    }

    fn version(level: u32, tables: &[(Stored, Stored)]) -> Version {
        let tables = tables.iter().enumerate().map(|(i, (smallest, largest))| {
            let (smallest, largest) = (smallest.clone().into(), largest.clone().into());
            (i as u64, LiveTable { level, size: 0, smallest, largest })
        });
        let tables = tables.collect();
        Version { comparator: Some(BYTEWISE.into()), tables, ..Version::default() }
    }

    /// LevelDB's ForEachOverlapping for one level above 0, line by line.
    fn found_in(version: &Version, user_key: &[u8], sequence: u64) -> Option<u64> {
        let mut tables: Vec<_> = version.tables.iter().collect();
        tables.sort_by_key(|(number, table)| (table.smallest.clone(), **number));
        let (mut left, mut right) = (0, tables.len());
        while left < right {
            let middle = (left + right) / 2;
            match tables[middle].1.largest.cmp_to(user_key, sequence).is_lt() {
                true => left = middle + 1,
                false => right = middle,
            }
        }
        let (number, table) = tables.get(right)?;
        (table.smallest.user_key[..] <= *user_key).then_some(**number)
    }

    #[test]
    fn a_get_looks_where_leveldb_does() {
        // Every way to lay out up to five tables, whether they overlap or not.
        let mut random = 1_u32;
        let mut any = |n: u32| {
            random = random.wrapping_mul(1_103_515_245).wrapping_add(12345);
            (random >> 16) % n
        };
        let (mut overlapping, mut apart) = (0, 0);
        for _ in 0..5_000 {
            let mut some = || {
                let key = char::from(b'a' + any(6) as u8).to_string();
                stored(&key, u64::from(any(3)))
            };
            let mut ends: Vec<_> = (0..10).map(|_| some()).collect();
            if any(2) == 0 {
                ends.sort();
                ends.dedup();
            }
            let tables: Vec<_> =
                ends.chunks_exact(2).map(|it| (it[0].clone(), it[1].clone())).collect();
            let version = version(1, &tables);
            let (ranges, untrue) = of(&version);
            match untrue.is_empty() {
                true => apart += 1,
                false => overlapping += 1,
            }
            for key in b'a'..=b'f' {
                let newest = found_in(&version, &[key], u64::MAX);
                for (number, range) in &ranges {
                    assert_eq!(range.is_asked_for(&[key]), newest == Some(*number), "{tables:?}");
                    for sequence in 0..3 {
                        // A Get that is older than the write does not ask for it.
                        let reached = (sequence..4)
                            .any(|at| found_in(&version, &[key], at) == Some(*number))
                            || newest == Some(*number);
                        let missed = range.misses(&[key], sequence);
                        assert_eq!(
                            missed.is_none(),
                            reached,
                            "{key} {sequence} {number} {tables:?}"
                        );
                    }
                }
            }
        }
        assert!(overlapping > 1000 && apart > 1000, "{overlapping} {apart}");
    }

    #[test]
    fn what_cannot_be() {
        let untrue = |level, tables: &[(Stored, Stored)]| {
            let told = of(&version(level, tables)).1.into_iter().map(|it| match it {
                Untrue::Reversed(table) => (table, None),
                Untrue::Overlap { table, other, .. } => (table, Some(other)),
            });
            told.collect::<Vec<_>>()
        };
        let (a, c, d) = (stored("a", 5), stored("c", 5), stored("d", 5));
        let table = |from: &Stored, to: &Stored| (from.clone(), to.clone());
        assert_eq!(untrue(1, &[table(&a, &c), table(&d, &d)]), []);
        assert_eq!(untrue(1, &[table(&a, &c), table(&c, &d)]), [(1, Some(0))]);
        assert_eq!(untrue(1, &[table(&c, &d), table(&a, &c)]), [(0, Some(1))]);
        // Writes of one key go on from new to old.
        assert_eq!(untrue(1, &[table(&a, &c), table(&stored("c", 4), &d)]), []);
        assert_eq!(untrue(1, &[table(&a, &c), table(&stored("c", 6), &d)]), [(1, Some(0))]);
        // The first reaches over the second to the third.
        let all = [table(&a, &d), table(&c, &c), table(&stored("d", 6), &d)];
        assert_eq!(untrue(1, &all), [(1, Some(0)), (2, Some(0))]);
        assert_eq!(untrue(0, &all), []);
        for level in 0..2 {
            assert_eq!(untrue(level, &[table(&d, &a)]), [(0, None)]);
        }
        let mut other = version(1, &[table(&a, &c), table(&c, &d)]);
        other.comparator = Some("test.Other".into());
        assert!(of(&other).0.is_empty() && of(&other).1.is_empty());
    }
}
