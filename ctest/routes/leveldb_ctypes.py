"""LevelDB's C API through ctypes, as much of it as the programs beside this one need."""

import ctypes
import os

KEYS = 5000

POINTER = ctypes.c_void_p
SIZE = ctypes.c_size_t
BYTES = ctypes.c_char_p

FUNCTIONS = {
    "close": (None, [POINTER]),
    "compact_range": (None, [POINTER, BYTES, SIZE, BYTES, SIZE]),
    "filterpolicy_create": (POINTER, [POINTER] * 5),
    "filterpolicy_create_bloom": (POINTER, [ctypes.c_int]),
    "filterpolicy_destroy": (None, [POINTER]),
    "free": (None, [POINTER]),
    "get": (POINTER, [POINTER, POINTER, BYTES, SIZE, ctypes.POINTER(SIZE),
                      ctypes.POINTER(BYTES)]),
    "open": (POINTER, [POINTER, BYTES, ctypes.POINTER(BYTES)]),
    "options_create": (POINTER, []),
    "options_destroy": (None, [POINTER]),
    "options_set_create_if_missing": (None, [POINTER, ctypes.c_ubyte]),
    "options_set_filter_policy": (None, [POINTER, POINTER]),
    "options_set_write_buffer_size": (None, [POINTER, SIZE]),
    "put": (None, [POINTER, POINTER, BYTES, SIZE, BYTES, SIZE, ctypes.POINTER(BYTES)]),
    "readoptions_create": (POINTER, []),
    "readoptions_destroy": (None, [POINTER]),
    "writeoptions_create": (POINTER, []),
    "writeoptions_destroy": (None, [POINTER]),
}


def function(library, name, result, arguments):
    found = library[name]
    found.restype = result
    found.argtypes = arguments
    return found


class LevelDB:
    """The functions of one library, loaded with RTLD_LOCAL, without their prefix."""

    def __init__(self, file):
        library = ctypes.CDLL(file, mode=os.RTLD_LOCAL | os.RTLD_NOW)
        for name, (result, arguments) in FUNCTIONS.items():
            setattr(self, name, function(library, "leveldb_" + name, result, arguments))

    def use_database(self, policy, path):
        """Fills a new database, closes it, and asks it for keys that it has and has not."""
        database = self.open_database(policy, path, create=True)
        options = self.writeoptions_create()
        for i in range(KEYS):
            key = b"key %d" % i
            error = BYTES()
            self.put(database, options, key, len(key), key, len(key), ctypes.byref(error))
            assert error.value is None, error.value
        self.writeoptions_destroy(options)
        self.compact_range(database, None, 0, None, 0)
        self.close(database)

        database = self.open_database(policy, path, create=False)
        for i in range(KEYS):
            key = b"key %d" % i
            assert self.get_value(database, key) == key, key
            assert self.get_value(database, key + b"!") is None, key
        self.close(database)

    def open_database(self, policy, path, create):
        options = self.options_create()
        self.options_set_create_if_missing(options, create)
        self.options_set_filter_policy(options, policy)
        # One memtable for all keys: files written in the background differ from run to run.
        self.options_set_write_buffer_size(options, 64 << 20)
        error = BYTES()
        database = self.open(options, path.encode(), ctypes.byref(error))
        assert error.value is None, error.value
        self.options_destroy(options)
        return database

    def get_value(self, database, key):
        options = self.readoptions_create()
        length = SIZE()
        error = BYTES()
        memory = self.get(database, options, key, len(key), ctypes.byref(length),
                          ctypes.byref(error))
        assert error.value is None, error.value
        self.readoptions_destroy(options)
        if memory is None:
            return None
        value = ctypes.string_at(memory, length.value)
        self.free(memory)
        return value
