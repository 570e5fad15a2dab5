"""Both libraries loaded with RTLD_LOCAL by a program that links neither."""

import pytest

from build import CTEST
from prover import prove

ROUTES = CTEST / "routes"


@pytest.mark.parametrize("way, route", [("callbacks", "callbacks"), ("created", None),
                                        ("created-first", None), ("closed", None)])
def test_from_c(way, route, host, loaded, settings):
    prove([loaded, way, settings.shared, host.file], route or host.route,
          environment=host.environment, control=[loaded, "hosts-own", "none", host.file])


@pytest.mark.parametrize("way, route", [("ribbon", None), ("ribbon-callbacks", "callbacks")])
def test_ribbon_from_c(way, route, host, loaded, settings):
    """Policies that were made for it, whatever the environment says."""
    prove([loaded, way, settings.shared, host.file], route or host.route, encoding="ribbon",
          environment=host.environment, control=[loaded, "hosts-own", "none", host.file])


@pytest.mark.parametrize("way, route", [("callbacks", "callbacks"), ("created", None)])
def test_from_python(way, route, host, settings):
    program = [settings.python, ROUTES / "workload_ctypes.py"]
    prove([*program, way, settings.shared, host.file], route or host.route,
          environment=host.environment, control=[*program, "own", "none", host.file])


@pytest.mark.parametrize("other", ["wheel", "libcxx"])
def test_two_strings_in_one_process(other, loaded, host_named, settings):
    debian, other = host_named("debian"), host_named(other)
    prove([loaded, "two-hosts", settings.shared, debian.file, other.file],
          [debian.route, other.route], environment=other.environment,
          control=[loaded, "hosts-own", "none", debian.file, other.file])
