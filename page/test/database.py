"""The database of the report's picture: database.py FOLDER. Users with values of many sizes."""

import random
import shutil
import sys

import plyvel

folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
chosen = random.Random(1)
db = plyvel.DB(folder, create_if_missing=True, bloom_filter_bits=10, compression=None)
for number in range(60_000):
    size = 400 if chosen.random() < 0.2 else chosen.randrange(10, 120)
    db.put(b"user:%06d" % chosen.randrange(1_000_000), b"v" * size)
db.close()
