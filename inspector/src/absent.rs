//! Keys that a filter was not made for, much like those it was made for.
//!
//! Random bytes would say nothing: programs ask for keys that look like their own. So a real key is
//! taken and some of its bytes are replaced by those of another real key, in places where the two
//! differ; what all keys have in common stays.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher as _};

use leveldb_bloom::key_may_match;

/// The keys of one filter.
#[derive(Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// There were more, which are not here.
    incomplete: bool,
}

/// The most bytes of keys that are held for one filter.
const MOST: usize = 16 << 20;

impl Keys {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.incomplete = false;
    }

    pub fn push(&mut self, key: &[u8]) {
        if self.incomplete || self.bytes.len() + key.len() > MOST {
            self.incomplete = true;
            return;
        }
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    pub fn mean_len(&self) -> f64 {
        self.bytes.len() as f64 / self.ends.len().max(1) as f64
    }

    fn get(&self, i: usize) -> &[u8] {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[i]]
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|i| self.get(i))
    }
}

/// Makes absent keys; always the same ones for the same keys.
pub struct Absent {
    state: u64,
    /// Real keys from all over the table, to take bytes from.
    others: Vec<Vec<u8>>,
    seen: u64,
    candidate: Vec<u8>,
    /// A hash of each key that was asked, with the filter's answer in the lowest bit.
    answers: Vec<u64>,
}

const OTHERS: usize = 256;

/// Of longer keys no bytes are taken: all of them together are 16 MiB at most.
const LONGEST_OTHER: usize = 64 << 10;

impl Default for Absent {
    fn default() -> Self {
        Absent {
            state: 0x9e37_79b9_7f4a_7c15,
            others: Vec::new(),
            seen: 0,
            candidate: Vec::new(),
            answers: Vec::new(),
        }
    }
}

