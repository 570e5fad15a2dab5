//! What a filter was made for, where it was not made for the keys as they are.
//!
//! A program with a comparator of its own may wrap the filter policy, so that the filter sees only
//! what the comparator looks at: the key without a suffix of time, say.

use std::borrow::Cow;
use std::fmt;

use leveldb_bloom::{bloom_hash, key_may_match};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    WithoutLast(usize),
    WithoutFirst(usize),
    First(usize),
    Lowercase,
    WithoutTrailingSpaces,
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |n: &usize| if *n == 1 { "" } else { "s" };
        match self {
            Transform::WithoutLast(n) => write!(f, "the key without its last {n} byte{}", s(n)),
            Transform::WithoutFirst(n) => write!(f, "the key without its first {n} byte{}", s(n)),
            Transform::First(n) => write!(f, "the first {n} byte{} of the key", s(n)),
            Transform::Lowercase => f.write_str("the key in lower case"),
            Transform::WithoutTrailingSpaces => f.write_str("the key without spaces at its end"),
        }
    }
}

impl Transform {
    fn apply<'k>(&self, key: &'k [u8]) -> Option<Cow<'k, [u8]>> {
        Some(Cow::Borrowed(match *self {
            Transform::WithoutLast(n) => key.get(..key.len().checked_sub(n)?)?,
            Transform::WithoutFirst(n) => key.get(n..)?,
            Transform::First(n) => key.get(..n)?,
            Transform::Lowercase => return Some(Cow::Owned(key.to_ascii_lowercase())),
            Transform::WithoutTrailingSpaces => {
                let end = key.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
                &key[..end]
            }
        }))
    }
}

/// Narrows down which transform fits, from keys that do not match their filters as they are.
pub struct Search {
    fitting: Vec<Fitting>,
    tried: usize,
    /// The bytes of keys that may still be hashed.
    left: u64,
}

/// A transform, and the evidence for it.
struct Fitting {
    transform: Transform,
    /// The bits that were found set, of different questions: by some transforms all keys become one.
    bits: usize,
    /// The last question.
    last: Option<(u32, u32)>,
}

/// So many keys, and bits, cannot match by chance, at any usual rate of false positives.
const ENOUGH: usize = 20;
const MOST: usize = 2000;

/// Enough for [`ENOUGH`] keys of half a megabyte, or [`MOST`] of 5 KB: those of gigabytes would
/// take hours.
const HASHED: u64 = 1 << 30;

impl Default for Search {
    fn default() -> Self {
        let suffixes = (1..=32).map(Transform::WithoutLast);
        let prefixes = (1..=32).flat_map(|n| [Transform::WithoutFirst(n), Transform::First(n)]);
        let others = [Transform::Lowercase, Transform::WithoutTrailingSpaces];
        let all = others.into_iter().chain(suffixes).chain(prefixes);
        let fitting = all.map(|transform| Fitting { transform, bits: 0, last: None }).collect();
        Search { fitting, tried: 0, left: HASHED }
    }
}

impl Search {
    pub fn mismatch(&mut self, key: &[u8], filter: &[u8]) {
        let len = self.fitting.len() as u64 * key.len() as u64;
        if self.tried < MOST && len <= self.left && !filter.is_empty() {
            self.tried += 1;
            self.left -= len;
            let bits = match filter.last() {
                Some(&last @ 32..=239) => usize::from(last) / 16 - 1,
                Some(&probes @ ..=30) => usize::from(probes),
                _ => 0,
            };
            let beginning = bloom_hash(&filter[..filter.len().min(64)]);
            self.fitting.retain_mut(|it| {
                let Some(key) = it.transform.apply(key) else { return false };
                let question = Some((bloom_hash(&key), beginning));
                it.bits += if it.last == question { 0 } else { bits };
                it.last = question;
                key_may_match(&key, filter)
            });
        }
    }

    pub fn found(&self) -> Option<Transform> {
        let proven = self.fitting.iter().find(|it| it.bits >= ENOUGH);
        proven.filter(|_| self.tried >= ENOUGH).map(|it| it.transform)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveldb_bloom::FilterPolicy;

    #[test]
    fn transforms_are_found() {
        let keys: Vec<_> = (0..200).map(|i| format!("P{:05}  Name{i}  ", i * 3)).collect();
        for transform in [
            Transform::WithoutLast(8),
            Transform::WithoutFirst(3),
            Transform::First(5),
            Transform::Lowercase,
            Transform::WithoutTrailingSpaces,
        ] {
            let apply = |key: &'_ String| transform.apply(key.as_bytes()).unwrap().into_owned();
            let made_for: Vec<_> = keys.iter().map(apply).collect();
            let filter = FilterPolicy::new(10).create_filter(&made_for).unwrap();
            let mut search = Search::default();
            for key in &keys {
                search.mismatch(key.as_bytes(), &filter);
            }
            assert_eq!(search.found(), Some(transform));
        }
        let filter = FilterPolicy::new(10).create_filter(&["something else"]).unwrap();
        let mut search = Search::default();
        for key in &keys {
            search.mismatch(key.as_bytes(), &filter);
        }
        assert_eq!(search.found(), None);
    }

    /// By chance a filter matches what keys have in common, and that is all that it was asked.
    #[test]
    fn what_all_keys_begin_with_proves_nothing() {
        let keys: Vec<_> = (0..200).map(|i| format!("key{i:05}")).collect();
        let filter =
            FilterPolicy::new(10).create_filter(&["key", "of", "another", "kind"]).unwrap();
        let mut search = Search::default();
        keys.iter().for_each(|key| search.mismatch(key.as_bytes(), &filter));
        assert_eq!(search.found(), None);
        // In other filters it is a coincidence again.
        for (i, key) in keys.iter().enumerate() {
            let filter = FilterPolicy::new(10).create_filter(&["key", &i.to_string()]).unwrap();
            search.mismatch(key.as_bytes(), &filter);
        }
        assert_eq!(search.found(), Some(Transform::WithoutLast(5)));
    }

    #[test]
    fn long_keys_are_tried_as_far_as_that_does_not_take_long() {
        for (len, least, most) in [(500_000, ENOUGH, 100), (5000, MOST, MOST), (20_000_000, 0, 0)] {
            let (mut search, mut key) = (Search::default(), vec![b'k'; len]);
            // A filter that matches whatever becomes of the keys.
            for i in 0..MOST {
                key[..8].copy_from_slice(&i.to_be_bytes());
                search.mismatch(&key, &[0xff, 0xff, 1]);
            }
            assert!((least..=most).contains(&search.tried), "{}", search.tried);
            assert_eq!(search.found().is_some(), search.tried >= ENOUGH);
        }
    }
}
