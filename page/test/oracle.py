"""What the page is compared with: the C library, and files that stock LevelDB writes.

Reads one JSON request from standard input, and answers with JSON. Keys are hex.
"""

import ctypes
import glob
import json
import os
import sys

request = json.load(sys.stdin)


def c_library():
    library = ctypes.CDLL(os.environ["LIBRARY"])
    library.leveldb_bloom_policy_create.restype = ctypes.c_void_p
    library.leveldb_bloom_policy_create_ribbon.restype = ctypes.c_void_p
    library.leveldb_bloom_create_filter.restype = ctypes.c_void_p
    library.leveldb_bloom_key_may_match.restype = ctypes.c_uint8
    library.leveldb_bloom_free.argtypes = [ctypes.c_void_p]
    return library


def create_filters():
    library = c_library()
    filters = []
    for bits_per_key, keys, *ribbon in request["filters"]:
        keys = [bytes.fromhex(key) for key in keys]
        create = library.leveldb_bloom_policy_create_ribbon if ribbon else library.leveldb_bloom_policy_create
        policy = ctypes.c_void_p(create(bits_per_key))
        length = ctypes.c_size_t()
        filter_ = library.leveldb_bloom_create_filter(
            policy,
            (ctypes.c_char_p * len(keys))(*keys),
            (ctypes.c_size_t * len(keys))(*map(len, keys)),
            ctypes.c_size_t(len(keys)),
            ctypes.byref(length),
        )
        filters.append(ctypes.string_at(filter_, length.value).hex())
        library.leveldb_bloom_free(filter_)
        library.leveldb_bloom_policy_destroy(policy)
    return filters


def may_match():
    library = c_library()
    filter_ = bytes.fromhex(request["filter"])
    size = ctypes.c_size_t
    return [
        library.leveldb_bloom_key_may_match(key, size(len(key)), filter_, size(len(filter_)))
        for key in map(bytes.fromhex, request["keys"])
    ]


def all_may_match():
    """Of each filter the answers for its keys."""
    answers = []
    for request["filter"], request["keys"] in request["asked"]:
        answers.append(may_match())
    return answers


def rates():
    class Info(ctypes.Structure):
        _fields_ = [
            ("bits", ctypes.c_uint64),
            ("bits_set", ctypes.c_uint64),
            ("probes", ctypes.c_uint32),
            ("reserved", ctypes.c_uint32),
            ("fill", ctypes.c_double),
            ("estimated_keys", ctypes.c_double),
            ("false_positive_rate", ctypes.c_double),
        ]

    library = c_library()
    rates = []
    for filter_ in map(bytes.fromhex, request["filters"]):
        info = Info()
        if library.leveldb_bloom_inspect(filter_, ctypes.c_size_t(len(filter_)), ctypes.byref(info)):
            sys.exit("leveldb_bloom_inspect failed")
        rates.append(info.false_positive_rate)
    return rates


def database():
    import plyvel

    with open("/proc/self/maps") as maps:
        if "leveldb_bloom" in maps.read():
            sys.exit("this database should be written by stock LevelDB, and our library is loaded")
    folder = request["folder"]
    values = request["values"]
    bits_per_key = request["bits_per_key"]
    own_order = {}
    if request["reversed"]:
        own_order["comparator"] = lambda a, b: (a < b) - (a > b)
        own_order["comparator_name"] = b"test.Reversed"
    db = plyvel.DB(
        folder,
        create_if_missing=True,
        bloom_filter_bits=bits_per_key,
        compression=request["compression"],
        **own_order,
    )
    for number, key in enumerate(request["keys"]):
        db.put(bytes.fromhex(key), b"value " * values[number % len(values)])
    for key in request["deleted"]:
        db.delete(bytes.fromhex(key))
    if not request["deleted"]:
        db.compact_range()
    db.close()
    if request["deleted"]:
        # A log becomes a table when the database is opened the next time, deletions and all.
        plyvel.DB(folder, bloom_filter_bits=bits_per_key).close()
    return glob.glob(f"{folder}/*.ldb")


def several():
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../inspector/tests/databases"))
    import tables

    block = [(bytes.fromhex(key), b"value") for key in request["keys"]]
    create = lambda _: bytes.fromhex(request["filter"])
    policy, other = request["policies"]
    return list(tables.write([block], create, policy=policy, other_policy=other))


answer = {"filters": create_filters, "match": may_match, "all": all_may_match, "rates": rates, "database": database,
          "several": several}
json.dump(answer[request["ask"]](), sys.stdout)
