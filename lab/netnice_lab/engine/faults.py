# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Changes to a copy of the cores: faults that a check must notice, and mechanisms that no parameter switches off."""

from dataclasses import dataclass
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
            "no-look",
            "below one segment a level stays there",
            "algorithms/sender",
            "return ack->now_us - own->since_us >= silence",
            "return p == 0 && ack->now_us - own->since_us >= silence",
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
            "rtt->min = nn_min(rtt->min, sample_us);",
            "rtt->min = sample_us;",
        ),
    )
}

PATH, OWN = "algorithms/sender/netnice/path.h", "algorithms/sender/netnice.h"
GROWTH = "algorithms/sender/netnice/growth.h"
ABLATIONS = {
    m.name: m
    for m in (
        Mutant(
            "forward-delay",
            "the RTT alone tells the queue",
            PATH,
            "if (nn_likely(ack->peer_stamp)) {",
            "if (false && ack->peer_stamp) {",
        ),
        Mutant(
            "standstill",
            "RTTs that stand still are a queue",
            "algorithms/estimate/standstill.h",
            "return still->pairs >= NN_STILL_PAIRS;",
            "return false;",
        ),
        Mutant(
            "way-back",
            "what ACKs wait is not paid for by the window",
            PATH,
            "& (0u - own->clocked);",
            "& (own->clocked & 0u);",
        ),
        Mutant(
            "drain",
            "each congested round halves",
            OWN,
            "congested && !held && netnice_may_drain(flow, shared)",
            "congested && !held && false",
        ),
        Mutant(
            "service-bound",
            "a segment's time is what pairs tell, also where others came between",
            OWN,
            "nn_service_bound(flow, ack, netnice_of(flow)->service)",
            "netnice_of(flow)->service",
        ),
        Mutant(
            "pair-base",
            "Vegas counts from the smallest RTT, a lone segment's too",
            GROWTH,
            "nn_max(flow->rtt.min, own->pair_rtt)",
            "flow->rtt.min",
        ),
        Mutant(
            "base-window",
            "the base RTT is the smallest ever",
            "algorithms/estimate/base_rtt.h",
            "nn_unlikely(now_us - rtt->window_us >= NN_RTT_WINDOW_US)",
            "false",
        ),
        Mutant(
            "worst-by-eighths",
            "the worst RTT is the largest of all samples at once",
            PATH,
            "nn_worst_sample(&flow->rtt, queued);",
            "flow->rtt.max = nn_max(flow->rtt.max, queued);",
        ),
        Mutant(
            "loss-tells",
            "a loss tells nothing of the buffer's length",
            OWN,
            "nn_worst_lost(&flow->rtt, nn_max(flow->round.max_rtt, flow->rtt.smoothed));",
            "",
        ),
        Mutant(
            "one-bdp",
            "buffers may be longer than a BDP",
            "algorithms/estimate/worst_rtt.h",
            " || (u64)(sample_us - rtt->min) * 100 > (u64)rtt->min * percent;",
            ";",
        ),
        Mutant(
            "worst-below-one",
            "the worst RTT does not sink to what a flow below one segment meets",
            PATH,
            "nn_worst_meet(&flow->rtt, &own->worst, queued);",
            "",
        ),
        Mutant(
            "hearing",
            "who begins does not take the worst RTT of those that go the same way",
            OWN,
            "nn_worst_hear(&flow->rtt, &own->worst, ack->now_us, siblings->worst_rtt);",
            "",
        ),
        Mutant(
            "pair-time",
            "to many uploads a pair's own time is a queue",
            PATH,
            "if (nn_unlikely(netnice_of(flow)->crowd))",
            "if (false)",
        ),
        Mutant(
            "crowd",
            "many uploads of a host tolerate as long a queue as one",
            OWN,
            "own->crowd = netnice_crowd(siblings);",
            "",
        ),
        Mutant(
            "together",
            "each upload of a host keeps alpha to beta segments queued for itself",
            GROWTH,
            "nn_max(siblings->flows, 1) : 1;",
            "nn_max(siblings->flows & 0, 1) : 1;",
        ),
        Mutant(
            "sharing",
            "no upload moves to the mean of a host's",
            "algorithms/sender/netnice/sharing.h",
            "return (u32)(several & most & knows);",
            "return (u32)(several & most & knows & 0);",
        ),
        Mutant(
            "hurry",
            "it comes back as Vegas does",
            GROWTH,
            "return own->quiet >= rounds &&",
            "return false && own->quiet >= rounds &&",
        ),
        Mutant(
            "own-queue",
            "a short queue on a slow line may be congestion",
            PATH,
            "if (nn_unlikely(nn_service_is_slow(netnice_of(flow)->service)))",
            "if (false)",
        ),
        Mutant(
            "threshold-below-one",
            "one threshold, above and below one segment",
            PATH,
            "? NETNICE_SUB_PACKET_THRESHOLD :",
            "? p[NN_P_threshold] :",
        ),
        Mutant(
            "endurance",
            "who has met a long transfer asks as often as others",
            "algorithms/pacing/pace.h",
            "if (flow->sub_packet_rounds >= NN_ENDURANCE)",
            "if (false)",
        ),
        Mutant(
            "look",
            "the base RTT is not looked for again",
            "algorithms/sender/netnice/base.h",
            "return (flow->round.start_us ^ ack->now_us) >> NETNICE_LOOK_SHIFT &&",
            "return false &&",
        ),
    )
}


