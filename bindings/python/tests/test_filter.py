"""Policies, filters and builders, on Python's own objects."""

import array
import copy
import ctypes
import mmap
import pickle

import pytest
import ribbon_reference

from leveldb_bloom import Builder, Filter, FilterInfo, Policy

# The filter of half a million of the tests' keys and how many of a million it matches: from LevelDB's
# own policy, as in scripts/ffi/results.py.
MATCHES = 512283


def unhex(text):
    return b"" if text == "-" else bytes.fromhex(text)


def test_golden_values(golden):
    for kind, *fields in golden:
        if kind == "filter":
            keys = [unhex(key) for key in fields[2:]]
            assert bytes(Policy(int(fields[0])).create_filter(keys)) == unhex(fields[1])
        elif kind == "answer":
            key, asked = unhex(fields[0]), Filter(unhex(fields[1]))
            assert (key in asked) == (fields[2] == "1")
            assert asked.may_match_many([key]) == bytes([fields[2] == "1"])
    assert {kind for kind, *_ in golden} == {"filter", "answer", "hash"}


def test_a_million_keys(million):
    members = Policy().create_filter(million[:500_000])
    answers = members.may_match_many(million)
    assert answers.count(1) == MATCHES
    assert len(answers) == len(million)
    assert set(answers) == {0, 1}
    assert list(answers) == [key in members for key in million]


@pytest.mark.parametrize("number", [0, 1, 2, 999, 1000, 1001, 16383, 16384, 16385, 40000])
def test_batches(million, number):
    keys = million[:number]
    builder = Builder()
    for key in keys:
        builder.add(key)
    expected = builder.finish()
    assert len(expected) == Policy().filter_size(number)
    for iterable in (keys, tuple(keys), iter(keys), set(keys), dict.fromkeys(keys), (k for k in keys)):
        assert Policy().create_filter(iterable) == expected
    assert expected.may_match_many(keys) == b"\1" * number
    assert expected.may_match_many(iter(keys)) == b"\1" * number


def test_policies():
    assert (Policy().bits_per_key, Policy().encoding, Policy().probes) == (10, "bloom", 6)
    assert Policy(bits_per_key=16) == Policy(16, "bloom") != Policy()
    assert hash(Policy(16)) == hash(Policy(16, "bloom"))
    assert Policy.for_rate(0.01, keys=1000) == Policy(10)
    assert Policy(10).false_positive_rate(1000) <= 0.01 < Policy(9).false_positive_rate(1000)
    assert repr(Policy()) == "Policy(bits_per_key=10, encoding='bloom')"
    assert eval(repr(Policy(7))) == Policy(7)
    assert Policy().kernel in ("avx512", "avx2", "portable")
    assert Policy(0).filter_size(1000) == 9
    with pytest.raises(AttributeError):
        Policy().bits_per_key = 5


