# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""``python -m demo.prefetching``: plays all arms on both links; table, prefetching.png and prefetching.json."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from demo.scene import aligned, drawn, figure, guarded, titled
from demo.scene import markdown as as_markdown
from demo.scenes.prefetching import (
    ARMS,
    CONGESTION_CONTROLS,
    FOREGROUND,
    LINKS,
    PRESETS,
    Arm,
    Conditions,
    Link,
    Result,
    make_logs,
    run,
)
from testbed import TestbedError, netnice_up

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")

_EPILOG = """\
Runs that prefetching.json has from an earlier call are not run again. Runs at the same time (--jobs) share the
machine's processors, and nothing else.

exit status: 0 every bar met, 1 failed, 2 wrong arguments, 3 void (the machine was too busy), 4 a bar was missed."""


def main(argv: Sequence[str] | None = None) -> int:
    """The command."""
    options = _parser().parse_args(argv)
    return guarded("prefetching", lambda: _figure(options))


def _figure(options: argparse.Namespace) -> int:
    c = Conditions()
    options.output.mkdir(parents=True, exist_ok=True)
    record = options.output / "prefetching.json"
    results = _earlier(record, c)
    done = {(one.link, one.arm) for one in results}
    wanted = [(link, arm) for link in options.links for arm in options.arms if (link.key, arm.key) not in done]
    if wanted:
        logs = make_logs(c)
        extra = ["nice"] if any(arm.congestion_control == "nice" for _, arm in wanted) else []
        with netnice_up(extra), ThreadPoolExecutor(options.jobs) as pool:
            for batch in [wanted[i : i + options.jobs] for i in range(0, len(wanted), options.jobs)]:
                _say(batch, c)
                for future in as_completed([pool.submit(run, link, arm, logs, c) for link, arm in batch]):
                    results.append(future.result())
                    _keep(record, results, c)
    results = _sorted(results)
    drawn("prefetching", lambda file: draw(results, file), options.output / "prefetching.png")
    shown = markdown(results) if options.markdown else plain(results)
    print(record.read_text() if options.json else shown)
    said = verdicts(results)
    for line in [*said, *doubts(results)]:
        print(line, file=sys.stderr)
    if not all(one.path_trusted for one in results):
        return 3
    return 4 if any(line.startswith("MISSED") for line in said) else 0


def _say(batch: Sequence[tuple[Link, Arm]], c: Conditions) -> None:
    names = ", ".join(f"{link.key} {arm.key}" for link, arm in batch)
    seconds = max(link.seconds for link, _ in batch) + c.warmup_s
    print(f"{time.strftime('%H:%M:%S')} {names}: {seconds:.0f} s", file=sys.stderr, flush=True)


def _conditions(c: Conditions) -> dict[str, object]:
    return {"all": asdict(c), "foreground": FOREGROUND, "links": [asdict(link) for link in LINKS]}


def _earlier(record: Path, c: Conditions) -> list[Result]:
    """Of the same conditions, and trusted."""
    if not record.is_file():
        return []
    found = json.loads(record.read_text())
    if found["conditions"] != json.loads(json.dumps(_conditions(c))):
        raise TestbedError(f"{record} is of other conditions: move it away, or choose another --output")
    return [Result(**one) for one in found["runs"] if one["path_trusted"]]


def _keep(record: Path, results: Sequence[Result], c: Conditions) -> None:
    runs = [asdict(one) for one in _sorted(results)]
    record.write_text(json.dumps({"conditions": _conditions(c), "runs": runs}, indent=1) + "\n")


