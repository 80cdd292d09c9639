/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The handover token: the base RTT for the next algorithm of a live connection, which it could not measure while a queue
 * stands. The kernel keeps one word of the socket and its window; the word says whether it is ours.
 */
#ifndef NN_HANDOVER_H
#define NN_HANDOVER_H

#include "../pacing/pace.h"

#define NN_LEGACY 0xa0000000u
#define NN_LEGACY_MASK 0xf0000000u

/*
 * Another congestion control takes the connection over. It starts as on a fresh one: not in a window below a segment, and
 * not behind that window's deadline.
 */
nn_inline void nn_hand_over(const struct nn_flow *flow, struct nn_send *send)
{
	send->cwnd = nn_max(flow->win.w >> NN_SHIFT, NN_FRESH_CWND);
	send->rate = ~0ull;
	send->now = flow->rtt.smoothed < NN_HASTE_RTT_US;
}

/* The word to leave; 0: none. */
nn_inline u32 nn_legacy(const struct nn_flow *flow)
{
	return flow->rtt.min < ~NN_LEGACY_MASK ? NN_LEGACY | flow->rtt.min : 0;
}

/* To be called after the start of the core. False: the word is of another algorithm. */
nn_inline bool nn_inherit(struct nn_flow *flow, u32 word, u32 cwnd)
{
	if ((word & NN_LEGACY_MASK) != NN_LEGACY)
		return false;
	nn_flow_resume(flow, word & ~NN_LEGACY_MASK, cwnd);
	return true;
}

#endif
