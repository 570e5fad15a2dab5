//! Keys that are not there, as a program may ask for them: random ones, of the same kind as those that are
//! there, and neighbours, which lie between two of them.

use std::collections::HashSet;
use std::ops::Range;

use derive_more::AddAssign;

use crate::sums::ratio;

/// The bytes of absent keys of each kind that are held at once.
const HELD: usize = 4 << 20;

/// So many bytes of a key are told apart.
const PLACES: usize = 1 << 10;

/// The most bytes of keys that are held for one filter.
const MOST: usize = 16 << 20;

/// The keys of one filter.
#[derive(Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The last key before them: a Get of a key up to it asks another filter.
    before: Vec<u8>,
    /// So many more, which are not held.
    more: usize,
}

impl Keys {
    /// A key with these bytes behind it.
    pub fn push(&mut self, key: &[u8], end: &[u8]) {
        if self.more > 0 || self.bytes.len() + key.len() > MOST {
            self.more += 1;
            return;
        }
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(end);
        self.ends.push(self.bytes.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len() + self.more
    }

    pub fn all(&self) -> Vec<&[u8]> {
        let from = std::iter::once(0).chain(self.ends.iter().copied());
        from.zip(&self.ends).map(|(from, &to)| &self.bytes[from..to]).collect()
    }

    pub fn mean_len(&self) -> usize {
        self.bytes.len() / self.ends.len().max(1)
    }

    /// Begins with the next filter.
    pub fn clear(&mut self) {
        if let Some(&end) = self.ends.last() {
            let start = self.ends.len().checked_sub(2).map_or(0, |last| self.ends[last]);
            self.before.clear();
            self.before.extend_from_slice(&self.bytes[start..end]);
        }
        self.bytes.clear();
        self.ends.clear();
        self.more = 0;
    }
}

/// How many absent keys were asked, and how many passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, AddAssign)]
pub struct Asked {
    pub asked: u64,
    pub passed: u64,
}

impl Asked {
    pub fn rate(&self) -> f64 {
        ratio(self.passed as f64, self.asked as f64)
    }
}

/// Absent keys of both kinds; of none an empty list.
pub struct Made {
    pub random: Vec<Vec<u8>>,
    pub near: Vec<Vec<u8>>,
}

/// What filters answered to both kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, AddAssign)]
pub struct Answers {
    pub random: Asked,
    pub near: Asked,
}

impl Answers {
    pub fn of(made: &Made, may_match: impl Fn(&[u8]) -> bool) -> Self {
        let ask = |keys: &[Vec<u8>]| {
            let passed = keys.iter().filter(|key| may_match(key)).count();
            Asked { asked: keys.len() as u64, passed: passed as u64 }
        };
        Answers { random: ask(&made.random), near: ask(&made.near) }
    }

