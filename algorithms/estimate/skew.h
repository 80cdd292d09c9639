/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What our clock gains on the peer's.
 *
 * Two crystals differ by 1 to 100 ppm. At 20 ppm a base of a minute ago is 1.2 ms too short, and looks like a queue that is
 * not there. The round trip, which needs only our clock, shows that much later. So the gain is measured, between two spans of
 * a minute whose least round trips are the path's own. The change of the least one-way delay between them is the clocks'.
 * The round trips must agree: a standing queue, or another route, would be in both.
 *
 * A clock of more than a millisecond is too coarse: 10 ms in a minute are 156 ppm.
 */
#ifndef NN_SKEW_H
#define NN_SKEW_H

#include "../common/types.h"

#define NN_SKEW_SHIFT 24 /* of a rate: 1/16 ppm */
#define NN_SKEW_TICK_US 1000u /* of our clock, by which round trips are known, and the coarsest of the peer's */
#define NN_SKEW_LEAST_US 250u /* in a minute, 4 ppm: so much the least delays of two minutes differ by chance */
#define NN_SKEW_MOST 4096 /* one part of so many, 244 ppm: more is no crystal but a route, or a clock that was set */
#define NN_SKEW_TIME_US 32000000u /* between what two spans saw: in a second chance would be taken for 250 ppm */

struct nn_span {
	u32 low; /* least one-way delay, us */
	u32 low_us; /* when it was seen */
	u32 rtt; /* least round trip, us; NN_NEVER: none */
};

struct nn_skew {
	u32 gained; /* until the span began, us */
	u32 since_us; /* when it began */
	s32 rate; /* NN_SKEW_SHIFT */
	struct nn_span span, before;
};

nn_inline void nn_skew_init(struct nn_skew *s)
{
	__builtin_memset(s, 0, sizeof(*s));
	s->span.rtt = NN_NEVER;
	s->before.rtt = NN_NEVER;
}

/* Until now, us. */
nn_inline u32 nn_skew_gained(const struct nn_skew *s, u32 now_us)
{
	return s->gained + (u32)((s64)s->rate * (u32)(now_us - s->since_us) >> NN_SKEW_SHIFT);
}

nn_inline void nn_skew_see(struct nn_skew *s, u32 now_us, u32 owd, u32 rtt_us)
{
	struct nn_span *span = &s->span;

	if ((s32)(owd - span->low) < 0 || span->rtt == NN_NEVER) {
		span->low = owd;
		span->low_us = now_us;
	}
	if (rtt_us < span->rtt)
		span->rtt = rtt_us;
}

/* Can only the clocks have moved the least one-way delay since the span before? A tick of 0 is no clock. */
nn_inline bool nn_skew_is_clear(const struct nn_skew *s, u32 rtt_min, u32 tick)
{
	u32 apart = s->span.rtt - s->before.rtt;

	return tick - 1 < NN_SKEW_TICK_US && s->span.rtt - rtt_min <= NN_SKEW_TICK_US && s->before.rtt != NN_NEVER &&
	       apart + NN_SKEW_TICK_US <= 2 * NN_SKEW_TICK_US;
}

/* The span is over. Was the gain measured, so that the least delay, `before.low`, is the path's from now on? */
nn_inline bool nn_skew_turn(struct nn_skew *s, u32 now_us, u32 rtt_min, u32 tick)
{
	struct nn_span *span = &s->span;
	u32 moved = span->low - s->before.low, time = span->low_us - s->before.low_us;
	bool back = (s32)moved < 0, learnt;
	u64 rate;

	if (back)
		moved = -moved;
	learnt = nn_skew_is_clear(s, rtt_min, tick) && time >= NN_SKEW_TIME_US && moved >= NN_SKEW_LEAST_US &&
		 moved <= time / NN_SKEW_MOST;
	s->gained = nn_skew_gained(s, now_us);
	s->since_us = now_us;
	if (learnt) {
		rate = ((u64)moved << NN_SKEW_SHIFT) / time;
		moved = (u32)(rate * (now_us - span->low_us) >> NN_SKEW_SHIFT);
		s->rate += back ? -(s32)rate : (s32)rate;
		span->low += back ? -moved : moved;
	}
	s->before = *span;
	span->rtt = NN_NEVER;
	return learnt;
}

#endif
