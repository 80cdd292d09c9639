# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice without one of its mechanisms: those that no parameter switches off."""

from netnice_lab.engine.mutants import Mutant

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
            "worst-below-one",
            "the worst RTT does not sink to what a flow below one segment meets",
            PATH,
            "nn_rtt_worst(&flow->rtt, p[NN_P_estimator], &own->worst, queued);",
            "",
        ),
        Mutant(
            "hearing",
            "who begins does not take the worst RTT of those that go the same way",
            OWN,
            "nn_rtt_hear(&flow->rtt, p[NN_P_estimator], &own->worst, ack->now_us, siblings->worst_rtt);",
            "",
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
