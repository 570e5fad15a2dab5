"""A chain node's engine: Bitcoin Core's libbitcoinkernel, which carries its own LevelDB and its own
C++ library, loaded by PyPI's py-bitcoinkernel with ctypes."""

import os

from host import PYTHON, answered, check, path, run, script, verify

DATA = path("data")


def blocks(until, statistics=None):
    """Asks for all blocks there are, and adds more. Returns what the chain ends with."""
    return run(PYTHON, script("bitcoinkernel_worker.py"), DATA, str(until), statistics=statistics)


os.mkdir(DATA)
blocks(300, path("mined"))
seen = blocks(350, path("restarted"))
answered(path("restarted"))
check("with its own filters", blocks(350), seen)
blocks(400)
seen = blocks(450, path("again"))
answered(path("again"))
check("with its own filters", blocks(450), seen)
for database in "chainstate", "blocks/index":
    verify(os.path.join(DATA, database))
