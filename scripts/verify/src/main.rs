//! Asks LevelDB's own bloom filter and ours the same, in one process, until there is a difference
//! or enough was asked. See `scripts/verify.sh --help`.

mod compare;
mod crash;
mod doors;
mod leveldb;
mod memory;
mod report;
mod stages;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};

use compare::{Bench, NOW, Now, Sides, Tally};
use doors::{Fault, MAX_BITS_PER_KEY, Planted};
use leveldb::Stock;
use stages::{Memory, STAGES, Stage};

struct Options {
    stock: PathBuf,
    library: PathBuf,
    seed: u64,
    jobs: usize,
    /// How many queries to compare, the exhaustive stages' among them.
    queries: u64,
    /// How long to go on at random.
    time: Duration,
    /// Not through all doors where all there is to ask is asked, but through one in turn.
    thin: bool,
    only_random: bool,
    only_case: Option<u64>,
    planted: bool,
    document: Option<PathBuf>,
    facts: Vec<String>,
}

fn options() -> Result<Options, lexopt::Error> {
    use lexopt::prelude::*;

    let mut options = Options {
        stock: PathBuf::new(),
        library: PathBuf::new(),
        seed: fastrand::u64(..),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        queries: u64::MAX,
        time: Duration::MAX,
        thin: false,
        only_random: false,
        only_case: None,
        planted: false,
        document: None,
        facts: Vec::new(),
    };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("stock") => options.stock = arguments.value()?.into(),
            Long("library") => options.library = arguments.value()?.into(),
            Long("seed") => options.seed = arguments.value()?.parse()?,
            Long("jobs") => {
                options.jobs = arguments.value()?.parse_with(|text| {
                    text.parse().map_err(|_| "a number").and_then(|jobs| match jobs {
                        0 => Err("at least one"),
                        jobs => Ok(jobs),
                    })
                })?
            }
            Long("cases") => {
                let number: f64 = arguments.value()?.parse()?;
                options.queries = number as u64;
            }
            Long("minutes") => {
                let minutes: f64 = arguments.value()?.parse()?;
                options.time = Duration::try_from_secs_f64(minutes * 60.0)
                    .map_err(|error| error.to_string())?;
            }
            Long("thin") => options.thin = true,
            Long("random") => options.only_random = true,
            Long("case") => options.only_case = Some(arguments.value()?.parse()?),
            Long("planted") => options.planted = true,
            Long("document") => options.document = Some(arguments.value()?.into()),
            Long("fact") => options.facts.push(arguments.value()?.string()?),
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let result = options().map_err(|error| error.to_string()).and_then(|options| {
        crash::report(options.seed);
        let stock = Stock::load(&options.stock)?;
        let doors = doors::open(&stock, &options.library)?;
        let originals = (0..=MAX_BITS_PER_KEY).map(|bits| stock.new_policy(bits)).collect();
        let sides = Sides { stock: &stock, originals, doors };
        if options.planted { planted(sides, &options) } else { verify(&sides, &options) }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// What was compared in a stage.
pub struct Done {
    stage: &'static Stage,
    asked: Tally,
    answered: Vec<Tally>,
    took: Duration,
}

fn verify(sides: &Sides, options: &Options) -> Result<(), String> {
    println!(
        "seed {}: {} doors, {} kernels",
        options.seed,
        sides.doors.len(),
        bloom::Kernel::available().count()
    );
    let mut all: Vec<Done> = Vec::new();
    for stage in &STAGES {
        if stage.units.is_none() {
            crash::end_when_interrupted();
        }
        if (options.only_random || options.only_case.is_some()) && stage.units.is_some() {
            continue;
        }
        let before: u64 = all.iter().map(|done| done.asked.queries).sum();
        let limits = Limits { queries: options.queries.saturating_sub(before), time: options.time };
        let done = run(sides, options, stage, &limits)?;
        println!(
            "{}: {} queries and {} filters, the same through every door, in {}",
            stage.name,
            HumanCount(done.asked.queries),
            HumanCount(done.asked.filters),
            HumanDuration(done.took),
        );
        all.push(done);
    }
    // Not of a part, which may end before it has come to every door.
    let is_whole = options.only_case.is_none() && !options.only_random;
    for (number, door) in sides.doors.iter().enumerate() {
        let sum =
            |of: fn(&Tally) -> u64| all.iter().map(|it| of(&it.answered[number])).sum::<u64>();
        if is_whole && (sum(|it| it.queries) == 0 || sum(|it| it.filters) == 0) {
            return Err(format!("{} ({}): nothing was compared", door.name(), door.kernel()));
        }
    }
    let text = report::text(sides, options, &all);
    match &options.document {
        Some(file) => std::fs::write(file, text.document()).map_err(|error| error.to_string())?,
        None => print!("{}", text.summary()),
    }
    Ok(())
}

/// Where the random stage ends.
struct Limits {
    queries: u64,
    time: Duration,
}

/// Compares the units of a stage.
fn run(
    sides: &Sides,
    options: &Options,
    stage: &'static Stage,
    limits: &Limits,
) -> Result<Done, String> {
    let next = AtomicU64::new(options.only_case.unwrap_or(0));
    let end = match (stage.units, options.only_case) {
        (Some(units), _) => units,
        (None, Some(case)) => case + 1,
        (None, None) => u64::MAX,
    };
    let stop = AtomicBool::new(false);
    let queries = AtomicU64::new(0);
    let failure = Mutex::new(None);
    let total = Mutex::new((Tally::default(), vec![Tally::default(); sides.doors.len()]));
    let start = Instant::now();

    let work = || {
        let mut bench = Bench::new(sides);
        let mut memory = Memory::new();
        while !stop.load(Ordering::Relaxed) {
            let unit = next.fetch_add(1, Ordering::Relaxed);
            if unit >= end {
                break;
            }
            NOW.set(Now { stage: stage.name, unit, ..NOW.get() });
            let before = bench.asked.queries;
            // All doors would give the same answers to the same questions; by turns more are asked.
            bench.only_door = (options.thin || stage.units.is_none()).then_some(unit);
            let mut rng = fastrand::Rng::with_seed(seed_of(options.seed, stage.name, unit));
            let compared = (stage.run)(&mut bench, &mut memory, &mut rng, unit);
            queries.fetch_add(bench.asked.queries - before, Ordering::Relaxed);
            if let Err(difference) = compared {
                stop.store(true, Ordering::Relaxed);
                let mut failure = failure.lock().expect("no thread panics");
                failure.get_or_insert((unit, difference));
            }
        }
        let (asked, answered) = &mut *total.lock().expect("no thread panics");
        asked.add(&bench.asked);
        answered.iter_mut().zip(&bench.answered).for_each(|(all, tally)| all.add(tally));
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs).map(|_| scope.spawn(work)).collect();
        let progress = Progress::new(stage, limits);
        while !workers.iter().all(|worker| worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            let queries = queries.load(Ordering::Relaxed);
            progress.show(queries, next.load(Ordering::Relaxed), start.elapsed());
            let enough = queries >= limits.queries
                || start.elapsed() >= limits.time
                || crash::ENOUGH.load(Ordering::Relaxed);
            if stage.units.is_none() && enough {
                stop.store(true, Ordering::Relaxed);
            }
        }
        progress.bar.finish_and_clear();
    });

    if let Some((unit, difference)) = failure.into_inner().expect("no thread panics") {
        let again = match stage.units {
            Some(_) => format!("--seed {}", options.seed),
            None => format!("--seed {} --case {unit}", options.seed),
        };
        return Err(format!(
            "DIFFERENT from LevelDB: {} {unit}, scripts/verify.sh {again}\n{}",
            stage.name,
            difference.explain(sides)
        ));
    }
    let (asked, answered) = total.into_inner().expect("no thread panics");
    Ok(Done { stage, asked, answered, took: start.elapsed() })
}

/// A stream of its own for every unit.
fn seed_of(seed: u64, stage: &str, unit: u64) -> u64 {
    let stage = u64::from(bloom::bloom_hash(stage.as_bytes()));
    let mut mixed = seed ^ stage.rotate_left(40) ^ unit.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A bar on a terminal, a line now and then elsewhere.
struct Progress {
    bar: ProgressBar,
    units: Option<u64>,
    /// When the next line is due.
    next_line: std::cell::Cell<Duration>,
}

impl Progress {
    fn new(stage: &'static Stage, limits: &Limits) -> Progress {
        let length = match stage.units {
            Some(units) => units,
            None if limits.queries < u64::MAX => limits.queries,
            None => limits.time.as_secs().max(1),
        };
        let bar = ProgressBar::new(length).with_message(stage.name).with_style(
            ProgressStyle::with_template("{msg} [{wide_bar}] {percent} %, {prefix}, {eta} left")
                .expect("a valid template"),
        );
        let line = Duration::from_secs(60);
        Progress { bar, units: stage.units, next_line: std::cell::Cell::new(line) }
    }

    fn show(&self, queries: u64, unit: u64, elapsed: Duration) {
        let rate = queries as f64 / elapsed.as_secs_f64().max(0.001) / 1e6;
        let text = format!("{} queries, {rate:.1} million a second", HumanCount(queries));
        self.bar.set_position(match self.units {
            Some(_) => unit,
            None if self.bar.length().is_some_and(|length| length > 100_000_000) => queries,
            None => elapsed.as_secs(),
        });
        if std::io::stderr().is_terminal() {
            self.bar.set_prefix(text);
        } else if elapsed >= self.next_line.get() {
            self.next_line.set(elapsed + Duration::from_secs(60));
            eprintln!("{}: {text}", self.bar.message());
        }
    }
}

/// Puts a fault into each door in turn, and sees that it is found.
fn planted(mut sides: Sides, options: &Options) -> Result<(), String> {
    let [.., stage] = &STAGES;
    let limits = Limits { queries: 10_000_000, time: Duration::MAX };
    for door in std::mem::take(&mut sides.doors) {
        let name = format!("{} ({} kernel)", door.name(), door.kernel());
        for fault in [Fault::Filter, Fault::Answer] {
            sides.doors = vec![Arc::new(Planted { door: door.clone(), fault })];
            match run(&sides, options, stage, &limits) {
                Err(message) => println!("{fault:?} fault found:\n{message}\n"),
                Ok(done) => {
                    let asked = HumanCount(done.asked.queries);
                    return Err(format!("{fault:?} fault in {name}: not found in {asked} queries"));
                }
            }
        }
    }
    println!("every fault that was put in was found");
    Ok(())
}
