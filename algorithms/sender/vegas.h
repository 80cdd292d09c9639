/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TCP Vegas (Brakmo and Peterson, JSAC 1995) as TCP Nice uses it: section 2.1 of the Nice paper.
 *
 *   per round   diff = W (RTT - baseRTT) / RTT: own segments in the bottleneck's queue
 *               diff < alpha: W += 1;  diff > beta: W -= 1
 *   slow start  as Reno's, left when diff > gamma, W back to what the path carries without a queue
 *   loss        Reno's rules
 *
 * Deviations:
 * - RTT is the round's smallest sample, as in Linux's tcp_vegas.c, not a distinguished segment's. One late timer or
 *   delayed ACK must not look like a queue.
 * - Queueing delay below queue_floor counts as none, or a LAN's timer noise alone would hold the window down.
 * - Slow start doubles every round, not every other one: Linux's tcp_vegas.c does, and every round's RTT is looked at.
 * - Windows below two do not shrink: Vegas never goes below two segments.
 */
#ifndef NN_VEGAS_H
#define NN_VEGAS_H

#include "../pacing/pace.h"

#define VEGAS_PARAMS(P)                                                                                                \
	P(alpha, 1)                                                                                                    \
	P(beta, 3)                                                                                                     \
	P(gamma, 1)                                                                                                    \
	P(min_window, 8192)                                                                                            \
	P(queue_floor, 0)                                                                                              \
	P(force_window, 0)

NN_CORE_AS_RENO(vegas)

/* Segments that the flow itself keeps queued, 1/4096 segment; `base`: the RTT without a queue. */
nn_inline u64 vegas_diff(const struct nn_flow *flow, nn_params p, u32 base)
{
	u32 rtt = flow->round.min_rtt;

	if (rtt <= base || rtt - base <= p[NN_P_queue_floor])
		return 0;
	return (u64)flow->win.w * (rtt - base) / rtt;
}

/* One segment a round, or as much of it as of the window was delivered: never more than Reno would add. */
nn_inline u32 vegas_increase(const struct nn_flow *flow, const struct nn_ack *ack)
{
	u64 delivered = (u64)(ack->delivered - flow->round.credit) << NN_SHIFT;

	return delivered >= flow->win.w ? NN_ONE : (u32)((delivered << NN_SHIFT) / flow->win.w);
}

/* The rule of the round's end, for one of `flows` that keep alpha to beta segments together. */
nn_inline void vegas_on_round(struct nn_flow *flow, nn_params p, const struct nn_ack *ack, u32 base, u32 flows)
{
	struct nn_window *win = &flow->win;
	u64 diff = vegas_diff(flow, p, base) * flows;

	if (nn_in_slow_start(win)) {
		if (diff > (u64)p[NN_P_gamma] << NN_SHIFT)
			nn_shrink(win, win->w - (u32)diff);
		return;
	}
	if (diff > (u64)p[NN_P_beta] << NN_SHIFT) {
		if (win->w > 2 * NN_ONE)
			nn_shrink(win, nn_max(win->w - NN_ONE / flows, 2 * NN_ONE));
	} else if (diff < (u64)p[NN_P_alpha] << NN_SHIFT || !diff) {
		nn_window_set(win, (u64)win->w + vegas_increase(flow, ack));
	}
}

nn_inline void vegas_on_ack(struct nn_flow *flow, nn_params p, const struct nn_ack *ack)
{
	u32 rtt = nn_trusted_rtt(flow, ack);

	if (rtt) {
		nn_rtt_sample(&flow->rtt, rtt, ack->flags & NN_LONE);
		nn_round_count(&flow->round, ack, rtt, false);
	}
	if (nn_round_over(&flow->round, ack)) {
		if (flow->round.seen && flow->recovery == NN_OPEN && nn_may_grow(flow, ack))
			vegas_on_round(flow, p, ack, flow->rtt.min, 1);
		nn_round_begin(&flow->round, ack->delivered, ack->now_us);
	}
	if (nn_in_slow_start(&flow->win) && nn_is_tried(flow, ack))
		nn_flow_slow_start(flow, ack);
}

#endif
