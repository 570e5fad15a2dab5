"""One filter of keys that live on many workers, with dask.distributed.

Each partition becomes a filter of its own keys, but as large as one for all keys; such parts are
united in a tree, and the last one is, byte for byte, the filter of all keys in one place. What is
needed is a sum, a map and a reduction, so the same shape fits other engines (Spark's count,
mapPartitions and treeReduce, say).

Only LevelDB's own encoding can be united, not ribbon filters. A part is as large as the whole filter, however few keys it has: partitions should be large.
"""

import operator

import leveldb_bloom


def part(keys, policy, total_keys):
    """One partition's filter; keys are what Builder.update takes, and have a length."""
    builder = leveldb_bloom.Builder(policy)
    builder.update(keys)
    return builder.finish(total_keys)


def create_filter(client, partitions, policy=leveldb_bloom.Policy()):
    """The filter of all keys in partitions, which are futures of dask; no key leaves its worker."""
    if not partitions:
        return policy.create_filter([])
    total_keys = client.submit(sum, client.map(len, partitions))
    parts = client.map(part, partitions, policy=policy, total_keys=total_keys)
    while len(parts) > 1:
        odd = parts[len(parts) // 2 * 2:]
        parts = client.map(operator.or_, parts[:-1:2], parts[1::2]) + odd
    return parts[0].result()
