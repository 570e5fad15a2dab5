"""leveldb_bloom and a LevelDB, both loaded with RTLD_LOCAL: workload_ctypes.py WAY BLOOM LEVELDB DIRECTORY

WAY: callbacks (ours, in a policy that LevelDB makes), created (our policy), own (LevelDB's policy).
"""

import ctypes
import os
import sys

KEYS = 5000
POINTER, SIZE, BYTES = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
ERROR = ctypes.POINTER(BYTES)

# What is called, without the prefix "leveldb_": the result and the arguments.
FUNCTIONS = {
    "bloom_policy_create": (POINTER, ctypes.c_int), "bloom_vtable": (ctypes.POINTER(POINTER * 4),),
    "filterpolicy_create": (POINTER, *[POINTER] * 5),
    "filterpolicy_create_bloom": (POINTER, ctypes.c_int), "filterpolicy_destroy": (None, POINTER),
    "options_create": (POINTER,), "options_set_create_if_missing": (None, POINTER, ctypes.c_ubyte),
    "options_set_filter_policy": (None, POINTER, POINTER),
    "options_set_write_buffer_size": (None, POINTER, SIZE),
    "readoptions_create": (POINTER,), "writeoptions_create": (POINTER,),
    "open": (POINTER, POINTER, BYTES, ERROR), "close": (None, POINTER),
    "compact_range": (None, POINTER, BYTES, SIZE, BYTES, SIZE), "free": (None, POINTER),
    "put": (None, POINTER, POINTER, BYTES, SIZE, BYTES, SIZE, ERROR),
    "get": (POINTER, POINTER, POINTER, BYTES, SIZE, ctypes.POINTER(SIZE), ERROR),
}


class Library:
    """The functions of a library, without their prefix."""

    def __init__(self, file):
        self.library = ctypes.CDLL(file, mode=os.RTLD_LOCAL | os.RTLD_NOW)

    def __getattr__(self, name):
        function = self.library["leveldb_" + name]
        function.restype, *function.argtypes = FUNCTIONS[name]
        return function


def main(way, bloom_file, leveldb_file, directory):
    leveldb = Library(leveldb_file)
    bloom = leveldb if way == "own" else Library(bloom_file)
    if way == "callbacks":
        policy = leveldb.filterpolicy_create(bloom.bloom_policy_create(10), *bloom.bloom_vtable().contents)
    else:
        policy = bloom.filterpolicy_create_bloom(10)
    use_database(leveldb, policy, os.path.join(directory, "database").encode())
    leveldb.filterpolicy_destroy(policy)


def use_database(leveldb, policy, path):
    """Fills a new database, closes it, and reads keys that it has and has not."""
    options, error = leveldb.options_create(), BYTES()
    leveldb.options_set_create_if_missing(options, 1)
    leveldb.options_set_filter_policy(options, policy)
    # One memtable for all keys: files written in the background differ from run to run.
    leveldb.options_set_write_buffer_size(options, 64 << 20)
    keys = [b"key %d" % i for i in range(KEYS)]

    database = leveldb.open(options, path, ctypes.byref(error))
    writing = leveldb.writeoptions_create()
    for key in keys:
        leveldb.put(database, writing, key, len(key), key, len(key), ctypes.byref(error))
    leveldb.compact_range(database, None, 0, None, 0)
    leveldb.close(database)

    database = leveldb.open(options, path, ctypes.byref(error))
    reading, length = leveldb.readoptions_create(), SIZE()

    def get(key):
        value = leveldb.get(database, reading, key, len(key), ctypes.byref(length), ctypes.byref(error))
        copy = value and ctypes.string_at(value, length.value)
        leveldb.free(value)
        return copy

    for key in keys:
        assert get(key) == key, key
        assert get(key + b"!") is None, key
    leveldb.close(database)
    assert error.value is None, error.value


main(*sys.argv[1:])
