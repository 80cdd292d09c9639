/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How a flow of the ladder (ladder.h) that is below one segment tells jitter and a longer way from a queue.
 *
 * Jitter. Where delays move by themselves by more than a band, a pair says nothing: one RTT is noise, the smallest of
 * eight is not. So the band is what the noise demands (jitter.h), and a flow there looks: after the longest silence, if
 * one of its last pairs was near the base, it sends a whole round of 20 segments. Is the smallest of their RTTs near the
 * base too, the flow stays; if not, it falls to the floor. Until it was alone for quiet_rounds it looks half as often each
 * time, down to once a minute for all flows of a host together: a look makes a flow of netnice halve. Beside a level that
 * always keeps a queue no pair is near the base and there is no look. The late comer of another host comes in that way.
 * Jitter is in every round, so any round tells what it is not more than; without that, what a look's own burst had taught
 * stayed, and one flow of netnice1 kept a third of the path beside one of netnice.
 *
 * A longer way is a queue at first. But queues move: when the RTTs of eight pairs, seconds apart, differ by less than the
 * band and lie farther off than any level's queue, they are the new base. With jitter nothing stands still, and the base
 * waits for base_rtt.h's window.
 */
#ifndef NN_LADDER_LOOK_H
#define NN_LADDER_LOOK_H

#include "path.h"

#define LADDER_PAIRS 8u /* by then every queue that a TCP keeps has moved */
#define LADDER_LOOK_APART 32u /* a minute between the looks of a host: each makes a flow of netnice halve */
#define LADDER_FAR 4u /* bands: more than the three packets of netnice, which stand still at times */

/* Long enough below one segment, and a path that a look does not fill, nor busies for more than a hundredth of the time. */
nn_inline bool ladder_may_look(struct nn_flow *flow, nn_params p, const struct nn_ack *ack,
			       const struct nn_siblings *siblings)
{
	struct ladder *own = ladder_of(flow);
	u64 silence = (u64)nn_max(siblings->asking, 1) * p[NN_P_max_gap] * 1000;

	return ack->now_us - own->since_us >= silence * own->look_apart && ladder_is_wide(flow);
}

nn_inline void ladder_begin_look(struct nn_flow *flow, u32 now_us)
{
	struct ladder *own = ladder_of(flow);

	nn_shrink(&flow->win, NN_PAIR * NN_ONE);
	own->look = LADDER_PAIR;
	own->hold = 0;
	own->since_us = now_us;
	own->look_apart =
		nn_lesser(2 * own->look_apart, LADDER_LOOK_APART); /* until it has been alone for quiet_rounds */
	ladder_forget(own);
}

/* A longer way: what is more than five minutes old no longer holds, and what the last pairs met is the base. */
nn_inline void ladder_rebase(struct nn_flow *flow, u32 now_us)
{
	flow->rtt.min = ladder_of(flow)->low;
	flow->rtt.recent_min = flow->rtt.min;
	flow->rtt.window_us = now_us;
}

/* Below one segment: what do the last pairs tell together? */
nn_inline void ladder_take_stock(struct nn_flow *flow, nn_params p, const struct nn_ack *ack,
				 const struct nn_siblings *siblings, u32 band)
{
	struct ladder *own = ladder_of(flow);
	u32 still = band + ladder_pair(flow), high = nn_greater(flow->round.max_rtt, own->low + own->spread), above;

	own->low = nn_lesser(own->low, flow->round.min_rtt);
	own->spread = nn_lesser(high - own->low, 0xffff);
	own->pairs++;
	above = nn_sub_saturating(own->low, flow->rtt.min);
	if (above <= still + still / 2 && ladder_may_look(flow, p, ack, siblings)) {
		ladder_begin_look(flow, ack->now_us);
	} else if (own->pairs >= LADDER_PAIRS) {
		if (own->spread <= still && above > LADDER_FAR * still)
			ladder_rebase(flow, ack->now_us);
		ladder_forget(own);
	}
}

#endif
