"""leveldb_bloom and LevelDB on one command line, in either order, with each linker."""

import shutil

import pytest

from prover import RIBBON, prove

ACTIVE, OURS = "active: leveldb_bloom (append-cxx11)", "made by: libleveldb_bloom"
ORIGINAL = "active: original (another definition of leveldb_filterpolicy_create_bloom comes first)"
NEW = "-Wl,-u,_ZN7leveldb20NewBloomFilterPolicyEi"

# What the program is linked with, and what it prints. "objects" is where its own are. A route: our filters.
LINES = {
    "shared": ("objects -Wl,--no-as-needed {so} {leveldb}", [ACTIVE, OURS]),
    "shared-as-needed": ("objects -Wl,--as-needed {so} {leveldb}", [ACTIVE, OURS]),
    "shared-before-objects": (
        "-Wl,--as-needed -Wl,--push-state,--no-as-needed {so} -Wl,--pop-state objects {leveldb}",
        [ACTIVE, OURS]),
    "shared-with-static-leveldb": ("objects {so} {leveldb_a}", [ACTIVE]),
    "static": ("objects {a} {leveldb_a}", [ACTIVE]),
    "static-before-objects": ("{new} {a} objects {leveldb_a}", [ACTIVE]),
    "static-with-shared-leveldb": ("objects {a} {leveldb}", [ACTIVE]),
    # As much of the C++ library in the program as can be; for C, what -static-libstdc++ does.
    "static-libstdc++": (
        "objects {a} {archives} -static-libstdc++ -static-libgcc -Wl,-Bstatic -lstdc++ "
        "-Wl,-Bdynamic -lm -lpthread", [ACTIVE]),
    "wholly-static": ("-static objects {a} {leveldb_a}", [ACTIVE]),
    # Linked second: the original answers.
    "shared-second": ("objects -Wl,--no-as-needed {leveldb} {so}", [ORIGINAL]),
    "shared-second-as-needed": ("objects -Wl,--as-needed {leveldb} {so}", ["active: absent"]),
    "static-second": ("objects {leveldb_a} {a}", ["active: absent"]),
}
# mold prefers what another archive defines to our weak definitions, unless it takes all of our archive.
WHOLE = "-Wl,--whole-archive {a} -Wl,--no-whole-archive"


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("linker", ["bfd", "gold", "lld", "mold"])
@pytest.mark.parametrize("name", LINES)
def test_line(name, linker, language, compiler, objects, settings, stock):
    link_and_prove(name, linker, language, {}, compiler, objects, settings, stock)


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("name", ["shared", "static", "wholly-static", "shared-second"])
def test_ribbon(name, language, compiler, objects, settings, stock):
    link_and_prove(name, "bfd", language, RIBBON, compiler, objects, settings, stock)


def link_and_prove(name, linker, language, environment, compiler, objects, settings, stock):
    line, says = LINES[name]
    if linker == "mold" and "second" not in name:
        line = line.replace("{a}", WHOLE)
    archives = " ".join(map(str, settings.leveldb_archives))
    line = line.format(
        so=f"{settings.shared} -Wl,-rpath,{settings.shared.parent}", a=settings.archive, new=NEW,
        leveldb=settings.leveldb, archives=archives,
        leveldb_a=archives + (" -lstdc++ -lm" if language == "c" else "") + " -lpthread")
    words = [word for part in line.split()
             for word in (objects(language) if part == "objects" else [part])]
    program = compiler(f"{name}-{linker}-{language}", language, f"-fuse-ld={linker}", *words)
    prove([program], [] if "second" in name else "append-cxx11", says, control=[stock(language)],
          environment=environment)
