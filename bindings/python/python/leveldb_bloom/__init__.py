"""LevelDB's bloom filter, byte for byte.

    policy = leveldb_bloom.Policy(bits_per_key=10)
    members = policy.create_filter([b"hello", b"world"])
    b"hello" in members     # True
"""

import sys
from pathlib import Path

from ._native import Builder, Filter, FilterInfo, Policy, __version__

__all__ = ["Builder", "Filter", "FilterInfo", "Policy", "__version__", "library_path"]

_BIN = Path(__file__).parent / "bin"


def library_path() -> str:
    """The shared library that programs with LevelDB preload.

    LD_PRELOAD is set to it. FileNotFoundError where this package has none: on systems that do not
    preload, and in builds from source.
    """
    return _carried("libleveldb_bloom.so")


def _carried(name: str) -> str:
    path = _BIN / name
    if not path.exists():
        raise FileNotFoundError(f"this build of leveldb-bloom, for {sys.platform}, has no {name}")
    return str(path)
