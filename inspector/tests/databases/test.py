"""The command `leveldb-bloom` on databases that others wrote, and on damaged copies of them:

    test.py COMMAND LIBRARY TOOLS WHEEL_PYTHONPATH NODE_MODULES [unittest's arguments]

COMMAND is the program, LIBRARY libleveldb_bloom.so, TOOLS the folder of the writers, in which everything is made.
scripts/test_inspector.sh calls it.
"""

import base64
import codecs
import collections
import concurrent.futures
import contextlib
import ctypes
import fcntl
import glob
import hashlib
import json
import math
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
import zlib

import tables

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
COMMAND, LIBRARY, TOOLS, WHEEL, MODULES = sys.argv[1:6]
# What runs beside others has a folder of its own.
WORK = os.path.join(TOOLS, re.sub(r"\W.*", "", (sys.argv[6:] or ["all"])[-1]))
POLICY = "leveldb.BuiltinBloomFilter2"
# PyPI has no plyvel for Pythons that are too new for it.
FETCH = os.path.join(ROOT, "ctest", "routes", "fetch.py")
HAS_WHEEL = subprocess.run(["/usr/bin/python3", FETCH, "importable"]).returncode == 0


def run(*args, check=True, **more):
    done = subprocess.run(args, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{args}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def command(*args, **more):
    """What the command says; it must end by itself, with a status of its own."""
    done = run(COMMAND, *map(str, args), check=False, timeout=60, **more)
    if done.returncode not in (0, 1, 2) or "panicked" in done.stderr:
        raise AssertionError(f"{args}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def inspect(*paths):
    done = command("inspect", "--json", *paths)
    return json.loads(done.stdout)


class Bloom:
    """Filters by the C library."""

    def __init__(self, bits_per_key=10, create="leveldb_bloom_policy_create"):
        self.c = ctypes.CDLL(LIBRARY)
        create = getattr(self.c, create)
        create.restype = ctypes.c_void_p
        self.c.leveldb_bloom_create_filter.restype = ctypes.POINTER(ctypes.c_char)
        self.c.leveldb_bloom_key_may_match.restype = ctypes.c_uint8
        self.policy = ctypes.c_void_p(create(bits_per_key))

    def create(self, keys):
        array = (ctypes.c_char_p * len(keys))(*keys)
        lengths = (ctypes.c_size_t * len(keys))(*map(len, keys))
        length = ctypes.c_size_t()
        filter_ = self.c.leveldb_bloom_create_filter(self.policy, array, lengths,
                                                     ctypes.c_size_t(len(keys)),
                                                     ctypes.byref(length))
        bytes_ = filter_[:length.value]
        self.c.leveldb_bloom_free(filter_)
        return bytes_

    def may_match(self, key, filter_):
        return self.c.leveldb_bloom_key_may_match(key, ctypes.c_size_t(len(key)), filter_,
                                                  ctypes.c_size_t(len(filter_))) != 0


def folder(name):
    path = os.path.join(WORK, name)
    # The tests make links as well, which rmtree leaves.
    if os.path.islink(path):
        os.remove(path)
    shutil.rmtree(path, ignore_errors=True)
    return path


def by_leveldb(name, keys, value_bytes, compression=0, bits_per_key=10, mode="plain"):
    path = folder(name)
    run(os.path.join(TOOLS, "writer"), path, str(keys), str(value_bytes), str(compression),
        str(bits_per_key), mode)
    return path


@contextlib.contextmanager
def of_somebody_else(name):
    """A database, the command, and what `run` needs to ask as a user whom permissions bind."""
    with tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o755)
        path = os.path.join(where, "database")
        shutil.copytree(by_leveldb(name, 200, 20), path)
        yield path, shutil.copy(COMMAND, where), {"user": 65534} if os.getuid() == 0 else {}


def by_plyvel(name, keys, value_bytes, python_path=None):
    path = folder(name)
    # The databases are what ours is compared with.
    program = ("import ctypes, plyvel, sys;"
               "assert not hasattr(ctypes.CDLL(None), 'leveldb_bloom_active'), 'ours is loaded';"
               "folder, keys, length = sys.argv[1], *map(int, sys.argv[2:]);"
               "db = plyvel.DB(folder, create_if_missing=True, bloom_filter_bits=10);"
               "[db.put(b'key%08d' % i, (b'%d' % (i * 7919) * length)[:length])"
               " for i in range(keys)]; db.compact_range(); db.close(); print(plyvel.__file__)")
    environment = dict(os.environ, PYTHONPATH=python_path or "")
    done = run("/usr/bin/python3", "-c", program, path, str(keys), str(value_bytes),
               env=environment)
    wanted = python_path or "/usr/lib/python3/dist-packages"
    assert done.stdout.startswith(wanted), f"another plyvel answered: {done.stdout}"
    return path


def by_goleveldb(name, keys, value_bytes, *base_lg_and_block_bytes):
    path = folder(name)
    run(os.path.join(TOOLS, "writer-go"), path, str(keys), str(value_bytes),
        *map(str, base_lg_and_block_bytes))
    return path


def by_classic_level(name, keys, value_bytes):
    path = folder(name)
    run("node", os.path.join(HERE, "writer.js"), MODULES, path, str(keys), str(value_bytes))
    return path


def exact_rate(filter_):
    """The share of all pairs of a first position and a step whose positions are all set."""
    size, probes = 8 * (len(filter_) - 1), filter_[-1]
    bits = int.from_bytes(filter_[:-1], "little")
    twice = bits | bits << size
    passed = 0
    for step in range(size):
        left = bits
        for i in range(1, probes):
            left &= twice >> i * step % size
        passed += bin(left).count("1")
    return passed / size ** 2


def leveldb_reads(path):
    """How many keys Debian's LevelDB finds in a copy of this database; `None` if it does not open."""
    copy = shutil.copytree(path, folder("read-by-leveldb"))
    program = "import plyvel, sys; print(sum(1 for _ in plyvel.DB(sys.argv[1])))"
    done = run("/usr/bin/python3", "-c", program, copy, check=False)
    if done.returncode == 0:
        return int(done.stdout)
    assert re.search(r"plyvel\._plyvel\.(Corruption|IO)Error", done.stderr), done.stderr
    return None


def leveldb_finds(path, key):
    """The value that Debian's LevelDB has for this key, in a copy of this database, as Python writes it;
    none where it cannot be read."""
    copy = shutil.copytree(path, folder("read-by-leveldb"))
    program = ("import plyvel, sys;"
               "print(plyvel.DB(sys.argv[1], bloom_filter_bits=10).get(sys.argv[2].encode()))")
    done = run("/usr/bin/python3", "-c", program, copy, key.decode(), check=False)
    assert done.returncode == 0 or "plyvel._plyvel." in done.stderr, done.stderr
    return done.stdout.strip() if done.returncode == 0 else None


def leveldb_gets(path, keys_, python_path=""):
    """Which of these keys a LevelDB finds in a copy of this database, mended by its own RepairDB where
    `python_path` is "repaired"; `None` where it stops. Debian's checks its assertions."""
    copy = shutil.copytree(path, folder("gets-of-leveldb"))
    program = ("import plyvel, sys;"
               "sys.argv[2] == 'repaired' and plyvel.repair_db(sys.argv[1]);"
               "db = plyvel.DB(sys.argv[1], bloom_filter_bits=10);"
               "print(*(key for key in sys.stdin.read().split() if db.get(key.encode()) is not None))")
    done = run("/usr/bin/python3", "-c", program, copy, python_path, check=False,
               input=b" ".join(keys_).decode(), env=dict(os.environ, PYTHONPATH=python_path))
    return {key.encode() for key in done.stdout.split()} if done.returncode == 0 else None


def table_of(path):
    """The one table that a database uses."""
    [found] = [table["path"] for table in inspect(path)["tables"] if not table["unused"]]
    return found


def read(path):
    with open(path, "rb") as file:
        return file.read()


def written(name, data):
    path = os.path.join(WORK, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


class Writers(unittest.TestCase):
    """Whoever wrote the database: all keys are there, none is lost."""

    def sound(self, path, keys, policy=POLICY):
        found = inspect(path)
        total, bloom = found["total"], found["total"]["bloom"]
        self.assertEqual(total["entries"], keys)
        self.assertEqual(bloom["keys_checked"], keys)
        self.assertEqual(bloom["keys_lost"], 0)
        self.assertEqual({table["policy"] for table in found["tables"]}, {policy})
        self.assertEqual(bloom["probes"], {"6": bloom["match_all"] + total["filters"]})
        self.assertLess(bloom["false_positive_rate_measured"],
                        2 * bloom["false_positive_rate_estimated"] + 0.005)
        self.assertGreater(bloom["absent_keys_asked"], 500)
        done = command("verify", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("no key is lost", done.stdout)
        return found

    def test_debian_plain(self):
        for value_bytes in (20, 100, 1000):
            found = self.sound(by_leveldb(f"plain-{value_bytes}", 5000, value_bytes), 5000)
            self.assertEqual(found["total"]["data_bytes"],
                             found["total"]["data_bytes_decompressed"]
                             + 5 * found["total"]["data_blocks"])

    def test_debian_snappy(self):
        for value_bytes in (20, 1000):
            found = self.sound(by_leveldb(f"snappy-{value_bytes}", 5000, value_bytes, 1), 5000)
            self.assertLess(found["total"]["data_bytes"],
                            found["total"]["data_bytes_decompressed"])

    def test_debian_plyvel(self):
        self.sound(by_plyvel("plyvel-debian", 5000, 100), 5000)

    @unittest.skipUnless(HAS_WHEEL, "PyPI has no wheel of plyvel for this Python")
    def test_pypi_plyvel(self):
        self.sound(by_plyvel("plyvel-pypi", 5000, 100, WHEEL), 5000)

    def test_classic_level(self):
        self.sound(by_classic_level("classic-level", 5000, 100), 5000)

    def test_goleveldb(self):
        path = by_goleveldb("goleveldb", 5000, 100)
        found = self.sound(path, 5000, "leveldb.BuiltinBloomFilter")
        [note] = [note for note in found["notes"] if note["topic"] == "other-name"]
        self.assertIn("ignores these", note["text"])

    def test_levels_and_deletions(self):
        path = by_leveldb("levels", 3000, 100, mode="levels")
        done = command("verify", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        found = inspect(path)
        self.assertGreater(found["total"]["deletions"], 0)
        # LevelDB was closed as it was compacting, and may leave a table that has no level.
        levels = [table["level"] for table in found["tables"]]
        self.assertTrue(any(isinstance(level, int) for level in levels), levels)

    def test_no_filters(self):
        path = by_leveldb("without", 1000, 100, bits_per_key=-1)
        found = inspect(path)
        self.assertIsNone(found["total"]["bloom"])
        self.assertEqual(found["total"]["entries"], 1000)
        self.assertIn("no-filters", [note["topic"] for note in found["notes"]])
        done = command("verify", path)
        self.assertEqual(done.returncode, 0)
        self.assertIn("There are no filters", done.stdout)
        self.assertIn("no filters", command("probe", path, "key00000007").stdout)

    def test_compressions(self):
        pairs = [(b"key%08d" % i, b"value" * 40) for i in range(1000)]
        blocks = [pairs[i:i + 40] for i in range(0, 1000, 40)]

        def zstd(contents):
            return subprocess.run(["zstd", "-q", "-c"], input=contents, check=True,
                                  stdout=subprocess.PIPE).stdout

        def deflate(contents):
            state = zlib.compressobj(wbits=-zlib.MAX_WBITS)
            return state.compress(contents) + state.flush()

        bloom = Bloom()
        # The last two as Minecraft's LevelDB has them.
        for name, number, compress in ("zstd", 2, zstd), ("zlib", 2, zlib.compress), (
                "deflate", 4, deflate):
            data = tables.write(blocks, bloom.create, compression=number, compress=compress)
            path = written(f"{name}/000005.ldb", data)
            self.assertEqual(command("verify", path).returncode, 0, name)
            self.assertEqual(inspect(path)["total"]["bloom"]["keys_checked"], 1000, name)
            self.assertEqual(inspect(path)["tables"][0]["compressions"], {name: 25})
            self.assertEqual(json.loads(command("verify", "--json", path).stdout)["tables"][0]["compressions"], [name])
        # Riak's LZ4, RocksDB's LZ4, and what nobody has: not damage, since the checksums are right.
        lz4 = lambda contents: struct.pack(">I", len(contents)) + b"\xf0" + contents[:15]
        for number, compress in (5, None), (2, lz4), (4, lambda _: b"\xf0\xff\xff\xff"):
            path = written(f"unknown-{number}/000005.ldb", tables.write(
                blocks, bloom.create, compression=number, **({"compress": compress} if compress else {})))
            done = command("verify", path)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(f"found {number}", done.stdout)
            self.assertNotRegex(done.stdout, "DAMAGED|LOST|no key is lost|checksums are right")
            found = inspect(path)
            self.assertEqual(found["tables"][0]["compressions"], {f"unknown {number}": 25})
            self.assertEqual(found["total"]["data_blocks_unread"], 25)
            self.assertIsNone(found["total"]["bloom"]["bits_per_key_spent"])
            text = command("inspect", path).stdout
            self.assertNotRegex(text, "Damage|all match|decompressed")
            self.assertRegex(text, rf"compression +unknown {number}\n")
            self.assertIn("none could be checked", text)


class Golden(unittest.TestCase):
    """What inspect says is what an independent reader and the C library find."""

    def test_figures(self):
        for value_bytes, bits_per_key in ((20, 10), (1000, 10), (100, 3), (100, 60)):
            path = by_leveldb("golden", 6000, value_bytes, bits_per_key=bits_per_key)
            bloom = Bloom(bits_per_key)
            expected = collections.Counter()
            keys_per_filter = []
            for file in glob.glob(os.path.join(path, "*.ldb")):
                table = tables.Table(read(file))
                self.assertEqual(table.policy, POLICY)
                filters, of_filters = table.filters(), table.keys_of_filters()
                expected["data_blocks"] += len(table.blocks)
                expected["slots"] += len(filters)
                expected["filter_block_bytes"] += table.filter[1] + tables.TRAILER
                for number, filter_ in enumerate(filters):
                    keys = of_filters.get(number, [])
                    if not keys:
                        self.assertEqual(filter_, b"")
                        expected["empty_slots"] += 1
                        continue
                    self.assertEqual(filter_, bloom.create(keys))
                    expected["filters"] += 1
                    expected["bits"] += 8 * (len(filter_) - 1)
                    expected["bits_set"] += sum(bin(byte).count("1") for byte in filter_[:-1])
                    keys_per_filter.append(len(keys))
            total = inspect(path)["total"]
            found = total["bloom"]
            for name in ("data_blocks", "slots", "empty_slots", "filters", "filter_block_bytes"):
                self.assertEqual(total[name], expected[name], name)
            for name in ("bits", "bits_set"):
                self.assertEqual(found[name], expected[name], name)
            keys = found["keys_per_filter"]
            self.assertEqual((keys["min"], keys["max"]),
                             (min(keys_per_filter), max(keys_per_filter)))
            self.assertIn(keys["median"], (statistics.median_low(keys_per_filter),
                                           statistics.median_high(keys_per_filter)))
            self.assertAlmostEqual(keys["mean"], statistics.mean(keys_per_filter))
            self.assertAlmostEqual(found["bits_per_key_spent"],
                                   8 * expected["filter_block_bytes"] / 6000)
            least, most = found["bits_per_key_set"]
            self.assertTrue(least <= bits_per_key <= most, (least, most))
            # The row of each table, by the keys that were read and not by those that its filters guess.
            rows = re.findall(r"^(\d+\.ldb) .*? ([\d,]+) +([\d,]+) +([\d,]+) +([\d.]+) +none +[\d.]+ %$",
                              command("inspect", path).stdout, re.MULTILINE)
            self.assertEqual(rows, [
                (os.path.basename(each["path"]), f"{each['data_blocks']:,}", f"{each['entries']:,}",
                 f"{each['filters']:,}", f"{each['bloom']['bits_per_key_spent']:.1f}".removesuffix(".0"))
                for each in inspect(path)["tables"]])

    def test_text_and_json_say_what_is_in_the_files(self):
        paths = []
        for compression in 0, 1:
            path = by_leveldb(f"in-the-files-{compression}", 6000, 1000, compression)
            paths.append(path)
            files = [read(file) for file in sorted(glob.glob(os.path.join(path, "*.ldb")))]
            self.assertGreater(len(files), 1 - compression)
            found = inspect(path)
            total, bloom = found["total"], found["total"]["bloom"]
            self.assertEqual(total["file_bytes"], sum(map(len, files)))
            self.assertEqual([each["file_bytes"] for each in found["tables"]], [*map(len, files)])
            for each in found["tables"]:
                self.assertEqual(os.path.basename(each["path"]), f"{each['number']:06}.ldb")
            footers = [file[-48:] for file in files]
            metaindexes = [tables.read_handle(footer) for footer in footers]
            indexes = [tables.read_handle(footer, at)[0] for footer, (_, at) in zip(footers, metaindexes)]
            self.assertEqual(total["index_bytes"], sum(size + tables.TRAILER for _, size in indexes))
            # Nothing else is in a file.
            named = sum(total[name] for name in ("data_bytes", "filter_block_bytes", "index_bytes"))
            others = sum(size + tables.TRAILER + 48 for (_, size), _ in metaindexes)
            self.assertEqual(named + others, total["file_bytes"])
            said = f"{total['file_bytes'] / (1 << 20):.1f} MiB, {total['data_blocks']:,} data blocks"
            self.assertIn(said, " ".join(command("verify", path).stdout.split()))
            checked = json.loads(command("verify", "--json", path).stdout)["tables"]
            for name in "data_blocks", "entries":
                self.assertEqual([each[name] for each in checked], [each[name] for each in found["tables"]])
            text = command("inspect", path).stdout

            def near(pattern, *expected):
                said = re.search(pattern, text).groups()
                for number, wanted in zip(said, expected, strict=True):
                    self.assertAlmostEqual(float(number), wanted, delta=0.06 * max(1, wanted / 50), msg=pattern)

            near(r"filter bytes .*, ([\d.]+) % of the", 100 * total["filter_block_bytes"] / total["file_bytes"])
            near(r"The filters take .*, ([\d.]+) % of", 100 * total["filter_block_bytes"] / total["file_bytes"])
            near(r"  fill +([\d.]+) % of", 100 * bloom["bits_set"] / bloom["bits"])
            near(r"positives +([\d.]+) % estimated", 100 * bloom["false_positive_rate_estimated"])
            # Between keys that are numbered one by one there are none.
            near(r"measured +random absent keys ([\d.]+) %\n", 100 * bloom["false_positive_rate_measured"])
            self.assertEqual((bloom["false_positive_rate_neighbours"], bloom["neighbours_asked"]), (None, 0))
            [how] = re.findall(r"^  compression +(.*)$", text, re.MULTILINE)
            self.assertEqual(how, "snappy" if compression else "none")

            def blocks_are(total):
                said = re.findall(r"([\d.]+) (B|KiB) (on average|decompressed)", text)
                of = {"on average": "data_bytes", "decompressed": "data_bytes_decompressed"}
                for number, unit, what in said:
                    mean = total[of[what]] / total["data_blocks"]
                    self.assertAlmostEqual(float(number) * (1024 if unit == "KiB" else 1), mean, delta=60, msg=what)
                return len(said)

            self.assertEqual(blocks_are(total), 1 + compression)
            levels = collections.Counter(each["level"] for each in found["tables"])
            self.assertIn("(" + ", ".join(f"{n} in level {level}" for level, n in sorted(levels.items())) + ")", text)
            rows = re.findall(r"^\d+\.ldb .* (\w+) +([\d.]+) %$", text, re.MULTILINE)
            for row, each in zip(rows, found["tables"], strict=True):
                self.assertEqual((row[0], {row[0]: each["data_blocks"]}), (how, each["compressions"]))
                self.assertAlmostEqual(float(row[1]), 100 * each["bloom"]["false_positive_rate_measured"],
                                       delta=0.006)
        # Blocks of which some are compressed.
        text = command("inspect", *paths).stdout
        self.assertEqual(blocks_are(inspect(*paths)["total"]), 2)
        self.assertRegex(text, r"\n  compression +none \([\d,]+\), snappy \([\d,]+\)\n")
        # Filters that are a larger share.
        small = by_leveldb("in-the-files-small", 6000, 20)
        text, total = command("inspect", small).stdout, inspect(small)["total"]
        near(r"filter bytes .*, ([\d.]+) % of the", 100 * total["filter_block_bytes"] / total["file_bytes"])
        near(r"The filters take .*, ([\d.]+) % of", 100 * total["filter_block_bytes"] / total["file_bytes"])
        without = by_leveldb("in-the-files-without", 500, 20, bits_per_key=-1)
        self.assertIn("6,500 entries read, 6,000 of them checked",
                      " ".join(command("verify", path, without).stdout.split()))

    def test_deletions_are_those_of_all_tables(self):
        def of(keys_, deleted):
            return table(keys_, stored_as=lambda key: tables.internal(key, kind=int(key not in deleted)))

        all_ = keys(0, 300)
        path = database("deletions", *[(1, 5 + i, of(all_[at:at + 100], all_[at:at + n]), all_[at], all_[at + 99])
                                       for i, (at, n) in enumerate(((0, 40), (100, 0), (200, 7)))])
        for key, what in (all_[0], "a deletion"), (all_[40], "a value of "):
            self.assertIn(f"  found: the block holds {what}", command("probe", path, key.decode()).stdout)
        # One that is not in use counts nowhere.
        written(os.path.join(path, "000009.ldb"), of(all_[:50], all_[:50]))
        found = inspect(path)
        self.assertEqual([each["deletions"] for each in found["tables"]], [40, 0, 7, 50])
        self.assertEqual((found["total"]["entries"], found["total"]["deletions"]), (300, 47))
        self.assertRegex(command("inspect", path).stdout, r"\n  entries +300, 47 of them deletions\n")
        quick = json.loads(command("inspect", "--quick", "--json", path).stdout)
        self.assertEqual({each["deletions"] for each in quick["tables"] + [quick["total"]]}, {None})

    def test_whether_keys_are_in_the_order_of_their_bytes(self):
        path = by_leveldb("byte-order", 2000, 100), by_leveldb("byte-order-reversed", 2000, 100, mode="reverse")
        for way, expected in ((), [True, False]), (("--quick",), [None, None]):
            found = json.loads(command("inspect", "--json", *way, *map(table_of, path)).stdout)["tables"]
            self.assertEqual([each["keys_in_byte_order"] for each in found], expected)

    def test_kinds_of_policies(self):
        kinds = {"leveldb.BuiltinBloomFilter2": "leveldb", "leveldb.BuiltinBloomFilter": "other name, same bits",
                 "leveldb.BuiltinBloomFilter3": "own", "my.Policy": "own"}
        paths = [written(f"kinds-of-policies/{number:06}.ldb", table(keys(0, 100), policy=policy))
                 for number, policy in enumerate(kinds, 5)]
        paths.append(written("kinds-of-policies/000009.ldb", b"no table"))
        found = inspect(*paths, table_of(by_leveldb("kind-of-none", 100, 20, bits_per_key=-1)))["tables"]
        self.assertEqual([(each["policy"], each["policy_kind"]) for each in found],
                         [*kinds.items(), (None, None), (None, None)])

    def test_rate_measured_as_by_the_c_library(self):
        path = table_of(by_leveldb("golden-rate", 3000, 100))
        table, bloom = tables.Table(read(path)), Bloom()
        picked = random.Random(1)
        asked = yes = 0
        for number, keys in table.keys_of_filters().items():
            filter_ = table.filters()[number]
            for _ in range(200):
                key = b"key%08d" % picked.randrange(3000, 10**8)
                asked += 1
                yes += bloom.may_match(key, filter_)
        measured = inspect(path)["total"]["bloom"]["false_positive_rate_measured"]
        self.assertAlmostEqual(measured, yes / asked, delta=0.003)
        # Of filters that are nearly as large as each other it is that of all keys.
        passed, asked = (inspect(path)["total"]["bloom"][f"absent_keys_{what}"] for what in ("passed", "asked"))
        self.assertAlmostEqual(measured, passed / asked, delta=0.0005)

    def test_rates_have_the_weights_of_their_filters(self):
        # As after a change of the setting: one table with most of the filters' bytes, one with few.
        some = sorted(hashlib.sha256(key).hexdigest().encode() for key in keys(0, 20_400))
        first, second = some[:20_000], some[20_000:]
        data = table(first, Bloom(16).create), table(second, Bloom(4).create)
        both = database("rates-both", (1, 5, data[0], first[0], first[-1]),
                        (1, 6, data[1], second[0], second[-1]))
        each = [database(f"rates-{i}", (1, 5, data[i], keys_[0], keys_[-1]))
                for i, keys_ in enumerate((first, second))]
        of_each = [(exact_rate(filter_), len(filter_)) for one in data
                   for filter_ in tables.Table(one).filters() if filter_]
        exact = sum(rate * weight for rate, weight in of_each) / sum(weight for _, weight in of_each)
        self.assertLess(exact, 0.01)
        for paths in [both], each:
            found = inspect(*paths)
            bloom = found["total"]["bloom"]
            measured = bloom["false_positive_rate_measured"]
            # By the exact rate of uniform positions, which no filter has to a half.
            self.assertAlmostEqual(measured / exact, 1, delta=0.5)
            self.assertAlmostEqual(bloom["false_positive_rate_estimated"] / exact, 1, delta=0.5)
            blooms = [one["bloom"] for one in found["tables"]]
            self.assertAlmostEqual(measured, sum(
                one["false_positive_rate_measured"] * one["bytes"] for one in blooms) / bloom["bytes"])
            self.assertGreater(blooms[1]["false_positive_rate_measured"], 0.1)
            self.assertNotIn("rate", [note["topic"] for note in found["notes"]])

    def test_of_many_tables_each_is_asked(self):
        # 700 of them, with keys that have much between them: more than a million in all, as --help says.
        apart = [[b"key%08d" % (i * 10**6 + j * 9973) for j in range(60)] for i in range(700)]
        path = database("asked-each", *[(1, 10 + i, table(keys_), keys_[0], keys_[-1])
                                        for i, keys_ in enumerate(apart)])
        found = inspect(path)
        asked = [table_["bloom"]["absent_keys_asked"] for table_ in found["tables"]]
        self.assertTrue(1000 < min(asked) <= max(asked) < 2100, (min(asked), max(asked)))
        self.assertGreater(found["total"]["bloom"]["absent_keys_asked"], 10**6)
        self.assertIn("from each table 2,000 to 200,000", " ".join(command("inspect", "--help").stdout.split()))

    def test_an_absent_key_is_asked_once(self):
        # Of ten keys that differ in their last byte, one to a filter, there are nine others.
        pairs = [(b"settings/%d" % i, b"v" * 10_000) for i in range(10)]
        path = written("ten-keys/000005.ldb", tables.write([[pair] for pair in pairs], Bloom().create))
        bloom = inspect(path)["total"]["bloom"]
        self.assertEqual(bloom["keys_checked"], 10)
        # Those before a key were not seen yet.
        self.assertTrue(60 < bloom["absent_keys_asked"] <= 10 * 9, bloom)

    def test_histograms(self):
        paths = [by_leveldb(f"histograms-{value_bytes}", keys_, value_bytes)
                 for keys_, value_bytes in ((3000, 20), (1000, 300), (300, 1200))]
        fill, of_keys, rates, weight = [0] * 20, collections.Counter(), 0, 0
        for file in (file for path in paths for file in glob.glob(os.path.join(path, "*.ldb"))):
            table_ = tables.Table(read(file))
            of_filters = table_.keys_of_filters()
            for number, filter_ in enumerate(table_.filters()):
                of_keys[len(of_filters.get(number, []))] += bool(filter_)
                if filter_:
                    share = sum(bin(byte).count("1") for byte in filter_[:-1]) / (
                        8 * (len(filter_) - 1))
                    fill[min(int(share * 20), 19)] += 1
                    rates += exact_rate(filter_) * len(filter_)
                    weight += len(filter_)
        of_keys = +of_keys
        least, most = min(of_keys), max(of_keys)
        width = (most - least) // 12 + 1
        ranges = [(first, first + width - 1) for first in range(least, most + 1, width)]
        by_keys = [sum(of_keys[n] for n in range(first, last + 1)) for first, last in ranges]
        # Bars of many lengths, and a gap between them.
        self.assertGreater(len(set(fill)), 4)
        self.assertGreater(len(set(by_keys)), 3)
        self.assertIn(0, by_keys)

        page = os.path.join(WORK, "histograms.html")
        done = command("inspect", "--json", "--html", page, *paths)
        bloom = json.loads(done.stdout)["total"]["bloom"]
        self.assertEqual(bloom["fill_histogram"], fill)
        self.assertEqual(bloom["probes"], {"6": sum(fill)})
        self.assertEqual([(row["from"], row["to"], row["filters"])
                          for row in bloom["keys_per_filter"]["histogram"]],
                         [(*range_, n) for range_, n in zip(ranges, by_keys)])
        # Estimated from how many bits are set, whichever they are.
        estimated = bloom["false_positive_rate_estimated"]
        self.assertAlmostEqual(estimated / (rates / weight), 1, delta=0.05)
        # Keys that differ by a digit or two are no random ones.
        self.assertAlmostEqual(bloom["false_positive_rate_measured"] / (rates / weight), 1, delta=0.2)

        steps = [i for i, n in enumerate(fill) if n]
        rows = {
            "Filters by fill": [(f"{5 * i}-{5 * i + 5} %", fill[i])
                                for i in range(steps[0], steps[-1] + 1)],
            "Filters by keys": [(f"{first}-{last}", n) for (first, last), n in zip(ranges, by_keys)],
        }
        html = read(page).decode()
        for title, expected in rows.items():
            tallest = max(n for _, n in expected)
            [plot] = re.findall(rf"<h3>{title}</h3>(.*?)</svg>", html, re.DOTALL)
            bars = re.findall(r'height="([\d.]+)"[^>]*><title>(.*?): ([\d,]+)</title>', plot)
            self.assertEqual([(label, int(n.replace(",", ""))) for _, label, n in bars], expected)
            for tall, label, n in bars:
                self.assertAlmostEqual(float(tall), 188 * int(n.replace(",", "")) / tallest,
                                       delta=0.1, msg=label)
        # Without data nobody knows how many keys there are.
        command("inspect", "--quick", "--html", page, *paths)
        quick = read(page).decode()
        self.assertIn("Filters by fill", quick)
        self.assertNotIn("Filters by keys", quick)

    def test_probe(self):
        path = by_leveldb("golden-probe", 3000, 100)
        table, bloom = tables.Table(read(table_of(path))), Bloom()
        filters, seen = table.filters(), set()
        for number in range(0, 3100, 50):
            key = b"key%08d" % number + (b"absent" if number % 100 else b"")
            ways = ([key.decode()], [key.hex(), "--hex"],
                    [base64.b64encode(key).decode().rstrip("="), "--base64"])
            found = [json.loads(command("probe", "--json", path, *way).stdout) for way in ways]
            self.assertEqual(found[0], found[1])
            self.assertEqual(found[0], found[2])
            self.assertEqual(found[0]["key_hex"], key.hex())
            self.assertEqual(found[0]["hash"], tables.bloom_hash(key))
            for step in (step for visit in found[0]["tables"] for step in visit["blocks"]):
                filter_ = filters[step["data_block"] >> tables.BASE_LG]
                bits = [filter_[at // 8] >> at % 8 & 1 for at in step["filter"]["positions"]]
                self.assertEqual(bits, step["filter"]["bits_found"])
                self.assertEqual(step["filter"]["positions"], tables.positions(found[0]["hash"], filter_))
                self.assertEqual(len(bits), 6)
                self.assertEqual(step["filter"]["maybe"], all(bits))
                self.assertEqual(step["filter"]["maybe"], bloom.may_match(key, filter_))
                self.assertEqual(step["read"], step["filter"]["maybe"])
                seen.add(step["read"])
                self.assertIn((step["data_block"], step["data_block_bytes"]), table.blocks)
            entries = [step["entry"] for visit in found[0]["tables"] for step in visit["blocks"]]
            self.assertLessEqual({(entry["value_bytes"], entry["deletion"]) for entry in entries if entry},
                                 {(100, False)})
            self.assertEqual(any(entries), number % 100 == 0 and number < 3000)
            if number % 500 == 0:
                said = re.findall(r"data block at byte ([\d,]+), ([\d,]+) bytes", command("probe", path, *ways[0]).stdout)
                self.assertEqual(said, [(f"{step['data_block']:,}", f"{step['data_block_bytes']:,}")
                                        for visit in found[0]["tables"] for step in visit["blocks"]])
        self.assertEqual(seen, {False, True})
        # What no filter is asked for is read.
        without = by_leveldb("golden-probe-without", 300, 100, bits_per_key=-1)
        for key in "key00000007", "key00000007x":
            [step] = json.loads(command("probe", "--json", without, key).stdout)["tables"][0]["blocks"]
            self.assertEqual((step["filter"], step["read"]), (None, True))

    def test_probe_of_a_filter_that_matches_everything(self):
        for probes in 0, 31, 255:
            path = written("golden-probe-of-all/000005.ldb", table(
                keys(0, 20), lambda of, last=bytes([probes]): Bloom().create(of)[:-1] + last))
            [step] = json.loads(command("probe", "--json", path, "absent").stdout)["tables"][0]["blocks"]
            found = [step["filter"][name] for name in ("probes", "positions", "bits_found", "maybe")]
            self.assertEqual(found, [probes, [], [], True])

    def test_probe_of_any_bytes(self):
        wanted = [b"\xff\xfe\x00", b"\xff\xfe", b"\xfb\xef\xbe\xff", b"-", b"--hex", b"", b"hex:6b"]
        path = written("any-bytes/000005.ldb", table(sorted(wanted)))
        for key in wanted:
            ways = [[key.hex(), "--hex"], [f"0x{key.hex()}", "--hex"], [f"hex:{key.hex()}", "--hex"],
                    [base64.b64encode(key), "--base64"], [base64.urlsafe_b64encode(key), "--base64"]]
            if b"\0" not in key:
                ways.append(["--", key])
            for way in ways:
                done = subprocess.run([COMMAND, "probe", "--json", path, *way], check=False,
                                      stdout=subprocess.PIPE, timeout=60)
                found = json.loads(done.stdout)
                self.assertEqual((done.returncode, found["key_hex"]), (0, key.hex()), way)
                self.assertIsNotNone(found["tables"][0]["blocks"][0]["entry"], way)
        for way in (["6b6", "--hex"], ["6g", "--hex"], [b"\xff", "--hex"], ["!!", "--base64"],
                    [b"\xff", "--base64"]):
            done = subprocess.run([COMMAND, "probe", path, *way], check=False, stderr=subprocess.PIPE,
                                  timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"KEY: expected", done.stderr)

    def test_quick_estimates(self):
        path = by_leveldb("golden-quick", 20000, 20)
        found = json.loads(command("inspect", "--quick", "--json", path).stdout)["total"]
        for of_data in found["entries"], found["bloom"]["keys_checked"], found["bloom"]["keys_lost"]:
            self.assertIsNone(of_data)
        self.assertAlmostEqual(found["bloom"]["estimated_keys"], 20000, delta=1000)


def cost(*paths):
    """What the one note on bits spent says."""
    [note] = [note for note in inspect(*paths)["notes"] if note["topic"] == "cost"]
    return note["text"]


def lose(path):
    """Clears a bit of a filter and makes its checksum right: only the filter is wrong. Returns
    the keys that the C library says are lost."""
    data = read(path)
    table, bloom = tables.Table(data), Bloom()
    offset, size = table.filter
    keys = table.keys_of_filters()[0]
    # The first byte of filter 0 with a bit in it.
    at = next(at for at in range(offset, offset + size) if data[at])
    data = data[:at] + bytes([data[at] & data[at] - 1]) + data[at + 1:]
    data = tables.with_checksum(data, table.filter)
    with open(path, "wb") as file:
        file.write(data)
    filter_ = tables.Table(data).filters()[0]
    return [key.decode() for key in keys if not bloom.may_match(key, filter_)]


class LostKeys(unittest.TestCase):
    def test_they_are_named(self):
        path = by_leveldb("lost", 3000, 100)
        self.assertEqual(command("verify", path).returncode, 0)
        lost = lose(table_of(path))
        self.assertGreater(len(lost), 0)
        done = command("verify", path)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(re.findall(r'LOST KEY "(\w+)"', done.stdout), lost)
        found = json.loads(command("verify", "--json", path).stdout)
        self.assertFalse(found["sound"])
        self.assertEqual([key["key_hex"] for key in found["tables"][0]["lost"]],
                         [key.encode().hex() for key in lost])
        # Each where it is in the file.
        one, at = tables.Table(read(table_of(path))), {}
        for handle in one.blocks:
            for key, _ in tables.entries(one.block(handle)):
                tag = int.from_bytes(key[-8:], "little")
                at[key[:-8].hex()] = (tag >> 8, tag & 1 == 0, handle[0], handle[0] >> tables.BASE_LG)
        for key in found["tables"][0]["lost"]:
            self.assertEqual(at[key["key_hex"]], tuple(key[name] for name in ("sequence", "deletion", "data_block", "filter")))
        self.assertEqual(command("inspect", path).returncode, 1)
        self.assertIn("lost-keys", [note["topic"] for note in inspect(path)["notes"]])
        done = command("probe", path, lost[0])
        self.assertEqual(done.returncode, 1)
        self.assertIn("LOST", done.stdout)

    def test_a_filter_for_part_of_the_key(self):
        own = by_leveldb("suffix", 2000, 100, mode="suffix")
        done = command("verify", own)
        self.assertEqual(done.returncode, 0)
        # Its program asks by what it wrapped around the policy: nothing is lost.
        self.assertNotIn("LOST", done.stdout)
        self.assertIn("no key is lost", done.stdout)
        text = command("inspect", own).stdout
        self.assertNotRegex(text, "DO NOT match|all match")
        how = "match their filters by the key without its last 8 bytes"
        self.assertIn(how, text)
        # Of two such databases one with filters for the whole key.
        self.assertRegex(command("inspect", own, by_leveldb("whole-keys", 200, 20)).stdout,
                         "keys +match their filters in 1 table by the key without its last 8 bytes")
        path = database("own-order", (1, 5, read(table_of(own)), b"key00000000@00000000",
                                      b"key00001999@00000009"), comparator=b"test.WithoutTime")
        [note] = [note for note in inspect(path)["notes"] if note["topic"] == "comparator"]
        self.assertIn("match their filters here by the key without its last 8 bytes, and not as they "
                      "are stored.", note["text"])
        [note] = [note for note in inspect(own)["notes"] if note["topic"] == "own-policy"]
        self.assertIn("test.WithoutTime", note["text"])
        self.assertIn("without its last 8 bytes", note["text"])
        misnamed = by_leveldb("misnamed", 2000, 100, mode="misnamed")
        done = command("verify", misnamed)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the key without its last 8 bytes", done.stdout)
        for limit, way in ((20, ()), (3, ("--limit", "3")), (0, ("--limit", "0"))):
            done = command("verify", *way, misnamed)
            self.assertEqual(done.stdout.count("LOST KEY"), limit)
            self.assertRegex(done.stdout, r": [\d,]+ keys lost in all\n")
            found = json.loads(command("verify", "--json", *way, misnamed).stdout)["tables"]
            self.assertEqual([len(table_["lost"]) for table_ in found], [limit])
            self.assertGreater(found[0]["keys_lost"], 1900)
        [note] = [note for note in inspect(misnamed)["notes"] if note["topic"] == "lost-keys"]
        self.assertIn("without its last 8 bytes", note["text"])

    def test_a_comparator(self):
        path = by_leveldb("reverse", 2000, 100, mode="reverse")
        self.assertEqual(command("verify", path).returncode, 0)
        found = inspect(path)
        self.assertEqual(found["databases"][0]["comparator"], "test.Reversed")
        self.assertIn("comparator", [note["topic"] for note in found["notes"]])
        self.assertIn("found: ", command("probe", path, "key00000007").stdout)
        [probed] = json.loads(command("probe", "--json", path, "absent").stdout)["tables"]
        noes = probed["other_filters_that_say_no"]
        self.assertGreater(noes, 40)
        self.assertIn(f"  {noes} filters say no\n", command("probe", path, "absent").stdout)
        self.assertEqual((noes + len(probed["blocks"]), probed["other_blocks_read"]),
                         (found["total"]["data_blocks"], 0))
        # Its table alone, without the MANIFEST that names the comparator.
        alone = written("reverse-alone/000005.ldb", read(table_of(path)))
        self.assertIn("comparator", [note["topic"] for note in inspect(alone)["notes"]])

    def test_a_filter_of_several_blocks_is_asked_once(self):
        path = database("several-blocks", (1, 5, table(keys(0, 1000), each=5), b"key00000000", b"key00000999"),
                        comparator=b"test.Own")
        total, several = inspect(path)["total"], 0
        self.assertGreater(total["data_blocks"], 3 * total["filters"])
        for number in range(100):
            key = f"absent{number}"
            [probed] = json.loads(command("probe", "--json", path, key).stdout)["tables"]
            noes, listed = probed["other_filters_that_say_no"], len(probed["blocks"])
            filters = {step["filter"]["number"] for step in probed["blocks"]}
            several += listed - len(filters)
            self.assertEqual(noes + len(filters), total["filters"])
            text = " ".join(command("probe", path, key).stdout.split())
            self.assertRegex(text, f" {total['filters']} filters are queried, {noes} say no; {listed} data block")
        self.assertGreater(several, 0)

    def test_a_comparator_without_filters(self):
        path = by_leveldb("reverse-without", 2000, 100, bits_per_key=-1, mode="reverse")
        blocks = inspect(path)["total"]["data_blocks"]
        for key, blocks_before in (("key00000007", range(1, blocks)), ("absent", [blocks])):
            found = json.loads(command("probe", "--json", path, key).stdout)["tables"][0]
            self.assertIn(found["other_blocks_read"], blocks_before)
            self.assertEqual(len(found["blocks"]), int(key != "absent"))
            text = " ".join(command("probe", path, key).stdout.split())
            self.assertIn("or that have no filter", text)
            self.assertIn(f"{found['other_blocks_read']} data blocks read that have no filter", text)
            self.assertIn(f"{found['other_blocks_read'] + (key != 'absent')} data blocks are read", text)
            self.assertEqual(text.count("data block at byte"), int(key != "absent"))

    def test_a_comparator_that_no_manifest_names(self):
        path = by_leveldb("reverse-copied", 2000, 100, mode="reverse")
        # Of one block, the index has one key.
        few = by_leveldb("reverse-few", 20, 20, mode="reverse")
        folder("copied")
        folder("copied-few")
        os.makedirs(os.path.join(WORK, "copied"))
        os.makedirs(os.path.join(WORK, "copied-few"))
        shutil.copy(table_of(path), os.path.join(WORK, "copied"))
        shutil.copy(table_of(few), os.path.join(WORK, "copied-few"))
        for name in "copied", "copied-few":
            for number in range(0, 20, 3):
                text = command("probe", os.path.join(WORK, name), f"key{number:08}").stdout
                self.assertIn("found: ", text, name)
                self.assertIn("No MANIFEST names the comparator, and keys are not",
                              " ".join(text.split()))
        # Keys in the order of their bytes prove little.
        plain = written("copied-plain/000005.ldb", read(table_of(by_leveldb("copied-of", 2000, 100))))
        self.assertNotIn("comparator", command("probe", plain, "key00000007").stdout)
        self.assertIn("No MANIFEST names", command("probe", plain, "key00000007x").stdout)

    def test_blocks_that_hold_few_keys(self):
        # Compressed, most of the cost is the minimum of 64 bits; as they are, that of the offsets.
        text = cost(by_leveldb("few", 2000, 1200, 1))
        self.assertRegex(text, r"bits per key cost you 27.* hold only 4 keys.* `leveldb-bloom advise`")
        plain = by_leveldb("few-plain", 2000, 800)
        self.assertRegex(cost(plain), r" 6 keys")
        for path in plain, os.path.join(WORK, "few"):
            text, total = cost(path), inspect(path)["total"]
            bits = {r"a filter has at least 64 bits, ([\d.]+) per key": 64 * total["filters"],
                    r"the last byte takes ([\d.]+)": 8 * total["filters"],
                    r"without a filter, take ([\d.]+)\.": 32 * total["slots"]}
            for pattern, bits_ in bits.items():
                [said] = re.findall(pattern, text)
                self.assertAlmostEqual(float(said), bits_ / 2000, delta=0.051)
            [share] = re.findall(r"([\d.]+) % of them without a filter", text)
            self.assertAlmostEqual(float(share), 100 * total["empty_slots"] / total["slots"], delta=0.06)
        many = by_leveldb("many", 2000, 20)
        self.assertNotIn("cost", [note["topic"] for note in inspect(many)["notes"]])

    def test_filters_for_another_number_of_bytes(self):
        # With small slots the offsets cost most, with slots of more than a block the minimum.
        small = by_goleveldb("base-9", 2000, 100, 9, 4096)
        text = cost(small)
        self.assertRegex(text, r"because blocks hold .* each 512 B of blocks")
        rows = json.loads(command("advise", "--json", small).stdout)["advice"]["rows"]
        [row] = [row for row in rows if row["present"]]
        spent = inspect(small)["total"]["bloom"]["bits_per_key_spent"]
        self.assertLess(abs(row["bits_per_key_spent"] / spent - 1), 0.015)
        best = inspect(by_goleveldb("base-9-best", 2000, 100, 9, 256 << 10))
        self.assertAlmostEqual(best["total"]["bloom"]["bits_per_key_spent"], 17.1, delta=0.1)

        large = by_goleveldb("base-13", 2000, 5000, 13, 4096)
        text = cost(large)
        self.assertRegex(text, r"because 8 KiB of blocks hold only 1\.6 .* each 8 KiB of blocks")
        self.assertIn("each 512 B to 8 KiB of blocks", cost(small, large))


class Ribbon(unittest.TestCase):
    """Ribbon filters, alone and among LevelDB's own."""

    PROGRAM = """if True:
        import plyvel, sys
        db = plyvel.DB(sys.argv[1], create_if_missing=True, bloom_filter_bits=10, compression=None)
        for i in map(int, sys.argv[2:]): db.put(b"key%08d" % i, b"%d" % (i * 7919) * 12)
        db.compact_range(start=b"k", stop=b"l")
        db.close()"""

    def written(self, path, numbers, encoding):
        run("/usr/bin/python3", "-c", self.PROGRAM, path, *map(str, numbers),
            env={**os.environ, "LD_PRELOAD": LIBRARY, "LEVELDB_BLOOM_ENCODING": encoding})

    def last_bytes(self, found):
        """Those of the filters that are in use, read from the files."""
        of_tables = [tables.Table(read(each["path"])).filters() for each in found["tables"] if not each["unused"]]
        return [[filter_[-1] for filter_ in filters if filter_] for filters in of_tables]

    def test_a_database_in_the_middle_of_its_change(self):
        path = folder("ribbon-changing")
        self.written(path, range(5000), "bloom")
        self.written(path, range(5000, 8000), "ribbon")
        # A compaction alone changes nothing where nothing lies above.
        self.written(path, [], "ribbon")
        found = inspect(path)
        last = self.last_bytes(found)
        kinds = collections.Counter("ribbon" if byte > 30 else "bloom" for byte in sum(last, []))
        in_tables = collections.Counter(
            kind for each in last for kind in {"ribbon" if byte > 30 else "bloom" for byte in each})
        self.assertEqual(len(kinds), 2)
        bloom = found["total"]["bloom"]
        self.assertEqual(bloom["encodings"], kinds)
        self.assertEqual(bloom["tables_by_encoding"], in_tables)
        slots = collections.Counter(str(byte // 16 - 1) for byte in sum(last, []) if byte > 30)
        self.assertEqual(bloom["ribbon_bits"], slots)
        self.assertEqual((bloom["match_all"], bloom["keys_checked"], bloom["keys_lost"]), (0, 8000, 0))
        # What follows from k is that of LevelDB's filters alone.
        self.assertEqual(bloom["probes"], {"6": kinds["bloom"]})
        self.assertEqual(sum(bloom["fill_histogram"]), kinds["bloom"])
        filters = sum((tables.Table(read(each["path"])).filters() for each in found["tables"]), [])
        self.assertEqual(bloom["bits_set"], sum(
            bin(byte).count("1") for filter_ in filters if filter_ and filter_[-1] < 31 for byte in filter_[:-1]))
        least, most = bloom["bits_per_key_set"]
        self.assertTrue(least <= 10 <= most < 13, (least, most))
        rates = bloom["measured_by_encoding"]
        self.assertLess(rates["ribbon"], 0.002)
        self.assertGreater(rates["bloom"], 0.004)
        [note] = [note["text"] for note in found["notes"] if note["topic"] == "encodings"]
        share = 100 * kinds["ribbon"] / kinds.total()
        self.assertIn(f"{kinds['ribbon']} of {kinds.total()} filters are ribbon filters, {share:.1f} %", note)
        for cure in "leveldb_compact_range", "LEVELDB_BLOOM_ENCODING=ribbon", "run --ribbon":
            self.assertIn(cure, note)
        text = command("inspect", path).stdout
        self.assertRegex(text, rf"  encoding +bloom \({kinds['bloom']} filters in {plural(in_tables['bloom'])}\), "
                               rf"ribbon of [0-9, ]+ bits \({kinds['ribbon']} filters in {plural(in_tables['ribbon'])}\)\n")
        self.assertIn("of the bits of LevelDB's own filters are set", text)
        done = command("verify", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"8,000 of them checked against filters: bloom ({kinds['bloom']} filters in ",
                      " ".join(done.stdout.split()))
        checked = [each["encodings"] for each in json.loads(command("verify", "--json", path).stdout)["tables"]]
        self.assertEqual(sum(map(collections.Counter, checked), collections.Counter()), kinds)

        # As the note has it.
        self.written(path, [0, 7999], "ribbon")
        found = inspect(path)
        bloom = found["total"]["bloom"]
        filters = sum(self.last_bytes(found), [])
        self.assertEqual(bloom["encodings"], {"ribbon": len(filters)})
        self.assertNotIn("encodings", {note["topic"] for note in found["notes"]})
        self.assertEqual((bloom["keys_checked"], bloom["keys_lost"]), (8000, 0))
        self.assertLess(bloom["false_positive_rate_measured"], 0.002)
        self.assertGreater(bloom["absent_keys_passed"], 0)
        self.assertAlmostEqual(bloom["false_positive_rate_estimated"], 2 ** -10, delta=0.0002)
        page = os.path.join(WORK, "ribbon.html")
        command("inspect", "--html", page, path)
        for text in command("inspect", path).stdout, command("inspect", "--quick", path).stdout, read(page).decode():
            self.assertNotRegex(text, "Filters by fill|of the bits|probes, k")
            self.assertIn("10 set", text)
        quick = json.loads(command("inspect", "--quick", "--json", path).stdout)["total"]["bloom"]
        self.assertAlmostEqual(quick["estimated_keys"] / 8000, 1, delta=0.05)

    def test_keys_that_a_damaged_filter_loses_are_named(self):
        create = Bloom(10, "leveldb_bloom_policy_create_ribbon").create
        # Long keys are hashed in another way.
        for name, all_ in ("short", keys(0, 400)), ("long", [b"k" * 2000 + key for key in keys(0, 400)]):
            path = written(f"ribbon-lost-{name}/000005.ldb", table(all_, create))
            self.assertEqual({byte // 16 for byte in sum(self.last_bytes(inspect(path)), [])} - {10, 11}, set())
            self.assertEqual(command("verify", path).returncode, 0)
            lost = lose(path)
            self.assertGreater(len(lost), 1)
            done = command("verify", "--json", "--limit", "1000", path)
            self.assertEqual(done.returncode, 1)
            [found] = json.loads(done.stdout)["tables"]
            self.assertEqual([bytes.fromhex(key["key_hex"]).decode() for key in found["lost"]], lost)
            self.assertEqual(inspect(path)["total"]["bloom"]["keys_lost"], len(lost))
            [step] = json.loads(command("probe", "--json", path, lost[0]).stdout)["tables"][0]["blocks"]
            self.assertEqual((step["read"], step["entry"] is None), (False, False))

    def test_few_keys_cost_as_much(self):
        blocks = [[(key, b"v" * 3000)] for key in keys(0, 100)]
        path = written("ribbon-cost/000005.ldb", tables.write(
            blocks, Bloom(10, "leveldb_bloom_policy_create_ribbon").create))
        self.assertRegex(cost(path), "^10 bits per key cost you .* blocks hold only 1 key: .* 64 bits, 64 per key; "
                                     "the last byte takes 8,")

    def test_last_bytes(self):
        for last in 0, 1, 30, 31, 32, 100, 239, 240, 247, 255:
            # Too short for a ribbon, or long enough; a bloom filter has all bits set, a ribbon none.
            for size in 7, 20:
                filter_ = bytes([255 if last < 31 else 0]) * size + bytes([last])
                path = written("ribbon-last/000005.ldb", table(keys(0, 80), lambda _, it=filter_: it, each=40))
                kind = "bloom" if 1 <= last <= 30 else "ribbon" if 32 <= last <= 239 and size > 7 else None
                bloom = inspect(path)["total"]["bloom"]
                # With many bits hardly any key matches, as in another format.
                if kind == "ribbon":
                    self.assertEqual(command("verify", path).returncode, 1 if last == 32 else 2)
                    continue
                wanted = 2 * (kind is not None)
                self.assertEqual(bloom["encodings"], {kind: wanted} if kind else {}, last)
                self.assertEqual(bloom["match_all"], 2 - wanted, (last, size))
                self.assertEqual(command("verify", path).returncode, 0)

    def test_probe(self):
        """The examples of docs/ribbon.md."""
        create = Bloom(10, "leveldb_bloom_policy_create_ribbon").create
        path = written("ribbon-probe/000005.ldb", table([b"hello", b"world"], create))
        for key, row, sum_, wanted in (("hello", [0, 1, 2, 4, 5], 0b0011111101, 0b0011111101),
                                       ("absent", [3, 5], 0, 0b0110100001)):
            done = json.loads(command("probe", "--json", path, key).stdout)
            [step] = done["tables"][0]["blocks"]
            values = dict(enumerate([0b0110111110, 0b0101000011]))
            self.assertEqual(step["filter"], {
                "number": 0, "bits": 64, "encoding": "ribbon", "slots": 6, "slot_bits": 10, "seed": 0,
                "hash_hex": {"hello": "9555e8555c62dcfd", "absent": "1b676af97710c5a1"}[key], "row": row,
                "values": [values.get(slot, 0) for slot in row], "sum": sum_, "wanted": wanted,
                "maybe": key == "hello"})
            self.assertEqual(step["read"], key == "hello")
        text = " ".join(command("probe", path, "hello").stdout.split())
        self.assertIn("filter 0, 64 bits, ribbon: 6 slots of 10 bits, seed 0 slot:bits 0:0110111110 1:0101000011 "
                      "2:0000000000 4:0000000000 5:0000000000 their sum 0011111101, wanted 0011111101 (hash "
                      "9555e8555c62dcfd) the filter says maybe", text)
        self.assertIn("does not know ribbon filters", command("probe", path, "absent").stdout)
        # A band.
        numbers = [struct.pack(">Q", i) for i in range(1000)]
        path = written("ribbon-probe-band/000005.ldb", table(numbers, create, each=1000))
        [step] = json.loads(command("probe", "--json", path, "--hex", numbers[7].hex()).stdout)["tables"][0]["blocks"]
        asked = step["filter"]
        self.assertEqual((asked["hash_hex"], asked["slots"], asked["seed"]), ("f8c0126b89b4fafc", 1045, 0))
        bits = 0x63d94474b1e8f9b445aaa7704282e9
        self.assertEqual(asked["row"], [8 * 14 + i for i in range(120) if bits >> i & 1] + [1041, 1042, 1043])
        value = 0
        for slot in asked["values"]:
            value ^= slot
        self.assertEqual((value, asked["sum"], asked["maybe"]), (asked["wanted"], asked["wanted"], True))


class Damage(unittest.TestCase):
    """Any bytes get an answer or a message."""

    def small(self):
        """A table of each writer, of a few KB."""
        made = {
            "plain": by_leveldb("small-plain", 40, 20),
            "snappy": by_leveldb("small-snappy", 40, 60, 1),
            "goleveldb": by_goleveldb("small-go", 40, 20),
            "classic-level": by_classic_level("small-classic", 40, 20),
            "plyvel": by_plyvel("small-plyvel", 40, 20, WHEEL if HAS_WHEEL else None),
        }
        return {name: read(table_of(path)) for name, path in made.items()}

    def answers(self, name, copies, wanted):
        """All copies through verify and inspect; `wanted(i)` says what must be noticed."""
        where = folder(f"damaged-{name}")
        paths = [written(f"damaged-{name}/{i:06}.ldb", copy) for i, copy in enumerate(copies)]
        for start in range(0, len(paths), 500):
            some = paths[start:start + 500]
            for way in ("verify", "inspect"):
                found = json.loads(command(way, "--json", *some).stdout)
                self.assertEqual(len(found["tables"]), len(some))
                for i, table in enumerate(found["tables"], start):
                    if way == "verify" and wanted(i):
                        self.assertTrue(table["problem_count"] or table["keys_lost"], (name, i))
                    for problem in table["problems"]:
                        self.assertIsInstance(problem["offset"], int)
                        self.assertRegex(problem["text"], "expected|shorter")
        shutil.rmtree(where)

    def test_every_byte(self):
        for name, data in self.small().items():
            self.assertLess(len(data), 5000, name)
            # Where the footer's handles end there is padding, which nobody reads.
            _, at = tables.read_handle(data, len(data) - 48)
            _, end = tables.read_handle(data, at)
            padding = range(end, len(data) - 8)
            copies = [data[:i] + bytes([data[i] ^ 0xFF]) + data[i + 1:] for i in range(len(data))]
            self.answers(name, copies, lambda i: i not in padding)

    def test_every_byte_with_right_checksums(self):
        data = read(table_of(by_leveldb("small-sums", 40, 20)))
        table = tables.Table(data)
        copies = []
        for handle in table.handles():
            for i in range(handle[0], handle[0] + handle[1] + 1):
                flip = (0x01, 0x80, 0xFF)[i % 3]
                copy = data[:i] + bytes([data[i] ^ flip]) + data[i + 1:]
                copies.append(tables.with_checksum(copy, handle))
        self.answers("sums", copies, lambda i: False)

    def test_truncated(self):
        for name, data in self.small().items():
            copies = [data[:length] for length in range(0, len(data), 7)]
            self.answers(f"{name}-cut", copies, lambda i: True)

    def test_damages_that_are_not_named(self):
        data = bytearray(table(keys(0, 1000)))
        for at in range(100, 30000, 3000):
            data[at] ^= 0xFF
        path = written("not-named/000005.ldb", bytes(data))
        for limit, named, said in (20, 10, ""), (10, 10, ""), (
                3, 3, ": 7 problems are not listed\n"), (0, 0, "000005.ldb: 10 problems are not listed\n"):
            done = command("verify", "--limit", limit, path)
            self.assertEqual((done.returncode, done.stdout.count("checksum mismatch")), (1, named))
            self.assertIn(said, done.stdout)
            self.assertEqual(bool(said), "not listed\n" in done.stdout)
            [found] = json.loads(command("verify", "--json", "--limit", limit, path).stdout)["tables"]
            self.assertEqual((found["problem_count"], len(found["problems"])), (10, named))

    def test_an_entry_of_another_kind(self):
        for kind in 2, 255:
            path = written("other-kind/000005.ldb", table(keys(0, 40), stored_as=lambda key: tables.internal(
                key, kind=kind if key == b"key00000007" else 1)))
            done = command("verify", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn("expected a value or a deletion", done.stdout)

    def test_probe_and_text(self):
        data = read(table_of(by_leveldb("small-probe", 40, 20)))
        path = os.path.join(WORK, "damaged.ldb")
        for i in range(0, len(data), 3):
            written("damaged.ldb", data[:i] + bytes([data[i] ^ 0xFF]) + data[i + 1:])
            command("probe", path, "key00000007")
            if i % 10 == 0:
                command("inspect", "--quick", path)
                command("verify", path)

    def test_manifest(self):
        path = by_leveldb("manifest", 200, 20)
        [name] = glob.glob(os.path.join(path, "MANIFEST-*"))
        data = read(name)
        for i in range(len(data)):
            with open(name, "wb") as file:
                file.write(data[:i] + bytes([data[i] ^ 0xFF]) + data[i + 1:])
            found = json.loads(command("verify", "--json", path).stdout)
            [table] = found["tables"]
            self.assertEqual(table["keys_checked"], 200, i)
            # A record that seems cut off is no damage: LevelDB opens the database without it.
            self.assertTrue(found["manifest_errors"] and not found["sound"] or table["unused"], i)


def plural(tables_):
    return f"{tables_} table" + ("s" if tables_ > 1 else "")


def keys(first, end):
    return [b"key%08d" % i for i in range(first, end)]


def table(keys_, create_filter=None, each=20, **more):
    """A table of these keys, `each` in a block."""
    pairs = [(key, b"v" * 50) for key in keys_]
    blocks = [pairs[i:i + each] for i in range(0, len(pairs), each)]
    return tables.write(blocks, create_filter or Bloom().create, **more)


def database(name, *tables_, **more):
    """A database of these (level, number, table, smallest user key, largest)."""
    path = folder(name)
    tables.database(path, [(level, number, data, tables.internal(first), tables.internal(last))
                           for level, number, data, first, last in tables_], **more)
    return path


def limited(megabytes):
    """For `command`: what it may have of memory."""
    limit = megabytes << 20
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}


def limited_to_what_it_writes_to(megabytes):
    """For `command`: what it may have of memory that is its own, on one processor, since each thread
    has a stack. RLIMIT_AS counts what is mapped and never touched, which is much more."""
    limit = megabytes << 20

    def limit_it():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    # Without memory, Rust's own trace waits for itself for ever.
    return {"preexec_fn": limit_it, "env": dict(os.environ, RUST_BACKTRACE="0")}


def on_terminal(args, stream, columns=100, **environment):
    """What the command writes to the terminal that is its `stream`, and to the other, a pipe; and
    its status."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: theirs}
    # These ask for colours, too.
    quiet = {name: value for name, value in os.environ.items() if name != "CI" and "COLOR" not in name}
    with open(ours, "rb", buffering=0) as screen:
        with subprocess.Popen([COMMAND, *args], **streams,
                              env={**quiet, "TERM": "xterm", "NO_COLOR": "1", **environment}) as process:
            os.close(theirs)
            shown = b""
            # The end of a terminal is an error, EIO.
            with contextlib.suppress(OSError):
                while more := screen.read(1 << 16):
                    shown += more
            other = process.stderr if stream == "stdout" else process.stdout
            printed = other.read().decode()
            return shown.decode(), printed, process.wait()


class OtherMakers(unittest.TestCase):
    """Tables and folders that are sound, and not as Google's LevelDB leaves them; and what is too much for us."""

    ALARM = "LOST|DAMAGED|MISSING|Damage"

    def told(self, status, path, *texts, alarm=False):
        """Both commands end with this status, and verify says all of this."""
        text = " ".join(command("inspect", path).stdout.split())
        self.assertEqual(bool(re.search(self.ALARM, text)), alarm, text)
        self.assertEqual(command("inspect", path).returncode, status)
        done = command("verify", path)
        text = " ".join(done.stdout.split())
        self.assertEqual(done.returncode, status, text)
        self.assertEqual(bool(re.search(self.ALARM, text)), alarm, text)
        for each in texts:
            self.assertIn(each, text)
        return text

    def test_tables_without_sequence_numbers(self):
        numbers = [b"id:" + struct.pack(">Q", i) for i in range(300)]
        words = [b"word%d" % (100_000 + i) for i in range(300)]
        short = [b"%03d" % i for i in range(300)]
        # As TensorFlow's checkpoints begin.
        names = [b""] + [b"layer_%03d/kernel" % i for i in range(99)]
        for name, keys_ in ("numbers", numbers), ("words", words), ("short", short), ("names", names):
            for policy in POLICY, None:
                path = written(f"plain-keys/{name}.ldb", table(keys_, policy=policy, stored_as=lambda key: key))
                text = self.told(0, path, "a table without sequence numbers (plain keys)")
                self.assertIn(f"{len(keys_)} entries read", text)
                [found] = inspect(path)["tables"]
                self.assertEqual((found["entries"], found["deletions"], found["problem_count"]), (len(keys_), 0, 0))
                if policy:
                    self.assertIn("no key is lost", text)
                    self.assertEqual(found["bloom"]["keys_checked"], len(keys_))
                for key in keys_[7], keys_[-1]:
                    done = command("probe", "--hex", path, key.hex())
                    self.assertIn("found: ", done.stdout)
                    self.assertNotIn("sequence", done.stdout)
                self.assertNotIn("found: ", command("probe", path, "absent").stdout)
        # By LevelDB's own TableBuilder.
        for bits in 0, 10:
            path = os.path.join(WORK, "by-builder.ldb")
            run(os.path.join(TOOLS, "table"), path, "5000", str(bits))
            text = self.told(0, path, "a table without sequence numbers (plain keys)", "5,001 entries read",
                             "no key is lost" if bits else "There are no filters")
            bloom = inspect(path)["total"]["bloom"]
            self.assertEqual(bloom and (bloom["keys_checked"], bloom["keys_lost"]), (5001, 0) if bits else None)
            lines = [json.loads(line) for line in command("dump", "--format", "ndjson", path).stdout.splitlines()]
            self.assertEqual(len(lines), 5001)
            self.assertEqual(lines[7], {"key": "layer_000006/kernel", "sequence": None, "deletion": False,
                                        "value": "shape and offset", "file": "by-builder.ldb", "level": None})
            self.assertEqual(command("get", path, "layer_000006/kernel").stdout, "shape and offset")
        # A key that such a table loses is lost.
        path = written("plain-keys/lost.ldb", table(words, lambda of: Bloom().create(of[:-1]), stored_as=lambda key: key))
        self.assertEqual(inspect(path)["total"]["bloom"]["keys_lost"] > 0, True)

    def test_filters_of_another_format(self):
        of_another = tables.riak_filter
        data = table(keys(0, 300), of_another)
        path = database("another-format", (1, 5, data, b"key00000000", b"key00000299"))
        for each in path, written("another-format-alone/000005.ldb", data):
            text = self.told(2, each, "its keys do not match its filters", "another format")
            self.assertNotIn("no key is lost", text)
            done = command("probe", each, "key00000007")
            self.assertEqual((done.returncode, re.search(self.ALARM, done.stdout)), (0, None), done.stdout)
            self.assertIn("of a format that is not known here", done.stdout)
            self.assertIn("found: ", done.stdout)
            [found] = inspect(each)["tables"]
            self.assertEqual((found["policy_kind"], found["bloom"]), ("another format", None))
        # Named where its maker says who it is, and then whatever its entries are.
        for name, maker in ("stats.sst1", "Riak's LevelDB"), ("rocksdb.properties", "RocksDB"):
            data = table(keys(0, 300), of_another, other_name=name,
                         stored_as=lambda key: tables.internal(key, kind=2 if key.endswith(b"7") else 1))
            path = written("another-maker/000005.ldb", data)
            self.told(2, path, f"{maker} has filters of a format of its own")
            path = written("another-maker/000006.ldb", table(keys(0, 300), other_name=name))
            self.told(0, path, f"a table of {maker}")
            path = written("another-maker/000007.ldb", table(keys(0, 300), policy=None, other_name=name))
            text = self.told(2, path, f"a table of {maker}, whose filters are not read here")
            self.assertNotRegex(text, "no key is lost|no filters")
        # A few lost keys are lost.
        path = written("a-few-lost/000005.ldb", table(keys(0, 300), lambda of: Bloom().create(of[:-5])))
        self.assertEqual(command("verify", path).returncode, 1)

    def test_a_block_that_is_too_large(self):
        big = written("too-large/000005.ldb", b"")
        size = (1 << 30) + 1
        handle = tables.varint(0) + tables.varint(size)
        index = tables.block([(tables.internal(b"k"), handle)])
        rest = tables.with_trailer(tables.block([])), tables.with_trailer(index)
        with open(big, "wb") as file:
            file.truncate(size + 5)
            file.seek(size + 5)
            file.write(b"".join(rest))
            handles = b"".join(map(tables.varint, (size + 5, len(rest[0]) - 5, size + 5 + len(rest[0]), len(rest[1]) - 5)))
            file.write(handles.ljust(40, b"\0") + struct.pack("<Q", tables.MAGIC))
        text = self.told(2, big, "at most 1073741824 bytes", "0 could be read and 1 could not")
        self.assertNotRegex(text, "no key is lost|checksums are right")
        self.assertIn("1 GiB", command("verify", "--help").stdout)

    def test_figures_of_what_could_be_read(self):
        data = bytearray(table(keys(0, 1000)))
        path = written("half-read/000005.ldb", bytes(1100) + bytes(data[1100:]))
        done = command("verify", path)
        self.assertEqual(done.returncode, 1)
        text = " ".join(done.stdout.split())
        self.assertIn("50 data blocks of which 49 could be read and 1 could not: 980 entries read", text)
        self.assertIn("none of the keys that were checked is lost, 1 table is DAMAGED", text)
        [found] = json.loads(command("verify", "--json", path).stdout)["tables"]
        self.assertEqual((found["data_blocks"], found["data_blocks_unread"]), (50, 1))
        text = command("inspect", path).stdout
        self.assertIn("980, as far as they could be read", text)
        self.assertIn("980 could be checked, and match their filters", text)
        self.assertIn("what is spent is not known", text)
        for at in range(0, len(data), 1000):
            data[at] ^= 1
        path = written("none-read/000005.ldb", bytes(data[:tables.Table(table(keys(0, 1000))).filter[0]]
                                                    + table(keys(0, 1000))[tables.Table(table(keys(0, 1000))).filter[0]:]))
        text = " ".join(command("verify", path).stdout.split())
        self.assertNotRegex(text, "no key is lost|checksums are right")
        self.assertIn("none could be checked", command("inspect", path).stdout)

    def test_subfolders_of_riak(self):
        path = by_leveldb("riak", 2000, 100)
        count = len(inspect(path)["tables"])
        for level in range(7):
            os.mkdir(os.path.join(path, f"sst_{level}"))
        for number, file in enumerate(sorted(glob.glob(os.path.join(path, "*.ldb")))):
            os.rename(file, os.path.join(path, f"sst_{number % 7}", os.path.basename(file)[:-3] + "sst"))
        self.told(0, path, "Riak's LevelDB, which has its tables in sst_0 to sst_6", "no key is lost")
        self.assertEqual([each["level"] is None for each in inspect(path)["tables"]], [False] * count)
        self.assertIn("found: ", command("probe", path, "key00000007").stdout)
        one = inspect(path)["tables"][0]["path"]
        self.assertEqual(inspect(one)["tables"][0]["level"], inspect(path)["tables"][0]["level"])
        os.remove(one)
        self.assertIn("MISSING", command("verify", path).stdout)
        # With Riak's times of expiry, and level 1 as level 0.
        data = table(keys(0, 100))
        path = folder("riak-expiry")
        ends = tables.internal(b"key00000000"), tables.internal(b"key00000099")
        tables.database(path, [(1, 5, data, *ends), (1, 6, data, *ends)])
        [manifest] = glob.glob(os.path.join(path, "MANIFEST-*"))
        changes = [(1, number, len(data), *ends) for number in (5, 6)]
        written(manifest, tables.manifest(changes, tag=11, behind=b"\x80\x01\x05\0"))
        self.assertIsNone(leveldb_reads(path))
        self.told(0, path, "Riak's LevelDB")

    def test_a_folder_that_only_has_the_name(self):
        path = by_leveldb("named-sst", 300, 10)
        for level in range(7):
            os.mkdir(os.path.join(path, f"sst_{level}"))
        text = self.told(0, path, "no key is lost")
        self.assertNotIn("Riak", text)

    def test_a_database_of_rocksdb(self):
        path = by_leveldb("rocksdb", 200, 20)
        [manifest] = glob.glob(os.path.join(path, "MANIFEST-*"))
        changes = [(1, 9, 100, tables.internal(b"a"), tables.internal(b"b"))]
        written(manifest, tables.manifest(changes, tag=103))
        self.assertIn("its MANIFEST cannot be read", command("verify", path).stdout)
        self.assertEqual(command("verify", path).returncode, 1)
        written(os.path.join(path, "OPTIONS-000007"), b"")
        text = self.told(2, path, "this is a RocksDB database")
        self.assertIn("200 entries read", text)
        # Its tables.
        sst = written(os.path.join(path, "000012.sst"), read(table_of(by_leveldb("rocksdb-of", 200, 20)))[:-8]
                      + struct.pack("<Q", 0x88e241b785f4cff7))
        self.told(2, sst, "that of RocksDB, whose tables are not read here")

    def test_what_goleveldb_reads_in_place_of_current(self):
        for how, name in ("missing", "CURRENT.bak"), ("CRLF", "CURRENT.bak"), ("empty", "CURRENT.7"):
            path = by_goleveldb("current-bak", 2000, 100)
            current = os.path.join(path, "CURRENT")
            contents = read(current)
            written(os.path.join(path, name), contents)
            written(os.path.join(path, "CURRENT.3"), b"MANIFEST-000099\n")
            if how == "missing":
                os.remove(current)
            else:
                written(current, contents.replace(b"\n", b"\r\n") if how == "CRLF" else b"")
            text = self.told(0, path, f"goleveldb opens it by {name}; LevelDB does not open this database")
            self.assertEqual("CRLF" in text, how == "CRLF")
            self.assertRegex(command("inspect", path).stdout, r"tables? \(\d+ in level \d")
            self.assertIsNone(leveldb_reads(path) if how != "missing" else None)
            os.remove(os.path.join(path, name))
            text = self.told(1, path, "its MANIFEST cannot be read")
            self.assertEqual("ends with CRLF" in text, how == "CRLF")

    def test_a_folder_above_the_database(self):
        path = by_leveldb("above", 200, 20)
        world = folder("world")
        os.makedirs(os.path.join(world, "worlds", "one"))
        for way in ["inspect"], ["verify"], ["probe"]:
            done = command(*way, world, *["key"] * (way == ["probe"]))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertTrue(done.stderr.endswith("it has no CURRENT and no .ldb or .sst file\n"), done.stderr)
        for number in range(12):
            below = os.path.join(world, "worlds", f"{number:02}", "db")
            shutil.copytree(path, below)
            done = command("inspect", world)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"Name a database's own folder; {number + 1} found below:", done.stderr)
            self.assertEqual(below in done.stderr, number < 10)


class Unusual(unittest.TestCase):
    """Databases that no LevelDB leaves behind in good health, and what a Get makes of them."""

    def test_a_manifest_without_contents(self):
        for name, contents in ("empty", b""), ("zeros", bytes(500)):
            path = by_leveldb(f"manifest-{name}", 200, 20)
            [manifest] = glob.glob(os.path.join(path, "MANIFEST-*"))
            with open(manifest, "wb") as file:
                file.write(contents)
            for way in (["verify"], ["inspect"], ["probe"]):
                done = command(*way, path, *["key00000007"] * (way == ["probe"]))
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertRegex(done.stdout, r"the\s+log's\s+number")
        os.remove(os.path.join(path, "CURRENT"))
        done = command("verify", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no CURRENT", done.stdout)

    def test_current_ends_with_one_newline(self):
        path = by_leveldb("current", 200, 20)
        current = os.path.join(path, "CURRENT")
        name = read(current).rstrip(b"\n")
        for contents, error in ((name + b"\n", None), (name, "does not end with newline"),
                                (b"./" + name + b"\n", None), (b"../current/" + name + b"\n", None),
                                (name + b"\0" + b"0\n", None), (b"\n", "does not name a file"),
                                (b"\0" + name + b"\n", "does not name a file"),
                                (b"/" + name + b"\n", None), (name + b"/\n", ""),
                                (b"nowhere/" + name + b"\n", "non-existent file"),
                                (b"a" * 300 + b"\n", ""),
                                (name + b"\n\n", r"non-existent file\", MANIFEST-\d+\\n"),
                                (name + b"\r\n", r"non-existent file\", MANIFEST-\d+\\r"),
                                (b"", "does not end with newline")):
            written(current, contents)
            self.assertEqual(leveldb_reads(path), 200 if error is None else None, contents)
            done = command("verify", path)
            self.assertEqual(done.returncode, 0 if error is None else 1, (contents, done.stdout))
            if error is not None:
                self.assertRegex(done.stdout, f"MANIFEST cannot be read: .*CURRENT .*{error}.*; "
                                 "LevelDB does not open this database")

    def test_a_current_that_goes_on(self):
        # It is not read into memory: its beginning says what it is.
        path = by_leveldb("long-current", 100, 10)
        name = os.path.join(path, "CURRENT")
        whole = read(name)
        os.truncate(name, 3 << 30)
        done = command("verify", path, **limited(1000))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("CURRENT is longer than 64 KiB, and is not read", done.stdout)
        # LevelDB opens what is before a zero.
        written("long-current/CURRENT", whole[:-1] + bytes(60_000) + b"\n")
        self.assertEqual(command("verify", path).returncode, 0)

    def test_a_manifest_with_zeros_in_it(self):
        # As by a log that was mapped into memory, and prepared with zeros.
        path = by_leveldb("manifest-zeros-within", 200, 20)
        [manifest] = glob.glob(os.path.join(path, "MANIFEST-*"))
        data, block = read(manifest), bytes(32 << 10)
        self.assertLess(len(data), len(block))
        for contents, sound in ((block + data, True), (data + block, True),
                                (block + block[:9] + data, False), (block[:-9] + data, False)):
            with open(manifest, "wb") as file:
                file.write(contents)
            self.assertEqual(leveldb_reads(path), 200 if sound else None)
            found = json.loads(command("verify", "--json", path).stdout)
            self.assertEqual(found["manifest_errors"] == [], sound, found["manifest_errors"])
            self.assertEqual(found["tables"][0]["unused"], False)

    def test_levels_that_leveldb_has_not(self):
        one = table(keys(0, 100))
        for level in 6, 7, 150, 2**32 - 1:
            path = database("level", (level, 5, one, b"key00000000", b"key00000099"))
            self.assertEqual(leveldb_reads(path), 100 if level < 7 else None)
            said = f"names level {level}, as goleveldb does, which has as many as it needs. LevelDB has levels 0 to 6"
            page = os.path.join(WORK, "level.html")
            command("inspect", "--html", page, path)
            for way in ["verify", path], ["inspect", path], ["probe", path, "key00000007"]:
                done = command(*way)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertEqual(said in " ".join(done.stdout.split()), level > 6, done.stdout)
            self.assertEqual(said in read(page).decode(), level > 6)
            verified = json.loads(command("verify", "--json", path).stdout)["other_owners"]
            probed = json.loads(command("probe", "--json", path, "key00000007").stdout)["other_owner"]
            self.assertEqual([said in each for each in verified], [True] * (level > 6))
            self.assertEqual(verified, [probed] if probed else [])
            self.assertIn(f"<td>{level}<td>", read(page).decode())
        # No level that goleveldb has either.
        path = database("level", (2**32, 5, one, b"key00000000", b"key00000099"))
        done = command("verify", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("its MANIFEST cannot be read", done.stdout)

    def test_levels_of_goleveldb(self):
        path = by_goleveldb("goleveldb-levels", 5000, 100, 11, 4096, 16 << 10)
        found = inspect(path)
        levels = {each["level"] for each in found["tables"] if not each["unused"]}
        self.assertGreater(max(levels), 6)
        self.assertEqual((found["total"]["entries"], found["total"]["keys_outside"]), (5000, 0))
        self.assertIsNone(leveldb_reads(path))
        done = command("verify", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("LevelDB has levels 0 to 6", " ".join(done.stdout.split()))
        for key in keys(0, 5000)[::501]:
            self.assertIn("found: ", command("probe", path, key.decode()).stdout)

    def test_what_several_paths_stand_for_counts_once(self):
        path = folder("several-paths")
        tables.database(path, [(0, 5, table([b"a", b"b"]), tables.internal(b"a"), tables.internal(b"b"))])
        stray = shutil.copy(os.path.join(path, "000005.ldb"), os.path.join(path, "000009.ldb"))
        once = inspect(path)
        link = folder("several-paths-link")
        os.symlink(path, link)
        for paths in [path, path], [path, link], [path, os.path.join(path, "000005.ldb")], [
                os.path.join(path, "000005.ldb"), path]:
            done = json.loads(command("inspect", "--json", *paths).stdout)
            self.assertEqual(done["total"], once["total"], paths)
            self.assertEqual(len(done["tables"]), 2, paths)
        # One that was named counts, wherever else it comes.
        for paths in [path, stray], [stray, path]:
            done = json.loads(command("inspect", "--json", *paths).stdout)
            self.assertEqual(done["total"]["tables"], 2, paths)
            self.assertEqual(len(done["tables"]), 2, paths)

    def test_tables_of_several_folders_are_told_apart(self):
        paths = [folder("apart-one"), folder("apart-two")]
        for path in paths:
            tables.database(path, [(0, 5, table([b"a", b"b"]), tables.internal(b"a"), tables.internal(b"b"))])
        page = os.path.join(WORK, "apart.html")
        command("inspect", "--html", page, *paths)
        shown = command("inspect", *paths).stdout
        rows = [line.split()[0] for line in shown.splitlines() if "000005.ldb " in line]
        self.assertEqual(rows, [os.path.join(path, "000005.ldb") for path in paths])
        with open(page) as text:
            report = text.read()
        for path in paths:
            self.assertIn(f"<td>{path}/000005.ldb<", report)
        self.assertIn("\n000005.ldb ", command("inspect", paths[0]).stdout)

    def test_keys_of_a_megabyte(self):
        path = written("long/000005.ldb", table([b"k" * 1_000_000]))
        bloom = inspect(path)["total"]["bloom"]
        self.assertEqual(bloom["keys_checked"], 1)
        # A key by itself says nothing of what others look like.
        self.assertEqual((bloom["absent_keys_asked"], bloom["false_positive_rate_measured"]), (0, None))

    def test_keys_that_share_all_but_their_ends(self):
        # 30 MB of keys in a block of less than 100 KB.
        path = by_leveldb("sharing", 1000, 0, mode="sharing")
        self.assertLess(os.path.getsize(table_of(path)), 100_000)
        for way in "verify", "inspect":
            done = command(way, path, **limited(1000))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        [found] = inspect(path)["tables"]
        self.assertEqual((found["entries"], found["bloom"]["keys_checked"]), (1000, 1000))
        self.assertTrue(found["keys_in_byte_order"])
        for key, holds in (b"key00000999", True), (b"key00001000", False):
            [table_] = json.loads(command("probe", "--all", "--json", path,
                                          (b"k" * 30_000 + key).decode()).stdout)["tables"] or [None]
            self.assertEqual(bool(table_ and table_["blocks"][0]["entry"]), holds)

    def sharing(self, ends, value=b""):
        """A block of entries that share what is said with the one before."""
        body = b"".join(tables.varint(shared) + tables.varint(len(end)) + tables.varint(len(value))
                        + end + value for shared, end in ends)
        return body + struct.pack("<2I", 0, 1)

    def test_keys_that_were_made_to_take_time(self):
        # 20 GB of keys in a block of a megabyte.
        tag = tables.internal(b"")
        ends = [(0, b"k" * 700_000 + b"00000" + tag)]
        ends += [(700_000, b"%05d" % i + tag) for i in range(1, 30_000)]
        one = table([b"k"], lambda _: b"\xff" * 8 + b"\6", compress=lambda _: self.sharing(ends))
        path = written("made-to-take-time/000005.ldb", one)
        done = command("verify", path, **limited(1000))
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stdout, "1024 times the block's length, though LevelDB reads more")
        self.assertNotIn("DAMAGED", done.stdout)
        self.assertEqual(command("probe", path, "k", **limited(1000)).returncode, 0)

    def test_names_that_were_made_to_take_memory(self):
        # 200 MB of names in a metaindex of half a megabyte.
        names = self.sharing([(0, b"filter." + b"n" * 300_000)]
                             + [(300_000, b"%04d" % i) for i in range(700)], value=b"\0\0")
        whole = table(keys(0, 3))
        at = tables.Table(whole).metaindex[0]
        data, (offset, size) = whole[:at], tables.Table(whole).index
        index = whole[offset:offset + size + 5]
        footer = b"".join(map(tables.varint, (at, len(names), at + len(names) + 5, size)))
        made = (data + names + bytes(5) + index + footer.ljust(40, b"\0")
                + struct.pack("<Q", tables.MAGIC))
        path = written("names/000005.ldb", tables.with_checksum(made, (at, len(names))))
        for way in ["verify"], ["inspect", "--quick"], ["inspect", "--json"]:
            done = command(*way, path, **limited_to_what_it_writes_to(30))
            self.assertIn(done.returncode, (0, 1), done.stderr[-300:])

    def test_a_key_of_many_ranges_is_kept_once(self):
        # By way of the one in the middle LevelDB looks for half of the others.
        count, long = 401, b"z" * 500_000
        changes = [(1, i + 10, 100, tables.internal(b"%06d" % i),
                    tables.internal(long if i == count // 2 else b"%06d" % i)) for i in range(count)]
        path = folder("long-ranges")
        written("long-ranges/CURRENT", b"MANIFEST-000002\n")
        written("long-ranges/MANIFEST-000002", tables.manifest(changes))
        for way in ["verify"], ["inspect", "--json"], ["probe", "--json"]:
            done = command(*way, path, *["k"] * (way[0] == "probe"), **limited_to_what_it_writes_to(30))
            self.assertEqual(done.returncode, 1, done.stderr[-300:])

    def test_the_newest_write_comes_first(self):
        def one(key, sequence):
            return tables.internal(key, sequence)

        def written_at(*pairs):
            sequences = dict(pairs)
            return tables.write([[(key, b"v") for key in sequences]], Bloom().create,
                                stored_as=lambda key: one(key, sequences[key]))

        # As a compaction leaves it that keeps older writes for a snapshot.
        path = folder("two-of-a-level")
        tables.database(path, [
            (1, 5, written_at((b"a", 3), (b"k", 9)), one(b"a", 3), one(b"k", 9)),
            (1, 6, written_at((b"k", 5), (b"z", 4)), one(b"k", 5), one(b"z", 4))])
        found = json.loads(command("probe", "--json", path, "k").stdout)
        [visit] = found["tables"]
        self.assertEqual(visit["blocks"][0]["entry"]["sequence"], 9)
        # And in the order of another comparator.
        path = folder("two-of-a-level-reversed")
        tables.database(path, [
            (1, 5, written_at((b"z", 3), (b"k", 9)), one(b"z", 3), one(b"k", 9)),
            (1, 6, written_at((b"k", 7)), one(b"k", 7), one(b"k", 7)),
            (1, 7, written_at((b"k", 5), (b"a", 4)), one(b"k", 5), one(b"a", 4))],
                        comparator=b"test.Reversed")
        for way, sequences in ((), [9]), (("--all",), [9, 7, 5]):
            found = json.loads(command("probe", "--json", *way, path, "k").stdout)["tables"]
            self.assertEqual([visit["blocks"][0]["entry"]["sequence"] for visit in found], sequences)

    def test_a_get_goes_on_behind_a_lost_key(self):
        def one(sequence, create_filter, kind=1):
            return tables.write([[(b"k", b"v" * sequence)]], create_filter,
                                stored_as=lambda key: tables.internal(key, sequence, kind))

        def of_another(_):
            return Bloom().create([b"another"])

        sound = Bloom().create
        # What is found of three writes, of which some are lost, and how many tables are looked at.
        for levels, found, visited, said in (
                ([(9, sound), (5, sound), (3, sound)], 9, 1, None),
                ([(9, of_another), (5, sound), (3, sound)], 5, 2, "written to the key earlier"),
                ([(9, of_another, 0), (5, sound), (3, sound)], 5, 2, "written to the key earlier"),
                ([(9, of_another), (5, of_another), (3, sound)], 3, 3, "written to the key earlier"),
                ([(9, of_another), (5, of_another), (3, of_another)], None, 3, "does not find the key"),
                ([(9, sound), (5, of_another), (3, sound)], 9, 1, None)):
            ends = [(tables.internal(b"k", level[0], *level[2:]),) * 2 for level in levels]
            path = folder("behind-lost")
            tables.database(path, [(i, 10 + i, one(*level), *keys_)
                                   for i, (level, keys_) in enumerate(zip(levels, ends), 1)])
            self.assertEqual(leveldb_finds(path, b"k"), f"{b'v' * found}" if found else "None")
            done = command("probe", path, "k")
            text = " ".join(done.stdout.split())
            self.assertIn(f"{visited} of 3 tables looked at: "
                          + ("the Get ends where" if found else "no others can hold"), text)
            self.assertEqual(re.findall(r"found: .*?, sequence (\d+)", text),
                             [str(found)] if found else [])
            self.assertEqual(text.count("LOST: "), visited - bool(found))
            self.assertEqual(done.returncode, 1 if said else 0)
            self.assertRegex(text, f"A Get .*{said}" if said else "^((?!A Get ).)*$")
        # Which is behind the one that is found, and looked for all the same.
        text = command("probe", "--all", path, "k").stdout
        self.assertIn("LOST: ", text)
        self.assertNotIn("A Get ", text)

    def test_what_a_get_makes_of_damage_is_not_known(self):
        def one(sequence):
            return tables.write([[(b"k", b"v" * sequence)]], Bloom().create,
                                stored_as=lambda key: tables.internal(key, sequence))

        sound = one(9)
        parts = tables.Table(sound)
        [block] = parts.blocks
        bit = next(at for at in range(parts.filter[0], sum(parts.filter)) if sound[at] & 0x3f)
        # What is damaged of the newer table, whether that can be read all the same, what is said, and what
        # a Get gives.
        new, old, neither = f"{b'v' * 9}", f"{b'v' * 5}", None
        for at, read_, said, gives in (
                # A filter block's last byte, which stands for its method of compression; the filter.
                (sum(parts.filter), True, "filter block at byte", new), (bit, True, "filter block at byte", old),
                # The metaindex; its handle; the last byte of its checksum.
                (parts.metaindex[0], True, "metaindex block at", new), (len(sound) - 48, True, "metaindex block at", new),
                (sum(parts.metaindex) + 4, True, "metaindex block", new),
                # A data block's checksum, which nobody checks, and its key.
                (sum(block) + 4, False, "data block at byte", new), (block[0] + 3, False, "data block at byte", old),
                (parts.index[0], False, "index block at byte", neither),
                (len(sound) - 1, False, "expected the magic number", neither)):
            ends = [(tables.internal(b"k", sequence),) * 2 for sequence in (9, 5)]
            damaged = sound[:at] + bytes([sound[at] ^ 0x3f]) + sound[at + 1:]
            path = folder("damaged-newer")
            tables.database(path, [(1, 11, damaged, *ends[0]), (2, 12, one(5), *ends[1])])
            self.assertEqual(leveldb_finds(path, b"k"), gives, (at, said))
            done = command("probe", path, "k")
            text = " ".join(done.stdout.split())
            self.assertIn(said, text)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(re.findall(r"(?:found|LOST): .*?, sequence (\d+)", text), ["9" if read_ else "5"])
            self.assertIn(f"{1 if read_ else 2} of 2 tables looked at: the Get ends where the key is found, if the "
                          "damage does not stop or mislead it", text)
            self.assertIn(", sequence 5", command("probe", "--all", path, "k").stdout)
            # The keys are there.
            found = json.loads(command("verify", "--json", path).stdout)
            self.assertEqual([each["entries"] for each in found["tables"]], [int(read_), 1], (at, found))

    def test_without_a_manifest_the_newest_write_is_looked_for(self):
        path = folder("newest-anywhere")
        os.makedirs(path)
        for number, sequence in (5, 9), (6, 7), (7, 8):
            written(f"newest-anywhere/{number:06}.ldb", tables.write(
                [[(b"k", b"v")]], Bloom().create, stored_as=lambda key: tables.internal(key, sequence)))
        done = command("probe", path, "k")
        text = " ".join(done.stdout.split())
        self.assertEqual(re.findall(r"found: .*?, sequence (\d+)", text), ["9", "8", "7"])
        self.assertIn("3 of 3 tables looked at", text)
        self.assertNotIn("the Get ends", text)
        self.assertRegex(text, "No MANIFEST says in which order .* the newest write, sequence 9")
        self.assertEqual(done.returncode, 0)

    def test_level_0_is_looked_through_from_new_to_old(self):
        def one(sequence):
            return tables.write([[(b"k", b"v" * sequence)]], Bloom().create,
                                stored_as=lambda key: tables.internal(key, sequence))

        # Numbers of one digit more are larger, whatever their names' order is.
        sequences = {999_998: 3, 999_999: 5, 1_000_000: 9}
        path = folder("level-0")
        tables.database(path, [(0, number, one(sequence), *[tables.internal(b"k", sequence)] * 2)
                               for number, sequence in sequences.items()])
        self.assertEqual(leveldb_finds(path, b"k"), f"{b'v' * 9}")
        for way, numbers in ((), [1_000_000]), (("--all",), [1_000_000, 999_999, 999_998]):
            found = json.loads(command("probe", "--json", *way, path, "k").stdout)["tables"]
            self.assertEqual([(os.path.basename(visit["path"]), visit["blocks"][0]["entry"]["sequence"])
                              for visit in found],
                             [(f"{number:06}.ldb", sequences[number]) for number in numbers])
            self.assertEqual({visit["level"] for visit in found}, {0})
            text = " ".join(command("probe", *way, path, "k").stdout.split())
            n = len(numbers)
            self.assertRegex(text, f"{n} of 3 tables looked at: .*{n} filters? (is|are) queried, 0 say no; "
                             f"{n} data blocks? (is|are) read")
        # Only what no filter keeps from being read.
        text = " ".join(command("probe", written("absent-one/000005.ldb", table(keys(0, 100))),
                                "key00000007x").stdout.split())
        self.assertIn("1 filter is queried, 1 says no; 0 data blocks are read.", text)

    def test_probe_says_what_is_missing(self):
        path = database("probe-missing", (1, 5, table(keys(0, 100)), b"key00000000", b"key00000099"),
                        (1, 6, b"", b"key00000100", b"key00000199"))
        os.remove(os.path.join(path, "000006.ldb"))
        done = command("probe", path, "key00000150")
        self.assertEqual(done.returncode, 1)
        self.assertIn("MISSING", done.stdout)
        found = json.loads(command("probe", "--json", path, "key00000150").stdout)
        self.assertEqual(len(found["database_problems"]), 1)
        os.symlink("/no such folder/000006.ldb", os.path.join(path, "000006.ldb"))
        done = command("verify", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("000006.ldb: MISSING", done.stdout)

    def test_probe_says_that_there_is_a_log(self):
        path = by_leveldb("log", 200, 20)
        for log in glob.glob(os.path.join(path, "*.log")):
            os.remove(log)
        # A log of the program's own, and a file of LevelDB's that is none.
        written(os.path.join(path, "program.log"), b"no key")
        written(os.path.join(path, "000998.dbtmp"), b"no key either")
        for logs in (), (21,), (21, 4000):
            for number, length in enumerate(logs, 999):
                written(os.path.join(path, f"{number:06}.log"), bytes(length))
            told = re.findall("What was written last, (.*?), is in the log", command("probe", path, "key").stdout)
            self.assertEqual(told, [["21 B"], ["3.9 KiB"]][len(logs) - 1] if logs else [])
            self.assertEqual(json.loads(command("probe", "--json", path, "key").stdout)["log_bytes"], sum(logs))

    def test_thousands_of_tables_by_name(self):
        path = database("thousands", *[(1, 10 + i, table([key]), key, key)
                                       for i, key in enumerate(keys(0, 3000))])
        done = command("verify", *sorted(glob.glob(os.path.join(path, "*.ldb"))), **limited(800))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3,000 tables", done.stdout)

    def test_a_system_that_gives_no_threads(self):
        one = table(keys(0, 100))
        path = folder("no-threads")
        for i in range(20):
            written(f"no-threads/{i + 1:06}.ldb", one)
        # No thread's stack is as large as the address space.
        no_threads = dict(os.environ, RUST_MIN_STACK=str(1 << 60))
        for way in (["verify"], ["inspect"]):
            done = command(*way, "--json", *sorted(glob.glob(os.path.join(path, "*.ldb"))),
                           env=no_threads)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(done.stdout)["tables"]
            self.assertEqual([os.path.basename(each["path"]) for each in found],
                             [f"{i + 1:06}.ldb" for i in range(20)])

    def test_memory_is_not_that_of_all_tables(self):
        # Large filters, so that a table's are seen if they stay.
        one = table_of(by_leveldb("memory", 800, 200, 1, bits_per_key=100))
        path = folder("memory-many")
        os.makedirs(path)
        for i in range(500):
            os.link(one, os.path.join(path, f"{i + 1:06}.ldb"))
        self.assertGreater(500 * os.path.getsize(one), 40 << 20)
        found = inspect(one)["total"]
        self.assertGreater(500 * found["filter_block_bytes"], 4 << 20)
        page = os.path.join(WORK, "memory.html")
        for args in (["verify"], ["inspect", "--html", page]):
            done = command(*args, "--json", path, **limited_to_what_it_writes_to(7))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(json.loads(done.stdout)["tables"]), 500)

    def test_of_long_keys_only_what_is_shown_is_kept(self):
        # 8 MB of keys, none of which a filter has.
        long = [b"%02d" % i + b"k" * 400_000 for i in range(20)]
        some = [b"%02d" % i + b"a" * 10_000 for i in range(20)]
        pairs = [[(key, b"")] for pair in zip(some, long) for key in pair]
        one = written("long-lost.ldb", tables.write(pairs, lambda of: Bloom().create(
            of if len(of[0]) < 20_000 else [b"another"])))
        path = folder("long-lost")
        os.makedirs(path)
        for i in range(6):
            os.link(one, os.path.join(path, f"{i + 1:06}.ldb"))
        for way in "inspect", "verify":
            done = command(way, path, **limited_to_what_it_writes_to(40))
            self.assertEqual(done.returncode, 1, done.stderr)
        shown = re.findall(r'LOST KEY "(\d\dk+)\.\.\. \(400002 bytes\)', done.stdout)
        self.assertEqual(len(shown), 120)
        # Programs get them whole.
        for way in "verify", "inspect":
            [found] = json.loads(command(way, "--json", one).stdout)["tables"]
            self.assertEqual([key["key_hex"] for key in found["lost"]], [key.hex() for key in long])
            self.assertEqual(found["lost"][0]["key"], f'"{shown[0]}... (400002 bytes)')

    def test_a_zstd_block_that_says_it_is_gigabytes(self):
        def block(kind, body, size, last=0):
            return struct.pack("<I", last | kind << 1 | size << 3)[:3] + body

        def sequences(number, offset, match, bits, last=0):
            header = b"\0\xff" + struct.pack("<H", number - 0x7F00) if number >= 0x7F00 else (
                b"\0" + bytes([number]))
            body = header + b"\x54" + bytes([0, offset, match]) + bits
            return block(2, body, len(body), last)

        # 128 KiB of zeros, and then 32,900 matches of 128 KiB each, in 66 KB.
        frame = (b"\x28\xb5\x2f\xfd\0\x50" + block(1, b"\0", 128 << 10)
                 + sequences(3, 16, 0, bytes(6) + b"\1")
                 + sequences(32_900, 0, 52, b"\xff" * 65_800 + b"\1", 1))
        path = written("zstd-bomb/000005.ldb",
                       table(keys(0, 3), compression=2, compress=lambda _: frame))
        done = command("verify", path, **limited(1000))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("zstd", done.stdout)

    def test_of_several_filter_blocks_leveldbs_own_is_read(self):
        for policy, other in ((POLICY, "a.Policy"), (POLICY, "z.Policy"), ("a.Policy", "b.Policy")):
            ends = b"key00000000", b"key00000099"
            path = database("several-filter-blocks",
                            (1, 5, table(keys(0, 100), policy=policy, other_policy=other), *ends))
            [found] = inspect(path)["tables"]
            self.assertEqual((found["policy"], found["filters"]), (policy, 3))
            done = command("verify", path)
            self.assertEqual(done.returncode, 0)
            [visit] = json.loads(command("probe", "--json", path, "key00000007").stdout)["tables"]
            self.assertEqual(visit["policy"], policy)

    def test_a_filter_block_that_is_not_in_the_file(self):
        for handle in ((1 << 64) - 1, 1), (0, (1 << 64) - 5), (0, 1 << 63), (3000, 50000):
            for other in None, "a.Policy":
                path = written("no-filter-block/000005.ldb",
                               table(keys(0, 100), other_policy=other, filter_handle=handle))
                found = inspect(path)["total"]
                self.assertEqual((found["filter_block_bytes"], found["entries"]), (0, 100))
                done = command("verify", path)
                self.assertEqual(done.returncode, 1)
                self.assertIn("expected a filter block and its trailer within bytes 0 to", done.stdout)
                self.assertEqual(command("probe", path, "key00000007").returncode, 1)
                # Nor where it is another one's.
                if other:
                    written(path, table(keys(0, 100), policy=other, other_policy=POLICY,
                                        filter_handle=handle))
                    self.assertEqual(inspect(path)["tables"][0]["problem_count"], 0)

    def test_what_is_not_in_use_loses_nothing(self):
        path = database("unused-lost", (1, 5, table(keys(0, 100)), b"key00000000", b"key00000099"))
        written(os.path.join(path, "000009.ldb"), table(keys(0, 100), lambda of: Bloom().create(of[:len(of) // 2])))
        done = command("verify", path)
        self.assertEqual(done.returncode, 0)
        self.assertIn("no key is lost", done.stdout)
        self.assertNotIn("lost-keys", [note["topic"] for note in inspect(path)["notes"]])
        self.assertEqual(command("verify", os.path.join(path, "000009.ldb")).returncode, 1)

    def test_filters_that_match_everything_prove_nothing(self):
        path = written("version-byte/000005.ldb", table(
            keys(0, 300), lambda keys_: b"".join(key[-4:] for key in keys_) + b"\x80",
            policy="my.HashList"))
        [note] = [note for note in inspect(path)["notes"] if note["topic"] == "own-policy"]
        self.assertIn("their format is not LevelDB's", note["text"])

    def test_too_few_keys_to_tell(self):
        def without_time(keys_):
            return Bloom().create([key[:-8] for key in keys_])

        def of(first, end):
            return table([b"user%05d@2024%04d" % (i, i % 10) for i in range(first, end)], without_time,
                         policy="my.WithoutTime")

        few, many = (written(f"few-and-many/00000{i}.ldb", of(*ends))
                     for i, ends in ((5, (0, 10)), (6, (100, 400))))
        self.assertIn("too few keys to tell", command("verify", few).stdout)
        for paths, text in ((few,), "too few keys to tell"), ((few, many), "without its last 8 bytes"):
            [note] = [note for note in inspect(*paths)["notes"] if note["topic"] == "own-policy"]
            self.assertIn(text, note["text"])

        # Filters of whole keys, which all match.
        for number in 19, 20:
            path = written("few-or-enough/000005.ldb", table(keys(0, number), policy="my.Policy"))
            self.assertEqual("too few keys to tell" in command("verify", path).stdout, number < 20)

    def test_a_damaged_block_among_others_of_a_filter(self):
        whole = tables.write([[(key, b"v" * 10) for key in keys(i, i + 4)] for i in range(0, 4000, 4)],
                             Bloom().create)
        damaged = bytearray(whole)
        for i in range(30):
            damaged[300 + i * 2900] ^= 0xFF
        found = [inspect(written(f"part-{i}/000005.ldb", data))["total"]["bloom"]
                 for i, data in enumerate((whole, bytes(damaged)))]
        self.assertEqual(found[0]["keys_per_filter"]["min"], found[1]["keys_per_filter"]["min"])
        self.assertEqual(found[0]["bits_per_key_set"], found[1]["bits_per_key_set"])
        self.assertLess(found[1]["false_positive_rate_measured"], 0.015)

    def test_keys_that_a_get_does_not_find(self):
        swapped = keys(0, 100)
        swapped[10], swapped[60] = swapped[60], swapped[10]
        kinds = table(keys(0, 20), stored_as=lambda key: tables.internal(key, kind=9))
        for name, data, text in (("swapped", table(swapped), "not before the one before it"),
                                 ("kinds", kinds, "a value or a deletion")):
            path = database(name, (1, 5, data, b"key00000000", b"key00000099"))
            done = command("verify", path)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(text, done.stdout)
        # Without the MANIFEST's word, the keys may be in an order of their own.
        self.assertEqual(command("verify", written("alone/000005.ldb", table(swapped))).returncode, 0)

    def test_a_table_ends_where_the_manifest_says(self):
        path = by_leveldb("length", 1000, 100)
        one = table_of(path)
        data = read(one)
        # A copy of another time may be whole by itself.
        other = read(table_of(by_leveldb("length-of-another", 500, 100)))
        larger = read(table_of(by_leveldb("length-of-a-third", 2000, 100)))
        for contents, keys_ in ((data + b"what somebody appended", 1000), (data, 1000), (other, None),
                                (larger, None)):
            written(one, contents)
            self.assertEqual(leveldb_finds(path, b"key00000007") is None, keys_ is None)
            for way in (["verify", path], ["verify", one], ["inspect", path],
                        ["probe", path, "key00000007"]):
                done = command(*way)
                self.assertEqual(done.returncode, 0 if keys_ else 1, done.stdout)
                said = f"the MANIFEST says {len(data)} bytes, and the file has {len(contents)}"
                self.assertEqual(said in " ".join(done.stdout.split()), not keys_, done.stdout)
            found = json.loads(command("verify", "--json", path).stdout)["tables"]
            self.assertEqual([table_["entries"] for table_ in found], [keys_ or 0])

    def test_keys_that_are_looked_for_in_another_block(self):
        def one(key, sequence):
            return tables.internal(key, sequence)

        top = (1 << 56) - 1
        # Keys with their writes, in two blocks, and what the index has for the first of them.
        for first, second, parting, found in (
                ([(b"b", 5)], [(b"d", 5)], (b"b", 5), True), ([(b"b", 5)], [(b"d", 5)], (b"c", top), True),
                ([(b"b", 5)], [(b"d", 5)], (b"d", top), True), ([(b"b", 5)], [(b"d", 5)], (b"a", 5), False),
                ([(b"b", 5)], [(b"d", 5)], (b"b", top), False), ([(b"b", 5)], [(b"d", 5)], (b"e", 5), False),
                ([(b"b", 5)], [(b"d", 5)], (b"d", 5), False), ([(b"b", 9)], [(b"b", 5)], (b"b", 9), True),
                ([(b"b", 9)], [(b"b", 5)], (b"b", 7), True), ([(b"b", 5)], [(b"b", 9)], (b"b", 5), None)):
            sequences = iter([sequence for _, sequence in first + second])
            data = tables.write(
                [[(key, b"%d" % sequence) for key, sequence in block] for block in (first, second)],
                Bloom().create, stored_as=lambda key, of=sequences: one(key, next(of)),
                index_keys=[one(*parting), one(b"z", 5)])
            path = folder("parted")
            tables.database(path, [(1, 5, data, one(b"a", top), one(b"z", 0))])
            values = [leveldb_finds(path, key) for key in (b"b", b"d")]
            newest = {key: max(n for k, n in first + second if k == key) for key, _ in first + second}
            wanted = [f"b'{newest[key]}'" if key in newest else "None" for key in (b"b", b"d")]
            self.assertEqual(values == wanted, bool(found), (parting, values))
            done = command("verify", path)
            self.assertEqual(done.returncode, 0 if found else 1, (parting, done.stdout))
            self.assertEqual("the index has for" in done.stdout, found is False, done.stdout)
            self.assertEqual(command("inspect", path).returncode, done.returncode)
            # Another comparator may have them so.
            alone = written("parted-alone/000005.ldb", data)
            self.assertEqual(command("verify", alone).returncode, 0)

    def test_names_that_leveldb_does_not_look_for(self):
        path = database("names-5", (1, 5, table(keys(0, 100)), b"key00000000", b"key00000099"))
        written(os.path.join(path, "000005.sst"), b"left over")
        done = command("verify", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("000005.sst: not in the MANIFEST", done.stdout)
        os.remove(os.path.join(path, "000005.sst"))
        os.rename(os.path.join(path, "000005.ldb"), os.path.join(path, "5.ldb"))
        done = command("verify", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("000005.ldb: MISSING", done.stdout)

    def test_files_that_may_not_be_read(self):
        with of_somebody_else("secret") as (path, program, other):
            [manifest] = glob.glob(os.path.join(path, "MANIFEST-*"))
            for closed, text in (table_of(path), "could not be read"), (manifest, "Permission denied"):
                os.chmod(closed, 0)
                done = run(program, "verify", path, check=False, **other)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(text, done.stdout)
                said = run(program, "verify", "--json", path, check=False, **other)
                self.assertEqual((said.returncode, json.loads(said.stdout)["sound"]), (2, False))
                self.assertNotRegex(done.stdout, "DAMAGED|does not open")
                # Nothing is said of keys that nobody saw.
                self.assertEqual("no key is lost" in done.stdout, closed == manifest, done.stdout)
                os.chmod(closed, 0o644)
            self.assertEqual(run(program, "verify", path, **other).returncode, 0)

    def test_a_table_elsewhere_that_may_not_be_read(self):
        with of_somebody_else("elsewhere") as (path, program, other):
            # As on another disk.
            elsewhere = os.path.join(os.path.dirname(path), "elsewhere")
            os.mkdir(elsewhere)
            one = table_of(path)
            os.rename(one, os.path.join(elsewhere, "table"))
            os.symlink(os.path.join(elsewhere, "table"), one)
            self.assertEqual(run(program, "verify", path, **other).returncode, 0)
            os.chmod(elsewhere, 0o700 if other else 0)
            for way in ["verify", path], ["inspect", path], ["probe", path, "key00000007"]:
                done = run(program, *way, check=False, **other)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertRegex(done.stdout, "could not be read: Permission denied")
                self.assertNotRegex(done.stdout, "MISSING|cannot be found")
            os.chmod(elsewhere, 0o700)

    def test_what_is_not_in_use_is_in_no_figure(self):
        path = database("unused-figures",
                        (1, 5, table(keys(0, 1000)), b"key00000000", b"key00000999"))
        before = inspect(path)
        page = os.path.join(WORK, "unused-figures.html")
        texts = []
        for _ in range(2):
            texts.append(command("inspect", "--html", page, path).stdout.split("\ntable ")[0])
            html = read(page).decode()
            self.assertRegex(html, "<tr><td>tables<td>1, ")
            self.assertIn("<td>leveldb.BuiltinBloomFilter2\n", html)
            self.assertNotIn("Damage", html)
            # As a compaction leaves it that was cut short, with filters of another policy and setting.
            written(os.path.join(path, "000009.ldb"), table(keys(0, 3000), Bloom(20).create))
            written(os.path.join(path, "000010.ldb"), table(keys(0, 500), policy="my.Other"))
            written(os.path.join(path, "000011.ldb"), b"begun")
        self.assertEqual(texts[0], texts[1])
        found = inspect(path)
        self.assertEqual(found["total"], before["total"])
        self.assertEqual((before["unused_tables"], before["unused_entries"]), (0, 0))
        for of in found, json.loads(command("verify", "--json", path).stdout):
            self.assertEqual((of["unused_tables"], of["unused_entries"]), (3, 3500))
        [note] = [note["text"] for note in found["notes"] if note not in before["notes"]]
        self.assertIn("3 tables (3,500 entries) are not in the MANIFEST", note)
        self.assertIsNone(json.loads(command("inspect", "--quick", "--json", path).stdout)[
            "unused_entries"])

    def test_the_policy_of_a_damaged_table_is_not_known(self):
        sound = written("policy-known/000005.ldb", table(keys(0, 100)))
        damaged = written("policy-known/000006.ldb", b"no table")
        text = command("inspect", sound, damaged).stdout
        self.assertRegex(text, r"policy +leveldb.BuiltinBloomFilter2 \(1 table\), not known \(1 table\)")
        self.assertRegex(command("inspect", damaged).stdout, r"policy +not known")

    def test_pipes_are_not_waited_for(self):
        path = by_leveldb("pipes", 200, 20)
        [manifest] = glob.glob(os.path.join(path, "MANIFEST-*"))
        for name in table_of(path), manifest, os.path.join(path, "CURRENT"):
            os.remove(name)
            os.mkfifo(name)
            for args in (["verify", path], ["inspect", path], ["probe", path, "key00000007"]):
                done = command(*args)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn("not a file", done.stdout)
                self.assertEqual("CURRENT: not a file" in " ".join(done.stdout.split()), name.endswith("CURRENT"), done.stdout)

    def test_bits_are_spent_by_their_own_table(self):
        alone = written("spent/000005.ldb", table(keys(0, 100)))
        other = written("spent/000006.ldb", table(keys(0, 3000), lambda keys_: hashlib.sha512(
            keys_[0]).digest() * 2 + b"\5", policy="my.Other"))
        spent = [inspect(*paths)["total"]["bloom"]["bits_per_key_spent"]
                 for paths in ((alone,), (alone, other))]
        self.assertEqual(spent[0], spent[1])

    def test_names_from_a_file_are_no_commands_to_a_terminal(self):
        path = database("escapes", (1, 5, table(keys(0, 100), policy="x\x1b[2J\x07<b>"),
                                    b"key00000000", b"key00000099"), comparator=b"c\x1b[31m<b>")
        page = os.path.join(WORK, "escapes.html")
        for done in command("inspect", "--html", page, path), command("verify", path), command(
                "probe", path, "key00000007"):
            self.assertNotIn("\x1b", done.stdout)
        self.assertNotRegex(read(page), b"\x1b|\x07|[^>]<b>")

    def test_keys_turn_no_line(self):
        # What is behind the mark would be seen before it.
        key = "a\u202egnp.exe\u2028all is well".encode()
        path = database("turned", (1, 5, table([key]), key, key))
        lose(table_of(path))
        page = os.path.join(WORK, "turned.html")
        for args in (["verify", path], ["verify", "--json", path], ["probe", path, key.decode()],
                     ["inspect", "--html", page, path]):
            done = command(*args)
            self.assertNotRegex(done.stdout, "[\u202e\u2028]", args)
            if args[0] != "inspect":
                self.assertIn("hex:" + key.hex(), done.stdout)
        self.assertNotRegex(read(page).decode(), "[\u202e\u2028]")

    def test_names_of_files_are_no_commands_to_a_terminal(self):
        name = "names\x1b[31m\x07\n"
        path = os.path.join(WORK, name)
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(by_leveldb("names-of-files", 200, 20), path)
        one = table_of(path)
        page = os.path.join(path, name + ".html")
        written(os.path.join(path, name + ".ldb"), b"no table")
        ways = [["verify", path], ["probe", path, "key00000007"],
                ["inspect", "--html", page, path], ["inspect", "--html", one, path],
                ["inspect", path + "no"]]
        for contents in read(one), b"no table", None:
            if contents is None:
                os.remove(one)
                ways = [["verify", path]]
            else:
                written(one, contents)
            for args in ways:
                done = command(*args)
                self.assertNotRegex(done.stdout + done.stderr, "[\x1b\x07]", args)
                self.assertIn(r"names\u{1b}[31m\u{7}\n", done.stdout + done.stderr, args)
            self.assertNotRegex(read(page), b"[\x1b\x07]")
        shutil.rmtree(path)

    def test_what_cannot_be_written(self):
        path = by_leveldb("written-where", 200, 20)
        done = command("inspect", "--html", "/no such folder/report.html", path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([COMMAND, "verify", "/no such path"], stderr=full, check=False)
        self.assertEqual(done.returncode, 2)
        for args in (["verify", path], ["size"], ["--help"], ["verify", "--help"], ["--version"],
                     ["help", "size"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([COMMAND, *args], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn(b"leveldb-bloom: stdout: ", done.stderr, args)
        # What was found is shown, whatever becomes of the report; it may have taken hours.
        for way in [], ["--json"]:
            done = command("inspect", "--html", "/dev/full", *way, path)
            self.assertEqual((done.returncode, done.stdout), (2, command("inspect", *way, path).stdout))
            self.assertIn("/dev/full: No space left", done.stderr)

    def test_no_half_report(self):
        path = by_leveldb("half-report", 200, 20)
        page = os.path.join(WORK, "half.html")
        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        done = command("inspect", "--html", page, path, preexec_fn=limit_files)
        self.assertEqual((done.returncode, done.stdout), (2, command("inspect", path).stdout))
        self.assertIn("half.html: File too large", done.stderr)
        self.assertFalse(os.path.exists(page))
        done = command("inspect", "--html", page, path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(read(page)), 4096)

    def test_report_to_stdout(self):
        path = by_leveldb("report-to-stdout", 200, 20)
        page = os.path.join(WORK, "to-stdout.html")
        command("inspect", "--html", page, path)
        done = command("inspect", "--html", "-", path, cwd=WORK)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, read(page).decode())
        with open(page + ".2", "wb") as file:
            subprocess.run([COMMAND, "inspect", "--html", "/dev/stdout", path], stdout=file, check=True)
        self.assertEqual(read(page + ".2"), read(page))
        done = command("inspect", "--html", "/dev/stdout", "--json", path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        # Who wants neither gets neither.
        done = subprocess.run([COMMAND, "inspect", "--html", "/dev/null", "--json", path],
                              stdout=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 0)
        done = command("inspect", "--html", "-", "--json", path, cwd=WORK)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("both write to stdout", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(WORK, "-")))


class Ranges(unittest.TestCase):
    """Where the MANIFEST has a Get look for a key, and what it has elsewhere."""

    def lost(self, path):
        """The keys that verify calls lost, which must be those that it counts."""
        done = command("verify", "--limit", "1000", path)
        named = [key.encode() for key in re.findall(r'LOST KEY "(\w+)"', done.stdout)]
        found = json.loads(command("verify", "--json", "--limit", "1000", path).stdout)
        self.assertEqual(sum(each["keys_lost"] for each in found["tables"]), len(named))
        self.assertEqual([bytes.fromhex(key["key_hex"]) for each in found["tables"]
                          for key in each["lost"]], named)
        self.assertEqual((done.returncode, found["sound"]),
                         (1, False) if named or found["range_errors"] else (0, True))
        if named:
            self.assertRegex(done.stdout, f"\n{len(named)} KEYS? (IS|ARE) LOST, all checksums are right")
        return set(named)

    def probed(self, path, key, *more):
        done = command("probe", *more, path, key.decode())
        return done.returncode, " ".join(done.stdout.split())

    def test_keys_outside_of_their_tables_range(self):
        all_ = keys(0, 100)
        for level, (first, last) in ((0, (10, 89)), (1, (10, 99)), (2, (0, 89)), (1, (0, 99)), (1, (89, 10)),
                                     (1, (40, 40))):
            path = database("outside", (level, 5, table(all_), all_[first], all_[last]))
            found = leveldb_gets(path, all_)
            self.assertEqual(len(found), max(0, last - first + 1))
            self.assertEqual(self.lost(path), set(all_) - found)
            page = os.path.join(WORK, "outside.html")
            command("inspect", "--html", page, path)
            done = command("inspect", path)
            self.assertEqual(done.returncode, 0 if len(found) == 100 else 1)
            notes = {note["topic"]: note["text"] for note in inspect(path)["notes"]}
            self.assertNotIn("lost-keys", notes)
            self.assertEqual("ranges" in notes, len(found) < 100)
            self.assertEqual(inspect(path)["total"]["keys_outside"], 100 - len(found))
            self.assertEqual(notes.get("ranges", "Bloom") in read(page).decode(), True)
            self.assertIn(notes.get("ranges", "Bloom filters"),
                          " ".join(done.stdout.split()) + "Bloom filters")
            for key in all_[::19]:
                one = self.probed(path, key)
                if key in found:
                    self.assertEqual(one[0], 0)
                    self.assertIn("found: ", one[1])
                    self.assertNotIn("by the MANIFEST", one[1])
                    continue
                self.assertNotRegex(one[1], "found: |LOST")
                self.assertIn("0 of 1 table looked at: by the MANIFEST", one[1])
                status, text = self.probed(path, key, "--all")
                self.assertEqual(status, 1)
                self.assertIn("A Get does not find the key: it is lost.", text)
                self.assertIn("0 filters are queried, 0 say no; 0 data blocks are read.", text)
                said = (f'begins with "{all_[first].decode()}"' if key < all_[first] else
                        f'ends with "{all_[last].decode()}"')
                self.assertRegex(text, f"LOST: the block holds a value of 50 bytes, .* by the MANIFEST the table {said}")
                [visit] = json.loads(command("probe", "--all", "--json", path,
                                             key.decode()).stdout)["tables"]
                self.assertEqual((visit["asked"], said in visit["outside"]), (False, True))
            # RepairDB finds them again.
            self.assertEqual(leveldb_gets(path, all_, "repaired"), set(all_))

    def test_what_is_not_known_of_ranges_is_not_said(self):
        all_ = keys(0, 100)
        path = database("outside-unknown", (1, 5, table(all_), all_[60], all_[10]),
                        (1, 6, table(all_), all_[20], all_[50]), comparator=b"test.Other")
        self.assertEqual(self.lost(path), set())
        self.assertEqual(command("inspect", path).returncode, 0)
        self.assertIn("found: ", self.probed(path, all_[99])[1])
        os.remove(os.path.join(path, "CURRENT"))
        os.remove(os.path.join(path, "MANIFEST-000002"))
        self.assertEqual(self.lost(path), set())
        # What the MANIFEST does not name has no range.
        path = database("outside-unused", (1, 5, table(all_[:50]), all_[0], all_[49]))
        unused = written(os.path.join(path, "000009.ldb"), table(all_[50:]))
        self.assertEqual(self.lost(path), set())
        self.assertEqual(command("verify", unused).returncode, 0)

    def test_ranges_that_overlap(self):
        picked = random.Random(1)
        overlaps = lost_in_all = 0
        for turn in range(12):
            # Tables with every n-th key lie across each other; the last turns have some that do not.
            all_, n = keys(0, 120), picked.randrange(2, 8)
            of_each = [[] for _ in range(n)]
            for i, key in enumerate(all_):
                mixed = picked.random() < 0.2 and turn < 9
                of_each[picked.randrange(n) if mixed else i * n // 120].append(key)
            of_each = [each for each in of_each if each]
            picked.shuffle(of_each)
            path = database("overlap", *[(1 + turn % 3, 5 + i, table(each), each[0], each[-1])
                                         for i, each in enumerate(of_each)])
            debians = leveldb_gets(path, all_)
            # The wheel's asserts nothing.
            found = leveldb_gets(path, all_, WHEEL) if HAS_WHEEL else debians
            text = command("verify", path).stdout
            told = text.count(" OVERLAPS ")
            # Debian's asserts that there are none.
            self.assertEqual(debians is None, told > 0)
            self.assertEqual(turn < 9, told > 0)
            errors = json.loads(command("verify", "--json", path).stdout)["range_errors"]
            self.assertEqual([error for error in errors if error not in text], [])
            self.assertEqual(len(errors), told)
            self.assertEqual(inspect(path)["databases"][0]["range_errors"], errors)
            self.assertEqual("ranges" in [note["topic"] for note in inspect(path)["notes"]], told > 0)
            overlaps += told
            if told and not HAS_WHEEL:
                continue
            self.assertEqual(self.lost(path), set(all_) - found, turn)
            for key in all_[::31]:
                status, text = self.probed(path, key)
                self.assertEqual(("found: " in text, status), (key in found, int(told > 0)))
                text = self.probed(path, key, "--all")[1]
                self.assertEqual("LOST: " in text, key not in found)
            lost_in_all += 120 - len(found)
        self.assertGreater(overlaps, 20)
        self.assertTrue(lost_in_all > 100 or not HAS_WHEEL)
        # Level 0 is looked through table by table.
        path = database("overlap-0", (0, 5, table(all_), all_[0], all_[-1]),
                        (0, 6, table(all_), all_[0], all_[-1]))
        self.assertEqual(self.lost(path), set())
        self.assertEqual(leveldb_gets(path, all_), set(all_))

    def test_writes_of_a_key_that_go_on_in_the_next_table(self):
        def stored(*pairs):
            return [tables.internal(key, sequence) for key, sequence in pairs]

        def of(*pairs):
            each = iter(pairs)
            return tables.write([[(key, b"%d" % sequence) for key, sequence in pairs]], Bloom().create,
                                stored_as=lambda key: tables.internal(key, next(each)[1]))

        first, second = [(b"a", 3), (b"k", 9)], [(b"k", 5), (b"z", 4)]
        for ends, others, pairs, value, said in (
                ((first[0], first[1]), (second[0], second[1]), (first, second), "9", None),
                # The first table ends before the MANIFEST has it end: a Get does not go on to the next.
                ((first[0], first[1]), (second[0], second[1]), (first[:1], second), "None",
                 "expected the largest key that the MANIFEST has"),
                # And behind: what was written in between is found by no snapshot.
                ((first[0], first[1]), (second[0], second[1]), (first + [(b"k", 7)], second), "9",
                 "expected no key behind the largest that the MANIFEST has"),
                ((first[0], first[1]), ((b"z", 4), (b"z", 4)), (first, [(b"z", 8), (b"z", 4)]), "9",
                 "expected no key before the smallest that the MANIFEST has"),
                # The newest write is where older ones are looked for.
                ((first[0], (b"k", 4)), ((b"k", 3), second[1]), ([(b"a", 3), (b"k", 4)], [(b"k", 9), (b"z", 4)]),
                 "4", 'LOST KEY "k" \\(value, sequence 9\\): by the ranges .* another table of level 1')):
            path = folder("goes-on")
            tables.database(path, [(1, 5, of(*pairs[0]), *stored(*ends)), (1, 6, of(*pairs[1]), *stored(*others))])
            self.assertEqual(leveldb_finds(path, b"k"), value if value == "None" else f"b'{value}'")
            done = command("verify", path)
            self.assertEqual(done.returncode, int(said is not None), done.stdout)
            if said:
                self.assertRegex(done.stdout, said)
        text = self.probed(path, b"k")[1]
        self.assertRegex(text, "found: .* sequence 4")
        text = self.probed(path, b"k", "--all")[1]
        self.assertRegex(text, "LOST: .* sequence 9")

    def test_a_get_looks_into_one_table_of_a_level(self):
        # Its filter loses the newest write; the older one is in the next table, where no Get looks.
        def one(sequence, create_filter):
            return tables.write([[(b"k", b"v")]], create_filter,
                                stored_as=lambda key: tables.internal(key, sequence))

        path = folder("one-of-a-level")
        tables.database(path, [
            (1, 5, one(9, lambda _: Bloom().create([b"another"])), *[tables.internal(b"k", 9)] * 2),
            (1, 6, one(5, Bloom().create), *[tables.internal(b"k", 5)] * 2)])
        self.assertEqual(leveldb_finds(path, b"k"), "None")
        for more in ((), ("--all",)):
            status, text = self.probed(path, b"k", *more)
            self.assertEqual(status, 1)
            self.assertIn("A Get does not find the key: it is lost.", text)
            self.assertEqual("for older snapshots: other Gets look for the key in the table before" in text,
                             bool(more))

        # What an older snapshot does not find either is lost to that.
        tables.database(folder("one-of-a-level"), [
            (1, 5, one(9, Bloom().create), *[tables.internal(b"k", 9)] * 2),
            (1, 6, one(5, lambda _: Bloom().create([b"another"])), *[tables.internal(b"k", 5)] * 2)])
        status, text = self.probed(path, b"k", "--all")
        self.assertEqual(status, 1)
        self.assertRegex(text, "found: .* sequence 9 .*LOST: although the filter says no, .* sequence 5")
        self.assertNotIn("A Get ", text)

    def test_what_a_get_goes_past_is_named_if_it_cannot_be_read(self):
        path = database("past-damaged", (1, 5, table(keys(0, 10)), b"key00000000", b"key00000009"),
                        (1, 6, table(keys(10, 20)), b"key00000010", b"key00000019"))
        damaged = bytearray(table(keys(10, 20)))
        damaged[9] ^= 0xFF
        written(os.path.join(path, "000006.ldb"), bytes(damaged))
        self.assertNotIn("000006", self.probed(path, b"key00000007x")[1])
        self.assertEqual(self.probed(path, b"key00000007x")[0], 0)
        status, text = self.probed(path, b"key00000007x", "--all")
        self.assertEqual(status, 1)
        self.assertIn("000006.ldb, level 1", text)
        self.assertIn("checksum mismatch", text)
        os.remove(os.path.join(path, "000006.ldb"))
        os.mkfifo(os.path.join(path, "000006.ldb"))
        status, text = self.probed(path, b"key00000007x", "--all")
        self.assertEqual(status, 2)
        self.assertIn("not a file", text)

    def test_of_a_level_the_newest_write_may_be_the_one_that_is_found(self):
        def one(sequence):
            return tables.write([[(b"k", b"v")]], Bloom().create,
                                stored_as=lambda key: tables.internal(key, sequence))

        for first, second, says in ((3, 9, False), (9, 3, True)):
            path = folder("newest-found")
            tables.database(path, [
                (1, 5, one(first), tables.internal(b"a"), tables.internal(b"b")),
                (1, 6, one(second), tables.internal(b"k", second), tables.internal(b"k", second))])
            status, text = self.probed(path, b"k", "--all")
            self.assertEqual(status, 1)
            self.assertRegex(text, f"LOST: .* sequence {first}, .*found: .* sequence {second}")
            self.assertEqual("A Get gives what was written to the key earlier" in text, says)

    def test_keys_that_are_lost_twice_count_once(self):
        all_ = keys(0, 100)
        for policy in POLICY, "my.Hash":
            data = table(all_, lambda keys_: Bloom().create([b"another"] if all_[0] in keys_ else keys_),
                         policy=policy)
            one = tables.Table(data)
            by_filter = [key for key in one.keys_of_filters()[0] if policy == POLICY
                         and not Bloom().may_match(key, one.filters()[0])]
            path = database("lost-twice", (1, 5, data, all_[10], all_[89]))
            self.assertEqual(self.lost(path), {*by_filter, *all_[:10], *all_[90:]})
            self.assertEqual(inspect(path)["total"]["keys_outside"], 20)

    def test_no_database_has_keys_outside(self):
        # Versions of a few keys are kept for snapshots until they fill several tables, ranges of all are
        # compacted and moved, and what is read often as well.
        program = """if True:
            import plyvel, random, sys
            random.seed(7)
            db = plyvel.DB(sys.argv[1], create_if_missing=True, bloom_filter_bits=10, compression=None,
                           write_buffer_size=256 << 10, max_file_size=1 << 20)
            snapshots = []
            for turn in range(3):
                for i in range(90):
                    db.put(b"hot%d" % (i % 3), bytes([i]) * 30000)
                    snapshots.append(db.snapshot())
                for i in range(1500):
                    key = b"key%08d" % random.randrange(20000)
                    db.put(key, b"v" * 300) if i % 5 else db.delete(key)
                if turn:
                    # In the end all of it: whether LevelDB compacts the hot keys by itself before it is
                    # asked depends on how fast the machine is.
                    start = b"key%08d" % random.randrange(20000)
                    db.compact_range(start=start if turn == 1 else None, stop=b"l")
                for i in range(1000):
                    db.get(b"key%08d~" % random.randrange(20000))
                print(turn, flush=True)
                sys.stdin.readline()
            [snapshot.close() for snapshot in snapshots]
            db.close()"""
        for python_path in ("", WHEEL) if HAS_WHEEL else ("",):
            path = folder("churned")
            with subprocess.Popen(["/usr/bin/python3", "-c", program, path], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True,
                                  env=dict(os.environ, PYTHONPATH=python_path)) as churning:
                shared = 0
                for _ in range(3):
                    self.assertNotEqual(churning.stdout.readline(), "")
                    self.assertEqual(self.lost(path), set())
                    begin = collections.Counter()
                    for level, path_ in ((each["level"], each["path"]) for each in inspect(path)["tables"]):
                        with contextlib.suppress(FileNotFoundError):
                            one = tables.Table(read(path_))
                            first, _ = next(tables.entries(one.block(one.blocks[0])))
                            begin[level, first[:-8]] += bool(level)
                    shared = max(shared, *begin.values())
                    churning.stdin.write("\n")
                    churning.stdin.flush()
                # Tables that begin with one and the same key.
                self.assertGreater(shared, 1)
            self.assertEqual(command("verify", path).returncode, 0)


class Paths(unittest.TestCase):
    def test_what_is_not_there(self):
        for way in ("inspect", "verify"):
            done = command(way, os.path.join(WORK, "no such path"))
            self.assertEqual(done.returncode, 2)
            self.assertIn("No such file", done.stderr)
            empty = folder("empty")
            os.makedirs(empty)
            done = command(way, empty)
            self.assertEqual(done.returncode, 2)
            self.assertIn("no LevelDB database", done.stderr)
            self.assertEqual(command(way).returncode, 2)

    def test_what_else_is_in_a_folder_is_no_table(self):
        path = by_leveldb("all-of-a-folder", 500, 20)
        one = table_of(path)
        number = os.path.splitext(one)[0]
        written(os.path.relpath(number + ".sst", WORK), read(one)[:-1])
        written(os.path.relpath(number + ".bak", WORK), read(one))
        done = command("verify", *sorted(glob.glob(os.path.join(path, "*"))))
        text = " ".join(done.stdout.split())
        self.assertNotRegex(text, "may delete|being written|be writing")
        for name in "MANIFEST-", ".log", "CURRENT":
            self.assertRegex(text, name + r"[^ ]*: footer (?:(?! /).)*\. A table's name ends in \.ldb or \.sst")
        # Of the three the first alone is that of the MANIFEST.
        found = json.loads(command("verify", "--json", *(number + end for end in (".ldb", ".bak"))).stdout)
        self.assertEqual([each["entries"] for each in found["tables"]], [500, 500])
        for end in ".bak", ".sst":
            text = " ".join(command("verify", number + end).stdout.split())
            self.assertIn("1 table is not in the MANIFEST, and read only because you named it", text)
        # Empty, as a crash leaves one.
        text = command("verify", written("all-of-a-folder/000999.ldb", b"\0" * 4096)).stdout
        self.assertNotIn("A table's name ends", text)

    def test_what_is_no_table(self):
        path = written("text.txt", b"This is not a table. " * 20)
        done = command("verify", path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"byte \d+: expected the magic number \w+ of a LevelDB table, found \w{16}\. A")
        self.assertIn("1 table is DAMAGED", done.stdout)
        self.assertNotIn("no key is lost", done.stdout)
        done = command("verify", written("short.ldb", b"short"))
        self.assertIn("expected at least 48 bytes, found 5", done.stdout)
        rocksdb = command("verify", written("of-rocksdb.sst", bytes(40) + struct.pack("<Q", 0x88E241B785F4CFF7)))
        self.assertIn("found 88e241b785f4cff7, that of RocksDB, whose tables are not read here\n", rocksdb.stdout)
        self.assertIn("found 0", command("verify", written("nothing.ldb", b"")).stdout)

    def test_a_database_without_tables(self):
        path = by_leveldb("fresh", 0, 0)
        for way in ("inspect", "verify"):
            done = command(way, path)
            self.assertEqual(done.returncode, 0)
            self.assertIn("No tables yet", done.stdout)

        page = os.path.join(WORK, "fresh.html")
        command("inspect", "--html", page, path)
        text = read(page).decode()
        self.assertIn("No tables yet: whatever was written is in the log.", text)
        self.assertNotRegex(text, "<h2>Figures|<h2>Tables")
        # One that is not in use is listed, and nothing else is said of it.
        written("fresh/000998.ldb", table(keys(0, 20)))
        command("inspect", "--html", page, path)
        self.assertRegex(read(page).decode(), r"(?s)The MANIFEST names no tables\..*<td>000998.ldb<td>unused")

    def test_a_missing_table(self):
        path = by_leveldb("missing", 1000, 100)
        os.remove(table_of(path))
        for way in ("verify", "inspect"):
            done = command(way, path)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, "MISSING|cannot be found in the folder")
            self.assertIn("No table that LevelDB reads was found.", done.stdout)
            self.assertNotIn("No tables yet", done.stdout)
        # Nor does one that is not in use stand for it.
        written("missing/000998.ldb", b"")
        self.assertIn("No table that LevelDB reads was found.", command("verify", path).stdout)

    def test_missing_tables_are_listed(self):
        one = table(keys(0, 20))
        paths = [database(f"listed-missing-{i}", *[(0, number, one, b"key00000000", b"key00000019")
                                                   for number in (5, 6, 7, 1_000_000)]) for i in range(2)]
        missing = [os.path.join(path, f"{number:06}.ldb")
                   for path, numbers in zip(paths, ((6,), (5, 1_000_000))) for number in numbers]
        for path in missing:
            os.remove(path)
        found = json.loads(command("verify", "--json", *paths).stdout)
        self.assertEqual((found["missing_tables"], found["sound"]), (missing, False))
        self.assertEqual([each["missing_tables"] for each in inspect(*paths)["databases"]], [missing[:1], missing[1:]])
        [note] = [note["text"] for note in inspect(*paths)["notes"] if note["topic"] == "missing-tables"]
        self.assertIn(f"3 tables that the MANIFEST names cannot be found in the folder: {', '.join(missing)}.", note)
        sound = database("listed-missing-none", (0, 5, one, b"key00000000", b"key00000019"))
        found = json.loads(command("verify", "--json", sound).stdout)
        self.assertEqual((found["missing_tables"], found["sound"]), ([], True))
        self.assertEqual(inspect(sound)["databases"][0]["missing_tables"], [])

    def test_a_folder_that_may_be_listed_only(self):
        with of_somebody_else("listed") as (path, program, other):
            os.chmod(path, 0o744 if other else 0o644)
            for way in ("verify", "inspect"):
                done = run(program, way, path, check=False, **other)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertRegex(done.stdout, r"\.ldb: could not be read: Permission denied")
                self.assertNotIn("No table that LevelDB reads was found.", done.stdout)
            os.chmod(path, 0o755)

    def test_a_table_that_is_not_in_use(self):
        path = by_leveldb("unused", 1000, 100)
        written("unused/000999.ldb", b"half of a table that is being written")
        done = command("verify", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("not in the MANIFEST", done.stdout)
        # Named as a shell does it, it is the same.
        named = sorted(glob.glob(os.path.join(path, "*.ldb")))
        self.assertEqual(len(named), 2)
        for way in "verify", "inspect":
            done = command(way, *named)
            self.assertEqual(done.returncode, 0, done.stdout)
            text = " ".join(done.stdout.split())
            self.assertIn("not in the MANIFEST", text)
            self.assertRegex(text, "being written|may be writing it")
            self.assertNotIn("DAMAGED", text)
        # Alone, there was nothing to look at.
        for way in "verify", "inspect":
            done = command(way, named[1])
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("No table that LevelDB reads was found.", done.stdout)
            self.assertNotIn("no key is lost", done.stdout)
        # One that ends as a table does is judged as any other.
        damaged = bytearray(read(named[0]))
        damaged[100] ^= 1
        written(named[1], damaged)
        self.assertEqual(command("verify", *named).returncode, 1)

    def test_a_named_table_that_is_gone(self):
        path = database("gone", (1, 50, table(keys(0, 100)), b"key00000000", b"key00000099"))
        here = os.path.join(path, "000050.ldb")
        for way in "verify", "inspect":
            # As what a shell listed and a compaction has deleted since.
            for args in (["000049.ldb", here], [here, "000049.sst"],
                         ["000049.ldb", "000049.ldb", here]):
                done = command(way, *(os.path.join(path, name) for name in args))
                self.assertEqual((done.returncode, done.stderr), (0, ""), args)
                self.assertRegex(done.stdout, r"000049.*deleted|1 table was\s+deleted")
                self.assertIn(" 1 table" if way == "inspect" else "1 table, ", " " + done.stdout)
                found = command(way, "--json", *(os.path.join(path, name) for name in args))
                self.assertEqual({each["path"]: (each["deleted_meanwhile"], each["unused"])
                                  for each in json.loads(found.stdout)["tables"]},
                                 {os.path.join(path, name): (name != here, name != here) for name in args})
            # No other name is known to have been a table's, nor a number that was not given yet.
            for name in "49.ldb", "copy.ldb", "1000000.ldb", "000049.log":
                done = command(way, os.path.join(path, name), here)
                self.assertEqual(done.returncode, 2, name)
                self.assertIn("No such file", done.stderr)
            # Nor was anything looked at, if there is no other.
            done = command(way, os.path.join(path, "000049.ldb"))
            self.assertEqual(done.returncode, 2)
            self.assertIn("No such file", done.stderr)
        done = command("probe", os.path.join(path, "000049.ldb"), "key00000007")
        self.assertEqual(done.returncode, 2)
        self.assertIn("No such file", done.stderr)
        # One that the MANIFEST names is no compaction's doing.
        os.rename(here, os.path.join(path, "000049.ldb"))
        done = command("verify", here, os.path.join(path, "000049.ldb"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("No such file", done.stderr)

    def test_keys_that_no_manifest_has_are_not_there(self):
        path = by_leveldb("cut-short", 1000, 100)
        one = table_of(path)
        written("cut-short/000998.ldb", read(one))
        done, found = (command("verify", *more, path).stdout for more in ([], ["--json"]))
        self.assertRegex(done, r"\A1 table, .* 1,000 entries read, 1,000 of them")
        self.assertRegex(" ".join(done.split()), r"1 table \(1,000 entries\) is not in the MANIFEST: "
                         "LevelDB does not read it, and may delete it when it opens the database")
        found = json.loads(found)
        self.assertEqual((found["unused_tables"], found["unused_entries"]), (1, 1000))
        probed = json.loads(command("probe", "--json", path, "key00000007").stdout)
        self.assertEqual((probed["tables_in_all"], probed["unused_tables"]), (1, 1))

        # As one that was cut off before its tables.
        [manifest] = glob.glob(os.path.join(path, "MANIFEST-*"))
        written(manifest, tables.manifest([]))
        self.assertEqual(leveldb_reads(path), 0)
        self.assertEqual(glob.glob(os.path.join(WORK, "read-by-leveldb", "*.ldb")), [])
        done = command("verify", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotRegex(done.stdout, "no key is lost|checked")
        for way in (["verify", path], ["probe", path, "key00000007"]):
            text = " ".join(command(*way).stdout.split())
            self.assertRegex(text, "2 tables .*are not in the MANIFEST: LevelDB does not read them, and "
                             "may delete them when it opens the database")
        self.assertIn("0 of 0 tables", text)
        for way in "verify", "inspect":
            for files, said in (([one], "1 table is"), (glob.glob(f"{path}/*.ldb"), "2 tables are")):
                text = " ".join(command(way, *files).stdout.split())
                self.assertRegex(text, f"{said} not in the MANIFEST, and read only because .* LevelDB does not read")
        self.assertIn("000005.ldb, not in the MANIFEST", command("probe", one, "key00000007").stdout)

    def test_copies_under_other_names(self):
        path = by_leveldb("copies", 1000, 100)
        one = table_of(path)
        whole, number = read(one), re.findall(r"0*(\d+)\.ldb", one)[0]
        deleted = ["000998.ldb", "997.ldb"]
        kept = ["backup.ldb", "copy of 000005.ldb", number + ".ldb", "+996.ldb", "9a.sst"]

        for names in deleted, kept, kept[:1], deleted + kept:
            for name in deleted + kept:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(path, name))
            for name in names:
                written(os.path.join(path, name), whole)
            found = json.loads(command("verify", "--json", path).stdout)
            unused = {os.path.basename(table["path"]) for table in found["tables"] if table["unused"]}
            self.assertEqual(unused, set(names))
            for way in (["verify", path], ["probe", path, "key00000007"]):
                self.assertRegex(" ".join(command(*way).stdout.split()),
                                 f"{len(names)} tables? .*not in the MANIFEST: LevelDB does not read (it|them), and may")
        self.assertEqual(leveldb_reads(path), 1000)
        left = set(os.listdir(os.path.join(WORK, "read-by-leveldb")))
        self.assertEqual(left & {*deleted, *kept}, set(kept))

    def test_beside_a_running_database(self):
        path = folder("busy")
        writer = subprocess.Popen([os.path.join(TOOLS, "writer"), path, "3000", "100", "1", "10",
                                   "busy"], stdin=subprocess.PIPE)
        try:
            limit = time.monotonic() + 60
            while not glob.glob(os.path.join(path, "*.ldb")):
                self.assertIsNone(writer.poll(), "the writer ended")
                self.assertLess(time.monotonic(), limit, "the writer wrote no table")
                time.sleep(0.01)
            seen = seen_of_named = 0
            for _ in range(10):
                for way in ("verify", "inspect"):
                    done = command(way, path)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    seen += "no key is lost" in done.stdout
                    done = command(way, *glob.glob(os.path.join(path, "*.ldb")))
                    # None may be left of those that there were.
                    nothing = re.search("No such file|No table that", done.stdout + done.stderr)
                    self.assertEqual(done.returncode, 2 if nothing else 0, done.stdout + done.stderr)
                    seen_of_named += not nothing
            self.assertGreater(min(seen, seen_of_named), 0)
            self.assertIsNone(writer.poll())
        finally:
            writer.stdin.close()
            self.assertEqual(writer.wait(timeout=60), 0)

    def test_beside_a_compaction_at_every_moment(self):
        # The one table is written anew over and over, so that what was read of the folder, or of the
        # MANIFEST, is soon the past.
        one, ends = table(keys(0, 20)), [tables.internal(key) for key in (b"key00000000", b"key00000019")]
        pattern = written("replaced.ldb", one)

        def named(number):
            return os.path.join(path, f"{number:06}.ldb")

        def replace():
            with open(os.path.join(path, "MANIFEST-000002"), "ab", buffering=0) as manifest:
                # No more of them, since the log is to be read faster than it grows.
                for number in range(6, 1000):
                    os.link(pattern, named(number))
                    change = (b"\6\1" + tables.varint(number - 1) + b"\7\1" + tables.varint(number)
                              + tables.varint(len(one))
                              + b"".join(tables.varint(len(key)) + key for key in ends))
                    manifest.write(tables.log([change], manifest.tell()))
                    os.remove(named(number - 1))

        for _ in range(40):
            path = database("replaced", (1, 5, one, b"key00000000", b"key00000019"))
            replacing = threading.Thread(target=replace)
            replacing.start()
            done = [command(*way) for way in (["verify", path], ["probe", path, "key00000007"])]
            replacing.join()
            for each in done:
                self.assertEqual(each.returncode, 0, each.stdout + each.stderr)
        # Whereas this one is not there whenever one looks.
        os.remove(named(999))
        done = command("verify", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("000999.ldb: MISSING", done.stdout)

    def test_nothing_is_written(self):
        path = by_leveldb("untouched", 1000, 100)
        before = {name: read(os.path.join(path, name)) for name in os.listdir(path)}
        for args in (["inspect"], ["verify"], ["inspect", "--quick"]):
            command(*args, path)
        command("probe", path, "key00000007")
        self.assertEqual(before, {name: read(os.path.join(path, name)) for name in os.listdir(path)})


class Notes(unittest.TestCase):
    """What inspect makes of its figures, and says of no others."""

    def notes(self, name, *files, way=()):
        where = folder(f"notes-{name}")
        for number, data in enumerate(files, 1):
            written(os.path.join(where, f"{number:06}.ldb"), data)
        found = json.loads(command("inspect", "--json", *way, where).stdout)
        return {note["topic"]: note["text"] for note in found["notes"]}

    def of(self, bits_per_key):
        return table(keys(0, 200), Bloom(bits_per_key).create)

    def test_settings(self):
        topics = {"settings-differ", "too-many-bits", "too-few-bits"}
        for bits, topic, text in (
                ((10,), None, ""), ((4,), None, ""), ((44,), None, ""),
                ((3,), "too-few-bits", "At 3 bits per key an estimated 2"),
                ((60,), "too-many-bits", "60 bits per key gains little over 44"),
                ((10, 20), "settings-differ", "No single number"), ((10, 10), None, "")):
            notes = self.notes("settings", *map(self.of, bits))
            self.assertEqual(topics & set(notes), {topic} - {None}, bits)
            figures = command("inspect", os.path.join(WORK, "notes-settings")).stdout
            [said] = re.findall("  bits per key +(.*) set, .* spent\n", figures)
            self.assertEqual(said == "different numbers", topic == "settings-differ", said)
            if topic != "settings-differ":
                least, *most = re.findall(r"\d+", said)
                self.assertLessEqual(int(least), bits[0])
                self.assertGreaterEqual(int((most or [least])[0]), bits[0])
            self.assertIn(text, notes.get(topic, ""))

    def test_keys_in_order(self):
        """Both kinds of absent keys, side by side, and what the lead says of them."""
        page = os.path.join(WORK, "notes-in-order.html")
        for ordered in True, False:
            all_ = [struct.pack(">Q", 2 * i) if ordered else hashlib.sha256(b"%d" % i).digest()[:8] for i in range(4000)]
            path = written("notes-in-order/000005.ldb", table(sorted(all_), each=40))
            found = json.loads(command("inspect", "--json", "--html", page, path).stdout)
            text, bloom = command("inspect", path).stdout, found["total"]["bloom"]
            random_, near = (bloom[f"false_positive_rate_{name}"] for name in ("measured", "neighbours"))
            # Those of two bytes that vary are not far from each other.
            self.assertTrue(0.003 < random_ < (0.06 if ordered else 0.03), random_)
            self.assertTrue(0.1 < near if ordered else near < 0.03, near)
            [said] = re.findall(r"^  measured +random absent keys ([\d.]+) %, absent neighbours ([\d.]+) %$", text, re.MULTILINE)
            for rate, percent in zip((random_, near), said):
                self.assertAlmostEqual(float(percent), 100 * rate, delta=0.06)
            self.assertIn(f"<tr><td>measured<td>random absent keys {said[0]} %, absent neighbours {said[1]} %\n", read(page).decode())
            leads = re.findall(r"^[\d.]+ % of absent neighbours .*?big-endian numbers.*?use ribbon filters", text, re.MULTILINE | re.DOTALL)
            self.assertEqual(len(leads), int(ordered))
            self.assertEqual("ordered-keys" in {note["topic"] for note in found["notes"]}, ordered)

    def test_the_most_important_come_first(self):
        ends = b"key00000000", b"key00000099"
        path = database("notes-order", (0, 5, self.of(60), b"key00000000", b"key00000199"),
                        (0, 6, table(keys(0, 100), policy="my.Policy"), *ends),
                        (0, 7, table(keys(0, 100), policy="leveldb.BuiltinBloomFilter"), *ends),
                        (0, 8, table(keys(0, 100), other_policy="my.Other"), *ends),
                        (0, 11, table(keys(0, 100), lambda _: b"\xff" * 8 + b"\0"), *ends),
                        (0, 9, table(keys(0, 100)), b"key00000010", ends[1]), (0, 10, b"", *ends))
        os.remove(os.path.join(path, "000010.ldb"))
        written(os.path.join(path, "000012.ldb"), table(keys(0, 20)))
        page = os.path.join(WORK, "notes-order.html")
        command("inspect", "--html", page, path)
        done = command("inspect", path)
        marks = {"wrong": "!", "wasted": "*", "note": "-"}
        weights = [note["weight"] for note in inspect(path)["notes"]]
        self.assertEqual(weights, sorted(weights, key=list(marks).index))
        self.assertEqual(set(weights), set(marks))
        text = done.stdout[done.stdout.index("What this means\n"):]
        self.assertEqual(re.findall(r"^([!*-]) ", text, re.MULTILINE), [marks[weight] for weight in weights])
        shown = re.findall(r"<li(?: class=\"wrong\")?><b>(wrong|wasted)?(?:: )?</b>", read(page).decode())
        self.assertEqual([weight or "note" for weight in shown], weights)

    def test_no_cost_where_nothing_is_to_gain(self):
        """As many bits as were set, less than a bit more, or tables of one block each."""
        short = [(key, b"v") for key in keys(0, 2000)]
        for name, files in (("many-bits", [table(keys(0, 2000), Bloom(1000).create, each=100)]),
                            ("one-bit", [tables.write([short[:1000], short[1000:]], Bloom(1).create)]),
                            ("one-key", [table([b"key"]), table([b"kez"])])):
            notes = self.notes(name, *files)
            self.assertNotIn("cost", notes)
        # Where blocks are so large that most slots are empty, it is not for want of keys in a block.
        values = [(key, b"v" * 300) for key in keys(0, 2000)]
        notes = self.notes("large-blocks", tables.write([values[:1000], values[1000:]], Bloom().create))
        self.assertRegex(notes["cost"], r"^10 bits per key cost you 12\.\d here, because 2 KiB of blocks hold only 12\.\d keys;")

    def test_few_bits_of_few_keys(self):
        # A key alone has 64 bits, whatever the setting: 1 of 64 absent keys passes.
        blocks = [[(key, b"v" * 3000)] for key in keys(0, 100)]
        notes = self.notes("few-bits", tables.write(blocks, Bloom(2).create))
        self.assertRegex(notes["too-few-bits"],
                         r"At 2 bits or fewer per key an estimated 1\.6\d % of all absent keys pass")
        self.assertIn("blocks hold only 1 key:", notes["cost"])
        # Of more keys the setting shows.
        for bits, said in (1, "At 1 bit per key"), (2, "At 2 bits per key"), (3, "At 3 bits per key"):
            notes = self.notes("few-bits", table(keys(0, 200), Bloom(bits).create, each=100))
            self.assertIn(f"{said} an estimated ", notes["too-few-bits"])

    def test_filters_that_match_all(self):
        for probes, text in ((6, None), (0, "7 filters have a k of 0"), (31, "7 filters have a k of 0"),
                             (30, None)):
            notes = self.notes("match-all", table(keys(0, 200), lambda _, k=probes: b"\xff" * 8 + bytes([k]),
                                                  each=30))
            self.assertEqual("match-all" in notes, text is not None, probes)
            self.assertIn(text or "", notes.get("match-all", ""))
            [match_all] = {inspect(*way, os.path.join(WORK, "notes-match-all"))["total"]["bloom"]["match_all"]
                           for way in ((), ("--quick",))}
            self.assertEqual(match_all, 7 if text else 0)
            figures = command("inspect", "--quick", os.path.join(WORK, "notes-match-all")).stdout
            self.assertEqual("a number not known set" in figures, probes > 30, figures)

    def test_what_is_damaged_costs_nothing(self):
        data = table(keys(0, 3000), each=5)
        blocks = tables.Table(data).blocks
        path = written("notes-damaged/000005.ldb", data)
        spent = inspect(path)["total"]["bloom"]["bits_per_key_spent"]
        for offset, _ in blocks[::2]:
            data = data[:offset] + b"\xff" + data[offset + 1:]
        written("notes-damaged/000005.ldb", data)
        written("notes-damaged/000006.ldb", table(keys(0, 3000), each=5))
        alone, both = (inspect(*paths) for paths in ([path], [os.path.dirname(path)]))
        self.assertIsNone(alone["total"]["bloom"]["bits_per_key_spent"])
        self.assertEqual(both["total"]["bloom"]["bits_per_key_spent"], spent)
        self.assertNotIn("cost", [note["topic"] for note in alone["notes"]])
        text = command("inspect", path).stdout
        self.assertRegex(text, r"keys per filter +not known\n")
        self.assertRegex(text, r"bits per key .*what is spent is not known\n")
        page = os.path.join(WORK, "notes-damaged.html")

        def where_bits_go(of):
            notes = json.loads(command("inspect", "--json", "--html", page, of).stdout)["notes"]
            return ([note["text"] for note in notes if note["topic"] == "cost"],
                    re.findall(r'aria-label="bits of a key: ([^"]*)"', read(page).decode()))

        folder_ = os.path.dirname(path)
        self.assertEqual(where_bits_go(path), ([], []))
        self.assertEqual(where_bits_go(folder_), where_bits_go(os.path.join(folder_, "000006.ldb")))

    def test_blocks_without_a_filter(self):
        pairs = [(key, b"v" * 100) for key in keys(0, 200)]
        blocks = [pairs[i:i + 20] for i in range(0, 200, 20)]
        begins = [at >> tables.BASE_LG for at, _ in tables.Table(tables.write(blocks, Bloom().create)).blocks]
        for most, text in ((None, None), (begins[1], "9 data blocks begin beyond the last filter"),
                           (begins[-1], "1 data block begins beyond"), (begins[-1] + 1, None)):
            data = tables.write(blocks, Bloom().create, most_filters=most)
            for way in (), ("--quick",):
                notes = self.notes("uncovered", data, way=way)
                found = json.loads(command("inspect", "--json", *way, os.path.join(WORK, "notes-uncovered")).stdout)
                self.assertEqual(found["total"]["blocks_without_slot"], int(text.split()[0]) if text else 0)
                self.assertEqual("uncovered" in notes, text is not None, (most, way))
                self.assertIn(text or "", notes.get("uncovered", ""))

    def test_tables_without_filters(self):
        without, also = (by_leveldb(f"notes-without-{n}", 100, 20, bits_per_key=-1) for n in (1, 2))
        with_ = by_leveldb("notes-with", 100, 20)
        for paths, text, quick in (([with_], None, ""), ([without], "There are no filters: no policy was set", None),
                                   ([with_, without, also], "2 of 3 tables have no filters: they were written without",
                                    ", not counting 2 tables whose filters are not known")):
            estimated = re.findall(r"^  entries +about \d+, estimated from the filters(.*)$", command("inspect", "--quick", *paths).stdout,
                                   re.MULTILINE)
            self.assertEqual(estimated, [] if quick is None else [quick])
            notes = {note["topic"]: note["text"] for note in inspect(*paths)["notes"]}
            self.assertEqual("no-filters" in notes, text is not None)
            self.assertIn(text or "", notes.get("no-filters", ""))
        # Whoever wrote them, and when.
        self.assertNotIn("before", notes["no-filters"])
        self.assertIn("With a policy set, write the first and the last key once more", notes["no-filters"])

    def test_filters_that_are_not_asked_cost_what_they_take(self):
        other = table(keys(0, 500), policy="leveldb.BuiltinBloomFilter")
        text = self.notes("not-asked", table(keys(0, 200)), other)["other-name"]
        found = inspect(os.path.join(WORK, "notes-not-asked"))["tables"]
        self.assertIn("1 table has its filters stored under the name leveldb.Built", text)
        self.assertIn(f"there they cost {found[1]['filter_block_bytes']} B and", text)

    def test_absent_keys_that_pass_too_often(self):
        # A filter of as many bits as share a divisor of 13107 with 2^32 - 1.
        sparse = [b"key%08d" % (7 * number) for number in range(52428)]
        often = self.notes("rate", table(sparse, each=52428))
        self.assertRegex(often.get("rate", ""), r"Absent keys pass more often \(3\.\d+ %\)")
        self.assertIn("LEVELDB_BLOOM_ENCODING=ribbon", often["rate"])
        self.assertNotIn("rate", self.notes("rate", table(sparse[:52000], each=52000)))


class Reports(unittest.TestCase):
    def test_html(self):
        path = by_leveldb("html", 3000, 20, 1)
        page = os.path.join(WORK, "report.html")
        done = command("inspect", "--html", page, path)
        self.assertEqual(done.returncode, 0)
        text = read(page).decode()
        self.assertEqual(text.count("<svg"), text.count("role=\"img\" aria-label="))
        self.assertEqual(text.count("<svg"), 3)
        self.assertNotRegex(text, r"https?:|<script|<link|@import|src=")
        self.assertIn("prefers-color-scheme: dark", text)
        # The figures are those of the text.
        rows = re.findall("<tr><td>([a-z ,]+)<td>(.*)\n", text.partition("<h2>Figures")[2].partition("<h2>")[0])
        self.assertEqual(rows, re.findall("^  ([a-z][a-z ,]*?) {2,}(.*)$", command("inspect", path).stdout, re.MULTILINE))
        total = inspect(path)["total"]
        self.assertIn(("tables", f"1, {total['file_bytes'] / 1024:.1f} KiB"), rows)
        self.assertIn(f"{total['bloom']['bits_per_key_spent']:.1f}".removesuffix(".0") + " spent",
                      dict(rows)["bits per key"])

    def test_plots(self):
        page = os.path.join(WORK, "plots.html")
        for way in (), ("--quick",):
            done = command("inspect", "--json", "--html", page, *way, by_leveldb("plots", 3000, 300))
            total, html = json.loads(done.stdout)["total"], read(page).decode()
            bloom = total["bloom"]
            # What is there, among other settings; the least that passes of several kinds is not what costs.
            circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)".*?present setting, ([\d.]+) %</span>', html, re.DOTALL)
            self.assertEqual(len(circles), int(not way))
            for x, y, said in circles:
                self.assertAlmostEqual(float(x), 84 + 388 * bloom["bits_per_key_spent"] / 32, delta=1)
                self.assertAlmostEqual(float(y), 26 - 188 / 6 * math.log10(float(said) / 100), delta=0.1)
                both = [bloom[f"false_positive_rate_{name}"] or 0 for name in ("measured", "neighbours")]
                self.assertAlmostEqual(float(said) / 100 / max(both), 1, delta=0.2)
                for bits in range(0, 31, 5):
                    self.assertIn(f'<text x="{84 + 388 * bits / 32:.1f}" y="230" text-anchor="middle">{bits}</text>', html)
            self.assertRegex(html, rf"leveldb-bloom [\d.]+ inspect{' --quick' if way else ''}\.</p>")
            # Bars stand on the axis, the tallest as high as what is written beside it.
            fills = {f"{5 * i}-{5 * i + 5} %": n for i, n in enumerate(bloom["fill_histogram"]) if n}
            [plot] = re.findall(r"<h3>Filters by fill</h3>(.*?)</section>", html, re.DOTALL)
            rects = re.findall(r' y="([\d.]+)" width="[\d.]+" height="([\d.]+)" .*?><title>(.*?): ([\d,]+)</title>',
                               plot, re.DOTALL)
            self.assertEqual({name: int(n.replace(",", "")) for _, _, name, n in rects if n != "0"}, fills)
            for y, tall, name, _ in rects:
                self.assertAlmostEqual(float(tall), 188 * fills.get(name, 0) / max(fills.values()), delta=0.06)
                self.assertAlmostEqual(float(y) + float(tall), 214, delta=0.11)
            self.assertIn(f'text-anchor="end">{max(fills.values()):,}</text>', plot)

    def test_tables_in_which_something_is_wrong_are_marked(self):
        path = by_leveldb("marked", 1000, 100)
        page = os.path.join(WORK, "marked.html")
        name = os.path.basename(table_of(path))
        command("inspect", "--html", page, path)
        self.assertIn(f"<tr><td>{name}<td>", read(page).decode())
        lose(table_of(path))
        command("inspect", "--html", page, path)
        self.assertIn(f'<tr class="wrong"><td>! {name}<td>', read(page).decode())

    def test_many_tables(self):
        path = database("many-tables", *[(1, 10 + i, table([key]), key, key)
                                         for i, key in enumerate(keys(0, 2005))])
        page = os.path.join(WORK, "many-tables.html")
        self.assertEqual(command("inspect", "--html", page, path).stdout.count(".ldb"), 0)
        shown = command("inspect", path).stdout
        self.assertEqual(len(re.findall(r"^\d{6}\.ldb ", shown, re.MULTILINE)), 20)
        self.assertIn("and 1,985 more tables; --all lists them.", shown)
        html = read(page).decode()
        self.assertEqual(html.count(".ldb<td>"), 2000)
        self.assertIn("<p>And 5 more tables.</p>", html)
        shown = command("inspect", "--all", path).stdout
        self.assertEqual(len(re.findall(r"^\d{6}\.ldb ", shown, re.MULTILINE)), 2005)
        self.assertNotIn("more tables", shown)

    def test_completions(self):
        for shell, words in ("bash", "complete -F"), ("zsh", "#compdef leveldb-bloom"), ("fish", "complete -c"):
            done = command("completions", shell)
            self.assertEqual(done.returncode, 0)
            self.assertIn(words, done.stdout)
            for word in "inspect", "verify", "probe", "size", "bits-per-key":
                self.assertIn(word, done.stdout)
        if shutil.which("bash"):
            run("bash", "-n", "-c", command("completions", "bash").stdout)

    def test_man_pages(self):
        where = folder("man")
        self.assertEqual(command("man", where).returncode, 0)
        ways = "inspect", "verify", "probe", "advise", "dump", "get", "run", "size", "man", "completions"
        self.assertEqual({f"leveldb-bloom-{way}.1" for way in ways} | {"leveldb-bloom.1"}, set(os.listdir(where)))
        self.assertIn("Exit status", pathlib.Path(where, "leveldb-bloom-dump.1").read_text())

    def test_colours_are_for_a_terminal_that_wants_them(self):
        path = by_leveldb("colours", 2000, 1200, 1)
        for environment, wanted in (
                ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": "", "TERM": "dumb"}, False)):
            for args in ["inspect", path], ["--help"]:
                shown, _, _ = on_terminal(args, "stdout", **environment)
                self.assertEqual("\x1b[1m" in shown, wanted, (args, environment))
        self.assertNotIn("\x1b", command("inspect", path).stdout + command("--help").stdout)

    @unittest.skipUnless(shutil.which("bash"), "there is no bash")
    def test_bash_completes(self):
        # As bash calls what `complete -F` names.
        program = ('source <("$0" completions bash); words=(leveldb-bloom "$@"); '
                   'asked=$(complete -p leveldb-bloom); asked=${asked#*-F }; '
                   'COMP_WORDS=("${words[@]}") COMP_CWORD=$#; '
                   '${asked%% *} leveldb-bloom "${words[-1]}" "${words[-2]}"; '
                   'printf "%s\\n" "${COMPREPLY[@]}"')
        for words, wanted in (
                (["insp"], ["inspect"]), (["inspect", "--ht"], ["--html"]),
                (["inspect", "DB", "--a"], ["--all"]), (["verify", "--li"], ["--limit"]),
                (["probe", "--ba"], ["--base64"]), (["size", "--ra"], ["--rate"]),
                (["completions", "z"], ["zsh"]), (["help", "ver"], ["verify"])):
            done = run("bash", "--norc", "--noprofile", "-c", program, COMMAND, *words)
            self.assertEqual((done.stdout.split(), done.stderr), (wanted, ""), words)

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish_completes(self):
        for words, wanted in (
                ("insp", ["inspect"]), ("inspect --ht", ["--html"]), ("verify --li", ["--limit"]),
                ("help ver", ["verify"]), ("help s", ["size"]), ("help size ver", [])):
            done = run("fish", "--no-config", "--command",
                       "$argv[1] completions fish | source; complete --do-complete $argv[2]", COMMAND,
                       f"leveldb-bloom {words}")
            self.assertEqual(([line.split("\t")[0] for line in done.stdout.splitlines()], done.stderr),
                             (wanted, ""), words)

    def test_a_report_is_not_written_over_a_table(self):
        path = by_leveldb("html-over", 1000, 100)
        one = table_of(path)
        other, empty = (os.path.join(path, name) for name in ("000998.ldb", "000999.ldb"))
        shutil.copy(one, other)
        written(empty, b"")
        [log] = glob.glob(os.path.join(path, "*.log"))
        lock = os.path.join(path, "LOCK")
        self.assertEqual((read(log), read(lock)), (b"", b""))
        files = sorted(glob.glob(os.path.join(path, "*")))
        link = os.path.join(WORK, "html-over-link")
        with contextlib.suppress(FileNotFoundError):
            os.remove(link)
        os.symlink(one, link)
        before = {name: read(name) for name in files}
        # What a shell makes of `--html DB/*.ldb`, and the like; an empty table has nothing to tell it by.
        for args in ([one, other], [other, path], [empty, path], [empty, empty], [link, path],
                     [os.path.join(path, "CURRENT"), path], [path, path], [log, path], [lock, path],
                     [log, one]):
            done = command("inspect", "--html", *args)
            self.assertEqual((done.returncode, done.stdout), (2, ""), args)
            self.assertIn("--html report.html DB", done.stderr)
        self.assertEqual({name: read(name) for name in files}, before)
        page = os.path.join(WORK, "html-over.html")
        for begin in b"", b"<!DOCTYPE HTML><title>an older report</title>":
            written("html-over.html", begin)
            self.assertEqual(command("inspect", "--html", page, one).returncode, 0)
            self.assertIn(b"Bloom filters of a LevelDB database", read(page))

    def test_size(self):
        def size(*args):
            done = command("size", "--json", *args)
            return done.returncode, json.loads(done.stdout)

        code, found = size("--keys", "1000", "--rate", "1%")
        self.assertEqual((code, found["settings"][0]["bits_per_key"]), (0, 10))
        self.assertEqual(found["settings"][0]["bytes"], len(Bloom(10).create([b"key"] * 1000)))
        code, found = size("--keys", "50M", "--rate", "0.1%")
        self.assertEqual((code, found["settings"]), (1, []))
        self.assertIn("32-bit hash alone gives 1.16 %", found["remarks"][0])
        code, found = size("--keys", "1000", "--bytes", "1251")
        self.assertEqual(found["settings"][0]["bits_per_key"], 10)
        for keys_, text in (("1", "1 key does not fit into 8 B"), ("2", "2 keys do not fit into 8 B")):
            code, found = size("--keys", keys_, "--bytes", "8")
            self.assertEqual(code, 1)
            self.assertIn(text, found["remarks"][0])
        for keys_, bits, text in (("52428", "10", "shares a divisor"), ("5", "20", "so few keys")):
            args = "--keys", keys_, "--bits-per-key", bits
            self.assertIn(text, " ".join(size(*args)[1]["remarks"]))
            self.assertIn(text, " ".join(command("size", *args).stdout.split()))
        # The filter, 4 bytes of offset, and those of the empty slot behind it.
        self.assertIn("hold 20 keys each, this is 13.6 bits per key", " ".join(
            size("--keys", "20", "--bits-per-key", "10")[1]["remarks"]))
        for text, number in ("1B", 10**9), ("1e6", 10**6), ("1M", 10**6), ("2.5k", 2500), ("1,000", 1000):
            self.assertEqual(size("--keys", text)[1]["keys"], number)
            self.assertEqual(size("--keys", "20", "--bits-per-key", "1e1"), size("--bits-per-key", "10"))
            self.assertEqual(command("verify", "--limit", text, os.path.join(WORK, "no such")).stderr.count("value"), 0)
        self.assertEqual(size("--keys", "1k", "--bytes", "1B")[0], 1)
        for wrong in ["size", "--keys", "1KiB"], ["size", "--bytes", "1.5"], ["verify", "--limit", "1e-3", "DB"], [
                "dump", "--limit", "many", "DB"], ["advise", "--max-open-files", "1KiB", "DB"]:
            done = command(*wrong)
            self.assertEqual(done.returncode, 2)
            self.assertIn("expected a number such as 1000, 1e6, 5M", done.stderr)
        for keys_ in 1, 1000, 50_000_000, 5_000_000_000:
            rate = size("--keys", str(keys_))[1]["hash_collision_rate"]
            self.assertAlmostEqual(rate / -math.expm1(-keys_ / 2**32), 1)
        # Unwise, and a number.
        self.assertEqual(size("--bits-per-key", "-5"), size("--bits-per-key=-5"))
        self.assertEqual(command("size", "--rate", "7").returncode, 2)

    def test_help(self):
        for way in ([], ["inspect"], ["verify"], ["probe"], ["advise"], ["dump"], ["get"], ["size"]):
            done = command(*way, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Exit status: 0 ", done.stdout)
            for line in done.stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_help_has_every_name_of_the_json(self):
        def names(value):
            if isinstance(value, list):
                return set().union(*map(names, value))
            if isinstance(value, dict):
                # Numbers of probes are no names.
                own = {name for name in value if not name.isdigit()}
                return own.union(*map(names, value.values()))
            return set()

        path = by_leveldb("names", 2000, 100)
        [lost, *_] = lose(table_of(path))
        damaged = written("names-damaged.ldb", b"no table")
        ribbon = written("names-ribbon.ldb", table(keys(0, 9), Bloom(10, "leveldb_bloom_policy_create_ribbon").create))
        for way, args in (("inspect", [path, damaged, ribbon]), ("verify", [path, damaged, ribbon]),
                          ("probe", [path, lost]), ("probe", [ribbon, "key00000000"]), ("get", [path, lost]), ("advise", [path]), ("size", ["--rate", "1%"])):
            found = names(json.loads(command(way, "--json", *args).stdout))
            self.assertGreater(len(found), 6)
            help_ = command(way, "--help").stdout
            told = set(re.findall(r"\w+", help_[help_.index("that --json prints"):]))
            self.assertEqual(found - told, set(), way)

    def test_progress_is_for_a_terminal_at_stderr(self):
        # Small enough for KiB even where no table was compacted yet.
        path = by_leveldb("progress", 2000, 100, mode="levels")
        files = [table_["path"] for table_ in inspect(path)["tables"]]
        self.assertGreater(len(files), 2)
        total = sum(map(os.path.getsize, files)) / 1024
        self.assertLess(total, 1024)
        for way in ("inspect", "verify"):
            done = command(way, path)
            self.assertEqual(done.stderr, "")
            shown, printed, _ = on_terminal([way, path], "stderr")
            self.assertEqual(printed, done.stdout)
            self.assertRegex(shown, rf"[\d.]+ \w+ of {total:.2f} KiB, [\d.]+ \w+/s, \w+ left")
            self.assertTrue(shown.endswith("\x1b[2K"), repr(shown[-20:]))
            shown, printed, _ = on_terminal([way, path], "stdout")
            self.assertEqual(printed, "")
            self.assertNotRegex(shown, r"\x1b|B/s, ")
            # One file is read at once.
            self.assertEqual(on_terminal([way, files[0]], "stderr")[0], "")

    def test_progress_within_a_table(self):
        one = table_of(by_leveldb("progress-one", 180_000, 100, mode="one"))
        total = f"{os.path.getsize(one) / (1 << 20):.2f}"
        self.assertGreater(float(total), 16)
        for way in ("inspect", "verify"):
            shown, printed, _ = on_terminal([way, one], "stderr")
            at = [(float(n) / (1 if unit == "MiB" else 1024), of) for n, unit, of in re.findall(
                r"([\d.]+) (B|KiB|MiB) of ([\d.]+) MiB, [\d.]+ \w+/s, \w+ left", shown)]
            self.assertEqual({of for _, of in at}, {total})
            self.assertGreater(len({n for n, _ in at if 0 < n < float(total)}), 1, at)
            self.assertEqual(at, sorted(at))
            self.assertTrue(shown.endswith("\x1b[2K"), repr(shown[-20:]))
            done = command(way, one)
            self.assertEqual((done.stdout, done.stderr), (printed, ""))

    def test_the_terminal_is_wide_enough(self):
        path = by_leveldb("wide", 2000, 1200, 1)
        ways = (["inspect", path], ["verify", path], ["probe", path, "key00000007"],
                ["size", "--keys", "1e9"], ["size", "--keys", "50M", "--rate", "0.1%"])
        for columns in (80, 200):
            for way in ways:
                shown, _, status = on_terminal(way, "stdout", columns)
                self.assertEqual(status, int("0.1%" in way))
                lines = [line for line in shown.splitlines() if path not in line]
                self.assertLessEqual(max(map(len, lines)), min(columns, 100), (way, columns))


class Contents(unittest.TestCase):
    """What `dump` and `get` print."""

    DECODE = {"escaped": lambda text: codecs.escape_decode(text.encode())[0],
              "hex": bytes.fromhex, "base64": base64.b64decode}

    def dump(self, *args, encoding="escaped", status=0):
        done = command("dump", "--format", "ndjson", "--encoding", encoding, *args)
        self.assertEqual(done.returncode, status, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        for line in lines:
            for name in {"key", "value"} & line.keys():
                line[name] = self.DECODE[encoding](line[name])
        return lines, done.stderr

    def newest(self, lines):
        newest = {}
        for line in sorted(lines, key=lambda line: line["sequence"]):
            newest[line["key"]] = None if line["deletion"] else line["value"]
        return {key: value for key, value in newest.items() if value is not None}

    @classmethod
    def setUpClass(cls):
        # Several levels, deletions, keys that are no text, and a log.
        cls.path = folder("contents")
        run("/usr/bin/python3", "-c", r"""if True:
            import plyvel, sys
            db = plyvel.DB(sys.argv[1], create_if_missing=True, bloom_filter_bits=10, write_buffer_size=1 << 16)
            for i in range(4000): db.put(b"key%08d" % i, b"%d" % i * 10)
            for i in range(0, 4000, 3): db.delete(b"key%08d" % i)
            for i in range(0, 4000, 5): db.put(b"key%08d" % i, b"new'\\\xff\n\xc3\xa9")
            for i in range(256): db.put(bytes([i, 0xff]), bytes(range(256)))
            with db.write_batch() as batch: batch.put(b"", b""), batch.delete(b"none"), batch.put(b"k" * 70000, b"large")
            db.close()""", cls.path)
        copy = folder("contents-read")
        shutil.copytree(cls.path, copy)
        out = run("/usr/bin/python3", "-c", "import plyvel, sys; print(repr(dict(plyvel.DB(sys.argv[1]))))", copy).stdout
        cls.all = eval(out)

    def test_dump_has_what_is_there(self):
        for encoding in self.DECODE:
            lines, told = self.dump(self.path, encoding=encoding)
            self.assertEqual((self.newest(lines), told), (self.all, ""))
        self.assertTrue({None, 0} < {line["level"] for line in lines} | {0, None})
        self.assertTrue(any(line["file"].endswith(".log") for line in lines))
        # Of the same files by name.
        files = [path for path in glob.glob(self.path + "/*") if path.endswith((".ldb", ".log"))]
        self.assertEqual(self.newest(self.dump(*files)[0]), self.all)

    def test_a_part(self):
        for args, wanted in (
                (["--prefix", "key000012"], lambda key: key.startswith(b"key000012")),
                (["--from", "key00000098", "--to", "key00000100"], lambda key: b"key00000098" <= key < b"key00000100"),
                (["--prefix", r"\xff"], lambda key: key.startswith(b"\xff")),
                (["--prefix", "", "--to", r"\x02"], lambda key: key < b"\x02"),
                (["--from", "key0000399", "--prefix", "key"], lambda key: b"key0000399" <= key < b"kez")):
            found = self.newest(self.dump(*args, self.path)[0])
            self.assertEqual(found, {key: value for key, value in self.all.items() if wanted(key)}, args)
            self.assertTrue(found)
        for limit in 0, 1, 7:
            self.assertEqual(len(self.dump("--limit", limit, self.path)[0]), limit)
        self.assertNotIn("value", self.dump("--keys", "--limit", 1, self.path)[0][0])
        done = command("dump", "--encoding", "hex", "--prefix", "6b6579303", self.path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_text(self):
        done = command("dump", "--prefix", "key00000000", self.path)
        lines = [line for line in done.stdout.splitlines() if not line.startswith("# ")]
        self.assertEqual(lines, ["'key00000000' @ 1 : val => '0000000000'", "'key00000000' @ 4001 : del",
                                 "'key00000000' @ 5335 : val => 'new\\'\\\\\\xff\\x0aé'"])

    def test_damage_is_gone_past(self):
        path = by_leveldb("contents-damaged", 3000, 100)
        before, _ = self.dump(path)
        table_ = table_of(path)
        with open(table_, "r+b") as file:
            for at in 100, 5000, 9000:
                file.seek(at)
                file.write(b"!")
        after, told = self.dump(path, status=1)
        self.assertEqual(told.count("checksum mismatch"), 3)
        self.assertTrue(len(before) * 0.9 < len(after) < len(before), len(after))
        self.assertEqual([line for line in before if line in after], after)
        done = command("get", path, before[0]["key"].decode())
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_entries_that_leveldb_does_not_know(self):
        # As verify calls them damaged, and LevelDB's Get: `corrupted key`.
        stored = lambda key: tables.internal(key, kind=2 if key.endswith(b"7") else 1)
        for short in False, True:
            if short:
                stored = lambda key: key[-7:] if key.endswith(b"7") else tables.internal(b"x" + key)
            data = table(keys(0, 40), stored_as=stored)
            path = database("contents-kinds", (1, 5, data, b"\0", b"\xff"))
            self.assertEqual(command("verify", path).returncode, 1)
            lines, told = self.dump(path, status=1)
            found = [line["key"][short:] for line in lines]
            self.assertEqual(found, [key for key in keys(0, 40) if not key.endswith(b"7")])
            self.assertEqual(told.count("data block at byte"), 2, told)
            self.assertEqual(command("get", path, "key00000007").returncode, 2)
            if not short:
                done = command("probe", path, "key00000007")
                self.assertEqual((done.returncode, "found: " in done.stdout), (1, False), done.stdout)
        # In a table of RocksDB they are a limit of ours.
        path = written("contents-kinds.ldb", table(keys(0, 40), other_name="rocksdb.properties",
                                                   stored_as=lambda key: tables.internal(key, kind=2)))
        lines, told = self.dump(path, status=2)
        self.assertEqual(lines, [])

    def test_the_limit_is_the_end(self):
        # What lies behind it is not read.
        path = written("contents-limit.ldb", table(keys(0, 60)))
        with open(path, "r+b") as file:
            file.seek(tables.Table(read(path)).blocks[1][0])
            file.write(b"!")
        first, told = self.dump("--limit", 20, path)
        self.assertEqual((len(first), told), (20, ""))
        self.assertIn("checksum mismatch", self.dump("--limit", 21, path, status=1)[1])

    def test_a_manifest_that_cannot_be_read_here(self):
        path = by_leveldb("contents-pipe", 100, 100)
        os.remove(os.path.join(path, "CURRENT"))
        os.mkfifo(os.path.join(path, "CURRENT"))
        self.assertEqual(command("verify", path).returncode, 2)
        lines, told = self.dump(path, status=2)
        self.assertEqual(len(lines), 100)

    def test_a_damaged_log(self):
        path = folder("contents-log")
        os.makedirs(path)
        batch = lambda sequence, key: struct.pack("<QI", sequence, 1) + b"\x01" + tables.varint(len(key)) + key + b"\x01v"
        keys = [b"key%05d" % i * 500 for i in range(40)]
        log = bytearray(tables.log([batch(i, key) for i, key in enumerate(keys)]))
        name = os.path.join(path, "000003.log")
        write = lambda log: pathlib.Path(name).write_bytes(log)
        write(log)
        self.assertEqual([line["key"] for line in self.dump(name)[0]], keys)
        # Cut off as by a crash, which is no damage.
        write(log[:-10])
        self.assertEqual([line["key"] for line in self.dump(name)[0]], keys[:-1])
        log[50_000] ^= 1
        write(log)
        lines, told = self.dump(name, status=1)
        self.assertIn("checksum mismatch", told)
        left = [line["key"] for line in lines]
        self.assertEqual([key for key in keys if key in left], left)
        self.assertTrue(30 < len(left) < 40, len(left))
        # Behind the damaged block all of it is there.
        self.assertEqual(left[-20:], keys[-20:])

    def test_get(self):
        none = [key for key in (b"key%08d" % i for i in range(4000)) if key not in self.all]
        for key in [*random.Random(1).sample(sorted(self.all), 50), b""]:
            done = subprocess.run([COMMAND, "get", "--encoding", "hex", self.path, key.hex()], capture_output=True)
            self.assertEqual((done.returncode, done.stdout), (0, self.all[key].hex().encode() + b"\n"))
        done = subprocess.run([COMMAND, "get", self.path, "key00000005"], capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, self.all[b"key00000005"], b""))
        for key in none[:20] + [b"none", b"zzz"]:
            done = command("get", self.path, key.decode())
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", ""))
        found = json.loads(command("get", "--json", self.path, none[0].decode()).stdout)
        self.assertEqual((found["found"], found["deletion"]), (False, True))

    def test_other_comparators_and_writers(self):
        path = by_leveldb("contents-reverse", 2000, 100, mode="reverse")
        self.assertEqual(len(self.newest(self.dump(path)[0])), 2000)
        self.assertEqual(command("get", path, "key00001234").returncode, 0)
        path = by_goleveldb("contents-go", 1000, 50)
        self.assertEqual(len(self.newest(self.dump(path)[0])), 1000)

    def test_memory_is_that_of_a_block(self):
        path = by_leveldb("contents-large", 100_000, 1000)
        program = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        self.assertLess(int(run(sys.executable, "-c", program, COMMAND, "dump", path).stdout), 30_000)


class Advice(unittest.TestCase):
    """What `advise` promises, and what comes of it: the database is written again, by Debian's LevelDB,
    and asked for absent keys. LEVELDB_BLOOM_TEST_LARGE=1 tries more of it."""

    LARGE = os.environ.get("LEVELDB_BLOOM_TEST_LARGE", "") == "1"

    PROGRAM = r"""if True:
        import json, plyvel, random, struct, sys
        folder, kind, keys, value_bytes, bits, block_size, suffix, ask, options = json.loads(sys.argv[1])
        make = {"be": lambda i: struct.pack(">Q", i), "user": lambda i: b"user%012d" % i,
                "hex": lambda i: b"%016x" % i, "ten": lambda i: b"%010d" % i, "json": lambda i: b"%08d.json" % i,
                "random": lambda i: random.Random(i).randbytes(16)}[kind]
        key = lambda i: make(i) + bytes.fromhex(suffix)
        if bits: options["bloom_filter_bits"] = bits
        db = plyvel.DB(folder, create_if_missing=True, block_size=block_size, lru_cache_size=1, **options)
        if ask:
            for i in range(ask): assert db.get(key(2 * (i * 7919 % keys) + 1)) is None
        else:
            text = random.Random(1).randbytes(1 << 16)
            value = lambda i: (text[(at := i * 7919 % 60000):at + value_bytes // 2] * 2 + b"x")[:value_bytes]
            for i in range(keys): db.put(key(2 * i), value(i))
            # Without an end plyvel compacts nothing.
            if "write_buffer_size" not in options: db.compact_range(stop=b"\xff" * 20)
        db.close()"""

    def plyvel(self, *args, **environment):
        path = environment.pop("path")
        options = environment.pop("options", {})
        run("/usr/bin/python3", "-c", self.PROGRAM, json.dumps([path, *args, options]), env={**os.environ, **environment})

    def written(self, kind, keys, value_bytes, bits, block_size=4096, suffix="", **options):
        path = folder("advice")
        encoding = options.pop("encoding", "bloom")
        environment = {"LD_PRELOAD": LIBRARY, "LEVELDB_BLOOM_ENCODING": "ribbon"} if encoding == "ribbon" else {}
        self.plyvel(kind, keys, value_bytes, bits, block_size, suffix, 0, path=path, options=options, **environment)
        return path

    def passed(self, path, kind, keys, bits, encoding, suffix="", ask=30_000):
        """The share of queries for absent keys, between present ones, that filters of LevelDB's say yes to."""
        # Ours answers as stock does, and counts.
        stats = os.path.join(WORK, "advice.stats")
        pathlib.Path(stats).unlink(missing_ok=True)
        self.plyvel(kind, keys, 0, bits, 4096, suffix, ask, path=path, LD_PRELOAD=LIBRARY, LEVELDB_BLOOM_STATS=stats,
                    LEVELDB_BLOOM_ENCODING=encoding)
        [last] = [line for line in map(json.loads, pathlib.Path(stats).read_text().splitlines())
                  if line["event"] in ("destroyed", "exit")]
        return 1 - last["negatives"] / last["queries"], last["queries"]

    def advise(self, path):
        done = command("advise", "--json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["advice"]

    def kept(self, row, path, kind, keys, bits, suffix=""):
        """What a row promises is what is there."""
        bloom = inspect(path)["total"]["bloom"]
        told = (row, bloom["bits_per_key_spent"])
        self.assertLess(abs(row["bits_per_key_spent"] / bloom["bits_per_key_spent"] - 1), 0.015, told)
        total = inspect(path)["total"]["filter_block_bytes"]
        self.assertLess(abs(row["filter_bytes"] / total - 1), 0.015, (row, total))
        if keys < 1000:
            return
        rate, queries = self.passed(path, kind, keys, bits, row["encoding"], suffix)
        self.assertGreater(queries, 10_000)
        wanted = row["random_pass" if kind == "random" else "neighbours_pass"]
        self.assertLess(abs(rate - wanted), 0.1 * rate + 5 * math.sqrt(max(rate, 1e-5) / min(queries, keys)), (row, rate))

    def present(self, advice):
        [row] = [row for row in advice["rows"] if row["present"]]
        return row

    def test_what_is_promised_comes(self):
        cases = [("be", 20_000, 100, 10), ("user", 4000, 1000, 10), ("random", 20_000, 100, 8)]
        if self.LARGE:
            cases += [("ten", 10_000, 100, 10), ("json", 20_000, 30, 10), ("be", 2_000_000, 100, 10), ("hex", 500_000, 200, 14), ("random", 1_000_000, 300, 10)]
        for kind, keys, value_bytes, bits in cases:
            with self.subTest(kind=kind, keys=keys, value_bytes=value_bytes):
                path = self.written(kind, keys, value_bytes, bits)
                advice = self.advise(path)
                self.assertEqual(advice["ordered"], kind in ("be", "user", "hex"), advice["text"])
                row = self.present(advice)
                self.assertEqual((row["bits_per_key"], row["block_size"]), (bits, 4096))
                self.kept(row, path, kind, keys, bits)
                rows = [row for row in advice["rows"] if row["best"]
                        or (row["bits_per_key"], row["block_size"], row["encoding"]) == (bits, 16384, "bloom")]
                self.assertIn("ribbon", {row["encoding"] for row in rows})
                if not hasattr(ctypes.CDLL(LIBRARY), "leveldb_bloom_policy_create_ribbon"):
                    rows = [row for row in rows if row["encoding"] == "bloom"]
                for row in rows:
                    suffix = "00" * row["appended_byte"]
                    path = self.written(kind, keys, value_bytes, row["bits_per_key"], row["block_size"], suffix,
                                        encoding=row["encoding"])
                    self.kept(row, path, kind, keys, row["bits_per_key"], suffix)

    def test_what_was_set_is_seen(self):
        for bits, block_size, keys, value_bytes in (
                (1, 4096, 2000, 100), (44, 4096, 2000, 100), (60, 1024, 2000, 100), (1000, 4096, 300, 100),
                (10, 1024, 2000, 10), (10, 65536, 3000, 100), (10, 1 << 20, 30_000, 100), (10, 3000, 2000, 200),
                (10, 4096, 1, 10), (10, 4096, 3, 10), (10, 4 << 20, 40_000, 100)):
            with self.subTest(bits=bits, block_size=block_size, keys=keys):
                path = self.written("random", keys, value_bytes, bits, block_size)
                advice = self.advise(path)
                sizes = {row["block_size"] for row in advice["rows"]}
                # Of one block nothing says how large it might have been.
                if 3 < keys < 40_000:
                    self.assertLess(abs(min(sizes) - block_size), block_size * 0.03, sizes)
                self.assertTrue(1024 <= min(sizes) and max(sizes) <= 4 << 20, sizes)
                one = [row for row in advice["rows"] if row["present"]]
                if keys > 3:
                    self.kept(*one, path, "random", 0, bits)
                else:
                    self.assertIn("Nothing to gain", advice["text"])

    def test_level_0_and_logs(self):
        # Tiny tables that are not compacted: what is promised is for the time after that.
        path = self.written("user", 5000, 100, 10, write_buffer_size=65536)
        self.assertGreater(len(glob.glob(path + "/*.ldb")), 3)
        row = self.present(self.advise(path))
        self.kept(row, self.written("user", 5000, 100, 10), "user", 5000, 10)
        path = self.written("be", 5000, 100, 10, write_buffer_size=64 << 20)
        self.assertEqual(glob.glob(path + "/*.ldb"), [])
        advice = self.advise(path)
        self.assertEqual((advice["keys"], advice["ordered"], advice["tables"]), (5000, True, 0))

    def test_no_filters(self):
        path = self.written("random", 5000, 100, 0)
        advice = self.advise(path)
        row = self.present(advice)
        self.assertEqual((row["encoding"], row["filter_bytes"], row["reads_per_missing_get"]), ("none", 0, 1))
        self.assertIn("NewBloomFilterPolicy(10)", advice["text"])

    def test_few_bits_are_not_all_that_may_be_spent(self):
        # As inspect says it.
        path = self.written("random", 5000, 100, 1)
        self.assertIn("set 10 bits per key", " ".join(command("inspect", path).stdout.split()))
        self.assertRegex(self.advise(path)["text"], r"of 1 bit per key.* ribbon filters of .*NewBloomFilterPolicy\(10\)")
        path = self.written("random", 5000, 100, 1000)
        self.assertNotIn("0.0e0", command("advise", path).stdout)

    def test_a_sample_is_enough(self):
        # More than is read.
        path = self.written("user", 30_000, 4000, 10)
        advice = self.advise(path)
        self.assertLess(advice["sampled_keys"], 25_000)
        self.assertLess(abs(advice["keys"] / 30_000 - 1), 0.02)
        self.kept(self.present(advice), path, "user", 30_000, 10)

    def test_nothing_to_try(self):
        done = command("advise", self.written("user", 0, 10, 10))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        # What is wrong with the database is why.
        path = database("advice-missing", (1, 5, b"", b"a", b"b"))
        os.remove(os.path.join(path, "000005.ldb"))
        done = command("advise", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("000005.ldb: MISSING", done.stderr)

    def test_long_keys_are_left_out(self):
        longest = b"k" * (64 << 10)
        path = written("advice-long.ldb", table(keys(0, 100) + [longest, longest + b"k", longest + b"l"], each=1))
        advice = self.advise(path)
        self.assertEqual((advice["sampled_keys"], advice["left_out_keys"]), (101, 2))
        self.assertIn("2 keys were left out, being longer than 64 KiB.", advice["text"])
        done = command("advise", written("advice-longest.ldb", table([longest + b"k", longest + b"l"])))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("every key is longer than 64 KiB", done.stderr)

    def test_only_what_was_seen_is_said_to_be_there(self):
        # Nothing is known of block size and filters before there is a table.
        path = self.written("be", 5000, 100, 10, write_buffer_size=64 << 20)
        self.assertEqual(glob.glob(path + "/*.ldb"), [])
        advice = self.advise(path)
        self.assertEqual([row for row in advice["rows"] if row["present"] or row["encoding"] == "none"], [])
        self.assertEqual(min(row["block_size"] for row in advice["rows"]), 4096)
        self.assertIn("There is no table yet", advice["text"])
        row = next(row for row in advice["rows"] if (row["encoding"], row["bits_per_key"]) == ("bloom", 10))
        self.kept(row, self.written("be", 5000, 100, 10), "be", 5000, 10)
        # Filters of another format, by whatever name, those that match every key, and those for another key.
        of_another = lambda of: b"".join(tables.internal(key)[:12] for key in of) + b"\x07"
        for name, create, policy in (("riak", tables.riak_filter, POLICY), ("all", lambda _: b"\x00\x1f", POLICY),
                                     ("none", lambda _: b"\xff\x00", POLICY), ("own", of_another, "test.Policy"),
                                     ("suffix", lambda of: Bloom().create([key[:-4] for key in of]), "test.Suffix")):
            with self.subTest(name=name):
                advice = self.advise(database(f"advice-{name}", (1, 5, table(keys(0, 1000), create, policy=policy),
                                                                 b"key00000000", b"key00000999")))
                self.assertEqual([row for row in advice["rows"] if row["present"]], [])
                self.assertIn("not such as LevelDB makes for these keys", advice["text"])
        # What cannot be read, in part or at all, and in some tables only.
        sound = table(keys(0, 1000))
        parts = tables.Table(sound)
        flipped = lambda at: sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1:]
        ends = b"key00000000", b"key00000999"
        for name, *tables_ in (("filters", flipped(parts.filter[0])), ("metaindex", flipped(parts.metaindex[0])),
                               ("rocksdb", table(keys(0, 1000), policy=None, other_name="rocksdb.properties")),
                               ("some", sound, table(keys(0, 1000), policy=None))):
            with self.subTest(name=name):
                advice = self.advise(database(f"advice-{name}", *((0, 5 + i, each, *ends) for i, each in enumerate(tables_))))
                self.assertEqual([row for row in advice["rows"] if row["present"]], [])
                self.assertNotIn("There are no filters", advice["text"])
                self.assertIn("some tables have none" if name == "some" else "could not be read", advice["text"])
        # Of both encodings, in the middle of a change.
        ribbon = Bloom(10, "leveldb_bloom_policy_create_ribbon").create
        for names in ("bloom", "ribbon"), ("ribbon",):
            both = {"bloom": sound, "ribbon": table(keys(0, 1000), ribbon)}
            advice = self.advise(database("advice-both", *((0, 5 + i, both[name], *ends) for i, name in enumerate(names))))
            there = [(row["encoding"], row["bits_per_key"]) for row in advice["rows"] if row["present"]]
            self.assertEqual(there, [("ribbon", 10)] if names == ("ribbon",) else [])
        # The same bits by another name.
        advice = self.advise(written("advice-name.ldb", table(keys(0, 1000), policy="test.Policy")))
        self.assertEqual(self.present(advice)["bits_per_key"], 10)

    def test_no_rate_of_keys_that_were_not_asked(self):
        advice = self.advise(written("advice-one.ldb", table([b"key"])))
        for row in advice["rows"]:
            self.assertEqual((row["neighbours_pass"], row["random_pass"]), (None, None))
            self.assertGreater(row["reads_per_missing_get"], 0)
        self.assertNotIn("0.0e0", command("advise", written("advice-one.ldb", table([b"key"]))).stdout)

    def test_a_block_of_one_large_value(self):
        # Blocks of any size up to that of an entry look so: then it is LevelDB's own.
        blocks = [[(key, b"v" * 100_000)] for key in keys(0, 30)]
        advice = self.advise(written("advice-values.ldb", tables.write(blocks, Bloom().create)))
        self.assertEqual(self.present(advice)["block_size"], 4096)

    def test_what_is_damaged_is_left_out(self):
        path = self.written("random", 20_000, 100, 10)
        whole = self.advise(path)
        with open(table_of(path), "r+b") as file:
            file.write(bytes(os.path.getsize(table_of(path)) * 2 // 3))
        advice = self.advise(path)
        self.assertLess(advice["sampled_keys"], 0.4 * whole["sampled_keys"])
        # There are as many as before, as far as can be seen.
        self.assertLess(abs(advice["keys"] / whole["keys"] - 1), 0.1, (advice["keys"], whole["keys"]))
        self.assertRegex(advice["text"], r"[1-9]\d* blocks could not be read\.")
        self.assertNotIn("could not be read", whole["text"])


def every_class():
    """All classes, as many at a time as there are processors. The status is that of the worst."""
    # Those that take longest begin first.
    names = ["Damage", "Advice", "Unusual", "Reports", "Ranges", "Paths"]
    names += [name for name, it in globals().items()
              if isinstance(it, type) and issubclass(it, unittest.TestCase) and name not in names]

    def one(name):
        return run(sys.executable, "-B", *sys.argv, name, check=False)

    worst = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name, done in zip(names, pool.map(one, names)):
            worst = max(worst, abs(done.returncode))
            print(f"{name}: {done.stderr if done.returncode else ' '.join(done.stderr.splitlines()[-3:])}", flush=True)
    return worst


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    if not sys.argv[6:]:
        sys.exit(every_class())
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
