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


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


def of_rounds(rounds):
    return statistics.median(statistics.median(turns) for turns in rounds.values())


def share(in_filter, in_all):
    if in_all == 0:
        sys.exit("the sampling timer never rang: this system has no ITIMER_PROF")
    return in_filter / in_all


def read(samples, instructions):
    # For each phase and side, for each round: the turns' microseconds a key.
    cpu = collections.defaultdict(lambda: collections.defaultdict(list))
    sampled = collections.defaultdict(lambda: [0, 0])
    for line in samples:
        phase, side, round, _turn, keys, seconds, marked, in_filter, in_all = line.split()
        if int(marked):
            sampled[phase, side][0] += int(in_filter)
            sampled[phase, side][1] += int(in_all)
        else:
            cpu[phase, side][round].append(1e6 * float(seconds) / int(keys))
    counted = {}
    for line in instructions:
        phase, side, count = line.split()
        counted[phase, side] = int(count)
    rows = []
    for phase, name in PHASES.items():
        stock, ours, none = (cpu[phase, side] for side in ("stock", "ours", "none"))
        # What a database and its cache have by chance is the same in all turns of a round: a round is
        # one sample, of its turns' median.
        ratios = [
            statistics.median(a / b for a, b in zip(stock[round], ours[round])) for round in stock
        ]
        low, median, high = quartiles(ratios)
        rows.append({
            "work": name,
            "stock_us": of_rounds(stock),
            "ours_us": of_rounds(ours),
            "none_us": of_rounds(none),
            "ratio": median,
            "ratio_quartiles": [low, high],
            "filter_share_stock": share(*sampled[phase, "stock"]),
            "filter_share_ours": share(*sampled[phase, "ours"]),
            "samples_stock": sampled[phase, "stock"],
            "samples_ours": sampled[phase, "ours"],
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
        f"{row['filter_share_stock']:.0%} / {row['filter_share_ours']:.0%}",
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
    _, kernel = asked.samples.readline().split()
    rows = read(asked.samples, asked.instructions)
    date, machine = datetime.date.today().isoformat(), os.environ["PROCESSOR"]
    if asked.json:
        document = {"date": date, "machine": machine, "kernel": kernel, "keys": asked.keys, "rows": rows}
        json.dump(document, sys.stdout, indent=1)
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
            f"{date}, {machine}, kernel {kernel}, {asked.keys:,} keys; `scripts/end_to_end.sh --readme` measures it anew."
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
