//! `run`: a program with the library preloaded, and afterwards who answered there.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{self, Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, atomic::AtomicBool};

use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::process::{
    DumpableBehavior, Pid, WaitOptions, kill_process, set_dumpable_behavior, waitpid,
};
use signal_hook::low_level::emulate_default_handler;

mod answered;
mod elf;
mod program;

use crate::text;
use program::Refused;

const STATS: &str = "LEVELDB_BLOOM_STATS";

pub const AFTER_HELP: &str = "\
  leveldb-bloom run -- litecoind -regtest
  leveldb-bloom run --stats /var/tmp/bloom.stats -- node server.js

Puts the library in front of LD_PRELOAD, which the program's children inherit,
and sets LEVELDB_BLOOM_STATS, unless that is set already. The last line on
stderr says who answered, or why nothing happened. A temporary file keeps the
statistics until then; a program that goes on in the background, or as another
user, needs --stats and a file that it may write.

Signals that are sent to this command alone are passed on. Those of the terminal
reach the program anyway; one sent to the whole process group it gets twice.

Exit status: the program's, or death by the same signal. Before it starts: 2 the
options were not understood; 125 there is no library, or no statistics can be
written; 126 the program cannot be started, or a library cannot be preloaded
into it; 127 there is no such program.";

#[derive(clap::Args)]
pub struct Run {
    /// The library [default: the one installed with the command]
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Append the statistics to this file, and keep them
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
    /// Have all policies make ribbon filters
    #[arg(long)]
    ribbon: bool,
    /// The kernel to use: avx512, avx2 or portable
    #[arg(long, value_name = "NAME")]
    kernel: Option<OsString>,
    /// Do not say afterwards who answered
    #[arg(long, short)]
    quiet: bool,
    /// The program, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_names = ["PROGRAM", "ARGS"])]
    command: Vec<OsString>,
}

pub fn run(args: &Run) -> ExitCode {
    start(args).unwrap_or_else(|Refused(status, text)| {
        let _ = writeln!(io::stderr(), "leveldb-bloom: {text}");
        ExitCode::from(status)
    })
}

fn start(args: &Run) -> Result<ExitCode, Refused> {
    let program = &args.command[0];
    let library = program::library(args.library.as_deref())?;
    let executable = program::executable(program)?;
    program::check(&executable, &library)?;

    let no_statistics = |error: io::Error| Refused(125, format!("statistics: {error}"));
    // A folder, so that nobody who writes later makes a new file.
    let folder = tempfile::tempdir().map_err(no_statistics)?;
    let from_environment = env::var_os(STATS).filter(|value| !value.is_empty());
    let statistics = match (&args.stats, from_environment) {
        (Some(file), _) => {
            let open = OpenOptions::new().append(true).create(true).open(file);
            open.and_then(|_| path::absolute(file))
                .map_err(|error| Refused(125, format!("{}: {error}", text::path(file))))?
        }
        (None, Some(value)) => value.into(),
        (None, None) => folder.path().join("statistics"),
    };
    let written_before = fs::metadata(&statistics).map_or(0, |file| file.len());

    let mut environment: BTreeMap<_, _> = env::vars_os().collect();
    environment.insert(STATS.into(), statistics.clone().into());
    let mut preload = library.into_os_string();
    if let Some(others) = environment.get(OsStr::new("LD_PRELOAD")).filter(|it| !it.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    environment.insert("LD_PRELOAD".into(), preload);
    if args.ribbon {
        environment.insert("LEVELDB_BLOOM_ENCODING".into(), "ribbon".into());
    }
    if let Some(kernel) = &args.kernel {
        environment.insert("LEVELDB_BLOOM_KERNEL".into(), kernel.clone());
    }
    let end = follow(&args.command, &environment).map_err(|error| {
        let status = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
        Refused(status, format!("{}: {error}", text::path(Path::new(program))))
    })?;

    if !args.quiet {
        let said = if statistics == Path::new("stderr") {
            "the statistics are on stderr, as LEVELDB_BLOOM_STATS says.".into()
        } else {
            answered::by(&statistics, written_before)
                .unwrap_or_else(|| answered::why_not(program::found(program).ok(), &executable))
        };
        let _ = writeln!(io::stderr(), "leveldb-bloom: {said}");
    }
    drop(folder);
    Ok(match end {
        End::Status(status) => ExitCode::from(status as u8),
        End::Signal(signal) => {
            // The program has left a core file if there is to be one.
            let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
            let _ = emulate_default_handler(signal);
            ExitCode::from(128 + signal as u8)
        }
    })
}

enum End {
    Status(i32),
    Signal(i32),
}

/// Runs it to its end. It is in our process group: what the terminal sends, it gets without us, and
/// we stop and die only after it.
fn follow(command: &[OsString], environment: &BTreeMap<OsString, OsString>) -> io::Result<End> {
    use Signal::{SIGBUS, SIGFPE, SIGILL, SIGPIPE, SIGSEGV, SIGSYS, SIGTRAP};
    let faults = [SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP];
    let ours: SigSet = Signal::iterator().filter(|signal| !faults.contains(signal)).collect();
    let mask = ours.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let signals = SignalFd::with_flags(&ours, SfdFlags::SFD_CLOEXEC)?;
    // Whoever started us may have SIGCHLD ignored: then there would be nothing to wait for.
    signal_hook::flag::register(Signal::SIGCHLD as i32, Arc::<AtomicBool>::default())?;

    // Unlike the standard library's, it gives the program another mask than ours.
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_sigmask(&mask)?;
    attributes.set_sigdefault(&SIGPIPE.into())?;
    let flags = PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF;
    attributes.set_flags(flags)?;
    let c_string = |text: OsString| CString::new(text.into_vec());
    let arguments: Vec<_> = command.iter().cloned().map(c_string).collect::<Result<_, _>>()?;
    let variables = environment.iter().map(|(name, value)| [&**name, value].join(OsStr::new("=")));
    let variables: Vec<_> = variables.map(c_string).collect::<Result<_, _>>()?;
    let actions = PosixSpawnFileActions::init()?;
    let program = posix_spawnp(&arguments[0], &actions, &attributes, &arguments, &variables)?;
    let program = Pid::from_raw(program.as_raw());
    loop {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED;
        if let Some((_, status)) = waitpid(program, options)? {
            if let Some(status) = status.exit_status() {
                return Ok(End::Status(status));
            } else if let Some(signal) = status.terminating_signal() {
                return Ok(End::Signal(signal));
            } else if let Some(signal) = status.stopping_signal() {
                // Whoever waits for us sees the job stopped, and continues us both.
                let _ = emulate_default_handler(signal);
            }
            continue;
        }
        let Some(signal) = signals.read_signal()? else { continue };
        // Codes above 0 are the kernel's, which has told the program as well.
        let is_for_us_alone =
            signal.ssi_code <= 0 && Pid::from_raw(signal.ssi_pid as i32) != program;
        if is_for_us_alone && signal.ssi_signo != Signal::SIGCHLD as u32 {
            let named = rustix::process::Signal::from_named_raw(signal.ssi_signo as i32);
            let _ = program.zip(named).map(|(program, signal)| kill_process(program, signal));
        }
    }
}
