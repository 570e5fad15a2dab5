"""The golden values of ctest/harness/golden_values.h as lines that every language can read:

    filter BITS_PER_KEY FILTER [KEY...]
    hash KEY HASH
    answer KEY FILTER 0|1

Bytes are in hexadecimal, no bytes at all are "-". Answers to queries of ribbon filters are left out.
"""

import re
import sys

HEX = r'"([0-9a-f]*)"'
JOINED = r'((?:"[0-9a-f]*"\s*)+)'


def hex_of(literals):
    return "".join(re.findall(HEX, literals)) or "-"


def is_ribbon(line):
    """The answer to a query of a ribbon filter: to LevelDB it may hold any key."""
    kind, *fields = line.split()
    return kind == "answer" and fields[1] != "-" and 32 <= int(fields[1][-2:], 16) < 240


def main(header):
    with open(header) as file:
        text = file.read()
    lines = []
    for bits, keys, filter_bytes in re.findall(r"\{(\d+), \{([^{}]*)\},\s*" + JOINED + r"\}", text):
        keys = [key or "-" for key in re.findall(HEX, keys)]
        lines.append(" ".join(["filter", bits, hex_of(filter_bytes)] + keys))
    for key, value in re.findall(r"\{" + JOINED + r", 0x([0-9a-f]{8})\}", text):
        lines.append(f"hash {hex_of(key)} {value}")
    for key, filter_bytes, answer in re.findall(
            r"\{" + JOINED + ", " + JOINED + r", (true|false)\}", text):
        lines.append(f"answer {hex_of(key)} {hex_of(filter_bytes)} {int(answer == 'true')}")
    entries = len(re.findall(r"^    \{", text, re.MULTILINE))
    if len(lines) != entries or entries == 0:
        sys.exit(f"{header}: {len(lines)} of {entries} entries were understood")
    print("\n".join(line for line in lines if not is_ribbon(line)))


main(sys.argv[1])
