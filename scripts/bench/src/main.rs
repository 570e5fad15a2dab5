//! The benchmark: stock LevelDB's filter, ours in every form, and what else one might take.
//!
//! scripts/bench.sh builds and runs it, and its --help says what the figures mean.

mod instructions;
mod keys;
mod machine;
mod measure;
mod peers;
mod progress;
mod scale;
mod shapes;
mod side;
mod sides;
mod table;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};
use serde::Serialize;

use measure::Effort;
use sides::Sides;

/// What the command line says.
#[derive(Default)]
pub struct Options {
    sides: Sides,
    peers: bool,
    quick: bool,
    /// One document on stdout, and no table.
    json: bool,
    /// Where to store the same document.
    save: Option<PathBuf>,
    /// What a row's name must contain.
    rows: String,
    rounds: Option<usize>,
    /// What to do, and the arguments of that.
    command: Vec<String>,
}

impl Options {
    fn parse() -> Result<Self, lexopt::Error> {
        let mut options = Options::default();
        let mut parser = Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Long("calls") => options.sides.calls = parser.value()?.into(),
                Arg::Long("stock") => options.sides.stock = parser.value()?.into(),
                Arg::Long("stock-copy") => options.sides.stock_copy = parser.value()?.into(),
                Arg::Long("drop-in") => options.sides.drop_in = parser.value()?.into(),
                Arg::Long("source") => options.sides.source = parser.value()?.into(),
                Arg::Long("peer") => {
                    let name = parser.value()?.string()?;
                    options.sides.peers.push((name, parser.value()?.into()));
                }
                Arg::Long("peers") => options.peers = true,
                Arg::Long("sides") => {
                    let names = parser.value()?.string()?;
                    options.sides.names = names.split(',').map(str::to_owned).collect();
                }
                Arg::Long("quick") => options.quick = true,
                Arg::Long("json") => options.json = true,
                Arg::Long("save") => options.save = Some(parser.value()?.into()),
                Arg::Long("rows") => options.rows = parser.value()?.string()?,
                Arg::Long("rounds") => options.rounds = Some(parser.value()?.parse()?),
                Arg::Value(word) => options.command.push(word.string()?),
                other => return Err(other.unexpected()),
            }
        }
        Ok(options)
    }

    fn effort(&self) -> Effort {
        let (rounds, seconds, least) = if self.quick { (25, 2, 3) } else { (201, 10, 5) };
        let (rounds, least) = self.rounds.map_or((rounds, least), |rounds| (rounds, rounds));
        Effort { rounds, time: Duration::from_secs(seconds), least }
    }

    /// Stores a document, and prints it if that was asked for.
    fn hand_over(&self, document: &impl Serialize) -> Result<(), String> {
        let text = serde_json::to_string_pretty(document).map_err(|error| error.to_string())?;
        if let Some(file) = &self.save {
            std::fs::write(file, &text).map_err(|error| format!("{}: {error}", file.display()))?;
        }
        if self.json {
            println!("{text}");
        }
        Ok(())
    }

    fn run(&self) -> Result<(), String> {
        let command: Vec<&str> = self.command.iter().map(String::as_str).collect();
        match command[..] {
            ["table"] => self.hand_over(&table::run(self)?),
            ["scale"] => self.hand_over(&scale::run(self)?),
            ["shapes"] => self.hand_over(&shapes::run(self)?),
            ["shape", name] => self.hand_over(&shapes::one(self, name)?),
            ["instructions"] => self.hand_over(&instructions::run(self)?),
            ["once", case, times] => {
                instructions::once(self, case, times.parse().map_err(|_| "how often?")?)
            }
            _ => {
                Err("table, scale, shapes or instructions? Run it through scripts/bench.sh"
                    .to_owned())
            }
        }
    }
}

fn main() -> ExitCode {
    match Options::parse().map_err(|error| error.to_string()).and_then(|options| options.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
