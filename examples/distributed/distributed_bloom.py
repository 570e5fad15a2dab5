"""One filter of keys that live on many workers, with dask.distributed.

Each partition becomes a filter of its own keys, but as large as one for all keys; such parts are
united in a tree, and the last one is, byte for byte, the filter of all keys in one place. What is
needed is a sum, a map and a reduction, so the same shape fits other engines (Spark's count,
mapPartitions and treeReduce, say).

A part is as large as the whole filter, however few keys it has: partitions should be large.
"""

import numpy

import leveldb_bloom_arrays as bloom


def count(keys):
    # The length of an array of rows is their number; the builder takes every key in them.
    return keys.size if isinstance(keys, numpy.ndarray) else len(keys)


def part(keys, bits_per_key, total_keys):
    """The bytes of one partition's filter; keys as leveldb_bloom_arrays takes them."""
    with bloom.Builder(bits_per_key) as builder:
        builder.add(keys)
        return builder.finish(total_keys).data


def union(first, second):
    return bloom.Filter(first).union(bloom.Filter(second)).data


def create_filter(client, partitions, bits_per_key=10):
    """The filter of all keys in partitions, which are futures of dask; no key leaves its worker."""
    if not partitions:
        with bloom.Builder(bits_per_key) as builder:
            return builder.finish()
    total_keys = client.submit(sum, client.map(count, partitions))
    parts = client.map(part, partitions, bits_per_key=bits_per_key, total_keys=total_keys)
    while len(parts) > 1:
        odd = parts[len(parts) // 2 * 2:]
        parts = client.map(union, parts[:-1:2], parts[1::2]) + odd
    return bloom.Filter(parts[0].result())
