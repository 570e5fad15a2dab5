"""What a filter is worth: sized for a wanted rate, built, asked and looked into."""

import random

import leveldb_bloom as bloom

KEYS = 10_000
numbers = random.Random(1)
present = [numbers.randbytes(16) for _ in range(KEYS)]
absent = [numbers.randbytes(16) for _ in range(KEYS)]

bits = bloom.bits_per_key_for(0.01, KEYS)
print(f"leveldb-bloom {bloom.version()}, {bloom.active()}")
print(f"1 % of false positives at {KEYS} keys take {bits} bits per key "
      f"(expected: {100 * bloom.false_positive_rate(bits, KEYS):.2f} %)")

with bloom.Policy(bits) as policy:
    members = policy.create_filter(present)
    print(f"the filter: {len(members.data)} bytes, made by the {policy.kernel} kernel")

found = sum(key in members for key in present)
false = sum(key in members for key in absent)
print(f"of {KEYS} keys in it {found} may match, of {KEYS} others {false} "
      f"({100 * false / KEYS:.2f} %)")

info = members.inspect()
print(f"its bytes say: {info['probes']} probes, {100 * info['fill']:.1f} % of the bits set, "
      f"about {info['estimated_keys']:.0f} keys")
print(f"the first key set the bits {members.positions(present[0])}")

# The same filter from two halves, which two machines could have made.
halves = []
for half in (present[::2], present[1::2]):
    with bloom.Builder(bits) as builder:
        for key in half:
            builder.add(key)
        halves.append(builder.finish(total_keys=KEYS))
print("two halves united are the same bytes:", halves[0].union(halves[1]).data == members.data)
