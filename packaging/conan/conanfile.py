"""Both libraries of the source tree this file lies in; see packaging/README.md."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class LeveldbBloom(ConanFile):
    name = "leveldb-bloom"
    description = "LevelDB's built-in bloom filter, byte for byte, as a drop-in replacement"
    license = "BSD-3-Clause"
    topics = ("leveldb", "bloom-filter")
    settings = "os", "arch", "compiler", "build_type"

    # From the recipe's folder in the sources to their top.
    top = os.path.join("..", "..")

    def set_version(self):
        manifest = load(self, os.path.join(self.recipe_folder, self.top, "Cargo.toml"))
        self.version = re.search(r'\[workspace\.package\]\nversion = "([0-9.]+)"', manifest)[1]

    def export_sources(self):
        copy(self, "*", os.path.join(self.recipe_folder, self.top), self.export_sources_folder,
             excludes=("target/*", "build*/*", ".git/*", "packaging/conan/test_package/build/*"))

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("the C library is for Linux")

    def package_id(self):
        # Rust's release build whatever the consumer is built with, behind a C interface.
        del self.info.settings.compiler
        del self.info.settings.build_type

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # Our own CMake package rather than a generated one: it has both libraries and the others
        # of our targets.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "leveldb_bloom")]
        self.cpp_info.set_property("pkg_config_name", "leveldb_bloom")
        self.cpp_info.libs = ["leveldb_bloom"]
        self.cpp_info.system_libs = ["pthread", "dl"]
