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
    /// The same bytes in another file, which is therefore loaded once more.
    pub stock_copy: PathBuf,
    /// Our drop-in library.
    pub drop_in: PathBuf,
    /// leveldb_bloom_policy.cc, built.
    pub source: PathBuf,
    /// Peers' names and the libraries through which they are called.
    pub peers: Vec<(String, PathBuf)>,
    /// The names asked for; empty for every kernel and the drop-in policy with the best.
    pub names: Vec<String>,
}

/// The prefix of a drop-in policy's name, before its kernel's.
const DROP_IN: &str = "drop-in-";

/// The prefixes of the callback table's, and of the policy that is compiled with LevelDB.
const CALLBACKS: &str = "callbacks-";
const SOURCE: &str = "source-";

/// Stock once more: how far its figures are from 1 is what the measurement leaves open.
pub const STOCK_COPY: &str = "stock-copy";

/// Every kernel, the slowest first.
fn kernels() -> Vec<String> {
    let mut names: Vec<String> = Kernel::available().map(|k| k.name().to_owned()).collect();
    names.reverse();
    names
}

/// Every kernel, and the drop-in policy with the fastest.
fn default_names() -> Vec<String> {
    let mut names = kernels();
    names.push(format!("{DROP_IN}{}", Kernel::best().name()));
    names
}

impl Sides {
    /// Stock, then ours, then the peers.
    pub fn open(&self, peers: bool) -> Result<Vec<Box<dyn Side>>, String> {
        self.open_or(default_names(), peers)
    }

    /// Stock, then the drop-in policy with every kernel and stock's copy, unless other sides were
    /// asked for.
    pub fn open_drop_in(&self) -> Result<Vec<Box<dyn Side>>, String> {
        let mut names: Vec<String> =
            kernels().iter().map(|name| format!("{DROP_IN}{name}")).collect();
        names.push(STOCK_COPY.to_owned());
        self.open_or(names, false)
    }

    fn open_or(&self, default: Vec<String>, peers: bool) -> Result<Vec<Box<dyn Side>>, String> {
        let calls = Calls::open(&self.calls)?;
        let stock = Virtual::new("stock", calls, &self.stock, None, None)?;
        let mut sides: Vec<Box<dyn Side>> = vec![Box::new(stock)];
        let names = if self.names.is_empty() { default } else { self.names.clone() };
        // Stock is there anyway.
        for name in names.iter().filter(|name| *name != "stock") {
            if name == STOCK_COPY {
                sides.push(Box::new(Virtual::new(name, calls, &self.stock_copy, None, None)?));
                continue;
            }
            let prefix = [DROP_IN, CALLBACKS, SOURCE].into_iter().find(|p| name.starts_with(p));
            let kernel = name.strip_prefix(prefix.unwrap_or_default()).unwrap_or(name);
            let kernel = Kernel::by_name(kernel)
                .ok_or_else(|| format!("{name:?}: this machine has no such kernel"))?;
            let (library, host) = match prefix {
                None => {
                    sides.push(Box::new(Ours(kernel)));
                    continue;
                }
                Some(SOURCE) => (&self.source, None),
                Some(CALLBACKS) => (&self.drop_in, Some(self.stock.as_path())),
                Some(_) => (&self.drop_in, None),
            };
            let side = Virtual::new(name, calls, library, host, Some(kernel.name()))?;
            side.route()?;
            sides.push(Box::new(side));
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

    /// How a drop-in policy says that its filters reach the host.
    pub fn drop_in_route(&self) -> Result<String, String> {
        let calls = Calls::open(&self.calls)?;
        Virtual::new("the drop-in policy", calls, &self.drop_in, None, None)?.route()
    }

    /// The paths, as this program takes them.
    pub fn arguments(&self) -> Vec<OsString> {
        let options = ["--calls", "--stock", "--stock-copy", "--drop-in", "--source"];
        let paths = [&self.calls, &self.stock, &self.stock_copy, &self.drop_in, &self.source];
        options.iter().zip(paths).flat_map(|(o, path)| [o.into(), path.into()]).collect()
    }
}
