//! Times LevelDB's filter, ours, and other libraries': see `scripts/bench.sh --help`.

mod library;
mod measure;
mod peers;
mod work;

use std::process::ExitCode;

use leveldb_bloom::{Encoding, Kernel};
use lexopt::{Arg::Long, ValueExt};

use library::{CPeer, Library};
use measure::Figure;
use peers::{FastBloom, RustyLevelDb};
use work::{Ours, ROWS, Side, Stock};

/// What the command line says.
#[derive(Default)]
struct Options {
    sides: Vec<Box<dyn Side>>,
    rows: String,
    rounds: usize,
    quick: bool,
    markdown: bool,
}

fn parse() -> Result<Options, lexopt::Error> {
    let mut options = Options { rounds: 101, ..Options::default() };
    let mut arguments = lexopt::Parser::from_env();
    options.sides.push(Box::new(Stock));
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("kernels") => {
                let kernels: Vec<_> = Kernel::available().collect();
                for encoding in [Encoding::Bloom, Encoding::Ribbon] {
                    let ours = kernels.iter().rev().map(|kernel| Ours { kernel, encoding });
                    options.sides.extend(ours.map(|ours| Box::new(ours) as Box<dyn Side>));
                }
            }
            // NAME=FILE or NAME:KERNEL=FILE
            Long("library") => {
                let text = arguments.value()?.string()?;
                let (name, file) = text.split_once('=').ok_or("--library takes NAME=FILE")?;
                options.sides.push(Box::new(Library::open(name, file)?));
            }
            Long("peer") => {
                let text = arguments.value()?.string()?;
                let side: Box<dyn Side> = match text.split_once('=') {
                    Some((name, file)) => Box::new(CPeer::open(name, file)?),
                    None if text == "fastbloom" => Box::new(FastBloom),
                    None => Box::new(RustyLevelDb),
                };
                options.sides.push(side);
            }
            Long("rows") => options.rows = arguments.value()?.string()?,
            Long("rounds") => options.rounds = arguments.value()?.parse()?,
            Long("quick") => options.quick = true,
            Long("markdown") => options.markdown = true,
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(options)
}

fn run() -> Result<(), String> {
    let options = parse().map_err(|error| error.to_string())?;
    let mut table = Vec::new();
    for row in ROWS.iter().filter(|row| row.name.contains(&options.rows)) {
        if options.quick && row.takes_long() {
            continue;
        }
        eprintln!("{}", row.name);
        let figures = row.measure(&options.sides, options.rounds)?;
        if !options.markdown {
            print(row.name, &figures);
        }
        table.push((row.name, figures));
    }
    if options.markdown {
        let ours = |figure: &&Figure| !figure.is_peer;
        print_markdown(&table, "", ours, |figure, is_stock| match is_stock {
            true => format!("{:.1} ns", figure.ns),
            false => format!("{:.1} ns, **{:.1}×**", figure.ns, figure.ratio),
        });
        if table.iter().any(|(_, figures)| figures.iter().any(|figure| figure.is_peer)) {
            println!("\nOther libraries, in the same run, in nanoseconds:\n");
            table.retain(|(_, figures)| figures.iter().any(|figure| figure.is_peer));
            print_markdown(&table, "ns", |_| true, |figure, _| format!("{:.1}", figure.ns));
        }
    }
    Ok(())
}

fn print(name: &str, figures: &[Figure]) {
    let mut name = name;
    for figure in figures {
        let Figure { side, ns, ratio, spread, .. } = figure;
        println!("{name:46} {side:20} {ns:8.2} ns  {ratio:6.2}x  ±{:.0} %", spread * 100.0);
        name = "";
    }
}

fn print_markdown(
    table: &[(&str, Vec<Figure>)],
    corner: &str,
    chosen: impl Fn(&&Figure) -> bool,
    cell: impl Fn(&Figure, bool) -> String,
) {
    let Some((_, longest)) = table.iter().max_by_key(|(_, figures)| figures.len()) else { return };
    let sides: Vec<&str> = longest.iter().filter(&chosen).map(|figure| &figure.side[..]).collect();
    println!("| {corner} | {} |\n|---|{}", sides.join(" | "), "---|".repeat(sides.len()));
    for (name, figures) in table {
        print!("| {name} |");
        for side in &sides {
            let figure = figures.iter().find(|figure| figure.side == *side);
            print!(" {} |", figure.map_or(String::new(), |f| cell(f, f.side == "stock")));
        }
        println!();
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
