"""LD_PRELOAD under programs that know nothing of leveldb_bloom."""

import sys

import pytest

from build import CTEST
from prover import RIBBON, prove

ROUTES = CTEST / "routes"
ACTIVE = "active: leveldb_bloom ({})"
OURS, THEIRS = "made by: libleveldb_bloom", "made by: libleveldb"


ENCODINGS = pytest.mark.parametrize("encoding", [{}, RIBBON], ids=["bloom", "ribbon"])


@ENCODINGS
@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("name", ["debian", "lto", "libcxx"])
def test_program(name, language, encoding, host_named, compiler, objects, settings, leveldb_sources):
    host = host_named(name)
    program, = objects(language)[1:]
    if name == "libcxx":
        # A C++ program has the C++ library of its LevelDB.
        parts = {"c": ("clang", ROUTES / "workload.c"), "c++": ("libc++", ROUTES / "workload.cc")}
        language, source = parts[language]
        arguments = [f"-I{leveldb_sources}/include", source, program]
    else:
        arguments = objects(language)
    linked = compiler(f"on-{name}-{language}", language, *arguments, host.file,
                      f"-Wl,-rpath,{host.file.parent}", "-ldl")
    prove([linked], host.route, [ACTIVE.format(host.route), OURS], preload=settings.shared,
          environment=encoding)


def test_type_information(compiler, objects, host_named, settings):
    """C++ code may ask any object with virtual functions what it is."""
    host = host_named("lto")
    program = compiler("type", "c++", "-DRTTI", ROUTES / "policy_name.cc", objects("c")[1], host.file,
                       f"-Wl,-rpath,{host.file.parent}")
    run = prove([program], [], ["name: leveldb.BuiltinBloomFilter2"], preload=settings.shared,
                databases=False)
    assert [line for line in run.said if line.startswith("type: ") and line.endswith(", not Other")]


@ENCODINGS
def test_plyvel_of_debian(encoding, settings):
    prove([settings.python, ROUTES / "workload_plyvel.py"], "append-cxx11",
          ["plyvel: /usr/lib/python3/dist-packages/plyvel"], preload=settings.shared,
          environment=encoding)


@ENCODINGS
def test_plyvel_of_pypi(encoding, settings, fetched):
    folder = fetched("wheel")
    if sys.version_info >= (3, 13):
        pytest.skip("PyPI has no plyvel for this Python")
    prove([settings.python, ROUTES / "workload_plyvel.py"], "append-copy-on-write",
          [f"plyvel: {folder}/plyvel"], preload=settings.shared,
          environment={"PYTHONPATH": str(folder), **encoding})


@ENCODINGS
@pytest.mark.parametrize("package", ["leveldown", "classic-level"])
def test_node(package, encoding, settings, fetched):
    prove(["node", ROUTES / "workload.js", fetched("npm") / "node_modules" / package],
          "append-copy-on-write", preload=settings.shared, environment=encoding)


def test_loaded_for_itself(host, loaded, settings):
    """A LevelDB that a program loads with RTLD_LOCAL."""
    prove([loaded, "hosts-own", "none", host.file], host.route, [ACTIVE.format(host.route)],
          preload=settings.shared, environment=host.environment)


def test_deep_bound(host, loaded, settings):
    """RTLD_DEEPBIND binds a LevelDB to its own definition, and the original answers."""
    prove([loaded, "deep-bound", "none", host.file], [], [THEIRS], preload=settings.shared,
          environment=host.environment)


def test_leveldb_in_the_program(compiler, objects, settings):
    """Out of reach for a preloaded library, and undisturbed."""
    program = compiler("static", "c", *objects("c"), *settings.leveldb_archives, "-lstdc++", "-lm")
    prove([program], [], ["made by: static"], preload=settings.shared)
