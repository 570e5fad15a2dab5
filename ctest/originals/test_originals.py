"""LevelDB's own tests, unmodified, on a LevelDB that has leveldb_bloom_policy.cc in place of util/bloom.cc."""

import os

import pytest

from build import CTEST, run
from prover import Lines


@pytest.fixture(scope="module", params=["", "-fno-rtti -fno-exceptions"], ids=["as-is", "no-rtti"])
def built(request, settings, installed, leveldb_sources):
    """Built as LevelDB comes, and without type information and exceptions."""
    work = settings.build / ("originals-no-rtti" if request.param else "originals")
    run("cmake", "-S", CTEST / "originals", "-B", work, "-G", settings.generator,
        f"-DCMAKE_CXX_FLAGS={request.param}", f"-DCMAKE_PREFIX_PATH={installed}",
        f"-DCMAKE_C_COMPILER={settings.cc}", f"-DCMAKE_CXX_COMPILER={settings.cxx}",
        f"-DLEVELDB_SOURCE_DIR={leveldb_sources}")
    run("cmake", "--build", work, "--parallel", "2")
    members = run("ar", "t", work / "leveldb/libleveldb.a").split()
    assert "leveldb_bloom_policy.cc.o" in members and "bloom.cc.o" not in members
    return work


@pytest.mark.parametrize("test, routes", [("bloom_test", ["buffer"]), ("c_test", ["buffer"]),
                                          ("hash_test", []), ("filter_block_test", [])])
def test_original(test, routes, built, tmp_path):
    """Those with a bloom policy have ours; the others show that the rest still works."""
    statistics = tmp_path / "statistics"
    run(built / test, env={**os.environ, "LEVELDB_BLOOM_STATS": str(statistics),
                           "TEST_TMPDIR": str(tmp_path)})
    lines = Lines(statistics.read_text() if statistics.exists() else "").ended()
    # A policy that was only queried has no route.
    assert sorted({line["route"] for line in lines if line["filters"]}) == routes
    assert not routes or any(line["filters"] and line["queries"] for line in lines)
    assert "::BloomFilterPolicy::" not in run("nm", "--demangle", built / test)
