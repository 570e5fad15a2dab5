"""headers_at_end.py LIBRARY COPY: a copy whose program headers are behind everything else.

The loader reads them from the file, wherever they are there; tools that rewrite libraries may put them
where nothing of the file is mapped.
"""

import struct
import sys
from pathlib import Path

library, copy = map(Path, sys.argv[1:])
file = bytearray(library.read_bytes())
assert file[:4] == b"\x7fELF"
wide = file[4] == 2
place, offset, size_and_number = ("<Q", 32, 54) if wide else ("<I", 28, 42)
(start,) = struct.unpack_from(place, file, offset)
size, number = struct.unpack_from("<HH", file, size_and_number)
headers = file[start : start + size * number]
# Behind a few megabytes, where no module is.
file += bytes(-len(file) % 4096 + (16 << 20))
struct.pack_into(place, file, offset, len(file))
copy.write_bytes(file + headers)
