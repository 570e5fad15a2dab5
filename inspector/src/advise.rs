//! `advise`: what other settings would give this database.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use leveldb_bloom::{FilterPolicy, MAX_RIBBON_BITS_PER_KEY};
use leveldb_bloom_table::FILTER_BASE_LG;
use serde::Serialize;
use serde_json::json;

use crate::absent::{Answers, Asked};
use crate::find::{Everything, Found, find};
use crate::sample::{self, Asking, Building, Feed, LONGEST, Layout, Seen};
use crate::source::{self, Told, Wanted};
use crate::sums::{Settings, ratio};
use crate::text::{BOLD, bytes, capitalised, count, percent, plural, styled, tenths, wrap};
use crate::{print, print_json, say};

#[derive(Args)]
pub struct Advise {
    /// Database folders, or table files (.ldb, .sst)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
    /// Show all settings that were tried
    #[arg(long)]
    all: bool,
    /// The program's max_open_files
    #[arg(long, value_name = "N", value_parser = crate::numbers::count::<u64>, default_value_t = DEFAULT_OPEN_FILES)]
    max_open_files: u64,
}

/// So many bytes of tables are read.
const SAMPLE: u64 = 48 << 20;
/// In parts of so many, which is a table as a rule.
const PART: u64 = 2 << 20;
/// LevelDB's own default.
pub const DEFAULT_OPEN_FILES: u64 = 1000;
/// LevelDB keeps ten files for others than tables.
const OTHER_FILES: u64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    None,
    Bloom,
    Ribbon,
}

/// With the policy that writes it, for a number of bits per key.
type Way = (Encoding, fn(i32) -> FilterPolicy);
const WAYS: [Way; 2] =
    [(Encoding::Bloom, FilterPolicy::new), (Encoding::Ribbon, FilterPolicy::ribbon)];

/// A setting of the filters.
type Setting = (Encoding, i32, FilterPolicy);

/// Those that are tried, and what is there.
fn settings(present: Option<(Encoding, i32)>) -> Vec<Setting> {
    let tried = WAYS.iter().flat_map(|&(encoding, _)| {
        let most = if encoding == Encoding::Ribbon { MAX_RIBBON_BITS_PER_KEY } else { 20 };
        (6..=most).map(move |bits| (encoding, bits))
    });
    let mut tried: Vec<_> = tried.collect();
    if let Some(present) = present.filter(|present| !tried.contains(present)) {
        tried.insert(0, present);
    }
    let with_policy = |(encoding, bits)| {
        let (_, policy) = WAYS.iter().find(|(own, _)| *own == encoding)?;
        Some((encoding, bits, policy(bits)))
    };
    tried.into_iter().filter_map(with_policy).collect()
}

/// A setting, and what it gives.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub block_size: usize,
    pub encoding: Encoding,
    pub bits_per_key: i32,
    pub appended_byte: bool,
    pub present: bool,
    pub best: bool,
    pub filter_bytes: u64,
    pub bits_per_key_spent: f64,
    /// Null where there are no such keys.
    pub neighbours_pass: Option<f64>,
    pub random_pass: Option<f64>,
    /// Whichever passes more often; by the formulas, where there are no such keys.
    #[serde(skip)]
    pub pass: f64,
    pub reads_per_missing_get: f64,
    /// The same by the formulas, for keys of any kind.
    #[serde(skip)]
    expected: f64,
    /// Filters and indexes of the tables that are open at once.
    pub memory: u64,
}

/// What was measured, and what follows.
#[derive(Serialize)]
pub struct Advice {
    pub sampled_keys: u64,
    /// Keys that were too long for it.
    pub left_out_keys: u64,
    pub keys: u64,
    /// Tables that a Get of an absent key looks into.
    pub tables_per_get: f64,
    pub tables: u64,
    pub ordered: bool,
    pub rows: Vec<Row>,
    pub text: String,
}

impl Advice {
    /// What is there.
    pub fn present(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.present)
    }
}

/// The entries that are looked at: parts of tables, or those in logs.
enum Part<'e> {
    Table(&'e Found, std::ops::Range<u64>),
    Logs,
}

