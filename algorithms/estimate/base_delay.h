/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The path's delay without a queue: the least one-way delay of 4 x 64 s, and the least round trip of the present 64 s. A
 * longer route looks like a queue until the base is forgotten, or until nn_base_lengthen() accepts it.
 */
#ifndef NN_BASE_DELAY_H
#define NN_BASE_DELAY_H

#include "../common/types.h"

#define NN_BASES 4
#define NN_BASE_US 64000000u

struct nn_base_delay {
	u32 owd[NN_BASES]; /* smallest one-way delay of each span, us of an arbitrary zero */
	u32 least; /* of them */
	u32 since_us; /* when the present span began */
	u32 current; /* its index */
	u32 rtt_min; /* smallest round trip, us; NN_NEVER: none yet */
	u32 rtt_recent; /* smallest of the present turn */
};

nn_inline void nn_base_init(struct nn_base_delay *base)
{
	base->rtt_min = NN_NEVER;
	base->rtt_recent = NN_NEVER;
	base->current = 0;
}

/* Inline: eBPF sums up the stacks of calls within calls, to 512 bytes. */
nn_inline void nn_base_set(struct nn_base_delay *base, u32 owd)
{
	for (int i = 0; i < NN_BASES; i++)
		base->owd[i] = owd;
	base->least = owd;
}

/* Rare: not inlined into the code that every arrival runs. */
nn_rare void nn_base_move(struct nn_base_delay *base, u32 owd)
{
	nn_base_set(base, owd);
}

/* What looked like a queue of so many us is taken for the path's. */
nn_inline void nn_base_lengthen(struct nn_base_delay *base, u32 us)
{
	nn_base_set(base, base->least + us);
	base->rtt_min = nn_add_saturating(base->rtt_min, us);
	base->rtt_recent = nn_max(base->rtt_recent, base->rtt_min);
}

/* It was none: back to what was known before, or to the shorter one seen since. */
nn_inline void nn_base_restore(struct nn_base_delay *base, u32 owd, u32 rtt)
{
	nn_base_set(base, (s32)(owd - base->least) < 0 ? owd : base->least);
	base->rtt_min = nn_min(base->rtt_min, rtt);
	base->rtt_recent = nn_min(base->rtt_recent, rtt);
}

/* The next span begins, and the oldest is forgotten. */
nn_rare void nn_base_rotate(struct nn_base_delay *base, u32 now_us, u32 owd)
{
	base->since_us = now_us;
	base->current = (base->current + 1) % NN_BASES;
	base->owd[base->current % NN_BASES] = owd;
	if (!base->current) {
		base->rtt_min = base->rtt_recent;
		base->rtt_recent = NN_NEVER;
	}
	base->least = base->owd[0];
	for (int i = 1; i < NN_BASES; i++)
		if ((s32)(base->owd[i] - base->least) < 0)
			base->least = base->owd[i];
}

nn_inline void nn_base_rtt(struct nn_base_delay *base, u32 rtt_us)
{
	if (rtt_us >= base->rtt_recent) /* which is never below rtt_min */
		return;
	base->rtt_recent = rtt_us;
	base->rtt_min = nn_min(base->rtt_min, rtt_us);
}

#endif
