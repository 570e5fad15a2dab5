"""Fills and reads a database through plyvel, whichever is imported:

    workload_plyvel.py DIRECTORY
"""

import contextlib
import ctypes
import os
import sys

import plyvel

KEYS = 10000


def main():
    print("plyvel:", os.path.dirname(plyvel.__file__))
    path = os.path.join(sys.argv[1], "database")
    # One memtable for all keys: files written in the background differ from run to run.
    options = {"bloom_filter_bits": 10, "write_buffer_size": 64 << 20}
    with contextlib.closing(plyvel.DB(path, create_if_missing=True, **options)) as database:
        for i in range(KEYS):
            database.put(b"key %d" % i, b"value %d" % i)
        database.compact_range()
        read(database)
    with contextlib.closing(plyvel.DB(path, **options)) as database:
        read(database)
    print_active()


def read(database):
    for i in range(KEYS):
        key = b"key %d" % i
        assert database.get(key) == b"value %d" % i, key
        assert database.get(key + b"!") is None, key


def print_active():
    active = getattr(ctypes.CDLL(None), "leveldb_bloom_active", None)
    if active is not None:
        active.restype = ctypes.c_char_p
        print("active:", active().decode())


main()