/// Parts of the same length all over the tables.
fn parts(everything: &Everything) -> Vec<Part<'_>> {
    let mut used: Vec<_> = everything.tables.iter().filter(|it| it.place.is_used()).collect();
    // As they are beside each other.
    let version = |folder: &std::path::Path| {
        everything.databases.iter().find(|it| it.folder == folder)?.version.as_ref().ok()
    };
    used.sort_by_cached_key(|found| {
        let live = version(found.path.parent()?)?.tables.get(&found.number?)?;
        Some((live.level, live.smallest.clone()))
    });
    let total: u64 = used.iter().map(|found| found.len).sum();
    if total <= SAMPLE {
        let tables = used.into_iter().map(|found| Part::Table(found, 0..found.len));
        return tables.chain([Part::Logs]).collect();
    }
    let (number, mut before, mut parts) = (SAMPLE / PART, 0, Vec::<Part<'_>>::new());
    for found in used {
        // Those whose middle is in this table.
        let place =
            |i: u64| (u128::from(2 * i + 1) * u128::from(total) / u128::from(2 * number)) as u64;
        for at in (0..number).map(place).filter(|at| (before..before + found.len).contains(at)) {
            let from = (at - before).saturating_sub(PART / 2);
            // A little more is a whole table.
            let from = if found.len <= PART + PART / 4 { 0 } else { from };
            let to =
                if from == 0 && found.len <= PART + PART / 4 { found.len } else { from + PART };
            if !matches!(parts.last(), Some(Part::Table(last, part)) if last.path == found.path && part.end > from)
            {
                parts.push(Part::Table(found, from..to));
            }
        }
        before += found.len;
    }
    parts
}

