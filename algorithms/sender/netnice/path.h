/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What netnice knows of its path, and whether a segment met congestion. What differs from TCP Nice here:
 *
 * - Below one segment the threshold is sub_packet_threshold. Few go ahead on one lucky pair, and a flow that did meets the
 *   lower threshold at once; with one for both, the lower keeps many flows from what pages leave between them, and the
 *   higher lets those stay that started beside a long transfer and never saw the path empty.
 * - Queueing below queue_floor (1 ms) is not congestion, whatever t says: on a LAN it is timer noise.
 * - A queue of own_queue segments is not either: below some 4 Mbit/s (at 40 ms) t of the buffer is less than what Vegas
 *   keeps there, and a flow that flees from itself gets half of an idle 1 Mbit/s. Eight are beta, a pair, and what a
 *   level below asks with; of four, 19 flows of netnice1 left half. After a loss it is a pair's: such a buffer may be no
 *   longer than that queue, and a transfer that shares it needs the rest.
 * - Below one segment the worst of some pairs replaces a larger maxRTT: what they meet is others' queue, and a late comer,
 *   whose first guess of maxRTT was twice a long queue, would take too much of it for none.
 */
#ifndef NN_NETNICE_PATH_H
#define NN_NETNICE_PATH_H

#include "../../estimate/service_time.h"
#include "../../pacing/flight.h"

#define NETNICE_ANY 0xffffu /* a capacity that is not known, or does not matter */
#define NETNICE_LONGEST ((1u << 24) - 1) /* us */
#define NETNICE_OWN_QUEUE 64u /* the parameter's range */

/* What the round at hand is for. */
enum netnice_phase {
	NETNICE_JUDGED, /* its segments tell whether others are there */
	NETNICE_WAITING, /* they left before the last cut, and tell nothing new */
	NETNICE_EMPTYING, /* first round of a look for the base: the queue empties */
	NETNICE_LOOKING, /* second: a pair meets none */
};

struct netnice {
	struct nn_window reno; /* what Reno would have: growth in a hurry stays below it */
	struct nn_worst worst;
	u32 pair_rtt : 24; /* the least RTT of a segment that was not alone, us; 0: none yet */
	u32 service : 8; /* time of a segment at the bottleneck (service_time.h) */
	u16 capacity; /* the window that last filled the path without a queue, segments */
	u8 quiet; /* rounds in a row without a queue */
	u8 lossy : 1; /* a loss was seen: the buffer may be as short as the own queue */
	u8 phase : 2; /* enum netnice_phase */
	u8 hurried : 3; /* so many rounds tell of a window that grew faster than Vegas' */
	u8 drained : 1; /* the last congestion was taken for the queue of this flow's siblings */
};

NN_CORE_STATE(netnice, netnice_of)

/* How long a queue of its own a flow bears, us. */
nn_inline u32 netnice_own_queue(struct nn_flow *flow, nn_params p)
{
	return nn_service_us(netnice_of(flow)->service) *
	       nn_min(p[NN_P_own_queue], netnice_of(flow)->lossy ? NN_PAIR : NETNICE_OWN_QUEUE);
}

/* Did a segment of this RTT meet congestion? */
nn_inline bool netnice_is_slow(struct nn_flow *flow, nn_params p, u32 rtt)
{
	u32 least = p[NN_P_queue_floor], percent;

	if (nn_unlikely(nn_service_is_slow(netnice_of(flow)->service)))
		least = nn_max(least, netnice_own_queue(flow, p));
	if (!nn_rtt_is_above(&flow->rtt, least, rtt))
		return false;
	percent = nn_is_sub_packet(flow) ? p[NN_P_sub_packet_threshold] : p[NN_P_threshold];
	return nn_rtt_is_slow(&flow->rtt, p[NN_P_estimator], percent, rtt);
}

nn_inline void netnice_on_rtt(struct nn_flow *flow, nn_params p, const struct nn_ack *ack, u32 rtt)
{
	struct netnice *own = netnice_of(flow);
	bool lone = ack->flags & NN_LONE;

	nn_rtt_sample(&flow->rtt, p[NN_P_estimator], ack->now_us, rtt, lone);
	if (lone)
		return;
	if (nn_unlikely(!own->pair_rtt || rtt < own->pair_rtt))
		own->pair_rtt = nn_min(rtt, NETNICE_LONGEST);
	if (nn_unlikely(nn_is_sub_packet(flow)))
		nn_rtt_worst(&flow->rtt, p[NN_P_estimator], &own->worst, rtt);
	nn_round_count(&flow->round, ack, rtt, netnice_is_slow(flow, p, rtt));
}

#endif
