/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How TIDE gives way: it drains what it has queued itself, or backs off to the least window and stays there. */
#ifndef NN_TIDE_FALL_H
#define NN_TIDE_FALL_H

#include "../floor.h"
#include "state.h"

/* Did the window remembered not hold: a queue met as soon as the return had reached it? */
nn_inline bool tide_missed(const struct tide *t)
{
	return t->phase < TIDE_DOUBLING && t->settled < TIDE_SETTLED;
}

nn_inline void tide_stay(struct nn_receiver *flow)
{
	struct tide *t = tide_of(flow);

	tide_enter(flow, TIDE_FLOOR);
	flow->target = nn_floor_window(flow, t->paused);
	t->paused = nn_add_saturating(t->paused, 1);
	flow->growth = 1;
}

/* What comes in the next round left before the decrease. */
nn_inline void tide_cut(struct tide *t)
{
	t->settled = 0;
	t->hold = 1;
	nn_cut(&t->cut);
}

nn_rare void tide_back_off(struct nn_receiver *flow, u32 queue)
{
	struct tide *t = tide_of(flow);
	u32 share = nn_held_share(flow, flow->target, queue);

	if (t->route.trial)
		nn_route_reject(&t->route, &flow->delay.base);
	if (!flow->low)
		nn_remember(&t->memory, share, tide_missed(t), flow->sibling_low);
	tide_cut(t);
	t->paused = 0;
	tide_stay(flow);
	tide_calm(t);
	t->rate_max = 0;
	t->foreign = 0;
}

nn_inline void tide_drain(struct nn_receiver *flow, u32 queue, bool foreign)
{
	struct tide *t = tide_of(flow);
	u32 share = nn_held_share(flow, flow->target, queue);
	bool on_the_way = t->phase == TIDE_DOUBLING && t->memory.full != NN_NEVER && !flow->sibling_low;

	nn_set_target(flow, share);
	if (!on_the_way)
		nn_correct(&t->memory, share, !t->drained, tide_missed(t), flow->sibling_low);
	tide_cut(t);
	t->drained++;
	t->foreign = foreign;
	t->phase = on_the_way ? TIDE_EASING : TIDE_DRAINING;
	tide_calm(t);
}

#endif
