"""bedrock_worker.py fill|look FOLDER: keys as a world has them, and some that it has not.

As many as one memory table holds. With more, LevelDB compacts by itself, too, and what that has come
to when the world is closed depends on the time.
"""

import struct
import sys

from leveldb import LevelDB

CHUNKS = [(x, z) for x in range(-50, 50) for z in range(-50, 50)]


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
