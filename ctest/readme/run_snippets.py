"""Runs every snippet of README.md and docs/*.md, as it stands there.

usage: run_snippets.py SOURCE_DIR WORK_DIR [FILE:LINE...]

Works in a copy of the sources in WORK_DIR. The snippet that installs does so under WORK_DIR/root
(DESTDIR), which the others then have in place of /usr/local. FILE:LINE... runs only the snippets
that begin there, with what an earlier run has installed.

  sh       in the copy's top folder. cc and c++ also run what they have linked. program.c,
           program.cc and your-program use LevelDB with a bloom policy, and fail unless it is ours
           that answers (ctest/consumers). For scripts/*.sh, which other tests run, the script and
           its options are looked up in its --help.
  c, cpp   the body of main, linked with LevelDB behind us
  cmake    in a CMakeLists.txt, which must define an executable called `program`; it is run
  rust     the body of main
  toml     of a Cargo.toml, in a folder beside a copy of this repository
  json, text   output; not run

A comment in front of a snippet gives what it leaves out: lines to put before or after it, or the
reason why it cannot be run.

  <!-- snippet
  before: leveldb_options_t *options = leveldb_options_create();
  after: assert(policy != NULL);
  skip: needs a LevelDB of your own
  -->
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED_FOLDERS = {".git", "target", "build"}
OUTPUT_ONLY = {"json", "text"}


class Failure(Exception):
    pass


class Snippet:
    def __init__(self, file, line, language, text, notes):
        self.file = file
        self.line = line
        self.language = language
        self.text = text
        self.notes = notes

    def note(self, key):
        return [value for name, value in self.notes if name == key]

    def whole(self, text=None):
        """The snippet with what is left out around it."""
        text = self.text if text is None else text
        return "\n".join([*self.note("before"), text, *self.note("after")]) + "\n"


def snippets_of(source, file):
    lines = (source / file).read_text().splitlines()
    notes, number = [], 0
    while number < len(lines):
        line = lines[number].strip()
        if line.startswith("<!-- snippet"):
            number += 1
            while lines[number].strip() != "-->":
                key, separator, value = lines[number].strip().partition(": ")
                if not separator or key not in ("before", "after", "skip"):
                    raise Failure(f"{file}:{number + 1}: not before:, after: or skip:")
                notes.append((key, value))
                number += 1
        elif line.startswith("```"):
            begin, language = number, line[3:].strip()
            indent = len(lines[number]) - len(lines[number].lstrip())
            while lines[number + 1].strip() != "```":
                number += 1
            text = "\n".join(text[indent:] for text in lines[begin + 1 : number + 1])
            yield Snippet(file, begin + 1, language, text, notes)
            notes = []
            number += 1
        elif line and notes:
            raise Failure(f"{file}:{number + 1}: a snippet's comment, and no snippet after it")
        number += 1


class Runner:
    def __init__(self, source, work):
        self.source = source
        self.work = work
        self.copy = work / "source"
        self.tree = work / "root/usr/local"
        self.programs = work / "bin"

    def run(self, command, cwd, **environment):
        result = subprocess.run(
            command, cwd=cwd, env=self.environment | environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode != 0:
            shown = command if isinstance(command, str) else " ".join(map(str, command))
            raise Failure(f"{shown}: {result.returncode}\n{result.stdout}")
        return result.stdout

    def prepare(self, again):
        if not again:
            shutil.rmtree(self.work, ignore_errors=True)
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.source, self.copy, symlinks=True, ignore=self.not_sources)
        consumers = self.copy / "ctest/consumers"
        for program in ("database.c", "database.cc"):
            suffix = Path(program).suffix
            shutil.copy(consumers / program, self.copy / f"program{suffix}")
        shutil.copy(consumers / "proof.h", self.copy)

        # Folders on the way to what is not installed yet.
        folders = {name: str(self.tree / name) for name in ("include", "lib", "lib/pkgconfig")}
        self.environment = os.environ | {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "DESTDIR": str(self.work / "root"),
            "CPATH": folders["include"],
            "LIBRARY_PATH": folders["lib"],
            "LD_LIBRARY_PATH": folders["lib"],
            "PKG_CONFIG_PATH": folders["lib/pkgconfig"],
            "CMAKE_PREFIX_PATH": str(self.tree),
        }
        # Whatever the caller tests with, these are a user's machine.
        for name in ("LD_PRELOAD", "LEVELDB_BLOOM_STATS", "CARGO_TARGET_DIR"):
            self.environment.pop(name, None)
        self.programs.mkdir(parents=True, exist_ok=True)
        for name in ("cc", "c++"):
            wrapper = self.programs / name
            wrapper.unlink(missing_ok=True)
            compiler = shutil.which(name)
            if compiler is None:
                raise Failure(f"{name} is not installed")
            wrapper.write_text(
                f'#!/bin/sh -e\nrm -f a.out\n{compiler} "$@"\n'
                # What is linked by the name of its archive must not be asked for as a library.
                'case "$*" in *-l:libleveldb.a*)\n'
                '  if readelf -d a.out | grep "NEEDED.*libleveldb[.]so"; then exit 1; fi ;;\nesac\n'
                'if [ -e a.out ]; then ./a.out; fi\n')
            wrapper.chmod(0o755)
        python = self.programs / "python3"
        python.unlink(missing_ok=True)
        # The one that has Debian's plyvel.
        python.symlink_to("/usr/bin/python3")

    def not_sources(self, folder, names):
        """What is built: in a build tree in the sources, this copy is too."""
        folder = Path(folder)
        return {name for name in names
                if folder == self.source and name in SKIPPED_FOLDERS
                or (folder / name / "CMakeCache.txt").exists()
                or (folder / name) in self.work.parents or (folder / name) == self.work}

    def sh(self, snippet):
        text = snippet.whole().replace("/usr/local/", f"{self.tree}/")
        lines = []
        for line in text.splitlines():
            words = line.split(" #")[0].split()
            if words and words[0].startswith("scripts/"):
                said = self.run([self.copy / words[0], "--help"], self.copy)
                for word in words[1:]:
                    if word.startswith("--") and word.partition("=")[0] not in said:
                        raise Failure(f"{words[0]} --help does not speak of {word}")
            else:
                lines.append(line)
        if "your-program" in text:
            self.your_program()
        # Fast to build, not to run.
        said = self.run(["sh", "-euc", "\n".join(lines)], self.copy,
                        **{"CARGO_PROFILE_RELEASE_LTO": "off", "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0"}
                        if "-p leveldb-bloom-inspector" in text else {})
        if "leveldb-bloom run " in text and "leveldb-bloom: our library answered: " not in said:
            raise Failure(f"another library answered\n{said}")
        return said

    def your_program(self):
        """A program with LevelDB that is not linked with us; what it asks for its proof has another
        answer, unless ours comes first."""
        (self.work / "none.c").write_text(
            'const char *leveldb_bloom_active(void) { return "original (not preloaded)"; }\n')
        stand_in = self.programs / "libnone.so"
        compiler = shutil.which("gcc")
        self.run([compiler, "-shared", "-fPIC", "-o", stand_in, "none.c"], self.work)
        self.run([compiler, "-o", self.programs / "your-program", "program.c", "-lleveldb", stand_in],
                 self.copy)

    def c(self, snippet):
        return self.compiled(snippet, "snippet.c", ["cc", "-std=c99"], ["assert.h", "string.h"])

    def cpp(self, snippet):
        return self.compiled(snippet, "snippet.cc", ["c++", "-std=c++17"], ["cassert", "memory"])

    def compiled(self, snippet, name, compiler, headers):
        lines = snippet.text.splitlines()
        includes = [line for line in lines if line.startswith("#include")]
        body = "\n".join(line for line in lines if line not in includes)
        folder = self.folder(snippet)
        includes = [f"#include <{header}>" for header in headers] + includes
        (folder / name).write_text(
            "\n".join(includes) + "\nint main(void) {\n" + snippet.whole(body) + "return 0;\n}\n")
        return self.run([*compiler, "-Wall", "-Wextra", "-Werror", name, "-lleveldb_bloom", "-lleveldb"],
                        folder)

    def cmake(self, snippet):
        folder = self.folder(snippet)
        consumers = self.copy / "ctest/consumers"
        shutil.copy(consumers / "database.cc", folder / "program.cc")
        shutil.copy(consumers / "proof.h", folder)
        shutil.copytree(consumers / "source", folder / "source")
        if "add_subdirectory(leveldb)" in snippet.text:
            (folder / "leveldb").symlink_to(self.leveldb())
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(readme LANGUAGES C CXX)\n"
            + snippet.whole())
        self.run(["cmake", "-S", ".", "-B", "build"], folder)
        self.run(["cmake", "--build", "build", "--parallel", str(os.cpu_count()),
                  "--target", "program"], folder)
        return self.run([folder / "build/program"], folder)

    def leveldb(self):
        """LevelDB's sources, which the crate leveldb-sys carries."""
        said = self.run(["cargo", "metadata", "--locked", "--format-version=1", "--manifest-path",
                         self.copy / "ctest/leveldb-sys/Cargo.toml"], self.copy)
        for package in json.loads(said[said.index("{\"packages\""):].splitlines()[0])["packages"]:
            if package["name"] == "leveldb-sys":
                return next(Path(package["manifest_path"]).parent.glob("deps/leveldb-*"))
        raise Failure("no leveldb-sys in ctest/leveldb-sys/Cargo.lock")

    def rust(self, snippet):
        folder = self.folder(snippet)
        (folder / "src").mkdir()
        (folder / "Cargo.toml").write_text(
            '[package]\nname = "readme"\nedition = "2024"\n\n[dependencies]\n'
            f'leveldb-bloom = {{ path = "{self.copy}" }}\n\n[workspace]\n')
        (folder / "src/main.rs").write_text(
            "fn main() -> Result<(), Box<dyn std::error::Error>> {\n"
            + snippet.whole() + "Ok(())\n}\n")
        shutil.copy(self.copy / "Cargo.lock", folder)
        return self.run(["cargo", "run", "--quiet", "--target-dir", self.work / "rust"], folder)

    def toml(self, snippet):
        folder = self.folder(snippet)
        beside = self.work / "leveldb-bloom"
        beside.unlink(missing_ok=True)
        beside.symlink_to(self.copy)
        (folder / "src").mkdir()
        (folder / "src/lib.rs").write_text("pub use leveldb_bloom::FilterPolicy;\n")
        (folder / "Cargo.toml").write_text(
            '[package]\nname = "readme"\nedition = "2024"\n\n' + snippet.whole() + "\n[workspace]\n")
        shutil.copy(self.copy / "Cargo.lock", folder)
        return self.run(["cargo", "check", "--quiet", "--target-dir", self.work / "rust"], folder)

    def folder(self, snippet):
        folder = self.work / f"{Path(snippet.file).stem}-{snippet.line}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder


