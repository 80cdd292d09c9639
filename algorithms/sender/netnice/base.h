/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * netnice looks for its base RTT again when that is as old as base_rtt.h's window. Vegas' queue never empties, so after ten
 * minutes it was the base, and Vegas kept one more on top of it, and so on: twice the queue after half an hour.
 *
 * Once in that window the flow goes down to a quarter of its window for two rounds, and back. The host's clock says when,
 * so that its flows look together, and each sees past the others.
 */
#ifndef NN_NETNICE_BASE_H
#define NN_NETNICE_BASE_H

#include "path.h"

#define NETNICE_LOOK_SHIFT                                                                                             \
	28u /* us: every 268 s, once at least in NN_RTT_WINDOW_US; it divides the clock, which wraps */

/* Is it time to look for the base, and is it older than a window? */
nn_inline bool netnice_may_look(const struct nn_flow *flow, const struct nn_ack *ack)
{
	return (flow->round.start_us ^ ack->now_us) >> NETNICE_LOOK_SHIFT && flow->rtt.recent_min > flow->rtt.min &&
	       flow->win.w > NN_PAIR * NN_ONE && !nn_in_slow_start(&flow->win);
}

nn_inline void netnice_begin_look(struct nn_flow *flow)
{
	flow->win.prior_w = flow->win.w;
	nn_shrink(&flow->win, nn_max(flow->win.w / 4, NN_PAIR * NN_ONE));
	netnice_of(flow)->phase = NETNICE_EMPTYING;
}

/* A round of a look is over. Back after the last, unless others are there. */
nn_inline void netnice_look(struct nn_flow *flow, bool congested)
{
	bool last = netnice_of(flow)->phase == NETNICE_LOOKING;

	netnice_of(flow)->phase = last ? NETNICE_JUDGED : NETNICE_LOOKING;
	if (last && !congested)
		nn_undo(&flow->win);
}

#endif
