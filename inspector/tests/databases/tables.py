"""LevelDB's formats once more, independent of the Rust code: what the tests hold the command against,
and how they make tables and databases that no LevelDB writes. Blocks are read uncompressed only."""

import os
import struct

MAGIC = 0xDB4775248B80FB57
BASE_LG = 11
TRAILER = 5


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _crc_table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def read_handle(data, at=0):
    offset, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return (offset, size), at


def entries(block):
    """The (key, value) pairs of a block."""
    (restarts,) = struct.unpack_from("<I", block, len(block) - 4)
    at, end, key = 0, len(block) - 4 - 4 * restarts, b""
    while at < end:
        shared, at = read_varint(block, at)
        unshared, at = read_varint(block, at)
        length, at = read_varint(block, at)
        key = key[:shared] + block[at:at + unshared]
        at += unshared
        yield key, block[at:at + length]
        at += length


class Table:
    """A table's parts: handles, and the data blocks with their user keys."""

    def __init__(self, data):
        self.data = data
        self.metaindex, at = read_handle(data, len(data) - 48)
        self.index, _ = read_handle(data, at)
        self.policy, self.filter = None, None
        for key, value in entries(self.block(self.metaindex)):
            if key.startswith(b"filter."):
                self.policy, self.filter = key[7:].decode(), read_handle(value)[0]
        self.blocks = [read_handle(value)[0] for _, value in entries(self.block(self.index))]

    def block(self, handle):
        offset, size = handle
        assert self.data[offset + size] == 0, "compressed"
        return self.data[offset:offset + size]

    def handles(self):
        yield from self.blocks
        yield from (handle for handle in (self.filter, self.metaindex, self.index) if handle)

    def filters(self):
        """The bytes of each filter, empty ones included."""
        block = self.block(self.filter)
        assert block[-1] == BASE_LG
        (start,) = struct.unpack_from("<I", block, len(block) - 5)
        count = (len(block) - 5 - start) // 4
        offsets = struct.unpack_from(f"<{count + 1}I", block, start)
        return [block[a:b] for a, b in zip(offsets, offsets[1:])]

    def keys_of_filters(self):
        """For each filter's number, the keys of the blocks that begin in its 2 KiB."""
        keys = {}
        for handle in self.blocks:
            of_filter = keys.setdefault(handle[0] >> BASE_LG, [])
            of_filter += [key[:-8] for key, _ in entries(self.block(handle))]
        return keys


def bloom_hash(key):
    """LevelDB's Hash (util/hash.cc) with the seed of its filters."""
    factor, mask = 0xC6A4A793, 0xFFFFFFFF
    value = 0xBC9F1D34 ^ len(key) * factor & mask
    whole = len(key) // 4 * 4
    for (word,) in struct.iter_unpack("<I", key[:whole]):
        value = (value + word) * factor & mask
        value ^= value >> 16
    if rest := key[whole:]:
        value = (value + int.from_bytes(rest, "little")) * factor & mask
        value ^= value >> 24
    return value


def positions(value, filter_):
    """The bits of a filter for a key of this hash."""
    step = (value >> 17 | value << 15) & 0xFFFFFFFF
    return [(value + i * step & 0xFFFFFFFF) % (8 * (len(filter_) - 1)) for i in range(filter_[-1])]


