"""`leveldb-bloom run`: who answered, or why nobody; what cannot be preloaded; and the program's end as if
it had been started without it."""

import contextlib
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios

import pytest

from build import CTEST, locked, run
from prover import prove

ROUTES = CTEST / "routes"
NAMES = ("SEGV", "TERM", "INT", "PIPE", "KILL", "ABRT", "HUP")


@pytest.fixture(scope="session")
def command(settings):
    """The command, without `run`."""
    with locked(settings.build / "command"):
        built = run(settings.cargo, "build", "--locked", "--quiet", "--profile", "test", "-p",
                    "leveldb-bloom-inspector", "--message-format=json-render-diagnostics", cwd=settings.source)
    lines = [json.loads(line) for line in built.splitlines() if line.startswith("{")]
    [executable] = [line["executable"] for line in lines if line.get("executable")]
    return pathlib.Path(executable)


@pytest.fixture(scope="session")
def preloaded(command, settings):
    return [command, "run", "--library", settings.shared]


@pytest.fixture
def ran(preloaded):
    """ran(PROGRAM, ...): how it ended, and what it and we said."""

    def ran(*arguments, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run([*preloaded, *arguments], capture_output=True, text=True, timeout=240,
                              **options)
        print(done)
        return done

    return ran


@pytest.fixture
def refused(ran):
    """refused(STATUS, WHY, PROGRAM...): it did not start, and why."""

    def refused(status, why, *arguments, **options):
        done = ran("--", *arguments, **options)
        assert (done.returncode, done.stdout) == (status, "")
        assert why in done.stderr and len(done.stderr.splitlines()) == 1

    return refused


@pytest.fixture
def open_folder():
    """One that everybody may enter."""
    with tempfile.TemporaryDirectory(prefix="leveldb_bloom.") as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


# Who answered.

def prove_run(preloaded, command, route, encoding="bloom", **options):
    ours = prove([*preloaded, "--", *command], route, control=command, encoding=encoding, **options)
    assert re.search(r"leveldb-bloom: our library answered: \d polic(y|ies) "
                     fr"\({encoding}, 10 bits per key\) made [\d,]+ filters of [\d,]+ keys, and answered "
                     r"[\d,]+ queries, [\d,]+ of them "
                     fr"with no\. Route: {re.escape(route)}; kernel: \w+; in 1 process\.\n$", ours.stderr)
    ended = ours.lines.ended()
    for count in "filters", "keys", "queries":
        assert f"{sum(line[count] for line in ended):,} {count}" in ours.stderr


def test_program_of_c(preloaded, stock):
    prove_run(preloaded, [stock("c")], "append-cxx11")
    prove_run([*preloaded, "--ribbon"], [stock("c")], "append-cxx11", "ribbon")


def test_plyvel_of_debian(preloaded, settings):
    prove_run(preloaded, [settings.python, ROUTES / "workload_plyvel.py"], "append-cxx11")


def test_plyvel_of_pypi(preloaded, settings, fetched):
    if sys.version_info >= (3, 13):
        pytest.skip("PyPI has no plyvel for this Python")
    prove_run(preloaded, [settings.python, ROUTES / "workload_plyvel.py"], "append-copy-on-write",
              environment={"PYTHONPATH": str(fetched("wheel"))})


def test_node(preloaded, fetched):
    prove_run(preloaded, ["node", ROUTES / "workload.js", fetched("npm") / "node_modules/classic-level"],
              "append-copy-on-write")


def test_script(preloaded, settings, tmp_path):
    """By way of #! and env, and a shell whose child it is."""
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env -S workload-python -u\n" +
                      (ROUTES / "workload_plyvel.py").read_text())
    script.chmod(0o755)
    (tmp_path / "workload-python").symlink_to(settings.python)
    shell = tmp_path / "shell"
    shell.write_text('#! /bin/sh\nscript "$@"\n')
    shell.chmod(0o755)
    prove_run(preloaded, ["shell"], "append-cxx11",
              environment={"PATH": f"{tmp_path}:{os.environ['PATH']}"})


