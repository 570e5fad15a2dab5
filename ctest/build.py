"""Commands, compilers and an installed copy, for all tests in Python."""

import contextlib
import fcntl
import os
import pathlib
import subprocess

CTEST = pathlib.Path(__file__).parent


def run(*command, **options):
    """What a command prints; it must succeed."""
    command = [str(part) for part in command]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    assert done.returncode == 0, f"{' '.join(command)}: status {done.returncode}\n{done.stdout}"
    return done.stdout


@contextlib.contextmanager
def locked(path):
    """For one process at a time: CTest runs several pytests beside each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make(output, command):
    """Runs `command -o output` if there is no output yet, or the command or a file in it has changed."""
    command = [str(part) for part in [*command, "-o", output]]
    inputs = [pathlib.Path(part) for part in command[:-1] if part.startswith("/")]
    inputs += [CTEST / "routes" / "program.h"]
    note = pathlib.Path(f"{output}.command")
    with locked(output):
        made = output.stat().st_mtime if output.exists() else 0
        if not note.exists() or note.read_text() != str(command) or \
                any(file.stat().st_mtime > made for file in inputs):
            print("$", *command)
            print(run(*command))
            note.write_text(str(command))
    return output


class Compiler:
    """Compilers that put what they make into the build folder, under a name."""

    def __init__(self, settings):
        self.settings, self.folder = settings, settings.build / "programs"

    def command(self, language):
        gnu = {"c": [self.settings.cc, "-std=gnu11"], "c++": [self.settings.cxx, "-std=gnu++17"]}
        clang = {"clang": ["clang", "-std=gnu11"],
                 "libc++": ["clang++", "-std=gnu++17", "-stdlib=libc++"]}
        return {**gnu, **clang}[language] + ["-O1", "-Wall", "-Wextra", "-Werror",
                                             f"-I{self.settings.include}"]

    def __call__(self, name, language, *arguments):
        return make(self.folder / name, [*self.command(language), *arguments])


def install(settings):
    """`cmake --install` under one prefix, and then moved: whatever remembers the prefix, or the build
    folder, fails."""
    target, stage = settings.build / "installed", settings.build / "installed-stage"
    with locked(target):
        run("rm", "-rf", target, stage)
        run("cmake", "--install", settings.build.parent, "--prefix", "/opt/leveldb_bloom",
            env={**os.environ, "DESTDIR": str(stage)})
        (stage / "opt" / "leveldb_bloom").rename(target)
    return target
