"""bedrock_worker.py fill|look FOLDER: keys as a world has them, and some that it has not."""

import struct
import sys

from leveldb import LevelDB

CHUNKS = [(x, z) for x in range(-60, 60) for z in range(-60, 60)]


def key(x, z, kind):
    return struct.pack("<ii", x, z) + bytes([kind])


world = LevelDB(sys.argv[2], sys.argv[1] == "fill")
if sys.argv[1] == "fill":
    for x, z in CHUNKS:
        for kind in b",-v":
            world.put(key(x, z, kind), b"%d,%d" % (x, z) * 10)
    world.compact()
for x, z in CHUNKS:
    for kind in b",-v":
        assert world.get(key(x, z, kind)) == b"%d,%d" % (x, z) * 10, (x, z, kind)
    assert key(x, z, 0x31) not in world, (x, z)
world.close()
