# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Changes to a copy of the cores by their names: faults, mechanisms that no parameter switches off, suggestions."""

from collections.abc import Iterable

from netnice_lab.engine.faults import MUTANTS, Mutant
from netnice_lab.errors import LabError

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
            "a flow that begins does not take the worst RTT that its siblings have measured",
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
            "a flow that has met a long transfer asks as often as others",
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


def halves(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which of some changes are the sender's, and which the receiver's."""
    both = tuple(names)
    receivers = tuple(name for name in both if find(name).of_receiver)
    return tuple(name for name in both if name not in receivers), receivers
