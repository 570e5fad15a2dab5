//! The table: every row of work, every side.

use serde::Serialize;

use crate::Options;
use crate::machine::Machine;
use crate::measure::{self, Figure};
use crate::progress::Progress;
use crate::work::{self, Targets};

#[derive(Serialize)]
pub struct Table {
    kind: &'static str,
    machine: Machine,
    /// How the drop-in policy hands its filters over; stock's `std::string::append` at best.
    drop_in_route: String,
    rows: Vec<Measured>,
}

#[derive(Serialize)]
struct Measured {
    name: &'static str,
    unit: &'static str,
    figures: Vec<Figure>,
}

fn target(targets: &Targets, side: &str) -> Option<f64> {
    match side {
        "portable" => targets.portable,
        "avx2" => targets.avx2,
        "avx512" => targets.avx512,
        side if side.starts_with("drop-in") => targets.drop_in,
        _ => None,
    }
}

fn print(row: &Measured) {
    let mut name = row.name;
    for figure in &row.figures {
        let ns = &figure.ns;
        print!("{name:46} {:16} {:8.2}  {:15}", figure.side, ns.median, between(ns.q1, ns.q3));
        name = "";
        if figure.side == "stock" {
            println!();
            continue;
        }
        let ratio = &figure.ratio;
        print!(" {:6.2}  {:13}", ratio.median, between(ratio.q1, ratio.q3));
        match figure.target {
            Some(target) if ratio.median < target => println!(" {target:6.2}  missed"),
            Some(target) => println!(" {target:6.2}"),
            None => println!(),
        }
    }
}

fn between(low: f64, high: f64) -> String {
    format!("{low:.2}-{high:.2}")
}

/// Measures the rows, and prints each unless the output is for machines.
///
/// # Errors
/// A side whose filters or answers are not stock's.
pub fn run(options: &Options) -> Result<Table, String> {
    let rows: Vec<_> = work::rows()
        .into_iter()
        .filter(|row| row.name.contains(&options.rows) && !(options.quick && row.long))
        .collect();
    if rows.is_empty() {
        return Err(format!("no row has {:?} in its name", options.rows));
    }
    let sides = options.sides.open(options.peers)?;
    let mut table = Table {
        kind: "table",
        machine: Machine::this(),
        drop_in_route: options.sides.drop_in_route()?,
        rows: Vec::new(),
    };
    if !options.json {
        println!("{}", table.machine);
        println!("The drop-in policy's route to its host: {}\n", table.drop_in_route);
        println!(
            "{:46} {:16} {:>8}  {:15} {:>6}  {:13} {:>6}",
            "", "", "ns each", "quartiles", "x", "quartiles", "target"
        );
    }
    let mut progress = Progress::new(rows.len());
    for row in rows {
        progress.next(row.name);
        let work = (row.make)();
        let figures = measure::compare(&work, &sides, options.effort())
            .map_err(|error| format!("{}: {error}", row.name))?;
        let figures = figures
            .into_iter()
            .map(|figure| Figure { target: target(&row.targets, &figure.side), ..figure })
            .collect();
        let measured = Measured { name: row.name, unit: row.unit, figures };
        progress.clear();
        if !options.json {
            print(&measured);
        }
        table.rows.push(measured);
    }
    Ok(table)
}