fn feed(
    told: &mut Told,
    everything: &Everything,
    parts: &[Part<'_>],
    layouts: &mut [Layout],
    asking: &mut Asking<'_>,
    seen: &mut Seen,
    bar: &ProgressBar,
) {
    let mut feed = Feed::new(layouts, asking);
    for part in parts {
        match part {
            Part::Table(found, part) => {
                let begun = bar.position();
                let come_to = |to: u64| bar.set_position(begun + to.saturating_sub(part.start));
                sample::read(found, part.clone(), seen, &mut feed, told, &come_to);
                bar.set_position(begun + part.end.min(found.len) - part.start);
            }
            Part::Logs => {
                let (mut writes, mut held) = (std::collections::BTreeMap::new(), 0);
                for path in everything.databases.iter().flat_map(|database| source::logs(database))
                {
                    let _ = source::log(&path, &Wanted::default(), told, &mut |entry| {
                        held += (entry.key.len() + entry.value.map_or(0, <[u8]>::len)) as u64;
                        writes.insert(entry.key.to_vec(), entry.value.map(<[u8]>::to_vec));
                        if held > SAMPLE {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        }
                    });
                }
                for (key, value) in &writes {
                    if let Some(value) = value {
                        feed.add(key, 1, value);
                    }
                }
            }
        }
    }
    feed.end();
}

/// Tries settings on a sample of the keys, or says why there is none.
pub fn advise(
    everything: &Everything,
    told: &mut Told,
    max_open_files: u64,
) -> Result<Advice, String> {
    let parts = parts(everything);
    let total: u64 =
        everything.tables.iter().filter(|it| it.place.is_used()).map(|it| it.len).sum();
    let sampled: u64 = parts
        .iter()
        .map(|part| match part {
            Part::Table(found, part) => part.end.min(found.len) - part.start,
            Part::Logs => 0,
        })
        .sum();
    let bar = match sampled > 4 << 20 {
        true => ProgressBar::new(3 * sampled),
        false => ProgressBar::hidden(),
    };
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent} %, {eta} left") {
        bar.set_style(style);
    }
    // What is there: block size, bits per key, compression; and how many keys there are.
    let bytewise = everything
        .databases
        .iter()
        .all(|it| it.comparator().is_none_or(|it| it == crate::manifest::BYTEWISE));
    let mut seen = Seen::default();
    let mut counting = Asking::new(&[], bytewise, f64::MAX);
    let mut first = [Layout::new(
        Building {
            block_size: 4 << 10,
            appended: false,
            restart_interval: 16,
            compression: 0,
            base_lg: FILTER_BASE_LG,
        },
        0,
    )];
    feed(told, everything, &parts, &mut first, &mut counting, &mut seen, &bar);
    told.quiet = true;
    let keys = first[0].keys;
    let left_out = counting.left_out;
    if keys == 0 {
        return Err(match left_out {
            0 => "there is no key with a value to try settings on".into(),
            _ => format!(
                "every key is longer than {}: there is none to try settings on",
                block(LONGEST)
            ),
        });
    }
    let unknown = match (seen.blocks, seen.odd) {
        (0, _) => Some(
            "There is no table yet, so that blocks are taken to be as LevelDB makes them by itself",
        ),
        (_, true) => Some(
            "There are filters which could not be read, or are not such as LevelDB makes for these keys",
        ),
        _ if seen.filters > 0 && seen.bare => Some("There are filters, but some tables have none"),
        _ => None,
    };
    let present = seen.block_size();
    let sizes: Vec<_> =
        [present, present * 4, present * 16].into_iter().filter(|size| *size <= 4 << 20).collect();
    let present_filters = match (seen.filters, seen.ribbon) {
        _ if unknown.is_some() => None,
        (0, _) => Some((Encoding::None, 0)),
        (_, Some((least, most))) => Some((Encoding::Ribbon, least))
            .filter(|_| least == most && seen.settings == Settings::default()),
        _ => {
            let most = Some(seen.settings.most).filter(|most| *most < i32::MAX);
            seen.settings.one().map(|least| (Encoding::Bloom, most.unwrap_or(least)))
        }
    };
    let settings = settings(present_filters);
    let policies: Vec<_> = settings.iter().map(|(_, _, policy)| *policy).collect();
    let mut layouts = Vec::new();
    let mut asking = Asking::new(&policies, counting.bytewise, keys as f64);
    // A key that is one byte longer is worth a look where neighbours pass more often than others.
    for appended in [false, true] {
        let building = |&block_size: &usize| Building {
            block_size,
            appended,
            restart_interval: seen.restart_interval(),
            compression: seen.compression(),
            base_lg: seen.base_lg,
        };
        let mut more: Vec<_> =
            sizes.iter().map(|size| Layout::new(building(size), policies.len())).collect();
        feed(told, everything, &parts, &mut more, &mut asking, &mut Seen::default(), &bar);
        layouts.extend(more);
        if !ordered(&layouts[0].answers, &settings) {
            break;
        }
    }
    bar.finish_and_clear();
    let is_ordered = ordered(&layouts[0].answers, &settings);
    let all_keys = match sampled.saturating_sub(seen.unread) {
        0 => keys as f64,
        sampled => keys as f64 * total as f64 / sampled as f64,
    };
    let tables = everything.tables.iter().filter(|it| it.place.is_used()).count() as u64;
    let context = Context {
        all_keys,
        open: ratio(max_open_files.saturating_sub(OTHER_FILES).min(tables) as f64, tables as f64),
        per_get: tables_per_get(everything),
        is_ordered,
        present,
        present_filters,
        unknown: unknown.unwrap_or("The filters were made with several settings"),
    };
    let mut rows = Vec::new();
    if present_filters == Some((Encoding::None, 0)) {
        rows.push(context.row(&layouts[0], (Encoding::None, 0), None));
    }
    for layout in &layouts {
        let all = settings.iter().zip(&layout.answers);
        rows.extend(all.map(|((encoding, bits, policy), answers)| {
            context.row(layout, (*encoding, *bits), Some((policy, *answers)))
        }));
    }
    let mut text = context.choose(&mut rows, asking.absent.kind());
    if left_out > 0 {
        let (keys, most) = (plural(left_out, "key was", "keys were"), block(LONGEST));
        text += &format!(" {keys} left out, being longer than {most}.");
    }
    if seen.unread_blocks > 0 {
        let blocks = plural(seen.unread_blocks, "block", "blocks");
        text += &format!(" {blocks} could not be read.");
    }
    Ok(Advice {
        sampled_keys: keys,
        left_out_keys: left_out,
        keys: all_keys as u64,
        tables_per_get: context.per_get,
        tables,
        ordered: is_ordered,
        rows,
        text,
    })
}

