# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Progress on standard error: one moving line on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys

_WIDTH = 24
_QUIET_STEP = 0.25


class Progress:
    """Shows how far one scenario is."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._terminal = sys.stderr.isatty()
        self._shown = -1.0

    def __call__(self, share: float, text: str) -> None:
        """Shows a share of 0 to 1."""
        if self._terminal:
            done = round(share * _WIDTH)
            bar = "█" * done + "·" * (_WIDTH - done)
            print(f"\r{self._title:<34} {bar} {text:<28}", end="", file=sys.stderr, flush=True)
        elif share >= self._shown + _QUIET_STEP:
            self._shown = share
            print(f"{self._title}: {100 * share:.0f} % {text}", file=sys.stderr, flush=True)

    def end(self, text: str) -> None:
        """Replaces the line by what came out."""
        begin, pad = ("\r", _WIDTH + 30) if self._terminal else ("", 0)
        print(f"{begin}{self._title:<34} {text:<{pad}}", file=sys.stderr, flush=True)
