"""Runs a program with leveldb_bloom and again without, and proves whose filters it used.

LevelDB's own filter gives the same bytes and the same answers. So the proof is what the library says in
LEVELDB_BLOOM_STATS, and that the table files are those of a run without the library, byte for byte. (Where
the policies write ribbon filters, that they are not.)
"""

import json
import os
import pathlib
import signal
import subprocess
import tempfile

COUNTS = ("filters", "keys", "filter_bytes", "queries", "negatives")
SHORTEST_FILTER = 9
# Has LevelDB's own names make ribbon filters.
RIBBON = {"LEVELDB_BLOOM_ENCODING": "ribbon"}


class Lines(list):
    """The lines of LEVELDB_BLOOM_STATS, one dict each."""

    def __init__(self, text):
        super().__init__(json.loads(line) for line in text.splitlines())

    def of(self, *events):
        return [line for line in self if line["event"] in events]

    def ended(self):
        """The last line of each policy that did anything."""
        return [line for line in self.of("destroyed", "exit") if line["filters"] or line["queries"]]


class Run:
    """One run of a program: what it said, what the library counted, and the tables it left."""

    def __init__(self, command, folder, preload=None, environment={}):
        statistics, databases = folder / "statistics", folder / "databases"
        databases.mkdir(parents=True, exist_ok=True)
        statistics.unlink(missing_ok=True)
        self.command = [str(part) for part in [*command, databases]]
        settings = {name: value for name, value in os.environ.items()
                    if name != "LD_PRELOAD" and not name.startswith("LEVELDB_BLOOM_")}
        settings.update(environment, LEVELDB_BLOOM_STATS=str(statistics))
        if preload:
            settings["LD_PRELOAD"] = str(preload)
        done = subprocess.run(self.command, env=settings, text=True, timeout=240,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.said, self.stderr = done.stdout.splitlines(), done.stderr
        self.lines = Lines(statistics.read_text() if statistics.exists() else "")
        # pytest shows it where a test fails.
        print("$", " ".join(self.command), *self.said, done.stderr, *self.lines, sep="\n")
        if done.returncode < 0:
            raise AssertionError(f"the program died of {signal.Signals(-done.returncode).name}")
        assert done.returncode == 0, f"the program ended with status {done.returncode}"
        self.tables = {path.relative_to(databases): path.read_bytes()
                       for path in sorted(databases.rglob("*")) if path.suffix in (".ldb", ".sst")}
        self.databases = sorted(path.name for path in databases.iterdir())

    def check_routes(self, routes, encoding="bloom"):
        """Each route, and no other, counted all that a database needs."""
        ended = self.lines.ended()
        for line in ended:
            assert line["encoding"] == encoding, f"a policy counted with the encoding {line['encoding']}"
        for route in routes:
            assert any(line["route"] == route and all(line[count] for count in COUNTS)
                       for line in ended), f"no policy counted with the route {route}"
        for line in ended:
            # A policy that only answered has no way to a string.
            assert line["route"] in routes or (routes and line["filters"] == 0), \
                f"a policy counted with the route {line['route']}"
            assert line["keys"] >= line["filters"] and \
                line["filter_bytes"] >= SHORTEST_FILTER * line["filters"], \
                f"a policy did not count what is in its filters: {line}"
        assert len(self.lines.of("created")) == len(self.lines.of("destroyed", "exit"))
        assert len(self.lines.of("used")) == len(ended)

    def check_filters(self, name):
        assert self.tables, "the program left no tables"
        for path, content in self.tables.items():
            assert b"filter." + name.encode() in content, f"{path} has no filter called {name}"


def prove(command, routes=(), says=(), policies=None, control=None, preload=None,
          environment={}, encoding=None, filter_name="leveldb.BuiltinBloomFilter2", databases=True):
    """Runs `command` with one more argument, an empty folder for its databases.

    routes: those by which policies of ours made filters and answered; none: nothing of ours was used.
    says: lines that the program prints. policies: how many policies counted.
    control: the command without the library; by default the same one, without `preload`.
    encoding: of the policies' filters; by default the one that `environment` names.
    """
    with tempfile.TemporaryDirectory(prefix="leveldb_bloom.") as folder:
        folder = pathlib.Path(folder)
        ours = Run(command, folder / "ours", preload, environment)
        for line in says:
            assert line in ours.said, f"the program did not say: {line}"
        encoding = encoding or environment.get("LEVELDB_BLOOM_ENCODING", "bloom")
        ours.check_routes([routes] if isinstance(routes, str) else routes, encoding)
        assert policies in (None, len(ours.lines.ended())), \
            f"{len(ours.lines.ended())} policies counted, expected: {policies}"
        if databases:
            ours.check_filters(filter_name)
        without = Run(control or command, folder / "control", None, environment)
        assert not without.lines, f"the control has statistics too: {without.lines}"
        if databases and routes and encoding == "ribbon":
            other_tables(ours, without)
        elif databases:
            same_tables(ours, without)
        return ours


def other_tables(ours, control):
    """No table with the same bytes: not even one filter is LevelDB's."""
    for path, content in ours.tables.items():
        assert content not in control.tables.values(), f"{path} is the control's"


def same_tables(ours, control):
    """The same files with the same bytes. A control of one database is compared with each."""
    if len(control.databases) == 1:
        [name] = control.databases
        expected = {pathlib.Path(database, *path.parts[1:]): content
                    for path, content in control.tables.items() for database in ours.databases}
    else:
        expected = control.tables
    assert ours.tables.keys() == expected.keys(), "other files than the control's"
    for path, content in ours.tables.items():
        assert content == expected[path], f"{path} differs from the control's"
