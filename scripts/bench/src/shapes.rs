//! Filters of many shapes: so many keys, of so many bytes each, at so many bits a key.
//!
//! Where the table has the work that a database does most, this looks for what is slower than stock
//! anywhere.

use serde::Serialize;

use crate::Options;
use crate::keys::Keys;
use crate::machine::Machine;
use crate::measure::{self, Effort, Figure};
use crate::progress::Progress;
use crate::work::{Given, Work};

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
}

#[derive(Serialize, Clone, Copy)]
struct Shape {
    keys: usize,
    bytes: usize,
    bits: i32,
}

impl Shape {
    fn all() -> impl Iterator<Item = Shape> {
        NUMBERS.into_iter().flat_map(|keys| {
            LENGTHS.into_iter().flat_map(move |bytes| BITS.map(|bits| Shape { keys, bytes, bits }))
        })
    }

    fn name(self) -> String {
        let one = |n| if n == 1 { "" } else { "s" };
        let Shape { keys, bytes, bits } = self;
        format!("{keys} key{} of {bytes} byte{} at {bits}", one(keys), one(bytes))
    }

    fn work(self) -> Work {
        let keys = Keys::random(4_000 / self.keys * self.keys, self.bytes..=self.bytes, 1);
        Work::Create { keys, per: self.keys, bits: self.bits, given: Given::Listed }
    }
}

/// What a shape is called slow by, and how many rounds say so: where the first few do, more are asked.
const SLOWER: f64 = 1.0;
const ROUNDS: usize = 25;

/// Measures every shape, and prints what is slower than stock, and how much faster the others are.
///
/// # Errors
/// A side whose filters are not stock's.
pub fn run(options: &Options) -> Result<Shapes, String> {
    let all: Vec<Shape> =
        Shape::all().filter(|shape| shape.name().contains(&options.rows)).collect();
    if all.is_empty() {
        return Err(format!("no shape has {:?} in its name", options.rows));
    }
    let sides = options.sides.open_drop_in()?;
    let mut found = Shapes { kind: "shapes", machine: Machine::this(), shapes: Vec::new() };
    if !options.json {
        println!("{}\n", found.machine);
        println!("{:32} {:16} {:>8} {:>6}", "Slower than stock:", "", "ns a key", "x");
    }
    let effort = options.effort();
    let few = Effort { rounds: effort.rounds.min(ROUNDS), ..effort };
    let slower = |figure: &Figure| figure.ratio.median < SLOWER;
    let mut progress = Progress::new(all.chunk_by(|a, b| a.keys == b.keys).count());
    for shapes in all.chunk_by(|a, b| a.keys == b.keys) {
        progress.next(&format!("filters of {}", shapes[0].keys));
        for &shape in shapes {
            let (name, work) = (shape.name(), shape.work());
            let compare = |effort| {
                measure::compare(&work, &sides, effort).map_err(|error| format!("{name}: {error}"))
            };
            let mut figures = compare(few)?;
            if figures.iter().any(slower) {
                figures = compare(effort)?;
            }
            for figure in figures.iter().filter(|figure| !options.json && slower(figure)) {
                progress.clear();
                let (ns, x) = (figure.ns.median, figure.ratio.median);
                println!("{name:32} {:16} {ns:8.2} {x:6.3}", figure.side);
            }
            found.shapes.push(Measured { shape, figures });
        }
    }
    progress.clear();
    if !options.json {
        println!();
        (1..sides.len()).for_each(|side| summarize(&found.shapes, side));
    }
    Ok(found)
}

/// Prints how one of the sides did over all shapes.
fn summarize(shapes: &[Measured], side: usize) {
    let ratio = |measured: &Measured| measured.figures[side].ratio.median;
    let mut sorted: Vec<&Measured> = shapes.iter().collect();
    sorted.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let slower = sorted.iter().filter(|measured| ratio(measured) < SLOWER).count();
    let (least, middle) = (sorted[0], sorted[sorted.len() / 2]);
    println!(
        "{:16} {slower} of {} shapes slower than stock; x at least {:.2} ({}), half of them {:.1} or more",
        least.figures[side].side,
        sorted.len(),
        ratio(least),
        least.shape.name(),
        ratio(middle)
    );
}
