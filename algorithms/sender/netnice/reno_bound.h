/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The window that Reno would have on the same path: netnice's growth in a hurry stays below it, as TCP Nice is never more
 * aggressive than Reno. Kept in six bytes: the threshold in whole segments, rounded down.
 */
#ifndef NN_NETNICE_RENO_BOUND_H
#define NN_NETNICE_RENO_BOUND_H

#include "path.h"

nn_inline struct nn_window netnice_reno(const struct netnice *own)
{
	u32 ssthresh = own->reno_ssthresh == NETNICE_ANY ? NN_MAX_WINDOW : (u32)own->reno_ssthresh << NN_SHIFT;

	return (struct nn_window){ .w = own->reno, .ssthresh = ssthresh, .floor = NN_ONE };
}

nn_inline void netnice_reno_start(struct netnice *own, u32 w)
{
	own->reno = w;
	own->reno_ssthresh = NETNICE_ANY;
}

nn_inline void netnice_reno_grow(struct netnice *own, u32 acked)
{
	struct nn_window reno = netnice_reno(own);

	nn_reno_grow(&reno, acked);
	own->reno = reno.w;
}

nn_inline void netnice_reno_answer(struct netnice *own, u32 from, u32 to)
{
	struct nn_window reno = netnice_reno(own);

	nn_reno_answer(&reno, from, to);
	own->reno = reno.w;
	own->reno_ssthresh = nn_min(reno.ssthresh >> NN_SHIFT, NETNICE_ANY);
}

#endif
