"""distributed_bloom.py on a cluster of processes, against the filter made in one place."""

import operator
import os
import unittest

import numpy
import pyarrow
from dask.distributed import Client, LocalCluster

import distributed_bloom
import leveldb_bloom

WORKERS = 3
KEYS = 200_003


POLICY = leveldb_bloom.Policy()


def where(keys, policy, total_keys):
    """Beside a part, in what process it was made."""
    return os.getpid(), distributed_bloom.part(keys, policy, total_keys)


class DistributedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None)
        cls.client = Client(cls.cluster)
        cls.keys = numpy.array([b"key-%012d" % i for i in range(KEYS)])
        cls.expected = POLICY.create_filter(cls.keys)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.cluster.close()

    def scatter(self, partitions):
        """Onto the workers in turn, so that each has some."""
        workers = list(self.client.scheduler_info(n_workers=-1)["workers"])
        self.assertEqual(len(workers), WORKERS)
        return [self.client.scatter(keys, workers=[workers[i % WORKERS]], hash=False)
                for i, keys in enumerate(partitions)]

    def create(self, partitions):
        return distributed_bloom.create_filter(self.client, self.scatter(partitions))

    def test_equal_to_the_filter_made_in_one_place(self):
        for number in (1, 2, 3, 7, 16):
            with self.subTest(partitions=number):
                self.assertEqual(self.create(numpy.array_split(self.keys, number)), self.expected)

    def test_partitions_of_all_sizes(self):
        edges = [0, 0, 1, 2, 5_000, 5_000, 150_000, KEYS]
        partitions = [self.keys[a:b] for a, b in zip(edges, edges[1:])]
        self.assertEqual(self.create(partitions), self.expected)
        self.assertEqual(self.create(partitions[::-1]), self.expected)

    def test_arrow_and_numpy(self):
        arrow = pyarrow.array(self.keys[:100_000].tolist(), pyarrow.binary())
        self.assertEqual(self.create([arrow[:30_000], self.keys[100_000:], arrow[30_000:]]),
                         self.expected)

    def test_rows_of_keys(self):
        rows = self.keys[:200_000].view("u1").reshape(200_000, -1)
        self.assertEqual(self.create([rows[:999], rows[999:], self.keys[200_000:]]), self.expected)

    def test_arrow_in_chunks(self):
        chunked = pyarrow.chunked_array([self.keys[:70_000].tolist(), self.keys[70_000:].tolist()],
                                        pyarrow.binary())
        self.assertEqual(self.create([chunked[:50_000], chunked[50_000:]]), self.expected)

    def test_no_partitions(self):
        self.assertEqual(self.create([]), POLICY.create_filter([]))

    def test_every_worker_makes_parts(self):
        partitions = self.scatter(numpy.array_split(self.keys, 2 * WORKERS))
        made = self.client.gather(self.client.map(where, partitions, policy=POLICY, total_keys=KEYS))
        self.assertEqual(len({process for process, _ in made} - {os.getpid()}), WORKERS)
        # No part is the whole, so the union does the work.
        self.assertTrue(all(part != self.expected for _, part in made))

    def test_parts_of_different_totals_are_refused(self):
        small = self.client.submit(distributed_bloom.part, self.keys[:9], POLICY, 1000)
        large = self.client.submit(distributed_bloom.part, self.keys[9:], POLICY, KEYS)
        future = self.client.submit(operator.or_, small, large)
        self.assertIsInstance(future.exception(), ValueError)
        self.assertIn("same length", str(future.exception()))


if __name__ == "__main__":
    unittest.main()
