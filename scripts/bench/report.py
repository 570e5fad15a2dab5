"""Plots, and the README's tables, from the documents of scripts/bench.sh.

    report.py plot DOCUMENT.json FILE.svg|FILE.png
    report.py readme TABLE.json README.md
    report.py table TABLE.json [INSTRUCTIONS.json] FILE.md
"""

import json
import re
import sys

NAMES = {
    "portable": "portable",
    "avx2": "AVX2",
    "avx512": "AVX-512",
    "neon": "NEON",
    "rocksdb": "RocksDB",
}
# Seen apart by the colour-blind too (Okabe and Ito).
COLOURS = {
    "stock": "#000000",
    "stock-copy": "#666666",
    "portable": "#E69F00",
    "avx2": "#56B4E9",
    "neon": "#56B4E9",
    "avx512": "#0072B2",
    "drop-in": "#009E73",
    "callbacks": "#66C2A5",
    "source": "#F0E442",
    "rusty-leveldb": "#D55E00",
    "fastbloom": "#CC79A7",
    "rocksdb": "#999999",
    "goleveldb": "#B8A800",
}


# What the README shows of the table.
IN_README = [
    "create, 20 keys",
    "create, 1,000 keys",
    "create, 1,000 keys of 8-64 B",
    "create, 100,000 keys",
    "create, 10 million keys, shuffled",
    "query, filter of 20, present",
    "query, filter of 20, absent",
    "query, filter of 1,000, present",
    "query, filter of 1,000, absent",
    "batch of 256, filter of 20, absent",
    "batch of 256, filter of 1,000, absent",
    "a key in 8 filters of 20",
    # Where there is least to win.
    "query, filter of 1,000, 2 bits, absent",
    "query, one of 4,000 filters of 1,000, present",
]
PEERS_IN_README = [
    "create, 20 keys",
    "create, 1,000 keys",
    "query, filter of 1,000, present",
    "query, filter of 1,000, absent",
]


# How LevelDB is given a kernel: what the sides' names begin with.
DOORS = ["drop-in", "callbacks", "source"]


def door(side):
    """Which of them, or None."""
    return next((door for door in DOORS if side.startswith(door + "-")), None)


def name(side):
    by = door(side)
    return f"{by}, {name(side.removeprefix(by + '-'))}" if by else NAMES.get(side, side)


def colour(side):
    return COLOURS[door(side) or side]


def is_ours(side):
    return side in ("portable", "avx2", "neon", "avx512") or door(side) is not None


def is_peer(side):
    return not is_ours(side) and side not in ("stock", "stock-copy")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def origin(document):
    machine = document["machine"]
    return (
        f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, {machine['system']}"
    )


def plot_table(pyplot, document):
    """Bars of stock's time by each side's, with a tick where the project wants to be."""
    rows = document["rows"]
    sides = []
    for row in rows:
        sides += [f["side"] for f in row["figures"] if is_ours(f["side"]) and f["side"] not in sides]
    figure, axes = pyplot.subplots(figsize=(10, 1.6 + 0.16 * len(rows) * (len(sides) + 1.2)))
    # Stock may have been measured alone.
    height = 0.84 / max(1, len(sides))
    for i, side in enumerate(sides):
        for y, row in enumerate(rows):
            own = next((f for f in row["figures"] if f["side"] == side), None)
            if own is None:
                continue
            place = y - 0.42 + (i + 0.5) * height
            ratio = own["ratio"]
            axes.barh(
                place,
                ratio["median"],
                height * 0.88,
                color=colour(side),
                label=name(side) if y == 0 else None,
            )
            axes.plot([ratio["q1"], ratio["q3"]], [place, place], color="black", linewidth=0.8)
            if own["target"] is not None:
                axes.plot(
                    [own["target"]] * 2,
                    [place - height / 2, place + height / 2],
                    color="#CC0000",
                    linewidth=1.6,
                    label="target" if i == 0 and y == 0 else None,
                )
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}×")
    # All of the bars, those of who is much slower than stock too.
    lowest = min((f["ratio"]["q1"] for row in rows for f in row["figures"] if is_ours(f["side"])), default=1)
    axes.set_xlim(left=min(0.5, lowest / 1.2))
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("stock's time divided by ours; black lines: quartiles")
    axes.grid(axis="x", color="#DDDDDD")
    axes.set_axisbelow(True)
    figure.legend(loc="upper center", ncols=len(sides) + 1, frameon=False)
    figure.text(0.99, 0.005, origin(document), ha="right", fontsize=7, color="#666666")
    figure.tight_layout(rect=(0, 0.01, 1, 1 - 0.4 / figure.get_figheight()))