def test_killed(ran, settings, tmp_path):
    """The lines at the end are missing, and it says so."""
    done = ran("--", settings.python, "-c", """
import os, plyvel, sys
database = plyvel.DB(sys.argv[1], create_if_missing=True, bloom_filter_bits=10)
database.put(b"key", b"value")
database.compact_range()
os.kill(os.getpid(), 9)
""", tmp_path / "database")
    assert done.returncode == -signal.SIGKILL
    assert done.stderr == "leveldb-bloom: our library answered: 1 policy (bloom, 10 bits per key). Route: " \
        "append-cxx11; kernel: " + re.search(r"kernel: (\w+)", done.stderr)[1] + "; in 1 process. Of 1 " \
        "policy only the beginning is known: the program was killed, or goes on.\n"


def test_statistics(ran, stock, tmp_path):
    """--stats before what the environment says; only what is new is told; none on stderr."""
    folder, file, other = tmp_path / "databases", tmp_path / "kept", tmp_path / "other"
    folder.mkdir()
    environment = {**os.environ, "LEVELDB_BLOOM_STATS": str(other)}
    for length in 3, 6:
        done = ran("--stats", "kept", "--kernel", "portable", "--", stock("c"), folder, cwd=tmp_path,
                   env=environment)
        assert "answered: 1 policy" in done.stderr and "kernel: portable;" in done.stderr
        assert len(file.read_text().splitlines()) == length
        shutil.rmtree(folder / "database")
    assert not other.exists()
    done = ran("--quiet", "--", stock("c"), folder, env=environment)
    assert done.stderr == "" and len(other.read_text().splitlines()) == 3
    done = ran("true", env={**environment, "LEVELDB_BLOOM_STATS": "stderr"})
    assert done.stderr == "leveldb-bloom: the statistics are on stderr, as LEVELDB_BLOOM_STATS says.\n"
    done = ran("--stats", tmp_path / "no folder" / "file", "true")
    assert done.returncode == 125 and "no folder/file: No such file" in done.stderr


def test_environment(ran, settings):
    """A library that is preloaded already stays, behind ours; nothing is left in the temporary folder."""
    show = "import os; print(*[os.environ.get(name) for name in ('LD_PRELOAD', 'LEVELDB_BLOOM_ENCODING', " \
        "'LEVELDB_BLOOM_KERNEL', 'LEVELDB_BLOOM_STATS')])"
    other = settings.leveldb
    done = ran("--ribbon", "--kernel", "avx2", settings.python, "-c", show,
               env={**os.environ, "LD_PRELOAD": other})
    *values, statistics = done.stdout.split()
    assert values == [f"{settings.shared}:{other}", "ribbon", "avx2"]
    assert not pathlib.Path(statistics).parent.exists()
    done = ran(settings.python, "-c", show)
    assert done.stdout.split()[:3] == [str(settings.shared), "None", "None"]


# Why nobody did.

def test_leveldb_in_the_program(ran, compiler, objects, settings, tmp_path):
    program = compiler("static", "c", *objects("c"), *settings.leveldb_archives, "-lstdc++", "-lm")
    stripped = compiler("static-stripped", "c", "-s", *objects("c"), *settings.leveldb_archives,
                        "-lstdc++", "-lm")
    for number, each in enumerate((program, stripped)):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert f"{each} has a LevelDB inside" in ran(each, folder).stderr


def test_bound_to_itself(ran, compiler, objects, settings, tmp_path):
    library = compiler("libbound.so", "c", "-shared", "-Wl,-Bsymbolic", *objects("c"),
                       *settings.leveldb_archives, "-lstdc++", "-lm")
    program = compiler("bound", "c", "-x", "c", "/dev/null", "-x", "none", library,
                       f"-Wl,-rpath,{library.parent}")
    assert f"{library} has a LevelDB that is bound to itself" in ran(program, tmp_path).stderr


