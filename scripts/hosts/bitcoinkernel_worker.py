"""bitcoinkernel_worker.py FOLDER HEIGHT: looks at every block of the chain in the folder, makes
blocks until it has that height, and writes its last block's hash. Each block spends a coin that is
100 blocks old, which the database has to find, and makes one, which it must not have had."""

import hashlib
import struct
import sys

import pbk

TARGET = 0x7FFFFF << 8 * 29
GENESIS_TIME = 1296688602


def hashed(data):
    return hashlib.sha256(hashlib.sha256(data).digest()).digest()


def transaction(spent, script, value):
    """One coin in, one out that anyone may spend."""
    return (struct.pack("<i", 2) + b"\1" + spent + bytes([len(script)]) + script + b"\xff" * 4 +
            b"\1" + struct.pack("<q", value) + b"\1\x51" + b"\0" * 4)


def coinbase(height):
    number = height.to_bytes(height.bit_length() // 8 + 1, "little")
    # As the rules write a number: the small ones are instructions of their own.
    script = bytes([0x50 + height]) if height <= 16 else bytes([len(number)]) + number
    return transaction(b"\0" * 32 + b"\xff" * 4, script + b"\0", 1000)


def block(height, previous):
    transactions = [coinbase(height)]
    if height > 100:
        spent = hashed(coinbase(height - 100)) + b"\0" * 4
        transactions.append(transaction(spent, b"", 1000))
    root = hashed(b"".join(map(hashed, transactions))) if height > 100 else hashed(transactions[0])
    start = struct.pack("<i", 0x20000000) + previous + root
    for nonce in range(1 << 32):
        header = start + struct.pack("<III", GENESIS_TIME + height, 0x207FFFFF, nonce)
        if int.from_bytes(hashed(header), "little") <= TARGET:
            break
    return header + bytes([len(transactions)]) + b"".join(transactions), hashed(header)


folder, wanted = sys.argv[1], int(sys.argv[2])
manager = pbk.load_chainman(folder, pbk.ChainType.REGTEST)
chain = manager.get_active_chain()
for entry in chain.block_tree_entries:
    assert entry.height == 0 or len(bytes(manager.blocks[entry])) > 80, entry
for height in range(chain.height + 1, wanted + 1):
    raw, made = block(height, bytes(chain.block_tree_entries[-1].block_hash))
    manager.process_block(pbk.Block(raw))
    assert chain.height == height, f"block {height} was refused"
    assert bytes(chain.block_tree_entries[-1].block_hash) == made
print(chain.height, chain.block_tree_entries[-1].block_hash)
