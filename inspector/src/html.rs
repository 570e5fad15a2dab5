//! The report as one page: no script, no network, light or dark as the browser wants it.

use std::fmt::Write as _;

use leveldb_bloom::{MAX_USEFUL_BITS_PER_KEY, false_positive_rate};

use crate::advise::{Advice, Encoding, Row};
use crate::explain::{self, Weight};
use crate::figures::{Findings, TABLE_COLUMNS, describe, figures, fill_rows, keys_rows};
use crate::find::Place;
use crate::manifest::LEVELS;
use crate::sums::{Counts, Sums, ratio};
use crate::text::{self, bytes, count, percent, plural, tenths};

/// Rows of the list of tables; a report of a hundred thousand would open nowhere.
const ROWS: usize = 2000;

const STYLE: &str = "
:root { color-scheme: light dark; --ground: #fbfbf9; --panel: #fff; --ink: #1c2025; --soft: #5b636e;
  --line: #d9dce1; --bar: #2f6fb3; --bar2: #8fb7de; --bar3: #c8793a; --bar4: #a3a9b3; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171b; --panel: #1c2026; --ink: #e6e8eb; --soft: #a0a8b3; --line: #353b44;
    --bar: #6aa5e2; --bar2: #3a5f86; --bar3: #e0995c; --bar4: #5d6570; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem 1rem 4rem; background: var(--ground);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p { margin: .3rem 0; } .soft { color: var(--soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem;
  margin: 1.2rem 0; }
.tile, .panel { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem;
  padding: .8rem 1rem; }
.tile b { display: block; font-size: 1.5rem; font-weight: 600; line-height: 1.3; }
.tile span { color: var(--soft); font-size: .875rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr));
  gap: .8rem; }
.plots .panel { overflow-x: auto; min-width: 0; }
.panel h3 { font-size: 1rem; margin: 0 0 .4rem; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--soft); } @media (max-width: 32rem) { svg { font-size: 15px; } }
svg .axis { stroke: var(--line); }
.notes li { margin: .5rem 0; } .notes b { text-transform: capitalize; }
.wrong b, .wrong { color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
.figures td { text-align: left; white-space: normal; }
.figures td:first-child { color: var(--soft); white-space: nowrap; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: 2px; }
.key span { margin-right: 1rem; white-space: nowrap; }
";

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
        tiles.push(match bloom.asked {
            0 => (percent(bloom.estimated()), "false positives, estimated".into()),
            asked => (
                percent(bloom.measured()),
                format!(
                    "false positives of {} absent keys; {} estimated",
                    count(asked),
                    percent(bloom.estimated())
                ),
            ),
        });
        if data {
            tiles.push((
                tenths(bloom.keys_per_filter.mean()),
                format!("keys per filter; {} in all", count(bloom.keys_checked)),
            ));
        }
    }
    let mut text = String::from("<div class=\"tiles\">\n");
    for (figure, label) in tiles {
        let _ = writeln!(
            text,
            "<div class=\"tile\"><b>{}</b><span>{}</span></div>",
            escape(&figure),
            escape(&label)
        );
    }
    text + "</div>\n"
}

fn notes(findings: &Findings) -> String {
    let mut text = String::new();
    let problems = crate::reports::problems(&findings.reports, false);
    if !problems.is_empty() {
        text += "<h2 class=\"wrong\">Damage</h2>\n<ul class=\"notes\">\n";
        for line in problems.trim().lines().skip(1) {
            let _ = writeln!(text, "<li>{}", escape(line));
        }
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
    let total = &findings.total;
    if total.bloom.filters == 0 {
        return String::new();
    }
    let mut text = String::from("<h2>Plots</h2>\n<div class=\"plots\">\n");
    if total.bloom.bloom_bits > 0 {
        let rows = fill_rows(total);
        text += &panel("Filters by fill", &bars("share of bits set", "filters", &rows, count));
    }
    if findings.data {
        text += &panel("Filters by keys", &bars("keys", "filters", &keys_rows(total), count));
    }
    text += &panel("Rate of false positives by bits per key", &curve(total, findings.data));
    if let Some(advice) = &findings.advice {
        text += &panel("Other settings, tried on these keys", &advised(advice));
    }
    if findings.data {
        let used = findings.reports.iter().filter(|report| report.place.is_used());
        text += &panel("Where the bits of a key go", &split(&explain::with_filters(used)));
    }
    text += &panel("Filter bytes by level", &levels(findings));
    text + "</div>\n"
}

fn panel(title: &str, plot: &str) -> String {
    if plot.is_empty() {
        return String::new();
    }
    format!(
        "<section class=\"panel\" tabindex=\"0\" aria-label=\"{title}\"><h3>{title}</h3>\n{plot}</section>\n"
    )
}

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 84.0;
const BOTTOM: f64 = 46.0;
const TOP: f64 = 26.0;

fn svg(label: &str, drawing: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n{drawing}</svg>\n",
        escape(label)
    )
}

