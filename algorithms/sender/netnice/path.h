/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What netnice knows of its path, and whether a segment met congestion. What differs from TCP Nice here:
 *
 * - Below one segment the threshold is another, 36 %. Few go ahead on one lucky pair, and a flow that did meets the
 *   lower threshold at once; with one for both, the lower keeps many flows from what pages leave between them, and the
 *   higher lets those stay that started beside a long transfer and never saw the path empty.
 * - The threshold is for one flow. What each of many of a host may queue before it yields is less: with one threshold for
 *   all, sixteen cost documents 14 % at 74 % of the spare, so 10 % at 65 %.
 * - What one of many judges is what exceeds a pair's own time: with a base that a small segment told, a pair alone was
 *   congestion to it, and sixteen left a third of an idle 10 Mbit/s for ten seconds.
 * - Queueing below queue_floor (1 ms) is not congestion, whatever t says: on a LAN it is timer noise.
 * - A queue of nine segments is not either: below some 4 Mbit/s (at 40 ms) t of the buffer is less than what Vegas
 *   keeps there, and a flow that flees from itself gets half of an idle 1 Mbit/s. They are beta, a pair, and what a
 *   level below asks with. Of eight, sixteen flows find 94.7 % of an idle 10 Mbit/s; of four, 19 flows of netnice1 left
 *   half. After a loss it is a pair's: such a buffer may be no longer than that queue, and a transfer that shares it needs
 *   the rest.
 * - Below one segment the worst of some pairs replaces a larger maxRTT: what they meet is others' queue, and a late comer,
 *   whose first guess of maxRTT was twice a long queue, would take too much of it for none.
 */
#ifndef NN_NETNICE_PATH_H
#define NN_NETNICE_PATH_H

#include "../../estimate/base_rtt.h"
#include "../../estimate/forward_delay.h"
#include "../../estimate/service_time.h"
#include "../../estimate/standstill.h"
#include "../../estimate/worst_rtt.h"
#include "../../pacing/flight.h"

#define NETNICE_ANY 0xffffu /* a capacity that is not known, or does not matter */
#define NETNICE_LONGEST ((1u << 24) - 1) /* us */
#define NETNICE_PARTS 0x0d111820u /* of the threshold, 1/32, a byte for each `crowd`: about 2/(2 + crowd), undivided */
#define NETNICE_SUB_PACKET_THRESHOLD 36u /* per cent of the buffer */
#define NETNICE_OWN_QUEUE 9u /* segments */

/* What the round at hand is for. */
enum netnice_phase {
	NETNICE_JUDGED, /* its segments tell whether others are there */
	NETNICE_WAITING, /* they left before the last cut, and tell nothing new */
	NETNICE_EMPTYING, /* first round of a look for the base: the queue empties */
	NETNICE_LOOKING, /* second: a pair meets none */
};

struct netnice {
	u32 reno; /* the window that Reno would have, 1/4096 segment (reno_bound.h) */
	struct nn_forward forward;
	struct nn_worst worst;
	u16 reno_ssthresh; /* segments */
	struct nn_still still;
	u32 pair_rtt : 24; /* the least RTT of a segment that was not alone, us; 0: none yet */
	u32 service : 8; /* time of a segment at the bottleneck (service_time.h) */
	u16 capacity; /* the window that last filled the path without a queue, segments */
	u16 quiet : 7; /* rounds in a row without a queue */
	u16 lossy : 1; /* a loss was seen: the buffer may be as short as the own queue */
	u16 phase : 2; /* enum netnice_phase */
	u16 hurried : 2; /* so many rounds tell of a window that grew faster than Vegas' */
	u16 drained : 1; /* the last congestion was taken for the queue of this flow's siblings */
	u16 crowd : 2; /* of so many flows of the host to the place: fewer than 4, 16, 64, or more */
	u16 clocked : 1; /* the peer's clock is known: the RTT less what waited on the way back is judged */
};

NN_CORE_STATE(netnice, netnice_of)

/* How long a queue of its own a flow bears, us. */
nn_inline u32 netnice_own_queue(struct nn_flow *flow)
{
	return nn_service_us(netnice_of(flow)->service) * (netnice_of(flow)->lossy ? NN_PAIR : NETNICE_OWN_QUEUE);
}

/* Per cent of the buffer, for one of so many flows. */
nn_inline u32 netnice_threshold(struct nn_flow *flow, nn_params p)
{
	return p[NN_P_threshold] * (NETNICE_PARTS >> 8 * netnice_of(flow)->crowd & 0xff) / 32;
}

/*
 * How much longer a pair takes than what the base was measured with, us: a handshake's or a greeting's small segment is
 * faster by the service time of two full ones. An eighth of the base at most, for the least pair may have met a queue.
 */
