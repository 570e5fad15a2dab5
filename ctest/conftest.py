"""Fixtures of all tests in Python. Where things are is in settings.json, which CMake writes."""

import json
import os
import pathlib
import types

import pytest

from build import CTEST, Compiler, install, locked, make, run


def pytest_addoption(parser):
    parser.addoption("--build", type=pathlib.Path, default=CTEST.parent / "target/cmake/ctest",
                     help="the folder with settings.json")


@pytest.fixture(scope="session")
def settings(pytestconfig):
    build = pytestconfig.getoption("--build").absolute()
    settings = json.loads((build / "settings.json").read_text())
    settings = types.SimpleNamespace(build=build, source=CTEST.parent, **settings)
    libraries = build.parent / "lib"
    settings.shared = libraries / f"libleveldb_bloom.so.{settings.version}"
    settings.archive = libraries / "libleveldb_bloom.a"
    settings.include = settings.source / "include"
    for name in [name for name in os.environ if name.startswith("LEVELDB_BLOOM_")]:
        del os.environ[name]
    return settings


@pytest.fixture(scope="session")
def compiler(settings):
    return Compiler(settings)


@pytest.fixture(scope="session")
def installed(settings):
    if settings.installed:
        return pathlib.Path(settings.installed)
    target = settings.build / "installed"
    return target if target.exists() else install(settings)


@pytest.fixture(scope="session")
def leveldb_sources(settings):
    """The LevelDB that the crate leveldb-sys carries, where cargo has unpacked it."""
    if settings.leveldb_sources:
        return pathlib.Path(settings.leveldb_sources)
    metadata = json.loads(run(settings.cargo, "metadata", "--locked", "--format-version=1", "--quiet",
                              "--manifest-path", CTEST / "leveldb-sys/Cargo.toml"))
    [crate] = [package for package in metadata["packages"] if package["name"] == "leveldb-sys"]
    [sources] = pathlib.Path(crate["manifest_path"]).parent.glob("deps/leveldb-*")
    return sources


@pytest.fixture(scope="session")
def build_leveldb(settings, leveldb_sources):
    """build_leveldb(NAME, COMPILER...): LevelDB as a shared library, without Snappy, whose functions
    take a std::string too."""

    def build(name, *compiler):
        files = [file for folder in ("db", "table", "util")
                 for file in sorted((leveldb_sources / folder).glob("*.cc"))
                 if not any(word in file.name for word in
                            ("test", "db_bench", "fault_injection", "leveldbutil", "windows"))]
        have = ["FDATASYNC=1", "CRC32C=0", "SNAPPY=0"]
        return make(settings.build / name / "libleveldb.so", [
            *compiler, "-std=c++17", "-O1", "-fPIC", "-shared", "-w", "-pthread",
            "-DLEVELDB_PLATFORM_POSIX=1", "-DLEVELDB_IS_BIG_ENDIAN=0", *["-DHAVE_" + it for it in have],
            f"-I{leveldb_sources}", f"-I{leveldb_sources}/include", *files])

    return build
