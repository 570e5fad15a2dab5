//! Where and when the figures were taken.

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

fn value(file: &str, name: &str, separator: char) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let (_, value) = line.split_once(separator)?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// Clouds give all generations of a processor one name. Its family and model tell them apart.
fn processor() -> String {
    let of_first = |name| value("/proc/cpuinfo", name, ':');
    let name = of_first("model name").unwrap_or_default();
    match (of_first("cpu family"), of_first("model\t")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name,
    }
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
            processor: processor(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            system: value("/etc/os-release", "PRETTY_NAME", '=').unwrap_or_default(),
            absent_kernels: Kernel::NAMES.into_iter().filter(absent).collect(),
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
