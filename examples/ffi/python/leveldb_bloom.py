"""leveldb-bloom through ctypes, with nothing to compile or install beside the library itself.

Shows: classes with close, `with` and finalisers; keys as bytes, or many at once in one flat buffer.
"""

import ctypes
import re
import weakref
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint8, c_uint32, c_uint64
from ctypes import c_void_p

_library = ctypes.CDLL("libleveldb_bloom.so.1")


class _Info(ctypes.Structure):
    _fields_ = [("bits", c_uint64), ("bits_set", c_uint64), ("probes", c_uint32),
                ("reserved", c_uint32), ("fill", c_double), ("estimated_keys", c_double),
                ("false_positive_rate", c_double)]


def _function(name, result, *arguments):
    function = getattr(_library, "leveldb_bloom_" + name)
    function.restype = result
    function.argtypes = arguments
    return function


# c_void_p takes bytes, and what _flat makes of other buffers.
_OFFSETS = (c_void_p, c_size_t, c_void_p, c_size_t)
_FIXED = (c_void_p, c_size_t, c_size_t)
_ANSWERS = (c_char_p, c_size_t, c_void_p, c_void_p, POINTER(c_size_t))
_active = _function("active", c_char_p)
_version = _function("version", c_char_p)
_status_message = _function("status_message", c_char_p, c_int)
_hash = _function("hash", c_uint32, c_char_p, c_size_t)
_false_positive_rate = _function("false_positive_rate", c_double, c_int, c_size_t)
_bits_per_key_for = _function("bits_per_key_for", c_int, c_double, c_size_t)
_policy_create = _function("policy_create", c_void_p, c_int)
_policy_destroy = _function("policy_destroy", None, c_void_p)
_kernel = _function("kernel", c_char_p, c_void_p)
_filter_size = _function("filter_size", c_size_t, c_void_p, c_size_t)
_fill = {size: _function(f"fill_filter_offsets{size * 8}", c_int, c_void_p, *_OFFSETS, c_void_p,
                         c_size_t) for size in (4, 8)}
_fill_fixed = _function("fill_filter_fixed", c_int, c_void_p, *_FIXED, c_void_p, c_size_t)
_builder_create = _function("builder_create", c_void_p, c_int)
_builder_destroy = _function("builder_destroy", None, c_void_p)
_builder_add = _function("builder_add", c_int, c_void_p, c_char_p, c_size_t)
_builder_add_fixed = _function("builder_add_fixed", c_int, c_void_p, *_FIXED)
_builder_num_keys = _function("builder_num_keys", c_size_t, c_void_p)
_builder_filter_size = _function("builder_filter_size", c_size_t, c_void_p, c_size_t)
_builder_finish = _function("builder_finish", c_int, c_void_p, c_size_t, c_void_p, c_size_t)
_union = _function("union", c_int, c_void_p, c_size_t, c_char_p, c_size_t)
_key_may_match = _function("key_may_match", c_uint8, c_char_p, c_size_t, c_char_p, c_size_t)
_may_match = {size: _function(f"keys_may_match_offsets{size * 8}", c_int, *_OFFSETS, *_ANSWERS)
              for size in (4, 8)}
_may_match_fixed = _function("keys_may_match_fixed", c_int, *_FIXED, *_ANSWERS)
_inspect = _function("inspect", c_int, c_char_p, c_size_t, POINTER(_Info))
_positions = _function("positions", c_size_t, c_char_p, c_size_t, c_char_p, c_size_t,
                       POINTER(c_uint64), c_size_t)

TOO_LARGE = 2


class BloomError(Exception):
    """What the library calls a status; its text is the library's."""

    def __init__(self, status):
        super().__init__(_status_message(status).decode())
        self.status = status


def _check(status):
    if status:
        raise BloomError(status)


def _integer(kind, value):
    """ctypes would hand on what remains of a number that the C type does not hold."""
    converted = kind(value)
    if converted.value != value:
        raise OverflowError(f"{value} does not fit {kind.__name__}")
    return converted


def _view(buffer):
    view = memoryview(buffer)
    # Of Python's objects (O) and C's strings (z) the bytes are addresses. Names stand between colons.
    if not {"O", "z"}.isdisjoint(view.format) and re.search("[Oz]", re.sub(":[^:]*:", "", view.format)):
        raise TypeError("keys are bytes, not objects")
    return view


def _flat(buffer):
    """The memory of a buffer as an argument, and its length in bytes: no copy, unless it is
    read-only and not bytes."""
    if isinstance(buffer, bytes):
        return buffer, len(buffer)
    view = _view(buffer)
    # No rows of something, which cast refuses.
    if view.nbytes == 0:
        return b"", 0
    view = view.cast("B")
    if view.readonly:
        return bytes(view), len(view)
    return (c_uint8 * len(view)).from_buffer(view), len(view)


def _fixed(data, key_length):
    memory, length = _flat(data)
    if key_length < 1 or length % key_length:
        raise ValueError(f"{length} bytes are no whole number of keys of {key_length}")
    return memory, key_length, length // key_length


