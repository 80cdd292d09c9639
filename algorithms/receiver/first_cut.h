/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A flow's first decrease. A sender that was foreground until now first uses up what the kernel had granted, for ten round
 * trips at times. Until the decrease shows in what arrives, nothing that is decided can be seen, so nothing is.
 *
 *     NONE --cut--> TOLD --as little arrives as the window lets go--> SEEN
 */
#ifndef NN_FIRST_CUT_H
#define NN_FIRST_CUT_H

#include "flow.h"

enum nn_cut { NN_CUT_NONE, NN_CUT_TOLD, NN_CUT_SEEN };

nn_inline void nn_cut(u8 *cut)
{
	if (*cut == NN_CUT_NONE)
		*cut = NN_CUT_TOLD;
}

/* Is it still to be seen, after this round? In a tick of our clock more may come than the window lets go. */
nn_inline bool nn_cut_is_unseen(const struct nn_receiver *flow, u8 *cut)
{
	u64 most = flow->target + (u64)flow->target * NN_TICK_US / nn_max(flow->delay.base.rtt_min, 1) + 2 * flow->mss;

	if (*cut == NN_CUT_TOLD && flow->round.bytes <= most)
		*cut = NN_CUT_SEEN;
	return *cut == NN_CUT_TOLD;
}

#endif
