# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Vulture's figures 3 to 8: the PIVs of a flow that exceeds what is spare, and of one that does not.

Nothing limits that flow: Vulture's core measures and never acts.
"""

from dataclasses import dataclass, replace

from experiments.vulture.report import DIFFERS, FAITHFUL, REPRODUCED, RUNS, printed, report_figure
from experiments.vulture.scenarios import on_off
from experiments.vulture.testbed import JITTER, LONGEST, REVERSE, STEADY, testbed
from netnice_lab.model.experiment import Bar, Cell, Experiment, Figure, Number, Table
from netnice_lab.model.output import Sampled
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.traffic import Bulk

EXPERIMENTS: dict[str, Experiment] = {}

RATES = tuple(range(1, 11))
"""Mbit/s of the flow that is measured."""
FIRST, SPARE = 3, 7
"""Mbit/s of the other flow, and what it leaves."""
BEGINS, ENDS = 5.0, 65.0
"""Seconds; the other flow begins with the run. The start of a flow counts: the report's maxima are of whole runs."""
MANY = 40
"""Seeds where the means of ten, and of ten others, lie on both sides of a bar."""
JIFFY = 4_000
"""Microseconds, of the paper's kernel."""
LESS, MORE = 1 - REPRODUCED, 1 + REPRODUCED


@dataclass(frozen=True)
class Pivs:
    """A receiver that measures and never acts."""

    def numbers(self, sampled: Sampled) -> dict[str, float]:
        """The largest of its rounds, and of all PIVs how many are negative and how large they are."""
        last = sampled.own.iloc[-1]
        rounds, positive, total, pivs, negatives, moved = (int(last[f"word{n}"]) for n in range(6))
        if not pivs:
            return {}
        return {
            "piv_rounds": float(rounds),
            "piv_positive": positive / 1000,
            "piv_sum": total / JIFFY,
            "piv_negative": negatives / pivs,
            "piv_size": moved / pivs / 1000,
        }


def watched(jitter: int, beside: int, rate: int, seed: int) -> Scenario:
    """A flow of `rate` Mbit/s beside one of `beside` (0: none) and the reverse traffic."""
    starts, limit = (BEGINS, BEGINS + 0.1), rate * 1_000_000
    measured = Bulk("server", "home", 1, "cubic", starts, rate=limit, receiver=True, group="background")
    others = (replace(STEADY, rate=beside * 1_000_000), REVERSE) if beside else (REVERSE,)
    passive = Receiver(FAITHFUL, values=(("passive", 1),), own=True)
    traffic = (*others, measured)
    return Scenario(testbed(jitter), traffic, ENDS, 0.001, seed, receiver=passive, sample=1.0, measure=Pivs())


def piv(rate: int, beside: int = FIRST) -> Cell:
    """A cell without jitter: with it, in rounds of a few PIVs, more than half are soon positive at any rate."""
    return {"jitter": 0, "beside": beside, "rate": rate}


