"""What the C library shows to compilers, the linker and the loader.

Recorded in leveldb_bloom.abi is a library of C, made of the header's declarations with empty bodies: its types
depend neither on the version of rustc nor on what the real functions do inside. WRITE=1 records it anew.
"""

import os
import re

import pytest

from build import CTEST, run

RECORD = CTEST / "abi/leveldb_bloom.abi"
SYMBOLS = (CTEST / "symbols.txt").read_text().split()


def exports(library):
    return sorted(run("nm", "--dynamic", "--defined-only", "--format=just-symbols", library).split())


def test_exports(settings):
    assert exports(settings.shared) == SYMBOLS


def test_exports_of_a_library_with_the_archive(settings, tmp_path):
    library = tmp_path / "library.so"
    run(settings.cc, "-shared", "-o", library, "-Wl,--whole-archive", settings.archive,
        "-Wl,--no-whole-archive")
    assert exports(library) == SYMBOLS


def test_nothing_of_ours_is_found_by_its_name(settings):
    """Among several copies of this library, the loader would find the first one's."""
    relocations = run("readelf", "--relocs", "--wide", settings.shared)
    assert "_ZN7leveldb9DestroyDB" in relocations
    for symbol in SYMBOLS:
        assert not re.search(rf" {symbol}[ @\n]", relocations)


def test_what_the_loader_is_told(settings):
    dynamic = run("readelf", "--dynamic", "--wide", settings.shared)
    assert f"soname: [libleveldb_bloom.so.{settings.soversion}]" in dynamic
    assert re.search(r"\(FLAGS_1\).* NODELETE", dynamic)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    assert all(re.match(r"libc\.so\.6$|ld-linux", name) for name in needed), needed


def test_nothing_panics_or_unwinds(settings):
    """Local symbols are still there in a library that was not stripped."""
    symbols = run("nm", settings.shared)
    assert re.search(r" [a-z] .*leveldb_bloom", symbols)
    assert re.findall(r".*(?:[Pp]anic|[Uu]nwind|eh_personality|__cxa_throw).*", symbols) == []


def test_abi(settings, tmp_path):
    header = (settings.include / "leveldb_bloom.cdef.h").read_text()
    # Functions are the only declarations that end so. The version differs each time, and no program with it.
    code = re.sub(r"\);(\n\n|\n\Z)", r") { __builtin_trap(); }\1", header)
    code = re.sub(r"LEVELDB_BLOOM_VERSION_NUMBER = [0-9]+,?", "", code)
    # The types of <stddef.h> and <stdint.h>, without the C library's others.
    types = "typedef __SIZE_TYPE__ size_t;\n" + "".join(
        f"typedef __{sign}INT{bits}_TYPE__ {sign.lower()}int{bits}_t;\n"
        for sign in ("", "U") for bits in (8, 16, 32, 64))
    (tmp_path / "leveldb_bloom.c").write_text(types + code)
    run("gcc", "-std=c99", "-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types", "-w", "-fPIC", "-shared",
        "-nostdlib", "-ffile-prefix-map=.=.", "-Wl,-soname,libleveldb_bloom.so", "-o", "libleveldb_bloom.so",
        "leveldb_bloom.c", cwd=tmp_path)
    run("abidw", "--load-all-types", "--no-show-locs", "--no-comp-dir-path", "--no-corpus-path",
        "--no-architecture", "--no-elf-needed", "--type-id-style", "hash", "--out-file", "current.abi",
        "libleveldb_bloom.so", cwd=tmp_path)
    assert exports(tmp_path / "libleveldb_bloom.so") == [name for name in SYMBOLS if name[0] != "_"]
    current = tmp_path / "current.abi"
    if os.environ.get("WRITE") == "1":
        RECORD.write_text(current.read_text())
    try:
        run("abidiff", "--non-reachable-types", RECORD, current)
    except AssertionError as difference:
        pytest.fail(f"{difference}\nAn addition is fine, once it is recorded: WRITE=1 pytest ctest/abi. All else "
                    "breaks programs and needs a new major version.")


def test_c_test_calls_every_function(settings):
    """Every function that the header declares is one that the C test takes from the library."""
    used = run("nm", "--dynamic", "--undefined-only", settings.build / "harness/c_test_alone")
    for function in SYMBOLS:
        assert f" {function}\n" in used or function[0] == "_", f"c_test.c does not call {function}"
