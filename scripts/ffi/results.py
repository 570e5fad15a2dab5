"""results.py GOLDEN LOG: what a language's test measured, and whether it really called our library.

GOLDEN is the file that golden.py writes. The test's lines must say that all golden values were checked,
that its filter and its million answers are LevelDB's, and that of this filter, another one and the first
one's bytes made a filter again two are distinct.
"""

import json
import sys

# The filter of half a million of the tests' keys, as its own hash, and how many of a million it
# matches: from LevelDB's own policy.
FILTER_HASH = "76a8a694"
MATCHES = 512283

with open(sys.argv[1]) as file:
    golden = len(file.readlines())
found = 0
with open(sys.argv[2], errors="replace") as file:
    for text in file:
        # A test's runner may have written on the same line.
        start = text.find('{"language"')
        if start < 0:
            continue
        line, _ = json.JSONDecoder().raw_decode(text, start)
        seen = (line["golden"], line["filter_hash"], line["matches"], line["distinct"],
                line["active"][:15])
        if seen != (golden, FILTER_HASH, MATCHES, 2, "leveldb_bloom ("):
            sys.exit(f"{line['language']}: {seen}")
        print(f"{line['language']} ({line['runtime']}), {line['through']}: "
              f"{line['call_ns']:.0f} ns a call, batches of "
              f"{line['query_keys_per_s'] / 1e6:.0f} M queries/s and "
              f"{line['build_keys_per_s'] / 1e6:.0f} M keys built/s")
        found += 1
if not found:
    sys.exit(f"{sys.argv[2]}: the test measured nothing")
