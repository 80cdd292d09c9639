/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a host's flows of one sender algorithm know of each other. Those to one place share its bottleneck: what they have
 * in flight together is one thing, and what one has measured of the queue holds for all.
 *
 * The shim keeps a struct nn_places for each algorithm, zero at first, and says by a number where a flow goes. Sums are
 * kept by atomic additions; the rest is written without a lock: a lost update is a late one.
 */
#ifndef NN_SIBLINGS_H
#define NN_SIBLINGS_H

#include "../common/flow.h"

#define NN_PLACE_BITS 6
#define NN_WORST_RTT_US 4000000u /* so long a worst RTT counts: longer than a flow below one segment is silent */

struct nn_place {
	u64 windows; /* sum, 1/4096 segment */
	u64 flows;
	u32 worst_rtt; /* with the buffer full, as the last knew it that sent next to nothing, us; 0: nobody told */
	u32 worst_rtt_us; /* when it told */
};

/* Two places may meet in a slot: they then share too. */
struct nn_places {
	s32 sub_packet; /* flows to any place whose window is below one segment */
	struct nn_place place[1 << NN_PLACE_BITS];
};

/* What a core is told of its siblings at the end of a round. */
struct nn_siblings {
	u32 flows; /* to the same place, this one included */
	u32 window; /* their mean, 1/4096 segment */
	u32 worst_rtt; /* as one of them told of late, us; 0: none did */
	u32 sub_packet; /* flows of the host, to any place, whose window is below one segment */
};

nn_inline void nn_add(u64 *sum, s64 change)
{
	__sync_fetch_and_add(sum, (u64)change);
}

nn_inline struct nn_place *nn_place_of(struct nn_places *places, u32 destination)
{
	return &places->place[(destination * 2654435761u) >> (32 - NN_PLACE_BITS)]; /* Knuth's multiplicative hash */
}

nn_inline u32 nn_sub_packet_flows(const struct nn_places *places)
{
	s32 flows = places->sub_packet;

	return flows > 0 ? (u32)flows : 0;
}

nn_inline struct nn_siblings nn_siblings_look(struct nn_places *places, u32 destination, u32 now_us)
{
	const struct nn_place *place = nn_place_of(places, destination);
	u64 flows = place->flows, mean = flows ? place->windows / flows : 0;
	struct nn_siblings siblings = {
		.flows = (u32)flows,
		.window = mean < NN_NEVER ? (u32)mean : NN_NEVER,
		.worst_rtt = now_us - place->worst_rtt_us < NN_WORST_RTT_US ? place->worst_rtt : 0,
		.sub_packet = nn_sub_packet_flows(places),
	};

	return siblings;
}

nn_inline void nn_siblings_join(struct nn_places *places, u32 destination, const struct nn_flow *flow)
{
	struct nn_place *place = nn_place_of(places, destination);

	nn_add(&place->flows, 1);
	nn_add(&place->windows, flow->win.w);
}

nn_inline void nn_siblings_leave(struct nn_places *places, u32 destination, const struct nn_flow *flow)
{
	struct nn_place *place = nn_place_of(places, destination);

	nn_add(&place->flows, -1);
	nn_add(&place->windows, -(s64)flow->win.w);
}

/* The flow's window was `before`. */
nn_inline void nn_siblings_change(struct nn_places *places, u32 destination, const struct nn_flow *flow, u32 before)
{
	if (flow->win.w != before)
		nn_add(&nn_place_of(places, destination)->windows, (s64)flow->win.w - before);
}

/* The flow is from now on among those below one segment, or no longer. */
nn_inline void nn_count_sub_packet(struct nn_places *places, struct nn_flow *flow, bool is)
{
	if (is == flow->sub_packet)
		return;
	__sync_fetch_and_add(&places->sub_packet, is ? 1 : -1);
	flow->sub_packet = is;
}

/* A flow below one segment tells what it knows of the worst RTT. */
nn_inline void nn_siblings_tell(struct nn_places *places, u32 destination, const struct nn_flow *flow, u32 now_us)
{
	struct nn_place *place = nn_place_of(places, destination);

	if (!nn_is_sub_packet(flow))
		return;
	place->worst_rtt = flow->rtt.max;
	place->worst_rtt_us = now_us;
}

#endif
