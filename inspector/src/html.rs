//! The report as one page: no script, no network, light or dark as the browser wants it.

use std::fmt::Write as _;

use crate::advise::{Advice, Encoding, Row};
use crate::explain::Weight;
use crate::figures::{Findings, TABLE_COLUMNS, describe, figures};
use crate::reports::{problems, title_of_problems};
use crate::sums::{FILL_STEPS, Sums};
use crate::text::{self, count, percent, plural};

/// Rows of the list of tables; a report of a hundred thousand would open nowhere.
const ROWS: usize = 2000;

const STYLE: &str = include_str!("report.css");

pub fn page(findings: &Findings) -> String {
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
    let nothing = findings.nothing();
    if let Some(why) = nothing {
        let _ = writeln!(page, "<p>{why}</p>");
    }
    page += &notes(findings);
    if nothing.is_none() {
        page += "<h2>Figures</h2>\n<div class=\"panel\"><table class=\"figures\">\n";
        for (label, figure) in figures(findings) {
            let _ = writeln!(page, "<tr><td>{label}<td>{}", escape(&figure));
        }
        page += "</table></div>\n";
        page += &plots(findings);
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

fn notes(findings: &Findings) -> String {
    let mut text = String::new();
    let problems = problems(&findings.reports);
    if !problems.is_empty() {
        let title = title_of_problems(&findings.reports);
        text += &format!("<h2 class=\"wrong\">{title}</h2>\n<ul class=\"notes\">\n");
        text.extend(problems.iter().map(|line| format!("<li>{}\n", escape(line))));
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
    if total.bloom.bloom_bits > 0 {
        panels.push(("Filters by fill", bars("share of bits set", &fill_rows(total))));
    }
    if findings.data && total.bloom.filters > 0 {
        panels.push(("Filters by keys", bars("keys", &keys_rows(total))));
    }
    if let Some(advice) = &findings.advice {
        panels.push(("Other settings, tried on these keys", advised(advice)));
    }
    if panels.is_empty() {
        return String::new();
    }
    let panel = |(title, plot): (&str, String)| {
        format!(
            "<section class=\"panel\" tabindex=\"0\" aria-label=\"{title}\"><h3>{title}</h3>\n{plot}</section>\n"
        )
    };
    let panels: String = panels.into_iter().map(panel).collect();
    format!("<h2>Plots</h2>\n<div class=\"plots\">\n{panels}</div>\n")
}

/// The rows of the fill histogram, without the empty ones at both ends.
fn fill_rows(sums: &Sums) -> Vec<(String, u64)> {
    let (fill, width) = (&sums.bloom.fill, 100 / FILL_STEPS);
    let label = |step: u64| format!("{}-{} %", step * width, (step + 1) * width);
    (fill.min()..=fill.max()).map(|step| (label(step), fill.get(step))).collect()
}

fn keys_rows(sums: &Sums) -> Vec<(String, u64)> {
    let ranges = sums.bloom.keys_per_filter.ranges(12);
    let label = |first, last| match first == last {
        true => count(first),
        false => format!("{}-{}", count(first), count(last)),
    };
    ranges.into_iter().map(|(first, last, number)| (label(first, last), number)).collect()
}

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 84.0;
const BOTTOM: f64 = 46.0;
const TOP: f64 = 26.0;
/// Where the lower axis is, and what is written below it.
const AXIS: f64 = HEIGHT - BOTTOM;
const BELOW: f64 = AXIS + 16.0;

fn svg(said: &str, drawing: &str) -> String {
    let said = escape(said);
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{said}\">\n{drawing}</svg>\n"
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

/// How many filters each row has.
fn bars(across: &str, rows: &[(String, u64)]) -> String {
    let most = rows.iter().map(|(_, number)| *number).max().unwrap_or(0).max(1);
    // Few bars are no wider than five.
    let room = (WIDTH - LEFT - 8.0) / rows.len().max(5) as f64;
    let mut drawing = axes(across, "filters") + &line(AXIS, "");
    drawing += &label(LEFT - 6.0, TOP + 10.0, "end", &count(most));
    // Labels that would touch are left out.
    let longest = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0) as f64;
    let every = (longest * 11.0 / room).ceil().max(1.0) as usize;
    let mut told = Vec::new();
    for (i, (name, number)) in rows.iter().enumerate() {
        let tall = *number as f64 / most as f64 * (AXIS - TOP);
        let x = LEFT + room * i as f64;
        let title = escape(&format!("{name}: {}", count(*number)));
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
    svg(&format!("filters by {across}: {}", told.join("; ")), &drawing)
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
        ("LevelDB's, with a byte appended", Encoding::Bloom, true, "var(--bar3)"),
        ("ribbon", Encoding::Ribbon, false, "var(--bar2)"),
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
        names.push(("var(--ink)", format!("present setting, {}", percent(pass(row)))));
    }
    let text = escape(&advice.text);
    format!("{}{}<p class=\"soft\">{text}</p>\n", svg(&told.join("; "), &drawing), key(&names))
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
