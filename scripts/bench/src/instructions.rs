//! How many instructions work takes: the same number on every run, however busy the machine.
//!
//! Counted twice. callgrind simulates the program, whole and under another name, doing the work
//! twice as often: the difference is the work. It knows no AVX-512. A debugger's single steps
//! know every instruction: a child does the work between two stops, and is led through it.

use std::process::Command;

use serde::Serialize;

use crate::Options;
use crate::keys::Keys;
use crate::machine::Machine;
use crate::side::Prepared;
use crate::work::{BITS, Given, How, Work, query};

#[derive(Serialize)]
pub struct Instructions {
    kind: &'static str,
    machine: Machine,
    rows: Vec<Counted>,
}

#[derive(Serialize)]
struct Counted {
    name: &'static str,
    /// What one is.
    unit: &'static str,
    sides: Vec<Count>,
}

#[derive(Serialize)]
struct Count {
    side: String,
    callgrind: Option<f64>,
    steps: Option<f64>,
}

struct Case {
    name: &'static str,
    unit: &'static str,
    /// How many of them a run takes.
    units: usize,
    make: fn() -> Work,
}

const ASKED: usize = 1_000;

fn create(n: usize) -> Work {
    Work::Create {
        keys: Keys::random(n * 20, 16..=16, 1),
        per: n,
        bits: BITS,
        given: Given::Listed,
    }
}

fn ask(members: usize, present: bool) -> Work {
    query(Keys::random(members, 16..=16, 7), present, BITS, How::OneByOne, ASKED)
}

const CASES: [Case; 6] = [
    Case { name: "create, 1 key", unit: "filter", units: 20, make: || create(1) },
    Case { name: "create, 20 keys", unit: "filter", units: 20, make: || create(20) },
    Case {
        name: "query, filter of 20, present",
        unit: "query",
        units: ASKED,
        make: || ask(20, true),
    },
    Case {
        name: "query, filter of 20, absent",
        unit: "query",
        units: ASKED,
        make: || ask(20, false),
    },
    Case {
        name: "query, filter of 1,000, present",
        unit: "query",
        units: ASKED,
        make: || ask(1_000, true),
    },
    Case {
        name: "query, filter of 1,000, absent",
        unit: "query",
        units: ASKED,
        make: || ask(1_000, false),
    },
];

/// The work `times` times and nothing else, for callgrind to look at.
///
/// # Errors
/// Work or a side that there is not.
pub fn once(options: &Options, case: &str, times: usize) -> Result<(), String> {
    let case = CASES.iter().find(|other| other.name == case).ok_or("no such work")?;
    let sides = options.sides.open(false)?;
    let side = sides.last().ok_or("no side")?;
    let work = (case.make)();
    let prepared = side.prepare(&work).ok_or("nothing to do")?;
    for _ in 0..times {
        (prepared.run)();
    }
    Ok(())
}

/// How many instructions callgrind saw.
fn collected(options: &Options, side: &str, case: &str, times: usize) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(options.sides.arguments())
        .args(["--sides", side, "once", case, &times.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text.lines().find_map(|line| line.split_once("Collected : ")?.1.parse().ok());
    match count {
        Some(count) if output.status.success() => Ok(count),
        _ => Err(format!("valgrind: {}", text.lines().last().unwrap_or_default())),
    }
}

fn callgrind(options: &Options, side: &str, case: &Case) -> Result<Option<f64>, String> {
    // valgrind's processor has none of that.
    if side.ends_with("avx512") {
        return Ok(None);
    }
    let once = collected(options, side, case.name, 50)?;
    let twice = collected(options, side, case.name, 100)?;
    Ok(Some((twice - once) as f64 / (50 * case.units) as f64))
}

/// The instructions of one call of `work`, or `None` where nobody may trace here.
fn steps(work: &dyn Fn()) -> Option<u64> {
    // SAFETY: this process has one thread, so that the child may go on as if nothing had happened;
    // the child is only stopped, led on and killed.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
                libc::_exit(1);
            }
            work();
            libc::raise(libc::SIGSTOP);
            work();
            libc::raise(libc::SIGSTOP);
            libc::_exit(0);
        }
        let mut status = 0;
        let mut steps = 0;
        libc::waitpid(child, &mut status, 0);
        let mut began = libc::WIFSTOPPED(status);
        while libc::WIFSTOPPED(status) {
            // Not every system can, and work that faults would be stepped on for ever.
            let stepped = libc::ptrace(libc::PTRACE_SINGLESTEP, child, 0, 0) == 0;
            if stepped {
                libc::waitpid(child, &mut status, 0);
            }
            if stepped && libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGTRAP {
                steps += 1;
                continue;
            }
            began = stepped && libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGSTOP;
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, &mut status, 0);
            break;
        }
        began.then_some(steps)
    }
}

fn stepped(prepared: &Prepared, units: usize) -> Option<f64> {
    let nothing = steps(&|| {})?;
    let run = || {
        std::hint::black_box((prepared.run)());
    };
    Some((steps(&run)? - nothing) as f64 / units as f64)
}

/// Counts every case for stock and ours.
///
/// # Errors
/// No valgrind, or something under it that failed.
pub fn run(options: &Options) -> Result<Instructions, String> {
    let sides = options.sides.open(false)?;
    let mut rows = Vec::new();
    if !options.json {
        println!("{:34} {:16} {:>10} {:>10}", "Instructions", "", "callgrind", "stepped");
    }
    for case in &CASES {
        let work = (case.make)();
        let mut counts = Vec::new();
        for side in &sides {
            eprintln!("{}: {}", case.name, side.name());
            let Some(prepared) = side.prepare(&work) else { continue };
            counts.push(Count {
                side: side.name().to_owned(),
                callgrind: callgrind(options, side.name(), case)?,
                steps: stepped(&prepared, case.units),
            });
        }
        if !options.json {
            let mut name = format!("{}, a {}", case.name, case.unit);
            for count in &counts {
                let text = |n: Option<f64>| n.map_or("-".to_owned(), |n| format!("{n:.1}"));
                let (callgrind, steps) = (text(count.callgrind), text(count.steps));
                println!("{name:34} {:16} {callgrind:>10} {steps:>10}", count.side);
                name.clear();
            }
        }
        rows.push(Counted { name: case.name, unit: case.unit, sides: counts });
    }
    Ok(Instructions { kind: "instructions", machine: Machine::this(), rows })
}
