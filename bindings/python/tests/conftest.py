"""The golden values of LevelDB's own policy, in the file that LEVELDB_BLOOM_GOLDEN names
(scripts/ffi/golden.py)."""

import os

import pytest


@pytest.fixture(scope="session")
def golden():
    with open(os.environ["LEVELDB_BLOOM_GOLDEN"]) as file:
        return [line.split() for line in file]


@pytest.fixture(scope="session")
def million():
    return [b"key-%012d" % number for number in range(1_000_000)]
