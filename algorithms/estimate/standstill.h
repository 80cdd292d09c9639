/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RTTs that stand still are the path's: a route that became longer. Queues move, those that a TCP keeps by its sawtooth.
 *
 * For a flow that sends next to nothing, so that no queue is its own: when sixteen of its pairs in a row, each a gap of
 * pace.h apart, differ by less than timers do, what they met is no queue. A loss tells of a full buffer, which stands still
 * too, and begins the count again.
 */
#ifndef NN_STANDSTILL_H
#define NN_STANDSTILL_H

#include "../common/types.h"

#define NN_STILL_UNIT_US 512u
#define NN_STILL_PAIRS 15u /* after the first: six seconds of pace.h's longest gap; CUBIC's queue stands for five */
#define NN_STILL_SHIFT 6u /* two RTTs are equal within 1/64: a packet of a path of 64 */
#define NN_STILL_LONGEST 0x0fffu

struct nn_still {
	u16 rtt : 12; /* the least of the last pairs', NN_STILL_UNIT_US; rounded down, so that the base errs on yielding */
	u16 pairs : 4; /* how many in a row were equal to the first */
};

/* The RTT that stands still, us. */
nn_inline u32 nn_still_us(const struct nn_still *still)
{
	return still->rtt * NN_STILL_UNIT_US;
}

nn_inline void nn_still_forget(struct nn_still *still)
{
	still->rtt = 0;
	still->pairs = 0;
}

/* A pair had this RTT. Has it stood still for long enough? `noise_us`: what timers do. */
nn_inline bool nn_still_see(struct nn_still *still, u32 rtt_us, u32 noise_us)
{
	u32 rtt = nn_min(rtt_us / NN_STILL_UNIT_US, NN_STILL_LONGEST), last = still->rtt;
	u32 apart = rtt > last ? rtt - last : last - rtt;

	if (apart > nn_max(last >> NN_STILL_SHIFT, noise_us / NN_STILL_UNIT_US)) {
		still->rtt = rtt;
		still->pairs = 0;
		return false;
	}
	still->rtt = nn_min(rtt, last);
	if (still->pairs < NN_STILL_PAIRS)
		still->pairs++;
	return still->pairs >= NN_STILL_PAIRS;
}

#endif