def plot_scale(pyplot, document):
    """One panel for each series: nanoseconds a key, one line for each side."""
    from matplotlib import ticker

    series = document["series"]
    works = list(dict.fromkeys(one["name"] for one in series))
    xs = list(dict.fromkeys(one["x"] for one in series))
    figure, panels = pyplot.subplots(
        len(works), len(xs), figsize=(12, 3.1 * len(works)), squeeze=False
    )
    for one in series:
        axes = panels[works.index(one["name"])][xs.index(one["x"])]
        for side in [f["side"] for f in one["points"][0]["figures"]]:
            x, median, low, high = [], [], [], []
            for point in one["points"]:
                own = next(f for f in point["figures"] if f["side"] == side)
                x.append(point["x"])
                median.append(own["ns"]["median"])
                low.append(own["ns"]["q1"])
                high.append(own["ns"]["q3"])
            axes.plot(x, median, color=colour(side), label=name(side), linewidth=1.4)
            axes.fill_between(x, low, high, color=colour(side), alpha=0.2, linewidth=0)
        # Key lengths begin at 0, which no logarithm has.
        if one["points"][0]["x"] == 0:
            axes.set_xscale("symlog", linthresh=8, base=2)
        elif one["points"][-1]["x"] > 1000:
            axes.set_xscale("log")
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())
        axes.set_title(one["name"], fontsize=10)
        axes.set_xlabel(one["x"])
        axes.set_ylabel("ns a key")
        axes.grid(color="#DDDDDD")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=len(labels), frameon=False)
    figure.text(0.99, 0.005, origin(document), ha="right", fontsize=7, color="#666666")
    figure.tight_layout(rect=(0, 0.01, 1, 0.96))


def plot(document, path):
    import matplotlib

    matplotlib.use("Agg")
    # The same document gives the same file.
    matplotlib.rcParams["svg.hashsalt"] = "leveldb-bloom"
    from matplotlib import pyplot

    document = load(document)
    {"table": plot_table, "scale": plot_scale}[document["kind"]](pyplot, document)
    metadata = {"Date": None} if path.endswith(".svg") else None
    pyplot.savefig(path, dpi=110, metadata=metadata)


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def columns(rows, wanted):
    sides = []
    for row in rows:
        for figure in row["figures"]:
            if wanted(figure["side"]) and figure["side"] not in sides:
                sides.append(figure["side"])
    return sides


def own(row, side):
    return next((figure for figure in row["figures"] if figure["side"] == side), None)


def table_of_ours(document):
    rows = document["rows"]
    sides = columns(rows, is_ours)
    body = []
    for row in rows:
        cells = [row["name"], f"{own(row, 'stock')['ns']['median']:.1f} ns"]
        for side in sides:
            figure = own(row, side)
            cells.append(f"{figure['ns']['median']:.1f} ns, **{figure['ratio']['median']:.1f}×**")
        body.append(cells)
    return markdown(["", "stock"] + [name(side) for side in sides], body)