/// Whether neighbours pass LevelDB's filters much more often than random keys.
fn ordered(answers: &[Answers], settings: &[Setting]) -> bool {
    let mut sum = Answers::default();
    for ((encoding, ..), answers) in settings.iter().zip(answers) {
        if *encoding == Encoding::Bloom {
            sum += *answers;
        }
    }
    sum.are_ordered()
}

/// How many tables a Get of a key that is not there looks into, by the ranges that they have.
fn tables_per_get(everything: &Everything) -> f64 {
    let used: Vec<_> = everything.tables.iter().filter(|found| found.place.is_used()).collect();
    let versions = everything.databases.iter().filter_map(|it| it.version.as_ref().ok());
    let ends: Vec<_> = versions
        .flat_map(|it| it.tables.values())
        .flat_map(|it| [&it.smallest, &it.largest])
        .collect();
    let every = ends.len().div_ceil(1000).max(1);
    let (mut keys, mut asked) = (0, 0);
    for key in ends.iter().step_by(every) {
        // A Get of what is beside it.
        let key = [&key.user_key[..], &[0]].concat();
        let tables = used
            .iter()
            .filter(|found| found.range.as_ref().is_some_and(|range| range.is_asked_for(&key)));
        let tables = tables.count();
        keys += u32::from(tables > 0);
        asked += tables as u32;
    }
    if keys == 0 { 1.0 } else { f64::from(asked) / f64::from(keys) }
}

struct Context {
    all_keys: f64,
    /// The share of the tables that are open at once.
    open: f64,
    per_get: f64,
    is_ordered: bool,
    present: usize,
    present_filters: Option<(Encoding, i32)>,
    /// Why it is not known what is there, where it is not.
    unknown: &'static str,
}

impl Context {
    fn row(
        &self,
        layout: &Layout,
        (encoding, bits): (Encoding, i32),
        filters: Option<(&FilterPolicy, Answers)>,
    ) -> Row {
        let share = self.all_keys / layout.keys as f64;
        let filter_bytes = filters.map_or(0, |(policy, _)| layout.filter_bytes(policy));
        let answers = filters.map(|(_, answers)| answers);
        let rate = |asked: fn(Answers) -> Asked| match answers.map(asked) {
            None => Some(1.0),
            Some(asked) => (asked.asked > 0).then(|| asked.rate()),
        };
        let (neighbours, random) = (rate(|it| it.near), rate(|it| it.random));
        let expected = expected(layout, encoding, bits);
        // What a program asks for is not known: whichever passes more often.
        let pass = neighbours.into_iter().chain(random).reduce(f64::max).unwrap_or(expected);
        let Building { block_size, appended, .. } = layout.building;
        let is_present = block_size == self.present
            && !appended
            && self.present_filters == Some((encoding, bits));
        Row {
            block_size,
            encoding,
            bits_per_key: bits,
            appended_byte: appended,
            present: is_present,
            best: false,
            filter_bytes: (filter_bytes as f64 * share) as u64,
            bits_per_key_spent: ratio(filter_bytes as f64 * 8.0, layout.keys as f64),
            neighbours_pass: neighbours,
            random_pass: random,
            pass,
            reads_per_missing_get: pass * self.per_get,
            expected: expected * self.per_get,
            memory: ((filter_bytes + layout.index_bytes) as f64 * share * self.open) as u64,
        }
    }

