"""The wrapper of leveldb_bloom.py: golden values, a million keys, errors, threads, finalisers."""

import array
import concurrent.futures
import ctypes
import gc
import json
import os
import platform
import subprocess
import sys
import time
import unittest

import leveldb_bloom as bloom

KEY_LENGTH = 16
KEYS = 1_000_000
HALF = KEYS // 2
BATCH = 100_000


def unhex(text):
    return b"" if text == "-" else bytes.fromhex(text)


def best_of(rounds, work):
    """The shortest of many runs, which others on the machine disturbed least."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def resident_bytes():
    """How much memory the process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class GoldenTest(unittest.TestCase):
    lines = 0

    def check_filter(self, bits, expected, *keys):
        keys = [unhex(key) for key in keys]
        with bloom.Policy(int(bits)) as policy, bloom.Builder(int(bits)) as builder:
            self.assertEqual(policy.create_filter(keys).data, unhex(expected))
            for key in keys:
                builder.add(key)
            self.assertEqual(len(builder), len(keys))
            self.assertEqual(builder.finish().data, unhex(expected))
            self.assertEqual(len(builder), 0)

    def check_hash(self, key, expected):
        self.assertEqual(bloom.key_hash(unhex(key)), int(expected, 16))

    def check_answer(self, key, filter_bytes, expected):
        key, asked = unhex(key), bloom.Filter(unhex(filter_bytes))
        self.assertEqual(key in asked, expected == "1")
        for code in "iq":
            answers = asked.may_match_offsets(key, array.array(code, [0, len(key)]))
            self.assertEqual(answers, bytes([int(expected)]))

    def test_golden(self):
        with open(os.environ["LEVELDB_BLOOM_GOLDEN"]) as file:
            for line in file:
                with self.subTest(line=line):
                    kind, *fields = line.split()
                    getattr(self, "check_" + kind)(*fields)
                GoldenTest.lines += 1


