# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Pages, opened by curl: ``python -m demo.household.pages URL …``.

At Poisson times a fresh curl gets the first URL, the page itself, and then all others, six at a time over connections
that it keeps. A page's time is from its wish to its last byte.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import threading
import time

_PATIENCE_S = 20.0
_CURL = ("curl", "--silent", "--fail", "--max-time", str(_PATIENCE_S))


def page(urls: list[str]) -> float | None:
    """Seconds that one page takes; None: something of it did not come in time."""
    begin = time.monotonic()
    others = [word for url in urls[1:] for word in (url, "--output", "/dev/null")]
    for words in ([urls[0], "--output", "/dev/null"], ["--parallel", "--parallel-max", "6", *others]):
        if subprocess.run([*_CURL, *words], check=False, stdout=subprocess.DEVNULL).returncode != 0:
            return None
    return time.monotonic() - begin


def moments(seed: int, every_s: float, until_s: float) -> list[float]:
    """When pages are wanted: the same for the same seed."""
    chance = random.Random(seed)
    wanted, now = [], chance.expovariate(1 / every_s)
    while now < until_s:
        wanted.append(now)
        now += chance.expovariate(1 / every_s)
    return wanted


def browse(urls: list[str], *, seconds: float, warmup: float, every_s: float, seed: int) -> dict[str, object]:
    """Milliseconds of each page that was wanted after ``warmup``, and how many never came."""
    begin = time.monotonic()
    took: list[float | None] = []
    readers = []
    for moment in moments(seed, every_s, warmup + seconds):
        time.sleep(max(begin + moment - time.monotonic(), 0))
        counts = moment >= warmup

        def read(counts: bool = counts) -> None:
            seconds_taken = page(urls)
            if counts:
                took.append(seconds_taken)

        readers.append(threading.Thread(target=read))
        readers[-1].start()
    for reader in readers:
        reader.join()
    return {"ms": [round(t * 1e3, 1) for t in took if t is not None], "failed": took.count(None)}


def main() -> None:
    """Browses, and prints what it took."""
    parser = argparse.ArgumentParser(prog="python -m demo.household.pages", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("urls", nargs="+")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--warmup", type=float, default=0.0)
    parser.add_argument("--every", dest="every_s", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    print(json.dumps(browse(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
