"""Databases that LevelDB and leveldb_bloom write are the same, and survive a writer that is killed."""

import random
import subprocess

import pytest

from build import CTEST
from prover import Run


@pytest.mark.parametrize("bits, value_size, compress", [(1, 20, 1), (10, 1000, 1), (20, 200, 0)])
def test_each_reads_what_the_other_wrote(bits, value_size, compress, stock, settings, tmp_path):
    command = [stock("c++"), bits, value_size, compress]
    written = []
    for writer in (None, settings.shared):
        folder = tmp_path / ("ours" if writer else "theirs")
        run = Run([*command, "fill"], folder, writer)
        assert [line["route"] for line in run.lines.ended()] == (["append-cxx11"] if writer else [])
        run.check_filters("leveldb.BuiltinBloomFilter2")
        written.append(run.tables)
        for reader in (None, settings.shared):
            read = Run([*command, "read"], folder, reader)
            assert [line["queries"] >= 20000 - 100 for line in read.lines.ended()] == \
                ([True] if reader else [])
    assert written[0] == written[1]


@pytest.mark.parametrize("seed", range(4))
def test_a_writer_is_killed_in_compactions(seed, compiler, objects, settings, tmp_path):
    """Ours writes; every key that LevelDB has taken is found by its own policy and by ours."""
    program = compiler("crash", "c++", CTEST / "routes/crash.cc", objects("c")[1], settings.leveldb)
    folder = tmp_path / "run" / "databases"
    folder.mkdir(parents=True)
    writer = subprocess.Popen(["env", f"LD_PRELOAD={settings.shared}", program, "write", folder],
                              stdout=subprocess.PIPE, text=True)
    wanted = 2000 + random.Random(seed).randrange(8000)
    for line in writer.stdout:
        if int(line) >= wanted:
            break
    writer.kill()
    # What it had printed by then counts, too; half a line does not.
    lines = writer.stdout.read().rpartition("\n")[0].splitlines()
    count = int(lines[-1] if lines else line) + 1
    assert writer.wait() < 0 and count > wanted
    for reader in (None, settings.shared):
        run = Run([program, "read", count], tmp_path / "run", reader)
        assert [line["negatives"] > 0 for line in run.lines.ended()] == ([True] if reader else [])
    assert run.tables, "nothing was compacted"
