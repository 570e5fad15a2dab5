//! The report as one page: no script, no network, light or dark as the browser wants it.

use std::fmt::Write as _;

use crate::advise::{Advice, Encoding, Row};
use crate::explain::{self, Weight};
use crate::figures::{
    Findings, NEIGHBOURS, RANDOM, TABLE_COLUMNS, describe, figures, fill_rows, keys_rows,
};
use crate::manifest::LEVELS;
use crate::sums::{Counts, Sums, ratio};
use crate::text::{self, bytes, count, percent, plural, tenths};

/// Rows of the list of tables; a report of a hundred thousand would open nowhere.
const ROWS: usize = 2000;

const STYLE: &str = include_str!("report.css");

pub fn page(findings: &Findings) -> String {
    let total = &findings.total;
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Bloom filters of a LevelDB database</title>\n<style>",
    );
    page += STYLE;
    page += "</style>\n<main>\n<h1>Bloom filters of a LevelDB database</h1>\n";
    for database in findings.databases() {
        let _ = writeln!(page, "<p class=\"soft\">{}</p>", escape(&describe(database)));
    }
    if findings.databases().is_empty() {
        for report in findings.reports.iter().take(5) {
            let path = text::path(&report.path);
            let _ = writeln!(page, "<p class=\"soft\">{}</p>", escape(&path));
        }
    }
    if let Some(why) = findings.nothing() {
        let _ = writeln!(page, "<p>{why}</p>");
        page += &notes(findings);
    } else {
        page += &tiles(total, findings.data);
        page += &notes(findings);
        page += &plots(findings);
        page += "<h2>In all</h2>\n<div class=\"panel\"><table class=\"figures\">\n";
        for (label, figure) in figures(findings) {
            let _ = writeln!(page, "<tr><td>{label}<td>{}", escape(&figure));
        }
        page += "</table></div>\n";
    }
    if !findings.reports.is_empty() {
        page += &tables(findings);
    }
    let _ = writeln!(
        page,
        "<p class=\"soft\">Written by leveldb-bloom {} inspect{}.</p>\n</main>",
        env!("CARGO_PKG_VERSION"),
        if findings.data { "" } else { " --quick" }
    );
    page
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn tiles(total: &Sums, data: bool) -> String {
    let bloom = &total.bloom;
    let mut tiles = vec![
        (plural(total.tables, "table", "tables"), bytes(total.file_bytes)),
        (bytes(total.filter_block_bytes), "in filters".into()),
    ];
    if bloom.filters > 0 {
        let set = explain::bits_of(total);
        tiles.push(match bloom.spent(data) {
            Some(spent) => (format!("{} bits per key", tenths(spent)), format!("spent; {set} set")),
            None => ("not known".into(), format!("bits per key spent; {set} set")),
        });
        let estimated = percent(bloom.estimated());
        tiles.push(match bloom.measured() {
            None => (estimated, "false positives, estimated".into()),
            Some(pass) => (percent(pass), format!("of {RANDOM} pass; {estimated} estimated")),
        });
        let near = bloom.neighbours();
        tiles.extend(near.map(|pass| (percent(pass), format!("of {NEIGHBOURS} pass"))));
        if data {
            tiles.push((
                tenths(bloom.keys_per_filter.mean()),
                format!("keys per filter; {} in all", count(bloom.keys_checked)),
            ));
        }
    }
    let tile = |(figure, label): (String, String)| {
        let (figure, label) = (escape(&figure), escape(&label));
        format!("<div class=\"tile\"><b>{figure}</b><span>{label}</span></div>\n")
    };
    format!("<div class=\"tiles\">\n{}</div>\n", tiles.into_iter().map(tile).collect::<String>())
}

fn notes(findings: &Findings) -> String {
    let mut text = String::new();
    let problems = crate::reports::problems(&findings.reports, false);
    if !problems.is_empty() {
        text += "<h2 class=\"wrong\">Damage</h2>\n<ul class=\"notes\">\n";
        let lines = problems.trim().lines().skip(1);
        text.extend(lines.map(|line| format!("<li>{}\n", escape(line))));
        text += "</ul>\n";
    }
    if findings.notes.is_empty() {
        return text;
    }
    text += "<h2>What this means</h2>\n<ul class=\"notes\">\n";
    for note in &findings.notes {
        let (class, word) = match note.weight {
            Weight::Wrong => (" class=\"wrong\"", "wrong: "),
            Weight::Wasted => ("", "wasted: "),
            Weight::Note => ("", ""),
        };
        let _ = writeln!(text, "<li{class}><b>{word}</b>{}", escape(&note.text));
    }
    text + "</ul>\n"
}

fn plots(findings: &Findings) -> String {
    let (total, mut panels) = (&findings.total, Vec::new());
    if total.bloom.filters == 0 {
        return String::new();
    }
    if total.bloom.bloom_bits > 0 {
        let rows = fill_rows(total);
        panels.push(("Filters by fill", bars("share of bits set", "filters", &rows, count)));
    }
    if findings.data {
        panels.push(("Filters by keys", bars("keys", "filters", &keys_rows(total), count)));
        let used = findings.reports.iter().filter(|report| report.place.is_used());
        panels.push(("Where the bits of a key go", split(&explain::with_filters(used))));
    }
    if let Some(advice) = &findings.advice {
        panels.push(("Other settings, tried on these keys", advised(advice)));
    }
    panels.push(("Filter bytes by level", levels(findings)));
    let mut text = String::from("<h2>Plots</h2>\n<div class=\"plots\">\n");
    for (title, plot) in panels.into_iter().filter(|(_, plot)| !plot.is_empty()) {
        let _ = writeln!(
            text,
            "<section class=\"panel\" tabindex=\"0\" aria-label=\"{title}\"><h3>{title}</h3>\n{plot}</section>"
        );
    }
    text + "</div>\n"
}

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 84.0;
const BOTTOM: f64 = 46.0;
const TOP: f64 = 26.0;
/// Where the lower axis is, and what is written below it.
const AXIS: f64 = HEIGHT - BOTTOM;
const BELOW: f64 = AXIS + 16.0;

fn svg(height: f64, said: &str, drawing: &str) -> String {
    let said = escape(said);
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{said}\">\n{drawing}</svg>\n"
    )
}

fn label(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.0}\" text-anchor=\"{anchor}\">{}</text>\n", escape(text))
}

/// A line across, and what is written before it.
fn line(y: f64, text: &str) -> String {
    let line = format!(
        "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\n"
    );
    line + &label(LEFT - 6.0, y + 4.0, "end", text)
}

/// What the axes have, along the lower one and above the other.
fn axes(across: &str, up: &str) -> String {
    label((LEFT + WIDTH) / 2.0, HEIGHT - 6.0, "middle", across) + &label(LEFT, 14.0, "start", up)
}

/// What has which colour.
fn key(entries: &[(&str, String)]) -> String {
    let entry = |(colour, name): &(&str, String)| {
        format!("<span><i style=\"background:{colour}\"></i>{name}</span> ")
    };
    format!("<p class=\"key\">{}</p>\n", entries.iter().map(entry).collect::<String>())
}

fn bars(across: &str, up: &str, rows: &[(String, u64)], show: impl Fn(u64) -> String) -> String {
    let most = rows.iter().map(|(_, number)| *number).max().unwrap_or(0).max(1);
    // Few bars are no wider than five.
    let room = (WIDTH - LEFT - 8.0) / rows.len().max(5) as f64;
    let mut drawing = axes(across, up) + &line(AXIS, "");
    drawing += &label(LEFT - 6.0, TOP + 10.0, "end", &show(most));
    // Labels that would touch are left out.
    let longest = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0) as f64;
    let every = (longest * 11.0 / room).ceil().max(1.0) as usize;
    let mut told = Vec::new();
    for (i, (name, number)) in rows.iter().enumerate() {
        let tall = *number as f64 / most as f64 * (AXIS - TOP);
        let x = LEFT + room * i as f64;
        let title = escape(&format!("{name}: {}", show(*number)));
        let _ = writeln!(
            drawing,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" rx=\"2\" fill=\"var(--bar)\">\
             <title>{title}</title></rect>",
            x + room * 0.08,
            AXIS - tall,
            room * 0.84,
        );
        if i % every == 0 {
            drawing += &label(x + room / 2.0, BELOW, "middle", name);
        }
        told.push(title);
    }
    svg(HEIGHT, &format!("{up} by {across}: {}", told.join("; ")), &drawing)
}