class LibraryTest(unittest.TestCase):
    def test_our_library_answers(self):
        self.assertEqual(bloom.version(), "1.0.0")
        self.assertTrue(bloom.active().startswith("leveldb_bloom ("))

    def test_sizing(self):
        bits = bloom.bits_per_key_for(0.01, KEYS)
        self.assertEqual(bits, 11)
        self.assertTrue(0.005 < bloom.false_positive_rate(bits, KEYS) <= 0.01)
        self.assertEqual(bloom.bits_per_key_for(1e-12, KEYS), 0)

    def test_inside(self):
        with bloom.Policy() as policy:
            members = policy.create_filter([b"hello", b"world"])
            # What can be read only once.
            self.assertEqual(policy.create_filter(iter([b"hello", b"world"])).data, members.data)
        info = members.inspect()
        self.assertEqual((info["bits"], info["probes"], info["fill"]), (64, 6, 10 / 64))
        self.assertAlmostEqual(info["estimated_keys"], 1.815, delta=0.005)
        self.assertAlmostEqual(info["false_positive_rate"], 0.0045, delta=0.0005)
        with bloom.Policy() as policy, bloom.Policy(10) as ten, bloom.Builder() as builder:
            self.assertEqual(policy.create_filter([b"key"] * 20).data, ten.create_filter([b"key"] * 20).data)
            builder.add(b"key")
            self.assertEqual(builder.finish().data, ten.create_filter([b"key"]).data)
            self.assertEqual(len(bloom.Policy(44).create_filter([b"key"]).positions(b"key")), 30)
        self.assertEqual(info["bits_set"], bin(int.from_bytes(members.data[:-1], "little")).count("1"))
        positions = members.positions(b"hello")
        self.assertEqual(len(positions), 6)
        self.assertTrue(all(members.data[p // 8] >> p % 8 & 1 for p in positions))

    def test_buffers_of_wider_elements(self):
        wide, offsets = array.array("H", [1, 2]), array.array("q", [0, 2, 4, 5, 7, 9])
        with bloom.Policy() as policy:
            expected = policy.create_filter([wide.tobytes(), b"hello"]).data
            for key in (wide, memoryview(wide).cast("B").cast("H", [2, 1])):
                self.assertEqual(policy.create_filter([key, b"hello"]).data, expected)
            members = policy.create_filter_offsets(b"123456789", offsets)
            rows = memoryview(offsets).cast("B").cast("q", [2, 3])
            self.assertEqual(policy.create_filter_offsets(b"123456789", rows).data, members.data)
            self.assertEqual(members.may_match_offsets(b"123456789", rows), b"\1" * 5)
            wider = memoryview(b"0123456789").cast("H")
            fixed = policy.create_filter_fixed(wider, 5)
            self.assertEqual(fixed.data, policy.create_filter([b"01234", b"56789"]).data)
            self.assertEqual(fixed.may_match_fixed(wider, 5), b"\1" * 2)
            with bloom.Builder() as builder:
                builder.add_fixed(wider, 5)
                self.assertEqual(builder.finish().data, fixed.data)
                # A single key is bytes, or refused.
                for use in (fixed.may_match, fixed.positions, builder.add, bloom.key_hash):
                    self.assertRaises(ctypes.ArgumentError, use, wide)

    def test_buffers_of_any_place_and_of_nothing(self):
        with bloom.Policy() as policy:
            members = policy.create_filter([b"01234", b"56789"])
            for code in "iq":
                words = array.array(code, [0, 5, 10]).tobytes()
                for skipped in range(1, 8):
                    for blob in (bytes, bytearray):
                        offsets = memoryview(blob(bytes(skipped) + words))[skipped:].cast(code)
                        self.assertEqual(policy.create_filter_offsets(b"0123456789", offsets).data,
                                         members.data)
                        self.assertEqual(members.may_match_offsets(b"0123456789", offsets), b"\1\1")
            rows = (ctypes.c_uint8 * 16 * 0)()
            self.assertEqual(members.may_match_fixed(rows, 16), b"")
            self.assertEqual(policy.create_filter_fixed(rows, 16).data, policy.create_filter([]).data)
        for wrong in (5, None, "text", [1, 2]):
            self.assertRaises(TypeError, bloom.Filter, wrong)

    def test_pointers_are_no_keys(self):
        # As numpy's arrays of dtype object have them, those of records too; and C's strings.
        class Record(ctypes.Structure):
            _fields_ = [("key", ctypes.py_object)]

        for kind, first, second in ((ctypes.py_object, b"a", b"b"), (Record, (b"a",), (b"b",)),
                                    (ctypes.c_char_p, b"a", b"b")):
            pointers = (kind * 2)(first, second)
            with bloom.Policy() as policy, bloom.Builder() as builder:
                members = policy.create_filter([b"a", b"b"])
                for use in (lambda: policy.create_filter([pointers]), lambda: bloom.Filter(pointers),
                            lambda: policy.create_filter_fixed(pointers, 8),
                            lambda: policy.create_filter_offsets(pointers, array.array("q", [0, 8])),
                            lambda: members.may_match_fixed(pointers, 8),
                            lambda: members.may_match_offsets(b"a", pointers),
                            lambda: builder.add_fixed(pointers, 8)):
                    self.assertRaises(TypeError, use)

    def test_letters_in_names_are_no_pointers(self):
        class Record(ctypes.Structure):
            _fields_ = [("Oz", ctypes.c_int64)]

        with bloom.Policy() as policy:
            self.assertEqual(policy.create_filter_fixed((Record * 2)((1,), (2,)), 8).data,
                             policy.create_filter_fixed(array.array("q", [1, 2]), 8).data)

    def test_numbers_that_c_has_no_room_for(self):
        builder = bloom.Builder()
        for bits in (-2**31, 2**31 - 1):
            bloom.Policy(bits).close()
            bloom.Builder(bits).close()
            bloom.false_positive_rate(bits, 1)
        for use in (bloom.Policy, bloom.Builder, lambda bits: bloom.false_positive_rate(bits, 1)):
            for bits in (-2**31 - 1, 2**31, 2**32 + 10):
                self.assertRaises(OverflowError, use, bits)
            self.assertRaises(TypeError, use, 2.9)
        self.assertEqual(bloom.bits_per_key_for(0.01, 2**64 - 1), 0)
        for use in (builder.finish, lambda keys: bloom.false_positive_rate(10, keys),
                    lambda keys: bloom.bits_per_key_for(0.01, keys)):
            for keys in (-1, 2**64, 2**64 + 5):
                self.assertRaises(OverflowError, use, keys)
            self.assertRaises(TypeError, use, 100.7)

    def test_errors(self):
        def status_of(call, *arguments):
            with self.assertRaises(bloom.BloomError) as caught:
                call(*arguments)
            self.assertEqual(str(caught.exception),
                             bloom._status_message(caught.exception.status).decode())
            return caught.exception.status

        invalid, too_large, mismatch = 1, 2, 4
        policy, builder = bloom.Policy(), bloom.Builder()
        small, large = policy.create_filter([b"a"]), policy.create_filter([b"a"] * 100)
        self.assertEqual(status_of(small.union, large), mismatch)
        self.assertEqual(status_of(builder.finish, 2**63), too_large)
        for wrong in ([0, 7, 5], [-1, 7, 9], [0, 5, 11]):
            for code in "iq":
                offsets = array.array(code, wrong)
                self.assertEqual(status_of(policy.create_filter_offsets, b"0123456789", offsets),
                                 invalid)
                self.assertEqual(status_of(small.may_match_offsets, b"0123456789", offsets), invalid)
        # Of no bits per key, a filter of any number of keys has its size.
        with bloom.Policy(0) as least:
            for none in (array.array("i"), array.array("q"), array.array("h", [0, 1]), b""):
                self.assertRaises(ValueError, policy.create_filter_offsets, b"12345", none)
                self.assertRaises(ValueError, least.create_filter_offsets, b"12345", none)
                self.assertRaises(ValueError, small.may_match_offsets, b"12345", none)
        for use in (policy.create_filter_fixed, small.may_match_fixed, builder.add_fixed):
            self.assertRaises(ValueError, use, b"12345", 2)
            self.assertRaises(ValueError, use, b"12345", 0)
            self.assertRaises((TypeError, ctypes.ArgumentError), use, b"0123456789", 2.5)
        for closed, use in ((policy, lambda: policy.create_filter([])), (builder, builder.finish)):
            closed.close()
            closed.close()
            self.assertRaises(ValueError, use)

    def test_the_end_of_the_process_in_the_middle_of_a_call(self):
        program = """
import threading
import leveldb_bloom as bloom
builder, data, begun = bloom.Builder(), bytes(8_000_000), threading.Event()
def work():
    while True:
        builder.add_fixed(data, 8)
        begun.set()
        builder.finish(100)
threading.Thread(target=work, daemon=True).start()
begun.wait()
"""
        for _ in range(10):
            self.assertEqual(subprocess.run([sys.executable, "-c", program]).returncode, 0)

    def test_finalisers(self):
        gc.collect()
        # What is closed at once, and what is left to the collector: of 40 MB each, which
        # malloc does not keep.
        keys, builders, before = bytes(10 * KEYS), [], resident_bytes()
        for _ in range(10):
            with bloom.Builder() as builder:
                builder.add_fixed(keys, 1)
                builders.append(builder)
        self.assertLess(resident_bytes(), before + 100 * KEYS)
        for _ in range(10):
            bloom.Builder().add_fixed(keys, 1)
        gc.collect()
        self.assertLess(resident_bytes(), before + 100 * KEYS)


class MillionKeysTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = b"".join(b"key-%012d" % i for i in range(KEYS))
        cls.policy = bloom.Policy(10)
        cls.half = memoryview(cls.data)[:HALF * KEY_LENGTH]
        cls.filter = cls.policy.create_filter_fixed(bytes(cls.half), KEY_LENGTH)

    def test_batches_and_single_calls(self):
        data, members = self.data, self.filter
        keys = [data[i:i + KEY_LENGTH] for i in range(0, len(data), KEY_LENGTH)]
        answers = members.may_match_fixed(data, KEY_LENGTH)
        self.assertEqual(answers, bytes(key in members for key in keys))
        self.assertEqual(sum(answers[:HALF]), HALF)
        offsets = array.array("q", range(0, len(data) + 1, KEY_LENGTH))
        self.assertEqual(members.may_match_offsets(data, offsets), answers)
        self.assertEqual(self.policy.create_filter_offsets(data, offsets[:HALF + 1]).data,
                         members.data)

        some = keys[HALF - 500:HALF + 500]
        batch = data[(HALF - BATCH // 2) * KEY_LENGTH:(HALF + BATCH // 2) * KEY_LENGTH]
        one = best_of(200, lambda: [key in members for key in some])[0]
        query = best_of(200, lambda: members.may_match_fixed(batch, KEY_LENGTH))[0]
        build = best_of(200, lambda: self.policy.create_filter_fixed(batch, KEY_LENGTH))[0]
        # In another test's process nothing may have counted the golden lines.
        self.assertGreater(GoldenTest.lines, 0)
        print(json.dumps({
            "language": "Python", "through": "ctypes",
            "runtime": f"{platform.python_implementation()} {platform.python_version()}",
            "library": bloom.version(), "active": bloom.active(), "kernel": self.policy.kernel,
            "golden": GoldenTest.lines, "matches": sum(answers),
            "filter_hash": "%08x" % bloom.key_hash(members.data),
            "call_ns": round(one / len(some) * 1e9, 1), "query_keys_per_s": round(BATCH / query),
            "build_keys_per_s": round(BATCH / build)}))

    def test_threads(self):
        size = KEYS // 8 * KEY_LENGTH

        def part(number):
            with bloom.Builder(10) as builder:
                builder.add_fixed(self.half[number * size:(number + 1) * size], KEY_LENGTH)
                return builder.finish(total_keys=HALF)

        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            whole, *others = threads.map(part, range(4))
            for other in others:
                whole = whole.union(other)
            self.assertEqual(whole.data, self.filter.data)
            expected = self.filter.may_match_fixed(self.data, KEY_LENGTH)
            for answers in threads.map(
                    lambda _: self.filter.may_match_fixed(self.data, KEY_LENGTH), range(8)):
                self.assertEqual(answers, expected)


if __name__ == "__main__":
    unittest.main()
