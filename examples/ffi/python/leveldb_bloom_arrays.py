"""leveldb-bloom for numpy and pyarrow through cffi: the arrays' own memory goes to the library.

Shows: the declarations read from leveldb_bloom.cdef.h; no copy of a key, neither in nor out.
"""

import operator
import os

import cffi
import numpy
import pyarrow

_CDEF = next((path for path in (
    os.environ.get("LEVELDB_BLOOM_CDEF", ""), "/usr/local/include/leveldb_bloom.cdef.h",
    "/usr/include/leveldb_bloom.cdef.h") if os.path.exists(path)), None)
if _CDEF is None:
    raise ImportError("leveldb_bloom.cdef.h is not installed; LEVELDB_BLOOM_CDEF may say where it is")
_ffi = cffi.FFI()
with open(_CDEF) as _file:
    _ffi.cdef(_file.read())
_library = _ffi.dlopen("libleveldb_bloom.so.1")


def version():
    return _ffi.string(_library.leveldb_bloom_version()).decode()


def active():
    return _ffi.string(_library.leveldb_bloom_active()).decode()


class BloomError(Exception):
    """What the library calls a status; its text is the library's."""

    def __init__(self, status):
        super().__init__(_ffi.string(_library.leveldb_bloom_status_message(status)).decode())
        self.status = status


def _check(status):
    if status != _library.LEVELDB_BLOOM_OK:
        raise BloomError(status)


def _memory(buffer):
    """An Arrow buffer's address; one without a byte may be missing."""
    return _ffi.NULL if buffer is None else _ffi.cast("char *", buffer.address)


_OFFSETS = {pyarrow.binary(): (4, "offsets32"), pyarrow.string(): (4, "offsets32"),
            pyarrow.large_binary(): (8, "offsets64"), pyarrow.large_string(): (8, "offsets64")}


def _first(offsets, size, array):
    """Where the offsets of an array begin, which may be a part of another."""
    if len(array) == 0:
        return _ffi.NULL
    kind = f"int{size * 8}_t"
    if offsets.address % size == 0:
        return _ffi.cast(kind + " *", offsets.address + array.offset * size)
    # What came through a pipe or a network may lie anywhere; the library wants whole words.
    return _ffi.from_buffer(kind + "[]", numpy.frombuffer(offsets, kind[:-2])[array.offset:].copy())


def _keys(array):
    """The ending of the functions for such keys, their arguments, and the number of keys."""
    if isinstance(array, numpy.ndarray):
        if array.dtype.kind not in "SViu" or array.dtype.itemsize == 0:
            raise TypeError(f"keys cannot be of dtype {array.dtype}")
        if not array.flags.c_contiguous:
            raise ValueError("the array is not contiguous")
        length = array.dtype.itemsize
        flat = array.view(numpy.uint8).reshape(-1) if array.size else b""
        # numpy fills shorter keys up with zeros, which would become a part of them.
        if array.dtype.kind == "S" and array.size and not flat[length - 1::length].min():
            raise ValueError(
                f"keys of {array.dtype} end in zeros, and numpy cannot say whose those are: pass "
                f"keys.view('V{length}') if they belong to the keys, otherwise "
                "pyarrow.array(keys.tolist(), pyarrow.binary())")
        return "fixed", (_ffi.from_buffer("char[]", flat), length, array.size), array.size
    if not isinstance(array, pyarrow.Array):
        raise TypeError(f"keys cannot be of {type(array)}")
    if array.null_count:
        raise ValueError("there are nulls: drop_null first")
    if array.type in _OFFSETS:
        size, ending = _OFFSETS[array.type]
        _, offsets, data = array.buffers()
        return ending, (_memory(data), data.size if data else 0, _first(offsets, size, array),
                        len(array)), len(array)
    if isinstance(array.type, pyarrow.FixedSizeBinaryType):
        length = array.type.byte_width
        return "fixed", (_memory(array.buffers()[1]) + array.offset * length, length,
                         len(array)), len(array)
    raise TypeError(f"keys cannot be of type {array.type}")


def _chunks(keys):
    return keys.chunks if isinstance(keys, pyarrow.ChunkedArray) else [keys]


class Builder:
    """Collects the keys of arrays, chunked ones too; for one thread at a time."""

    def __init__(self, bits_per_key=10):
        # cffi refuses what does not fit, but cuts off the fractions of numpy and decimal.
        handle = _library.leveldb_bloom_builder_create(operator.index(bits_per_key))
        if not handle:
            raise MemoryError
        self._open = _ffi.gc(handle, _library.leveldb_bloom_builder_destroy, 1000)

    @property
    def _handle(self):
        if self._open is None:
            raise ValueError("the Builder is closed")
        return self._open

    def close(self):
        if self._open is not None:
            _ffi.release(self._open)
            self._open = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return _library.leveldb_bloom_builder_num_keys(self._handle)

    def add(self, keys):
        for chunk in _chunks(keys):
            ending, arguments, _ = _keys(chunk)
            _check(getattr(_library, "leveldb_bloom_builder_add_" + ending)(self._handle, *arguments))

    def finish(self, total_keys=0):
        total_keys = operator.index(total_keys)
        size = _library.leveldb_bloom_builder_filter_size(self._handle, total_keys)
        if size == 0:
            raise BloomError(_library.LEVELDB_BLOOM_TOO_LARGE)
        data = numpy.empty(size, numpy.uint8)
        _check(_library.leveldb_bloom_builder_finish(
            self._handle, total_keys, _ffi.from_buffer("char[]", data, require_writable=True), size))
        return Filter(data)


def create_filter(keys, bits_per_key=10):
    with Builder(bits_per_key) as builder:
        builder.add(keys)
        return builder.finish()


class Filter:
    """The bytes of a filter, in any buffer."""

    def __init__(self, data):
        self.data = data
        self._memory = _ffi.from_buffer("char[]", data)
        self._length = len(self._memory)

    def __contains__(self, key):
        return _library.leveldb_bloom_key_may_match(key, len(key), self._memory, self._length) != 0

    def union(self, other):
        """The filter of both filters' keys."""
        into = numpy.array(numpy.frombuffer(self.data, numpy.uint8))
        _check(_library.leveldb_bloom_union(_ffi.from_buffer("char[]", into, require_writable=True),
                                            self._length, other._memory, other._length))
        return Filter(into)

    def may_match(self, keys):
        """For each key: in numpy's bytes of true and false for numpy's keys, in Arrow's bits for
        Arrow's."""
        if isinstance(keys, pyarrow.ChunkedArray):
            return pyarrow.chunked_array([self.may_match(chunk) for chunk in keys.chunks],
                                         pyarrow.bool_())
        ending, arguments, number = _keys(keys)
        may_match = getattr(_library, "leveldb_bloom_keys_may_match_" + ending)
        if isinstance(keys, numpy.ndarray):
            results = numpy.empty(keys.shape, numpy.bool_)
            _check(may_match(*arguments, self._memory, self._length,
                             _ffi.from_buffer("uint8_t[]", results), _ffi.NULL, _ffi.NULL))
            return results
        bitmap = numpy.empty((number + 7) // 8, numpy.uint8)
        _check(may_match(*arguments, self._memory, self._length, _ffi.NULL,
                         _ffi.from_buffer("uint8_t[]", bitmap), _ffi.NULL))
        return pyarrow.BooleanArray.from_buffers(pyarrow.bool_(), number,
                                                 [None, pyarrow.py_buffer(bitmap)])
