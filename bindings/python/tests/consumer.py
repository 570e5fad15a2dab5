"""A program that uses the types; `mypy --strict --warn-unused-ignores` finds each mistake marked here,
and no other. It is not run."""

import array
from typing import Any

from typing_extensions import assert_type

import leveldb_bloom
from leveldb_bloom import Builder, Filter, FilterInfo, Policy

policy = Policy(bits_per_key=10, encoding="bloom")
made = policy.create_filter([b"hello", bytearray(b"world"), memoryview(b"!"), array.array("B", b"?")])
policy.create_filter(key for key in (b"a", b"b"))
policy.create_filter({b"a": 1})
assert_type(made, Filter)
assert_type(b"hello" in made, bool)
assert_type(made.may_match_many((b"hello",)), bytes)
assert_type(bytes(made), bytes)
assert_type(made | made, Filter)
made |= Filter(bytes(made))
assert_type(made.info, FilterInfo)
assert_type(made.info.fill, float)
assert_type(Policy.for_rate(0.01, keys=1000).bits_per_key, int)
assert_type({made: policy, Filter(b""): Policy()}[made], Policy)
builder = Builder(policy)
builder.update([b"a"])
assert_type(builder.finish(total_keys=100), Filter)
assert_type(leveldb_bloom.library_path(), str)


def arrays(numpy_array: Any, arrow_array: Any) -> bytes:
    builder.update(numpy_array)
    return made.may_match_many(arrow_array)


policy.create_filter(["text"])  # type: ignore[list-item]
policy.create_filter("text")  # type: ignore[arg-type]
policy.create_filter(b"bytes")  # type: ignore[arg-type]
builder.add("text")  # type: ignore[arg-type]
"text" in made  # type: ignore[operator]
Policy(10, "blom")  # type: ignore[arg-type]
policy.bits_per_key = 3  # type: ignore[misc]
made | b"bytes"  # type: ignore[operator]
Filter(9)  # type: ignore[arg-type]
