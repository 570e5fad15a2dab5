//! Filters of many shapes, made and asked: so many keys, of so many bytes each, at so many bits a
//! key.
//!
//! Where the table has the work that a database does most, this looks for what is slower than stock
//! anywhere.

use std::env;
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::Options;
use crate::keys::Keys;
use crate::machine::Machine;
use crate::measure::{self, Effort, Figure};
use crate::progress::Progress;
use crate::side::Side;
use crate::sides;
use crate::work::{ASKED, Given, How, Work, query};

/// Every number up to where a filter no longer fits registers, and then around the kernels' blocks.
const NUMBERS: [usize; 23] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 33, 50, 64, 65, 70, 100, 200, 1000];
const LENGTHS: [usize; 15] = [0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 33, 64, 100];
const BITS: [i32; 8] = [0, 1, 2, 3, 5, 10, 20, 44];

#[derive(Serialize)]
pub struct Shapes {
    kind: &'static str,
    machine: Machine,
    shapes: Vec<Measured>,
}

#[derive(Serialize)]
struct Measured {
    #[serde(flatten)]
    shape: Shape,
    figures: Vec<Figure>,
    /// How many processes the figures are the middle ones of.
    processes: usize,
}

#[derive(Serialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Task {
    Create,
    QueryPresent,
    QueryAbsent,
}

#[derive(Serialize, Clone, Copy)]
struct Shape {
    task: Task,
    keys: usize,
    bytes: usize,
    bits: i32,
}

impl Shape {
    fn all() -> Vec<Shape> {
        let mut all = Vec::new();
        for task in [Task::Create, Task::QueryPresent, Task::QueryAbsent] {
            // There are not enough keys of less than two bytes that a filter has not.
            let first = if task == Task::QueryAbsent { 2 } else { 0 };
            for keys in NUMBERS {
                for &bytes in &LENGTHS[first..] {
                    all.extend(BITS.map(|bits| Shape { task, keys, bytes, bits }));
                }
            }
        }
        all
    }

    fn name(self) -> String {
        let one = |n| if n == 1 { "" } else { "s" };
        let Shape { task, keys, bytes, bits } = self;
        let task = match task {
            Task::Create => "create",
            Task::QueryPresent => "query, present",
            Task::QueryAbsent => "query, absent",
        };
        format!("{task}, {keys} key{} of {bytes} byte{} at {bits}", one(keys), one(bytes))
    }

    fn work(self) -> Work {
        let Shape { task, keys, bytes, bits } = self;
        if task == Task::Create {
            let list = Keys::random(4_000 / keys * keys, bytes..=bytes, 1);
            return Work::Create { keys: list, per: keys, bits, given: Given::Listed };
        }
        let members = Keys::random(keys, bytes..=bytes, 7);
        query(members, task == Task::QueryPresent, bits, How::OneByOne, ASKED)
    }
}

/// What a shape is called slow by, and how many rounds say so.
const SLOWER: f64 = 1.0;
const ROUNDS: usize = 25;

/// A shape that is slow is measured by so many processes in all, in so many rounds by each but the
/// first, and the middle one counts. Where libraries, filters and keys lie in memory changes from one
/// process to the next, and with it what a query of a few nanoseconds takes, stock's as well as ours.
const PROCESSES: usize = 5;
const ROUNDS_OF_OTHERS: usize = 101;