/// What other settings give, by the bits that they spend.
fn advised(advice: &Advice) -> String {
    let pass = |row: &Row| row.pass;
    let across = |bits: f64| LEFT + bits.clamp(0.0, 32.0) / 32.0 * (WIDTH - LEFT - 8.0);
    let up = |rate: f64| TOP - rate.clamp(1e-6, 1.0).log10() / 6.0 * (AXIS - TOP);
    let at = |row: &Row| (across(row.bits_per_key_spent), up(pass(row)));
    let mut drawing = axes("bits spent on a key", "absent keys that pass");
    for power in 0..=6 {
        let percent = 10f64.powi(2 - power);
        drawing += &line(up(percent / 100.0), &format!("{percent} %"));
    }
    for bits in (0..=30).step_by(5) {
        drawing += &label(across(f64::from(bits)), BELOW, "middle", &bits.to_string());
    }
    let present = advice.present();
    let size = present.or(advice.rows.first()).map_or(0, |row| row.block_size);
    let (mut names, mut told) = (Vec::new(), Vec::new());
    for (name, encoding, appended, colour) in [
        ("LevelDB's", Encoding::Bloom, false, "var(--bar)"),
        ("LevelDB's, a byte appended", Encoding::Bloom, true, "var(--bar4)"),
        ("ribbon", Encoding::Ribbon, false, "var(--bar3)"),
    ] {
        let wanted = (encoding, appended, size);
        let is_of = |row: &&Row| (row.encoding, row.appended_byte, row.block_size) == wanted;
        let mut rows: Vec<_> = advice.rows.iter().filter(is_of).collect();
        rows.sort_by_key(|row| row.bits_per_key);
        let points = rows.iter().map(|row| at(row)).map(|(x, y)| format!("{x:.1},{y:.1} "));
        let _ = writeln!(
            drawing,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.collect::<String>()
        );
        let rates = rows.iter().map(|row| format!("{} {}", row.bits_per_key, percent(pass(row))));
        if !rows.is_empty() {
            names.push((colour, name.to_owned()));
            told.push(format!("{name}: {}", rates.collect::<Vec<_>>().join(", ")));
        }
    }
    if let Some(row) = present {
        let (x, y) = at(row);
        let _ =
            writeln!(drawing, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"var(--ink)\"/>");
        names.push(("var(--ink)", format!("what is there, {}", percent(pass(row)))));
    }
    let text = escape(&advice.text);
    format!(
        "{}{}<p class=\"soft\">{text}</p>\n",
        svg(HEIGHT, &told.join("; "), &drawing),
        key(&names)
    )
}

/// Bits of a key: those of the filters, k, offsets.
fn split(total: &Sums) -> String {
    let (bloom, keys) = (&total.bloom, total.bloom.keys_checked as f64);
    if keys == 0.0 {
        return String::new();
    }
    let parts = [
        ("bits of filters", bloom.bits, "var(--bar)"),
        ("the last byte", bloom.filters * 8, "var(--bar2)"),
        ("offsets of filters", (total.slots - total.empty_slots) * 32, "var(--bar3)"),
        ("offsets of empty slots", total.empty_slots * 32, "var(--bar4)"),
    ];
    let (mut drawing, mut at, mut names) = (String::new(), 0.0, Vec::new());
    for (name, bits, colour) in parts {
        let wide = ratio(bits as f64, bloom.block_bytes as f64 * 8.0) * WIDTH;
        let text = format!("{name} {}", tenths(bits as f64 / keys));
        let _ = writeln!(
            drawing,
            "<rect x=\"{at:.1}\" y=\"0\" width=\"{wide:.1}\" height=\"48\" fill=\"{colour}\"><title>{text}</title></rect>"
        );
        names.push((colour, text));
        at += wide;
    }
    let told: Vec<_> = names.iter().map(|(_, text)| &**text).collect();
    svg(48.0, &format!("bits of a key: {}", told.join(", ")), &drawing) + &key(&names)
}

fn levels(findings: &Findings) -> String {
    let mut levels = Counts::default();
    for report in &findings.reports {
        if let Some(level) = report.place.level() {
            levels.count_times(level.into(), report.sums.filter_block_bytes);
        }
    }
    if levels.0.is_empty() {
        return String::new();
    }
    // Of goleveldb's others only those in use: a MANIFEST may name any number.
    for level in 0..levels.max().min(LEVELS.into()) {
        levels.count_times(level, 0);
    }
    let rows: Vec<_> = levels.0.iter().map(|(level, sum)| (level.to_string(), *sum)).collect();
    bars("level", "bytes of filters", &rows, bytes)
}

fn tables(findings: &Findings) -> String {
    let mut text = String::from(
        "<h2>Tables</h2>\n<section class=\"panel scroll\" tabindex=\"0\" aria-label=\"Tables\"><table>\n<tr>",
    );
    for column in TABLE_COLUMNS {
        let _ = write!(text, "<th scope=\"col\">{}", column.replace('\n', " "));
    }
    text.push('\n');
    for (report, row) in findings.rows().take(ROWS) {
        // Not by colour alone.
        let (class, mark) = if report.is_wrong() { (" class=\"wrong\"", "! ") } else { ("", "") };
        let _ = write!(text, "<tr{class}>");
        for (i, cell) in row.iter().enumerate() {
            let mark = if i == 0 { mark } else { "" };
            let cell = if cell.is_empty() { "\u{2013}" } else { cell };
            let _ = write!(text, "<td>{mark}{}", escape(cell));
        }
        text.push('\n');
    }
    text += "</table></section>\n";
    let more = findings.reports.len().saturating_sub(ROWS) as u64;
    if more > 0 {
        let _ = writeln!(text, "<p>And {}.</p>", plural(more, "more table", "more tables"));
    }
    text
}
