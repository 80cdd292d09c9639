# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""``python -m demo.picture RECORD.json PICTURE.svg``: how long pages take while uploads run, plain and by netnice.

RECORD is demo.json of the scene 'documents', or what `netnicectl demo --json` prints. The picture needs no program, is
as wide as a README, and is to be read on a light and on a dark page.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

#: Pixels of the picture, and of the chart in it.
WIDTH, HEIGHT = 880, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 866, 44, 252
#: Milliseconds that a line is drawn at.
TICKS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000)

STYLE = """\
text { font: 14px sans-serif; fill: #333 } .grid { stroke: #8884; } .alone { stroke: #777; stroke-dasharray: 6 4 }
.plain { stroke: #c8323c } .netnice { stroke: #0b7a9e } .dots { stroke-width: 5; stroke-linecap: round; opacity: .6 }
.mean { stroke-width: 2 } path, line { fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #ddd } .alone { stroke: #aaa } .plain { stroke: #ff7a80 } .netnice { stroke: #4cc3ea } }
"""


@dataclass(frozen=True)
class Series:
    """Pages beside one background: when each was wanted (s), and how long it took (ms)."""

    name: str
    title: str
    pages: Sequence[tuple[float, float]]

    @property
    def mean(self) -> float:
        """Of all pages."""
        return fmean(ms for _, ms in self.pages)


def series(record: Mapping[str, Any]) -> list[Series]:
    """The first is without a background. Raises ValueError if the record has not all three."""
    if "phases" in record:
        pages = {one["background"]: one["pages"] for one in record["phases"]}
    else:
        names = {"nothing": "nothing", "cubic": "plain", "netnice": "netnice"}
        runs = record.get("scenarios", ())
        pages = {names[one["key"]]: one.get("latencies", ()) for one in runs if one["key"] in names}
    titles = {"nothing": "alone", "plain": "beside plain uploads", "netnice": "beside netnice uploads"}
    missing = [title for name, title in titles.items() if not pages.get(name)]
    if missing:
        raise ValueError(f"the record has no pages {', '.join(missing)}: it must be of the whole scene 'documents'")
    return [Series(name, title, [(at, ms) for at, ms in pages[name]]) for name, title in titles.items()]


def caption(record: Mapping[str, Any]) -> str:
    """Where the figures come from."""
    if "phases" in record:
        path, uploads, source = record, record["uploads"], "sudo netnicectl demo"
    else:
        path = record["conditions"]
        uploads, source = path["uploads"], "make demo"
    return f"{path['rate_bps'] / 1e6:g} Mbit/s, {path['rtt_ms']} ms, {uploads} uploads; a dot is a page. {source}"


def drawn(record: Mapping[str, Any]) -> str:
    """The picture, as SVG."""
    alone, *others = series(record)
    seconds = max(at for one in others for at, _ in one.pages)
    every = [ms for one in (alone, *others) for _, ms in one.pages]
    low = max((tick for tick in TICKS if tick <= min(every)), default=TICKS[0])
    high = min((tick for tick in TICKS if tick >= max(every)), default=TICKS[-1])

    def x(at: float) -> float:
        return LEFT + (RIGHT - LEFT) * max(at, 0) / seconds

    def y(ms: float) -> float:
        share = math.log(min(max(ms, low), high) / low) / math.log(high / low)
        return BOTTOM - (BOTTOM - TOP) * share

    def level(ms: float, kind: str) -> str:
        return f'<line class="{kind}" x1="{LEFT}" x2="{RIGHT}" y1="{y(ms):.1f}" y2="{y(ms):.1f}"/>'

    parts = [level(tick, "grid") for tick in TICKS if low <= tick <= high]
    parts += [
        f'<text x="{LEFT - 8}" y="{y(tick) + 5:.1f}" text-anchor="end">{_time(tick)}</text>'
        for tick in TICKS
        if low <= tick <= high
    ]
    for one in others:
        dots = "".join(f"M{x(at):.0f} {y(ms):.0f}h0" for at, ms in one.pages if at >= 0)
        parts += [f'<path class="dots {one.name}" d="{dots}"/>', level(one.mean, f"mean {one.name}")]
    parts += [level(alone.mean, "mean alone"), *_legend(alone, others)]
    parts += [
        f'<text x="{LEFT}" y="{BOTTOM + 22}">0</text>',
        f'<text x="{RIGHT}" y="{BOTTOM + 22}" text-anchor="end">{seconds:.0f} s</text>',
        f'<text x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 40}" text-anchor="middle">{caption(record)}</text>',
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}">'
    title = "<title>How long pages take while uploads run, plain and by netnice</title>"
    return "\n".join([head, title, f"<style>\n{STYLE}</style>", *parts, "</svg>", ""])


def _time(ms: float) -> str:
    return f"{ms / 1000:g} s" if ms >= 1000 else f"{ms:g} ms"


def _legend(alone: Series, others: Sequence[Series]) -> list[str]:
    """Above the chart: a stroke, the title, the mean and how it compares with pages alone."""
    made, left = [], LEFT
    for one in (*others, alone):
        kind = "mean alone" if one is alone else f"dots {one.name}"
        times = "" if one is alone else f", × {one.mean / alone.mean:.1f}"
        said = f"{one.title}: {one.mean:.0f} ms{times}"
        made.append(f'<line class="{kind}" x1="{left}" x2="{left + 24}" y1="20" y2="20"/>')
        made.append(f'<text x="{left + 34}" y="25">{said}</text>')
        left += 48 + round(7.3 * len(said))
    return made


def main(words: Sequence[str]) -> int:
    """The command; its exit status."""
    if len(words) != 2:
        print("usage: python -m demo.picture RECORD.json PICTURE.svg", file=sys.stderr)
        return 2
    source, picture = map(Path, words)
    try:
        made = drawn(json.loads(source.read_text(encoding="utf-8")))
    except FileNotFoundError:
        print(f"no {source}: 'make demo' writes demo.json", file=sys.stderr)
        return 1
    except (ValueError, KeyError) as error:
        print(f"{source}: {error}", file=sys.stderr)
        return 1
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
