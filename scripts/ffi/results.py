"""What the languages' tests measured, as a table; and whether each really asked our library.

    results.py GOLDEN LOG... [--table]

GOLDEN is the file of golden.py, a LOG what a language wrote. Each language's line must say that it
checked all golden values, and that its filter and its million answers are those of LevelDB itself.
"""

import datetime
import json
import os
import sys

# The filter of half a million of the tests' keys, as its own hash, and how many of a million it
# matches: seen with the libleveldb 1.23 of Debian 12, whose header lets one call its policy.
FILTER_HASH = "76a8a694"
MATCHES = 512283


def check(line, golden):
    assert line["golden"] == golden, f"{line['golden']} of {golden} golden values"
    assert line["filter_hash"] == FILTER_HASH, f"a filter of hash {line['filter_hash']}"
    assert line["matches"] == MATCHES, f"{line['matches']} matches"
    assert line["active"].startswith("leveldb_bloom ("), line["active"]
    assert line["kernel"] in ("portable", "avx2", "avx512", "neon"), line["kernel"]
    assert line["call_ns"] > 0 and line["query_keys_per_s"] > 0 and line["build_keys_per_s"] > 0


def machine():
    return f"{os.environ['PROCESSOR']}, {os.cpu_count()} cores"


def main(golden, logs, readme):
    with open(golden) as file:
        golden = len(file.readlines())
    lines, bad = [], 0
    for log in logs:
        found = 0
        with open(log, errors="replace") as file:
            for text in file:
                # A test's runner may have written on the same line.
                start = text.find('{"language"')
                if start < 0:
                    continue
                line, _ = json.JSONDecoder().raw_decode(text, start)
                try:
                    check(line, golden)
                except AssertionError as error:
                    print(f"{line['language']}: {error}", file=sys.stderr)
                    bad += 1
                lines.append(line)
                found += 1
        if found == 0:
            print(f"{log}: the test measured nothing", file=sys.stderr)
            bad += 1
    form = "| {} | {} | {} | {} |" if readme else "{:<36} {:>12} {:>16} {:>16}"
    if readme:
        print("| Language | one call | batch query | batch build |\n|---|---|---|---|")
    else:
        print(form.format("", "one call", "batch query", "batch build"))
    for line in lines:
        print(form.format(f"{line['language']} ({line['runtime']}), {line['through']}",
                          f"{line['call_ns']:.0f} ns",
                          f"{line['query_keys_per_s'] / 1e6:.0f} M keys/s",
                          f"{line['build_keys_per_s'] / 1e6:.0f} M keys/s"))
    kernels = ", ".join(sorted({line["kernel"] for line in lines}))
    print(f"\n{machine()}, {datetime.date.today()}; kernel: {kernels}")
    sys.exit(bad > 0)


arguments = [argument for argument in sys.argv[1:] if argument != "--table"]
main(arguments[0], arguments[1:], "--table" in sys.argv)
