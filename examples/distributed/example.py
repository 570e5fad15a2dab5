"""How the time to build one filter changes from one worker to four, and what it takes alone.

One core adds tens of millions of keys a second, and uniting parts moves each over a pipe or the
network. So this is for keys that live on many workers already, not a way to be faster on one machine.
"""

import os
import time

import numpy
from dask.distributed import Client, LocalCluster, wait

import distributed_bloom
import leveldb_bloom

PARTITIONS = 8
KEYS_EACH = 500_000


def keys_of(partition):
    """What a worker would read from its disk."""
    return numpy.random.default_rng(partition).bytes(KEYS_EACH * 16)


def as_array(keys):
    return numpy.frombuffer(keys, "V16")


def main():
    whole = None
    print(f"leveldb-bloom {leveldb_bloom.__version__}; {PARTITIONS} partitions of {KEYS_EACH} keys, "
          f"{os.cpu_count()} cores; the shortest of three times")
    print("workers  reading keys  building the filter")
    for workers in (1, 2, 3, 4):
        with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, \
                Client(cluster) as client:
            client.run(lambda: __import__("distributed_bloom"))
            reading, building = [], []
            for _ in range(3):
                start = time.perf_counter()
                partitions = client.map(lambda number: as_array(keys_of(number)), range(PARTITIONS),
                                        pure=False)
                wait(partitions)
                read = time.perf_counter()
                made = distributed_bloom.create_filter(client, partitions)
                building.append(time.perf_counter() - read)
                reading.append(read - start)
            print(f"{workers:7} {1000 * min(reading):10.0f} ms {1000 * min(building):10.0f} ms")
            assert whole is None or made == whole
            whole = made
    reading, building = [], []
    for _ in range(3):
        start = time.perf_counter()
        partitions = [as_array(keys_of(number)) for number in range(PARTITIONS)]
        read = time.perf_counter()
        builder = leveldb_bloom.Builder()
        for keys in partitions:
            builder.update(keys)
        alone = builder.finish()
        building.append(time.perf_counter() - read)
        reading.append(read - start)
    print(f"  alone {1000 * min(reading):10.0f} ms {1000 * min(building):10.0f} ms; "
          f"the same {len(whole)} bytes: {alone == whole}")


if __name__ == "__main__":
    main()
