//! `size`: what filters cost and give, before there are any.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use leveldb_bloom::{
    MAX_USEFUL_BITS_PER_KEY, bits_per_key_for, false_positive_rate, filter_len, probes_for,
    validate,
};
use serde::Serialize;
use serde_json::json;

use crate::text::{bytes, percent, plural, tenths, wrap};
use crate::{numbers, print, print_json};

#[derive(Args)]
pub struct Size {
    /// Keys in one filter: 5k, 2M, 1B, 1e6
    #[arg(long, value_name = "N", value_parser = numbers::some::<u64>, default_value = "20")]
    keys: u64,
    /// The rate of false positives wanted: 0.01 or 1%
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<f64>,
    /// Bits per key, as NewBloomFilterPolicy takes them
    #[arg(long, value_name = "BITS", conflicts_with = "rate", allow_negative_numbers = true, value_parser = numbers::signed)]
    bits_per_key: Option<i32>,
    /// The most bytes that the filter may take
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes, conflicts_with_all = ["rate", "bits_per_key"])]
    bytes: Option<u64>,
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
}

/// What one setting gives.
#[derive(Serialize)]
struct Row {
    bits_per_key: i32,
    probes: u32,
    #[serde(rename = "bytes")]
    len: Option<usize>,
    #[serde(rename = "false_positive_rate")]
    rate: f64,
}

impl Row {
    fn new(bits_per_key: i32, keys: usize) -> Self {
        Row {
            bits_per_key,
            probes: probes_for(bits_per_key),
            len: filter_len(keys, bits_per_key),
            rate: false_positive_rate(bits_per_key, keys),
        }
    }

    fn cells(&self) -> [String; 4] {
        [
            self.bits_per_key.to_string(),
            self.probes.to_string(),
            self.len.map_or("too large".into(), |len| bytes(len as u64)),
            percent(self.rate),
        ]
    }
}

/// The bits per key whose filters fit into `bytes` and let the fewest absent keys pass; `None`
/// where even the smallest does not fit. Where there are one to three keys, or more than positions
/// of 32 bits can tell apart, that is not the largest number that fits.
fn bits_in(bytes: u64, keys: usize) -> Option<i32> {
    let fits = |bits: &i32| filter_len(keys, *bits).is_some_and(|len| len as u64 <= bytes);
    // The estimate is too low there, as a remark says, by up to this: of two keys, of which it
    // finds 44 bits each better than 6, 1.1 % of the absent ones pass, and 0.3 %.
    let missed = |bits| if keys <= 3 && bits > 16 { 6.0 } else { 1.0 };
    let rate = |bits: i32| false_positive_rate(bits, keys) * missed(bits);
    // The first of equal ones, which takes the least room.
    (1..=MAX_USEFUL_BITS_PER_KEY).filter(fits).min_by(|a, b| rate(*a).total_cmp(&rate(*b)))
}

/// The share of absent keys that have the hash of one of `keys` keys, whatever the filter.
fn floor(keys: u64) -> f64 {
    -(-(keys as f64) / 4_294_967_296.0).exp_m1()
}

