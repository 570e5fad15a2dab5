"""Puts a package from its registry into a folder, unless this version is there, and checks that it is
the kind of host that the tests are about:

    fetch.py wheel FOLDER    PyPI's plyvel, for the Python that runs this
    fetch.py npm FOLDER      npm's leveldown and classic-level, with the binaries they carry
    fetch.py importable      status 0 if the Python that runs this can import that plyvel

Beside the wheel's LevelDB a link libleveldb.so is made, because its own name has a hash. Pythons that
are too new for a wheel get the last one that there is, whose LevelDB is like the others'.
"""

import glob
import os
import shutil
import subprocess
import sys

PLYVEL = "plyvel==1.5.1"
LAST_PYTHON = 3, 12
NPM = ["leveldown@6.1.1", "classic-level@1.4.1"]

# leveldb::DestroyDB with the copy-on-write string that libstdc++ had before C++11.
OLD_DESTROY_DB = "_ZN7leveldb9DestroyDBERKSsRKNS_7OptionsE"


def main():
    if sys.argv[1:] == ["importable"]:
        sys.exit(sys.version_info[:2] > LAST_PYTHON)
    kind, folder = sys.argv[1:]
    wanted = {"wheel": [PLYVEL, sys.implementation.cache_tag], "npm": NPM}[kind]
    if fetched(folder) != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        unfinished = folder + ".unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        os.makedirs(unfinished)
        {"wheel": fetch_wheel, "npm": fetch_npm}[kind](unfinished)
        with open(os.path.join(unfinished, "fetched"), "w") as file:
            file.write("\n".join(wanted))
        os.rename(unfinished, folder)
    for host in {"wheel": wheel_hosts, "npm": npm_hosts}[kind](folder):
        symbols = run("nm", "--dynamic", "--defined-only", host)
        if OLD_DESTROY_DB not in symbols.split():
            sys.exit(f"{host} is no LevelDB with the copy-on-write string")
        print(host, "has the copy-on-write string")


def fetched(folder):
    try:
        with open(os.path.join(folder, "fetched")) as file:
            return file.read().split("\n")
    except FileNotFoundError:
        return None


def fetch_wheel(folder):
    python = "{}.{}".format(*min(sys.version_info[:2], LAST_PYTHON))
    run(sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps",
        "--only-binary", ":all:", "--python-version", python, "--target", folder, PLYVEL)
    [host] = glob.glob(os.path.join(folder, "plyvel.libs", "libleveldb-*.so*"))
    os.symlink(os.path.basename(host), os.path.join(folder, "plyvel.libs", "libleveldb.so"))


def wheel_hosts(folder):
    return [os.path.join(folder, "plyvel.libs", "libleveldb.so")]


def fetch_npm(folder):
    # Without the packages' scripts: the binaries are in them, and none has to be built.
    run("npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund",
        "--no-update-notifier", *NPM)


def npm_hosts(folder):
    hosts = glob.glob(os.path.join(folder, "node_modules", "*", "prebuilds",
                                   "linux-x64", "*.glibc.node"))
    if len(hosts) != len(NPM):
        sys.exit(f"one of {NPM} has no binary for this machine: {hosts}")
    return hosts


def run(*command):
    """Its output, or the end with a word on why."""
    try:
        return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
    except FileNotFoundError:
        sys.exit(f"{command[0]} is not installed")
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(command)}: ended with status {error.returncode}\n{error.stdout}")


main()
