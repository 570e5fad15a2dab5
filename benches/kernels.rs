//! The kernels, one job at a time: for work on one of them.
//!
//! `cargo bench` runs all, `cargo bench -- avx512` or `cargo bench -- create` some. How they
//! compare with LevelDB is for scripts/bench.sh to say.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use leveldb_bloom::{BloomFilterPolicy, Kernel};

fn main() {
    let kernels: Vec<_> = Kernel::available().map(Kernel::name).collect();
    let absent: Vec<_> = Kernel::NAMES.iter().filter(|name| !kernels.contains(name)).collect();
    eprintln!("Not on this machine: {absent:?}");
    divan::main();
}

/// The argument of a benchmark.
#[derive(Clone, Copy)]
struct Case {
    kernel: &'static Kernel,
    n: usize,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kernel.name(), self.n)
    }
}

fn cases<const N: usize>(numbers: [usize; N]) -> impl Iterator<Item = Case> {
    Kernel::available().flat_map(move |kernel| numbers.map(|n| Case { kernel, n }))
}

/// Keys of `len` bytes, the same in every run, that another `seed` makes others.
fn keys(n: usize, len: usize, seed: u32) -> Vec<Vec<u8>> {
    let mut state = seed;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..n).map(|_| (0..len).map(|_| byte()).collect()).collect()
}

/// As slices, which a kernel reads where they lie, without making a list of them first.
fn listed(bytes: &[Vec<u8>]) -> Vec<&[u8]> {
    bytes.iter().map(Vec::as_slice).collect()
}

fn filter(n: usize) -> Vec<u8> {
    BloomFilterPolicy::new(10).create_filter(&keys(n, 16, 1)).expect("a small filter")
}

/// With 0 bits per key a filter has one probe and 64 bits, so that little more than hashing is
/// measured. The argument is the keys' length.
#[divan::bench(args = cases([4, 16, 100]))]
fn hash(bencher: Bencher, case: &Case) {
    create_filters(bencher, case, keys(1_000, case.n, 1), 0);
}

/// The argument is the number of keys.
#[divan::bench(args = cases([1, 20, 100, 1_000, 100_000]))]
fn create(bencher: Bencher, case: &Case) {
    create_filters(bencher, case, keys(case.n, 16, 1), 10);
}

fn create_filters(bencher: Bencher, case: &Case, keys: Vec<Vec<u8>>, bits_per_key: i32) {
    let keys = listed(&keys);
    let policy = BloomFilterPolicy::with_kernel(bits_per_key, case.kernel);
    let mut filter = Vec::new();
    bencher.counter(ItemsCount::new(keys.len())).bench_local(|| {
        filter.clear();
        policy.append_filter(black_box(keys.as_slice()), &mut filter).expect("a small filter");
        black_box(&mut filter);
    });
}

const ASKED: usize = 256;

/// Key after key; the argument is the number of keys in the filter.
#[divan::bench(args = cases([20, 1_000]))]
fn query_present(bencher: Bencher, case: &Case) {
    query(bencher, case, &keys(ASKED.min(case.n), 16, 1));
}

/// More keys than a branch predictor can learn.
#[divan::bench(args = cases([20, 1_000]))]
fn query_absent(bencher: Bencher, case: &Case) {
    query(bencher, case, &keys(50_000, 16, 2));
}

fn query(bencher: Bencher, case: &Case, keys: &[Vec<u8>]) {
    let policy = BloomFilterPolicy::with_kernel(10, case.kernel);
    let filter = filter(case.n);
    bencher.counter(ItemsCount::new(keys.len())).bench_local(|| {
        keys.iter().filter(|key| policy.key_may_match(key, black_box(&filter))).count()
    });
}

/// From keys of their own, more than are listed for a kernel: hashed in groups, and the hashes set,
/// as a builder does.
#[divan::bench(args = cases([100_000]))]
fn create_of_owned(bencher: Bencher, case: &Case) {
    let keys = keys(case.n, 16, 1);
    let policy = BloomFilterPolicy::with_kernel(10, case.kernel);
    let mut filter = Vec::new();
    bencher.counter(ItemsCount::new(keys.len())).bench_local(|| {
        filter.clear();
        policy.append_filter(black_box(&keys), &mut filter).expect("a small filter");
        black_box(&mut filter);
    });
}

/// In batches of 256 keys.
#[divan::bench(args = cases([20, 1_000]))]
fn batch_absent(bencher: Bencher, case: &Case) {
    let policy = BloomFilterPolicy::with_kernel(10, case.kernel);
    let (filter, keys) = (filter(case.n), keys(195 * ASKED, 16, 2));
    let keys = listed(&keys);
    let mut answers = [false; ASKED];
    bencher.counter(ItemsCount::new(keys.len())).bench_local(|| {
        for keys in keys.chunks_exact(ASKED) {
            policy.keys_may_match(black_box(keys), &filter, &mut answers);
            black_box(&mut answers);
        }
    });
}

/// One key and eight filters.
#[divan::bench(args = cases([20, 1_000]))]
fn filters_absent(bencher: Bencher, case: &Case) {
    let policy = BloomFilterPolicy::with_kernel(10, case.kernel);
    let filters: Vec<_> = std::iter::repeat_with(|| filter(case.n)).take(8).collect();
    let filters = listed(&filters);
    let keys = keys(50_000, 16, 2);
    let mut answers = [false; 8];
    bencher.counter(ItemsCount::new(keys.len() * filters.len())).bench_local(|| {
        for key in &keys {
            policy.filters_may_match(black_box(key), &filters, &mut answers);
            black_box(&mut answers);
        }
    });
}