    /// Marks the best rows, and says what to change and what it brings.
    fn choose(&self, rows: &mut [Row], kind: &str) -> String {
        let plain = |encoding, bits| {
            rows.iter().find(|row| (row.encoding, row.bits_per_key) == (encoding, bits)).cloned()
        };
        let present = rows.iter().find(|row| row.present).cloned();
        let pass = |row: &Row| percent(row.neighbours_pass.unwrap_or(0.0));
        let before = match &present {
            None => format!(
                "{}. The comparison is with tables that are written with 10 bits per key.",
                self.unknown
            ),
            Some(Row { encoding: Encoding::None, .. }) => {
                "There are no filters: each Get of a key that is not there reads a block of each table that \
                 could hold it."
                    .into()
            }
            Some(row) if self.is_ordered && row.encoding == Encoding::Bloom => format!(
                "Your keys are {}: LevelDB's filter passes {} of absent neighbours, and {} with 20 bits per key.",
                kind,
                pass(row),
                plain(Encoding::Bloom, 20).map_or_else(String::new, |row| pass(&row))
            ),
            Some(row) => format!(
                "{} of absent keys pass the filters of {}, which take {} bits of each key.",
                percent(row.pass),
                plural(row.bits_per_key.unsigned_abs().into(), "bit per key", "bits per key"),
                tenths(row.bits_per_key_spent),
            ),
        };
        let Some(now) = present.or(plain(Encoding::Bloom, 10)) else { return before };
        let larger = |row: &Row| row.block_size as f64 / now.block_size as f64;
        let best = |cost: &dyn Fn(&Row) -> f64, room: &dyn Fn(&Row) -> bool| {
            let rows = rows.iter().enumerate().filter(|(_, row)| room(row));
            rows.min_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b))).map(|(i, _)| i)
        };
        // What does not change costs nothing; a longer key has to be written everywhere.
        let change = |row: &Row| {
            let factor = |is_changed, factor| if is_changed { factor } else { 1.0 };
            factor(row.bits_per_key != now.bits_per_key, 1.15)
                * factor(row.encoding != now.encoding, 1.15)
                * factor(row.appended_byte, 1.5)
        };
        // Ordered keys may miss each other's bits, in filters of one size: nothing to rely on. And a
        // read in a thousand is none.
        let reads =
            |row: &Row| row.reads_per_missing_get.max(row.expected).max(0.001 * self.per_get);
        let room = if now.encoding == Encoding::None || now.bits_per_key < 4 {
            // As much as everybody spends.
            plain(Encoding::Bloom, 10).map_or(0, |row| row.filter_bytes)
        } else {
            now.filter_bytes
        };
        let has_room = |row: &Row| row.filter_bytes as f64 <= 1.05 * room as f64;
        // A larger block takes longer to read, also for the keys that are there.
        let cost = |row: &Row| reads(row) * larger(row) * change(row);
        let fewer = best(&cost, &has_room);
        let own = best(&cost, &|row| has_room(row) && row.encoding != Encoding::Ribbon);
        let smaller = best(
            &|row| row.filter_bytes as f64 * (1.0 + 0.1 * larger(row)) * change(row),
            &|row| reads(row) <= 1.05 * reads(&now),
        );
        let is_fewer = |row: &&Row| {
            let (reads, before) = (row.reads_per_missing_get, now.reads_per_missing_get);
            reads * larger(row) < 0.7 * before && reads + 0.007 < before
        };
        let is_smaller = |row: &&Row| {
            let (bytes, before) = (row.filter_bytes, now.filter_bytes);
            (bytes as f64) < 0.85 * before as f64 && bytes + (16 << 10) < before
        };
        let row = |i: Option<usize>| i.map(|i| &rows[i]).filter(|_| self.all_keys >= 500.0);
        let text = match row(fewer).filter(is_fewer).or(row(smaller).filter(is_smaller)) {
            None => format!(
                "{before} Nothing to gain: no setting gives clearly fewer reads for as many bytes, or clearly \
                 fewer bytes for as few reads."
            ),
            Some(row_) => {
                let text = format!(
                    "{before} {}: {} reads for each missing Get instead of {}, and {} of filters instead of {}, \
                     once all tables are written again.",
                    changes(&now, row_),
                    reads_of(row_.reads_per_missing_get),
                    reads_of(now.reads_per_missing_get),
                    bytes(row_.filter_bytes),
                    bytes(now.filter_bytes)
                );
                match row(own).filter(is_fewer).filter(|_| row_.encoding == Encoding::Ribbon) {
                    Some(own) => format!(
                        "{text} With LevelDB's own filters: {}, for {}.",
                        changes(&now, own),
                        reads_of(own.reads_per_missing_get)
                    ),
                    None => text,
                }
            }
        };
        for i in [fewer, own, smaller].into_iter().flatten() {
            rows[i].best = true;
        }
        text
    }
}

