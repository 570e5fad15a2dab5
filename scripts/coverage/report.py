"""Which lines and branches of the library the tests reached, as a table; see scripts/coverage.sh.

    report.py EXEMPT LCOV JSON FILE...

LCOV and JSON are what `llvm-cov export` says in these formats: lines are read from the one, branches
with their places from the other. Only the FILEs count, without the tests in them. Fails where one of
them has a line or a branch that was not reached and that EXEMPT does not name, and where EXEMPT names
one that was reached.
"""

import collections
import json
import os
import sys


def lines_of(lcov):
    """File to line to how often it was reached."""
    files, lines = {}, None
    with open(lcov) as file:
        for record in file:
            if record.startswith("SF:"):
                lines = files.setdefault(os.path.relpath(record[3:].strip()), {})
            elif record.startswith("DA:"):
                line, count = record[3:].split(",")[:2]
                lines[int(line)] = lines.get(int(line), 0) + int(count)
    return files


def branches_of(export):
    """File to (line, columns) to how often a condition was true and false.

    Each copy of a generic function has its own entry.
    """
    files = {}
    with open(export) as file:
        functions = json.load(file)["data"][0]["functions"]
    for function in functions:
        for line, column, last, end, true, false, file_id, *_ in function["branches"]:
            name = os.path.relpath(function["filenames"][file_id])
            seen = files.setdefault(name, {}).setdefault((line, column, last, end), [0, 0])
            seen[0] += true
            seen[1] += false
    return files


def end_of_code(text):
    """The number of the line at which a file's tests begin."""
    return next((i for i, line in enumerate(text, 1) if line == "#[cfg(test)]\n"
                 and text[i].startswith("mod tests {")), len(text) + 1)


def read_exempt(name):
    """The (file, code, what) that need not be reached, and those of them that must not be."""
    exempt, unreachable = set(), set()
    with open(name) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                # The code may have an "or" of its own.
                file_name, rest = line.split(" | ", 1)
                code, what, reason = (part.strip() for part in rest.rsplit(" | ", 2))
                assert what.removeprefix("perhaps ") in ("line", "true", "false") and reason, line
                key = (file_name, code, what.removeprefix("perhaps "))
                exempt.add(key)
                if what == key[2]:
                    unreachable.add(key)
    return exempt, unreachable


def main(exempt_name, lcov, export, *names):
    all_lines, all_branches = lines_of(lcov), branches_of(export)
    exempt, unreachable = read_exempt(exempt_name)
    used, missed, total = set(), [], collections.Counter()
    row = "{:<28} {:>15} {:>9} {:>18} {:>9}"
    print(row.format("", "lines reached", "exempt", "branches reached", "exempt"))
    for name in names:
        with open(name) as file:
            text = file.readlines()
        end = end_of_code(text)
        count = collections.Counter()

        def look(line, kind, what, reached, note=""):
            key = (name, text[line - 1].strip(), what)
            count[kind] += 1
            if reached:
                count[kind, "reached"] += 1
            elif key in exempt:
                count[kind, "exempt"] += 1
                used.add(key)
            else:
                missed.append(f"{name}:{line}: {what}{note}: {text[line - 1].strip()}")

        if name not in all_lines:
            missed.append(f"{name}: nothing of it was built")
        for line, times in sorted(all_lines.get(name, {}).items()):
            # A brace alone says where a condition without an else ends, which its branches say too.
            if line < end and text[line - 1].strip() != "}":
                look(line, "lines", "line", times > 0)
        for (line, column, last, stop), (true, false) in sorted(all_branches.get(name, {}).items()):
            if line < end:
                code = text[line - 1][column - 1:stop - 1 if last == line else None].strip()
                look(line, "branches", "true", true > 0, f" of `{code}`")
                look(line, "branches", "false", false > 0, f" of `{code}`")
        total += count
        print_row(row, name, count)
    print_row(row, "all", total)
    for key in sorted(unreachable - used):
        missed.append(f"{exempt_name}: {' | '.join(key)}: was reached, or is no more")
    if missed:
        print("\nnot reached:", *missed, sep="\n  ")
    return 1 if missed else 0


def print_row(row, name, count):
    def share(kind):
        return f"{count[kind, 'reached']:,} of {count[kind]:,}"

    print(row.format(name, share("lines"), count["lines", "exempt"], share("branches"),
                     count["branches", "exempt"]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