nn_inline u32 netnice_pair_time(struct nn_flow *flow)
{
	u32 above = nn_sub_saturating(netnice_of(flow)->pair_rtt, flow->rtt.min);

	return nn_min(above, flow->rtt.min / 8);
}

/* Did a segment of this RTT meet congestion? */
nn_inline bool netnice_is_slow(struct nn_flow *flow, nn_params p, u32 rtt)
{
	u32 least = p[NN_P_queue_floor], percent;

	if (nn_unlikely(netnice_of(flow)->crowd))
		rtt = nn_max(flow->rtt.min, nn_sub_saturating(rtt, netnice_pair_time(flow)));
	if (nn_unlikely(nn_service_is_slow(netnice_of(flow)->service)))
		least = nn_max(least, netnice_own_queue(flow));
	if (!nn_rtt_is_above(&flow->rtt, least, rtt))
		return false;
	percent = nn_is_sub_packet(flow) ? NETNICE_SUB_PACKET_THRESHOLD : netnice_threshold(flow, p);
	return nn_worst_is_slow(&flow->rtt, percent, rtt);
}

/* The RTT that this segment would have had, had its ACK met no queue. */
nn_inline u32 netnice_one_way(struct nn_flow *flow, const struct nn_ack *ack, u32 rtt, bool fell)
{
	struct netnice *own = netnice_of(flow);
	bool clocked = own->clocked;
	u32 queue = rtt - flow->rtt.min;

	if (!clocked && nn_forward_waits(&own->forward, ack, rtt, fell))
		return rtt;
	if (nn_likely(ack->peer_stamp)) {
		queue = nn_forward_queue(&own->forward, &clocked, ack, rtt, flow->rtt.min, fell);
		if (nn_unlikely(clocked != own->clocked))
			own->clocked = clocked;
	}
	return flow->rtt.min + queue;
}

/*
 * What ACKs wait on their way, us: the window pays for it, and no queue of its own is in it. The lesser of what this ACK
 * waited and of what the smoothed RTT exceeds the round's worst queue by: one alone is at times a queue of its own.
 */
nn_inline u32 netnice_way_back(struct nn_flow *flow, const struct nn_ack *ack)
{
	struct netnice *own = netnice_of(flow);
	u32 both = nn_sub_saturating(ack->rtt_us, flow->rtt.min);
	u32 there = nn_one_way(own->forward.tick_us, ack, ack->rtt_us) - own->forward.base;
	u32 waited = nn_sub_saturating(both, there);

	return nn_min(waited, nn_sub_saturating(flow->rtt.smoothed, flow->round.max_rtt)) & (0u - own->clocked);
}

/* A longer way: the flow is on a path that it does not know, and begins as on one. */
nn_rare void netnice_reroute(struct nn_flow *flow, u32 now_us)
{
	struct netnice *own = netnice_of(flow);
	u32 base = nn_still_us(&own->still);

	nn_rtt_init(&flow->rtt, now_us, base);
	nn_base_rtt_sample(&flow->rtt, now_us, base);
	nn_still_forget(&own->still);
	nn_forward_forget(&own->forward);
	own->clocked = 0;
	own->pair_rtt = 0;
	flow->win.ssthresh = NN_MAX_WINDOW;
}

/* A pair of a flow below one segment. */
nn_rare void netnice_on_pair(struct nn_flow *flow, nn_params p, const struct nn_ack *ack, u32 queued)
{
	struct netnice *own = netnice_of(flow);

	nn_worst_meet(&flow->rtt, &own->worst, queued);
	if (netnice_is_slow(flow, p, queued) && nn_still_see(&own->still, queued, p[NN_P_queue_floor]))
		netnice_reroute(flow, ack->now_us);
}

nn_inline void netnice_on_rtt(struct nn_flow *flow, nn_params p, const struct nn_ack *ack, u32 rtt)
{
	struct netnice *own = netnice_of(flow);
	u32 queued, before = flow->rtt.min;

	nn_base_rtt_sample(&flow->rtt, ack->now_us, rtt);
	queued = netnice_one_way(flow, ack, rtt, flow->rtt.min < before);
	if (ack->flags & NN_LONE) {
		if (flow->win.w >= NN_PAIR * NN_ONE) /* below, pairs leave together */
			nn_rtt_smooth_lone(&flow->rtt, rtt);
		return;
	}
	nn_rtt_smooth(&flow->rtt, rtt);
	nn_worst_sample(&flow->rtt, queued);
	if (nn_unlikely(!own->pair_rtt || queued < own->pair_rtt))
		own->pair_rtt = nn_min(queued, NETNICE_LONGEST);
	if (nn_unlikely(nn_is_sub_packet(flow)))
		netnice_on_pair(flow, p, ack, queued);
	nn_round_count(&flow->round, ack, queued, netnice_is_slow(flow, p, queued));
}

#endif
