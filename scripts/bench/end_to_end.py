"""The table, the plot and the README's figures of scripts/end_to_end.sh, from its samples."""

import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import statistics
import sys

PHASES = {
    "fill": "fill, random order",
    "compact": "compact",
    "read-absent": "read absent keys",
    "read-present": "read present keys",
}
# Keys in one sample; None: all of the database.
TURN = {"fill": None, "compact": None, "read-absent": 20000, "read-present": 20000}


def quartiles(values):
    return statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3


def read(samples, instructions, keys):
    cpu = collections.defaultdict(dict)
    shares = collections.defaultdict(list)
    for line in samples:
        phase, side, turn, _seconds, cpu_seconds, share = line.split()
        if float(share) >= 0:
            shares[phase, side].append(float(share))
        else:
            cpu[phase, side][turn] = float(cpu_seconds)
    counted = {}
    for line in instructions:
        phase, side, count = line.split()
        counted[phase, side] = int(count)
    rows = []
    for phase, name in PHASES.items():
        stock, ours, none = (cpu[phase, side] for side in ("stock", "ours", "none"))
        low, median, high = quartiles([stock[turn] / ours[turn] for turn in stock])
        per_key = 1e6 / (TURN[phase] or keys)
        rows.append({
            "work": name,
            "stock_us": statistics.median(stock.values()) * per_key,
            "ours_us": statistics.median(ours.values()) * per_key,
            "none_us": statistics.median(none.values()) * per_key,
            "ratio": median,
            "ratio_quartiles": [low, high],
            "filter_share_stock": statistics.mean(shares[phase, "stock"]),
            "filter_share_ours": statistics.mean(shares[phase, "ours"]),
            "instructions_ratio": counted[phase, "stock"] / counted[phase, "ours"],
        })
    return rows


def cells(row):
    low, high = row["ratio_quartiles"]
    return [
        row["work"],
        f"{row['stock_us']:.2f}",
        f"{row['ours_us']:.2f}",
        f"{row['none_us']:.2f}",
        f"{row['ratio']:.3f}x ({low:.3f}-{high:.3f})",
        f"{row['filter_share_stock']:.1%} / {row['filter_share_ours']:.1%}",
        f"{row['instructions_ratio']:.3f}x",
    ]


HEAD = ["", "stock, µs", "ours, µs", "none, µs", "CPU time, x", "filter, stock / ours", "instructions, x"]


def plain(rows):
    table = [HEAD] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in table)


def markdown(rows):
    lines = ["| " + " | ".join(HEAD) + " |", "|---|" + "---|" * (len(HEAD) - 1)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines)


def plot(rows, path):
    import matplotlib

    matplotlib.use("Agg")
    # Text as text, and the same file for the same figures.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "leveldb-bloom", "font.size": 10})
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
    height = 0.36
    for offset, side, colour in ((height / 2, "stock", "#8a8f98"), (-height / 2, "ours", "#1f77b4")):
        for at, row in enumerate(reversed(rows)):
            total = row[f"{side}_us"] / row["stock_us"]
            share = row[f"filter_share_{side}"]
            label = side if at == 0 else None
            axes.barh(at + offset, total, height, color=colour, alpha=0.45, label=label)
            axes.barh(at + offset, total * share, height, color=colour,
                      label=f"{side}: in the filter" if at == 0 else None)
            axes.text(total + 0.01, at + offset, f"{row[f'{side}_us']:.2f} µs", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [row["work"] for row in reversed(rows)])
    axes.set_xlim(0, 1.2)
    axes.set_xlabel("CPU time a key, stock = 1")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.18), ncols=4, frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot")
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--keys", type=int, required=True)
    parser.add_argument("samples", type=argparse.FileType())
    parser.add_argument("instructions", type=argparse.FileType())
    asked = parser.parse_args()
    rows = read(asked.samples, asked.instructions, asked.keys)
    date = datetime.date.today().isoformat()
    if asked.json:
        json.dump({"date": date, "machine": os.environ['PROCESSOR'], "keys": asked.keys, "rows": rows}, sys.stdout, indent=1)
        print()
    else:
        print(plain(rows))
    if asked.plot:
        plot(rows, asked.plot)
    if asked.readme:
        pathlib.Path("docs/bench").mkdir(parents=True, exist_ok=True)
        plot(rows, "docs/bench/end_to_end.svg")
        figures = (
            f"{markdown(rows)}\n\n"
            "![CPU time of each work, and the part of it in the filter](docs/bench/end_to_end.svg)\n\n"
            f"{date}, {os.environ['PROCESSOR']}, {asked.keys:,} keys; `scripts/end_to_end.sh --readme` measures it anew."
        )
        readme = pathlib.Path("README.md")
        begin, end = "<!-- end to end: begin -->\n", "<!-- end to end: end -->"
        text, count = re.subn(
            f"(?s)({begin}).*?({end})", lambda found: f"{found[1]}{figures}\n{found[2]}", readme.read_text()
        )
        if count != 1:
            sys.exit(f"README.md has no place between {begin.strip()} and {end}")
        readme.write_text(text)


main()