def test_no_policy(ran, stock, tmp_path):
    """Its policy is one of its own callbacks."""
    done = ran(stock("c"), "custom", tmp_path)
    assert done.returncode == 0
    assert f"{stock('c')} would get its bloom filter policy from our library: most likely the program set none" \
        in done.stderr


def test_no_leveldb(ran, preloaded, settings):
    done = ran(settings.python, "-c", "import plyvel")
    assert f"{settings.python} is not linked with a LevelDB. If it loads one later" in done.stderr
    # What it says to do, as it says it.
    [line] = [line for line in done.stderr.split(": ") if line.startswith("LD_DEBUG=")]
    variable, tail = line.split(" leveldb-bloom run -- PROGRAM ")
    who = subprocess.run(["sh", "-c", f'{variable} "$@" {tail}', "sh", *preloaded, settings.python, "-c",
                          "import plyvel"], capture_output=True, text=True).stdout
    assert re.search(f"binding file .*/plyvel/.* to {settings.shared} ", who)


def test_no_leveldb_in_a_script(ran, settings, tmp_path):
    """As the shims of version managers are: what is looked at is the interpreter, and that is said."""
    script = tmp_path / "python3"
    script.write_text(f'#!/bin/bash\nexec {settings.python} "$@"\n')
    script.chmod(0o755)
    done = ran(script, "-c", "")
    assert f"{script} is a script, which /bin/bash runs. /bin/bash is not linked with a LevelDB." in done.stderr
    assert "starts a program that has one" in done.stderr


def test_policy_that_nobody_uses(ran, settings):
    done = ran(settings.python, "-c",
               "import ctypes; ctypes.CDLL(None).leveldb_filterpolicy_create_bloom(10)")
    assert "our library made 1 policy (bloom, 10 bits per key), and nobody used them" in done.stderr


# What cannot be started.

def test_no_program(refused, tmp_path):
    refused(127, "no-such-program: there is no such program", "no-such-program")
    refused(127, "there is no such program", tmp_path / "nothing")
    refused(126, "is no executable file", tmp_path)
    file = tmp_path / "file"
    file.write_text("text")
    refused(126, "is no executable file", file)
    file.chmod(0o755)
    refused(126, "is neither an ELF program nor a script", file)
    file.write_text("#!/no/interpreter\n")
    refused(127, "/no/interpreter: there is no such program", file)
    file.write_text("#!\n")
    refused(126, "is neither an ELF program nor a script", file)


def test_static_program(refused, compiler, tmp_path):
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    for kind in "-static", "-static-pie":
        program = compiler(f"program{kind}", "c", kind, source)
        refused(126, f"{program}: is a static program", program)
    script = tmp_path / "script"
    script.write_text(f"#!{program}\n")
    script.chmod(0o755)
    refused(126, f"{program}: is a static program", script)


def test_program_of_musl(refused, tmp_path):
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text("int main(void) { return 0; }\n")
    run("musl-gcc", source, "-o", program)
    assert subprocess.run([program]).returncode == 0
    refused(126, "runs on musl, and the library on glibc", program)


def test_program_of_another_machine(refused, tmp_path):
    program = tmp_path / "program"
    content = bytearray(pathlib.Path("/bin/true").read_bytes())
    content[18:20] = (21).to_bytes(2, "little")
    program.write_bytes(content)
    program.chmod(0o755)
    refused(126, "is for PowerPc64 (64 bits), and the library for", program)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make such files")
