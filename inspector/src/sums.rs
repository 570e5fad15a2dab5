//! What was counted in a table, and in many of them together.

use std::collections::BTreeMap;

use derive_more::AddAssign;
use leveldb_bloom::{Encoding, FilterInfo, probes_for};
use leveldb_bloom_table::Compression;
use serde::Serialize;

use crate::absent::{Answers, Asked};

/// The fill of filters is counted in steps of 5 %.
pub const FILL_STEPS: u64 = 20;

/// Counts that add up over tables.
#[derive(Clone, Default, AddAssign)]
pub struct Sums {
    pub tables: u64,
    pub tables_with_filters: u64,
    pub file_bytes: u64,
    /// As stored, with trailers.
    pub index_bytes: u64,
    pub data_blocks: u64,
    /// Of these, those that could not be read, or not to their ends.
    pub blocks_unread: u64,
    /// As stored, with trailers.
    pub data_bytes: u64,
    /// Decompressed, of those that were read.
    pub contents_bytes: u64,
    /// Data blocks by how they are stored.
    pub compressions: Counts<Compression>,
    pub entries: u64,
    pub deletions: u64,
    /// Filter blocks as stored, with trailers.
    pub filter_block_bytes: u64,
    pub slots: u64,
    pub empty_slots: u64,
    /// Slots by their `base_lg`.
    pub bases: Counts,
    /// Blocks that begin beyond the last filter: LevelDB reads those for any key.
    pub uncovered_blocks: u64,
    /// Entries that a Get does not look for in their table, by the range that the MANIFEST gives
    /// it.
    pub keys_outside: u64,
    pub bloom: BloomSums,
    pub settings: Settings,
}

/// What only filters of LevelDB's format have.
#[derive(Clone, Default, AddAssign)]
pub struct BloomSums {
    pub filters: u64,
    /// Filters of neither encoding, which match every key.
    pub match_all: u64,
    /// The others, by encoding, and the tables that have such filters.
    pub encodings: Counts<&'static str>,
    pub tables: Counts<&'static str>,
    /// Ribbon filters by the bits of a slot.
    pub ribbon_bits: Counts,
    pub filter_bytes: u64,
    /// The filter blocks that they are in, as stored, with trailers.
    pub block_bytes: u64,
    /// Of these, what is in tables that were read without an error, and the keys of those.
    pub whole_block_bytes: u64,
    pub whole_keys: u64,
    pub bits: u64,
    /// Without those of ribbon filters, of which a half is set, whatever they hold. So with all that
    /// follows from k.
    pub bloom_bits: u64,
    pub bits_set: u64,
    pub keys_per_filter: Counts,
    pub probes: Counts,
    /// Filters by fill, in [`FILL_STEPS`].
    pub fill: Counts,
    /// By weight, as all rates: otherwise a small table with another setting would move the
    /// measured rate as much as a large one, and the estimated rate hardly.
    pub estimated_rate: f64,
    pub weight: f64,
    pub answers: Answers,
    /// Of the filters that were asked for random keys; of the ribbon filters among these; and of those that
    /// were asked for neighbours.
    asked_filters: AskedFilters,
    asked_ribbon: AskedFilters,
    asked_near: AskedFilters,
    pub keys_checked: u64,
    pub keys_lost: u64,
    /// From the filters alone, where no data was read.
    pub estimated_keys: f64,
}

/// Of filters that were asked for absent keys, which may be fewer than there are.
#[derive(Clone, Default, AddAssign)]
pub struct AskedFilters {
    measured_rate: f64,
    estimated_rate: f64,
    weight: f64,
    /// How far chance moves the measured rate, squared, if the estimates are right.
    variance: f64,
}

impl AskedFilters {
    fn rate(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.measured_rate / self.weight)
    }
}