/// What the axes have, along the lower one and above the other.
fn axes(across: &str, up: &str) -> String {
    format!(
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{across}</text>\n\
         <text x=\"{LEFT}\" y=\"14\">{up}</text>\n",
        (LEFT + WIDTH) / 2.0,
        HEIGHT - 6.0
    )
}

fn bars(across: &str, up: &str, rows: &[(String, u64)], show: impl Fn(u64) -> String) -> String {
    let most = rows.iter().map(|(_, number)| *number).max().unwrap_or(0).max(1) as f64;
    // Few bars are no wider than five.
    let room = (WIDTH - LEFT - 8.0) / rows.len().max(5) as f64;
    let height = HEIGHT - BOTTOM - TOP;
    let mut drawing = axes(across, up);
    // Labels that would touch are left out.
    let longest = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0) as f64;
    let every = (longest * 11.0 / room).ceil().max(1.0) as usize;
    for (i, (label, number)) in rows.iter().enumerate() {
        let tall = *number as f64 / most * height;
        let x = LEFT + room * i as f64;
        let _ = writeln!(
            drawing,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" rx=\"2\" \
             fill=\"var(--bar)\"><title>{}: {}</title></rect>",
            x + room * 0.08,
            TOP + height - tall,
            room * 0.84,
            escape(label),
            show(*number)
        );
        if i % every == 0 {
            let _ = writeln!(
                drawing,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x + room / 2.0,
                HEIGHT - BOTTOM + 16.0,
                escape(label)
            );
        }
    }
    let _ = writeln!(
        drawing,
        "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{0}\" y2=\"{0}\"/>\n\
         <text x=\"{1}\" y=\"{2}\" text-anchor=\"end\">{3}</text>",
        TOP + height,
        LEFT - 6.0,
        TOP + 10.0,
        show(most as u64)
    );
    let told: Vec<_> = rows.iter().map(|(label, n)| format!("{label}: {}", show(*n))).collect();
    svg(&format!("{up} by {across}: {}", told.join("; ")), &drawing)
}

/// Where so many bits per key, and a rate, are in a plot.
fn across(bits: f64) -> f64 {
    LEFT + bits.clamp(0.0, 32.0) / 32.0 * (WIDTH - LEFT - 8.0)
}

fn up(rate: f64) -> f64 {
    TOP - rate.clamp(1e-6, 1.0).log10() / 6.0 * (HEIGHT - BOTTOM - TOP)
}