def test_wrong_policies():
    for wrong in (-1, -2**31):
        with pytest.raises(ValueError, match="negative"):
            Policy(wrong)
    for wrong in (2**31, 2**64, -2**31 - 1):
        with pytest.raises(OverflowError):
            Policy(wrong)
    for wrong in ("10", 10.5, None):
        with pytest.raises(TypeError):
            Policy(wrong)
    for wrong in ("ribon", "", "BLOOM"):
        with pytest.raises(ValueError, match="encoding"):
            Policy(10, wrong)
        with pytest.raises(ValueError, match="encoding"):
            Policy.for_rate(0.01, keys=10, encoding=wrong)
    for wrong in (0, 1, -1, 2, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            Policy.for_rate(wrong, keys=10)
    with pytest.raises(ValueError, match="no number of bits"):
        Policy.for_rate(0.001, keys=50_000_000)
    with pytest.raises(OverflowError):
        Policy.for_rate(0.01, keys=-1)
    with pytest.raises(TypeError):
        Policy.for_rate(0.01)


def test_ribbon():
    for bits in (1, 7, 10, 13):
        policy = Policy(bits, "ribbon")
        assert (policy.bits_per_key, policy.encoding) == (bits, "ribbon")
        assert policy != Policy(bits)
        assert policy.false_positive_rate(5) == 2.0**-bits
        assert Policy.for_rate(2.0**-bits, keys=5, encoding="ribbon") == policy
        for number in (0, 1, 6, 20, 64, 65, 300):
            keys = [number.to_bytes(8, "big") for number in range(0, 2 * number, 2)]
            made = policy.create_filter(keys)
            assert bytes(made) == ribbon_reference.create(bits, keys)
            assert len(made) == policy.filter_size(number)
            builder = Builder(policy)
            builder.update(iter(keys))
            assert builder.finish() == made
            asked = [number.to_bytes(8, "big") for number in range(2 * number + 5)]
            answers = bytes(ribbon_reference.may_match(key, bytes(made)) for key in asked)
            assert made.may_match_many(asked) == answers == bytes(key in made for key in asked)
            if keys:
                with pytest.raises(ValueError, match="united"):
                    made | made
                assert (made.info.encoding, made.info.probes) == ("ribbon", bits)
                assert made.info.false_positive_rate == 2.0**-bits
    # As the core limits them.
    assert Policy(100, "ribbon").bits_per_key == 13
    assert Policy(0, "ribbon").bits_per_key == 1
    assert Policy.for_rate(0.01, keys=5, encoding="ribbon").bits_per_key == 7
    with pytest.raises(ValueError, match="no number of bits"):
        Policy.for_rate(0.0001, keys=5, encoding="ribbon")


def test_sizes_beyond_memory():
    for too_many in (2**63, 2**61, 2**58):
        with pytest.raises(MemoryError):
            Builder().finish(too_many)
    with pytest.raises(MemoryError):
        Policy().filter_size(2**63)
    with pytest.raises(OverflowError):
        Builder().finish(-1)
    builder = Builder()
    builder.add(b"kept")
    with pytest.raises(MemoryError):
        builder.finish(2**63)
    assert len(builder) == 1
    assert b"kept" in builder.finish()


def mapped():
    memory = mmap.mmap(-1, 5)
    memory[:] = b"hello"
    return memory


@pytest.mark.parametrize("make", [
    bytearray, memoryview, lambda data: array.array("B", data), lambda data: array.array("b", data),
    lambda data: (ctypes.c_char * 5)(*data), lambda data: (ctypes.c_uint8 * 5)(*data),
    lambda data: memoryview(data[::-1])[::-1], lambda data: memoryview(b"?" + data)[1:],
    lambda data: type("Key", (bytes,), {})(data), lambda data: memoryview(data).cast("B", (5, 1)),
    lambda data: mapped()])
def test_bytes_like_keys(make):
    expected = Policy().create_filter([b"hello"])
    key = make(b"hello")
    assert Policy().create_filter([key, ]) == expected
    assert key in expected
    assert make(b"hello") in expected
    assert expected.may_match_many([key, b"absent"]) == b"\1\0"
    builder = Builder()
    builder.add(key)
    assert builder.finish() == expected
    assert Filter(make(b"hello")) == Filter(b"hello")


def test_a_key_of_words_is_its_bytes():
    assert Policy().create_filter([array.array("I", [1, 2])]) == Policy().create_filter(
        [array.array("I", [1, 2]).tobytes()])


class Number(ctypes.Structure):
    # In a structure's format, names stand beside the letters of types.
    _fields_ = [("u", ctypes.c_int32), ("O", ctypes.c_int32)]


def test_a_structure_is_its_bytes():
    assert Number(1, 2) in Policy().create_filter([bytes(Number(1, 2))])


@pytest.mark.parametrize("key", [
    "text", type("Text", (str,), {})("text"), array.array("u", "text"), (ctypes.c_wchar * 4)(*"text")])
def test_text_is_refused(key):
    for use in USES:
        with pytest.raises(TypeError, match="encode"):
            use(key)


@pytest.mark.parametrize("key", [
    None, 1, 1.5, [b"a"], object(), (ctypes.py_object * 1)(b"a"), (ctypes.c_char_p * 1)(b"a")])
def test_what_is_not_bytes_is_refused(key):
    for use in USES:
        with pytest.raises(TypeError, match="bytes, not"):
            use(key)


SOME = Policy().create_filter([b"hello"])
USES = (lambda key: Policy().create_filter([b"a", key]), lambda key: SOME.may_match_many([b"a", key]),
        lambda key: Builder().update(iter([key])), lambda key: Builder().add(key),
        lambda key: key in SOME, Filter)


def test_what_holds_no_keys_is_refused():
    for use in (Policy().create_filter, SOME.may_match_many, Builder().update):
        # Of text and of bytes, the elements are no keys; of nothing are there any.
        for wrong in (None, 1, b"hello", "hello", object(), bytearray(b"x"), memoryview(b"x")):
            with pytest.raises(TypeError):
                use(wrong)
        with pytest.raises(TypeError, match="iterable of bytes, not int"):
            use(1)


def test_errors_of_iterators_pass():
    def keys():
        yield b"first"
        raise KeyError("gone")

    for use in (Policy().create_filter, SOME.may_match_many, Builder().update):
        with pytest.raises(KeyError, match="gone"):
            use(keys())
    view = memoryview(bytearray(b"a"))
    view.release()
    with pytest.raises(ValueError, match="released"):
        SOME.may_match_many([view])


def test_a_list_that_changes_meanwhile():
    class Greedy(list):
        pass

    keys = Greedy([b"a", b"b"])

    def grows():
        for key in list(keys):
            keys.append(key + b"!")
            yield key

    builder = Builder()

    def adds_itself():
        for key in (b"a", b"b"):
            builder.add(key + b"?")
            yield key

    assert b"a" in Policy().create_filter(grows())
    builder.update(adds_itself())
    assert len(builder) == 4


def test_filters_are_values():
    first, second = (Policy().create_filter([key]) for key in (b"hello", b"world"))
    assert first == Policy().create_filter([b"hello"]) == Filter(bytes(first))
    assert hash(first) == hash(Filter(bytes(first)))
    assert first != second
    assert first != bytes(first)
    assert len({first, second, Filter(bytes(first))}) == 2
    assert len(first) == len(bytes(first)) == 9
    assert repr(first) == "<leveldb_bloom.Filter: 9 bytes>"
    assert bool(Filter(b""))
    assert isinstance(bytes(first), bytes)
    with pytest.raises(TypeError):
        first < second
    for unknown in (b"", b"\6", b"\0" * 9, b"\xff" * 9):
        assert bytes(Filter(unknown)) == unknown
        assert repr(Filter(unknown))
    with pytest.raises(TypeError):
        Filter(8)


def test_a_filter_keeps_its_bytes():
    data = bytearray(bytes(SOME))
    made = Filter(data)
    data[:] = bytes(len(data))
    assert made == SOME


def test_union():
    policy = Policy()
    keys = [b"%d" % number for number in range(100)]
    parts = []
    for start in range(0, 100, 25):
        builder = Builder(policy)
        builder.update(keys[start:start + 25])
        assert len(builder) == 25
        parts.append(builder.finish(100))
        assert len(builder) == 0
    before = parts[0]
    whole = parts[0]
    for part in parts[1:]:
        whole |= part
    assert whole == policy.create_filter(keys) == parts[3] | parts[2] | parts[1] | parts[0]
    assert parts[0] is before
    assert bytes(before) != bytes(whole)
    for other in (Filter(b"\0" * 9), Policy(5).create_filter(keys), Filter(b"")):
        with pytest.raises(ValueError, match="same length"):
            whole | other
    with pytest.raises(ValueError):
        Filter(b"") | Filter(b"")
    for other in (b"", bytes(whole), None):
        with pytest.raises(TypeError):
            whole | other
        with pytest.raises(TypeError):
            other | whole


def test_info():
    info = Policy().create_filter([b"hello", b"world"]).info
    assert (info.encoding, info.probes, info.bits, info.bits_set) == ("bloom", 6, 64, 10)
    assert info.fill == 10 / 64
    assert abs(info.estimated_keys - 2) < 0.3
    assert 0 < info.false_positive_rate < 0.01
    assert info == Policy().create_filter([b"hello", b"world"]).info != SOME.info
    assert isinstance(info, FilterInfo)
    assert "probes=6, bits=64, bits_set=10" in repr(info)
    assert Filter(b"").info.false_positive_rate == 0
    assert Filter(b"\x1f" * 9).info.estimated_keys == float("inf")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    for value in (Policy(7), Policy(7, "ribbon"), SOME, Filter(b"")):
        assert pickle.loads(pickle.dumps(value, protocol)) == value
    assert pickle.loads(pickle.dumps(Policy(7), protocol)).create_filter([b"a"]) == Policy(
        7).create_filter([b"a"])


def test_copy():
    for value in (Policy(7), SOME):
        for made in (copy.copy(value), copy.deepcopy(value), copy.deepcopy([value])[0]):
            assert made == value
            assert type(made) is type(value)
    for use in (copy.copy, pickle.dumps):
        with pytest.raises(TypeError):
            use(Builder())


def test_builders():
    builder = Builder()
    assert builder.policy == Policy()
    assert Builder(Policy(7)).policy == Policy(7)
    assert repr(builder) == "<leveldb_bloom.Builder: 0 keys>"
    builder.add(b"hello")
    assert builder.finish() == SOME
    assert builder.finish() == Policy().create_filter([])
    for wrong in (10, "x"):
        with pytest.raises(TypeError):
            Builder(wrong)
    with pytest.raises(TypeError):
        builder.update([b"a", "text"])
