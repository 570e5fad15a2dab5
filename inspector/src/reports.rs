//! What commands say of many tables' reports together.

use serde_json::{Value, json};

use crate::find::{Database, Place};
use crate::scan::Report;
use crate::sums::Sums;
use crate::text::{self, plural};

/// Problems and lost keys that are named of a table, unless somebody wants more.
pub const KEPT: usize = 20;

/// The exit status of a command that looked at all of these.
pub fn status(reports: &[Report], databases: &[&Database]) -> u8 {
    let nothing_seen = databases.is_empty() && !reports.iter().any(Report::is_seen);
    let wrong = databases.iter().any(|database| database.is_wrong())
        || reports.iter().any(Report::is_wrong);
    let unreadable = databases.iter().any(|database| database.is_unreadable())
        || reports.iter().any(Report::is_unread)
        || nothing_seen;
    status_of(wrong, unreadable)
}

/// What is wrong outweighs what could not be looked at.
pub fn status_of(wrong: bool, unreadable: bool) -> u8 {
    match (wrong, unreadable) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 0,
    }
}

pub fn sums<'r>(reports: impl Iterator<Item = &'r Report>) -> Sums {
    reports.fold(Sums::default(), |mut sums, report| {
        sums += report.sums.clone();
        sums
    })
}

/// The sums of tables that LevelDB does not read.
pub fn unused(reports: &[Report]) -> Sums {
    sums(reports.iter().filter(|report| !report.place.is_used()))
}

/// What becomes of tables that are not in the MANIFEST; nothing where there are none.
pub fn fate_of_unused(tables: u64, entries: Option<u64>) -> String {
    let entries =
        entries.map_or(String::new(), |n| format!(" ({})", plural(n, "entry", "entries")));
    let (are, them) = if tables == 1 { ("is", "it") } else { ("are", "them") };
    match tables {
        0 => String::new(),
        _ => format!(
            "{}{entries} {are} not in the MANIFEST: LevelDB does not read {them}, and may delete {them} when it opens \
             the database. A program that has the database open may be writing {them} just now.",
            plural(tables, "table", "tables")
        ),
    }
}

/// Why there is no table that LevelDB reads.
pub fn no_tables(reports: &[Report], databases: &[&Database]) -> &'static str {
    let is_new = |database: &&Database| {
        database.version.as_ref().is_ok_and(|version| version.tables.is_empty())
    };
    match (!databases.is_empty() && databases.iter().all(is_new), reports.is_empty()) {
        (true, true) => "No tables yet: whatever was written is in the log.",
        (true, false) => "The MANIFEST names no tables.",
        (false, _) => "No table that LevelDB reads was found.",
    }
}

/// What a table is worth that was named, and is not in the MANIFEST; nothing where there is none.
pub fn worth_of_named<'r>(reports: impl Iterator<Item = &'r Report>) -> String {
    let named = reports.filter(|report| report.place == Place::Named && !report.vanished).count();
    let them = if named == 1 { "it" } else { "them" };
    match named as u64 {
        0 => String::new(),
        named => format!(
            "{} not in the MANIFEST, and read only because you named {them}: LevelDB does not read {them}, unless a \
             program has only just written {them}.",
            plural(named, "table is", "tables are")
        ),
    }
}

/// What is wrong with tables, a line for each.
pub fn problems(reports: &[Report]) -> Vec<String> {
    let mut lines = Vec::new();
    for report in reports.iter().filter(|report| report.place.is_used()) {
        let path = text::path(&report.path);
        lines.extend(report.problems.iter().map(|problem| format!("{path}: {}", problem.text)));
        let more = report.problem_count - report.problems.len() as u64;
        if more > 0 {
            let more = plural(more, "problem is", "problems are");
            lines.push(format!("{path}: {more} not listed"));
        }
    }
    lines
}

/// What problems are: those of damaged tables, or of what is only not read here.
pub fn title_of_problems(reports: &[Report]) -> &'static str {
    if reports.iter().any(Report::is_damaged) { "Damage" } else { "Not read" }
}

/// What every command's JSON says of a table.
pub fn table_json(report: &Report) -> Value {
    json!({
        "path": report.path.to_string_lossy(),
        "kind": report.kind(),
        "unused": !report.place.is_used(),
        "deleted_meanwhile": report.vanished,
        "policy": report.policy.as_ref().map(|policy| &policy.name),
        "filters_made_for": report.transform.map(|transform| transform.to_string()),
        "lost": report.lost,
        "problems": report.problems,
        "problem_count": report.problem_count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_outweighs_what_was_not_looked_at() {
        let all = [(false, false), (false, true), (true, false), (true, true)];
        assert_eq!(all.map(|(wrong, unreadable)| status_of(wrong, unreadable)), [0, 2, 1, 1]);
    }
}
