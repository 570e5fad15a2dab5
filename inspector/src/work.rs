//! All tables, on all processors, with a bar that moves.

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::find::Found;
use crate::scan::{Options, Report, scan};

/// Scans all tables; the reports are in the order of `tables`.
pub fn scan_all(tables: &[Found], options: Options) -> Vec<Report> {
    let bar = bar(tables);
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(tables.len());
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    let mut reports: Vec<Option<Report>> = Vec::new();
    reports.resize_with(tables.len(), || None);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                while let Some((i, found)) = {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    tables.get(i).map(|found| (i, found))
                } {
                    if send.send((i, scan(found, options))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        for (i, report) in receive {
            bar.inc(tables[i].len);
            reports[i] = Some(report);
        }
    });
    bar.finish_and_clear();
    reports.into_iter().flatten().collect()
}

/// Seen on a terminal only, and not for a file that is read at once.
fn bar(tables: &[Found]) -> ProgressBar {
    let total = tables.iter().map(|found| found.len).sum();
    if tables.len() < 2 {
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
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
