/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A delay that stands still is the path's: a longer route, or a card that waits for more segments to join. Queues move.
 * So it is tried as the path's, and the trial is judged by what the flow meets once it grows again.
 *
 *     watched --still for `wait` rounds--> tried --16 clear rounds--> watched, with the longer base
 *                                            |
 *                                            +--a queue in 4 rounds--> rejected: watched, with the base as it was,
 *                                                                      and `wait` is twice as long
 */
#ifndef NN_ROUTE_H
#define NN_ROUTE_H

#include "base_delay.h"

#define NN_ROUTE_WAIT 32 /* rounds: more than a sawtooth's top takes to move by half of TIDE's target */
#define NN_ROUTE_LONGEST 1024 /* rounds between trials */
#define NN_ROUTE_TRIAL 16 /* rounds: to double from one segment to a thousand, and a few */
#define NN_ROUTE_DOUBTS 3 /* rounds of a trial with a queue: a return overshoots by that much at times */

struct nn_route {
	u32 low, high; /* us: between them lay the least queues of the last `still` rounds */
	u32 still;
	u32 wait; /* rounds a delay stands still before it is tried as the path's */
	u32 trial; /* clear rounds that the trial still takes; 0: there is none */
	u32 base, base_rtt; /* before it */
	u8 doubts; /* rounds of the trial that met a queue, perhaps our own */
};

/* Whether a delay stands still is watched from here on. */
nn_inline void nn_route_watch(struct nn_route *r, u32 queue)
{
	r->low = queue;
	r->high = queue;
	r->still = 0;
}

/* A round whose least queue was so many us: have they lain within `width` for long enough? */
nn_inline bool nn_route_stands(struct nn_route *r, u32 queue, u32 width)
{
	r->low = nn_min(r->low, queue);
	r->high = nn_max(r->high, queue);
	if (r->high - r->low > width)
		nn_route_watch(r, queue);
	return ++r->still > r->wait;
}

nn_inline void nn_route_try(struct nn_route *r, struct nn_base_delay *base)
{
	r->base = base->least;
	r->base_rtt = base->rtt_min;
	nn_base_lengthen(base, r->low);
	r->trial = NN_ROUTE_TRIAL;
	r->doubts = 0;
	nn_route_watch(r, 0);
}

nn_inline void nn_route_reject(struct nn_route *r, struct nn_base_delay *base)
{
	r->trial = 0;
	r->wait = nn_min(r->wait * 2, NN_ROUTE_LONGEST);
	nn_base_restore(base, r->base, r->base_rtt);
	nn_route_watch(r, 0);
}

/* A round met a queue. Too many of the trial? */
nn_inline bool nn_route_doubt(struct nn_route *r)
{
	return r->trial && ++r->doubts > NN_ROUTE_DOUBTS;
}

/* A round was clear. `settled`: the flow has been as large as ever for a while. */
nn_inline void nn_route_clear(struct nn_route *r, bool settled)
{
	if (r->trial)
		r->trial--;
	else if (settled)
		r->wait = NN_ROUTE_WAIT;
}

#endif
