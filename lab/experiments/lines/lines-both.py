# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A line whose two directions are narrow: uploads, downloads, both at once, and uploads beside plain downloads."""

from experiments.lines.world.lines import LINES, at_home
from netnice_lab.judgement import misses
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Value

WAYS = ("up", "down", "both", "beside")


def exists(cell: Cell) -> bool:
    """Pages alone once a line; without timestamps beside plain downloads only."""
    if cell["protocol"] == "none":
        return cell["way"] == "up" and cell["stamps"] is True
    return cell["stamps"] is True or (cell["way"] == "beside" and cell["protocol"] != "priority")


MISSES = misses.read(
    {
        "the ACKs wait longer behind a full queue than Vegas can fill, and come in bursts": """
            uploads beside CUBIC's downloads / CUBIC's: symmetric household
        """,
        "without timestamps its RTT holds the queue of the way back, which it takes for one of its own way": """
            uploads beside CUBIC's downloads without timestamps / CUBIC's: symmetric household
        """,
        "two to three segments of its own are always queued, 3 ms of 20 at 10 Mbit/s, and what is in flight when a "
        "page begins cannot be taken back": """
            pages beside uploads / alone: household
            pages beside downloads / alone: symmetric household
            pages beside both / alone: symmetric household
        """,
    }
)


def share(says: str, line: str, group: str, beside: str, least: float, stamps: bool = True, **over: Value) -> Bar:
    """Goodput of a group as a part of what it is elsewhere."""
    cell: Cell = {"protocol": "netnice", "line": line, "way": beside, "stamps": stamps}
    return misses.bar(MISSES, f"{says} {line}", group, cell, {**cell, **over}, minimum=least)


def bars(line: str) -> list[Bar]:
    """What one line must show."""
    made = [
        share("uploads / CUBIC's", line, "up", "up", 0.9, protocol="cubic"),
        share("downloads / CUBIC's", line, "down", "down", 0.9, protocol="cubic"),
        share("uploads beside its downloads / alone", line, "up", "both", 0.85, way="up"),
        share("downloads beside its uploads / alone", line, "down", "both", 0.85, way="down"),
        share("uploads beside CUBIC's downloads / CUBIC's", line, "up", "beside", 0.85, protocol="cubic"),
        share("uploads beside CUBIC's downloads without timestamps / CUBIC's", line, "up", "beside", 0.5,
              stamps=False, protocol="cubic"),
    ]  # fmt: skip
    alone: Cell = {"protocol": "none", "line": line, "way": "up", "stamps": True}
    for way, what in (("up", "uploads"), ("down", "downloads"), ("both", "both")):
        cell: Cell = {"protocol": "netnice", "line": line, "way": way, "stamps": True}
        says = f"pages beside {what} / alone {line}"
        made.append(misses.bar(MISSES, says, "latency_geometric", cell, alone, maximum=1.10))
    return made


experiment = Experiment(
    title="Both directions narrow, half a second of buffer, 20 ms: two flows a way and pages",
    claim="Not in the papers: their way back is empty.",
    sweep={
        "protocol": ("none", "cubic", "priority", "netnice"), "line": tuple(LINES), "way": WAYS,
        "stamps": (True, False),
    },
    scenario=lambda protocol, line, way, stamps, seed: at_home(protocol, line, way, stamps, seed),
    exists=exists,
    figures=[Figure("way", "up", "protocol", "", "uploads, Mbit/s", panel="line")],
    seeds=2,
    quick={"protocol": ("none", "cubic", "netnice"), "line": ("symmetric",), "way": ("up", "beside"),
           "stamps": (True,)},
    pinned={"up": 0.1, "down": 0.1, "latency_geometric": 0.1},
    bars=[bar for line in LINES for bar in bars(line)],
)  # fmt: skip
