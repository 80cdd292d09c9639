/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Siblings share alike: of 16 at 100 Mbit/s one had nearly all, of 64 too in every second run. Once each knows the path and few
 * are below one segment, or there is a pair for each, who has more than their mean gives a part of it back in every clear round;
 * none is raised. So they congest together too, and to halve all of them for a queue that is theirs empties the path: the first
 * congested round drains, the next halves.
 */
#ifndef NN_NETNICE_SHARING_H
#define NN_NETNICE_SHARING_H

#include "path.h"
#include "../../siblings/siblings.h"

/*
 * All ones if nearly all siblings have a window, or there is a pair for each, and this one knows the path: it is theirs to
 * share. Else zero. Without a branch: each doubles what the verifier follows.
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
