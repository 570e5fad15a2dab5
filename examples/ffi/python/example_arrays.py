"""A bloom filter in front of a join: the rows of a table that another one cannot have, gone before
anything is compared."""

import time

import numpy
import pyarrow
import pyarrow.compute

import leveldb_bloom_arrays as bloom

customers = pyarrow.array([f"customer-{number:07}" for number in range(0, 1_000_000, 20)])
orders = pyarrow.table({
    "customer": [f"customer-{number:07}" for number in range(1_000_000)],
    "amount": numpy.arange(1_000_000),
})

print(f"leveldb-bloom {bloom.version()}, {bloom.active()}")
start = time.perf_counter()
known = bloom.create_filter(customers)
built = time.perf_counter()
kept = orders.filter(known.may_match(orders["customer"]))
end = time.perf_counter()
print(f"{len(customers)} customers in a filter of {len(known.data)} bytes: "
      f"{1000 * (built - start):.1f} ms")
print(f"{len(orders)} orders asked and filtered to {len(kept)}: {1000 * (end - built):.1f} ms")

rows = pyarrow.compute.is_in(kept["customer"], customers)
print(f"of these, {pyarrow.compute.sum(rows).as_py()} have a customer; the others are false positives")

codes = numpy.array([b"DE-%06d" % number for number in range(100_000)])
members = bloom.create_filter(codes[::2].copy())
print(f"numpy {codes.dtype}: {members.may_match(codes).sum()} of {len(codes)} codes may match")
