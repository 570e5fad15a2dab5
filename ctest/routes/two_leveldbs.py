"""plyvel, whichever is imported, and another LevelDB in one process:

    two_leveldbs.py LEVELDB DIRECTORY
"""

import contextlib
import os
import sys

import plyvel
from leveldb_ctypes import LevelDB

KEYS = 5000


def main():
    other = LevelDB(sys.argv[1])
    policy = other.filterpolicy_create_bloom(10)
    # The other one works while plyvel's database is open.
    options = {"bloom_filter_bits": 10, "write_buffer_size": 64 << 20}
    path = os.path.join(sys.argv[2], "plyvel")
    with contextlib.closing(plyvel.DB(path, create_if_missing=True, **options)) as database:
        for i in range(KEYS):
            database.put(b"key %d" % i, b"value %d" % i)
        other.use_database(policy, os.path.join(sys.argv[2], "other"))
        database.compact_range()
        for i in range(KEYS):
            key = b"key %d" % i
            assert database.get(key) == b"value %d" % i, key
            assert database.get(key + b"!") is None, key
        other.use_database(policy, os.path.join(sys.argv[2], "other-again"))
    other.filterpolicy_destroy(policy)


main()