def test_privileged_program(ran, refused, command, settings, open_folder):
    program = open_folder / "program"
    shutil.copy("/bin/true", program)
    for owner, group, mode in (65534, 0, 0o4755), (0, 65534, 0o2755):
        os.chown(program, owner, group)
        program.chmod(mode)
        refused(126, "is setuid or setgid", program)
    # The loader looks at who starts it, and not at the file alone.
    os.chown(program, 0, 0)
    program.chmod(0o4755)
    assert ran(program).returncode == 0
    program.chmod(0o755)
    # cap_net_raw, effective and permitted.
    os.setxattr(program, "security.capability", bytes.fromhex("0100000200200000000000000000000000000000"))
    assert ran(program).returncode == 0
    tools = [shutil.copy(file, open_folder) for file in (command, settings.shared)]
    done = subprocess.run([tools[0], "run", "--library", tools[1], "--", program], user=65534,
                          capture_output=True, text=True)
    assert done.returncode == 126 and "has file capabilities" in done.stderr


# The library.

@pytest.mark.parametrize("place", ["bin/libleveldb_bloom.so", "bin/libleveldb_bloom.so.{soversion}",
                                   "lib/libleveldb_bloom.so.{soversion}",
                                   "lib/x86_64-linux-gnu/libleveldb_bloom.so.{soversion}",
                                   "lib/python3.11/site-packages/leveldb_bloom/libleveldb_bloom.so",
                                   "release/libleveldb_bloom.so"])
def test_library_beside_the_command(place, command, settings, tmp_path):
    library = tmp_path / place.format(soversion=settings.soversion)
    installed = tmp_path / "bin" / command.name
    for file, source in (installed, command), (library, settings.shared):
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, file)
    said = run(installed, "run", "--quiet", "--", "sh", "-c", 'echo "$LD_PRELOAD"')
    assert said == f"{library}\n"


def test_no_library(command, tmp_path):
    installed = shutil.copy(command, tmp_path)
    done = subprocess.run([installed, "run", "true"], capture_output=True, text=True)
    if "/usr/" not in os.environ.get("LD_PRELOAD", "") and not list(
            pathlib.Path("/usr").glob("*/lib*/libleveldb_bloom.so*")):
        assert done.returncode == 125
        assert f"Looked for:\n  {tmp_path}/libleveldb_bloom.so\n" in done.stderr
    for name, why in ("no file", "no path with a space"), ("none", "No such file"):
        done = subprocess.run([command, "run", "--library", tmp_path / name, "true"],
                              capture_output=True, text=True)
        assert done.returncode == 125 and why in done.stderr


# The program's end.

@pytest.mark.parametrize("status", [0, 1, 3, 127, 255])
def test_status(status, ran):
    assert ran("--", "sh", "-c", f"exit {status}").returncode == status


@pytest.mark.parametrize("name", NAMES)
def test_death_by_signal(name, ran, tmp_path):
    done = ran("sh", "-c", f"kill -{name} $$", cwd=tmp_path)
    assert done.returncode == -signal.Signals[f"SIG{name}"]
    assert "leveldb-bloom: our library was not called" in done.stderr


def test_input_and_output(ran):
    done = ran("--quiet", "--", "sh", "-c", "cat; echo error >&2", input="input\n", stdin=None)
    assert (done.stdout, done.stderr, done.returncode) == ("input\n", "error\n", 0)


def test_options_of_the_program(ran):
    assert ran("--quiet", "echo", "--quiet", "--", "--help").stdout == "--quiet -- --help\n"


# It ends by itself, if it is not told to.
TRAPS = "trap 'echo got %s; exit 5' %s; echo ready; for i in $(seq 600); do sleep 0.05; done"


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1", "QUIT"])
def test_forwarded_signal(name, preloaded):
    process = subprocess.Popen([*preloaded, "sh", "-c", TRAPS % (name, name)], stdout=subprocess.PIPE,
                               text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.Signals[f"SIG{name}"])
    assert process.communicate(timeout=60)[0] == f"got {name}\n"
    assert process.returncode == 5