    /// Whether neighbours pass much more often than random keys.
    pub fn are_ordered(&self) -> bool {
        self.near.asked > 1000 && self.near.rate() > 1.5 * self.random.rate() + 0.002
    }
}

/// Makes absent keys; always the same ones for the same keys.
pub struct Absent {
    state: u64,
    /// The bytes seen at each place of keys.
    places: Vec<Place>,
}

impl Default for Absent {
    fn default() -> Self {
        Absent { state: 0x9e37_79b9_7f4a_7c15, places: Vec::new() }
    }
}

/// What a key of the same kind may have at a place.
#[derive(Clone, Default)]
struct Place {
    seen: [u64; 4],
    varies: bool,
    alphabet: &'static [u8],
}

const ANY: [u8; 256] = {
    let (mut any, mut i) = ([0; 256], 0);
    while i < 256 {
        any[i] = i as u8;
        i += 1;
    }
    any
};

const ALPHABETS: [&[u8]; 6] = [
    b"0123456789",
    b"0123456789abcdef",
    b"0123456789ABCDEF",
    b"0123456789abcdefghijklmnopqrstuvwxyz",
    b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
    &ANY,
];

impl Place {
    fn has(&self, byte: u8) -> bool {
        self.seen[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    fn saw(&mut self, byte: u8) {
        if !self.has(byte) {
            self.varies = self.seen != [0; 4];
            self.seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
            let fits =
                |alphabet: &&[u8]| ANY.iter().all(|it| !self.has(*it) || alphabet.contains(it));
            self.alphabet = ALPHABETS.into_iter().find(fits).unwrap_or(&ANY);
        }
    }
}

impl Absent {
    /// A key that is there: what is made is like it.
    pub fn saw(&mut self, key: &[u8]) {
        let len = key.len().min(PLACES);
        if self.places.len() < len {
            self.places.resize(len, Place::default());
        }
        self.places.iter_mut().zip(key).for_each(|(place, byte)| place.saw(*byte));
    }

    /// What kind of keys they are, as far as their last bytes say.
    pub fn kind(&self) -> &'static str {
        match self.places.iter().rev().find(|place| place.varies).map(|place| place.alphabet) {
            Some(b"0123456789") => "decimal numbers",
            Some(alphabet) if alphabet.len() == 16 => "hexadecimal numbers",
            Some(alphabet) if alphabet.len() == 256 => "big-endian numbers",
            _ => "much like their neighbours",
        }
    }

    fn below(&mut self, bound: u128) -> u128 {
        let mut word = || {
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
            u128::from(self.state)
        };
        match u64::try_from(bound) {
            Ok(_) => (word() * bound) >> 64,
            Err(_) => (word() << 64 | word()) % bound,
        }
    }

    /// A key between two that are next to each other, each as likely as the others: a number between
    /// two, whose digits are what keys have in their places.
    fn between(&mut self, a: &[u8], b: &[u8], own: usize) -> Option<Vec<u8>> {
        let first = a.iter().zip(b).position(|(a, b)| a != b).filter(|_| a.len() == b.len())?;
        // What a u128 holds of them.
        let places = first..own.min(first + 12);
        let (mut from, mut to) = (0, 0);
        for place in places.clone() {
            let alphabet = self.places.get(place)?.alphabet;
            let digit = |byte| alphabet.binary_search(&byte).ok().map(|digit| digit as u128);
            from = from * alphabet.len() as u128 + digit(a[place])?;
            to = to * alphabet.len() as u128 + digit(b[place])?;
        }
        let gap = u128::checked_sub(to, from)?;
        let mut number = match places.end == own {
            true if gap < 2 => return None,
            true => from + 1 + self.below(gap - 1),
            false => from + self.below(gap + 1),
        };
        let mut key = b.to_vec();
        for place in places.clone().rev() {
            let alphabet = self.places.get(place)?.alphabet;
            key[place] = alphabet[(number % alphabet.len() as u128) as usize];
            number /= alphabet.len() as u128;
        }
        self.randomise(&mut key, places.end..own);
        Some(key)
    }

    fn randomise(&mut self, key: &mut [u8], places: Range<usize>) {
        for (byte, place) in key[places.clone()].iter_mut().zip(places) {
            *byte = self.any_at(place).unwrap_or(*byte);
        }
    }

    fn any_at(&mut self, place: usize) -> Option<u8> {
        let alphabet = self.places.get(place).filter(|place| place.varies)?.alphabet;
        Some(alphabet[self.below(alphabet.len() as u128) as usize])
    }

    /// Up to `each` different absent keys of each kind for the filter of these keys, which all have `end` more
    /// bytes. Neighbours are made where keys are in the order of their bytes, and where a Get asks this filter
    /// for them.
    pub fn make(&mut self, keys: &Keys, bytewise: bool, end: usize, each: usize) -> Made {
        let (mut near, mut random) = (Vec::new(), Vec::new());
        let (all, before) = (keys.all(), &keys.before[..]);
        let each = if keys.more > 0 { 0 } else { each.min(HELD / keys.mean_len().max(1)) };
        let present: HashSet<&[u8]> = all.iter().copied().collect();
        for _ in 0..4 * each {
            let Some(last) = all.last().filter(|_| near.len() < each || random.len() < each) else {
                break;
            };
            let i = self.below(all.len() as u128) as usize;
            let mut key = all[i].to_vec();
            let own = key.len() - end;
            if bytewise && near.len() < each {
                let other = i.checked_sub(1).map_or(before, |i| all[i]);
                let made = self.between(other, &key, own);
                near.extend(made.filter(|it| {
                    before < &it[..] && it[..] < **last && !present.contains(&it[..])
                }));
            }
            if random.len() < each {
                self.randomise(&mut key, 0..own);
                if !present.contains(&key[..]) {
                    random.push(key);
                }
            }
        }
        // Of few keys few others can be made, and each of them again and again: its answer counts once.
        for made in [&mut near, &mut random] {
            made.sort_unstable();
            made.dedup();
        }
        Made { random, near }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveldb_bloom::{FilterPolicy, key_may_match};

    fn made(all: &[Vec<u8>], each: usize) -> Made {
        let (mut keys, mut absent) = (Keys::default(), Absent::default());
        for key in all {
            absent.saw(key);
            keys.push(key, &[]);
        }
        absent.make(&keys, true, 0, each)
    }

    #[test]
    fn they_are_of_the_kind_of_the_keys_and_not_among_them() {
        let all: Vec<_> = (0..500).map(|i| format!("user:{:06}", i * 7).into_bytes()).collect();
        let made = made(&all, 2000);
        assert!(made.random.len() > 1000 && made.near.len() > 1000);
        for key in made.random.iter().chain(&made.near) {
            assert!(key.starts_with(b"user:") && key[5..].iter().all(u8::is_ascii_digit));
            assert!(!all.contains(key));
        }
        let beyond = |key: &&Vec<u8>| **key > all[499];
        assert!(
            made.random.iter().any(|key| beyond(&key)) && !made.near.iter().any(|key| beyond(&key))
        );
    }

    #[test]
    fn of_few_keys_few_can_be_made() {
        let digits: Vec<_> = (0..9u8).map(|i| vec![b'k', b'0' + i]).collect();
        let digits = made(&digits, 1000);
        assert_eq!((digits.random, digits.near), (vec![b"k9".to_vec()], vec![]));
        for none in [vec![], vec![b"one".to_vec()], vec![Vec::new()]] {
            let none = made(&none, 1000);
            assert_eq!((none.random.len(), none.near.len()), (0, 0));
        }
    }

    #[test]
    fn the_rate_of_random_keys_is_about_the_estimate() {
        let all: Vec<_> = (0..2000).map(|i| format!("key{:08}", i * 7919).into_bytes()).collect();
        let filter = FilterPolicy::new(10).create_filter(&all).unwrap();
        let answers = Answers::of(&made(&all, 100_000), |key| key_may_match(key, &filter));
        let rate = answers.random.passed as f64 / answers.random.asked as f64;
        assert!((0.005..0.015).contains(&rate), "{answers:?}");
    }
}
