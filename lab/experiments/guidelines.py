# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""RFC 9743, a flow alone on paths that lose, reorder, are far, narrow, or fall silent: safe there, and of use."""

from dataclasses import dataclass

from experiments.low_priority.access import ROOMY
from netnice_lab.judgement import misses
from netnice_lab.model.background import background, finish
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table
from netnice_lab.model.protocols import protocol
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Change

EXPERIMENTS: dict[str, Experiment] = {}
MISSES: dict[str, dict[str, str]] = {}


@dataclass(frozen=True)
class Path:
    """Bit/s, microseconds of RTT and jitter, random loss, and for how many seconds no ACK comes, from 20 s on."""

    rate: int = 10_000_000
    rtt: int = 40_000
    jitter: int = 0
    loss: float = 0.0
    silence: float = 0.0

    def scenario(self, name: str, seed: int) -> Scenario:
        """One flow for a minute; measured after its start, or after the silence and ten seconds more."""
        chosen = protocol(name)
        buffer = max(20_000, self.rate * self.rtt // 8_000_000)
        network = dumbbell(self.rate, self.rtt, Queue(bytes=buffer), loss=self.loss, jitter=self.jitter)
        flow, warm_up = background(chosen, 1, self.rate), 10.0
        if self.silence:
            began, device = 20.0, f"qdisc change dev router-1 root netem delay {self.rtt}us limit 1000000"
            flow += (
                Change(began, "router", f"{device} loss 100%"),
                Change(began + self.silence, "router", f"{device} loss 0%"),
            )
            warm_up = began + self.silence + 10.0
        return finish(Scenario(network, flow, 60.0, warm_up, seed, sysctls=ROOMY), chosen)


PATHS = {
    "plain": Path(),
    "0.1 % lost": Path(loss=0.001),
    "1 % lost": Path(loss=0.01),
    "5 % lost": Path(loss=0.05),
    "reordered": Path(jitter=2_000),
    "600 ms": Path(rtt=600_000),
    "0.1 Mbit/s": Path(rate=100_000, rtt=100_000),
    "5 s of silence": Path(silence=5.0),
}
"""By what is particular of them; all else is as in the first: 10 Mbit/s, 40 ms."""
MISSES["rfc9743-alone"] = misses.read(
    {
        "from the sixth clear round after a loss it probes, an eighth of its window a round": """
            no harm: 1-%-lost
        """,
    }
)
"""Bars that are not met: USE or HARM: PATH …, words of a path joined by '-'."""


def over_reno(says: str, path: str, minimum: float | None = None, maximum: float | None = None) -> Bar:
    """netnice's goodput as a part of Reno's on a path."""
    ours, reno = ({"path": path, "protocol": name} for name in ("netnice", "reno"))
    name = f"{says} {path.replace(' ', '-')}"
    return misses.bar(MISSES["rfc9743-alone"], name, "background", ours, reno, minimum, maximum)


EXPERIMENTS["rfc9743-alone"] = Experiment(
    title="RFC 9743: one flow alone on paths that are hard on it",
    claim="RFC 9743, sections 5 and 7: no harm under loss, sudden changes and long delays; nothing to yield to.",
    differs="The bars are ours: at least 0.9 of Reno's goodput there, and where packets are lost at most 1.1 of it.",
    sweep={"path": tuple(PATHS), "protocol": ("cubic", "reno", "nice", "netnice")},
    scenario=lambda path, protocol, seed: PATHS[path].scenario(protocol, seed),
    figures=[Figure("path", "background", "protocol", "", "goodput, Mbit/s")],
    tables=[Table("alone", ("path",), "protocol", [Number("background"), Number("background_retransmits", 0)])],
    seeds=8,
    quick={"path": ("1 % lost", "5 s of silence"), "protocol": ("reno", "netnice")},
    pinned={"background": 0.10},
    bars=[
        *(over_reno("of use", path, minimum=0.9) for path in PATHS),
        *(over_reno("no harm", path, maximum=1.1) for path in PATHS if PATHS[path].loss),
    ],
)