def test_ignored_signals(preloaded):
    """Those that whoever started us ignores, as nohup does, stay ignored; SIGCHLD does not keep us."""

    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    done = subprocess.run([*preloaded, "sh", "-c", "kill -HUP $PPID $$; exit 4"], preexec_fn=ignore,
                          timeout=60)
    assert done.returncode == 4


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, *command):
        self.process, self.file = pty.fork()
        if self.process == 0:
            # The keys would throw away what the program says about them.
            settings = termios.tcgetattr(0)
            settings[3] |= termios.NOFLSH
            termios.tcsetattr(0, termios.TCSANOW, settings)
            os.environ.update(PS1="$ ", TERM="dumb")
            os.execvp(command[0], command)
        self.output = ""

    def type(self, text):
        os.write(self.file, text.encode())

    def wait_for(self, pattern):
        """Reads until there is a line of this pattern, and goes on behind it."""
        while not (found := re.search(pattern, self.output, re.MULTILINE)):
            assert select.select([self.file], [], [], 60)[0], f"no {pattern} in: {self.output}"
            self.output += os.read(self.file, 4096).decode().replace("\r", "")
        self.output = self.output[found.end():]
        return found

    def close(self):
        os.kill(self.process, signal.SIGHUP)
        os.close(self.file)
        os.waitpid(self.process, 0)


@pytest.fixture
def terminal():
    """terminal(COMMAND...): a Terminal, until the test's end."""
    with contextlib.ExitStack() as stack:
        yield lambda *command: stack.enter_context(contextlib.closing(Terminal(*command)))


def test_key_reaches_the_program_once(terminal, preloaded):
    """While the command is stopped, the program takes the signal of the key. One that the command passed on
    would come before the next."""
    run = terminal(*preloaded, sys.executable, "-c", """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGUSR1})
print("ready", flush=True)
signal.sigwait({signal.SIGINT})
print("interrupted", flush=True)
signal.sigwait({signal.SIGUSR1})
print("more interrupts:", signal.SIGINT in signal.sigpending(), flush=True)
""")
    run.wait_for("^ready$")
    os.kill(run.process, signal.SIGSTOP)
    os.waitpid(run.process, os.WUNTRACED)
    run.type("\x03")
    run.wait_for("^(\\^C)?interrupted$")
    for number in signal.SIGUSR1, signal.SIGCONT:
        os.kill(run.process, number)
    run.wait_for("^more interrupts: False$")


def test_keys_of_the_terminal(terminal, preloaded, tmp_path):
    """The program gets Ctrl-C, Ctrl-Z stops the job, and fg continues it."""
    terminal = terminal("bash", "--norc", "--noprofile", "--noediting", "-i")
    script = tmp_path / "script.py"
    script.write_text("""
import signal
count = 0
def interrupted(*_):
    global count
    count += 1
signal.signal(signal.SIGINT, interrupted)
print("ready", flush=True)
while (line := input()) != "end":
    print("read", line, "after", count, flush=True)
""")
    command = " ".join(map(str, preloaded))
    terminal.type(f"{command} {sys.executable} {script}\n")
    terminal.wait_for("ready$")
    for count in 1, 2:
        terminal.type("\x03line\n")
        terminal.wait_for(f"read line after {count}$")
    terminal.type("\x1a")
    terminal.wait_for(r"^\[1\]\+ +Stopped")
    terminal.type("fg\n")
    terminal.wait_for("script.py$")
    terminal.type("another\n")
    terminal.wait_for("^read another after 2$")
    terminal.type("end\n")
    terminal.wait_for("^leveldb-bloom: our library was not called")
    terminal.type("echo status $?\n")
    terminal.wait_for("^(. )?status 0$")
    terminal.type(f"{command} sh -c 'echo process $$; exec sleep 1000'\n")
    terminal.wait_for(r"process \d+$")
    terminal.type("\x03")
    terminal.wait_for("leveldb-bloom: our library was not called")
    terminal.type("echo status $?\n")
    terminal.wait_for("^(. )?status 130$")
