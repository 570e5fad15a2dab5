//! Compares every kernel with LevelDB's own library on random keys and filters, for as many queries
//! as wanted: see `scripts/verify.sh --help`.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use std::{panic, thread};

use leveldb_bloom::{Kernel, Key};
use leveldb_bloom_compare::{Random, create, create_ribbon, query, query_ribbon};

thread_local! {
    /// The seed of this thread's round.
    static SEED: Cell<u64> = const { Cell::new(0) };
}

/// What was compared.
#[derive(Default)]
struct Done {
    filters: AtomicU64,
    present: AtomicU64,
    absent: AtomicU64,
}

fn main() -> Result<(), lexopt::Error> {
    use lexopt::{Arg::Long, ValueExt};
    let (mut queries, mut seed) = (1e7, 1);
    let mut jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("queries") => queries = arguments.value()?.parse()?,
            Long("seed") => seed = arguments.value()?.parse()?,
            Long("jobs") => jobs = arguments.value()?.parse()?,
            _ => return Err(argument.unexpected()),
        }
    }
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        report(info);
        eprintln!("To see it again: scripts/verify.sh --queries 1 --jobs 1 --seed {}", SEED.get());
    }));

    let (start, done, round) = (Instant::now(), Done::default(), AtomicU64::new(seed));
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while (done.present.load(Ordering::Relaxed) as f64) < queries {
                    SEED.set(round.fetch_add(1, Ordering::Relaxed));
                    compare(&mut Random(SEED.get()), &done);
                }
            });
        }
    });
    let kernels: Vec<_> = Kernel::available().map(Kernel::name).collect();
    println!(
        "{} filters, half of them ribbons, {} queries of present keys and {} of others: LevelDB's bytes \
         and answers from {}, and no key lost in a ribbon (seed {seed}, {} s)",
        done.filters.into_inner(),
        done.present.into_inner(),
        done.absent.into_inner(),
        kernels.join(", "),
        start.elapsed().as_secs()
    );
    Ok(())
}

/// One round: filters of one kind of keys, queried for their own keys and for others, intact and
/// damaged.
fn compare(random: &mut Random, done: &Done) {
    let bits = if random.below(2) == 0 { 10 } else { random.below(121) as i32 - 1 };
    let most = [64, 64, 64, 600, 600, 5_000, 5_000, 100_000][random.below(8)];
    let num_keys = random.below(most) + 1;
    let mut bytes = vec![0; num_keys * 16 + 1_000];
    bytes.chunks_exact_mut(8).for_each(|chunk| {
        chunk.copy_from_slice(&random.next().to_le_bytes());
    });
    // Of one length, as most keys of a database, or of several.
    let (shortest, longest) = match random.below(4) {
        0 => (16, 16),
        1 => (8, 64),
        2 => (random.below(20), 20),
        _ => (random.below(100), 100 + random.below(500)),
    };
    let spread = if random.below(2) == 0 { 1 } else { longest - shortest + 1 };
    let mut keys = |count| -> Vec<Key<'_>> {
        let key = |_| {
            let len = shortest + random.below(spread);
            Key::new(&bytes[random.below(bytes.len() - len)..][..len])
        };
        (0..count).map(key).collect()
    };
    let (present, others) = (keys(num_keys), keys(num_keys.min(200)));
    let (mut filter, ribbon) = (create(bits, &present), create_ribbon(bits, &present));
    done.filters.fetch_add(2, Ordering::Relaxed);
    // Small filters are what LevelDB has, and making one takes longer than a query.
    for _ in 0..(4_096 / num_keys).clamp(1, 20) {
        assert!(query(&present, &filter).iter().all(|answer| *answer), "a key is lost");
        query(&others, &filter);
        assert!(query_ribbon(&present, &ribbon).iter().all(|answer| *answer), "a key is lost");
        query_ribbon(&others, &ribbon);
        done.present.fetch_add(2 * present.len() as u64, Ordering::Relaxed);
        done.absent.fetch_add(2 * others.len() as u64, Ordering::Relaxed);
    }
    // Any byte may be wrong, the number of probes too, and the filter may be cut.
    for i in 0..4 {
        if i == 2 {
            filter.clone_from(&ribbon);
        }
        let at = if random.below(2) == 0 { filter.len() - 1 } else { random.below(filter.len()) };
        filter[at] = random.next() as u8;
        for filter in [&filter[..], &filter[..random.below(filter.len())]] {
            query(&others, filter);
            query_ribbon(&others, filter);
        }
        done.absent.fetch_add(2 * others.len() as u64, Ordering::Relaxed);
    }
}
