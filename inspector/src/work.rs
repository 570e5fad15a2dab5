//! All tables, on all processors, with a bar that moves.

use std::cell::Cell;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{panic, thread};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::find::Found;
use crate::scan::{Options, Report, scan};
use crate::text;

/// Scans all tables; the reports are in the order of `tables`.
pub fn scan_all(tables: &[Found], options: Options) -> Vec<Report> {
    let bar = bar(tables);
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(tables.len());
    let next = AtomicUsize::new(0);
    let one_after_the_other = || {
        let mut reports = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(found) = tables.get(i) else { return reports };
            // The MANIFEST, or a damaged index, may have the table longer than its file.
            let at = Cell::new(0);
            let come_to = |to: u64| {
                let to = to.min(found.len);
                bar.inc(to.saturating_sub(at.get()));
                at.set(to.max(at.get()));
            };
            reports.push((i, scan(found, options, &come_to)));
            come_to(found.len);
        }
    };
    let mut reports = thread::scope(|scope| {
        // Where the system gives no more threads, those that there are do it.
        let others: Vec<_> = (1..threads)
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, one_after_the_other).ok())
            .collect();
        let mut reports = one_after_the_other();
        for other in others {
            reports.extend(other.join().unwrap_or_else(|cause| panic::resume_unwind(cause)));
        }
        reports
    });
    bar.finish_and_clear();
    reports.sort_unstable_by_key(|&(i, _)| i);
    reports.into_iter().map(|(_, report)| report).collect()
}

/// A file of so many bytes is not read at once.
const LARGE: u64 = 16 << 20;

/// Seen on a terminal only, and not for a file that is read at once.
fn bar(tables: &[Found]) -> ProgressBar {
    let total = tables.iter().map(|found| found.len).sum();
    if tables.len() < 2 && total < LARGE {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let template =
        "{wide_bar} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

pub fn name(path: &Path) -> String {
    text::path(Path::new(path.file_name().unwrap_or(path.as_os_str())))
}