pub fn run(args: &Size) -> Result<ExitCode, String> {
    let keys =
        usize::try_from(args.keys).map_err(|_| "this machine cannot address so many keys")?;
    let mut remarks = Vec::new();
    let chosen = if let Some(rate) = args.rate {
        let bits = bits_per_key_for(rate, keys);
        if bits.is_none() {
            remarks.push(none_gives(rate, args.keys));
        }
        bits
    } else if let Some(limit) = args.bytes {
        let bits = bits_in(limit, keys);
        if bits.is_none() {
            remarks.push(format!(
                "{} fit into {}, even at 1 bit per key: the smallest filter takes {}.",
                plural(args.keys, "key does not", "keys do not"),
                bytes(limit),
                filter_len(keys, 1).map_or("too much".into(), |len| bytes(len as u64))
            ));
        }
        bits
    } else {
        args.bits_per_key
    };
    let asked = args.rate.is_some() || args.bytes.is_some() || args.bits_per_key.is_some();
    let rows: Vec<_> = match chosen {
        Some(bits) => vec![Row::new(bits, keys)],
        None if asked => Vec::new(),
        None => [4, 6, 8, 10, 12, 14, 16, 20, 24, 30, 44].map(|bits| Row::new(bits, keys)).into(),
    };
    if let Some(Err(why)) = chosen.map(validate) {
        remarks.push(format!("Unwise: {why}."));
    }
    remarks.extend(honest(args.keys, &rows));
    if args.json {
        let value = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "keys": args.keys,
            "hash_collision_rate": floor(args.keys),
            "settings": rows,
            "remarks": remarks,
        });
        print_json(&value)?;
    } else {
        let mut text = format!("One filter of {}\n\n", plural(args.keys, "key", "keys"));
        if !rows.is_empty() {
            let mut table = Table::new();
            table.load_preset(presets::NOTHING);
            table.set_header(["bits per key", "k", "size", "false positives"]);
            for row in &rows {
                table.add_row(row.cells());
            }
            for column in table.column_iter_mut() {
                column.set_cell_alignment(CellAlignment::Right);
            }
            let _ = writeln!(text, "{}\n", table.trim_fmt());
        }
        for remark in &remarks {
            text += &wrap(remark, "- ");
        }
        print(&text)?;
    }
    // No setting does what was asked for.
    Ok(if rows.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Why there is no setting for a rate.
fn none_gives(rate: f64, keys: u64) -> String {
    let floor = floor(keys);
    let (numbers, why) = if floor > rate {
        ("number of bits", format!("the 32-bit hash alone gives {}", percent(floor)))
    } else {
        ("number up to 44 bits", "k stays at 30 from there on".into())
    };
    let (rate, keys) = (percent(rate), plural(keys, "key", "keys"));
    format!("No {numbers} per key gives {rate} with {keys} in one filter: {why}.")
}

/// The largest number that divides both the bits of a filter and 2^32 - 1. To rotate a hash is to
/// multiply it modulo 2^32 - 1, so that modulo this divisor all positions of a key follow from its
/// first.
fn shared_divisor(row: &Row) -> u64 {
    // A filter that cannot be made shares nothing.
    let (mut a, mut b) = (u64::from(u32::MAX), row.len.map_or(1, |len| (len as u64 - 1) * 8));
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// What a table of sizes leaves out.
fn honest(keys: u64, rows: &[Row]) -> Vec<String> {
    let mut remarks = Vec::new();
    let floor = floor(keys);
    if floor > 1e-5 {
        remarks.push(format!(
            "The hash has 32 bits: with {}, an absent key has the same hash as one of them with a probability of {}. \
             More bits do not lower this.",
            plural(keys, "key", "keys"),
            percent(floor)
        ));
    }
    if rows.iter().any(|row| row.bits_per_key > 43) {
        remarks.push("k stays at 30 from 44 bits per key on: more bits gain little.".into());
    }
    let uneven = rows.iter().filter(|row| shared_divisor(row) > 50);
    let uneven: Vec<_> = uneven.map(|row| row.bits_per_key.to_string()).collect();
    if !uneven.is_empty() {
        remarks.push(format!(
            "At {} bits per key the number of the filter's bits shares a divisor of 51 or more with \
             2^32 - 1, so that absent keys pass more often than these figures say: with 52,428 keys at 10 bits, 3.5 % \
             instead of 0.99 %.",
            uneven.join(", ")
        ));
    }
    if keys <= 20 && rows.iter().any(|row| row.bits_per_key > 16) {
        remarks.push(
            "At more than 16 bits per key so few keys have more false positives than these figures say: 1.5 \
             times as many for about 20 keys, twice as many for 10, and six times for fewer."
                .into(),
        );
    }
    // 4 bytes of offset and the filter of a slot, and the slot of 2 KiB beside it that stays empty.
    if let [Row { len: Some(len), .. }] = rows {
        if keys <= 200 {
            remarks.push(format!(
                "In a table, with blocks of 4 KiB that hold {} each, this is {} bits per key: the 4 \
                 bytes of offset for the filter and for the empty slot after it count too.",
                plural(keys, "key", "keys"),
                tenths((*len as f64 + 8.0) * 8.0 / keys.max(1) as f64)
            ));
        }
    }
    remarks
}

fn rate(text: &str) -> Result<f64, String> {
    let expected = "expected a rate between 0 and 1, such as 0.01 or 1%";
    let (number, factor) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent.trim(), 0.01),
        None => (text.trim(), 1.0),
    };
    let rate = number.parse::<f64>().map_err(|_| expected)? * factor;
    if rate > 0.0 && rate <= 1.0 { Ok(rate) } else { Err(expected.into()) }
}

