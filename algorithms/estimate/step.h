/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A delay that jumps between two segments which left one after the other, and stays up: another flow's burst came in
 * between. The flow's own burst makes it grow by a packet time a segment.
 */
#ifndef NN_STEP_H
#define NN_STEP_H

#include "../receiver/segment.h"

#define NN_STEP_ARRIVALS 4 /* that must meet it */
#define NN_STEP_APART_US 5000 /* neighbours were sent at most so far apart: a pause is no jump */

struct nn_step {
	u32 queue, tsval; /* of the last arrival: us, and its timestamp */
	u32 before; /* the queue before the jump, us */
	u32 arrivals; /* since the jump; 0: there was none */
};

/* Did the queue jump by `least_us`? `tick`: of the sender's clock, us; 0: it has none. */
nn_inline bool nn_stepped(struct nn_step *s, const struct nn_segment *seg, u32 tick, u32 queue, u32 least_us)
{
	u32 apart = seg->tsval - s->tsval;
	s32 jump = (s32)(queue - s->queue), least = (s32)least_us;

	s->queue = queue;
	s->tsval = seg->tsval;
	if (!s->arrivals && jump < least)
		return false;
	if (s->arrivals)
		s->arrivals = queue >= s->before + least ? s->arrivals + 1 : 0;
	else if (seg->stamped && tick && apart * tick <= NN_STEP_APART_US) {
		s->arrivals = 1;
		s->before = queue - (u32)jump;
	}
	if (s->arrivals < NN_STEP_ARRIVALS)
		return false;
	s->arrivals = 0;
	return true;
}

#endif
