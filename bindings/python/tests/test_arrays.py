"""numpy's and pyarrow's arrays: the keys are those that their elements are, one by one."""

import gc

import pytest

from leveldb_bloom import Builder, Policy

numpy = pytest.importorskip("numpy")
pyarrow = pytest.importorskip("pyarrow")

KEYS = [b"key-%06d" % number for number in range(3000)]
WIDTH = len(KEYS[0])
POLICY = Policy()
EXPECTED = POLICY.create_filter(KEYS)


def same(array, keys):
    """Whether an array's keys are these, in all that takes keys."""
    expected = POLICY.create_filter(keys)
    builder = Builder()
    builder.update(array)
    assert len(builder) == len(keys)
    assert POLICY.create_filter(array) == expected == builder.finish()
    assert expected.may_match_many(array) == expected.may_match_many(keys) == b"\1" * len(keys)
    other = POLICY.create_filter(KEYS[:7])
    assert other.may_match_many(array) == other.may_match_many(keys)


@pytest.mark.parametrize("dtype", [f"S{WIDTH}", f"V{WIDTH}"])
def test_numpy(dtype):
    array = numpy.frombuffer(b"".join(KEYS), dtype)
    same(array, KEYS)
    for part in (slice(1, 1500), slice(None, None, 2), slice(None, None, -1), slice(2000, 5, -3),
                 slice(7, 7), slice(2999, None)):
        same(array[part], KEYS[part])
    same(numpy.broadcast_to(array[:1], 5), KEYS[:1] * 5)
    fields = numpy.zeros(3000, [("before", "u1"), ("key", dtype), ("after", "u4")])
    fields["key"] = array
    same(fields["key"], KEYS)
    same(array.view(type("Mine", (numpy.ndarray,), {"shape": None})), KEYS)


def test_numpy_fills_up_with_zeros():
    keys = [b"a", b"", b"a\0b", b"abcd"]
    array = numpy.array(keys)
    assert array.dtype == "S4"
    same(array, keys)
    same(array, array.tolist())
    # All bytes of an element are a key's own.
    same(array.view("V4"), [b"a\0\0\0", b"\0\0\0\0", b"a\0b\0", b"abcd"])
    assert b"a" not in POLICY.create_filter(array.view("V4"))


def test_rows_of_bytes():
    for dtype in ("uint8", "int8"):
        rows = numpy.frombuffer(b"".join(KEYS), dtype).reshape(-1, WIDTH)
        same(rows, KEYS)
        same(rows[::2], KEYS[::2])
        same(rows[::-1, 2:5], [key[2:5] for key in KEYS[::-1]])
        same(rows[:, ::2], [key[::2] for key in KEYS])
        same(numpy.asfortranarray(rows[:50]), KEYS[:50])
        same(rows[:3, :0], [b""] * 3)
        same(rows[:0], [])


def test_numpys_objects_and_numbers():
    same(numpy.array([b"hello", b"worlds"], object), [b"hello", b"worlds"])
    numbers = numpy.arange(5000)
    same(numbers.astype(">u8").view("V8"), [number.to_bytes(8, "big") for number in range(5000)])
    same(list(numpy.array(KEYS)), KEYS)
    same(list(numpy.array(KEYS).view(f"V{WIDTH}")), KEYS)


@pytest.mark.parametrize("wrong", [
    lambda: numpy.array(["alpha", "beta"]), lambda: list(numpy.array(["alpha"])),
    lambda: [numpy.array(["alpha"])],
    lambda: numpy.array(["alpha"], numpy.dtypes.StringDType()) if hasattr(numpy.dtypes, "StringDType")
    else ["alpha"],
    lambda: numpy.array(["alpha"], object), lambda: numpy.zeros(2, [("key", "U5")]).view("U5"),
    lambda: pyarrow.array(["alpha"]), lambda: pyarrow.array(["alpha"], pyarrow.large_string()),
    lambda: pyarrow.chunked_array([["alpha"]])])
def test_text_is_refused(wrong):
    for use in (POLICY.create_filter, EXPECTED.may_match_many, Builder().update):
        with pytest.raises(TypeError, match="encode|cast"):
            use(wrong())


