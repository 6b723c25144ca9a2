#!/usr/bin/env python3
"""Draws the figures of `cargo bench --bench peers -- --csv CSV` as SVG: `plot.py CSV > SVG`.

Two panels, compression and decompression: speed on a logarithmic axis against size in percent of
the raw bytes, both over all files of the CSV together: better is lower and farther right. A line
joins the levels of a program, but for those that give the same size as the one before.
"""
import csv
import math
import sys
from xml.sax.saxutils import escape

# A panel, and what is left around it for labels.
WIDTH, HEIGHT, LEFT, TOP, GAP, BOTTOM = 400, 380, 50, 50, 20, 56

# These, and the grey of all text, are readable on white and on black.
COLOURS = {
    "bwz": "#e0302c", "bwz --fast": "#e8722a", "bwz --best": "#c2308f", "lbzip2": "#2f81d8",
    "bzip2": "#6f8796", "bzip3": "#8a63d2", "xz": "#2c9a53", "zstd": "#b07d10", "brotli": "#149a9a",
}

STYLE = """
    text { font: 12px sans-serif; fill: #6e7781 }
    .axis { stroke: #8b949e; stroke-width: 1; fill: none }
    .grid { stroke: #8b949e; stroke-opacity: .25 }
    .title { font-size: 14px; font-weight: bold }
    .label { font-size: 10px }"""


def series(rows):
    """{name: [(label, percent, compress MB/s, decompress MB/s), ...]} of all files together."""
    sums = {}
    for row in rows:
        program, level = row["program"], row["level"]
        effort = level.find("--")
        if effort >= 0:
            program, level = f"{program} {level[effort:]}", level[:effort]
        sum_of = sums.setdefault(program, {}).setdefault(level.split()[-1].lstrip("-"), [0] * 4)
        raw = float(row["raw bytes"])
        speeds = float(row["compress MB/s"]), float(row["decompress MB/s"])
        for n, value in enumerate([raw, float(row["bytes"]), *(raw / speed for speed in speeds)]):
            sum_of[n] += value
    return {
        program: [
            (label, 100 * size / raw, raw / there, raw / back)
            for label, (raw, size, there, back) in levels.items()
        ]
        for program, levels in sums.items()
    }


class Panel:
    """One way, with its axes."""

    def __init__(self, left, speeds, sizes):
        self.left = left
        self.low, self.high = math.log10(min(speeds) / 1.15), math.log10(max(speeds) * 1.3)
        margin = (max(sizes) - min(sizes)) * 0.06
        self.small, self.large = min(sizes) - margin, max(sizes) + margin

    def x(self, speed):
        return self.left + WIDTH * (math.log10(speed) - self.low) / (self.high - self.low)

    def y(self, size):
        return TOP + HEIGHT * (self.large - size) / (self.large - self.small)

    def axes(self, title):
        right, bottom = self.left + WIDTH, TOP + HEIGHT
        yield f'<text class="title" x="{self.left}" y="{TOP - 12}">{title}: size in % of raw, and speed</text>'
        for n in range(math.floor(self.low), math.ceil(self.high) + 1):
            for tick in (10**n, 2 * 10**n, 5 * 10**n):
                if self.low <= math.log10(tick) <= self.high:
                    x = self.x(tick)
                    yield f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>'
                    yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>'
        step = next(s for s in (0.5, 1, 2, 5, 10, 20) if (self.large - self.small) / s <= 10)
        for n in range(math.ceil(self.small / step), math.floor(self.large / step) + 1):
            y = self.y(n * step)
            yield f'<path class="grid" d="M{self.left} {y:.1f}H{right}"/>'
            yield f'<text x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end">{n * step:g} %</text>'
        yield f'<path class="axis" d="M{self.left} {TOP}V{bottom}H{right}"/>'
        middle = self.left + WIDTH / 2
        yield f'<text x="{middle}" y="{bottom + 36}" text-anchor="middle">MB/s of raw bytes</text>'

    def line(self, name, points):
        colour = COLOURS.get(name, "#888888")
        points = [(self.x(speed), self.y(size), label) for label, size, speed in points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in points)
        wide = 2.5 if name.startswith("bwz") else 1.2
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{wide}"/>'
        for x, y, label in points:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{wide + 1.5}" fill="{colour}"/>'
            yield f'<text class="label" x="{x + 5:.1f}" y="{y - 5:.1f}">{escape(label)}</text>'


def legend(names):
    x = LEFT
    for name in names:
        colour = COLOURS.get(name, "#888888")
        yield f'<circle cx="{x + 4}" cy="14" r="4" fill="{colour}"/>'
        yield f'<text x="{x + 12}" y="18">{escape(name)}</text>'
        x += 28 + 7 * len(name)
    yield f'<text x="{x + 12}" y="18">numbers: levels, or MiB of blocks for bzip3</text>'


def main(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    programs = series(rows)
    sizes = [point[1] for points in programs.values() for point in points]
    width, height = 2 * (LEFT + WIDTH) + 2 * GAP, TOP + HEIGHT + BOTTOM
    files = dict.fromkeys(row["file"] for row in rows)
    title = f"Size and speed of {', '.join(files)} with {rows[0]['threads']} threads"
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">')
    print(f"<title>{escape(title)}</title><style>{STYLE}\n</style>")
    print(*legend(programs), sep="\n")
    ways = [("Compression", 2), ("Decompression", 3)]
    for n, (title, way) in enumerate(ways):
        speeds = [point[way] for points in programs.values() for point in points]
        panel = Panel(LEFT + n * (LEFT + WIDTH + GAP), speeds, sizes)
        print(*panel.axes(title), sep="\n")
        for name, points in programs.items():
            before = [None] + [size for _, size, *_ in points]
            points = [(p[0], p[1], p[way]) for p, size in zip(points, before) if p[1] != size]
            print(*panel.line(name, points), sep="\n")
    print("</svg>")


if __name__ == "__main__":
    main(sys.argv[1])