#[cfg(test)]
mod tests {
    use leveldb_bloom::FilterPolicy;

    use super::*;

    #[test]
    fn rates() {
        assert_eq!(rate("1%"), Ok(0.01));
        assert_eq!(rate("0.001"), Ok(0.001));
        assert!(rate("0").is_err() && rate("2").is_err() && rate("NaN").is_err());
    }

    #[test]
    fn the_best_filter_that_fits() {
        assert_eq!(bits_in(126, 100), Some(10));
        assert_eq!(bits_in(125, 100), Some(9));
        assert_eq!(bits_in(8, 1), None);
        assert_eq!(bits_in(1 << 20, 100), Some(MAX_USEFUL_BITS_PER_KEY));
        // Positions have 32 bits, and with 44 bits per key the probes of so many keys set nearly
        // all.
        let bits = bits_in(6_000_000_000, 1_000_000_000).unwrap();
        assert!(bits < 8 && false_positive_rate(bits, 1_000_000_000) < 0.31, "{bits}");
    }

    /// In few bits a key's probes meet each other, and the more there are, the more pass.
    #[test]
    fn the_best_filter_of_few_keys_as_it_is_seen() {
        let seen = |bits: i32, keys: u32| {
            let policy = FilterPolicy::new(bits);
            let mut passed = 0;
            for first in (0..500).map(|number| number * 1_000_000) {
                let held: Vec<_> = (first..first + keys).map(|key| key.to_le_bytes()).collect();
                let filter = policy.create_filter(&held).unwrap();
                let absent = (first + keys..first + 1_000).map(|key| key.to_le_bytes());
                passed += absent.filter(|key| policy.key_may_match(key, &filter)).count() as u32;
            }
            f64::from(passed) / 500_000.0
        };
        for keys in [1, 2, 3, 4, 6] {
            for bytes in [9, 12, 24] {
                let best = bits_in(bytes, keys as usize).unwrap();
                let fits = |bits: &i32| filter_len(keys as usize, *bits).unwrap() as u64 <= bytes;
                let chosen = seen(best, keys);
                for bits in [6, 10, 20, 26, 44].into_iter().filter(fits) {
                    let other = seen(bits, keys);
                    assert!(
                        chosen < 1.5 * other,
                        "{keys} {bytes}: {best} {chosen}, {bits} {other}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_the_estimates_leave_out_is_said() {
        let remarks =
            |keys: u64, bits: i32| honest(keys, &[Row::new(bits, keys as usize)]).join(" ");
        for (keys, bits, uneven, few) in [
            (52_428, 10, true, false),
            (131_070, 20, true, false),
            (51, 8, true, false),
            (52, 10, false, false),
            (50_000, 10, false, false),
            (20, 17, false, true),
            (20, 16, false, false),
            (21, 17, false, false),
            (1, 44, false, true),
        ] {
            let said = remarks(keys, bits);
            assert_eq!(said.contains("divisor of 51 or more"), uneven, "{keys} {bits}: {said}");
            assert_eq!(said.contains("six times for fewer"), few, "{keys} {bits}: {said}");
        }
    }

    /// More than 44 bits give a small filter what 44 do not.
    #[test]
    fn only_what_the_hash_forbids_is_said_to_be_impossible() {
        assert!(bits_per_key_for(1e-5, 100).is_none() && false_positive_rate(100, 100) < 1e-5);
        let said = none_gives(1e-5, 100);
        assert!(
            said.starts_with("No number up to 44 bits per key gives 0.0010 % with 100 keys"),
            "{said}"
        );
        let said = none_gives(1e-9, 100);
        assert!(
            said.starts_with("No number of bits per key gives") && said.contains("hash alone"),
            "{said}"
        );
    }

    #[test]
    fn the_floor_is_that_of_the_hash() {
        assert!((floor(50_000_000) - 0.01157).abs() < 1e-4);
        assert!(false_positive_rate(44, 50_000_000) >= floor(50_000_000));
        let is_said = |keys| honest(keys, &[]).join(" ").contains("The hash has 32 bits");
        assert_eq!((is_said(40_000), is_said(45_000)), (false, true));
    }
}