/// Measures every shape, and prints what is slower than stock, and how much faster the others are.
///
/// # Errors
/// A side whose filters are not stock's.
pub fn run(options: &Options) -> Result<Shapes, String> {
    let all: Vec<Shape> =
        Shape::all().into_iter().filter(|shape| shape.name().contains(&options.rows)).collect();
    if all.is_empty() {
        return Err(format!("no shape has {:?} in its name", options.rows));
    }
    let sides = options.sides.open_drop_in()?;
    let mut found = Shapes { kind: "shapes", machine: Machine::this(), shapes: Vec::new() };
    if !options.json {
        println!("{}\n", found.machine);
        let titles = ["Slower than stock:", "", "ns each", "x", sides::STOCK_COPY];
        let [shape, side, ns, x, copy] = titles;
        println!("{shape:48} {side:16} {ns:>8} {x:>6} {copy:>12}");
    }
    let effort = options.effort();
    let few = Effort { rounds: effort.rounds.min(ROUNDS), ..effort };
    // Stock's copy is slower than stock every other time: it only shows how much that says.
    let is_copy = |figure: &Figure| figure.side == sides::STOCK_COPY;
    let slower = |figure: &Figure| figure.ratio.median < SLOWER && !is_copy(figure);
    let alike = |a: &Shape, b: &Shape| (a.task, a.keys) == (b.task, b.keys);
    let mut progress = Progress::new(all.chunk_by(alike).count());
    for shapes in all.chunk_by(alike) {
        progress.next(&shapes[0].name());
        for &shape in shapes {
            let name = shape.name();
            let mut all = vec![measure(shape, &sides, few)?];
            if all[0].iter().any(slower) {
                for _ in 1..PROCESSES {
                    all.push(in_a_process(options, &name)?);
                }
            }
            let processes = all.len();
            let figures = middle(all);
            for figure in figures.iter().filter(|figure| !options.json && slower(figure)) {
                progress.clear();
                let (ns, x) = (figure.ns.median, figure.ratio.median);
                let copy = figures.iter().find(|figure| is_copy(figure));
                let copy = copy.map(|copy| format!("{:.3}", copy.ratio.median)).unwrap_or_default();
                println!("{name:48} {:16} {ns:8.2} {x:6.3} {copy:>12}", figure.side);
            }
            found.shapes.push(Measured { shape, figures, processes });
        }
    }
    progress.clear();
    if !options.json {
        println!();
        for shapes in found.shapes.chunk_by(|a, b| a.shape.task == b.shape.task) {
            (1..sides.len()).for_each(|side| summarize(shapes, side));
        }
        let again = found.shapes.iter().filter(|measured| measured.processes > 1).count();
        println!(
            "\n{again} of {} shapes were measured by {PROCESSES} processes",
            found.shapes.len()
        );
    }
    Ok(found)
}

fn measure(shape: Shape, sides: &[Box<dyn Side>], effort: Effort) -> Result<Vec<Figure>, String> {
    measure::compare(&shape.work(), sides, effort)
        .map_err(|error| format!("{}: {error}", shape.name()))
}

/// Measures the shape of this name.
///
/// # Errors
/// No such shape, or a side whose filters are not stock's.
pub fn one(options: &Options, name: &str) -> Result<Vec<Figure>, String> {
    let shape = Shape::all().into_iter().find(|shape| shape.name() == name);
    let shape = shape.ok_or_else(|| format!("no shape is called {name:?}"))?;
    measure(shape, &options.sides.open_drop_in()?, options.effort())
}

/// [`one`] by another process.
fn in_a_process(options: &Options, name: &str) -> Result<Vec<Figure>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{name}, in another process: {error}");
    let sides = &options.sides;
    let output = env::current_exe()
        .map(Command::new)
        .and_then(|mut command| {
            command
                .args(sides.arguments())
                .args(
                    (!sides.names.is_empty()).then(|| format!("--sides={}", sides.names.join(","))),
                )
                .arg(format!("--rounds={ROUNDS_OF_OTHERS}"))
                .args(["--json", "shape", name])
                .stderr(Stdio::inherit())
                .output()
        })
        .map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))
}

/// For each side the figure whose ratio is in the middle.
fn middle(all: Vec<Vec<Figure>>) -> Vec<Figure> {
    let mut by_side: Vec<Vec<Figure>> = Vec::new();
    for figures in all {
        by_side.resize_with(figures.len(), Vec::new);
        for (side, figure) in by_side.iter_mut().zip(figures) {
            side.push(figure);
        }
    }
    by_side
        .into_iter()
        .map(|mut figures| {
            figures.sort_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
            let middle = figures.len() / 2;
            figures.swap_remove(middle)
        })
        .collect()
}

/// Prints how one of the sides did over all shapes of a task.
fn summarize(shapes: &[Measured], side: usize) {
    let ratio = |measured: &Measured| measured.figures[side].ratio.median;
    let mut sorted: Vec<&Measured> = shapes.iter().collect();
    sorted.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let slower = sorted.iter().filter(|measured| ratio(measured) < SLOWER).count();
    let (least, middle) = (sorted[0], sorted[sorted.len() / 2]);
    println!(
        "{:16} {slower} of {} slower than stock; half of them {:.1} times as fast or more; least {:.3} ({})",
        least.figures[side].side,
        sorted.len(),
        ratio(middle),
        ratio(least),
        least.shape.name()
    );
}
