"""Keys a second, and nanoseconds for `in`, with rbloom (PyPI) beside it.

Needs rbloom and numpy. Each figure is the best of several rounds, on one core.
"""

import os
import platform
import time

import numpy
import rbloom

import leveldb_bloom

KEYS = 1_000_000


def best(function, rounds):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def rate(function):
    return f"{KEYS / best(function, 7) / 1e6:8.1f} M keys/s"


def query(members, keys):
    """The time of `in` alone."""
    def ask():
        for key in keys:
            key in members

    def only_loop():
        for key in keys:
            pass

    return f"{(best(ask, 300) - best(only_loop, 300)) / len(keys) * 1e9:8.1f} ns"


def main():
    keys = [os.urandom(16) for _ in range(KEYS)]
    array = numpy.frombuffer(b"".join(keys), "V16")
    some = keys[:1000]
    policy = leveldb_bloom.Policy(10)
    made = policy.create_filter(keys)

    def rbloom_of(keys):
        other = rbloom.Bloom(len(keys), 0.01)
        other.update(keys)
        return other

    assert made.may_match_many(array).count(1) == KEYS
    print(f"Python {platform.python_version()}, {policy.kernel}, {KEYS} keys of 16 bytes\n"
          f"create from a list          {rate(lambda: policy.create_filter(keys))}\n"
          f"  rbloom                    {rate(lambda: rbloom_of(keys))}\n"
          f"create from a numpy array   {rate(lambda: policy.create_filter(array))}\n"
          f"query a list                {rate(lambda: made.may_match_many(keys))}\n"
          f"query a numpy array         {rate(lambda: made.may_match_many(array))}\n"
          f"in, 1000 keys               {query(policy.create_filter(some), some)}\n"
          f"  rbloom                    {query(rbloom_of(some), some)}")


if __name__ == "__main__":
    main()
