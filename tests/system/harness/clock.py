# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Moments of the wall clock as netnice and its rules read them: local time, to the second."""

from __future__ import annotations

import time


def ahead(seconds: float) -> str:
    """With its date, as --until takes it."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() + seconds))


def hours(begin: float, end: float) -> str:
    """Of a rule, between these seconds from now."""
    first, last = (ahead(seconds).split()[1] for seconds in (begin, end))
    return f'from = "{first}"\nuntil = "{last}"\n'
