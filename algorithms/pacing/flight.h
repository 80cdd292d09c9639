/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How much of its window a flow uses. A flow that is receiver-limited or
 * application-limited has not tried its window, which must not grow. Linux asks tcp_is_cwnd_limited(); a core sees only
 * ACKs.
 */
#ifndef NN_FLIGHT_H
#define NN_FLIGHT_H

#include "../common/verifier.h"
#include "pace.h"

/* Segments that were in flight when this ACK came. */
nn_inline u64 nn_flight(const struct nn_ack *ack)
{
	return (u64)ack->in_flight + ack->acked;
}

/* The widest window that this flight can belong to, 1/4096 segment: what leaves paced and in bursts is that much less. */
nn_inline u64 nn_window_of_flight(const struct nn_ack *ack)
{
	u64 flight = nn_flight(ack);

	return (flight + flight / 4 + NN_PAIR + 1) << NN_SHIFT;
}

/*
 * What was in flight when the round began, and has been sent since. In slow start a burst of ACKs, of a first window or over
 * radio, makes the window grow faster than pacing fills it.
 */
nn_inline u64 nn_flight_of_round(const struct nn_flow *flow, const struct nn_ack *ack)
{
	return nn_flight(ack) + (ack->delivered - flow->round.end);
}

/* Is the window what holds the flow back? Slow start may have twice as much as is in use, as in Linux. */
nn_inline bool nn_window_limits(const struct nn_flow *flow, const struct nn_ack *ack)
{
	if (nn_in_slow_start(&flow->win))
		return flow->win.w < (2 * nn_flight_of_round(flow, ack)) << NN_SHIFT;
	return flow->win.w < nn_window_of_flight(ack);
}

/* Has the whole window been tried, and did all of it arrive? */
nn_inline bool nn_is_tried(const struct nn_flow *flow, const struct nn_ack *ack)
{
	return nn_may_grow(flow, ack) && nn_window_limits(flow, ack);
}

#endif
