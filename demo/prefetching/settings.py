# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What netnice-prefetch is told in figure 10, here and in the lab's nice-fig10."""

from __future__ import annotations

from demo.prefetching.conditions import FOREGROUND, Arm, Conditions

_SETTINGS = """\
upstream = "http://127.0.0.1:{site}"
listen = ["0.0.0.0:{proxy}"]
[prefetch]
mode = "{mode}"
preset = "{preset}"
background = ["{background}"]
foreground = "{foreground}"
hints = {hints}
clients = 1
busy = 100000
deadline = "1h"
[limits]
stall = "10min"
"""


def settings(arm: Arm, c: Conditions, site: int, proxy: int) -> str:
    """A file for the proxy on the port ``proxy`` before the site on the port ``site``."""
    return _SETTINGS.format(
        site=site,
        proxy=proxy,
        mode="link" if arm.preset else "off",
        preset=arm.preset or "conservative",
        background=arm.congestion_control or FOREGROUND,
        foreground=FOREGROUND,
        hints=c.hints,
    )
