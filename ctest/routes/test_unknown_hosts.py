"""LevelDBs whose string is not known, or whose bloom policy is another than LevelDB's."""

import pytest

from build import CTEST, run
from prover import RIBBON, Run, prove

ROUTES = CTEST / "routes"
UNKNOWN = "active: original (a LevelDB whose std::string is not known)"


@pytest.fixture(scope="session", params=["bare", "with-c-api"])
def unknown(request, compiler, objects):
    """The library, and a program on it with the given libraries in front."""
    defines = [] if request.param == "bare" else ["-DWITH_CREATE"]
    library = compiler(f"libunknown-{request.param}.so", "c++", *defines, "-fno-rtti", "-fPIC",
                       "-shared", ROUTES / "unknown_host.cc")

    def program(name, *front):
        return compiler(f"{name}-{request.param}", "c", ROUTES / "unknown_host_user.c",
                        objects("c")[1], *front, library, f"-Wl,-rpath,{library.parent}", "-ldl")

    # Without a C API only the original is left; with one, it makes a policy that appends for us.
    routes, says = ([], [UNKNOWN, "filter: original", "made by: libunknown-bare"]) \
        if request.param == "bare" else \
        (["delegate"], ["active: leveldb_bloom (delegate)", "filter: bloom"])
    return program, routes, says


def test_preloaded(unknown, settings):
    program, routes, says = unknown
    prove([program("unknown")], routes, says, preload=settings.shared, databases=False)


def test_ribbon(unknown, settings):
    """Where only the original is left, its filters are LevelDB's, and this is said."""
    program, routes, says = unknown
    says = [line.replace("filter: bloom", "filter: ribbon") for line in says]
    run = prove([program("unknown")], routes, says, preload=settings.shared, databases=False, environment=RIBBON)
    refused = "leveldb_bloom: no ribbon filters are made here: " + UNKNOWN.partition("active: ")[2]
    assert run.stderr.splitlines().count(refused) == (0 if routes else 1)


@pytest.mark.parametrize("encoding", [{}, RIBBON], ids=["bloom", "ribbon"])
def test_loaded_later(encoding, compiler, settings, tmp_path):
    """Our policy is made before the LevelDB is known, and has the original make its filters: these are
    LevelDB's, the statistics say so, and ours reads both."""
    library = compiler("libunknown-later.so", "c++", "-fno-rtti", "-fPIC", "-shared", ROUTES / "unknown_host.cc")
    program = [settings.python, "-c", LOAD, library]
    run = Run(program, tmp_path, settings.shared, encoding)
    assert run.said == ["0 original"]
    [last] = run.lines.ended()
    assert (last["route"], last["encoding"], last["filters"]) == ("original", "bloom", 3)
    assert (last["filter_bytes"], last["queries"], last["negatives"]) == (27, 9, 3)


LOAD = """
import ctypes, sys
host = ctypes.CDLL(sys.argv[1], ctypes.RTLD_LOCAL)
host.unknown_host_policy.restype = ctypes.c_void_p
policy = ctypes.c_void_p(host.unknown_host_policy(9))
made_by = ctypes.c_char_p()
print(host.unknown_host_use(policy, ctypes.byref(made_by)), made_by.value.decode())
host.unknown_host_delete(policy)
"""


def test_static(unknown, settings):
    program, routes, says = unknown
    archive = ["-Wl,-u,_ZN7leveldb20NewBloomFilterPolicyEi", settings.archive]
    prove([program("unknown-static", *archive)], routes, says, control=[program("unknown")],
          databases=False)


@pytest.mark.parametrize("kind", ["OLD", "FORK", "MORE"])
def test_old_fork(kind, compiler, settings, objects):
    """It can read only its own filters: those of before 1.18, of Basho's, of a class with more functions."""
    library = compiler(f"lib{kind}.so", "c++", f"-D{kind}", "-fPIC", "-shared",
                       ROUTES / "old_fork.cc")
    program = compiler(f"policy-name-{kind}", "c++", ROUTES / "policy_name.cc", objects("c")[1],
                       library, f"-Wl,-rpath,{library.parent}")
    prove([program], [], ["name: leveldb.BuiltinBloomFilter",
                          "active: original (a LevelDB before 1.18, or a fork: another policy)"],
          preload=settings.shared, databases=False)


@pytest.mark.parametrize("language", ["c++", "libc++"])
def test_only_the_string_shows_what_it_is(language, settings, compiler):
    program = compiler(f"short-string-{language}", language, ROUTES / "short_string.cc", settings.shared,
                       f"-Wl,-rpath,{settings.shared.parent}")
    run(program)
