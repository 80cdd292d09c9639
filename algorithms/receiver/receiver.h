/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a shim calls: one function an arrival, one an ACK. `chosen` is a row of table.h or NN_RECEIVER_OFF. */
#ifndef NN_RECEIVER_H
#define NN_RECEIVER_H

#include "../siblings/downloads.h"
#include "arrival.h"
#include "table.h"
#include "window.h"

/* A flow starts, stops, or changes its algorithm, at any time of its life. */
nn_rare void nn_receiver_switch(struct nn_receiver *flow, nn_receiver_params p, u32 chosen, bool fresh)
{
	u32 mss = nn_max(flow->mss, NN_LEAST_MSS);

	flow->algorithm = chosen < NN_RECEIVER_COUNT ? chosen + 1 : 0;
	flow->growth = 1;
	flow->low = 0;
	flow->granted = NN_GRANTED_NOTHING;
	if (!flow->algorithm)
		return;
	flow->floor = nn_least_window(flow, p);
	if (fresh)
		flow->estimate = 0;
	flow->target = fresh ? mss * nn_max(nn_min(p[NN_R_initial], 100), 1) : nn_max(flow->estimate, flow->floor);
	flow->window = flow->target;
	switch (chosen) {
#define CASE(name, core, ...)                                                                                          \
	case NN_RA_##name:                                                                                             \
		core##_on_start(flow, p);                                                                              \
		break;
		NN_RECEIVERS(CASE)
#undef CASE
	}
}

#define NN_WATCHED 2 /* rounds */
#define NN_WATCHED_US 1000000u /* without timestamps there are no rounds yet */

/*
 * A flow in use begins to yield with the next arrivals. `acked`: the newest acknowledgement sent. While the sender's window is
 * measured, the right edge of the receive window stands still.
 */
nn_inline void nn_receiver_join(struct nn_receiver *flow, u32 acked)
{
	flow->acked = acked;
	flow->watched = NN_WATCHED;
	flow->plain = 0;
}

/* Its sender's window must be known first. True once: now it is, or has to do. */
nn_inline bool nn_joins(struct nn_receiver *flow, const struct nn_segment *seg, const struct nn_arrival *arrival)
{
	if (seg->stamped && arrival->round)
		flow->watched--;
	if (seg->now_us - flow->start_us > NN_WATCHED_US)
		flow->watched = 0;
	return !flow->watched;
}

nn_inline void nn_floor(struct nn_receiver *flow, nn_receiver_params p)
{
	u32 floor = nn_least_window(flow, p);

	if (nn_unlikely(flow->floor != floor)) /* what is not written stays in the other processor's cache */
		flow->floor = floor;
}

nn_inline void nn_decide(struct nn_receiver *flow, nn_receiver_params p, u32 chosen, const struct nn_segment *seg,
			 const struct nn_arrival *arrival)
{
	switch (chosen) {
#define CASE(name, core, ...)                                                                                          \
	case NN_RA_##name:                                                                                             \
		core##_on_arrival(flow, p, seg, arrival);                                                              \
		break;
		NN_RECEIVERS(CASE)
#undef CASE
	default:
		if (arrival->round)
			nn_round_start(flow, seg);
	}
}

/* The same, on copies: the compiler keeps an inlined core's state in registers. */
nn_inline void nn_decide_plainly(struct nn_receiver *flow, nn_receiver_params p, const struct nn_segment *seg,
				 const struct nn_arrival *arrival)
{
	switch (flow->algorithm - 1u) {
#define CASE(name, core, ...)                                                                                          \
	case NN_RA_##name: {                                                                                           \
		struct nn_segment one = *seg;                                                                          \
		struct nn_arrival what = *arrival;                                                                     \
                                                                                                                       \
		core##_on_arrival(flow, p, &one, &what);                                                               \
		break;                                                                                                 \
	}
		NN_RECEIVERS(CASE)
#undef CASE
	default: /* off */
		if (arrival->round)
			nn_round_start(flow, seg);
	}
}