def _offsets(data, offsets):
    """offsets: one more than keys, of 32 or 64 bits (array('i'), array('q'), a numpy array)."""
    memory, length = _flat(data)
    view = memoryview(offsets)
    if view.itemsize not in _fill or view.nbytes == 0:
        raise ValueError("offsets are of 4 or 8 bytes each, and at least one")
    words = _flat(offsets)[0]
    # What came through a pipe or a network may lie anywhere; the library wants whole words.
    if not isinstance(words, bytes) and ctypes.addressof(words) % view.itemsize:
        words = view.tobytes()
    return view.itemsize, (memory, length, words, view.nbytes // view.itemsize - 1)


def _new_filter(size):
    # 0 says that no size_t can hold it.
    if size == 0:
        raise BloomError(TOO_LARGE)
    return ctypes.create_string_buffer(size)


def version():
    return _version().decode()


def active():
    """Which implementation answers in this process."""
    return _active().decode()


def key_hash(key):
    return _hash(key, len(key))


def false_positive_rate(bits_per_key, num_keys):
    return _false_positive_rate(_integer(c_int, bits_per_key), _integer(c_size_t, num_keys))


def bits_per_key_for(rate, num_keys):
    """0: no number of bits per key up to 44 reaches that rate."""
    return _bits_per_key_for(rate, _integer(c_size_t, num_keys))


class _Owner:
    """A handle of the library: given back by close, the end of a `with`, or the collector."""

    def __init__(self, handle, destroy):
        if not handle:
            raise MemoryError
        self._open = handle
        self.close = weakref.finalize(self, destroy, handle)
        # Not at the end of the process, where a daemon thread may be in a call with it.
        self.close.atexit = False

    @property
    def _handle(self):
        if not self.close.alive:
            raise ValueError(f"the {type(self).__name__} is closed")
        return self._open

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Policy(_Owner):
    """Makes filters of so many bits per key; any number of threads may use one while none closes it."""

    def __init__(self, bits_per_key=10):
        super().__init__(_policy_create(_integer(c_int, bits_per_key)), _policy_destroy)

    @property
    def kernel(self):
        return _kernel(self._handle).decode()

    def create_filter(self, keys):
        # Not len, which counts elements, whatever their size.
        keys = [_view(key) for key in keys]
        offsets, length = [0], 0
        for key in keys:
            length += key.nbytes
            offsets.append(length)
        return self.create_filter_offsets(b"".join(keys), (ctypes.c_int64 * len(offsets))(*offsets))

    def create_filter_offsets(self, data, offsets):
        """Key i is data[offsets[i]:offsets[i + 1]]."""
        size, keys = _offsets(data, offsets)
        return self._create(_fill[size], keys)

    def create_filter_fixed(self, data, key_length):
        """Keys of one length, one behind the other."""
        return self._create(_fill_fixed, _fixed(data, key_length))

    def _create(self, fill, keys):
        memory = _new_filter(_filter_size(self._handle, keys[-1]))
        _check(fill(self._handle, *keys, memory, len(memory)))
        return Filter(memory.raw)


class Builder(_Owner):
    """Collects keys as they come; for one thread at a time."""

    def __init__(self, bits_per_key=10):
        super().__init__(_builder_create(_integer(c_int, bits_per_key)), _builder_destroy)

    def add(self, key):
        _check(_builder_add(self._handle, key, len(key)))

    def add_fixed(self, data, key_length):
        _check(_builder_add_fixed(self._handle, *_fixed(data, key_length)))

    def __len__(self):
        return _builder_num_keys(self._handle)

    def finish(self, total_keys=0):
        """The filter of the keys added, as large as one for total_keys; the builder is empty
        again. Parts of one filter, made with the same total, are united with Filter.union."""
        total = _integer(c_size_t, total_keys)
        memory = _new_filter(_builder_filter_size(self._handle, total))
        _check(_builder_finish(self._handle, total, memory, len(memory)))
        return Filter(memory.raw)


class Filter:
    """The bytes of a filter: `key in filter`, or many keys at once."""

    def __init__(self, data):
        # Not bytes(data) of whatever comes: of a number, that makes so many zeros.
        self.data = data if type(data) is bytes else bytes(_view(data))
        self._length = len(self.data)

    def __contains__(self, key):
        return _key_may_match(key, len(key), self.data, self._length) != 0

    may_match = __contains__

    def may_match_offsets(self, data, offsets):
        """A byte of 0 or 1 for each key."""
        size, keys = _offsets(data, offsets)
        return self._ask(_may_match[size], keys)

    def may_match_fixed(self, data, key_length):
        return self._ask(_may_match_fixed, _fixed(data, key_length))

    def _ask(self, may_match, keys):
        results = bytearray(keys[-1])
        _check(may_match(*keys, self.data, self._length,
                         (c_uint8 * len(results)).from_buffer(results), None, None))
        return results

    def union(self, other):
        """The filter of both filters' keys."""
        memory = ctypes.create_string_buffer(self.data, self._length)
        _check(_union(memory, self._length, other.data, len(other.data)))
        return Filter(memory.raw)

    def inspect(self):
        """What the bytes say, as a dictionary."""
        info = _Info()
        _check(_inspect(self.data, self._length, byref(info)))
        return {name: getattr(info, name) for name, _ in _Info._fields_ if name != "reserved"}

    def positions(self, key):
        """The bits that a query for the key reads."""
        found = (c_uint64 * 30)()
        return found[:_positions(key, len(key), self.data, self._length, found, len(found))]
