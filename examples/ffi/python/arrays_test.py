"""The wrapper of leveldb_bloom_arrays.py against that of leveldb_bloom.py: every kind of array,
slices, chunks, nulls, a million keys, threads."""

import concurrent.futures
import decimal
import gc
import json
import os
import platform
import unittest

import numpy
import pyarrow

import leveldb_bloom
import leveldb_bloom_arrays as bloom
from bloom_test import BATCH, HALF, KEY_LENGTH, KEYS, best_of, resident_bytes, unhex

TYPES = (pyarrow.binary(), pyarrow.large_binary(), pyarrow.string(), pyarrow.large_string())


class ArraysTest(unittest.TestCase):
    golden = 0

    @classmethod
    def setUpClass(cls):
        cls.numpy_keys = numpy.array([b"key-%012d" % i for i in range(KEYS)])
        cls.bytes_keys = cls.numpy_keys.tobytes()
        cls.whole = pyarrow.array(cls.numpy_keys.astype("U16"), pyarrow.string())
        with leveldb_bloom.Policy(10) as policy:
            cls.policy_kernel = policy.kernel
            cls.expected = policy.create_filter_fixed(cls.bytes_keys[:HALF * KEY_LENGTH], KEY_LENGTH)
        cls.answers = cls.expected.may_match_fixed(cls.bytes_keys, KEY_LENGTH)

    def test_golden(self):
        with open(os.environ["LEVELDB_BLOOM_GOLDEN"]) as file:
            for line in file:
                kind, *fields = line.split()
                with self.subTest(line=line):
                    if kind == "filter":
                        keys = [unhex(key) for key in fields[2:]]
                        for type_ in TYPES[:2]:
                            made = bloom.create_filter(pyarrow.array(keys, type_), int(fields[0]))
                            self.assertEqual(made.data.tobytes(), unhex(fields[1]))
                    elif kind == "answer":
                        asked = bloom.Filter(unhex(fields[1]))
                        key = unhex(fields[0])
                        self.assertEqual(key in asked, fields[2] == "1")
                        self.assertEqual(asked.may_match(pyarrow.array([key])).to_pylist(),
                                         [fields[2] == "1"])
                    else:
                        # Through the C names themselves: the wrapper has no need of hashes.
                        key = unhex(fields[0])
                        self.assertEqual(bloom._library.leveldb_bloom_hash(key, len(key)),
                                         int(fields[1], 16))
                ArraysTest.golden += 1

    def test_every_type_and_slices(self):
        whole = self.expected.data
        for type_ in TYPES:
            keys = self.whole.cast(type_)
            self.assertEqual(bloom.create_filter(keys[:HALF]).data.tobytes(), whole)
            # A slice has an offset of its own, and bits of its own from bit 0.
            for first in (0, 1, 499_997):
                asked = bloom.Filter(whole).may_match(keys[first:first + 1003])
                self.assertEqual(asked.to_pylist(),
                                 [answer == 1 for answer in self.answers[first:first + 1003]])
        fixed = pyarrow.array(self.numpy_keys[:2000].tolist(), pyarrow.binary(KEY_LENGTH))
        self.assertEqual(bloom.create_filter(fixed[500:1500]).data.tobytes(),
                         bloom.create_filter(self.numpy_keys[500:1500]).data.tobytes())
        integers = numpy.arange(1000, dtype=numpy.uint64)
        self.assertTrue(bloom.create_filter(integers).may_match(integers).all())
        chunked = pyarrow.chunked_array([self.whole[:300], self.whole[:0], self.whole[300:HALF]])
        self.assertEqual(bloom.create_filter(chunked).data.tobytes(), whole)
        self.assertTrue(bloom.Filter(whole).may_match(chunked).to_numpy().all())
        rows = self.numpy_keys[:2000].reshape(20, 100)
        made = bloom.create_filter(rows)
        self.assertEqual(made.data.tobytes(), bloom.create_filter(rows.reshape(-1)).data.tobytes())
        self.assertTrue(made.may_match(rows).all())
        self.assertEqual(made.may_match(rows).shape, rows.shape)
        for empty in (pyarrow.array([], pyarrow.string()), self.numpy_keys[:0]):
            self.assertEqual(bloom.create_filter(empty).data.tobytes(), b"\0" * 8 + b"\6")
            self.assertEqual(len(bloom.Filter(whole).may_match(empty)), 0)

    def test_offsets_at_odd_addresses(self):
        for type_, kind in zip(TYPES, ("int32", "int64", "int32", "int64")):
            offsets = b"?" + numpy.arange(0, 1001 * KEY_LENGTH, KEY_LENGTH, kind).tobytes()
            odd = pyarrow.py_buffer(offsets).slice(1)
            self.assertEqual(odd.address % 4, 1)
            keys = pyarrow.Array.from_buffers(type_, 1000, [None, odd, self.whole.buffers()[2]])
            self.assertEqual(bloom.create_filter(keys[10:]).data.tobytes(),
                             bloom.create_filter(self.numpy_keys[10:1000]).data.tobytes())

    def test_zeros_at_the_end(self):
        members = bloom.create_filter(pyarrow.array([b"abc", b"de"]))
        short = numpy.array([b"abc", b"de"])
        for use in (members.may_match, bloom.create_filter):
            self.assertRaisesRegex(ValueError, "zeros", use, short)
        # Both ways that the error names.
        arrow = pyarrow.array(short.tolist(), pyarrow.binary())
        self.assertEqual(members.may_match(arrow).to_pylist(), [True, True])
        self.assertIn(b"de\0", bloom.create_filter(short.view("V3")))
        # In the middle, and in numbers, zeros are a key's own.
        for keys in (numpy.array([b"a\0c"]), numpy.array([1, 256])):
            self.assertTrue(bloom.create_filter(keys).may_match(keys).all())

    def test_no_copy(self):
        for array, address in ((self.numpy_keys, self.numpy_keys.ctypes.data),
                               (self.whole, self.whole.buffers()[2].address)):
            _, arguments, _ = bloom._keys(array)
            self.assertEqual(int(bloom._ffi.cast("uintptr_t", arguments[0])), address)

    def test_errors(self):
        members = bloom.Filter(self.expected.data)
        self.assertRaises(ValueError, members.may_match, pyarrow.array([b"a", None]))
        self.assertRaises(ValueError, members.may_match, self.numpy_keys[::2])
        self.assertRaises(TypeError, members.may_match, pyarrow.array([1.5]))
        self.assertRaises(TypeError, members.may_match, numpy.array([1.5]))
        self.assertRaises(TypeError, members.may_match, ["a"])
        # Offsets that fall: memory that no Arrow library makes, but that may come from anywhere.
        offsets = numpy.array([0, 7, 5], numpy.int32)
        broken = pyarrow.Array.from_buffers(pyarrow.binary(), 2, [
            None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"0123456789")])
        for use in (members.may_match, bloom.create_filter):
            with self.assertRaises(bloom.BloomError) as caught:
                use(broken)
            self.assertEqual(caught.exception.status, 1)
            self.assertEqual(str(caught.exception), str(leveldb_bloom.BloomError(1)))
        builder = bloom.Builder()
        with self.assertRaises(bloom.BloomError) as caught:
            builder.finish(2**63)
        self.assertEqual(caught.exception.status, 2)
        builder.close()
        builder.close()
        self.assertRaises(ValueError, builder.finish)

    def test_numbers_that_c_has_no_room_for(self):
        builder = bloom.Builder()
        for bits in (-2**31 - 1, 2**31, 2**32 + 10):
            self.assertRaises(OverflowError, bloom.Builder, bits)
        for keys in (-1, 2**64, 2**64 + 5):
            self.assertRaises(OverflowError, builder.finish, keys)
        # cffi refuses Python's fractions, and cuts off those of others.
        for fraction in (2.9, numpy.float32(2.9), decimal.Decimal("2.9")):
            self.assertRaises(TypeError, bloom.Builder, fraction)
            self.assertRaises(TypeError, builder.finish, fraction)

    def test_builders_are_given_back(self):
        # At once, and by the collector: of 40 MB each, which malloc does not keep.
        keys, builders, before = numpy.zeros(10 * KEYS, numpy.uint8), [], resident_bytes()
        for _ in range(10):
            with bloom.Builder() as builder:
                builder.add(keys)
                builders.append(builder)
        self.assertLess(resident_bytes(), before + 100 * KEYS)
        for _ in range(10):
            bloom.Builder().add(keys)
        gc.collect()
        self.assertLess(resident_bytes(), before + 100 * KEYS)

    def test_threads(self):
        def part(number):
            with bloom.Builder() as builder:
                builder.add(self.numpy_keys[number * HALF // 4:(number + 1) * HALF // 4])
                return builder.finish(HALF)

        members = bloom.Filter(self.expected.data)
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            first, *others = threads.map(part, range(4))
            self.assertEqual(members.union(members).data.tobytes(), self.expected.data)
            with self.assertRaises(bloom.BloomError) as caught:
                members.union(bloom.Filter(b"\0" * 9))
            self.assertEqual(caught.exception.status, 4)
            before = first.data.tobytes()
            first.union(others[0])
            self.assertEqual(first.data.tobytes(), before)
            for other in others:
                first = first.union(other)
            self.assertEqual(first.data.tobytes(), self.expected.data)
            for answers in threads.map(lambda _: members.may_match(self.numpy_keys), range(8)):
                self.assertEqual(answers.tobytes(), self.answers)

    def test_million_keys(self):
        members = bloom.create_filter(self.numpy_keys[:HALF])
        self.assertEqual(members.data.tobytes(), self.expected.data)
        answers = members.may_match(self.numpy_keys)
        self.assertEqual(answers.tolist(), [key in members for key in self.numpy_keys.tolist()])
        self.assertEqual(members.may_match(self.whole).to_numpy(zero_copy_only=False).tobytes(),
                         answers.tobytes())
        some = self.numpy_keys[HALF - 500:HALF + 500].tolist()
        batch = self.numpy_keys[HALF - BATCH // 2:HALF + BATCH // 2]
        one = best_of(200, lambda: [key in members for key in some])[0]
        query = best_of(200, lambda: members.may_match(batch))[0]
        build = best_of(200, lambda: bloom.create_filter(batch))[0]
        self.assertGreater(ArraysTest.golden, 0)
        print(json.dumps({
            "language": "Python", "through": "cffi, numpy and pyarrow",
            "runtime": f"{platform.python_implementation()} {platform.python_version()}",
            "library": bloom.version(), "active": bloom.active(), "kernel": self.policy_kernel,
            "golden": ArraysTest.golden, "matches": int(answers.sum()),
            "filter_hash": "%08x" % leveldb_bloom.key_hash(members.data.tobytes()),
            "call_ns": round(one / len(some) * 1e9, 1), "query_keys_per_s": round(BATCH / query),
            "build_keys_per_s": round(BATCH / build)}))


if __name__ == "__main__":
    unittest.main()
