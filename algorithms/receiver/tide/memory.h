/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The window that filled the path without a queue: a flow that backed off returns to it. It is a guess, and the next return
 * tests it. It is rejected if it meets a queue as soon as it is reached.
 */
#ifndef NN_MEMORY_H
#define NN_MEMORY_H

#include "../flow.h"

struct nn_memory {
	u32 full; /* bytes, when the path was last seen full; NN_NEVER: never */
	u32 peak; /* its slowly decaying maximum: to where a return may double */
};

/* Of the window `w`, what the path holds without a queue. */
nn_inline u32 nn_held_share(const struct nn_receiver *flow, u32 w, u32 queue)
{
	u64 base = nn_max(flow->delay.base.rtt_min, 1);

	return nn_max((u32)(w * base / (base + queue)), flow->floor);
}

/* What is kept of a peak that was missed: another flow may give the path back, siblings stay. */
nn_inline u32 nn_kept(const struct nn_memory *m, bool missed, bool siblings)
{
	return !missed ? m->peak : siblings ? 0 : m->peak / 2;
}

/* Another flow takes the path: what the path held stays known, unless the return to it was `missed`. */
nn_inline void nn_remember(struct nn_memory *m, u32 share, bool missed, bool siblings)
{
	m->full = missed || m->full == NN_NEVER ? share : nn_max(m->full, share);
	m->peak = nn_max(nn_kept(m, missed, siblings), share);
}

/* What was remembered held a queue of ours. `first`: a drain goes on from here. */
nn_inline void nn_correct(struct nn_memory *m, u32 share, bool first, bool missed, bool siblings)
{
	if (first)
		m->full = share;
	m->peak = nn_kept(m, missed, siblings);
	m->peak = nn_max(m->peak - m->peak / 16, share);
}

/* To where a return may double, bytes. */
nn_inline u32 nn_known(const struct nn_memory *m)
{
	return m->full == NN_NEVER ? NN_RECEIVER_MOST : nn_max(m->full, m->peak) / 8 * 7;
}

#endif
