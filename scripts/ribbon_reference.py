#!/usr/bin/env python3
"""The ribbon encoding, written from docs/ribbon.md alone, to compare the library with.

    ribbon_reference.py --create BITS KEY...     the filter of these keys, in hexadecimal
    ribbon_reference.py --query FILTER KEY       1 or 0
    ribbon_reference.py --corpus                 the hash of many filters, that of tests/ribbon.rs

Needs the package xxhash from PyPI.
"""

import sys

from xxhash import xxh3_64_intdigest

M64 = (1 << 64) - 1


def leveldb_hash(key):
    m, h = 0xC6A4A793, 0xBC9F1D34 ^ (len(key) * 0xC6A4A793 & 0xFFFFFFFF)
    whole = len(key) // 4 * 4
    for at in range(0, whole, 4):
        h = (h + int.from_bytes(key[at : at + 4], "little")) * m & 0xFFFFFFFF
        h ^= h >> 16
    if whole < len(key):
        h = (h + int.from_bytes(key[whole:], "little")) * m & 0xFFFFFFFF
        h ^= h >> 24
    return h


def leveldb_filter(keys, probes, size):
    """LevelDB's bloom filter in `size` bytes and the last."""
    array = bytearray(size)
    for key in keys:
        h = leveldb_hash(key)
        delta = (h >> 17) | (h << 15 & 0xFFFFFFFF)
        for _ in range(probes):
            array[h % (8 * size) // 8] |= 1 << h % 8
            h = (h + delta) & 0xFFFFFFFF
    return bytes(array) + bytes([probes])


def leveldb_may_match(key, filter):
    probes, size = filter[-1], len(filter) - 1
    h = leveldb_hash(key)
    delta = (h >> 17) | (h << 15 & 0xFFFFFFFF)
    for _ in range(probes):
        if not filter[h % (8 * size) // 8] >> h % 8 & 1:
            return False
        h = (h + delta) & 0xFFFFFFFF
    return True


def slots_of(size, r):
    """The number of slots; None if there are too few bytes, or too many."""
    slots = 8 * size // r
    return slots if size >= 8 and slots < 1 << 32 else None


def row_of(h, seed, slots):
    """The row as one number: bit s is that of slot s."""
    x = h ^ seed * 0x9E3779B97F4A7C15 & M64

    def mix(factor):
        return (x * factor & M64) ^ (x * factor >> 64)

    low = mix(0xA0761D6478BD642F)
    if slots <= 64:
        return low % (1 << slots)
    high, place = mix(0xE7037ED1A0B428DB), mix(0x8EBC6AF09C88C6E3)
    groups, tail = slots // 8, slots % 8
    width = min(groups, 15)
    first = (place >> 32) * (groups - width + 1) >> 32
    band = ((high << 64) + low) % (1 << 8 * width)
    return band << 8 * first | (high >> 56) % (1 << tail) << 8 * groups


def place_of(slot, bit, slots, r):
    """Which bit of the filter is this bit of a slot."""
    if slot < slots // 8 * 8:
        return 8 * (slot // 8 * r + bit) + slot % 8
    return slot * r + bit


def filter_size(n, r):
    """The bytes before the last, for n keys."""

    def size(slots):
        return -(-slots * r // 8)

    if n <= 6:
        wanted = n
    elif n <= 32:
        wanted = n + 1 if size(n + 1) <= size(n) + 1 else n
    elif n <= 64:
        wanted = min(n + 2, 64)
    else:
        wanted = n + max(3, n // 22, n * (n.bit_length() - 1) // 400)
    return max(size(wanted), 8)


def solve(equations, slots):
    """What the slots are, each a number of r bits; None if there is no solution."""
    pivots = {}
    for row, value in equations:
        while row:
            lowest = (row & -row).bit_length() - 1
            if lowest not in pivots:
                pivots[lowest] = (row, value)
                break
            row, value = row ^ pivots[lowest][0], value ^ pivots[lowest][1]
        else:
            if value:
                return None
    solution = [0] * slots
    for slot in sorted(pivots, reverse=True):
        row, value = pivots[slot]
        row ^= 1 << slot
        while row:
            other = (row & -row).bit_length() - 1
            value ^= solution[other]
            row &= row - 1
        solution[slot] = value
    return solution


def create(bits_per_key, keys):
    r, n = min(max(bits_per_key, 1), 13), len(keys)
    probes = max(1, r * 69 // 100)
    if n == 0:
        return leveldb_filter([], probes, 8)
    size = filter_size(n, r)
    hashes = [xxh3_64_intdigest(key) for key in keys]
    for r in range(r, 0, -1):
        slots = slots_of(size, r)
        if slots is None or slots < n:
            continue
        for seed in range(16):
            solution = solve([(row_of(h, seed, slots), h % (1 << r)) for h in hashes], slots)
            if solution is not None:
                bits = 0
                for slot, value in enumerate(solution):
                    for bit in range(r):
                        bits |= (value >> bit & 1) << place_of(slot, bit, slots, r)
                return bits.to_bytes(size, "little") + bytes([16 * (r + 1) + seed])
    return leveldb_filter(keys, probes, size)


def may_match(key, filter):
    if len(filter) < 2:
        return False
    last, size = filter[-1], len(filter) - 1
    if 1 <= last <= 30:
        return leveldb_may_match(key, filter)
    if not 32 <= last <= 239:
        return True
    r, seed = last // 16 - 1, last % 16
    slots = slots_of(size, r)
    if slots is None:
        return True
    h = xxh3_64_intdigest(key)
    row, bits, total = row_of(h, seed, slots), int.from_bytes(filter[:-1], "little"), 0
    for slot in range(slots):
        if row >> slot & 1:
            for bit in range(r):
                total ^= (bits >> place_of(slot, bit, slots, r) & 1) << bit
    return total == h % (1 << r)


class Random:
    """splitmix64."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & M64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
        return z ^ z >> 31

    def below(self, n):
        return self.next() % n


def corpus():
    """The hash (FNV-1a) of the filters and answers that tests/ribbon.rs makes, too."""
    random, digest = Random(1), 0xCBF29CE484222325
    data = bytes(random.next() & 0xFF for _ in range(4096))
    for i in range(3500):
        bits_per_key = [10, 10, 7, 1, 2, 13, 20, 0, 5, 12][i % 10]
        n = random.below([9, 70, 140, 600][i % 4])
        longest = [17, 5, 64, 400][i // 4 % 4]
        if i >= 1500:
            # No slot to spare: some have fewer bits.
            bits_per_key, n, longest = 10, [6, 8, 12, 20][i % 4], 17
        keys = []
        for _ in range(n):
            start, length = random.below(4096 - 400), random.below(longest)
            keys.append(data[start : start + length])
        filter = create(bits_per_key, keys)
        assert all(may_match(key, filter) for key in keys), "a key is lost"
        # Any bytes before, and any last byte.
        broken = filter[random.below(len(filter)) :][:-1] + bytes([random.next() & 0xFF])
        answers = bytearray()
        for _ in range(20):
            start, length = random.below(4096 - 400), random.below(20)
            key = data[start : start + length]
            answers += bytes([may_match(key, filter), may_match(key, broken)])
        for byte in filter + bytes(answers):
            digest = (digest ^ byte) * 0x100000001B3 & M64
    return digest


def main(arguments):
    if arguments[:1] == ["--corpus"]:
        print(f"{corpus():#018x}")
    elif arguments[:1] == ["--create"] and len(arguments) > 1:
        print(create(int(arguments[1]), [key.encode() for key in arguments[2:]]).hex())
    elif arguments[:1] == ["--query"] and len(arguments) == 3:
        print(int(may_match(arguments[2].encode(), bytes.fromhex(arguments[1]))))
    else:
        print(__doc__)
        return 0 if arguments == ["--help"] else 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
