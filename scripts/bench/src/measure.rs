//! Times of several sides, taken in turns.

use std::hint::black_box;

use leveldb_bloom_compare::Random;

/// Work that is ready to be timed. Returns something that has to be computed: of queries, how many
/// answers were true.
pub type Run<'a> = Box<dyn Fn() -> usize + 'a>;

/// What one side took.
pub struct Figure {
    pub side: String,
    /// Nanoseconds for one key, query or filter: the median.
    pub ns: f64,
    /// Stock's time divided by this side's, round by round: the median.
    pub ratio: f64,
    /// Half the distance of the ratio's quartiles, as a part of the median.
    pub spread: f64,
    pub is_peer: bool,
}

/// A turn's seconds: long enough for the clock, and so short that what disturbs the machine
/// disturbs all sides of a round.
const TURN: f64 = 300e-6;

/// The seconds for which all rounds of a row may take.
const ROW: f64 = 10.0;

/// The seconds that this thread has run.
fn clock() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is written to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn turn(run: &Run, times: usize) -> f64 {
    let start = clock();
    for _ in 0..times {
        black_box(run());
    }
    (clock() - start) / times as f64
}

fn quantile(samples: &mut [f64], at: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[(at * (samples.len() - 1) as f64).round() as usize]
}

/// Times all sides; the first is stock. `units` is how many keys, queries or filters a run takes.
pub fn compare(sides: Vec<(String, bool, Run)>, units: usize, rounds: usize) -> Vec<Figure> {
    // The first run warms up.
    let once: Vec<f64> =
        sides.iter().map(|(.., run)| turn(run, 1).min(turn(run, 1)).max(1e-9)).collect();
    let times: Vec<usize> = once.iter().map(|once| ((TURN / once) as usize).max(1)).collect();
    let round: f64 = once.iter().zip(&times).map(|(once, times)| once * *times as f64).sum();
    let rounds = rounds.min((ROW / round) as usize).max(5.min(rounds));

    let mut seconds = vec![Vec::with_capacity(rounds); sides.len()];
    let mut order: Vec<usize> = (0..sides.len()).collect();
    let mut random = Random(1);
    for _ in 0..rounds {
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        for &i in &order {
            seconds[i].push(turn(&sides[i].2, times[i]));
        }
    }
    let figure = |((side, is_peer, _), own): (&(String, bool, Run), &Vec<f64>)| {
        let mut ratios: Vec<f64> = seconds[0].iter().zip(own).map(|(a, b)| a / b).collect();
        let [low, ratio, high] = [0.25, 0.5, 0.75].map(|at| quantile(&mut ratios, at));
        Figure {
            side: side.clone(),
            ns: quantile(&mut own.clone(), 0.5) * 1e9 / units as f64,
            ratio,
            spread: (high - low) / 2.0 / ratio,
            is_peer: *is_peer,
        }
    };
    sides.iter().zip(&seconds).map(figure).collect()
}
