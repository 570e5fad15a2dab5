//! Times of several sides, taken in turn.

use std::hint::black_box;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::keys::Random;
use crate::side::{Prepared, Side};
use crate::work::Work;

/// Where the samples lie. The quartiles say how far to trust the median.
#[derive(Serialize, Deserialize, Clone, Copy)]
pub struct Spread {
    pub min: f64,
    pub q1: f64,
    pub median: f64,
    pub q3: f64,
    pub max: f64,
}

impl Spread {
    fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        // Between two samples in proportion: of an even number, the upper one of the two in the
        // middle would be the better ratio each time.
        let at = |quarter: usize| {
            let place = (samples.len() - 1) * quarter;
            let (below, above) = (samples[place / 4], samples[place.div_ceil(4)]);
            below + (above - below) * (place % 4) as f64 / 4.0
        };
        Spread { min: at(0), q1: at(1), median: at(2), q3: at(3), max: at(4) }
    }
}

/// What one side took.
#[derive(Serialize, Deserialize)]
pub struct Figure {
    pub side: String,
    /// Nanoseconds for one unit of the work.
    pub ns: Spread,
    /// Stock's time by this side's, round by round.
    pub ratio: Spread,
    /// What the project wants of the ratio.
    pub target: Option<f64>,
    /// How many samples the two are of.
    pub rounds: usize,
    /// Whether this is LevelDB's format, so that filters and answers were compared with stock's.
    pub same_format: bool,
}

/// How long to measure.
#[derive(Clone, Copy)]
pub struct Effort {
    pub rounds: usize,
    /// Work that takes longer than this is given fewer rounds, down to `least`.
    pub time: Duration,
    pub least: usize,
}

/// A turn's seconds: long enough that the clock costs nothing, and short enough that whatever
/// disturbs the machine meets all sides of a round alike.
const TURN: f64 = 300e-6;

/// The seconds that this thread has run, without those in which others had the processor.
fn clock() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the time to where it is told.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn turn(prepared: &Prepared, times: usize) -> f64 {
    let start = clock();
    for _ in 0..times {
        black_box((prepared.run)());
    }
    (clock() - start) / times as f64
}

/// Times every side that can do the work. The first is stock, with which the others are compared.
///
/// # Errors
/// A side whose filters or answers are not stock's: its times would mean nothing.
pub fn compare(
    work: &Work,
    sides: &[Box<dyn Side>],
    effort: Effort,
) -> Result<Vec<Figure>, String> {
    let mut ready: Vec<(&dyn Side, Prepared)> = Vec::new();
    let (mut stock, mut stock_ones) = (Vec::new(), 0);
    let is_query = !matches!(work, Work::Create { .. });
    for side in sides {
        let Some(mut prepared) = side.prepare(work) else { continue };
        // Large, and needed only once.
        let result = std::mem::take(&mut prepared.result);
        // What is timed asks in its own way, of which a query says how many answers were yes.
        let ones = if is_query { (prepared.run)() } else { 0 };
        if ready.is_empty() {
            (stock, stock_ones) = (result, ones);
        } else if side.same_format() && result != stock {
            return Err(format!("{} is not stock's, byte for byte", side.name()));
        } else if side.same_format() && ones != stock_ones {
            return Err(format!("{} says yes {ones} times, and stock {stock_ones}", side.name()));
        }
        ready.push((side.as_ref(), prepared));
    }
    drop(stock);

    // The first run is to warm up.
    let once: Vec<f64> =
        ready.iter().map(|(_, prepared)| turn(prepared, 1).min(turn(prepared, 1))).collect();
    if once.iter().any(|&seconds| seconds <= 0.0) {
        return Err("this system's clock of a thread's time is too coarse".to_owned());
    }
    let times: Vec<usize> = once.iter().map(|once| ((TURN / once) as usize).max(1)).collect();
    let round: f64 = once.iter().zip(&times).map(|(once, times)| once * *times as f64).sum();
    let fitting = (effort.time.as_secs_f64() / round) as usize;
    let rounds = effort.rounds.min(fitting).max(effort.least);

    let mut seconds = vec![Vec::with_capacity(rounds); ready.len()];
    let mut order: Vec<usize> = (0..ready.len()).collect();
    let mut random = Random(1);
    for _ in 0..rounds {
        // Nobody is always behind the same neighbour, or in step with what else the machine does.
        random.shuffle(&mut order);
        for &i in &order {
            seconds[i].push(turn(&ready[i].1, times[i]));
        }
    }
    let units = work.units() as f64;
    let figures = ready.iter().zip(&seconds).map(|((side, _), own)| Figure {
        side: side.name().to_owned(),
        ns: Spread::of(own.iter().map(|seconds| seconds * 1e9 / units).collect()),
        ratio: Spread::of(seconds[0].iter().zip(own).map(|(stock, own)| stock / own).collect()),
        target: None,
        rounds,
        same_format: side.same_format(),
    });
    Ok(figures.collect())
}