def riak_filter(keys, bits_per_key=16):
    """As Riak's LevelDB makes it, under LevelDB's name: a second hash moves each probe, and positions are modulo the
    largest prime that the bytes have room for."""
    def murmur(key, m=0xC6A4A7935BD1E995, mask=(1 << 64) - 1):
        value = 0x5BD1E995 ^ len(key) * m & mask
        whole = len(key) // 8 * 8
        for at in range(0, whole, 8):
            word = int.from_bytes(key[at:at + 8], "little") * m & mask
            value = (value ^ (word ^ word >> 47) * m & mask) * m & mask
        if whole < len(key):
            value = (value ^ int.from_bytes(key[whole:], "little")) * m & mask
        value = (value ^ value >> 47) * m & mask
        return (value ^ value >> 47) & 0xFFFFFFFF

    prime = max(61, len(keys) * bits_per_key)
    while any(prime % divisor == 0 for divisor in range(2, int(prime ** 0.5) + 1)):
        prime += 1
    array, probes = bytearray((prime + 7) // 8), int(bits_per_key * 0.69)
    for key in keys:
        value, second = bloom_hash(key), murmur(key)
        step = (value >> 17 | value << 15) & 0xFFFFFFFF
        for i in range(probes):
            at = (value + i * step + (i + 1) * second & 0xFFFFFFFF) % prime
            array[at // 8] |= 1 << at % 8
    return bytes(array) + bytes([probes])


def with_checksum(data, handle):
    """`data` with the checksum of the block at `handle` made right."""
    offset, size = handle
    crc = struct.pack("<I", masked_crc(data[offset:offset + size + 1]))
    return data[:offset + size + 1] + crc + data[offset + size + TRAILER:]


def with_trailer(contents):
    """A block as it is stored, not compressed."""
    return contents + b"\0" + struct.pack("<I", masked_crc(contents + b"\0"))


def block(pairs):
    body = b"".join(varint(0) + varint(len(key)) + varint(len(value)) + key + value
                    for key, value in pairs)
    starts, at = [], 0
    for key, value in pairs:
        starts.append(at)
        at += len(varint(0) + varint(len(key)) + varint(len(value)) + key + value)
    starts = starts or [0]
    return body + struct.pack(f"<{len(starts) + 1}I", *starts, len(starts))


def internal(user_key, sequence=7, kind=1):
    return user_key + struct.pack("<Q", sequence << 8 | kind)


def write(blocks, create_filter, policy="leveldb.BuiltinBloomFilter2", compression=0,
          compress=lambda contents: contents, stored_as=internal, most_filters=None,
          other_policy=None, index_keys=None, filter_handle=None, other_name=None):
    """A table with one data block for each list of (user key, value) in `blocks`, and at most so many
    filters, or none without a policy; where there is another policy, its filters match nothing, and where
    there is another name, the metaindex has it. The index has each block's last
    key, or the keys that are given, and the metaindex the filter block's place, or what is given."""
    out = bytearray()

    def append(contents, kind=0):
        handle = len(out), len(contents)
        out.extend(contents)
        out.append(kind)
        out.extend(struct.pack("<I", masked_crc(contents + bytes([kind]))))
        return handle

    index, filters, offsets, of_slot = [], bytearray(), [], {}
    for pairs in blocks:
        stored = [(stored_as(key), value) for key, value in pairs]
        handle = append(compress(block(stored)), compression)
        last = index_keys[len(index)] if index_keys else stored[-1][0]
        index.append((last, varint(handle[0]) + varint(handle[1])))
        of_slot.setdefault(handle[0] >> BASE_LG, []).extend(key for key, _ in pairs)
    for slot in range(max(of_slot) + 1)[:most_filters]:
        offsets.append(len(filters))
        filters += create_filter(of_slot[slot]) if slot in of_slot else b""
    start = len(filters)
    filters += struct.pack(f"<{len(offsets) + 1}I", *offsets, start) + bytes([BASE_LG])
    handle = append(bytes(filters))
    if filter_handle:
        handle = filter_handle
    named = [(policy, handle)] if policy else []
    if other_policy:
        nothing = struct.pack("<3I", 0, 0, 0) + bytes([BASE_LG])
        named.append((other_policy, append(nothing)))
    named = [("filter." + name, handle) for name, handle in named]
    if other_name:
        named.append((other_name, append(b"")))
    metaindex = append(block(sorted(
        (name.encode(), varint(offset) + varint(size)) for name, (offset, size) in named)))
    index = append(block(index))
    footer = b"".join(varint(number) for handle in (metaindex, index) for number in handle)
    return bytes(out) + footer.ljust(40, b"\0") + struct.pack("<Q", MAGIC)


def manifest(changes, comparator=b"leveldb.BytewiseComparator", tag=7, behind=b""):
    """A log of two records: what every MANIFEST has, and these (level, number, bytes, smallest,
    largest), each with this tag, and with this behind it."""
    def sized(data):
        return varint(len(data)) + data

    # Comparator, log's number, next file's number, last write's number.
    first = b"\1" + sized(comparator) + b"\2\3\3" + varint(10**6) + b"\4" + varint(1000)
    tables_ = b"".join(varint(tag) + varint(level) + varint(number) + varint(size) + sized(smallest)
                       + sized(largest) + behind for level, number, size, smallest, largest in changes)
    return log([first, tables_] if tables_ else [first])


def log(records, at=0):
    """Records as the log has them that is `at` bytes long before them."""
    out, block_ = bytearray(), 32 << 10
    for record in records:
        begun = False
        while record or not begun:
            left = block_ - (at + len(out)) % block_
            if left < 7:
                out += bytes(left)
                continue
            piece, record = record[:left - 7], record[left - 7:]
            kind = {(False, True): 1, (False, False): 2, (True, False): 3, (True, True): 4}
            number = bytes([kind[begun, not record]])
            out += struct.pack("<IH", masked_crc(number + piece), len(piece)) + number + piece
            begun = True
    return bytes(out)


def database(folder, tables_, comparator=b"leveldb.BytewiseComparator"):
    """A database of these (level, number, table, smallest internal key, largest)."""
    os.makedirs(folder)
    files = {"CURRENT": b"MANIFEST-000002\n", "MANIFEST-000002": manifest(
        [(level, number, len(table), *keys) for level, number, table, *keys in tables_], comparator)}
    files.update((f"{number:06}.ldb", table) for _, number, table, *_ in tables_)
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
