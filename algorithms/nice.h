/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TCP Nice (Venkataramani, Kokku, Dahlin, OSDI 2002), sections 2.2 and 2.3.
 *
 *   per ACK     a segment is slow if its RTT > (1 - t) minRTT + t maxRTT: the queue exceeds t of the buffer
 *   per round   slow segments > f W:  W <- W/2, down to 1/48;  otherwise Vegas
 *   W < 1       a pair of segments every 2/W round trips (pace.h)
 *   loss        Reno's rules
 *
 * Deviations:
 * - Segments are counted, not ACKs: with delayed ACKs an ACK count never reaches f W. The paper counts packets too; its
 *   W is here the segments of the round that had an RTT, which is W in every round that was full.
 * - Slow start pauses in a round that saw a slow segment and ends with a congested one or at Vegas' gamma; the paper says
 *   nothing of it.
 * - Queueing below queue_floor (1 ms) is not congestion, whatever t says: on a LAN it is timer noise.
 * - A lone segment's RTT may contain a delayed ACK: it sets minRTT but neither maxRTT nor the congestion count.
 * - max_gap (pace.h) bounds the silence between pairs.
 */
#ifndef NN_NICE_H
#define NN_NICE_H

#include "vegas.h"

#define NICE_PARAMS(P)                                                                                                 \
	P(threshold, 20)                                                                                               \
	P(fraction, 50)                                                                                                \
	P(alpha, 1)                                                                                                    \
	P(beta, 3)                                                                                                     \
	P(gamma, 1)                                                                                                    \
	P(min_window, 85)                                                                                              \
	P(initial_window, 2)                                                                                           \
	P(queue_floor, 1000)                                                                                           \
	P(estimator, NN_RTT_ROBUST)                                                                                    \
	P(max_gap, 1000)                                                                                               \
	P(peer_gap, 250)                                                                                               \
	P(endurance, 0)                                                                                                \
	P(force_window, 0)

NN_CORE_AS_RENO(nice)

nn_inline void nice_on_rtt(struct nn_flow *flow, nn_params p, const struct nn_ack *ack, u32 rtt)
{
	bool lone = ack->flags & NN_LONE;

	nn_rtt_sample(&flow->rtt, p[NN_P_estimator], ack->now_us, rtt, lone);
	if (!lone)
		nn_round_count(&flow->round, ack, rtt,
			       rtt > nn_rtt_limit(&flow->rtt, p[NN_P_threshold], p[NN_P_queue_floor]));
}

/* Did more than `fraction` of the round's segments meet congestion? */
nn_inline bool nice_congested(const struct nn_round *round, nn_params p)
{
	return round->slow && (u64)round->slow * 100 > (u64)round->seen * p[NN_P_fraction];
}

nn_inline void nice_on_round(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	if (nice_congested(&flow->round, p))
		nn_halve(&flow->win);
	else if (flow->round.seen && flow->recovery == NN_OPEN && nn_may_grow(flow, ack))
		vegas_on_round(flow, p, ack);
}

nn_inline void nice_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = nn_trusted_rtt(flow, ack);

	if (rtt)
		nice_on_rtt(flow, p, ack, rtt);
	if (nn_round_over(&flow->round, ack)) {
		nice_on_round(flow, p, ack);
		nn_count_starved(flow);
		nn_round_begin(&flow->round, ack->delivered, ack->now_us);
		nn_come_back(flow, p, ack);
	}
	if (nn_in_slow_start(&flow->win) && !flow->round.slow && nn_may_grow(flow, ack))
		nn_flow_slow_start(flow, ack);
}

#endif