/// The lines and labels of rates over bits.
fn rates(label: &str) -> String {
    let mut drawing = axes(label, "absent keys that pass");
    for (power, text) in
        ["100 %", "10 %", "1 %", "0.1 %", "0.01 %", "0.001 %", "0.0001 %"].iter().enumerate()
    {
        let at = up(10f64.powi(-(power as i32)));
        let _ = writeln!(
            drawing,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    for bits in (0..=30).step_by(5) {
        let _ = writeln!(
            drawing,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{bits}</text>",
            across(f64::from(bits)),
            HEIGHT - BOTTOM + 16.0
        );
    }
    drawing
}

/// What other settings give, by the bits that they spend.
fn advised(advice: &Advice) -> String {
    let present = advice.rows.iter().find(|row| row.present);
    let size = present.or(advice.rows.first()).map_or(0, |row| row.block_size);
    let pass = |row: &Row| row.neighbours_pass.unwrap_or(0.0).max(row.random_pass);
    let (mut drawing, mut key) = (rates("bits spent on a key"), String::from("<p class=\"key\">"));
    let mut told = Vec::new();
    for (name, encoding, appended, colour) in [
        ("LevelDB's", Encoding::Bloom, false, "var(--bar)"),
        ("LevelDB's, a byte appended", Encoding::Bloom, true, "var(--bar4)"),
        ("ribbon", Encoding::Ribbon, false, "var(--bar3)"),
    ] {
        let is_of = |row: &&Row| {
            (row.encoding, row.appended_byte, row.block_size) == (encoding, appended, size)
        };
        let mut rows: Vec<_> = advice.rows.iter().filter(is_of).collect();
        if rows.is_empty() {
            continue;
        }
        rows.sort_by_key(|row| row.bits_per_key);
        let at = |row: &&Row| format!("{:.1},{:.1}", across(row.bits_per_key_spent), up(pass(row)));
        let points: Vec<_> = rows.iter().map(at).collect();
        let _ = writeln!(
            drawing,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.join(" ")
        );
        let _ = write!(key, "<span><i style=\"background:{colour}\"></i>{name}</span> ");
        let rates = rows.iter().map(|row| format!("{} {}", row.bits_per_key, percent(pass(row))));
        told.push(format!("{name}: {}", rates.collect::<Vec<_>>().join(", ")));
    }
    if let Some(row) = present {
        let _ = writeln!(
            drawing,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"var(--ink)\"/>",
            across(row.bits_per_key_spent),
            up(pass(row))
        );
        key += "<span><i style=\"background:var(--ink)\"></i>what is there</span>";
    }
    format!(
        "{}{key}</p>\n<p class=\"soft\">{}</p>\n",
        svg(&told.join("; "), &drawing),
        escape(&advice.text)
    )
}

/// The rate over bits per key for a filter of as many keys as half of them have, with what this
/// database has.
fn curve(total: &Sums, data: bool) -> String {
    let bloom = &total.bloom;
    let keys = if data {
        bloom.keys_per_filter.median()
    } else {
        ratio(bloom.estimated_keys, bloom.filters as f64).round() as u64
    };
    let keys_of_one = usize::try_from(keys.max(1)).unwrap_or(usize::MAX);
    let (x, y) = (across, up);
    let mut drawing = rates("bits per key");
    let points: Vec<_> = (1..=32.min(MAX_USEFUL_BITS_PER_KEY))
        .map(|bits| {
            let rate = false_positive_rate(bits, keys_of_one);
            format!("{:.1},{:.1}", x(f64::from(bits)), y(rate))
        })
        .collect();
    let _ = writeln!(
        drawing,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"var(--bar)\" stroke-width=\"2\"/>",
        points.join(" ")
    );
    let mut told = format!("the rate for {} in a filter", plural(keys, "key", "keys"));
    if let Some(bits) = total.settings.one() {
        let (name, rate) = match bloom.asked {
            0 => ("estimated", bloom.estimated()),
            _ => ("measured", bloom.measured()),
        };
        told += &format!("; here {} {name} at {bits} bits per key", percent(rate));
        let (at, up) = (x(f64::from(bits).min(32.0)), y(rate));
        let _ = writeln!(
            drawing,
            "<circle cx=\"{at:.1}\" cy=\"{up:.1}\" r=\"5\" fill=\"var(--bar3)\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" style=\"fill:var(--ink)\">{} {name}</text>",
            at + 10.0,
            up - 6.0,
            percent(rate)
        );
    }
    let caption =
        format!("<p class=\"soft\">Curve: filters of {}.</p>\n", plural(keys, "key", "keys"));
    svg(&told, &drawing) + &caption
}

/// Bits of a key: those of the filters, k, offsets.
fn split(total: &Sums) -> String {
    let bloom = &total.bloom;
    let keys = bloom.keys_checked as f64;
    if keys == 0.0 {
        return String::new();
    }
    let full = total.slots - total.empty_slots;
    let all = bloom.block_bytes as f64 * 8.0;
    let parts = [
        ("bits of filters", bloom.bits as f64, "var(--bar)"),
        ("the last byte", bloom.filters as f64 * 8.0, "var(--bar2)"),
        ("offsets of filters", full as f64 * 32.0, "var(--bar3)"),
        ("offsets of empty slots", total.empty_slots as f64 * 32.0, "var(--bar4)"),
    ];
    let (mut drawing, mut at) = (String::new(), 0.0);
    let mut key = String::from("<p class=\"key\">");
    let mut told = Vec::new();
    for (name, bits, colour) in parts {
        let wide = ratio(bits, all) * WIDTH;
        let text = format!("{name} {}", tenths(ratio(bits, keys)));
        let _ = writeln!(
            drawing,
            "<rect x=\"{at:.1}\" y=\"0\" width=\"{wide:.1}\" height=\"48\" fill=\"{colour}\">\
             <title>{text}</title></rect>"
        );
        let _ = write!(key, "<span><i style=\"background:{colour}\"></i>{text}</span> ");
        told.push(text);
        at += wide;
    }
    format!(
        "<svg viewBox=\"0 0 {WIDTH} 48\" style=\"min-width: 0\" role=\"img\" aria-label=\"bits of a key: {}\">\n{drawing}</svg>\n\
         {key}</p>\n",
        told.join(", ")
    )
}

fn levels(findings: &Findings) -> String {
    let mut levels = Counts::default();
    for report in &findings.reports {
        if let Place::Level(level) = report.place {
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
