"""python -m leveldb_bloom prints where the library for LD_PRELOAD is; leveldb-bloom is the command."""

import os
import subprocess
import sys

from leveldb_bloom import _carried, library_path


def command() -> None:
    """The command leveldb-bloom, which lies beside the library that it may preload."""
    if sys.platform == "win32":
        sys.exit(subprocess.call([_carried("leveldb-bloom.exe"), *sys.argv[1:]]))
    program = _carried("leveldb-bloom")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    print(library_path())
