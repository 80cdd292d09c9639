# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Faults in a copy of the cores: a check must notice each."""

from dataclasses import dataclass, field
from pathlib import Path

from netnice_lab.errors import LabError


@dataclass(frozen=True)
class Mutant:
    """A change to a copy of one source file; `file` may be a folder, in one of whose files the text is."""

    name: str
    breaks: str
    file: str
    old: str
    new: str
    of_receiver: bool = field(default=False, repr=False)
    """It changes what a receiver runs, not what a sender does."""

    def places(self, tree: Path) -> list[Path]:
        """Every file with the text, as often as it has it."""
        top = tree / self.file
        files = [top] if top.is_file() else sorted(file for file in top.rglob("*.[ch]") if file.is_file())
        return [file for file in files for _ in range(file.read_text().count(self.old))]

    def apply(self, tree: Path) -> Path:
        """Change the copy; a text that is not there exactly once means that the cores have moved on."""
        found = self.places(tree)
        if len(found) != 1:
            raise LabError(
                f"the mutant {self.name} does not fit {self.file}",
                f"'{self.old}' is there {len(found)} times",
                "adapt the mutant to the sources",
            )
        found[0].write_text(found[0].read_text().replace(self.old, self.new))
        return found[0]


A_SEGMENT_MORE = "if (p)\n\t\tnn_window_set(&flow->win, flow->win.w + (nn_in_slow_start(&flow->win) ? 0 : NN_ONE));"
RECEIVER_SHIM, VULTURE = "transport/receiver", "algorithms/receiver/vulture.h"
MUTANTS = {
    m.name: m
    for m in (
        Mutant(
            "threshold-ignored",
            "queueing delay is never congestion",
            "algorithms/sender",
            "nice_is_slow(flow, p, ack->rtt_us)",
            "false",
        ),
        Mutant(
            "floor-of-one",
            "the window does not fall below one segment",
            "algorithms/common",
            "flow->win.floor = (u16)nn_min(nn_max(p[NN_P_min_window], 1), 0xffff);",
            "flow->win.floor = 1 << NN_SHIFT;",
        ),
        Mutant(
            "acks-counted",
            "ACKs that met congestion are compared with the window in segments",
            "algorithms/common",
            "round->slow = nn_add_saturating(round->slow, ack->acked & (0u - slow));",
            "round->slow += slow;",
        ),
        Mutant(
            "rounds-of-one-ack",
            "a round ends with each ACK: the shim forgets when a segment was sent",
            "transport/sender",
            "ack.sent_delivered = rs->prior_delivered;",
            "ack.sent_delivered = ack.delivered;",
        ),
        Mutant(
            "no-siblings",
            "flows of one host to one place do not know of each other",
            "algorithms/siblings",
            "siblings->flows = nn_max(nn_max(place->flows, place->flows_before), 1);",
            "siblings->flows = 1;",
        ),
        Mutant(
            "no-longer-route",
            "a queue that stands still is never tried as the path",
            "algorithms/netnice",
            "return trial->still >= NN_TRIAL_STILL &&",
            "return false && trial->still >= NN_TRIAL_STILL &&",
        ),
        Mutant(
            "nicer-never-cuts",
            "a Nicer level that meets congestion keeps its window",
            "algorithms/sender/nicer.h",
            "nn_shrink(&flow->win, (u64)flow->win.w * nn_min(p[NN_P_keep], NN_ONE) / NN_ONE);",
            ";",
        ),
        Mutant(
            "nicer-at-once",
            "a Nicer level answers the first congested round",
            "algorithms/sender/nicer.h",
            "if (own->congested < p[NN_P_delay]) {",
            "if (false) {",
        ),
        Mutant(
            "base-is-now",
            "the base RTT is the last sample: a queue is never seen",
            "algorithms/estimate/rtt.h",
            "rtt->min = nn_min(rtt->min, sample_us);\n\tif (lone) {",
            "rtt->min = sample_us;\n\tif (lone) {",
        ),
        Mutant(
            "nice-as-reno",
            "Nice is Reno",
            "algorithms/sender/nice.h",
            "if (nice_is_congested(&flow->round, p))\n\t\tnn_halve(&flow->win);",
            A_SEGMENT_MORE,
        ),
        Mutant(
            "nicer-as-reno",
            "every level of Nicer is Reno",
            "algorithms/sender/nicer.h",
            "if (round->slow && (u64)round->slow * 100 > (u64)round->seen * p[NN_P_fraction]) {",
            f"{A_SEGMENT_MORE}\n\telse if (p) {{",
        ),
        Mutant(
            "window-not-told",
            "what a receiver's core decides never reaches the socket",
            RECEIVER_SHIM,
            "if (nn_tell(&c->flow, window))",
            "if (nn_tell(&c->flow, window) && !c)",
            of_receiver=True,
        ),
        Mutant(
            "clock-of-the-wire",
            "an echo is taken for the time at which our ACK left, with the offset that the kernel gave it",
            RECEIVER_SHIM,
            ".tsecr = tcp->rx_opt.rcv_tsecr,",
            ".tsecr = tcp->rx_opt.rcv_tsecr + tcp->tsoffset,",
            of_receiver=True,
        ),
        Mutant(
            "not-cautious",
            "an over-cautious Vulture tells its own queue from others'",
            VULTURE,
            "p[NN_R_cautious] || ",
            "",
            of_receiver=True,
        ),
        Mutant(
            "four-at-a-time",
            "Vulture's window grows by four segments",
            VULTURE,
            "flow->window + flow->mss",
            "flow->window + 4 * flow->mss",
            of_receiver=True,
        ),
        Mutant(
            "intervals-negated",
            "an interval that grew counts as one that shrank",
            VULTURE,
            "(s32)(arrived - v->arrived[head] - (u32)interval)",
            "(s32)((u32)interval - (arrived - v->arrived[head]))",
            of_receiver=True,
        ),
        Mutant(
            "intervals-flat",
            "intervals never change",
            VULTURE,
            "(s32)(arrived - v->arrived[head] - (u32)interval)",
            "(s32)(arrived - arrived)",
            of_receiver=True,
        ),
        Mutant(
            "last-round",
            "of a passive flow the last round's sum counts, not the largest",
            VULTURE,
            "v->sum > v->most_sum ? v->sum : v->most_sum",
            "v->sum",
            of_receiver=True,
        ),
        Mutant(
            "acks-kept",
            "what an ACK took off the sender's window stays in the estimate",
            "algorithms/estimate/sender_window.h",
            "flow->estimate -= nn_min(oldest->bytes, flow->estimate);",
            "",
            of_receiver=True,
        ),
        Mutant(
            "half-the-estimate",
            "a receiver that begins to yield takes half of its estimate",
            "algorithms/receiver/receiver.h",
            ": nn_max(flow->estimate, flow->floor);",
            ": nn_max(flow->estimate / 2, flow->floor);",
            of_receiver=True,
        ),
        Mutant(
            "held-after",
            "a receiver that ends to yield keeps the sender at one segment",
            "algorithms/receiver/receiver.h",
            "return flow->watched ? nn_max(flow->mss, NN_LEAST_MSS) : 0;",
            "return nn_max(flow->mss, NN_LEAST_MSS);",
            of_receiver=True,
        ),
    )
}
