//! Where and when the figures were taken.

use std::env;
use std::fmt;
use std::fs;
use std::process::Command;

use leveldb_bloom::Kernel;
use serde::Serialize;

#[derive(Serialize)]
pub struct Machine {
    date: String,
    processor: String,
    cores: usize,
    system: String,
    kernels: Vec<&'static str>,
    /// Those there are, but not here.
    absent_kernels: Vec<&'static str>,
    /// How many processes wanted to run, on average of the last minute: more than one disturbs.
    load: f64,
    version: &'static str,
}

fn system() -> Option<String> {
    let text = fs::read_to_string("/etc/os-release").ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim().trim_matches('"').to_owned())
}

impl Machine {
    pub fn this() -> Self {
        let date = Command::new("date").args(["-u", "+%F"]).output();
        let kernels: Vec<_> = Kernel::available().map(Kernel::name).collect();
        let absent = |name: &&str| !kernels.contains(name);
        let load = fs::read_to_string("/proc/loadavg").ok();
        Machine {
            date: date.map_or(String::new(), |out| {
                String::from_utf8_lossy(&out.stdout).trim().to_owned()
            }),
            // As scripts/common.sh says it.
            processor: env::var("PROCESSOR").unwrap_or_default(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            system: system().unwrap_or_default(),
            absent_kernels: Kernel::NAMES.iter().copied().filter(absent).collect(),
            load: load.and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(0.0),
            version: env!("CARGO_PKG_VERSION"),
            kernels,
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { date, processor, cores, system, load, .. } = self;
        writeln!(f, "{date}, {processor}, {cores} cores, {system}, load {load:.1}")?;
        write!(f, "Kernels: {}", self.kernels.join(", "))?;
        write!(f, "; not on this machine: {}", self.absent_kernels.join(", "))
    }
}
