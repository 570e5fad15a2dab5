"""Small projects as our users have them, each configured, built and run."""

import os
import stat

import pytest

from build import CTEST, run

CONSUMERS = CTEST / "consumers"
STATIC, MOLD = "-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"
CLANG = ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++"]
CFI = "-DCMAKE_CXX_FLAGS=-flto -fvisibility=hidden -fsanitize=cfi -fuse-ld=lld -Wno-unused-command-line-argument"

# The folder, what CMake is told, and variables of the environment.
PROJECTS = {
    "find_package": ("find_package", []),
    "find_package_static": ("find_package", [STATIC]),
    "find_package_clang": ("find_package", [*CLANG, STATIC]),
    "override_shared": ("override", []),
    "override_static": ("override", [STATIC]),
    "override_shared_mold": ("override", [MOLD, "-DLINKERS=mold"]),
    "override_static_mold": ("override", [MOLD, "-DLINKERS=mold", STATIC]),
    "source": ("source", []),
    "source_clang_cfi": ("source", [*CLANG, CFI]),
    "two_rust_archives": ("two_rust_archives", []),
    "refused": ("refused", []),
}


def build_and_test(folder, work, settings, installed, options, environment={}):
    environment = {**os.environ, **environment}
    run("cmake", "-S", CONSUMERS / folder, "-B", work, "-G", settings.generator,
        f"-DCMAKE_PREFIX_PATH={installed}", f"-DCMAKE_C_COMPILER={settings.cc}",
        f"-DCMAKE_CXX_COMPILER={settings.cxx}", f"-DEXPECTED_VERSION={settings.version}", *options,
        env=environment)
    run("cmake", "--build", work, env=environment)
    print(run("ctest", "--test-dir", work, "--output-on-failure", env=environment))


@pytest.mark.parametrize("name", PROJECTS)
def test_installed(name, settings, installed, tmp_path):
    folder, options = PROJECTS[name]
    build_and_test(folder, tmp_path, settings, installed, options)


@pytest.mark.parametrize("name", ["here, or there", "here or there"])
def test_a_folder_with_a_space_or_comma(name, settings, installed, tmp_path):
    """A linker's options are split there. (CMake itself splits the shared library's run path at a comma.)"""
    (tmp_path / name).symlink_to(installed)
    build_and_test("override", tmp_path / "build", settings, tmp_path / name,
                   [STATIC] if "," in name else [])


@pytest.mark.parametrize("fetch", ["ON", "OFF"])
def test_from_source(fetch, settings, installed):
    """add_subdirectory, and FetchContent with a cargo that builds for another machine. With flags of which a
    C object in the archive would be nothing for rustc."""
    cargo = settings.build / "cargo-for-another"
    cargo.write_text(f'#!/bin/sh\nexec "{settings.cargo}" --config \'build.target="wasm32-unknown-unknown"\' "$@"\n')
    cargo.chmod(cargo.stat().st_mode | stat.S_IXUSR)
    build_and_test("add_subdirectory", settings.build / f"from-source-{fetch}", settings, installed,
                   [f"-DLEVELDB_BLOOM_SOURCE_DIR={settings.source}", f"-DFETCH={fetch}",
                    f"-DLEVELDB_BLOOM_CARGO={cargo if fetch == 'ON' else settings.cargo}"],
                   {"CFLAGS": "-O2 -flto -pedantic -Werror"} if fetch == "OFF" else {})


@pytest.mark.parametrize("compiler", ["cc", "clang"])
def test_pkg_config(compiler, settings, installed, tmp_path):
    run("make", "-f", CONSUMERS / "pkg_config/Makefile", f"CC={compiler}", cwd=tmp_path,
        env={**os.environ, "PKG_CONFIG_PATH": f"{installed}/{settings.libdir}/pkgconfig"})


@pytest.mark.parametrize("version, accepted", [("1, kMinorVersion = 17", False),
                                               ("1, kMinorVersion = 18", True)])
def test_source_of_an_old_leveldb(version, accepted, settings, tmp_path):
    """Its own policy has another name."""
    (tmp_path / "leveldb").mkdir()
    (tmp_path / "leveldb/db.h").write_text(
        f"namespace leveldb {{\nstatic const int kMajorVersion = {version};\n}}\n")
    compile = [settings.cxx, "-std=c++11", "-fsyntax-only", f"-I{tmp_path}", f"-I{settings.include}",
               settings.include / "leveldb_bloom_policy.cc"]
    if accepted:
        run(*compile)
    else:
        with pytest.raises(AssertionError, match="another name before 1.18; keep util/bloom.cc"):
            run(*compile)
