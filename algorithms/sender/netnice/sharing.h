/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sibling flows equalise. In every round without congestion, a flow above the siblings' mean gives a part of the difference
 * back (nn_share); no window is raised. Without the rule one of 16 flows at 100 Mbit/s has nearly all of it (nicer-together).
 *
 * Flows of equal windows congest in the same round, and halving all of them would empty the path. So the first congested round
 * drains the queue, the next halves.
 */
#ifndef NN_NETNICE_SHARING_H
#define NN_NETNICE_SHARING_H

#include "path.h"
#include "../../siblings/siblings.h"

/*
 * Mask: siblings may equalise if at most a quarter of them are below one segment or their mean is above a pair, and if this
 * flow no longer guesses maxRTT (worst_rtt.h). Without a branch: each doubles what the verifier follows.
 */
nn_inline u32 netnice_shared(const struct nn_flow *flow, const struct nn_ack *ack, const struct nn_siblings *siblings)
{
	u64 several = nn_less(1, siblings->flows), ample = nn_less(NN_PAIR * NN_ONE, siblings->window);
	u64 most = ample | ~nn_less(siblings->flows, 4 * siblings->asking);
	u64 knows = nn_less(NN_RTT_GUESS_US, ack->now_us - flow->rtt.window_us);

	return (u32)(several & most & knows);
}

/* How many they are, as `crowd` has room for. */
nn_inline u32 netnice_crowd(const struct nn_siblings *siblings)
{
	return (nn_less(3, siblings->flows) & 1) + (nn_less(15, siblings->flows) & 1) +
	       (nn_less(63, siblings->flows) & 1);
}

nn_inline void netnice_share(struct nn_flow *flow, const struct nn_ack *ack, const struct nn_siblings *siblings,
			     bool congested)
{
	u32 settled = ~nn_less(flow->win.w, flow->win.ssthresh) & ~nn_less(0, flow->recovery | congested);

	if (netnice_shared(flow, ack, siblings) & settled & ~nn_less(NETNICE_WAITING, netnice_of(flow)->phase))
		nn_share(&flow->win, siblings->window);
}

/* Is the queue the flow's own work, or for the first time in a row that of all that share? */
nn_inline bool netnice_may_drain(struct nn_flow *flow, u32 shared)
{
	return (netnice_of(flow)->hurried | (nn_less(flow->win.w, flow->win.ssthresh) & 1) | shared) != 0;
}

#endif