FEW = "{mean}: a round has four pairs, of which three are soon positive: by chance, as many are negative"
FULL = "{mean}: 3 and 7 Mbit/s of payload are more than the 9.56 that the link carries, so it is full at 7 already"
NOT_HALF = {1: FEW, SPARE: FULL}
WHOLE = "{mean}: two of three are 0, as the paper's clock counts in 4 ms; of the others three of five are negative"
SMALLER = (
    "{mean} jiffies: what was lost, and how the flows shared, is not stated; at 9 and 10 Mbit/s it is more than 41"
)
EXPERIMENTS["vulture-pivs"] = Experiment(
    title="Vulture, figures 3 to 8: PIVs of a flow of 1 to 10 Mbit/s beside one of 3",
    claim="Up to the spare 7 Mbit/s at most half of a round trip's PIVs are positive (35 % at 4 Mbit/s), beyond them "
    "more (73 % at 8); the largest sum is 3 at 4 Mbit/s and 41 at 8.",
    differs=DIFFERS + " A flow's rate is paced.",
    sweep={"jitter": (0, JITTER), "beside": (0, FIRST), "rate": RATES},
    exists=lambda cell: bool(cell["beside"]) or cell["rate"] in (8, 10),
    scenario=watched,
    figures=[
        Figure("rate", "piv_positive", "beside", "Mbit/s", "largest part of a round's PIVs positive", panel="jitter",
               paper=((4, 0.35), (8, 0.73))),
        Figure("rate", "piv_sum", "beside", "Mbit/s", "largest sum of a round's PIVs, jiffies", panel="jitter",
               paper=((4, 3), (8, 41))),
    ],
    tables=[Table("pivs", ("jitter", "beside"), "rate", [Number("piv_positive"), Number("piv_sum", 0)])],
    seeds=RUNS,
    more_seeds=[(piv(rate), MANY) for rate in (6, SPARE)],
    pinned={"piv_positive": 0.10, "piv_sum": 0.20},
    bars=[
        Bar("figure 3, 4 Mbit/s: at most the paper's 35 % positive", "piv_positive", piv(4), maximum=0.35 * MORE),
        Bar("figure 4, 8 Mbit/s: the paper's 73 % positive", "piv_positive", piv(8), None, 0.73 * LESS, 0.73 * MORE),
        *(Bar(f"figure 5, {rate} Mbit/s: at most half positive", "piv_positive", piv(rate), maximum=0.5,
              holds=rate not in NOT_HALF, reason=NOT_HALF.get(rate, ""))
          for rate in RATES if rate <= SPARE),
        *(Bar(f"figure 5, {rate} Mbit/s: more than half positive", "piv_positive", piv(rate), minimum=0.501)
          for rate in RATES if rate > SPARE),
        Bar("figure 6, 4 Mbit/s: the largest sum is at most 3", "piv_sum", piv(4), maximum=3.0),
        Bar("figure 7, 8 Mbit/s: the largest sum is the paper's 41", "piv_sum", piv(8), None, 41 * LESS, 41 * MORE,
            holds=False, reason=SMALLER),
        Bar("figure 8: the largest sum at 8 Mbit/s, of that at 7", "piv_sum", piv(8), piv(7), minimum=3.0,
            holds=False, reason=FULL),
        Bar("figure 8: the largest sum at 8 Mbit/s, of that at 6", "piv_sum", piv(8), piv(6), minimum=3.0),
        *(Bar(f"figure 8: the largest sum at {rate} Mbit/s is below that at 8", "piv_sum", piv(rate), piv(8),
              maximum=1.0) for rate in RATES if rate < SPARE),
        Bar("beside another flow a larger part is positive than alone", "piv_positive", piv(8), piv(8, 0), minimum=1.0),
        Bar("beside another flow the largest sum is larger than alone", "piv_sum", piv(8), piv(8, 0), minimum=1.0),
        Bar("alone in its own queue most PIVs are negative", "piv_negative", piv(10, 0), minimum=0.5,
            holds=False, reason=WHOLE),
        Bar("on a loaded path intervals change more than on a light one", "piv_size", piv(8), piv(8, 0), minimum=2.0),
    ],
)  # fmt: skip

CHANCE = "{mean} ± {half}: less than one run differs from the next; the mode is the sign of a noisy sum with any PSI"
RARER = "{mean}: fewer PIVs a round trip make more rounds conservative, so it leaves the foreground more, not less"
PSIS = (1, 2, 5, 10, 20)
"""Jiffies of 4 ms; 5 are the report's."""
EXPERIMENTS["vulture-psi"] = report_figure(
    title="Vulture, figure 9 with pairs sent 4 to 80 ms apart",
    claim="PSI is 20 ms: with a small one noise looks like congestion, a large one misses short queues and gives fewer "
    "PIVs a round trip.",
    sweep={"receiver": (FAITHFUL,), "psi": PSIS},
    scenario=lambda receiver, psi, seed: on_off(receiver, LONGEST, seed=seed, values=(("psi", psi),)),
    figures=[
        Figure("psi", "use", "receiver", "jiffies", "use of the off periods"),
        Figure("psi", "share", "receiver", "jiffies", "share of the on periods"),
    ],
    pinned=("use", "share"),
    more_seeds=[({"psi": psi}, MANY) for psi in (1, 2, 5)],
    bars=[
        *(printed(f"with {psi} jiffies it uses less than with 5", "use", {"psi": psi}, most=1.0, over={"psi": 5},
                  reason=CHANCE)
          for psi in PSIS if psi < 5),
        *(printed(f"with {psi} jiffies it leaves the foreground less than with 5", "share", {"psi": psi}, 1.0,
                  over={"psi": 5}, reason=RARER) for psi in PSIS if psi > 5),
    ],
)  # fmt: skip
