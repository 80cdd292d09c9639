/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TCP Nice (Venkataramani, Kokku, Dahlin, OSDI 2002) as the paper has it, sections 2.2 and 2.3, and nothing else.
 *
 *   per ACK     a segment is slow if its RTT > (1 - t) minRTT + t maxRTT: the queue exceeds t of the buffer
 *   per round   slow segments > f W:  W <- W/2, down to 1/48;  otherwise Vegas (vegas.h)
 *   W < 2       a pair of segments every 2/W round trips (pace.h)
 *   loss        Reno's rules
 *
 * State: minRTT and maxRTT, which are the least and the largest RTT ever seen; maxRTT begins at twice the first.
 *
 * What the paper leaves open, and what is done here:
 * - t is 0.1 as in its experiments (section 4.1); its prototype had 0.2.
 * - Segments are counted, not ACKs: one that covers two would count for one, and f W would never be reached. W is the
 *   segments of the round that had an RTT, which is W in every round that was full.
 * - A round is the time until a segment is acknowledged that left after the round began, below one segment too. Each is
 *   judged, also those whose segments left before a halving, and those in which a loss is repaired.
 * - The RTT of a lone segment may hold a delayed ACK: it counts for minRTT only.
 * - Slow start is Vegas' (gamma = 1). It goes on in a round that sees slow segments, and ends with that round's halving.
 * - A window that was not used does not grow (RFC 7661's reason): the paper's senders always have data.
 * - Two segments and more are paced (pace.h); the prototype does not pace (`unpaced`). Experiment nice-variants: without
 *   pacing it has .98 to 1.08 of the goodput in the paper's network, and .72 where RTTs jitter. Documents wait as long.
 * - The gap between pairs has no upper bound (max_gap = 0). A flow that finds the path free waits for its end.
 */
#ifndef NN_NICE_H
#define NN_NICE_H

#include "vegas.h"

#define NICE_PARAMS(P)                                                                                                 \
	P(threshold, 10)                                                                                               \
	P(fraction, 50)                                                                                                \
	P(alpha, 1)                                                                                                    \
	P(beta, 3)                                                                                                     \
	P(gamma, 1)                                                                                                    \
	P(unpaced, 0)                                                                                                  \
	P(min_window, 85)

NN_CORE_AS_RENO(nice)

/* Does this RTT show a queue longer than the threshold? */
nn_inline bool nice_is_slow(const struct nn_flow *flow, nn_params p, u32 rtt)
{
	return nn_rtt_is_slow(&flow->rtt, p[NN_P_threshold], rtt);
}

nn_inline void nice_on_rtt(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	bool lone = ack->flags & NN_LONE;

	nn_rtt_sample(&flow->rtt, ack->rtt_us, lone);
	if (!lone)
		nn_round_count(&flow->round, ack, ack->rtt_us, nice_is_slow(flow, p, ack->rtt_us));
}

/* Did more than `fraction` of the round's segments meet congestion? */
nn_inline bool nice_is_congested(const struct nn_round *round, nn_params p)
{
	return (u64)round->slow * 100 > (u64)round->seen * p[NN_P_fraction];
}

nn_inline void nice_on_round(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	if (nice_is_congested(&flow->round, p))
		nn_halve(&flow->win);
	else if (flow->round.seen && flow->recovery == NN_OPEN && nn_may_grow(flow, ack))
		vegas_on_round(flow, p, ack, flow->rtt.min, 1);
}

nn_inline void nice_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	if (ack->rtt_us)
		nice_on_rtt(flow, p, ack);
	if (nn_round_over(&flow->round, ack)) {
		nice_on_round(flow, p, ack);
		nn_round_begin(&flow->round, ack->delivered, ack->now_us);
	}
	if (nn_in_slow_start(&flow->win) && nn_is_tried(flow, ack))
		nn_flow_slow_start(flow, ack);
}

#endif