impl Absent {
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        ((u128::from(self.state) * bound as u128) >> 64) as usize
    }

    /// Asks `filter` for `count` keys that are not in `keys`, those it was made for. Returns how
    /// many different ones were asked and how many of them it said yes to.
    pub fn ask(&mut self, filter: &[u8], keys: &Keys, count: u64) -> (u64, u64) {
        if keys.incomplete || keys.ends.is_empty() {
            return (0, 0);
        }
        self.remember(keys);
        let mut present: Option<HashSet<&[u8]>> = None;
        self.answers.clear();
        for _ in 0..count {
            let key = keys.get(self.below(keys.ends.len()));
            self.change(key);
            // A no is right for sure; only a yes has to be looked at.
            let yes = key_may_match(&self.candidate, filter);
            if yes {
                let present = present.get_or_insert_with(|| keys.iter().collect());
                if present.contains(&self.candidate[..]) {
                    continue;
                }
            }
            let mut hasher = DefaultHasher::new();
            hasher.write(&self.candidate);
            self.answers.push(hasher.finish() & !1 | u64::from(yes));
        }
        // Of few keys few others can be made, and each of them again and again: its answer counts
        // once.
        self.answers.sort_unstable();
        self.answers.dedup();
        let yes = self.answers.iter().filter(|answer| *answer & 1 == 1).count();
        (self.answers.len() as u64, yes as u64)
    }

    /// Keeps a few keys of each filter, in the place of earlier ones once there are enough.
    fn remember(&mut self, keys: &Keys) {
        for _ in 0..4 {
            let key = keys.get(self.below(keys.ends.len()));
            self.seen += 1;
            if key.len() > LONGEST_OTHER {
                continue;
            }
            if self.others.len() < OTHERS {
                self.others.push(key.to_vec());
            } else {
                let place = self.below(OTHERS);
                self.others[place].clear();
                self.others[place].extend_from_slice(key);
            }
        }
    }

    fn change(&mut self, key: &[u8]) {
        self.candidate.clear();
        self.candidate.extend_from_slice(key);
        let mut changed = 0;
        let wanted = 1 + self.below(4);
        for _ in 0..16 {
            if changed == wanted || self.others.is_empty() {
                break;
            }
            let other = self.below(self.others.len());
            // Places that are looked for rather than tried: long keys may differ in a few only.
            let pairs = self.candidate.iter().zip(&self.others[other]);
            let differing = pairs.filter(|(own, others)| own != others).count();
            if differing == 0 {
                continue;
            }
            let chosen = self.below(differing);
            let pairs = self.candidate.iter_mut().zip(&self.others[other]);
            if let Some((own, others)) = pairs.filter(|(own, others)| *own != *others).nth(chosen) {
                *own = *others;
                changed += 1;
            }
        }
        if changed == 0 {
            // Keys that do not differ: another byte, with the same upper bits as text has.
            // Anywhere, because keys that differ in the top byte of the hash's last word alone, as
            // in a last byte, have the same positions in a filter of 64 bits.
            let difference = 1 + self.below(15) as u8;
            let place = self.below(key.len().max(1));
            match self.candidate.get_mut(place) {
                Some(byte) => *byte ^= difference,
                None => self.candidate.push(difference),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveldb_bloom::FilterPolicy;

    fn keys(of: &[&[u8]]) -> Keys {
        let mut keys = Keys::default();
        of.iter().for_each(|key| keys.push(key));
        keys
    }

    #[test]
    fn keys_keep_what_is_common() {
        let mut absent = Absent::default();
        let of = keys(&[b"user:0001", b"user:0423", b"user:0987"]);
        absent.remember(&of);
        let mut others = HashSet::new();
        for _ in 0..1000 {
            absent.change(b"user:0423");
            assert!(absent.candidate.starts_with(b"user:0"), "{:?}", absent.candidate);
            others.insert(absent.candidate.clone());
        }
        assert!(others.len() > 20, "{}", others.len());
    }

    #[test]
    fn present_keys_are_not_asked() {
        // Most changes of these keys give another of them.
        let all: Vec<_> = (0..100u8).map(|i| [b'0' + i / 10, b'0' + i % 10]).collect();
        let all: Vec<&[u8]> = all.iter().map(|key| &key[..]).collect();
        let filter = FilterPolicy::new(20).create_filter(&all).unwrap();
        let (asked, yes) = Absent::default().ask(&filter, &keys(&all), 1000);
        assert!(asked < 200 && yes <= 5, "{asked} {yes}");
        assert_eq!(Absent::default().ask(&filter, &keys(&[]), 10), (0, 0));
        let (asked, _) = Absent::default().ask(&filter, &keys(&[b""]), 1);
        assert_eq!(asked, 1);
    }

    #[test]
    fn an_absent_key_counts_once() {
        let mut absent = Absent::default();
        let one = &b"1"[..];
        // The fifteen others with the same upper bits.
        let all = FilterPolicy::new(10).create_filter(&[one]).unwrap();
        let (asked, yes) = absent.ask(&all, &keys(&[one]), 100_000);
        assert!((10..=16).contains(&asked) && yes < asked, "{asked} {yes}");
        // One that matches everything.
        let (asked, yes) = absent.ask(&[0xff, 0xff, 6], &keys(&[one]), 100_000);
        assert!((10..=16).contains(&asked) && yes == asked, "{asked} {yes}");
    }

    #[test]
    fn long_keys_are_changed_as_short_ones_are() {
        // One key to a filter: 64 bits, to which the top byte of the hash's last word says nothing.
        for (len, same) in [(100, 92), (1100, 0), (1100, 1092), (70_000, 0)] {
            let all: Vec<Vec<u8>> = (1..=50u64)
                .map(|seed| {
                    let random =
                        (0..len as u64).map(|i| ((seed * (i + 3) * 0x9e37_79b9) >> 16) as u8);
                    [vec![b'k'; same], random.skip(same).collect()].concat()
                })
                .collect();
            let mut absent = Absent::default();
            let (mut asked, mut yes) = (0, 0);
            for key in &all {
                let filter = FilterPolicy::new(10).create_filter(&[key]).unwrap();
                let answers = absent.ask(&filter, &keys(&[key]), 20);
                asked += answers.0;
                yes += answers.1;
            }
            assert!(asked > 500 && yes * 10 < asked, "{len} {same}: {yes} of {asked}");
        }
    }

    #[test]
    fn the_rate_is_about_the_estimate() {
        let all: Vec<_> = (0..2000).map(|i| format!("key{:08}", i * 7919)).collect();
        let all: Vec<&[u8]> = all.iter().map(|key| key.as_bytes()).collect();
        let filter = FilterPolicy::new(10).create_filter(&all).unwrap();
        let (asked, yes) = Absent::default().ask(&filter, &keys(&all), 100_000);
        let rate = yes as f64 / asked as f64;
        assert!((0.005..0.015).contains(&rate), "{rate}");
    }
}
