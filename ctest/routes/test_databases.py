"""Databases that LevelDB and leveldb_bloom write are the same, those with ribbon filters are read by both, and
all survive a writer that is killed."""

import pathlib
import random
import shutil
import subprocess
import tempfile

import pytest

from build import CTEST
from prover import RIBBON, Run


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
    count = write_and_kill(program, tmp_path, 2000 + random.Random(seed).randrange(8000),
                           [f"LD_PRELOAD={settings.shared}"])
    for reader in (None, settings.shared):
        run = Run([program, "read", count], tmp_path / "run", reader)
        assert [line["negatives"] > 0 for line in run.lines.ended()] == ([True] if reader else [])
    assert run.tables, "nothing was compacted"


def write_and_kill(program, folder, wanted, environment):
    """How many keys LevelDB has taken when the writer is killed: more than were wanted."""
    databases = folder / "run" / "databases"
    databases.mkdir(parents=True, exist_ok=True)
    writer = subprocess.Popen(["env", *environment, program, "write", databases], stdout=subprocess.PIPE, text=True)
    for line in writer.stdout:
        if int(line) >= wanted:
            break
    writer.kill()
    # What it had printed by then counts, too; half a line does not.
    lines = writer.stdout.read().rpartition("\n")[0].splitlines()
    count = int(lines[-1] if lines else line) + 1
    assert writer.wait() < 0 and count > wanted
    return count


# The last bytes of a table.
MAGIC = bytes.fromhex("57fb808b247547db")


def encodings(tables):
    """Of all their filters."""
    return {"ribbon" if 32 <= filter[-1] < 240 else "bloom" for table in tables for filter in filters_of(table)}


def filters_of(table):
    """The filters of a table, as table/format.cc and table/filter_block.cc of LevelDB write them."""

    def number(data, at):
        value = shift = 0
        while True:
            byte = data[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value, at

    def block(handle, at=0):
        offset, at = number(handle, at)
        size, at = number(handle, at)
        assert table[offset + size] == 0, "compressed"
        return table[offset:offset + size]

    # The metaindex has one entry: the name, and where the filters are.
    metaindex = block(table[-48:])
    shared, at = number(metaindex, 0)
    name, at = number(metaindex, at)
    length, at = number(metaindex, at)
    assert metaindex[at:at + name] == b"filter.leveldb.BuiltinBloomFilter2"
    filters = block(metaindex[at + name:at + name + length])
    offsets = filters[int.from_bytes(filters[-5:-1], "little"):-1]
    offsets = [int.from_bytes(offsets[i:i + 4], "little") for i in range(0, len(offsets), 4)]
    return [filters[start:end] for start, end in zip(offsets, offsets[1:]) if start < end]


def read_by_all(command, folder, settings):
    """Reads with LevelDB's policy, ours, and ours with ribbon filters. How many queries the last two answered
    with no: the one knows LevelDB's own encoding, the other both."""
    negatives = []
    for reader, environment in ((None, {}), (settings.shared, {}), (settings.shared, RIBBON)):
        # Each its own copy, because a reader compacts tables that give it useless reads.
        copy = pathlib.Path(tempfile.mkdtemp(dir=folder))
        shutil.copytree(folder / "databases", copy / "databases")
        run = Run(command, copy, reader, environment)
        assert len(run.lines.ended()) == (1 if reader else 0)
        negatives += [(line["encoding"], line["negatives"]) for line in run.lines.ended()]
    (bloom, of_bloom), (ribbon, of_both) = negatives
    assert (bloom, ribbon) == ("bloom", "ribbon")
    return of_bloom, of_both


def test_to_ribbon_and_back(stock, settings, tmp_path):
    """LevelDB reads a database with ribbon filters, and compacts it into one with its own."""
    command = [stock("c++"), 10, 20, 1]
    written = Run([*command, "fill"], tmp_path, settings.shared, RIBBON)
    [line] = written.lines.ended()
    assert (line["encoding"], line["route"]) == ("ribbon", "append-cxx11")
    assert encodings(written.tables.values()) == {"ribbon"}
    of_bloom, of_both = read_by_all([*command, "read"], tmp_path, settings)
    # To who does not know it, every key may be there. Of 10,000 absent keys one in 1,024 may be.
    assert of_bloom == 0 and 9950 <= of_both <= 10000
    rewritten = Run([*command, "fill"], tmp_path)
    assert not rewritten.lines and encodings(rewritten.tables.values()) == {"bloom"}
    of_bloom, of_both = read_by_all([*command, "read"], tmp_path, settings)
    assert of_bloom == of_both > 9000


@pytest.mark.parametrize("seed", range(2))
def test_writers_of_both_encodings_are_killed(seed, compiler, objects, settings, tmp_path):
    """LevelDB, ours, and ours with ribbon filters write the same database in turn, each until it is killed."""
    program = compiler("crash", "c++", CTEST / "routes/crash.cc", objects("c")[1], settings.leveldb)
    preload = f"LD_PRELOAD={settings.shared}"
    writers = [[preload, "LEVELDB_BLOOM_ENCODING=ribbon"], [], [preload]]
    wanted, numbers = 2000, random.Random(seed)
    written = []
    for writer in [*numbers.sample(writers, 3), *numbers.sample(writers, 3)]:
        wanted = write_and_kill(program, tmp_path, wanted + numbers.randrange(1500), writer)
        tables = [file.read_bytes() for file in (tmp_path / "run/databases/database").glob("*.ldb")]
        # But for the one that was being written.
        written.append(encodings(table for table in tables if table.endswith(MAGIC)))
        read_by_all([program, "read", wanted], tmp_path / "run", settings)
    assert {"bloom", "ribbon"} in written, "no database had filters of both"