@pytest.mark.parametrize("wrong", [
    lambda: numpy.arange(5), lambda: numpy.arange(5, dtype="u1"), lambda: numpy.zeros((3, 4)),
    lambda: numpy.zeros((2, 2, 2), "u1"), lambda: numpy.array(b"hello"), lambda: numpy.zeros((2, 2), "S4"),
    lambda: numpy.zeros(2, [("key", "O")]), lambda: numpy.array([None]), lambda: numpy.array([1.5]),
    lambda: [numpy.array([object()])],
    lambda: numpy.ma.masked_array(KEYS[:2], [True, False]), lambda: pyarrow.array([1, 2]),
    lambda: pyarrow.array([b"a"]).dictionary_encode(), lambda: pyarrow.array([[b"a"]]),
    lambda: pyarrow.chunked_array([[1]])])
def test_what_holds_no_keys_is_refused(wrong):
    for use in (POLICY.create_filter, EXPECTED.may_match_many, Builder().update):
        with pytest.raises(TypeError):
            use(wrong())


TYPES = (pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary(WIDTH))


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_arrow(kind):
    array = pyarrow.array(KEYS, kind)
    same(array, KEYS)
    for start, length in ((0, 1500), (1, 1), (7, 0), (3000, 0), (1400, 1600), (2999, 1)):
        same(array.slice(start, length), KEYS[start:start + length])
        same(array.slice(start).slice(0, length), KEYS[start:start + length])
    same(pyarrow.array([], kind), [])
    same(array.take(pyarrow.array([5, 4, 9])), [KEYS[5], KEYS[4], KEYS[9]])
    chunks = [array[:1100], array[:0], array[1100:1101], array[1101:]]
    same(pyarrow.chunked_array(chunks), KEYS)
    same(pyarrow.chunked_array([], kind), [])
    same(pyarrow.chunked_array(chunks)[1000:1200], KEYS[1000:1200])
    with pytest.raises(ValueError, match="null"):
        POLICY.create_filter(pyarrow.array([KEYS[0], None], kind))
    same(pyarrow.array([KEYS[0], None], kind).drop_null(), KEYS[:1])


def test_arrows_keys_of_many_lengths():
    keys = [b"", b"a", b"", b"bcdefgh", b"ij", b"\0", b""]
    for kind in TYPES[:2]:
        for start in range(len(keys)):
            same(pyarrow.array(keys, kind)[start:], keys[start:])
    same(pyarrow.array(["hé", "x"]).cast("binary"), ["hé".encode(), b"x"])
    same(pyarrow.array([b"", b""], pyarrow.binary(0)), [b"", b""])
    same(pyarrow.array([b""] * 3), [b""] * 3)


def broken(kind, size, offsets, data=b"0123456789", count=None):
    memory = numpy.array(offsets, size)
    return pyarrow.Array.from_buffers(
        kind, len(offsets) - 1 if count is None else count,
        [None, pyarrow.py_buffer(memory), pyarrow.py_buffer(data)])


@pytest.mark.parametrize("kind, size", [(TYPES[0], "i4"), (TYPES[1], "i8")], ids=["32", "64"])
def test_what_no_arrow_library_makes(kind, size):
    # pyarrow itself looks at the first offset and at the last.
    for offsets in ([0, 7, 5], [0, -1, 5], [0, 11, 5], [2, 1, 5], [0, 2**31 - 1, 3]):
        for use in (POLICY.create_filter, EXPECTED.may_match_many, Builder().update):
            with pytest.raises(ValueError, match="do not describe"):
                use(broken(kind, size, offsets))
    with pytest.raises(ValueError):
        POLICY.create_filter(broken(kind, size, [0, 1, 2], count=3))
    odd = pyarrow.py_buffer(b"?" + numpy.arange(0, 9, 2).astype(size).tobytes()).slice(1)
    assert odd.address % 4
    same(pyarrow.Array.from_buffers(kind, 4, [None, odd, pyarrow.py_buffer(b"abcdefgh")]),
         [b"ab", b"cd", b"ef", b"gh"])
    with pytest.raises(ValueError):
        POLICY.create_filter(pyarrow.Array.from_buffers(
            TYPES[2], 3, [None, pyarrow.py_buffer(b"x" * (3 * WIDTH - 1))]))


def test_an_arrays_memory_is_used_where_it_is():
    """The keys of a big array are neither copied nor kept."""
    tracemalloc = pytest.importorskip("tracemalloc")
    array = numpy.zeros(4_000_000, "V16")
    arrow = pyarrow.array(KEYS[:1] * 1000)
    references = gc.get_referrers(array)
    tracemalloc.start()
    POLICY.create_filter(array)
    POLICY.create_filter(arrow)
    # The filter itself.
    assert tracemalloc.get_traced_memory()[1] < 6_000_000
    tracemalloc.stop()
    assert len(gc.get_referrers(array)) == len(references)
