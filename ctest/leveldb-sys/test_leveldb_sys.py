"""The LevelDB that the crate leveldb-sys builds, linked statically after our archive, in a Rust program."""

import os

import pytest

from build import CTEST, run
from prover import prove


@pytest.mark.parametrize("flags, profile, folder", [("-frtti", "release", "release"),
                                                    ("-fno-rtti -fno-exceptions", "dev", "debug")],
                         ids=["rtti", "no-rtti"])
def test_program(flags, profile, folder, settings):
    target = settings.build / f"leveldb-sys-{profile}"
    environment = {name: value for name, value in os.environ.items() if name != "CARGO_BUILD_TARGET"}
    run(settings.cargo, "build", "--profile", profile, "--locked", "--manifest-path",
        CTEST / "leveldb-sys/Cargo.toml",
        env={**environment, "CARGO_TARGET_DIR": str(target), "CXXFLAGS": flags,
             "LEVELDB_BLOOM_LIBDIR": str(settings.archive.parent)})
    program = target / folder / "leveldb-sys-route"
    prove([program], ["append-cxx11", "callbacks"], ["active: leveldb_bloom (append-cxx11)"], policies=2,
          control=["true"], databases=False)
