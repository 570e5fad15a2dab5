"""The LevelDBs that programs run on."""

import pathlib
import sys
import types

import pytest

from build import CTEST, locked, run

ROUTES = CTEST / "routes"


@pytest.fixture(scope="session")
def fetched(settings):
    """fetched("wheel" or "npm"): the folder with packages of PyPI or npm."""

    def fetch(kind):
        folder = settings.build / kind
        with locked(folder):
            run(sys.executable, ROUTES / "fetch.py", kind, folder)
        return folder

    return fetch


# The route by which filters reach each LevelDB: which std::string it has.
HOSTS = {"debian": "append-cxx11", "wheel": "append-copy-on-write", "libcxx": "append-libc++",
         "lto": "append-cxx11"}


@pytest.fixture(scope="session")
def host_named(settings, fetched, build_leveldb):
    def named(name):
        environment = {}
        if name == "debian":
            file = pathlib.Path(settings.leveldb)
        elif name == "wheel":
            folder = fetched("wheel") / "plyvel.libs"
            file = folder / "libleveldb.so"
            # It finds its Snappy only where the wheel's Python module loads it.
            environment["LD_LIBRARY_PATH"] = str(folder)
        elif name == "libcxx":
            file = build_leveldb("libcxx", "clang++", "-stdlib=libc++")
        else:
            # Without a PLT, calls are bound by another table of relocations.
            file = build_leveldb("lto", settings.cxx, "-flto=auto", "-fno-plt")
        return types.SimpleNamespace(name=name, file=file, route=HOSTS[name],
                                     environment=environment)

    return named


@pytest.fixture(scope="session", params=HOSTS)
def host(request, host_named):
    return host_named(request.param)


@pytest.fixture(scope="session")
def objects(compiler):
    """objects("c"), objects("c++"): a program of that language, to be linked in many ways."""
    program = compiler("program.o", "c", "-fPIC", "-c", ROUTES / "program.c")

    def compiled(language):
        source = ROUTES / ("workload.c" if language == "c" else "workload.cc")
        return [compiler(f"workload-{language}.o", language, "-fPIC", "-c", source), program]

    return compiled


@pytest.fixture(scope="session")
def loaded(compiler, objects):
    """A program that links neither leveldb_bloom nor LevelDB."""
    return compiler("loaded", "c", ROUTES / "loaded.c", objects("c")[1])


@pytest.fixture(scope="session")
def stock(compiler, settings, objects):
    """stock(LANGUAGE): the program with Debian's LevelDB alone."""

    def linked(language):
        return compiler(f"stock-{language}", language, *objects(language), settings.leveldb)

    return linked
