"""What became of the mutants; see scripts/mutants.sh.

    report.py note LEDGER FOLDER             adds what cargo-mutants wrote to FOLDER to LEDGER
    report.py write COMMIT LEDGER LIST SURVIVORS DOCUMENT FILE...
                                             writes to DOCUMENT a row for each FILE whose mutants in
                                             LIST have all run, of COMMIT

`write` fails where some have not run, where a mutant survives that SURVIVORS does not explain, and
where SURVIVORS explains one that does not survive.
"""

import collections
import datetime
import json
import os
import re
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


HEADER = """\
# Mutants

cargo-mutants changes the code, one place at a time (a `<` to a `<=`, a function's result to
zero), and the tests must notice. `scripts/mutants.sh` writes the row of a file once all its
mutants have run, and leaves the others as they are: a row is of the commit that it names.
`scripts/mutants/survivors.txt` says of mutants that survive why no test can tell them from the code;
the last column counts those that it does not explain.

| File | Commit | Date | Mutants | Killed by a test | by the time limit | Refused by the compiler | Survive | not explained |
|---|---|---|---:|---:|---:|---:|---:|---:|
"""

FOOTER = """
Not listed are files that have no mutants, and those whose mutants have not all run since the file was
made. Behind a commit, "changed" is what had not been committed. `src/planted.rs` is left out: it is
there to go wrong. For `src/ffi` the programs of the shared library decide: those that are linked with
the archive would have to be linked anew for each mutant.
"""


def row(name, commit, count, unexplained):
    cells = [name, commit, datetime.date.today(), sum(count.values()),
             *(count[outcome] for outcome in OUTCOMES), unexplained]
    return f"| {' | '.join(map(str, cells))} |"


def write(commit, ledger, list_name, survivors_name, document, *names):
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

    def unexplained(mutant):
        """How many of a name survive that are not explained."""
        return max(0, len(missed[mutant]) - survivors.get(mutant, (0, 0))[1])

    rows = {line.split(" ")[1]: line for line in read_lines(document) if line.startswith(("| src/", "| table/"))}
    wrong = []
    for name, count in files.items():
        own = [mutant for mutant in missed if mutant.startswith(f"{name}:")]
        for mutant in filter(unexplained, own):
            wrong += [f"survives, and is not explained: {place}" for place in missed[mutant]]
        if count["not run"]:
            wrong.append(f"{name}: {count['not run']} were not run")
            continue
        for mutant, (least, _, _) in survivors.items():
            if mutant.startswith(f"{name}:") and len(missed.get(mutant, ())) < least:
                survive = len(missed.get(mutant, ()))
                wrong.append(f"explained {least} times, survives {survive}: {mutant}")
        if count:
            rows[name] = row(name, commit, count, sum(map(unexplained, own)))
    with open(document, "w") as file:
        file.write(HEADER)
        file.writelines(f"{rows[name]}\n" for name in sorted(rows) if os.path.exists(name))
        file.write(FOOTER)

    print(*(f"{name}: {dict(count)}" for name, count in files.items()), *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit({"note": note, "write": write}[sys.argv[1]](*sys.argv[2:]))
