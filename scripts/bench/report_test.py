"""What the benchmark makes of its samples: reads a table of two rounds, as --json gives it."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile


def test_medians(table):
    """Of two rounds it is the middle, and favours nobody."""
    for row in table["rows"]:
        for figure in row["figures"]:
            assert figure["rounds"] == 2, figure
            for spread in figure["ns"], figure["ratio"]:
                middle = (spread["min"] + spread["max"]) / 2
                assert abs(spread["median"] - middle) < 1e-6 * middle, (row["name"], figure)
                assert spread["q1"] <= spread["median"] <= spread["q3"], (row["name"], figure)


def test_peers(table):
    """Peers stand beside the kernel that the library chooses, were another one faster."""
    table = copy.deepcopy(table)
    for row in table["rows"]:
        own = row["figures"][1]
        row["figures"] += [own | {"side": side} for side in ("avx2", "avx512", "drop-in-avx2", "fastbloom")]
    with tempfile.TemporaryDirectory() as folder:
        document, markdown = pathlib.Path(folder, "table.json"), pathlib.Path(folder, "table.md")
        document.write_text(json.dumps(table))
        report = pathlib.Path(__file__).with_name("report.py")
        subprocess.run([sys.executable, report, "table", document, markdown], check=True)
        heads = [line for line in markdown.read_text().splitlines() if line.startswith("| ns |")]
    assert heads == ["| ns | AVX2 | stock | fastbloom |"], heads


table = json.load(sys.stdin)
test_medians(table)
test_peers(table)
