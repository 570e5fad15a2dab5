"""The native module. All of it may be used from many threads at once.

A key is any bytes-like object: bytes, bytearray, memoryview, whatever has the buffer protocol. Text
(str, and arrays of characters) is a TypeError: encode it first.

Keys are an iterable of such objects, or an array whose memory is read where it is:

- numpy, one dimension, dtype S: a key is an element without the zeros that fill it up, as numpy gives
  it. Dtype V: a key is all bytes of an element.
- numpy, two dimensions, dtype uint8 or int8: a key is a row.
- pyarrow, binary, large_binary and fixed_size_binary, without nulls; slices and chunked arrays too.

Arrays of numbers are a TypeError, because it is not clear in which order a key has their bytes:
array.astype(">u8").view("V8") are LevelDB's usual ones, which sort as the numbers do.

Other threads run while many keys are worked on; they must not change the arrays meanwhile.
"""

from typing import Any, Final, Protocol, Union, final

from collections.abc import Iterable
from typing_extensions import Buffer, Literal

__all__ = ["Builder", "Filter", "FilterInfo", "Policy", "__version__"]

__version__: Final[str]

_Encoding = Literal["bloom", "ribbon"]

class _ArrowArray(Protocol):
    """An array or a chunked array of pyarrow."""

    @property
    def null_count(self) -> int: ...
    def drop_null(self) -> Any: ...

_Keys = Union[Iterable[Buffer], _ArrowArray]

@final
class Policy:
    """How filters are made. Immutable; equal policies make equal filters."""

    def __new__(cls, bits_per_key: int = 10, encoding: _Encoding = "bloom") -> Policy:
        """encoding="bloom" makes LevelDB's own filters, byte for byte; ten bits per key give about 1 %
        false positives. 0 is one probe, in filters of 64 bits.

        encoding="ribbon" makes filters in which one absent key in 2**bits_per_key passes, whatever the
        keys look like; it takes 1 to 13, and what lies beyond as these. LevelDB takes such a filter for
        one that may hold any key. They cannot be united.

        ValueError for a negative number and an unknown encoding.
        """

    @classmethod
    def for_rate(cls, rate: float, *, keys: int, encoding: _Encoding = "bloom") -> Policy:
        """The fewest bits per key that give a false-positive rate of at most `rate`, which is between 0
        and 1, in a filter of so many keys. ValueError if none do.
        """

    @property
    def bits_per_key(self) -> int: ...
    @property
    def encoding(self) -> _Encoding: ...
    @property
    def probes(self) -> int:
        """How many bits a key sets, and a query reads, in LevelDB's encoding."""

    @property
    def kernel(self) -> str:
        """Which implementation does the work on this processor: avx512, avx2 or portable."""

    def create_filter(self, keys: _Keys) -> Filter:
        """The filter of these keys. MemoryError if it does not fit."""

    def filter_size(self, num_keys: int) -> int:
        """The size in bytes of a filter of so many keys."""

    def false_positive_rate(self, num_keys: int) -> float:
        """The expected share of absent keys that a filter of so many keys lets pass."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Policy], tuple[int, str]]: ...

@final
class Filter:
    """The bytes of a filter, made here or read from a database, of either encoding. Immutable.

    len() is the number of bytes, bytes() are the bytes. Filters of equal bytes are equal.
    """

    def __new__(cls, data: Buffer) -> Filter:
        """Any bytes may be a filter."""

    def __contains__(self, key: Buffer, /) -> bool:
        """False is certain; True may be a false positive."""

    def may_match_many(self, keys: _Keys) -> bytes:
        """A byte of 1 or 0 for each key: `key in filter`, several times as fast.

        itertools.compress(keys, answers) are the keys that may be in it, and
        numpy.frombuffer(answers, bool) is a mask for an array of keys.
        """

    @property
    def info(self) -> FilterInfo:
        """What the bytes say. Takes time in proportion to their number."""

    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> Literal[True]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __or__(self, other: Filter, /) -> Filter:
        """The filter of both filters' keys; ValueError unless both are bloom filters of the same length
        and number of probes. `|=` makes a new filter, too.
        """

    def __ror__(self, other: Filter, /) -> Filter: ...
    def __reduce__(self) -> tuple[type[Filter], tuple[bytes]]: ...

@final
class FilterInfo:
    """What can be read from a filter's bytes."""

    @property
    def encoding(self) -> _Encoding: ...
    @property
    def probes(self) -> int:
        """The stored number of probes. With 0, or what no encoding uses, the filter matches every key.
        Of a ribbon filter, the bits that a key is compared in.
        """

    @property
    def bits(self) -> int: ...
    @property
    def bits_set(self) -> int: ...
    @property
    def fill(self) -> float:
        """bits_set / bits."""

    @property
    def estimated_keys(self) -> float:
        """About how many different keys it holds, of a ribbon filter at most. Infinite if it matches
        every key.
        """

    @property
    def false_positive_rate(self) -> float:
        """The expected share of absent keys that pass."""

    def __eq__(self, other: object, /) -> bool: ...

@final
class Builder:
    """Collects keys as they come, and makes their filter. Keeps four bytes for each key (for
    ribbon filters twelve).

    Parts of one filter can be built in many places: let each finish with the same total number of
    keys. The union of the parts is then, byte for byte, the filter of all keys.
    """

    def __new__(cls, policy: Policy | None = None) -> Builder:
        """Without a policy: that of ten bits per key."""

    @property
    def policy(self) -> Policy: ...
    def add(self, key: Buffer) -> None: ...
    def update(self, keys: _Keys) -> None:
        """Adds all keys. If one of them is none, keys before it may have been added, as by list.extend."""

    def __len__(self) -> int:
        """The number of keys added."""

    def finish(self, total_keys: int | None = None) -> Filter:
        """The filter of the keys added, as large as one for total_keys, or for as many as there are.
        The builder is empty again. MemoryError if the filter does not fit; the builder keeps its keys.
        """
