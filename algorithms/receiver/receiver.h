/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a shim calls: one function an arrival, one an ACK. `chosen` is a row of table.h or NN_RECEIVER_OFF. */
#ifndef NN_RECEIVER_H
#define NN_RECEIVER_H

#include "table.h"

/* A flow starts, stops, or changes its algorithm, at any time of its life. */
nn_rare void nn_receiver_switch(struct nn_receiver *flow, nn_receiver_params p, u32 chosen, bool fresh)
{
	u32 mss = nn_max(flow->mss, 536);

	flow->algorithm = chosen < NN_RECEIVER_COUNT ? chosen + 1 : 0;
	flow->haste = 1;
	flow->low = 0;
	flow->granted = NN_GRANTED_NOTHING;
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

#define NN_TELLINGS_A_WINDOW 256
#define NN_WATCHED 2 /* rounds */
#define NN_WATCHED_US 1000000u /* without timestamps there are no rounds yet */

/* A flow in use begins to yield: from the next arrivals on. `acked`: the newest acknowledgement sent. */
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
	u32 floor = nn_max(flow->mss, 536) * nn_max(nn_min(p[NN_R_floor], 10), 1); /* 536: RFC 9293's least */

	if (nn_unlikely(flow->floor != floor)) /* what is not written stays in the other processor's cache */
		flow->floor = floor;
}

#define NN_COMPANY_US 1000000 /* a window below a segment shows a sign of life every 0.2 to 0.5 s */
#define NN_APART_US 100000 /* processors may see two arrivals in another order */

/* A round at the floor is over: is another flow of this host at its floor, too? */
nn_rare void nn_meet(struct nn_receiver *flow, struct nn_receiver_kin *kin, u32 now_us)
{
	if (!flow->number)
		flow->number = ++kin->numbers;
	if (kin->last != flow->number) {
		kin->other_us = kin->last_us;
		kin->last = flow->number;
	}
	kin->last_us = now_us;
	flow->company = now_us - kin->other_us + NN_APART_US < NN_COMPANY_US + NN_APART_US;
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

/* The same. Of its own copies an inlined core has nothing in memory. */
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

/* The first arrival, those that are only watched, those without a timestamp, and the first of another algorithm. */
nn_inline void nn_special_arrival(struct nn_receiver *flow, struct nn_receiver_kin *kin, nn_receiver_params p,
				  u32 chosen, const struct nn_segment *seg)
{
	u32 rounds = flow->rounds;

	flow->plain = nn_specially(flow, p, chosen, seg);
	if (flow->low && flow->rounds != rounds)
		nn_meet(flow, kin, seg->now_us);
}

nn_inline void nn_receiver_arrival(struct nn_receiver *flow, struct nn_receiver_kin *kin, nn_receiver_params p,
				   u32 chosen, const struct nn_segment *seg)
{
	struct nn_arrival arrival;
	u32 now_us = seg->now_us;
	u32 mss = flow->mss;

	if (nn_unlikely(!flow->plain || !seg->stamped || flow->algorithm != chosen + 1)) { /* + 1: off is 0 */
		struct nn_segment one = *seg;

		nn_special_arrival(flow, kin, p, chosen, &one);
		return;
	}
	nn_arrive(flow, seg, &arrival);
	if (nn_unlikely(arrival.round || flow->mss != mss))
		nn_floor(flow, p);
	nn_decide_plainly(flow, p, seg, &arrival);
	if (nn_unlikely(arrival.round && flow->low))
		nn_meet(flow, kin, now_us);
}

/* Bytes that the window may grow on an ACK: as many as it acknowledges, or twice that where the core is sure. */
nn_inline u32 nn_grown(const struct nn_receiver *flow, u32 acked)
{
	return flow->haste > 1 ? nn_add_saturating(acked, acked) : acked;
}

/* The window comes nearer to its target. */
nn_rare void nn_follow(struct nn_receiver *flow, u32 acked)
{
	if (flow->window < flow->target)
		flow->window = nn_min(flow->target, nn_add_saturating(flow->window, nn_grown(flow, acked)));
	else
		flow->window = nn_max(flow->target, flow->window - nn_min(acked, flow->window));
}

/*
 * The right edge, at most: the kernel rounds windows up to its scale, and senders fill that too. While a window shrinks,
 * its edge stands still; but what is left of it is rounded up with every ACK.
 */
nn_inline void nn_advance(struct nn_receiver *flow, u32 acked, u32 now_us)
{
	u32 edge = flow->acked + flow->window + flow->rounded, crept = flow->edge + nn_min(acked, flow->rounded);

	if (nn_unlikely(flow->granted == NN_GRANTED_NOTHING)) {
		flow->round.mark = flow->round.stamped ? flow->round.mark : edge;
		flow->granted = NN_GRANTED_MARK;
	} else if ((s32)(edge - crept) <= 0) {
		edge = crept;
		if (flow->granted == NN_GRANTED_MARK && !flow->round.stamped)
			flow->round.mark = edge;
	} else if (nn_unlikely(flow->granted == NN_GRANTED_MARK)) {
		if (!flow->round.stamped)
			flow->round.start_us = now_us;
		flow->granted = NN_GRANTED_MORE;
	}
	flow->edge = edge;
}

/* An ACK is about to leave: the window to advertise with it, bytes; 0: the kernel's own. */
nn_inline u32 nn_receiver_ack(struct nn_receiver *flow, const struct nn_leaving *ack)
{
	u32 acked = ack->ack - flow->acked;

	if (!flow->seen || (s32)acked < 0)
		acked = 0;
	flow->acked = ack->ack;
	if (nn_likely(acked))
		nn_remember_ack(flow, ack->clock, acked);
	if (!flow->algorithm)
		return 0;
	if (nn_unlikely(flow->window != flow->target))
		nn_follow(flow, acked);
	nn_advance(flow, acked, ack->now_us);
	return flow->window;
}

/*
 * Is `window`, the one to advertise with the ACK just sent, to be told to the kernel? Once a 256th of it was acknowledged
 * also if nothing changed, for the kernel overwrites what it was told when its receive buffer grows
 * (tcp_rcv_space_adjust), when segments turn out to be larger (tcp_measure_rcv_mss) and for SO_RCVLOWAT, and tells nobody;
 * from then on each segment that arrives may widen the window by two (tcp_grow_window). So a window is never more than a
 * 128th too wide, and those of up to 512 segments are told with every ACK. (A 64th was tried: rLEDBAT at 10 Mbit/s then
 * added 13 ms to a stranger's round trip instead of 11.)
 */
nn_inline bool nn_tell(struct nn_receiver *flow, u32 window)
{
	u32 told = flow->told;

	if (window == told && (!window || flow->acked - flow->told_at < window / NN_TELLINGS_A_WINDOW))
		return false;
	flow->told = window;
	flow->told_at = flow->acked;
	return true;
}

#endif