impl BloomSums {
    /// Counts a filter; `weight` is the share it has in the rates.
    pub fn add_filter(&mut self, info: &FilterInfo, len: usize, weight: f64) {
        self.filters += 1;
        self.filter_bytes += len as u64;
        self.bits += info.bits;
        let probes = u64::from(info.probes);
        if info.encoding == Encoding::Ribbon {
            self.encodings.count("ribbon");
            self.ribbon_bits.count(probes);
        } else {
            self.bloom_bits += info.bits;
            self.bits_set += info.bits_set;
            self.probes.count(probes);
            self.fill.count(((info.fill * FILL_STEPS as f64) as u64).min(FILL_STEPS - 1));
            match info.probes {
                1..=leveldb_bloom::MAX_PROBES => self.encodings.count("bloom"),
                _ => self.match_all += 1,
            }
        }
        self.estimated_rate += info.false_positive_rate * weight;
        self.weight += weight;
        if info.estimated_keys.is_finite() {
            self.estimated_keys += info.estimated_keys;
        }
    }

    /// Counts what a filter answered that was asked for absent keys; `weight` as in `add_filter`.
    pub fn add_answers(&mut self, info: &FilterInfo, weight: f64, answers: Answers) {
        let of = |answers: Asked| match answers.asked {
            0 => AskedFilters::default(),
            asked => AskedFilters {
                measured_rate: answers.rate() * weight,
                estimated_rate: info.false_positive_rate * weight,
                weight,
                variance: info.false_positive_rate.max(1e-6) / asked as f64 * weight * weight,
            },
        };
        self.answers += answers;
        if info.encoding == Encoding::Ribbon {
            self.asked_ribbon += of(answers.random);
        }
        self.asked_filters += of(answers.random);
        self.asked_near += of(answers.near);
    }

    /// Bits per key, offsets and all; nothing where no table's keys are known. `data` says whether
    /// keys were read: those of damaged tables are not all there.
    pub fn spent(&self, data: bool) -> Option<f64> {
        let (bytes, keys) = match data {
            true => (self.whole_block_bytes, self.whole_keys as f64),
            false => (self.block_bytes, self.estimated_keys),
        };
        (keys > 0.0).then(|| bytes as f64 * 8.0 / keys)
    }

    pub fn fill(&self) -> f64 {
        ratio(self.bits_set as f64, self.bloom_bits as f64)
    }

    pub fn estimated(&self) -> f64 {
        ratio(self.estimated_rate, self.weight)
    }

    /// The share of random absent keys that pass; nothing where none was asked.
    pub fn measured(&self) -> Option<f64> {
        self.asked_filters.rate()
    }

    /// The share of absent neighbours that pass.
    pub fn neighbours(&self) -> Option<f64> {
        self.asked_near.rate()
    }

    pub fn ribbons(&self) -> u64 {
        self.ribbon_bits.total()
    }

    /// The measured rates of filters that are no ribbon filters, and of those that are.
    pub fn measured_apart(&self) -> [Option<f64>; 2] {
        let (all, ribbon) = (&self.asked_filters, &self.asked_ribbon);
        let others = AskedFilters {
            measured_rate: (all.measured_rate - ribbon.measured_rate).max(0.0),
            weight: all.weight - ribbon.weight,
            ..AskedFilters::default()
        };
        [others.rate(), ribbon.rate()]
    }

    /// What the fill of the filters that were asked explains, and how far off chance alone may be.
    pub fn expected(&self) -> (f64, f64) {
        let sums = &self.asked_filters;
        (ratio(sums.estimated_rate, sums.weight), 4.0 * ratio(sums.variance.sqrt(), sums.weight))
    }
}

pub fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// How often each was seen.
#[derive(Clone)]
pub struct Counts<T = u64>(pub BTreeMap<T, u64>);

impl<T> Default for Counts<T> {
    fn default() -> Self {
        Counts(BTreeMap::new())
    }
}

impl<T: Ord> Counts<T> {
    pub fn count(&mut self, what: T) {
        self.count_times(what, 1);
    }

