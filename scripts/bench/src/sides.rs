//! Which sides there are, and where their libraries lie.

use std::ffi::OsString;
use std::path::PathBuf;

use leveldb_bloom::Kernel;

use crate::peers::{FastBloom, RustyLevelDb};
use crate::side::{Calls, Ours, Shared, Side, Virtual};

/// Paths that scripts/bench.sh gives.
#[derive(Default)]
pub struct Sides {
    /// calls.cc, built.
    pub calls: PathBuf,
    /// Stock LevelDB.
    pub stock: PathBuf,
    /// Our drop-in library.
    pub drop_in: PathBuf,
    /// Peers' names and the libraries through which they are called.
    pub peers: Vec<(String, PathBuf)>,
    /// The names asked for; empty for every kernel and the drop-in policy with the best.
    pub names: Vec<String>,
}

/// The prefix of a drop-in policy's name, before its kernel's.
const DROP_IN: &str = "drop-in-";

/// The prefix of the callback table's.
const CALLBACKS: &str = "callbacks-";

/// Every kernel, the slowest first, and the drop-in policy with the fastest.
fn default_names() -> Vec<String> {
    let mut names: Vec<String> = Kernel::available().map(|k| k.name().to_owned()).collect();
    names.reverse();
    names.push(format!("{DROP_IN}{}", Kernel::best().name()));
    names
}

impl Sides {
    /// Stock, then ours, then the peers.
    pub fn open(&self, peers: bool) -> Result<Vec<Box<dyn Side>>, String> {
        let calls = Calls::open(&self.calls)?;
        let stock = Virtual::new("stock", calls, &self.stock, None, None)?;
        let mut sides: Vec<Box<dyn Side>> = vec![Box::new(stock)];
        let names = if self.names.is_empty() { default_names() } else { self.names.clone() };
        // Stock is there anyway.
        for name in names.iter().filter(|name| *name != "stock") {
            let of = |prefix| name.strip_prefix(prefix);
            let (drop_in, callbacks) = (of(DROP_IN), of(CALLBACKS));
            let kernel = Kernel::by_name(drop_in.or(callbacks).unwrap_or(name))
                .ok_or_else(|| format!("{name}: this machine has no such kernel"))?;
            sides.push(if drop_in.is_none() && callbacks.is_none() {
                Box::new(Ours(kernel))
            } else {
                let host = callbacks.map(|_| self.stock.as_path());
                Box::new(Virtual::new(name, calls, &self.drop_in, host, Some(kernel.name()))?)
            });
        }
        if peers {
            sides.push(Box::new(RustyLevelDb));
            sides.push(Box::new(FastBloom));
            for (name, file) in &self.peers {
                sides.push(Box::new(Shared::open(name, file)?));
            }
        }
        Ok(sides)
    }

    /// How a drop-in policy says that its filters reach the host. Also shows that it is ours that
    /// answers.
    pub fn drop_in_route(&self) -> Result<String, String> {
        Calls::open(&self.calls)?.route(&self.drop_in)
    }

    /// The paths, as this program takes them.
    pub fn arguments(&self) -> Vec<OsString> {
        let options = ["--calls", "--stock", "--drop-in"];
        let paths = [&self.calls, &self.stock, &self.drop_in];
        options.iter().zip(paths).flat_map(|(o, path)| [o.into(), path.into()]).collect()
    }
}
