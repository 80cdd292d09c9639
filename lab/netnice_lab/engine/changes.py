# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Changes to a copy of the cores by their names: faults, mechanisms that no parameter switches off, suggestions."""

from collections.abc import Iterable

from netnice_lab.engine.faults import MUTANTS, Mutant
from netnice_lab.errors import LabError

DECIDE, PATH, POLICE, REPORT, SENDER = (
    f"algorithms/netnice/{name}.h" for name in ("decide", "path", "police", "report", "sender")
)
ABLATIONS = {
    m.name: m
    for m in (
        Mutant(
            "few-awake",
            "below one segment each upload of a host sends its pair as if it was alone there",
            "algorithms/pacing/pace.h",
            "nn_max(flow->win.asking, 1)",
            "nn_max(flow->win.asking & 0, 1)",
        ),
        Mutant(
            "waiting-round",
            "the round after a cut, whose segments left before it, is judged, too",
            DECIDE,
            "\tif (m->phase == NN_WAITING) {\n",
            "\tif (m->phase == NN_WAITING)\n"
            "\t\tm->phase = win->w < win->ssthresh ? NN_RISING : NN_STEADY;\n"
            "\tif (false) {\n",
        ),
        Mutant(
            "probe-drain",
            "a probe that meets congestion cuts for it",
            DECIDE,
            "if (m->probing || (shorter && !m->drained))",
            "if (shorter && !m->drained)",
        ),
        Mutant(
            "probe-end",
            "a probe ends at the limit, not where the path is full",
            DECIDE,
            "if (m->probing && queued > (first",
            "if (false && queued > (first",
        ),
        Mutant(
            "short-drain",
            "a short queue of a first congested round is another flow's",
            DECIDE,
            "if (m->probing || (shorter && !m->drained))",
            "if (m->probing || (shorter && false))",
        ),
        Mutant(
            "cut-by-queue",
            "a cut halves, however long the queue",
            DECIDE,
            "(u32)((u64)win->w * r->limit / queue / 2)",
            "win->w / 2 + (queue & 0)",
        ),
        Mutant(
            "loss-halves-memory",
            "a loss leaves the remembered window as it is",
            DECIDE,
            "\tm->full = nn_min(m->full, win->w / 2);\n",
            "\tif (m->full == NN_NEVER)\n\t\tm->full = win->w;\n",
        ),
        Mutant(
            "return",
            "it comes back as Vegas does",
            DECIDE,
            "m->quiet >= NN_QUIET && win->w < target && win->w >= NN_ONE",
            "false && win->w < target",
        ),
        Mutant(
            "refuted-memory",
            "a return that meets congestion leaves the remembered window as it is",
            DECIDE,
            "\tif (m->returning && !win->policed && m->full != NN_NEVER)\n\t\tm->full /= 2;\n",
            "",
        ),
        Mutant(
            "probe",
            "beyond the remembered window it grows as Vegas does",
            DECIDE,
            "if (m->quiet >= 2 * NN_QUIET && win->w >= NN_ONE)",
            "if (false)",
        ),
        Mutant(
            "together",
            "each upload of a host keeps alpha to beta segments queued for itself",
            REPORT,
            "return (u64)w * r->queue / (path + r->queue) * r->siblings;",
            "return (u64)w * r->queue / (path + r->queue);",
        ),
        Mutant(
            "shared-step",
            "each of a host's uploads adds a segment a round, however many they are",
            DECIDE,
            "/ r->siblings);\n\n\tif (m->quiet >= 2",
            "* 16);\n\n\tif (m->quiet >= 2",
        ),
        Mutant(
            "excess",
            "no upload gives up a part of what it has above the mean of a host's",
            DECIDE,
            "if (r->siblings > 1 && r->mean && win->w > above)",
            "if (false && win->w > above)",
        ),
        Mutant(
            "excess-at-cuts",
            "an upload above the mean of a host's gives up no more at a cut than others",
            DECIDE,
            "\tnn_even_out(r, win, r->mean);\n",
            "",
        ),
        Mutant(
            "below-mean",
            "an upload below the mean of a host's grows no faster than the others",
            DECIDE,
            "win->w + (win->w < r->mean ? NN_ONE : step)",
            "win->w + step",
        ),
        Mutant(
            "room-below-one",
            "below one segment it grows beside any queue up to the limit",
            DECIDE,
            "return w >= NN_ONE || r->queue <= nn_max(r->limit / 2,",
            "return w || r->queue <= nn_max(r->limit / 2,",
        ),
        Mutant(
            "own-room-below-one",
            "below one segment it grows beside a short queue only, its siblings' own too",
            DECIDE,
            "r->queue <= nn_max(r->limit / 2, nn_explained(r, nn_max(w, r->mean)))",
            "r->queue <= r->limit / 2",
        ),
        Mutant(
            "own-packets",
            "the limit does not depend on what a packet takes",
            REPORT,
            "return nn_max(nn_max(part, own), 2 * p[NN_P_queue_floor]);",
            "return nn_max(part + (own & 0), 2 * p[NN_P_queue_floor]);",
        ),
        Mutant(
            "own-packets-lost",
            "the flow's own segments have as much room after a loss as before",
            REPORT,
            "\tu32 own = r->depth == NN_NEVER ? p[NN_P_band_packets] : nn_min(p[NN_P_band_packets], lost);",
            "\tu32 own = p[NN_P_band_packets] + (lost & 0);",
        ),
        Mutant(
            "own-packets-alone",
            "after a loss levels 1 and 2 have no more room than level 0",
            REPORT,
            "p[NN_P_threshold] ? NN_OWN_LOST : NN_OWN_ALONE",
            "NN_OWN_LOST",
        ),
        Mutant(
            "explained",
            "what the flow's own segments explain of a queue may be a longer route",
            REPORT,
            "return (!r->packet && w >= NN_ONE) || us > NN_NEVER ? NN_NEVER : (u32)us;",
            "return (u32)us & 0;",
        ),
        Mutant(
            "single-segments",
            "on a slow line pairs leave below two segments, as elsewhere",
            SENDER,
            "flow->win.single = r.packet >= NN_SINGLE_US;",
            "flow->win.single = 0;",
        ),
        Mutant(
            "slow-line",
            "ten packets are no queue, however long they take",
            REPORT,
            "own = nn_min(own, nn_max(r->base, NN_OWN_LEAST * r->packet));",
            "own = nn_min(own, NN_NEVER);",
        ),
        Mutant(
            "policer",
            "a loss without a queue is one as others are",
            POLICE,
            "if (first && !nn_police_found(r, win))",
            "if (first || !nn_police_found(r, win))",
        ),
        Mutant(
            "policer-of-many",
            "one lost segment without a queue shows a policer",
            POLICE,
            "(r->lost >= NN_POLICED_LOST && r->lost << NN_SHIFT >= win->prior_w / NN_POLICED_PART)",
            "r->lost + NN_POLICED_LOST + NN_POLICED_PART",
        ),
        Mutant(
            "policer-patience",
            "the wait for another flow at a policer does not double",
            POLICE,
            "nn_min(m->patience + NN_POLICED_STEP, NN_POLICED_PATIENCE)",
            "nn_min(NN_POLICED_STEP, NN_POLICED_PATIENCE)",
        ),
        Mutant(
            "policer-tried",
            "at a policer each loss is another flow's",
            POLICE,
            "if (tried) {",
            "if (first) {",
        ),
        Mutant(
            "policer-sibling",
            "each upload of a host finds a policer by itself",
            POLICE,
            "return r->policed ||",
            "return",
        ),
        Mutant(
            "longer-route",
            "a queue that stands still is a queue",
            PATH,
            "return trial->still >= NN_TRIAL_STILL &&",
            "return false && trial->still >= NN_TRIAL_STILL &&",
        ),
        Mutant(
            "depth",
            "a loss tells nothing of the buffer's length",
            SENDER,
            ".depth = own->depth == NN_NO_DEPTH ? NN_NEVER : (u32)own->depth << NN_DEPTH_UNIT",
            ".depth = NN_NEVER",
        ),
        Mutant(
            "depth-rises",
            "the buffer is no longer than the queue at its shortest loss",
            SENDER,
            "if (nn_unlikely(queue >> NN_DEPTH_UNIT > own->depth))",
            "if (false)",
        ),
        Mutant(
            "depth-part",
            "the buffer may be as short as the queue at a loss, whatever the base",
            SENDER,
            "nn_max(queue, flow->rtt.min / NN_DEPTH_PART)",
            "nn_max(queue, 1)",
        ),
        Mutant(
            "forward-delay",
            "the RTT alone tells the queue",
            SENDER,
            "if (!ack->peer_stamp || (!clocked",
            "if (ack || !ack->peer_stamp || (!clocked",
        ),
        Mutant(
            "reverse-queue",
            "the window does not cover what ACKs wait",
            SENDER,
            "\treturn nn_min(nn_sub_saturating(both, forward)",
            "\treturn 0 & nn_min(nn_sub_saturating(both, forward)",
        ),
        Mutant(
            "base-window",
            "the base RTT is the smallest ever",
            SENDER,
            "if (known->recent_min - known->min > NN_BASE_KEEPS * 16 * own->packet)",
            "if (false)",
        ),
        Mutant(
            "base-keeps",
            "the base RTT rises with the queue that Vegas keeps",
            SENDER,
            "if (known->recent_min - known->min > NN_BASE_KEEPS * 16 * own->packet)",
            "if (true)",
        ),
        Mutant(
            "lone-segments",
            "the RTT of a segment that flew alone is a sample as others are",
            SENDER,
            "if (rtt && ack->flags & NN_LONE && !flow->win.single)",
            "if (rtt && !ack)",
        ),
        Mutant(
            "delayed-acks",
            "a segment's time holds what a receiver delays its ACKs by",
            SENDER,
            "if (before && rtt && ack->acked && quick)",
            "if (before && rtt && ack->acked + (quick & 0))",
        ),
        Mutant(
            "coming-back",
            "a flow that finds the path free waits for the deadline of its last pair",
            SENDER,
            "\tnn_come_back(flow, p, ack);\n",
            "",
        ),
        Mutant(
            "slow-round",
            "slow start goes on in a round that saw a slow segment",
            SENDER,
            "&& !flow->round.slow && nn_is_tried",
            "&& nn_is_tried",
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
            "rtt->min = nn_min(rtt->min, sample_us);\n\tif (lone) {",
            "rtt->min = sample_us < rtt->min ? sample_us : rtt->min + (sample_us - rtt->min) / 256;\n\tif (lone) {",
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
            "rtt->min = nn_min(rtt->min, sample_us);\n\tif (lone) {",
            "rtt->min = !nn_rtt_known(rtt) ? sample_us : sample_us < rtt->min ? rtt->min - rtt->min / 64 : "
            "rtt->min + rtt->min / 3136;\n\tif (lone) {",
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
