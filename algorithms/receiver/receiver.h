/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a shim calls: one function an arrival, one an ACK. `chosen` is a row of table.h or NN_RECEIVER_OFF. */
#ifndef NN_RECEIVER_H
#define NN_RECEIVER_H

#include "table.h"

/* A flow starts, stops, or changes its algorithm, at any time of its life. */
nn_inline void nn_receiver_switch(struct nn_receiver *flow, nn_receiver_params p, u32 chosen, bool fresh)
{
	u32 mss = nn_max(flow->mss, 536);

	flow->algorithm = chosen < NN_RECEIVER_COUNT ? chosen + 1 : 0;
	flow->haste = 1;
	flow->granted = 0;
	if (!flow->algorithm)
		return;
	flow->floor = mss * nn_max(nn_min(p[NN_R_floor], 10), 1);
	if (fresh)
		flow->estimate = 0;
	flow->target = fresh ? mss * nn_max(nn_min(p[NN_R_initial], 100), 1) : nn_max(flow->estimate, flow->floor);
	flow->window = flow->target;
	switch (chosen) {
#define CASE(name, core, ...)                                                                                          \
	case NN_RA_##name:                                                                                             \
		core##_start(flow, p);                                                                                 \
		break;
		NN_RECEIVERS(CASE)
#undef CASE
	}
}

nn_inline void nn_receiver_arrival(struct nn_receiver *flow, nn_receiver_params p, u32 chosen,
				   const struct nn_segment *seg)
{
	struct nn_arrival arrival;
	bool fresh = !flow->seen;

	nn_arrive(flow, seg, &arrival);
	if (flow->algorithm != (chosen < NN_RECEIVER_COUNT ? chosen + 1 : 0)) {
		nn_receiver_switch(flow, p, chosen, fresh);
		nn_round_start(flow, seg);
	}
	flow->floor = nn_max(flow->mss, 536) * nn_max(nn_min(p[NN_R_floor], 10), 1); /* 536: RFC 9293's least */
	switch (flow->algorithm ? chosen : NN_RECEIVER_OFF) {
#define CASE(name, core, ...)                                                                                          \
	case NN_RA_##name:                                                                                             \
		core##_on_arrival(flow, p, seg, &arrival);                                                             \
		break;
		NN_RECEIVERS(CASE)
#undef CASE
	default:
		if (arrival.round)
			nn_round_start(flow, seg);
	}
}

/* Bytes that the window may grow on an ACK: as many as it acknowledges, or twice that where the core is sure. */
nn_inline u32 nn_grown(const struct nn_receiver *flow, u32 acked)
{
	return flow->haste > 1 ? nn_add_saturating(acked, acked) : acked;
}

/* An ACK is about to leave: the window to advertise with it, bytes; 0: the kernel's own. */
nn_inline u32 nn_receiver_ack(struct nn_receiver *flow, const struct nn_leaving *ack)
{
	u32 acked = ack->ack - flow->acked;

	if (!flow->seen || (s32)acked < 0)
		acked = 0;
	flow->acked = ack->ack;
	if (acked)
		nn_remember_ack(&flow->acks, ack->clock, acked);
	if (!flow->algorithm)
		return 0;
	if (flow->window < flow->target)
		flow->window = nn_min(flow->target, nn_add_saturating(flow->window, nn_grown(flow, acked)));
	else
		flow->window = nn_max(flow->target, flow->window - nn_min(acked, flow->window));
	flow->edge = ack->ack + flow->window;
	if (!flow->granted) {
		flow->granted = 1;
		if (!flow->round.stamped) {
			flow->round.mark = flow->edge;
			flow->round.start_us = ack->now_us;
		}
	}
	return flow->window;
}

#endif
