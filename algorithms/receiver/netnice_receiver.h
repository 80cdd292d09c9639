/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * netnice as a receiver: the sender's core (../sender/netnice.h), the same file, fed with what arrives.
 *
 *   a sender's ACK     here
 *   RTT                base RTT and the queue on the way here (../estimate/delay.h)
 *   delivered          segments that came
 *   round              from an ACK to the first data that it let go
 *   in flight          the sender's window, as it is estimated
 *   siblings           the downloads of the host
 *   window             the window to advertise; below a segment what floor.h says, and the round stands for a pair
 *
 * Deviations from the sender:
 * - A loss tells of the path only, how long its buffer is and that it was full: the window to halve is the peer's.
 * - Reno's bound on growth in a hurry is left out. The peer's own congestion control bounds what comes, and with it a path
 *   of 86 segments was found again after 10 s, without in 5.
 *
 * Beside documents it is as good as TIDE (tide.h), the default, for one download and sixteen; TIDE finds a path again in 2 s
 * and costs less beside four, as it remembers what the path held. docs/one-core.md has the numbers.
 */
#ifndef NN_NETNICE_RECEIVER_H
#define NN_NETNICE_RECEIVER_H

#include "../sender/netnice.h"
#include "first_cut.h"
#include "floor.h"

#define NETNICE_RECEIVER_PARAMS(P)                                                                                     \
	P(floor, 1)                                                                                                    \
	P(initial, 10)                                                                                                 \
	P(skew, 0)

struct netnice_receiver {
	struct nn_flow sender; /* what the core remembers, as if this end sent */
	struct nn_ack ack; /* of the last arrival; not on the stack, of which eBPF has 512 bytes */
	struct nn_siblings siblings; /* likewise */
	u32 delivered; /* segments, wraps */
	u8 paused; /* rounds below one segment */
	u8 cut; /* enum nn_cut */
};

NN_RECEIVER_STATE(netnice_receiver, netnice_receiver_of)

/* As the table has them: what is set live is the sender's alone. */
static const u32 netnice_row[NN_PARAM_COUNT] = { NETNICE_PARAMS(NN_PARAM_VALUE) };

/* Bytes as a window, 1/4096 segment. */
nn_inline u32 nn_window_of_bytes(const struct nn_receiver *flow, u32 bytes)
{
	u64 w = ((u64)bytes << NN_SHIFT) / nn_max(flow->mss, 1);

	return w < NN_MAX_WINDOW ? (u32)w : NN_MAX_WINDOW;
}

nn_inline void netnice_receiver_on_start(struct nn_receiver *flow, nn_receiver_params p)
{
	struct netnice_receiver *own = netnice_receiver_of(flow);

	(void)p;
	__builtin_memset(own, 0, sizeof(*own));
	netnice_on_start(&own->sender, netnice_row, flow->round.start_us, 0, 0);
	netnice_reno_start(netnice_of(&own->sender), NN_MAX_WINDOW);
	nn_window_set(&own->sender.win, nn_window_of_bytes(flow, flow->target));
	own->cut = flow->estimate ? NN_CUT_NONE : NN_CUT_SEEN; /* a new connection has been granted nothing */
	if (flow->estimate)
		own->sender.win.ssthresh = own->sender.win.w;
}

/* An arrival as the ACK that a sender would have had of it. */
nn_inline const struct nn_ack *netnice_ack_of(struct nn_receiver *flow, const struct nn_segment *seg,
					      const struct nn_arrival *arrival)
{
	struct netnice_receiver *own = netnice_receiver_of(flow);
	u32 base = flow->delay.base.rtt_min;
	bool told = base != NN_NEVER && (seg->stamped || arrival->round);

	own->delivered += seg->segments;
	own->ack = (struct nn_ack){
		.now_us = seg->now_us,
		.delivered = own->delivered,
		.sent_delivered = own->sender.round.end - !arrival->round,
		.acked = seg->segments,
		.rtt_us = told ? nn_add_saturating(base, arrival->queue) : 0,
		.in_flight = arrival->round ? flow->estimate / nn_max(flow->mss, 1) : 0,
		.mss = flow->mss,
		.flags = arrival->round && nn_unused(flow) ? NN_APP_LIMITED : 0,
	};
	return &own->ack;
}

nn_rare void netnice_receiver_on_round(struct nn_receiver *flow, const struct nn_ack *ack)
{
	struct netnice_receiver *own = netnice_receiver_of(flow);

	if (nn_cut_is_unseen(flow, &own->cut)) {
		nn_round_begin(&own->sender.round, ack->delivered, ack->now_us);
		return;
	}
	own->siblings = (struct nn_siblings){
		.flows = nn_max(flow->siblings, 1),
		.window = nn_window_of_bytes(flow, flow->siblings_window),
	};
	netnice_on_round_end(&own->sender, netnice_row, ack, &own->siblings);
	own->paused = nn_is_sub_packet(&own->sender) ? nn_min(own->paused + 1, 255) : 0;
}

nn_inline void netnice_receiver_on_arrival(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg,
					   const struct nn_arrival *arrival)
{
	struct netnice_receiver *own = netnice_receiver_of(flow);
	const struct nn_ack *ack = netnice_ack_of(flow, seg, arrival);
	struct nn_flow *sender = &own->sender;
	u32 before = sender->win.w;

	(void)p;
	if (nn_unlikely(arrival->hole))
		netnice_lost(sender);
	nn_forget();
	netnice_on_ack(sender, netnice_row, ack);
	if (nn_unlikely(arrival->round)) {
		netnice_receiver_on_round(flow, ack);
		nn_round_start(flow, seg);
	}
	sender->last_us = ack->now_us;
	if (sender->win.w < before)
		nn_cut(&own->cut);
	flow->low = nn_is_sub_packet(sender);
	if (flow->low)
		flow->target = nn_floor_window(flow, own->paused);
	else
		nn_set_target(flow, (u64)sender->win.w * flow->mss >> NN_SHIFT);
}

#endif
