"""The package as it is installed: the module, the command and the library for preloading agree."""

import ctypes
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import leveldb_bloom

COMMAND = Path(sysconfig.get_path("scripts")) / "leveldb-bloom"


def run(*command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def test_what_is_installed_is_tested():
    assert Path(leveldb_bloom.__file__).parent == Path(sysconfig.get_path("platlib")) / "leveldb_bloom"
    assert importlib.metadata.version("leveldb-bloom") == leveldb_bloom.__version__
    for name in leveldb_bloom.__all__:
        assert getattr(leveldb_bloom, name)
    assert {value.__module__ for value in vars(leveldb_bloom).values()
            if isinstance(value, type) and value is not Path} == {"leveldb_bloom"}


def test_the_command():
    said = run(COMMAND, "--version")
    assert (said.stdout, said.returncode) == (f"leveldb-bloom {leveldb_bloom.__version__}\n", 0)
    assert run(COMMAND, "nonsense").returncode == run(COMMAND).returncode == 2
    assert run(COMMAND, "size", "--help").returncode == 0


def test_the_library():
    path = leveldb_bloom.library_path()
    assert run(sys.executable, "-m", "leveldb_bloom").stdout == path + "\n"
    library = ctypes.CDLL(path)
    library.leveldb_bloom_version.restype = ctypes.c_char_p
    assert library.leveldb_bloom_version().decode() == leveldb_bloom.__version__


WITH_LEVELDB = """
import sys, plyvel
database = plyvel.DB(sys.argv[1], create_if_missing=True, bloom_filter_bits=10)
for number in range(1000):
    database.put(b"%d" % number, b"")
database.compact_range()
assert database.get(b"absent") is None
"""


def test_preloading(tmp_path):
    pytest.importorskip("plyvel")
    statistics = tmp_path / "statistics"
    said = run(sys.executable, "-c", WITH_LEVELDB, tmp_path / "database", env={
        **os.environ, "LD_PRELOAD": leveldb_bloom.library_path(), "LEVELDB_BLOOM_STATS": str(statistics)})
    assert said.returncode == 0, said.stdout
    *_, last = [json.loads(line) for line in statistics.read_text().splitlines()]
    assert last["version"] == leveldb_bloom.__version__
    assert last["filters"] > 0
    assert last["keys"] == 1000


def test_the_command_finds_the_library_beside_it(tmp_path):
    pytest.importorskip("plyvel")
    said = run(COMMAND, "run", "--stats", tmp_path / "statistics", "--", sys.executable, "-c", WITH_LEVELDB,
               tmp_path / "database", env={**os.environ, "LD_LIBRARY_PATH": ""})
    assert said.returncode == 0, said.stdout
    *_, last = [json.loads(line) for line in (tmp_path / "statistics").read_text().splitlines()]
    assert last["keys"] == 1000


@pytest.mark.parametrize("name", ["README.md", "README.top.md"])
def test_the_readme(name, capsys):
    """What a line prints is what its comment says."""
    text = Path(__file__).with_name(name).read_text()
    program = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    exec(program, {})
    expected = re.findall(r"^print\(.*\) +# (.*)$", program, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected != []
