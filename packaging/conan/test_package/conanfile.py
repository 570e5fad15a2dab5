"""Builds and runs ctest/consumers/find_package against the package."""

import os

from conan import ConanFile
from conan.tools.cmake import CMake, cmake_layout


class LeveldbBloomTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain", "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        consumers = os.path.join(self.recipe_folder, "..", "..", "..", "ctest", "consumers")
        cmake = CMake(self)
        cmake.configure(build_script_folder=os.path.join(consumers, "find_package"))
        cmake.build()

    def test(self):
        CMake(self).ctest(["--output-on-failure", "--no-tests=error"])
