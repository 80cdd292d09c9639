/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TCP Nicer (Alldrin and AuYoung): three levels of TCP Nice, Table I as parameters of one core.
 *
 *   per ACK     A segment is slow if its RTT > thresh minRTT.
 *   per round   slow segments > frac of the round, for 1 + delay rounds in a row: W <- W mul/2.
 *               Otherwise: Vegas with + add instead of + 1.
 *   W < 1, loss as Nice
 *
 *               thresh  mul   add  frac
 *   nicer0      1.10    1.75  1.0  0.90
 *   nicer1      1.20    0.50  0.2  0.30
 *   nicer2      1.20    0.10  0.1  0.05
 *
 * Faithful, for the lab. The paper's own level 2 takes half of level 1's throughput; here it takes more. Level 1 alone does not
 * fill the paper's link (docs/research/levels.md, figure 6). ladder.h is the preset whose levels do not see each other.
 *
 * Where the paper leaves a choice: Vegas' decrease is one segment as in Nice, as Table I names increases only. "We delay
 * the back off mechanism for an RTT" means that the next round must be congested too. Slow start stands still
 * for a round that has seen a slow segment.
 */
#ifndef NN_NICER_H
#define NN_NICER_H

#include "vegas.h"

#define NICER_PARAMS(P, thresh, mul, increase, frac)                                                                   \
	P(rtt_limit, thresh)                                                                                           \
	P(fraction, frac)                                                                                              \
	P(keep, mul)                                                                                                   \
	P(add, increase)                                                                                               \
	P(delay, 1)                                                                                                    \
	P(alpha, 1)                                                                                                    \
	P(beta, 3)                                                                                                     \
	P(gamma, 1)                                                                                                    \
	P(min_window, 85)                                                                                              \
	P(queue_floor, 0)                                                                                              \
	P(max_gap, 0)                                                                                                  \
	P(force_window, 0)

/* keep is 2048 mul: mul/2 in 1/4096; add in 1/4096 segment */
#define NICER0_PARAMS(P) NICER_PARAMS(P, 110, 3584, 4096, 90)
#define NICER1_PARAMS(P) NICER_PARAMS(P, 120, 1024, 819, 30)
#define NICER2_PARAMS(P) NICER_PARAMS(P, 120, 205, 410, 5)

struct nicer {
	u32 congested; /* rounds in a row */
};

NN_CORE_STATE(nicer, nicer_of)
NN_CORE_AS_RENO(nicer)

nn_inline void nicer_on_rtt(struct nn_flow *flow, nn_params p, const struct nn_ack *ack, u32 rtt)
{
	bool lone = ack->flags & NN_LONE;

	nn_rtt_sample(&flow->rtt, rtt, lone);
	if (!lone)
		nn_round_count(&flow->round, ack, rtt, (u64)rtt * 100 > (u64)flow->rtt.min * p[NN_P_rtt_limit]);
}

nn_inline void nicer_grow(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 before = flow->win.w;

	vegas_on_round(flow, p, ack, flow->rtt.min, 1);
	if (flow->win.w > before)
		nn_window_set(&flow->win, before + (u64)(flow->win.w - before) * p[NN_P_add] / NN_ONE);
}

nn_inline void nicer_on_round(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	struct nicer *own = nicer_of(flow);
	struct nn_round *round = &flow->round;

	if (round->slow && (u64)round->slow * 100 > (u64)round->seen * p[NN_P_fraction]) {
		if (own->congested < p[NN_P_delay]) {
			own->congested++;
			return;
		}
		nn_shrink(&flow->win, (u64)flow->win.w * nn_min(p[NN_P_keep], NN_ONE) / NN_ONE);
	} else if (round->seen && flow->recovery == NN_OPEN && nn_may_grow(flow, ack)) {
		nicer_grow(flow, p, ack);
	}
	own->congested = 0;
}

nn_inline void nicer_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = nn_trusted_rtt(flow, ack);

	if (rtt)
		nicer_on_rtt(flow, p, ack, rtt);
	if (nn_round_over(&flow->round, ack)) {
		nicer_on_round(flow, p, ack);
		nn_round_begin(&flow->round, ack->delivered, ack->now_us);
		nn_come_back(flow, p, ack);
	}
	if (nn_in_slow_start(&flow->win) && !flow->round.slow && nn_is_tried(flow, ack))
		nn_flow_slow_start(flow, ack);
}

#endif
