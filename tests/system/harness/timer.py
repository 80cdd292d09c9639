# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The timer that netnice asks of systemd for rules with hours."""

from __future__ import annotations

from testbed import program

#: What its unit runs.
COMMAND = (program("netnicectl"), "policy", "apply", "--again")


def timer(at: int) -> list[str]:
    """The words that ask for it, at a second since 1970."""
    words = ["--quiet", "--collect", "--timer-property=AccuracySec=100ms"]
    words += ["--timer-property=OnClockChange=yes", "--timer-property=OnTimezoneChange=yes"]
    words += [f"--unit=netnice-hours-{at}", f"--on-calendar=@{at}"]
    return ["systemd-run", *words, *COMMAND]