/* True when the next arrival can be plain. (A value, for in eBPF a function without one may be left a pointer to return.) */
nn_rare bool nn_specially(struct nn_receiver *flow, nn_receiver_params p, u32 chosen, const struct nn_segment *seg)
{
	struct nn_arrival arrival;
	bool fresh = !flow->seen;
	u32 mss = flow->mss;

	nn_begin(flow, seg);
	nn_arrive(flow, seg, &arrival);
	if (flow->watched) {
		if (!nn_joins(flow, seg, &arrival))
			chosen = NN_RECEIVER_OFF;
		else /* at least what a new connection may have */
			fresh = flow->estimate < flow->mss * p[NN_R_initial];
	}
	if (flow->algorithm != (chosen < NN_RECEIVER_COUNT ? chosen + 1 : 0)) {
		nn_receiver_switch(flow, p, chosen, fresh);
		nn_round_start(flow, seg);
		arrival.round = false;
	}
	if (arrival.round || flow->mss != mss)
		nn_floor(flow, p);
	nn_decide(flow, p, flow->algorithm ? chosen : NN_RECEIVER_OFF, seg, &arrival);
	return flow->round.stamped && !flow->watched;
}

/* A round is over. A flow that does not yield, or not yet, is no sibling. */
nn_inline void nn_tell_siblings(struct nn_receiver *flow, struct nn_downloads *downloads, u32 now_us)
{
	struct nn_receiver_siblings *siblings = nn_downloads_of(downloads, flow, now_us);

	if (!siblings)
		return;
	if (flow->algorithm)
		nn_siblings_count(flow, siblings, now_us);
	if (flow->low)
		nn_meet(flow, siblings, now_us);
}

/* The first arrival, those that are only watched, those without a timestamp, and the first of another algorithm. */
nn_inline void nn_special_arrival(struct nn_receiver *flow, struct nn_downloads *downloads, nn_receiver_params p,
				  u32 chosen, const struct nn_segment *seg)
{
	u32 rounds = flow->rounds;

	flow->plain = nn_specially(flow, p, chosen, seg);
	if (flow->rounds != rounds)
		nn_tell_siblings(flow, downloads, seg->now_us);
}

nn_inline void nn_receiver_arrival(struct nn_receiver *flow, struct nn_downloads *downloads, nn_receiver_params p,
				   u32 chosen, const struct nn_segment *seg)
{
	struct nn_arrival arrival;
	u32 now_us = seg->now_us;
	u32 mss = flow->mss;

	if (nn_unlikely(!flow->plain || !seg->stamped || flow->algorithm != chosen + 1)) { /* + 1: off is 0 */
		struct nn_segment one = *seg;

		nn_special_arrival(flow, downloads, p, chosen, &one);
		return;
	}
	nn_arrive(flow, seg, &arrival);
	if (nn_unlikely(arrival.round || flow->mss != mss))
		nn_floor(flow, p);
	nn_decide_plainly(flow, p, seg, &arrival);
	if (nn_unlikely(arrival.round))
		nn_tell_siblings(flow, downloads, now_us);
}

/* An ACK is about to leave: the window to advertise with it, bytes; 0: the kernel's own. */
nn_inline u32 nn_receiver_ack(struct nn_receiver *flow, const struct nn_leaving *ack)
{
	u32 acked = ack->ack - flow->acked;

	if (!flow->seen || (s32)acked < 0)
		acked = 0;
	flow->acked = ack->ack;
	if (nn_unlikely((s32)(ack->ack - flow->next) > 0)) /* what is acknowledged has come */
		flow->next = ack->ack;
	if (nn_likely(acked))
		nn_sender_window_on_leaving(flow, ack->clock, acked);
	if (!flow->algorithm)
		return flow->watched ? nn_max(flow->mss, NN_LEAST_MSS) : 0;
	if (nn_unlikely(flow->window != flow->target))
		nn_follow(flow, acked);
	nn_advance(flow, acked, ack->now_us);
	return flow->window;
}

#endif
