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
from typing import TypeVar

from demo.prefetching import table
from demo.prefetching.conditions import ARMS, FOREGROUND, LINKS, Arm, Conditions, Link
from demo.prefetching.run import Result, run
from demo.prefetching.world import make_logs
from testbed import TestbedError, netnice_up, require_root

T = TypeVar("T")

_EPILOG = """\
Runs that prefetching.json has from an earlier call are not run again. Runs at the same time (--jobs) share the
machine's processors, and nothing else.

exit status: 0 every bar met, 1 failed, 2 wrong arguments, 3 void (the machine was too busy), 4 a bar was missed."""


def main(argv: Sequence[str] | None = None) -> int:
    """The command."""
    options = _parser().parse_args(argv)
    try:
        require_root()
        return _figure(options)
    except TestbedError as error:
        print(f"prefetching: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("prefetching: interrupted; everything is put away", file=sys.stderr)
        return 130


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
    _draw(results, options.output / "prefetching.png")
    print(record.read_text() if options.json else table.markdown(results) if options.markdown else table.plain(results))
    said = table.verdicts(results)
    for line in [*said, *table.doubts(results)]:
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


def _draw(results: Sequence[Result], file: Path) -> None:
    try:
        from demo.prefetching.picture import draw  # matplotlib is slow to load and not needed before
    except ImportError:
        print("prefetching: matplotlib is missing, so there is no picture; './setup demo' brings it", file=sys.stderr)
        return
    draw(results, file)


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
    parser.add_argument("--markdown", action="store_true", help="print the table as docs/prefetch.md has it")
    return parser


def _some(by_key: dict[str, T]) -> Callable[[str], list[T]]:
    def parse(text: str) -> list[T]:
        unknown = [word for word in text.split(",") if word not in by_key]
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: choose from {', '.join(by_key)}")
        return [by_key[word] for word in text.split(",")]

    return parse


if __name__ == "__main__":
    sys.exit(main())
