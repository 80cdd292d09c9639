/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What to ask for at the least window: single segments. But first, for as long as a pause lasts, pairs, which delayed
 * ACKs do not hold back. Where siblings pause too, that would be the queue: sixteen flows' single segments are 4.6
 * Mbit/s at 40 ms. So beside siblings the pause is shorter, with a window that no full segment fits into. Senders then
 * send as much as fits when their persist timer ends (RFC 9293, 3.8.6.1 and 3.8.6.2.1), Linux after 0.2 s or more. A
 * longer pause is unfair: the flow with the smallest window recovers last. After it they take turns: three at a time ask
 * for a segment. (Documents beside 64 downloads at 10 Mbit/s took 12 times as long as alone, and take 1.8 times.)
 */
#ifndef NN_FLOOR_H
#define NN_FLOOR_H

#include "flow.h"

#define NN_PAUSE 8 /* rounds at the least window: as long as a document's burst takes, and its queue */
#define NN_PAUSE_TOGETHER 3 /* rounds of it beside siblings: with 8, sixteen flows had a Jain's index of .97, 64 .94 */
#define NN_PAUSE_LEAST 1024 /* bytes: less than a full segment */

/* Bytes, after so many rounds at the least window. */
nn_inline u32 nn_floor_window(const struct nn_receiver *flow, u32 paused)
{
	bool turn = !flow->sibling_low || paused % nn_max(flow->siblings / NN_PAUSE_TOGETHER, 1) == 0;

	if (flow->floor > 2 * flow->mss || (turn && paused >= (flow->sibling_low ? NN_PAUSE_TOGETHER : NN_PAUSE)))
		return flow->floor;
	if (flow->sibling_low)
		return nn_min(NN_PAUSE_LEAST, flow->floor);
	return nn_max(2 * flow->mss, flow->floor);
}

#endif
