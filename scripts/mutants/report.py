"""What became of the mutants; see scripts/mutants.sh.

    report.py note LEDGER FOLDER             adds what cargo-mutants wrote to FOLDER to LEDGER
    report.py write LEDGER LIST SURVIVORS DOCUMENT FILE...
                                             writes DOCUMENT about the mutants of the FILEs in LIST, or
                                             so_far.md beside LEDGER where some of them were not run

`write` fails where a mutant survives that SURVIVORS does not explain, and where SURVIVORS explains
one that does not survive.
"""

import collections
import datetime
import json
import os
import re
import subprocess
import sys

OUTCOMES = ("caught", "timeout", "unviable", "missed")


def read_lines(name):
    if not os.path.exists(name):
        return []
    with open(name) as file:
        return file.read().splitlines()


def note(ledger, folder):
    outcomes = json.loads("".join(read_lines(ledger)) or "{}")
    # What a run that was interrupted has killed is only here.
    for mutant in read_lines(f"{folder}/previously_caught.txt"):
        if outcomes.get(mutant, "missed") == "missed":
            outcomes[mutant] = "caught"
    for outcome in OUTCOMES:
        for mutant in read_lines(f"{folder}/{outcome}.txt"):
            outcomes[mutant] = outcome
    with open(ledger, "w") as file:
        json.dump(outcomes, file, indent=0)


def without_place(mutant):
    """Lines move; what is done in which function stays."""
    return re.sub(r"^([^:]*):\d+:\d+: ", r"\1: ", mutant)


def read_survivors(name):
    """Mutant to how many of that name survive, at least and at most, and why."""
    survivors = {}
    for line in read_lines(name):
        if line and not line.startswith("#"):
            mutant, times, reason = (part.strip() for part in line.split(" -- "))
            assert reason and mutant not in survivors, line
            least, _, most = times.partition("-")
            survivors[mutant] = (int(least), int(most or least), reason)
    return survivors


def machine():
    return f"{os.environ['PROCESSOR']}, {os.cpu_count()} processors"


def said_by(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def write(ledger, list_name, survivors_name, document, *names):
    outcomes = json.loads("".join(read_lines(ledger)) or "{}")
    survivors = read_survivors(survivors_name)
    files = {name: collections.Counter() for name in names}
    missed = collections.defaultdict(list)
    for mutant in read_lines(list_name):
        name = mutant.split(":", 1)[0]
        if name in files:
            outcome = outcomes.get(mutant, "not run")
            files[name][outcome] += 1
            if outcome == "missed":
                missed[without_place(mutant)].append(mutant)
    total = sum(files.values(), collections.Counter())
    if total["not run"]:
        # A part says nothing of the whole, and would take the place of what does.
        document = os.path.join(os.path.dirname(ledger), "so_far.md")
        print(f"{total['not run']} were not run: {document}")

    with open(document, "w") as file:
        def put(*lines):
            print(*lines, sep="\n", file=file)

        put("# Mutants", "",
            "cargo-mutants changes the code, one place at a time (a `<` to a `<=`, a function's result to",
            "zero), and the tests must notice. `scripts/mutants.sh` writes this file.", "",
            "|   |   |", "|---|---|",
            f"| Date | {datetime.date.today()} |",
            f"| Commit | {said_by('git', 'rev-parse', '--short', 'HEAD')} |",
            f"| Tool | {said_by('cargo', 'mutants', '--version')} |",
            f"| Compiler | {said_by('rustc', '--version')} |",
            f"| Machine | {machine()} |",
            f"| Mutants | {sum(total.values()):,} |",
            f"| Killed | {total['caught'] + total['timeout']:,} |",
            f"| Refused by the compiler | {total['unviable']:,} |",
            f"| Survive | {total['missed']:,} |",
            f"| Not run | {total['not run']:,} |", "",
            "| File | Mutants | Killed by a test | by the time limit | Refused | Survive | Not run |",
            "|---|---:|---:|---:|---:|---:|---:|")
        for name, count in files.items():
            put(f"| {name} | {sum(count.values())} | {count['caught']} | {count['timeout']} | "
                f"{count['unviable']} | {count['missed']} | {count['not run']} |")
        put("", "## What survives, and why", "",
            f"The reasons are kept in `{survivors_name}`.",
            "", "| Mutant | Times | Why no test can tell |", "|---|---:|---|")
        for mutant in sorted(missed):
            *_, reason = survivors.get(mutant, ("**not explained**",))
            put(f"| `{mutant.replace('|', chr(92) + '|')}` | {len(missed[mutant])} | {reason} |")
        put("", "## What is left out", "",
            "- `src/kernel/avx512*` and `neon.rs` where the machine cannot run them, and `src/planted.rs`,",
            "  which is there to go wrong.",
            "- For `src/ffi`, the programs that are linked with the archive: each would have to be linked",
            "  anew for each mutant. Those of the shared library decide.")

    print(f"{sum(total.values())} mutants: {dict(total)}")
    wrong = []
    for mutant, places in missed.items():
        if len(places) > survivors.get(mutant, (0, 0))[1]:
            wrong += [f"survives, and is not explained: {place}" for place in places]
    for mutant, (least, _, _) in survivors.items():
        survive = len(missed.get(mutant, ()))
        if mutant.split(":")[0] in files and not total["not run"] and survive < least:
            wrong.append(f"explained {least} times, survives {survive}: {mutant}")
    print(*wrong, sep="\n")
    return 1 if wrong or total["not run"] else 0


if __name__ == "__main__":
    sys.exit({"note": note, "write": write}[sys.argv[1]](*sys.argv[2:]))
