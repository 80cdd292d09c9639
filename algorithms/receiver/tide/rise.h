/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How TIDE takes what other traffic leaves: double towards the window remembered, then creep.
 *
 * The downloads of a host grow as one flow: they share a segment a round. If each took one, sixteen would put five times the
 * target of 4 ms into the queue of 10 Mbit/s in one round. Documents beside them took 1.37 times as long as alone then, and
 * take 1.17 now. A flow below the mean takes a whole segment: Jain's index of 64 flows is 1.00 with that, .68 without.
 */
#ifndef NN_TIDE_RISE_H
#define NN_TIDE_RISE_H

#include "state.h"

/* What was drained is known to have been ours: back to what the path held. */
nn_inline void tide_refill(struct nn_receiver *flow, u32 full)
{
	nn_set_target(flow, full - full / 32);
	tide_calm(tide_of(flow));
}

nn_inline void tide_double(struct nn_receiver *flow, u32 known)
{
	flow->growth = tide_of(flow)->memory.full == NN_NEVER ? 1 : 2;
	nn_set_target(flow, nn_min((1 + flow->growth) * flow->target, known));
}

/* How many share a segment. */
nn_inline u32 tide_sharing(const struct nn_receiver *flow)
{
	return nn_max(flow->siblings, 1);
}

/* The flow's part of a segment that all grow by in a round, bytes. */
nn_inline u32 tide_part(const struct nn_receiver *flow)
{
	return flow->target < flow->siblings_window ? flow->mss : nn_max(flow->mss / tide_sharing(flow), 1);
}

nn_inline void tide_creep(struct nn_receiver *flow, u32 target, u32 mean)
{
	struct tide *t = tide_of(flow);
	u64 step;
	u32 most;

	t->phase = TIDE_CREEPING;
	t->settled++;
	t->quiet++;
	if (mean > 2 * target)
		tide_calm(t);
	if (t->quiet > 3)
		t->stride = nn_min(t->stride * 2, 64 * tide_sharing(flow));
	step = (u64)t->stride * tide_part(flow);
	most = nn_max(flow->target / (t->quiet > 8 ? 4 : 16), tide_part(flow));
	nn_set_target(flow, flow->target + (step < most ? step : most));
}

nn_inline void tide_grow(struct nn_receiver *flow, u32 target, u32 mean)
{
	struct tide *t = tide_of(flow);
	struct nn_memory *m = &t->memory;
	u32 known;

	if (t->phase != TIDE_CREEPING && m->full == NN_NEVER && mean > 2 * target) {
		t->phase = TIDE_CREEPING; /* the first start: leave before it overshoots */
		m->full = flow->target;
	}
	if (t->phase != TIDE_CREEPING && mean > 3 * target)
		return; /* others are leaving, or coming: the next round will tell */
	if (nn_unused(flow))
		return;
	known = nn_known(m);
	if (t->phase != TIDE_CREEPING && flow->target + 64 < known)
		tide_double(flow, known);
	else
		tide_creep(flow, target, mean);
}

/* The path is clear. */
nn_inline void tide_rise(struct nn_receiver *flow, u32 target, u32 mean)
{
	struct tide *t = tide_of(flow);
	u32 drained = t->drained, full = t->memory.full;

	nn_route_clear(&t->route, t->settled >= TIDE_SETTLED);
	t->phase &= ~(TIDE_ROW - 1);
	flow->low = 0;
	t->foreign = 0;
	t->drained = 0;
	nn_set_target(flow, flow->target); /* it was below the least window beside siblings */
	t->clear[1] = t->clear[0];
	t->clear[0] = flow->target;
	if (drained > 1 && full != NN_NEVER && flow->target < full)
		tide_refill(flow, full);
	else
		tide_grow(flow, target, mean);
}

/* What is left of the queue is small: neither clear nor full. */
nn_inline void tide_linger(struct nn_receiver *flow, u32 queue)
{
	struct tide *t = tide_of(flow);
	const struct nn_receiver_round *round = &flow->round;

	nn_route_watch(&t->route, queue);
	tide_calm(t);
	t->phase = flow->low ? TIDE_LEAVING : TIDE_CREEPING;
	t->foreign = 0;
	t->drained = 0;
	if (flow->target < round->bytes + round->bytes / 2 + 4 * flow->mss)
		nn_set_target(flow, flow->target + tide_part(flow));
}

#endif
