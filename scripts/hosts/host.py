"""What the tests beside this file have in common: other people's programs, run with and without the
library in front of them.

Each is started as NAME.py LIBRARY INSPECTOR FOLDER PYTHON: the library to preload, the command
leveldb-bloom, an empty folder of its own, and the Python that has the packages from PyPI.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time

LIBRARY, INSPECTOR, FOLDER, PYTHON = sys.argv[1:]

# Longer than any of them was seen to take, by far: a busy machine is no failure.
PATIENCE = 120

# So that no server outlives a test that is ended.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def environment(statistics=None):
    """A process's environment: with our library in front if `statistics`, the file to which it
    appends what its policies did, is given."""
    variables = {name: value for name, value in os.environ.items()
                 if name != "LD_PRELOAD" and not name.startswith("LEVELDB_BLOOM_")}
    if statistics:
        variables["LD_PRELOAD"] = LIBRARY
        variables["LEVELDB_BLOOM_STATS"] = statistics
    return variables


def run(*command, statistics=None):
    """The output of a command that must succeed."""
    done = subprocess.run(command, env=environment(statistics), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def script(name):
    """A file beside this one."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A program that runs until it is told to end, as a context: `is_ready` says from when on it
    answers. What it writes is in FOLDER/output."""

    def __init__(self, *command, is_ready, statistics=None):
        with open(path("output"), "w") as output:
            self.process = subprocess.Popen(command, env=environment(statistics),
                                            stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=subprocess.STDOUT)
        self.is_ready = is_ready

    def __enter__(self):
        end = time.monotonic() + PATIENCE
        try:
            while not self.is_ready():
                if self.process.poll() is not None:
                    self.fail(f"ended with {self.process.returncode}")
                if time.monotonic() > end:
                    self.fail("does not answer")
                time.sleep(0.1)
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, kind, error, trace):
        """As its users end it, so that it closes its databases."""
        self.process.terminate()
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.fail("does not end")
        if status and not kind:
            self.fail(f"ended with {status}")

    def fail(self, what):
        self.process.kill()
        with open(path("output"), errors="replace") as output:
            sys.exit(f"{output.read()[-5000:]}\n{self.process.args[0]} {what}")


def check(what, seen, expected=True):
    if seen != expected:
        sys.exit(f"{what}: {seen!r} instead of {expected!r}")


def path(name):
    return os.path.join(FOLDER, name)


def answered(statistics, makes_filters=True):
    """Proves that our policies, and not the host's, found keys absent, and made filters unless the
    work was only to read."""
    if not os.path.exists(statistics):
        sys.exit(f"{statistics}: no policy of ours was made")
    with open(statistics) as lines:
        policies = [json.loads(line) for line in lines]
    routes = {policy["route"] for policy in policies if policy["filters"]}
    check("the routes", routes, {"append-cxx11"} if makes_filters else set())
    sums = {name: sum(policy[name] for policy in policies)
            for name in ("filters", "keys", "queries", "negatives")}
    made = bool(sums["filters"]), bool(sums["keys"])
    if not (sums["queries"] and sums["negatives"] and made == (makes_filters, makes_filters)):
        sys.exit(f"{statistics}: our policies had nothing to do, or too much: {sums}")
    print(f"  {', '.join(routes) or 'no filter made'}: {len(policies)} policies,",
          ", ".join(f"{count:,} {name}" for name, count in sums.items()))


def verify(database):
    """Every key of the database's tables matches its filter, by the command leveldb-bloom."""
    report = json.loads(run(INSPECTOR, "verify", "--json", database))
    check(f"{database} is sound", report["sound"])
    checked = sum(table["keys_checked"] for table in report["tables"])
    if not checked:
        sys.exit(f"{database}: no key was checked against a filter")
    print(f"  {os.path.relpath(database, FOLDER)}: {checked:,} keys match their filters")