    pub fn count_times(&mut self, what: T, times: u64) {
        *self.0.entry(what).or_default() += times;
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

impl<T: Ord> std::ops::AddAssign for Counts<T> {
    fn add_assign(&mut self, other: Self) {
        for (what, times) in other.0 {
            self.count_times(what, times);
        }
    }
}

impl Counts {
    pub fn get(&self, number: u64) -> u64 {
        self.0.get(&number).copied().unwrap_or(0)
    }

    pub fn min(&self) -> u64 {
        self.0.keys().next().copied().unwrap_or(0)
    }

    pub fn max(&self) -> u64 {
        self.0.keys().next_back().copied().unwrap_or(0)
    }

    pub fn median(&self) -> u64 {
        let middle = self.total() / 2;
        let mut seen = 0;
        let middle = self.0.iter().find(|(_, count)| {
            seen += **count;
            seen > middle
        });
        middle.map_or(0, |(&number, _)| number)
    }

    pub fn mean(&self) -> f64 {
        let sum: f64 = self.0.iter().map(|(&number, &count)| number as f64 * count as f64).sum();
        ratio(sum, self.total() as f64)
    }

    /// At most `most` ranges of equal width that cover all numbers, with their counts.
    pub fn ranges(&self, most: u64) -> Vec<(u64, u64, u64)> {
        let width = ((self.max() - self.min()) / most.max(1)).saturating_add(1);
        let mut ranges = Vec::new();
        let mut first = self.min();
        while first <= self.max() {
            let last = first.saturating_add(width - 1);
            ranges.push((first, last, self.0.range(first..=last).map(|(_, count)| count).sum()));
            let Some(next) = last.checked_add(1) else { break };
            first = next;
        }
        ranges
    }
}

/// The bits per key that a policy can have been given, for the filters it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Settings {
    pub least: i32,
    pub most: i32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { least: 0, most: i32::MAX }
    }
}

impl Settings {
    /// No number of bits can have made all filters.
    pub fn differ(&self) -> bool {
        self.least > self.most
    }

    /// The one number, or the smallest of several that make the same filters.
    pub fn one(&self) -> Option<i32> {
        (!self.differ() && *self != Settings::default()).then_some(self.least)
    }

    /// A filter of `bits` bits and `probes` probes was made for `keys` keys.
    pub fn saw(&mut self, bits: u64, probes: u32, keys: u64) {
        let (least, most) = (bits.saturating_sub(7).div_ceil(keys.max(1)), bits / keys.max(1));
        let of_size = |bits: u64| i32::try_from(bits).unwrap_or(i32::MAX);
        // 64 bits may be the minimum rather than what the keys take.
        let least = if bits <= 64 { 0 } else { of_size(least) };
        *self += Settings { least, most: of_size(most) };
        *self += of_probes(probes);
    }
}

impl std::ops::AddAssign for Settings {
    fn add_assign(&mut self, other: Self) {
        self.least = self.least.max(other.least);
        self.most = self.most.min(other.most);
    }
}

/// The bits per key that give this number of probes.
pub fn of_probes(probes: u32) -> Settings {
    let with = |bits: &i32| probes_for(*bits) == probes;
    let most = if probes == leveldb_bloom::MAX_PROBES { None } else { (0..=64).rev().find(with) };
    Settings { least: (0..=64).find(with).unwrap_or(0), most: most.unwrap_or(i32::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveldb_bloom::filter_len;

    #[test]
    fn settings_are_found_from_filters() {
        for bits_per_key in 1..=100 {
            let mut settings = Settings::default();
            for keys in [1, 7, 20, 33, 1000] {
                let bits = (filter_len(keys, bits_per_key).unwrap() as u64 - 1) * 8;
                settings.saw(bits, probes_for(bits_per_key), keys as u64);
            }
            assert_eq!(settings, Settings { least: bits_per_key, most: bits_per_key });
        }
        let mut settings = Settings::default();
        assert_eq!(settings.one(), None);
        settings.saw(64, 6, 2);
        assert_eq!((settings.least, settings.most), (9, 10));
        settings.saw(1600, 11, 100);
        assert!(settings.differ());
    }

    #[test]
    fn counts() {
        let mut counts = Counts::default();
        assert_eq!((counts.min(), counts.median(), counts.max()), (0, 0, 0));
        for number in [5, 1, 9, 9, 2] {
            counts.count(number);
        }
        assert_eq!((counts.min(), counts.median(), counts.max()), (1, 5, 9));
        assert_eq!(counts.ranges(3), [(1, 3, 2), (4, 6, 1), (7, 9, 2)]);
        assert_eq!(counts.ranges(100).len(), 9);
    }
}
