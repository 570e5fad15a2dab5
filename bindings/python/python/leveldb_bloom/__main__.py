"""python -m leveldb_bloom prints where the library for LD_PRELOAD is; leveldb-bloom is the command."""

import os
import sys

from leveldb_bloom import _carried, library_path


def command() -> None:
    """The command leveldb-bloom, which lies beside the library that it preloads."""
    try:
        program = _carried("leveldb-bloom")
    except FileNotFoundError as error:
        sys.exit(f"leveldb-bloom: {error}")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    print(library_path())
