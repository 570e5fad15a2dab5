"""This library and a LevelDB, both loaded with RTLD_LOCAL:

    workload_ctypes.py WAY LEVELDB_BLOOM LEVELDB DIRECTORY

with one of the functions below as WAY.
"""

import ctypes
import os
import sys

from leveldb_ctypes import LevelDB, POINTER, function


class Bloom:
    """What is used of this library."""

    def __init__(self, file):
        library = ctypes.CDLL(file, mode=os.RTLD_LOCAL | os.RTLD_NOW)
        self.create_bloom = function(library, "leveldb_filterpolicy_create_bloom", POINTER,
                                     [ctypes.c_int])
        self.destroy = function(library, "leveldb_filterpolicy_destroy", None, [POINTER])
        self.policy_create = function(library, "leveldb_bloom_policy_create", POINTER,
                                      [ctypes.c_int])
        self.vtable = function(library, "leveldb_bloom_vtable", ctypes.POINTER(POINTER * 4), [])
        self.active = function(library, "leveldb_bloom_active", ctypes.c_char_p, [])


def callbacks(bloom_file, leveldb_file, path):
    bloom, leveldb = Bloom(bloom_file), LevelDB(leveldb_file)
    policy = leveldb.filterpolicy_create(bloom.policy_create(10), *bloom.vtable().contents)
    leveldb.use_database(policy, path)
    leveldb.filterpolicy_destroy(policy)


def created(bloom_file, leveldb_file, path):
    bloom, leveldb = Bloom(bloom_file), LevelDB(leveldb_file)
    policy = bloom.create_bloom(10)
    leveldb.use_database(policy, path)
    print("active:", bloom.active().decode())
    leveldb.filterpolicy_destroy(policy)


def created_first(bloom_file, leveldb_file, path):
    bloom = Bloom(bloom_file)
    policy = bloom.create_bloom(10)
    print("active:", bloom.active().decode())
    leveldb = LevelDB(leveldb_file)
    leveldb.use_database(policy, path)
    bloom.destroy(policy)


def hosts_own(_, leveldb_file, path):
    leveldb = LevelDB(leveldb_file)
    policy = leveldb.filterpolicy_create_bloom(10)
    leveldb.use_database(policy, path)
    leveldb.filterpolicy_destroy(policy)


WAYS = {"callbacks": callbacks, "created": created, "created-first": created_first,
        "hosts-own": hosts_own}
WAYS[sys.argv[1]](sys.argv[2], sys.argv[3], os.path.join(sys.argv[4], "database"))
