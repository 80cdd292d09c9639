# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""``python -m demo``: runs a scene in each way of the background, prints the table, writes demo.png and demo.json."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demo.background import Conditions
from demo.scene import Scene, drawn, guarded
from demo.scenes.distribution import Distribution
from demo.scenes.documents import Documents
from demo.scenes.household import Household
from demo.scenes.images import Images
from demo.scenes.torrent import Torrent
from testbed import TestbedError, program

SCENES: dict[str, type[Scene[Any]]] = {
    "documents": Documents,
    "household": Household,
    "torrent": Torrent,
    "images": Images,
    "distribution": Distribution,
}

_EPILOG = """\
A document takes from the moment its client wants it to its last byte; × is against documents alone. '% of ideal'
is the background's goodput as a share of what a router with a strict priority queue gives it; '% of spare'
(--full) as a share of what the documents left of the link in that same run. demo/README.md tells the conditions.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status: 0 done, 1 failed, 3 void (the machine was too busy)."""
    scene = scene_of(argv)
    return guarded("demo", lambda: play(scene))


def scene_of(argv: Sequence[str] | None) -> Scene[Any]:
    """What the command's words ask for; exits if they make no sense."""
    parser = _parser()
    options = parser.parse_args(argv)
    scene = SCENES[options.scene]
    for name in ("seconds", "seed", "uploads", "downloads", "clients", "full"):
        if name not in scene.OPTIONS and getattr(options, name) != parser.get_default(name):
            other = "; its background is chosen by --loads" if scene.LOADS else ""
            parser.error(f"--{name} is not for the scene {options.scene}{other}")
    options.scenarios = _chosen(parser, "--scenarios", options.scenarios, scene.SCENARIOS)
    options.loads = _chosen(parser, "--loads", options.loads, scene.LOADS)
    return scene(options)


def play(scene: Scene[Any]) -> int:
    """Runs it, writes the files, prints the table."""
    options = scene.options
    for name in scene.PROGRAMS:
        program(name)
    begun = time.monotonic()
    scene.run()
    seconds = time.monotonic() - begun
    record = {
        "scene": options.scene,
        "machine": _machine(),
        "seconds": round(seconds, 1),
        "trusted": scene.trusted,
        "remarks": scene.doubts(),
        **scene.record(),
    }
    picture = options.output / "demo.png"
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "demo.json").write_text(json.dumps(record, indent=1) + "\n")
    written = f"{picture} and demo.json" if drawn("demo", scene.draw, picture) else f"{options.output / 'demo.json'}"
    print("", file=sys.stderr)
    print(json.dumps(record, indent=1) if options.json else scene.text())
    print(f"\n{seconds:.0f} s; {written} written", file=sys.stderr)
    for doubt in scene.doubts():
        print(f"demo: {doubt}", file=sys.stderr)
    return 0 if scene.trusted else 3


def _machine() -> dict[str, str | int]:
    """Kernel and versions, for demo.json."""
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpus": os.cpu_count() or 0,
        "netnice": _version("netnice", "--version"),
        "nginx": _version("nginx", "-v"),
        "rsync": _version("rsync", "--version"),
        "python": platform.python_version(),
    }


def _version(name: str, option: str) -> str:
    with contextlib.suppress(TestbedError):
        done = subprocess.run([program(name), option], check=False, capture_output=True, text=True)
        return (done.stdout or done.stderr).splitlines()[0].strip()
    return "not installed"


def _parser() -> argparse.ArgumentParser:
    defaults = Conditions()
    parser = argparse.ArgumentParser(
        prog="make demo",
        description=(__doc__ or "").partition(": ")[2].capitalize(),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--scene",
        choices=tuple(SCENES),
        default="documents",
        help="documents beside uploads; a household's line: a call, pages and a video; "
        "a torrent on an access link; image pulls beside documents; a distribution to unlike links (%(default)s)",
    )
    parser.add_argument("--seconds", type=_seconds, default=defaults.seconds, help="measured, each (%(default)s)")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="which documents, when (%(default)s)")
    parser.add_argument("--scenarios", help=f"some of the scene's: {_keys('SCENARIOS')}")
    parser.add_argument("--uploads", type=_count, default=defaults.uploads, help="at a time (%(default)s)")
    parser.add_argument("--downloads", type=_count, default=defaults.downloads, help="at a time, in place of uploads")
    parser.add_argument("--clients", type=int, default=defaults.clients, help="that fetch documents (%(default)s)")
    parser.add_argument("--loads", help=f"some of what the scene does in the background: {_keys('LOADS')}")
    parser.add_argument("--output", type=Path, default=Path(), help="folder for demo.png and demo.json (.)")
    parser.add_argument("--json", action="store_true", help="print demo.json instead of the table")
    parser.add_argument("--full", action="store_true", help="all columns: also medians, and goodput of the spare")
    parser.add_argument("--markdown", action="store_true", help="print the table as the README has it")
    return parser


def _seconds(text: str) -> float:
    value = float(text)
    if not 1 <= value <= 3600:
        raise argparse.ArgumentTypeError("1 to 3600 seconds")
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 256:
        raise argparse.ArgumentTypeError("1 to 256 at a time")
    return value


def _keys(kind: str) -> str:
    lists = {name: ",".join(one.key for one in getattr(scene, kind)) for name, scene in SCENES.items()}
    return "; ".join(f"{name} {keys}" for name, keys in lists.items() if keys).replace("%", "%%")


def _chosen(parser: argparse.ArgumentParser, option: str, text: str | None, of: Sequence[Any]) -> list[Any]:
    """Those of a scene's scenarios or loads that the words name; all without words."""
    by_key = {one.key: one for one in of}
    words = list(by_key) if text is None else text.split(",")
    unknown = [word for word in words if word not in by_key]
    if unknown:
        choices = f"choose from {', '.join(by_key)}" if by_key else "this scene has nothing to choose from"
        parser.error(f"argument {option}: {', '.join(unknown)}: {choices}")
    return [by_key[word] for word in words]


if __name__ == "__main__":
    sys.exit(main())
