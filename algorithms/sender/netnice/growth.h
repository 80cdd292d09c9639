/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How netnice grows, and how it gives back a queue of its own making. What differs from TCP Nice here:
 *
 * - Slow start ends with a congested round or at Vegas' gamma, and then the window drains: it becomes what the path
 *   delivered, times the base RTT. The queue is the flow's own work, and half of a doubled window may be as far below the
 *   path as it was above it. The next round tells only of segments sent before, so it is not judged.
 * - Coming back. Vegas adds one segment a round, 33 rounds to a path of 33 segments. After
 *   three rounds without a queue the window grows by a quarter a round up to where it last filled the path, after twice as
 *   many beyond that, but never past what Reno would have; it leaves that growth as it leaves slow start.
 * - Vegas counts what is queued from the least RTT of a pair. A small lone segment, a handshake's or a greeting's, is
 *   faster by the service time of two full ones, and Vegas took that for two segments queued: three quarters of a path.
 * - Flows of one host to one place keep alpha to beta segments queued together. Each for itself, eight
 *   of them fill the buffer to the threshold and halve at once: 84 % of an idle link, together 97 %. alpha is 2 for that:
 *   what many keep in common one burst of pages takes away.
 */
#ifndef NN_NETNICE_GROWTH_H
#define NN_NETNICE_GROWTH_H

#include "reno_bound.h"
#include "../../siblings/siblings.h"
#include "../vegas.h"

#define NETNICE_GAMMA 1u /* segments: Vegas' */
#define NETNICE_QUIET_ROUNDS 3u /* after which the path is taken for idle */
#define NETNICE_STEP 4u /* the hurried growth: a quarter of the window, so two rounds of it overshoot by half at most */

/* The queue is the flow's own: down to what the path carries without one. */
nn_inline void netnice_drain(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	struct netnice *own = netnice_of(flow);
	u64 delivered = (u64)(ack->delivered - flow->round.end) << NN_SHIFT;
	u32 empty = nn_add_saturating(flow->rtt.min, p[NN_P_queue_floor] + netnice_way_back(flow, ack));
	u64 bdp = delivered * empty / nn_max(ack->now_us - flow->round.start_us, nn_max(empty, 1));

	nn_shrink(&flow->win, bdp < flow->win.w ? (u32)bdp : flow->win.w);
	own->capacity = nn_min(flow->win.w >> NN_SHIFT, NETNICE_ANY);
	own->hurried = 0;
	own->phase = NETNICE_WAITING;
}

/* Slow start ended early: gamma is a pair of segments at half a path, and a base that was measured with a small one. */
nn_inline void netnice_expect_more(struct netnice *own)
{
	own->capacity = NETNICE_ANY;
	own->quiet = NETNICE_QUIET_ROUNDS;
}

nn_inline bool netnice_may_hurry(struct nn_flow *flow)
{
	struct netnice *own = netnice_of(flow);
	u32 rounds = (flow->win.w >> NN_SHIFT < own->capacity ? 1 : 2) * NETNICE_QUIET_ROUNDS;

	return own->quiet >= rounds && !nn_is_sub_packet(flow) && flow->win.w < own->reno;
}

nn_inline void netnice_hurry(struct nn_flow *flow, const struct nn_ack *ack)
{
	struct netnice *own = netnice_of(flow);
	u64 step = (u64)vegas_increase(flow, ack) * nn_max(flow->win.w / NETNICE_STEP, NN_ONE) >> NN_SHIFT;

	nn_window_set(&flow->win, nn_min(flow->win.w + step, own->reno));
	own->hurried = 2;
}

/* Among how many flows alpha and beta are shared; in slow start a flow has not found its part yet. */
nn_inline u32 netnice_sharing(const struct nn_flow *flow, const struct nn_siblings *siblings)
{
	return !nn_in_slow_start(&flow->win) ? nn_max(siblings->flows, 1) : 1;
}

/* A round without congestion. */
nn_inline void netnice_grow(struct nn_flow *flow, nn_params p, const struct nn_ack *ack,
			    const struct nn_siblings *siblings)
{
	struct netnice *own = netnice_of(flow);
	u32 base = nn_in_slow_start(&flow->win) ? flow->rtt.min : nn_max(flow->rtt.min, own->pair_rtt);
	u32 flows = netnice_sharing(flow, siblings), back = netnice_way_back(flow, ack);
	u64 diff;
	u32 most = nn_in_slow_start(&flow->win) ? NETNICE_GAMMA : p[NN_P_beta];

	base += back; /* part of both, so that Vegas counts by what the window really takes */
	flow->round.min_rtt = nn_add_saturating(flow->round.min_rtt, back);
	diff = vegas_diff(flow, p, base) * flows;
	own->quiet = flow->round.slow || diff >= (u64)p[NN_P_alpha] << NN_SHIFT ? 0 : nn_min(own->quiet + 1u, 127);
	if ((nn_in_slow_start(&flow->win) || own->hurried) && diff > (u64)most << NN_SHIFT) {
		netnice_drain(flow, p, ack);
		if (diff <= (u64)p[NN_P_beta] << NN_SHIFT)
			netnice_expect_more(own);
		return;
	}
	own->hurried -= own->hurried > 0;
	if (nn_in_slow_start(&flow->win) || !nn_window_limits(flow, ack))
		return;
	if (netnice_may_hurry(flow))
		netnice_hurry(flow, ack);
	else
		vegas_on_round(flow, p, ack, base, flows);
}

#endif