/// What to do to get from one row to another.
fn changes(now: &Row, row: &Row) -> String {
    let mut changes = Vec::new();
    if row.appended_byte {
        changes.push("append one byte, always the same, to every key".to_owned());
    }
    if row.block_size != now.block_size {
        let size = block(row.block_size);
        changes.push(format!("set block_size to {size} (a Get then reads a larger block)"));
    }
    let bits = row.bits_per_key;
    match row.encoding {
        encoding if (encoding, bits) == (now.encoding, now.bits_per_key) => {}
        Encoding::Ribbon => changes.push(format!(
            "use ribbon filters of {bits} bits per key (leveldb_bloom_filterpolicy_create_ribbon({bits}), or {})",
            crate::explain::RIBBON
        )),
        _ => changes.push(format!("set {bits} bits per key (NewBloomFilterPolicy({bits}))")),
    }
    let what = changes.join(", and ");
    capitalised(&what)
}

/// What the formulas say of absent keys in the filters of a layout.
fn expected(layout: &Layout, encoding: Encoding, bits: i32) -> f64 {
    let rate = |keys| match encoding {
        Encoding::None => 1.0,
        Encoding::Bloom => leveldb_bloom::false_positive_rate(bits, keys),
        Encoding::Ribbon => f64::from(-bits).exp2(),
    };
    let of = |(&keys, &filters): (&usize, &u64)| rate(keys) * keys as f64 * filters as f64;
    ratio(layout.keys_per_filter.iter().map(of).sum(), layout.keys as f64)
}

fn reads_of(reads: f64) -> String {
    if reads == 0.0 {
        "0".into()
    } else if reads >= 0.1 {
        format!("{reads:.2}")
    } else if reads >= 0.001 {
        format!("{reads:.4}")
    } else {
        format!("{reads:.1e}")
    }
}

fn block(size: usize) -> String {
    bytes(size as u64).replace(".0 ", " ")
}

pub fn run(args: &Advise) -> Result<ExitCode, String> {
    let everything = find(&args.paths)?;
    for database in &everything.databases {
        database.complaints().iter().for_each(|what| say(what));
    }
    let advice = advise(&everything, &mut Told::default(), args.max_open_files)?;
    if args.json {
        print_json(&json!({ "version": env!("CARGO_PKG_VERSION"), "advice": advice }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header([
        "",
        "block\nsize",
        "encoding",
        "bits",
        "byte\nadded",
        "bits\nspent",
        "neighbours\npass",
        "random\npass",
        "reads per\nmissing Get",
        "filters",
        "memory",
    ]);
    for row in advice.rows.iter().filter(|row| args.all || is_shown(row, &advice.rows)) {
        table.add_row([
            if row.best {
                "*"
            } else if row.present {
                ">"
            } else {
                ""
            }
            .to_owned(),
            block(row.block_size),
            ["none", "bloom", "ribbon"][row.encoding as usize].to_owned(),
            row.bits_per_key.to_string(),
            if row.appended_byte { "yes" } else { "" }.to_owned(),
            tenths(row.bits_per_key_spent),
            row.neighbours_pass.map_or("-".into(), percent),
            row.random_pass.map_or("-".into(), percent),
            reads_of(row.reads_per_missing_get),
            bytes(row.filter_bytes),
            bytes(row.memory),
        ]);
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if i != 2 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = wrap(&advice.text, "");
    text += &format!("\n{}\n\n", table.trim_fmt());
    text += &wrap(
        &format!(
            "> is what is there, * the best. {} of about {} were tried, in {}; a Get of an absent key looks into {} of them. Memory is that of filters and indexes of the tables that are open at once.",
            plural(advice.sampled_keys, "key", "keys"),
            count(advice.keys),
            plural(advice.tables, "table", "tables"),
            tenths(advice.tables_per_get)
        ),
        "",
    );
    print(&text.replacen(&advice.text, &styled(BOLD, &advice.text), 1))?;
    Ok(ExitCode::SUCCESS)
}

/// What is there and what is best, and of the others few.
fn is_shown(row: &Row, rows: &[Row]) -> bool {
    let better = |other: &Row| {
        other.memory <= row.memory
            && other.reads_per_missing_get < row.reads_per_missing_get
            && other.block_size <= row.block_size
            && other.appended_byte <= row.appended_byte
    };
    row.best
        || row.present
        || [8, 10, 12, 16, 20].contains(&row.bits_per_key) && !rows.iter().any(better)
}
