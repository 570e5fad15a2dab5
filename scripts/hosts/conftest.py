"""What test_hosts.py uses: other people's programs, run with and without the library preloaded.

hosts.sh sets the environment: LIBRARY to preload, INSPECTOR (the command leveldb-bloom), and PYTHON with
the packages from PyPI.
"""

import json
import os
import socket
import subprocess
import time

import pytest

# Far longer than any program takes: a busy machine is no failure.
PATIENCE = 120


class Host:
    """A folder for one program, and how to run that."""

    def __init__(self, folder):
        self.folder = folder

    def environment(self, statistics=None):
        """With the library in front if `statistics`, a file name, is given."""
        variables = dict(os.environ)
        if statistics:
            variables["LD_PRELOAD"] = os.environ["LIBRARY"]
            variables["LEVELDB_BLOOM_STATS"] = str(self.folder / statistics)
        return variables

    def run(self, *command, statistics=None):
        done = subprocess.run(command, env=self.environment(statistics), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def python(self, script, *arguments, statistics=None):
        script = os.path.join(os.path.dirname(__file__), script)
        return self.run(os.environ["PYTHON"], script, *map(str, arguments), statistics=statistics)

    def server(self, *command, is_ready, statistics=None):
        return Server(self, command, is_ready, statistics)

    def check_statistics(self, statistics, makes_filters=True):
        """Our policies, and not the host's, found keys absent, and made filters if there were any."""
        with open(self.folder / statistics) as lines:
            policies = [json.loads(line) for line in lines]
        ended = [line for line in policies if line["event"] in ("destroyed", "exit")]
        sums = {name: sum(line[name] for line in ended)
                for name in ("filters", "keys", "queries", "negatives")}
        print(statistics, sums)
        assert sums["queries"] and sums["negatives"], sums
        assert bool(sums["filters"]) == bool(sums["keys"]) == makes_filters, sums
        routes = {line["route"] for line in ended if line["filters"]}
        assert routes == ({"append-cxx11"} if makes_filters else set())

    def check_database(self, database):
        """Every key of the database's tables matches its filter."""
        report = json.loads(self.run(os.environ["INSPECTOR"], "verify", "--json", str(database)))
        assert report["sound"] and sum(table["keys_checked"] for table in report["tables"]), report


class Server:
    """A program that runs until it is told to end, as a context."""

    def __init__(self, host, command, is_ready, statistics):
        self.is_ready = is_ready
        self.output = host.folder / "output"
        with open(self.output, "w") as output:
            self.process = subprocess.Popen(
                command, env=host.environment(statistics), stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT)

    def __enter__(self):
        end = time.monotonic() + PATIENCE
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                pytest.fail(f"{self.process.args[0]} does not run: {self.output.read_text()[-5000:]}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, self.output.read_text()[-5000:]


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
