"""Policies of the user's own callbacks: leveldb_filterpolicy_create hands them to LevelDB."""

from build import CTEST
from prover import prove


def test_preloaded(stock, settings):
    prove([stock("c"), "custom"], [], ["made by: libleveldb"], preload=settings.shared,
          filter_name="custom")


def test_loaded_for_itself(host, loaded, settings):
    """The global scope has no LevelDB; the object that makes the policy finds the one that calls it."""
    prove([loaded, "custom", "preloaded", host.file], preload=settings.shared,
          environment=host.environment, filter_name="custom",
          control=[loaded, "custom", host.file, host.file])