RTT = "algorithms/estimate/rtt.h"
VARIANTS = {
    m.name: m
    for m in (
        Mutant(
            "unpaced",
            "a window's segments leave as ACKs let them go",
            "algorithms/pacing/pace.h",
            "send->cwnd = w >> NN_SHIFT;",
            "send->cwnd = w >> NN_SHIFT; send->now = !ack->held_us;",
        ),
        Mutant(
            "below-two",
            "Vegas takes a segment off below two, too, as the proof of theorem 1 has it",
            "algorithms/sender/vegas.h",
            "if (win->w > 2 * NN_ONE)\n\t\t\tnn_shrink(win, nn_max(win->w - NN_ONE / flows, 2 * NN_ONE));",
            "nn_shrink(win, win->w > 2 * NN_ONE ? win->w - NN_ONE : win->w / 2);",
        ),
        Mutant(
            "decaying-min",
            "the base RTT is a decaying average of the smallest",
            RTT,
            "rtt->min = nn_min(rtt->min, sample_us);",
            "rtt->min = sample_us < rtt->min ? sample_us : rtt->min + (sample_us - rtt->min) / 256;",
        ),
        Mutant(
            "decaying-max",
            "the worst RTT is a decaying average of the largest",
            RTT,
            "rtt->max = nn_max(rtt->max, sample_us);",
            "rtt->max = sample_us > rtt->max ? sample_us : rtt->max - (rtt->max - sample_us) / 256;",
        ),
        Mutant(
            "percentile-min",
            "the base RTT is the 2nd percentile",
            RTT,
            "rtt->min = nn_min(rtt->min, sample_us);",
            "rtt->min = !nn_rtt_known(rtt) ? sample_us : sample_us < rtt->min ? rtt->min - rtt->min / 64 : "
            "rtt->min + rtt->min / 3136;",
        ),
        Mutant(
            "percentile-max",
            "the worst RTT is the 98th percentile",
            RTT,
            "rtt->max = nn_max(rtt->max, sample_us);",
            "rtt->max = sample_us > rtt->max ? rtt->max + rtt->max / 64 : rtt->max - rtt->max / 3136;",
        ),
        Mutant(
            "below-min",
            "an RTT may be below the base",
            RTT,
            "(u64)(sample_us - rtt->min) * 100",
            "(u64)(sample_us > rtt->min ? sample_us - rtt->min : 0) * 100",
        ),
        Mutant(
            "no-halving",
            "a congested round takes off a segment, as Vegas does; at two segments and fewer it halves",
            "algorithms/sender/nice.h",
            "nn_halve(&flow->win);",
            "nn_shrink(&flow->win, flow->win.w > 2 * NN_ONE ? flow->win.w - NN_ONE : nn_half(&flow->win));",
        ),
    )
}
"""What TCP Nice leaves out or suggests, for the experiment nice-variants."""


def find(name: str) -> Mutant:
    """The change of a name."""
    known = MUTANTS | ABLATIONS | VARIANTS
    if name not in known:
        raise LabError(f"unknown mutant '{name}'", "", f"choose one of {', '.join(known)}")
    return known[name]
