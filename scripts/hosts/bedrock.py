"""A game's worlds: Minecraft's LevelDB with its own compressions, as PyPI's amulet-leveldb carries
it. Whether with our filters or its own, it writes the same files."""

import filecmp
import os

from host import PYTHON, answered, check, path, run, script, verify


def world(what, name, statistics=None):
    run(PYTHON, script("bedrock_worker.py"), what, path(name), statistics=statistics)


def tables(name):
    return sorted(file for file in os.listdir(path(name)) if file.endswith(".ldb"))


world("fill", "ours", path("filled"))
world("fill", "its own")
check("the tables", tables("ours"), tables("its own"))
for table in tables("ours"):
    check(f"{table} is the same", filecmp.cmp(os.path.join(path("ours"), table),
                                              os.path.join(path("its own"), table), shallow=False))
answered(path("filled"))
world("look", "ours")
world("look", "its own", path("looked"))
answered(path("looked"), makes_filters=False)
for database in "ours", "its own":
    verify(path(database))