def table_of_peers(document):
    rows = [row for row in document["rows"] if columns([row], is_peer)]
    # Kernels come the slowest first; but a drop-in policy shows which of them the library chooses there.
    kernels = columns(rows, lambda side: is_ours(side) and door(side) is None)
    dropped_in = columns(document["rows"], lambda side: door(side) == "drop-in")
    chosen = [kernel for kernel in kernels if f"drop-in-{kernel}" in dropped_in]
    sides = (chosen or kernels)[-1:] + ["stock"] + columns(rows, is_peer)
    body = []
    for row in rows:
        figures = [own(row, side) for side in sides]
        body.append([row["name"]] + [f"{f['ns']['median']:.1f}" if f else "" for f in figures])
    return markdown(["ns"] + [name(side) for side in sides], body)


def table_of_instructions(document):
    rows = document["rows"]
    sides = [one["side"] for one in rows[0]["sides"]]
    body = []
    for row in rows:
        count = {one["side"]: one["steps"] or one["callgrind"] for one in row["sides"]}
        cells = [f"{count[side]:,.0f}" if count[side] else "" for side in sides]
        body.append([f"{row['name']}, a {row['unit']}"] + cells)
    return markdown(["instructions"] + [name(side) for side in sides], body)


def only(document, names):
    """The document with these rows, in this order."""
    rows = {row["name"]: row for row in document["rows"]}
    missing = [name for name in names if name not in rows]
    if missing:
        sys.exit(f"no rows of these names were measured: {missing}")
    return document | {"rows": [rows[name] for name in names]}


def ours(table, names=None):
    spread = sorted(
        (f["ratio"]["q3"] - f["ratio"]["q1"]) / f["ratio"]["median"]
        for row in table["rows"]
        for f in row["figures"]
        if is_ours(f["side"])
    ) or [0]
    middle, worst = spread[len(spread) // 2], spread[-1]
    return f"""
{origin(table)}.
Time for one key, query or filter, and stock's time divided by it. Half of a row's rounds lie within
{100 * middle:.0f} % of each other ({100 * worst:.0f} % in the worst row).

{table_of_ours(only(table, names) if names else table)}
"""


def peers(table):
    if not columns(table["rows"], is_peer):
        return ""
    return f"""
What else one might use, in the same run, nanoseconds each. rusty-leveldb makes LevelDB's filters,
byte for byte; goleveldb is LevelDB's filter in Go; fastbloom and RocksDB have formats of their own.

{table_of_peers(table)}
"""


PLOTS = """
![The same as bars](table.svg)

How the cost of a key grows with the keys in a filter, the bits a key, and the length of a key:

![Nanoseconds a key](scale.svg)
"""


def counted(instructions):
    return f"""
Instructions, the same on every run:

{table_of_instructions(instructions)}
"""


def markdown_file(table, instructions, path):
    """Writes all of a table; with the plots beside it and instructions, if these were counted."""
    table = load(table)
    how = "readme" if instructions else "document"
    text = f"# How fast\n\nWritten by `scripts/bench.sh --{how}`; its `--help` explains the rows.\n"
    text += ours(table)
    if instructions:
        text += PLOTS
    text += peers(table)
    if instructions:
        text += counted(load(instructions))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def readme(table, path):
    """Writes the part of the README that is between the two comments."""
    table = load(table)
    text = ours(table, IN_README) + peers(only(table, PEERS_IN_README))
    with open(path, encoding="utf-8") as file:
        old = file.read()
    block = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)
    new, found = block.subn(lambda match: match[1] + text + "\n" + match[2], old)
    if found != 1:
        sys.exit(f"{path} has no place for the figures: <!-- bench --> and <!-- /bench -->")
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)


def main():
    match sys.argv[1:]:
        case ["plot", document, path]:
            plot(document, path)
        case ["readme", table, path]:
            readme(table, path)
        case ["table", table, path]:
            markdown_file(table, None, path)
        case ["table", table, instructions, path]:
            markdown_file(table, instructions, path)
        case _:
            sys.exit(__doc__)


main()
