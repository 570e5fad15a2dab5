//! How the cost of a key grows: with the number of keys, the bits a key, the length of a key.

use std::fs;

use serde::Serialize;

use crate::Options;
use crate::keys::Keys;
use crate::machine::Machine;
use crate::measure::{self, Figure};
use crate::progress::Progress;
use crate::work::{ASKED, BITS, Given, How, Work, query};

#[derive(Serialize)]
pub struct Scale {
    kind: &'static str,
    machine: Machine,
    series: Vec<Series>,
}

#[derive(Serialize)]
struct Series {
    name: &'static str,
    /// What x is.
    x: &'static str,
    points: Vec<Point>,
}

#[derive(Serialize)]
struct Point {
    x: usize,
    figures: Vec<Figure>,
}

/// 1, 2, 5, 10, 20, 50 and so on.
fn numbers(last: usize) -> Vec<usize> {
    (0..).flat_map(|e| [1, 2, 5].map(|n| n * 10_usize.pow(e))).take_while(|&n| n <= last).collect()
}

fn create_many(n: usize) -> Work {
    let keys = n.max(4_000) / n * n;
    Work::Create { keys: Keys::random(keys, 16..=16, 1), per: n, bits: BITS, given: Given::Listed }
}

fn ask_many(n: usize, present: bool) -> Work {
    // As many that the last cache does not hold what they read.
    let asked = (n / 10).clamp(ASKED, 1_000_000);
    query(Keys::random(n, 16..=16, 7), present, BITS, How::OneByOne, asked)
}

fn create_bits(bits: usize) -> Work {
    let keys = Keys::random(4_000, 16..=16, 1);
    Work::Create { keys, per: 1_000, bits: bits as i32, given: Given::Listed }
}

fn ask_bits(bits: usize, present: bool) -> Work {
    query(Keys::random(1_000, 16..=16, 7), present, bits as i32, How::OneByOne, ASKED)
}

fn create_long(len: usize) -> Work {
    let keys = Keys::random(1_000, len..=len, 1);
    Work::Create { keys, per: 1_000, bits: BITS, given: Given::Listed }
}

fn ask_long(len: usize, present: bool) -> Work {
    // Long keys take the time whatever the branches do; they need not be so many.
    let asked = (8_000_000 / len.max(1)).clamp(1_000, ASKED);
    query(Keys::random(1_000, len..=len, 7), present, BITS, How::OneByOne, asked)
}

type Make = Box<dyn Fn(usize) -> Work>;

fn memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The largest filter that there is memory for: keys, their list, and what a side takes itself.
fn most_keys(quick: bool) -> usize {
    let wanted = if quick { 1_000_000 } else { 100_000_000 };
    let fits = memory().map_or(wanted, |bytes| (bytes / 2 / 48) as usize);
    if fits < wanted {
        eprintln!("There is memory for filters of {fits} keys and no more.");
    }
    wanted.min(fits)
}

/// Measures every point.
///
/// # Errors
/// A side whose filters or answers are not stock's.
pub fn run(options: &Options) -> Result<Scale, String> {
    let many = numbers(most_keys(options.quick));
    let bits: Vec<usize> = (1..=50).collect();
    let lengths =
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 20, 24, 28, 31, 32, 33, 40, 48, 63, 64];
    let lengths = lengths.into_iter().chain([65, 80, 100, 128, 160, 200, 256, 384, 512, 768, 1024]);
    let lengths: Vec<usize> = lengths.chain([1536, 2048, 3072, 4096]).collect();
    let make = |make: fn(usize) -> Work| -> Make { Box::new(make) };
    let ask =
        |make: fn(usize, bool) -> Work, present| -> Make { Box::new(move |x| make(x, present)) };
    let all: Vec<(&str, &str, &[usize], Make)> = vec![
        ("create", "keys in a filter", &many, make(create_many)),
        ("query, present", "keys in a filter", &many, ask(ask_many, true)),
        ("query, absent", "keys in a filter", &many, ask(ask_many, false)),
        ("create", "bits a key", &bits, make(create_bits)),
        ("query, present", "bits a key", &bits, ask(ask_bits, true)),
        ("query, absent", "bits a key", &bits, ask(ask_bits, false)),
        ("create", "bytes of a key", &lengths, make(create_long)),
        ("query, present", "bytes of a key", &lengths, ask(ask_long, true)),
        // There are not enough keys of less than two bytes that a filter of 1,000 has not.
        ("query, absent", "bytes of a key", &lengths[2..], ask(ask_long, false)),
    ];
    let asked_for = |name: &str, x: &str| format!("{name}, {x}").contains(&options.rows);
    let all: Vec<_> = all.into_iter().filter(|(name, x, ..)| asked_for(name, x)).collect();
    if all.is_empty() {
        return Err(format!("no curve has {:?} in its name", options.rows));
    }
    let sides = options.sides.open(false)?;
    let machine = Machine::this();
    let mut progress = Progress::new(all.iter().map(|(_, _, xs, _)| xs.len()).sum());
    let mut series = Vec::new();
    for (name, x, xs, make) in all {
        let mut points = Vec::new();
        if !options.json {
            println!("\n{name}, {x}, nanoseconds each");
            print!("{x:>18}");
            sides.iter().for_each(|side| print!(" {:>16}", side.name()));
            println!();
        }
        for &n in xs {
            progress.next(&format!("{name}: {n} {x}"));
            let figures = measure::compare(&make(n), &sides, options.effort())
                .map_err(|error| format!("{name}, {n} {x}: {error}"))?;
            progress.clear();
            if !options.json {
                print!("{n:18}");
                figures.iter().for_each(|figure| print!(" {:16.2}", figure.ns.median));
                println!();
            }
            points.push(Point { x: n, figures });
        }
        series.push(Series { name, x, points });
    }
    Ok(Scale { kind: "scale", machine, series })
}
