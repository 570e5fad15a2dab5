"""Runs a program with leveldb-bloom and again without, and proves whose filters it used.

    prove.py [options] -- PROGRAM ARGUMENT... [-- CONTROL ARGUMENT...]

The program gets one more argument, a new directory for its databases, and must succeed. What is
proven:

  * --route: a line of LEVELDB_BLOOM_STATS has that route and counted filters, queries and negative
    answers; no policy made filters by another route, or without counting their keys and bytes. Without
    --route: no line counted anything.
  * --policies: so many policies counted.
  * --says: the program printed that line.
  * The control, the same program without the library (or another command, if one is given),
    leaves no line of statistics, and its databases have the same files, byte for byte. (A control
    that makes one database only is compared with each.) Every file holds a filter.

With --link, the command links the program instead: it gets "-o PROGRAM" at its end.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile

COUNTS = ("filters", "queries", "negatives")
# The shortest filter that LevelDB makes.
FILTER_BYTES = 9


def main():
    options = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(dir=options.work) as work:
        command = options.command
        if options.link:
            command = [link(command, os.path.join(work, "program"))]
        ours = Run(command, os.path.join(work, "ours"), options.preload)
        ours.check_says(options.says)
        ours.check_routes(options.route)
        if options.policies not in (None, len(ours.counted())):
            fail(f"{len(ours.counted())} policies counted, expected: {options.policies}")
        if options.databases:
            ours.check_filters(options.filter_name)
        control = Run(options.control or command, os.path.join(work, "control"), None)
        if control.lines:
            fail(f"the control has statistics too: {control.lines}")
        if options.databases:
            compare(ours.databases, control.databases)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default=".", help="where temporary directories go")
    parser.add_argument("--link", action="store_true")
    parser.add_argument("--preload", metavar="LIBRARY")
    parser.add_argument("--route", action="append", default=[])
    parser.add_argument("--policies", type=int)
    parser.add_argument("--says", action="append", default=[], metavar="LINE")
    parser.add_argument("--filter-name", default="leveldb.BuiltinBloomFilter2")
    parser.add_argument("--no-databases", dest="databases", action="store_false")
    own, *commands = split(arguments)
    options = parser.parse_args(own)
    if len(commands) not in (1, 2):
        parser.error("a command is needed, and at most one for the control")
    options.command, options.control = (commands + [None])[:2]
    return options


def split(arguments):
    parts = [[]]
    for argument in arguments:
        if argument == "--":
            parts.append([])
        else:
            parts[-1].append(argument)
    return parts


def link(command, program):
    command = command + ["-o", program]
    print("$", " ".join(command), flush=True)
    result = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        fail(f"the program does not link\n{result.stderr}")
    return program


def fail(message):
    sys.exit(f"FAILED: {message}")


class Run:
    """One run of a program: what it said, counted and left."""

    def __init__(self, command, directory, preload):
        self.directory = directory
        os.mkdir(directory)
        statistics = os.path.join(directory, "statistics")
        environment = {name: value for name, value in os.environ.items()
                       if name != "LD_PRELOAD" and not name.startswith("LEVELDB_BLOOM_")}
        environment["LEVELDB_BLOOM_STATS"] = statistics
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        if preload:
            environment["LD_PRELOAD"] = preload
        databases = os.path.join(directory, "databases")
        os.mkdir(databases)
        result = subprocess.run(command + [databases], env=environment, text=True, timeout=240,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.said = result.stdout.splitlines()
        sys.stdout.write(f"$ {' '.join(command)}\n{result.stdout}")
        self.lines = []
        if os.path.exists(statistics):
            with open(statistics, encoding="ascii") as file:
                text = file.read()
            self.lines = [json.loads(line) for line in text.splitlines()]
            sys.stdout.write(f"{len(self.lines)} lines of statistics\n")
            for line in self.counted():
                sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
        if result.returncode < 0:
            fail(f"the program died of {signal.Signals(-result.returncode).name}")
        if result.returncode > 0:
            fail(f"the program ended with status {result.returncode}")
        self.databases = {name: tables(os.path.join(databases, name))
                          for name in sorted(os.listdir(databases))}

    def counted(self):
        return [line for line in self.lines if any(line[count] for count in COUNTS)]

    def check_says(self, expected):
        for line in expected:
            if line not in self.said:
                fail(f"the program did not say: {line}")

    def check_routes(self, expected):
        for route in expected:
            if not any(line["route"] == route and all(line[count] > 0 for count in COUNTS)
                       for line in self.counted()):
                fail(f"no policy counted filters, queries and negatives with the route {route}")
        for line in self.counted():
            # A policy that was only asked never had to look for the host's string.
            only_asked = expected and line["route"] == "none" and line["filters"] == 0
            if line["route"] not in expected and not only_asked:
                fail(f"a policy counted with the route {line['route']}, expected: {expected}")
            # LevelDB asks for no filter of no keys.
            few_bytes = line["filter_bytes"] < FILTER_BYTES * line["filters"]
            if few_bytes or line["keys"] < line["filters"]:
                fail(f"a policy did not count what is in its filters: {line}")

    def check_filters(self, filter_name):
        if not self.databases:
            fail("the program left no database")
        for name, files in self.databases.items():
            if not files:
                fail(f"{name} has no files")
            for file, content in files.items():
                if b"filter." + filter_name.encode() not in content:
                    fail(f"{name}/{file} has no filter called {filter_name}")


def tables(directory):
    """The contents of a database's sorted tables, by their names."""
    contents = {}
    for name in os.listdir(directory):
        if name.endswith((".ldb", ".sst")):
            with open(os.path.join(directory, name), "rb") as file:
                contents[name] = file.read()
    return contents


def compare(ours, control):
    if len(control) != 1 and ours.keys() != control.keys():
        fail(f"other databases than the control's: {list(ours)}, {list(control)}")
    for name, files in ours.items():
        expected = control[name] if len(control) != 1 else next(iter(control.values()))
        if files.keys() != expected.keys():
            fail(f"{name} has other files than the control: {sorted(files)}, {sorted(expected)}")
        for file, content in files.items():
            if content != expected[file]:
                fail(f"{name}/{file} differs from the control's")


main()