def _sorted(results: Sequence[Result]) -> list[Result]:
    links, arms = [link.key for link in LINKS], [arm.key for arm in ARMS]
    return sorted(results, key=lambda one: (links.index(one.link), arms.index(one.arm)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make prefetching",
        description=(__doc__ or "").partition(": ")[2].capitalize(),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    links, arms = ({one.key: one for one in many} for many in (LINKS, ARMS))
    parser.add_argument("--links", type=_some(links), default=list(LINKS), help=f"some of {','.join(links)}")
    parser.add_argument("--arms", type=_some(arms), default=list(ARMS), help=f"some of {','.join(arms)}")
    parser.add_argument("--jobs", type=int, choices=range(1, 10), default=1, help="runs at a time (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path(), help="folder for prefetching.png and .json (.)")
    parser.add_argument("--json", action="store_true", help="print prefetching.json instead of the table")
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/research/prefetching.md")
    return parser


def _some(by_key: dict[str, T]) -> Callable[[str], list[T]]:
    def parse(text: str) -> list[T]:
        unknown = [word for word in text.split(",") if word not in by_key]
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: choose from {', '.join(by_key)}")
        return [by_key[word] for word in text.split(",")]

    return parse


_HEAD = ("link", "prefetching", "mean ms", "× none", "median ms", "p95 ms", "hits %", "demand", "prefetched", "wasted")
#: The paper's figure 10, as issue and text have it: arm and link, the most of the mean over that without prefetching.
BARS = {("cable", "aggressive-netnice"): 1 / 3, ("modem", "aggressive-netnice"): 1.05}


def ratio(results: Sequence[Result], link: str, arm: str) -> float | None:
    """The mean response time over that without prefetching; None when one of both is missing."""
    means = {(one.link, one.arm): one.mean_ms for one in results}
    if (link, arm) not in means or (link, "none") not in means:
        return None
    return means[link, arm] / means[link, "none"]


def rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """A row a run, rates in kbit/s."""
    made = []
    for one in results:
        times = ratio(results, one.link, one.arm)
        made.append(
            (
                one.link,
                titled(one.arm, one),
                f"{one.mean_ms:.0f}",
                "–" if times is None else f"{times:.2f}",
                f"{one.median_ms:.0f}",
                f"{one.p95_ms:.0f}",
                f"{100 * one.prefetched_share:.0f}",
                *(f"{bps / 1e3:.0f}" for bps in (one.demanded_bps, one.prefetched_bps, one.wasted_bps)),
            )
        )
    return made


def markdown(results: Sequence[Result]) -> str:
    """As docs/research/prefetching.md has it."""
    return as_markdown(_HEAD, rows(results))


def plain(results: Sequence[Result]) -> str:
    """For a terminal."""
    return aligned([_HEAD, *rows(results)], words=2)


def verdicts(results: Sequence[Result]) -> list[str]:
    """What each bar says, met or missed."""
    titles = {link.key: link.title for link in LINKS}
    said = []
    for (link, arm), most in BARS.items():
        found = ratio(results, link, arm)
        if found is not None:
            word = "met" if found <= most else "MISSED"
            said.append(f"{word}: {arm} over none, {titles[link]}: {found:.2f}, at most {most:.2f}")
    return said


def doubts(results: Sequence[Result]) -> list[str]:
    """Why some numbers are not to be believed."""
    said = []
    for one in results:
        said += [f"VOID {one.name}: {reason}" for reason in one.path_reasons]
        if one.errors:
            said.append(f"{one.name}: {one.errors} replies were errors")
        if one.unfinished:
            said.append(f"{one.name}: {one.unfinished} had not come at the end, and count with the time until then")
    return said


_COLOURS = {"conservative": "#0b6e99", "aggressive": "#e8a33d"}
_WIDTH = 0.38


def draw(results: Sequence[Result], file: Path) -> None:
    """One panel a link that was run."""
    links = [link for link in LINKS if any(one.link == link.key for one in results)]
    made = figure(5.2 * len(links), 4.4)
    for axes, link in zip(made.subplots(1, len(links), squeeze=False)[0], links, strict=True):
        _panel(axes, link, {one.arm: one for one in results if one.link == link.key})
    made.suptitle("What 16 clients wait for what they demand, by how their prefetches are sent (TCP Nice, figure 10)")
    made.savefig(file, dpi=110)


def _panel(axes: Axes, link: Link, by_arm: dict[str, Result]) -> None:
    for side, preset in zip((-1, 1), PRESETS, strict=True):
        arms = [by_arm.get(Arm(preset, name).key) for name in CONGESTION_CONTROLS]
        at = [i + side * _WIDTH / 2 for i, one in enumerate(arms) if one]
        axes.bar(at, [one.mean_ms for one in arms if one], _WIDTH, label=preset, color=_COLOURS[preset])
    if "none" in by_arm:
        axes.axhline(by_arm["none"].mean_ms, color="black", linewidth=1, linestyle="--", label="no prefetching")
    axes.set_xticks(range(len(CONGESTION_CONTROLS)), CONGESTION_CONTROLS)
    axes.set_title(link.title, fontsize=10)
    axes.set_ylabel("mean response time, ms")
    axes.margins(y=0.3)  # room for the legend above the bars
    axes.legend(fontsize=8, loc="upper left", ncols=3)


if __name__ == "__main__":
    sys.exit(main())