def main():
    if len(sys.argv) < 3 or "--help" in sys.argv:
        print(__doc__)
        return 0 if "--help" in sys.argv else 2
    source, work = (Path(argument).resolve() for argument in sys.argv[1:3])
    only = set(sys.argv[3:])
    runner = Runner(source, work)
    ran, failed = 0, 0
    try:
        # README.md first: it installs.
        files = ["README.md", *sorted(f"docs/{path.name}" for path in source.glob("docs/*.md"))]
        snippets = [snippet for file in files for snippet in snippets_of(source, file)]
        runner.prepare(again=bool(only))
    except Failure as failure:
        print(failure)
        return 1
    for snippet in snippets:
        place = f"{snippet.file}:{snippet.line}"
        if only and place not in only:
            continue
        where = f"{place}: {snippet.language or 'no language'}"
        if snippet.language in OUTPUT_ONLY or snippet.note("skip"):
            print(f"{where}: not run; {' '.join(snippet.note('skip')) or 'output'}")
            continue
        run = getattr(runner, snippet.language, None)
        try:
            if snippet.language not in ("sh", "c", "cpp", "cmake", "python", "rust", "toml"):
                raise Failure("not a language that can be run here: text and json are for output, "
                              "and a comment with `skip:` says why another cannot be run")
            said = run(snippet)
            ran += 1
            print(f"{where}: ran")
            print("".join(f"    {line}\n" for line in said.splitlines()
                          if line.startswith(("active:", "stats:"))), end="")
        except Failure as failure:
            failed += 1
            print(f"{where}: FAILED\n{failure}")
    if ran == 0:
        print("no snippet was run")
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
