"""Our callbacks in plyvel's own LevelDB: no preloading, no linking, two libraries in one process.

Shows: leveldb_filterpolicy_create of any LevelDB takes the table that leveldb_bloom_vtable gives.
"""

import contextlib
import ctypes
import glob
import json
import os
import tempfile
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_ubyte, c_void_p

import plyvel

KEYS = 20_000

# The LevelDB that plyvel brought along: the wheel's own, or the system's.
with open("/proc/self/maps") as _maps:
    HOST = next(path for path in (line.rstrip("\n").split(maxsplit=5)[-1] for line in _maps)
                if os.path.basename(path).startswith(("libleveldb-", "libleveldb.")))
host = ctypes.CDLL(HOST)
bloom = ctypes.CDLL("libleveldb_bloom.so.1")


class Callbacks(ctypes.Structure):
    _fields_ = [(name, c_void_p) for name in ("destructor", "create_filter", "key_may_match", "name")]


for library, name, result, arguments in (
        (bloom, "leveldb_bloom_vtable", POINTER(Callbacks), []),
        (bloom, "leveldb_bloom_policy_create", c_void_p, [c_int]),
        (bloom, "leveldb_bloom_version", c_char_p, []),
        (host, "leveldb_filterpolicy_create", c_void_p, [c_void_p] * 5),
        (host, "leveldb_filterpolicy_destroy", None, [c_void_p]),
        (host, "leveldb_options_create", c_void_p, []),
        (host, "leveldb_options_destroy", None, [c_void_p]),
        (host, "leveldb_options_set_create_if_missing", None, [c_void_p, c_ubyte]),
        (host, "leveldb_options_set_write_buffer_size", None, [c_void_p, c_size_t]),
        (host, "leveldb_options_set_filter_policy", None, [c_void_p, c_void_p]),
        (host, "leveldb_open", c_void_p, [c_void_p, c_char_p, POINTER(c_char_p)]),
        (host, "leveldb_close", None, [c_void_p]),
        (host, "leveldb_writeoptions_create", c_void_p, []),
        (host, "leveldb_writeoptions_destroy", None, [c_void_p]),
        (host, "leveldb_put", None, [c_void_p, c_void_p, c_char_p, c_size_t, c_char_p, c_size_t,
                                     POINTER(c_char_p)]),
        (host, "leveldb_compact_range", None, [c_void_p, c_char_p, c_size_t, c_char_p, c_size_t]),
        (host, "leveldb_readoptions_create", c_void_p, []),
        (host, "leveldb_readoptions_destroy", None, [c_void_p]),
        (host, "leveldb_get", c_void_p, [c_void_p, c_void_p, c_char_p, c_size_t, POINTER(c_size_t),
                                         POINTER(c_char_p)]),
        (host, "leveldb_free", None, [c_void_p])):
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments


def key_of(number):
    return b"key %d" % number


@contextlib.contextmanager
def database(path, policy):
    """Opened through LevelDB's C API, because plyvel cannot be given a policy."""
    options, error = host.leveldb_options_create(), c_char_p()
    host.leveldb_options_set_create_if_missing(options, 1)
    host.leveldb_options_set_write_buffer_size(options, 64 << 20)
    host.leveldb_options_set_filter_policy(options, policy)
    opened = host.leveldb_open(options, path.encode(), byref(error))
    assert not error.value, error.value
    yield opened
    host.leveldb_close(opened)
    host.leveldb_options_destroy(options)


def tables(path):
    files = sorted(glob.glob(os.path.join(path, "*.ldb")))
    assert files, path
    contents = []
    for name in files:
        with open(name, "rb") as file:
            contents.append(file.read())
    return contents


def main(folder):
    ours, theirs, statistics = (os.path.join(folder, name) for name in ("ours", "theirs", "statistics"))
    os.environ["LEVELDB_BLOOM_STATS"] = statistics
    callbacks = bloom.leveldb_bloom_vtable().contents
    policy = host.leveldb_filterpolicy_create(
        bloom.leveldb_bloom_policy_create(10), callbacks.destructor, callbacks.create_filter,
        callbacks.key_may_match, callbacks.name)

    error, length = c_char_p(), c_size_t()
    with database(ours, policy) as opened:
        options = host.leveldb_writeoptions_create()
        for number in range(KEYS):
            key = key_of(number)
            host.leveldb_put(opened, options, key, len(key), b"value", 5, byref(error))
            assert not error.value, error.value
        host.leveldb_writeoptions_destroy(options)
        host.leveldb_compact_range(opened, None, 0, None, 0)
    with database(ours, policy) as opened:
        options = host.leveldb_readoptions_create()
        for number in range(KEYS):
            for key, present in ((key_of(number), True), (key_of(number) + b"!", False)):
                value = host.leveldb_get(opened, options, key, len(key), byref(length), byref(error))
                assert bool(value) == present and not error.value, (key, error.value)
                if value:
                    host.leveldb_free(value)
        host.leveldb_readoptions_destroy(options)
    host.leveldb_filterpolicy_destroy(policy)

    # The same database by plyvel with LevelDB's own filter: the tables are equal, and plyvel reads
    # ours through its filters.
    settings = {"create_if_missing": True, "bloom_filter_bits": 10, "write_buffer_size": 64 << 20}
    with contextlib.closing(plyvel.DB(theirs, **settings)) as other:
        for number in range(KEYS):
            other.put(key_of(number), b"value")
        other.compact_range()
    assert tables(ours) == tables(theirs), "the tables differ"
    with contextlib.closing(plyvel.DB(ours, **settings)) as other:
        assert all(other.get(key_of(number)) == b"value" for number in range(KEYS))

    with open(statistics) as file:
        *_, line = [json.loads(line) for line in file]
    assert line["version"] == bloom.leveldb_bloom_version().decode(), line
    assert line["route"] == "callbacks" and line["filters"] > 0 and line["keys"] == KEYS, line
    assert line["queries"] >= 2 * KEYS - 1 and line["negatives"] > 0.9 * KEYS, line
    print(f"plyvel {plyvel.__version__} with {os.path.basename(HOST)}: leveldb-bloom "
          f"{line['version']} made {line['filters']} filters of {line['keys']} keys and answered "
          f"{line['queries']} queries, {line['negatives']} of them with no; "
          "the tables are those of LevelDB's own filter")


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
