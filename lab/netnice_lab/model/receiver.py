# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Which receiver algorithm the background connections of a run have."""

from dataclasses import dataclass

PINS = "/sys/fs/bpf/receiver"
CGROUP = "background"
PROGRAM = "/run/lab/receiver"


@dataclass(frozen=True)
class Receiver:
    """Which algorithm the background connections run, from when to when (seconds; stop 0: to the end)."""

    algorithm: str
    values: tuple[tuple[str, int], ...] = ()
    start: float = 0.0
    stop: float = 0.0
    own: bool = False
    """Sample the first words of the core's own state too, and what senders have been granted."""

    def setup(self) -> str:
        """Shell commands that make the cgroup and attach the receiver to it."""
        if self.algorithm == "none":
            return ""
        pairs = " ".join(f"{name}={value}" for name, value in self.values)
        lines = [f"mkdir /sys/fs/cgroup/{CGROUP}", f"{PROGRAM} attach /sys/fs/cgroup/{CGROUP} {PINS}"]
        if pairs:
            lines.append(f"{PROGRAM} set {PINS} {self.algorithm} {pairs}")
        lines.append(f"{PROGRAM} choose {PINS} {'off' if self.start else self.algorithm}")
        return "\n".join(lines) + "\n"

    def plan(self) -> list[str]:
        """Plan lines that start and stop it on live connections, and sample it."""
        lines = ["receiver own" if self.own else "receiver"]
        if self.algorithm == "none":
            return lines
        for at, name in ((self.start, self.algorithm), (self.stop, "off")):
            if at:
                lines.append(f"change {at * 1e6:.0f} {PROGRAM} choose {PINS} {name}")
        return lines
