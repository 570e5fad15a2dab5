"""What `cmake --install` puts where."""

import os

import pytest

from build import install, run


@pytest.fixture
def copy(settings):
    return install(settings)


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if path.is_symlink() or path.is_file())


def test_files(copy, settings):
    lib, package = settings.libdir, f"{settings.libdir}/cmake/leveldb_bloom"
    wanted = [f"{lib}/libleveldb_bloom.{kind}" for kind in
              ("a", "so", f"so.{settings.soversion}", f"so.{settings.version}")]
    wanted += [f"include/leveldb_bloom{end}" for end in (".h", ".cdef.h", "_policy.cc", "_policy.h")]
    wanted += [f"{package}/leveldb_bloomConfig{end}.cmake" for end in ("", "Version")]
    wanted += [f"{lib}/pkgconfig/leveldb_bloom.pc"]
    assert set(wanted) <= set(names(copy))


def test_pkg_config_of_a_copy_that_was_moved(copy, settings):
    def said(*options):
        return run("pkg-config", *options, "leveldb_bloom", env={
            **os.environ, "PKG_CONFIG_PATH": f"{copy}/{settings.libdir}/pkgconfig"}).strip()

    assert said("--modversion") == settings.version
    assert said("--static", "--libs").endswith("-lleveldb_bloom -lpthread -ldl")
    assert os.path.realpath(said("--variable=prefix")) == os.path.realpath(copy)


def test_components_stripped(copy, settings, tmp_path):
    """Programs run with the first alone; no file is in both, and only the licence in neither."""
    for component in ("runtime", "development"):
        run("cmake", "--install", settings.build.parent, "--prefix", tmp_path / component, "--strip",
            "--component", component)
    runtime, development = names(tmp_path / "runtime"), names(tmp_path / "development")
    lib = settings.libdir
    assert runtime == [f"{lib}/libleveldb_bloom.so.{settings.soversion}",
                       f"{lib}/libleveldb_bloom.so.{settings.version}"]
    assert sorted(runtime + development) == [name for name in names(copy) if "LICENSE" not in name]
    # What the loader and the linker need is left.
    for kind, folder, options in [("so", "runtime", ["--dynamic"]), ("a", "development", ["--extern-only"])]:
        name = f"libleveldb_bloom.{kind}" + (f".{settings.version}" if kind == "so" else "")
        symbols = [run("nm", *options, "--format=just-symbols", root / lib / name)
                   for root in (copy, tmp_path / folder)]
        assert symbols[0] == symbols[1] and "leveldb_filterpolicy_create_bloom" in symbols[0]
        sizes = [(root / lib / name).stat().st_size for root in (copy, tmp_path / folder)]
        assert sizes[1] < sizes[0]


def test_in_usr_pkg_config_names_no_folder(settings, tmp_path):
    """It would stand in front of other packages' own."""
    run("cmake", "-S", settings.source, "-B", tmp_path, "-G", settings.generator,
        "-DCMAKE_INSTALL_PREFIX=/usr", f"-DLEVELDB_BLOOM_CARGO={settings.cargo}")
    assert run("pkg-config", "--cflags", "--libs", "leveldb_bloom", env={
        **os.environ, "PKG_CONFIG_PATH": f"{tmp_path}/installed"}).strip() == "-lleveldb_bloom"
