"""golden_values.h is what LevelDB's own library gives, and the generator takes it from nobody else."""

import os
import subprocess

import pytest

from build import CTEST


@pytest.mark.parametrize("preload", [False, True])
def test_generator_prints_what_is_committed(preload, settings, tmp_path):
    environment = dict(os.environ)
    if preload:
        environment.update(LD_PRELOAD=str(settings.shared), LEVELDB_BLOOM_STATS=str(tmp_path / "statistics"))
    printed = subprocess.run([settings.build / "harness/golden_generator"], env=environment, check=True,
                             capture_output=True, text=True)
    assert f"printed from {os.path.realpath(settings.leveldb)}" in printed.stderr
    assert ("beside leveldb_bloom" in printed.stderr) == preload
    assert printed.stdout == (CTEST / "harness/golden_values.h").read_text()
    assert not (tmp_path / "statistics").exists()


def test_generator_refuses_ours(settings):
    done = subprocess.run([settings.build / "harness/golden_generator", settings.shared],
                          capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == "" and "leveldb_open" in done.stderr
