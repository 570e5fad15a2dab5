//! What was compared, in words: a few lines for the terminal, a document to commit.

use std::fmt::Write;

use indicatif::{HumanCount, HumanDuration};

use crate::compare::{Sides, Tally};
use crate::{Done, Options};

pub struct Text {
    summary: String,
    document: String,
}

impl Text {
    pub fn summary(&self) -> &str {
        &self.summary
    }

    pub fn document(&self) -> &str {
        &self.document
    }
}

pub fn text(sides: &Sides, options: &Options, all: &[Done]) -> Text {
    let mut asked = Tally::default();
    let mut answered = vec![Tally::default(); sides.doors.len()];
    for done in all {
        asked.add(&done.asked);
        answered.iter_mut().zip(&done.answered).for_each(|(all, tally)| all.add(tally));
    }
    let sum = |count: fn(&Tally) -> u64| answered.iter().map(count).sum::<u64>();
    let (queries, filters) = (sum(|tally| tally.queries), sum(|tally| tally.filters));
    let took = all.iter().map(|done| done.took).sum();

    let summary = format!(
        "LevelDB answered {} queries and made {} filters; {} answers and {} filters of ours were \
         compared with them, in {}: no difference\n",
        HumanCount(asked.queries),
        HumanCount(asked.filters),
        HumanCount(queries),
        HumanCount(filters),
        HumanDuration(took),
    );

    let mut text = String::from(INTRODUCTION);
    for fact in &options.facts {
        let (name, value) = fact.split_once('=').unwrap_or((fact, ""));
        line(&mut text, &[name, value]);
    }
    line(&mut text, &["Seed", &options.seed.to_string()]);
    line(&mut text, &["Threads", &options.jobs.to_string()]);
    line(&mut text, &["Time", &format!("{:.0} s", took.as_secs_f64())]);
    line(&mut text, &["Queries asked of LevelDB", &number(asked.queries)]);
    line(&mut text, &["of these with the answer \"may match\"", &number(asked.matches)]);
    line(&mut text, &["Filters made by LevelDB", &number(asked.filters)]);
    line(&mut text, &["of so many keys", &number(asked.keys)]);
    line(&mut text, &["of so many bytes", &number(asked.filter_bytes)]);
    line(&mut text, &["Answers of ours compared", &number(queries)]);
    line(&mut text, &["Filters of ours compared", &number(filters)]);
    line(&mut text, &["Differences", "0"]);

    text.push_str("\n## Stage by stage\n\n");
    line(&mut text, &["Stage", "Queries asked of LevelDB", "Filters made by it"]);
    line(&mut text, &["---", "---:", "---:"]);
    for done in all {
        let (queries, filters) = (number(done.asked.queries), number(done.asked.filters));
        let name = format!("{}: {}", done.stage.name, done.stage.description);
        line(&mut text, &[&name, &queries, &filters]);
    }

    text.push_str("\n## Kernel by kernel, door by door\n\n");
    line(&mut text, &["Kernel", "Door", "Answers compared", "Filters compared", "Their keys"]);
    line(&mut text, &["---", "---", "---:", "---:", "---:"]);
    for (door, tally) in sides.doors.iter().zip(&answered) {
        let (queries, filters) = (number(tally.queries), number(tally.filters));
        line(&mut text, &[door.kernel(), door.name(), &queries, &filters, &number(tally.keys)]);
    }
    text.push_str(DOORS);
    Text { summary, document: text }
}

fn number(count: u64) -> String {
    HumanCount(count).to_string()
}

fn line(text: &mut String, columns: &[&str]) {
    let _ = writeln!(text, "| {} |", columns.join(" | "));
}

const INTRODUCTION: &str = "\
# Verification

What the last long run of `scripts/verify.sh` found; the script writes this file.

LevelDB's own library and ours are loaded into one process. Both make every filter and answer every
query, ours through each of its doors with each kernel that the machine has, and every byte and every
answer is compared. A query is a key and a filter; it counts once here, however many answers of ours
were compared with LevelDB's.

|   |   |
|---|---|
";

const DOORS: &str = "
Each door's code is seen to be ours, and LevelDB's to be LevelDB's, by the file that it was loaded
from, and the kernel and the route by the library's statistics. `scripts/verify.sh --planted` puts a
wrong bit and a wrong answer into each door of each kernel in turn, and sees each one found.

On AMD's fourth generation (family 25) the kernel avx512 leaves filters of 42 to 4,097 bytes to the code of
avx2 where the first two keys and the last have one length.

- Rust API: `append_filter` and `key_may_match`; many keys: `keys_may_match`; many filters:
  `FilterBuilder` and `filters_may_match`; flat keys: `create_filter_from` and
  `keys_may_match_bitmap` with `FlatKeys`; hashes: `union` of two builders' parts and `hash_may_match`
  (which knows no kernels).
- C functions: `leveldb_bloom_create_filter` and `leveldb_bloom_key_may_match`; batch:
  `leveldb_bloom_fill_filter` and `leveldb_bloom_keys_may_match`; flat keys: their `_offsets32`
  siblings, with results, bitmap and count; builder, many filters: `leveldb_bloom_builder_add`,
  `leveldb_bloom_builder_finish` and `leveldb_bloom_filters_may_match`.
- Callback table: our callbacks in an object of LevelDB's `leveldb_filterpolicy_create`, called through
  its virtual functions.
- Drop-in object: what our `leveldb_filterpolicy_create_bloom` returns, called through its virtual
  functions; filters reach LevelDB's `std::string` as in a database.
";
