"""Several copies of leveldb_bloom in one process: none takes another for a LevelDB."""

import pytest

from build import CTEST
from prover import prove

ROUTES = CTEST / "routes"


@pytest.fixture(scope="session")
def embedded(compiler, objects, settings):
    """embedded(NAME, LIBRARY...): a library with a LevelDB of its own that nobody else sees."""

    def library(name, *front):
        kind = "ours" if front else "stock"
        return compiler(f"libembedded-{kind}-{name}.so", "c", "-fPIC", "-shared",
                        f"-DNAME=embedded_{name}", ROUTES / "embedded.c", objects("c")[1], *front,
                        *settings.leveldb_archives, "-lstdc++",
                        "-Wl,--exclude-libs,libleveldb.a:libsnappy.a")

    return library


@pytest.fixture(scope="session")
def without_leveldb(compiler, settings):
    """Two libraries with our archive in them, and no LevelDB."""
    return [compiler(f"libcopy-{name}.so", "c", "-fPIC", "-shared", "-DONLY_OURS",
                     f"-DNAME=copy_{name}", ROUTES / "embedded.c", settings.archive)
            for name in ("one", "two")]


def program(compiler, name, *parts):
    return compiler(name, "c", *parts, f"-Wl,-rpath,{compiler.folder}", "-ldl")


@pytest.mark.parametrize("preload", [False, True])
def test_each_with_a_leveldb(preload, compiler, objects, embedded, settings):
    programs = [program(compiler, name, ROUTES / "copies.c", objects("c")[1],
                        embedded("one", *front), embedded("two", *front))
                for name, front in [("copies", [settings.archive]), ("copies-stock", [])]]
    prove(programs[:1], "append-cxx11", policies=2, control=programs[1:],
          preload=settings.shared if preload else None)


@pytest.mark.parametrize("custom", [False, True])
def test_beside_a_leveldb(custom, compiler, objects, without_leveldb, settings, stock):
    """The first copy's policies, and the user's callbacks through all copies to LevelDB."""
    beside = program(compiler, "beside-copies", *objects("c"), "-Wl,--no-as-needed",
                     *without_leveldb, settings.leveldb)
    if custom:
        prove([beside, "custom"], control=[stock("c"), "custom"],
              filter_name="custom")
    else:
        prove([beside], "append-cxx11", ["made by: libcopy-one"], control=[stock("c")])
